package gotext_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/font"
	"example.com/quire/pdf/font/liberation"
	"example.com/quire/pdf/internal/diag"
	"example.com/quire/pdf/internal/text"
	"example.com/quire/pdf/internal/text/gotext"
)

func embedded(tb testing.TB) []*font.Face {
	tb.Helper()
	lib := liberation.New()
	var out []*font.Face
	for _, family := range lib.Families() {
		for _, style := range []font.Style{{Weight: 400}, {Weight: 700}, {Weight: 400, Italic: true}, {Weight: 700, Italic: true}} {
			m, err := lib.Match(family, style)
			if err != nil {
				tb.Fatal(err)
			}
			out = append(out, m.Face)
		}
	}
	return out
}

// letters are what the words of these tests are made of.
const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,:;-'\"()/&äöüßéèàçñøåłőžĄęŞįΑΒΓαβγδΆώАБВабвгджяЇ€£’“–"

func word(r *rand.Rand, letters []rune) string {
	var b strings.Builder
	for range 1 + r.IntN(10) {
		b.WriteRune(letters[r.IntN(len(letters))])
	}
	return b.String()
}

// repertoire is every character of f but marks and those of scripts that need tables.
func repertoire(f *font.Face) []rune {
	var out []rune
	for _, r := range f.Runes() {
		if r > ' ' && (text.Latin{}).Shapes(f, r) && !unicode.Is(unicode.M, r) {
			out = append(out, r)
		}
	}
	return out
}

// placed returns glyphs with X where each is drawn, and behind them the end of the run: a kerning
// may be taken from the advance of one glyph or shared between both.
func placed(glyphs []text.Glyph) []text.Glyph {
	out, x := make([]text.Glyph, 0, len(glyphs)+1), int32(0)
	for _, g := range glyphs {
		at := x + g.X
		x += g.Advance
		g.X, g.Advance = at, 0
		out = append(out, g)
	}
	return append(out, text.Glyph{X: x})
}

// hard are words with what is neither letter nor mark to the fast path: characters with a canonical
// equal, joiners, a sign that is attached, letters of tone that join, controls without effect.
var hard = []string{"\u1F7D\u037E", "\u1F77\u1FC1", "x\u200Dy", "\u200Czx", "P\u02DE", "\u02E5\u02E7", "\u02E9\u02E7\u02E5", "\u206A\u0278", "\u200Ea", "a\u2060b", "\u0393\u03ED"}

// TestTabularFiguresOfFontsThatHaveNothingElse: a font without ligatures and kerning whose figures
// have other forms for tables.
func TestTabularFiguresOfFontsThatHaveNothingElse(t *testing.T) {
	data, err := os.ReadFile("../../../../examples/pdf/samples/programme/fonts/SourceSerif4-Regular.ttf")
	if err != nil {
		t.Fatal(err)
	}
	// What is on by default gets a tag that nobody asks for; the forms of the feature pnum, which
	// differ from those of text, stand for those of tables.
	for _, tag := range [][2]string{{"tnum", "x000"}, {"pnum", "tnum"}, {"liga", "x001"}, {"clig", "x002"}, {"calt", "x003"}, {"rlig", "x004"}, {"rvrn", "x005"}, {"kern", "x006"}} {
		data = bytes.ReplaceAll(data, []byte(tag[0]), []byte(tag[1]))
	}
	f, err := font.ParseFace(data, 0, diag.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	s := &gotext.Shaper{}
	for _, figures := range []string{"1", "1117"} {
		got, err := s.Shape(nil, f, text.Run{Text: figures, TabularFigures: true})
		if err != nil {
			t.Fatal(err)
		}
		if want := s.Slow(nil, f, text.Run{Text: figures, TabularFigures: true}); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", figures, got, want)
		}
		if plain := s.Slow(nil, f, text.Run{Text: figures}); slices.Equal(got, plain) {
			t.Errorf("%q: the figures of text, %v", figures, plain)
		}
	}
	if s.SideBySide(f) {
		t.Error("tables of ASCII are made of it, which know one form of each figure")
	}
}

// BenchmarkWord shapes one word of ten letters by the fast path and by the slow one.
func BenchmarkWord(b *testing.B) {
	f := embedded(b)[0]
	for name, s := range map[string]*gotext.Shaper{"fast": {Proven: liberation.Embedded}, "slow": {}} {
		b.Run(name, func(b *testing.B) {
			var dst []text.Glyph
			b.ReportAllocs()
			for b.Loop() {
				var err error
				if dst, err = s.Shape(dst[:0], f, text.Run{Text: "settlement"}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestMarksHaveTheirPlaces: a mark that no character is composed with stands where the font
// has an anchor for it.
func TestMarksHaveTheirPlaces(t *testing.T) {
	ts := text.NewTypesetter(liberation.New(), &gotext.Shaper{}, &gotext.Segmenter{}, 1<<20)
	for name, in := range map[string]string{
		"Yoruba": "o\u0323\u0300 e\u0323\u0301 s\u0323", "Guarani": "g\u0303 G\u0303", "IPA": "\u0254\u0303 \u025b\u0303 n\u0329", "Vietnamese": "Vie\u0323\u0302t ngu\u031b\u0300",
		"Lithuanian": "i\u0307\u0301", "stress": "за\u0301мок",
	} {
		for _, family := range []string{"Liberation Sans", "Liberation Serif", "Liberation Mono", "DejaVu Sans"} {
			t.Run(name+" "+family, func(t *testing.T) {
				c, err := ts.Chain(text.Query{Family: family})
				if err != nil {
					t.Fatal(err)
				}
				set := text.NewSetter(t.Context(), ts)
				defer set.Close()
				lines, err := set.Set([]text.Piece{{Text: in, Chain: c, Size: 10 * doc.Pt}}, 500*doc.Pt, doc.AlignLeft)
				if err != nil {
					t.Fatal(err)
				}
				for i := range lines[0].Items {
					part := lines[0].Items[i].Part
					for k := 1; k < len(part.Glyphs); k++ {
						g := part.Glyphs[k]
						if g.Cluster == part.Glyphs[k-1].Cluster && g.Advance != 0 {
							t.Errorf("%+q in %s: a mark takes up room: %+v", part.Text, part.Face.PostScriptName(), part.Glyphs)
						}
					}
				}
			})
		}
	}
}

// TestMarkWithoutAPlaceIsAnError: it is never set beside its letter.
func TestMarkWithoutAPlaceIsAnError(t *testing.T) {
	for name, shaper := range map[string]text.Shaper{"tables": &gotext.Shaper{}, "no tables": text.Latin{}} {
		ts := text.NewTypesetter(liberation.New(), shaper, &gotext.Segmenter{}, 1<<20)
		c, err := ts.Chain(text.Query{})
		if err != nil {
			t.Fatal(err)
		}
		set := text.NewSetter(t.Context(), ts)
		in := "a \u2192\u0301 b"
		if name == "no tables" {
			in = "a g\u0303 b"
		}
		_, err = set.Set([]text.Piece{{Text: in, Chain: c, Size: 10 * doc.Pt}}, 500*doc.Pt, doc.AlignLeft)
		set.Close()
		if e, ok := errors.AsType[*text.MarkError](err); !ok || !strings.Contains(e.Error(), "no font places the marks of") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestLigatures: a font that has them by default has them in text, and they say their letters.
func TestLigatures(t *testing.T) {
	var s gotext.Shaper
	m, err := liberation.New().Match("DejaVu Sans", font.Style{})
	if err != nil {
		t.Fatal(err)
	}
	glyphs, err := s.Shape(nil, m.Face, text.Run{Text: "office"})
	if err != nil || len(glyphs) != 4 || glyphs[1].Cluster != 1 || glyphs[2].Cluster != 4 {
		t.Errorf("%v, %v", glyphs, err)
	}
}

// TestShapersDoNotMeet: many goroutines shape with one Shaper, each as if alone.
func TestShapersDoNotMeet(t *testing.T) {
	var alone gotext.Shaper
	s := gotext.Shaper{Proven: liberation.Embedded}
	faces := embedded(t)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(7, uint64(i))) //nolint:gosec // G404: test data
			for range 300 {
				f, w := faces[r.IntN(len(faces))], word(r, []rune(letters))+"g\u0303"
				if !f.Covers(w) {
					continue
				}
				a, _ := s.Shape(nil, f, text.Run{Text: w})
				if b := alone.Slow(nil, f, text.Run{Text: w}); fmt.Sprint(a) != fmt.Sprint(b) {
					t.Errorf("%q: %v and %v", w, a, b)
				}
			}
		})
	}
	wg.Wait()
}
