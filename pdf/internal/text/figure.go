package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/diag"
)

// A figure is never torn: read by itself, each half of a torn amount is another
// amount. UAX #14 keeps numbers together at its opportunities (LB25), but a word
// that is wider than its line is broken between any two graphemes. A piece says
// whether it is a figure: what a format gives is one, and so is a value of a numeric
// or date type. All else is text, even when it is made of digits: an account number
// may be broken. A figure ends at its ordinary spaces; the signs, currencies and marks
// that touch it belong to it, whichever piece they are of.

// FigureError says that a figure, with the indent before it, is wider than the line.
type FigureError struct {
	Text        string
	Need, Width doc.Length
}

// Error names the figure and both widths.
func (e *FigureError) Error() string {
	return fmt.Sprintf("the figure %s is %s wide and the line %s", diag.Quote(e.Text), points(e.Need), points(e.Width))
}

// extent is a stretch of bytes.
type extent struct{ from, to int }

// findBreaks fills s.breaks with the opportunities of full, the joined text of
// pieces, less those inside figures.
func (s *Setter) findBreaks(pieces []Piece, full string) {
	var plain bool
	s.breaks, plain = breaks(s.t.seg, s.breaks[:0], full)
	s.order.find(pieces, full, plain, s.tabs != nil)
	pi, from := 0, 0
	kept := s.breaks[:0]
	for _, b := range s.breaks {
		if !b.Mandatory && full[b.Pos-1] != ' ' {
			for pi < len(pieces) && b.Pos >= from+len(pieces[pi].Text) {
				from += len(pieces[pi].Text)
				pi++
			}
			if pi < len(pieces) && pieces[pi].Figure && b.Pos > from || tearsSign(full, b.Pos) {
				continue
			}
		}
		kept = append(kept, b)
	}
	s.breaks = kept
}

// tearsSign reports whether pos stands between a sign and the amount that it is
// of: UAX #14 keeps a sign with a digit, but not with a currency before it.
func tearsSign(s string, pos int) bool {
	r, _ := utf8.DecodeLastRuneInString(s[:pos])
	if !sign(r) {
		return false
	}
	money := false
	for _, r := range s[pos:] {
		switch {
		case unicode.Is(unicode.Sc, r):
			money = true
		case !glue(r):
			return money && unicode.IsDigit(r)
		}
	}
	return false
}

func sign(r rune) bool { return r == '-' || r == '+' || r == '\u2212' || r == '±' }

// glue reports whether r is a space that no line ends at.
func glue(r rune) bool { return r == '\u00A0' || r == '\u202F' }

// touching moves the ends of f, a figure in s, around the signs, currencies and marks
// beside it.
func touching(s string, f extent) extent {
	for f.from > 0 {
		r, n := utf8.DecodeLastRuneInString(s[:f.from])
		before, _ := utf8.DecodeLastRuneInString(s[:f.from-n])
		if !unicode.Is(unicode.Sc, r) && r != '(' && r != '[' && (!sign(r) || unicode.IsLetter(before) || unicode.IsDigit(before)) {
			break
		}
		f.from -= n
	}
	for f.to < len(s) {
		r, n := utf8.DecodeRuneInString(s[f.to:])
		if !unicode.Is(unicode.Sc, r) && !strings.ContainsRune("%‰°)].,:;!?", r) {
			break
		}
		f.to += n
	}
	return f
}

// solid fills s.figures with the figures in items, which are the stretch of
// s.full from s.from on: in order and apart from each other.
func (s *Setter) solid(items []Item) {
	s.figures = s.figures[:0]
	at := s.from
	for i := 0; i < len(items); {
		it := &items[i]
		start, digit := at, false
		for i < len(items) && items[i].Piece == it.Piece && items[i].Space == it.Space {
			digit = digit || strings.ContainsFunc(items[i].Part.Text, unicode.IsDigit)
			at += len(items[i].Part.Text)
			i++
		}
		if digit && s.pieces[it.Piece].Figure {
			s.figures = append(s.figures, extent{start, at})
		}
	}
	stretch := s.full[s.from:at]
	n := 0
	for _, f := range s.figures {
		f = touching(stretch, extent{f.from - s.from, f.to - s.from})
		f.from, f.to = f.from+s.from, f.to+s.from
		if n > 0 && f.from < s.figures[n-1].to {
			s.figures[n-1].to = max(s.figures[n-1].to, f.to)
			continue
		}
		s.figures[n] = f
		n++
	}
	s.figures = s.figures[:n]
}

// breakAround is breakLong for a stretch with figures in it: they are set whole,
// what stands between them is spread.
func (s *Setter) breakAround(items []Item) error {
	items, err := s.cutAtFigures(items)
	if err != nil {
		return err
	}
	at, i := s.from, 0 // offset in s.full of items[i]
	until := func(stop int) []Item {
		first := i
		for ; i < len(items) && at < stop; i++ {
			at += len(items[i].Part.Text)
		}
		return items[first:i]
	}
	for _, f := range s.figures {
		if err := s.spread(until(f.from)); err != nil {
			return err
		}
		if err := s.figure(until(f.to), s.full[f.from:f.to]); err != nil {
			return err
		}
	}
	return s.spread(items[i:])
}

// cutAtFigures returns items cut wherever one of s.figures begins or ends.
func (s *Setter) cutAtFigures(items []Item) ([]Item, error) {
	out := make([]Item, 0, len(items)+2*len(s.figures))
	at, next := s.from, 0 // offset in s.full of an item, index of the border not yet passed
	for i := range items {
		it := &items[i]
		word, from := it.Part.Text, 0
		for ; next < 2*len(s.figures); next++ {
			border := s.border(next) - at
			if border >= len(word) {
				break
			}
			if border > from {
				if err := s.addCut(&out, it, word[from:border]); err != nil {
					return nil, err
				}
				from = border
			}
		}
		if from == 0 {
			out = append(out, *it)
		} else if err := s.addCut(&out, it, word[from:]); err != nil {
			return nil, err
		}
		at += len(word)
	}
	return out, nil
}

// border returns the offset at which figure i/2 begins or, for odd i, ends.
func (s *Setter) border(i int) int {
	f := s.figures[i/2]
	if i%2 == 0 {
		return f.from
	}
	return f.to
}

// addCut appends w, a part of the word of it.
func (s *Setter) addCut(out *[]Item, it *Item, w string) error {
	p := &s.pieces[it.Piece]
	parts, err := s.shape(p, w, true, it.Level)
	for i := range parts {
		*out = append(*out, Item{Part: &parts[i], W: p.width(&parts[i]), Piece: it.Piece, Level: it.Level})
	}
	return err
}

// figure sets items, which are one, on one line.
func (s *Setter) figure(items []Item, name string) error {
	for {
		from := len(s.items)
		for i := range items {
			s.push(items[i])
		}
		bare, all := s.measure(s.items[from:], from == s.lineStart)
		if s.x+bare <= s.width {
			s.placed(from, all)
			return nil
		}
		s.items = s.items[:from]
		if from == s.lineStart {
			return &FigureError{Text: name, Need: s.x + bare, Width: s.width}
		}
		s.closeLine(from, false)
	}
}
