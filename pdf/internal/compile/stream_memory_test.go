//go:build !race

package compile_test

import (
	"fmt"
	"io"
	"runtime"
	"testing"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/compile"
)

// items reads as a JSON text with a list of many items.
type items struct {
	n, next int
	waits   []byte
}

func (s *items) Read(p []byte) (int, error) {
	for len(s.waits) < len(p) && s.next <= s.n {
		switch s.next {
		case 0:
			s.waits = append(s.waits, `{"items":[`...)
		case s.n:
			s.waits = append(s.waits, `{"name":"last","tags":[]}]}`...)
		default:
			s.waits = fmt.Appendf(s.waits, `{"name":"item %d","tags":["a","b","c","d","e"]},`, s.next)
		}
		s.next++
	}
	if len(s.waits) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.waits)
	s.waits = s.waits[:copy(s.waits, s.waits[n:])]
	return n, nil
}

// TestWhatIsStreamedLetsGoOfWhatCameBefore: what the first of many rows, or blocks, are made of is
// let go, also where they hold blocks and loops of their own.
func TestWhatIsStreamedLetsGoOfWhatCameBefore(t *testing.T) {
	const head = "quire: 1\nname: m\nlang: en\nlocale: en\ntitle: T\ndata: {items: [{name: string, tags: [string]}]}\nbody:\n"
	for name, body := range map[string]string{
		"blocks within cells": `  - {table: {columns: [{width: 1fr}], rows: {for: i in items, cells: [{do: [{row: {widths: [1fr, 1fr, 1fr], cells: [[{text: "${i.name}"}], [{text: b}], [{text: "${i.name} c"}]]}}]}]}}}`,
		"tables within cells": `  - {table: {columns: [{width: 1fr}], rows: {for: i in items, cells: [{do: [{table: {columns: [{width: 1fr}], rows: {for: t in i.tags, cells: ["${t}"]}}}]}]}}}`,
		"loops within loops":  `  - {table: {columns: [{width: 1fr}], rows: {for: i in items, rows: [{for: t in i.tags, cells: ["${i.name} ${t}"]}]}}}`,
		"blocks of the body":  `  - {for: i in items, do: [{for: t in i.tags, do: [{text: "${i.name} ${t}"}]}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			p, err := compile.Compile(t.Context(), []byte(head+body), compile.Options{File: "memory.yaml"})
			if err != nil {
				t.Fatal(err)
			}
			const early, late = 5_000, 30_000
			built, err := p.Build(t.Context(), compile.Stream(&items{n: late + 1}, "items"), compile.BuildOptions{})
			if err != nil {
				t.Fatal(err)
			}
			seen, before, after := 0, uint64(0), uint64(0)
			see := func() {
				switch seen++; seen {
				case early:
					before = live()
				case late:
					after = live()
				}
			}
			for n, err := range built.Body {
				if err != nil {
					t.Fatal(err)
				}
				table, ok := n.(*doc.Table)
				if !ok {
					see()
					continue
				}
				for _, err := range table.Rows {
					if err != nil {
						t.Fatal(err)
					}
					see()
				}
			}
			runtime.KeepAlive(built)
			if seen < late {
				t.Fatalf("%d rows or blocks, want %d", seen, late)
			}
			if most := before + 512<<10; after > most {
				t.Errorf("%d KiB are in use at %d, %d KiB at %d", after>>10, late, before>>10, early)
			}
		})
	}
}

// live is how many bytes are in use after a collection.
func live() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
