package pdftest_test

import (
	"strings"
	"testing"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/pdftest"
)

// TestSettingsAgree: the slow way of a setting gives the glyphs and the lines of the fast one, and
// justified text has the lines that its width asks for.
func TestSettingsAgree(t *testing.T) {
	const width = 200 * doc.Pt
	texts := []string{strings.Repeat("the settlement of accounts is a matter of record ", 20), "one", ""}
	words := strings.Fields(texts[0])
	var glyphs, justified [2]int
	for i, slow := range []bool{false, true} {
		s, err := pdftest.NewSetting(slow)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second time from the cache
			if glyphs[i], err = s.Shape(words); err != nil {
				t.Fatal(err)
			}
			if justified[i], err = s.Justify(texts, width, true); err != nil {
				t.Fatal(err)
			}
		}
	}
	if letters := len(strings.Join(words, "")); glyphs[0] != letters || glyphs[1] != letters {
		t.Errorf("%v glyphs of %d letters", glyphs, letters)
	}
	if justified[0] != justified[1] || justified[0] < 20 {
		t.Errorf("%v lines", justified)
	}
}
