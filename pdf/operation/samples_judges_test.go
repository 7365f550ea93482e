//go:build judges

package operation_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/pdftest"
)

// TestSamplesMergedWithThemselves: each sample of other makers, merged with itself, has twice the
// pages, bookmarks and fields for qpdf, poppler and mupdf, and its first page, split off, the same
// pixels for poppler and mupdf.
func TestSamplesMergedWithThemselves(t *testing.T) {
	e := engine(t)
	var n, read, differ atomic.Int32
	eachSample(t, e, func(t *testing.T, path string, b []byte, info *pdf.Info) {
		if info.Encryption != nil {
			return
		}
		n.Add(1)
		wrong, ok := doubled(t, e, b)
		if ok {
			read.Add(1)
		}
		for _, w := range append(wrong, splitOff(t, e, b)...) {
			key := filepath.Base(path) + ": " + w
			if slices.ContainsFunc(otherwise, func(o string) bool { return strings.HasPrefix(key, o) }) {
				differ.Add(1)
			} else {
				t.Error(key)
			}
		}
	})
	if !t.Failed() {
		fmt.Printf("merged with itself, each of %d samples, of which qpdf, poppler and mupdf read %d as they are, has twice the pages, bookmarks and fields for each, and the first page alone the same pixels; %d otherwise for a reader\n", n.Load(), read.Load(), differ.Load())
	}
}

// otherwise are the samples that a reader sees otherwise, each looked at. mupdf draws a sign of its
// own over the field of a signature that is none any more.
var otherwise = []string{"sample01.pdf: mupdf draws another page", "sample1.pdf: mupdf draws another page"}

// eachSample runs f with the samples of other makers that have pages, each as a test of its own and
// several at once, for most of the time is that of the readers. It returns when all are done.
func eachSample(t *testing.T, e *pdf.Engine, f func(t *testing.T, path string, b []byte, info *pdf.Info)) {
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
	var paths []string
	err = filepath.WalkDir(module.Dir, func(path string, _ fs.DirEntry, err error) error {
		if strings.EqualFold(filepath.Ext(path), ".pdf") {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Run("each", func(t *testing.T) {
		for _, path := range paths {
			t.Run(filepath.Base(path), func(t *testing.T) {
				t.Parallel()
				b, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				d, err := e.Open(t.Context(), bytes.NewReader(b), int64(len(b)), pdf.OpenOptions{})
				if err != nil {
					t.Fatalf("%s: %v", path, err)
				}
				if info := d.Info(); len(info.Pages) > 0 && (info.Encryption == nil || info.Encryption.Owner) {
					f(t, path, b, info)
				}
			})
		}
	})
}

// TestSamplesAreMergedSplitAndTurned: each sample of other makers, merged with itself, its first
// page split off, its pages turned, stamped and put four on one, has the pages that it should for
// qpdf, without an error.
func TestSamplesAreMergedSplitAndTurned(t *testing.T) {
	qpdf := pdftest.Need(t, "qpdf")
	e := engine(t)
	var n, written atomic.Int32
	eachSample(t, e, func(t *testing.T, path string, b []byte, info *pdf.Info) {
		n.Add(1)
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
			written.Add(1)
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
	if !t.Failed() {
		fmt.Printf("operations on %d samples: %d files written, each with the pages that it should have for qpdf\n", n.Load(), written.Load())
	}
}
