package layout_test

import (
	"strings"
	"testing"

	"example.com/quire/pdf/doc"
)

// TestRowsHaveLeastHeights: a row is as high as it says, or as its content; one that has no room
// for its height goes to the next page, one that says more than a page is as high as that, and of
// one whose content is split each part counts.
func TestRowsHaveLeastHeights(t *testing.T) {
	row := func(h doc.Length, s string) doc.Row {
		return doc.Row{Height: h, Cells: []doc.Cell{{Spans: spans(s)}}}
	}
	table := func(rows ...doc.Row) *doc.Table {
		return &doc.Table{Columns: make([]doc.Column, 1), Padding: &doc.Edges{}, Rows: doc.Rows(rows...)}
	}
	r := place(t, table(row(40*doc.Pt, "a"), row(doc.Pt, "b"), row(0, "c"), row(60*doc.Pt, "d"), row(0, "e")))
	a := r.find(t, "a")
	for s, want := range map[string]doc.Length{"b": 40, "c": 52} {
		if l := r.find(t, s); l.page != 1 || l.y-a.y != want*doc.Pt {
			t.Errorf("%s: %+v, want %d pt below %+v", s, l, want, a)
		}
	}
	if d, e := r.find(t, "d"), r.find(t, "e"); d.page != 2 || e.page != 2 || e.y-d.y != 60*doc.Pt {
		t.Errorf("%+v %+v", d, e)
	}
	bottom := row(40*doc.Pt, "low")
	bottom.Cells[0].VAlign = doc.VAlignBottom
	if low := place(t, table(bottom)).find(t, "low"); low.y-a.y != 28*doc.Pt {
		t.Errorf("at the foot of its row: %+v", low)
	}
	r = place(t, table(row(1000*doc.Pt, "high"), row(0, "next")))
	if r.pages != 2 || r.find(t, "next").page != 2 {
		t.Errorf("%d pages: %v", r.pages, r.lines)
	}
	r = place(t, table(row(200*doc.Pt, strings.Repeat("x\n", 13)+"end"), row(0, "next")))
	if r.pages != 2 || r.find(t, "end").page != 2 || r.find(t, "next").y-a.y != 80*doc.Pt {
		t.Errorf("%d pages: %v", r.pages, r.lines)
	}
}
