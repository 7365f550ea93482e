package pdf_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/standard"
	"example.com/quire/pdf/template"
)

// billTemplate is a page with what most letters have: a heading, dates, an
// address, a table with figures, totals, a foot with the number of pages.
const billTemplate = `quire: 1
name: bill
lang: en-GB
title: "Bill ${number}"
page: {size: A4, margin: [15mm, 18mm, 15mm, 18mm]}
data:
  number: string
  date: date
  name: string
  address: [string]
  lines: [{title: string, qty: integer, price: decimal}]
vars:
  net: "total(map(lines, .qty * .price))"
styles:
  base: {font: Liberation Sans, size: 9pt, leading: 12pt}
  h1: {size: 18pt, leading: 22pt, weight: bold}
  num: {align: right, figures: tabular}
  head: {weight: bold}
  head-num: {extends: head, align: right}
footer:
  all: [{row: {widths: [1fr, auto], cells: ["Registered in England 01234567", "Page ${page()} of ${pages()}"]}}]
body:
  - {heading: "Bill ${number}", level: 1}
  - {text: "Date: ${date | date('long')}"}
  - {text: "${name}", weight: bold, space-before: 8pt}
  - for: line in address
    do: [{text: "${line}"}]
  - {spacer: 6mm}
  - table:
      columns:
        - {head: Description, width: 1fr, scope: row, head-style: head}
        - {head: Quantity, width: 24mm, style: num, head-style: head-num}
        - {head: Unit price, width: 28mm, style: num, head-style: head-num}
        - {head: Amount, width: 30mm, style: num, head-style: head-num}
      rows:
        for: l in lines
        cells: ["${l.title}", "${l.qty | number()}", "${l.price | number(2)}", "${l.qty * l.price | number(2)}"]
  - {spacer: 4mm}
  - row: {widths: [1fr, 30mm], cells: ["Net", {text: "${net | number(2)}", style: num}]}
  - row: {widths: [1fr, 30mm], cells: ["VAT 20 %", {text: "${net * 0.2 | number(2)}", style: num}]}
  - row: {widths: [1fr, 30mm], cells: [{text: Total due, weight: bold}, {text: "${net * 1.2 | number(2)}", style: num, weight: bold}]}
  - {text: "Please pay to sort code 20-00-00, account 55779911, quoting ${number}.", space-before: 10pt}
`

// bill is the data of bill i: no two are the same.
func bill(i, lines int) []byte {
	random := rand.New(rand.NewPCG(7, uint64(i))) //nolint:gosec // G404, G115: a fixed stream
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"number": "B-%07d", "date": "2026-%02d-%02d", "name": "Hanna Mason and Wright %d", "address": ["%d Joiner Street", "Leeds LS%d %dAB"], "lines": [`,
		i, 1+random.IntN(12), 1+random.IntN(28), random.IntN(1_000_000), random.IntN(998), random.IntN(20), random.IntN(10))
	for k := range lines {
		if k > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"title": "brass hinge no. %d-%05d", "qty": %d, "price": %d.%02d}`, k, random.IntN(100_000), 1+random.IntN(2000), random.IntN(2000), random.IntN(100))
	}
	b.WriteString("]}")
	return b.Bytes()
}

// BenchmarkRender makes a bill after the other, each of new data, by an engine
// that has made some.
func BenchmarkRender(b *testing.B) {
	for _, c := range []struct {
		name      string
		lines     int
		standards []standard.ID
	}{
		{"page", 12, nil},
		{"page-compliant", 12, compliant},
		{"2000-rows", 2000, nil},
		{"2000-rows-compliant", 2000, compliant},
	} {
		b.Run(c.name, func(b *testing.B) {
			e := newEngine(b, pdf.Config{})
			plan, err := e.Compile(b.Context(), pdf.Source{File: "bill.yaml", Text: []byte(billTemplate)})
			if err != nil {
				b.Fatal(err)
			}
			var size int64
			make1 := func(data []byte) {
				res, err := e.Render(b.Context(), io.Discard, plan, template.JSON(data), pdf.RenderOptions{Time: frozen, Standards: c.standards})
				if err != nil {
					b.Fatal(err)
				}
				size += res.Size
			}
			for i := range 20 {
				make1(bill(-1-i, c.lines))
			}
			size = 0
			const few = 64 // made outside the timer
			data := make([][]byte, few)
			n := 0
			b.ReportAllocs()
			for b.Loop() {
				if n%few == 0 {
					b.StopTimer()
					for i := range data {
						data[i] = bill(n+i, c.lines)
					}
					b.StartTimer()
				}
				make1(data[n%few])
				n++
			}
			b.ReportMetric(float64(size)/float64(n), "bytes/doc")
		})
	}
}
