package text

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/text/hyph"
)

// hyphenation is where a word may be hyphenated by the patterns of one language.
type hyphenation struct {
	patterns *hyph.Language
	points   []hyphenPoint
}

// hyphenPoint is a place in a word: bytes of its text and their advance, in font units.
type hyphenPoint struct {
	bytes int32
	units int64
}

// hyphens returns the patterns for the language of a piece, nil when it has none.
func (s *Setter) hyphens(p *Piece) *hyph.Language {
	if p.Lang != s.patternLang || !s.patternsFound {
		s.patternLang, s.patterns, s.patternsFound = p.Lang, s.t.hyphens.Language(p.Lang), true
	}
	return s.patterns
}

// minHyphenated is the shortest word that is hyphenated, in letters.
const minHyphenated = 5

// hyphenPoints returns where the word of items[i] may be hyphenated; the result is valid until the
// next call. A word of several items (in several fonts, or with soft hyphens of its own) has no
// such place, nor has one of spaced letters.
func (s *Setter) hyphenPoints(i int) []hyphenPoint {
	it := &s.items[i]
	p := &s.pieces[it.Piece]
	if it.Space || p.Figure || p.Spacing != 0 || it.Part.RTL || len(it.Part.Text) < minHyphenated {
		return nil
	}
	patterns := s.hyphens(p)
	if patterns == nil || s.joins(i-1, i) || s.joins(i, i+1) {
		return nil
	}
	w := it.Part.word
	if w != nil {
		if h := w.hyphenation.Load(); h != nil && h.patterns == patterns {
			return h.points
		}
	}
	s.points = it.Part.hyphenPoints(s.points[:0], patterns)
	if w != nil {
		w.hyphenation.Store(&hyphenation{patterns: patterns, points: slices.Clone(s.points)})
	}
	return s.points
}

// hyphenPoints appends where a word may be hyphenated. What looks like an address, an identifier or
// a name in camel case has no such place.
func (p *Part) hyphenPoints(dst []hyphenPoint, patterns *hyph.Language) []hyphenPoint {
	word := p.Text
	if strings.ContainsAny(word, "0123456789/@_\\=&\u00AD\u200B\u2060") {
		return dst
	}
	var at [16]int
	for from := 0; from < len(word); {
		r, n := utf8.DecodeRuneInString(word[from:])
		if !unicode.IsLetter(r) {
			from += n
			continue
		}
		to, letters, inner := from, 0, 0
		for to < len(word) {
			r, n := utf8.DecodeRuneInString(word[to:])
			if !unicode.IsLetter(r) && !unicode.Is(unicode.M, r) {
				break
			}
			if letters > 0 && unicode.IsUpper(r) {
				inner++
			}
			letters++
			to += n
		}
		if letters >= minHyphenated && (inner == 0 || inner == letters-1) {
			for _, k := range patterns.Points(at[:0], word[from:to]) {
				if units, ok := p.unitsTo(from + k); ok {
					dst = append(dst, hyphenPoint{int32(from + k), units}) //nolint:gosec // G115: within a text that Limits bound
				}
			}
		}
		from = to
	}
	return dst
}

// joins reports whether items a and b are parts of one word.
func (s *Setter) joins(a, b int) bool {
	if a < s.lineStart || b >= len(s.items) || s.items[a].Space || s.items[b].Space {
		return false
	}
	l, _ := utf8.DecodeLastRuneInString(s.items[a].Part.Text)
	r, _ := utf8.DecodeRuneInString(s.items[b].Part.Text)
	return (unicode.IsLetter(l) || l == '\u00AD') && unicode.IsLetter(r)
}

// unitsTo returns the advance of the first bytes of a part, in font units; ok is false when they
// end within a ligature.
func (p *Part) unitsTo(bytes int) (units int64, ok bool) {
	for i := range p.Glyphs {
		g := &p.Glyphs[i]
		if int(g.Cluster) >= bytes {
			return units, int(g.Cluster) == bytes
		}
		units += int64(g.Advance)
	}
	return 0, false
}

// widthTo returns the advance of the first bytes of an item.
func (s *Setter) widthTo(it *Item, bytes int) (doc.Length, bool) {
	units, ok := it.Part.unitsTo(bytes)
	return Scale(units, s.pieces[it.Piece].Size, it.Part.Face), ok
}

// closeCut ends the line within items[k], behind the given bytes of its word, with a hyphen. The
// next line begins with the rest.
func (s *Setter) closeCut(k, bytes int) error {
	it := s.items[k]
	p := &s.pieces[it.Piece]
	word := it.Part.Text
	head, err := s.shape(p, word[:bytes], true, it.Level)
	if err != nil {
		return err
	}
	rest, err := s.shape(p, word[bytes:], true, it.Level)
	if err != nil {
		return err
	}
	line := append(s.items[s.lineStart:k:k], Item{Part: &head[0], W: head[0].Width(p.Size), kern: it.kern, Piece: it.Piece, Level: it.Level})
	if h, ok := s.hyphen(&line[len(line)-1]); ok {
		line = append(line, h)
	}
	s.finishLine(line, len(line), false)
	s.items[k] = Item{Part: &rest[0], W: rest[0].Width(p.Size), Piece: it.Piece, Level: it.Level}
	s.lineStart, s.segStart, s.x = k, k, s.indents[1]
	return nil
}

// hyphenateOpen ends the line within a word of the open stretch, the first that crosses its end. It
// reports whether there is such a place.
func (s *Setter) hyphenateOpen() (bool, error) {
	if s.ladder >= maxLadder {
		return false, nil
	}
	avail := s.width - s.x
	if s.align != doc.AlignJustify && s.segStart > s.lineStart && avail < 2*s.pieces[0].Size {
		return false, nil // a ragged line is full enough
	}
	var x doc.Length
	bytes := 0
	for k := s.segStart; k < len(s.items); k++ {
		it := &s.items[k]
		if k > s.lineStart {
			x += it.kern
		}
		if x+it.W <= avail {
			x += it.W
			bytes += len(it.Part.Text)
			continue
		}
		hyphen, size := s.hyphenWidth(it), s.pieces[it.Piece].Size
		for _, p := range slices.Backward(s.hyphenPoints(k)) {
			if x+Scale(p.units, size, it.Part.Face)+hyphen > avail {
				continue
			}
			ladder := s.ladder + 1
			if err := s.closeCut(k, int(p.bytes)); err != nil {
				return false, err
			}
			s.ladder = ladder
			s.from += bytes + int(p.bytes)
			return true, nil
		}
		return false, nil
	}
	return false, nil
}

const softHyphen = "\u00AD"

func endsSoft(it *Item) bool { return !it.Space && strings.HasSuffix(it.Part.Text, softHyphen) }

func (s *Setter) hyphenWidth(it *Item) doc.Length {
	p := &s.pieces[it.Piece]
	f := it.Part.Face
	return Scale(int64(f.Advance(f.GlyphIndex('-'))), p.Size, f)
}

// hyphen is the item that a soft hyphen at a line end shows as. Its text is the
// soft hyphen, so extraction can tell it from a typed one (ISO 32000-2,
// 14.8.2.2.3).
func (s *Setter) hyphen(it *Item) (Item, bool) {
	f := it.Part.Face
	id := f.GlyphIndex('-')
	if id == 0 {
		return Item{}, false
	}
	adv := f.Advance(id)
	p := &Part{Face: f, Text: softHyphen, Glyphs: []Glyph{{ID: id, Advance: int32(adv)}}, Units: int64(adv)} //nolint:gosec // G115: 16 bits
	return Item{Part: p, W: p.Width(s.pieces[it.Piece].Size), Piece: it.Piece, Level: it.Level}, true
}
