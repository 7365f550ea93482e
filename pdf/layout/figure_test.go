package layout_test

import (
	"slices"
	"strings"
	"testing"

	"example.com/quire/pdf/layout"
)

// TestFigureNeedsRoom: the error speaks of what holds the figure, and asks the
// document where in the data it comes from.
func TestFigureNeedsRoom(t *testing.T) {
	amount := []layout.Span{{Text: "€1,234,567.89"}}
	cell := func(n layout.Node) *layout.Beside {
		return &layout.Beside{Widths: []layout.Width{layout.Fixed(30 * layout.Pt)}, Cells: [][]layout.Node{{n}, {para("x")}}}
	}
	for name, c := range map[string]struct {
		node layout.Node
		want string
	}{
		"page":    {&layout.Text{Spans: []layout.Span{{Text: "€1,234,567.89", Bold: true}}, Block: layout.Block{Style: &layout.Style{Size: 40 * layout.Pt}}}, "its place has 70.6 mm; give it more room or print it smaller"},
		"cell":    {cell(&layout.Text{Spans: amount}), "the cell has 10.6 mm; widen the cell or print it smaller"},
		"box":     {cell(&layout.Box{Padding: layout.Same(3 * layout.Pt), Nodes: []layout.Node{&layout.Text{Spans: amount}}}), "the cell has 10.6 mm; widen the cell or print it smaller"},
		"columns": {&layout.Table{Columns: []layout.Column{{Width: layout.Fixed(20 * layout.Pt)}, {Width: layout.Fixed(20 * layout.Pt)}, {}}, Rows: layout.Rows(layout.Row{Cells: []layout.Cell{{Spans: amount, Colspan: 2}, {}}})}, "the columns have 14.1 mm; widen the columns or print it smaller"},
	} {
		t.Run(name, func(t *testing.T) {
			d := fails(t, "L312", c.node)
			message, room, _ := strings.Cut(d.Message, " mm, ")
			if !strings.HasPrefix(message, `the figure "€1,234,567.89" needs `) || room+"; "+d.Suggestion != c.want {
				t.Errorf("%s; %s", d.Message, d.Suggestion)
			}
		})
	}
	doc := tenLines()
	doc.Body = layout.Nodes(cell(&layout.Text{Spans: amount, Block: layout.Block{Src: &layout.Source{File: "f", Path: "p"}}}))
	doc.DataPath = func(src *layout.Source, text string) string { return src.Path + " of " + text }
	if _, _, err := run(t, doc, true); err == nil || !strings.HasSuffix(err.Error(), "(data p of €1,234,567.89)  [L312]") {
		t.Error(err)
	}
}

// TestOneEmphasis: spans that differ in being figures alone are one emphasis.
func TestOneEmphasis(t *testing.T) {
	r := place(t, &layout.Text{Spans: []layout.Span{
		{Text: "due ", Bold: true}, {Text: "12", Bold: true, Figure: true}, {Text: " days", Bold: true}, {Text: " at most"},
	}})
	var elems []*layout.Elem
	for _, p := range r.pieces {
		if !slices.Contains(elems, p.Elem) {
			elems = append(elems, p.Elem)
		}
	}
	if len(elems) != 2 || elems[0].Role != layout.RoleStrong || elems[1].Role != layout.RoleP {
		t.Errorf("%d elements", len(elems))
	}
}
