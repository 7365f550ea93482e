package pdf_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/pdftest"
	"example.com/quire/pdf/template"
)

// TestGroupsKeepTheirHeadsAndSubtotals: wherever a page ends in a table of groups of all sizes, it
// does not end with the head of a group, nor does the next one begin with a subtotal.
func TestGroupsKeepTheirHeadsAndSubtotals(t *testing.T) {
	const src = `quire: 1
name: t
lang: en
title: Groups
page: {size: A6}
data: {lines: [{group: string, n: integer}]}
body:
  - style: loose
    table:
      columns: [{head: Item}]
      rows:
        for: l in lines
        group: {by: l.group, head: [["head ${group.key}"]], foot: [["foot ${group.key}: ${total(map(group.rows, .n))}"]]}
        cells: ["item ${l.n}"]
styles: {loose: {orphans: 1, widows: 1}}
`
	var lines []string
	n, sums := 0, 0
	for size := 1; size <= 12; size++ {
		sums = 0
		for range size {
			n++
			sums += n
			lines = append(lines, fmt.Sprintf(`{"group": "g%d", "n": %d}`, size, n))
		}
	}
	e := newEngine(t, pdf.Config{})
	plan, err := e.Compile(t.Context(), pdf.Source{File: "t.yaml", Text: []byte(src)})
	if err != nil {
		t.Fatal(err)
	}
	var buf bytes.Buffer
	if _, err := e.Render(t.Context(), &buf, plan, template.JSON([]byte(`{"lines": [`+strings.Join(lines, ",")+`]}`)), pdf.RenderOptions{Standards: compliant}); err != nil {
		t.Fatal(err)
	}
	pages := strings.Split(strings.TrimRight(pdftest.Text(t, pdftest.Write(t, "groups.pdf", buf.Bytes())), "\f\n"), "\f")
	if len(pages) < 4 {
		t.Fatalf("%d pages", len(pages))
	}
	heads, feet := 0, 0
	for i, page := range pages {
		rows := strings.Split(strings.TrimSpace(page), "\n")
		heads, feet = heads+strings.Count(page, "head g"), feet+strings.Count(page, "foot g")
		if last := rows[len(rows)-1]; strings.HasPrefix(last, "head") {
			t.Errorf("page %d ends with %q", i+1, last)
		}
		if len(rows) < 2 || strings.HasPrefix(rows[1], "foot") { // behind the head of the table
			t.Errorf("page %d begins with %q", i+1, rows)
		}
	}
	if last := fmt.Sprintf("foot g12: %d", sums); heads != 12 || feet != 12 || !strings.Contains(pages[len(pages)-1], last) {
		t.Errorf("%d heads, %d feet; %q is not on the last page", heads, feet, last)
	}
}
