package edit

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/internal/content"
)

// eraser writes the content of a page anew without what lies in boxes.
type eraser struct {
	r      *Redaction
	e      *Draft
	page   cos.Ref
	boxes  []area
	asked  []area         // of them, those in which nothing may stand, wherever it came from
	marks  map[int]bool   // marked content with something in the boxes, by Mark.Start
	ids    map[int64]bool // of that, those of structure elements
	place  string
	levels []*level // the page, and the forms that are being drawn
	made   int      // names of new objects
	text   strings.Builder
	line   float64 // height of the last character in text
	marked []area  // what black boxes cover where characters were
}

// level is one content stream that is written.
type level struct {
	out       []byte
	changed   bool
	resources cos.Dict
	own       bool              // of a form that has resources of its own
	used      map[cos.Name]bool // XObjects that stay as they are
	added     cos.Dict          // new ones
	depth     int               // states that are saved
	path      int               // where the path in out begins; -1: none
	clip      bool              // that path clips
	marks     int
	moved     bool           // text stands elsewhere than what was written last leaves it
	gap       *gap           // the characters that were taken out last; nil: none on this line
	shift     float64        // how far what follows on the line was moved, in text space
	last      content.Matrix // where the character before ends
	ctm       content.Matrix // of it
}

// gap is where characters were that were taken out one behind the other.
type gap struct {
	place      content.Matrix // of the first
	end        float64        // where the last ends, along the line from place, in text space
	em         float64
	low, high  content.Point // the left edge of the first on the page
	along      content.Point // on the page, one unit of text space
	horizontal bool
}

// pruned returns the resources of a level with its new XObjects and without those that it does not
// draw.
func (l *level) pruned(e *Draft) cos.Dict {
	var out cos.Dict
	for _, x := range e.dict(l.resources.Get("XObject")) {
		if l.used[x.Key] {
			out = append(out, x)
		}
	}
	if out = append(out, l.added...); out == nil {
		return with(l.resources, "XObject", nil)
	}
	return with(l.resources, "XObject", out)
}

// look notes the marked content in which something is hit.
func (x *eraser) look(ev *content.Event) error {
	hit := false
	switch ev.Kind {
	case content.Show:
		for _, g := range ev.Glyphs {
			hit = hit || inAreas(g.Quad, x.boxes)
		}
	case content.DrawImage:
		hit = x.hits(ev.State.CTM)
	case content.Operator, content.Paint, content.FormBegin, content.FormEnd:
	}
	if hit {
		for _, m := range ev.Marks {
			x.marks[m.Start] = true
			if m.ID >= 0 {
				x.ids[m.ID] = true
			}
		}
	}
	return nil
}

// hits reports whether the unit square as it is drawn meets a box.
func (x *eraser) hits(m content.Matrix) bool {
	return anyMeets(x.boxes, m.Quad(content.Rect{0, 0, 1, 1}))
}

// write copies operators but for what is hit.
func (x *eraser) write(ev *content.Event) error {
	l := x.levels[len(x.levels)-1]
	switch ev.Kind {
	case content.FormBegin:
		own := x.e.dict(ev.Form.Get("Resources"))
		next := &level{resources: own, own: own != nil, used: map[cos.Name]bool{}, path: -1}
		if own == nil {
			next.resources = l.resources
		}
		x.levels = append(x.levels, next)
		return nil
	case content.FormEnd:
		l.close(x)
		x.levels = x.levels[:len(x.levels)-1]
		x.form(x.levels[len(x.levels)-1], l, ev)
		return nil
	case content.Show:
		if len(x.boxes) > 0 {
			x.show(l, ev)
			return nil
		}
	case content.DrawImage:
		if x.image(l, ev) {
			return nil
		}
	case content.Paint:
		at, clip := l.path, l.clip
		l.path, l.clip = -1, false
		if x.inside(ev.Points) {
			x.r.Removed.Paths++
			l.changed = true
			if at >= 0 && !clip {
				l.out = l.out[:at]
				return nil
			}
			ev.Op = "n"
		}
	case content.Operator:
		switch ev.Op {
		case "m", "re":
			if l.path < 0 {
				l.path = len(l.out)
			}
		case "W", "W*":
			l.clip = true
		case "BT":
			l.moved = true
		case "Td", "Tm", "T*", "TD":
			if len(x.boxes) == 0 {
				break
			}
			// Where text goes on is said when some is shown: what lay between would tell how wide
			// each character was that is gone.
			l.moved = true
			if ev.Op == "TD" {
				l.emit("TL", []cos.Object{thousandths(ev.State.Leading)})
			}
			return nil
		case "q":
			l.depth++
		case "Q":
			if l.depth == 0 {
				return nil
			}
			l.depth--
		case "BMC", "BDC":
			l.marks++
		case "EMC":
			if l.marks == 0 {
				return nil // it ends nothing
			}
			l.marks--
		}
		if ev.Op == "BDC" && len(ev.Marks) > 0 {
			if m := ev.Marks[len(ev.Marks)-1]; x.marks[m.Start] || x.said(m) {
				x.mark(l, m)
				return nil
			}
		}
	}
	l.emit(ev.Op, ev.Args)
	return nil
}

// emit writes an operator.
func (l *level) emit(op string, args []cos.Object) {
	if op == "EI" && len(args) == 1 {
		if i, ok := args[0].(cos.InlineImage); ok {
			l.inline(i.Dict, i.Data)
			return
		}
	}
	for _, a := range args {
		l.out = append(a.AppendPDF(l.out), ' ')
	}
	l.out = append(append(l.out, op...), '\n')
}

func (l *level) inline(d cos.Dict, data []byte) {
	l.out = append(l.out, "BI\n"...)
	for _, x := range d {
		l.out = append(x.Value.AppendPDF(append(x.Key.AppendPDF(l.out), ' ')), '\n')
	}
	l.out = append(append(append(l.out, "ID "...), data...), "\nEI\n"...)
}

// said reports whether the texts of marked content have what must go.
func (x *eraser) said(m content.Mark) bool {
	for _, key := range [...]cos.Name{"ActualText", "Alt", "E"} {
		if s := x.e.text(m.Props.Get(key)); s != "" && x.r.in(s) {
			return true
		}
	}
	return false
}

// mark writes the begin of marked content without the texts that stand for it.
func (x *eraser) mark(l *level, m content.Mark) {
	l.changed = true
	var props cos.Dict
	for _, p := range m.Props {
		switch p.Key {
		case "ActualText", "Alt", "E":
			x.r.Removed.Strings++
		case "MCID", "Lang", "Type", "Subtype", "Attached", "BBox":
			if v := x.e.resolve(p.Value); v != nil {
				props = append(props, cos.E(p.Key, v))
			}
		}
	}
	if props == nil {
		l.emit("BMC", []cos.Object{m.Tag})
		return
	}
	l.emit("BDC", []cos.Object{m.Tag, props})
}

// inside reports whether a point of a path lies in a box.
func (x *eraser) inside(points []content.Point) bool {
	return slices.ContainsFunc(points, func(p content.Point) bool { return anyHas(x.boxes, p) })
}

// show writes an operator that shows text without the characters in boxes. What is left on a line
// behind them moves by less than the size of its letters, so that the space in their place is a
// whole number of those: how wide a text was tells much of what it said. Nothing else of where they
// stood is written.
func (x *eraser) show(l *level, ev *content.Event) {
	if ev.Op == "\"" && len(ev.Args) >= 3 {
		l.emit("Tw", ev.Args[len(ev.Args)-3:len(ev.Args)-2])
		l.emit("Tc", ev.Args[len(ev.Args)-2:len(ev.Args)-1])
	}
	if ev.Op == "'" || ev.Op == "\"" {
		l.moved = true
	}
	if len(ev.Args) == 0 {
		return
	}
	list, ok := ev.Args[len(ev.Args)-1].(cos.Array)
	if !ok || ev.Op != "TJ" {
		list = cos.Array{ev.Args[len(ev.Args)-1]}
	}
	var out cos.Array // shown from one place on
	var kept []byte
	flush := func() {
		if len(kept) > 0 {
			out, kept = append(out, cos.Hex(kept)), nil
		}
		if len(out) > 0 {
			l.emit("TJ", []cos.Object{out})
		}
		out = nil
	}
	glyphs := ev.Glyphs
	for i, o := range list {
		if _, isText := cos.Bytes(o); !isText {
			switch {
			case len(out) > 0 || len(kept) > 0:
				if len(kept) > 0 {
					out, kept = append(out, cos.Hex(kept)), nil
				}
				out = append(out, o)
			default: // it moves what follows, which says where it stands
				l.moved = true
			}
			continue
		}
		for len(glyphs) > 0 && glyphs[0].Arg == i {
			g := &glyphs[0]
			if inAreas(g.Quad, x.boxes) {
				flush()
				l.changed, l.moved = true, true
				x.gone(l, ev.State, g)
			} else {
				if x.stays(l, ev.State, glyphs); l.moved {
					flush()
					l.place(content.Matrix{1, 0, 0, 1, l.shift, 0}.Mul(g.Place))
				}
				kept = append(kept, g.Code...)
			}
			glyphs = glyphs[1:]
		}
	}
	flush()
}

// place says where text goes on.
func (l *level) place(m content.Matrix) {
	l.out = append(appendMatrix(l.out, m), " Tm\n"...)
	l.moved = false
}

// after returns how far, along the line and across it, a place is from that of a gap; ok is false
// where the lines have other directions or sizes.
func (g *gap) after(m content.Matrix) (along, across float64, ok bool) {
	inverse, ok := g.place.Inverse()
	by := m.Mul(inverse)
	const little = 1e-6
	return by[4], by[5], ok && math.Abs(by[0]-1)+math.Abs(by[1])+math.Abs(by[2])+math.Abs(by[3]-1) < little
}

// width is how wide the space of a gap is: a whole number of letters' sizes.
func (g *gap) width(to float64) float64 {
	if !g.horizontal || !(g.em > 0) || to <= 0 {
		return to
	}
	return math.Ceil(to/g.em-1e-6) * g.em
}

// close ends the gap of a level: its box is drawn as wide as what may stand behind it is moved.
func (l *level) close(x *eraser) {
	if g := l.gap; g != nil {
		from, to := l.shift, l.shift+g.width(g.end)
		at := func(p content.Point, by float64) content.Point {
			return content.Point{X: p.X + g.along.X*by, Y: p.Y + g.along.Y*by}
		}
		x.marked = append(x.marked, areaOf(content.Quad{at(g.low, from), at(g.low, to), at(g.high, to), at(g.high, from)}))
	}
	l.gap, l.shift = nil, 0
}

// on ends the line where the space changes that text stands in.
func (l *level) on(x *eraser, s *content.State) {
	if s.CTM != l.ctm {
		if l.shift != 0 {
			l.moved = true
		}
		l.close(x)
		l.ctm = s.CTM
	}
}

// stays takes note of a character that stays, the first of those given: what stands close behind a
// gap is moved with it, as is all behind that on the line; what stands elsewhere ends the line.
func (x *eraser) stays(l *level, s *content.State, glyphs []content.Glyph) {
	g := &glyphs[0]
	l.on(x, s)
	defer func() { l.last = content.Matrix{1, 0, 0, 1, g.Advance * s.Scale, 0}.Mul(g.Place) }()
	if l.gap == nil && l.shift == 0 {
		return
	}
	size := math.Abs(s.Size * s.Scale)
	if l.gap == nil { // text that follows text that was moved
		by := g.Place.Mul(s.CTM)
		if !l.goesOn(g, size) || x.meets(glyphs, content.Point{X: by[0] * l.shift, Y: by[1] * l.shift}) {
			l.shift, l.moved = 0, true
		}
		return
	}
	shift := l.shift
	along, across, ok := l.gap.after(g.Place)
	near := ok && l.gap.horizontal && math.Abs(across) <= size/4 && along >= l.gap.end-size/2 && along <= l.gap.end+1.5*size
	if near {
		shift += l.gap.width(along) - along
		l.gap.end = max(l.gap.end, along)
		if by := l.gap.along; x.meets(glyphs, content.Point{X: by.X * shift, Y: by.Y * shift}) {
			shift = 0
		}
	}
	l.close(x)
	l.moved = true
	if near {
		l.shift = shift
	}
}

// goesOn reports whether a character follows the one that was written last, on its line.
func (l *level) goesOn(g *content.Glyph, size float64) bool {
	before := gap{place: l.last}
	along, across, ok := before.after(g.Place)
	return ok && math.Abs(across) <= size/4 && along >= -size && along <= 1.5*size
}

// meets reports whether one of the glyphs that stay would come to lie in a box that was asked for.
func (x *eraser) meets(glyphs []content.Glyph, by content.Point) bool {
	if len(x.asked) == 0 {
		return false
	}
	for i := range glyphs {
		q := glyphs[i].Quad
		for k := range q {
			q[k].X += by.X
			q[k].Y += by.Y
		}
		if !inAreas(glyphs[i].Quad, x.boxes) && inAreas(q, x.asked) {
			return true
		}
	}
	return false
}

// gone notes a character that is taken out.
func (x *eraser) gone(l *level, s *content.State, g *content.Glyph) {
	l.on(x, s)
	size := math.Abs(s.Size * s.Scale)
	end := content.Matrix{1, 0, 0, 1, g.Advance * s.Scale, 0}.Mul(g.Place)
	if l.gap != nil {
		along, across, ok := l.gap.after(g.Place)
		to, _, _ := l.gap.after(end)
		if ok && !g.Vertical && math.Abs(across) <= size/4 && along >= l.gap.end-size && along <= l.gap.end+1.5*size {
			l.gap.end = max(l.gap.end, to)
		} else {
			l.close(x)
		}
	}
	if l.gap == nil {
		if l.shift != 0 && !l.goesOn(g, size) {
			l.shift = 0
		}
		m := g.Place.Mul(s.CTM)
		l.gap = &gap{
			place: g.Place, end: max(g.Advance*s.Scale, 0), em: size, low: g.Quad[0], high: g.Quad[3], along: content.Point{X: m[0], Y: m[1]}, horizontal: !g.Vertical,
		}
		if g.Vertical {
			x.marked, l.gap = append(x.marked, areaOf(g.Quad)), nil
		}
	}
	x.r.Removed.Characters++
	if y := g.Origin.Y; y < x.line-1 || y > x.line+1 {
		x.text.WriteByte('\n')
		x.line = y
	}
	x.text.WriteString(g.Text)
}

// form writes the drawing of a form: as it was, or one of its own without what was hit.
func (x *eraser) form(up, l *level, ev *content.Event) {
	if !l.changed {
		if n, ok := ev.Args[len(ev.Args)-1].(cos.Name); ok {
			up.used[n] = true
		}
		if !l.own { // what it draws are names of the resources above
			for n := range l.used {
				up.used[n] = true
			}
		}
		up.emit(ev.Op, ev.Args)
		return
	}
	for range l.depth {
		l.out = append(l.out, "Q\n"...)
	}
	d := ev.Form
	for _, key := range [...]cos.Name{"Filter", "DecodeParms", "Length", "PieceInfo", "Metadata", "F", "FFilter", "FDecodeParms", "DL"} {
		d = with(d, key, nil)
	}
	now := x.put(up, &stream{dict: with(d, "Resources", l.pruned(x.e)), data: l.out})
	if was := refOf(ev.Object); !was.IsZero() {
		x.r.forms[formOn{x.page.Num, was.Num}] = now
	}
}

// put draws a new XObject.
func (x *eraser) put(l *level, s *stream) cos.Ref {
	l.changed = true
	taken := x.e.dict(l.resources.Get("XObject"))
	for {
		x.made++
		n := cos.Name(fmt.Sprintf("Redacted%d", x.made))
		if taken.Get(n) == nil {
			r := x.e.add(s)
			l.added = append(l.added, cos.E(n, r))
			l.emit("Do", []cos.Object{n})
			return r
		}
	}
}

// image writes the drawing of an image that meets a box: with its pixels there black, or not at all
// where its format is not one whose pixels can be told; false: it stays as it is.
func (x *eraser) image(l *level, ev *content.Event) bool {
	if !x.hits(ev.State.CTM) {
		if x.r.ocr == nil {
			x.r.Removed.Unsearched++
		}
		if n, ok := ev.Args[len(ev.Args)-1].(cos.Name); ok && ev.Object != nil {
			l.used[n] = true
		}
		return false
	}
	l.changed = true
	inverse, ok := ev.State.CTM.Inverse()
	var areas []content.Rect
	for _, b := range x.boxes {
		of := inverse.Of(b.Quad).Bounds()
		if of.Overlaps(content.Rect{0, 0, 1, 1}) {
			areas = append(areas, of)
		}
	}
	if s := x.blanked(ev.Object, areas); ok && s != nil {
		x.r.Removed.ImageParts++
		x.put(l, s)
		return true
	}
	x.r.Removed.Images++
	return true
}
