package pdf_test

import (
	"bytes"
	"math"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/pdftest"
	"example.com/quire/pdf/template"
)

// TestUnstyledPageIsWellSet: the sample without styles has paragraphs and headings set apart on
// the quarter lines of its text, and the lines of its table in the places and weights of the theme.
func TestUnstyledPageIsWellSet(t *testing.T) {
	file := pdftest.Write(t, "workshop.pdf", templateSamples(t)["workshop"])
	first := map[string]pdftest.Word{}
	for _, w := range pdftest.Boxes(t, file) {
		if _, seen := first[w.Text]; !seen {
			first[w.Text] = w
		}
	}
	bottom := func(word string) float64 {
		w, ok := first[word]
		if !ok {
			t.Fatalf("the word %q is not there", word)
		}
		return w.YMax
	}
	const leading = 14.0
	for _, tt := range []struct {
		what, from, to string
		want           float64
	}{
		{"lines of a paragraph", "Orders", "below", leading},
		{"paragraphs", "Further", "apprentice", 1.5 * leading},
		{"paragraphs around a heading of level 2", "printed", "Prices", 4.5 * leading},
	} {
		if d := bottom(tt.to) - bottom(tt.from); math.Abs(d-tt.want) > 0.1 {
			t.Errorf("%s: %.2f pt apart, want %.2f", tt.what, d, tt.want)
		}
	}
	const dpi = 144
	page := pdftest.Raster(t, file, dpi)[0]
	px := func(points float64) int { return int(points * dpi / 72) }
	dark := func(from, to float64) (most uint32) { // the darkest pixel of a column of the page
		most = 0xFFFFFF
		for y := px(from); y < px(to); y++ {
			most = min(most, rgb(page.At(px(300), y)))
		}
		return most
	}
	head, row, next, total := first["Unit"], first["Letterheads"], first["Almanac,"], first["Total"]
	for _, tt := range []struct {
		what     string
		from, to float64
		least    uint32
		most     uint32
	}{
		{"above the head", head.YMin - 9, head.YMin, 0x1B0000, 0x1BFFFF},
		{"between rows", row.YMax - 1, next.YMin + 1, 0xD30000, 0xE9FFFF},
		{"below the foot", total.YMax, total.YMax + 9, 0x1B0000, 0x1BFFFF},
	} {
		if got := dark(tt.from, tt.to); got < tt.least || got > tt.most {
			t.Errorf("the line %s: %06x", tt.what, got)
		}
	}
}

// TestThemeIsTheSameInGo: a document that is built in Go with the default theme is byte for byte
// that of the template without styles.
func TestThemeIsTheSameInGo(t *testing.T) {
	const src = `quire: 1
name: t
lang: en
title: Minutes
page: {margin: 20mm}
body:
  - {heading: Minutes, level: 1}
  - {text: "The meeting began at nine. See [the agenda](https://example.com/)."}
  - {text: "All were there."}
  - table:
      caption: Votes
      columns: [{head: Name, width: 1fr}, {head: Votes, width: auto, align: right}]
      rows: [[Ada, "12"], [Grace, "15"]]
      foot: [[Sum, "27"]]
`
	e := newEngine(t, pdf.Config{})
	plan, err := e.Compile(t.Context(), pdf.Source{File: "t.yaml", Text: []byte(src)})
	if err != nil {
		t.Fatal(err)
	}
	var want, got bytes.Buffer
	if _, err := e.Render(t.Context(), &want, plan, template.JSON([]byte("{}")), pdf.RenderOptions{Standards: compliant}); err != nil {
		t.Fatal(err)
	}
	_, err = e.Build(t.Context(), &got, pdf.RenderOptions{Standards: compliant}, func(b *doc.Builder) error {
		base := doc.ThemeBase()
		right := base
		right.Align = doc.AlignRight
		cells := func(texts ...string) doc.Row {
			var r doc.Row
			for _, s := range texts {
				r.Cells = append(r.Cells, doc.Cell{Spans: []doc.Span{{Text: s}}})
			}
			return r
		}
		b.Title("Minutes").Lang("en").Style(&base).Theme(doc.DefaultTheme(base))
		b.Heading(1, "Minutes")
		b.Spans([]doc.Span{{Text: "The meeting began at nine. See "}, {Text: "the agenda", Link: "https://example.com/"}, {Text: "."}})
		b.Text("All were there.")
		b.Table([]doc.Column{
			{Head: []doc.Span{{Text: "Name"}}, Width: doc.Fr(1)},
			{Head: []doc.Span{{Text: "Votes"}}, Width: doc.Auto(), Style: &right},
		}, func(t *doc.Table) {
			t.Caption = []doc.Span{{Text: "Votes"}}
			t.Rows = doc.Rows(cells("Ada", "12"), cells("Grace", "15"))
			t.Foot = []doc.Row{cells("Sum", "27")}
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want.Bytes(), got.Bytes()) {
		t.Errorf("the template gives %d bytes, the builder %d others", want.Len(), got.Len())
	}
}
