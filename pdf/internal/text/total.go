package text

import (
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
)

// chance is a place where a line may end. The next one begins with items[at].
type chance struct {
	at        int32
	cut       int32      // within items[at]: bytes that stay on the line before; 0: none
	hyphen    bool       // the line ends with one, there already or not
	mandatory bool       // the line ends here
	endX      doc.Length // from the start of the items to the end of a line here, hyphen included
	startX    doc.Length // to the start of a line here
	endS      doc.Length // spaces up to there
	startS    doc.Length
}

// fitNode is the best way to a chance for one class of tightness and one run of hyphens.
type fitNode struct {
	chance   int32
	before   int32 // index of the node that the line begins at
	demerits int64
	fit      int8 // 0 tight, 1 decent, 2 loose, 3 very loose
	ladder   int8
	worst    int32 // the worst badness up to here
}

// fitter is the memory of total fit.
type fitter struct {
	chances []chance
	merged  []chance // the other one
	nodes   []fitNode
	active  []int32
	x, sp   []doc.Length // by item: width and spaces before it
	route   []int32
	points  []int
}

// setTotal breaks the paragraph as a whole. It reports false, and leaves the setter as it found
// it, where that cannot be: a stretch is wider than the line.
func (s *Setter) setTotal(full string) (bool, error) {
	items, lines := len(s.items), len(s.lines)
	f := &s.fitter
	f.chances = f.chances[:0]
	if err := s.addAll(full); err != nil {
		return false, err
	}
	if len(s.items) == s.lineStart {
		return false, nil
	}
	s.prefix()
	for i := range f.chances {
		s.place(&f.chances[i])
	}
	best, worst := s.fitPass()
	if s.hyphenate && (best < 0 || worst > preTolerance) {
		if s.addHyphens() {
			best, _ = s.fitPass() // no worse: all ways of the first pass are there
		}
	}
	if best < 0 {
		s.items, s.lines = s.items[:items], s.lines[:lines]
		s.lineStart, s.segStart = items, items
		return false, nil
	}
	s.total = true
	return true, s.take(best)
}

// addAll appends the items of the whole paragraph, and a chance at each opportunity.
func (s *Setter) addAll(full string) error {
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
				s.fitter.chances = append(s.fitter.chances, chance{at: int32(len(s.items)), mandatory: hard}) //nolint:gosec // G115: items of a paragraph
			}
			pos = stop
		}
	}
	// A paragraph whose last line is closed by a line feed has none behind it.
	if n := len(s.fitter.chances); n == 0 || !s.fitter.chances[n-1].mandatory || int(s.fitter.chances[n-1].at) < len(s.items) {
		s.fitter.chances = append(s.fitter.chances, chance{at: int32(len(s.items)), mandatory: true}) //nolint:gosec // G115: as above
	}
	return nil
}

// prefix sums up the items.
func (s *Setter) prefix() {
	f := &s.fitter
	f.x, f.sp = f.x[:0], f.sp[:0]
	var x, sp doc.Length
	for i := s.lineStart; i < len(s.items); i++ {
		f.x, f.sp = append(f.x, x), append(f.sp, sp)
		it := &s.items[i]
		x += it.kern + it.W
		if it.Space {
			sp += it.W
		}
	}
	f.x, f.sp = append(f.x, x), append(f.sp, sp)
}

// place measures a chance between two items.
func (s *Setter) place(c *chance) {
	f := &s.fitter
	at := int(c.at) - s.lineStart
	n := at
	for n > 0 && s.items[s.lineStart+n-1].Space {
		n--
	}
	c.endX, c.endS = f.x[n], f.sp[n]
	c.startX, c.startS = f.x[at], f.sp[at]
	if int(c.at) < len(s.items) {
		c.startX += s.items[c.at].kern
	}
	if n == 0 || n < at {
		return
	}
	last := &s.items[s.lineStart+n-1]
	switch {
	case endsSoft(last):
		c.endX += s.hyphenWidth(last)
		c.hyphen = true
	case strings.HasSuffix(last.Part.Text, "-"):
		c.hyphen = true
	}
}

// addHyphens puts the hyphenation points of the words among the chances; false when there are none.
func (s *Setter) addHyphens() bool {
	f := &s.fitter
	merged := f.merged[:0]
	i := s.lineStart
	for _, c := range f.chances {
		for ; i < int(c.at); i++ {
			f.points = s.hyphenPoints(f.points[:0], i)
			for _, p := range f.points {
				w, ok := s.widthTo(&s.items[i], p)
				if !ok {
					continue
				}
				k := i - s.lineStart
				x := f.x[k] + s.items[i].kern + w
				merged = append(merged, chance{
					at: int32(i), cut: int32(p), hyphen: true, //nolint:gosec // G115: within a word
					endX: x + s.hyphenWidth(&s.items[i]), startX: x, endS: f.sp[k], startS: f.sp[k],
				})
			}
		}
		merged = append(merged, c)
	}
	found := len(merged) > len(f.chances)
	f.chances, f.merged = merged, f.chances
	return found
}

// fitPass finds the best way through the chances and returns its last node and its worst badness;
// -1 when some stretch is wider than the line.
func (s *Setter) fitPass() (best int32, worst int) {
	f := &s.fitter
	f.nodes = append(f.nodes[:0], fitNode{chance: -1, before: -1, fit: 1})
	f.active = append(f.active[:0], 0)
	for ci := range f.chances {
		c := &f.chances[ci]
		from := len(f.nodes)
		kept := f.active[:0]
		for _, ni := range f.active {
			if s.tryLine(ni, ci, from) && !c.mandatory {
				kept = append(kept, ni)
			}
		}
		f.active = kept
		for ni := from; ni < len(f.nodes); ni++ {
			f.active = append(f.active, int32(ni)) //nolint:gosec // G115: a dozen per chance
		}
		if len(f.active) == 0 {
			return -1, 0
		}
	}
	best = -1
	for _, ni := range f.active {
		if best < 0 || f.nodes[ni].demerits < f.nodes[best].demerits {
			best = ni
		}
	}
	return best, int(f.nodes[best].worst)
}

// tryLine weighs the line from node ni to chance ci; nodes[from:] are the best ways to it so far.
// It reports whether a later chance may still end that line.
func (s *Setter) tryLine(ni int32, ci, from int) bool {
	f := &s.fitter
	c, n := &f.chances[ci], f.nodes[ni]
	var startX, startS doc.Length
	hyphenBefore := false
	if n.chance >= 0 {
		b := &f.chances[n.chance]
		startX, startS, hyphenBefore = b.startX, b.startS, b.hyphen && !b.mandatory
	}
	indent := s.indents[1]
	if n.chance < 0 {
		indent = s.indents[0]
	}
	free, spaces := s.width-indent-(c.endX-startX), c.endS-startS
	ratio, fits := s.ratio(free, spaces, c.mandatory)
	if !fits {
		// Without its hyphen a longer line may be narrower.
		return c.cut > 0
	}
	hyphen := c.hyphen && !c.mandatory
	ladder := int8(0)
	if hyphen {
		if ladder = n.ladder + 1; ladder > maxLadder {
			return true
		}
	}
	b := ratio * ratio / 10_000
	d := (linePenalty + b) * (linePenalty + b)
	if hyphen {
		d += hyphenPenalty * hyphenPenalty
		if hyphenBefore {
			d += doubleHyphen
		}
	}
	fit := class(ratio)
	if d2 := fit - n.fit; n.chance >= 0 && (d2 > 1 || d2 < -1) {
		d += unevenLines
	}
	if c.mandatory {
		if hyphenBefore {
			d += lastHyphen
		}
		if spaces == 0 && n.chance >= 0 && free > s.width*2/3 {
			d += shortLast
		}
	}
	made := fitNode{
		chance: int32(ci), before: ni, demerits: n.demerits + d, fit: fit, ladder: ladder, //nolint:gosec // G115: chances of a paragraph
		worst: max(n.worst, int32(min(b, 1<<30))), //nolint:gosec // G115: bounded
	}
	for i := from; i < len(f.nodes); i++ {
		if o := &f.nodes[i]; o.fit == fit && o.ladder == ladder {
			if made.demerits < o.demerits {
				*o = made
			}
			return true
		}
	}
	f.nodes = append(f.nodes, made)
	return true
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
	stretch := spaces / 2
	if s.align != doc.AlignJustify {
		stretch = 2 * s.pieces[0].Size
	}
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
		f.route = append(f.route, f.nodes[n].chance)
	}
	item, gone := int32(-1), int32(0) // bytes of the item's word that earlier lines have
	for _, ci := range slices.Backward(f.route) {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		c := &f.chances[ci]
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
