package text

import (
	"context"
	"strings"
	"unicode/utf8"

	"example.com/quire/pdf/doc"
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
	// Total breaks the paragraph as a whole, for the best lines in sum; else, and where a stretch
	// is wider than the line, each line takes what it can.
	Total bool
	// Hyphenate allows hyphens in words, as the language of their piece has them.
	Hyphenate bool
	// Indent is how far the first line begins behind the others; below 0 they begin behind it.
	Indent doc.Length
	// Tabs are where tabs lead to, in the order of their places; without any a tab is a space.
	// Lines of a paragraph that has them begin at their side, are broken each as long as it can be,
	// and their spaces stay as they are.
	Tabs []TabStop
	// Decimal is the decimal sign that numbers stand on.
	Decimal string
	// Sign is where that of a paragraph of doc.AlignDecimal stands, from the left; 0: its lines end
	// at the right.
	Sign doc.Length
}

// Setter breaks paragraphs into lines. It keeps buffers between calls and is for
// one goroutine at a time. The lines it returns stay valid until Close.
type Setter struct {
	ctx    context.Context
	t      *Typesetter
	breaks []Break
	joined strings.Builder
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
	lineStart, segStart  int
	firstItem, firstLine int        // of the paragraph
	markItems, markLines int        // see Mark
	x                    doc.Length // width of the settled items, spaces included
	width                doc.Length
	align                doc.Align
	pieces               []Piece

	indents [2]doc.Length // of the first line and of the others
	tabs    []TabStop
	decimal string
	sign    doc.Length // where decimal signs stand; 0: nowhere
	field   field      // behind the last tab of the line being filled

	hyphenate     bool
	total         bool // lines may be tighter than natural
	ladder        int  // lines in a row that end with a hyphen
	patternLang   string
	patterns      *hyph.Language // of patternLang, once patternsFound; nil: it has none
	patternsFound bool
	points        []hyphenPoint // of one word
	fitter        fitter
	order         order
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
	// What is kept must not keep the document's texts alive, nor the size of a long paragraph.
	f, o := &s.fitter, &s.order
	*s = Setter{
		t: s.t, items: emptied(s.items), lines: emptied(s.lines), parts: emptied(s.parts), long: emptied(s.long), glyphs: emptied(s.glyphs),
		breaks: emptied(s.breaks), ends: emptied(s.ends), figures: emptied(s.figures),
		points: emptied(s.points),
		fitter: fitter{breakpoints: emptied(f.breakpoints), nodes: emptied(f.nodes), starts: emptied(f.starts), route: emptied(f.route)},
		order:  order{visual: emptied(o.visual), onLine: emptied(o.onLine)},
	}
	s.t.setters.Put(s)
}

// mostKept bounds, in values, each buffer that is kept for the next setter.
const mostKept = 4096

// emptied clears a buffer for the next setter, and drops one that is large.
func emptied[T any](s []T) []T {
	if cap(s) > mostKept {
		return nil
	}
	s = s[:cap(s)]
	clear(s)
	return s[:0]
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
	done, err := s.setWord(full, o.Total)
	if err != nil {
		return nil, err
	}
	if done {
		return s.paragraph(), nil
	}
	s.findBreaks(pieces, full)
	if o.Total && width < Unlimited && o.Tabs == nil {
		done, err = s.setTotal(full)
	}
	if err == nil && !done {
		err = s.setGreedy(full)
	}
	if err != nil {
		return nil, err
	}
	return s.paragraph(), nil
}

// paragraph returns the lines of the paragraph that was set.
func (s *Setter) paragraph() []Line {
	s.pieces, s.full = nil, ""
	return s.lines[s.firstLine:len(s.lines):len(s.lines)]
}

// setWord is setGreedy for a paragraph of one plain word or number, as most cells of tables have;
// done is false for all others.
func (s *Setter) setWord(full string, total bool) (done bool, err error) {
	if total || s.tabs != nil || len(s.pieces) != 1 || s.pieces[0].Object > 0 {
		return false, nil
	}
	figures, plain := plainWord(full)
	if !plain {
		return false, nil
	}
	s.breaks = s.breaks[:0]
	if s.order.find(s.pieces, full, true, false); s.order.foreign {
		return false, nil
	}
	if err := s.addWord(0, full, figures, 0); err != nil {
		return false, err
	}
	if err := s.settle(); err != nil {
		return false, err
	}
	if len(s.items) > s.lineStart {
		s.closeLine(len(s.items), true)
	}
	return true, nil
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

// Mark begins paragraphs that Rewind takes back.
func (s *Setter) Mark() { s.markItems, s.markLines = len(s.items), len(s.lines) }

// Rewind takes back the lines of the paragraphs since Mark, none of which must be of use any more:
// the next ones lie in their memory.
func (s *Setter) Rewind() { s.items, s.lines = s.items[:s.markItems], s.lines[:s.markLines] }

// open starts a paragraph. The chunks are replaced before they are full of old
// lines, so appending rarely moves a paragraph in the middle.
func (s *Setter) open(pieces []Piece, width doc.Length, align doc.Align) {
	if c := cap(s.items); c-len(s.items) < max(c/4, 16) {
		s.items, s.markItems = make([]Item, 0, min(max(2*c, 64), 512)), 0
	}
	if c := cap(s.lines); c-len(s.lines) < max(c/8, 4) {
		s.lines, s.markLines = make([]Line, 0, min(max(2*c, 16), 256)), 0
	}
	s.lineStart, s.segStart = len(s.items), len(s.items)
	s.firstItem, s.firstLine = len(s.items), len(s.lines)
	s.x, s.width, s.align, s.pieces = 0, width, align, pieces
	s.hyphenate, s.total, s.ladder = false, false, 0
	s.indents, s.tabs, s.field.open, s.sign = [2]doc.Length{}, nil, false, 0
}

func (s *Setter) join(pieces []Piece) string {
	if len(pieces) == 1 {
		return pieces[0].Text
	}
	n := 0
	for i := range pieces {
		n += len(pieces[i].Text)
	}
	// The texts of many paragraphs share one piece of memory, which lives as long as any of them.
	if s.joined.Cap()-s.joined.Len() < n {
		size := min(max(2*s.joined.Cap(), leastJoined), mostJoined)
		s.joined = strings.Builder{}
		s.joined.Grow(max(size, n))
	}
	from := s.joined.Len()
	for i := range pieces {
		s.joined.WriteString(pieces[i].Text)
	}
	return s.joined.String()[from:]
}

// leastJoined and mostJoined bound a piece of memory for the texts of paragraphs.
const leastJoined, mostJoined = 512, 4096

// trimEnd removes the characters that end a line.
func trimEnd(s string) string {
	if n := len(s); n > 0 && s[n-1] >= ' ' && s[n-1] < 0x7F {
		return s
	}
	return strings.TrimRight(s, "\r\n\v\f\u0085\u2028\u2029")
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
	s.lines, s.items = s.lines[:s.firstLine], s.items[:s.firstItem] // nobody draws them
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
