package text

import (
	"slices"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/text/bidi"
)

// Line is one line of a paragraph. Items stand in the order of the text; X says where each is.
type Line struct {
	Items []Item
	// Width is the natural width, without the space that ends the line.
	Width doc.Length
}

// closeLine ends the line before items[end]: it drops the spaces at its end but
// one, so that extracted words stay apart, and places the rest.
func (s *Setter) closeLine(end int, last bool) {
	line := s.items[s.lineStart:end]
	n := len(line)
	for n > 0 && line[n-1].Space && line[n-1].Leader == doc.TabLeaderNone {
		n--
	}
	if n < len(line) && !last && n > 0 {
		line = line[:n+1]
	} else {
		line = line[:n]
	}
	if n > 0 && !last && endsSoft(&line[n-1]) {
		if h, ok := s.hyphen(&line[n-1]); ok {
			line = append(line[:n:n], h) // a line of its own memory: the tail stands behind
			n++
		}
	}
	s.finishLine(line, n, last)
	s.lineStart, s.segStart, s.x, s.ladder = end, end, s.indents[1], 0
	s.field.open = false
}

// finishLine places the items of a line, the spaces behind the first n left out of its width.
func (s *Setter) finishLine(line []Item, n int, last bool) {
	natural, gaps := doc.Length(0), 0
	for i := range line[:n] {
		if i > 0 {
			natural += line[i].kern
		}
		natural += line[i].W
		if line[i].Space {
			gaps++
		}
	}
	indent := s.indents[0]
	if len(s.lines) > s.firstLine {
		indent = s.indents[1]
	}
	x := s.justify(line[:n], gaps, natural+indent, last)
	if !s.fromRight() {
		x += indent
	}
	if s.order.levels != nil {
		s.arrange(line, n, x)
	} else {
		for i := range line {
			if i > 0 {
				x += line[i].kern
			}
			line[i].X = x
			x += line[i].W
		}
	}
	s.lines = append(s.lines, Line{Items: slices.Clip(line), Width: natural + indent})
}

// fromRight reports whether the lines begin at the right.
func (s *Setter) fromRight() bool {
	if s.align == doc.AlignJustify && s.tabs == nil {
		return s.order.base == bidi.RightToLeft
	}
	return s.order.lang
}

// justify widens the spaces of a line by what the alignment gives them, and returns where its left
// end stands.
func (s *Setter) justify(line []Item, gaps int, natural doc.Length, last bool) doc.Length {
	free := s.width - natural
	if free < 0 && s.total && s.align == doc.AlignJustify {
		last = false // total fit took the line for one whose spaces shrink
	} else if free <= 0 || s.width >= Unlimited {
		return 0
	}
	align := s.align
	if s.tabs != nil {
		align = doc.AlignStart
	}
	switch align {
	case doc.AlignStart:
		if s.order.lang {
			return free
		}
	case doc.AlignRight:
		return free
	case doc.AlignDecimal:
		if s.sign == 0 {
			return free
		}
		return min(max(s.sign-s.beforeSign(line), 0), free)
	case doc.AlignCenter:
		return free / 2
	case doc.AlignJustify:
		if last || gaps == 0 {
			if s.order.base == bidi.RightToLeft {
				return free
			}
			return 0
		}
		// Every gap gets its share; what integer division leaves goes to the first
		// ones, a unit each.
		share, more := free/doc.Length(gaps), free%doc.Length(gaps)
		if more < 0 {
			share, more = share-1, more+doc.Length(gaps)
		}
		for i := range line {
			if line[i].Space {
				line[i].W += share
				if more > 0 {
					line[i].W++
					more--
				}
			}
		}
	}
	return 0
}
