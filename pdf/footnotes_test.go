package pdf_test

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/pdftest"
	"example.com/quire/pdf/standard"
	"example.com/quire/pdf/template"
)

// footnotes has notes in paragraphs, a list and a table, some of which are split, and a part.
func footnotes(b *doc.Builder) error {
	long := strings.TrimSpace(strings.Repeat("What is said of the fee holds for each trade, and for each part of one. ", 5))
	said := func(s string, notes ...string) []doc.Span {
		spans := []doc.Span{{Text: s}}
		for _, n := range notes {
			spans = append(spans, doc.Footnote(doc.Span{Text: n}), doc.Span{Text: "."})
		}
		return spans
	}
	b.Title("Notes").Lang("en").Footer(pageOf())
	b.Section(doc.Section{Part: true}, func(b *doc.Builder) {
		b.Section(doc.Section{}, func(b *doc.Builder) {
			b.Heading(1, "Fees")
			for i := range 12 {
				b.Spans(said(long, fmt.Sprintf("Note %d: %s", i, long)))
			}
			b.Add(&doc.List{Marker: doc.MarkerDecimal, Items: []doc.ListItem{{Nodes: []doc.Node{&doc.Text{Spans: said("An item", "Of an item", "And another")}}}}})
			b.Table([]doc.Column{{Head: said("Name", "As in the register")}, {Head: txt("Fee")}}, func(t *doc.Table) {
				var rows []doc.Row
				for i := range 60 {
					rows = append(rows, doc.Row{Cells: []doc.Cell{{Spans: said(fmt.Sprintf("Row %d", i))}, {Spans: txt("1.00")}}})
				}
				rows[40].Cells[1].Spans = said("2.00", "An exception, see [the register].")
				t.Rows = doc.Rows(rows...)
			})
		})
	})
	return nil
}

// TestFootnotesAreTaggedBothWays: the citation of a note refers to it and the note to its citation
// (ISO 14289-2, 8.2.5.14), and their links lead to each other as structure destinations; in PDF 1.7
// notes have identifiers (ISO 14289-1, 7.9).
func TestFootnotesAreTaggedBothWays(t *testing.T) {
	e := newEngine(t, pdf.Config{})
	for _, ids := range [][]standard.ID{compliant, claimable[1]} {
		body, res := render(t, e, pdf.RenderOptions{Standards: ids}, footnotes)
		if res.Pages < 3 {
			t.Fatalf("%d pages", res.Pages)
		}
		plain, _ := tool(t, "qpdf", "--qdf", "--object-streams=disable", pdftest.Write(t, "f.pdf", body), "-")
		refers, types := map[string]string{}, map[string]string{}
		identified := 0
		for object := range strings.SplitSeq(plain, "\nendobj") {
			m := regexp.MustCompile(`(?s)(\d+) 0 obj\n<<.*  /S /(\w+)\n`).FindStringSubmatch(object)
			if m == nil {
				continue
			}
			types[m[1]] = m[2]
			if ref := regexp.MustCompile(`/Ref \[\s*(\d+) 0 R\s*\]`).FindStringSubmatch(object); ref != nil {
				refers[m[1]] = ref[1]
			}
			if m[2] == "FENote" && strings.Contains(object, "/ID (note000000") {
				identified++
			}
		}
		notes := 0
		for object, kind := range types {
			if kind != "FENote" {
				continue
			}
			notes++
			if ids[0] == compliant[0] && (types[refers[object]] != "Link" || refers[refers[object]] != object) {
				t.Errorf("note %s refers to %s, that to %s", object, refers[object], refers[refers[object]])
			}
		}
		if notes != 16 {
			t.Errorf("%d notes, want 16", notes)
		}
		if old := ids[0] != compliant[0]; old && (identified != notes || !strings.Contains(plain, "/IDTree")) || !old && identified > 0 {
			t.Errorf("%v: %d of %d notes are identified", ids, identified, notes)
		}
		if parts := strings.Count(plain, "/S /Part\n"); parts != 1 {
			t.Errorf("%d parts", parts)
		}
	}
}

// TestRowsWithWhatIsDrawnLater: rows are written with the page that they end on, while their notes
// go on over the pages behind it, and with links, fields, spans and cells that are split.
func TestRowsWithWhatIsDrawnLater(t *testing.T) {
	var rows strings.Builder
	words := 0
	long := func(name string, n int) string {
		var b strings.Builder
		for k := range n {
			fmt.Fprintf(&b, "%s.%d ", name, k)
		}
		words += n
		return b.String()
	}
	for i := range 90 {
		line := fmt.Sprintf(`["r%d", "word%d", "w%d"]`, i, i, i)
		switch i % 9 {
		case 1:
			line = fmt.Sprintf(`["r%d", "cited^[%s] here", "w%d"]`, i, long(fmt.Sprintf("note%d", i), 250*(1+i%2)), i)
		case 3:
			line = fmt.Sprintf(`["r%d", "[top](#top), [web](https://example.com/%d)", {do: [{field: text, name: f%d, label: "Field %d"}]}]`, i, i, i, i)
		case 5:
			line = fmt.Sprintf(`[{text: "r%d", rowspan: 2}, "%s", "w%d"]`, i, long(fmt.Sprintf("cell%d", i), 300), i) + "\n        - [\"under\", \"it\"]"
		}
		rows.WriteString("        - " + line + "\n")
	}
	text := `quire: 1
name: rows
lang: en
title: Rows
page: {size: A5, margin: 15mm}
footer: {all: [{text: "Page ${page()} of ${pages()}"}]}
body:
  - {heading: Rows, level: 1, anchor: top}
  - table:
      columns: [{head: A, width: 20mm, scope: row}, {head: B, width: 1fr}, {head: C, width: 30mm}]
      rows:
` + rows.String()
	e := newEngine(t, pdf.Config{})
	plan, err := e.Compile(t.Context(), pdf.Source{File: "t.yaml", Text: []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	for _, ids := range [][]standard.ID{compliant, claimable[1]} {
		var files [2][]byte
		for i, mapped := range []bool{false, true} {
			var out bytes.Buffer
			if _, err := e.Render(t.Context(), &out, plan, template.JSON([]byte("{}")), pdf.RenderOptions{Standards: ids, Time: frozen, SourceMap: mapped}); err != nil {
				t.Fatal(err)
			}
			files[i] = out.Bytes()
		}
		if !bytes.Equal(files[0], files[1]) {
			t.Errorf("%v: a source map changes bytes", ids)
		}
		d, err := e.Open(t.Context(), bytes.NewReader(files[0]), int64(len(files[0])), pdf.OpenOptions{})
		if err != nil {
			t.Fatal(err)
		}
		found, err := e.Check(t.Context(), d, ids...)
		if err != nil || len(found) > 0 {
			t.Errorf("%v: %v, %v", ids, found, err)
		}
		if n := len(regexp.MustCompile(`(note|cell)\d+\.\d+`).FindAllString(pdftest.Text(t, pdftest.Write(t, "rows.pdf", files[0])), -1)); n != words {
			t.Errorf("%v: %d words, want %d", ids, n, words)
		}
	}
}
