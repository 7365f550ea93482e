package layout_test

import (
	"testing"

	"example.com/quire/pdf/doc"
)

// TestFootLines: one heavy line above the foot, light ones within it.
func TestFootLines(t *testing.T) {
	row := func(s string) doc.Row { return doc.Row{Cells: []doc.Cell{{Spans: spans(s)}}} }
	r := place(t, &doc.Table{
		Columns: []doc.Column{{Head: spans("head")}}, Rows: doc.Rows(row("a"), row("b")),
		Foot: []doc.Row{row("sum"), row("tax"), row("total")},
	})
	heavy, light := 0, 0
	for _, rect := range r.rects[1] {
		if rect.Color == doc.Black {
			heavy++
		} else {
			light++
		}
	}
	// Heavy: below the head and above the foot. Light: below the first row, and two in
	// the foot.
	if heavy != 2 || light != 3 {
		t.Errorf("%d heavy lines and %d light ones", heavy, light)
	}
}

// TestRowsAreReadOnce: an iterator may use one row again for the next, also
// where rows are read ahead to size a column.
func TestRowsAreReadOnce(t *testing.T) {
	for _, w := range []doc.Width{doc.Fr(1), doc.Auto()} {
		r := place(t, &doc.Table{Columns: []doc.Column{{Width: w}}, Rows: func(yield func(doc.Row, error) bool) {
			span := []doc.Span{{}}
			cells := []doc.Cell{{}}
			for _, s := range []string{"one", "two", "three"} {
				span[0] = doc.Span{Text: s}
				cells[0] = doc.Cell{Spans: span}
				if !yield(doc.Row{Cells: cells}, nil) {
					return
				}
			}
		}})
		for _, s := range []string{"one", "two", "three"} {
			r.find(t, s)
		}
	}
}
