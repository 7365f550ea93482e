package layout

import (
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/text"
)

// block is a node with its lines broken and its sizes known. Blocks are drawn
// once and then dropped.
type block interface {
	// size is the height.
	size() doc.Length
	// baseline is the distance from the top to the first baseline; ok is false
	// when no text comes first.
	baseline() (l doc.Length, ok bool)
	// split cuts the block so that the head is no higher than avail. A nil head
	// means that nothing fits; a nil tail that all does. With force, the page is
	// empty: what may be torn is torn.
	split(avail doc.Length, force bool) (head, tail block)
	// draw puts the block on the page with its top left corner at x, y.
	draw(p *painter, x, y doc.Length)
}

// painter draws on a page.
type painter struct {
	page  *Page
	rules []RectItem
	edges []edge // of tables, see joined
	lines []edge // the memory of joined
	texts arena[TextItem]
	fills []spot    // what was drawn before each
	still [][2]spot // what does not move with the rest
	fixed int       // backgrounds that nothing joins any more: they move on their own
}

// seam is how far a background reaches beneath the one beside it: where the two meet between two
// pixels nothing of the paper shows.
const seam = doc.Pt / 2

func (p *painter) fill(x, y, w, h doc.Length, c doc.Color) {
	if c.None() || w <= 0 || h <= 0 {
		return
	}
	back := p.page.Back
	const near = 32 // backgrounds before this one are looked at
	for i := len(back) - 1; i >= max(p.fixed, len(back)-near); i-- {
		b := &back[i]
		below := b.Y+b.H == y && x <= b.X && b.X+b.W <= x+w
		beside := b.X+b.W == x && y <= b.Y && b.Y+b.H <= y+h
		switch {
		case b.Round != nil || !below && !beside:
		case b.Color == c && i == len(back)-1 && below && b.X == x && b.W == w:
			b.H += h
			return
		case b.Color == c && i == len(back)-1 && beside && b.Y == y && b.H == h:
			b.W += w
			return
		case b.Color == c: // they are drawn as one
		case below:
			b.H += min(seam, h)
		default:
			b.W += min(seam, w)
		}
	}
	p.page.Back = append(back, RectItem{X: x, Y: y, W: w, H: h, Color: c})
}

// rule draws a line; all lines come after all backgrounds.
func (p *painter) rule(x, y, w, h doc.Length, c doc.Color) {
	p.line(x, y, w, h, doc.Line{Color: c})
}

// across draws a horizontal line that stands centred on y.
func (p *painter) across(x, y, w doc.Length, l doc.Line) {
	p.line(x, y-l.Width/2, w, l.Width, l)
}

// line is rule for a line that may be dashed; its width is w or h.
func (p *painter) line(x, y, w, h doc.Length, l doc.Line) {
	if w <= 0 || h <= 0 {
		return
	}
	if l.Color.None() {
		l.Color = doc.Black
	}
	p.rules = append(p.rules, RectItem{X: x, Y: y, W: w, H: h, Color: l.Color, Dash: l.Dash, Rule: true})
}

// frame draws a border inside the rectangle's edge.
func (p *painter) frame(x, y, w, h doc.Length, b *doc.Border) {
	if b == nil {
		return
	}
	top, bottom := b.Top.Width, b.Bottom.Width
	p.line(x, y, w, top, b.Top)
	p.line(x, y+h-bottom, w, bottom, b.Bottom)
	p.line(x, y+top, b.Left.Width, h-top-bottom, b.Left)
	p.line(x+w-b.Right.Width, y+top, b.Right.Width, h-top-bottom, b.Right)
}

// finish moves the rules behind the backgrounds.
func (p *painter) finish() {
	if len(p.edges) > 0 {
		for _, e := range p.joined() {
			p.page.Back = append(p.page.Back, e.rect())
		}
	}
	p.fixed = 0
	p.page.Back = append(p.page.Back, p.rules...)
	p.rules = p.rules[:0]
}

// para is a paragraph of lines at one leading.
type para struct {
	lines          []text.Line
	styles         []PieceStyle
	face           *face
	art            Artifact
	widow, orphans int
	links          bool       // some piece is a link
	place          string     // an anchor where it begins; empty: none
	inline         bool       // some piece is not plain text
	leaders        bool       // some tab has one
	cites          bool       // it is to be drawn: its notes are
	notes          []*note    // whose numbers stand in it
	dx             doc.Length // the margin at the left
}

func (b *para) size() doc.Length { return doc.Length(len(b.lines)) * b.face.lead }

func (b *para) baseline() (doc.Length, bool) { return b.face.base, len(b.lines) > 0 }

func (b *para) split(avail doc.Length, force bool) (block, block) {
	n := len(b.lines)
	fit := int(min(avail/b.face.lead, doc.Length(n)))
	if fit >= n {
		return b, nil
	}
	if !force {
		if n-fit < b.widow {
			fit = n - b.widow
		}
		if fit < min(b.orphans, n) {
			return nil, b
		}
	}
	if fit <= 0 {
		return nil, b
	}
	head, tail := *b, *b
	head.lines, tail.lines = b.lines[:fit], b.lines[fit:]
	tail.place = ""
	return &head, &tail
}

func (b *para) draw(p *painter, x, y doc.Length) {
	if b.place != "" {
		p.page.Marks = append(p.page.Marks, Mark{Anchor: b.place, Y: y})
	}
	x += b.dx
	for i := range b.lines {
		line := &b.lines[i]
		base := y + b.face.base
		if b.inline {
			b.drawInline(p, line, x, base)
		} else if len(line.Items) > 0 {
			t := p.texts.one()
			*t = TextItem{X: x, Y: base, Line: line, Pieces: b.styles, Artifact: b.art}
			p.page.Items = append(p.page.Items, Item{Text: t})
		}
		if b.leaders {
			b.drawLeaders(p, line, x, base)
		}
		if b.links {
			b.areas(p, line, x, base)
		}
		if b.notes != nil {
			b.citations(p, line, y)
		}
		y += b.face.lead
	}
}

// citations marks the places of the numbers of notes on a line, which the notes lead back to.
func (b *para) citations(p *painter, line *text.Line, y doc.Length) {
	for i := range line.Items {
		if n := b.styles[line.Items[i].Piece].note; n != nil {
			p.page.Marks = append(p.page.Marks, Mark{Anchor: hidden("cite", n.index), Y: y, Elem: n.cite.Elem, Src: n.src})
		}
	}
}

// areas adds the rectangles of the links on a line, one per link.
func (b *para) areas(p *painter, line *text.Line, x, base doc.Length) {
	for i := 0; i < len(line.Items); {
		l := b.styles[line.Items[i].Piece].Link
		j := i + 1
		for j < len(line.Items) && b.styles[line.Items[j].Piece].Link == l {
			j++
		}
		if l != nil {
			k := j
			for k > i+1 && line.Items[k-1].Space {
				k--
			}
			from, to := extent(line.Items[i:k])
			p.page.Links = append(p.page.Links, LinkArea{
				X: x + from, Y: base - b.face.ascent, W: to - from, H: b.face.ascent + b.face.descent, Link: l,
			})
		}
		i = j
	}
}

// extent returns where items begin and end on their line.
func extent(items []text.Item) (from, to doc.Length) {
	from, to = items[0].X, items[0].X+items[0].W
	for i := range items[1:] {
		it := &items[i+1]
		from, to = min(from, it.X), max(to, it.X+it.W)
	}
	return from, to
}

// fill is the room that a page has left: what is drawn behind it moves down when the page is full.
type fill struct{}

func (fill) size() doc.Length                      { return 0 }
func (fill) baseline() (doc.Length, bool)          { return 0, false }
func (fill) split(doc.Length, bool) (block, block) { return fill{}, nil }
func (fill) draw(p *painter, _, _ doc.Length)      { p.fills = append(p.fills, p.spot()) }

// space is empty height.
type space struct{ h doc.Length }

func (b space) size() doc.Length                          { return b.h }
func (b space) baseline() (doc.Length, bool)              { return 0, false }
func (b space) draw(*painter, doc.Length, doc.Length)     {}
func (b space) split(a doc.Length, _ bool) (block, block) { return space{min(b.h, a)}, nil } // the page takes the rest
func (b *picture) baseline() (doc.Length, bool)           { return 0, false }
func (b *picture) size() doc.Length                       { return b.h }
func (b line) size() doc.Length                           { return b.thick }
func (b line) baseline() (doc.Length, bool)               { return 0, false }
func (b line) split(a doc.Length, _ bool) (block, block)  { return whole(b, a) }
func (b line) draw(p *painter, x, y doc.Length)           { p.rule(x, y, b.w, b.thick, b.color) }

// line is a horizontal rule.
type line struct {
	w, thick doc.Length
	color    doc.Color
}

// whole splits what cannot be split.
func whole(b block, avail doc.Length) (block, block) {
	if b.size() <= avail {
		return b, nil
	}
	return nil, b
}

// picture is an image.
type picture struct {
	item ImageItem
	dx   doc.Length // from the left edge of its place
	w, h doc.Length
	link *Link
}

func (b *picture) split(avail doc.Length, _ bool) (block, block) { return whole(b, avail) }

func (b *picture) draw(p *painter, x, y doc.Length) {
	it := b.item
	it.X, it.Y, it.W, it.H = x+b.dx, y, b.w, b.h
	p.page.Items = append(p.page.Items, Item{Image: &it})
	if b.link != nil {
		p.page.Links = append(p.page.Links, LinkArea{X: it.X, Y: y, W: b.w, H: b.h, Link: b.link})
	}
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
	if b.size() <= avail {
		return b, nil
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
	b.body.draw(p, x+e.Left, y+e.Top+b.drop())
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
