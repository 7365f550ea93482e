package content

import "math"

// Matrix maps (x, y) to (ax+cy+e, bx+dy+f) (ISO 32000-2, 8.3.3).
type Matrix [6]float64

// Identity leaves points where they are.
var Identity = Matrix{1, 0, 0, 1, 0, 0}

// Mul returns the matrix that applies m first and then n.
func (m Matrix) Mul(n Matrix) Matrix {
	return Matrix{
		m[0]*n[0] + m[1]*n[2], m[0]*n[1] + m[1]*n[3],
		m[2]*n[0] + m[3]*n[2], m[2]*n[1] + m[3]*n[3],
		m[4]*n[0] + m[5]*n[2] + n[4], m[4]*n[1] + m[5]*n[3] + n[5],
	}
}

// At maps a point.
func (m Matrix) At(x, y float64) Point {
	return Point{m[0]*x + m[2]*y + m[4], m[1]*x + m[3]*y + m[5]}
}

// Inverse returns the matrix that undoes m; ok is false where there is none.
func (m Matrix) Inverse() (inv Matrix, ok bool) {
	det := m[0]*m[3] - m[1]*m[2]
	if det == 0 || math.IsNaN(det) || math.IsInf(det, 0) {
		return Identity, false
	}
	return Matrix{
		m[3] / det, -m[1] / det, -m[2] / det, m[0] / det,
		(m[2]*m[5] - m[3]*m[4]) / det, (m[1]*m[4] - m[0]*m[5]) / det,
	}, true
}

// Point is a place in points.
type Point struct{ X, Y float64 }

// Rect is left, bottom, right and top in points.
type Rect [4]float64

// Quad is a parallelogram: its lower left corner as the text runs, and on around it against the
// clock.
type Quad [4]Point

// Quad returns where a rectangle lies.
func (m Matrix) Quad(r Rect) Quad {
	return Quad{m.At(r[0], r[1]), m.At(r[2], r[1]), m.At(r[2], r[3]), m.At(r[0], r[3])}
}

// Bounds returns the smallest rectangle around q.
func (q Quad) Bounds() Rect {
	r := Rect{q[0].X, q[0].Y, q[0].X, q[0].Y}
	for _, p := range q[1:] {
		r = Rect{min(r[0], p.X), min(r[1], p.Y), max(r[2], p.X), max(r[3], p.Y)}
	}
	return r
}

// Union returns the smallest rectangle around both.
func (r Rect) Union(o Rect) Rect {
	return Rect{min(r[0], o[0]), min(r[1], o[1]), max(r[2], o[2]), max(r[3], o[3])}
}

// Overlaps reports whether the insides of two rectangles meet.
func (r Rect) Overlaps(o Rect) bool {
	return r[0] < o[2] && o[0] < r[2] && r[1] < o[3] && o[1] < r[3]
}

// Has reports whether a point lies inside.
func (r Rect) Has(p Point) bool { return p.X > r[0] && p.X < r[2] && p.Y > r[1] && p.Y < r[3] }

// Of returns where a parallelogram lies.
func (m Matrix) Of(q Quad) Quad {
	for i, p := range q {
		q[i] = m.At(p.X, p.Y)
	}
	return q
}

// Upright reports whether the sides of q run along the axes.
func (q Quad) Upright() bool {
	return q[0].X == q[1].X && q[0].Y == q[3].Y || q[0].Y == q[1].Y && q[0].X == q[3].X
}

// Overlaps reports whether the insides of two parallelograms meet: no side of one has the other
// wholly beyond it or the side across.
func (q Quad) Overlaps(o Quad) bool {
	for _, sides := range [...]Quad{q, o} {
		for _, to := range [...]Point{sides[1], sides[3]} {
			// Across the side, for one of no length along nothing.
			x, y := sides[0].Y-to.Y, to.X-sides[0].X
			if x == 0 && y == 0 {
				continue
			}
			a0, a1 := q.along(x, y)
			b0, b1 := o.along(x, y)
			if a1 <= b0 || b1 <= a0 {
				return false
			}
		}
	}
	return true
}

// along returns from where to where q reaches in a direction.
func (q Quad) along(x, y float64) (from, to float64) {
	from = q[0].X*x + q[0].Y*y
	to = from
	for _, p := range q[1:] {
		at := p.X*x + p.Y*y
		from, to = min(from, at), max(to, at)
	}
	return from, to
}

// Has reports whether a point lies inside.
func (q Quad) Has(p Point) bool { return q.Overlaps(Quad{p, p, p, p}) }
