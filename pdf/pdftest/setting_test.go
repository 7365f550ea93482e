package pdftest_test

import (
	"strings"
	"testing"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/pdftest"
)

// TestSettingsAgree: the slow way of a setting gives the lines of the fast one, and justified text
// has the lines that its width asks for.
func TestSettingsAgree(t *testing.T) {
	const width = 200 * doc.Pt
	texts := []string{strings.Repeat("the settlement of accounts is a matter of record ", 20), "one", ""}
	var lines, justified [2]int
	for i, slow := range []bool{false, true} {
		s, err := pdftest.NewSetting(slow)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second time from the cache
			if lines[i], err = s.Lines(texts, width); err != nil {
				t.Fatal(err)
			}
			if justified[i], err = s.Justify(texts, width, true); err != nil {
				t.Fatal(err)
			}
		}
	}
	if lines[0] != lines[1] || justified[0] != justified[1] || lines[0] < 20 || justified[0] < 20 {
		t.Errorf("lines %v, justified %v", lines, justified)
	}
}
