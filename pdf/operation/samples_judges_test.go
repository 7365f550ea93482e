//go:build judges

package operation_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/pdftest"
)

// TestSamplesMergedWithThemselves: each sample of other makers, merged with itself, has twice the pages,
// bookmarks and fields for qpdf, poppler and mupdf, and its first page, split off, the same pixels for
// poppler and mupdf.
func TestSamplesMergedWithThemselves(t *testing.T) {
	e := engine(t)
	n := 0
	eachSample(t, e, func(path string, b []byte, info *pdf.Info) {
		if info.Encryption != nil {
			return
		}
		n++
		for _, wrong := range append(doubled(t, e, b), splitOff(t, e, b)...) {
			if key := filepath.Base(path) + ": " + wrong; !slices.Contains(otherwise, key) {
				t.Error(key)
			}
		}
	})
	t.Logf("merged with itself, each of %d samples has twice the pages, bookmarks and fields for qpdf, poppler and mupdf; its first page alone has the same pixels", n)
}

// otherwise are the samples that a reader sees otherwise, each looked at.
var otherwise = []string{}

// eachSample calls f with the samples of other makers that have pages.
func eachSample(t *testing.T, e *pdf.Engine, f func(path string, b []byte, info *pdf.Info)) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", "github.com/pdfcpu/pdfcpu@v0.15.0")
	cmd.Dir = t.TempDir()
	out, err := cmd.Output()
	var module struct{ Dir string }
	if err == nil {
		err = json.Unmarshal(out, &module)
	}
	if err != nil {
		t.Fatalf("the samples of pdfcpu: %v", err)
	}
	err = filepath.WalkDir(module.Dir, func(path string, _ fs.DirEntry, err error) error {
		if !strings.EqualFold(filepath.Ext(path), ".pdf") || err != nil {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		d, err := e.Open(t.Context(), bytes.NewReader(b), int64(len(b)), pdf.OpenOptions{})
		if err != nil {
			t.Errorf("%s: %v", path, err)
			return nil
		}
		if info := d.Info(); len(info.Pages) > 0 && (info.Encryption == nil || info.Encryption.Owner) {
			f(path, b, info)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestSamplesAreMergedSplitAndTurned: each sample of other makers, merged with itself, its first page
// split off, its pages turned, stamped and put four on one, has the pages that it should for qpdf, without an error.
func TestSamplesAreMergedSplitAndTurned(t *testing.T) {
	qpdf := pdftest.Need(t, "qpdf")
	e := engine(t)
	n, written := 0, 0
	eachSample(t, e, func(path string, b []byte, info *pdf.Info) {
		n++
		pages := len(info.Pages)
		for name, x := range map[string]struct {
			values map[string]string
			files  [][]byte
			pages  int
		}{
			"merge":   {nil, [][]byte{b, b}, 2 * pages},
			"reorder": {map[string]string{"pages": "1"}, [][]byte{b}, 1},
			"rotate":  {map[string]string{"degrees": "90"}, [][]byte{b}, pages},
			"stamp":   {map[string]string{"text": "COPY", "position": "top-right", "opacity": "0.5"}, [][]byte{b}, pages},
			"nup":     {map[string]string{"per-sheet": "4"}, [][]byte{b}, (pages + 3) / 4},
			"encrypt": {map[string]string{"owner": "secret", "user": "open"}, [][]byte{b}, pages},
		} {
			if info.Encryption != nil {
				continue
			}
			_, out, err := run(t, e, name, x.values, x.files...)
			if name == "nup" && err != nil && strings.Contains(err.Error(), "cannot be decoded") {
				t.Logf("%s %s: %v", name, path, err) // content that no reader shows either
				continue
			}
			if err != nil {
				t.Errorf("%s %s: %v", name, path, err)
				continue
			}
			written++
			if name == "encrypt" { // read with its password, and decrypted again
				if said, code := pdftest.Run(t, "pdfinfo", "-upw", "open", pdftest.Write(t, "encrypted.pdf", out[0])); code != 0 || !strings.Contains(said, "Encrypted:       yes") {
					t.Errorf("%s %s: poppler: %s", name, path, said)
				}
				if _, out, err = run(t, e, "decrypt", map[string]string{"password": "secret"}, out[0]); err != nil {
					t.Errorf("%s %s: %v", name, path, err)
					continue
				}
			}
			file := pdftest.Write(t, "out.pdf", out[0])
			said, err := exec.CommandContext(t.Context(), qpdf, "--show-npages", file).CombinedOutput() //nolint:gosec // a judge, over files of the test
			if got, bad := strconv.Atoi(strings.TrimSpace(string(said))); bad != nil || err != nil || got != x.pages {
				t.Errorf("%s %s: qpdf counts %s, want %d, %v", name, path, said, x.pages, err)
			}
			after, err := e.Open(t.Context(), bytes.NewReader(out[0]), int64(len(out[0])), pdf.OpenOptions{Strict: true})
			if err != nil {
				t.Errorf("%s %s: %v", name, path, err)
				continue
			}
			got := after.Info()
			if name == "rotate" && (got.Bookmarks != info.Bookmarks || len(got.Fields) != len(info.Fields) || len(got.Attachments) != len(info.Attachments)) ||
				name == "merge" && (got.Bookmarks != 2*info.Bookmarks+2 || len(got.Fields) < len(info.Fields) || len(got.Attachments) != 2*len(info.Attachments)) {
				t.Errorf("%s %s: %d bookmarks, %d fields, %d attachments of %d, %d, %d", name, path, got.Bookmarks, len(got.Fields), len(got.Attachments), info.Bookmarks, len(info.Fields), len(info.Attachments))
			}
		}
	})
	t.Logf("operations on %d samples: %d files written, each with the pages that it should have for qpdf", n, written)
}
