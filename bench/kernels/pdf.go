package kernels

import (
	"bytes"
	"context"
	"fmt"

	"example.com/quire/bench/workload"
	"example.com/quire/pdf"
	"example.com/quire/pdf/standard"
	"example.com/quire/pdf/template"
)

// pdfKernels make the one-page invoice, each time from new data, and compile its
// template.
func pdfKernels() []Kernel {
	return []Kernel{
		render("pdf/invoice", nil),
		render("pdf/invoice-archival", []standard.ID{standard.PDFA4, standard.PDFUA2}),
		{Name: "pdf/compile", N: 25, Batch: 40, Open: func() (func() error, error) {
			eng, err := pdf.New(pdf.Config{Cache: pdf.CacheLimits{Off: true}})
			if err != nil {
				return nil, fmt.Errorf("engine: %w", err)
			}
			return func() error {
				_, err := eng.Compile(context.Background(), pdf.Source{File: "invoice.yaml", Text: workload.Template})
				return err
			}, nil
		}},
	}
}

func render(name string, standards []standard.ID) Kernel {
	return Kernel{Name: name, N: 50, Batch: 40, Open: func() (func() error, error) {
		eng, err := pdf.New(pdf.Config{})
		if err != nil {
			return nil, fmt.Errorf("engine: %w", err)
		}
		plan, err := eng.Compile(context.Background(), pdf.Source{File: "invoice.yaml", Text: workload.Template})
		if err != nil {
			return nil, fmt.Errorf("compile: %w", err)
		}
		var out bytes.Buffer
		out.Grow(64 << 10)
		data := make([][]byte, 20)
		for i := range data {
			data[i] = workload.AppendData(nil, i)
		}
		i := 0
		return func() error {
			out.Reset()
			i++
			_, err := eng.Render(context.Background(), &out, plan, template.JSON(data[i%len(data)]), pdf.RenderOptions{Time: workload.Time, Standards: standards})
			if err == nil && out.Len() < 1000 {
				err = fmt.Errorf("a document of %d bytes", out.Len())
			}
			return err
		}, nil
	}}
}
