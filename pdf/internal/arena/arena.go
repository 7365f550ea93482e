// Package arena allocates the many small values of a document, of a few types each, and keeps long
// lists of numbers in little memory. Its memory is cleared and reused for the next document, so
// nothing of one document is visible in another.
package arena

// Of hands out zero values from blocks of memory. A block is let go with the last of its values,
// all but the first, which Reset clears and keeps. The zero value is ready. It is for one
// goroutine.
type Of[T any] struct {
	free  []T
	last  []T // of the block taken last what Mark left
	size  int // of the block taken last
	first []T // the block that is used again
	taken int // values so far
}

// The sizes of a block, in values: small documents take little.
const (
	firstBlock = 16
	largeBlock = 256
)

// One returns a zero value.
func (a *Of[T]) One() *T { return &a.Take(1)[0] }

// Take returns n zero values; appending to them moves them.
func (a *Of[T]) Take(n int) []T {
	if n > len(a.free) {
		a.size = min(max(2*a.size, firstBlock), largeBlock)
		a.free = make([]T, max(a.size, n))
		a.last = a.free
	}
	a.taken += n
	s := a.free[:n:n]
	a.free = a.free[n:]
	return s
}

// Add appends a value to a slice of this arena, in memory of this arena.
func (a *Of[T]) Add(to []T, v T) []T {
	if len(to) == cap(to) {
		more := a.Take(max(4, 2*len(to)))
		to = append(more[:0], to...)
	}
	return append(to, v)
}

// Mark begins values that Rewind takes back.
func (a *Of[T]) Mark() { a.last = a.free }

// Rewind takes back the values since Mark, and since the Rewind before, all of which must be of no
// use any more: the next ones lie in the memory of those that the last block has.
func (a *Of[T]) Rewind() {
	clear(a.last[:len(a.last)-len(a.free)])
	a.free = a.last
}

// Part lets the values that are taken next lie in a block of their own.
func (a *Of[T]) Part() { a.free, a.last = nil, nil }

// Reset takes all values back. The first block is cleared and used again; it grows to what
// documents need.
func (a *Of[T]) Reset() {
	clear(a.first[:min(a.taken, len(a.first))])
	if a.taken > len(a.first) && len(a.first) < largeBlock {
		a.first = make([]T, min(max(a.taken, firstBlock), largeBlock))
	}
	a.free, a.last, a.size, a.taken = a.first, a.first, len(a.first), 0
}
