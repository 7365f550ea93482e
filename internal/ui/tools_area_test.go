//go:build !race

package ui_test

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"example.com/quire/pdf"
)

// drag draws from one point to another, each in pixels from the upper left corner of the page that
// is shown.
func (b *tab) drag(t *testing.T, x1, y1, x2, y2 float64) {
	t.Helper()
	at := ask[[2]float64](t, b, `(() => { const r = document.querySelector('.paper').getBoundingClientRect(); return [r.left, r.top]; })()`)
	mouse := func(kind input.DispatchMouseEventType, x, y float64) {
		_, err := chromedp.Call(b.ctx, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: kind, X: at[0] + x, Y: at[1] + y, Button: input.MouseButtonLeft, Buttons: 1, ClickCount: 1})
		check(t, err)
	}
	mouse(input.DispatchMouseEventTypeMousePressed, x1, y1)
	mouse(input.DispatchMouseEventTypeMouseMoved, (x1+x2)/2, (y1+y2)/2)
	mouse(input.DispatchMouseEventTypeMouseMoved, x2, y2)
	mouse(input.DispatchMouseEventTypeMouseReleased, x2, y2)
}

// drawn returns how many pixels of the page that is shown a point has, once it is drawn.
func (b *tab) drawn(t *testing.T, points float64) (scale float64) {
	t.Helper()
	b.until(t, inkOf(".paper canvas")+` > 50`)
	return ask[float64](t, b, `document.querySelector('.paper').clientWidth`) / points
}

// areas are those of the field box.
func (b *tab) areas(t *testing.T) (out [][]float64) {
	t.Helper()
	for area := range strings.SplitSeq(ask[string](t, b, `document.querySelector('[name=box]').value`), ";") {
		var list []float64
		for s := range strings.SplitSeq(area, ",") {
			v, err := strconv.ParseFloat(s, 64)
			check(t, err)
			list = append(list, v)
		}
		out = append(out, list)
	}
	return out
}

func near(a, b []float64) bool {
	for i := range a {
		if len(a) != len(b) || math.Abs(a[i]-b[i]) > 1.5 {
			return false
		}
	}
	return true
}

// TestBrowserToolDrawsAreas on a page: they are written as the coordinates that they have before
// the page is rotated, several where several are taken, with the page that they were drawn on.
func TestBrowserToolDrawsAreas(t *testing.T) {
	t.Parallel()
	h := open(t)
	b := browse(t)
	b.look(t, 1280, 900, 1, "light")
	e, err := pdf.New(pdf.Config{})
	check(t, err)
	plain := application(t, "")
	d, err := e.Open(t.Context(), bytes.NewReader(plain), int64(len(plain)), pdf.OpenOptions{})
	check(t, err)
	var turned bytes.Buffer
	_, err = e.Edit(t.Context(), &turned, d, pdf.EditOptions{}, pdf.Rotate("", 90))
	check(t, err)
	const width, height = 595.28, 841.89
	press := func(selector string) { check(t, chromedp.Do(b.ctx, chromedp.Click(chromedp.CSS(selector)))) }

	b.tool(t, h, "redact")
	press("#draw-area") // there is no file yet
	if ask[bool](t, b, `document.getElementById('area').open`) {
		t.Error("a page is shown before there is one")
	}
	b.dropped64(t, "turned.pdf", turned.Bytes())
	b.until(t, `document.getElementById('draw-area').ariaDisabled !== 'true'`)
	press("#draw-area")
	b.drawn(t, height) // it lies on its side
	b.usable(t)
	press(`[data-area="after"]`)
	b.until(t, `document.querySelector('[data-area="number"]').innerText === 'Page 2 of 2'`)
	s := b.drawn(t, height)
	b.drag(t, 600*s, 100*s, 650*s, 200*s)
	b.drag(t, 300*s, 220*s, 200*s, 120*s) // from below right
	b.drag(t, 10*s, 10*s, 10*s+1, 10*s+1) // a click
	b.drag(t, 10*s, 10*s, 90*s, 60*s)
	press(`[data-area="undo"]`)
	press(`[data-area="use"]`)
	if got := b.areas(t); len(got) != 2 || !near(got[0], []float64{100, 600, 200, 650}) || !near(got[1], []float64{120, 200, 220, 300}) {
		t.Errorf("the areas are %v", got)
	}
	if page := ask[string](t, b, `document.querySelector('[name=pages]').value`); page != "2" {
		t.Errorf("the pages are %q", page)
	}
	if ask[bool](t, b, `document.querySelector('[name=pages]').closest('details:not([open])') !== null`) {
		t.Error("the page that was written is folded away")
	}
	press("#run")
	b.until(t, `document.querySelectorAll('#made .sheet').length === 2`)

	// What is written already is shown, and where one area is taken the next is in its place.
	b.tool(t, h, "crop")
	b.dropped64(t, "plain.pdf", plain)
	b.until(t, `document.getElementById('draw-area').ariaDisabled !== 'true'`)
	ask[bool](t, b, `(document.querySelector('[name=box]').value = '50,400,300,800', true)`)
	press("#draw-area")
	s = b.drawn(t, width)
	if !ask[bool](t, b, `document.querySelectorAll('.paper .area').length === 1`) {
		t.Error("the area that is written is not shown")
	}
	b.usable(t)
	b.drag(t, 100*s, 50*s, 400*s, 200*s)
	press(`[data-area="use"]`)
	if got := b.areas(t); len(got) != 1 || !near(got[0], []float64{100, height - 200, 400, height - 50}) {
		t.Errorf("the area is %v", got)
	}
	if page := ask[string](t, b, `document.querySelector('[name=pages]').value`); page != "" {
		t.Errorf("the area to crop is of page %s alone", page)
	}
}
