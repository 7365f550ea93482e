package text

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/diag"
	"example.com/quire/pdf/internal/text/bidi"
	"example.com/quire/pdf/internal/text/hyph"
)

// Piece is a stretch of a paragraph in one style.
type Piece struct {
	Text  string
	Chain *Chain
	Size  doc.Length
	// Figure says that Text is a number, an amount or a date: no line ends inside
	// it but at an ordinary space.
	Figure bool
	// Spacing is added behind each letter.
	Spacing doc.Length
	// SmallCaps shows small letters as capitals. The parts still say what was written.
	SmallCaps bool
	// Object is how wide the thing is that stands in the line in place of Text, the one character
	// U+FFFC, which has no glyph; 0: Text is text.
	Object doc.Length
	// Lang is the language, BCP 47: its hyphenation and its forms of letters count, and that of the
	// first piece says to which side the paragraph runs.
	Lang string
}

// Options say how a paragraph is set.
type Options struct {
	Align doc.Align
	// Total breaks the paragraph as a whole, for the best lines in sum; else, and where a stretch is
	// wider than the line, each line takes what it can.
	Total bool
	// Hyphenate allows hyphens in words, as the language of their piece has them.
	Hyphenate bool
	// Indent is how far the first line begins behind the others; below 0 they begin behind it.
	Indent doc.Length
	// Tabs are where tabs lead to, in the order of their places; without any a tab is a space. Lines
	// of a paragraph that has them begin at their side, are broken each as long as it can be, and their
	// spaces stay as they are.
	Tabs []TabStop
	// Decimal is the decimal sign that numbers stand on.
	Decimal string
	// Sign is where that of a paragraph of doc.AlignDecimal stands, from the left; 0: its lines end at
	// the right.
	Sign doc.Length
}

// width is that of a part of the piece.
func (p *Piece) width(part *Part) doc.Length {
	w := part.Width(p.Size)
	if p.Spacing != 0 {
		w += p.Spacing * doc.Length(part.letters())
	}
	return w
}

// letters counts the clusters of a part.
func (p *Part) letters() int {
	n := 0
	for i := range p.Glyphs {
		if i == 0 || p.Glyphs[i].Cluster != p.Glyphs[i-1].Cluster {
			n++
		}
	}
	return n
}

// Item is a placed piece of a line: the glyphs of Part at X from the line's left
// end. W is the advance it takes up, which for a space of a justified line is
// more than Part's own.
type Item struct {
	Part   *Part
	X, W   doc.Length
	kern   doc.Length // moves it towards the item before, unless it opens a line
	Piece  int32      // index of the piece it is from
	Space  bool
	Tab    bool          // it leads to a tab stop
	Leader doc.TabLeader // of a tab
	Level  bidi.Level    // of embedding (UAX #9)
}

// Line is one line of a paragraph. Items stand in the order of the text; X says where each is.
type Line struct {
	Items []Item
	// Width is the natural width, without the space that ends the line.
	Width doc.Length
}

// NarrowError says that a single character is wider than the line.
type NarrowError struct {
	Text        string
	Need, Width doc.Length
}

// Error names the character and both widths.
func (e *NarrowError) Error() string {
	return fmt.Sprintf("%s is %d.%02d pt wide and the line %d.%02d pt", diag.Quote(e.Text),
		e.Need/doc.Pt, e.Need%doc.Pt*100/doc.Pt, e.Width/doc.Pt, e.Width%doc.Pt*100/doc.Pt)
}

// Setter breaks paragraphs into lines. It keeps buffers between calls and is for
// one goroutine at a time. The lines it returns stay valid until Close.
type Setter struct {
	ctx    context.Context
	t      *Typesetter
	breaks []Break
	joined []byte
	long   []Item
	ends   []int

	full    string   // text of the paragraph
	from    int      // offset in full of the open stretch
	figures []extent // of the stretch that breakLong breaks

	items  []Item  // chunk that lines are cut from
	lines  []Line  // likewise
	parts  []Part  // of words that are not cached, likewise
	glyphs []Glyph // and their glyphs

	// the line being filled: items[lineStart:segStart] is settled,
	// items[segStart:] is the stretch since the last break opportunity.
	lineStart, segStart int
	firstLine           int
	x                   doc.Length // width of the settled items, spaces included
	width               doc.Length
	align               doc.Align
	pieces              []Piece

	indents [2]doc.Length // of the first line and of the others
	tabs    []TabStop
	decimal string
	sign    doc.Length // where decimal signs stand; 0: nowhere
	field   field      // behind the last tab of the line being filled

	hyphenate   bool
	total       bool // lines may be tighter than natural
	ladder      int  // lines in a row that end with a hyphen
	patternLang string
	patterns    *hyph.Language // of patternLang
	fitter      fitter
	order       order
}

// NewSetter returns a setter over t. Close it, and the next one has its buffers.
// When ctx ends, so does the paragraph being set, with the error of ctx.
func NewSetter(ctx context.Context, t *Typesetter) *Setter {
	s, ok := t.setters.Get().(*Setter)
	if !ok {
		s = &Setter{t: t}
	}
	s.ctx = ctx
	return s
}

// Close gives the buffers to the typesetter's next setter. The lines are valid no
// longer, and s must not be used again.
func (s *Setter) Close() {
	// What is kept must not keep the document's texts alive.
	clear(s.items[:cap(s.items)])
	clear(s.lines[:cap(s.lines)])
	clear(s.parts[:cap(s.parts)])
	clear(s.long[:cap(s.long)])
	s.items, s.lines, s.parts, s.long = s.items[:0], s.lines[:0], s.parts[:0], s.long[:0]
	s.glyphs, s.pieces, s.ctx, s.order.levels = s.glyphs[:0], nil, nil, nil
	s.t.setters.Put(s)
}

// Unlimited is a width that no line reaches.
const Unlimited doc.Length = 1 << 40

// Set breaks pieces, which make up one paragraph, into lines of the given width, each as long
// as it can be. See SetParagraph.
func (s *Setter) Set(pieces []Piece, width doc.Length, align doc.Align) ([]Line, error) {
	return s.SetParagraph(pieces, width, Options{Align: align})
}

// SetParagraph breaks pieces, which make up one paragraph, into lines of the given width, at the
// opportunities of UAX #14 and, where asked, within words. A stretch wider than a whole line
// breaks between graphemes, but never inside a figure. Errors are *MissingGlyphError,
// *ScriptError, *NarrowError, *FigureError and that of the setter's context.
func (s *Setter) SetParagraph(pieces []Piece, width doc.Length, o Options) ([]Line, error) {
	s.open(pieces, width, o.Align)
	s.hyphenate, s.tabs, s.decimal, s.sign = o.Hyphenate && o.Tabs == nil, o.Tabs, o.Decimal, o.Sign
	s.indents = [2]doc.Length{max(o.Indent, 0), max(-o.Indent, 0)}
	s.x = s.indents[0]
	full := s.join(pieces)
	s.full, s.from = full, 0
	s.findBreaks(pieces, full)
	var err error
	done := false
	if o.Total && width < Unlimited && o.Tabs == nil {
		done, err = s.setTotal(full)
	}
	if err == nil && !done {
		err = s.setGreedy(full)
	}
	if err != nil {
		return nil, err
	}
	out := s.lines[s.firstLine:len(s.lines):len(s.lines)]
	s.pieces, s.full = nil, ""
	return out, nil
}

// setGreedy fills each line as far as it goes.
func (s *Setter) setGreedy(full string) error {
	pieces := s.pieces
	pos, bi := 0, 0
	for pi := range pieces {
		end := pos + len(pieces[pi].Text)
		for pos < end {
			stop := end
			atBreak, hard := false, false
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
				if err := s.settle(); err != nil {
					return err
				}
				s.from = stop
				if hard {
					s.closeLine(len(s.items), true)
				}
			}
			pos = stop
		}
	}
	if err := s.settle(); err != nil {
		return err
	}
	if len(s.items) > s.lineStart || len(full) > 0 && len(s.lines) == s.firstLine {
		s.closeLine(len(s.items), true)
	}
	return nil
}

// open starts a paragraph. The chunks are replaced before they are full of old
// lines, so appending rarely moves a paragraph in the middle.
func (s *Setter) open(pieces []Piece, width doc.Length, align doc.Align) {
	if c := cap(s.items); c-len(s.items) < max(c/4, 16) {
		s.items = make([]Item, 0, min(max(2*c, 64), 512))
	}
	if c := cap(s.lines); c-len(s.lines) < max(c/8, 4) {
		s.lines = make([]Line, 0, min(max(2*c, 16), 256))
	}
	s.lineStart, s.segStart = len(s.items), len(s.items)
	s.firstLine = len(s.lines)
	s.x, s.width, s.align, s.pieces = 0, width, align, pieces
	s.hyphenate, s.total, s.ladder = false, false, 0
	s.indents, s.tabs, s.field.open, s.sign = [2]doc.Length{}, nil, false, 0
}

func (s *Setter) join(pieces []Piece) string {
	if len(pieces) == 1 {
		return pieces[0].Text
	}
	s.joined = s.joined[:0]
	for i := range pieces {
		s.joined = append(s.joined, pieces[i].Text...)
	}
	return string(s.joined)
}

// trimEnd removes the characters that end a line.
func trimEnd(s string) string {
	if n := len(s); n > 0 && s[n-1] >= ' ' && s[n-1] < 0x7F {
		return s
	}
	return strings.TrimRight(s, "\r\n\v\f\u0085\u2028\u2029")
}

// add appends the items of seg, a stretch at byte pos without break opportunity inside.
func (s *Setter) add(pi int, seg string, pos int) error {
	if w := s.pieces[pi].Object; w > 0 && seg != "" {
		s.push(Item{Part: &objectPart, W: w, Piece: int32(pi), Level: s.order.at(pos)}) //nolint:gosec // G115: pieces are few
		return nil
	}
	for i := 0; i < len(seg); {
		if seg[i] == ' ' || seg[i] == '\t' {
			n := len(s.items)
			if err := s.addSpace(pi, pos+i); err != nil {
				return err
			}
			if seg[i] == '\t' && s.tabs != nil {
				s.items[n].Tab = true
			}
			i++
			continue
		}
		from, figures := i, false
		for ; i < len(seg) && seg[i] != ' ' && seg[i] != '\t'; i++ {
			figures = figures || seg[i]-'0' <= 9
		}
		var level bidi.Level
		if levels := s.order.levels; levels != nil {
			level = levels[pos+from]
			for k := from; k < i; k++ { // a word ends where the level changes
				if levels[pos+k] != level {
					i = k
				}
			}
		}
		if err := s.addWord(pi, seg[from:i], figures, level); err != nil {
			return err
		}
	}
	return nil
}

// Object is the text of a Piece that is a thing: Unicode's object replacement character.
const Object = "\uFFFC"

// objectPart is the part of all things: nothing is drawn of it.
var objectPart = Part{Text: Object}

func (s *Setter) addSpace(pi, pos int) error {
	p := &s.pieces[pi]
	parts := p.Chain.space
	if parts == nil {
		var err error
		if parts, err = s.shape(p, " ", false, 0); err != nil {
			return err
		}
	}
	s.addParts(pi, parts, true, s.order.at(pos))
	return nil
}

func (s *Setter) addWord(pi int, w string, figures bool, level bidi.Level) error {
	parts, err := s.shape(&s.pieces[pi], w, figures, level)
	if err == nil {
		s.addParts(pi, parts, false, level)
	}
	return err
}

func (s *Setter) addParts(pi int, parts []Part, space bool, level bidi.Level) {
	for i := range parts {
		s.push(Item{Part: &parts[i], W: s.pieces[pi].width(&parts[i]), Piece: int32(pi), Space: space, Level: level}) //nolint:gosec // G115: pieces are few
	}
}

// shape returns the parts of a word, from the cache or in memory of the setter.
func (s *Setter) shape(p *Piece, w string, figures bool, level bidi.Level) ([]Part, error) {
	var d dialect
	if s.order.foreign {
		if d.complex, d.rtl = isComplex(w), level.RTL(); d.complex {
			d.lang = p.Lang
		}
	}
	if p.SmallCaps {
		return s.shapeCapitals(p, w, d)
	}
	if s.t.caches(len(w), figures) {
		return s.t.shape(p.Chain, w, d)
	}
	return s.shapeNew(p, w, d)
}

// shapeNew shapes a word in memory of the setter.
func (s *Setter) shapeNew(p *Piece, w string, d dialect) ([]Part, error) {
	if cap(s.glyphs)-len(s.glyphs) < len(w) {
		s.glyphs = make([]Glyph, 0, max(1024, len(w)))
	}
	if cap(s.parts) == len(s.parts) {
		s.parts = make([]Part, 0, min(max(2*cap(s.parts), 64), 256))
	}
	from := len(s.parts)
	var err error
	s.parts, s.glyphs, err = s.t.shapeNew(s.parts, s.glyphs, p.Chain, w, d)
	return s.parts[from:], err
}

// shapeCapitals shapes the capitals of a word. Its parts say the word as it is written.
func (s *Setter) shapeCapitals(p *Piece, w string, d dialect) ([]Part, error) {
	var capitals []byte
	var at []int32 // by byte of capitals: the byte of w that it stands for
	for i, r := range w {
		n := len(capitals)
		capitals = utf8.AppendRune(capitals, unicode.ToUpper(r))
		for range len(capitals) - n {
			at = append(at, int32(i)) //nolint:gosec // G115: a word
		}
	}
	at = append(at, int32(len(w))) //nolint:gosec // G115: a word
	parts, err := s.shapeNew(p, string(capitals), d)
	from := 0
	for i := range parts {
		part := &parts[i]
		to := from + len(part.Text)
		start := at[from]
		for k := range part.Glyphs {
			g := &part.Glyphs[k]
			g.Cluster = at[from+int(g.Cluster)] - start
		}
		part.Text, part.Plain, part.Replaced = w[start:at[to]], false, true
		from = to
	}
	return parts, err
}

// push appends it with the kerning between it and the item before it.
func (s *Setter) push(it Item) {
	if n := len(s.items); n > s.lineStart && !it.Space {
		prev := &s.items[n-1]
		a, b := prev.Part, it.Part
		if !prev.Space && a.Face == b.Face && !a.RTL && !b.RTL && len(a.Glyphs) > 0 && len(b.Glyphs) > 0 {
			p, q := &s.pieces[prev.Piece], &s.pieces[it.Piece]
			if p.Size == q.Size && p.Spacing == 0 && !p.Chain.query.TabularFigures {
				k := int64(a.Face.Kern(a.Glyphs[len(a.Glyphs)-1].ID, b.Glyphs[0].ID))
				it.kern = Scale(k, q.Size, b.Face)
			}
		}
	}
	s.items = append(s.items, it)
}

// settle is called at a break opportunity: it moves the open stretch to the
// settled part of the line, or ends the line before it.
func (s *Setter) settle() error {
	if len(s.items) == s.segStart {
		return nil
	}
	var w, all doc.Length
	if s.tabs == nil {
		w, all = s.measure(s.items[s.segStart:], s.lineStart == s.segStart)
	}
	switch {
	case s.tabs != nil && s.settleTabs():
	case s.tabs == nil && s.x+w <= s.width:
		s.x += all
		s.segStart = len(s.items)
	default:
		if err := s.ctx.Err(); err != nil {
			return err
		}
		if s.hyphenate {
			if done, err := s.hyphenateOpen(); done || err != nil {
				if err != nil {
					return err
				}
				return s.settle()
			}
		}
		if s.segStart == s.lineStart {
			return s.breakLong()
		}
		s.closeLine(s.segStart, false)
		return s.settle()
	}
	return nil
}

// measure returns the width of items without and with the spaces at their end.
// A soft hyphen at the end counts as the hyphen it may turn into.
func (s *Setter) measure(items []Item, opensLine bool) (bare, all doc.Length) {
	for i := range items {
		if i > 0 || !opensLine {
			all += items[i].kern
		}
		all += items[i].W
		if !items[i].Space {
			bare = all
		}
	}
	if last := &items[len(items)-1]; endsSoft(last) {
		bare += s.hyphenWidth(last)
	}
	return bare, all
}

const softHyphen = "\u00AD"

func endsSoft(it *Item) bool { return !it.Space && strings.HasSuffix(it.Part.Text, softHyphen) }

func (s *Setter) hyphenWidth(it *Item) doc.Length {
	p := &s.pieces[it.Piece]
	f := it.Part.Face
	return Scale(int64(f.Advance(f.GlyphIndex('-'))), p.Size, f)
}

// hyphen is the item that a soft hyphen at a line end shows as. Its text is the
// soft hyphen, so extraction can tell it from a typed one (ISO 32000-2,
// 14.8.2.2.3).
func (s *Setter) hyphen(it *Item) (Item, bool) {
	f := it.Part.Face
	id := f.GlyphIndex('-')
	if id == 0 {
		return Item{}, false
	}
	adv := f.Advance(id)
	p := &Part{Face: f, Text: softHyphen, Glyphs: []Glyph{{ID: id, Advance: int32(adv)}}, Units: int64(adv)} //nolint:gosec // G115: 16 bits
	return Item{Part: p, W: p.Width(s.pieces[it.Piece].Size), Piece: it.Piece, Level: it.Level}, true
}

// breakLong breaks the open stretch, which starts a line and is wider than it,
// between graphemes and around figures.
func (s *Setter) breakLong() error {
	s.long = append(s.long[:0], s.items[s.segStart:]...)
	s.items = s.items[:s.segStart]
	var err error
	if s.solid(s.long); len(s.figures) > 0 {
		err = s.breakAround(s.long)
	} else {
		err = s.spread(s.long)
	}
	s.segStart = len(s.items)
	return err
}

// spread places items, breaking those between graphemes that do not fit.
func (s *Setter) spread(items []Item) error {
	for i := range items {
		it := items[i]
		if it.Tab {
			s.field = s.openField(&it, len(s.items), s.x)
		}
		if it.Space || s.x+it.W <= s.width {
			s.push(it)
			s.placed(len(s.items)-1, it.W)
			continue
		}
		if err := s.cut(&it); err != nil {
			return err
		}
	}
	return nil
}

// cut places the graphemes of it, closing lines as they fill. The cost is linear
// in the text: graphemes are found once, and no line is tried with much more text
// than it takes.
func (s *Setter) cut(it *Item) error {
	p := &s.pieces[it.Piece]
	word := it.Part.Text
	if p.Object > 0 {
		if len(s.items) > s.lineStart {
			s.closeLine(len(s.items), false)
		}
		if it.W > s.width {
			return &NarrowError{Text: word, Need: it.W, Width: s.width}
		}
		s.push(*it)
		s.placed(len(s.items)-1, it.W)
		s.segStart = len(s.items)
		return nil
	}
	s.ends = s.t.seg.Graphemes(s.ends[:0], word)
	count := doc.Length(len(s.ends))
	for ends, from := s.ends, 0; len(ends) > 0; {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		avail := s.width - s.x
		take, parts, err := s.fitting(it, from, ends, avail, int(count*avail/max(it.W, 1)))
		if err != nil {
			return err
		}
		if take == 0 {
			if len(s.items) > s.lineStart {
				s.closeLine(len(s.items), false)
				continue
			}
			one, err := s.shape(p, word[from:ends[0]], true, it.Level)
			if err != nil {
				return err
			}
			return &NarrowError{Text: word[from:ends[0]], Need: p.widths(one), Width: s.width}
		}
		for i := range parts {
			w := p.width(&parts[i])
			s.items = append(s.items, Item{Part: &parts[i], W: w, Piece: it.Piece, Level: it.Level})
			s.placed(len(s.items)-1, w)
		}
		s.segStart = len(s.items)
		from, ends = ends[take-1], ends[take:]
		if len(ends) > 0 {
			s.closeLine(len(s.items), false)
		}
	}
	return nil
}

// fitting returns how many of the graphemes of it from byte from on, which end at ends, are no wider than avail together, and those shaped. It tries guess,
// then what the width of each try suggests, then halves what is open.
func (s *Setter) fitting(it *Item, from int, ends []int, avail doc.Length, guess int) (int, []Part, error) {
	p, word := &s.pieces[it.Piece], it.Part.Text
	var best []Part
	lo, hi := 0, len(ends)+1 // lo graphemes fit, hi do not
	for try := 0; lo+1 < hi; try++ {
		top := min(hi-1, 2*lo+32)
		n := min(max(guess, lo+1), top)
		parts, err := s.shape(p, word[from:ends[n-1]], true, it.Level)
		if err != nil {
			return 0, nil, err
		}
		w := p.widths(parts)
		if w <= avail {
			lo, best = n, parts
		} else {
			hi = n
		}
		if try < 3 && w > 0 {
			guess = int(doc.Length(n) * avail / w)
		} else {
			guess = (lo + min(hi, 2*lo+32) + 1) / 2
		}
	}
	return lo, best, nil
}

// widths is that of several parts of the piece.
func (p *Piece) widths(parts []Part) doc.Length {
	var w doc.Length
	for i := range parts {
		w += p.width(&parts[i])
	}
	return w
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

// Measure returns the width of the widest unbreakable stretch of the paragraph
// and that of its longest line when only mandatory breaks end one.
func (s *Setter) Measure(pieces []Piece) (least, most doc.Length, err error) {
	lines, err := s.Set(pieces, Unlimited, doc.AlignLeft)
	if err != nil {
		return 0, 0, err
	}
	for i := range lines {
		most = max(most, lines[i].Width)
	}
	// The least width follows from the same opportunities.
	s.open(pieces, Unlimited, doc.AlignLeft)
	full := s.join(pieces)
	s.findBreaks(pieces, full)
	pos, bi := 0, 0
	var run doc.Length
	for pi := range pieces {
		end := pos + len(pieces[pi].Text)
		for pos < end {
			stop, atBreak := end, false
			if bi < len(s.breaks) && s.breaks[bi].Pos <= end {
				stop, atBreak = s.breaks[bi].Pos, true
				bi++
			}
			if seg := strings.TrimRight(trimEnd(full[pos:stop]), " \t"); seg != "" {
				n := len(s.items)
				if err := s.add(pi, seg, pos); err != nil {
					return 0, 0, err
				}
				w, _ := s.measure(s.items[n:], true)
				run += w
			}
			least = max(least, run)
			if atBreak {
				run = 0
			}
			pos = stop
		}
	}
	s.items = s.items[:s.lineStart]
	s.pieces = nil
	return least, most, nil
}

// Clean returns s with invalid UTF-8 replaced by U+FFFD, s itself when it is
// valid.
func Clean(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
