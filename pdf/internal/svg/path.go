package svg

import "math"

// segment is a piece of a path. The points that it has no use for are zero.
type segment struct {
	op byte // m l c z
	p  [3]point
}

type path []segment

func (p *path) move(a point)        { *p = append(*p, segment{op: 'm', p: [3]point{a}}) }
func (p *path) line(a point)        { *p = append(*p, segment{op: 'l', p: [3]point{a}}) }
func (p *path) curve(a, b, c point) { *p = append(*p, segment{op: 'c', p: [3]point{a, b, c}}) }
func (p *path) close()              { *p = append(*p, segment{op: 'z'}) }

// points is how many of its points a segment uses.
func (s *segment) points() int {
	switch s.op {
	case 'c':
		return 3
	case 'z':
		return 0
	}
	return 1
}

// in returns the path in another space.
func (p path) in(m matrix) path {
	out := make(path, len(p))
	for i := range p {
		out[i].op = p[i].op
		for k := range p[i].points() {
			out[i].p[k] = m.at(p[i].p[k])
		}
	}
	return out
}

// bounds returns the smallest rectangle around the path.
func (p path) bounds() rect {
	var r rect
	var at point
	for i := range p {
		switch s := &p[i]; s.op {
		case 'm':
			at = s.p[0]
			if i+1 < len(p) && p[i+1].op != 'm' { // one that draws nothing has no size
				r.join(at)
			}
		case 'l':
			at = s.p[0]
			r.join(at)
		case 'c':
			curveBounds(&r, at, s.p)
			at = s.p[2]
		}
	}
	return r
}

// curveBounds joins a cubic curve from a: its end and where it turns back.
func curveBounds(r *rect, a point, c [3]point) {
	x0, x1 := extent(a.x, c[0].x, c[1].x, c[2].x)
	y0, y1 := extent(a.y, c[0].y, c[1].y, c[2].y)
	r.join(point{x0, y0})
	r.join(point{x1, y1})
}

// extent returns the least and the largest value of a cubic Bezier polynomial for t from 0 to 1.
func extent(p0, p1, p2, p3 float64) (low, high float64) {
	low, high = min(p0, p3), max(p0, p3)
	// A third of the derivative is a t^2 + 2 b t + c.
	a, b, c := p3-3*p2+3*p1-p0, p2-2*p1+p0, p1-p0
	turn := func(t float64) {
		if t > 0 && t < 1 {
			u := 1 - t
			v := u*u*u*p0 + 3*u*u*t*p1 + 3*u*t*t*p2 + t*t*t*p3
			low, high = min(low, v), max(high, v)
		}
	}
	if math.Abs(a) < 1e-12 {
		turn(-c / (2 * b)) // not a number when it never turns
		return low, high
	}
	if d := b*b - a*c; d >= 0 {
		root := math.Sqrt(d)
		turn((-b + root) / a)
		turn((-b - root) / a)
	}
	return low, high
}

// kappa makes a quarter of a circle of a cubic curve.
const kappa = 0.5522847498307936

func (p *path) ellipse(cx, cy, rx, ry float64) {
	kx, ky := rx*kappa, ry*kappa
	p.move(point{cx + rx, cy})
	p.curve(point{cx + rx, cy + ky}, point{cx + kx, cy + ry}, point{cx, cy + ry})
	p.curve(point{cx - kx, cy + ry}, point{cx - rx, cy + ky}, point{cx - rx, cy})
	p.curve(point{cx - rx, cy - ky}, point{cx - kx, cy - ry}, point{cx, cy - ry})
	p.curve(point{cx + kx, cy - ry}, point{cx + rx, cy - ky}, point{cx + rx, cy})
	p.close()
}

func (p *path) rectangle(x, y, w, h, rx, ry float64) {
	if rx <= 0 || ry <= 0 {
		p.move(point{x, y})
		p.line(point{x + w, y})
		p.line(point{x + w, y + h})
		p.line(point{x, y + h})
		p.close()
		return
	}
	rx, ry = min(rx, w/2), min(ry, h/2)
	kx, ky := rx*(1-kappa), ry*(1-kappa)
	p.move(point{x + rx, y})
	p.line(point{x + w - rx, y})
	p.curve(point{x + w - kx, y}, point{x + w, y + ky}, point{x + w, y + ry})
	p.line(point{x + w, y + h - ry})
	p.curve(point{x + w, y + h - ky}, point{x + w - kx, y + h}, point{x + w - rx, y + h})
	p.line(point{x + rx, y + h})
	p.curve(point{x + kx, y + h}, point{x, y + h - ky}, point{x, y + h - ry})
	p.line(point{x, y + ry})
	p.curve(point{x, y + ky}, point{x + kx, y}, point{x + rx, y})
	p.close()
}

// arc appends an elliptical arc as path data have it (SVG 1.1, appendix F.6).
func (p *path) arc(from point, rx, ry, turn float64, large, sweep bool, to point) {
	if from == to {
		return
	}
	rx, ry = math.Abs(rx), math.Abs(ry)
	if rx == 0 || ry == 0 {
		p.line(to)
		return
	}
	sin, cos := math.Sincos(turn * math.Pi / 180)
	hx, hy := (from.x-to.x)/2, (from.y-to.y)/2
	x, y := cos*hx+sin*hy, cos*hy-sin*hx
	if l := x*x/(rx*rx) + y*y/(ry*ry); l > 1 { // radii too small to reach grow
		rx, ry = rx*math.Sqrt(l), ry*math.Sqrt(l)
	}
	num := rx*rx*ry*ry - rx*rx*y*y - ry*ry*x*x
	k := math.Sqrt(max(0, num/(rx*rx*y*y+ry*ry*x*x)))
	if large == sweep {
		k = -k
	}
	cx, cy := k*rx*y/ry, -k*ry*x/rx
	centre := point{cos*cx - sin*cy + (from.x+to.x)/2, sin*cx + cos*cy + (from.y+to.y)/2}
	a0 := math.Atan2((y-cy)/ry, (x-cx)/rx)
	sweepBy := math.Atan2((-y-cy)/ry, (-x-cx)/rx) - a0
	switch {
	case sweep && sweepBy < 0:
		sweepBy += 2 * math.Pi
	case !sweep && sweepBy > 0:
		sweepBy -= 2 * math.Pi
	}
	// Not a number: only of radii and distances beyond all measure.
	n := max(1, math.Ceil(math.Abs(sweepBy)/(math.Pi/2)-1e-9))
	if math.IsNaN(n) || n > 4 {
		p.line(to)
		return
	}
	step := sweepBy / n
	t := 4.0 / 3 * math.Tan(step/4)
	on := matrix{cos * rx, sin * rx, -sin * ry, cos * ry, centre.x, centre.y}
	for i := range int(n) {
		s0, c0 := math.Sincos(a0 + float64(i)*step)
		s1, c1 := math.Sincos(a0 + float64(i+1)*step)
		end := on.at(point{c1, s1})
		if i+1 == int(n) {
			end = to
		}
		p.curve(on.at(point{c0 - t*s0, s0 + t*c0}), on.at(point{c1 + t*s1, s1 - t*c1}), end)
	}
}

// pathReader follows path data.
type pathReader struct {
	s     scanner
	out   path
	at    point // the current point
	start point // of the subpath
	ctrl  point // the last control point, for smooth curves
	last  byte  // the command before, in small letters
}

// parsePath reads path data (SVG 1.1, 8.3). What comes before an error is drawn; ok tells that
// there is none.
func parsePath(d string) (p path, ok bool) {
	r := &pathReader{s: scanner{s: d}}
	r.s.space()
	for !r.s.end() {
		cmd := r.s.s[r.s.i]
		r.s.i++
		if r.last == 0 && cmd|0x20 != 'm' {
			return r.out, false
		}
		if !r.command(cmd) {
			return r.out, false
		}
		r.s.space()
	}
	return r.out, true
}

// arguments is how many numbers each command takes at a time.
func arguments(lower byte) int {
	switch lower {
	case 'm', 'l', 't':
		return 2
	case 'h', 'v':
		return 1
	case 'c':
		return 6
	case 's', 'q':
		return 4
	case 'a':
		return 7
	}
	return -1
}

// command reads the arguments of a command, as many times as there are some.
func (r *pathReader) command(cmd byte) bool {
	lower := cmd | 0x20
	if lower == 'z' && (cmd == 'z' || cmd == 'Z') {
		r.out.close()
		r.at, r.last = r.start, lower
		return true
	}
	n := arguments(lower)
	if n < 0 || lower == cmd && (cmd < 'a' || cmd > 'z') {
		return false
	}
	for first := true; ; first = false {
		var a [7]float64
		if !first {
			r.s.comma()
			if r.s.end() || !startsNumber(r.s.s[r.s.i]) {
				return true
			}
		}
		for i := range n {
			if i > 0 {
				r.s.comma()
			}
			ok := false
			if lower == 'a' && (i == 3 || i == 4) {
				var set bool
				if set, ok = r.s.flag(); set {
					a[i] = 1
				}
			} else {
				a[i], ok = r.s.number()
			}
			if !ok {
				return false
			}
		}
		r.segment(lower, lower == cmd, a)
		if lower == 'm' { // what follows are lines
			lower, cmd = 'l', 'L'|cmd&0x20
		}
	}
}

func startsNumber(c byte) bool {
	return c >= '0' && c <= '9' || c == '.' || c == '-' || c == '+'
}

// segment appends what one set of arguments draws.
func (r *pathReader) segment(cmd byte, relative bool, a [7]float64) {
	var o point
	if relative {
		o = r.at
	}
	pt := func(i int) point { return point{o.x + a[i], o.y + a[i+1]} }
	if r.last == 'z' && cmd != 'm' {
		r.out.move(r.start)
	}
	last := r.last
	r.last = cmd
	from := r.at
	switch cmd {
	case 'm':
		r.at = pt(0)
		r.start = r.at
		r.out.move(r.at)
	case 'l':
		r.at = pt(0)
		r.out.line(r.at)
	case 'h':
		r.at.x = o.x + a[0]
		r.out.line(r.at)
	case 'v':
		r.at.y = o.y + a[0]
		r.out.line(r.at)
	case 'c':
		r.ctrl, r.at = pt(2), pt(4)
		r.out.curve(pt(0), r.ctrl, r.at)
	case 's':
		one := from
		if last == 'c' || last == 's' {
			one = point{2*from.x - r.ctrl.x, 2*from.y - r.ctrl.y}
		}
		r.ctrl, r.at = pt(0), pt(2)
		r.out.curve(one, r.ctrl, r.at)
	case 'q', 't':
		switch {
		case cmd == 'q':
			r.ctrl, r.at = pt(0), pt(2)
		case last == 'q' || last == 't':
			r.ctrl, r.at = point{2*from.x - r.ctrl.x, 2*from.y - r.ctrl.y}, pt(0)
		default:
			r.ctrl, r.at = from, pt(0)
		}
		third := func(end point) point {
			return point{end.x + (r.ctrl.x-end.x)*2/3, end.y + (r.ctrl.y-end.y)*2/3}
		}
		r.out.curve(third(from), third(r.at), r.at)
	case 'a':
		r.at = pt(5)
		r.out.arc(from, a[0], a[1], a[2], a[3] != 0, a[4] != 0, r.at)
	}
}
