package content

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"unicode"

	"example.com/quire/pdf/cos"
)

// Word is what stands between spaces, in the order of reading.
type Word struct {
	Text  string
	Quad  Quad // on the page
	Font  string
	Size  float64
	Parts []Part // its characters
}

// Part is what one glyph of a word stands for.
type Part struct {
	Text  string
	Quad  Quad
	Space bool // a space follows that has no width, so that nobody sees it
}

// Line is words on one baseline, next to each other.
type Line struct {
	Words []Word
	Box   Rect
	other []Word // in a paragraph of the other direction; nil: the same
}

// Text returns the words with spaces between them.
func (l Line) Text() string {
	var b strings.Builder
	for i, w := range l.Words {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w.Text)
	}
	return b.String()
}

// Text is what stands on a page.
type Text struct {
	Lines   []Line
	Order   []Word // the words as the content draws them
	Seen    []Word // the same, each from left to right; nil where all are read so
	Apart   *Text  // the same with indices as words of their own; nil: there are none
	Unknown int    // glyphs of which the file does not tell what they stand for
	Actual  bool   // ActualText says others than those that are drawn, which Drawn would tell
}

// piece is a glyph, or what an ActualText stands for, laid along its baseline: u runs along it, v
// upwards from it, both on the page.
type piece struct {
	Part
	font       string
	size       float64
	angle      int     // of the baseline in degrees
	u, end, v  float64 // where it begins, ends and stands
	spaceAfter bool
}

// Content is something that is drawn on a page.
type Content struct {
	Data      []byte
	Resources cos.Dict
	Matrix    Matrix // from its coordinates to those of the page
}

// Read returns the text of contents: words and lines with their places. within is what the page
// shows; glyphs outside it are left out, none when it is empty.
func (in *Interpreter) Read(ctx context.Context, place string, within Rect, contents ...Content) (*Text, error) {
	c := collector{within: within, drawn: in.Drawn}
	for _, x := range contents {
		if err := in.Run(ctx, x, place, c.event); err != nil {
			return nil, err
		}
		c.flush()
	}
	words := c.words()
	t := c.text(words)
	if joined, some := withIndices(words); some {
		apart := t
		t = c.text(joined)
		t.Apart = apart
	}
	return t, nil
}

// text puts words into the orders in which they are read.
func (c *collector) text(words []word) *Text {
	t := &Text{Lines: lines(words), Unknown: c.unknown, Actual: c.heeded}
	t.Order, t.Seen = ordered(words)
	return t
}

// collector gathers the pieces of a page.
type collector struct {
	within  Rect
	drawn   bool // ActualText is not heeded
	pieces  []piece
	unknown int
	heeded  bool // some ActualText
	// The sequence with ActualText that is open, and what was drawn in it.
	actual   int // its Mark.Start + 1; 0: none
	said     string
	replaced []piece
}

func (c *collector) event(e *Event) error {
	if e.Kind != Show {
		return nil
	}
	start, text := 0, ""
	for _, m := range e.Marks {
		if s, ok := cos.TextOf(m.Props.Get("ActualText")); ok && !c.drawn {
			start, text, c.heeded = m.Start+1, s, true
			break
		}
	}
	if start != c.actual {
		c.flush()
		c.actual, c.said = start, text
	}
	for i := range e.Glyphs {
		g := &e.Glyphs[i]
		p := c.piece(g, e.State)
		b := g.Quad.Bounds()
		if c.within != (Rect{}) && !(b[0] <= c.within[2] && b[2] >= c.within[0] && b[1] <= c.within[3] && b[3] >= c.within[1]) {
			continue
		}
		if c.actual > 0 {
			c.replaced = append(c.replaced, p)
			continue
		}
		if !g.Known {
			c.unknown++
			p.Text = "\uFFFD"
		}
		c.add(p)
	}
	return nil
}

func (c *collector) add(p piece) {
	if strings.TrimFunc(p.Text, unicode.IsSpace) == "" {
		if n := len(c.pieces); p.Text != "" && n > 0 && !p.lies(c.pieces[n-1]) && !p.before(c.pieces[n-1]) {
			c.pieces[n-1].spaceAfter = true
		}
		return
	}
	// A letter that is drawn twice to look bold is one.
	for i := len(c.pieces) - 1; i >= max(0, len(c.pieces)-8); i-- {
		o := &c.pieces[i]
		if o.Text == p.Text && o.angle == p.angle && math.Abs(o.u-p.u) < 0.1*p.size && math.Abs(o.v-p.v) < 0.1*p.size {
			return
		}
	}
	c.pieces = append(c.pieces, p)
}

// flush ends a sequence with ActualText: its characters share the place of what was drawn.
func (c *collector) flush() {
	list, text := c.replaced, standing(clean(c.said))
	c.actual, c.replaced = 0, nil
	if len(list) == 0 || len(text) == 0 {
		return
	}
	first, last := list[0], list[len(list)-1]
	width := last.end - first.u
	if first.v != last.v || width <= 0 {
		last, width = first, first.end-first.u
	}
	for i, s := range text {
		p := first
		from, to := float64(i)/float64(len(text)), float64(i+1)/float64(len(text))
		along := func(at float64) (low, high Point) {
			mix := func(a, b Point) Point { return Point{a.X + (b.X-a.X)*at, a.Y + (b.Y-a.Y)*at} }
			return mix(first.Quad[0], last.Quad[1]), mix(first.Quad[3], last.Quad[2])
		}
		a, d := along(from)
		b, e := along(to)
		p.Text, p.Quad = s, Quad{a, b, e, d}
		p.u, p.end = first.u+width*from, first.u+width*to
		p.spaceAfter = false
		c.add(p)
	}
}

func (c *collector) piece(g *Glyph, s *State) piece {
	p := piece{Part: Part{Text: g.Text, Quad: g.Quad}, size: g.Size}
	if s.Font != nil {
		p.font = s.Font.Name
	}
	q := g.Quad
	dx, dy := q[1].X-q[0].X, q[1].Y-q[0].Y
	width := math.Hypot(dx, dy)
	if g.Vertical || dx == 0 && dy == 0 { // along the line, which runs down or has no width
		dx, dy = q[3].Y-q[0].Y, -(q[3].X - q[0].X)
		if g.Vertical {
			dx, dy = q[0].X-q[3].X, q[0].Y-q[3].Y
		}
	}
	p.angle = int(math.Round(math.Atan2(dy, dx)*180/math.Pi)+360) % 360
	sin, cosine := math.Sincos(float64(p.angle) * math.Pi / 180)
	p.u, p.v = g.Origin.X*cosine+g.Origin.Y*sin, g.Origin.Y*cosine-g.Origin.X*sin
	p.end = p.u + width // slanted letters do not end where their upper corner is
	if g.Vertical {
		for _, x := range q {
			p.end = max(p.end, x.X*cosine+x.Y*sin)
		}
	}
	return p
}

// lies reports whether a space lies over what is drawn before it, so that nobody sees it: some
// makers write what follows ligatures so, with a string that begins with a space and is moved back.
func (p piece) lies(o piece) bool {
	return p.angle == o.angle && math.Abs(p.v-o.v) < 0.25*p.size &&
		p.u > o.u-0.05*p.size && p.u < o.end-0.1*p.size && p.end < o.end+0.1*p.size
}

// before reports whether a space stands before what is drawn before it on its baseline, as the next
// run of text from right to left may begin.
func (p piece) before(o piece) bool {
	return p.angle == o.angle && math.Abs(p.v-o.v) < 0.25*p.size && p.u < o.u-0.05*p.size
}

// word is a Word with its place along the baseline.
type word struct {
	Word
	piece
	n int // in which order it was drawn
}

// The gaps in parts of the size: beyond the first a word ends, beyond the second a line. A space
// between the last two is none: some makers draw spaces only to move what follows.
const (
	wordGap    = 0.1
	lineGap    = 1.8
	noGap      = 0.03
	noGapBelow = -0.1
)

// words joins pieces that follow each other on one baseline, first as they are drawn and then as
// they stand.
func (c *collector) words() []word {
	var out []word
	for _, p := range c.pieces {
		if n := len(out); n > 0 && joins(&out[n-1], p) {
			out[n-1].extend(p)
			continue
		}
		out = append(out, word{Word: Word{Parts: []Part{p.Part}}, piece: p, n: len(out)})
	}
	slices.SortStableFunc(out, inLines)
	var merged []word
	for _, w := range out {
		if n := len(merged); n > 0 && joins(&merged[n-1], w.piece) {
			m := &merged[n-1]
			for i, part := range w.Parts {
				p := w.piece
				p.Part, p.spaceAfter = part, w.spaceAfter && i == len(w.Parts)-1
				m.extend(p)
			}
			m.n = min(m.n, w.n)
			continue
		}
		merged = append(merged, w)
	}
	for i := range merged {
		merged[i].finish()
	}
	return merged
}

// inLines compares words by angle, baseline and place.
func inLines(a, b word) int {
	return cmp.Or(cmp.Compare(a.angle, b.angle), cmp.Compare(math.Round(-a.v*4), math.Round(-b.v*4)), cmp.Compare(a.u, b.u))
}

// joins reports whether a piece goes on with a word.
func joins(w *word, p piece) bool {
	size := max(w.size, p.size)
	gap := p.u - w.end
	if w.spaceAfter && !(gap > noGapBelow*size && gap < noGap*size) {
		return false
	}
	return w.angle == p.angle && math.Abs(w.v-p.v) < 0.25*size && min(w.size, p.size) > 0.6*size && gap < wordGap*size && gap > -0.6*size && p.u >= w.u-0.1*size
}

func (w *word) extend(p piece) {
	if w.spaceAfter {
		w.Parts[len(w.Parts)-1].Space = true
	}
	w.Parts = append(w.Parts, p.Part)
	w.end, w.spaceAfter = max(w.end, p.end), p.spaceAfter
}

// finish makes the text of a word of its parts.
func (w *word) finish() {
	var b strings.Builder
	for _, p := range w.Parts {
		b.WriteString(p.Text)
	}
	w.Text, w.Font, w.Size = b.String(), w.font, w.size
	w.Quad = Around(w.Parts)
}

// Around returns the quad around parts that stand on one baseline, as slanted as the first.
func Around(parts []Part) Quad {
	q := parts[0].Quad
	dx, dy := q[1].X-q[0].X, q[1].Y-q[0].Y
	n := math.Hypot(dx, dy)
	for _, p := range parts[1:] {
		if l := math.Hypot(p.Quad[1].X-p.Quad[0].X, p.Quad[1].Y-p.Quad[0].Y); n == 0 && l > 0 {
			dx, dy, n = p.Quad[1].X-p.Quad[0].X, p.Quad[1].Y-p.Quad[0].Y, l
		}
	}
	if n == 0 {
		return q
	}
	up := Point{-dy / n, dx / n}
	if x, y := q[3].X-q[0].X, q[3].Y-q[0].Y; math.Abs(dx*y-dy*x) > 0.1*n*math.Hypot(x, y) {
		up = Point{x / math.Hypot(x, y), y / math.Hypot(x, y)}
	}
	m := Matrix{dx / n, dy / n, up.X, up.Y, q[0].X, q[0].Y}
	inv, ok := m.Inverse()
	if !ok {
		return q
	}
	var all Rect
	for i, p := range parts {
		b := inv.Of(p.Quad).Bounds()
		if i == 0 {
			all = b
		}
		all = all.Union(b)
	}
	return m.Quad(all)
}

// ordered returns words in the order in which they were drawn, each as it is read, and as it stands
// where that is another.
func ordered(words []word) (read, seen []Word) {
	list := slices.Clone(words)
	slices.SortStableFunc(list, func(a, b word) int { return cmp.Compare(a.n, b.n) })
	read = make([]Word, len(list))
	for i := range list {
		if read[i] = list[i].Word; !list[i].mixes() {
			continue
		}
		if seen == nil {
			seen = make([]Word, len(list))
			for k := range list {
				seen[k] = list[k].Word
			}
		}
		one, _ := logical(list[i:i+1], 0)
		read[i] = one[0].Word
	}
	return read, seen
}

// lines joins words on one baseline to lines and puts these into the order of reading.
func lines(words []word) []Line {
	var groups [][]word
	for _, w := range words { // by angle, baseline and place
		joinedTo := -1
		for i := len(groups) - 1; i >= max(0, len(groups)-64); i-- {
			last := groups[i][len(groups[i])-1]
			size := max(last.size, w.size)
			if gap := w.u - last.end; last.angle == w.angle && math.Abs(last.v-w.v) < 0.35*size && gap > -0.6*size && gap < lineGap*size {
				joinedTo = i
				break
			}
		}
		if joinedTo < 0 {
			groups = append(groups, []word{w})
			continue
		}
		groups[joinedTo] = append(groups[joinedTo], w)
	}
	page := 0
	for i := range words {
		page += direction(words[i].Parts)
	}
	out := make([]Line, len(groups))
	for i, g := range groups {
		g, other := logical(g, page)
		for _, w := range other {
			out[i].other = append(out[i].other, w.Word)
		}
		out[i].Box = g[0].Quad.Bounds()
		for _, w := range g {
			out[i].Words = append(out[i].Words, w.Word)
			out[i].Box = out[i].Box.Union(w.Quad.Bounds())
		}
	}
	return read(out, 0)
}

// read puts lines into the order of reading by cutting the page where nothing stands: across where
// the widest gap between lines is, unless a gutter divides columns.
func read(list []Line, depth int) []Line {
	if len(list) < 2 {
		return list
	}
	if depth < 64 {
		if at, ok := gutter(list); ok {
			left, right := parted(list, func(l Line) bool { return l.Box[2] <= at })
			return append(read(left, depth+1), read(right, depth+1)...)
		}
		if at, ok := gap(list); ok {
			above, below := parted(list, func(l Line) bool { return l.Box[1] >= at })
			return append(read(above, depth+1), read(below, depth+1)...)
		}
	}
	slices.SortStableFunc(list, func(a, b Line) int {
		if c := cmp.Compare(math.Round(-a.Box[1]), math.Round(-b.Box[1])); c != 0 && min(a.Box[3], b.Box[3])-max(a.Box[1], b.Box[1]) < 0.5*min(a.Box[3]-a.Box[1], b.Box[3]-b.Box[1]) {
			return c
		}
		return cmp.Compare(a.Box[0], b.Box[0])
	})
	return list
}

func parted(list []Line, first func(Line) bool) (a, b []Line) {
	for _, l := range list {
		if first(l) {
			a = append(a, l)
		} else {
			b = append(b, l)
		}
	}
	return a, b
}

// span is a part of an axis that lines cover.
type span struct{ from, to float64 }

// gaps returns the parts of an axis between lines that none covers.
func gaps(list []Line, from, to int) (out []span) {
	spans := make([]span, len(list))
	for i, l := range list {
		spans[i] = span{l.Box[from], l.Box[to]}
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	end := spans[0].to
	for _, s := range spans[1:] {
		if s.from > end {
			out = append(out, span{end, s.from})
		}
		end = max(end, s.to)
	}
	return out
}

// gutter finds where columns of three lines or more part that are no columns of one table: their
// lines do not stand on the same baselines throughout.
func gutter(list []Line) (at float64, ok bool) {
	best := 0.0
	for _, g := range gaps(list, 0, 2) {
		if w := g.to - g.from; w > best {
			best, at = w, (g.from+g.to)/2
		}
	}
	if best < 6 {
		return 0, false
	}
	left, right := parted(list, func(l Line) bool { return l.Box[2] <= at })
	if len(left) < 3 || len(right) < 3 {
		return 0, false
	}
	level, base := 0, map[float64]bool{}
	for _, r := range right {
		base[math.Round(r.Box[1])] = true
	}
	for _, l := range left {
		if at := math.Round(l.Box[1]); base[at] || base[at-1] || base[at+1] {
			level++
		}
	}
	wide := func(list []Line) bool { // text rather than cells
		n := 0
		for _, l := range list {
			n += len(l.Words)
		}
		return n >= 4*len(list)
	}
	return at, level < len(left) || wide(left) && wide(right)
}

// gap finds the widest gap across the page.
func gap(list []Line) (at float64, ok bool) {
	best := 0.0
	for _, g := range gaps(list, 1, 3) {
		if w := g.to - g.from; w > best {
			best, at = w, (g.from+g.to)/2
		}
	}
	return at, best > 0
}
