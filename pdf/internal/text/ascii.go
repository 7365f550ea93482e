package text

import (
	"slices"

	"example.com/quire/pdf/font"
)

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
	glyphs = slices.Grow(glyphs, len(s))
	out := glyphs[from : from+len(s) : from+len(s)]
	units, kerned, plain := int64(0), false, true
	left := -1 // where the pairs of the character before begin; -1: it is not kerned
	for i := range len(s) {
		c := s[i]
		if c >= 0x80 {
			return glyphs, Part{}, false
		}
		l := &a.letters[c]
		if l.id == 0 {
			return glyphs, Part{}, false
		}
		right := int(c) - firstASCII
		fixed := tabular && l.digit
		if left >= 0 && !fixed {
			if k := a.kern[left+right]; k != 0 {
				out[i-1].Advance += int32(k)
				units += int64(k)
				kerned = true
			}
		}
		left = right * manyASCII
		if fixed {
			left = -1
		}
		units += int64(l.advance)
		plain = plain && l.plain
		out[i] = Glyph{ID: l.id, Advance: l.advance, Cluster: int32(i)}
	}
	return glyphs[:from+len(s)], Part{Face: f, Text: s, Glyphs: out, Units: units, Plain: plain, Kerned: kerned}, true
}
