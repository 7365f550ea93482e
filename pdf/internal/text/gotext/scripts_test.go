package gotext_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/font"
	"example.com/quire/pdf/font/liberation"
	"example.com/quire/pdf/internal/diag"
	"example.com/quire/pdf/internal/text"
	"example.com/quire/pdf/internal/text/gotext"
)

// library is the embedded fonts and those of testdata, all of them fallbacks.
func library(tb testing.TB) *font.Library {
	tb.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "*.ttf"))
	if err != nil || len(files) == 0 {
		tb.Fatal(files, err)
	}
	o := font.Options{}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			tb.Fatal(err)
		}
		family := strings.TrimSuffix(filepath.Base(name), ".ttf")
		o.Families = append(o.Families, font.Family{Name: family, Faces: []font.Source{{Data: data}}})
		o.Fallback = append(o.Fallback, family)
	}
	lib, err := liberation.New().With(o)
	if err != nil {
		tb.Fatal(err)
	}
	return lib
}

// record is a line of testdata/harfbuzz.txt.
type record struct {
	family, lang, text string
	advance            int
	glyphs             string
}

func records(tb testing.TB) []record {
	tb.Helper()
	all, err := os.ReadFile(filepath.Join("testdata", "harfbuzz.txt"))
	if err != nil {
		tb.Fatal(err)
	}
	var out []record
	for line := range strings.Lines(string(all)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) != 5 {
			continue
		}
		r := record{family: f[0], lang: f[1], text: f[2], glyphs: f[4]}
		if r.advance, err = strconv.Atoi(f[3]); err != nil {
			tb.Fatal(err)
		}
		if r.family == "DejaVuSans" {
			r.family = "DejaVu Sans"
		}
		out = append(out, r)
	}
	if len(out) < 40 {
		tb.Fatalf("%d records", len(out))
	}
	return out
}

// TestScriptsAreShapedAsByHarfBuzz: Arabic, Hebrew, Lao, Devanagari, Bengali, Tamil, Thai and Khmer
// words have the glyphs that HarfBuzz gives them, each at its place.
func TestScriptsAreShapedAsByHarfBuzz(t *testing.T) {
	lib := library(t)
	sh := &gotext.Shaper{Proven: liberation.Embedded}
	for _, r := range records(t) {
		m, err := lib.Match(r.family, font.Style{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := sh.Shape(nil, m.Face, text.Run{Text: r.text, Lang: r.lang, Complex: true, RTL: text.RightToLeft(r.lang)})
		if err != nil {
			t.Fatal(err)
		}
		type placed struct{ id, x, y int }
		var all []placed
		x := 0
		for _, g := range got {
			all = append(all, placed{int(g.ID), x + int(g.X), int(g.Y)})
			x += int(g.Advance)
		}
		slices.SortFunc(all, func(a, b placed) int {
			return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.x, b.x), cmp.Compare(a.y, b.y))
		})
		var s []string
		for _, p := range all {
			s = append(s, fmt.Sprintf("%d@%d,%d", p.id, p.x, p.y))
		}
		if glyphs := strings.Join(s, " "); x != r.advance || glyphs != r.glyphs {
			t.Errorf("%s in %s:\n got %d %s\nwant %d %s", r.text, r.family, x, glyphs, r.advance, r.glyphs)
		}
	}
}

// TestEveryScriptFindsItsFont: a paragraph of all scripts has each word in a font that has it, and
// what its items say, in their order, is the text.
func TestEveryScriptFindsItsFont(t *testing.T) {
	ts := text.NewTypesetter(library(t), &gotext.Shaper{Proven: liberation.Embedded}, &gotext.Segmenter{}, 1<<20)
	c, err := ts.Chain(text.Query{Family: "Liberation Sans"})
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, r := range records(t) {
		words = append(words, r.text)
	}
	in := strings.Join(words, " ")
	for _, width := range []doc.Length{40 * doc.Pt, 120 * doc.Pt, 400 * doc.Pt} {
		s := text.NewSetter(t.Context(), ts)
		lines, err := s.SetParagraph([]text.Piece{{Text: in, Chain: c, Size: 10 * doc.Pt, Lang: "ar"}}, width, text.Options{Align: doc.AlignJustify})
		if err != nil {
			t.Fatal(err)
		}
		var said strings.Builder
		for _, l := range lines {
			if l.Width > width {
				t.Errorf("a line of %v in %v", l.Width, width)
			}
			for _, it := range l.Items {
				said.WriteString(it.Part.Text)
				for _, g := range it.Part.Glyphs {
					if g.ID == 0 {
						t.Errorf("no glyph in %q", it.Part.Text)
					}
				}
			}
		}
		if squeeze(said.String()) != squeeze(in) {
			t.Errorf("got %q\nwant %q", said.String(), in)
		}
		s.Close()
	}
}

// TestThaiLinesEndBetweenWords: no line of a narrow column begins within a word.
func TestThaiLinesEndBetweenWords(t *testing.T) {
	ts := text.NewTypesetter(library(t), &gotext.Shaper{Proven: liberation.Embedded}, &gotext.Segmenter{}, 1<<20)
	c, err := ts.Chain(text.Query{Family: "Liberation Sans"})
	if err != nil {
		t.Fatal(err)
	}
	words := slices.Repeat([]string{"สวัสดี", "ปู่", "ดู", "น้ำ", "ที่", "นี่", "นาน", "กตัญญู"}, 3)
	ends, at := map[int]bool{}, 0
	for _, w := range words {
		at += len(w)
		ends[at] = true
	}
	for _, align := range []doc.Align{doc.AlignStart, doc.AlignJustify} {
		s := text.NewSetter(t.Context(), ts)
		lines, err := s.SetParagraph([]text.Piece{{Text: strings.Join(words, ""), Chain: c, Size: 10 * doc.Pt, Lang: "th"}}, 60*doc.Pt, text.Options{Align: align})
		if err != nil {
			t.Fatal(err)
		}
		if len(lines) < 4 {
			t.Errorf("%d lines", len(lines))
		}
		said := 0
		for _, l := range lines {
			for _, it := range l.Items {
				said += len(it.Part.Text)
			}
			if !ends[said] {
				t.Errorf("a line ends within a word, at %d", said)
			}
		}
		s.Close()
	}
}

func squeeze(s string) string { return strings.ReplaceAll(s, " ", "") }

// TestFontWithoutTablesForItsScriptIsNotTaken: Arabic letters in a font that cannot join them are
// an error, or come from the next font.
func TestFontWithoutTablesForItsScriptIsNotTaken(t *testing.T) {
	m, err := liberation.New().Match("DejaVu Sans", font.Style{})
	if err != nil {
		t.Fatal(err)
	}
	// The directory names the table otherwise, so that no reader finds it.
	data := bytes.Replace(m.Face.Data(), []byte("GSUB"), []byte("GSUX"), 1)
	lame := font.Options{Families: []font.Family{{Name: "Lame", Faces: []font.Source{{Data: data}}}}}
	set := func(lib *font.Library, s string) (*font.Face, error) {
		ts := text.NewTypesetter(lib, &gotext.Shaper{}, &gotext.Segmenter{}, 0)
		c, err := ts.Chain(text.Query{Family: "Lame"})
		if err != nil {
			t.Fatal(err)
		}
		lines, err := text.NewSetter(t.Context(), ts).Set([]text.Piece{{Text: s, Chain: c, Size: 10 * doc.Pt}}, 100*doc.Pt, doc.AlignStart)
		if err != nil {
			return nil, err
		}
		return lines[0].Items[0].Part.Face, nil
	}
	alone, err := font.NewLibrary(lame)
	if err != nil {
		t.Fatal(err)
	}
	var e *text.ScriptError
	if _, err := set(alone, "سلام"); !errors.As(err, &e) || e.Script != "Arabic" || e.Rune != 'س' || !strings.Contains(e.Error(), diag.Quote("سلام")) {
		t.Error(err)
	}
	if _, err := set(alone, "שלום"); err != nil {
		t.Errorf("Hebrew needs no tables: %v", err)
	}
	both, err := liberation.New().With(lame)
	if err != nil {
		t.Fatal(err)
	}
	if f, err := set(both, "سلام"); err != nil || f.PostScriptName() != "DejaVuSans" || bytes.Contains(f.Data(), []byte("GSUX")) {
		t.Error(f, err)
	}
}
