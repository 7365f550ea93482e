package layout

import (
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/tag"
	"example.com/quire/pdf/internal/text"
)

// arena hands out zero values from blocks of memory: a document lays out
// thousands of small things of a few kinds, most of which live as long as their
// page. A block is let go with the last of its values.
type arena[T any] struct {
	free  []T
	size  int // of the block taken last
	first []T // the block that is used again by the next document
	taken int // values so far
}

// The sizes of a block, in values: small documents take little.
const (
	firstBlock = 16
	largeBlock = 256
)

// one returns a zero value.
func (a *arena[T]) one() *T { return &a.take(1)[0] }

// take returns n zero values; appending to them moves them.
func (a *arena[T]) take(n int) []T {
	if n > len(a.free) {
		a.size = min(max(2*a.size, firstBlock), largeBlock)
		a.free = make([]T, max(a.size, n))
	}
	a.taken += n
	s := a.free[:n:n]
	a.free = a.free[n:]
	return s
}

// part lets the values that are taken next lie in a block of their own.
func (a *arena[T]) part() { a.free = nil }

// reset takes all values back. The first block is cleared and used again; it grows to what documents need.
func (a *arena[T]) reset() {
	clear(a.first[:min(a.taken, len(a.first))])
	if a.taken > len(a.first) && len(a.first) < largeBlock {
		a.first = make([]T, min(max(a.taken, firstBlock), largeBlock))
	}
	a.free, a.size, a.taken = a.first, len(a.first), 0
}

// Memory is what one document is laid out in, for one after the other: what a document leaves in it is
// cleared before the next one is begun. The zero value is ready.
type Memory struct {
	blocks  blocks
	page    Page
	painter painter
	pieces  []text.Piece
	faces   map[*doc.Style]*face
	derived map[derived]*doc.Style
	anchors map[string]*doc.Source
}

// mostKept bounds, in values, what is kept of a page for the next document.
const mostKept = 4096

// Reset forgets the document: nothing that was made of it may be used any more.
func (m *Memory) Reset() {
	m.blocks.reset()
	p := &m.page
	*p = Page{
		Back: emptied(p.Back), Items: emptied(p.Items), Links: emptied(p.Links), Marks: emptied(p.Marks),
		Begun: emptied(p.Begun), Done: emptied(p.Done),
	}
	d := &m.painter
	d.texts.reset()
	*d = painter{rules: emptied(d.rules), edges: emptied(d.edges), lines: emptied(d.lines), texts: d.texts, fills: emptied(d.fills), still: emptied(d.still)}
	m.pieces = emptied(m.pieces)
	if m.faces == nil {
		m.faces, m.derived, m.anchors = map[*doc.Style]*face{}, map[derived]*doc.Style{}, map[string]*doc.Source{}
		return
	}
	if len(m.faces)+len(m.derived)+len(m.anchors) > mostKept { // a map never becomes smaller
		m.faces, m.derived, m.anchors = nil, nil, nil
		m.Reset()
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
	paras   arena[para]
	styles  arena[PieceStyle]
	stacks  arena[stack]
	entries arena[entry]
	groups  arena[group]
	rows    arena[groupRow]
	cells   arena[groupCell]
	lengths arena[doc.Length]
	faces   arena[face]
	elems   arena[tag.Elem]
}

// parting is how many pages lie between two partings of the memory.
const parting = 64

// turn is told that page n is done. A block of memory lives as long as any of its values, and what these point to
// lies in blocks that values of pages before share: row by row, box by box, the memory of the last page would keep
// that of all pages. Now and then it is parted.
func (m *blocks) turn(n int) {
	if n%parting != 0 {
		return
	}
	m.paras.part()
	m.styles.part()
	m.stacks.part()
	m.entries.part()
	m.groups.part()
	m.rows.part()
	m.cells.part()
	m.lengths.part()
}

func (m *blocks) reset() {
	m.paras.reset()
	m.styles.reset()
	m.stacks.reset()
	m.entries.reset()
	m.groups.reset()
	m.rows.reset()
	m.cells.reset()
	m.lengths.reset()
	m.faces.reset()
	m.elems.reset()
}
