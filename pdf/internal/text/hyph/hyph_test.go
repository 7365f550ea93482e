package hyph

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func hyphenated(l *Language, word string) string {
	var b strings.Builder
	from := 0
	for _, p := range l.Points(nil, word) {
		b.WriteString(word[from:p] + "-")
		from = p
	}
	return b.String() + word[from:]
}

// TestWordsAreHyphenatedByTheirLanguage has words with the hyphens that the patterns allow, read
// over by hand. No part is shorter than two letters at the beginning and three at the end.
func TestWordsAreHyphenatedByTheirLanguage(t *testing.T) {
	lib := New()
	for _, c := range []struct{ tag, want string }{
		{"en", "hy-phen-ation"},
		{"en-US", "con-cate-na-tion"},
		{"en-US", "as-so-ciate"}, // an exception
		{"en-US", "present"},     // likewise
		{"en-US", "su-per-cal-ifrag-ilis-tic-ex-pi-ali-do-cious"},
		{"en-GB", "hy-phen-a-tion"},
		{"de", "Sil-ben-tren-nung"},
		{"de-CH", "Ma-schi-nen-bau"},
		{"de-AT", "Do-nau-dampf-schiff-fahrts-ge-sell-schaft"},
		{"de", "Über-ra-schung"},
		{"fr", "ty-po-gra-phie"},
		{"fr-CA", "consti-tu-tion"},
		{"es", "trans-porte"},
		{"es-MX", "de-sa-rro-llo"},
		{"it", "in-for-ma-zione"},
		{"pt-BR", "com-pu-ta-dor"},
		{"pl", "prze-kształ-ce-nie"},
		{"da", "bor-ger-ser-vice"},
		{"nb", "ar-beids-gi-ver"},
		{"nn-NO", "ar-beids-gi-var"},
		{"fi", "kir-joi-tus"},
		{"hr", "pro-izvod-nja"},
		{"sl", "ra-ču-nal-nik"},
		{"et", "raa-ma-tu-kogu"},
		{"eu", "eus-kara"},
		{"rm", "ru-mantsch"},
		{"oc", "oc-ci-tan"},
	} {
		word := strings.ReplaceAll(c.want, "-", "")
		l := lib.Language(c.tag)
		if l == nil {
			t.Errorf("%s: no patterns", c.tag)
			continue
		}
		if got := hyphenated(l, word); got != c.want {
			t.Errorf("%s: got %s, want %s", c.tag, got, c.want)
		}
		if a, b := l.Points(nil, word), l.Points(nil, strings.ToUpper(word)); len(a) != len(b) {
			t.Errorf("%s: %d points in lower case, %d in upper", c.tag, len(a), len(b))
		}
	}
	for _, tag := range []string{"", "xx", "ar", "nl", "engl"} {
		if lib.Language(tag) != nil {
			t.Errorf("%q has patterns", tag)
		}
	}
}

func TestWhatIsNoWordHasNoPoints(t *testing.T) {
	l := New().Language("en-US")
	for _, s := range []string{"", "a", "word", "hyphen4ation", "hy phenation", "дополнение", "http", strings.Repeat("hyphenation", 7)} {
		if p := l.Points(nil, s); len(p) > 0 {
			t.Errorf("%q: points %v", s, p)
		}
	}
}

func TestAllLanguagesAreRead(t *testing.T) {
	lib := New()
	for tag, f := range lib.languages {
		if f() == nil {
			t.Error(tag)
		}
	}
	if n := len(lib.languages) - len(aliases); n < 12 {
		t.Errorf("%d languages", n)
	}
}

// FuzzPatterns reads damaged pattern files: an error or a trie that every walk ends in.
func FuzzPatterns(f *testing.F) {
	for _, name := range []string{"pt", "eu"} {
		b, err := data.ReadFile("data/" + name + ".hyp")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(b), "computador")
	}
	f.Fuzz(func(t *testing.T, b, word string) {
		l, err := parse(b)
		if err != nil || !utf8.ValidString(word) {
			return
		}
		p := l.Points(nil, word)
		if !slices.IsSorted(p) || len(p) > 0 && (p[0] <= 0 || p[len(p)-1] >= len(word)) {
			t.Errorf("points %v in %q", p, word)
		}
	})
}
