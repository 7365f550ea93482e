// Command pdf renders a template with data to a tagged, archival PDF.
//
//	go run ./examples/pdf > receipt.pdf
package main

import (
	"context"
	"embed"
	"fmt"
	"io"
	"os"
	"time"

	"example.com/quire/pdf"
	"example.com/quire/pdf/template"
)

//go:embed receipt.yaml receipt.json
var files embed.FS

func main() {
	at := time.Date(2026, time.January, 31, 18, 30, 0, 0, time.UTC)
	if _, err := render(context.Background(), os.Stdout, at); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// render writes the receipt with the time that it states. An engine is made once and shared; so
// is a plan.
func render(ctx context.Context, w io.Writer, at time.Time) (*pdf.Result, error) {
	engine, err := pdf.New(pdf.Config{})
	if err != nil {
		return nil, err
	}
	source, err := files.ReadFile("receipt.yaml")
	if err != nil {
		return nil, err
	}
	plan, err := engine.Compile(ctx, pdf.Source{File: "receipt.yaml", Text: source})
	if err != nil {
		return nil, err
	}
	data, err := files.ReadFile("receipt.json")
	if err != nil {
		return nil, err
	}
	return engine.Render(ctx, w, plan, template.JSON(data), pdf.RenderOptions{Time: at})
}
