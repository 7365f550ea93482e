package content

import (
	"cmp"
	"slices"
	"unicode/utf8"

	"golang.org/x/text/unicode/bidi"
)

// Pages have text as it stands, from left to right on its baseline; readers have it in the order of
// reading. What follows turns the first into the second: the bidirectional algorithm (UAX #9)
// inverted. Its last step, L2, is its own inverse, so only the levels must be found: text from
// right to left has level 1, text from left to right and numbers within it level 2. They are those
// that rules W1 to N2 give the line that was meant, but where two lines look alike.
//
// The surprising case are numbers. "12 34" between Hebrew words stands as 34 12, for each number
// has a level of its own, while "A 12 34" stands there as it is read, for numbers behind Latin
// letters are of their run.

// dir is what a character means for the order of those beside it.
type dir uint8

const (
	dirNone   dir = iota // none of the others
	dirLeft              // L
	dirRight             // R, AL
	dirMark              // NSM: that of its base
	dirDigit             // EN
	dirArabic            // AN: a number, and right to left for what stands beside it
	dirPoint             // CS: within a number
	dirSign              // ES: within one that follows no Arabic letters
	dirUnit              // ET: at the ends of such a one
)

func classOf(r rune) bidi.Class {
	p, _ := bidi.LookupRune(r)
	return p.Class()
}

// dirOf returns the direction of what a glyph stands for; arabic says that it is an Arabic letter.
func dirOf(s string) (d dir, arabic bool) {
	for _, r := range s {
		switch classOf(r) {
		case bidi.L:
			return dirLeft, false
		case bidi.R:
			return dirRight, false
		case bidi.AL:
			return dirRight, true
		case bidi.NSM:
			d = dirMark
		case bidi.EN:
			return dirDigit, false
		case bidi.AN:
			return dirArabic, false
		case bidi.CS:
			d = dirPoint
		case bidi.ES:
			d = dirSign
		case bidi.ET:
			d = dirUnit
		}
	}
	return d, false
}

// direction is 1 for text with more letters that are read from right to left than of the others, -1
// for the other way, 0 for neither.
func direction(parts []Part) int {
	n := 0
	for i := range parts {
		switch d, _ := dirOf(parts[i].Text); d {
		case dirLeft:
			n--
		case dirRight:
			n++
		}
	}
	return min(max(n, -1), 1)
}

// mixes reports whether something of a word is not read from left to right.
func (w *word) mixes() bool {
	for i := range w.Parts {
		if s := w.Parts[i].Text; s != "" && s[0] >= 0xD6 { // U+0590 and later
			if d, _ := dirOf(s); d == dirRight || d == dirArabic {
				return true
			}
		}
	}
	return false
}

// char is a character of a line, or the space between two of its words.
type char struct {
	Part
	word  *word // nil: a space
	dir   dir
	al    bool
	level uint8
}

// logical returns the words of a line, which come from left to right, in the order of reading.
// Characters that are read behind each other are of one word, wherever they stand. The direction of
// the paragraph is that of most words, else that of the page; other are the words as the other one
// would have them, nil where that makes no difference.
func logical(g []word, page int) (read, other []word) {
	if !slices.ContainsFunc(g, func(w word) bool { return w.mixes() }) {
		return g, nil
	}
	var line []char
	by, left, right := 0, 0, 0 // words from right to left, less the others; letters of each kind
	for i := range g {
		if i > 0 {
			line = append(line, char{Part: Part{Text: " "}})
		}
		by += direction(g[i].Parts)
		for _, p := range g[i].Parts {
			d, al := dirOf(p.Text)
			switch d {
			case dirLeft:
				left++
			case dirRight:
				right++
			}
			line = append(line, char{Part: p, word: &g[i], dir: d, al: al})
		}
	}
	turned := slices.Clone(line)
	back := cmp.Or(by, page, right-left) > 0
	inverse(line, back, false)
	if left > 0 && right > 0 {
		inverse(turned, !back, false)
		other = wordsOf(turned)
	}
	return wordsOf(line), other
}

// wordsOf parts a line at its spaces. A word with characters of several is like the first.
func wordsOf(line []char) (out []word) {
	for len(line) > 0 {
		n := slices.IndexFunc(line, func(c char) bool { return c.word == nil })
		if n < 0 {
			n = len(line)
		}
		if n > 0 {
			w := *line[0].word
			w.Parts = make([]Part, n)
			for i := range n {
				w.Parts[i] = line[i].Part
			}
			w.finish()
			out = append(out, w)
		}
		line = line[min(n+1, len(line)):]
	}
	return out
}

// inverse puts a line into the order of reading, or one that is in this order (read) into that in
// which it stands. right says that its paragraph runs from right to left.
func inverse(line []char, right, read bool) {
	marks(line)
	numbers(line, read)
	levels(line, right)
	for from := uint8(2); from > 0; from-- { // L2
		for i := 0; i < len(line); i++ {
			j := i
			for j < len(line) && line[j].level >= from {
				j++
			}
			slices.Reverse(line[i:j])
			i = max(i, j)
		}
	}
	for i := 0; i < len(line); i++ { // L3: marks follow their bases
		j := i
		for j < len(line) && line[j].level == 1 && isMark(line[j].Text) {
			j++
		}
		if j > i && j < len(line) && line[j].level == 1 && line[i].over(line[j].Quad) {
			slices.Reverse(line[i : j+1])
		}
		i = max(i, j)
	}
	mirror(line)
}

func isMark(s string) bool {
	r, n := utf8.DecodeRuneInString(s)
	return n > 0 && classOf(r) == bidi.NSM
}

// over reports whether a mark stands within a character, not at its side.
func (c char) over(q Quad) bool {
	m := Point{(c.Quad[0].X + c.Quad[1].X) / 2, (c.Quad[0].Y + c.Quad[1].Y) / 2}
	dx, dy := q[1].X-q[0].X, q[1].Y-q[0].Y
	at, whole := (m.X-q[0].X)*dx+(m.Y-q[0].Y)*dy, dx*dx+dy*dy
	return at > 0.02*whole && at < 0.98*whole
}

// marks gives marks the direction of the characters beside them, one from right to left before
// others (W1).
func marks(line []char) {
	for i := range line {
		if line[i].dir != dirMark {
			continue
		}
		next := i
		for next < len(line) && line[next].dir == dirMark {
			next++
		}
		switch {
		case i > 0 && line[i-1].dir == dirRight, next < len(line) && line[next].dir == dirRight:
			line[i].dir = dirRight
		case i > 0:
			line[i].dir = line[i-1].dir
		default:
			line[i].dir = dirNone
		}
	}
}

// numbers makes digits of the signs within numbers and at their ends (W2 to W6).
func numbers(line []char, read bool) {
	isNumber := func(i int) bool {
		return i >= 0 && i < len(line) && (line[i].dir == dirDigit || line[i].dir == dirArabic)
	}
	arabic := false
	for n := range line {
		i := n
		if !read { // the letters that a number follows stand to its right
			i = len(line) - 1 - n
		}
		switch c := &line[i]; c.dir {
		case dirRight:
			arabic = c.al || arabic && isMark(c.Text)
		case dirLeft:
			arabic = false
		case dirDigit:
			if arabic {
				c.dir = dirArabic
			}
		}
	}
	for i := range line {
		switch line[i].dir {
		case dirPoint:
			if isNumber(i-1) && isNumber(i+1) && line[i-1].dir == line[i+1].dir {
				line[i].dir = line[i-1].dir
			}
		case dirSign:
			if isNumber(i-1) && isNumber(i+1) && line[i-1].dir == dirDigit && line[i+1].dir == dirDigit {
				line[i].dir = dirDigit
			}
		}
	}
	for i := range line {
		if line[i].dir != dirUnit {
			continue
		}
		next := i
		for next < len(line) && line[next].dir == dirUnit {
			next++
		}
		if i > 0 && line[i-1].dir == dirDigit || next < len(line) && line[next].dir == dirDigit {
			line[i].dir = dirDigit
		} else {
			line[i].dir = dirNone
		}
	}
}

// levels finds the levels of characters (N0 to N2, I1 and I2).
func levels(line []char, right bool) {
	stops := dirLeft // what ends a run of the direction that is not the paragraph's
	if right {
		stops = dirRight
		for i := range line {
			line[i].level = 1
		}
	}
	for i := 0; i < len(line); i++ {
		j := i
		for j < len(line) && line[j].dir != stops {
			j++
		}
		other(line, i, j, right)
		i = j
	}
}

// counts reports whether a character is of a run of the direction that is not the paragraph's.
func (c char) counts(right bool) bool {
	if right {
		return c.dir == dirLeft
	}
	return c.dir == dirRight || c.dir == dirArabic
}

// other sets the levels of what stands from i to j, which has no letter of the paragraph's
// direction. Where all that counts is in brackets these are of the paragraph (N0).
func other(line []char, i, j int, right bool) {
	from, to := core(line, i, j, right)
	if from == to {
		return
	}
	depth, open, outside := 0, 0, false
	for k := from; k < to; k++ {
		switch bracket(line[k].Text) {
		case 1:
			depth++
		case -1:
			depth--
		}
		outside = outside || depth <= 0 && line[k].counts(right)
	}
	if !outside {
		if right {
			digits(line, from, to)
		}
		for k := from; k < to; k++ {
			b := bracket(line[k].Text)
			if depth += b; depth == 1 && b == 1 {
				open = k
			} else if depth == 0 && b == -1 {
				other(line, open+1, k, right)
			}
		}
		return
	}
	if right {
		between(line, i, from, to, j)
		return
	}
	from = behind(line, i, from)
	for k := from; k < to; k++ {
		line[k].level = 1
	}
	digits(line, from, to)
}

// core returns the characters from i to j without those at the ends that have no direction, but
// with brackets whose others are within (N0).
func core(line []char, i, j int, right bool) (from, to int) {
	within := func(c char) bool {
		return c.counts(right) || right && (c.dir == dirDigit || c.dir == dirArabic)
	}
	from, to = i, j
	for from < to && !within(line[from]) {
		from++
	}
	for to > from && !within(line[to-1]) {
		to--
	}
	if from == to {
		return from, to
	}
	opening, closing := 0, 0 // those without a partner within
	for k := from; k < to; k++ {
		switch bracket(line[k].Text) {
		case 1:
			opening++
		case -1:
			if opening > 0 {
				opening--
			} else {
				closing++
			}
		}
	}
	at := func(k int) int {
		if k < i || k >= j {
			return 0
		}
		return bracket(line[k].Text)
	}
	for { // brackets are as they are seen, else as they are meant
		switch {
		case closing > 0 && at(from-1) > 0:
			closing--
			from--
		case opening > 0 && at(to) < 0:
			opening--
			to++
		case opening > 0 && at(from-1) < 0:
			opening--
			from--
		case closing > 0 && at(to) > 0:
			closing--
			to++
		default:
			return from, to
		}
	}
}

// behind returns where the number begins that no space parts from the letter from right to left at
// from, which it follows; from, where there is none.
func behind(line []char, i, from int) int {
	first := from
	for k := from - 1; k >= i && line[k].word != nil; k-- {
		if d := line[k].dir; d == dirDigit || d == dirArabic {
			first = k
		}
	}
	return first
}

// between sets the levels of what stands between letters from right to left, which end at i and
// begin at j: one run with letters of the other direction, else numbers, each by itself. So are
// numbers that no space parts from those letters.
func between(line []char, i, from, to, j int) {
	left := func(c char) bool { return c.dir == dirLeft }
	space := func(c char) bool { return c.word == nil }
	digits(line, from, to)
	if !slices.ContainsFunc(line[from:to], left) {
		return
	}
	if n := slices.IndexFunc(line[i:to], space); i > 0 && n >= 0 && i+n > from && !slices.ContainsFunc(line[from:i+n], left) {
		from = i + n + 1
	}
	for n := j - 1; j < len(line) && n > from; n-- {
		if left(line[n]) {
			break
		}
		if space(line[n]) {
			to = min(to, n)
			break
		}
	}
	neither := func(c char) bool {
		return c.dir != dirLeft && c.dir != dirDigit && c.dir != dirArabic && bracket(c.Text) == 0
	}
	for from < to && neither(line[from]) {
		from++
	}
	for to > from && neither(line[to-1]) {
		to--
	}
	for k := from; k < to; k++ {
		line[k].level = 2
	}
}

// digits sets the levels of the numbers in text from right to left.
func digits(line []char, from, to int) {
	for i := from; i < to; i++ {
		if d := line[i].dir; d == dirDigit || d == dirArabic {
			line[i].level = 2
		}
	}
}

// brackets are pairs of characters of which each is the other one's mirror image; the first three
// enclose text.
var brackets = [...]string{"()", "[]", "{}", "<>", "«»", "‹›", "≤≥"}

// bracket returns 1 for an opening bracket, -1 for a closing one.
func bracket(s string) int {
	for _, p := range brackets[:3] {
		switch s {
		case p[:1]:
			return 1
		case p[1:]:
			return -1
		}
	}
	return 0
}

// mirrored returns the mirror image of a character, or itself.
func mirrored(s string) string {
	for _, p := range brackets {
		if a, b := p[:len(p)/2], p[len(p)/2:]; s == a {
			return b
		} else if s == b {
			return a
		}
	}
	return s
}

// mirror gives brackets of text from right to left the characters that were meant (L4). Some makers
// say what is seen and others what was meant, so they stay when only that makes pairs of them.
func mirror(line []char) {
	open, broken, turned := 0, 0, 0 // of brackets as they are, and of their mirror images
	other := 0
	for _, c := range line {
		b := bracket(c.Text)
		if b == 0 || c.level != 1 {
			continue
		}
		if open += b; open < 0 {
			open, broken = 0, broken+1
		}
		if other -= b; other < 0 {
			other, turned = 0, turned+1
		}
	}
	if broken+open < turned+other {
		return
	}
	for i := range line {
		if line[i].level == 1 {
			line[i].Text = mirrored(line[i].Text)
		}
	}
}

// Others returns the lines of a page in other orders in which text from right to left may be meant:
// in paragraphs of the other direction, and with its brackets the other way round. There are none
// where these make no difference.
func (t *Text) Others() (out [][]Line) {
	if t.Seen == nil {
		return nil
	}
	all := [][]Line{t.Lines}
	if slices.ContainsFunc(t.Lines, func(l Line) bool { return l.other != nil }) {
		turned := slices.Clone(t.Lines)
		for i := range turned {
			if o := turned[i].other; o != nil {
				turned[i].Words = o
			}
		}
		all, out = append(all, turned), append(out, turned)
	}
	for _, lines := range all {
		if m := unmirrored(lines); m != nil {
			out = append(out, m)
		}
	}
	return out
}

// unmirrored returns lines with the brackets of text from right to left the other way round, nil
// where there are none.
func unmirrored(lines []Line) (out []Line) {
	for i, l := range lines {
		if !slices.ContainsFunc(l.Words, func(w Word) bool { return direction(w.Parts) > 0 }) {
			continue
		}
		cloned := false
		for k, w := range l.Words {
			if direction(w.Parts) < 0 || !slices.ContainsFunc(w.Parts, func(p Part) bool { return mirrored(p.Text) != p.Text }) {
				continue
			}
			if out == nil {
				out = slices.Clone(lines)
			}
			if !cloned {
				out[i].Words, cloned = slices.Clone(l.Words), true
			}
			parts := slices.Clone(w.Parts)
			for n := range parts {
				parts[n].Text = mirrored(parts[n].Text)
			}
			out[i].Words[k].Parts = parts
		}
	}
	return out
}

// standing returns the characters of text, which is in the order of reading, from left to right.
func standing(text string) []string {
	var line []char
	var parts []Part
	for _, r := range text {
		c := char{Part: Part{Text: string(r)}}
		c.dir, c.al = dirOf(c.Text)
		line, parts = append(line, c), append(parts, c.Part)
	}
	if w := (word{Word: Word{Parts: parts}}); w.mixes() {
		inverse(line, direction(parts) > 0, true)
	}
	out := make([]string, len(line))
	for i := range line {
		out[i] = line[i].Text
	}
	return out
}
