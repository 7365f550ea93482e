package content

import (
	"math"
	"unicode/utf8"
)

// Composite reports whether codes of the font stand for CIDs.
func (f *Font) Composite() bool { return f.composite }

// CID returns the CID of a code of a composite font; ok is false where its CMap is not known as a
// whole: one that ISO 32000-2 does not define, or that builds on such.
func (f *Font) CID(b []byte) (cid uint32, ok bool) {
	if !f.mapped || len(b) == 0 {
		return 0, false
	}
	c := codeOf(string(b))
	if f.codes != nil {
		return f.codes.cid(c), true
	}
	return c.value, true
}

// Encoded returns what the encoding of a simple font says of a code: the name of the glyph, what it
// stands for, either of which may be empty, and the code of that in MacRomanEncoding, -1 for none.
func (f *Font) Encoded(c byte) (name, text string, mac int) {
	name, text, mac = f.names[c], f.texts[c], -1
	if r, n := utf8.DecodeRuneInString(text); n > 0 && n == len(text) {
		for m, x := range encodings()["MacRomanEncoding"] {
			if x == r {
				mac = m
			}
		}
	}
	return name, text, mac
}

// NameText returns what a glyph stands for by its name, empty where the name does not tell.
func NameText(name string) string {
	s, _ := nameText(name)
	return s
}

// OtherWidth returns another width that the dictionary of a composite font gives a code.
func (f *Font) OtherWidth(b []byte) (w float64, ok bool) {
	cid, known := f.CID(b)
	w, ok = f.others[cid]
	return w * 1000, ok && known
}

// Width returns how wide a code is by the dictionary of the font, in 1/1000 em.
func (f *Font) Width(b []byte) float64 {
	if len(b) == 0 {
		return 0
	}
	_, g := f.counted().next(b)
	return g.width * 1000
}

// Meaning returns what ToUnicode says of a code, as it stands there; mapped is false where it says
// nothing, and known tells then whether the encoding of the font does.
func (f *Font) Meaning(b []byte) (text string, mapped, known bool) {
	if len(b) == 0 {
		return "", false, true
	}
	if f.unicode != nil && !f.derived && !f.unicode.miscounted {
		if text, mapped = f.unicode.text(codeOf(string(b))); mapped {
			return text, true, true
		}
	}
	// What codes of the collections of Adobe stand for is known, and what those of ZapfDingbats do
	// is not: its names are in neither of the lists that count (9.10.2).
	_, g := f.counted().next(b)
	known = g.known && !f.derived || f.characters != nil
	return "", false, known && (!f.dingbats || f.names[b[0]] != "")
}

// counted is the font without what a miscounted ToUnicode says.
func (f *Font) counted() *Font {
	if !f.Miscounted() {
		return f
	}
	if f.plain == nil {
		plain := *f
		plain.unicode, plain.known = nil, map[code]glyph{}
		f.plain = &plain
	}
	return f.plain
}

// Miscounted reports whether ToUnicode has lists with another number of entries than they say.
func (f *Font) Miscounted() bool { return f.unicode != nil && f.unicode.miscounted }

// CMap is what a CMap file says of itself (ISO 32000-2, 9.7.5.4).
type CMap struct {
	Vertical bool   // its writing mode is 1
	Uses     string // the name of the map that it builds on; empty: none
	Largest  uint32 // the largest CID
}

// ReadCMap reads a CMap file.
func ReadCMap(data []byte) CMap {
	m := readCMap(data)
	c := CMap{Vertical: m.mode, Uses: m.uses}
	for _, r := range m.cids {
		if r.high >= r.low {
			c.Largest = max(c.Largest, r.to+min(r.high-r.low, math.MaxUint32-r.to))
		}
	}
	return c
}
