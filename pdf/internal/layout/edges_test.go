package layout_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/layout"
)

// rules are the lines of a page, by direction.
func rules(of []layout.RectItem) (levels, downs []layout.RectItem) {
	for _, r := range of {
		switch {
		case !r.Rule:
		case r.W > r.H:
			levels = append(levels, r)
		default:
			downs = append(downs, r)
		}
	}
	return levels, downs
}

// TestRulesOfTablesAreDrawnOnce: between two rows and two columns stands one line from end to end,
// and the corners are whole.
func TestRulesOfTablesAreDrawnOnce(t *testing.T) {
	row := func() doc.Row {
		return doc.Row{Cells: []doc.Cell{{Spans: spans("a")}, {Spans: spans("b")}, {Spans: spans("c")}}}
	}
	thin, thick := doc.Line{Width: doc.Pt / 2}, doc.Line{Width: 2 * doc.Pt}
	g := doc.Lattice(thin)
	g.Top, g.Bottom = thick, thick
	r := place(t, &doc.Table{
		Columns: []doc.Column{{Head: spans("head")}, {}, {}}, Border: g, Rows: doc.Rows(row(), row(), row()),
	})
	levels, downs := rules(r.rects[1])
	if len(levels) != 5 || len(downs) != 4 {
		t.Fatalf("%d and %d lines for 4 rows and 3 columns", len(levels), len(downs))
	}
	for _, l := range levels {
		if l.X != 20*doc.Pt-thin.Width/2 || l.W != 200*doc.Pt+thin.Width {
			t.Errorf("a line from %d, %d wide", l.X, l.W)
		}
	}
	top, bottom := levels[len(levels)-2], levels[len(levels)-1] // the thick ones are drawn last
	for _, l := range downs {
		if l.Y != top.Y || l.Y+l.H != bottom.Y+bottom.H {
			t.Errorf("a line from %d to %d, of a table from %d to %d", l.Y, l.Y+l.H, top.Y, bottom.Y+bottom.H)
		}
	}
}

// TestSpecificBordersTakeThePlaceOfOthers: that of a cell stands in place of those of its row and
// of the table along its edge, and nowhere else.
func TestSpecificBordersTakeThePlaceOfOthers(t *testing.T) {
	red := doc.Line{Width: doc.Pt / 4, Color: doc.RGB(255, 0, 0)}
	r := place(t, &doc.Table{
		Columns: make([]doc.Column, 2), Border: doc.Lattice(doc.Line{Width: doc.Pt}), Padding: &doc.Edges{},
		Rows: doc.Rows(
			doc.Row{Cells: []doc.Cell{{Spans: spans("a")}, {Spans: spans("b"), Border: &doc.Border{Bottom: red}}}},
			doc.Row{Cells: []doc.Cell{{Spans: spans("c")}, {Spans: spans("d")}}},
		),
	})
	levels, _ := rules(r.rects[1])
	var at []layout.RectItem
	for _, l := range levels {
		if y := l.Y + l.H/2; y == 32*doc.Pt {
			at = append(at, l)
		}
	}
	if len(at) != 2 {
		t.Fatalf("%d lines between the rows: %+v", len(at), at)
	}
	slices.SortFunc(at, func(a, b layout.RectItem) int { return int(a.X - b.X) })
	half := doc.Pt / 2 // of the vertical lines, for whole corners
	if at[0].Color != doc.Black || at[1].Color != red.Color || at[0].X+at[0].W != 120*doc.Pt+half || at[1].X != 120*doc.Pt-half {
		t.Errorf("%+v", at)
	}
}

// TestEdgesHoldWhatWasAskedFor: along each edge of each cell of any table, whatever borders its
// cells and rows have, stands the line of the highest claim, once.
func TestEdgesHoldWhatWasAskedFor(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const high, wide = 4, 4
		colors := []doc.Color{0, doc.RGB(255, 0, 0), doc.RGB(0, 0, 255)}
		line := rapid.Custom(func(rt *rapid.T) doc.Line {
			return doc.Line{
				Width: doc.Length(rapid.IntRange(0, 3).Draw(rt, "width")) * doc.Pt,
				Color: rapid.SampledFrom(colors).Draw(rt, "color"),
			}
		})
		border := rapid.Custom(func(rt *rapid.T) *doc.Border {
			if rapid.IntRange(0, 2).Draw(rt, "has") > 0 {
				return nil
			}
			return &doc.Border{Top: line.Draw(rt, "top"), Right: line.Draw(rt, "right"), Bottom: line.Draw(rt, "bottom"), Left: line.Draw(rt, "left")}
		})
		grid := &doc.Grid{Rows: line.Draw(rt, "rows"), Columns: line.Draw(rt, "columns")}
		grid.Top, grid.Left = line.Draw(rt, "above"), line.Draw(rt, "before")
		grid.Bottom, grid.Right = line.Draw(rt, "below"), line.Draw(rt, "behind")
		rows := make([]doc.Row, high)
		for i := range rows {
			rows[i] = doc.Row{Border: border.Draw(rt, "row"), Cells: make([]doc.Cell, wide)}
			for k := range rows[i].Cells {
				rows[i].Cells[k] = doc.Cell{Spans: spans("x"), Border: border.Draw(rt, "cell")}
			}
		}
		r := place(t, &doc.Table{Columns: make([]doc.Column, wide), Border: grid, Padding: &doc.Edges{}, Rows: doc.Rows(rows...)})
		levels, downs := rules(r.rects[1])
		// The middle of each edge of the grid of cells, 50 pt by 12 pt, and the claims on it in
		// order.
		check := func(x, y doc.Length, of []layout.RectItem, claims ...[]doc.Line) {
			want := doc.Line{}
			for _, equal := range claims {
				best := doc.Line{}
				for _, l := range equal {
					if l.Width > best.Width {
						best = l
					}
				}
				if best.Width > 0 {
					want = best
				}
			}
			var there []layout.RectItem
			for _, l := range of {
				if l.X <= x && x < l.X+l.W && l.Y <= y && y < l.Y+l.H {
					there = append(there, l)
				}
			}
			switch {
			case want.Width == 0 && len(there) > 0:
				rt.Fatalf("at %d, %d stand %+v, want nothing", x, y, there)
			case want.Width > 0 && (len(there) != 1 || min(there[0].W, there[0].H) != want.Width):
				rt.Fatalf("at %d, %d stand %+v, want %+v", x, y, there, want)
			}
		}
		side := func(b *doc.Border, of func(*doc.Border) doc.Line) doc.Line {
			if b == nil {
				return doc.Line{}
			}
			return of(b)
		}
		top := func(b *doc.Border) doc.Line { return b.Top }
		bottom := func(b *doc.Border) doc.Line { return b.Bottom }
		left := func(b *doc.Border) doc.Line { return b.Left }
		right := func(b *doc.Border) doc.Line { return b.Right }
		for i := range high + 1 {
			for k := range wide {
				table := grid.Rows
				var ofRow, ofCell []doc.Line
				if i > 0 {
					ofRow = append(ofRow, side(rows[i-1].Border, bottom))
					ofCell = append(ofCell, side(rows[i-1].Cells[k].Border, bottom))
				}
				if i < high {
					ofRow = append(ofRow, side(rows[i].Border, top))
					ofCell = append(ofCell, side(rows[i].Cells[k].Border, top))
				}
				switch i {
				case 0:
					table = grid.Top
				case high:
					table = grid.Bottom
				}
				check(20*doc.Pt+doc.Length(k)*50*doc.Pt+25*doc.Pt, 20*doc.Pt+doc.Length(i)*12*doc.Pt, levels, []doc.Line{table}, ofRow, ofCell)
			}
		}
		for k := range wide + 1 {
			for i := range high {
				table := grid.Columns
				var ofRow, ofCell []doc.Line
				if k > 0 {
					ofCell = append(ofCell, side(rows[i].Cells[k-1].Border, right))
				}
				if k < wide {
					ofCell = append(ofCell, side(rows[i].Cells[k].Border, left))
				}
				switch k {
				case 0:
					table, ofRow = grid.Left, []doc.Line{side(rows[i].Border, left)}
				case wide:
					table, ofRow = grid.Right, []doc.Line{side(rows[i].Border, right)}
				}
				check(20*doc.Pt+doc.Length(k)*50*doc.Pt, 20*doc.Pt+doc.Length(i)*12*doc.Pt+6*doc.Pt, downs, []doc.Line{table}, ofRow, ofCell)
			}
		}
	})
}

// TestBackgroundsLeaveNoGap: those of rows that follow each other overlap, or are one when they are
// of one colour.
func TestBackgroundsLeaveNoGap(t *testing.T) {
	row := func(c doc.Color) doc.Row { return doc.Row{Background: c, Cells: []doc.Cell{{Spans: spans("a")}}} }
	red, blue := doc.RGB(255, 200, 200), doc.RGB(200, 200, 255)
	r := place(t, &doc.Table{Columns: make([]doc.Column, 1), Padding: &doc.Edges{}, Rows: doc.Rows(row(red), row(red), row(blue), row(0), row(blue))})
	var backs []layout.RectItem
	for _, b := range r.rects[1] {
		if !b.Rule {
			backs = append(backs, b)
		}
	}
	if len(backs) != 3 {
		t.Fatalf("%+v", backs)
	}
	for i, want := range []doc.Length{24, 12, 12} {
		if got := backs[i].H; i == 0 && got <= want*doc.Pt || i > 0 && got != want*doc.Pt {
			t.Errorf("background %d is %d high", i, got)
		}
	}
	// A fill between two boxes of one colour moves the second away from the first.
	box := func() doc.Node { return &doc.Box{Background: red, Nodes: []doc.Node{para("x")}} }
	r = place(t, box(), &doc.Spacer{Fill: true}, box())
	if n := len(r.rects[1]); n != 2 || r.rects[1][1].Y+r.rects[1][1].H != 140*doc.Pt {
		t.Errorf("%+v", r.rects[1])
	}
}
