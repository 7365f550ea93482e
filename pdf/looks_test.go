//go:build !race

package pdf_test

import (
	"image"
	"image/color"
	"testing"

	"example.com/quire/pdf/pdftest"
)

// TestTablesLookAsTheirTemplateSays: on the page that a renderer draws, backgrounds of rows,
// columns, heads and cells, colours of text and the lines of each side are where the template and
// the data put them.
func TestTablesLookAsTheirTemplateSays(t *testing.T) {
	const dpi = 144
	file := pdftest.Write(t, "statement.pdf", templateSamples(t)["statement"])
	page := pdftest.Raster(t, file, dpi)[0]
	at := map[string]pdftest.Word{}
	for _, w := range pdftest.Boxes(t, file) {
		if _, seen := at[w.Text]; !seen {
			at[w.Text] = w
		}
	}
	px := func(points float64) int { return int(points * dpi / 72) }
	beside := func(word string, dx float64) color.Color { // at mid height, dx points left of a word
		w := at[word]
		return page.At(px(w.XMin-dx), px((w.YMin+w.YMax)/2))
	}
	for _, tt := range []struct {
		what, word string
		dx         float64
		want       uint32
	}{
		{"head row", "Datum", 2, 0xE8ECF4},
		{"row of a group", "Miete", 2, 0xEEF1F7},
		{"row by data", "Heizkosten", 2, 0xFDECEE},
		{"row by data that says none", "Rückerstattung", 2, 0xFFFFFF},
		{"column", "88,20", 2, 0xF6F7FA},
		{"cell by data", "1.200,50", 2, 0xFFE08A},
		{"cell whose colour is missing", "300,00", 2, 0xFFFFFF},
		{"cell in the short form", "17.400,00", 2, 0xCCDDEE},
		{"box by data", "Bitte", 2, 0xFDECEE},
		{"left line of a box", "Bitte", 9.5, 0xB00020},
	} {
		if at[tt.word].Text == "" {
			t.Errorf("%s: the word %q is not there", tt.what, tt.word)
		} else if got := rgb(beside(tt.word, tt.dx)); got != tt.want {
			t.Errorf("%s: %06x, want %06x", tt.what, got, tt.want)
		}
	}
	ink := func(word string) uint32 { // the most saturated colour within a word
		w, best, most := at[word], uint32(0), -1
		box := image.Rect(px(w.XMin), px(w.YMin), px(w.XMax), px(w.YMax))
		for y := box.Min.Y; y < box.Max.Y; y++ {
			for x := box.Min.X; x < box.Max.X; x++ {
				c := rgb(page.At(x, y))
				if d := int(c>>16) - int(c&0xFF); d > most {
					best, most = c, d
				}
			}
		}
		return best
	}
	for word, want := range map[string]uint32{"Kontoauszug": 0xB00020, "-210,35": 0xB00020} {
		if got := ink(word); got != want {
			t.Errorf("%s is written in %06x, want %06x", word, got, want)
		}
	}
	// The table stands in the middle, 150 mm wide; above its sum is a line.
	saldo := at["3.547,85"]
	for _, w := range pdftest.Boxes(t, file) {
		if w.Text == saldo.Text {
			saldo = w // the last one, in the table
		}
	}
	const mm = 72 / 25.4
	left, right := px(30*mm), px(180*mm)
	row := func(y int) (dark int) {
		for x := left + 2; x < right-2; x++ {
			if rgb(page.At(x, y)) < 0x606060 {
				dark++
			}
		}
		return dark
	}
	darkest := func(from, to float64) (most int) {
		for y := px(from); y <= px(to); y++ {
			most = max(most, row(y))
		}
		return most
	}
	if n := darkest(saldo.YMin-6, saldo.YMin); n < right-left-10 {
		t.Errorf("the line above the sum covers %d of %d pixels", n, right-left)
	}
	if rgb(page.At(left-4, px(at["Datum"].YMin))) != 0xFFFFFF || rgb(page.At(left+3, px(at["Datum"].YMin))) != 0xE8ECF4 {
		t.Error("the table does not begin 30 mm from the edge")
	}
}
