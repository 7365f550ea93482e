package layout_test

import (
	"errors"
	"slices"
	"testing"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/diag"
	"example.com/quire/pdf/internal/layout"
)

// TestPagesDifferByTheirNumbers: in margins, border and background, with their running content.
func TestPagesDifferByTheirNumbers(t *testing.T) {
	t.Parallel()
	d := tenLines()
	line := doc.Around(doc.Line{Width: doc.Pt})
	look := func(top, left, right doc.Length, b *doc.Border, c doc.Color) *doc.PageLook {
		return &doc.PageLook{Margins: doc.Edges{Top: top * doc.Pt, Right: right * doc.Pt, Bottom: 40 * doc.Pt, Left: left * doc.Pt}, Border: b, Background: c}
	}
	d.Page.Height = 200 * doc.Pt
	d.Page.First, d.Page.Odd, d.Page.Even = look(80, 20, 20, nil, doc.RGB(1, 1, 1)), look(40, 30, 10, line, 0), look(40, 10, 30, nil, 0)
	d.Footer = doc.Running{All: number()}
	d.Body = doc.Nodes(lines("a", 20), &doc.Section{Body: doc.Nodes(lines("b", 12))}, &doc.Section{NumberFrom: 2, Body: doc.Nodes(&doc.PageBreak{}, lines("c", 12))})
	s := &sheets{}
	if _, err := layout.Run(t.Context(), d, layout.Options{Typesetter: typesetter, Tagged: true}, s); err != nil {
		t.Fatal(err)
	}
	type page struct {
		x, foot, y doc.Length
		lines      int
		lined      bool
		ground     doc.Color
	}
	var got []page
	for i := range s.pages {
		p := page{ground: s.grounds[i], lined: len(s.rects[i+1]) > 0}
		for _, l := range s.lines {
			if l.page == i+1 {
				if p.lines++; p.lines == 1 {
					p.x, p.y = l.x/doc.Pt, l.y/doc.Pt
				}
			}
		}
		for _, l := range s.late {
			if l.page == i+1 {
				p.foot = l.x / doc.Pt
			}
		}
		got = append(got, p)
	}
	first := page{20, 20, got[0].y, 6, false, doc.RGB(1, 1, 1)}
	odd, even := page{30, 30, first.y - 40, 10, true, 0}, page{10, 10, first.y - 40, 9, false, 0}
	last := func(p page, lines int) page {
		p.lines = lines
		return p
	}
	// The numbers are 1 to 5, and 2 and 3.
	want := []page{first, even, last(odd, 5), last(first, 6), last(odd, 6), first, last(odd, 6)}
	if !slices.Equal(got, want) {
		t.Errorf("%v\nwant %v", got, want)
	}
	d.Page.Even = look(40, 10, 10, nil, 0)
	_, _, err := run(t, d, true)
	if de, ok := errors.AsType[*diag.DiagnosticError](err); !ok || de.Diagnostics[0].Code != "L306" {
		t.Errorf("bodies of two widths: %v", err)
	}
}
