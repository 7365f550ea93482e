package pdf_test

import (
	"bytes"
	"image/color"
	"math"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/pdftest"
)

// TestFillsPutWhatFollowsAtTheFoot: what follows a space that fills the page ends at the foot of
// the body, two of them halve the room, blocks at a place stay there, and links move along.
func TestFillsPutWhatFollowsAtTheFoot(t *testing.T) {
	body := fromTemplate(t, newEngine(t, pdf.Config{}), `quire: 1
name: fill
lang: en
title: Fill
standard: [pdf/a-4, pdf/ua-2]
theme: none
page: {size: A5, margin: 20mm}
styles: {base: {font: Liberation Sans, size: 10pt, leading: 20pt}}
body:
  - {text: top}
  - {spacer: fill}
  - {text: middle}
  - {place: {x: 20mm, y: 100mm, width: 30mm, do: [{text: placed}]}}
  - {spacer: fill}
  - {text: "[foot](https://example.com/)"}
  - {text: alone, break-before: page}
  - {spacer: fill}
  - {text: last}
`, "{}", pdf.RenderOptions{Time: frozen})
	file := pdftest.Write(t, "fill.pdf", body)
	if err := pdftest.QPDF(t, file); err != nil {
		t.Error(err)
	}
	at := map[string]float64{}
	for _, w := range pdftest.Boxes(t, file) {
		at[w.Text] = (w.YMin + w.YMax) / 2
	}
	const mm = 72 / 25.4
	top, foot := 20*mm+10, 190*mm-10 // the middles of the first and the last line
	for word, want := range map[string]float64{
		"top": top, "middle": (top + foot) / 2, "foot": foot, "alone": top, "last": foot, "placed": 100*mm + 10,
	} {
		if math.Abs(at[word]-want) > 2 {
			t.Errorf("%s stands at %.1f, want %.1f", word, at[word], want)
		}
	}
}

// TestFillsStandInTheBodyOnly: within a box there is no room to fill.
func TestFillsStandInTheBodyOnly(t *testing.T) {
	_, err := newEngine(t, pdf.Config{}).Build(t.Context(), &bytes.Buffer{}, pdf.RenderOptions{}, func(b *doc.Builder) error {
		b.Title("T").Lang("en").Add(&doc.Box{Nodes: []doc.Node{&doc.Spacer{Fill: true}}})
		return nil
	})
	wantCode(t, err, "L305")
}

// TestBoxesHaveLeastHeights: a box is as high as it is said, its content where it is said, the
// boxes of a row are equally high where that is asked for, and a box that is higher than a page
// goes on on the next one.
func TestBoxesHaveLeastHeights(t *testing.T) {
	const dpi = 72
	box := func(h doc.Length, v doc.VAlign, text string, c doc.Color) *doc.Box {
		return &doc.Box{Height: h, VAlign: v, Background: c, Nodes: []doc.Node{para(text)}}
	}
	red, green, blue := doc.RGB(0xFF, 0, 0), doc.RGB(0, 0xFF, 0), doc.RGB(0, 0, 0xFF)
	body, res := render(t, newEngine(t, pdf.Config{}), pdf.RenderOptions{}, func(b *doc.Builder) error {
		b.Title("Boxes").Lang("en").Page(doc.Master{Width: 200 * doc.Pt, Height: 300 * doc.Pt, Margins: doc.Same(50 * doc.Pt)})
		b.Style(&doc.Style{Size: 8 * doc.Pt, Leading: 10 * doc.Pt})
		b.Add(
			box(40*doc.Pt, doc.VAlignMiddle, "middle", red),
			&doc.Beside{Stretch: true, Cells: [][]doc.Node{{box(0, doc.VAlignTop, "low", green)}, {box(60*doc.Pt, doc.VAlignBottom, "bottom", blue)}}},
			box(250*doc.Pt, doc.VAlignTop, "long", red),
		)
		return nil
	})
	if res.Pages != 3 {
		t.Errorf("%d pages", res.Pages)
	}
	pages := pdftest.Raster(t, pdftest.Write(t, "boxes.pdf", body), dpi)
	high := func(page, x int, c doc.Color) (n int) {
		for y := range 300 {
			if rgb(pages[page].At(x, y)) == uint32(c)&0xFFFFFF {
				n++
			}
		}
		return n
	}
	near := func(what string, got, want int) {
		t.Helper()
		if got < want-2 || got > want+2 {
			t.Errorf("%s is %d pt high, want %d", what, got, want)
		}
	}
	near("the box that goes first", high(0, 145, red), 40)
	near("the stretched box", high(0, 95, green), 60)
	near("the box beside it", high(0, 145, blue), 60)
	near("the long box on two pages", high(1, 140, red)+high(2, 140, red), 250)
	at := map[string]float64{}
	for _, w := range pdftest.Boxes(t, pdftest.Write(t, "boxes.pdf", body)) {
		at[w.Text] = (w.YMin + w.YMax) / 2
	}
	if y := at["middle"]; math.Abs(y-70) > 2 {
		t.Errorf("the middle stands at %.1f", y)
	}
	if d := at["bottom"] - at["low"]; math.Abs(d-50) > 2 {
		t.Errorf("the foot of the box beside stands %.1f below the top", d)
	}
}

func rgb(c color.Color) uint32 {
	r, g, b, _ := c.RGBA()
	return r>>8<<16 | g>>8<<8 | b>>8
}
