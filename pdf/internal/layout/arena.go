package layout

import (
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/arena"
	"example.com/quire/pdf/internal/tag"
	"example.com/quire/pdf/internal/text"
)

// Memory is what one document is laid out in, for one after the other: what a document leaves in it
// is cleared before the next one is begun. The zero value is ready.
type Memory struct {
	blocks  blocks
	page    Page
	painter painter
	pieces  []text.Piece
	faces   map[*doc.Style]*face
	derived map[derived]*doc.Style
	anchors map[string]*doc.Source
	images  map[imageKey]ImageItem // of all passes
	waits   []late
	maker   maker
	flow    flow
	region  region
}

// mostKept bounds, in values, what is kept of a page for the next document.
const mostKept = 4096

// Reset forgets the document: nothing that was made of it may be used any more.
func (m *Memory) Reset() {
	m.forget()
	if len(m.images) > mostKept {
		m.images = nil
	}
	clear(m.images)
}

// forget is Reset of what one pass made.
func (m *Memory) forget() {
	m.blocks.reset()
	m.maker, m.flow, m.region = maker{}, flow{}, region{}
	m.waits = emptied(m.waits)
	p := &m.page
	*p = Page{
		Back: emptied(p.Back), Items: emptied(p.Items), Links: emptied(p.Links), Marks: emptied(p.Marks),
		Begun: emptied(p.Begun), Done: emptied(p.Done),
	}
	d := &m.painter
	d.turn()
	*d = painter{
		rules: emptied(d.rules), edges: emptied(d.edges), lines: emptied(d.lines), texts: d.texts, words: d.words,
		fills: emptied(d.fills), still: emptied(d.still), written: emptied(d.written),
	}
	m.pieces = emptied(m.pieces)
	if m.images == nil {
		m.images = map[imageKey]ImageItem{}
	}
	if m.faces == nil {
		m.faces, m.derived, m.anchors = map[*doc.Style]*face{}, map[derived]*doc.Style{}, map[string]*doc.Source{}
		return
	}
	if len(m.faces)+len(m.derived)+len(m.anchors) > mostKept { // a map never becomes smaller
		m.faces, m.derived, m.anchors = nil, nil, nil
		m.forget()
		return
	}
	clear(m.faces)
	clear(m.derived)
	clear(m.anchors)
}

// emptied clears a slice for the next document, and drops one that is large.
func emptied[T any](s []T) []T {
	if cap(s) > mostKept {
		return nil
	}
	s = s[:cap(s)]
	clear(s)
	return s[:0]
}

// blocks are what one document is made of.
type blocks struct {
	paras       arena.Of[para]
	words       arena.Of[word]
	styles      arena.Of[PieceStyle]
	stacks      arena.Of[stack]
	entries     arena.Of[entry]
	groups      arena.Of[group]
	rows        arena.Of[groupRow]
	cells       arena.Of[groupCell]
	lengths     arena.Of[doc.Length]
	links       arena.Of[Link]
	marks       arena.Of[Mark]
	tables      arena.Of[table]
	runs        arena.Of[rowRun]
	columns     arena.Of[*doc.Style]
	columnFaces arena.Of[*face]
	ints        arena.Of[int]
	widths      arena.Of[doc.Width]
	heads       arena.Of[doc.Row]
	headOf      arena.Of[doc.Cell]
	faces       arena.Of[face]
	derived     arena.Of[doc.Style]
	elems       arena.Of[tag.Elem]
	spare       spareRows
}

// spareRows are rows that were drawn, with their cells and words, and the elements of these: those that follow are made in their
// memory, so that a table takes what a page of it does.
type spareRows struct {
	groups []*group
	words  []*word
	elems  []*tag.Elem
	list   []*tag.Elem // empty
}

// row returns a row without cells, with room for n of them.
func (m *blocks) row(n int) *group {
	spare := m.spare.groups
	if len(spare) == 0 {
		g := m.groups.One()
		g.rows, g.cells = m.rows.Take(1)[:0], m.cells.Take(n)[:0]
		return g
	}
	g := spare[len(spare)-1]
	m.spare.groups = spare[:len(spare)-1]
	if cap(g.cells) < n {
		g.cells = m.cells.Take(n)[:0]
	}
	return g
}

// word returns an empty word.
func (m *blocks) word() *word {
	spare := m.spare.words
	if len(spare) == 0 {
		return m.words.One()
	}
	m.spare.words = spare[:len(spare)-1]
	return spare[len(spare)-1]
}

// elem returns an empty element.
func (m *blocks) elem() *tag.Elem {
	spare := m.spare.elems
	if len(spare) == 0 {
		return m.elems.One()
	}
	m.spare.elems = spare[:len(spare)-1]
	return spare[len(spare)-1]
}

// letGo takes back lists of elements that are written and that nothing leads to.
func (m *blocks) letGo(lists [][]*tag.Elem) {
	for _, elems := range lists {
		for _, e := range elems {
			*e = tag.Elem{}
		}
		m.spare.elems = append(m.spare.elems, elems...)
		clear(elems)
		m.spare.list = elems[:0]
	}
}

// drawn takes back the rows among entries that are not drawn again.
func (m *blocks) drawn(entries []entry) {
	for i := range entries {
		if g, ok := entries[i].b.(*group); ok && g.once {
			m.take(g)
		}
	}
}

func (m *blocks) take(g *group) {
	for i := range g.cells {
		if w, ok := g.cells[i].body.(*word); ok {
			*w = word{}
			m.spare.words = append(m.spare.words, w)
		}
	}
	clear(g.cells)
	clear(g.rows)
	*g = group{rows: g.rows[:0], cells: g.cells[:0]}
	m.spare.groups = append(m.spare.groups, g)
}

// parting is how many pages lie between two partings of the memory.
const parting = 64

// turn is told that page n is done. A block of memory lives as long as any of its values, and what
// these point to lies in blocks that values of pages before share: row by row, box by box, the
// memory of the last page would keep that of all pages. Now and then it is parted.
func (m *blocks) turn(n int) {
	if n%parting != 0 {
		return
	}
	m.paras.Part()
	m.words.Part()
	m.styles.Part()
	m.stacks.Part()
	m.entries.Part()
	m.groups.Part()
	m.rows.Part()
	m.cells.Part()
	m.lengths.Part()
	m.links.Part()
	m.marks.Part()
	m.tables.Part()
	m.runs.Part()
	m.columns.Part()
	m.columnFaces.Part()
	m.ints.Part()
	m.widths.Part()
	m.heads.Part()
	m.headOf.Part()
}

func (m *blocks) reset() {
	m.spare = spareRows{groups: emptied(m.spare.groups), words: emptied(m.spare.words), elems: emptied(m.spare.elems)}
	m.paras.Reset()
	m.words.Reset()
	m.styles.Reset()
	m.stacks.Reset()
	m.entries.Reset()
	m.groups.Reset()
	m.rows.Reset()
	m.cells.Reset()
	m.lengths.Reset()
	m.links.Reset()
	m.marks.Reset()
	m.tables.Reset()
	m.runs.Reset()
	m.columns.Reset()
	m.columnFaces.Reset()
	m.ints.Reset()
	m.widths.Reset()
	m.heads.Reset()
	m.headOf.Reset()
	m.faces.Reset()
	m.derived.Reset()
	m.elems.Reset()
}
