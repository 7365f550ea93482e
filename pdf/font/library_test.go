package font_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	quire "example.com/quire/pdf/font"
	"example.com/quire/pdf/font/liberation"
	"example.com/quire/pdf/internal/diag"
)

func TestMatch(t *testing.T) {
	lib := liberation.New()
	tests := []struct {
		family           string
		style            quire.Style
		want             string
		noBold, noItalic bool
	}{
		{liberation.Sans, quire.Style{}, "LiberationSans", false, false},
		{"liberation sans", quire.Style{Weight: 300}, "LiberationSans", false, false},
		{liberation.Sans, quire.Style{Weight: 500}, "LiberationSans", false, false},
		{liberation.Sans, quire.Style{Weight: 600}, "LiberationSans-Bold", false, false},
		{liberation.Sans, quire.Style{Weight: 900, Italic: true}, "LiberationSans-BoldItalic", false, false},
		{liberation.Serif, quire.Style{Weight: 400, Italic: true}, "LiberationSerif-Italic", false, false},
		{liberation.Mono, quire.Style{Weight: 700}, "LiberationMono-Bold", false, false},
		{liberation.DejaVu, quire.Style{Weight: 700, Italic: true}, "DejaVuSans-Bold", false, true},
		{liberation.DejaVu, quire.Style{Italic: true}, "DejaVuSans", false, true},
	}
	for _, tt := range tests {
		m, err := lib.Match(tt.family, tt.style)
		if err != nil {
			t.Fatal(err)
		}
		if m.Face.PostScriptName() != tt.want || m.NoBold != tt.noBold || m.NoItalic != tt.noItalic {
			t.Errorf("%s %+v: got %s, %v, %v", tt.family, tt.style, m.Face.PostScriptName(), m.NoBold, m.NoItalic)
		}
	}
	again, err := lib.Match(liberation.Sans, quire.Style{})
	if err != nil {
		t.Fatal(err)
	}
	first, err := lib.Match(liberation.Sans, quire.Style{Weight: 450})
	if err != nil || first.Face != again.Face {
		t.Errorf("a face is parsed twice: %v", err)
	}
}

// TestWeightOrder follows CSS Fonts 4, 5.2.
func TestWeightOrder(t *testing.T) {
	faces := func(weights ...int) []quire.Source {
		var s []quire.Source
		for _, w := range weights {
			s = append(s, quire.Source{Style: quire.Style{Weight: w}, Data: markedFace(t, w)})
		}
		return s
	}
	tests := []struct {
		want  int
		have  []int
		found int
	}{
		{400, []int{300, 500, 700}, 500},
		{450, []int{300, 400, 600}, 400},
		{400, []int{600, 700}, 600},
		{500, []int{400, 600}, 400},
		{300, []int{200, 400}, 200},
		{300, []int{400, 700}, 400},
		{600, []int{500, 800}, 800},
		{900, []int{300, 400}, 400},
		{200, []int{200, 100}, 200},
	}
	for _, tt := range tests {
		lib, err := quire.NewLibrary(quire.Options{Families: []quire.Family{{Name: "F", Faces: faces(tt.have...)}}})
		if err != nil {
			t.Fatal(err)
		}
		m, err := lib.Match("F", quire.Style{Weight: tt.want})
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Face.Style().Weight; got != tt.found {
			t.Errorf("%d of %v: got %d, want %d", tt.want, tt.have, got, tt.found)
		}
		if m.NoBold != (tt.want >= 600 && tt.found < 600) {
			t.Errorf("%d of %v: NoBold is %v", tt.want, tt.have, m.NoBold)
		}
	}
}

// markedFace is a face whose OS/2 table states the weight.
func markedFace(t *testing.T, weight int) []byte {
	t.Helper()
	return edit(t, embedded[0].data, "OS/2", func(b []byte) []byte {
		binary.BigEndian.PutUint16(b[4:], uint16(weight)) //nolint:gosec // G115: at most 1000
		return b
	})
}

// TestFallback is the reason for the default chain: Liberation 2.1.4 has no
// rupee sign, check mark or Arabic, DejaVu Sans has.
func TestFallback(t *testing.T) {
	lib := liberation.New()
	tests := []struct {
		style   quire.Style
		cluster string
		want    string
	}{
		{quire.Style{}, "A", "LiberationSans"},
		{quire.Style{}, "€", "LiberationSans"},
		{quire.Style{}, "é", "LiberationSans"},
		{quire.Style{}, "→", "LiberationSans"},
		{quire.Style{}, "₹", "DejaVuSans"},
		{quire.Style{Weight: 700}, "₹", "DejaVuSans-Bold"},
		{quire.Style{}, "✓", "DejaVuSans"},
		{quire.Style{}, "ع", "DejaVuSans"},
		{quire.Style{}, "\U0001F600", "DejaVuSans"}, // not in the basic plane
		{quire.Style{}, "a\u200d", "LiberationSans"},
		{quire.Style{}, "", "LiberationSans"},
		// One cluster, one face: the base follows its mark.
		{quire.Style{}, "₹\u0301", "DejaVuSans"},
	}
	for _, tt := range tests {
		c, err := lib.Chain(liberation.Sans, tt.style)
		if err != nil {
			t.Fatal(err)
		}
		f, err := c.Pick(tt.cluster)
		if err != nil {
			t.Fatal(err)
		}
		if f.PostScriptName() != tt.want {
			t.Errorf("%q is set in %s, want %s", tt.cluster, f.PostScriptName(), tt.want)
		}
		if !f.Covers(tt.cluster) {
			t.Errorf("%q is not covered by its face", tt.cluster)
		}
	}
	c, err := lib.Chain(liberation.DejaVu, quire.Style{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Pick("x\u4e2d")
	var me *quire.MissingError
	if !errors.As(err, &me) || me.Rune != 0x4e2d || !slices.Equal(me.Tried, []string{"DejaVuSans"}) || !errors.Is(err, diag.ErrFont) {
		t.Errorf("error is %v", err)
	}
	if want := `font: set "x中": no glyph for U+4E2D in DejaVuSans`; err == nil || err.Error() != want {
		t.Errorf("error reads %v", err)
	}
}

func TestLibraryErrors(t *testing.T) {
	lib := liberation.New()
	_, err := lib.Match("Helvetica", quire.Style{})
	var fe *quire.FamilyError
	if !errors.As(err, &fe) || !errors.Is(err, diag.ErrFont) || !strings.Contains(err.Error(), `"Helvetica"`) || !strings.Contains(err.Error(), liberation.Mono) {
		t.Errorf("unknown family: %v", err)
	}
	if _, err := lib.Chain("Helvetica", quire.Style{}); !errors.As(err, &fe) {
		t.Errorf("chain of an unknown family: %v", err)
	}
	face := []quire.Source{{Data: embedded[0].data}}
	for name, o := range map[string]quire.Options{
		"no name":          {Families: []quire.Family{{Faces: face}}},
		"no faces":         {Families: []quire.Family{{Name: "A"}}},
		"repeated":         {Families: []quire.Family{{Name: "A", Faces: face}, {Name: "a", Faces: face}}},
		"unknown fallback": {Families: []quire.Family{{Name: "A", Faces: face}}, Fallback: []string{"B"}},
	} {
		if _, err := quire.NewLibrary(o); !errors.Is(err, diag.ErrFont) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := lib.With(o); name != "unknown fallback" && !errors.Is(err, diag.ErrFont) {
			t.Errorf("With, %s: %v", name, err)
		}
	}
	broken, err := lib.With(quire.Options{
		Families: []quire.Family{{Name: "Broken", Faces: []quire.Source{{Data: []byte("not a font, but long enough")}}}},
		Fallback: []string{"Broken"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := broken.Match("Broken", quire.Style{}); !errors.Is(err, diag.ErrFont) || !strings.Contains(err.Error(), "family Broken") {
		t.Errorf("broken font: %v", err)
	}
	c, err := broken.Chain(liberation.Sans, quire.Style{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Pick("₹"); !errors.Is(err, diag.ErrFont) {
		t.Errorf("broken fallback: %v", err)
	}
	small, err := quire.NewLibrary(quire.Options{
		Families: []quire.Family{{Name: "A", Faces: face}}, Limits: diag.Limits{FontBytes: 1000},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := small.Match("A", quire.Style{}); !errors.Is(err, diag.ErrLimit) {
		t.Errorf("font over the limit: %v", err)
	}
}

// TestWith is line 5.25: a font of one document stays in the library made for
// it.
func TestWith(t *testing.T) {
	base := liberation.New()
	own, err := base.With(quire.Options{
		Families: []quire.Family{
			{Name: "Corporate", Faces: []quire.Source{{Data: embedded[4].data}}},
			{Name: "LIBERATION MONO", Faces: []quire.Source{{Data: embedded[9].data}}},
		},
		Fallback: []string{"Corporate"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := base.Match("Corporate", quire.Style{}); err == nil {
		t.Error("the family reached the base library")
	}
	if slices.Contains(base.Families(), "Corporate") || len(own.Families()) != 5 {
		t.Errorf("families are %v and %v", base.Families(), own.Families())
	}
	if got := fmt.Sprint(own.Fallback()); got != "[Corporate DejaVu Sans]" {
		t.Errorf("fallback is %s", got)
	}
	m, err := own.Match(liberation.Mono, quire.Style{})
	if err != nil || m.Face.PostScriptName() != "LiberationMono-Bold" {
		t.Errorf("the replaced family gives %v, %v", m.Face, err)
	}
	a, err := base.Match(liberation.Sans, quire.Style{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := own.Match(liberation.Sans, quire.Style{})
	if err != nil || a.Face != b.Face {
		t.Errorf("a face is read again for a derived library: %v", err)
	}
}
