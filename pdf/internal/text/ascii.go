package text

import (
	"slices"

	"example.com/quire/pdf/font"
)

// The printable characters of ASCII.
const (
	firstASCII = ' '
	lastASCII  = '~'
)

// ASCII has by character what [Latin] does with the printable characters of ASCII in a face in
// which it does all that there is to do ([Shaper.SideBySide]), with figures as they are or tabular.
// Most words of most documents, and all their numbers, have no others. It is immutable.
type ASCII struct {
	letters [0x100]letter
	kern    [1 << 14]int16 // by pair; of a pair with the character 0 it is 0
	// inWord has the advances of the characters that stand in words for which [Chain.WordWidth]
	// holds, with kerns where some pair that they are the left one of is kerned, and outside of all
	// others.
	inWord [0x100]int64
}

// outside is no advance: those are not negative. Advances lie below the bit kerns.
const outside, kerns = -1, 1 << 32

// pair is the index of two characters.
func pair(left, right byte) int { return int(left&0x7F)<<7 | int(right&0x7F) }

// letter is a character in a face.
type letter struct {
	id      font.GID // 0: the face has none, or it is not printable
	plain   bool     // as [Part.Plain] has it
	advance int32
}

// Glyph returns the glyph of a character and its advance, in font units.
func (a *ASCII) Glyph(c byte) (id font.GID, advance int32) {
	l := &a.letters[c]
	return l.id, l.advance
}

// Kern returns what is added to the advance of a character before another, in font units.
func (a *ASCII) Kern(left, right byte) int32 { return int32(a.kern[pair(left, right)]) }

// asciiKey names a table.
type asciiKey struct {
	face    *font.Face
	tabular bool
}

// asciiOf returns the table of a face; nil: none may be used.
func (t *Typesetter) asciiOf(f *font.Face, tabular bool) *ASCII {
	key := asciiKey{f, tabular}
	if have, ok := t.ascii.Load(key); ok {
		return have.(*ASCII)
	}
	var made *ASCII
	if t.shaper.SideBySide(f) {
		made = newASCII(f, tabular)
	}
	have, _ := t.ascii.LoadOrStore(key, made)
	return have.(*ASCII)
}

func newASCII(f *font.Face, tabular bool) *ASCII {
	a, runes := &ASCII{}, f.Runes()
	for c := range a.inWord {
		a.inWord[c] = outside
	}
	// Tabular figures stand as far apart as they are wide.
	fixed := func(c byte) bool { return tabular && plainClass[c] == plainDigit }
	for c := byte(firstASCII); c <= lastASCII; c++ {
		id := f.GlyphIndex(rune(c))
		l := letter{id: id, plain: int(id) < len(runes) && runes[id] == rune(c), advance: int32(f.Advance(id))} //nolint:gosec // G115: 16 bits
		a.letters[c] = l
		switch plainClass[c] {
		case plainLetter, plainDigit, plainStop:
			if id != 0 && l.plain {
				a.inWord[c] = int64(l.advance)
			}
		}
		for right := byte(firstASCII); right <= lastASCII; right++ {
			if !fixed(c) && !fixed(right) {
				a.kern[pair(c, right)] = int16(f.Kern(id, f.GlyphIndex(rune(right)))) //nolint:gosec // G115: 16 bits
			}
			if a.kern[pair(c, right)] != 0 && a.inWord[c] != outside {
				a.inWord[c] |= kerns
			}
		}
	}
	return a
}

// shape appends the glyphs of s, which is not empty, and returns the part that they are; ok is
// false when some character of s is not in the table.
func (a *ASCII) shape(glyphs []Glyph, f *font.Face, s string) (all []Glyph, p Part, ok bool) {
	from := len(glyphs)
	glyphs = slices.Grow(glyphs, len(s))
	out := glyphs[from : from+len(s) : from+len(s)]
	units, kerned, plain := int64(0), false, true
	left := byte(0) // the character before
	for i := range len(s) {
		c := s[i]
		l := &a.letters[c]
		if l.id == 0 {
			return glyphs, Part{}, false
		}
		if k := a.kern[pair(left, c)]; k != 0 {
			out[i-1].Advance += int32(k)
			units += int64(k)
			kerned = true
		}
		left = c
		units += int64(l.advance)
		plain = plain && l.plain
		out[i] = Glyph{ID: l.id, Advance: l.advance, Cluster: int32(i)}
	}
	return glyphs[:from+len(s)], Part{Face: f, Text: s, Glyphs: out, Units: units, Plain: plain, Kerned: kerned}, true
}
