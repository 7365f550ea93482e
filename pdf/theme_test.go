package pdf_test

import (
	"bytes"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/template"
)

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
