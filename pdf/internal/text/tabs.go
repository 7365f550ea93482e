package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/text/bidi"
)

// TabStop is a place that a tab leads to.
type TabStop struct {
	At     doc.Length // from the side at which the lines begin
	Align  doc.TabAlign
	Leader doc.TabLeader
}

// field is what stands behind the last tab of a line. A tab reaches to the next stop; one that
// aligns its field otherwise than by the left end shrinks as the field grows:
//
//	Balance ........ 1,234.50|        right
//	Balance ...... 1,234|.50          decimal
//
// A tab behind the last stop, or whose field has no room before its stop, is as wide as a space. A
// tab with a leader that ends a line stays: it is a line to write on.
type field struct {
	open   bool
	tab    int        // index of the tab
	x      doc.Length // where it begins
	stop   TabStop
	least  doc.Length // its width at the least
	all    doc.Length // of the field
	bare   doc.Length // of that, without the spaces at its end
	before doc.Length // of that, up to the decimal sign
	digit  bool       // there was one
	sign   bool       // there was a decimal sign
}

// width is how wide the tab is.
func (f *field) width() doc.Length {
	w := f.stop.At - f.x
	switch f.stop.Align {
	case doc.TabRight:
		w -= f.bare
	case doc.TabCenter:
		w -= f.bare / 2
	case doc.TabDecimal:
		w -= f.before
	case doc.TabLeft:
	}
	return max(w, f.least)
}

// settleTabs is settle for paragraphs with tab stops: it reckons the items behind segStart into the
// line, and reports false, with the tabs as they were, when they do not fit.
func (s *Setter) settleTabs() bool {
	f, x := s.field, s.x
	bare := x
	for i := s.segStart; i < len(s.items); i++ {
		it := &s.items[i]
		if it.Tab {
			f = s.openField(it, i, x)
			if x += it.W; it.Leader != doc.TabLeaderNone {
				bare = x
			}
			continue
		}
		w := it.W
		if i > s.lineStart {
			w += it.kern
		}
		if f.open {
			s.grow(&f, it, w)
			s.items[f.tab].W = f.width()
			x = f.x + f.width() + f.all
		} else {
			x += w
		}
		if !it.Space {
			bare = x
		}
	}
	if bare > s.width && s.width < Unlimited {
		if s.field.open {
			s.items[s.field.tab].W = s.field.width()
		}
		return false
	}
	s.field, s.x, s.segStart = f, x, len(s.items)
	return true
}

// openField begins the field behind a tab, items[i], which stands at x, and gives the tab its
// width.
func (s *Setter) openField(it *Item, i int, x doc.Length) field {
	f := field{open: true, tab: i, x: x, stop: s.stopBehind(x), least: s.pieces[it.Piece].Size / 4}
	it.W, it.Leader = f.width(), f.stop.Leader
	return f
}

// placed reckons items[from:], which have been put in the line and are w wide, into it. What stands
// behind a tab may make that narrower.
func (s *Setter) placed(from int, w doc.Length) {
	f := &s.field
	if !f.open || from <= f.tab {
		s.x += w
		return
	}
	for i := from; i < len(s.items); i++ {
		s.grow(f, &s.items[i], s.items[i].W+s.items[i].kern)
	}
	s.items[f.tab].W = f.width()
	s.x = f.x + f.width() + f.all
}

// grow reckons an item of the given width into the field.
func (s *Setter) grow(f *field, it *Item, w doc.Length) {
	if f.stop.Align == doc.TabDecimal && !f.sign && !it.Space {
		at, sign := decimalAt(it.Part.Text, s.decimal)
		part, ok := it.W, true
		if at < len(it.Part.Text) {
			part, ok = s.widthTo(it, at)
		}
		if s.order.base == bidi.RightToLeft {
			part = it.W - part // the line begins at the right
		}
		switch {
		case at > 0 && ok:
			f.before, f.sign, f.digit = f.all+w-it.W+part, sign, true
		case !f.digit:
			f.before = f.all + w
		}
	}
	if f.all += w; !it.Space {
		f.bare = f.all
	}
}

// decimalAt returns where the decimal sign of a number stands, or the end of its last digit when it
// has none; 0 when there is no digit.
func decimalAt(s, sign string) (at int, found bool) {
	for from := 0; sign != ""; {
		i := strings.Index(s[from:], sign)
		if i < 0 {
			break
		}
		i += from
		before, _ := utf8.DecodeLastRuneInString(s[:i])
		after, _ := utf8.DecodeRuneInString(s[i+len(sign):])
		if unicode.IsDigit(before) && unicode.IsDigit(after) {
			return i, true
		}
		from = i + len(sign)
	}
	if i := strings.LastIndexFunc(s, unicode.IsDigit); i >= 0 {
		_, n := utf8.DecodeRuneInString(s[i:])
		return i + n, false
	}
	return 0, false
}

// beforeSign is the width of a line up to its decimal sign, to the end of its last digit when it
// has none, and of the whole line when it has no digit: from the left, in whatever direction it is
// written.
func (s *Setter) beforeSign(line []Item) doc.Length {
	var x, before doc.Length
	if s.order.levels != nil {
		s.arrange(line, len(line), 0)
	}
	found := false
	for i := range line {
		it := &line[i]
		if i > 0 {
			x += it.kern
		}
		left := x
		if s.order.levels != nil {
			left = it.X
		}
		x += it.W
		at, sign := decimalAt(it.Part.Text, s.decimal)
		if at == 0 || it.Space {
			continue
		}
		part, ok := it.W, true
		if at < len(it.Part.Text) {
			part, ok = s.widthTo(it, at)
		}
		if ok {
			before, found = left+part, true
		}
		if ok && sign {
			break
		}
	}
	if !found {
		return x
	}
	return before
}

// AroundSign returns how wide the widest line of a paragraph is before and behind its decimal sign,
// when only mandatory breaks end one.
func (s *Setter) AroundSign(pieces []Piece, sign string) (before, behind doc.Length, err error) {
	lines, err := s.Set(pieces, Unlimited, doc.AlignLeft)
	if err != nil {
		return 0, 0, err
	}
	s.pieces, s.decimal = pieces, sign
	for i := range lines {
		b := s.beforeSign(lines[i].Items)
		before, behind = max(before, b), max(behind, lines[i].Width-b)
	}
	s.pieces = nil
	return before, behind, nil
}

// stopBehind returns the first stop behind x; x itself when there is none.
func (s *Setter) stopBehind(x doc.Length) TabStop {
	for _, t := range s.tabs {
		if t.At > x {
			return t
		}
	}
	return TabStop{At: x}
}
