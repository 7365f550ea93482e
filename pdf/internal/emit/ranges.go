package emit

import (
	"iter"

	"example.com/quire/pdf/internal/arena"
)

// Range is where the content of a page lies in the file: the bytes from From to before To. A page
// that waited for the number of pages has two.
type Range struct {
	Page     int // from 1
	From, To int64
}

// Ranges are those of the pages of a document, in the order of the file. Each is kept as the
// difference to the one before.
type Ranges struct {
	list arena.Numbers
	n    int
	last Range
}

func (r *Ranges) add(of Range) {
	r.list.Add(int64(of.Page - r.last.Page))
	r.list.Add(of.From - r.last.To)
	r.list.Add(of.To - of.From)
	r.last = of
	r.n++
}

func (r *Ranges) reset() {
	r.list.Reset()
	*r = Ranges{list: r.list}
}

// Len is how many there are.
func (r *Ranges) Len() int { return r.n }

// All are the ranges.
func (r *Ranges) All() iter.Seq[Range] {
	return func(yield func(Range) bool) {
		list := r.list.Reader()
		var at Range
		for range r.n {
			at.Page += int(list.Next())
			at.From = at.To + list.Next()
			if at.To = at.From + list.Next(); !yield(at) {
				return
			}
		}
	}
}
