package text

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/diag"
)

// A figure is never torn: read by itself, each half of a torn amount is another
// amount. UAX #14 keeps numbers together at its opportunities (LB25), but a word
// that is wider than its line is broken between any two graphemes, and there a
// URL and an amount are different things. Figures are
//
//   - what a piece marked Figure holds, up to its ordinary spaces,
//   - a word with a digit in a piece with tabular figures,
//   - in all other text a number with what belongs to it: 1,234.56  -£12  12 %
//     (USD 1 234,50)  2026-01-31. Digits of names do not count: MB/2026/01,
//     9f86d081, https://host/orders/4711. Nor does what is longer than any number
//     that somebody reads.

// FigureError says that a figure is wider than the line.
type FigureError struct {
	Text        string
	Need, Width doc.Length
}

// Error names the figure and both widths.
func (e *FigureError) Error() string {
	return fmt.Sprintf("the figure %s is %d.%02d pt wide and the line %d.%02d pt", diag.Quote(e.Text),
		e.Need/doc.Pt, e.Need%doc.Pt*100/doc.Pt, e.Width/doc.Pt, e.Width%doc.Pt*100/doc.Pt)
}

// longestFigure is the most characters of a figure that is not marked as one.
const longestFigure = 64

// extent is a stretch of bytes.
type extent struct{ from, to int }

// findBreaks fills s.breaks with the opportunities of full, the joined text of
// pieces, less those inside figures.
func (s *Setter) findBreaks(pieces []Piece, full string) {
	s.breaks = breaks(s.t.seg, s.breaks[:0], full)
	pi, from := 0, 0
	kept := s.breaks[:0]
	for _, b := range s.breaks {
		for pi < len(pieces) && b.Pos >= from+len(pieces[pi].Text) {
			from += len(pieces[pi].Text)
			pi++
		}
		if !b.Mandatory && full[b.Pos-1] != ' ' &&
			(pi < len(pieces) && pieces[pi].Figure && b.Pos > from || tearsSign(full, b.Pos)) {
			continue
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

// figures appends the numbers of s with what belongs to them.
func figures(dst []extent, s string) []extent {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if !unicode.IsDigit(r) {
			i += n
			continue
		}
		end := numberEnd(s, i)
		from, ok := numberStart(s, i)
		to, alone := unitEnd(s, end)
		if ok && alone && utf8.RuneCountInString(s[from:to]) <= longestFigure {
			dst = append(dst, extent{from, to})
		}
		i = max(end, to)
	}
	return dst
}

// numberEnd returns where the number ends whose first digit is at i: single
// separators of groups, fractions, times and dates stand inside it.
func numberEnd(s string, i int) int {
	end := i
	for i < len(s) {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case unicode.IsDigit(r):
			i += n
			end = i
		case end == i && (strings.ContainsRune(".,:/-'\u2019", r) || glue(r)):
			i += n
		default:
			return end
		}
	}
	return end
}

// names are the characters that make digits behind them part of a name.
const names = "_/=&?#@\\-"

// numberStart moves i, where a number begins, to before its sign, currency and
// opening bracket. ok is false when the digits are part of a name.
func numberStart(s string, i int) (from int, ok bool) {
	for i > 0 {
		r, n := utf8.DecodeLastRuneInString(s[:i])
		before, _ := utf8.DecodeLastRuneInString(s[:i-n])
		word := i > n && wordRune(before)
		switch {
		case sign(r) && !word, unicode.Is(unicode.Sc, r), r == '(', r == '[':
			i -= n
		case glue(r) && i > n:
			if j := shortWord(s[:i-n], true); j > 0 { // USD 12
				return i - n - j, true
			}
			if !unicode.Is(unicode.Sc, before) && !sign(before) {
				return i, true
			}
			i -= n
		default:
			return i, !wordRune(r) && !strings.ContainsRune(names, r)
		}
	}
	return 0, true
}

// unitEnd moves end, where a number ends, to behind its unit, per cent sign,
// currency and closing marks. ok is false when the number is part of a name.
func unitEnd(s string, end int) (to int, ok bool) {
	rest := s[end:]
	letters := len(rest) - len(strings.TrimLeftFunc(rest, unicode.IsLetter))
	r, n := utf8.DecodeRuneInString(rest[letters:])
	next, _ := utf8.DecodeRuneInString(rest[letters+n:])
	if wordRune(r) || strings.ContainsRune(names, r) && wordRune(next) {
		return end, false
	}
	to = end + shortWord(rest, false)
	for to < len(s) {
		r, n := utf8.DecodeRuneInString(s[to:])
		switch {
		case unicode.Is(unicode.Sc, r), strings.ContainsRune("%‰°)].,:;!?", r):
			to += n
		case glue(r):
			next, _ := utf8.DecodeRuneInString(s[to+n:])
			k := shortWord(s[to+n:], false)
			if k == 0 && !unicode.Is(unicode.Sc, next) && next != '%' && next != '‰' && next != '°' {
				return to, true
			}
			to += n + k
		default:
			return to, true
		}
	}
	return to, true
}

func wordRune(r rune) bool { return r == '_' || unicode.In(r, unicode.L, unicode.M, unicode.Nd) }

// longestUnit is the most letters that a unit or the code of a currency has.
const longestUnit = 4

// shortWord returns the length of the letters that s begins or, with back, ends
// with; 0 when they are too many for a unit.
func shortWord(s string, back bool) int {
	length := 0
	for count := 0; length < len(s); count++ {
		r, n := utf8.DecodeRuneInString(s[length:])
		if back {
			r, n = utf8.DecodeLastRuneInString(s[:len(s)-length])
		}
		switch {
		case !unicode.IsLetter(r):
			return length
		case count == longestUnit:
			return 0
		}
		length += n
	}
	return length
}

// around is how far around a word is looked for what makes its digits a name.
const around = 32

// solid fills s.figures with the figures in items, which are the stretch of
// s.full from s.from on: in order and apart from each other.
func (s *Setter) solid(items []Item) {
	s.figures = s.figures[:0]
	end := s.from
	for i := 0; i < len(items); {
		it := &items[i]
		start, digit := end, false
		for i < len(items) && items[i].Piece == it.Piece && items[i].Space == it.Space {
			digit = digit || strings.ContainsFunc(items[i].Part.Text, unicode.IsDigit)
			end += len(items[i].Part.Text)
			i++
		}
		if p := &s.pieces[it.Piece]; digit && (p.Figure || p.Chain.query.TabularFigures) {
			s.figures = append(s.figures, extent{start, end})
		}
	}
	lo, hi := max(s.from-around, 0), min(end+around, len(s.full))
	for lo > 0 && !utf8.RuneStart(s.full[lo]) {
		lo--
	}
	marked := len(s.figures)
	s.figures = figures(s.figures, s.full[lo:hi])
	for i := marked; i < len(s.figures); i++ {
		f := &s.figures[i]
		f.from, f.to = max(f.from+lo, s.from), min(f.to+lo, end)
	}
	slices.SortFunc(s.figures, func(a, b extent) int { return a.from - b.from })
	n := 0
	for _, f := range s.figures {
		switch {
		case f.from >= f.to: // beside the stretch
		case n > 0 && f.from < s.figures[n-1].to:
			s.figures[n-1].to = max(s.figures[n-1].to, f.to)
		default:
			s.figures[n] = f
			n++
		}
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
	parts, err := s.shape(p.Chain, w, true)
	for i := range parts {
		*out = append(*out, Item{Part: &parts[i], W: parts[i].Width(p.Size), Piece: it.Piece})
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
			s.x += all
			return nil
		}
		s.items = s.items[:from]
		if from == s.lineStart {
			return &FigureError{Text: name, Need: bare, Width: s.width}
		}
		s.closeLine(from, false)
	}
}
