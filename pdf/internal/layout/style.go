package layout

import (
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/text"
)

// face is a style with everything filled in that layout needs of it: its fonts
// by inline variant, and where the baseline lies.
type face struct {
	style   *doc.Style
	size    doc.Length
	lead    doc.Length
	base    doc.Length // top of a line to its baseline
	ascent  doc.Length // of the letters above the baseline
	descent doc.Length // below it, positive
	color   doc.Color
	align   doc.Align
	chains  [8]*text.Chain // by variant
	special bool           // the text is not plain: addPieces sees to it
	simple  bool           // its plain words from left to right may be a word
	words   WordStyle      // of those
	dot     *text.Item     // what leaders are made of; nil: none was asked for
}

// variant selects the font of a span: bit 0 bold, bit 1 italic, bit 2 code.
type variant uint8

const (
	variantBold variant = 1 << iota
	variantItalic
	variantCode
)

func variantOf(s *doc.Span) (v variant) {
	if s.Bold {
		v |= variantBold
	}
	if s.Italic {
		v |= variantItalic
	}
	if s.Code {
		v |= variantCode
	}
	return v
}

// figure reports whether no line ends inside the digits of s.
func (f *face) figure(s *doc.Span) bool {
	switch f.style.KeepFigures {
	case doc.KeepFiguresOn:
		return true
	case doc.KeepFiguresOff:
		return false
	default:
		return s.Figure || s.Kind != doc.SpanText // the number of a page is one
	}
}

// breaking says how the lines of a paragraph are broken. A cell is narrow, and its rows are many:
// there each line takes what it can unless the style asks for more.
func (f *face) breaking(en env) text.Options {
	st := f.style
	justified := f.align == doc.AlignJustify
	return text.Options{
		Align:     f.align,
		Indent:    st.Indent,
		Total:     st.Breaking == doc.BreakingTotal || st.Breaking == doc.BreakingAuto && justified && en.room == "",
		Hyphenate: st.Hyphenate == doc.HyphenateOn || st.Hyphenate == doc.HyphenateAuto && justified,
	}
}

const (
	defaultSize = 10 * doc.Pt
	boldWeight  = 700
)

// face resolves a style. The memo is of one render: its keys are alive, so no
// two styles share an address in it.
func (m *maker) face(s *doc.Style, src *doc.Source) (*face, error) {
	if f, ok := m.faces[s]; ok {
		return f, nil
	}
	f := m.mem.faces.One()
	*f = face{style: s, size: s.Size, lead: s.Leading, color: s.Color, align: s.Align}
	if f.size <= 0 {
		f.size = defaultSize
	}
	if f.lead <= 0 {
		f.lead = f.size * 5 / 4
	}
	if f.color.None() {
		f.color = doc.Black
	}
	c, err := m.chain(f, 0, src)
	if err != nil {
		return nil, err
	}
	met := c.Face().Metrics()
	f.ascent = text.Scale(int64(met.Ascent), f.size, c.Face())
	f.descent = text.Scale(int64(-met.Descent), f.size, c.Face())
	// The letters stand in the middle of the leading.
	f.base = (f.lead-f.ascent-f.descent)/2 + f.ascent
	f.special = s.SmallCaps || marksText(s)
	f.simple = !f.special && simple(s)
	f.words = WordStyle{Chain: c, Size: f.size, Color: f.color}
	m.faces[s] = f
	return f, nil
}

// chain returns the fonts of a variant of f.
func (m *maker) chain(f *face, v variant, src *doc.Source) (*text.Chain, error) {
	if c := f.chains[v]; c != nil {
		return c, nil
	}
	q := text.Query{
		Family: f.style.Family, Weight: f.style.Weight, Italic: f.style.Italic,
		TabularFigures: f.style.TabularFigures, Features: f.style.Features,
	}
	if v&variantBold != 0 {
		q.Weight = max(q.Weight, boldWeight)
	}
	if v&variantItalic != 0 {
		q.Italic = !q.Italic // emphasis within italics stands upright
	}
	if v&variantCode != 0 && m.opt.Mono != "" {
		q.Family, q.Features = m.opt.Mono, "" // they are those of another font
	}
	c, err := m.opt.Typesetter.Chain(q)
	if err != nil {
		return nil, m.fontError(err, src)
	}
	if match := c.Match(); (match.NoBold || match.NoItalic) && !m.opt.Typesetter.Synthetic {
		return nil, m.noStyle(q, match, src)
	}
	f.chains[v] = c
	return c, nil
}

// derived is a style made from another one, memoised so that its face is too.
type derived struct {
	from *doc.Style
	kind int
}

const (
	derivedHead    = -1 // bold
	derivedCaption = -2
	derivedPlain   = -3 // without the spaces of its block
	derivedFoot    = -4
	derivedItem    = -5 // plain, and where its list stands
	derivedNote    = -6
)

// plain is the theme of documents without one: it is never written.
var plain doc.Theme

// plainRules are those of tables without a border and without a theme.
var plainRules = doc.Rules{
	Head: doc.Line{Width: doc.Pt * 3 / 4, Color: doc.Black},
	Rows: doc.Line{Width: doc.Pt * 3 / 10, Color: doc.RGB(0xC4, 0xC8, 0xCE)},
}

// themed takes over the theme of the document; without one everything is set as it always was.
func (m *maker) themed(t *doc.Theme, base *doc.Style) {
	if t == nil {
		t = &plain
	}
	m.theme, m.rules, m.baseColor = t, plainRules, base.Color
	if t.Rules != nil {
		m.rules = *t.Rules
	}
}

// heading is the style of a heading that names none.
func (m *maker) heading(around *doc.Style, level int) *doc.Style {
	level = min(max(level, 1), len(m.theme.Headings))
	if s := m.theme.Headings[level-1]; s != nil {
		return s
	}
	return m.derive(around, level)
}

func (m *maker) derive(from *doc.Style, kind int) *doc.Style {
	key := derived{from, kind}
	if s, ok := m.derivedStyles[key]; ok {
		return s
	}
	made := m.mem.derived.One()
	s := *from
	size := s.Size
	if size <= 0 {
		size = defaultSize
	}
	switch kind {
	case derivedHead:
		if m.theme.TableHead != nil {
			s = m.theme.TableHead(s)
		} else {
			s.Weight = boldWeight
		}
	case derivedFoot:
		s = m.theme.TableFoot(s)
	case derivedPlain:
		s.SpaceBefore, s.SpaceAfter = 0, 0
	case derivedItem:
		s.SpaceBefore, s.SpaceAfter = 0, 0
		s.Indent, s.MarginLeft, s.MarginRight = 0, 0, 0
	case derivedNote:
		s.Size, s.Leading = size*noteSize/100, s.Leading*noteSize/100
		s.SpaceBefore, s.SpaceAfter, s.Indent, s.MarginLeft, s.MarginRight, s.Align = 0, 0, 0, 0, 0, doc.AlignStart
	case derivedCaption:
		s.SpaceBefore, s.SpaceAfter = 0, size*2/5
		s.Italic, s.Weight, s.Align, s.Indent = false, boldWeight, doc.AlignStart, 0
	default: // a heading of that level
		s.Weight, s.Italic, s.TabularFigures = boldWeight, false, false
		s.Align, s.Indent = doc.AlignStart, 0
		s.Size = size * headingScale(kind) / 100
		s.Leading = s.Size * 6 / 5
		s.SpaceBefore = size * 7 / 5
		s.SpaceAfter = size * 2 / 5
		if kind == 1 {
			s.SpaceBefore, s.SpaceAfter = size*8/5, size*3/5
		}
	}
	*made = s
	m.derivedStyles[key] = made
	return made
}

// headingScale is the size of a heading in percent of the text.
func headingScale(level int) doc.Length {
	switch level {
	case 1:
		return 165
	case 2:
		return 130
	case 3:
		return 110
	default:
		return 100
	}
}
