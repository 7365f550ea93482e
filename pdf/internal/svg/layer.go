package svg

import "example.com/quire/pdf/internal/diag"

// outline is a path in form space that clips.
type outline struct {
	path    path
	evenOdd bool
}

// layered paints an element through its clip path and mask, with its opacity and blend mode.
// Groups (ISO 32000-2, 11.4) are made only where the result differs without.
func (d *drawer) layered(n *node, ctx scope, paint func(scope) error) error {
	if ctx.c == nil {
		return paint(ctx)
	}
	st := ctx.st
	if st.opacity == 0 {
		return nil
	}
	var masks []*Form
	if st.clip != "" {
		clip, err := d.clip(st.clip, n, ctx)
		if err != nil || clip.nothing {
			return err
		}
		if len(clip.paths) > 0 {
			ctx.c.save()
			defer ctx.c.restore()
		}
		for _, o := range clip.paths {
			ctx.c.clip(o)
		}
		masks = clip.masks
	}
	if st.mask != "" {
		m, err := d.mask(st.mask, n, ctx)
		if err != nil {
			return err
		}
		if m != nil {
			masks = append(masks, m)
		}
	}
	opacity := st.opacity
	if st.single(n) && len(masks) == 0 && st.blend == "" {
		ctx.fade, opacity = opacity, 1
	}
	if opacity == 1 && len(masks) == 0 && st.blend == "" && !st.isolate {
		return paint(ctx)
	}
	g, err := d.group(ctx, paint)
	if err != nil {
		return err
	}
	for len(masks) > 1 {
		outer := newCanvas(g.BBox)
		outer.show(g, State{Fill: 1, Stroke: 1, Mask: masks[0]})
		masks, g = masks[1:], outer.finish()
		g.Group, g.Gray = true, ctx.mode != colours
	}
	s := State{Fill: opacity, Stroke: opacity, Blend: st.blend}
	if len(masks) == 1 {
		s.Mask = masks[0]
	}
	ctx.c.show(g, s)
	return nil
}

// single reports whether an element paints once only, so that its opacity is that of its paint.
func (s *style) single(n *node) bool {
	switch n.name {
	case "rect", "circle", "ellipse", "line", "polyline", "polygon", "path":
		return s.fill.kind == paintNone || s.stroke.kind == paintNone
	}
	return false
}

// group paints into a transparency group.
func (d *drawer) group(ctx scope, paint func(scope) error) (*Form, error) {
	c := newCanvas(ctx.c.form.BBox)
	ctx.c = c
	if err := paint(ctx); err != nil {
		return nil, err
	}
	g := c.finish()
	g.Group, g.Gray = true, ctx.mode != colours
	return g, nil
}

// clipping is what a clip path comes to: paths that narrow one another, masks for what no path
// says, or nothing to be seen at all.
type clipping struct {
	paths   []outline
	masks   []*Form
	nothing bool
}

// clip follows a clip-path of n (SVG 1.1, 14.3).
func (d *drawer) clip(ref string, n *node, ctx scope) (out clipping, err error) {
	cp := d.f.ids[ref]
	if cp == nil || cp.name != "clipPath" {
		d.told(n, "clip-path of %s: there is no clipPath %s", n.name, diag.Quote(ref))
		return out, nil
	}
	if !d.enter(cp) {
		d.told(n, "clipPath %s leads back to itself", diag.Quote(ref))
		return out, nil
	}
	defer d.leave(cp)
	outer := ctx
	ctx.st = d.styleAt(cp)
	ctx.m = ctx.m.mul(d.transform(cp, "transform"))
	if cp.get("clipPathUnits") == "objectBoundingBox" {
		r, err := d.measure(n, outer)
		if err != nil {
			return out, err
		}
		ctx.m = ctx.m.mul(translate(r.x0, r.y0)).mul(scaled(r.w(), r.h()))
	}
	pieces, err := d.clipPieces(cp, ctx)
	if err != nil {
		return out, err
	}
	switch {
	case len(pieces) == 0 || ctx.m.flat():
		return clipping{nothing: true}, nil
	case len(pieces) == 1 && len(pieces[0].clip.masks) == 0:
		out.paths = append(pieces[0].clip.paths, pieces[0].outline)
	default:
		out.masks = append(out.masks, union(pieces, ctx))
	}
	if ctx.st.clip == "" {
		return out, nil
	}
	more, err := d.clip(ctx.st.clip, n, outer)
	return clipping{append(out.paths, more.paths...), append(out.masks, more.masks...), more.nothing}, err
}

// clipPiece is one shape of a clip path with the clip path that it has itself.
type clipPiece struct {
	outline
	clip clipping
}

func (d *drawer) clipPieces(cp *node, ctx scope) ([]clipPiece, error) {
	var out []clipPiece
	for _, k := range cp.kids {
		if k.foreign || k.name == "" {
			continue
		}
		piece, ok, err := d.clipPiece(k, ctx)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, piece)
		}
	}
	return out, nil
}

func (d *drawer) clipPiece(k *node, ctx scope) (p clipPiece, ok bool, err error) {
	if err := d.spend(1, k); err != nil {
		return p, false, err
	}
	ctx.st = d.cascade(ctx.st, k)
	ctx.m = ctx.m.mul(d.transform(k, "transform"))
	if ctx.st.none {
		return p, false, nil
	}
	if ctx.st.clip != "" {
		if p.clip, err = d.clip(ctx.st.clip, k, ctx); err != nil || p.clip.nothing {
			return p, false, err
		}
	}
	switch k.name {
	case "use":
		to := d.refer(k, k.get("href"))
		if to == nil || to.name == "use" || !d.enter(to) {
			return p, false, nil
		}
		defer d.leave(to)
		ctx.m = ctx.m.mul(translate(d.length(k, "x", &ctx, ctx.view.w(), 0), d.length(k, "y", &ctx, ctx.view.h(), 0)))
		inner, ok, err := d.clipPiece(to, ctx)
		inner.clip.paths = append(inner.clip.paths, p.clip.paths...)
		inner.clip.masks = append(inner.clip.masks, p.clip.masks...)
		return inner, ok, err
	case "rect", "circle", "ellipse", "line", "polyline", "polygon", "path":
		shape, err := d.outline(k, &ctx)
		if err != nil || ctx.st.hidden {
			return p, false, err
		}
		p.outline = outline{shape.in(ctx.m), ctx.st.clipEvenOdd}
		return p, true, nil
	case "title", "desc", "metadata":
	default:
		d.told(k, "the element %s in a clipPath does not clip", k.name)
	}
	return p, false, nil
}

// union is the mask of shapes of which each lets through.
func union(pieces []clipPiece, ctx scope) *Form {
	c := newCanvas(ctx.c.form.BBox)
	c.form.Group, c.form.Gray = true, true
	for i := range pieces {
		p := &pieces[i]
		c.save()
		for _, o := range p.clip.paths {
			c.clip(o)
		}
		into := c
		if len(p.clip.masks) > 0 {
			into = newCanvas(c.form.BBox)
			into.form.Group, into.form.Gray = true, true
		}
		into.b = append(into.b, "1 g\n"...)
		into.path(p.path, decimals)
		into.b = append(into.b, fillOp(p.evenOdd)...)
		for k, m := range p.clip.masks {
			into.finish()
			to := c
			if k+1 < len(p.clip.masks) {
				to = newCanvas(c.form.BBox)
				to.form.Group, to.form.Gray = true, true
			}
			to.show(into.form, State{Fill: 1, Stroke: 1, Mask: m})
			into = to
		}
		c.restore()
	}
	return c.finish()
}

func fillOp(evenOdd bool) string {
	if evenOdd {
		return "f*\n"
	}
	return "f\n"
}

// mask makes the luminosity mask of n (SVG 1.1, 14.4); nil: there is none.
func (d *drawer) mask(ref string, n *node, ctx scope) (*Form, error) {
	mn := d.f.ids[ref]
	if mn == nil || mn.name != "mask" {
		d.told(n, "mask of %s: there is no mask %s", n.name, diag.Quote(ref))
		return nil, nil
	}
	if !d.enter(mn) {
		d.told(n, "mask %s leads back to itself", diag.Quote(ref))
		return nil, nil
	}
	defer d.leave(mn)
	c := newCanvas(ctx.c.form.BBox)
	c.form.Group, c.form.Gray = true, true
	in := ctx
	in.c, in.st, in.fade = c, d.styleAt(mn), 1
	in.mode = luminance
	if in.st.alphaMask {
		in.mode = alpha
	}
	bounds := rect{}
	if mn.get("maskUnits") != "userSpaceOnUse" || mn.get("maskContentUnits") == "objectBoundingBox" {
		var err error
		if bounds, err = d.measure(n, ctx); err != nil {
			return nil, err
		}
	}
	onBox := ctx.m.mul(translate(bounds.x0, bounds.y0)).mul(scaled(bounds.w(), bounds.h()))
	region, at := d.region(mn, &in, mn.get("maskUnits") != "userSpaceOnUse"), ctx.m
	if mn.get("maskUnits") != "userSpaceOnUse" {
		at = onBox
	}
	c.save()
	c.clip(outline{path: region.in(at)})
	if mn.get("maskContentUnits") == "objectBoundingBox" {
		in.m, in.view = onBox, box(0, 0, 1, 1)
	}
	if in.m.flat() {
		c.restore()
		return c.finish(), nil
	}
	// Its opacity does not count, its own clip path and mask do, on the bounds of the same element.
	own := ctx
	own.c, own.mode = c, in.mode
	st := *ctx.st
	st.opacity, st.blend, st.isolate, st.clip, st.mask = 1, "", false, in.st.clip, in.st.mask
	own.st = &st
	if err := d.layered(n, own, func(ctx scope) error {
		in.c = ctx.c
		return d.kids(mn, in)
	}); err != nil {
		return nil, err
	}
	c.restore()
	return c.finish(), nil
}

// region is the rectangle that a mask is confined to; on the bounds of its element percentages are
// of those.
func (d *drawer) region(n *node, ctx *scope, onBox bool) path {
	w, h := ctx.view.w(), ctx.view.h()
	if onBox {
		w, h = 1, 1
	}
	var p path
	p.rectangle(d.length(n, "x", ctx, w, -0.1*w), d.length(n, "y", ctx, h, -0.1*h), d.length(n, "width", ctx, w, 1.2*w), d.length(n, "height", ctx, h, 1.2*h), 0, 0)
	return p
}
