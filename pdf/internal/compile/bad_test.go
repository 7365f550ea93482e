package compile_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/quire/pdf/internal/compile"
	"example.com/quire/pdf/internal/diag"
)

// TestBadTemplates compiles each template of testdata/bad and compares the whole
// report with the file beside it: every problem, at its place, by its code.
func TestBadTemplates(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil || len(files) < 20 {
		t.Fatal(len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			p, err := compile.Compile(t.Context(), src, compile.Options{File: filepath.Base(file), Files: assets})
			var de *diag.DiagnosticError
			if p != nil || !errors.As(err, &de) {
				t.Fatalf("compiled: %v, error %v", p, err)
			}
			if !errors.Is(err, diag.ErrTemplate) && !errors.Is(err, diag.ErrLimit) && !errors.Is(err, diag.ErrStandard) {
				t.Errorf("no sentinel in %v", err)
			}
			lines := strings.Count(string(src), "\n") + 1
			for _, d := range de.Diagnostics {
				if d.Line < 1 || d.Line > lines || d.Col < 1 || d.Code == "" || d.File == "" {
					t.Errorf("without a place: %+v", d)
				}
			}
			golden(t, strings.TrimSuffix(file, ".yaml")+".report", err.Error()+"\n")
		})
	}
}
