//go:build judges

package edit_test

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"

	"example.com/quire/pdf/internal/edit"
	"example.com/quire/pdf/pdftest"
)

// mostCompared is the size of the samples whose words are compared.
const mostCompared = 4 << 20

// TestTextOfSamplesIsThatOfPoppler: over the samples of other makers the words of each page are
// those that pdftotext finds, nearly all.
func TestTextOfSamplesIsThatOfPoppler(t *testing.T) {
	type result struct {
		file         string
		equal, words int
	}
	var all []result
	equal, words, extra := 0, 0, 0
	for _, file := range samples(t) {
		if info, err := os.Stat(file); err != nil || info.Size() > mostCompared {
			continue
		}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		d, err := edit.Open(bytes.NewReader(b), int64(len(b)), edit.Options{})
		if err != nil || d.Key != nil {
			continue
		}
		pages, err := d.Text(t.Context(), edit.TextOptions{})
		if err != nil {
			t.Errorf("%s: %v", filepath.Base(file), err)
			continue
		}
		ours := map[int]map[string]int{}
		n := 0
		for _, p := range pages {
			ours[p.Page] = map[string]int{}
			for _, l := range p.Lines {
				for _, w := range l.Words {
					n++
					ours[p.Page][plain(w.Text)]++
				}
			}
		}
		r := result{file: file}
		for _, w := range pdftest.Boxes(t, file) {
			r.words++
			if s := plain(w.Text); ours[w.Page][s] > 0 {
				ours[w.Page][s]--
				r.equal++
			}
		}
		extra += n - r.equal
		equal, words = equal+r.equal, words+r.words
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b result) int { return cmp.Compare(b.words-b.equal, a.words-a.equal) })
	for _, r := range all[:min(20, len(all))] {
		t.Logf("%5d of %5d words: %s", r.equal, r.words, r.file)
	}
	t.Logf("text of %d samples: %d of %d words of pdftotext are found on their page (%.2f %%), %d others", len(all), equal, words, 100*float64(equal)/float64(words), extra)
	if float64(equal) < 0.97*float64(words) {
		t.Error("too few")
	}
}

// plain is a word as both write it: ligatures as letters.
func plain(s string) string {
	return norm.NFC.String(strings.NewReplacer("\uFB00", "ff", "\uFB01", "fi", "\uFB02", "fl", "\uFB03", "ffi", "\uFB04", "ffl", "\u00AD", "-").Replace(s))
}

// TestSampleFromRightToLeft: of a table in Hebrew the cells are found by what they say, those too
// that its maker drew from left to right, and are gone when they are redacted.
func TestSampleFromRightToLeft(t *testing.T) {
	for _, file := range samples(t) {
		if filepath.Base(file) != "tableRTL.pdf" {
			continue
		}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for needle, n := range map[string]int{"טבלת הדגמה": 1, "כמות": 1, "(לֹא יְסוּלֵא בְּפָּז)": 1, "שֶׁל 1 עמוד": 1} {
			d, err := edit.Open(bytes.NewReader(b), int64(len(b)), edit.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if m, err := d.Search(t.Context(), edit.SearchOptions{Text: needle}); err != nil || len(m) != n {
				t.Errorf("%s: found %v, %v", needle, m, err)
			}
			if r, err := edit.NewDraft(d).Redact(t.Context(), edit.RedactOptions{Text: needle}); err != nil || r.Removed.Matches < n {
				t.Errorf("%s: removed %+v, %v", needle, r, err)
			}
		}
		return
	}
	t.Fatal("the sample is not there")
}
