package compile

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestFileNamesAreSafeOnEverySystem(t *testing.T) {
	for in, want := range map[string]string{
		"Auszug-12-2026-01-31.pdf": "Auszug-12-2026-01-31.pdf",
		"Auszug 12":                "Auszug 12.pdf",
		"a/b\\c:d*e?f\"g<h>i|j":    "a-b-c-d-e-f-g-h-i-j.pdf",
		"../../etc/hosts":          "-..-etc-hosts.pdf",
		"a\x00b\nc\u202egpj.exe":   "ab cgpj.exe.pdf",
		" . x . ":                  "x.pdf",
		"NOTE.PDF":                 "NOTE.pdf",
		"Bill  of\t7":              "Bill of 7.pdf",
		"con":                      "_con.pdf",
		"Com1.x.pdf":               "_Com1.x.pdf",
		"COM10":                    "COM10.pdf",
		"...":                      "",
		"":                         "",
		".pdf":                     "",
	} {
		if got := fileName(in); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
	long := fileName(strings.Repeat("é", 300))
	if len(long) > maxFileName || !utf8.ValidString(long) || !strings.HasSuffix(long, "é.pdf") {
		t.Errorf("a long name has %d bytes: %q", len(long), long)
	}
}

func TestNamesOfAttachedFilesKeepTheirEnding(t *testing.T) {
	for in, want := range map[string]string{
		"orders.csv": "orders.csv", "../../a.xml": "-..-a.xml", "a/b.tar.gz": "a-b.tar.gz", "con.txt": "_con.txt", "README": "README",
		" x .pdf ": "x.pdf", "...": "", ".csv": "csv", strings.Repeat("n", 300) + ".csv": strings.Repeat("n", 196) + ".csv",
	} {
		if got := safeName(in); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}

// TestLongNamesAreThoseOfTheirWholeText: what is beyond the bound is not looked at, and changes
// nothing of the name.
func TestLongNamesAreThoseOfTheirWholeText(t *testing.T) {
	character := func(r rune) rune {
		switch {
		case strings.ContainsRune(`/\:*?"<>|`, r), unicode.Is(unicode.Zl, r), unicode.Is(unicode.Zp, r):
			return '-'
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}
	whole := func(s string) string {
		s = strings.Join(strings.Fields(strings.Map(character, s)), " ")
		if n := len(s) - 4; n >= 0 && strings.EqualFold(s[n:], ".pdf") {
			s = s[:n]
		}
		if s = bound(s, maxFileName-4); s == "" {
			return ""
		}
		return s + ".pdf"
	}
	for r := range unicode.MaxRune + 1 {
		if got, want := cleaned(r), character(r); got != want {
			t.Errorf("%U is %U, want %U", r, got, want)
		}
	}
	piece := rapid.SampledFrom([]string{"a", ".", " ", "\t", "\x00", "/", "é", "€", "𝄞", "\u2028", "\u00a0", "\u200b", "\xff", ".pdf", ".PDF", "con"})
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for _, n := range rapid.SliceOfN(rapid.IntRange(0, 450), 1, 6).Draw(t, "repeated") {
			b.WriteString(strings.Repeat(piece.Draw(t, "piece"), n))
			b.WriteString(piece.Draw(t, "single"))
		}
		if in := b.String(); fileName(in) != whole(in) {
			t.Fatalf("%q is %q, want %q", in, fileName(in), whole(in))
		}
	})
}

func BenchmarkFileNameOfALongTitle(b *testing.B) {
	title := strings.Repeat("Statement of account ", 500)
	b.ReportAllocs()
	for b.Loop() {
		fileName(title)
	}
}
