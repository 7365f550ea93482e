// Package bidi computes the visual order of the characters of a line with the Unicode
// Bidirectional Algorithm (UAX #9, revision 50). Levels implements the rules P1 to I2 and the part
// of L1 that needs no lines; Order implements L2. The shaper does L3 and L4, marks and mirrored
// characters.
package bidi

import (
	"slices"
	"unicode/utf8"

	"golang.org/x/text/unicode/bidi"
)

// Level is an embedding level: even from left to right, odd from right to left.
type Level uint8

// RTL reports whether text at this level runs from right to left.
func (l Level) RTL() bool { return l&1 == 1 }

// Base says how the level of a paragraph is found.
type Base uint8

// Auto takes the direction of the first strong character (P2, P3).
const (
	LeftToRight Base = iota
	RightToLeft
	Auto
)

// maxDepth is max_depth (BD2).
const maxDepth = 125

// Paragraph is the memory of the algorithm. The zero value is ready; it is for one goroutine at a
// time.
type Paragraph struct {
	runes  []rune
	orig   []bidi.Class
	types  []bidi.Class // what the rules have made of orig
	levels []Level
	set    []Level // the explicit levels (X1 to X8), from which the rules after them start
	match  []int   // isolate initiator -> its PDI, and back; -1: none
	base   Level
	bytes  []Level
}

// removed reports the characters that rule X9 takes out.
func removed(c bidi.Class) bool {
	switch c {
	case bidi.LRE, bidi.RLE, bidi.LRO, bidi.RLO, bidi.PDF, bidi.BN:
		return true
	}
	return false
}

func isolate(c bidi.Class) bool { return c == bidi.LRI || c == bidi.RLI || c == bidi.FSI }

func class(r rune) bidi.Class {
	p, _ := bidi.LookupRune(r)
	return p.Class()
}

// Strong reports whether r runs to the right, and whether it runs to the left or is a control that
// makes others do so.
func Strong(r rune) (right, left bool) {
	switch class(r) {
	case bidi.L:
		return true, false
	case bidi.R, bidi.AL, bidi.RLE, bidi.RLO, bidi.RLI, bidi.FSI:
		return false, true
	}
	return false, false
}

// Levels returns the level of each byte of s, that of its character. Paragraphs within s end with
// characters of class B. The result is valid until the next call.
func (p *Paragraph) Levels(s string, base Base) []Level {
	p.bytes = p.bytes[:0]
	for s != "" {
		p.runes, p.orig = p.runes[:0], p.orig[:0]
		n := 0
		for n < len(s) {
			r, size := utf8.DecodeRuneInString(s[n:])
			c := class(r)
			p.runes, p.orig = append(p.runes, r), append(p.orig, c)
			n += size
			if c == bidi.B {
				break
			}
		}
		p.resolve(base)
		for _, l := range p.levels {
			_, size := utf8.DecodeRuneInString(s)
			for range size {
				p.bytes = append(p.bytes, l)
			}
			s = s[size:]
		}
	}
	return p.bytes
}

// resolve finds p.levels of the paragraph in p.runes and p.orig.
func (p *Paragraph) resolve(base Base) {
	n := len(p.runes)
	p.types = append(p.types[:0], p.orig...)
	p.levels = slices.Grow(p.levels[:0], n)[:n]
	p.match = slices.Grow(p.match[:0], n)[:n]
	p.matchIsolates()
	switch base {
	case Auto:
		p.base = p.firstStrong(0, n)
	default:
		p.base = Level(base)
	}
	p.explicit()
	p.set = append(p.set[:0], p.levels...)
	for _, seq := range p.sequences() {
		p.sequence(seq)
	}
	p.spaces()
}

// matchIsolates fills p.match (BD9).
func (p *Paragraph) matchIsolates() {
	var open []int
	for i, c := range p.orig {
		p.match[i] = -1
		switch {
		case isolate(c):
			open = append(open, i)
		case c == bidi.PDI && len(open) > 0:
			k := open[len(open)-1]
			open = open[:len(open)-1]
			p.match[k], p.match[i] = i, k
		}
	}
}

// firstStrong is rule P2 and P3 within [from, to).
func (p *Paragraph) firstStrong(from, to int) Level {
	for i := from; i < to; i++ {
		switch c := p.orig[i]; {
		case c == bidi.L:
			return 0
		case c == bidi.R || c == bidi.AL:
			return 1
		case isolate(c):
			if p.match[i] < 0 {
				return 0
			}
			i = p.match[i]
		}
	}
	return 0
}

// status is an entry of the directional status stack (X1).
type status struct {
	level    Level
	override bidi.Class // L, R or ON: none
	isolate  bool
}

// explicit does the rules X1 to X8.
func (p *Paragraph) explicit() {
	stack := append(make([]status, 0, maxDepth+2), status{p.base, bidi.ON, false})
	overIsolates, overEmbeddings, isolates := 0, 0, 0
	for i, c := range p.orig {
		top := stack[len(stack)-1]
		set := func() {
			p.levels[i] = top.level
			if top.override != bidi.ON {
				p.types[i] = top.override
			}
		}
		switch c {
		case bidi.LRE, bidi.RLE, bidi.LRO, bidi.RLO, bidi.LRI, bidi.RLI, bidi.FSI:
			within := isolate(c)
			rtl := c == bidi.RLE || c == bidi.RLO || c == bidi.RLI
			if c == bidi.FSI {
				end := p.match[i]
				if end < 0 {
					end = len(p.orig)
				}
				rtl = p.firstStrong(i+1, end) == 1
			}
			if within {
				set()
			} else {
				p.levels[i] = top.level
			}
			next := (top.level + 2) &^ 1
			if rtl {
				next = (top.level + 1) | 1
			}
			switch {
			case next <= maxDepth && overIsolates == 0 && overEmbeddings == 0:
				override := bidi.ON
				switch c {
				case bidi.LRO:
					override = bidi.L
				case bidi.RLO:
					override = bidi.R
				}
				if within {
					isolates++
				}
				stack = append(stack, status{next, override, within})
			case within:
				overIsolates++
			case overIsolates == 0:
				overEmbeddings++
			}
		case bidi.PDI:
			switch {
			case overIsolates > 0:
				overIsolates--
			case isolates > 0:
				overEmbeddings = 0
				for !stack[len(stack)-1].isolate {
					stack = stack[:len(stack)-1]
				}
				stack = stack[:len(stack)-1]
				isolates--
			}
			top = stack[len(stack)-1]
			set()
		case bidi.PDF:
			p.levels[i] = top.level
			switch {
			case overIsolates > 0:
			case overEmbeddings > 0:
				overEmbeddings--
			case !top.isolate && len(stack) >= 2:
				stack = stack[:len(stack)-1]
			}
		case bidi.B:
			p.levels[i] = p.base
		case bidi.BN:
			p.levels[i] = top.level
		default:
			set()
		}
	}
}

// sequences returns the isolating run sequences (BD13), each as the indexes of its characters.
func (p *Paragraph) sequences() [][]int {
	var runs [][]int
	start := map[int]int{} // first character -> its run
	last := -1
	for i := range p.orig {
		if removed(p.orig[i]) {
			continue
		}
		if last < 0 || p.levels[i] != p.levels[last] {
			start[i] = len(runs)
			runs = append(runs, nil)
		}
		runs[len(runs)-1] = append(runs[len(runs)-1], i)
		last = i
	}
	var out [][]int
	for _, run := range runs {
		if first := run[0]; p.orig[first] == bidi.PDI && p.match[first] >= 0 {
			continue // goes on from where its initiator stands
		}
		for {
			end := run[len(run)-1]
			if !isolate(p.orig[end]) || p.match[end] < 0 {
				break
			}
			run = append(run, runs[start[p.match[end]]]...)
		}
		out = append(out, run)
	}
	return out
}

// direction returns the class of text at a level.
func direction(l Level) bidi.Class {
	if l.RTL() {
		return bidi.R
	}
	return bidi.L
}

// sequence does the rules X10 to I2 for one isolating run sequence.
func (p *Paragraph) sequence(seq []int) {
	level := p.set[seq[0]]
	before, after := p.base, p.base
	for i := seq[0] - 1; i >= 0; i-- {
		if !removed(p.orig[i]) {
			before = p.set[i]
			break
		}
	}
	if last := seq[len(seq)-1]; !isolate(p.orig[last]) {
		for i := last + 1; i < len(p.orig); i++ {
			if !removed(p.orig[i]) {
				after = p.set[i]
				break
			}
		}
	}
	sos, eos := direction(max(level, before)), direction(max(level, after))
	t := make([]bidi.Class, len(seq))
	for k, i := range seq {
		t[k] = p.types[i]
	}
	weak(t, sos)
	p.brackets(seq, t, sos, direction(level))
	neutral(t, sos, eos, direction(level))
	for k, i := range seq { // I1, I2
		p.levels[i] = level
		switch {
		case level.RTL() && t[k] != bidi.R:
			p.levels[i]++
		case !level.RTL() && t[k] == bidi.R:
			p.levels[i]++
		case !level.RTL() && t[k] != bidi.L:
			p.levels[i] += 2
		}
	}
}

// weak does the rules W1 to W7.
func weak(t []bidi.Class, sos bidi.Class) {
	prev := sos
	for i, c := range t { // W1
		if c == bidi.NSM {
			if c = prev; isolate(prev) || prev == bidi.PDI {
				c = bidi.ON
			}
			t[i] = c
		}
		prev = c
	}
	strong := sos
	for i, c := range t { // W2, W3
		switch c {
		case bidi.L, bidi.R:
			strong = c
		case bidi.AL:
			strong, t[i] = c, bidi.R
		case bidi.EN:
			if strong == bidi.AL {
				t[i] = bidi.AN
			}
		}
	}
	for i := 1; i+1 < len(t); i++ { // W4
		a, c, b := t[i-1], t[i], t[i+1]
		if a == b && (c == bidi.ES && a == bidi.EN || c == bidi.CS && (a == bidi.EN || a == bidi.AN)) {
			t[i] = a
		}
	}
	for i := 0; i < len(t); i++ { // W5, W6
		switch t[i] {
		case bidi.ET:
			j := i
			for j < len(t) && t[j] == bidi.ET {
				j++
			}
			to := bidi.ON
			if i > 0 && t[i-1] == bidi.EN || j < len(t) && t[j] == bidi.EN {
				to = bidi.EN
			}
			for ; i < j; i++ {
				t[i] = to
			}
			i--
		case bidi.ES, bidi.CS:
			t[i] = bidi.ON
		}
	}
	strong = sos
	for i, c := range t { // W7
		switch c {
		case bidi.L, bidi.R:
			strong = c
		case bidi.EN:
			if strong == bidi.L {
				t[i] = bidi.L
			}
		}
	}
}

// strongOf is the direction that a character has for neutrals beside it (N0, N1).
func strongOf(c bidi.Class) bidi.Class {
	switch c {
	case bidi.L:
		return bidi.L
	case bidi.R, bidi.EN, bidi.AN:
		return bidi.R
	}
	return bidi.ON
}

// pairing is the list of Bidi_Paired_Bracket: opening and closing signs by turns
// (BidiBrackets.txt).
const pairing = "()[]{}\u0F3A\u0F3B\u0F3C\u0F3D\u169B\u169C\u2045\u2046\u207D\u207E\u208D\u208E\u2308\u2309\u230A\u230B\u2329\u232A" +
	"\u2768\u2769\u276A\u276B\u276C\u276D\u276E\u276F\u2770\u2771\u2772\u2773\u2774\u2775\u27C5\u27C6\u27E6\u27E7\u27E8\u27E9" +
	"\u27EA\u27EB\u27EC\u27ED\u27EE\u27EF\u2983\u2984\u2985\u2986\u2987\u2988\u2989\u298A\u298B\u298C\u298D\u2990\u298F\u298E" +
	"\u2991\u2992\u2993\u2994\u2995\u2996\u2997\u2998\u29D8\u29D9\u29DA\u29DB\u29FC\u29FD\u2E22\u2E23\u2E24\u2E25\u2E26\u2E27" +
	"\u2E28\u2E29\u2E55\u2E56\u2E57\u2E58\u2E59\u2E5A\u2E5B\u2E5C\u3008\u3009\u300A\u300B\u300C\u300D\u300E\u300F\u3010\u3011" +
	"\u3014\u3015\u3016\u3017\u3018\u3019\u301A\u301B\uFE59\uFE5A\uFE5B\uFE5C\uFE5D\uFE5E\uFF08\uFF09\uFF3B\uFF3D\uFF5B\uFF5D" +
	"\uFF5F\uFF60\uFF62\uFF63"

// closing maps an opening bracket to its closing one, and closings to themselves.
var closing = func() map[rune]rune {
	m := map[rune]rune{}
	all := []rune(pairing)
	for i := 0; i < len(all); i += 2 {
		m[all[i]], m[all[i+1]] = all[i+1], all[i+1]
	}
	m['\u2329'], m['\u232A'] = '\u3009', '\u3009' // canonical equivalents of U+3008 and U+3009
	return m
}()

// maxBrackets is how many brackets may be open at a time (BD16).
const maxBrackets = 63

// pairs returns the pairs of brackets of a sequence in the order of their opening ones (BD16).
func (p *Paragraph) pairs(seq []int, t []bidi.Class) [][2]int {
	type opened struct {
		close rune
		at    int
	}
	var open []opened
	var out [][2]int
	for k, i := range seq {
		if t[k] != bidi.ON {
			continue
		}
		r := p.runes[i]
		c, ok := closing[r]
		if !ok {
			continue
		}
		if c != r && r != '\u232A' {
			if len(open) == maxBrackets {
				return nil
			}
			open = append(open, opened{c, k})
			continue
		}
		for j, o := range slices.Backward(open) {
			if o.close == c {
				out = append(out, [2]int{o.at, k})
				open = open[:j]
				break
			}
		}
	}
	slices.SortFunc(out, func(a, b [2]int) int { return a[0] - b[0] })
	return out
}

// brackets does the rule N0.
func (p *Paragraph) brackets(seq []int, t []bidi.Class, sos, embedding bidi.Class) {
	for _, pair := range p.pairs(seq, t) {
		found := bidi.ON
		for _, c := range t[pair[0]+1 : pair[1]] {
			if d := strongOf(c); d != bidi.ON {
				if found = d; d == embedding {
					break
				}
			}
		}
		if found == bidi.ON {
			continue
		}
		if found != embedding {
			context := sos
			for k := pair[0] - 1; k >= 0; k-- {
				if d := strongOf(t[k]); d != bidi.ON {
					context = d
					break
				}
			}
			if context != found {
				found = embedding
			}
		}
		for _, k := range pair {
			t[k] = found
			// Marks that were turned into neutrals by the bracket follow it.
			for j := k + 1; j < len(seq) && p.orig[seq[j]] == bidi.NSM; j++ {
				t[j] = found
			}
		}
	}
}

// neutral does the rules N1 and N2.
func neutral(t []bidi.Class, sos, eos, embedding bidi.Class) {
	before := sos
	for i := 0; i < len(t); {
		if d := strongOf(t[i]); d != bidi.ON {
			before = d
			i++
			continue
		}
		j := i
		for j < len(t) && strongOf(t[j]) == bidi.ON {
			j++
		}
		after := eos
		if j < len(t) {
			after = strongOf(t[j])
		}
		to := embedding
		if before == after {
			to = before
		}
		for ; i < j; i++ {
			t[i] = to
		}
	}
}

// spaces gives separators, and white space before them and at the end, the level of the paragraph
// (L1), and what X9 removed the level of what precedes it.
func (p *Paragraph) spaces() {
	before := p.base
	for i, c := range p.orig {
		if removed(c) {
			p.levels[i] = before
		}
		before = p.levels[i]
	}
	trailing := true
	for i := len(p.orig) - 1; i >= 0; i-- {
		switch c := p.orig[i]; {
		case c == bidi.B, c == bidi.S:
			trailing = true
		case c == bidi.WS, isolate(c), c == bidi.PDI, removed(c):
		default:
			trailing = false
		}
		if trailing {
			p.levels[i] = p.base
		}
	}
}

// Order appends the indexes of levels in the order in which they stand from left to right (L2).
func Order(dst []int, levels []Level) []int {
	from := len(dst)
	highest, lowestOdd := Level(0), Level(255)
	for i, l := range levels {
		dst = append(dst, i)
		highest = max(highest, l)
		if l.RTL() {
			lowestOdd = min(lowestOdd, l)
		}
	}
	out := dst[from:]
	for l := highest; l >= lowestOdd; l-- {
		for i := 0; i < len(out); {
			if levels[i] < l {
				i++
				continue
			}
			j := i
			for j < len(out) && levels[j] >= l {
				j++
			}
			slices.Reverse(out[i:j])
			i = j
		}
	}
	return dst
}
