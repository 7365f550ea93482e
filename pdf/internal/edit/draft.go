package edit

import (
	"slices"

	"example.com/quire/pdf/cos"
)

// Draft is what a file is written from: the objects of a document, and over them those that were
// changed or added, whose numbers are span and up. The objects of drafts that are merged into it
// stand in the same space of numbers: those of the n-th, from 1, are 2·n·span and up. Nothing is
// read before it is asked for.
//
// What cannot be read is null to those who ask, and the first error is kept: whoever writes a
// Draft, or judges one, returns Err.
type Draft struct {
	base  *Document
	more  []*Draft
	over  map[uint32]cos.Object
	next  uint32
	root  cos.Ref
	info  cos.Ref
	pages []Page
	err   error
	same  map[uint32]uint32 // objects in whose place an equal one is written
	void  []string          // names of signatures that do not hold for what is written
	lost  []string          // what else of the document is not written
	// closed are the pages behind whose content the graphics state is as at its beginning.
	closed map[uint32]bool
	// compress has streams compressed that are not, but metadata.
	compress bool
	version  string // of PDF, that of the documents whose pages it has
}

// span is how many numbers a document has. What lies above in one is taken for absent.
const span = 1 << 24

// NewDraft returns the draft of all that a document has.
func NewDraft(d *Document) *Draft {
	e := newDraft(d, slices.Clone(d.Pages))
	if d.circular && !e.signed() { // what is written has a tree, but signatures would not hold for another
		e.pageTree()
	}
	return e
}

// NewAddition returns a draft to which objects are added: the pages are those of the document,
// whose list it shares and does not change.
func NewAddition(d *Document) *Draft {
	if d.circular {
		return NewDraft(d)
	}
	return newDraft(d, d.Pages)
}

func newDraft(d *Document, pages []Page) *Draft {
	e := &Draft{base: d, over: map[uint32]cos.Object{}, next: span, pages: pages, version: d.version()}
	e.root, e.info = e.own(d.Trailer().Get("Root")), e.own(d.Trailer().Get("Info"))
	return e
}

// own returns the reference to a dictionary of the trailer, which gets an object of its own where
// it stands in the trailer itself, as in some damaged files.
func (e *Draft) own(o cos.Object) cos.Ref {
	if d, ok := o.(cos.Dict); ok {
		return e.add(d)
	}
	return refOf(o)
}

// Err returns the first error of reading.
func (e *Draft) Err() error { return e.err }

// Pages returns the pages, in order.
func (e *Draft) Pages() []Page { return e.pages }

// join adds the objects of another draft and returns how far its numbers are moved.
func (e *Draft) join(o *Draft) uint32 {
	e.more = append(e.more, o)
	return uint32(len(e.more)) * 2 * span //nolint:gosec // G115: MostInputs bounds it
}

// stream is a stream of a document that is read, or one that was made, whose data is plain but for
// a filter.
type stream struct {
	dict   cos.Dict
	from   *Document
	in     *cos.Stream
	data   []byte
	filter cos.Name // of data; "": none
}

// AppendPDF implements [cos.Object].
func (s *stream) AppendPDF(dst []byte) []byte { return s.dict.AppendPDF(dst) }

// add makes an object of its own.
func (e *Draft) add(o cos.Object) cos.Ref {
	e.next++
	r := cos.Ref{Num: e.next}
	e.over[r.Num] = o
	return r
}

// set puts an object in the place of another.
func (e *Draft) set(r cos.Ref, o cos.Object) { e.over[r.Num] = o }

// equate has an object written in the place of another.
func (e *Draft) equate(num, as uint32) {
	if e.same == nil {
		e.same = map[uint32]uint32{}
	}
	e.same[num] = as
}

// object returns the object that r refers to, Null where there is none.
func (e *Draft) object(r cos.Ref) cos.Object {
	if o, ok := e.over[r.Num]; ok {
		return o
	}
	if n := r.Num / (2 * span); n > 0 {
		if int(n) > len(e.more) {
			return cos.Null{}
		}
		o := e.more[n-1]
		out := moved(o.object(cos.Ref{Num: r.Num % (2 * span), Gen: r.Gen}), n*2*span)
		if e.err == nil {
			e.err = o.err
		}
		return out
	}
	if r.Num >= span {
		return cos.Null{}
	}
	o, err := e.base.object(r)
	if err != nil {
		if e.err == nil {
			e.err = err
		}
		return cos.Null{}
	}
	if s, ok := o.(*cos.Stream); ok {
		return &stream{dict: s.Dict, from: e.base, in: s}
	}
	return o
}

// moved returns a copy of an object with its references moved.
func moved(o cos.Object, by uint32) cos.Object {
	if by == 0 {
		return o
	}
	switch v := o.(type) {
	case cos.Ref:
		if v.IsZero() || v.Num >= 2*span {
			return cos.Null{}
		}
		return cos.Ref{Num: v.Num + by, Gen: v.Gen}
	case cos.Array:
		out := make(cos.Array, len(v))
		for i := range v {
			out[i] = moved(v[i], by)
		}
		return out
	case cos.Dict:
		out := make(cos.Dict, len(v))
		for i := range v {
			out[i] = cos.E(v[i].Key, moved(v[i].Value, by))
		}
		return out
	case *stream:
		s := *v
		s.dict, _ = moved(v.dict, by).(cos.Dict)
		return &s
	}
	return o
}

// resolve follows references.
func (e *Draft) resolve(o cos.Object) cos.Object {
	for range 32 {
		r, ok := o.(cos.Ref)
		if !ok {
			if _, null := o.(cos.Null); null {
				return nil
			}
			return o
		}
		o = e.object(r)
	}
	return nil
}

// dict is resolve for a dictionary or that of a stream, nil for anything else.
func (e *Draft) dict(o cos.Object) cos.Dict {
	switch v := e.resolve(o).(type) {
	case cos.Dict:
		return v
	case *stream:
		return v.dict
	}
	return nil
}

// array is resolve for an array.
func (e *Draft) array(o cos.Object) cos.Array {
	a, _ := e.resolve(o).(cos.Array)
	return a
}

// name is resolve for a name, empty for anything else.
func (e *Draft) name(o cos.Object) cos.Name {
	n, _ := e.resolve(o).(cos.Name)
	return n
}

// integer is resolve for an integer, def for anything else.
func (e *Draft) integer(o cos.Object, def int64) int64 {
	if n, ok := e.resolve(o).(cos.Int); ok {
		return int64(n)
	}
	return def
}

// text is resolve for a text string, empty for anything else.
func (e *Draft) text(o cos.Object) string {
	s, _ := cos.TextOf(e.resolve(o))
	return s
}

// catalog returns the document catalog.
func (e *Draft) catalog() cos.Dict { return e.dict(e.root) }

// change puts a value under a key of the catalog; nil takes it away.
func (e *Draft) change(key cos.Name, v cos.Object) { e.set(e.root, with(e.catalog(), key, v)) }

// data returns the decoded data of a stream, nil for anything else and for formats of images.
func (e *Draft) data(o cos.Object) []byte {
	s, ok := e.resolve(o).(*stream)
	switch {
	case !ok:
		return nil
	case s.in == nil:
		return s.data
	}
	b, rest, err := s.from.Decode(s.in)
	if err != nil || len(rest) > 0 {
		if e.err == nil {
			e.err = err
		}
		return nil
	}
	return b
}

// number returns a number, def for anything else.
func number(o cos.Object, def float64) float64 {
	if f, ok := cos.Float(o); ok {
		return f
	}
	return def
}

// refOf returns a reference, zero for anything else.
func refOf(o cos.Object) cos.Ref {
	r, _ := o.(cos.Ref)
	return r
}
