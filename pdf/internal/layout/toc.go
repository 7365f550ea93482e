package layout

import (
	"strings"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/tag"
	"example.com/quire/pdf/internal/text"
)

// defaultTocLevels is the deepest level of a table of contents that names none.
const defaultTocLevels = 3

// toc lays out a table of contents: what the pass before found behind it.
func (m *maker) toc(n *doc.Toc, en env) (block, *tag.Elem, error) {
	if m.found == nil {
		return nil, nil, failed(at(n.Src, "L316", "a table of contents in a document that does not say References"))
	}
	out := &stack{}
	if m.known == nil {
		return out, nil, nil
	}
	levels := n.Levels
	if levels <= 0 {
		levels = defaultTocLevels
	}
	heads := m.known.heads[min(m.headed, len(m.known.heads)):]
	var items []foundHead
	for _, h := range heads {
		if h.level <= levels {
			items = append(items, h)
		}
	}
	if len(items) == 0 {
		return out, nil, nil
	}
	el := m.elem(en.elem, tag.TOC, n.Src, n.Lang)
	t := &tocMaker{m: m, n: n, en: en}
	if err := t.measure(items); err != nil {
		return nil, nil, err
	}
	if n.Title != "" {
		title := en
		title.style = m.heading(en.style, 2)
		b, err := m.text([]doc.Span{{Text: n.Title}}, title, m.elem(el, tag.Caption, n.Src, ""), n.Src, "")
		if err != nil {
			return nil, nil, err
		}
		out.entries = append(out.entries, entry{b: b, src: n.Src, after: title.style.SpaceAfter, keepNext: true})
	}
	path := []*tag.Elem{el} // the open tables, one within the other
	open := []int{0}        // their levels
	for i, h := range items {
		for len(open) > 1 && open[len(open)-1] > h.level {
			open, path = open[:len(open)-1], path[:len(path)-1]
		}
		switch last := len(open) - 1; {
		case open[last] == 0:
			open[last] = h.level
		case open[last] < h.level:
			open = append(open, h.level)
			path = append(path, m.elem(path[last], tag.TOC, n.Src, ""))
		}
		b, err := t.line(h, len(open)-1, path[len(path)-1])
		if err != nil {
			return nil, nil, err
		}
		e := entry{b: b, src: n.Src, after: t.face.lead / 6}
		if len(open) == 1 && i > 0 && t.deep {
			e.before = t.face.lead / 2
		}
		e.keepNext = i+1 < len(items) && items[i+1].level > h.level
		out.entries = append(out.entries, e)
	}
	// The element is complete when what it points at is known, at the end of the document.
	return out, nil, nil
}

// tocMaker lays out the lines of one table of contents.
type tocMaker struct {
	m      *maker
	n      *doc.Toc
	en     env
	face   *face
	deep   bool       // there are several levels: the first is bold
	number doc.Length // the width of the widest page number
	dot    doc.Length // the distance of two dots
}

// leaderDot is what leaders are made of.
const leaderDot = " ."

// measure finds the widths of the columns.
func (t *tocMaker) measure(items []foundHead) (err error) {
	if t.face, err = t.m.face(t.en.style, t.n.Src); err != nil {
		return err
	}
	for i := range items {
		t.deep = t.deep || items[i].level != items[0].level
	}
	width := func(s string, bold bool) (doc.Length, error) {
		if err := t.m.spans(&para{face: t.face}, []doc.Span{{Text: s, Bold: bold}}, t.en, nil, t.n.Src, ""); err != nil {
			return 0, err
		}
		_, w, err := t.m.set.Measure(t.m.pieces)
		if err != nil {
			return 0, t.m.setError(err, t.n.Src, t.en, nil)
		}
		return w, nil
	}
	for _, h := range items {
		w, err := width(h.label, t.deep)
		if err != nil {
			return err
		}
		t.number = max(t.number, w)
	}
	one, err := width(leaderDot+leaderDot, false)
	if err != nil {
		return err
	}
	two, err := width(leaderDot+leaderDot+leaderDot, false)
	t.dot = max(two-one, doc.Pt)
	return err
}

// tocLine is an entry of a table of contents.
type tocLine struct {
	title, number, dots  *para
	titleX, numX, leader doc.Length // where they begin
}

// line lays out the entry of a heading, depth levels beneath the first.
func (t *tocMaker) line(h foundHead, depth int, toc *tag.Elem) (block, error) {
	m, en := t.m, t.en
	item := m.elem(toc, tag.TOCI, t.n.Src, "")
	p := m.elem(item, tag.P, t.n.Src, "")
	link := &Link{Target: "#" + h.anchor, Src: t.n.Src, Text: h.title + " " + h.label, Item: item}
	link.Elem = m.inline(p, tag.Link, t.n.Src, "")
	bold := t.deep && depth == 0
	lay := func(s string, width doc.Length, align doc.Align, linked bool) (*para, error) {
		style := *t.en.style
		style.Align, style.Indent, style.MarginLeft, style.MarginRight = align, 0, 0, 0
		lined := en
		lined.style, lined.width = &style, width
		var el *tag.Elem
		if linked {
			el = link.Elem
		}
		b, err := m.text([]doc.Span{{Text: s, Bold: bold && linked}}, lined, el, t.n.Src, "")
		if err != nil {
			return nil, err
		}
		made := b.(*para) //nolint:forcetypeassert // m.text makes no other block
		if linked {
			made.links = true
			for i := range made.styles {
				made.styles[i].Link, made.styles[i].Elem = link, link.Elem
			}
		}
		return made, nil
	}
	rtl := text.RightToLeft(en.lang)
	near, far := doc.AlignLeft, doc.AlignRight
	if rtl {
		near, far = far, near
	}
	indent := t.face.size * 6 / 5 * doc.Length(depth)
	apart := t.face.size // between a title and its number
	b := &tocLine{}
	var err error
	room := en.width - indent - t.number - apart
	if b.title, err = lay(h.title, room, near, true); err != nil {
		return nil, err
	}
	if b.number, err = lay(h.label, t.number, far, true); err != nil {
		return nil, err
	}
	b.titleX, b.numX = indent, en.width-t.number
	if rtl {
		b.titleX, b.numX = t.number+apart, 0
	}
	if len(b.title.lines) == 0 || t.n.Leader == doc.LeaderNone {
		return b, nil
	}
	from, to := doc.Length(0), doc.Length(0)
	if last := b.title.lines[len(b.title.lines)-1]; len(last.Items) > 0 {
		from, to = extent(last.Items)
	}
	gap := t.face.size / 2
	left, right := b.titleX+to+gap, b.numX-gap
	if rtl {
		left, right = t.number+gap, b.titleX+from-gap
	}
	count := (right - left) / t.dot
	if count < 2 {
		return b, nil
	}
	// A point of room more, for what rounding adds: the dots end at the number.
	b.leader = right - count*t.dot - doc.Pt
	if rtl {
		b.leader = left
	}
	b.dots, err = lay(strings.Repeat(leaderDot, int(count)), count*t.dot+doc.Pt, far, false)
	return b, err
}

func (b *tocLine) size() doc.Length             { return max(b.title.size(), b.number.size()) }
func (b *tocLine) baseline() (doc.Length, bool) { return b.title.baseline() }

func (b *tocLine) split(avail doc.Length, _ bool) (block, block) { return whole(b, avail) }

func (b *tocLine) draw(p *painter, x, y doc.Length) {
	b.title.draw(p, x+b.titleX, y)
	last := y + b.size() - b.number.size()
	b.number.draw(p, x+b.numX, last)
	if b.dots != nil {
		b.dots.draw(p, x+b.leader, last)
	}
}
