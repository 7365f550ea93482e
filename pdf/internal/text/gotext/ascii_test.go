//go:build !race

package gotext_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"example.com/quire/pdf/font"
	"example.com/quire/pdf/font/liberation"
	"example.com/quire/pdf/internal/diag"
	"example.com/quire/pdf/internal/text"
	"example.com/quire/pdf/internal/text/gotext"
)

// brought are faces that templates bring along: those of the samples and of tests.
func brought(tb testing.TB) []*font.Face {
	tb.Helper()
	var out []*font.Face
	for _, pattern := range []string{"testdata/*.ttf", "../../../font/testdata/*.*t[fc]", "../../../../examples/pdf/samples/*/fonts/*.ttf"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			tb.Fatalf("%s: %v, %v", pattern, names, err)
		}
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				tb.Fatal(err)
			}
			for i := 0; ; i++ {
				f, err := font.ParseFace(data, i, diag.Limits{})
				if err != nil {
					if i == 0 {
						tb.Fatalf("%s: %v", name, err)
					}
					break
				}
				out = append(out, f)
			}
		}
	}
	return out
}

// TestTableOfASCIIIsOfFacesThatNeedNoMore: in each face whose words of ASCII are shaped by a table,
// embedded or brought along, all pairs of characters and the letters of ligatures have the glyphs
// and the places that all of its GSUB and GPOS give them.
func TestTableOfASCIIIsOfFacesThatNeedNoMore(t *testing.T) {
	s := gotext.Shaper{Proven: liberation.Embedded}
	words := []string{"ffi", "ffl", "office", "fjord", "AVATAR", "f i", "Th", "1/2", "->", "--", "...", "www", "0x10", "!="}
	for l := ' '; l <= '~'; l++ {
		for r := ' '; r <= '~'; r++ {
			words = append(words, string([]rune{l, r}))
		}
	}
	tables := 0
	for _, f := range slices.Concat(embedded(t), brought(t)) {
		if !s.SideBySide(f) {
			continue
		}
		tables++
		var a, b []text.Glyph
		for i, w := range words {
			if !f.Covers(w) || testing.Short() && i%7 > 0 {
				continue
			}
			for _, tabular := range []bool{false, true} {
				run := text.Run{Text: w, TabularFigures: tabular}
				var err error
				if a, err = (text.Latin{}).Shape(a[:0], f, run); err != nil {
					t.Fatal(err)
				}
				if b = s.Slow(b[:0], f, run); !slices.Equal(placed(a), placed(b)) {
					t.Errorf("%s, tabular %t: %q\ntable %v\nall   %v", f.PostScriptName(), tabular, w, a, b)
				}
			}
		}
		t.Logf("%s", f.PostScriptName())
	}
	if tables < 12 {
		t.Errorf("%d faces have tables", tables)
	}
}
