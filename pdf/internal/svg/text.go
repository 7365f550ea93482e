package svg

import (
	"math"
	"strings"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/diag"
	"example.com/quire/pdf/internal/text"
)

// run is text of one element between its children.
type run struct {
	n    *node
	st   *style
	lang string
}

// letter is a character with what its elements say of its place.
type letter struct {
	r      rune
	run    int
	x, y   float64 // not a number: where the one before ends
	dx, dy float64
}

// writer collects the characters of a text element (SVG 1.1, 10).
type writer struct {
	d       *drawer
	runs    []run
	letters []letter
	spaced  bool // the last character is white space that stands for any number of them
}

// text draws a text element. The glyphs stay text, so that they can be found and read out.
func (d *drawer) text(n *node, ctx scope) error {
	w := &writer{d: d, spaced: true}
	if err := w.walk(n, &ctx, ctx.st, ""); err != nil {
		return err
	}
	if w.spaced && len(w.letters) > 0 && !w.runs[w.letters[len(w.letters)-1].run].st.preserve {
		w.letters = w.letters[:len(w.letters)-1]
	}
	if len(w.letters) == 0 {
		return nil
	}
	if ctx.mode != colours {
		d.told(n, "text in a mask does not count")
		return nil
	}
	if err := d.spend(len(w.letters), n); err != nil {
		return err
	}
	at := point{}
	for i := 0; i < len(w.letters); {
		j := i + 1
		for j < len(w.letters) && math.IsNaN(w.letters[j].x) && math.IsNaN(w.letters[j].y) {
			j++
		}
		if l := &w.letters[i]; !math.IsNaN(l.x) {
			at.x = l.x
		}
		if l := &w.letters[i]; !math.IsNaN(l.y) {
			at.y = l.y
		}
		var err error
		if at, err = w.chunk(w.letters[i:j], at, &ctx); err != nil {
			return err
		}
		i = j
	}
	return nil
}

// walk collects the characters below n.
func (w *writer) walk(n *node, ctx *scope, st *style, lang string) error {
	if v := n.get("xml:lang"); v != "" {
		lang = v
	} else if v := n.get("lang"); v != "" {
		lang = v
	}
	first := len(w.letters)
	for _, k := range n.kids {
		switch {
		case k.foreign:
		case k.name == "":
			w.runs = append(w.runs, run{n, st, lang})
			w.characters(k.text, st.preserve)
		case k.name == "tspan" || k.name == "a":
			if err := w.d.spend(1, k); err != nil {
				return err
			}
			in := w.d.cascade(st, k)
			if in.none {
				continue
			}
			for _, what := range in.unseen {
				w.d.told(k, "%s on %s is not drawn", what, k.name)
			}
			if in.opacity != 1 || in.clip != "" || in.mask != "" {
				w.d.told(k, "opacity, clip-path and mask of a %s are not drawn", k.name)
			}
			if err := w.walk(k, ctx, in, lang); err != nil {
				return err
			}
		case k.name == "title" || k.name == "desc" || k.name == "metadata":
		default:
			w.d.told(k, "the element %s is not drawn", k.name)
		}
	}
	for _, name := range [...]string{"rotate", "textLength"} {
		if n.has(name) {
			w.d.told(n, "%s of %s is not drawn", name, n.name)
		}
	}
	w.places(n, ctx, st, w.letters[first:])
	return nil
}

// places sets what x, y, dx and dy of n say and no element within it says for itself.
func (w *writer) places(n *node, ctx *scope, st *style, letters []letter) {
	for _, name := range [...]string{"x", "y", "dx", "dy"} {
		v := n.get(name)
		if v == "" {
			continue
		}
		list, ok := parseLengths(v)
		if !ok {
			w.d.told(n, "%s: %s is not understood", name, diag.Quote(v))
		}
		for i := range min(len(list), len(letters)) {
			l := &letters[i]
			switch name {
			case "x":
				if math.IsNaN(l.x) {
					l.x = list[i].in(ctx.view.w(), st.size)
				}
			case "y":
				if math.IsNaN(l.y) {
					l.y = list[i].in(ctx.view.h(), st.size)
				}
			case "dx":
				if l.dx == 0 {
					l.dx = list[i].in(ctx.view.w(), st.size)
				}
			case "dy":
				if l.dy == 0 {
					l.dy = list[i].in(ctx.view.h(), st.size)
				}
			}
		}
	}
}

// characters appends text; white space becomes single spaces (SVG 1.1, 10.15).
func (w *writer) characters(s string, preserve bool) {
	for _, r := range text.Clean(s) {
		white := r == ' ' || r == '\t' || r == '\n' || r == '\r'
		if white {
			if !preserve && w.spaced {
				continue
			}
			r = ' '
		} else if r < ' ' {
			continue
		}
		w.spaced = white
		w.letters = append(w.letters, letter{r: r, run: len(w.runs) - 1, x: math.NaN(), y: math.NaN()})
	}
}

// placed is a stretch of letters that is set as one: its lines and where it begins.
type placed struct {
	line   text.Line
	runs   []int // of the pieces
	dx, dy float64
	wide   float64
}

// chunk draws letters from one absolute place on, aligned there as text-anchor says, and returns
// where they end.
func (w *writer) chunk(letters []letter, at point, ctx *scope) (point, error) {
	// Text is set at the size that it has in form space, where lengths are fine enough.
	k := ctx.m.scale()
	var parts []placed
	whole := 0.0
	for i := 0; i < len(letters); {
		j := i + 1
		for j < len(letters) && letters[j].dx == 0 && letters[j].dy == 0 {
			j++
		}
		p, err := w.set(letters[i:j], k)
		if err != nil {
			return at, err
		}
		p.dx, p.dy = letters[i].dx, letters[i].dy
		whole += p.dx + p.wide
		parts = append(parts, p)
		i = j
	}
	switch w.runs[letters[0].run].st.anchor {
	case "middle":
		at.x -= whole / 2
	case "end":
		at.x -= whole
	}
	for i := range parts {
		p := &parts[i]
		at.x += p.dx
		at.y += p.dy
		if err := w.show(p, at, k, ctx); err != nil {
			return at, err
		}
		at.x += p.wide
	}
	return at, nil
}

// set shapes letters in one line.
func (w *writer) set(letters []letter, k float64) (p placed, err error) {
	var pieces []text.Piece
	var b strings.Builder
	for i := range letters {
		b.WriteRune(letters[i].r)
		if i+1 < len(letters) && letters[i+1].run == letters[i].run {
			continue
		}
		r := &w.runs[letters[i].run]
		chain, err := w.d.chain(r.n, r.st)
		if err != nil {
			return p, err
		}
		pieces = append(pieces, text.Piece{Text: b.String(), Chain: chain, Size: max(1, doc.Points(min(r.st.size*k, 1e5))), Lang: r.lang})
		p.runs = append(p.runs, letters[i].run)
		b.Reset()
	}
	lines, err := w.d.fonts.Setter.Set(pieces, text.Unlimited, doc.AlignLeft)
	if err != nil {
		return p, err
	}
	if len(lines) > 0 {
		p.line = lines[0]
		p.wide = float64(p.line.Width) / float64(doc.Pt) / k
	}
	// A line does not count the spaces at its end.
	last := &pieces[len(pieces)-1]
	for s := last.Text; strings.HasSuffix(s, " "); s = s[:len(s)-1] {
		face := last.Chain.Face()
		p.wide += float64(text.Scale(int64(face.Advance(face.GlyphIndex(' '))), last.Size, face)) / float64(doc.Pt) / k
	}
	return p, nil
}

// show draws a set stretch, its pieces each in the paint of its element.
func (w *writer) show(p *placed, at point, k float64, ctx *scope) error {
	for i := 0; i < len(p.line.Items); {
		j := i + 1
		for j < len(p.line.Items) && p.line.Items[j].Piece == p.line.Items[i].Piece {
			j++
		}
		items := p.line.Items[i:j]
		if err := w.piece(items, p.runs[items[0].Piece], at, k, ctx); err != nil {
			return err
		}
		i = j
	}
	return nil
}

// piece draws the items of one run.
func (w *writer) piece(items []text.Item, of int, at point, k float64, ctx *scope) error {
	r := &w.runs[of]
	st := *r.st
	metrics := w.metrics(r)
	left, right := math.Inf(1), math.Inf(-1)
	out := make([]text.Item, len(items))
	for i := range items {
		out[i] = items[i]
		out[i].Piece = 0
		left, right = min(left, float64(items[i].X)), max(right, float64(items[i].X+items[i].W))
	}
	unit := k * float64(doc.Pt)
	base := point{at.x, at.y + metrics.shift}
	bounds := box(at.x+left/unit, base.y-metrics.ascent, (right-left)/unit, metrics.ascent+metrics.descent)
	if ctx.c == nil {
		for _, c := range bounds.corners(ctx.m) {
			ctx.bounds.join(c)
		}
		return nil
	}
	if st.hidden {
		return nil
	}
	in := *ctx
	in.st = &st
	fill, err := w.d.source(r.n, &st.fill, st.fillOpacity, bounds, &in)
	if err != nil {
		return err
	}
	stroke, err := w.d.source(r.n, &st.stroke, st.strokeOpacity, bounds, &in)
	if err != nil {
		return err
	}
	if st.decoration != "" && st.decoration != "none" {
		w.decorate(r.n, st.decoration, bounds, base.y, fill, &in)
	}
	pen, ok := w.d.strokePen(r.n, &in)
	if !ok {
		stroke = nil
	}
	if fill == nil && stroke == nil {
		return nil
	}
	if st.strokeFirst && fill != nil && stroke != nil {
		w.d.told(r.n, "the stroke of a text is drawn over its fill")
	}
	c := in.c
	c.save()
	state, mode := State{Fill: 1, Stroke: 1}, "0 Tr\n"
	if stroke != nil {
		c.use(&c.now.line, in.penOps(pen, k, decimals))
		in.choose(stroke, true)
		state.Stroke, state.Mask, mode = stroke.color.a, stroke.mask, "1 Tr\n"
	}
	if fill != nil {
		in.choose(fill, false)
		state.Fill = fill.color.a
		if fill.mask != nil {
			state.Mask = fill.mask
		}
		if stroke != nil { // at once: text that is shown twice would be found twice
			mode = "2 Tr\n"
		}
	}
	if state != (State{Fill: 1, Stroke: 1}) {
		c.state(state)
	}
	if mode[0] != '0' {
		c.b = append(c.b, mode...)
	}
	c.matrix(ctx.m.mul(translate(base.x, base.y)).mul(scaled(1/k, -1/k)))
	c.text(&Text{Items: out, Size: int64(max(1, doc.Points(min(st.size*k, 1e5))))})
	c.restore()
	return nil
}

// lineMetrics are those of a face at the size of a run, in user space.
type lineMetrics struct{ ascent, descent, shift float64 }

// metrics returns how high the letters of a run are, and how far they are moved down.
func (w *writer) metrics(r *run) lineMetrics {
	chain, err := w.d.chain(r.n, r.st)
	if err != nil { // it was found before
		return lineMetrics{}
	}
	met := chain.Face().Metrics()
	em := r.st.size / float64(met.UnitsPerEm)
	out := lineMetrics{ascent: float64(met.Ascent) * em, descent: -float64(met.Descent) * em}
	switch r.st.baseline {
	case "middle":
		out.shift = float64(met.XHeight) * em / 2
	case "central":
		out.shift = (out.ascent - out.descent) / 2
	case "hanging":
		out.shift = out.ascent * 0.8
	case "mathematical":
		out.shift = out.ascent / 2
	case "text-before-edge", "before-edge":
		out.shift = out.ascent
	case "text-after-edge", "after-edge", "ideographic":
		out.shift = -out.descent
	}
	switch v := r.st.shift; v {
	case "", "baseline", "0":
	case "sub":
		out.shift += r.st.size / 5
	case "super":
		out.shift -= r.st.size * 2 / 5
	default:
		if l, ok := parseLength(v); ok {
			out.shift -= l.in(r.st.size, r.st.size)
		} else {
			w.d.told(r.n, "baseline-shift: %s is not understood", diag.Quote(v))
		}
	}
	return out
}

// decorate draws lines under, over and through a text.
func (w *writer) decorate(n *node, what string, bounds rect, base float64, s *source, ctx *scope) {
	chain, err := w.d.chain(n, ctx.st)
	if err != nil || s == nil {
		return
	}
	met := chain.Face().Metrics()
	em := ctx.st.size / float64(met.UnitsPerEm)
	for word := range strings.FieldsSeq(what) {
		top, thick := met.UnderlinePosition, met.UnderlineThickness
		switch word {
		case "underline":
		case "overline":
			top = met.Ascent
		case "line-through":
			top, thick = met.StrikePosition, met.StrikeThickness
		default:
			w.d.told(n, "text-decoration: %s is not understood", diag.Quote(word))
			continue
		}
		var p path
		p.rectangle(bounds.x0, base-float64(top)*em, bounds.w(), float64(thick)*em, 0, 0)
		ctx.painted(s, false, func() {
			ctx.c.path(p.in(ctx.m), decimals)
			ctx.c.b = append(ctx.c.b, "f\n"...)
		})
	}
}

// fontKey asks for a font.
type fontKey struct {
	family string
	weight int
	italic bool
}

// substitutes are families of the same widths as those that files name most, and what generic
// names stand for.
var substitutes = map[string]string{
	"sans-serif": "Liberation Sans", "arial": "Liberation Sans", "helvetica": "Liberation Sans",
	"serif": "Liberation Serif", "times": "Liberation Serif", "times new roman": "Liberation Serif",
	"monospace": "Liberation Mono", "courier": "Liberation Mono", "courier new": "Liberation Mono",
	"system-ui": "", "ui-sans-serif": "", "cursive": "", "fantasy": "",
}

// chain finds the font of a style: the first family of the list that is there, else the first one
// of the library, which is told.
func (d *drawer) chain(n *node, st *style) (*text.Chain, error) {
	key := fontKey{st.family, st.weight, st.italic}
	if c, ok := d.chains[key]; ok {
		return c, nil
	}
	q := text.Query{Weight: st.weight, Italic: st.italic}
	for name := range strings.SplitSeq(st.family, ",") {
		name = strings.Trim(name, " \t\r\n\"'")
		sub, common := substitutes[strings.ToLower(name)]
		for _, family := range [...]string{name, sub} {
			if family == "" && !common {
				continue
			}
			q.Family = family
			if c, err := d.fonts.Typesetter.Chain(q); err == nil {
				d.chains[key] = c
				return c, nil
			}
		}
	}
	if st.family != "" {
		d.told(n, "there is no font family %s; the first family of the library is used", diag.Quote(st.family))
	}
	q.Family = ""
	c, err := d.fonts.Typesetter.Chain(q)
	if err == nil {
		if m := c.Match(); (m.NoBold || m.NoItalic) && !d.fonts.Typesetter.Synthetic {
			d.told(n, "the font family of %s has no such weight or slope", n.name)
		}
		d.chains[key] = c
	}
	return c, err
}
