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
