package lettercase_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"example.com/quire/pdf/internal/lettercase"
)

func TestCaseOfLanguages(t *testing.T) {
	for _, c := range []struct{ lang, in, upper, lower, title string }{
		{"en", "hello wORLD, don’t", "HELLO WORLD, DON’T", "hello world, don’t", "Hello WORLD, Don’t"},
		{"en", "3rd place, 2ND try", "3RD PLACE, 2ND TRY", "3rd place, 2nd try", "3rd Place, 2ND Try"},
		{"de-CH", "Straße, große ﬁnten", "STRASSE, GROSSE FINTEN", "straße, große ﬁnten", "Straße, Große Finten"},
		{"tr", "istanbul IĞDIR", "İSTANBUL IĞDIR", "istanbul ığdır", "İstanbul IĞDIR"},
		{"tr-TR", "ISIL", "ISIL", "ısıl", "ISIL"},
		{"az-Latn", "bakı i", "BAKI İ", "bakı i", "Bakı İ"},
		{"en", "istanbul", "ISTANBUL", "istanbul", "Istanbul"},
		{"nl", "ijsland en ijs", "IJSLAND EN IJS", "ijsland en ijs", "IJsland En IJs"},
		{"el", "άνοιξη ΟΔΟΣ", "ΑΝΟΙΞΗ ΟΔΟΣ", "άνοιξη οδος", "Άνοιξη ΟΔΟΣ"},
		{"hr", "ǆep ǉudi", "ǄEP ǇUDI", "ǆep ǉudi", "ǅep ǈudi"},
		{"xx-nonsense", "ab é", "AB É", "ab é", "Ab É"},
		{"", "", "", "", ""},
	} {
		if got := lettercase.Upper(c.lang, c.in); got != c.upper {
			t.Errorf("%s: upper case of %q is %q, want %q", c.lang, c.in, got, c.upper)
		}
		if got := lettercase.Lower(c.lang, c.in); got != c.lower {
			t.Errorf("%s: lower case of %q is %q, want %q", c.lang, c.in, got, c.lower)
		}
		if got := lettercase.Title(c.lang, c.in); got != c.title {
			t.Errorf("%s: title case of %q is %q, want %q", c.lang, c.in, got, c.title)
		}
	}
}

// FuzzCase: no text breaks, and ASCII is as the standard library has it.
func FuzzCase(f *testing.F) {
	f.Add("en", "straße don’t 3rd ﬁ")
	f.Add("tr", "i\u0307 \xff İ")
	f.Add("lt-LT", "i̇̀ J")
	f.Fuzz(func(t *testing.T, lang, s string) {
		upper, lower, title := lettercase.Upper(lang, s), lettercase.Lower(lang, s), lettercase.Title(lang, s)
		if utf8.ValidString(s) && (!utf8.ValidString(upper) || !utf8.ValidString(lower) || !utf8.ValidString(title)) {
			t.Errorf("%q becomes %q, %q, %q", s, upper, lower, title)
		}
		if strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 && lang == "en" && (upper != strings.ToUpper(s) || lower != strings.ToLower(s) || !strings.EqualFold(title, s)) {
			t.Errorf("%q becomes %q, %q, %q", s, upper, lower, title)
		}
	})
}
