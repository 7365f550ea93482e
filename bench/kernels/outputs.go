package kernels

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"example.com/quire/bench/workload"
	"example.com/quire/pdf"
	"example.com/quire/pdf/template"
)

// Output is a sample's rendered document.
type Output struct {
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
	Engine string `json:"engine"`
}

// samples is where the program's samples are: NAME/template.yaml, NAME/data.json
// and the files that the template names.
const samples = "internal/demo/samples"

// Outputs renders every sample of the repository at root at a fixed time.
func Outputs(ctx context.Context, root string) (map[string]Output, error) {
	dir := filepath.Join(root, filepath.FromSlash(samples))
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("samples: %w", err)
	}
	out := map[string]Output{}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		o, err := output(ctx, filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, fmt.Errorf("sample %s: %w", e.Name(), err)
		}
		out[e.Name()] = o
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("samples: none in %s", samples)
	}
	return out, nil
}

func output(ctx context.Context, dir string) (Output, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Output{}, fmt.Errorf("open: %w", err)
	}
	defer func() { _ = root.Close() }()
	source, err := root.ReadFile("template.yaml")
	if err != nil {
		return Output{}, fmt.Errorf("template: %w", err)
	}
	data, err := root.ReadFile("data.json")
	if err != nil {
		return Output{}, fmt.Errorf("data: %w", err)
	}
	eng, err := pdf.New(pdf.Config{Files: root.FS()})
	if err != nil {
		return Output{}, fmt.Errorf("engine: %w", err)
	}
	plan, err := eng.Compile(ctx, pdf.Source{File: "template.yaml", Text: source})
	if err != nil {
		return Output{}, fmt.Errorf("compile: %w", err)
	}
	h := sha256.New()
	res, err := eng.Render(ctx, io.Writer(h), plan, template.JSON(data), pdf.RenderOptions{Time: workload.Time, DocumentID: "sample"})
	if err != nil {
		return Output{}, fmt.Errorf("render: %w", err)
	}
	return Output{SHA256: hex.EncodeToString(h.Sum(nil)), Size: res.Size, Engine: res.Engine}, nil
}
