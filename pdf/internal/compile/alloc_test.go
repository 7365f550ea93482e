//go:build !race

package compile_test

import (
	"strings"
	"testing"
	"time"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/compile"
)

// TestAllocations: a row of a table takes one allocation, whatever its cells.
func TestAllocations(t *testing.T) {
	p := source(t, "{rows: [{a: string, b: decimal, c: date}]}",
		`body: [{table: {columns: [{head: A}, {head: B}, {head: C}, {head: D}], rows: {for: r in rows, cells: ["${r.a}", "${r.b | money('INR')}", "${r.c | date('long')}", "x ${r.a} y"]}}}]`)
	rows := func(n int) float64 {
		data := `{"rows": [` + strings.TrimSuffix(strings.Repeat(`{"a": "abc", "b": 1234.50, "c": "2026-01-05"},`, n), ",") + `]}`
		d, err := p.Build(t.Context(), compile.JSON([]byte(data)), compile.BuildOptions{Time: time.Time{}})
		if err != nil {
			t.Fatal(err)
		}
		return testing.AllocsPerRun(1, func() {
			for n, err := range d.Body {
				table, ok := n.(*doc.Table)
				if !ok || err != nil {
					t.Fatalf("%T %v", n, err)
				}
				for r, err := range table.Rows {
					if err != nil || len(r.Cells) != 4 {
						t.Fatal(err)
					}
				}
			}
		})
	}
	few, many := rows(100), rows(1100)
	if perRow := (many - few) / 1000; perRow > 1.01 {
		t.Errorf("%.2f allocations per row", perRow)
	}
}
