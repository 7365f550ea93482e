package operation_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/pdftest"
)

// TestChangedFilesAreSound: what every operation writes is sound for qpdf, has the pages asked for,
// and keeps its claim where the Judge and veraPDF find nothing.
func TestChangedFilesAreSound(t *testing.T) {
	e := engine(t)
	b, c := sample(t, e, "First"), sample(t, e, "Second")
	claims := "pdf/a-4, pdf/ua-2"
	folders := map[string]string{"4": t.TempDir(), "ua2": t.TempDir()}
	for name, x := range map[string]struct {
		operation string
		values    map[string]string
		files     [][]byte
		pages     []int
		claims    string
		marks     int
	}{
		"rotate":    {"rotate", map[string]string{"degrees": "90", "pages": "odd"}, [][]byte{b}, []int{4}, claims, 4},
		"crop":      {"crop", map[string]string{"box": "50,50,400,600"}, [][]byte{b}, []int{4}, claims, 4},
		"reorder":   {"reorder", map[string]string{"pages": "3,1"}, [][]byte{b}, []int{2}, claims, 2},
		"delete":    {"delete", map[string]string{"pages": "1-3"}, [][]byte{b}, []int{1}, claims, 1},
		"metadata":  {"metadata", map[string]string{"title": "Zoë & Co"}, [][]byte{b}, []int{4}, claims, 4},
		"every":     {"split", map[string]string{"every": "3"}, [][]byte{b}, []int{3, 1}, claims, 3},
		"bookmark":  {"split", map[string]string{"bookmark": "true"}, [][]byte{b}, []int{1, 1, 1, 1}, claims, 1},
		"ranges":    {"split", map[string]string{"pages": "1-2;r1"}, [][]byte{b}, []int{2, 1}, claims, 2},
		"size":      {"split", map[string]string{"size": fmt.Sprint(len(b) - 500)}, [][]byte{b}, nil, claims, -1},
		"merge":     {"merge", nil, [][]byte{b, c, b}, []int{12}, claims, 15},
		"merge two": {"merge", map[string]string{"pages": "1;2-3"}, [][]byte{b, c}, []int{3}, claims, 5},
		"encrypt":   {"encrypt", map[string]string{"owner": "o"}, [][]byte{b}, []int{4}, "pdf/ua-2", 4},
	} {
		done, out, err := run(t, e, x.operation, x.values, x.files...)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i, f := range out {
			if err := pdftest.QPDF(t, pdftest.Write(t, "out.pdf", f)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			d, err := e.Open(t.Context(), bytes.NewReader(f), int64(len(f)), pdf.OpenOptions{})
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			info := d.Info()
			if x.pages != nil && (len(out) != len(x.pages) || d.Pages() != x.pages[i]) || strings.Join(info.Claims, ", ") != x.claims || len(d.Warnings()) > 0 {
				t.Errorf("%s, part %d of %d: %d pages, claims %q, %v\n%s", name, i+1, len(out), d.Pages(), info.Claims, d.Warnings(), done.Text)
			}
			if i == 0 && x.marks >= 0 && info.Bookmarks != x.marks {
				t.Errorf("%s: %d bookmarks, want %d", name, info.Bookmarks, x.marks)
			}
			for flavour, dir := range folders {
				if x.claims != claims { // veraPDF is not given passwords
					continue
				}
				if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%d-%s.pdf", strings.ReplaceAll(name, " ", "-"), i, flavour)), f, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if name == "metadata" && info.Title != "Zoë & Co" {
				t.Errorf("title %q", info.Title)
			}
		}
	}
	for flavour, verdicts := range pdftest.VeraPDF(t, folders) {
		if len(verdicts) < 15 {
			t.Errorf("%s: %d files are judged", flavour, len(verdicts))
		}
		for file, v := range verdicts {
			if !v.Compliant {
				t.Errorf("%s %s: %v", flavour, file, v)
			}
		}
	}
}
