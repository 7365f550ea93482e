package layout_test

import (
	"testing"

	"example.com/quire/pdf/layout"
)

// TestFootLines: one heavy line above the foot, light ones within it.
func TestFootLines(t *testing.T) {
	row := func(s string) layout.Row { return layout.Row{Cells: []layout.Cell{{Spans: spans(s)}}} }
	r := place(t, &layout.Table{
		Columns: []layout.Column{{Head: spans("head")}}, Rows: layout.Rows(row("a"), row("b")),
		Foot: []layout.Row{row("sum"), row("tax"), row("total")},
	})
	heavy, light := 0, 0
	for _, rect := range r.rects[1] {
		if rect.Color == layout.Black {
			heavy++
		} else {
			light++
		}
	}
	// Heavy: below the head and above the foot. Light: below both rows, and two in
	// the foot.
	if heavy != 2 || light != 4 {
		t.Errorf("%d heavy lines and %d light ones", heavy, light)
	}
}

// TestRowsAreReadOnce: an iterator may use one row again for the next, also
// where rows are read ahead to size a column.
func TestRowsAreReadOnce(t *testing.T) {
	for _, w := range []layout.Width{layout.Fr(1), layout.Auto()} {
		r := place(t, &layout.Table{Columns: []layout.Column{{Width: w}}, Rows: func(yield func(layout.Row, error) bool) {
			span := []layout.Span{{}}
			cells := []layout.Cell{{}}
			for _, s := range []string{"one", "two", "three"} {
				span[0] = layout.Span{Text: s}
				cells[0] = layout.Cell{Spans: span}
				if !yield(layout.Row{Cells: cells}, nil) {
					return
				}
			}
		}})
		for _, s := range []string{"one", "two", "three"} {
			r.find(t, s)
		}
	}
}
