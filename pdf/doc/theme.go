package doc

// Theme is the look of content without a style. A Document without a theme uses BaseStyle
// throughout, with bold headings and hairlines in tables. Themes are immutable and may be used by
// many documents concurrently.
type Theme struct {
	// Headings are the styles of levels 1 to 9; nil: as without a theme.
	Headings [9]*Style
	// Caption is the style of the captions of tables; nil: as without a theme.
	Caption *Style
	// Footnote is the style of footnotes; nil: as without a theme.
	Footnote *Style
	// TableHead and TableFoot return the style of header and footer cells, derived from the style
	// of their column, whose alignment they keep. They are called concurrently. nil: as without a
	// theme.
	TableHead, TableFoot func(column Style) Style
	// Rules are the lines of tables that name no border; nil: as without a theme.
	Rules *Rules
	// ParagraphGap is kept clear below paragraphs that name no style, but for those in cells, rows,
	// list items and running content.
	ParagraphGap Length
	// Link is the colour of links in texts that have the colour of BaseStyle; none: the colour of
	// the text.
	Link Color
}

// Rules are the horizontal lines of a table: above it, below its header, above its footer, between
// its rows, and below it. Without a line below it, the line of its last row ends it.
type Rules struct{ Top, Head, Rows, Bottom Line }

// Colours of the default theme: of headings and rules, of the lines between rows, and of links.
// All of them stand out from white by more than 7:1, but for the lines.
var (
	themeInk  = RGB(0x1b, 0x2a, 0x41)
	themeHair = RGB(0xd3, 0xd8, 0xe0)
	themeLink = RGB(0x1d, 0x4e, 0x89)
)

// ThemeBase returns the style of text of the default theme.
func ThemeBase() Style { return Style{Size: 10 * Pt, Leading: 14 * Pt} }

// DefaultTheme returns the theme that templates without a base style of their own
// have. Its sizes and spaces are reckoned from base, the BaseStyle of the
// document: headings and the gaps around them take multiples of a quarter of its
// leading, so that text returns to the grid of its lines.
func DefaultTheme(base Style) *Theme {
	if base.Size <= 0 {
		base.Size = 10 * Pt
	}
	if base.Leading <= 0 {
		base.Leading = base.Size * 5 / 4
	}
	t := &Theme{ParagraphGap: base.Leading / 2, Link: themeLink}
	ink := themeInk
	if !base.Color.None() && base.Color != Black {
		ink, t.Link = base.Color, 0 // the page has a colour of its own
	}
	for i := range t.Headings {
		h := headings[min(i, len(headings)-1)]
		s := base
		s.Size, s.Leading = base.Size*h.size/100, base.Leading*h.leading/4
		s.SpaceBefore, s.SpaceAfter = base.Leading*h.before/4, base.Leading*h.after/4
		s.Weight, s.Italic, s.Align, s.Color = 700, h.italic, AlignStart, ink
		s.TabularFigures = false
		t.Headings[i] = &s
	}
	caption := base
	caption.Size, caption.Weight, caption.Italic, caption.Align = base.Size*9/10, 700, false, AlignStart
	caption.Leading, caption.Color, caption.SpaceBefore, caption.SpaceAfter = base.Leading, ink, base.Leading/2, base.Leading/4
	t.Caption = &caption
	note := base
	note.Size, note.Leading, note.Align, note.Indent, note.Hyphenate = base.Size*85/100, base.Leading*85/100, AlignStart, 0, HyphenateAuto
	note.SpaceBefore, note.SpaceAfter, note.MarginLeft, note.MarginRight = 0, 0, 0, 0
	t.Footnote = &note
	t.TableHead = func(s Style) Style {
		if s.Size <= 0 {
			s.Size = base.Size
		}
		s.Size, s.Weight, s.Color = s.Size*9/10, 700, ink
		return s
	}
	t.TableFoot = func(s Style) Style {
		s.Weight = 700
		return s
	}
	heavy := Line{Width: Pt, Color: ink}
	t.Rules = &Rules{Top: heavy, Head: Line{Width: Pt / 2, Color: ink}, Rows: Line{Width: Pt / 2, Color: themeHair}, Bottom: heavy}
	return t
}

// headings are the levels of the default theme: sizes in percent of the text's, all else in
// quarters of its leading.
var headings = [...]struct {
	size, leading, before, after Length
	italic                       bool
}{
	{size: 200, leading: 8, before: 8, after: 4},
	{size: 140, leading: 6, before: 6, after: 2},
	{size: 115, leading: 4, before: 4, after: 1},
	{size: 100, leading: 4, before: 3, after: 1},
	{size: 100, leading: 4, before: 3, after: 1, italic: true},
}
