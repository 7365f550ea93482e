package font_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/go-fonts/dejavu/dejavusans"
	"github.com/go-fonts/dejavu/dejavusansbold"
	"github.com/go-fonts/liberation/liberationmonobold"
	"github.com/go-fonts/liberation/liberationmonobolditalic"
	"github.com/go-fonts/liberation/liberationmonoitalic"
	"github.com/go-fonts/liberation/liberationmonoregular"
	"github.com/go-fonts/liberation/liberationsansbold"
	"github.com/go-fonts/liberation/liberationsansbolditalic"
	"github.com/go-fonts/liberation/liberationsansitalic"
	"github.com/go-fonts/liberation/liberationsansregular"
	"github.com/go-fonts/liberation/liberationserifbold"
	"github.com/go-fonts/liberation/liberationserifbolditalic"
	"github.com/go-fonts/liberation/liberationserifitalic"
	"github.com/go-fonts/liberation/liberationserifregular"
	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"

	quire "example.com/quire/pdf/font"
	"example.com/quire/pdf/internal/diag"
)

// embedded are all faces of the default library.
var embedded = []struct {
	name string
	data []byte
}{
	{"LiberationSans", liberationsansregular.TTF},
	{"LiberationSans-Bold", liberationsansbold.TTF},
	{"LiberationSans-Italic", liberationsansitalic.TTF},
	{"LiberationSans-BoldItalic", liberationsansbolditalic.TTF},
	{"LiberationSerif", liberationserifregular.TTF},
	{"LiberationSerif-Bold", liberationserifbold.TTF},
	{"LiberationSerif-Italic", liberationserifitalic.TTF},
	{"LiberationSerif-BoldItalic", liberationserifbolditalic.TTF},
	{"LiberationMono", liberationmonoregular.TTF},
	{"LiberationMono-Bold", liberationmonobold.TTF},
	{"LiberationMono-Italic", liberationmonoitalic.TTF},
	{"LiberationMono-BoldItalic", liberationmonobolditalic.TTF},
	{"DejaVuSans", dejavusans.TTF},
	{"DejaVuSans-Bold", dejavusansbold.TTF},
}

func parse(tb testing.TB, data []byte) *quire.Face {
	tb.Helper()
	f, err := quire.Parse(data, diag.Limits{})
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

// TestFacesAgainstOracle compares every face with golang.org/x/image: character
// map over the whole basic plane and the first supplementary one, advances of
// all glyphs, metrics.
func TestFacesAgainstOracle(t *testing.T) {
	for _, e := range embedded {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			f := parse(t, e.data)
			o, err := sfnt.Parse(e.data)
			if err != nil {
				t.Fatal(err)
			}
			var buf sfnt.Buffer
			if f.PostScriptName() != e.name {
				t.Errorf("PostScript name is %s", f.PostScriptName())
			}
			if family, err := o.Name(&buf, sfnt.NameIDFamily); err != nil || family != f.Family() {
				t.Errorf("family is %q, oracle says %q, %v", f.Family(), family, err)
			}
			if f.NumGlyphs() != o.NumGlyphs() || f.UnitsPerEm() != int(o.UnitsPerEm()) {
				t.Fatalf("%d glyphs, %d units per em", f.NumGlyphs(), f.UnitsPerEm())
			}
			mapped := 0
			for r := range rune(0x20000) {
				want, err := o.GlyphIndex(&buf, r)
				if err != nil {
					t.Fatal(err)
				}
				if got := f.GlyphIndex(r); got != quire.GID(want) {
					t.Fatalf("U+%04X: glyph %d, oracle says %d", r, got, want)
				}
				if want != 0 {
					mapped++
				}
			}
			if mapped < 600 {
				t.Errorf("only %d characters mapped", mapped)
			}
			em := fixed.I(f.UnitsPerEm())
			for g := range f.NumGlyphs() {
				want, err := o.GlyphAdvance(&buf, sfnt.GlyphIndex(g), em, font.HintingNone)
				if err != nil {
					t.Fatal(err)
				}
				if got := f.Advance(quire.GID(g)); got != want.Round() {
					t.Fatalf("glyph %d: advance %d, oracle says %v", g, got, want)
				}
			}
			om, err := o.Metrics(&buf, em, font.HintingNone)
			if err != nil {
				t.Fatal(err)
			}
			m := f.Metrics()
			if m.Ascent != om.Ascent.Round() || -m.Descent != om.Descent.Round() ||
				// The oracle turns measured heights upside down.
				m.CapHeight != max(om.CapHeight, -om.CapHeight).Round() || m.XHeight != max(om.XHeight, -om.XHeight).Round() {
				t.Errorf("metrics %+v, oracle says %+v", m, om)
			}
			if p := o.PostTable(); math.Abs(float64(m.ItalicAngle)-p.ItalicAngle*1000) >= 1 ||
				m.UnderlinePosition != int(p.UnderlinePosition) || m.UnderlineThickness != int(p.UnderlineThickness) ||
				f.FixedPitch() != p.IsFixedPitch {
				t.Errorf("post: %+v, oracle says %+v", m, p)
			}
			italic, bold := strings.Contains(e.name, "Italic"), strings.Contains(e.name, "Bold")
			if s := f.Style(); s.Italic != italic || s.Bold() != bold {
				t.Errorf("style is %+v", s)
			}
		})
	}
}

// TestKernAgainstOracle walks pairs of letters. The fonts go without GPOS, which
// the oracle would prefer to kern.
func TestKernAgainstOracle(t *testing.T) {
	for _, e := range embedded {
		data := edit(t, e.data, "GPOS", func([]byte) []byte { return nil })
		f := parse(t, data)
		o, err := sfnt.Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		var buf sfnt.Buffer
		pairs := 0
		for a := 'A'; a <= 'z'; a++ {
			for b := 'A'; b <= 'z'; b++ {
				l, r := f.GlyphIndex(a), f.GlyphIndex(b)
				got := f.Kern(l, r)
				want, err := o.Kern(&buf, sfnt.GlyphIndex(l), sfnt.GlyphIndex(r), fixed.I(f.UnitsPerEm()), font.HintingNone)
				if errors.Is(err, sfnt.ErrNotFound) {
					want = 0
				} else if err != nil {
					t.Fatal(err)
				}
				if got != want.Round() {
					t.Fatalf("%s: kern %c%c is %d, oracle says %v", e.name, a, b, got, want)
				}
				if got != 0 {
					pairs++
				}
			}
		}
		if !strings.HasPrefix(e.name, "LiberationMono") && pairs < 50 {
			t.Errorf("%s: %d kerning pairs", e.name, pairs)
		}
	}
}

// TestErrorsNameBrokenTagsInASCII: the tag of a table in a broken file may have any bytes.
func TestErrorsNameBrokenTagsInASCII(t *testing.T) {
	for tag, want := range map[string]string{
		"CFF ":             "font: read table CFF: cut off",
		"\xFF\xFE\x1B\x07": `font: read table "\xff\xfe\x1b\a": cut off`,
	} {
		if got := (&quire.FormatError{Table: tag, Reason: "cut off"}).Error(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
