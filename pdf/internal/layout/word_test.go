package layout_test

import (
	"fmt"
	"strings"
	"testing"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/layout"
	"example.com/quire/pdf/internal/tag"
)

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
		if it.Words == nil {
			continue
		}
		for i := range it.Words.Words {
			s.word(p, &it.Words.Words[i], rows)
		}
	}
	return nil
}

func (s *wordSink) word(p *layout.Page, w *layout.Word, rows map[string]*tag.Elem) {
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
