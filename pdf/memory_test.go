//go:build !race

package pdf_test

import (
	"io"
	"runtime"
	"strconv"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/doc"
)

// TestLongTablesTakeLittleMemory: what a tagged table keeps until its document is made are the
// numbers and offsets of its objects, some 40 bytes for each row; the rows themselves are let go
// with their page, also when there will be no document, and those that follow are laid out for what
// else is wrong. The heap is compared in the midst of one document, at 6,000 and at 18,000 rows.
func TestLongTablesTakeLittleMemory(t *testing.T) {
	const first, last, most = 6_000, 18_000, 300 // bytes for each row
	heap := func() int64 {
		runtime.GC()
		runtime.GC() // what pools hold goes with the second one
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc) //nolint:gosec // G115: a size
	}
	for name, row := range map[string]string{"right": "0", "wrong": "\u4E00"} {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t, pdf.Config{})
			var before, after int64
			_, err := e.Build(t.Context(), io.Discard, pdf.RenderOptions{Standards: compliant, Time: frozen}, func(b *doc.Builder) error {
				b.Title("Many").Lang("en").Footer(pageOf())
				b.Add(&doc.Table{Columns: []doc.Column{{Head: txt("N")}, {Head: txt("A")}, {Head: txt("B"), Style: numStyle}}, Rows: func(yield func(doc.Row, error) bool) {
					for i := range last {
						s := strconv.Itoa(i)
						switch i {
						case 0:
							s = row
						case first:
							before = heap()
						case last - 1:
							after = heap()
						}
						if !yield(doc.Row{Cells: []doc.Cell{{Spans: txt(s)}, {Spans: txt("row " + s)}, {Spans: txt(s + ".00")}}}, nil) {
							return
						}
					}
				}})
				return nil
			})
			if (err != nil) != (name == "wrong") {
				t.Fatal(err)
			}
			if grown := after - before; grown > most*(last-first) {
				t.Errorf("%d rows more keep %d bytes more, %d each", last-first, grown, grown/(last-first))
			} else {
				t.Logf("%d bytes for each row", grown/(last-first))
			}
		})
	}
}
