package edit

import (
	"context"
	"errors"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/internal/content"
	"example.com/quire/pdf/internal/diag"
)

// source is a draft as package content reads it: what is damaged is nil and counted, a limit is
// kept as the draft's error.
type source struct {
	e      *Draft
	broken int // streams that could not be decoded
}

func (s *source) Resolve(o cos.Object) cos.Object { return s.e.resolve(o) }

func (s *source) Dict(o cos.Object) cos.Dict { return s.e.dict(o) }

func (s *source) Data(o cos.Object) []byte {
	v, ok := s.e.resolve(o).(*stream)
	if !ok {
		return nil
	}
	if v.in == nil {
		return v.data
	}
	b, rest, err := v.from.Decode(v.in)
	if errors.Is(err, diag.ErrDamaged) || len(rest) > 0 {
		s.broken++
		return nil
	}
	if err != nil && s.e.err == nil {
		s.e.err = err
	}
	return b
}

// drawn returns what is drawn on a page: its content, and what its annotations look like.
func (s *source) drawn(p Page) []content.Content {
	out := []content.Content{{Data: s.pageData(p.Dict), Resources: s.e.dict(p.Dict.Get("Resources")), Matrix: content.Identity}}
	for _, a := range s.e.array(p.Dict.Get("Annots")) {
		d := s.e.dict(a)
		if s.e.integer(d.Get("F"), 0)&2 != 0 || s.e.name(d.Get("Subtype")) == "Popup" {
			continue // hidden
		}
		if look, ok := s.appearance(d); ok {
			out = append(out, look)
		}
	}
	return out
}

// pageData is Draft.content for what may be damaged.
func (s *source) pageData(page cos.Dict) []byte {
	o := page.Get("Contents")
	if _, one := s.e.resolve(o).(*stream); one {
		return s.Data(o)
	}
	return s.e.joined(s.e.array(o), s.Data)
}

// appearance returns the normal appearance of an annotation, in its place.
func (s *source) appearance(annot cos.Dict) (content.Content, bool) {
	n, m, fit, ok := s.e.look(annot)
	if !ok {
		return content.Content{}, false
	}
	return content.Content{Data: s.Data(n), Resources: s.e.dict(s.e.dict(n).Get("Resources")), Matrix: m.Mul(fit)}, true
}

// look returns the form that is the normal appearance of an annotation, its matrix, and that which
// puts it in its place (ISO 32000-2, 12.5.5).
func (e *Draft) look(annot cos.Dict) (n cos.Object, m, fit content.Matrix, ok bool) {
	n = e.dict(annot.Get("AP")).Get("N")
	if _, one := e.resolve(n).(*stream); !one {
		n = e.dict(n).Get(e.name(annot.Get("AS")))
	}
	form, ok := e.resolve(n).(*stream)
	if !ok {
		return nil, m, fit, false
	}
	m = content.Identity
	if a := e.array(form.dict.Get("Matrix")); len(a) == 6 {
		for i := range m {
			m[i] = number(e.resolve(a[i]), m[i])
		}
	}
	box := m.Quad(content.Rect(e.box(form.dict.Get("BBox"), [4]float64{0, 0, 1, 1}))).Bounds()
	rect := e.box(annot.Get("Rect"), [4]float64{})
	if box[2] <= box[0] || box[3] <= box[1] || rect == [4]float64{} {
		return nil, m, fit, false
	}
	sx, sy := (rect[2]-rect[0])/(box[2]-box[0]), (rect[3]-rect[1])/(box[3]-box[1])
	return n, m, content.Matrix{sx, 0, 0, sy, rect[0] - box[0]*sx, rect[1] - box[1]*sy}, true
}

// TextOptions say what text is told.
type TextOptions struct {
	Pages string // as in ParsePages; empty: all
}

// TextPage is the text of a page. Lengths are in points, coordinates those of the page: from its
// lower left corner, before it is turned.
type TextPage struct {
	Page    int        `json:"page"` // from 1
	Box     [4]float64 `json:"box"`  // left, bottom, right, top of what is shown
	Rotate  int        `json:"rotate"`
	Lines   []TextLine `json:"lines"`             // in the order of reading
	Unknown int        `json:"unknown,omitempty"` // characters whose text the file does not give: U+FFFD
}

// TextLine is words next to each other on one baseline.
type TextLine struct {
	Text  string     `json:"text"`
	Box   [4]float64 `json:"box"`
	Words []TextWord `json:"words"`
}

// TextWord is a word with its place.
type TextWord struct {
	Text string     `json:"text"`
	Box  [4]float64 `json:"box"`
	// Quad has the corners x1 y1 ... x4 y4 of a word that does not run straight to the right, from
	// the lower left one as it is read and around against the clock.
	Quad *[8]float64 `json:"quad,omitempty"`
	Font string      `json:"font"` // its PostScript name
	Size float64     `json:"size"`
}

// Text returns the text of pages.
func (d *Document) Text(ctx context.Context, o TextOptions) ([]TextPage, error) {
	r, err := newTextReader(d, o.Pages)
	if err != nil {
		return nil, err
	}
	out := []TextPage{}
	for _, i := range r.pages {
		t, err := r.page(ctx, i, true)
		if err != nil {
			return nil, err
		}
		p := TextPage{Page: i + 1, Box: r.e.shown(i), Rotate: int(r.e.rotation(r.e.pages[i].Dict)), Lines: []TextLine{}, Unknown: t.Unknown}
		for _, l := range t.Lines {
			line := TextLine{Text: l.Text(), Box: rounded(l.Box)}
			for _, w := range l.Words {
				word := TextWord{Text: w.Text, Box: rounded(w.Quad.Bounds()), Font: w.Font, Size: hundredth(w.Size)}
				if q := w.Quad; hundredth(q[0].Y) != hundredth(q[1].Y) || q[1].X < q[0].X {
					word.Quad = &[8]float64{hundredth(q[0].X), hundredth(q[0].Y), hundredth(q[1].X), hundredth(q[1].Y), hundredth(q[2].X), hundredth(q[2].Y), hundredth(q[3].X), hundredth(q[3].Y)}
				}
				line.Words = append(line.Words, word)
			}
			p.Lines = append(p.Lines, line)
		}
		out = append(out, p)
	}
	return out, nil
}

func rounded(r content.Rect) [4]float64 {
	for i := range r {
		r[i] = hundredth(r[i])
	}
	return r
}

// hundredth rounds a length to what is worth telling.
func hundredth(v float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'f', 2, 64), 64)
	if err != nil || r == 0 {
		return 0 // never "-0"
	}
	return r
}

// shown returns what is shown of a page.
func (e *Draft) shown(i int) [4]float64 {
	media := e.box(e.pages[i].Dict.Get("MediaBox"), letter)
	crop := e.box(e.pages[i].Dict.Get("CropBox"), media)
	crop = [4]float64{max(crop[0], media[0]), max(crop[1], media[1]), min(crop[2], media[2]), min(crop[3], media[3])}
	if crop[0] >= crop[2] || crop[1] >= crop[3] {
		return media
	}
	return crop
}

// textReader reads the text of pages of one draft.
type textReader struct {
	e     *Draft
	src   *source
	in    *content.Interpreter
	pages []int
}

func newTextReader(d *Document, pages string) (*textReader, error) {
	list, err := ParsePages(pages, len(d.Pages))
	if err != nil {
		return nil, err
	}
	return newReader(NewDraft(d), unique(list)), nil
}

func newReader(e *Draft, pages []int) *textReader {
	r := &textReader{e: e, src: &source{e: e}, pages: pages}
	r.in = content.New(r.src)
	return r
}

// page reads one page, from 0: what it shows, or all that is drawn.
func (r *textReader) page(ctx context.Context, i int, shown bool) (*content.Text, error) {
	within := content.Rect{}
	if shown {
		within = r.e.shown(i)
	}
	t, err := r.in.Read(ctx, content.Place(i+1), within, r.src.drawn(r.e.pages[i])...)
	if err == nil {
		err = r.e.err
	}
	return t, err
}

// SearchOptions say what is searched: exactly one of Text and Regexp.
type SearchOptions struct {
	Text   string // spaces in it stand for any white space, line ends too; see content.Equivalents
	Regexp string // in RE2 syntax, over the text of a page with single spaces
	Case   bool   // letters match only as they are written
	Pages  string // as in ParsePages; empty: all
}

// Match is text that was found.
type Match struct {
	Page  int          `json:"page"` // from 1
	Text  string       `json:"text"`
	Boxes [][4]float64 `json:"boxes"` // left, bottom, right, top in points, one for each line it is on
	areas []area       // the same and those of other readings, along lines that do not run along an axis
}

// mostPattern bounds a pattern, and mostMatches what is found.
const (
	mostPattern = 4 << 10
	mostMatches = 100_000
)

// Pattern returns what the options search for; errors are *OptionError.
func (o SearchOptions) Pattern() (*regexp.Regexp, error) {
	s := o.Regexp
	switch {
	case o.Text == "" && o.Regexp == "":
		return nil, &OptionError{Field: "text", Got: "nothing to search for", Want: "text or regexp, one of them"}
	case o.Text != "" && o.Regexp != "":
		return nil, &OptionError{Field: "regexp", Got: "a text and an expression", Want: "one of them"}
	case len(o.Text)+len(o.Regexp) > mostPattern:
		return nil, &OptionError{Field: "text", Got: strconv.Itoa(len(o.Text)+len(o.Regexp)) + " bytes", Want: "at most " + strconv.Itoa(mostPattern)}
	case o.Regexp == "":
		words := strings.Fields(o.Text)
		if len(words) == 0 {
			return nil, &OptionError{Field: "text", Got: "spaces only", Want: "a word"}
		}
		for i := range words {
			words[i] = content.Equivalents(words[i])
		}
		s = strings.Join(words, `\s+`)
	}
	re, err := regexp.Compile(s)
	if err == nil && !o.Case {
		re, err = regexp.Compile("(?i)" + s)
	}
	if err != nil {
		return nil, &OptionError{
			Field: "regexp", Got: strconv.Quote(o.Regexp),
			Want: "a regular expression in RE2 syntax: " + strings.TrimPrefix(err.Error(), "error parsing regexp: "),
		}
	}
	if re.MatchString("") {
		return nil, &OptionError{Field: "regexp", Got: strconv.Quote(o.Regexp) + ", which matches nothing at all", Want: "one that matches a character at least"}
	}
	return re, nil
}

// Search returns where text stands, in the order of reading.
func (d *Document) Search(ctx context.Context, o SearchOptions) ([]Match, error) {
	re, err := o.Pattern()
	if err != nil {
		return nil, err
	}
	r, err := newTextReader(d, o.Pages)
	if err != nil {
		return nil, err
	}
	out := []Match{}
	for _, i := range r.pages {
		t, err := r.page(ctx, i, true)
		if err != nil {
			return nil, err
		}
		for _, m := range found(t, re, false) {
			m.Page = i + 1
			out = append(out, m)
		}
		if len(out) > mostMatches {
			return nil, &diag.LimitError{Name: "Matches", Value: int64(len(out)), Limit: mostMatches, Place: content.Place(i + 1)}
		}
	}
	return out, nil
}

// flow is text in one order, and where each of its characters stands.
type flow struct {
	text   strings.Builder
	parts  []*content.Part
	line   []int // of each part
	from   []int // where each part begins in text
	spaces bool  // with those that have no width
}

func newFlow(parts int, spaces bool) *flow {
	return &flow{parts: make([]*content.Part, 0, parts), line: make([]int, 0, parts), from: make([]int, 0, parts), spaces: spaces}
}

func (f *flow) word(parts []content.Part, line int) {
	for i := range parts {
		p := &parts[i]
		f.parts, f.line, f.from = append(f.parts, p), append(f.line, line), append(f.from, f.text.Len())
		f.text.WriteString(p.Text)
		if p.Space && f.spaces {
			f.text.WriteByte(' ')
		}
	}
}

// visible returns the text without the characters that nobody sees; nil: there are none.
func (f *flow) visible() *flow {
	s := f.text.String()
	if !strings.ContainsFunc(s, content.Ignorable) {
		return nil
	}
	v := &flow{parts: f.parts, line: f.line}
	for i, from := range f.from {
		end := len(s)
		if i+1 < len(f.from) {
			end = f.from[i+1]
		}
		v.from = append(v.from, v.text.Len())
		v.text.WriteString(content.Visible(s[from:end]))
	}
	return v
}

// flows returns the text of a page in the orders in which it is searched: that of reading, and the
// same with words joined that a hyphen divides at the end of a line, and with letters joined that
// are spaced out; where all is set, as it was drawn. Text from right to left is searched as others
// read it too: in words as they stand from left to right, for some makers draw what is to be read
// so, and as content.Text.Others has it. All this is done again with indices apart, with spaces
// that have no width, and without characters that nobody sees, where there are any.
func flows(t *content.Text, all bool) []*flow {
	out := ordersOf(t, all)
	for _, f := range out {
		if v := f.visible(); v != nil {
			out = append(out, v)
		}
	}
	return out
}

// ordersOf are those of flows but for characters that nobody sees.
func ordersOf(t *content.Text, all bool) []*flow {
	thin := slices.ContainsFunc(t.Order, func(w content.Word) bool {
		return slices.ContainsFunc(w.Parts, func(p content.Part) bool { return p.Space })
	})
	out := orders(t, all, false)
	if thin {
		out = append(out, orders(t, all, true)...)
	}
	if t.Apart != nil {
		out = append(out, ordersOf(t.Apart, all)...)
	}
	return out
}

// orders are those of one reading of the indices, with or without spaces that have no width.
func orders(t *content.Text, all, spaces bool) []*flow {
	parts := 0
	for i := range t.Order {
		parts += len(t.Order[i].Parts)
	}
	divided, spaced := false, make([][]bool, len(t.Lines))
	for n, l := range t.Lines {
		divided = divided || n < len(t.Lines)-1 && hyphenated(l)
		spaced[n] = spacedOut(l)
	}
	out := []*flow{reading(t.Lines, parts, spaces)}
	if divided {
		whole := newFlow(parts, spaces)
		for n, l := range t.Lines {
			for i, w := range l.Words {
				if i == len(l.Words)-1 && n < len(t.Lines)-1 && hyphenated(l) {
					whole.word(w.Parts[:len(w.Parts)-1], n)
					continue
				}
				whole.word(w.Parts, n)
				whole.text.WriteByte(' ')
			}
		}
		out = append(out, whole)
	}
	if slices.ContainsFunc(spaced, func(l []bool) bool { return l != nil }) {
		whole := newFlow(parts, spaces)
		for n, l := range t.Lines {
			for i, w := range l.Words {
				whole.word(w.Parts, n)
				if spaced[n] == nil || !spaced[n][i] {
					whole.text.WriteByte(' ')
				}
			}
		}
		out = append(out, whole)
	}
	words := func(list []content.Word) {
		f := newFlow(parts, spaces)
		for i, w := range list {
			f.word(w.Parts, i)
			f.text.WriteByte(' ')
		}
		out = append(out, f)
	}
	if all {
		words(t.Order)
	}
	if t.Seen != nil {
		words(t.Seen)
	}
	for _, lines := range t.Others() {
		out = append(out, reading(lines, parts, spaces))
	}
	return out
}

func reading(lines []content.Line, parts int, spaces bool) *flow {
	f := newFlow(parts, spaces)
	for n, l := range lines {
		for _, w := range l.Words {
			f.word(w.Parts, n)
			f.text.WriteByte(' ')
		}
	}
	return f
}

// hyphenated reports whether a hyphen divides the word at the end of a line.
func hyphenated(l content.Line) bool {
	parts := l.Words[len(l.Words)-1].Parts
	last := len(parts) - 1
	return last > 0 && parts[last].Text != "" && strings.Contains("-\u00AD\u2010", parts[last].Text)
}

// spacedOut reports which words of a line are letters that the next one follows at an even
// distance: three at least, for they may be one word whose maker placed each letter by itself.
// Without any it is nil.
func spacedOut(l content.Line) (joined []bool) {
	first, gap := 0, 0.0 // of the letters that are spaced alike
	for i := 1; i < len(l.Words); i++ {
		a, b := &l.Words[i-1], &l.Words[i]
		from, to := a.Quad[1], b.Quad[0]
		d := math.Hypot(to.X-from.X, to.Y-from.Y)
		switch {
		case len(a.Parts) > 1 || len(b.Parts) > 1 || a.Size != b.Size || d > a.Size:
			first = i
		case first == i-1 || math.Abs(d-gap) > 0.1*a.Size:
			first, gap = i-1, d
		}
		if i-first < 2 {
			continue
		}
		if joined == nil {
			joined = make([]bool, len(l.Words))
		}
		joined[i-2], joined[i-1] = true, true
	}
	return joined
}

// add adds the place of parts that stand on one line.
func (m *Match) add(parts []content.Part) {
	var box content.Rect
	upright := true
	for i, p := range parts {
		b := p.Quad.Bounds()
		if i == 0 {
			box = b
		}
		box, upright = box.Union(b), upright && p.Quad.Upright()
	}
	m.Boxes = append(m.Boxes, rounded(box))
	if upright {
		m.areas = append(m.areas, rectArea(rounded(box)))
	} else {
		m.areas = append(m.areas, areaOf(content.Around(parts)))
	}
}

// found returns the matches on a page; all searches it in every order. What matches in several
// orders at one place, perhaps in other lengths, is one match: that of the first order, with the
// areas of all.
func found(t *content.Text, re *regexp.Regexp, all bool) (out []Match) {
	at, known := map[content.Quad]int{}, map[area]bool{} // the match of each character; the areas of all
	for _, f := range flows(t, all) {
		s := f.text.String()
		for _, span := range re.FindAllStringIndex(s, mostMatches) {
			m := Match{Text: strings.TrimSpace(s[span[0]:span[1]])}
			var on []content.Part
			i, exact := slices.BinarySearch(f.from, span[0])
			if !exact && i > 0 {
				i--
			}
			for i < len(f.parts) && f.from[i] < span[1] {
				first := len(on)
				for line := f.line[i]; i < len(f.parts) && f.from[i] < span[1] && f.line[i] == line; i++ {
					if f.from[i]+len(f.parts[i].Text) > span[0] {
						on = append(on, *f.parts[i])
					}
				}
				if len(on) > first {
					m.add(on[first:])
				}
			}
			if len(on) == 0 {
				continue
			}
			n := len(out)
			for _, p := range on {
				if of, taken := at[p.Quad]; taken {
					n = of
					break
				}
			}
			for _, p := range on {
				at[p.Quad] = n
			}
			if n == len(out) {
				out = append(out, Match{Text: m.Text, Boxes: m.Boxes})
			}
			for _, a := range m.areas {
				if !known[a] {
					known[a] = true
					out[n].areas = append(out[n].areas, a)
				}
			}
		}
	}
	return out
}
