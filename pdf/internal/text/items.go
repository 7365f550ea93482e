package text

import (
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/lettercase"
	"example.com/quire/pdf/internal/text/bidi"
)

// Item is a placed piece of a line: the glyphs of Part at X from the line's left
// end. W is the advance it takes up, which for a space of a justified line is
// more than Part's own.
type Item struct {
	Part   *Part
	X, W   doc.Length
	kern   doc.Length // moves it towards the item before, unless it opens a line
	Piece  int32      // index of the piece it is from
	Space  bool
	Tab    bool          // it leads to a tab stop
	Leader doc.TabLeader // of a tab
	Level  bidi.Level    // of embedding (UAX #9)
}

// width is that of a part of the piece.
func (p *Piece) width(part *Part) doc.Length {
	w := part.Width(p.Size)
	if p.Spacing != 0 {
		w += p.Spacing * doc.Length(part.letters())
	}
	return w
}

// widths is that of several parts of the piece.
func (p *Piece) widths(parts []Part) doc.Length {
	var w doc.Length
	for i := range parts {
		w += p.width(&parts[i])
	}
	return w
}

// letters counts the clusters of a part.
func (p *Part) letters() int {
	n := 0
	for i := range p.Glyphs {
		if i == 0 || p.Glyphs[i].Cluster != p.Glyphs[i-1].Cluster {
			n++
		}
	}
	return n
}

// add appends the items of seg, a stretch at byte pos without break opportunity inside.
func (s *Setter) add(pi int, seg string, pos int) error {
	if w := s.pieces[pi].Object; w > 0 && seg != "" {
		s.push(Item{Part: &objectPart, W: w, Piece: int32(pi), Level: s.order.at(pos)}) //nolint:gosec // G115: pieces are few
		return nil
	}
	for i := 0; i < len(seg); {
		if seg[i] == ' ' || seg[i] == '\t' {
			n := len(s.items)
			if err := s.addSpace(pi, pos+i); err != nil {
				return err
			}
			if seg[i] == '\t' && s.tabs != nil {
				s.items[n].Tab = true
			}
			i++
			continue
		}
		from, figures := i, false
		for ; i < len(seg); i++ {
			if c := seg[i]; c == ' ' || c == '\t' {
				break
			} else if c-'0' <= 9 {
				figures = true
			}
		}
		var level bidi.Level
		if levels := s.order.levels; levels != nil {
			level = levels[pos+from]
			for k := from; k < i; k++ { // a word ends where the level changes
				if levels[pos+k] != level {
					i = k
				}
			}
		}
		if err := s.addWord(pi, seg[from:i], figures, level); err != nil {
			return err
		}
	}
	return nil
}

// Object is the text of a Piece that is a thing: Unicode's object replacement character.
const Object = "\uFFFC"

// objectPart is the part of all things: nothing is drawn of it.
var objectPart = Part{Text: Object}

func (s *Setter) addSpace(pi, pos int) error {
	p := &s.pieces[pi]
	parts := p.Chain.space
	if parts == nil {
		var err error
		if parts, err = s.shape(p, " ", false, 0); err != nil {
			return err
		}
	}
	s.addParts(pi, parts, true, s.order.at(pos))
	return nil
}

func (s *Setter) addWord(pi int, w string, figures bool, level bidi.Level) error {
	parts, err := s.shape(&s.pieces[pi], w, figures, level)
	if err == nil {
		s.addParts(pi, parts, false, level)
	}
	return err
}

func (s *Setter) addParts(pi int, parts []Part, space bool, level bidi.Level) {
	for i := range parts {
		s.push(Item{Part: &parts[i], W: s.pieces[pi].width(&parts[i]), Piece: int32(pi), Space: space, Level: level}) //nolint:gosec // G115: pieces are few
	}
}

// Word returns the parts of a word, from the cache or in memory of the setter. It is for words that
// stand in no paragraph and that run from left to right in a script of letters side by side.
func (s *Setter) Word(p *Piece, w string) ([]Part, error) {
	s.order.foreign = false
	return s.shape(p, w, false, 0)
}

// shape returns the parts of a word, from the cache or in memory of the setter.
func (s *Setter) shape(p *Piece, w string, figures bool, level bidi.Level) ([]Part, error) {
	k := key{query: p.Chain.query, text: w}
	if s.order.foreign {
		if k.complex, k.rtl = isComplex(w), level.RTL(); k.complex {
			k.lang = p.Lang
		}
	}
	if p.SmallCaps {
		return s.shapeCapitals(p, w, k.dialect)
	}
	if s.t.caches(len(w), figures) {
		if parts, ok, err := s.t.shape(p.Chain, &k); ok || err != nil {
			return parts, err
		}
	}
	return s.shapeNew(p, w, k.dialect)
}

// shapeNew shapes a word in memory of the setter.
func (s *Setter) shapeNew(p *Piece, w string, d dialect) ([]Part, error) {
	if cap(s.glyphs)-len(s.glyphs) < len(w) {
		s.glyphs = make([]Glyph, 0, max(1024, len(w)))
	}
	if cap(s.parts) == len(s.parts) {
		s.parts = make([]Part, 0, min(max(2*cap(s.parts), 64), 256))
	}
	from := len(s.parts)
	var err error
	s.parts, s.glyphs, err = s.t.shapeNew(s.parts, s.glyphs, p.Chain, w, d)
	return s.parts[from:], err
}

// shapeCapitals shapes the capitals of a word. Its parts say the word as it is written.
func (s *Setter) shapeCapitals(p *Piece, w string, d dialect) ([]Part, error) {
	var capitals []byte
	var at []int32 // by byte of capitals: the byte of w that it stands for
	for i, r := range w {
		n := len(capitals)
		capitals = append(capitals, lettercase.Upper(p.Lang, string(r))...)
		for range len(capitals) - n {
			at = append(at, int32(i)) //nolint:gosec // G115: a word
		}
	}
	at = append(at, int32(len(w))) //nolint:gosec // G115: a word
	parts, err := s.shapeNew(p, string(capitals), d)
	from := 0
	for i := range parts {
		part := &parts[i]
		to := from + len(part.Text)
		start := at[from]
		for k := range part.Glyphs {
			g := &part.Glyphs[k]
			g.Cluster = at[from+int(g.Cluster)] - start
		}
		part.Text, part.Plain, part.Replaced = w[start:at[to]], false, true
		from = to
	}
	return parts, err
}

// push appends it with the kerning between it and the item before it.
func (s *Setter) push(it Item) {
	if n := len(s.items); n > s.lineStart && !it.Space {
		prev := &s.items[n-1]
		a, b := prev.Part, it.Part
		if !prev.Space && a.Face == b.Face && !a.RTL && !b.RTL && len(a.Glyphs) > 0 && len(b.Glyphs) > 0 {
			p, q := &s.pieces[prev.Piece], &s.pieces[it.Piece]
			if p.Size == q.Size && p.Spacing == 0 && !p.Chain.query.TabularFigures {
				k := int64(a.Face.Kern(a.Glyphs[len(a.Glyphs)-1].ID, b.Glyphs[0].ID))
				it.kern = Scale(k, q.Size, b.Face)
			}
		}
	}
	s.items = append(s.items, it)
}
