package pdf

import (
	"cmp"
	"slices"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/layout"
)

// SourceMap maps positions on the pages of a document to its template, and back. It is immutable
// and safe for concurrent use.
type SourceMap struct{ areas []Area }

// Area is the area of a block or a cell, or of the part of one on a page. Lengths are in points,
// from the top left corner of the sheet.
type Area struct {
	Page       int // from 1
	X, Y, W, H float64
	// File, Line, Col and Path are the position in the template, as in diagnostics.
	File      string
	Line, Col int
	Path      string
}

// At returns the areas at a point of a page, the innermost first: the cell before its row.
func (m *SourceMap) At(page int, x, y float64) []Area {
	from, _ := slices.BinarySearchFunc(m.areas, page, func(a Area, page int) int { return cmp.Compare(a.Page, page) })
	var out []Area
	for _, a := range m.areas[from:] {
		if a.Page != page {
			break
		}
		if a.X <= x && x <= a.X+a.W && a.Y <= y && y <= a.Y+a.H {
			out = append(out, a)
		}
	}
	slices.SortStableFunc(out, func(a, b Area) int { return cmp.Compare(a.W*a.H, b.W*b.H) })
	return out
}

// Of returns the areas of the blocks and cells that begin on a line of a template file, in page
// order. A block in a loop has an area for each item.
func (m *SourceMap) Of(file string, line int) []Area {
	var out []Area
	for _, a := range m.areas {
		if a.File == file && a.Line == line {
			out = append(out, a)
		}
	}
	return out
}

// mapped notes what stands on the pages that it hands on.
type mapped struct {
	layout.Sink
	m *SourceMap
}

// Page implements layout.Sink.
func (s *mapped) Page(p *layout.Page) error {
	s.note(p)
	return s.Sink.Page(p)
}

// Late implements layout.Sink.
func (s *mapped) Late(p *layout.Page) error {
	s.note(p)
	return s.Sink.Late(p)
}

func (s *mapped) note(p *layout.Page) {
	points := func(l doc.Length) float64 { return float64(l) / float64(doc.Pt) }
	for _, a := range p.Areas {
		s.m.areas = append(s.m.areas, Area{
			Page: p.Number, X: points(a.X), Y: points(a.Y), W: points(a.W), H: points(a.H),
			File: a.Src.File, Line: a.Src.Line, Col: a.Src.Col, Path: a.Src.Path,
		})
	}
}

// finish brings what pages got when their number was known to the rest of them.
func (m *SourceMap) finish() {
	if m != nil {
		slices.SortStableFunc(m.areas, func(a, b Area) int { return cmp.Compare(a.Page, b.Page) })
	}
}
