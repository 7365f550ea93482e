package edit

import (
	"slices"

	"example.com/quire/pdf/internal/content"
)

// area is a part of a page from which things are taken out.
type area struct {
	content.Quad
	bounds content.Rect
}

func areaOf(q content.Quad) area { return area{q, q.Bounds()} }

func rectArea(r content.Rect) area { return area{content.Identity.Quad(r), r} }

// meets reports whether the insides of an area and of a parallelogram overlap.
func (a *area) meets(q *area) bool {
	return a.bounds.Overlaps(q.bounds) && (a.Upright() && q.Upright() || a.Overlaps(q.Quad))
}

// anyMeets reports whether one of the areas meets a parallelogram.
func anyMeets(areas []area, q content.Quad) bool {
	x := areaOf(q)
	return slices.ContainsFunc(areas, func(a area) bool { return a.meets(&x) })
}

// anyHas reports whether a point lies inside one of the areas.
func anyHas(areas []area, p content.Point) bool {
	return slices.ContainsFunc(areas, func(a area) bool { return a.bounds.Has(p) && (a.Upright() || a.Has(p)) })
}

// appendPath appends operators that make a path of an area.
func (a *area) appendPath(dst []byte) []byte {
	if b := a.bounds; a.Upright() {
		for _, v := range [...]float64{b[0], b[1], b[2] - b[0], b[3] - b[1]} {
			dst = append(thousandths(v).AppendPDF(dst), ' ')
		}
		return append(dst, "re\n"...)
	}
	for i, p := range a.Quad {
		dst = append(thousandths(p.X).AppendPDF(dst), ' ')
		dst = append(thousandths(p.Y).AppendPDF(dst), ' ')
		dst = append(append(dst, "mlll"[i]), ' ')
	}
	return append(dst, "h\n"...)
}

// inAreas reports whether the middle of a glyph lies in one of the areas: half of its width and
// height.
func inAreas(q content.Quad, areas []area) bool {
	if len(areas) == 0 {
		return false
	}
	at := func(u, v float64) content.Point {
		return content.Point{
			X: q[0].X + (q[1].X-q[0].X)*u + (q[3].X-q[0].X)*v,
			Y: q[0].Y + (q[1].Y-q[0].Y)*u + (q[3].Y-q[0].Y)*v,
		}
	}
	middle := areaOf(content.Quad{at(0.25, 0.25), at(0.75, 0.25), at(0.75, 0.75), at(0.25, 0.75)})
	b := &middle.bounds
	b[2], b[3] = max(b[2], b[0]+0.01), max(b[3], b[1]+0.01) // of no width, too
	return slices.ContainsFunc(areas, func(a area) bool { return a.meets(&middle) })
}
