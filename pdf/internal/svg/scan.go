package svg

import (
	"math"
	"strconv"
	"strings"
)

// scanner reads the numbers and words of attributes.
type scanner struct {
	s string
	i int
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' }

func (s *scanner) space() {
	for s.i < len(s.s) && isSpace(s.s[s.i]) {
		s.i++
	}
}

// comma skips white space with at most one comma in it.
func (s *scanner) comma() {
	s.space()
	if s.i < len(s.s) && s.s[s.i] == ',' {
		s.i++
		s.space()
	}
}

func (s *scanner) end() bool { return s.i >= len(s.s) }

func (s *scanner) digits() int {
	from := s.i
	for s.i < len(s.s) && s.s[s.i] >= '0' && s.s[s.i] <= '9' {
		s.i++
	}
	return s.i - from
}

// huge bounds every number: what is beyond is nowhere on a page.
const huge = 1e9

// number reads a number as path data have it: ".5-3" is two of them.
func (s *scanner) number() (float64, bool) {
	s.space()
	from := s.i
	if s.i < len(s.s) && (s.s[s.i] == '+' || s.s[s.i] == '-') {
		s.i++
	}
	n := s.digits()
	if s.i < len(s.s) && s.s[s.i] == '.' {
		s.i++
		n += s.digits()
	}
	if n == 0 {
		s.i = from
		return 0, false
	}
	if s.i < len(s.s) && s.s[s.i]|0x20 == 'e' {
		mark := s.i
		s.i++
		if s.i < len(s.s) && (s.s[s.i] == '+' || s.s[s.i] == '-') {
			s.i++
		}
		if s.digits() == 0 { // "2em"
			s.i = mark
		}
	}
	v, err := strconv.ParseFloat(s.s[from:s.i], 64)
	if err != nil && !math.IsInf(v, 0) {
		return 0, false
	}
	return min(max(v, -huge), huge), true
}

// flag reads a flag of an arc, which needs nothing between it and what follows.
func (s *scanner) flag() (set, ok bool) {
	s.space()
	if s.end() || s.s[s.i] != '0' && s.s[s.i] != '1' {
		return false, false
	}
	s.i++
	return s.s[s.i-1] == '1', true
}

// word reads letters.
func (s *scanner) word() string {
	from := s.i
	for s.i < len(s.s) && (s.s[s.i]|0x20 >= 'a' && s.s[s.i]|0x20 <= 'z' || s.s[s.i] == '%') {
		s.i++
	}
	return s.s[from:s.i]
}

// numbers reads a list of numbers with white space or commas between them.
func numbers(v string) ([]float64, bool) {
	s := &scanner{s: v}
	var out []float64
	for s.space(); !s.end(); s.comma() {
		n, ok := s.number()
		if !ok {
			return out, false
		}
		out = append(out, n)
	}
	return out, true
}

// length is a number with a unit.
type length struct {
	v    float64
	unit string // px, em, ex, %, or empty
}

// The absolute units in pixels (CSS Values 3, 6.2).
var units = map[string]float64{
	"": 1, "px": 1, "pt": 96.0 / 72, "pc": 16, "in": 96, "cm": 96 / 2.54, "mm": 96 / 25.4, "q": 96 / 101.6,
}

func (s *scanner) length() (length, bool) {
	v, ok := s.number()
	if !ok {
		return length{}, false
	}
	unit := strings.ToLower(s.word())
	if k, ok := units[unit]; ok {
		return length{v: v * k}, true
	}
	switch unit {
	case "em", "ex", "rem", "%":
		return length{v, unit}, true
	}
	return length{}, false
}

func parseLength(v string) (length, bool) {
	s := &scanner{s: v}
	l, ok := s.length()
	s.space()
	return l, ok && s.end()
}

func parseLengths(v string) ([]length, bool) {
	s := &scanner{s: v}
	var out []length
	for s.space(); !s.end(); s.comma() {
		l, ok := s.length()
		if !ok {
			return out, false
		}
		out = append(out, l)
	}
	return out, true
}

// in returns a length in user units: percentages are of whole, em and ex of the font size.
func (l length) in(whole, em float64) float64 {
	switch l.unit {
	case "%":
		return l.v * whole / 100
	case "em", "rem":
		return l.v * em
	case "ex":
		return l.v * em / 2
	}
	return l.v
}

// matrix has the coefficients a b c d e f of ISO 32000-2, 8.3.3: x' = ax + cy + e.
type matrix [6]float64

var identity = matrix{1, 0, 0, 1, 0, 0}

// mul is the matrix that does n first and then m.
func (m matrix) mul(n matrix) matrix {
	return matrix{
		m[0]*n[0] + m[2]*n[1], m[1]*n[0] + m[3]*n[1],
		m[0]*n[2] + m[2]*n[3], m[1]*n[2] + m[3]*n[3],
		m[0]*n[4] + m[2]*n[5] + m[4], m[1]*n[4] + m[3]*n[5] + m[5],
	}
}

type point struct{ x, y float64 }

func (m matrix) at(p point) point {
	return point{m[0]*p.x + m[2]*p.y + m[4], m[1]*p.x + m[3]*p.y + m[5]}
}

func (m matrix) det() float64 { return m[0]*m[3] - m[1]*m[2] }

// scale is the mean factor by which m makes lengths larger.
func (m matrix) scale() float64 { return math.Sqrt(math.Abs(m.det())) }

// flat reports whether m leaves nothing to see.
func (m matrix) flat() bool {
	d := m.det()
	return math.IsNaN(d) || math.IsInf(d, 0) || math.Abs(d) < 1e-18
}

// similar reports whether m keeps circles round, so that a stroke is as wide everywhere.
func (m matrix) similar() bool {
	s := m.scale()
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-4*s }
	return near(m[0], m[3]) && near(m[1], -m[2]) || near(m[0], -m[3]) && near(m[1], m[2])
}

func translate(x, y float64) matrix { return matrix{1, 0, 0, 1, x, y} }
func scaled(x, y float64) matrix    { return matrix{x, 0, 0, y, 0, 0} }

// rotated turns by degrees; multiples of 90 are exact.
func rotated(deg float64) matrix {
	switch math.Mod(math.Mod(deg, 360)+360, 360) {
	case 0:
		return identity
	case 90:
		return matrix{0, 1, -1, 0, 0, 0}
	case 180:
		return matrix{-1, 0, 0, -1, 0, 0}
	case 270:
		return matrix{0, -1, 1, 0, 0, 0}
	}
	sin, cos := math.Sincos(deg * math.Pi / 180)
	return matrix{cos, sin, -sin, cos, 0, 0}
}

// parseTransform reads the attribute transform (SVG 1.1, 7.6).
func parseTransform(v string) (matrix, bool) {
	m := identity
	s := &scanner{s: v}
	for s.space(); !s.end(); s.comma() {
		name := s.word()
		s.space()
		if s.end() || s.s[s.i] != '(' {
			return m, false
		}
		args, rest, ok := strings.Cut(s.s[s.i+1:], ")")
		if !ok {
			return m, false
		}
		s.i = len(s.s) - len(rest)
		a, ok := numbers(args)
		one, known := transform(name, a)
		if !ok || !known {
			return m, false
		}
		m = m.mul(one)
	}
	return m, true
}

// transform is one function of a transform list.
func transform(name string, a []float64) (matrix, bool) {
	n := len(a)
	switch {
	case name == "matrix" && n == 6:
		return matrix(a), true
	case name == "translate" && n == 1:
		return translate(a[0], 0), true
	case name == "translate" && n == 2:
		return translate(a[0], a[1]), true
	case name == "scale" && n == 1:
		return scaled(a[0], a[0]), true
	case name == "scale" && n == 2:
		return scaled(a[0], a[1]), true
	case name == "rotate" && n == 1:
		return rotated(a[0]), true
	case name == "rotate" && n == 3:
		return translate(a[1], a[2]).mul(rotated(a[0])).mul(translate(-a[1], -a[2])), true
	case name == "skewX" && n == 1:
		return matrix{1, 0, math.Tan(a[0] * math.Pi / 180), 1, 0, 0}, true
	case name == "skewY" && n == 1:
		return matrix{1, math.Tan(a[0] * math.Pi / 180), 0, 1, 0, 0}, true
	}
	return identity, false
}

// viewBox reads the attribute viewBox.
func viewBox(v string) (x, y, w, h float64, ok bool) {
	n, ok := numbers(v)
	if !ok || len(n) != 4 || n[2] <= 0 || n[3] <= 0 {
		return 0, 0, 0, 0, false
	}
	return n[0], n[1], n[2], n[3], true
}

// fit maps a view box into a viewport as preserveAspectRatio says (SVG 1.1, 7.8).
func fit(aspect string, x, y, w, h float64, to rect) (matrix, bool) {
	words := strings.Fields(aspect)
	if len(words) > 0 && words[0] == "defer" {
		words = words[1:]
	}
	align, slice := "xMidYMid", false
	known := len(words) <= 2
	if len(words) > 0 {
		align = words[0]
	}
	if len(words) == 2 {
		slice = words[1] == "slice"
		known = slice || words[1] == "meet"
	}
	sx, sy := to.w()/w, to.h()/h
	if align == "none" {
		return translate(to.x0, to.y0).mul(scaled(sx, sy)).mul(translate(-x, -y)), known
	}
	fx, okX := share(align, 0, "xMin", "xMid", "xMax")
	fy, okY := share(align, 4, "YMin", "YMid", "YMax")
	if !okX || !okY || len(align) != 8 {
		fx, fy, known = 0.5, 0.5, false
	}
	s := min(sx, sy)
	if slice {
		s = max(sx, sy)
	}
	dx, dy := to.x0+fx*(to.w()-w*s), to.y0+fy*(to.h()-h*s)
	return translate(dx, dy).mul(scaled(s, s)).mul(translate(-x, -y)), known
}

// share returns which of three names stands at i: 0, 1/2 or 1.
func share(s string, i int, names ...string) (float64, bool) {
	for k, name := range names {
		if len(s) > i && strings.HasPrefix(s[i:], name) {
			return float64(k) / 2, true
		}
	}
	return 0, false
}

// rect is a rectangle; the zero one is nowhere until something is joined.
type rect struct {
	x0, y0, x1, y1 float64
	some           bool
}

func box(x, y, w, h float64) rect { return rect{x, y, x + w, y + h, true} }

func (r *rect) w() float64 { return r.x1 - r.x0 }
func (r *rect) h() float64 { return r.y1 - r.y0 }

func (r *rect) join(p point) {
	if !r.some {
		*r = rect{p.x, p.y, p.x, p.y, true}
		return
	}
	r.x0, r.y0, r.x1, r.y1 = min(r.x0, p.x), min(r.y0, p.y), max(r.x1, p.x), max(r.y1, p.y)
}
