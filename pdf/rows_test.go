//go:build !race

package pdf_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"example.com/quire/pdf"
	"example.com/quire/pdf/template"
)

const ledgerTemplate = `quire: 1
name: ledger
lang: en
title: Ledger
data: {holder: string, rows: [{id: string, text: string, amount: decimal}]}
body:
  - {heading: "Ledger of ${holder}"}
  - table:
      border: {rows: hairline}
      columns: [{head: Id, width: 30mm, scope: row}, {head: Text}, {head: Amount, width: 40mm, align: decimal}]
      rows: {for: r in rows, carry: {sum: r.amount, out: [Carried, "", "${carry}"]}, stripe: ["#fff", "#f4f4f4"], cells: ["${r.id}", "${r.text}", "${r.amount | number(2)}"]}
`

// ledger is the JSON text of so many rows, made while it is read.
type ledger struct {
	rows, made int
	left       []byte
	halfway    func()
}

func (l *ledger) Read(p []byte) (int, error) {
	for len(l.left) == 0 {
		switch {
		case l.made == 0:
			l.left = []byte(`{"holder": "Ada", "rows": [`)
		case l.made == l.rows+1:
			l.left = []byte(`]}`)
		case l.made > l.rows:
			return 0, io.EOF
		}
		if l.made > 0 && l.made <= l.rows {
			comma := ","
			if l.made == 1 {
				comma = ""
			}
			l.left = fmt.Appendf(nil, `%s{"id": "T-%07d", "text": "row %d of a long ledger", "amount": %d.25}`, comma, l.made, l.made, l.made%1000)
			if l.made == l.rows/2 && l.halfway != nil {
				l.halfway()
			}
		}
		l.made++
	}
	n := copy(p, l.left)
	l.left = l.left[n:]
	return n, nil
}

// written counts what is written, and keeps nothing.
type written struct{ bytes int64 }

func (w *written) Write(p []byte) (int, error) {
	w.bytes += int64(len(p))
	return len(p), nil
}

// made is what a document of so many rows took.
type made struct {
	allocs, bytes, size float64
	early               int64  // bytes of the file when half of the rows were read
	heap                uint64 // then
	took                time.Duration
}

func makeLedger(tb testing.TB, rows int) (m made) {
	tb.Helper()
	e := newEngine(tb, pdf.Config{Limits: pdf.Limits{Pages: 100_000, OutputBytes: 4 << 30}})
	p, err := e.Compile(tb.Context(), pdf.Source{File: "ledger.yaml", Text: []byte(ledgerTemplate)})
	if err != nil {
		tb.Fatal(err)
	}
	out := &written{}
	var before, after, half runtime.MemStats
	in := &ledger{rows: rows, halfway: func() {
		runtime.GC()
		runtime.GC() // what pools hold goes with the second one
		runtime.ReadMemStats(&half)
		m.early, m.heap = out.bytes, half.HeapAlloc
	}}
	runtime.ReadMemStats(&before)
	begun := time.Now()
	res, err := e.Render(tb.Context(), out, p, template.Stream(in, "rows"), pdf.RenderOptions{Standards: compliant, Time: frozen})
	m.took = time.Since(begun)
	runtime.ReadMemStats(&after)
	if err != nil || res.Pages < rows/100 {
		tb.Fatal(res, err)
	}
	m.allocs, m.bytes, m.size = float64(after.Mallocs-before.Mallocs), float64(after.TotalAlloc-before.TotalAlloc), float64(out.bytes)
	return m
}

// TestRowsTakeLinearWork: ten times the rows of a tagged table, with sums that are carried over
// pages, are ten times the allocations, the memory handed out and the bytes of the file; what is
// kept grows by less than a hundredth of the rows' text, and pages are written while rows are read.
// With QUIRE_ROWS=1000000 the larger table has so many, and time and resident memory are judged,
// too.
func TestRowsTakeLinearWork(t *testing.T) {
	rows := 20_000
	soak := os.Getenv("QUIRE_ROWS")
	if soak != "" {
		var err error
		if rows, err = strconv.Atoi(soak); err != nil || rows < 100_000 {
			t.Fatalf("QUIRE_ROWS: %q", soak)
		}
	}
	makeLedger(t, 1000) // what the process makes once is there
	few, many := makeLedger(t, rows/10), makeLedger(t, rows)
	t.Logf("%d rows: %+v", rows/10, few)
	t.Logf("%d rows: %+v", rows, many)
	for what, ratio := range map[string]float64{"allocations": many.allocs / few.allocs, "bytes handed out": many.bytes / few.bytes, "bytes of the file": many.size / few.size} {
		if ratio > 10.5 {
			t.Errorf("ten times the rows are %.2f times the %s", ratio, what)
		}
	}
	const mostPerRow = 60                                                                                 // numbers and places of objects; the text of a row alone has 80
	if kept, bound := int64(many.heap)-int64(few.heap), int64(mostPerRow*rows*9/20+1<<20); kept > bound { //nolint:gosec // G115: sizes
		t.Errorf("half of %d rows keep %d bytes more than half of %d, at most %d", rows, kept, rows/10, bound)
	}
	if many.early < int64(many.size)/3 {
		t.Errorf("with half of the rows read %d bytes of %.0f are written", many.early, many.size)
	}
	if soak == "" {
		return
	}
	if ratio := many.took.Seconds() / few.took.Seconds(); ratio > 10.5 {
		t.Errorf("ten times the rows take %.2f times as long", ratio)
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, peak, _ := bytes.Cut(status, []byte("VmHWM:"))
	peak, _, _ = bytes.Cut(peak, []byte("kB"))
	if kib, err := strconv.Atoi(string(bytes.TrimSpace(peak))); err != nil || kib > 256<<10 {
		t.Errorf("at most %d KiB were resident, %v", kib, err)
	} else {
		t.Logf("at most %d KiB were resident", kib)
	}
}
