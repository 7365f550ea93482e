//go:build !race

package layout_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/diag"
	"example.com/quire/pdf/internal/layout"
)

// The tests of this file compute for long in one goroutine, where the race detector takes ten times
// as long and finds nothing.

// TestLabelsOfDecimalListsFitAtAnyCount: 11. is narrower than 10., so the first and the
// last label do not tell how wide the others are.
func TestLabelsOfDecimalListsFitAtAnyCount(t *testing.T) {
	if testing.Short() {
		t.Skip("lays out thousands of lists")
	}
	for _, family := range []string{"Liberation Sans", "Liberation Serif", "Liberation Mono", "DejaVu Sans"} {
		for _, start := range []int{0, 1, 7, 99, 110, 211, 995, -3} {
			for _, n := range []int{1, 2, 9, 10, 11, 12, 99, 100, 110, 211, 1100} {
				items := make([]doc.ListItem, n)
				for i := range items {
					items[i].Nodes = []doc.Node{para("x")}
				}
				d := tenLines()
				d.BaseStyle = &doc.Style{Family: family, Size: 10 * doc.Pt, Leading: 10 * doc.Pt}
				d.Body = doc.Nodes(&doc.List{Marker: doc.MarkerDecimal, Start: start, Items: items})
				if _, _, err := run(t, d, false); err != nil {
					t.Fatalf("%s, %d items from %d: %v", family, n, start, err)
				}
			}
		}
	}
}

// TestCellsOfOneWordLookAsParagraphs: a cell of one word stands where the same word stands as a
// paragraph, in its size and colour, on all pages, whatever the style, the language and the word.
func TestCellsOfOneWordLookAsParagraphs(t *testing.T) {
	tables := 300
	if testing.Short() {
		tables = 30
	}
	r := rand.New(rand.NewPCG(5, 6)) //nolint:gosec // G404: test data
	pick := func(s []string) string { return s[r.IntN(len(s))] }
	for range tables {
		styles := make([]*doc.Style, 3)
		for i := range styles {
			styles[i] = &doc.Style{
				Size: doc.Length(6+r.IntN(8)) * doc.Pt, Leading: doc.Length(8+r.IntN(9)) * doc.Pt,
				Align:          []doc.Align{doc.AlignStart, doc.AlignLeft, doc.AlignRight, doc.AlignCenter, doc.AlignJustify, doc.AlignDecimal}[r.IntN(6)],
				TabularFigures: r.IntN(2) == 0, Weight: 400 + 300*r.IntN(2), Color: []doc.Color{0, doc.RGB(9, 9, 9)}[r.IntN(2)],
			}
			switch r.IntN(12) {
			case 0:
				styles[i].Indent = 3 * doc.Pt
			case 1:
				styles[i].MarginLeft = 3 * doc.Pt
			case 2:
				styles[i].SmallCaps = true
			case 3:
				styles[i].Breaking = doc.BreakingTotal
			case 4:
				styles[i].Hyphenate = doc.HyphenateOn
			}
		}
		lang := pick([]string{"en", "en", "en", "he"})
		var spans [][3]doc.Span
		for range 25 {
			var row [3]doc.Span
			for i := range row {
				row[i] = doc.Span{Text: pick([]string{"12,345.67", "ABCDEF", "AVA", "Settlement.", "two words", "naïve", "x", "", "-5", "9:30", "a\u00ADb", "BUY", "Donaudampfschifffahrt"})}
				row[i].Bold, row[i].Figure = r.IntN(20) == 0, r.IntN(3) == 0
				if r.IntN(20) == 0 {
					row[i].Link = "https://example.com/"
				}
			}
			spans = append(spans, row)
		}
		set := func(spoken string, tagged bool) (*record, error) {
			table := &doc.Table{Block: doc.Block{Lang: lang}}
			for i := range styles {
				table.Columns = append(table.Columns, doc.Column{Width: doc.Width{Kind: doc.WidthFixed, Value: 60 * doc.Pt}, Style: styles[i]})
			}
			var rows []doc.Row
			for _, row := range spans {
				var cells []doc.Cell
				for _, s := range row {
					s.Lang = spoken
					cells = append(cells, doc.Cell{Spans: []doc.Span{s}})
				}
				rows = append(rows, doc.Row{Cells: cells})
			}
			table.Rows = doc.Rows(rows...)
			d := tenLines()
			d.Body = doc.Nodes(table)
			rec := &record{}
			_, err := layout.Run(t.Context(), d, layout.Options{Typesetter: typesetter, Tagged: tagged, Images: images.Session(diag.Limits{})}, rec)
			for i := range rec.pieces {
				rec.pieces[i].Elem, rec.pieces[i].Link = nil, nil // they are not the same ones
			}
			return rec, err
		}
		tagged := r.IntN(2) == 0
		want, wantErr := set(lang, tagged) // what names its language is no plain word
		got, err := set("", tagged)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("got %v, want %v", err, wantErr)
		}
		if !reflect.DeepEqual(got.lines, want.lines) || !reflect.DeepEqual(got.pieces, want.pieces) || !reflect.DeepEqual(got.rects, want.rects) {
			t.Fatalf("%+v\n got %+v\nwant %+v", spans, got.lines, want.lines)
		}
	}
}

// TestNoStrayRows: wherever a table begins on the page and however long it is, a
// page break leaves two rows on either side of it, the heading and the head stay
// with the first rows and the last rows with the foot.
func TestNoStrayRows(t *testing.T) {
	plain := &doc.Style{Size: 10 * doc.Pt, Leading: 12 * doc.Pt}
	loose := &doc.Style{Size: 10 * doc.Pt, Leading: 12 * doc.Pt, Widows: 1, Orphans: 1}
	strict := &doc.Style{Size: 10 * doc.Pt, Leading: 12 * doc.Pt, Widows: 3, Orphans: 4}
	strays := map[bool]int{}
	for before := range 10 {
		for n := range 20 {
			for _, c := range []struct {
				style           *doc.Style
				orphans, widows int
			}{{plain, 2, 2}, {loose, 1, 1}, {strict, 4, 3}} {
				for _, nested := range []bool{false, true} {
					table := &doc.Table{Block: doc.Block{Style: c.style}, Columns: []doc.Column{{Head: spans("head")}}, Padding: &doc.Edges{}, Rows: doc.Rows(numbered(n)...)}
					if n%2 == 0 {
						table.Foot = []doc.Row{{Cells: []doc.Cell{{Spans: spans("foot")}}}}
					}
					nodes := []doc.Node{lines("a", before+1), &doc.Heading{Level: 1, Block: doc.Block{Style: plain}, Spans: spans("heading")}, table}
					if nested {
						nodes = []doc.Node{nodes[0], &doc.Box{Nodes: nodes[1:]}}
					}
					r := place(t, nodes...)
					what := fmt.Sprintf("%d rows after %d lines, nested %v, %d and %d", n, before+1, nested, c.orphans, c.widows)
					if checkRows(t, r, n, c.orphans, c.widows, what) {
						strays[c.style == loose]++
					}
				}
			}
		}
	}
	if strays[false] > 0 || strays[true] == 0 {
		t.Errorf("single rows: %v", strays)
	}
}
