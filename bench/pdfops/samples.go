package pdfops

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pdfcpu/pdfcpu/pkg/api"

	"example.com/quire/pdf"
)

// What samples are taken.
const (
	mostSamples = 8
	leastBytes  = 4 << 10
	mostBytes   = 1 << 20
	mostPages   = 50
)

// samples returns files of the module pdfcpu, the same ones each time: spread over the sorted names of those that nobody refuses.
func samples(ctx context.Context, root string) ([][]byte, error) {
	cmd := exec.CommandContext(ctx, golang.Name, "list", "-m", "-f", "{{.Dir}}", pdfcpuModule) //nolint:gosec // fixed arguments
	cmd.Dir = filepath.Join(root, "bench")
	dir, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("samples: %w", err)
	}
	var paths []string
	err = filepath.WalkDir(strings.TrimSpace(string(dir)), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.EqualFold(filepath.Ext(path), ".pdf") {
			return err
		}
		if info, err := d.Info(); err == nil && info.Size() >= leastBytes && info.Size() <= mostBytes {
			paths = append(paths, path)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("samples: %w", err)
	}
	slices.Sort(paths)
	e, err := pdf.New(pdf.Config{})
	if err != nil {
		return nil, fmt.Errorf("engine: %w", err)
	}
	var out [][]byte
	for step := max(1, len(paths)/(2*mostSamples)); len(paths) > 0 && len(out) < mostSamples; paths = paths[min(step, len(paths)):] {
		b, err := os.ReadFile(paths[0])
		if err != nil {
			return nil, fmt.Errorf("samples: %w", err)
		}
		if usable(ctx, e, b) {
			out = append(out, b)
		}
	}
	if len(out) < 4 {
		return nil, fmt.Errorf("samples: %d files that nobody refuses", len(out))
	}
	return out, nil
}

// usable reports whether a file is one that quire and pdfcpu work on: sound, not encrypted, with text.
func usable(ctx context.Context, e *pdf.Engine, b []byte) bool {
	d, err := e.Open(ctx, bytes.NewReader(b), int64(len(b)), pdf.OpenOptions{Strict: true})
	if err != nil || d.Pages() < 1 || d.Pages() > mostPages || d.Info().Encryption != nil {
		return false
	}
	pages, words, err := textOf(ctx, b, "")
	if err != nil || pages != d.Pages() || len(words) == 0 {
		return false
	}
	if _, err := e.Merge(ctx, io.Discard, []pdf.MergeInput{{Doc: d}, {Doc: d}}, pdf.EditOptions{}); err != nil {
		return false
	}
	if _, err := e.Optimise(ctx, io.Discard, d); err != nil {
		return false
	}
	for _, try := range []func() error{
		func() error {
			return api.MergeRaw([]io.ReadSeeker{bytes.NewReader(b), bytes.NewReader(b)}, io.Discard, false, pdfcpuConfig())
		},
		func() error { return api.Optimize(bytes.NewReader(b), io.Discard, pdfcpuConfig()) },
		func() error { return api.Encrypt(bytes.NewReader(b), io.Discard, pdfcpuEncryption()) },
		func() error { _, err := api.SplitRaw(bytes.NewReader(b), 1, pdfcpuConfig()); return err },
	} {
		if try() != nil {
			return false
		}
	}
	return true
}
