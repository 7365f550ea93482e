package layout

import "example.com/quire/pdf/doc"

// turned is content at a quarter of a turn: its lines run up the page, or down it. It is as wide as
// its place, in which it stands as its style aligns, and is never split.
type turned struct {
	body   *stack
	turn   doc.Turn
	line   doc.Length // the length of its lines: the height that it takes
	w      doc.Length // of its place
	h      doc.Length // of its place; below line: as high as its lines are long
	align  doc.Align
	valign doc.VAlign
}

// turned lays out content whose lines are as long as the longest of nodes asks for, or as most
// where that is not 0 and less. lay sets it.
func (m *maker) turned(nodes []doc.Node, turn doc.Turn, most doc.Length, en env, src *doc.Source, lay func(env) (*stack, error)) (*turned, error) {
	if turn != doc.TurnLeft && turn != doc.TurnRight {
		return nil, failed(at(src, "L305", "content is turned by 90 or 270 degrees"))
	}
	if m.noNotes == inTurned {
		return nil, failed(at(src, "L305", "content is turned within content that is turned"))
	}
	b := &turned{turn: turn, w: en.width, align: en.align()}
	var least doc.Length
	switch err := m.extent(nodes, en, &least, &b.line); {
	case most > 0 && (err != nil || b.line > most || b.line == 0):
		b.line = most
	case err != nil:
		return nil, failed(at(src, "L306", "turned content other than text needs a height"))
	}
	around := m.noNotes
	m.noNotes = inTurned
	defer func() { m.noNotes = around }()
	en.width, en.around, en.room, en.sign = max(b.line, 1), 0, oneTurned, 0
	var err error
	if b.body, err = lay(en); err != nil {
		return nil, err
	}
	if high := b.body.size(); high > b.w {
		return nil, failed(at(src, "L306", "the turned content is %s wide in a place of %s", mm(high), mm(b.w)))
	}
	return b, nil
}

// inTurned is where no notes can stand, and no turned content.
const inTurned = "turned content"

func (b *turned) size() doc.Length                              { return max(b.line, b.h) }
func (b *turned) baseline() (doc.Length, bool)                  { return 0, false }
func (b *turned) split(avail doc.Length, _ bool) (block, block) { return whole(b, avail) }

func (b *turned) draw(p *painter, x, y doc.Length) {
	page := &Page{}
	in := painter{page: page}
	b.body.draw(&in, 0, 0)
	in.finish()
	it := &TurnItem{X: x, Y: y, W: b.body.size(), H: b.line, Turn: b.turn, Back: page.Back, Items: page.Items}
	switch b.align {
	case doc.AlignRight:
		it.X += b.w - it.W
	case doc.AlignCenter:
		it.X += (b.w - it.W) / 2
	}
	switch room := b.size() - b.line; b.valign {
	case doc.VAlignMiddle:
		it.Y += room / 2
	case doc.VAlignBottom:
		it.Y += room
	}
	if len(it.Back)+len(it.Items) > 0 {
		p.page.Items = append(p.page.Items, Item{Turn: it})
	}
	for _, l := range page.Links {
		r := it.OnPage(Rect{l.X, l.Y, l.W, l.H})
		p.page.Links = append(p.page.Links, LinkArea{X: r.X, Y: r.Y, W: r.W, H: r.H, Link: l.Link})
	}
	for _, mk := range page.Marks {
		mk.Y = it.Y
		p.page.Marks = append(p.page.Marks, mk)
	}
	p.page.Done = append(p.page.Done, page.Done...)
}

// OnPage returns where a rectangle of the turned content stands on the page.
func (it *TurnItem) OnPage(r Rect) Rect {
	if it.Turn == doc.TurnRight {
		return Rect{X: it.X + it.W - r.Y - r.H, Y: it.Y + r.X, W: r.H, H: r.W}
	}
	return Rect{X: it.X + r.Y, Y: it.Y + it.H - r.X - r.W, W: r.H, H: r.W}
}
