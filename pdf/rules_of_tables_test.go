//go:build !race

package pdf_test

import (
	"fmt"
	"image"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/pdftest"
)

// ruled is a table with rules, stripes and a head.
func ruled(b *doc.Builder) error {
	b.Title("Rules").Lang("en")
	grid := doc.Lattice(doc.Line{Width: doc.Pt / 2})
	grid.Top, grid.Bottom = doc.Line{Width: 2 * doc.Pt}, doc.Line{Width: 2 * doc.Pt}
	b.Table([]doc.Column{{Head: txt("No.")}, {Head: txt("Name")}, {Head: txt("Amount")}}, func(t *doc.Table) {
		t.Border, t.HeadBackground = grid, doc.RGB(30, 60, 90)
		t.Stripe = []doc.Color{doc.RGB(200, 220, 240), doc.RGB(240, 220, 200)}
		var rows []doc.Row
		for i := range 25 {
			rows = append(rows, doc.Row{Cells: []doc.Cell{{Spans: txt(fmt.Sprint(i))}, {Spans: txt("row")}, {Spans: txt("1.00")}}})
		}
		t.Rows = doc.Rows(rows...)
	})
	return nil
}

// TestRulesOfTablesAreEven: at the resolutions of screens all rules between rows are of one height
// and one darkness, none is doubled, and the paper shows between no two backgrounds.
func TestRulesOfTablesAreEven(t *testing.T) {
	e := newEngine(t, pdf.Config{})
	body, _ := render(t, e, pdf.RenderOptions{}, ruled)
	file := pdftest.Write(t, "rules.pdf", body)
	for _, dpi := range []int{72, 96} {
		page := pdftest.Raster(t, file, dpi)[0]
		x := dpi*200/254 + dpi*3/72 // in the left padding of the first column
		heights := map[int]int{}    // of rules, in pixels
		run := 0
		top, bottom := tableEnds(page, x)
		for y := top; y <= bottom; y++ {
			c := rgb(page.At(x, y))
			if c == 0xFFFFFF {
				t.Fatalf("%d dpi: the paper shows at row %d", dpi, y)
			}
			if c == 0 {
				run++
				continue
			}
			if c != 0x1E3C5A && c != 0xC8DCF0 && c != 0xF0DCC8 {
				t.Fatalf("%d dpi: row %d is of colour %06x: a rule or a background ends within it", dpi, y, c)
			}
			if run > 0 {
				heights[run]++
			}
			run = 0
		}
		thick := (2*dpi + 36) / 72
		delete(heights, thick)   // the rule above
		delete(heights, thick+1) // which may be a pixel higher
		if len(heights) != 1 || heights[1] != 25 {
			t.Errorf("%d dpi: the heights of the rules between 26 rows: %v", dpi, heights)
		}
	}
}

// tableEnds returns the first and the last row of pixels in which a column of them is not white.
func tableEnds(page image.Image, x int) (top, bottom int) {
	box := page.Bounds()
	top, bottom = -1, -1
	for y := box.Min.Y; y < box.Max.Y; y++ {
		if rgb(page.At(x, y)) != 0xFFFFFF {
			if top < 0 {
				top = y
			}
			bottom = y
		}
	}
	return top, bottom
}
