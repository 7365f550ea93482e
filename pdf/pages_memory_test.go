//go:build !race

package pdf_test

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/standard"
	"example.com/quire/pdf/template"
)

// live is told of each write, and samples what the heap keeps.
type live struct{ n, most uint64 }

func (w *live) Write(b []byte) (int, error) {
	if w.n++; w.n%8 == 0 {
		w.most = max(w.most, w.now())
	}
	return len(b), nil
}

func (w *live) now() uint64 {
	runtime.GC()
	runtime.GC() // what pools hold goes with the second one
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestPagesTakeLittleMemory: what a document keeps of its pages until it is made, plain and tagged,
// with a foot that waits for their number, is so little that a process which makes 100,000 of them
// takes less than 64 MiB: its heap may become twice as large, and with an empty document it takes
// half of that. QUIRE_PAGES=100000 makes them all.
func TestPagesTakeLittleMemory(t *testing.T) {
	const slack = 3 << 20 // buffers, which do not grow with the pages
	pages := 12_000
	if s := os.Getenv("QUIRE_PAGES"); s != "" {
		var err error
		if pages, err = strconv.Atoi(s); err != nil || pages < 1000 {
			t.Fatalf("QUIRE_PAGES: %q", s)
		}
	}
	for _, c := range []struct {
		name string
		ids  []standard.ID
		each uint64 // bytes of a page
	}{
		{"plain", nil, 60},
		{"tagged", compliant, 140}, // of which references to all pages take most, where they are written
	} {
		e := newEngine(t, pdf.Config{Limits: pdf.Limits{Pages: int64(pages) + 1, OutputBytes: 4 << 30}, Cache: pdf.CacheLimits{Off: true}})
		make1 := func(w *live, pages int) {
			_, err := e.Build(t.Context(), w, pdf.RenderOptions{Standards: c.ids, Time: frozen}, func(b *doc.Builder) error {
				b.Title("Many").Lang("en").Footer(pageOf())
				b.Add(&doc.Section{Body: func(yield func(doc.Node, error) bool) {
					for i := range pages {
						n := para("This is page " + strconv.Itoa(i+1))
						n.BreakBefore = doc.BreakPage
						if !yield(n, nil) {
							return
						}
					}
				}})
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		make1(&live{}, 10) // buffers are there now
		w := &live{}
		before := w.now()
		make1(w, pages)
		kept := w.most - min(w.most, before)
		t.Logf("%s: %d pages keep %.1f MiB at most", c.name, pages, float64(kept)/(1<<20))
		if bound := c.each*uint64(pages) + slack; kept > bound || w.n < 8 {
			t.Errorf("%s: %d pages keep %d bytes, more than %d (%d writes)", c.name, pages, kept, bound, w.n)
		}
	}
}

// TestALongStreamInColumnsTakesLittleMemory: pages go out while the data are read.
func TestALongStreamInColumnsTakesLittleMemory(t *testing.T) {
	e := newEngine(t, pdf.Config{})
	plan, err := e.Compile(t.Context(), pdf.Source{File: "t.yaml", Text: []byte(`quire: 1
name: t
lang: en
title: Columns
theme: none
number-headings: 1
page: {size: A6, columns: 2}
data: {lines: [{n: integer}]}
body: [{for: l in lines, do: [{heading: "No. ${l.n}", level: 1}, {text: "line ${l.n}"}]}]
`)})
	if err != nil {
		t.Fatal(err)
	}
	most := func(lines int) uint64 {
		r, w := io.Pipe()
		go func() {
			_, err := io.WriteString(w, `{"lines": [{"n": 0}`)
			for i := 1; i < lines && err == nil; i++ {
				_, err = fmt.Fprintf(w, `,{"n": %d}`, i)
			}
			_, _ = io.WriteString(w, "]}")
			_ = w.Close()
		}()
		out := &live{}
		before := out.now()
		if _, err := e.Render(t.Context(), out, plan, template.Stream(r, "lines"), pdf.RenderOptions{Standards: compliant}); err != nil {
			t.Fatal(err)
		}
		return out.most - min(out.most, before)
	}
	most(100) // buffers are there now
	few, many := most(3_000), most(12_000)
	t.Logf("%d KiB for 3,000 lines, %d for 12,000", few>>10, many>>10)
	if few == 0 || many > few+1<<20 {
		t.Error("memory grows with the lines")
	}
}
