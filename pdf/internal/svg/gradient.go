package svg

import (
	"math"
	"slices"

	"example.com/quire/pdf/internal/diag"
)

// gradient makes the source of a gradient (SVG 1.1, 13.2); false: it paints nothing.
func (d *drawer) gradient(g *node, opacity float64, bounds rect, ctx *scope) (*source, bool, error) {
	chain := d.templates(g)
	stops, err := d.stops(chain)
	if err != nil || len(stops) == 0 {
		return nil, true, err
	}
	attribute := func(name string) (*node, string) {
		for _, n := range chain {
			if n.has(name) {
				return n, n.get(name)
			}
		}
		return g, ""
	}
	in := *ctx
	m := ctx.m
	if _, units := attribute("gradientUnits"); units != "userSpaceOnUse" {
		if bounds.w() <= 0 || bounds.h() <= 0 {
			return nil, false, nil
		}
		m = m.mul(translate(bounds.x0, bounds.y0)).mul(scaled(bounds.w(), bounds.h()))
		in.view = box(0, 0, 1, 1)
	}
	if n, _ := attribute("gradientTransform"); n.has("gradientTransform") {
		m = m.mul(d.transform(n, "gradientTransform"))
	}
	last := stops[len(stops)-1]
	if m.flat() || len(stops) == 1 {
		return solid(last, opacity, ctx.mode), true, nil
	}
	at := func(name string, whole, otherwise float64) float64 {
		n, _ := attribute(name)
		return d.length(n, name, &in, whole, otherwise)
	}
	w, h := in.view.w(), in.view.h()
	out := &Gradient{Matrix: m, Gray: ctx.mode != colours}
	if g.name == "linearGradient" {
		x1, y1, x2, y2 := at("x1", w, 0), at("y1", h, 0), at("x2", w, w), at("y2", h, 0)
		if x1 == x2 && y1 == y2 {
			return solid(last, opacity, ctx.mode), true, nil
		}
		out.Coords = [6]float64{x1, y1, x2, y2}
	} else {
		cx, cy, r := at("cx", w, w/2), at("cy", h, h/2), at("r", in.diagonal(), in.diagonal()/2)
		if r <= 0 {
			return solid(last, opacity, ctx.mode), true, nil
		}
		fx, fy, fr := at("fx", w, cx), at("fy", h, cy), max(0, at("fr", in.diagonal(), 0))
		// A focus outside of the circle is moved to its edge.
		if away := math.Hypot(fx-cx, fy-cy); away > r*0.999 {
			fx, fy = cx+(fx-cx)/away*r*0.999, cy+(fy-cy)/away*r*0.999
		}
		out.Radial, out.Coords = true, [6]float64{fx, fy, fr, cx, cy, r}
	}
	if n, spread := attribute("spreadMethod"); spread != "" && spread != "pad" {
		var ok bool
		if stops, ok = out.spread(stops, spread, bounds.corners(ctx.m)); !ok {
			d.told(n, "spreadMethod: %s is drawn as pad", diag.Quote(spread))
		}
	}
	return out.with(stops, opacity, ctx), true, nil
}

// stop is a stop with its alpha.
type stop struct {
	offset float64
	color  color
}

func solid(s stop, opacity float64, m mode) *source {
	s.color.a *= opacity
	if s.color.a == 0 {
		return nil
	}
	return &source{color: m.of(s.color)}
}

// with gives the gradient its stops. Where they differ in alpha, a second gradient is the mask.
func (g *Gradient) with(stops []stop, opacity float64, ctx *scope) *source {
	same := true
	for _, s := range stops {
		same = same && s.color.a == stops[0].color.a
		c := ctx.mode.of(s.color)
		g.Stops = append(g.Stops, Stop{s.offset, [3]float64{c.r, c.g, c.b}})
	}
	out := &source{color: color{a: opacity}, gradient: g}
	if same {
		if out.color.a *= stops[0].color.a; out.color.a == 0 {
			return nil
		}
		return out
	}
	fading := *g
	fading.Gray, fading.Stops = true, nil
	for _, s := range stops {
		fading.Stops = append(fading.Stops, Stop{s.offset, [3]float64{s.color.a}})
	}
	c := newCanvas(ctx.c.form.BBox)
	c.form.Group, c.form.Gray = true, true
	c.use(&c.now.fill, c.patternOps(&fading, false))
	for _, v := range c.form.BBox {
		c.b = appendNumber(c.b, v, decimals)
	}
	c.b = append(c.b, "re f\n"...)
	out.mask = c.finish()
	return out
}

// templates returns a gradient and those that it refers to for what it does not say itself.
func (d *drawer) templates(g *node) []*node {
	chain := []*node{g}
	for n := g; n.get("href") != ""; {
		n = d.refer(n, n.get("href"))
		if n == nil || n.name != "linearGradient" && n.name != "radialGradient" {
			break
		}
		if slices.Contains(chain, n) {
			d.told(g, "%s leads back to itself", g.name)
			break
		}
		chain = append(chain, n)
	}
	return chain
}

// stops are those of the first gradient of a chain that has some.
func (d *drawer) stops(chain []*node) ([]stop, error) {
	var out []stop
	for _, g := range chain {
		for _, k := range g.kids {
			if k.foreign || k.name != "stop" {
				continue
			}
			if err := d.spend(1, k); err != nil {
				return nil, err
			}
			st := d.styleAt(k)
			s := stop{color: st.stopColor.color}
			if st.stopColor.kind == paintCurrent {
				s.color = st.color
			}
			s.color.a *= st.stopOpacity
			if v := k.get("offset"); v != "" && !opacityOf(&s.offset, v) {
				d.told(k, "offset: %s is not understood", diag.Quote(v))
			}
			if n := len(out); n > 0 {
				s.offset = max(s.offset, out[n-1].offset)
			}
			out = append(out, s)
		}
		if len(out) > 0 {
			break
		}
	}
	return out, nil
}

func (r *rect) corners(m matrix) []point {
	return []point{m.at(point{r.x0, r.y0}), m.at(point{r.x1, r.y0}), m.at(point{r.x0, r.y1}), m.at(point{r.x1, r.y1})}
}

// mostPeriods bounds how often a gradient is repeated.
const mostPeriods = 128

// spread repeats the stops as far as the corners of what is painted, given in form space: PDF
// knows no gradients that repeat. False: they would be too many, and the gradient stays as it is.
func (g *Gradient) spread(stops []stop, how string, corners []point) ([]stop, bool) {
	if how != "repeat" && how != "reflect" {
		return stops, false
	}
	m := matrix(g.Matrix)
	det := m.det()
	inverse := matrix{m[3] / det, -m[1] / det, -m[2] / det, m[0] / det, 0, 0}
	inverse[4], inverse[5] = -(inverse[0]*m[4] + inverse[2]*m[5]), -(inverse[1]*m[4] + inverse[3]*m[5])
	low, high := 0.0, 1.0
	c := g.Coords
	for _, p := range corners {
		p = inverse.at(p)
		if g.Radial {
			nearest := c[5] - math.Hypot(c[3]-c[0], c[4]-c[1])
			high = max(high, math.Hypot(p.x-c[0], p.y-c[1])/nearest)
			continue
		}
		dx, dy := c[2]-c[0], c[3]-c[1]
		t := ((p.x-c[0])*dx + (p.y-c[1])*dy) / (dx*dx + dy*dy)
		low, high = min(low, t), max(high, t)
	}
	low, high = math.Floor(low), math.Ceil(high)
	n := high - low
	if !(n <= mostPeriods) || g.Radial && c[2] != 0 {
		return stops, false
	}
	whole := make([]stop, 0, len(stops)+2) // a period from 0 to 1
	whole = append(whole, stop{0, stops[0].color})
	whole = append(whole, stops...)
	whole = append(whole, stop{1, stops[len(stops)-1].color})
	out := make([]stop, 0, int(n)*len(whole))
	for i := range int(n) {
		for k := range whole {
			s := whole[k]
			if how == "reflect" && int(math.Abs(low+float64(i)))%2 == 1 {
				s = whole[len(whole)-1-k]
				s.offset = 1 - s.offset
			}
			s.offset = (s.offset + float64(i)) / n
			out = append(out, s)
		}
	}
	if g.Radial {
		g.Coords = [6]float64{c[0], c[1], 0, c[0] + high*(c[3]-c[0]), c[1] + high*(c[4]-c[1]), high * c[5]}
	} else {
		dx, dy := c[2]-c[0], c[3]-c[1]
		g.Coords = [6]float64{c[0] + low*dx, c[1] + low*dy, c[0] + high*dx, c[1] + high*dy}
	}
	return out, true
}
