package pdf_test

import (
	"regexp"
	"strings"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/pdftest"
	"example.com/quire/pdf/standard"
)

// book has a cover, a table of contents with its own numbers, and chapters.
func book(b *doc.Builder) error {
	cover := doc.A4()
	cover.VAlign, cover.Background = doc.VAlignMiddle, doc.RGB(0xEE, 0xF1, 0xF7)
	number := &doc.Running{All: []doc.Node{&doc.Text{Spans: []doc.Span{{Kind: doc.SpanPage}}}}}
	b.Title("Book").Lang("en")
	b.Section(doc.Section{Page: &cover}, func(b *doc.Builder) { b.Text("Book") })
	b.Section(doc.Section{NumberFrom: 1, Numbering: doc.NumberingRoman, Footer: number}, func(in *doc.Builder) { in.Contents(2) })
	b.Section(doc.Section{NumberFrom: 1, Footer: number}, func(b *doc.Builder) {
		b.Heading(1, "Of apples", doc.Anchor("apples")).Text("They are red.").PageBreak()
		b.Heading(1, "Of pears").Spans([]doc.Span{{Text: "More than on page "}, {Kind: doc.SpanReference, Text: "apples"}, {Text: "."}})
		b.Heading(2, "Green ones").Add(&doc.List{Marker: doc.MarkerLegal, Items: []doc.ListItem{{Nodes: []doc.Node{para("first")}}}})
	})
	b.References()
	return nil
}

// TestSectionsNumberTheirPages: the file says which numbers its pages show, and pages that show
// none of their own say nothing.
func TestSectionsNumberTheirPages(t *testing.T) {
	e := newEngine(t, pdf.Config{})
	body, res := render(t, e, pdf.RenderOptions{}, book)
	if want := "/PageLabels<</Nums[0<</S/D>>1<</S/r>>2<</S/D>>]>>"; res.Pages != 4 || !strings.Contains(unpack(t, body), want) {
		t.Errorf("%d pages, no %s", res.Pages, want)
	}
	if body, _ := render(t, e, pdf.RenderOptions{}, note("X", 150)); strings.Contains(unpack(t, body), "/PageLabels") {
		t.Error("page labels for 1, 2, 3")
	}
}

// TestContentsPointAtTheirHeadings: each entry refers to the element of its heading (ISO 14289-2,
// 8.2.5.8), in the namespace of the types that PDF 2.0 dropped; PDF 1.7 has the types alone.
func TestContentsPointAtTheirHeadings(t *testing.T) {
	e := newEngine(t, pdf.Config{})
	for _, ids := range [][]standard.ID{compliant, claimable[1]} {
		body, res := render(t, e, pdf.RenderOptions{Standards: ids}, book)
		file := pdftest.Write(t, "f.pdf", body)
		plain, _ := tool(t, "qpdf", "--qdf", "--object-streams=disable", file, "-")
		types := map[string]string{} // of elements, by their objects
		var items []string
		refs := 0
		for object := range strings.SplitSeq(plain, "\nendobj") {
			m := regexp.MustCompile(`(?s)(\d+) 0 obj\n<<.*  /S /(\w+)\n`).FindStringSubmatch(object)
			if m == nil {
				continue
			}
			if types[m[1]] = m[2]; m[2] == "TOCI" {
				items = append(items, object)
			}
		}
		for _, object := range items {
			if m := regexp.MustCompile(`/Ref \[\s*(\d+) 0 R`).FindStringSubmatch(object); m != nil && strings.HasPrefix(types[m[1]], "H") {
				refs++
			}
		}
		want := 3
		if ids[0] != standard.PDFA4 {
			want = 0
		}
		count := map[string]int{}
		for _, s := range types {
			count[s]++
		}
		if len(items) != 3 || refs != want || count["TOC"] != 2 || count["Sect"] != 3 || len(res.Warnings) > 0 {
			t.Errorf("%v: %d items, %d point at headings, types %v, warnings %v", ids, len(items), refs, count, res.Warnings)
		}
		text := pdftest.Text(t, file)
		for _, want := range []string{"Of apples", "More than on page 1.", "\n2\n"} {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in %q", want, text)
			}
		}
	}
}
