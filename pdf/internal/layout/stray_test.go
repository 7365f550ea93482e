package layout_test

import (
	"fmt"
	"strings"
	"testing"

	"example.com/quire/pdf/doc"
)

func numbered(n int) []doc.Row {
	rows := make([]doc.Row, n)
	for i := range rows {
		rows[i] = doc.Row{Keep: true, Cells: []doc.Cell{{Spans: spans(fmt.Sprint("r", i))}}}
	}
	return rows
}

// checkRows checks the rows of each page and reports whether one stands alone.
func checkRows(t *testing.T, r *record, n, orphans, widows int, what string) (single bool) {
	t.Helper()
	next := 0
	for p := 1; p <= r.pages; p++ {
		rows := 0
		for _, l := range r.on(p) {
			if !strings.HasPrefix(l, "r") {
				continue
			}
			if l != fmt.Sprint("r", next) {
				t.Fatalf("%s: %s where r%d should be", what, l, next)
			}
			next++
			rows++
		}
		switch {
		case rows == 0:
		case rows == next && rows < min(orphans, n): // the first page of the table
			t.Errorf("%s: %d rows on page %d", what, rows, p)
		case rows < n && next == n && rows < min(widows, n): // its last page
			t.Errorf("%s: %d rows on page %d, the last", what, rows, p)
		}
		single = single || rows == 1 && n > 1
		on := strings.Join(r.on(p), " ")
		if n > 0 && strings.Contains(on, "heading") != strings.Contains(on, "r0") ||
			n > 0 && strings.Contains(on, "foot") && !strings.Contains(on, fmt.Sprint("r", n-1)) {
			t.Errorf("%s: page %d: %s", what, p, on)
		}
	}
	if next != n {
		t.Errorf("%s: %d rows are there", what, next)
	}
	return single
}

// TestTallRowsStandAlone: tying rows of many lines would leave holes, and those
// that may be split are.
func TestTallRowsStandAlone(t *testing.T) {
	tall := doc.Row{Cells: []doc.Cell{{Spans: spans("1\n2\n3\n4\n5\n6\n7\n8")}}}
	r := place(t, lines("a", 5), &doc.Table{Columns: []doc.Column{{}}, Rows: doc.Rows(tall, tall)})
	if got := r.on(1); len(got) < 8 {
		t.Errorf("the first row is not begun: %v", got)
	}
}
