package svg

import (
	"fmt"
	"math"

	"example.com/quire/pdf/internal/diag"
	"example.com/quire/pdf/internal/text"
)

// Fonts is what texts are set with. The setter must not be closed while the drawing is in use.
type Fonts struct {
	Typesetter *text.Typesetter
	Setter     *text.Setter
}

// mode says what colours mean.
type mode uint8

const (
	colours   mode = iota
	luminance      // of a mask: how light they are
	alpha          // of a mask: nothing, all is white
)

// scope is where an element is drawn.
type scope struct {
	c      *canvas
	m      matrix // from user space to that of the form
	st     *style // of the element; of its parent until the element has its own
	view   rect   // viewport, which percentages are of
	root   float64
	mode   mode
	fade   float64 // opacity that the paint of the element takes over
	bounds *rect   // not nil: nothing is painted, the bounds of shapes are joined
}

// drawer makes one drawing.
type drawer struct {
	f         *File
	fonts     Fonts
	steps     int64
	uses      int64
	decls     map[*node][]declaration
	styles    map[*node]*style // of elements by their place in the file
	chains    map[fontKey]*text.Chain
	following map[*node]bool // references being followed
	nesting   int64
	warnings  []Warning
	told1     map[string]bool
}

// most warnings of one drawing; each is told once, at its first place.
const mostWarnings = 20

func (d *drawer) told(n *node, format string, args ...any) {
	msg := fmt.Sprintf(format, args...)
	if d.told1[msg] || len(d.warnings) >= mostWarnings {
		return
	}
	d.told1[msg] = true
	d.warnings = append(d.warnings, Warning{Line: n.line, Col: n.col, Message: msg})
}

// told of a file is told by every drawing.
func (f *File) told(n *node, format string, args ...any) {
	if len(f.warn) < mostWarnings {
		f.warn = append(f.warn, Warning{Line: n.line, Col: n.col, Message: fmt.Sprintf(format, args...)})
	}
}

// spend counts steps.
func (d *drawer) spend(steps int, n *node) error {
	d.steps += int64(steps)
	return diag.Check("SVGSteps", d.steps, d.f.limits.SVGSteps, place(n))
}

// side is the length of the longer side of the form of a drawing.
const side = 1000

// Draw makes the drawing. Errors are *diag.LimitError and those of setting text.
func (f *File) Draw(fonts Fonts) (*Drawing, error) {
	d, _, err := f.draw(fonts)
	return d, err
}

// draw also says whether fonts had a part in the drawing or its warnings.
func (f *File) draw(fonts Fonts) (drawing *Drawing, lettered bool, err error) {
	d := &drawer{
		f: f, fonts: fonts, decls: map[*node][]declaration{}, styles: map[*node]*style{}, chains: map[fontKey]*text.Chain{},
		following: map[*node]bool{}, told1: map[string]bool{}, warnings: append([]Warning(nil), f.warn...),
	}
	w, h := d.size()
	k := side / max(w, h)
	c := newCanvas([4]float64{0, 0, w * k, h * k})
	ctx := scope{c: c, m: matrix{k, 0, 0, -k, 0, h * k}, st: rootStyle(), view: box(0, 0, w, h), root: k, fade: 1}
	if err := d.draw(f.root, ctx); err != nil {
		return nil, false, err
	}
	form := c.finish()
	form.Group = form.transparent()
	return &Drawing{Hash: f.hash, Width: w, Height: h, Form: form, Warnings: d.warnings}, len(d.chains) > 0, nil
}

// size returns the size that the root element asks for, in pixels.
func (d *drawer) size() (w, h float64) {
	n := d.f.root
	_, _, vw, vh, boxed := viewBox(n.get("viewBox"))
	read := func(name string) float64 {
		v := n.get(name)
		l, ok := parseLength(v)
		if v != "" && v != "auto" && (!ok || l.v < 0) {
			d.told(n, "%s: %s is not understood", name, diag.Quote(v))
		}
		if !ok || l.unit == "%" {
			return 0
		}
		return min(max(l.in(0, 16), 0), 1e6)
	}
	w, h = read("width"), read("height")
	switch {
	case w > 0 && h > 0:
	case boxed && w > 0:
		h = w * vh / vw
	case boxed && h > 0:
		w = h * vw / vh
	case boxed:
		w, h = vw, vh
	default:
		d.told(n, "the drawing states no size; it is taken as 300 by 150 pixels")
		w, h = max(w, 300), max(h, 150) // as CSS does (CSS 2.2, 10.3.2)
	}
	const least = 1e-3
	return max(w, least), max(h, least)
}

// element draws one kind of element.
type element func(d *drawer, n *node, ctx scope) error

// elements are the kinds that are known. Those without a function paint nothing where they stand.
func elements(name string) (draw element, known bool) {
	switch name {
	case "svg":
		return (*drawer).viewport, true
	case "g", "a":
		return (*drawer).kids, true
	case "switch":
		return (*drawer).choice, true
	case "use":
		return (*drawer).use, true
	case "rect", "circle", "ellipse", "line", "polyline", "polygon", "path":
		return (*drawer).shape, true
	case "text":
		return (*drawer).text, true
	case "defs", "symbol", "clipPath", "mask", "linearGradient", "radialGradient", "style", "title", "desc", "metadata",
		"marker", "pattern", "filter", "view", "cursor", "solidColor": // markers, patterns and filters are told where they are used
		return nil, true
	}
	return nil, false
}

// draw draws an element with all that is in it.
func (d *drawer) draw(n *node, ctx scope) error {
	if n.foreign || n.name == "" {
		return nil
	}
	if err := d.spend(1, n); err != nil {
		return err
	}
	paint, known := elements(n.name)
	if !known {
		d.told(n, "the element %s is not drawn", n.name)
		return nil
	}
	if paint == nil {
		return nil
	}
	ctx.st = d.cascade(ctx.st, n)
	if ctx.st.none {
		return nil
	}
	for _, what := range ctx.st.unseen {
		d.told(n, "%s on %s is not drawn", what, n.name)
	}
	if n != d.f.root {
		ctx.m = ctx.m.mul(d.transform(n, "transform"))
	}
	if ctx.m.flat() {
		return nil
	}
	d.nesting++
	defer func() { d.nesting-- }()
	// References lead deeper than elements are nested, though in no circle.
	if err := diag.Check("SVGDepth", d.nesting, 4*d.f.limits.SVGDepth, place(n)); err != nil {
		return err
	}
	ctx.fade = 1
	return d.layered(n, ctx, func(ctx scope) error { return paint(d, n, ctx) })
}

func (d *drawer) transform(n *node, name string) matrix {
	v := n.get(name)
	if v == "" || v == "none" {
		return identity
	}
	m, ok := parseTransform(v)
	if !ok {
		d.told(n, "%s: %s is not understood", name, diag.Quote(v))
		return identity
	}
	return m
}

func (d *drawer) kids(n *node, ctx scope) error {
	for _, k := range n.kids {
		if err := d.draw(k, ctx); err != nil {
			return err
		}
	}
	return nil
}

// choice draws the first child that asks for nothing special (SVG 1.1, 5.8.2).
func (d *drawer) choice(n *node, ctx scope) error {
	for _, k := range n.kids {
		_, known := elements(k.name)
		if k.foreign || !known || k.has("requiredExtensions") || k.has("systemLanguage") {
			continue
		}
		return d.draw(k, ctx)
	}
	return nil
}

// length reads a length attribute; whole is what percentages are of.
func (d *drawer) length(n *node, name string, ctx *scope, whole, otherwise float64) float64 {
	v := n.get(name)
	if v == "" || v == "auto" {
		return otherwise
	}
	l, ok := parseLength(v)
	if !ok {
		d.told(n, "%s: %s is not understood", name, diag.Quote(v))
		return otherwise
	}
	return l.in(whole, ctx.st.size)
}

// diagonal is what percentages are of that are neither wide nor high (SVG 1.1, 7.10).
func (ctx *scope) diagonal() float64 {
	return math.Hypot(ctx.view.w(), ctx.view.h()) / math.Sqrt2
}

// viewport draws an svg element: the root, or one with a place of its own.
func (d *drawer) viewport(n *node, ctx scope) error {
	to := ctx.view
	if n != d.f.root {
		w, h := ctx.view.w(), ctx.view.h()
		to = box(d.length(n, "x", &ctx, w, 0), d.length(n, "y", &ctx, h, 0), d.length(n, "width", &ctx, w, w), d.length(n, "height", &ctx, h, h))
	}
	return d.window(n, ctx, to)
}

// window draws the children of n into a rectangle as its viewBox says.
func (d *drawer) window(n *node, ctx scope, to rect) error {
	if to.w() <= 0 || to.h() <= 0 {
		return nil
	}
	clips := n != d.f.root && ctx.c != nil && !ctx.st.overflow
	if clips { // the root is clipped by the box of its form
		var p path
		p.rectangle(to.x0, to.y0, to.w(), to.h(), 0, 0)
		ctx.c.save()
		defer ctx.c.restore()
		ctx.c.clip(outline{path: p.in(ctx.m)})
	}
	if v := n.get("viewBox"); v != "" {
		x, y, w, h, ok := viewBox(v)
		if !ok {
			d.told(n, "viewBox: %s is not understood", diag.Quote(v))
			return nil
		}
		m, ok := fit(n.get("preserveAspectRatio"), x, y, w, h, to)
		if !ok {
			d.told(n, "preserveAspectRatio: %s is not understood", diag.Quote(n.get("preserveAspectRatio")))
		}
		ctx.m = ctx.m.mul(m)
		ctx.view = box(x, y, w, h)
	} else {
		ctx.m = ctx.m.mul(translate(to.x0, to.y0))
		ctx.view = box(0, 0, to.w(), to.h())
	}
	return d.kids(n, ctx)
}

// enter begins to follow a reference to n; false: it is being followed already, a circle.
func (d *drawer) enter(n *node) bool {
	if d.following[n] {
		return false
	}
	d.following[n] = true
	return true
}

func (d *drawer) leave(n *node) { delete(d.following, n) }

// use draws the element that it refers to (SVG 1.1, 5.6).
func (d *drawer) use(n *node, ctx scope) error {
	d.uses++
	if err := diag.Check("SVGUses", d.uses, d.f.limits.SVGUses, place(n)); err != nil {
		return err
	}
	to := d.refer(n, n.get("href"))
	if to == nil {
		return nil
	}
	if !d.enter(to) {
		d.told(n, "use of %s leads back to itself", diag.Quote(n.get("href")))
		return nil
	}
	defer d.leave(to)
	w, h := ctx.view.w(), ctx.view.h()
	ctx.m = ctx.m.mul(translate(d.length(n, "x", &ctx, w, 0), d.length(n, "y", &ctx, h, 0)))
	if to.name != "symbol" && to.name != "svg" {
		return d.draw(to, ctx)
	}
	ctx.st = d.cascade(ctx.st, to)
	if ctx.st.none {
		return nil
	}
	wide, high := d.length(n, "width", &ctx, w, w), d.length(n, "height", &ctx, h, h)
	if to.name == "svg" {
		wide, high = d.length(n, "width", &ctx, w, d.length(to, "width", &ctx, w, w)), d.length(n, "height", &ctx, h, d.length(to, "height", &ctx, h, h))
		ctx.m = ctx.m.mul(d.transform(to, "transform")).mul(translate(d.length(to, "x", &ctx, w, 0), d.length(to, "y", &ctx, h, 0)))
	}
	ctx.fade = 1
	return d.layered(to, ctx, func(ctx scope) error { return d.window(to, ctx, box(0, 0, wide, high)) })
}

// refer finds the element of a reference such as #id; nil: there is none, which is told.
func (d *drawer) refer(n *node, ref string) *node {
	if len(ref) > 1 && ref[0] == '#' {
		if to := d.f.ids[ref[1:]]; to != nil {
			return to
		}
	}
	d.told(n, "%s refers to %s, which is not in the file", n.name, diag.Quote(ref))
	return nil
}

// styleAt is the style of an element by its place in the file, not by who refers to it.
func (d *drawer) styleAt(n *node) *style {
	if s, ok := d.styles[n]; ok {
		return s
	}
	parent := rootStyle()
	if n.parent != nil {
		parent = d.styleAt(n.parent)
	}
	s := d.cascade(parent, n)
	d.styles[n] = s
	return s
}

// measure returns the bounds of what an element draws, in its user space.
func (d *drawer) measure(n *node, ctx scope) (rect, error) {
	paint, _ := elements(n.name)
	if paint == nil {
		return rect{}, nil
	}
	var r rect
	ctx.c, ctx.m, ctx.bounds = nil, identity, &r
	err := paint(d, n, ctx)
	return r, err
}
