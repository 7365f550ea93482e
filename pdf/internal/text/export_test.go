package text

import (
	"reflect"
	"slices"

	"example.com/quire/pdf/doc"
)

// PlainBreaks is plainBreaks.
func PlainBreaks(dst []Break, s string) ([]Break, bool) { return plainBreaks(dst, s) }

// SetByBreaks is Set without the short way of a paragraph of one word.
func (s *Setter) SetByBreaks(pieces []Piece, width doc.Length, align doc.Align) ([]Line, error) {
	s.open(pieces, width, align)
	s.full, s.from = s.join(pieces), 0
	s.findBreaks(pieces, s.full)
	if err := s.setGreedy(s.full); err != nil {
		return nil, err
	}
	return s.paragraph(), nil
}

// ShapeByShaper returns the parts of a word of c as the shaper alone makes them.
func (t *Typesetter) ShapeByShaper(c *Chain, word string) ([]Part, error) {
	slow := *c
	slow.ascii = nil
	parts, _, err := t.shapeNew(nil, nil, &slow, word, dialect{})
	return parts, err
}

// ShapeByTable returns the parts of a word of c as they are made by the table, if there is one.
func (t *Typesetter) ShapeByTable(c *Chain, word string) (parts []Part, table bool, err error) {
	parts, _, err = t.shapeNew(nil, nil, c, word, dialect{})
	return parts, c.ascii != nil, err
}

// Kept is how many values the buffers have room for that Close hands on, and whether a text is
// among what it hands on.
func (s *Setter) Kept() (room int, texts bool) {
	f, o := &s.fitter, &s.order
	room = cap(s.items) + cap(s.lines) + cap(s.parts) + cap(s.long) + cap(s.glyphs) + cap(s.breaks) + cap(s.ends) + cap(s.figures) +
		cap(s.points) + cap(f.breakpoints) + cap(f.nodes) + cap(f.starts) + cap(f.route) +
		cap(o.levels) + cap(o.visual) + cap(o.onLine)
	return room, s.full != "" || s.decimal != "" || s.joined.Len() > 0 || s.pieces != nil || s.tabs != nil
}

// Chains is how many chains are kept.
func (t *Typesetter) Chains() (n int) {
	t.chains.Range(func(any, any) bool { n++; return true })
	return n
}

// Cached returns the parts of a word of c from the cache, where it is from the second time on.
func (t *Typesetter) Cached(c *Chain, word string) ([]Part, bool, error) {
	return t.shape(c, &key{query: c.query, text: word})
}

// Alike reports whether lines are the same, whether or not their words are from the cache.
func Alike(a, b []Line) bool {
	return slices.EqualFunc(a, b, func(a, b Line) bool {
		return a.Width == b.Width && slices.EqualFunc(a.Items, b.Items, func(a, b Item) bool {
			p, q := *a.Part, *b.Part
			p.word, q.word = nil, nil
			a.Part, b.Part = nil, nil
			return a == b && reflect.DeepEqual(p, q)
		})
	})
}
