package pdf_test

import (
	"bytes"
	"fmt"
	"iter"
	"math/big"
	"os"
	"strconv"
	"strings"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/pdftest"
	"example.com/quire/pdf/template"
)

const carrySource = `quire: 1
name: carry
lang: en
title: Carried
standard: [pdf/a-4, pdf/ua-2]
page: {size: A6, margin: 12mm}
data: {lines: [{text: string, amount: decimal}]}
styles: {num: {align: right, figures: tabular}, small: {italic: true}}
body:
  - {text: Statement}
  - table:
      columns: [{head: Text, width: 1fr, scope: row}, {head: Amount, width: 30mm, style: num}]
      rows:
        for: l in lines
        carry: {sum: l.amount, out: {cells: [carried forward, "${carry | number(2)}"], style: small}, in: {cells: [brought forward, "${carry | number(2)}"], style: small}}
        cells: ["${l.text}", "${l.amount | number(2)}"]
      foot: [[Total, "${total(map(lines, .amount)) | number(2)}"]]
  - {text: End}
`

// TestSubtotalsAreCarriedOverPages: each page but the last ends with the sum of all rows so far,
// the next one begins with the same, whatever the rows come to in height, and the last one with
// rows ends in the total.
func TestSubtotalsAreCarriedOverPages(t *testing.T) {
	e := newEngine(t, pdf.Config{})
	plan, err := e.Compile(t.Context(), pdf.Source{File: "t.yaml", Text: []byte(carrySource)})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{1, 18, 19, 20, 21, 22, 60} {
		var lines []string
		for i := range n {
			text := fmt.Sprintf("row%d", i)
			if i%7 == 3 {
				text += strings.Repeat(" of several lines", 6)
			}
			lines = append(lines, fmt.Sprintf(`{"text": %q, "amount": %d.%02d}`, text, i*37-200, i))
		}
		var out bytes.Buffer
		if _, err := e.Render(t.Context(), &out, plan, template.JSON([]byte(`{"lines": [`+strings.Join(lines, ",")+`]}`)), pdf.RenderOptions{Time: frozen}); err != nil {
			t.Fatal(err)
		}
		pages := strings.Split(strings.TrimRight(pdftest.Text(t, pdftest.Write(t, "carry.pdf", out.Bytes())), "\f\n"), "\f")
		sum, printed := new(big.Rat), ""
		for i, page := range pages {
			fields := strings.Fields(page)
			page = strings.Join(fields, " ")
			if at := strings.Index(page, "brought forward"); (at >= 0) != (i > 0 && printed != "") {
				t.Errorf("%d rows, page %d: brought forward at %d after %q\n%s", n, i+1, at, printed, page)
			} else if at >= 0 {
				if got := amount(strings.Fields(page[at:])); got != printed {
					t.Errorf("%d rows, page %d: %s brought forward, %s was carried", n, i+1, got, printed)
				}
			}
			for k, f := range fields {
				if strings.HasPrefix(f, "row") {
					if _, err := strconv.Atoi(f[3:]); err == nil {
						r, ok := new(big.Rat).SetString(strings.ReplaceAll(amount(fields[k+1:]), ",", ""))
						if !ok {
							t.Fatalf("%d rows, page %d: no amount behind %s: %v", n, i+1, f, fields)
						}
						sum.Add(sum, r)
					}
				}
			}
			printed = ""
			if at := strings.Index(page, "carried forward"); at >= 0 {
				printed = amount(strings.Fields(page[at:]))
				if got := strings.ReplaceAll(printed, ",", ""); got != sum.FloatString(2) {
					t.Errorf("%d rows, page %d: %s is carried, the rows come to %s", n, i+1, got, sum.FloatString(2))
				}
				if strings.Contains(page[at+10:], "row") {
					t.Errorf("%d rows, page %d: a row below the one that is carried:\n%s", n, i+1, page)
				}
			} else if strings.Contains(page, "row") && !strings.Contains(page, "Total") {
				t.Errorf("%d rows, page %d carries nothing:\n%s", n, i+1, page)
			}
		}
	}
}

// amount is the first field that is a number with two places.
func amount(fields []string) string {
	for _, f := range fields {
		if n := len(f); n > 3 && f[n-3] == '.' {
			return f
		}
	}
	return ""
}

// TestCarriedRowsInGo: rows of a Builder carry, too, also in a table within a box.
func TestCarriedRowsInGo(t *testing.T) {
	for _, boxed := range []bool{false, true} {
		body, res := render(t, newEngine(t, pdf.Config{}), pdf.RenderOptions{Standards: compliant, Time: frozen}, func(b *doc.Builder) error {
			b.Title("Carried").Lang("en").Page(doc.Master{Width: doc.MM(105), Height: doc.MM(148), Margins: doc.Same(doc.MM(15))})
			table := &doc.Table{Columns: []doc.Column{{Head: txt("N")}}}
			table.Rows = func(yield func(doc.Row, error) bool) {
				for i := range 40 {
					r := doc.Row{Cells: []doc.Cell{{Spans: txt("n" + strconv.Itoa(i))}}}
					r.Carry = func() (out, in *doc.Row, err error) {
						return &doc.Row{Cells: []doc.Cell{{Spans: txt("out" + strconv.Itoa(i))}}}, &doc.Row{Cells: []doc.Cell{{Spans: txt("in" + strconv.Itoa(i))}}}, nil
					}
					if !yield(r, nil) {
						return
					}
				}
			}
			if boxed {
				b.Add(&doc.Box{Nodes: []doc.Node{table}})
			} else {
				b.Add(table)
			}
			return nil
		})
		words := pdftest.Words(t, pdftest.Write(t, "carry.pdf", body))
		carried := 0
		for i, w := range words {
			n, ok := strings.CutPrefix(w, "out")
			if !ok {
				continue
			}
			carried++
			last, _ := strconv.Atoi(n)
			rest := strings.Join(words[i+1:i+4], " ")
			if want := fmt.Sprintf("N in%s n%d", n, last+1); words[i-1] != "n"+n || rest != want {
				t.Errorf("boxed %v: %s %s %s, want n%s %s %s", boxed, words[i-1], w, rest, n, w, want)
			}
		}
		if carried != res.Pages-1 || carried < 1 {
			t.Errorf("boxed %v: %d rows carried over %d pages", boxed, carried, res.Pages)
		}
	}
}

// TestWrongCarriedRowsAreErrors: a row that does not fill the table, and an error of the one who
// makes it, end the render.
func TestWrongCarriedRowsAreErrors(t *testing.T) {
	rows := func(carry func() (out, in *doc.Row, err error)) iter.Seq2[doc.Row, error] {
		return func(yield func(doc.Row, error) bool) {
			for range 200 {
				if !yield(doc.Row{Cells: []doc.Cell{{Spans: txt("x")}}, Carry: carry}, nil) {
					return
				}
			}
		}
	}
	build := func(carry func() (out, in *doc.Row, err error)) error {
		_, err := newEngine(t, pdf.Config{}).Build(t.Context(), &bytes.Buffer{}, pdf.RenderOptions{}, func(b *doc.Builder) error {
			b.Title("T").Lang("en").Add(&doc.Table{Columns: []doc.Column{{}}, Rows: rows(carry)})
			return nil
		})
		return err
	}
	wantCode(t, build(func() (out, in *doc.Row, err error) { return &doc.Row{}, nil, nil }), "L303")
	wantCode(t, build(func() (out, in *doc.Row, err error) {
		return nil, &doc.Row{Cells: []doc.Cell{{Spans: txt("x"), Rowspan: 2}}}, nil
	}), "L303")
	if err := build(func() (out, in *doc.Row, err error) { return nil, nil, os.ErrClosed }); err == nil || !strings.Contains(err.Error(), os.ErrClosed.Error()) {
		t.Errorf("got %v", err)
	}
}
