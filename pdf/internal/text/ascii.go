package text

import "example.com/quire/pdf/font"

// The printable characters of ASCII.
const (
	firstASCII = ' '
	manyASCII  = '~' - ' ' + 1
)

// ascii has by character what [Latin] does with the printable characters of ASCII in a face in
// which it does all that there is to do ([Shaper.SideBySide]). Most words of most documents, and
// all their numbers, have no others.
type ascii struct {
	letters [0x80]letter
	kern    [manyASCII * manyASCII]int16 // by the left and the right character
}

// letter is a character in a face.
type letter struct {
	id      font.GID // 0: the face has none, or it is not printable
	plain   bool     // as [Part.Plain] has it
	digit   bool
	advance int32
}

// asciiOf returns the table of a face; nil: none may be used.
func (t *Typesetter) asciiOf(f *font.Face) *ascii {
	if have, ok := t.ascii.Load(f); ok {
		return have.(*ascii)
	}
	var made *ascii
	if t.shaper.SideBySide(f) {
		made = newASCII(f)
	}
	have, _ := t.ascii.LoadOrStore(f, made)
	return have.(*ascii)
}

func newASCII(f *font.Face) *ascii {
	a, runes := &ascii{}, f.Runes()
	for l := range manyASCII {
		c := rune(firstASCII + l)
		id := f.GlyphIndex(c)
		//nolint:gosec // G115: advances and kerning values have 16 bits
		a.letters[c] = letter{
			id: id, plain: int(id) < len(runes) && runes[id] == c, digit: c >= '0' && c <= '9', advance: int32(f.Advance(id)),
		}
		for r := range manyASCII {
			a.kern[l*manyASCII+r] = int16(f.Kern(id, f.GlyphIndex(rune(firstASCII+r)))) //nolint:gosec // G115: as above
		}
	}
	return a
}

// shape appends the glyphs of s, which is not empty, and returns the part that they are; ok is
// false when some character of s is not in the table.
func (a *ascii) shape(glyphs []Glyph, f *font.Face, s string, tabular bool) (all []Glyph, p Part, ok bool) {
	from := len(glyphs)
	p = Part{Face: f, Text: s, Plain: true}
	left := -1 // where the pairs of the character before begin; -1: it is not kerned
	for i := range len(s) {
		c := s[i]
		if c >= 0x80 {
			return glyphs[:from], Part{}, false
		}
		l := &a.letters[c]
		if l.id == 0 {
			return glyphs[:from], Part{}, false
		}
		right := int(c) - firstASCII
		fixed := tabular && l.digit
		if left >= 0 && !fixed {
			if k := a.kern[left+right]; k != 0 {
				glyphs[len(glyphs)-1].Advance += int32(k)
				p.Units += int64(k)
				p.Kerned = true
			}
		}
		left = right * manyASCII
		if fixed {
			left = -1
		}
		p.Units += int64(l.advance)
		p.Plain = p.Plain && l.plain
		glyphs = append(glyphs, Glyph{ID: l.id, Advance: l.advance, Cluster: int32(i)})
	}
	p.Glyphs = glyphs[from:len(glyphs):len(glyphs)]
	return glyphs, p, true
}
