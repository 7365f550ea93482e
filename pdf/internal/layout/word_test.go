package layout_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/diag"
	"example.com/quire/pdf/internal/layout"
	"example.com/quire/pdf/internal/tag"
)

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

// TestElementsOfLongTablesAreUsedAgain: a tagged table of thousands of rows is laid out in the
// elements of two of its bodies, and on each page every word has an element of its own, a cell of
// the row that it is of.
func TestElementsOfLongTablesAreUsedAgain(t *testing.T) {
	const rows, columns = 4000, 4
	n := &doc.Table{Rows: func(yield func(doc.Row, error) bool) {
		for i := range rows {
			r := doc.Row{Cells: make([]doc.Cell, columns)}
			for k := range r.Cells {
				r.Cells[k].Spans = []doc.Span{{Text: fmt.Sprintf("%d.%d", i, k)}}
			}
			if i%97 == 0 { // no word
				r.Cells[2].Spans[0].Text = "two words"
			}
			if !yield(r, nil) {
				return
			}
		}
	}}
	for range columns {
		n.Columns = append(n.Columns, doc.Column{Width: doc.Fr(1)})
	}
	s := &wordSink{t: t, cells: map[*tag.Elem]int{}}
	d := tenLines()
	d.Body = doc.Nodes(n)
	if _, err := layout.Run(t.Context(), d, layout.Options{Typesetter: typesetter, Tagged: true}, s); err != nil {
		t.Fatal(err)
	}
	if want := rows*columns - (rows+96)/97; s.words != want {
		t.Errorf("%d words, want %d", s.words, want)
	}
	if most := 3 * 512 * columns; len(s.cells) > most {
		t.Errorf("the words have %d elements, want at most %d", len(s.cells), most)
	}
}

// wordSink looks at the elements of words.
type wordSink struct {
	t     *testing.T
	cells map[*tag.Elem]int // the page that each was on last
	words int
}

func (s *wordSink) Late(*layout.Page) error { return nil }

func (s *wordSink) Page(p *layout.Page) error {
	rows := map[string]*tag.Elem{}
	for _, it := range p.Items {
		w := it.Word
		if w == nil {
			continue
		}
		s.words++
		if s.cells[w.Elem] == p.Number || w.Elem.Type != tag.TD || w.Elem.Parent.Type != tag.TR {
			s.t.Fatalf("page %d: the element of %s is %+v", p.Number, w.Text, w.Elem)
		}
		s.cells[w.Elem] = p.Number
		row, _, _ := strings.Cut(w.Text, ".")
		if of := rows[row]; of != nil && of != w.Elem.Parent {
			s.t.Fatalf("page %d: %s is in another row than the cells beside it", p.Number, w.Text)
		}
		rows[row] = w.Elem.Parent
	}
	return nil
}
