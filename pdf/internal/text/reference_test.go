package text

import (
	"slices"
	"strings"

	"example.com/quire/pdf/doc"
)

// SetByReference is SetParagraph by total fit as the definition has it: every line from every way
// that ends before it is weighed, however loose it is, and each word is hyphenated anew. It also
// reports whether there was a way.
func (s *Setter) SetByReference(pieces []Piece, width doc.Length, o Options) ([]Line, bool, error) {
	s.open(pieces, width, o.Align)
	s.hyphenate = o.Hyphenate
	s.indents = [2]doc.Length{max(o.Indent, 0), max(-o.Indent, 0)}
	s.x = s.indents[0]
	full := s.join(pieces)
	s.full, s.from = full, 0
	s.findBreaks(pieces, full)
	r := reference{s: s}
	done, err := r.set(full)
	if err == nil && !done {
		err = s.setGreedy(full)
	}
	if err != nil {
		return nil, done, err
	}
	return s.paragraph(), done, nil
}

type reference struct {
	s           *Setter
	breakpoints []breakpoint
	nodes       []fitNode
	active      []int32
}

func (r *reference) set(full string) (bool, error) {
	s := r.s
	items, lines := len(s.items), len(s.lines)
	if err := s.addAll(full); err != nil {
		return false, err
	}
	if len(s.items) == s.lineStart {
		return false, nil
	}
	for _, c := range s.fitter.breakpoints {
		r.breakpoints = append(r.breakpoints, r.measured(breakpoint{at: c.at, mandatory: c.mandatory}))
	}
	best, worst := r.pass()
	if s.hyphenate && (best < 0 || worst > preTolerance) {
		if r.hyphenate() {
			best, _ = r.pass()
		}
	}
	if best < 0 {
		s.items, s.lines = s.items[:items], s.lines[:lines]
		s.lineStart, s.segStart = items, items
		return false, nil
	}
	s.fitter.breakpoints, s.fitter.nodes = r.breakpoints, r.nodes
	s.total = true
	return true, s.take(best)
}

// sum returns how wide the items of the paragraph are before items[at], and the spaces among them.
func (r *reference) sum(at int) (x, spaces doc.Length) {
	for i := r.s.lineStart; i < at; i++ {
		it := &r.s.items[i]
		x += it.kern + it.W
		if it.Space {
			spaces += it.W
		}
	}
	return x, spaces
}

// measured is a breakpoint between two items with its measures.
func (r *reference) measured(c breakpoint) breakpoint {
	s := r.s
	at, n := int(c.at), int(c.at)
	for n > s.lineStart && s.items[n-1].Space {
		n--
	}
	c.endX, c.endS = r.sum(n)
	c.startX, c.startS = r.sum(at)
	if n == s.lineStart || n < at {
		return c
	}
	last := &s.items[n-1]
	if endsSoft(last) {
		c.endX += s.hyphenWidth(last)
	}
	c.hyphen = endsSoft(last) || strings.HasSuffix(last.Part.Text, "-")
	return c
}

// hyphenate puts the hyphenation points of the words among the breakpoints; false when there are
// none.
func (r *reference) hyphenate() bool {
	s := r.s
	var merged []breakpoint
	i := s.lineStart
	for _, c := range r.breakpoints {
		for ; i < int(c.at); i++ {
			it := &s.items[i]
			x, spaces := r.sum(i)
			part := *it.Part
			part.word = nil
			it.Part = &part
			for _, p := range s.hyphenPoints(i) {
				w, ok := s.widthTo(it, int(p.bytes))
				if !ok {
					panic("a point within a ligature")
				}
				from := x + it.kern + w
				merged = append(merged, breakpoint{
					at: int32(i), cut: p.bytes, hyphen: true, //nolint:gosec // G115: items of a paragraph
					endX: from + s.hyphenWidth(it), startX: from, endS: spaces, startS: spaces,
				})
			}
		}
		merged = append(merged, c)
	}
	found := len(merged) > len(r.breakpoints)
	r.breakpoints = merged
	return found
}

// pass finds the best way through the breakpoints and returns its last node and its worst badness;
// -1 when some stretch is wider than the line.
func (r *reference) pass() (best int32, worst int) {
	r.nodes = append(r.nodes[:0], fitNode{breakpoint: -1, before: -1, fit: 1})
	r.active = append(r.active[:0], 0)
	for ci := range r.breakpoints {
		from := len(r.nodes)
		mandatory := r.breakpoints[ci].mandatory
		r.active = slices.DeleteFunc(r.active, func(ni int32) bool { return !r.line(ni, ci, from) || mandatory })
		for ni := from; ni < len(r.nodes); ni++ {
			r.active = append(r.active, int32(ni)) //nolint:gosec // G115: some for each breakpoint
		}
		if len(r.active) == 0 {
			return -1, 0
		}
	}
	best = r.active[0]
	for _, ni := range r.active {
		if r.nodes[ni].demerits < r.nodes[best].demerits {
			best = ni
		}
	}
	return best, int(r.nodes[best].worst)
}

// line weighs the line from node ni to breakpoint ci; nodes[from:] are the best ways to it so far.
// It reports whether a later breakpoint may still end that line.
func (r *reference) line(ni int32, ci, from int) bool {
	s, c, n := r.s, &r.breakpoints[ci], r.nodes[ni]
	var startX, startS doc.Length
	hyphenBefore, indent := false, s.indents[0]
	if n.breakpoint >= 0 {
		b := &r.breakpoints[n.breakpoint]
		startX, startS, hyphenBefore, indent = b.startX, b.startS, b.hyphen && !b.mandatory, s.indents[1]
		if b.cut == 0 && int(b.at) < len(s.items) {
			startX += s.items[b.at].kern
		}
	}
	free, spaces := s.width-indent-(c.endX-startX), c.endS-startS
	ratio := int64(0)
	switch justified := s.align == doc.AlignJustify; {
	case free < 0 && (!justified || spaces == 0 || -free > spaces/3):
		return c.cut > 0
	case free < 0:
		ratio = int64(free) * 1000 / int64(max(spaces/3, 1))
	case free == 0 || c.mandatory:
	case justified && spaces < 2 || !justified && s.pieces[0].Size <= 0:
		ratio = 50_000
	case justified:
		ratio = min(int64(free)*1000/int64(spaces/2), 50_000)
	default:
		ratio = min(int64(free)*1000/int64(2*s.pieces[0].Size), 50_000)
	}
	made := fitNode{breakpoint: int32(ci), before: ni} //nolint:gosec // G115: breakpoints of a paragraph
	hyphen := c.hyphen && !c.mandatory
	if hyphen {
		if made.ladder = n.ladder + 1; made.ladder > 2 {
			return true
		}
	}
	b := ratio * ratio / 10_000
	made.worst = max(n.worst, int32(b)) //nolint:gosec // G115: at most worstBadness
	made.demerits = n.demerits + (10+b)*(10+b)
	if hyphen {
		made.demerits += 50 * 50
		if hyphenBefore {
			made.demerits += 10_000
		}
	}
	switch {
	case ratio < -500:
	case ratio <= 500:
		made.fit = 1
	case ratio <= 1000:
		made.fit = 2
	default:
		made.fit = 3
	}
	if d := made.fit - n.fit; n.breakpoint >= 0 && (d > 1 || d < -1) {
		made.demerits += 1000
	}
	if c.mandatory && hyphenBefore {
		made.demerits += 5000
	}
	if c.mandatory && spaces == 0 && n.breakpoint >= 0 && free > s.width*2/3 {
		made.demerits += 1000
	}
	for i := from; i < len(r.nodes); i++ {
		if o := &r.nodes[i]; o.fit == made.fit && o.ladder == made.ladder {
			if made.demerits < o.demerits {
				*o = made
			}
			return true
		}
	}
	r.nodes = append(r.nodes, made)
	return true
}
