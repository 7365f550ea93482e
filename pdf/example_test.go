package pdf_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"time"

	"example.com/quire/pdf"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/standard"
	"example.com/quire/pdf/template"
)

// A template is compiled once; every document is one call of Render.
func Example() {
	ctx := context.Background()
	eng, err := pdf.New(pdf.Config{})
	if err != nil {
		log.Fatal(err)
	}
	plan, err := eng.Compile(ctx, pdf.Source{File: "greeting.yaml", Text: []byte(`quire: 1
name: greeting
lang: en
title: "Greeting for ${name}"
standard: [pdf/a-4, pdf/ua-2]
data: {name: string}
body:
  - {heading: "Hello, ${name}", level: 1}
`)})
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	res, err := eng.Render(ctx, &file, plan, template.JSON([]byte(`{"name": "Zoë"}`)), pdf.RenderOptions{
		Time: time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC),
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Pages, res.Standards[0], res.Standards[1], res.Deterministic, res.Size == int64(file.Len()))
	// Output: 1 pdf/a-4 pdf/ua-2 true true
}

// A problem in a template or its data is reported with its place.
func Example_diagnostics() {
	eng, err := pdf.New(pdf.Config{})
	if err != nil {
		log.Fatal(err)
	}
	_, err = eng.Compile(context.Background(), pdf.Source{File: "note.yaml", Text: []byte(`quire: 1
name: note
lang: en
title: Note
data: {client: string}
body:
  - {text: "For ${cleint}"}
`)})
	fmt.Println(err)
	// Output: note.yaml:7:19: body[0].text: no field, variable or parameter "cleint"; did you mean "client"?  [T104]
}

// Build makes a document from nodes. Rows come from an iterator, so memory does
// not depend on their number.
func ExampleEngine_Build() {
	eng, err := pdf.New(pdf.Config{})
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	res, err := eng.Build(context.Background(), &file, pdf.RenderOptions{Standards: []standard.ID{standard.PDFUA2}}, func(b *doc.Builder) error {
		text := func(s string) []doc.Span { return []doc.Span{{Text: s}} }
		b.Title("Squares").Lang("en").Heading(1, "Squares")
		b.Table([]doc.Column{{Head: text("n"), RowHeader: true}, {Head: text("n squared")}}, func(t *doc.Table) {
			t.Rows = func(yield func(doc.Row, error) bool) {
				for n := range 100 {
					row := doc.Row{Cells: []doc.Cell{{Spans: text(fmt.Sprint(n))}, {Spans: text(fmt.Sprint(n * n))}}}
					if !yield(row, nil) {
						return
					}
				}
			}
		})
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Pages, res.Standards[0])
	// Output: 3 pdf/ua-2
}
