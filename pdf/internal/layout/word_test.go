package layout_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
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
	if most := 50 * columns; len(s.cells) > most { // those of some pages
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

// TestRowsOfWordsEqualRowsOfCells: any table, in whatever memory, looks the same and has the same
// elements when its rows are laid out cell by cell, as they are for a trace.
func TestRowsOfWordsEqualRowsOfCells(t *testing.T) {
	tables := 500
	if testing.Short() {
		tables = 50
	}
	r := rand.New(rand.NewPCG(7, 8)) //nolint:gosec // G404: test data
	var words, cells layout.Memory
	layout.Poison(&cells)
	ofWords := 0
	for range tables {
		d := randomTable(r)
		tagged := r.IntN(2) == 0
		set := func(m *layout.Memory, trace bool) (string, error) {
			s := &rowSink{elems: map[*tag.Elem]int{}}
			_, err := layout.Run(t.Context(), d, layout.Options{Typesetter: typesetter, Tagged: tagged, Trace: trace, Memory: m}, s)
			m.Reset()
			ofWords += s.rows
			return s.b.String(), err
		}
		want, wantErr := set(&cells, true)
		got, err := set(&words, false)
		if got != want || fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Fatalf("got\n%s%v\nwant\n%s%v", got, err, want, wantErr)
		}
	}
	if ofWords < tables {
		t.Errorf("%d rows of words in %d tables", ofWords, tables)
	}
}

// randomTable is a document with a table of a few rows, most of them of words.
func randomTable(r *rand.Rand) *doc.Document {
	pick := func(s ...string) string { return s[r.IntN(len(s))] }
	rarely := func() bool { return r.IntN(25) == 0 }
	style := func() *doc.Style {
		s := &doc.Style{
			Size: doc.Length(6+r.IntN(4)) * doc.Pt, Leading: doc.Length(8+r.IntN(6)) * doc.Pt, Weight: 400 + 300*r.IntN(2),
			Align:          []doc.Align{doc.AlignStart, doc.AlignRight, doc.AlignCenter, doc.AlignJustify}[r.IntN(4)],
			TabularFigures: r.IntN(2) == 0, Color: []doc.Color{0, doc.RGB(9, 9, 9)}[r.IntN(2)], Indent: doc.Length(r.IntN(6)/5) * doc.Pt,
		}
		if rarely() {
			s.Align = doc.AlignDecimal
		}
		return s
	}
	columns := 1 + r.IntN(4)
	n := &doc.Table{}
	for range columns {
		c := doc.Column{Width: []doc.Width{doc.Fr(1), doc.Fr(2), {Kind: doc.WidthFixed, Value: 40 * doc.Pt}}[r.IntN(3)], RowHeader: r.IntN(5) == 0}
		if r.IntN(2) == 0 {
			c.Style = style()
		}
		if r.IntN(3) == 0 {
			c.Head = spans("head")
		}
		if rarely() {
			c.Background = doc.RGB(1, 2, 3)
		}
		if rarely() {
			c.Width = doc.Width{Kind: doc.WidthAuto}
		}
		n.Columns = append(n.Columns, c)
	}
	if r.IntN(3) == 0 {
		n.Stripe = []doc.Color{0, doc.RGB(200, 200, 200)}
	}
	if r.IntN(8) == 0 {
		n.Border = doc.Lattice(doc.Line{Width: doc.Pt})
	}
	if r.IntN(8) == 0 {
		n.Lang = "he"
	}
	if r.IntN(4) == 0 {
		n.Padding = &doc.Edges{}
	}
	if r.IntN(4) == 0 {
		foot := make([]doc.Cell, columns)
		for i := range foot {
			foot[i].Spans = spans("foot")
		}
		n.Foot = []doc.Row{{Cells: foot}}
	}
	n.KeepTogether = r.IntN(8) == 0
	other := style()
	row := func() doc.Row {
		row := doc.Row{Cells: make([]doc.Cell, columns)}
		switch r.IntN(30) {
		case 0:
			row.Height = doc.Length(10+r.IntN(40)) * doc.Pt
		case 1:
			row.Height = doc.Length(100+r.IntN(400)) * doc.Pt // higher than a page
		case 2:
			row.Background = doc.RGB(7, 7, 7)
		case 3:
			row.Border = &doc.Border{Top: doc.Line{Width: doc.Pt}}
		case 4:
			row.KeepWithNext = true
		case 5:
			row.Keep = true
		case 6:
			row.Cells[0].Colspan = columns
			row.Cells = row.Cells[:1]
		}
		for i := range row.Cells {
			c := &row.Cells[i]
			c.Spans = spans("x")
			switch r.IntN(60) {
			case 0:
				c.VAlign = doc.VAlignMiddle
			case 1:
				c.Background = doc.RGB(5, 5, 5)
			case 2:
				c.Border = &doc.Border{Left: doc.Line{Width: doc.Pt}}
			case 3:
				c.Header = true
			case 4:
				c.Spans = nil
			case 5:
				c.Spans[0].Bold = true
			case 6:
				c.Nodes = []doc.Node{para("node"), para("node")}
			case 7:
				c.Src = &doc.Source{Line: 1}
			case 8, 9:
				c.Style = other
			case 10:
				c.Spans = append(c.Spans, doc.Span{Text: "y"})
			}
		}
		return row
	}
	texts := func(row *doc.Row) {
		for i := range row.Cells {
			for k := range row.Cells[i].Spans {
				row.Cells[i].Spans[k].Text = pick("12,345.67", "ABC", "AVA", "x", "-5", "9:30", "BUY", "1", "1.1")
				if rarely() {
					row.Cells[i].Spans[k].Text = pick("two words of many", "naïve", "", "Donaudampfschifffahrt", "a\u00ADb")
				}
			}
		}
	}
	var rows []doc.Row
	for range r.IntN(40) {
		one := row()
		texts(&one)
		rows = append(rows, one)
		for range r.IntN(2) * r.IntN(10) {
			again := one
			again.Cells = slices.Clone(one.Cells)
			for i := range again.Cells {
				again.Cells[i].Spans = slices.Clone(again.Cells[i].Spans)
			}
			texts(&again)
			rows = append(rows, again)
		}
	}
	if len(rows) > 0 && columns > 1 && r.IntN(4) == 0 { // two rows that a cell joins
		two := row()
		two.Cells = make([]doc.Cell, columns)
		two.Cells[0].Rowspan = 2
		rows = append(rows, two, doc.Row{Cells: make([]doc.Cell, columns-1)})
		rows = append(rows, row())
	}
	n.Rows = doc.Rows(rows...)
	d := tenLines()
	d.Body = doc.Nodes(para("before"), n, para("behind"))
	if r.IntN(4) == 0 {
		d.Body = doc.Nodes(&doc.Box{Nodes: []doc.Node{n}})
	}
	return d
}

// rowSink writes down what stands on the pages.
type rowSink struct {
	b     strings.Builder
	elems map[*tag.Elem]int // their numbers: as many began before
	begun int
	rows  int // of words
}

func (s *rowSink) Late(p *layout.Page) error { return s.Page(p) }

func (s *rowSink) Page(p *layout.Page) error {
	fmt.Fprintf(&s.b, "page %d\n", p.Number)
	for _, e := range p.Begun {
		s.begun++
		s.elems[e] = s.begun
		fmt.Fprintf(&s.b, "%d: %v in %d, %v %d %d %q %v\n", s.elems[e], e.Type, s.elems[e.Parent], e.Scope, e.Colspan, e.Rowspan, e.Lang, e.Src)
		if e.Parent != nil && s.elems[e.Parent] == 0 {
			return errors.New("an element before its parent")
		}
	}
	for _, it := range p.Items {
		if it.Words == nil {
			fmt.Fprintf(&s.b, "%d %d", it.Text.X, it.Text.Y)
			for _, part := range it.Text.Line.Items {
				fmt.Fprintf(&s.b, " %d %s", part.X, part.Part.Text)
			}
			for _, ps := range it.Text.Pieces {
				fmt.Fprintf(&s.b, " %d %d %d", ps.Size, ps.Color, s.elems[ps.Elem])
			}
			s.b.WriteByte('\n')
			continue
		}
		if len(it.Words.Words) > 1 {
			s.rows++
		}
		for _, w := range it.Words.Words {
			fmt.Fprintf(&s.b, "%d %d %s %v %d %d %v %d\n", it.Words.X+w.X, it.Words.Y, w.Text, w.Kerned, w.Style.Size, w.Style.Color, it.Words.Artifact, s.elems[w.Elem])
		}
	}
	fmt.Fprintf(&s.b, "%v\n", p.Back)
	for _, e := range p.Done {
		fmt.Fprintf(&s.b, "done %d\n", s.elems[e])
	}
	return nil
}
