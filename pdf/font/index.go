package font

import (
	"math/bits"
	"slices"
)

// glyphSet is a bit per glyph id.
type glyphSet []uint64

func newGlyphSet(glyphs int) glyphSet { return make(glyphSet, (glyphs+63)/64) }

// fullGlyphSet has all glyphs of a font.
func fullGlyphSet(glyphs int) glyphSet {
	s := newGlyphSet(glyphs)
	for i := range glyphs {
		s.add(GID(i))
	}
	return s
}

func (s glyphSet) has(g GID) bool { return s[g>>6]&(1<<(g&63)) != 0 }

func (s glyphSet) add(g GID) { s[g>>6] |= 1 << (g & 63) }

func (s glyphSet) union(o glyphSet) {
	for i, w := range o {
		s[i] |= w
	}
}

// appendIDs appends the ids in ascending order.
func (s glyphSet) appendIDs(dst []GID) []GID {
	for i, w := range s {
		for ; w != 0; w &= w - 1 {
			dst = append(dst, GID(i<<6+bits.TrailingZeros64(w))) //nolint:gosec // G115: below the number of glyphs
		}
	}
	return dst
}

// glyphIndex is the character map read backwards. It is made once per face,
// when the first document draws with it.
type glyphIndex struct {
	runes  []rune           // by glyph: the lowest character mapped to it, -1 for none
	block  []uint16         // by glyph: block of that character, 0 for none
	glyphs map[int]glyphSet // by block: glyphs of all its characters
}

func (f *Face) buildIndex() *glyphIndex {
	x := &glyphIndex{
		runes:  slices.Repeat([]rune{-1}, f.numGlyphs),
		block:  make([]uint16, f.numGlyphs),
		glyphs: map[int]glyphSet{},
	}
	last, set := 0, glyphSet(nil)
	for r, g := range f.all() {
		b := blockOf(r)
		if x.runes[g] < 0 {
			x.runes[g], x.block[g] = r, uint16(b) //nolint:gosec // G115: some 300 blocks
		}
		if b == 0 {
			continue
		}
		if b != last {
			last, set = b, x.glyphs[b]
			if set == nil {
				set = newGlyphSet(f.numGlyphs)
				x.glyphs[b] = set
			}
		}
		set.add(g)
	}
	return x
}

// Rune returns the character of a glyph by the character map: the lowest one mapped to it. ok is
// false for glyphs without a character, such as most ligatures.
func (f *Face) Rune(g GID) (r rune, ok bool) {
	if int(g) >= f.numGlyphs {
		return 0, false
	}
	r = f.glyphs().runes[g]
	return r, r >= 0
}

// Runes returns what Rune does for all glyphs, -1 for those no character is
// mapped to. The caller must not change it. Where r is below U+E000 and the rune
// of g, [Use.AddRune] is true for them whatever came before, and Use.Draw does.
func (f *Face) Runes() []rune { return f.glyphs().runes }

// presentation reports whether r is a character of compatibility for a form of
// other characters, as the ligature U+FB01, or has no meaning of its own.
// Shaping replaces "fi" by the glyph of U+FB01; its text is "fi".
func presentation(r rune) bool {
	switch {
	case r >= 0xFB00 && r <= 0xFB4F, // Latin, Armenian, Hebrew
		r >= 0xFB50 && r <= 0xFDFF, r >= 0xFE70 && r <= 0xFEFC, // Arabic
		r >= 0xE000 && r <= 0xF8FF, r >= 0xF0000: // private use
		return true
	}
	return false
}
