package layout

import (
	"strconv"
	"strings"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/tag"
	"example.com/quire/pdf/internal/text"
)

// list lays out the items with their labels right-aligned before them.
func (m *maker) list(n *doc.List, en env) (block, error) {
	f, err := m.face(en.style, n.Src)
	if err != nil {
		return nil, err
	}
	start := n.Start
	if start == 0 {
		start = 1
	}
	around := m.labels
	defer func() { m.labels = around }()
	label := func(i int) string { return label(n.Marker, around, start+i) }
	if n.Marker == doc.MarkerText {
		label = func(i int) string { return n.Items[i].Label }
	}
	wide, err := m.labelsWidth(f, n, label, en)
	if err != nil {
		return nil, err
	}
	wide = max(wide, f.size*3/5)
	indent := wide + f.size/2
	out := &stack{entries: make([]entry, 0, len(n.Items))}
	list := en.elem
	for i := range n.Items {
		item := &n.Items[i]
		src := item.Src
		if src == nil {
			src = n.Src
		}
		li := m.elem(list, tag.LI, src, "")
		lbl := m.elem(li, tag.Lbl, src, "")
		lp, err := m.label(label(i), f, env{width: wide, lang: en.lang}, lbl, src)
		if err != nil {
			return nil, err
		}
		body := m.elem(li, tag.LBody, src, "")
		within := en.narrow(indent)
		within.style, within.elem, within.item = m.derive(en.style, derivedItem), body, true
		m.labels = ""
		if n.Marker == doc.MarkerLegal {
			m.labels = strings.TrimSuffix(label(i), ".") + "."
		}
		st, err := m.stack(item.Nodes, within)
		if err != nil {
			return nil, err
		}
		b := &labelled{label: lp, bodyX: indent, body: st}
		if text.RightToLeft(en.lang) {
			b.labelX, b.bodyX = en.width-wide, 0
		}
		before, after := f.lead/6, f.lead/6
		if len(st.entries) > 0 { // a heading keeps its distance, and so does what states one
			before, after = max(before, st.entries[0].before), max(after, st.entries[len(st.entries)-1].after)
		}
		out.entries = append(out.entries, entry{b: b, before: before, after: after, src: src})
	}
	return out, nil
}

// label is that of item number n of a list. around is the label of the item that the list is in,
// when that is one of a legal list.
func label(marker doc.Marker, around string, n int) string {
	switch marker {
	case doc.MarkerDisc:
		return "\u2022"
	case doc.MarkerAlpha:
		return numeral(n, doc.NumberingAlpha) + "."
	case doc.MarkerUpperAlpha:
		return numeral(n, doc.NumberingUpperAlpha) + "."
	case doc.MarkerRoman:
		return numeral(n, doc.NumberingRoman) + "."
	case doc.MarkerUpperRoman:
		return numeral(n, doc.NumberingUpperRoman) + "."
	case doc.MarkerLegal:
		if around != "" {
			return around + strconv.Itoa(n)
		}
	}
	return strconv.Itoa(n) + "."
}

// labelsWidth returns a width that no label of a list is wider than.
func (m *maker) labelsWidth(f *face, n *doc.List, label func(int) string, en env) (doc.Length, error) {
	if len(n.Items) == 0 {
		return 0, nil
	}
	last := len(n.Items) - 1
	switch n.Marker {
	case doc.MarkerDisc, doc.MarkerDecimal, doc.MarkerLegal:
		return m.labelWidth(f, label(0), label(last), n.Src, en)
	}
	var most doc.Length // letters and Roman numerals differ in width as they come
	for i := range last + 1 {
		w, err := m.labelWidth(f, label(i), label(i), n.Src, en)
		if err != nil {
			return 0, err
		}
		most = max(most, w)
	}
	return most, nil
}

// labelWidth returns a width that no label between first and last is wider than: each
// digit is taken for the widest one, and no pair of characters stands closer than alone.
// No label has more characters than the longer of the two.
func (m *maker) labelWidth(f *face, first, last string, src *doc.Source, en env) (doc.Length, error) {
	c, err := m.chain(f, 0, src)
	if err != nil {
		return 0, err
	}
	width := func(s string) (doc.Length, error) {
		_, w, err := m.set.Measure([]text.Piece{{Text: s, Chain: c, Size: f.size}})
		if err != nil {
			return 0, m.setError(err, src, en, nil)
		}
		return w, nil
	}
	if first == last {
		return width(first)
	}
	var digit, most doc.Length
	for _, d := range "0123456789" {
		w, err := width(string(d))
		if err != nil {
			return 0, err
		}
		digit = max(digit, w)
	}
	apart := m.apart(c, f.size)
	for _, label := range [2]string{first, last} {
		var sum doc.Length
		for _, r := range label {
			w := digit
			if r < '0' || r > '9' {
				if w, err = width(string(r)); err != nil {
					return 0, err
				}
			}
			sum += w + apart
		}
		most = max(most, sum)
	}
	return most, nil
}

// apart is the most that kerning moves two characters of a label apart, and a unit for
// what rounding adds.
func (m *maker) apart(c *text.Chain, size doc.Length) doc.Length {
	const characters = "0123456789.-"
	var most int64
	face := c.Face()
	for _, a := range characters {
		for _, b := range characters {
			most = max(most, int64(face.Kern(face.GlyphIndex(a), face.GlyphIndex(b))))
		}
	}
	return text.Scale(most, size, face) + 1
}

func (m *maker) label(s string, f *face, en env, el *tag.Elem, src *doc.Source) (*para, error) {
	c, err := m.chain(f, 0, src)
	if err != nil {
		return nil, err
	}
	b := &para{face: f, art: m.art, widow: 1, orphans: 1}
	b.styles = []PieceStyle{{Size: f.size, Color: f.color, Elem: el}}
	m.pieces = append(m.pieces[:0], text.Piece{Text: s, Chain: c, Size: f.size, Lang: en.lang})
	towards := doc.AlignRight // the body
	if text.RightToLeft(en.lang) {
		towards = doc.AlignLeft
	}
	if b.lines, err = m.set.Set(m.pieces, en.width, towards); err != nil {
		return nil, m.setError(err, src, en, nil)
	}
	return b, nil
}

// labelled is a list item: a label beside a body.
type labelled struct {
	label         *para      // nil once it is drawn
	labelX, bodyX doc.Length // of their left edges
	body          *stack
}

func (b *labelled) size() doc.Length {
	h := b.body.size()
	if b.label != nil {
		h = max(h, b.label.size()+b.drop())
	}
	return h
}

// drop is how far the label moves down to stand on the baseline of the body's
// first line.
func (b *labelled) drop() doc.Length {
	base, ok := b.body.baseline()
	if !ok {
		return 0
	}
	return max(0, base-b.label.face.base)
}

func (b *labelled) baseline() (doc.Length, bool) { return b.body.baseline() }

func (b *labelled) split(avail doc.Length, force bool) (block, block) {
	if b.size() <= avail {
		return b, nil
	}
	head, tail := b.body.split(avail, force)
	if head == nil || b.label != nil && b.label.size()+b.drop() > avail {
		return nil, b
	}
	if tail == nil {
		return b, nil
	}
	return &labelled{label: b.label, labelX: b.labelX, bodyX: b.bodyX, body: head.(*stack)},
		&labelled{bodyX: b.bodyX, body: tail.(*stack)}
}

func (b *labelled) draw(p *painter, x, y doc.Length) {
	if b.label != nil {
		b.label.draw(p, x+b.labelX, y+b.drop())
	}
	b.body.draw(p, x+b.bodyX, y)
}
