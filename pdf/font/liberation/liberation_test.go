package liberation_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"example.com/quire/pdf/font"
	"example.com/quire/pdf/font/liberation"
)

// TestEveryFace: four styles of three families and two of the fallback, each a
// font of its own that says of itself what it is chosen by.
func TestEveryFace(t *testing.T) {
	lib := liberation.New()
	if got := lib.Families(); !slices.Equal(got, []string{liberation.Sans, liberation.Serif, liberation.Mono, liberation.DejaVu}) {
		t.Errorf("families are %v", got)
	}
	if got := lib.Fallback(); !slices.Equal(got, []string{liberation.DejaVu}) {
		t.Errorf("fallback is %v", got)
	}
	seen := map[*font.Face]bool{}
	for _, family := range lib.Families() {
		for _, s := range []font.Style{{Weight: 400}, {Weight: 700}, {Weight: 400, Italic: true}, {Weight: 700, Italic: true}} {
			m, err := lib.Match(family, s)
			if err != nil {
				t.Fatal(err)
			}
			if family == liberation.DejaVu && s.Italic {
				if !m.NoItalic {
					t.Error("DejaVu Sans has an italic face")
				}
				continue
			}
			if m.Face.Family() != family || m.Face.Style() != s || m.NoBold || m.NoItalic {
				t.Errorf("%s %+v: got %s %+v", family, s, m.Face.PostScriptName(), m.Face.Style())
			}
			if err := m.Face.Embeddable(); err != nil {
				t.Error(err)
			}
			seen[m.Face] = true
		}
	}
	if len(seen) != 14 {
		t.Errorf("%d faces", len(seen))
	}
}

// TestGapsOfLiberation is why there is a fallback: Liberation 2.1.4 has the
// euro but no rupee sign, check mark or Arabic.
func TestGapsOfLiberation(t *testing.T) {
	lib := liberation.New()
	face := func(family string) *font.Face {
		t.Helper()
		m, err := lib.Match(family, font.Style{})
		if err != nil {
			t.Fatal(err)
		}
		return m.Face
	}
	for _, family := range []string{liberation.Sans, liberation.Serif, liberation.Mono} {
		for _, r := range "₹✓ع" {
			if face(family).GlyphIndex(r) != 0 {
				t.Errorf("%s has %c: the fallback need not be DejaVu any more", family, r)
			}
		}
		for _, r := range "€→é–“ﬁ" {
			if face(family).GlyphIndex(r) == 0 {
				t.Errorf("%s lacks %c", family, r)
			}
		}
	}
	for _, r := range "₹✓ع€→" {
		if face(liberation.DejaVu).GlyphIndex(r) == 0 {
			t.Errorf("DejaVu Sans lacks %c", r)
		}
	}
}

// TestBoldDiffers is line 5.8: bold is another face, not the regular one again.
func TestBoldDiffers(t *testing.T) {
	lib := liberation.New()
	regular, err := lib.Match(liberation.Sans, font.Style{})
	if err != nil {
		t.Fatal(err)
	}
	bold, err := lib.Match(liberation.Sans, font.Style{Weight: 700})
	if err != nil {
		t.Fatal(err)
	}
	width := func(f *font.Face) int { return f.Advance(f.GlyphIndex('b')) }
	if regular.Face.Hash() == bold.Face.Hash() || width(regular.Face) >= width(bold.Face) {
		t.Error("bold is drawn with the regular face")
	}
}

// TestLibrariesAreApart: two engines share nothing.
func TestLibrariesAreApart(t *testing.T) {
	a, err := liberation.New().Match(liberation.Sans, font.Style{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := liberation.New().Match(liberation.Sans, font.Style{})
	if err != nil {
		t.Fatal(err)
	}
	if a.Face == b.Face {
		t.Error("two libraries share a face")
	}
	if a.Face.Hash() != b.Face.Hash() {
		t.Error("one font has two hashes")
	}
}

func TestFingerprint(t *testing.T) {
	a := liberation.Fingerprint()
	if a != liberation.Fingerprint() || a == [32]byte{} {
		t.Error("the fingerprint is no function of the fonts")
	}
}

// TestNotice: the licences ask that their notices come along.
func TestNotice(t *testing.T) {
	b, err := os.ReadFile("NOTICE")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"SIL OPEN FONT LICENSE Version 1.1", "Reserved Font Name Liberation", "Bitstream Vera Fonts Copyright",
		"Arev Fonts Copyright", "go-fonts Authors",
	} {
		if !strings.Contains(string(b), want) {
			t.Errorf("NOTICE lacks %q", want)
		}
	}
}
