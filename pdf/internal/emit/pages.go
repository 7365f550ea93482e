package emit

import (
	"iter"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/arena"
)

// pageInfo is what is kept of a page until the end: all of it for a page that
// waits for the number of pages.
type pageInfo struct {
	ref      cos.Ref
	contents cos.Ref
	annots   []cos.Ref
	key      int // of the parent tree
	mcids    int
	w, h     doc.Length
}

// pages are those of a document. Each is kept as the difference to the one before, which takes some
// bytes.
type pages struct {
	list arena.Numbers
	n    int
	last pageInfo // without annotations
}

func (l *pages) add(p *pageInfo) {
	l.list.Add(int64(p.ref.Num) - int64(l.last.ref.Num))
	l.list.Add(int64(p.contents.Num) - int64(p.ref.Num))
	l.list.Add(int64(p.key - l.last.key))
	l.list.Add(int64(p.mcids))
	l.list.Add(int64(p.w - l.last.w))
	l.list.Add(int64(p.h - l.last.h))
	l.list.Add(int64(len(p.annots)))
	at := p.contents
	for _, r := range p.annots {
		l.list.Add(int64(r.Num) - int64(at.Num))
		at = r
	}
	l.last = *p
	l.last.annots = nil
	l.n++
}

func (l *pages) reset() {
	l.list.Reset()
	*l = pages{list: l.list}
}

// reader returns a reader at the first page. Nothing is added while it reads; memory is for
// annotations.
func (l *pages) reader(memory []cos.Ref) pageReader {
	return pageReader{list: l.list.Reader(), page: pageInfo{annots: memory[:0]}}
}

// pageReader reads pages from the first to the last.
type pageReader struct {
	list arena.NumberReader
	n    int
	page pageInfo
}

// to returns page i, from 0, which was not yet read.
func (r *pageReader) to(i int) *pageInfo {
	for r.n < i {
		r.next()
	}
	return r.next()
}

// next returns the next page, until the one behind it is read.
func (r *pageReader) next() *pageInfo {
	p := &r.page
	p.ref = behind(p.ref, r.list.Next())
	p.contents = behind(p.ref, r.list.Next())
	p.key += int(r.list.Next())
	p.mcids = int(r.list.Next())
	p.w += doc.Length(r.list.Next())
	p.h += doc.Length(r.list.Next())
	at := p.contents
	p.annots = p.annots[:0]
	for range r.list.Next() {
		at = behind(at, r.list.Next())
		p.annots = append(p.annots, at)
	}
	r.n++
	return p
}

// behind is the object so many behind another.
func behind(r cos.Ref, n int64) cos.Ref {
	return cos.Ref{Num: uint32(int64(r.Num) + n)} //nolint:gosec // G115: the number of an object
}

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

// take returns the ranges and empties r.
func (r *Ranges) take() *Ranges {
	taken := &Ranges{list: r.list.Take(), n: r.n}
	r.reset()
	return taken
}

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
