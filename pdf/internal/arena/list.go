package arena

// List is a list that grows by blocks: where a slice grows, the old memory and the new, larger one
// are held at once. The zero value is ready. It is for one goroutine.
type List[T any] struct {
	blocks [][]T // all but the last are full
	n      int
}

// Len is how many values the list has.
func (l *List[T]) Len() int { return l.n }

// Add appends a value and returns where it is, which the next one may change.
func (l *List[T]) Add(v T) *T {
	i := l.n / largeBlock
	if i == len(l.blocks) {
		size := largeBlock
		if i == 0 { // most lists are short
			size = firstBlock
		}
		l.blocks = append(l.blocks, make([]T, 0, size))
	}
	b := &l.blocks[i]
	*b = append(*b, v)
	l.n++
	return &(*b)[len(*b)-1]
}

// At returns where value i is.
func (l *List[T]) At(i int) *T { return &l.blocks[i/largeBlock][i%largeBlock] }

// Reset empties the list. The first block is cleared and used again.
func (l *List[T]) Reset() {
	if len(l.blocks) > 0 {
		first := l.blocks[0]
		clear(first)
		*l = List[T]{blocks: append(l.blocks[:0:1], first[:0])}
	}
}
