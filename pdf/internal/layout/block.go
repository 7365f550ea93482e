package layout

import (
	"math"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/arena"
	"example.com/quire/pdf/internal/tag"
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
	edges []edge              // of tables, see joined
	lines []edge              // the memory of joined
	texts arena.Of[TextItem]  // of the page
	lists arena.Of[WordsItem] // likewise
	words arena.Of[Word]      // likewise
	fills []spot              // what was drawn before each
	still [][2]spot           // what does not move with the rest
	fixed int                 // backgrounds that nothing joins any more: they move on their own
	trace bool                // the page says what stands where
	// images and widgets are those of the page.
	images  arena.Of[ImageItem]
	widgets arena.Of[WidgetItem]
	// written are the elements of rows that are not used any more when the page is handed over.
	written [][]tag.Elem
}

// turn lets what was drawn on the page before go: its memory is that of the next page.
func (p *painter) turn() {
	p.texts.Reset()
	p.lists.Reset()
	p.words.Reset()
	p.images.Reset()
	p.widgets.Reset()
}

// area notes that src was drawn from a moment on, between two heights: as wide as all of that.
func (p *painter) area(src *doc.Source, from spot, y, h doc.Length) {
	if !p.trace || src == nil || h <= 0 {
		return
	}
	left, right := doc.Length(math.MaxInt64), doc.Length(math.MinInt64)
	wide := func(x, w doc.Length) { left, right = min(left, x), max(right, x+w) }
	for _, it := range p.page.Items[from.items:] {
		switch {
		case it.Text != nil:
			wide(it.Text.X, it.Text.Line.Width)
		case it.Words != nil:
			for i := range it.Words.Words {
				word := &it.Words.Words[i]
				w, _, _ := word.Style.Chain.WordWidth(word.Text, word.Style.Size)
				wide(it.Words.X+word.X, w)
			}
		case it.Image != nil:
			wide(it.Image.X, it.Image.W)
		case it.Shape != nil:
			wide(it.Shape.X, it.Shape.W)
		case it.Turn != nil:
			wide(it.Turn.X, it.Turn.W)
		case it.Widget != nil:
			wide(it.Widget.X, it.Widget.W)
		}
	}
	for _, rects := range [][]RectItem{p.page.Back[min(from.back, len(p.page.Back)):], p.rules[from.rules:]} {
		for _, r := range rects {
			wide(r.X, r.W)
		}
	}
	for _, a := range p.page.Areas[from.areas:] {
		wide(a.X, a.W)
	}
	if left < right {
		p.page.Areas = append(p.page.Areas, Area{Rect{X: left, Y: y, W: right - left, H: h}, src})
	}
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

// line is a horizontal rule.
type line struct {
	dx, w doc.Length
	doc.Line
}

func (b line) size() doc.Length                          { return b.Width }
func (b line) baseline() (doc.Length, bool)              { return 0, false }
func (b line) split(a doc.Length, _ bool) (block, block) { return whole(b, a) }
func (b line) draw(p *painter, x, y doc.Length)          { p.line(x+b.dx, y, b.w, b.Width, b.Line) }

// whole splits what cannot be split.
func whole(b block, avail doc.Length) (block, block) {
	if b.size() <= avail {
		return b, nil
	}
	return nil, b
}
