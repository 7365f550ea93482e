package layout

import (
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/tag"
)

// arena hands out zero values from blocks of memory: a document lays out
// thousands of small things of a few kinds, most of which live as long as their
// page. A block is let go with the last of its values.
type arena[T any] struct {
	free []T
	size int // of the block taken last
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
	s := a.free[:n:n]
	a.free = a.free[n:]
	return s
}

// part lets the values that are taken next lie in a block of their own.
func (a *arena[T]) part() { a.free = nil }

// memory is what the blocks of one document are made of.
type memory struct {
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
func (m *memory) turn(n int) {
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
