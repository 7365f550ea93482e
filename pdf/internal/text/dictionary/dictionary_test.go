package dictionary

import (
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// part is s with a bar at each break.
func part(l *Library, s string) string {
	var b strings.Builder
	last := 0
	for _, i := range l.Breaks(nil, s) {
		b.WriteString(s[last:i] + "|")
		last = i
	}
	return b.String() + s[last:]
}

func TestSentencesArePartedAsByICU(t *testing.T) {
	file, err := os.ReadFile("testdata/icu.txt")
	if err != nil {
		t.Fatal(err)
	}
	var l Library
	n := 0
	for line := range strings.Lines(string(file)) {
		_, want, _ := strings.Cut(strings.TrimSpace(line), " ")
		if line[0] == '#' {
			continue
		}
		n++
		if got := part(&l, strings.ReplaceAll(want, "|", "")); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	if n < 17 {
		t.Errorf("%d sentences", n)
	}
}

func TestSignsOfRepetitionStayWithTheirWords(t *testing.T) {
	var l Library
	for _, want := range []string{"เด็กๆ|เล่น|น้ำ", "រវាង|ពាក្យ|និមួយៗ", "ต่างๆ"} {
		if got := part(&l, strings.ReplaceAll(want, "|", "")); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// What no list has is kept whole, and what stands around it is parted all the same.
func TestNamesAreKeptWhole(t *testing.T) {
	var l Library
	if got, want := part(&l, "ภาษาฌฌฌฌภาษา"), "ภาษา|ฌฌฌฌ|ภาษา"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestOtherScriptsAreLeftToTheirRules(t *testing.T) {
	var l Library
	for _, s := range []string{"", "plain", "Ünïcödé – 漢字かな", "สวัสดี ๑๒๓๔ ฿", "၁၂၃။", "១២៣។", "\xE0\xB8", "a\xE1\x80", "\u0E31", "\u200Dก"} {
		if got := part(&l, s); got != s {
			t.Errorf("%q is parted as %q", s, got)
		}
	}
}

// A text without spaces takes time by its length, and each of its pieces ends where a word may
// begin.
func TestLongTextsTakeLinearTime(t *testing.T) {
	var l Library
	s := strings.Repeat("ภาษาไทยเป็นภาษาฌฌฌฌที่มีระดับเสียง", 4000)
	began := time.Now()
	breaks := l.Breaks(nil, s)
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("%d bytes took %v", len(s), took)
	}
	if len(breaks) < 4000*9 {
		t.Errorf("%d breaks", len(breaks))
	}
	for _, i := range breaks {
		if r, _ := utf8.DecodeRuneInString(s[i:]); r >= 0x0E30 && r <= 0x0E3A || r >= 0x0E45 {
			t.Fatalf("a line would begin with %q", r)
		}
	}
}

func FuzzBreaks(f *testing.F) {
	f.Add("ภาษาไทย၁မြန်မာဘာသာ ភាសាខ្មែរ\u200Dພາສາລາວ")
	f.Add("\xE0\xB8ก\xE1")
	var l Library
	f.Fuzz(func(t *testing.T, s string) {
		last := 0
		for _, i := range l.Breaks(nil, s) {
			if i <= last || i >= len(s) || !utf8.RuneStart(s[i]) {
				t.Fatalf("a break at %d of %q, after %d", i, s, last)
			}
			last = i
		}
	})
}
