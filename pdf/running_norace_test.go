//go:build !race

package pdf_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/font/liberation"
	"example.com/quire/pdf/standard"
	"example.com/quire/pdf/template"
)

// TestWhatWaitsForTheNumberOfPagesIsThatOfMemoryOfItsOwn: headers and footers that show it are made
// for one page after the other in the same memory. They are those that are made in memory of their
// own, with all that may stand in them, which differs from page to page.
func TestWhatWaitsForTheNumberOfPagesIsThatOfMemoryOfItsOwn(t *testing.T) {
	t.Parallel()
	const page = "\"Page ${page()} of ${pages()}\""
	parts := map[string]string{
		"texts":  "[{text: " + page + "}, {text: \"Page ${page()} of ${pages()}, *some* **words** and [a link](https://example.com) that take more than a line, again and again and again\"}]",
		"row":    "[{row: {widths: [1fr, auto], cells: [{text: [Left]}, {text: " + page + "}]}}]",
		"boxes":  "[{box: {do: [{text: " + page + "}, {list: {items: [one, " + page + "]}}], background: \"#eeeeee\"}}]",
		"table":  "[{table: {columns: [{head: A, width: 20mm}, {head: B, width: 1fr}], rows: [[x, " + page + "], [y, z]]}}]",
		"anchor": "[{text: " + page + ", align: right}, {text: \"[to the end](#end)\"}]",
	}
	parts["row"] = strings.ReplaceAll(parts["row"], "[Left]", "Left")
	own := pdf.Config{Fonts: liberation.New()}
	reused, poisoned := newEngine(t, own), newEngine(t, own)
	poisoned.PoisonRows()
	data := "{\"items\": [0" + strings.Repeat(", 1", 300) + "]}"
	for name, part := range parts {
		for _, side := range []string{"header", "footer"} {
			src := fmt.Sprintf(`quire: 1
name: late
title: Late
lang: en
page: {size: A5}
data: {items: [integer]}
%s: {all: %s, first: [{text: "First of ${pages()}"}]}
body:
  - for: n in [1, 2, 3, 4, 5, 6, 7]
    do: [{heading: "Part ${n}"}, {table: {columns: [{width: 1fr}, {width: 1fr}], rows: {for: i in items, cells: ["${i}", "${n}"]}}}]
  - {text: The end, anchor: end}
`, side, part)
			made := func(e *pdf.Engine, o pdf.RenderOptions) []byte {
				plan, err := e.Compile(t.Context(), pdf.Source{File: "late.yaml", Text: []byte(src)})
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				var out bytes.Buffer
				if _, err := e.Render(t.Context(), &out, plan, template.JSON([]byte(data)), o); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				return out.Bytes()
			}
			for _, o := range []pdf.RenderOptions{{}, {Standards: []standard.ID{standard.PDFA4, standard.PDFUA2}}} {
				if !bytes.Equal(made(reused, o), made(poisoned, o)) {
					t.Errorf("%s as %s: another file", name, side)
				}
			}
		}
	}
}
