package path

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"example.com/quire/bench/harness"
	"example.com/quire/bench/workload"
	"example.com/quire/pdf"
	"example.com/quire/pdf/standard"
	"example.com/quire/pdf/template"
)

// input is one document: its data, and what came of it.
type input struct {
	data []byte
	out  bytes.Buffer
}

// maker makes a document of JSON data.
type maker func(ctx context.Context, in *input) error

// documents wraps a maker as a Subject with the checks that all share.
func documents(ctx context.Context, produce maker, end func() error) harness.Subject {
	var last [sha256.Size]byte
	return &harness.Ops[input]{
		Size: 64,
		Fill: func(i int, in *input) error {
			in.data = workload.AppendData(in.data[:0], i)
			in.out.Reset()
			return nil
		},
		Do: func(in *input) error { return produce(ctx, in) },
		Verify: func(i int, in *input) (harness.Facts, error) {
			sum := sha256.Sum256(in.out.Bytes())
			if sum == last {
				return harness.Facts{}, errors.New("the same bytes for other data")
			}
			last = sum
			return harness.Facts{OutputBytes: int64(in.out.Len())}, checkPage(i, in.out.Bytes())
		},
		Checks: 3,
		Cheap:  func(_ int, in *input) error { return whole(in.out.Bytes()) },
		End:    end,
	}
}

// quireMaker renders with the engine; compliant adds the standards.
func quireMaker(ctx context.Context, compliant bool) (maker, error) {
	eng, err := pdf.New(pdf.Config{})
	if err != nil {
		return nil, fmt.Errorf("engine: %w", err)
	}
	plan, err := eng.Compile(ctx, pdf.Source{File: "invoice.yaml", Text: workload.Template})
	if err != nil {
		return nil, fmt.Errorf("compile: %w", err)
	}
	o := pdf.RenderOptions{Time: workload.Time}
	if compliant {
		o.Standards = []standard.ID{standard.PDFA4, standard.PDFUA2}
	}
	return func(ctx context.Context, in *input) error {
		_, err := eng.Render(ctx, &in.out, plan, template.JSON(in.data), o)
		return err
	}, nil
}

// warmDocuments are made before anything is timed, so that fonts and words are
// where a server would have them after its first minute.
const warmDocuments = 50

func quire(compliant bool) func(context.Context, harness.Env) (harness.Subject, error) {
	return func(ctx context.Context, _ harness.Env) (harness.Subject, error) {
		produce, err := quireMaker(ctx, compliant)
		if err != nil {
			return nil, err
		}
		var in input
		for i := range warmDocuments {
			in.data = workload.AppendData(in.data[:0], -1-i) // not among the measured ones
			in.out.Reset()
			if err := produce(ctx, &in); err != nil {
				return nil, fmt.Errorf("warm up: %w", err)
			}
		}
		return documents(ctx, produce, nil), nil
	}
}
