package font

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
)

// Use collects the glyphs that one document draws with one face, and their texts. It is not safe
// for concurrent use.
type Use struct {
	face  *Face
	index *glyphIndex
	drawn glyphSet
	set   glyphSet       // see glyphs
	texts map[GID]string // glyphs whose text is not their character
}

// NewUse returns an empty collection for f.
func NewUse(f *Face) *Use {
	u := &Use{}
	u.Reset(f)
	return u
}

// Reset makes u what NewUse returns, in the memory that it has. Without a face it is of no use
// until it is reset again, and keeps none in memory.
func (u *Use) Reset(f *Face) {
	if clear(u.texts); f == nil {
		u.face, u.index = nil, nil
		return
	}
	u.face, u.index = f, f.glyphs()
	n := (f.numGlyphs + 63) / 64
	u.drawn = slices.Grow(u.drawn[:0], n)[:n]
	clear(u.drawn)
}

// Face returns the face.
func (u *Use) Face() *Face { return u.face }

// AddRune records that g is drawn for the character r and reports whether a
// reader of the PDF will get r back from g. If not, because two characters
// share the glyph, the caller has to state the text itself (ActualText,
// ISO 32000-2, 14.9.4).
func (u *Use) AddRune(g GID, r rune) bool {
	if int(g) >= u.face.numGlyphs {
		return false
	}
	u.drawn.add(g)
	if c := u.index.runes[g]; c == r && !presentation(c) {
		return true
	}
	return u.assign(g, string(r))
}

// Draw records that g, which must be below NumGlyphs, is drawn for the character that [Face.Runes]
// gives.
func (u *Use) Draw(g GID) { u.drawn.add(g) }

// Add is AddRune for a glyph of several characters, such as a ligature. An empty text records the
// glyph alone, for the parts of a cluster whose text is stated otherwise.
//
// A glyph of the character map always has the text of its lowest character there. One outside it,
// or one of a presentation form, has the text with which it is first added.
func (u *Use) Add(g GID, text string) bool {
	if int(g) >= u.face.numGlyphs {
		return false
	}
	u.drawn.add(g)
	if text == "" {
		return true
	}
	return u.assign(g, text)
}

func (u *Use) assign(g GID, text string) bool {
	if g == 0 { // .notdef stands for nothing
		return false
	}
	for _, r := range text {
		if !isText(r) {
			return false
		}
	}
	if c := u.index.runes[g]; c >= 0 && !presentation(c) {
		return text == string(c)
	}
	if have, ok := u.texts[g]; ok {
		return have == text
	}
	if u.texts == nil {
		u.texts = map[GID]string{}
	}
	u.texts[g] = text
	return true
}

// Empty reports whether nothing was added.
func (u *Use) Empty() bool {
	for _, w := range u.drawn {
		if w != 0 {
			return false
		}
	}
	return true
}

// glyphs returns the set to embed: what is drawn, with .notdef, and unless
// exact all glyphs of the Unicode blocks that the drawn ones belong to.
// Components of composites are not in it yet; they follow from the font. The set is valid until the
// next call.
func (u *Use) glyphs(exact bool) glyphSet {
	u.set = append(u.set[:0], u.drawn...)
	set := u.set
	set.add(0)
	if exact {
		return set
	}
	var done [(len(blocks) + 1 + 63) / 64]uint64
	for _, g := range u.drawn.appendIDs(make([]GID, 0, 128)) {
		b := u.index.block[g]
		if b == 0 || done[b>>6]&(1<<(b&63)) != 0 {
			continue
		}
		done[b>>6] |= 1 << (b & 63)
		set.union(u.index.glyphs[int(b)])
	}
	return set
}

// sortedTexts returns the glyphs with texts of their own in ascending order.
func (u *Use) sortedTexts() []GID {
	ids := make([]GID, 0, len(u.texts))
	for g := range u.texts {
		ids = append(ids, g)
	}
	slices.Sort(ids)
	return ids
}

// key hashes everything the subset is made from: font, glyph set and texts.
func (u *Use) key(set glyphSet) [sha256.Size]byte {
	hash := u.face.Hash()
	b := make([]byte, 0, 1024)
	b = append(b, hash[:]...)
	for _, w := range set {
		b = binary.BigEndian.AppendUint64(b, w)
	}
	for _, g := range u.sortedTexts() {
		b = binary.BigEndian.AppendUint16(b, uint16(g))
		b = binary.BigEndian.AppendUint32(b, uint32(len(u.texts[g]))) //nolint:gosec // G115: a cluster
		b = append(b, u.texts[g]...)
	}
	return sha256.Sum256(b)
}
