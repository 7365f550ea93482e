package edit

import (
	"fmt"
	"slices"
	"strings"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/internal/content"
)

// eraser writes the content of a page anew without what lies in boxes.
type eraser struct {
	r      *Redaction
	e      *Draft
	boxes  []content.Rect
	marks  map[int]bool   // marked content with something in the boxes, by Mark.Start
	ids    map[int64]bool // of that, those of structure elements
	place  string
	levels []*level // the page, and the forms that are being drawn
	made   int      // names of new objects
	text   strings.Builder
	line   float64 // height of the last character in text
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
}

// pruned returns the resources of a level with its new XObjects and without those that it does not draw.
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
			hit = hit || inBoxes(g.Quad, x.boxes)
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
	area := m.Quad(content.Rect{0, 0, 1, 1}).Bounds()
	return slices.ContainsFunc(x.boxes, area.Overlaps)
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
		x.levels = x.levels[:len(x.levels)-1]
		x.form(x.levels[len(x.levels)-1], l, ev)
		return nil
	case content.Show:
		if x.show(l, ev) {
			l.changed = true
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
	for _, p := range points {
		for _, b := range x.boxes {
			if b.Has(p) {
				return true
			}
		}
	}
	return false
}

// show writes an operator that shows text without the characters in boxes, with as much space in
// their place; false: none is.
func (x *eraser) show(l *level, ev *content.Event) bool {
	gone := false
	for _, g := range ev.Glyphs {
		gone = gone || inBoxes(g.Quad, x.boxes)
	}
	if !gone {
		return false
	}
	list, ok := ev.Args[len(ev.Args)-1].(cos.Array)
	if !ok || ev.Op != "TJ" {
		list = cos.Array{ev.Args[len(ev.Args)-1]}
	}
	switch ev.Op {
	case "'":
		l.emit("T*", nil)
	case "\"":
		if n := len(ev.Args); n >= 3 {
			l.emit("Tw", ev.Args[n-3:n-2])
			l.emit("Tc", ev.Args[n-2:n-1])
		}
		l.emit("T*", nil)
	}
	var out cos.Array
	glyphs := ev.Glyphs
	for i, o := range list {
		if _, isText := cos.Bytes(o); !isText {
			out = append(out, o)
			continue
		}
		var kept []byte
		space := 0.0
		flush := func() {
			if len(kept) > 0 {
				out = append(out, cos.Hex(kept))
			}
			if space != 0 && ev.State.Size != 0 {
				out = append(out, thousandths(-space*1000/ev.State.Size))
			}
			kept, space = nil, 0
		}
		for len(glyphs) > 0 && glyphs[0].Arg == i {
			g := glyphs[0]
			glyphs = glyphs[1:]
			if inBoxes(g.Quad, x.boxes) {
				x.gone(g)
				space += g.Advance
				continue
			}
			if space != 0 {
				flush()
			}
			kept = append(kept, g.Code...)
		}
		if space != 0 && len(kept) > 0 { // what stays stands before what goes
			before := space
			space = 0
			flush()
			space = before
		}
		flush()
	}
	l.emit("TJ", []cos.Object{out})
	return true
}

// gone notes a character that is taken out.
func (x *eraser) gone(g content.Glyph) {
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
	x.put(up, &stream{dict: with(d, "Resources", l.pruned(x.e)), data: l.out})
}

// put draws a new XObject.
func (x *eraser) put(l *level, s *stream) {
	l.changed = true
	taken := x.e.dict(l.resources.Get("XObject"))
	for {
		x.made++
		n := cos.Name(fmt.Sprintf("Redacted%d", x.made))
		if taken.Get(n) == nil {
			l.added = append(l.added, cos.E(n, x.e.add(s)))
			l.emit("Do", []cos.Object{n})
			return
		}
	}
}

// image writes the drawing of an image that meets a box: with its pixels there black, or not at all
// where its format is not one whose pixels can be told; false: it stays as it is.
func (x *eraser) image(l *level, ev *content.Event) bool {
	if !x.hits(ev.State.CTM) {
		x.r.Removed.Unsearched++
		if n, ok := ev.Args[len(ev.Args)-1].(cos.Name); ok && ev.Object != nil {
			l.used[n] = true
		}
		return false
	}
	l.changed = true
	inverse, ok := ev.State.CTM.Inverse()
	var areas []content.Rect
	for _, b := range x.boxes {
		area := inverse.Quad(b).Bounds()
		if area.Overlaps(content.Rect{0, 0, 1, 1}) {
			areas = append(areas, area)
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
