package svg

import (
	"math"
	"slices"

	"example.com/quire/pdf/internal/diag"
)

// outline returns the path of a shape in user space.
func (d *drawer) outline(n *node, ctx *scope) (path, error) {
	var p path
	w, h := ctx.view.w(), ctx.view.h()
	at := func(name string, whole float64) float64 { return d.length(n, name, ctx, whole, 0) }
	switch n.name {
	case "rect":
		wide, high := at("width", w), at("height", h)
		rx, ry := d.length(n, "rx", ctx, w, -1), d.length(n, "ry", ctx, h, -1)
		if rx < 0 {
			rx = ry
		}
		if ry < 0 {
			ry = rx
		}
		if wide > 0 && high > 0 {
			p.rectangle(at("x", w), at("y", h), wide, high, rx, ry)
		}
	case "circle":
		if r := at("r", ctx.diagonal()); r > 0 {
			p.ellipse(at("cx", w), at("cy", h), r, r)
		}
	case "ellipse":
		rx, ry := d.length(n, "rx", ctx, w, -1), d.length(n, "ry", ctx, h, -1)
		if rx < 0 {
			rx = ry
		}
		if ry < 0 {
			ry = rx
		}
		if rx > 0 && ry > 0 {
			p.ellipse(at("cx", w), at("cy", h), rx, ry)
		}
	case "line":
		p.move(point{at("x1", w), at("y1", h)})
		p.line(point{at("x2", w), at("y2", h)})
	case "polyline", "polygon":
		list, ok := numbers(n.get("points"))
		if !ok || len(list)%2 != 0 {
			d.told(n, "points of %s are not understood to their end", n.name)
		}
		for i := 0; i+1 < len(list); i += 2 {
			if i == 0 {
				p.move(point{list[0], list[1]})
			} else {
				p.line(point{list[i], list[i+1]})
			}
		}
		if n.name == "polygon" && len(p) > 0 {
			p.close()
		}
	case "path":
		var ok bool
		if p, ok = parsePath(n.get("d")); !ok {
			d.told(n, "the data of a path are not understood to their end")
		}
	}
	return p, d.spend(len(p), n)
}

// shape paints a path.
func (d *drawer) shape(n *node, ctx scope) error {
	p, err := d.outline(n, &ctx)
	if err != nil || len(p) == 0 {
		return err
	}
	if ctx.c == nil {
		if r := p.in(ctx.m).bounds(); r.some {
			ctx.bounds.join(point{r.x0, r.y0})
			ctx.bounds.join(point{r.x1, r.y1})
		}
		return nil
	}
	st := ctx.st
	if st.hidden {
		return nil
	}
	bounds := p.bounds()
	fill, err := d.source(n, &st.fill, st.fillOpacity, bounds, &ctx)
	if err != nil {
		return err
	}
	stroke, err := d.source(n, &st.stroke, st.strokeOpacity, bounds, &ctx)
	if err != nil {
		return err
	}
	pen, ok := d.strokePen(n, &ctx)
	if n.name == "line" {
		fill = nil
	}
	paintFill := func() {
		if fill != nil {
			ctx.painted(fill, false, func() {
				ctx.c.path(p.in(ctx.m), decimals)
				ctx.c.b = append(ctx.c.b, fillOp(st.evenOdd)...)
			})
		}
	}
	paintStroke := func() {
		if stroke != nil && ok {
			ctx.painted(stroke, true, func() { ctx.stroke(p, pen) })
		}
	}
	if st.strokeFirst {
		paintStroke()
		paintFill()
	} else {
		paintFill()
		paintStroke()
	}
	return nil
}

// source is what paints: a colour or a gradient, with its alpha.
type source struct {
	color    color
	gradient *Gradient
	mask     *Form // of a gradient whose stops differ in alpha
}

// source finds what a paint comes to; nil: nothing. bounds are those of the element in user space.
func (d *drawer) source(n *node, p *paint, opacity float64, bounds rect, ctx *scope) (*source, error) {
	opacity *= ctx.fade
	for p != nil {
		switch p.kind {
		case paintNone:
			return nil, nil
		case paintColor, paintCurrent:
			c := p.color
			if p.kind == paintCurrent {
				c = ctx.st.color
			}
			c.a *= opacity
			if c.a == 0 {
				return nil, nil
			}
			return &source{color: ctx.mode.of(c)}, nil
		}
		g := d.f.ids[p.ref]
		switch {
		case g == nil:
			d.told(n, "%s is painted with %s, which is not in the file", n.name, diag.Quote(p.ref))
		case g.name == "linearGradient" || g.name == "radialGradient":
			s, ok, err := d.gradient(g, opacity, bounds, ctx)
			if ok || err != nil {
				return s, err
			}
		default:
			d.told(g, "the element %s is not painted with", g.name)
		}
		p = p.fallback
	}
	return nil, nil
}

// of turns a colour into what it counts.
func (m mode) of(c color) color {
	switch m {
	case luminance:
		return c.gray()
	case alpha:
		return color{1, 1, 1, c.a}
	}
	return c
}

// painted sets up a source around the operators that paint with it.
func (ctx *scope) painted(s *source, stroke bool, paint func()) {
	c := ctx.c
	if s.color.a < 1 || s.mask != nil {
		c.save()
		defer c.restore()
		st := State{Fill: s.color.a, Stroke: 1, Mask: s.mask}
		if stroke {
			st.Fill, st.Stroke = 1, s.color.a
		}
		c.state(st)
	}
	ctx.choose(s, stroke)
	paint()
}

// choose sets the colour or gradient of a source.
func (ctx *scope) choose(s *source, stroke bool) {
	c := ctx.c
	part := &c.now.fill
	if stroke {
		part = &c.now.stroke
	}
	if s.gradient != nil {
		c.use(part, c.patternOps(s.gradient, stroke))
	} else {
		c.use(part, colorOps(s.color, ctx.mode != colours, stroke))
	}
}

// strokePen is how a stroke is drawn, in user space.
type strokePen struct {
	width, offset float64
	dash          []float64
}

// strokePen returns the pen of an element; false: its stroke is not seen.
func (d *drawer) strokePen(n *node, ctx *scope) (strokePen, bool) {
	st := ctx.st
	whole := ctx.diagonal()
	p := strokePen{width: st.width.in(whole, st.size), offset: st.dashOffset.in(whole, st.size)}
	sum := 0.0
	for _, l := range st.dash {
		v := l.in(whole, st.size)
		if v < 0 {
			d.told(n, "stroke-dasharray with a negative length is not drawn")
			return p, p.width > 0
		}
		sum += v
		p.dash = append(p.dash, v)
	}
	if sum <= 0 {
		p.dash = nil
	}
	if len(p.dash)%2 == 1 {
		p.dash = slices.Concat(p.dash, p.dash)
	}
	if sum > 0 && p.offset < 0 { // ISO 32000-2, 8.4.3.6 takes none below zero
		p.offset = math.Mod(p.offset, 2*sum) + 2*sum
	}
	return p, p.width > 0
}

// stroke strokes a path. Where the space of the element is skewed or not as wide as high, so is
// the pen: there the path is drawn in that space.
func (ctx *scope) stroke(p path, pen strokePen) {
	c, m, k := ctx.c, ctx.m, ctx.m.scale()
	if ctx.st.nonScaling {
		k = ctx.root
	}
	if ctx.st.nonScaling || m.similar() {
		c.use(&c.now.line, ctx.penOps(pen, k, decimals))
		c.path(p.in(m), decimals)
		c.b = append(c.b, "S\n"...)
		return
	}
	precise := decimals
	for s := k; s > 1 && precise < 9; s /= 10 {
		precise++
	}
	c.save()
	c.matrix(m)
	c.use(&c.now.line, ctx.penOps(pen, 1, precise))
	c.path(p, precise)
	c.b = append(c.b, "S\n"...)
	c.restore()
}

// penOps are the operators of a pen that is k times as wide.
func (ctx *scope) penOps(pen strokePen, k float64, decimals int) string {
	st := ctx.st
	b := append(appendNumber(nil, pen.width*k, decimals), 'w', ' ')
	b = append(appendNumber(b, float64(st.cap), 0), 'J', ' ')
	b = append(appendNumber(b, float64(st.join), 0), 'j', ' ')
	b = append(appendNumber(b, st.miter, decimals), 'M', ' ')
	b = append(b, '[')
	for _, v := range pen.dash {
		b = appendNumber(b, v*k, decimals)
	}
	b = append(b, ']', ' ')
	return string(append(appendNumber(b, pen.offset*k, decimals), "d\n"...))
}
