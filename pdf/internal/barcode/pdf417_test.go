//go:build !race

package barcode

import (
	"strings"
	"testing"

	"example.com/quire/pdf/doc"
)

// TestPDF417TellsItsRows: a symbol of any number of rows can be made, whatever the length.
func TestPDF417TellsItsRows(t *testing.T) {
	seen := map[int]bool{}
	text := strings.Repeat("Abc12 x/", 200)
	for n := 1; n < 1000; n += 43 {
		s, err := Encode(doc.PDF417, text[:n], "")
		if err != nil {
			t.Fatalf("%d characters: %v", n, err)
		}
		seen[s.Rows%3] = true
	}
	if len(seen) != 3 {
		t.Errorf("remainders of the rows: %v", seen)
	}
}
