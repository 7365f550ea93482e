package barcode

import (
	"strings"
	"testing"

	"example.com/quire/pdf/doc"
)

// TestValuesThatCannotBeSaid: what a symbology cannot say is refused with the reason, never
// encoded as something else.
func TestValuesThatCannotBeSaid(t *testing.T) {
	for _, c := range []struct {
		kind              doc.Symbology
		value, correction string
		want              string
	}{
		{doc.QR, "", "", "no value"},
		{doc.QR, strings.Repeat("x", 5000), "", "5000 bytes"},
		{doc.QR, strings.Repeat("x", 4000), "L", "does not fit"},
		{doc.QR, "a", "X", "L, M, Q or H"},
		{doc.DataMatrix, "10 €", "", `"€" is not in ISO 8859-1`},
		{doc.DataMatrix, "è", "", `cannot begin with "è"`},
		{doc.Aztec, "東", "", `"東" is not in ISO 8859-1`},
		{doc.PDF417, "Größe", "", `"ö" is not ASCII`},
		{doc.Code128, "Größe", "", `"ö" is not ASCII`},
		{doc.Code128, strings.Repeat("x", 81), "", "does not fit"},
		{doc.Code39, "abc", "", `"a" cannot be said`},
		{doc.Code93, "ß", "", "not ASCII"},
		{doc.Codabar, "1234", "", "between two letters"},
		{doc.Codabar, "A12x4B", "", "between two letters"},
		{doc.Interleaved, "123", "", "even number"},
		{doc.Interleaved, "12a4", "", `"a" is not a digit`},
		{doc.EAN13, "4006381333932", "", "is 1, not 2"},
		{doc.EAN13, "12345", "", "want 12 digits, or 13"},
		{doc.EAN8, "9638507x", "", "not a digit"},
		{doc.UPCA, "036000291453", "", "is 2, not 3"},
		{doc.GS1128, "0109501101530003", "", "in parentheses"},
		{doc.GS1128, "(01)09501101530004", "", "is 3, not 4"},
		{doc.GS1128, "(01)0950110153000", "", "has 14 digits"},
		{doc.GS1128, "(10)", "", "has no data"},
		{doc.GS1128, "(10", "", "in parentheses"},
		{doc.GS1128, "(10)ä", "", "GS1 character set"},
		{doc.GS1Matrix, "(17)27123x", "", "not a digit"},
		{"qrcode", "a", "", `no symbology "qrcode"`},
	} {
		s, err := Encode(c.kind, c.value, c.correction)
		if err == nil {
			t.Errorf("%s %.20q was encoded: %d x %d", c.kind, c.value, s.Cols, s.Rows)
		} else if !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %.20q: %q does not say %q", c.kind, c.value, err, c.want)
		}
	}
}

// TestRectsAreTheModules: the rectangles cover each dark module once and no light one.
func TestRectsAreTheModules(t *testing.T) {
	for _, kind := range []doc.Symbology{doc.QR, doc.DataMatrix, doc.Aztec, doc.PDF417, doc.Code128} {
		s, err := Encode(kind, "Rectangles 0123", "")
		if err != nil {
			t.Fatal(err)
		}
		got := make([]int, s.Cols*s.Rows)
		for _, r := range s.Rects() {
			for y := r.Y; y < r.Y+r.H; y++ {
				for x := r.X; x < r.X+r.W; x++ {
					got[y*s.Cols+x]++
				}
			}
		}
		for i, n := range got {
			if want := s.dark[i]; n > 1 || (n == 1) != want {
				t.Fatalf("%s: module %d, %d is covered %d times, dark: %v", kind, i%s.Cols, i/s.Cols, n, want)
			}
		}
	}
}

func FuzzEncode(f *testing.F) {
	for i, v := range []string{"https://example.com", "(01)09501101530003(10)A", "A123B", "4006381333931", "Grüße", "12"} {
		f.Add(byte(i), v, "M")
	}
	f.Fuzz(func(t *testing.T, kind byte, value, correction string) {
		all := doc.Symbologies()
		s, err := Encode(all[int(kind)%len(all)], value, correction)
		if err == nil && (s.Cols < 1 || s.Rows < 1 || len(s.dark) != s.Cols*s.Rows) {
			t.Errorf("%d x %d with %d modules", s.Cols, s.Rows, len(s.dark))
		}
	})
}
