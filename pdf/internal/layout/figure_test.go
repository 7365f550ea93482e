package layout_test

import (
	"slices"
	"strings"
	"testing"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/tag"
)

// TestFigureNeedsRoom: the error speaks of what holds the figure, and asks the
// document where in the data it comes from.
func TestFigureNeedsRoom(t *testing.T) {
	amount := []doc.Span{{Text: "€1,234,567.89", Figure: true}}
	cell := func(n doc.Node) *doc.Beside {
		return &doc.Beside{Widths: []doc.Width{doc.Fixed(30 * doc.Pt)}, Cells: [][]doc.Node{{n}, {para("x")}}}
	}
	for name, c := range map[string]struct {
		node doc.Node
		want string
	}{
		"page":    {&doc.Text{Spans: []doc.Span{{Text: "€1,234,567.89", Bold: true, Figure: true}}, Block: doc.Block{Style: &doc.Style{Size: 40 * doc.Pt}}}, "its place has 70.6 mm; give it more room or print it smaller"},
		"cell":    {cell(&doc.Text{Spans: amount}), "the cell has 10.6 mm; widen the cell or print it smaller"},
		"box":     {cell(&doc.Box{Padding: doc.Same(3 * doc.Pt), Nodes: []doc.Node{&doc.Text{Spans: amount}}}), "the cell has 10.6 mm; widen the cell or print it smaller"},
		"columns": {&doc.Table{Columns: []doc.Column{{Width: doc.Fixed(20 * doc.Pt)}, {Width: doc.Fixed(20 * doc.Pt)}, {}}, Rows: doc.Rows(doc.Row{Cells: []doc.Cell{{Spans: amount, Colspan: 2}, {}}})}, "the columns have 14.1 mm; widen the columns or print it smaller"},
	} {
		t.Run(name, func(t *testing.T) {
			d := fails(t, "L312", c.node)
			message, room, _ := strings.Cut(d.Message, " mm, ")
			if !strings.HasPrefix(message, `the figure "€1,234,567.89" needs `) || room+"; "+d.Suggestion != c.want {
				t.Errorf("%s; %s", d.Message, d.Suggestion)
			}
		})
	}
	d := tenLines()
	from := []doc.Span{amount[0]}
	from[0].From = doc.Origin{Frame: pathOf("p"), Part: 1}
	d.Body = doc.Nodes(cell(&doc.Text{Spans: from, Block: doc.Block{Src: &doc.Source{File: "f", Path: "p"}}}))
	if _, _, err := run(t, d, true); err == nil || !strings.HasSuffix(err.Error(), "(data p of €1,234,567.89)  [L312]") {
		t.Error(err)
	}
}

// TestKeepFiguresDecides: a style says whether digits are a figure, whatever they are of.
func TestKeepFiguresDecides(t *testing.T) {
	node := func(k doc.KeepFigures, figure bool) doc.Node {
		return &doc.Beside{Widths: []doc.Width{doc.Fixed(30 * doc.Pt)}, Cells: [][]doc.Node{
			{&doc.Text{Spans: []doc.Span{{Text: "110000004821", Figure: figure}}, Block: doc.Block{Style: &doc.Style{KeepFigures: k}}}}, {para("x")},
		}}
	}
	fails(t, "L312", node(doc.KeepFiguresOn, false))
	fails(t, "L312", node(doc.KeepFiguresAuto, true))
	place(t, node(doc.KeepFiguresAuto, false))
	place(t, node(doc.KeepFiguresOff, true))
}

// pathOf is a Frame whose values have one path.
type pathOf string

func (p pathOf) DataPath(_ int32, _, text string) string { return string(p) + " of " + text }

// TestOneEmphasis: spans that differ in being figures alone are one emphasis.
func TestOneEmphasis(t *testing.T) {
	r := place(t, &doc.Text{Spans: []doc.Span{
		{Text: "due ", Bold: true}, {Text: "12", Bold: true, Figure: true}, {Text: " days", Bold: true}, {Text: " at most"},
	}})
	var elems []*tag.Elem
	for _, p := range r.pieces {
		if !slices.Contains(elems, p.Elem) {
			elems = append(elems, p.Elem)
		}
	}
	if len(elems) != 2 || elems[0].Type != tag.Strong || elems[1].Type != tag.P {
		t.Errorf("%d elements", len(elems))
	}
}
