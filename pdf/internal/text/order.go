package text

import (
	"unicode"
	"unicode/utf8"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/text/bidi"
)

// order is the direction of a paragraph and of the characters in it (UAX #9). Its direction is that
// of its language, unless all its letters run the other way: a name from other hands stands right
// in a cell of its own, and a sentence that begins with one stays whole (a higher-level protocol,
// HL1). A paragraph with tab stops, which are reckoned from the side of the language, has always
// its direction. Paragraphs that run from left to right wholly, as nearly all do, have no levels.
type order struct {
	foreign bool         // some characters are complex, or there are levels
	lang    bool         // the language is written from right to left
	base    bidi.Base    // of the paragraph
	levels  []bidi.Level // by byte; nil: 0

	tag    string // what lang was found for
	para   bidi.Paragraph
	visual []int
	onLine []bidi.Level
}

// at returns the level of the character at byte i.
func (o *order) at(i int) bidi.Level {
	if o.levels == nil {
		return 0
	}
	return o.levels[i]
}

// find does the paragraph full, which pieces make up. Where plain is set, all of it is below
// U+0180; where tabs is, it has tab stops.
func (o *order) find(pieces []Piece, full string, plain, tabs bool) {
	o.foreign, o.base, o.levels = false, bidi.LeftToRight, nil
	if len(pieces) == 0 {
		o.tag, o.lang = "", false
		return
	}
	if tag := pieces[0].Lang; tag != o.tag {
		o.tag, o.lang = tag, RightToLeft(tag)
	}
	if !o.lang && (plain || !mayBeForeign(full)) {
		return
	}
	left, right := false, false // letters that run to the right; that run to the left, or controls that make so
	for i := 0; i < len(full); {
		if c := full[i]; c < foreignByte {
			left = left || c >= 'A' && (c <= 'Z' || c >= 'a' && c <= 'z' || c >= 0xC3)
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(full[i:])
		i += n
		if !complexRune(r) {
			left = left || unicode.IsLetter(r)
			continue
		}
		o.foreign = true
		toRight, toLeft := bidi.Strong(r)
		left, right = left || toRight, right || toLeft
	}
	if o.lang && (right || !left || tabs) || right && !left && !tabs {
		o.base = bidi.RightToLeft
	}
	if right || o.base == bidi.RightToLeft {
		o.foreign = true
		o.levels = o.para.Levels(full, o.base)
	}
}

// foreignByte is the first byte of U+0580 in UTF-8; no complex character begins with a lower one.
const foreignByte = 0xD6

// mayBeForeign reports whether s has a byte from which complex characters begin.
func mayBeForeign(s string) bool {
	for i := range len(s) {
		if s[i] >= foreignByte {
			return true
		}
	}
	return false
}

// arrange places the items of a line whose left end stands at x, the spaces behind the first n
// beyond the end of the line (L1, L2).
func (s *Setter) arrange(line []Item, n int, x doc.Length) {
	o := &s.order
	o.onLine = o.onLine[:0]
	for i := range line {
		l := line[i].Level
		if i >= n {
			l = bidi.Level(o.base)
			line[i].Level = l
			if l.RTL() {
				x -= line[i].W
			}
		}
		o.onLine = append(o.onLine, l)
	}
	o.visual = bidi.Order(o.visual[:0], o.onLine)
	for _, k := range o.visual {
		if k > 0 {
			x += line[k].kern
		}
		line[k].X = x
		x += line[k].W
	}
}
