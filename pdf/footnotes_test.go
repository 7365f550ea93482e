package pdf_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/pdftest"
	"example.com/quire/pdf/standard"
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
