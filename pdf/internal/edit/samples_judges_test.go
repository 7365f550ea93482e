//go:build judges

package edit_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/internal/edit"
	"example.com/quire/pdf/pdftest"
)

// samples returns the PDF files of the module pdfcpu, which is never linked.
func samples(tb testing.TB) (files []string) {
	tb.Helper()
	cmd := exec.CommandContext(tb.Context(), "go", "mod", "download", "-json", "github.com/pdfcpu/pdfcpu@v0.15.0")
	cmd.Dir = tb.TempDir()
	out, err := cmd.Output()
	var module struct{ Dir string }
	if err == nil {
		err = json.Unmarshal(out, &module)
	}
	if err != nil {
		tb.Fatalf("the samples of pdfcpu: %v", err)
	}
	err = filepath.WalkDir(module.Dir, func(path string, _ fs.DirEntry, err error) error {
		if strings.EqualFold(filepath.Ext(path), ".pdf") {
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) < 500 {
		tb.Fatalf("%d samples, %v", len(files), err)
	}
	return files
}

// TestSamplesOfOtherMakers: every sample has as many pages as qpdf counts, and every object and
// stream of it can be read.
func TestSamplesOfOtherMakers(t *testing.T) {
	qpdf := pdftest.Need(t, "qpdf")
	pages, objects, streams := 0, 0, 0
	files := samples(t)
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		d, err := edit.Open(bytes.NewReader(b), int64(len(b)), edit.Options{})
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		out, err := exec.CommandContext(t.Context(), qpdf, "--show-npages", file).Output() //nolint:gosec // a judge, over files of the test
		if n, bad := strconv.Atoi(strings.TrimSpace(string(out))); bad != nil || n != len(d.Pages) {
			t.Errorf("%s: %d pages, qpdf says %s, %v", file, len(d.Pages), out, err)
		}
		pages += len(d.Pages)
		for ref := range d.Refs() {
			o, err := d.Object(ref)
			if objects++; err != nil {
				t.Errorf("%s: %v", file, err)
			}
			if s, ok := o.(*cos.Stream); ok {
				streams++
				if _, _, err := d.Decode(s); err != nil {
					t.Errorf("%s: %v", file, err)
				}
			}
		}
	}
	t.Logf("reader %d samples, %d pages as qpdf counts them, %d objects, %d streams", len(files), pages, objects, streams)
}
