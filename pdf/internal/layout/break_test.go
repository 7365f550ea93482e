package layout_test

import (
	"fmt"
	"slices"
	"testing"

	"example.com/quire/pdf/doc"
)

// to is a break.
func to(b doc.Break) doc.Node { return &doc.PageBreak{To: b} }

// beginning is a line behind a break.
func beginning(b doc.Break, s string) *doc.Text {
	return &doc.Text{Block: doc.Block{BreakBefore: b}, Spans: spans(s)}
}

func rowOf(s string) doc.Row { return doc.Row{Cells: []doc.Cell{{Spans: spans(s)}}} }

// shown lays a document out and lists what each page shows: its number, a colon, and its lines,
// with a bar before those that stand beside the line before.
func shown(t *testing.T, d *doc.Document) []string {
	t.Helper()
	r, sum, err := run(t, d, true)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]string, sum.Pages)
	for i := range out {
		out[i] = fmt.Sprint(r.labels[i].Number, ":")
	}
	var last placed
	for _, l := range r.lines {
		switch {
		case l.page != last.page:
		case l.y > last.y && l.x < last.x+50*doc.Pt:
			out[l.page-1] += " "
		default:
			out[l.page-1] += "|"
		}
		out[l.page-1] += l.text
		last = l
	}
	return out
}

// shownOn is shown of some nodes on pages of ten lines.
func shownOn(t *testing.T, nodes ...doc.Node) []string {
	t.Helper()
	d := tenLines()
	d.Body = doc.Nodes(nodes...)
	return shown(t, d)
}

// TestOddBreaks begin a page with an odd number, behind an empty one where the next is even. That
// one belongs to what comes before, and is counted.
func TestOddBreaks(t *testing.T) {
	t.Parallel()
	odd := to(doc.BreakOdd)
	own := func(before doc.Break, from int, nodes ...doc.Node) *doc.Section {
		return &doc.Section{Block: doc.Block{BreakBefore: before}, NumberFrom: from, Body: doc.Nodes(nodes...)}
	}
	for name, c := range map[string]struct {
		nodes []doc.Node
		want  []string
	}{
		"from an odd page":       {[]doc.Node{para("a"), odd, para("b")}, []string{"1:a", "2:", "3:b"}},
		"from an even page":      {[]doc.Node{para("a"), to(doc.BreakPage), para("b"), odd, para("c")}, []string{"1:a", "2:b", "3:c"}},
		"before a block":         {[]doc.Node{para("a"), beginning(doc.BreakOdd, "b")}, []string{"1:a", "2:", "3:b"}},
		"first":                  {[]doc.Node{odd, para("a")}, []string{"1:a"}},
		"last":                   {[]doc.Node{para("a"), odd}, []string{"1:a"}},
		"several":                {[]doc.Node{para("a"), odd, to(doc.BreakPage), odd, para("b")}, []string{"1:a", "2:", "3:b"}},
		"the strongest":          {[]doc.Node{para("a"), odd, to(doc.BreakColumn), &doc.Spacer{Height: doc.Pt}, beginning(doc.BreakPage, "b")}, []string{"1:a", "2:", "3:b"}},
		"before a table":         {[]doc.Node{para("a"), &doc.Table{Block: doc.Block{BreakBefore: doc.BreakOdd}, Columns: []doc.Column{{}}, Rows: doc.Rows(rowOf("b"))}}, []string{"1:a", "2:", "3:b"}},
		"before a place":         {[]doc.Node{para("a"), odd, &doc.Place{X: 10 * doc.Pt, Y: 10 * doc.Pt, Width: 50 * doc.Pt, Nodes: []doc.Node{para("b")}}}, []string{"1:a", "2:", "3:b"}},
		"before a section":       {[]doc.Node{para("a"), own(doc.BreakOdd, 0, para("b"))}, []string{"1:a", "2:", "3:b"}},
		"in a section":           {[]doc.Node{para("a"), own(0, 0, odd, para("b")), para("c")}, []string{"1:a", "2:", "3:b", "4:c"}},
		"behind a section":       {[]doc.Node{para("a"), own(0, 0, para("b")), own(0, 0, para("c")), odd, para("d")}, []string{"1:a", "2:b", "3:c", "4:", "5:d"}},
		"a number of its own":    {[]doc.Node{para("a"), own(doc.BreakOdd, 1, para("b"))}, []string{"1:a", "2:", "1:b"}},
		"and behind an even one": {[]doc.Node{para("a"), to(doc.BreakPage), para("b"), own(doc.BreakOdd, 1, para("c"))}, []string{"1:a", "2:b", "1:c"}},
		"by that number":         {[]doc.Node{para("a"), own(0, 1, para("b"), odd, para("c"))}, []string{"1:a", "1:b", "2:", "3:c"}},
		"of the first page":      {[]doc.Node{own(0, 2, odd, para("a"), to(doc.BreakPage), odd, para("b"))}, []string{"2:a", "3:b"}},
	} {
		if got := shownOn(t, c.nodes...); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	fails(t, "L305", &doc.Box{Nodes: []doc.Node{odd}})
}

// TestColumnBreaks end a column: of the last, and where there are none, the page.
func TestColumnBreaks(t *testing.T) {
	t.Parallel()
	col := to(doc.BreakColumn)
	columns := func(uneven bool, nodes ...doc.Node) *doc.Columns {
		return &doc.Columns{Count: 2, Uneven: uneven, Nodes: nodes}
	}
	for name, c := range map[string]struct {
		nodes []doc.Node
		want  []string
	}{
		"without columns":       {[]doc.Node{para("a"), col, para("b"), beginning(doc.BreakColumn, "c")}, []string{"1:a", "2:b", "3:c"}},
		"in columns":            {[]doc.Node{columns(false, para("a"), col, para("b"), para("c"))}, []string{"1:a|b c"}},
		"before a block":        {[]doc.Node{columns(false, para("a"), para("b"), para("c"), beginning(doc.BreakColumn, "d"))}, []string{"1:a b c|d"}},
		"in uneven ones":        {[]doc.Node{columns(true, para("a"), col, para("b")), para("x")}, []string{"1:a|b x"}},
		"first":                 {[]doc.Node{columns(false, col, para("a"), para("b"))}, []string{"1:a|b"}},
		"last":                  {[]doc.Node{columns(false, para("a"), para("b"), col)}, []string{"1:a|b"}},
		"several":               {[]doc.Node{columns(false, para("a"), col, col, beginning(doc.BreakColumn, "b"))}, []string{"1:a|b"}},
		"of the last column":    {[]doc.Node{columns(false, para("a"), col, para("b"), col, para("c"), para("d")), para("x")}, []string{"1:a|b", "2:c|d x"}},
		"of the last, uneven":   {[]doc.Node{columns(true, para("a"), col, para("b"), col, para("c"), para("d")), para("x")}, []string{"1:a|b", "2:c d x"}},
		"behind a heading":      {[]doc.Node{columns(false, head(1, "a"), col, para("b"))}, []string{"1:a|b"}},
		"in many columns":       {[]doc.Node{&doc.Columns{Count: 2, Nodes: []doc.Node{para("a"), col, para("b"), col, para("c"), col, para("d"), col, para("e")}}}, []string{"1:a|b", "2:c|d", "3:e"}},
		"before a table":        {[]doc.Node{columns(false, para("a"), col, &doc.Table{Columns: []doc.Column{{}}, Rows: doc.Rows(rowOf("b"), rowOf("c"))})}, []string{"1:a|b c"}},
		"of columns in columns": {[]doc.Node{columns(false, columns(false, para("a"), col, para("b")), col, para("c"))}, []string{"1:a|b|c"}},
	} {
		if got := shownOn(t, c.nodes...); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	fails(t, "L305", columns(false, &doc.Box{Nodes: []doc.Node{para("a"), col, para("b")}}))
	fails(t, "L305", &doc.Box{Nodes: []doc.Node{beginning(doc.BreakColumn, "a")}})
}
