package text

import (
	"math"
	"slices"
	"strings"

	"example.com/quire/pdf/doc"
)

// Total fit sets a paragraph as a whole (D. E. Knuth, M. F. Plass, "Breaking Paragraphs into
// Lines", 1981): of all ways to end the lines it takes the one with the fewest demerits in sum.
// A line's badness is 100 times the square of the share by which its spaces are stretched or
// shrunk (TeX takes the cube: the square makes for less stretch in sum); hyphens, hyphens in a row,
// a loose line beside a tight one and a last line of one short word have demerits of their own. As
// in TeX a first pass tries without hyphenation and holds when every line is good. All is reckoned
// in integers: no float decides where a line ends.
//
// Even a single word is a line, of great badness. So that not every line from each break to each
// other is weighed, a pass has a limit: it leaves out lines and ways with more demerits. It finds
// the best way or, if that has more, none, and the next pass has a wider limit. As a rule one is
// enough, and few breaks have more than one way to them.

// The demerits, on the scale of TeX.
const (
	linePenalty     = 10
	hyphenPenalty   = 50
	preTolerance    = 100    // the worst line of a first pass that holds
	doubleHyphen    = 10_000 // two lines in a row end with a hyphen
	lastHyphen      = 5_000  // the line before the last does
	unevenLines     = 1_000  // a line two classes of tightness from the one before
	shortLast       = 1_000  // the last line is one word, less than a third of the width
	maxLadder       = 2      // hyphens in a row
	maxStretchRatio = 50_000 // in thousandths: what is looser is no worse
	worstBadness    = maxStretchRatio * maxStretchRatio / 10_000

	usualDemerits = 20_000 // of a line, where a paragraph has hardly more
	noLimit       = math.MaxInt64
)

// breakpoint is a place where a line may end. The next one begins with items[at].
type breakpoint struct {
	at        int32
	cut       int32      // within items[at]: bytes that stay on the line before; 0: none
	hyphen    bool       // the line ends with one, there already or not
	mandatory bool       // the line ends here
	endX      doc.Length // from the start of the items to the end of a line here, hyphen included
	startX    doc.Length // to the start of a line here, less the kerning of its first item
	endS      doc.Length // spaces up to there
	startS    doc.Length
}

// fitNode is the best way to a breakpoint for one class of tightness and one run of hyphens.
type fitNode struct {
	breakpoint int32
	before     int32 // index of the node that the line begins at
	demerits   int64
	fit        int8 // 0 tight, 1 decent, 2 loose, 3 very loose
	ladder     int8
	worst      int32 // the worst badness up to here
}

// fitStart is a breakpoint that a way leads to and that lines begin at.
type fitStart struct {
	from, to int32      // its nodes
	room     doc.Length // a line from here to a breakpoint has so much more than the endX of that
	spaces   doc.Length // up to here
	hyphen   bool       // the line before ends with one
	full     bool       // lines from here are full
}

// fitter is the memory of total fit.
type fitter struct {
	breakpoints []breakpoint // between items, then those within words that the last pass met
	between     int          // how many of the former there are
	nodes       []fitNode
	starts      []fitStart
	route       []int32

	// The limits of a pass.
	badness, demerits int64
	loosest           int64 // ratio of a line with that badness
}

// setTotal breaks the paragraph as a whole. It reports false, and leaves the setter as it found
// it, where that cannot be: a stretch is wider than the line.
func (s *Setter) setTotal(full string) (bool, error) {
	items, lines := len(s.items), len(s.lines)
	if err := s.addAll(full); err != nil {
		return false, err
	}
	if len(s.items) == s.lineStart {
		return false, nil
	}
	best := s.fit()
	if best < 0 {
		s.items, s.lines = s.items[:items], s.lines[:lines]
		s.lineStart, s.segStart = items, items
		return false, nil
	}
	s.total = true
	return true, s.take(best)
}

// addAll appends the items of the whole paragraph, and a breakpoint at each opportunity.
func (s *Setter) addAll(full string) error {
	f := &s.fitter
	f.breakpoints = f.breakpoints[:0]
	m := fitMeasure{next: s.lineStart}
	pos, bi := 0, 0
	for pi := range s.pieces {
		end := pos + len(s.pieces[pi].Text)
		for pos < end {
			stop, atBreak, hard := end, false, false
			if bi < len(s.breaks) && s.breaks[bi].Pos <= end {
				stop, atBreak, hard = s.breaks[bi].Pos, true, s.breaks[bi].Mandatory
				bi++
			}
			seg := full[pos:stop]
			if hard || stop == len(full) {
				seg = trimEnd(seg)
			}
			if err := s.add(pi, seg, pos); err != nil {
				return err
			}
			if atBreak {
				s.addBreakpoint(&m, hard)
			}
			pos = stop
		}
	}
	// A paragraph whose last line is closed by a line feed has none behind it.
	if n := len(f.breakpoints); n == 0 || !f.breakpoints[n-1].mandatory || int(f.breakpoints[n-1].at) < len(s.items) {
		s.addBreakpoint(&m, true)
	}
	f.between = len(f.breakpoints)
	return nil
}

// fitMeasure is the sum of the items up to a breakpoint.
type fitMeasure struct {
	next       int        // index of the item behind it
	x, spaces  doc.Length // all
	endX, endS doc.Length // up to the last that is no space
}

// addBreakpoint appends a breakpoint behind the last item.
func (s *Setter) addBreakpoint(m *fitMeasure, mandatory bool) {
	f := &s.fitter
	for ; m.next < len(s.items); m.next++ {
		it := &s.items[m.next]
		m.x += it.kern + it.W
		if it.Space {
			m.spaces += it.W
		} else {
			m.endX, m.endS = m.x, m.spaces
		}
	}
	c := breakpoint{
		at: int32(m.next), mandatory: mandatory, //nolint:gosec // G115: items of a paragraph
		endX: m.endX, endS: m.endS, startX: m.x, startS: m.spaces,
	}
	if m.next > s.lineStart {
		switch last := &s.items[m.next-1]; {
		case endsSoft(last):
			c.endX += s.hyphenWidth(last)
			c.hyphen = true
		case !last.Space:
			c.hyphen = strings.HasSuffix(last.Part.Text, "-")
		}
	}
	f.breakpoints = append(f.breakpoints, c)
}

// fit finds the best way through the breakpoints and returns its last node; -1 when some stretch is
// wider than the line.
func (s *Setter) fit() int32 {
	f := &s.fitter
	limit := usualDemerits * int64(f.breakpoints[f.between-1].startX/max(s.width, 1)+2)
	if s.hyphenate {
		best := s.fitPass(preTolerance, noLimit, false)
		if best >= 0 && f.nodes[best].demerits > demeritsOf(preTolerance) {
			// One line that is worse may make for fewer demerits in sum.
			best = s.fitPass(worstBadness, f.nodes[best].demerits, false)
		}
		if best >= 0 {
			if f.nodes[best].worst <= preTolerance {
				return best
			}
			limit = f.nodes[best].demerits
		}
	}
	for {
		best := s.fitPass(worstBadness, limit, s.hyphenate)
		if best >= 0 || limit == noLimit {
			return best
		}
		if limit *= 256; limit > demeritsOf(worstBadness) {
			limit = noLimit
		}
	}
}

// demeritsOf returns the demerits of a line for its badness.
func demeritsOf(badness int64) int64 { return (linePenalty + badness) * (linePenalty + badness) }

// fitPass finds the best way whose lines have no more badness and which has no more demerits than
// is given, and returns its last node; -1: there is none.
func (s *Setter) fitPass(badness, demerits int64, hyphenate bool) int32 {
	f := &s.fitter
	f.demerits = demerits
	// A line with more badness has too many demerits by itself.
	f.badness = max(min(badness, int64(math.Sqrt(float64(demerits)))-linePenalty), 0)
	f.loosest = min(int64(math.Sqrt(float64((f.badness+1)*10_000))), maxStretchRatio)
	f.breakpoints = f.breakpoints[:f.between]
	f.nodes = append(f.nodes[:0], fitNode{breakpoint: -1, before: -1, fit: 1})
	f.starts = append(f.starts[:0], fitStart{to: 1, room: s.width - s.indents[0]})
	from, x, spaces := s.lineStart, doc.Length(0), doc.Length(0)
	for i := range f.between {
		c := f.breakpoints[i]
		if hyphenate {
			s.reachWithin(from, int(c.at), x, spaces)
		}
		s.reach(i, &c)
		if len(f.starts) == 0 {
			return -1
		}
		from, x, spaces = int(c.at), c.startX, c.startS
	}
	last := f.starts[0] // behind the end of the paragraph
	best := last.from
	for i := last.from + 1; i < last.to; i++ {
		if f.nodes[i].demerits < f.nodes[best].demerits {
			best = i
		}
	}
	return best
}

// reachWithin finds the best ways to the places within items[from:to] where the words may be
// hyphenated. They begin x from the start of the items and behind so many spaces. Words that no
// line may end in are not looked at.
func (s *Setter) reachWithin(from, to int, x, spaces doc.Length) {
	f := &s.fitter
	for i := from; i < to; i++ {
		it := &s.items[i]
		x += it.kern
		if it.Space {
			spaces += it.W
		} else if len(it.Part.Text) >= minHyphenated {
			if hyphen := s.hyphenWidth(it); s.mayEnd(x+it.W+hyphen, spaces) {
				size := s.pieces[it.Piece].Size
				for _, p := range s.hyphenPoints(i) {
					w := Scale(p.units, size, it.Part.Face)
					c := breakpoint{
						at: int32(i), cut: p.bytes, hyphen: true, //nolint:gosec // G115: items of a paragraph
						endX: x + w + hyphen, startX: x + w, endS: spaces, startS: spaces,
					}
					f.breakpoints = append(f.breakpoints, c)
					s.reach(len(f.breakpoints)-1, &c)
				}
			}
		}
		x += it.W
	}
}

// mayEnd reports whether a line is not too loose that ends at x, behind so many spaces.
func (s *Setter) mayEnd(x, spaces doc.Length) bool {
	for i := range s.fitter.starts {
		st := &s.fitter.starts[i]
		if !s.tooLoose(st.room-x, spaces-st.spaces) {
			return true
		}
	}
	return false
}

// reach finds the best ways to breakpoint ci, which is c.
func (s *Setter) reach(ci int, c *breakpoint) {
	f := &s.fitter
	from, full := len(f.nodes), false
	for i := range f.starts {
		st := &f.starts[i]
		free, spaces := st.room-c.endX, c.endS-st.spaces
		if !c.mandatory && s.tooLoose(free, spaces) {
			continue
		}
		ratio, fits := s.ratio(free, spaces, c.mandatory)
		if !fits {
			// Without its hyphen a longer line may be narrower.
			if c.cut == 0 {
				st.full, full = true, true
			}
			continue
		}
		b := ratio * ratio / 10_000
		if b > f.badness {
			continue
		}
		d := demeritsOf(b)
		if c.hyphen && !c.mandatory {
			d += hyphenPenalty * hyphenPenalty
			if st.hyphen {
				d += doubleHyphen
			}
		}
		if c.mandatory {
			if st.hyphen {
				d += lastHyphen
			}
			if spaces == 0 && st.from > 0 && free > s.width*2/3 {
				d += shortLast
			}
		}
		line := fitNode{breakpoint: int32(ci), demerits: d, fit: class(ratio), worst: int32(b)} //nolint:gosec // G115: breakpoints of a paragraph; at most worstBadness
		for before := st.from; before < st.to; before++ {
			f.extend(before, line, from, c.hyphen && !c.mandatory)
		}
	}
	switch {
	case c.mandatory:
		f.starts = f.starts[:0]
	case full:
		f.starts = slices.DeleteFunc(f.starts, func(st fitStart) bool { return st.full })
	}
	if f.nodes = f.prune(from); len(f.nodes) > from {
		st := fitStart{
			from: int32(from), to: int32(len(f.nodes)), //nolint:gosec // G115: a few for each breakpoint
			room: s.width - s.indents[1] + c.startX, spaces: c.startS, hyphen: c.hyphen && !c.mandatory,
		}
		if c.cut == 0 && int(c.at) < len(s.items) {
			st.room += s.items[c.at].kern
		}
		f.starts = append(f.starts, st)
	}
}

// extend puts the way by node before and the line behind it among the best ways to the end of that,
// nodes[from:], unless there is a better one of its class and run of hyphens.
func (f *fitter) extend(before int32, line fitNode, from int, hyphen bool) {
	n := &f.nodes[before]
	line.before = before
	line.demerits += n.demerits
	line.worst = max(line.worst, n.worst)
	if d := line.fit - n.fit; before > 0 && (d > 1 || d < -1) {
		line.demerits += unevenLines
	}
	if hyphen {
		line.ladder = n.ladder + 1
	}
	if line.demerits > f.demerits || line.ladder > maxLadder {
		return
	}
	for i := from; i < len(f.nodes); i++ {
		if o := &f.nodes[i]; o.fit == line.fit && o.ladder == line.ladder {
			if line.demerits < o.demerits {
				*o = line
			}
			return
		}
	}
	f.nodes = append(f.nodes, line)
}

// prune returns the nodes less those of nodes[from:], which are of one breakpoint, that are not on
// the best way: what one class of tightness saves behind them is the demerits of one pair of uneven
// lines at most, and a way with fewer hyphens in a row has no other disadvantage.
func (f *fitter) prune(from int) []fitNode {
	made := f.nodes[from:]
	if len(made) < 2 {
		return f.nodes
	}
	least := [maxLadder + 1]int64{noLimit, noLimit, noLimit} // by run of hyphens: of the ways with no longer one
	for i := range made {
		for l := int(made[i].ladder); l <= maxLadder; l++ {
			least[l] = min(least[l], made[i].demerits)
		}
	}
	kept := f.nodes[:from]
	for i := range made {
		if made[i].demerits-unevenLines <= least[made[i].ladder] {
			kept = append(kept, made[i])
		}
	}
	return kept
}

// tooLoose reports whether a line that is not the last and has free room is looser than the pass
// allows.
func (s *Setter) tooLoose(free, spaces doc.Length) bool {
	f := &s.fitter
	return free > 0 && f.loosest < maxStretchRatio && int64(free)*1000 >= (f.loosest+1)*int64(s.stretch(spaces))
}

// stretch is what spaces may be stretched by in a decent line.
func (s *Setter) stretch(spaces doc.Length) doc.Length {
	if s.align == doc.AlignJustify {
		return spaces / 2
	}
	return 2 * s.pieces[0].Size
}

// ratio returns by what share, in thousandths, the spaces of a line with free room are stretched
// (above 0) or shrunk. A line whose spaces would shrink by more than a third does not fit; in
// ragged lines none do.
func (s *Setter) ratio(free, spaces doc.Length, last bool) (int64, bool) {
	switch {
	case free < 0:
		if s.align != doc.AlignJustify || spaces == 0 || -free > spaces/3 {
			return 0, false
		}
		return int64(free) * 1000 / int64(max(spaces/3, 1)), true
	case last || free == 0:
		return 0, true
	}
	stretch := s.stretch(spaces)
	if stretch <= 0 {
		return maxStretchRatio, true
	}
	return min(int64(free)*1000/int64(stretch), maxStretchRatio), true
}

// class is the class of tightness by which neighbouring lines are compared.
func class(ratio int64) int8 {
	switch {
	case ratio < -500:
		return 0
	case ratio <= 500:
		return 1
	case ratio <= 1000:
		return 2
	default:
		return 3
	}
}

// take closes the lines of the way that ends at node best.
func (s *Setter) take(best int32) error {
	f := &s.fitter
	f.route = f.route[:0]
	for n := best; n > 0; n = f.nodes[n].before {
		f.route = append(f.route, f.nodes[n].breakpoint)
	}
	item, gone := int32(-1), int32(0) // bytes of the item's word that earlier lines have
	for _, ci := range slices.Backward(f.route) {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		c := &f.breakpoints[ci]
		if c.cut == 0 {
			s.closeLine(int(c.at), c.mandatory)
			continue
		}
		if c.at != item {
			item, gone = c.at, 0
		}
		if err := s.closeCut(int(c.at), int(c.cut-gone)); err != nil {
			return err
		}
		gone = c.cut
	}
	return nil
}
