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
	begun   []*tag.Elem
	faces   map[*doc.Style]*face
	derived map[derived]*doc.Style
	anchors map[string]*doc.Source
	ids     map[string]identified
	images  map[imageKey]ImageItem // of all passes
	waits   []late
	maker   maker
	flow    flow
	region  region
	ready   bool                   // nothing is left of a document
	heights map[runningKey]heights // of what documents have alike: they are kept
}

// mostKept bounds, in values, what is kept of a page for the next document.
const mostKept = 4096

// Reset forgets the document: nothing that was made of it may be used any more.
func (m *Memory) Reset() {
	m.forget()
	if len(m.images) > mostKept { // a map never becomes smaller
		m.images = map[imageKey]ImageItem{}
	}
	clear(m.images)
}

// begin is called before a pass.
func (m *Memory) begin() {
	m.forget() // the pass before
	m.ready = false
}

// forget is Reset of what one pass made.
func (m *Memory) forget() {
	if m.ready {
		return
	}
	m.ready = true
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
		rules: emptied(d.rules), edges: emptied(d.edges), lines: emptied(d.lines), texts: d.texts, lists: d.lists, words: d.words,
		images: d.images, widgets: d.widgets, fills: emptied(d.fills), still: emptied(d.still), written: emptied(d.written),
	}
	m.pieces, m.begun = emptied(m.pieces), emptied(m.begun)
	if m.images == nil {
		m.images = map[imageKey]ImageItem{}
	}
	if m.faces == nil || len(m.faces)+len(m.derived)+len(m.anchors)+len(m.ids) > mostKept { // a map never becomes smaller
		m.faces, m.derived = map[*doc.Style]*face{}, map[derived]*doc.Style{}
		m.anchors, m.ids = map[string]*doc.Source{}, map[string]identified{}
		return
	}
	clear(m.faces)
	clear(m.derived)
	clear(m.anchors)
	clear(m.ids)
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
	rowWords    arena.Of[Word]
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
	wordColumns arena.Of[wordColumn]
	heads       arena.Of[doc.Row]
	headOf      arena.Of[doc.Cell]
	faces       arena.Of[face]
	derived     arena.Of[doc.Style]
	elems       arena.Of[tag.Elem]
	buttons     arena.Of[button]
	captions    arena.Of[caption]
	widgets     arena.Of[widget]
	pictures    arena.Of[picture]
	looks       []*look
	used        int // looks of this document
	again       rowMemory
}

// mostLooks is how many looks of fields are kept for the next document.
const mostLooks = 32

// look returns the memory that the look of a field is made in.
func (m *blocks) look() *look {
	if m.used == mostLooks {
		return &look{}
	}
	if m.used == len(m.looks) {
		m.looks = append(m.looks, &look{})
	}
	m.used++
	return m.looks[m.used-1]
}

// rowMemory is that of the rows of tables that are drawn on pages as they come, with their cells,
// the words in them, and the elements of these. A row that was drawn gives its memory to those that
// follow, so that a table takes what some pages of it do. It lies apart from all else: a block of
// memory lives as long as any of its values.
type rowMemory struct {
	groups arena.Of[group]
	rows   arena.Of[groupRow]
	cells  arena.Of[groupCell]
	words  arena.Of[word]
	lists  arena.Of[Word] // of rows of words alone
	elems  arena.Of[tag.Elem]
	listed arena.Of[[]tag.Elem] // in lists of the bodies of tables

	spareGroups []*group
	spareWords  []*word
	spareElems  [][]tag.Elem // of a row each

	poisons bool // see Poison
}

func (m *rowMemory) reset() {
	m.groups.Reset()
	m.rows.Reset()
	m.cells.Reset()
	m.words.Reset()
	m.lists.Reset()
	m.elems.Reset()
	m.listed.Reset()
	m.spareGroups, m.spareWords, m.spareElems = emptied(m.spareGroups), emptied(m.spareWords), emptied(m.spareElems)
}

// last takes the last of spare values; nil: there is none.
func last[T any](spare *[]*T) *T {
	n := len(*spare) - 1
	if n < 0 {
		return nil
	}
	v := (*spare)[n]
	*spare = (*spare)[:n]
	return v
}

// group returns a row without cells.
func (m *rowMemory) group() *group {
	g := last(&m.spareGroups)
	if g == nil {
		g = m.groups.One()
		g.rows = m.rows.Take(1)[:0]
	}
	g.once = true
	return g
}

// word returns an empty word.
func (m *rowMemory) word() *word {
	if w := last(&m.spareWords); w != nil {
		return w
	}
	return m.words.One()
}

// row returns n empty elements.
func (m *rowMemory) row(n int) []tag.Elem {
	if last := len(m.spareElems) - 1; last >= 0 {
		elems := m.spareElems[last]
		if m.spareElems = m.spareElems[:last]; len(elems) >= n {
			return elems[:n]
		}
	}
	return m.elems.Take(n)
}

// Poison lets the memory of rows in m serve once: what is given back is overwritten with a marker
// in the place of being used again. So does that of what waits for the number of pages. It is for
// tests, which hold documents against those that are made so.
func Poison(m *Memory) { m.blocks.again.poisons = true }

// marker stands in what is given back.
const marker = "POISON"

// drawn takes back the rows among entries that were drawn.
func (m *rowMemory) drawn(entries []entry) {
	for i := range entries {
		g := onceRow(entries[i].b)
		if g == nil {
			continue
		}
		for k := range g.cells {
			switch w, ok := g.cells[k].body.(*word); {
			case !ok:
			case m.poisons:
				w.Text, w.Elem = marker, nil
			default:
				*w = word{}
				m.spareWords = append(m.spareWords, w)
			}
		}
		m.cut(g)
	}
}

// onceRow returns a row whose memory is used again; nil: b is none.
func onceRow(b block) *group {
	if g, ok := b.(*group); ok && g.once {
		return g
	}
	return nil
}

// cut takes back a row whose cells are those of others now.
func (m *rowMemory) cut(g *group) {
	clear(g.cells)
	clear(g.rows)
	if m.poisons {
		for i := range g.words {
			g.words[i].Text, g.words[i].Elem = marker, nil
		}
		return
	}
	*g = group{rows: g.rows[:0], cells: g.cells[:0], words: g.words[:0]}
	m.spareGroups = append(m.spareGroups, g)
}

// written takes back the elements of rows that are in the file, and that nothing leads to.
func (m *rowMemory) written(rows [][]tag.Elem) {
	for _, elems := range rows {
		clear(elems)
		if m.poisons {
			for i := range elems {
				elems[i].Lang, elems[i].Alt = marker, marker
			}
			continue
		}
		m.spareElems = append(m.spareElems, elems)
	}
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
	m.styles.Part()
	m.stacks.Part()
	m.entries.Part()
	m.groups.Part()
	m.rows.Part()
	m.cells.Part()
	m.lengths.Part()
	m.part()
}

// part parts the memory of what pages have few of.
func (m *blocks) part() {
	m.words.Part()
	m.rowWords.Part()
	m.links.Part()
	m.marks.Part()
	m.tables.Part()
	m.runs.Part()
	m.columns.Part()
	m.columnFaces.Part()
	m.ints.Part()
	m.widths.Part()
	m.wordColumns.Part()
	m.heads.Part()
	m.headOf.Part()
	m.buttons.Part()
	m.captions.Part()
	m.widgets.Part()
	m.pictures.Part()
}

// mark begins what pages show once the number of pages is known: a page has no more of it once it
// was handed over, so that rewind gives its memory to the next one. Links, marks and elements are
// not of it, which what is at the end of the document may lead to, nor what is of the rows of
// tables, which see to it themselves.
func (m *blocks) mark() {
	m.paras.Mark()
	m.styles.Mark()
	m.stacks.Mark()
	m.entries.Mark()
	m.groups.Mark()
	m.rows.Mark()
	m.cells.Mark()
	m.lengths.Mark()
}

// rewind takes back what is since mark.
func (m *blocks) rewind() {
	if m.again.poisons { // it is let go, and not used again
		return
	}
	m.paras.Rewind()
	m.styles.Rewind()
	m.stacks.Rewind()
	m.entries.Rewind()
	m.groups.Rewind()
	m.rows.Rewind()
	m.cells.Rewind()
	m.lengths.Rewind()
}

func (m *blocks) reset() {
	m.again.reset()
	m.paras.Reset()
	m.words.Reset()
	m.rowWords.Reset()
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
	m.wordColumns.Reset()
	m.heads.Reset()
	m.headOf.Reset()
	m.faces.Reset()
	m.derived.Reset()
	m.elems.Reset()
	m.buttons.Reset()
	m.captions.Reset()
	m.widgets.Reset()
	m.pictures.Reset()
	for _, l := range m.looks[:m.used] {
		l.reset()
	}
	m.used = 0
}
