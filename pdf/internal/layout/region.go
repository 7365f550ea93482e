package layout

import (
	"slices"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/tag"
)

// region is what the pages of a section have in common, or those of the document around its
// sections.
type region struct {
	master         doc.Master
	header, footer *doc.Running
	background     *doc.Running
	numbering      doc.Numbering
	around         *region // that of the section around; nil: of the document
	from           int     // number of its first page; 0: the pages are counted on
	first          int     // its first page in the file; 0: there is none yet
	begun          int     // the first page in the file of it or of a section within it; 0: likewise

	width     doc.Length // of the body
	tallest   doc.Length // the height of the highest body of its pages but the first
	running   running
	watermark *doc.Watermark
	under     *UnderItem
}

// section lays out a section on pages of its own.
func (f *flow) section(n *doc.Section) error {
	if n.Artifact {
		return neverArtifact("a section", n.Src)
	}
	if err := f.breakPage(n.BreakBefore); err != nil {
		return err
	}
	outer, around := f.region, f.within
	in, err := f.regionOf(n)
	if err != nil {
		return err
	}
	f.enter(in)
	if n.Style != nil {
		f.within.style = n.Style
	}
	f.within.lang = firstOf(n.Lang, f.within.lang)
	// The element is complete at the end of the document: the tables of contents within it point
	// at what is yet to come.
	kind := tag.Sect
	if n.Part {
		if kind = tag.Part; around.elem != nil && around.elem.Type != tag.Part {
			return failed(at(n.Src, "L305", "a part of the document is allowed in another part, not in a section"))
		}
	}
	f.within.elem = f.m.elem(around.elem, kind, n.Src, n.Lang)
	if err := f.m.identify(&n.Block, f.within.elem); err != nil {
		return err
	}
	e := entry{b: space{}, keepNext: true, src: n.Src}
	if err := f.m.mark(&e, n, f.within.elem); err != nil {
		return err
	}
	if e.mark != nil {
		if err := f.add(e); err != nil {
			return err
		}
	}
	number := f.m.number
	if f.m.footnotes.Restart == doc.RestartSection {
		f.m.number = 0
		defer func() { f.m.number = number }()
	}
	if err := f.nodes(n.Body); err != nil {
		return err
	}
	if err := f.breakPage(doc.BreakPage); err != nil {
		return err
	}
	f.within = around
	f.enter(outer)
	return nil
}

// regionOf returns the region of a section.
func (f *flow) regionOf(n *doc.Section) (*region, error) {
	r := *f.region
	r.around, r.from, r.numbering, r.first, r.begun = f.region, n.NumberFrom, n.Numbering, 0, 0
	if n.Page != nil {
		r.master = sized(*n.Page)
	}
	if n.Header != nil {
		r.header = n.Header
	}
	if n.Footer != nil {
		r.footer = n.Footer
	}
	if n.Background != nil {
		r.background = n.Background
	}
	if n.Watermark != nil {
		r.watermark = n.Watermark
	}
	outer := f.region
	f.region = &r
	defer func() { f.region = outer }()
	if n.Page != nil || n.Header != nil || n.Footer != nil || n.Background != nil {
		if err := f.measureRunning(n.Src); err != nil {
			return nil, err
		}
	}
	if n.Watermark != nil || r.master.Width != outer.master.Width || r.master.Height != outer.master.Height {
		return &r, f.makeWatermark()
	}
	return &r, nil
}

// enter makes r the region of what is laid out next. A page that shows nothing yet becomes one of
// r; any other has been ended by a break.
func (f *flow) enter(r *region) {
	f.region = r
	if f.blank {
		if f.sheet.first == f.number {
			f.sheet.first = 0
		}
		f.begin()
	}
}

// begin makes the open page one of the region. What it shows already, anchors, stays.
func (f *flow) begin() {
	r := f.region
	f.sheet = r
	f.label = f.counted + 1
	if from := r.startsAt(f.number); from > 0 {
		f.label = from
	}
	if r.first == 0 {
		r.first = f.number
	}
	for of := r; of != nil && of.begun == 0; of = of.around {
		of.begun = f.number
	}
	f.body = r.bodyOf(r.first == f.number, f.label)
	f.page.Width, f.page.Height, f.page.Background, f.page.Under = r.master.Width, r.master.Height, f.body.look.Background, r.under
	f.page.Label = PageLabel{Number: f.label, Numbering: r.numbering}
	f.continueNotes()
	f.y, f.after, f.fresh, f.blank, f.blankBody = f.top, 0, true, f.kept == 0, true
}

// startsAt returns the number that a section gives to a page of the file as its first one, or a
// section around it that begins with it; 0: none does.
func (r *region) startsAt(page int) int {
	for ; r != nil && (r.begun == 0 || r.begun == page); r = r.around {
		if r.from > 0 {
			return r.from
		}
	}
	return 0
}

// sized is m with the size of A4 when it has none.
func sized(m doc.Master) doc.Master {
	if m.Width <= 0 || m.Height <= 0 {
		m.Width, m.Height = doc.MM(210), doc.MM(297)
	}
	return m
}

// settle moves the content of the open page to where the page has it stand.
func (f *flow) settle() {
	room := f.bottom - f.y
	fills := f.painter.fills
	switch {
	case room <= 0:
	case len(fills) > 0:
		for i, from := range fills {
			share := room / doc.Length(len(fills)-i)
			f.painter.shift(from, share)
			room -= share
		}
	case f.master.VAlign == doc.VAlignMiddle:
		f.painter.shift(spot{}, room/2)
	case f.master.VAlign == doc.VAlignBottom:
		f.painter.shift(spot{}, room)
	}
	f.painter.fills, f.painter.still = fills[:0], f.painter.still[:0]
}

// spot says what of a page was drawn before a moment.
type spot struct{ back, rules, edges, items, links, marks, areas int }

func (p *painter) spot() spot {
	p.fixed = len(p.page.Back)
	return p.now()
}

// now is spot for whoever moves nothing.
func (p *painter) now() spot {
	return spot{len(p.page.Back), len(p.rules), len(p.edges), len(p.page.Items), len(p.page.Links), len(p.page.Marks), len(p.page.Areas)}
}

// shift moves what was drawn on the page from a moment on down, but for what stands at its place.
func (p *painter) shift(from spot, by doc.Length) {
	each := func(n int, at func(spot) int, move func(i int)) {
		for i := at(from); i < n; i++ {
			if !slices.ContainsFunc(p.still, func(r [2]spot) bool { return at(r[0]) <= i && i < at(r[1]) }) {
				move(i)
			}
		}
	}
	page := p.page
	each(len(page.Back), func(s spot) int { return s.back }, func(i int) { page.Back[i].Y += by })
	each(len(p.rules), func(s spot) int { return s.rules }, func(i int) { p.rules[i].Y += by })
	each(len(p.edges), func(s spot) int { return s.edges }, func(i int) { p.edges[i].move(by) })
	each(len(page.Items), func(s spot) int { return s.items }, func(i int) {
		switch it := &page.Items[i]; {
		case it.Text != nil:
			it.Text.Y += by
		case it.Words != nil:
			it.Words.Y += by
		case it.Image != nil:
			it.Image.Y += by
		case it.Turn != nil:
			it.Turn.Y += by
		case it.Widget != nil:
			it.Widget.Y += by
		default:
			it.Shape.Y += by
			for k := range it.Shape.Rects {
				it.Shape.Rects[k].Y += by
			}
		}
	})
	each(len(page.Links), func(s spot) int { return s.links }, func(i int) { page.Links[i].Y += by })
	each(len(page.Marks), func(s spot) int { return s.marks }, func(i int) { page.Marks[i].Y += by })
	each(len(page.Areas), func(s spot) int { return s.areas }, func(i int) { page.Areas[i].Y += by })
}

// fixed draws blocks at their place on the page.
func (f *flow) fixed(n *doc.Place) error {
	if !f.columned() {
		if err := f.flush(); err != nil {
			return err
		}
		if f.broken {
			if err := f.begun(); err != nil {
				return err
			}
		}
	}
	if m := f.master; n.Width <= 0 || n.X < 0 || n.Y < 0 || n.X+n.Width > m.Width || n.Y+n.Height > m.Height {
		return failed(at(n.Src, "L317", "the place lies beyond the sheet, which is %s by %s", mm(m.Width), mm(m.Height)))
	}
	b, err := f.m.placed(n, f.env())
	if err != nil {
		return err
	}
	if h, room := b.high, f.master.Height-n.Y; h > room {
		return failed(at(n.Src, "L317", "the content is %s high, the place has %s", mm(h), mm(room)))
	}
	if f.columned() { // it is drawn with what stands around it
		return f.gather(entry{b: b, src: n.Src})
	}
	b.draw(&f.painter, 0, 0)
	f.blank = false
	return nil
}

// placed lays out the blocks of a place.
func (m *maker) placed(n *doc.Place, en env) (*absolute, error) {
	en.width, en.around = n.Width, 0
	if n.Style != nil {
		en.style = n.Style
	}
	en.lang = firstOf(n.Lang, en.lang)
	e := entry{src: n.Src}
	err := m.isolated(&n.Block, func() (err error) {
		e.done = m.spoken(&en, &n.Block)
		around := m.noNotes
		m.noNotes = "a place beside the flow"
		e.b, err = m.placedBlocks(n, en)
		m.noNotes = around
		if err != nil {
			return err
		}
		if err := m.identify(&n.Block, e.done); err != nil {
			return err
		}
		return m.mark(&e, n, nil)
	})
	if err != nil {
		return nil, err
	}
	if h := e.b.size(); n.Height > 0 && h > n.Height {
		return nil, failed(at(n.Src, "L317", "the content is %s high, the place has %s", mm(h), mm(n.Height)))
	}
	return &absolute{e, n.X, n.Y, max(e.b.size(), n.Height), n.Layer}, nil
}

// placedBlocks lays out the blocks of a place, turned if it says so.
func (m *maker) placedBlocks(n *doc.Place, en env) (block, error) {
	lay := func(en env) (*stack, error) { return m.stack(n.Nodes, en) }
	if n.Turn != 0 {
		return m.turned(n.Nodes, n.Turn, n.Height, en, n.Src, lay)
	}
	return lay(en)
}

// layer draws an entry in a layer of the page: its backgrounds and rules lie in it, too.
func (p *painter) layer(to []Item, e *entry, x, y doc.Length) []Item {
	page := &Page{}
	in := painter{page: page, trace: p.trace}
	e.draw(&in, x, y)
	in.finish()
	if len(page.Back) > 0 {
		to = append(to, Item{Shape: &ShapeItem{X: x, Y: y, Rects: page.Back, Artifact: ArtifactLayout}})
	}
	p.page.Links, p.page.Marks = append(p.page.Links, page.Links...), append(p.page.Marks, page.Marks...)
	p.page.Done, p.page.Areas = append(p.page.Done, page.Done...), append(p.page.Areas, page.Areas...)
	return append(to, page.Items...)
}
