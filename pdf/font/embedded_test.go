package font_test

import (
	"slices"
	"testing"

	quire "example.com/quire/pdf/font"
	"example.com/quire/pdf/font/liberation"
	"example.com/quire/pdf/internal/diag"
)

// programs are font programs of every kind that is read.
func programs(tb testing.TB) map[string][]byte {
	tb.Helper()
	chain, err := liberation.New().Chain(liberation.Serif, quire.Style{Weight: 400})
	if err != nil {
		tb.Fatal(err)
	}
	serif, err := chain.Pick("A")
	if err != nil {
		tb.Fatal(err)
	}
	text := testFile(tb, "SampleText.otf")
	keyed := quire.NewUse(cjk(tb, 1))
	for _, r := range "中文排版ABC" {
		keyed.AddRune(cjk(tb, 1).GlyphIndex(r), r)
	}
	return map[string][]byte{
		"TrueType": serif.Data(), "OpenType": text, "CFF": parse(tb, text).Table("CFF "), "CFF keyed by CIDs": inflate(tb, subset(tb, keyed, true).Program),
	}
}

// TestProgramsWithoutGlyphs: glyphs that are kept have their outlines, widths and names; of the others
// nothing is found.
func TestProgramsWithoutGlyphs(t *testing.T) {
	for name, data := range programs(t) {
		t.Run(name, func(t *testing.T) {
			p, err := quire.ParseEmbedded(data, diag.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			codes := func(text string) (out []quire.Code) {
				for _, r := range text {
					out = append(out, quire.Code{Value: byte(r), Name: string(r), Text: string(r), Mac: -1}) //nolint:gosec // G115: letters of Latin-1
				}
				return out
			}
			keep, gone := p.ByCodes(codes("ABé"), nil), p.ByCodes(codes("C"), nil)
			if p.KeyedByCID() {
				keep, gone = []quire.GID{0, 1, 2}, []quire.GID{0, 3}
			}
			if len(keep) < 3 || len(gone) < 2 || p.Blank(gone[1]) {
				t.Fatalf("kept %v, gone %v", keep, gone)
			}
			out, cut, err := p.Without(keep)
			if err != nil || cut == 0 || len(out) >= len(data) {
				t.Fatalf("%d bytes of %d, %d glyphs are gone, %v", len(out), len(data), cut, err)
			}
			q, err := quire.ParseEmbedded(out, diag.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			for i, g := range keep {
				h := g
				if p.CFF() {
					h = quire.GID(i)
				}
				if p.KeyedByCID() && i > 0 {
					continue // found by its CID below
				}
				from, okFrom := p.Width(g)
				to, okTo := q.Width(h)
				if from != to || okFrom != okTo || p.Blank(g) != q.Blank(h) {
					t.Errorf("glyph %d: width %g, %t; was %g, %t", g, to, okTo, from, okFrom)
				}
			}
			if !p.KeyedByCID() {
				if again := q.ByCodes(codes("ABé"), nil); len(again) != len(keep) {
					t.Errorf("kept glyphs are found as %v", again)
				}
				for _, g := range q.ByCodes(codes("C"), nil) {
					if g != 0 {
						t.Errorf("C is found as glyph %d", g)
					}
				}
			}
			if !p.CFF() && (q.NumGlyphs() != p.NumGlyphs() || !q.Blank(gone[1])) {
				t.Errorf("%d glyphs, C blank %t", q.NumGlyphs(), q.Blank(gone[1]))
			}
			if p.CFF() && q.NumGlyphs() != len(keep) {
				t.Errorf("%d glyphs, want %d", q.NumGlyphs(), len(keep))
			}
		})
	}
}

// FuzzEmbedded reads what is no font program, and cuts it.
func FuzzEmbedded(f *testing.F) {
	for _, data := range programs(f) {
		f.Add(data[:min(len(data), 4096)])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := quire.ParseEmbedded(slices.Clone(data), diag.Limits{})
		if err != nil {
			return
		}
		p.ByCodes([]quire.Code{{Value: 'A', Name: "A", Text: "A", Mac: 'A'}}, func(n string) string { return n })
		for g := range min(p.NumGlyphs(), 100) {
			p.Width(quire.GID(g))
			p.Blank(quire.GID(g))
		}
		out, _, err := p.Without([]quire.GID{0, 1})
		if err != nil {
			return
		}
		if _, err := quire.ParseEmbedded(out, diag.Limits{}); err != nil {
			t.Errorf("what was written is not read: %v", err)
		}
	})
}
