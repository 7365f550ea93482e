package layout

import (
	"slices"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/text"
)

// Pages with columns are filled as blocks of columns are, a page at a time: what is to stand in
// them is gathered until it is certainly more than a page holds. At the end of the section, and
// before a break, it is balanced.

// gathered is what is not yet in columns of a page.
type gathered struct {
	entries []entry
	high    doc.Length // of all, one below the other
	ended   bool       // a column is, before the next entry
}

// columned reports whether the pages have columns.
func (r *region) columned() bool { return r.master.Columns.Count > 1 }

// inner is the env of the blocks of the body: as wide as a column.
func (f *flow) inner() env {
	en := f.env()
	if f.columned() {
		c := &f.master.Columns
		en.width = columnWidth(c.Count, c.Gap, f.width)
	}
	return en
}

// gather adds an entry.
func (f *flow) gather(e entry) error {
	g := &f.gathered
	if g.ended {
		e.breakBefore, g.ended = doc.BreakColumn, false
	}
	if n := len(g.entries); n > 0 {
		g.high += gap(g.entries[n-1].after, e.before)
	}
	g.high += e.b.size()
	g.entries = append(g.entries, e)
	return f.pour()
}

// pour fills pages while there is more than one holds.
func (f *flow) pour() error {
	g := &f.gathered
	for {
		// A column more than there are: spaces that vanish between columns are less.
		if g.high <= doc.Length(f.master.Columns.Count+1)*max(f.tallest, f.bottom-f.top) {
			return nil
		}
		if f.broken {
			if err := f.begun(); err != nil {
				return err
			}
		}
		b := f.inColumns()
		b.uneven = true // the page is full
		rest, ok := f.try([]entry{{b: b, src: g.entries[0].src}}, 0)
		switch {
		case ok && rest == nil:
			*g = gathered{}
			return nil
		case ok:
			left := rest[0].b.(*columns).body //nolint:forcetypeassert // columns are split into columns
			g.entries, g.high = left.entries, left.size()
		case f.fresh && f.kept == 0:
			return f.pourAll() // which tells what is higher than a page
		}
		if err := f.next(); err != nil {
			return err
		}
	}
}

// pourAll sets all that was gathered.
func (f *flow) pourAll() error {
	all := f.gathered.entries
	if len(all) == 0 {
		return nil
	}
	e := entry{b: f.inColumns(), before: all[0].before, after: all[len(all)-1].after, src: all[0].src}
	f.gathered = gathered{}
	return f.place([]entry{e})
}

// inColumns is what was gathered as a block.
func (f *flow) inColumns() *columns {
	c := &f.master.Columns
	return &columns{
		n: c.Count, w: columnWidth(c.Count, c.Gap, f.width), gap: c.Gap, uneven: c.Uneven,
		rtl: text.RightToLeft(f.within.lang), body: &stack{f.gathered.entries},
	}
}

// absolute is a block at an absolute position of the page, wherever in the flow it is drawn.
type absolute struct {
	e     entry
	x, y  doc.Length
	high  doc.Length // what the place holds, or what is kept for it
	layer doc.Layer
}

func (b *absolute) size() doc.Length                      { return 0 }
func (b *absolute) baseline() (doc.Length, bool)          { return 0, false }
func (b *absolute) split(doc.Length, bool) (block, block) { return b, nil }

func (b *absolute) draw(p *painter, _, _ doc.Length) {
	before := p.spot()
	switch b.layer {
	case doc.LayerUnder:
		p.page.Beneath = p.layer(p.page.Beneath, &b.e, b.x, b.y)
	case doc.LayerOver:
		p.page.Above = p.layer(p.page.Above, &b.e, b.x, b.y)
	default:
		b.e.draw(p, b.x, b.y)
	}
	p.still = append(p.still, [2]spot{before, p.spot()})
}

func isStanding(e entry) bool {
	_, ok := e.b.(*absolute)
	return ok
}

// stands reports whether something in the columns stands at a place of the page.
func (b *columns) stands() bool { return slices.ContainsFunc(b.body.entries, isStanding) }
