package layout_test

import (
	"fmt"
	"strings"
	"testing"

	"example.com/quire/pdf/doc"
)

// TestNoStrayRows: wherever a table begins on the page and however long it is, a
// page break leaves two rows on either side of it, the heading and the head stay
// with the first rows and the last rows with the foot.
func TestNoStrayRows(t *testing.T) {
	plain := &doc.Style{Size: 10 * doc.Pt, Leading: 12 * doc.Pt}
	loose := &doc.Style{Size: 10 * doc.Pt, Leading: 12 * doc.Pt, Widows: 1, Orphans: 1}
	strict := &doc.Style{Size: 10 * doc.Pt, Leading: 12 * doc.Pt, Widows: 3, Orphans: 4}
	strays := map[bool]int{}
	for before := range 10 {
		for n := range 20 {
			for _, c := range []struct {
				style           *doc.Style
				orphans, widows int
			}{{plain, 2, 2}, {loose, 1, 1}, {strict, 4, 3}} {
				for _, nested := range []bool{false, true} {
					table := &doc.Table{Block: doc.Block{Style: c.style}, Columns: []doc.Column{{Head: spans("head")}}, Padding: &doc.Edges{}, Rows: doc.Rows(numbered(n)...)}
					if n%2 == 0 {
						table.Foot = []doc.Row{{Cells: []doc.Cell{{Spans: spans("foot")}}}}
					}
					nodes := []doc.Node{lines("a", before+1), &doc.Heading{Level: 1, Block: doc.Block{Style: plain}, Spans: spans("heading")}, table}
					if nested {
						nodes = []doc.Node{nodes[0], &doc.Box{Nodes: nodes[1:]}}
					}
					r := place(t, nodes...)
					what := fmt.Sprintf("%d rows after %d lines, nested %v, %d and %d", n, before+1, nested, c.orphans, c.widows)
					if checkRows(t, r, n, c.orphans, c.widows, what) {
						strays[c.style == loose]++
					}
				}
			}
		}
	}
	if strays[false] > 0 || strays[true] == 0 {
		t.Errorf("single rows: %v", strays)
	}
}

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
