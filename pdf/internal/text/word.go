package text

import "example.com/quire/pdf/doc"

// WordWidth returns how wide s is, in the first face of the chain, when it is one plain word or
// number: letters, digits and stops of ASCII, which no line ends in and which stand side by side.
// ok is false for all else, which is set as any paragraph. In a line as wide, [Word.Set] shows what
// [Setter.Set] does.
func (c *Chain) WordWidth(s string, size doc.Length) (w doc.Length, ok bool) {
	if c.ascii == nil || s == "" || s[0] >= 0x80 || plainClass[s[0]] == plainStop {
		return 0, false
	}
	a, tabular := c.ascii, c.query.TabularFigures
	var units int64
	left := -1 // as in ascii.shape
	for i := range len(s) {
		b := s[i]
		if b >= 0x80 {
			return 0, false
		}
		class, l := plainClass[b], &a.letters[b]
		if l.id == 0 || class != plainDigit && class != plainLetter && class != plainStop {
			return 0, false
		}
		right := int(b) - firstASCII
		if fixed := tabular && class == plainDigit; fixed {
			left = -1
		} else {
			if left >= 0 {
				units += int64(a.kern[left+right])
			}
			left = right * manyASCII
		}
		units += int64(l.advance)
	}
	return Scale(units, size, c.Face()), true
}

// Word is the memory of a line of one word.
type Word struct {
	Line Line
	item [1]Item
	part Part
}

// Set makes w the line of s, for which [Chain.WordWidth] holds, at x. The glyphs are appended to
// glyphs, whose memory the line shares.
func (w *Word) Set(glyphs []Glyph, c *Chain, s string, size, x doc.Length) []Glyph {
	glyphs, w.part, _ = c.ascii.shape(glyphs, c.Face(), s, c.query.TabularFigures)
	w.part.Bold, w.part.Slanted = c.bold, c.slanted
	width := w.part.Width(size)
	w.item[0] = Item{Part: &w.part, X: x, W: width}
	w.Line = Line{Items: w.item[:], Width: width}
	return glyphs
}
