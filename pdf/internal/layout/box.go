package layout

import "example.com/quire/pdf/doc"

func (m *maker) box(n *doc.Box, en env) (block, error) {
	b := &box{w: en.width, pad: n.Padding, border: n.Border, back: n.Background, radius: n.Radius, least: n.Height, valign: n.VAlign}
	if n.Width > en.width {
		return nil, failed(at(n.Src, "L306", "the box is %s wide in a place of %s", mm(n.Width), mm(en.width)))
	}
	if n.Width > 0 {
		switch b.w = n.Width; en.align() {
		case doc.AlignRight:
			b.dx = en.width - b.w
		case doc.AlignCenter:
			b.dx = (en.width - b.w) / 2
		}
		en.width = b.w
	}
	if l := n.Border; n.Radius > 0 && l != nil && (*l != *doc.Around(l.Top) || l.Top.Dash[0] > 0) {
		return nil, failed(at(n.Src, "L305", "a box with round corners has one solid line on all sides"))
	}
	e := b.edges()
	en = en.narrow(e.Left + e.Right)
	if n.Turn != 0 {
		var err error
		lay := func(en env) (*stack, error) { return m.stack(n.Nodes, en) }
		if b.turned, err = m.turned(n.Nodes, n.Turn, max(n.Height-b.around(), 0), en, n.Src, lay); err != nil {
			return nil, err
		}
		b.turned.valign = n.VAlign
		b.body = &stack{[]entry{{b: b.turned, src: n.Src}}}
		return b, nil
	}
	en.box = b
	st, err := m.stack(n.Nodes, en)
	if err != nil {
		return nil, err
	}
	b.body = st
	for _, p := range b.places {
		if end := p.y + p.high; end > b.size() {
			d := at(p.e.src, "L325", "the place ends %s below the top of its box, which is %s high", mm(end), mm(b.size()))
			d.Suggestion = "give the box a height"
			if err := m.survive(failed(d)); err != nil {
				return nil, err
			}
		}
	}
	return b, nil
}

// placeIn lays out a place that stands in a box.
func (m *maker) placeIn(b *box, n *doc.Place, en env) error {
	switch {
	case n.Layer != doc.LayerFlow:
		return failed(at(n.Src, "L305", "a place in a box has no layer; it lies over the blocks of the box"))
	case n.Width <= 0 || n.X < 0 || n.Y < 0 || n.X+n.Width > b.w:
		return failed(at(n.Src, "L317", "the place lies beyond its box, which is %s wide", mm(b.w)))
	}
	p, err := m.placed(n, en)
	if err == nil {
		b.places = append(b.places, p)
	}
	return err
}

// box is a frame around a stack.
type box struct {
	w      doc.Length
	pad    doc.Edges
	border *doc.Border
	back   doc.Color
	radius doc.Length
	above  bool       // it began on a page before
	below  bool       // it goes on on the next page
	dx     doc.Length // from the left edge of its place
	least  doc.Length // it is at least as high
	valign doc.VAlign
	body   *stack
	turned *turned // all that body holds; nil: it is not turned
	// places stand in the box, which is then whole, beside its body.
	places []*absolute
}

// edges is what padding and border take at each side.
func (b *box) edges() doc.Edges {
	e := b.pad
	if l := b.border; l != nil {
		e.Top, e.Right, e.Bottom, e.Left = e.Top+l.Top.Width, e.Right+l.Right.Width, e.Bottom+l.Bottom.Width, e.Left+l.Left.Width
	}
	return e
}

func (b *box) around() doc.Length {
	e := b.edges()
	return e.Top + e.Bottom
}

func (b *box) size() doc.Length { return max(b.body.size()+b.around(), b.least) }

// drop is how far the content stands below the top of its room.
func (b *box) drop() doc.Length {
	room := b.size() - b.around() - b.body.size()
	if b.turned != nil {
		return 0
	}
	switch b.valign {
	case doc.VAlignMiddle:
		return room / 2
	case doc.VAlignBottom:
		return room
	default:
		return 0
	}
}

func (b *box) baseline() (doc.Length, bool) {
	l, ok := b.body.baseline()
	return l + b.edges().Top + b.drop(), ok
}

func (b *box) split(avail doc.Length, force bool) (block, block) {
	if b.size() <= avail || len(b.places) > 0 {
		return whole(b, avail)
	}
	head, tail := b.body.split(avail-b.around(), force)
	if head == nil {
		return nil, b
	}
	if tail == nil {
		if b.least > avail && !force {
			return nil, b
		}
		tail = &stack{} // the rest is empty
	}
	one, two := *b, *b
	one.body, two.body = head.(*stack), tail.(*stack)
	one.below, two.above = true, true
	one.valign, two.valign, one.least = doc.VAlignTop, doc.VAlignTop, min(b.least, avail)
	two.least = max(b.least-one.size(), 0)
	return &one, &two
}

func (b *box) draw(p *painter, x, y doc.Length) {
	x += b.dx
	h := b.size()
	if b.radius > 0 {
		b.round(p, x, y, h)
	} else {
		p.fill(x, y, b.w, h, b.back)
		p.frame(x, y, b.w, h, b.border)
	}
	e := b.edges()
	if b.turned != nil {
		b.turned.h = h - b.around()
	}
	b.body.draw(p, x+e.Left, y+e.Top+b.drop())
	for _, in := range b.places {
		in.e.draw(p, x+in.x, y+in.y)
	}
}

// round draws background and border of a box with round corners; those at a page break are not.
func (b *box) round(p *painter, x, y, h doc.Length) {
	r := min(b.radius, b.w/2, h/2)
	var radius [4]doc.Length
	if !b.above {
		radius[0], radius[1] = r, r
	}
	if !b.below {
		radius[2], radius[3] = r, r
	}
	it := RectItem{X: x, Y: y, W: b.w, H: h, Color: b.back, Round: &Round{Radius: radius}}
	if !b.back.None() {
		p.page.Back = append(p.page.Back, it)
	}
	if b.border != nil && b.border.Top.Width > 0 {
		if it.Color = b.border.Top.Color; it.Color.None() {
			it.Color = doc.Black
		}
		it.Round = &Round{Radius: radius, Line: b.border.Top.Width}
		p.rules = append(p.rules, it)
	}
}
