//go:build judges

package content

import (
	"archive/zip"
	"io"
	"testing"

	"example.com/quire/pdf/pdftest"
)

// TestPredefinedCMapsAreThoseOfVeraPDF: each code of two bytes, and each that is in a range of
// either, has the CID that the text of the CMap gives it.
func TestPredefinedCMapsAreThoseOfVeraPDF(t *testing.T) {
	archive, err := zip.OpenReader(pdftest.Need(t, "verapdf"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = archive.Close() }()
	codes := 0
	for _, name := range predefinedNames {
		f, err := archive.Open("font/cmap/" + name)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(f)
		if err != nil {
			t.Fatal(err)
		}
		ours, theirs := predefined(name), readCMap(text)
		if ours.mode != theirs.mode || !theirs.whole() {
			t.Errorf("%s: vertical %t and %t", name, ours.mode, theirs.mode)
		}
		same := func(c code) {
			if codes++; ours.cid(c) != theirs.cid(c) {
				t.Fatalf("%s, %X: %d, want %d", name, c.value, ours.cid(c), theirs.cid(c))
			}
		}
		for v := range uint32(1 << 16) {
			same(code{2, v})
			if v < 1<<8 {
				same(code{1, v})
			}
			s := []byte{byte(v >> 8), byte(v), 0x21, 0xA1}
			if a, b := ours.next(s), theirs.next(s); a != b {
				t.Fatalf("%s, % X: a code of %d bytes, want %d", name, s, a.n, b.n)
			}
		}
		for _, m := range []*cmap{ours, theirs} {
			for _, r := range m.cids {
				for v := r.low; r.n > 2 && v <= r.high; v++ {
					same(code{r.n, v})
				}
			}
		}
	}
	t.Logf("%d codes of %d maps have the same CIDs", codes, len(predefinedNames))
}
