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
	before := &doc.Text{Block: doc.Block{BreakBefore: doc.BreakPage, Anchor: "here"}, Spans: spans("b")}
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

// TestRowsAsHighAsThePageWithinABox: a row that has no room below the head that is repeated, and
// below what is carried in, stands on a page without them, as it does in a table of the body; it
// does not go from page to page for ever.
func TestRowsAsHighAsThePageWithinABox(t *testing.T) {
	for height := doc.Length(60); height <= 120; height += 5 {
		for _, keep := range []bool{false, true} {
			for _, carried := range []bool{false, true} {
				rows := make([]doc.Row, 5)
				for i := range rows {
					rows[i] = doc.Row{Keep: keep, Cells: []doc.Cell{{Spans: spans(fmt.Sprint("r", i))}}}
					if carried {
						rows[i].Carry = func() (out, in *doc.Row, err error) {
							return nil, &doc.Row{Cells: []doc.Cell{{Spans: spans(fmt.Sprint("in", i))}}}, nil
						}
					}
				}
				rows[2].Height = height * doc.Pt
				table := &doc.Table{Columns: []doc.Column{{Head: spans("head")}}, Padding: &doc.Edges{}, Rows: doc.Rows(rows...)}
				d := tenLines()
				d.Body = doc.Nodes(&doc.Box{Nodes: []doc.Node{table}})
				r, sum, err := run(t, d, true)
				if err != nil {
					t.Fatalf("%d pt, kept %v, carried %v: %v", height, keep, carried, err)
				}
				var got []string
				for _, l := range r.lines {
					if strings.HasPrefix(l.text, "r") {
						got = append(got, l.text)
					}
				}
				if s := strings.Join(got, " "); s != "r0 r1 r2 r3 r4" || sum.Pages > 4 {
					t.Errorf("%d pt, kept %v, carried %v: %q on %d pages", height, keep, carried, s, sum.Pages)
				}
			}
		}
	}
}

// TestWrongRowsThatAreCarriedOut are told, and the rows of the table go on.
func TestWrongRowsThatAreCarriedOut(t *testing.T) {
	wrong := map[string]*doc.Row{
		"L318": {Cells: []doc.Cell{{Spans: cite("out", "x").Spans}, {Spans: spans("y")}}},
		"L303": {Cells: []doc.Cell{{Spans: spans("out"), Rowspan: 2}}},
	}
	for code, out := range wrong {
		rows := make([]doc.Row, 12)
		for i := range rows {
			rows[i] = doc.Row{
				Cells: []doc.Cell{{Spans: spans("x")}, {Spans: spans("y")}},
				Carry: func() (*doc.Row, *doc.Row, error) { return out, out, nil },
			}
		}
		fails(t, code, &doc.Table{Columns: make([]doc.Column, 2), Rows: doc.Rows(rows...)})
	}
}
