package text

import "example.com/quire/pdf/doc"

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
