package layout_test

import (
	"fmt"
	"strings"
	"testing"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/tag"
)

// TestRowsCoveredFromAboveAreFolded: a row without cells is left out, and what spans it
// spans one row less.
func TestRowsCoveredFromAboveAreFolded(t *testing.T) {
	cell := func(s string, rows int) doc.Cell { return doc.Cell{Spans: spans(s), Rowspan: rows} }
	row := func(c ...doc.Cell) doc.Row { return doc.Row{Cells: c} }
	for name, c := range map[string]struct {
		rows []doc.Row
		want string // row spans, by row
	}{
		"one":         {[]doc.Row{row(cell("x", 2), cell("y", 2)), row(), row(cell("p", 1), cell("q", 1))}, "1 1|1 1"},
		"several":     {[]doc.Row{row(cell("x", 3), cell("y", 3)), row(), row(), row(cell("p", 1), cell("q", 1))}, "1 1|1 1"},
		"within more": {[]doc.Row{row(cell("x", 4), cell("y", 2)), row(), row(cell("p", 2)), row(), row(cell("r", 1), cell("s", 1))}, "2 1|1|1 1"},
		"at the end":  {[]doc.Row{row(cell("x", 2), cell("y", 2)), row()}, "1 1"},
	} {
		t.Run(name, func(t *testing.T) {
			r := place(t, &doc.Table{Columns: []doc.Column{{}, {}}, Rows: doc.Rows(c.rows...)})
			var got []string
			for _, e := range r.begun {
				switch e.Type {
				case tag.TR:
					got = append(got, "")
				case tag.TD:
					last := &got[len(got)-1]
					*last = strings.TrimSpace(*last + fmt.Sprint(" ", e.Rowspan))
				default:
				}
			}
			if s := strings.Join(got, "|"); s != c.want {
				t.Errorf("got %s, want %s", s, c.want)
			}
		})
	}
	fails(t, "L303", &doc.Table{Columns: []doc.Column{{}, {}}, Rows: doc.Rows(row(cell("x", 2), cell("y", 1)), row())})
	fails(t, "L303", &doc.Table{Columns: []doc.Column{{}, {}}, Rows: doc.Rows(row())})
}

// TestBreaksAreWeak: several breaks between two blocks are one, and none makes a page on
// which there is nothing.
func TestBreaksAreWeak(t *testing.T) {
	br, gap := func() doc.Node { return &doc.PageBreak{} }, func() doc.Node { return &doc.Spacer{Height: 15 * doc.Pt} }
	before := &doc.Text{Block: doc.Block{BreakBefore: true, Anchor: "here"}, Spans: spans("b")}
	letters := make([]doc.Node, 0, 2400)
	for range 1200 {
		letters = append(letters, para("letter"), br())
	}
	for name, c := range map[string]struct {
		nodes []doc.Node
		pages int
	}{
		"none":                {[]doc.Node{para("a"), para("b")}, 1},
		"one":                 {[]doc.Node{para("a"), br(), para("b")}, 2},
		"several":             {[]doc.Node{para("a"), br(), br(), br(), para("b")}, 2},
		"first":               {[]doc.Node{br(), para("a")}, 1},
		"last":                {[]doc.Node{para("a"), br()}, 1},
		"space first":         {[]doc.Node{gap(), br(), para("a")}, 1},
		"space last":          {[]doc.Node{para("a"), br(), gap()}, 1},
		"space between":       {[]doc.Node{para("a"), br(), gap(), br(), para("b")}, 2},
		"before and between":  {[]doc.Node{para("a"), br(), before}, 2},
		"alone":               {[]doc.Node{br()}, 1},
		"an empty table last": {[]doc.Node{para("a"), br(), &doc.Table{Columns: []doc.Column{{}}}}, 1},
		"1,200 letters":       {letters, 1200},
	} {
		t.Run(name, func(t *testing.T) {
			d := tenLines()
			d.Body = doc.Nodes(c.nodes...)
			r, sum, err := run(t, d, true)
			if err != nil {
				t.Fatal(err)
			}
			if sum.Pages != c.pages {
				t.Errorf("%d pages, want %d", sum.Pages, c.pages)
			}
			if strings.Contains(name, "before") && len(r.marks) != 1 {
				t.Errorf("%d anchors", len(r.marks))
			}
		})
	}
}

// TestSpaceAfterABreakStands: a spacer between a break and what follows moves it down, as it
// does after a block.
func TestSpaceAfterABreakStands(t *testing.T) {
	lines := place(t, para("a"), &doc.PageBreak{}, &doc.Spacer{Height: 15 * doc.Pt}, para("b"), &doc.PageBreak{}, para("c")).lines
	if len(lines) != 3 || lines[1].page != 2 || lines[2].page != 3 {
		t.Fatalf("lines %+v", lines)
	}
	if down := lines[1].y - lines[2].y; down != 15*doc.Pt {
		t.Errorf("the line stands %d units lower, want 15 pt", down)
	}
}
