// Package doc is the document model: the nodes of a document, their styles, lengths and colours,
// and a Builder that creates them in Go.
//
// A Document is a list of nodes in which everything is resolved: styles are values, expressions
// are text, and there are no conditions and loops. Package pdf/template makes one from a template
// and data, a Builder from Go code. Layout turns it into pages.
//
// Nodes are read and never changed, so one node may be part of many documents and be laid out by
// many goroutines concurrently.
package doc

import (
	"iter"
	"math"

	"example.com/quire/pdf/internal/diag"
)

// Length is a distance in 1/1024 of a point (1/72 inch). Layout computes in
// integers alone, so a break never depends on how a processor rounds.
type Length int64

// Units.
const (
	Pt   Length = 1024
	Inch Length = 72 * Pt
)

// MM returns v millimetres as a Length, rounded to the nearest.
func MM(v float64) Length { return Length(math.Round(v * float64(Inch) / 25.4)) }

// Points returns v points as a Length, rounded to the nearest.
func Points(v float64) Length { return Length(math.Round(v * float64(Pt))) }

// Color is an sRGB colour, 0xAARRGGBB. AA is 255 for every colour there is and
// 0 for "none", so the zero value draws nothing (text: black).
type Color uint32

// RGB returns an opaque colour.
func RGB(r, g, b uint8) Color {
	return Color(0xFF000000 | uint32(r)<<16 | uint32(g)<<8 | uint32(b))
}

// Black is the colour of text that names none.
const Black Color = 0xFF000000

// None reports whether c draws nothing.
func (c Color) None() bool { return c>>24 == 0 }

// RGB returns the components.
func (c Color) RGB() (r, g, b uint8) {
	return uint8(c >> 16 & 0xFF), uint8(c >> 8 & 0xFF), uint8(c & 0xFF)
}

// Source is the place of a node in its template: what diagnostics name. One
// Source is shared by everything that a template node yields.
type Source struct {
	File      string
	Line, Col int    // from 1; Col counts code points
	Path      string // node path: body[5].table.rows.cells[3]
}

// Place sets the position of src.
func (src *Source) Place(d diag.Diagnostic) diag.Diagnostic {
	if src != nil {
		d.File, d.Line, d.Col, d.Path = src.File, src.Line, src.Col, src.Path
	}
	return d
}

// Align is the horizontal alignment of lines.
type Align uint8

// The alignments.
const (
	AlignStart Align = iota // left, or right in a language that runs from right to left
	AlignRight
	AlignCenter
	AlignJustify
	AlignLeft
	AlignDecimal // decimal signs of a table column align; elsewhere right-aligned
)

// VAlign is the vertical alignment inside a cell, or of a page.
type VAlign uint8

// The vertical alignments.
const (
	VAlignTop VAlign = iota
	VAlignMiddle
	VAlignBottom
)

// Turn is a quarter of a turn of content, in degrees counter-clockwise: 0, 90 or 270.
type Turn int

// The turns.
const (
	TurnLeft  Turn = 90  // lines run up the page
	TurnRight Turn = 270 // lines run down the page
)

// Style is a resolved text style, without inheritance. A node without a style has the style of its
// parent; the outermost is the document's BaseStyle. Styles are immutable and shared.
type Style struct {
	Family  string // empty: the first family of the font library
	Size    Length // font size; 0: 10 pt
	Leading Length // distance of baselines; 0: 1.25 x Size
	Weight  int    // 1..1000 as in CSS; 0: 400
	Italic  bool
	Color   Color // none: black
	Align   Align
	// KeepFigures says which digits are never broken inside.
	KeepFigures KeepFigures
	// Breaking says how lines are broken, and Hyphenate whether words may be.
	Breaking  Breaking
	Hyphenate Hyphenate
	// TabularFigures sets digits at one width, for columns of numbers.
	TabularFigures bool
	// Features are OpenType feature tags of the font, separated by commas: on as in "onum", off as
	// in "-liga", or an alternate as in "salt=2". If a feature is on and the font lacks it, that is
	// an error.
	Features string
	// Underline and Strike draw a line below and through the text; nil: none. A Line without a
	// width is as the font has it, one without a colour as the text.
	Underline, Strike *Line
	// LetterSpacing is added after each letter; below 0 letters are closer.
	LetterSpacing Length
	// SmallCaps shows small letters as small capitals. Their text stays as it is written.
	SmallCaps bool
	// Position raises or lowers the text, which is smaller then.
	Position Position
	// Indent indents the first line of a paragraph; below 0, all lines except the first. MarginLeft
	// and MarginRight are space beside paragraphs.
	Indent, MarginLeft, MarginRight Length
	// SpaceBefore and SpaceAfter are space above and below the block. Two adjacent spaces do not
	// add up: the larger one is used. There is none at the top of a page.
	SpaceBefore, SpaceAfter Length
	// Widows and Orphans are the minimum number of lines at the top of a new page and at the bottom
	// of the old one; 0: 2. For a table they count rows.
	Widows, Orphans int
}

// Position is the vertical position of a text relative to the line.
type Position uint8

// The positions.
const (
	PositionBase  Position = iota // on it
	PositionSuper                 // raised: an exponent
	PositionSub                   // lowered: an index
)

// KeepFigures says which digits no line ends inside, be they wider than their place.
type KeepFigures uint8

// The choices.
const (
	KeepFiguresAuto KeepFigures = iota // spans that are figures
	KeepFiguresOn                      // all
	KeepFiguresOff                     // none
)

// Breaking says how a paragraph is broken into lines.
type Breaking uint8

// The ways.
const (
	BreakingAuto   Breaking = iota // total for justified text outside of tables and rows, else greedy
	BreakingGreedy                 // each line takes as much as fits
	BreakingTotal                  // the paragraph as a whole, for the best lines in sum
)

// Hyphenate says whether words may be hyphenated at the end of a line, as their language does.
type Hyphenate uint8

// The choices.
const (
	HyphenateAuto Hyphenate = iota // in justified text
	HyphenateOn
	HyphenateOff
)

// SpanKind says what a Span prints.
type SpanKind uint8

// The span kinds.
const (
	SpanText      SpanKind = iota // Text
	SpanPage                      // the number of its page
	SpanPages                     // the number of pages
	SpanReference                 // the page number of the anchor named by Text
	SpanTitle                     // the heading of Level that the page begins with or is beneath; in running content only
	SpanImage                     // Image
	SpanNote                      // the number of Note, which is at the foot of the page
	SpanNumber                    // the number of the heading with the anchor named by Text
)

// Span is a piece of inline content. A line feed in Text breaks the line.
type Span struct {
	Kind   SpanKind
	Bold   bool // on top of the style: weight 700
	Italic bool
	Code   bool   // monospaced face
	Figure bool   // a number, an amount or a date: broken at its ordinary spaces only
	Level  uint8  // for SpanTitle; 0: 1
	Text   string // for SpanText
	// Style overrides the style of the block; zero fields keep the block's values. Its leading,
	// alignment and other properties of whole blocks have no effect.
	Style *Style
	// Image is inline, as high as its Height, its Width or else the capitals require, with its Alt,
	// or Decorative. Its other fields have no effect.
	Image *Image
	Note  *Note  // for SpanNote
	Link  string // URL, or "#anchor" for a place in the document; empty: none
	Lang  string // BCP 47; empty: as the block
	From  Origin // for diagnostics
}

// Origin identifies the value of the data that a text prints. The zero Origin identifies none.
type Origin struct {
	Frame Frame
	Part  int32 // the Frame's key of the span
	Link  int32 // the Frame's key of the link target
}

// Frame gives the data paths of the output of a template's loops and components. It is called only
// when a diagnostic needs a path.
type Frame interface {
	// DataPath names the value that printed text, which is in printed, the whole of a span; empty
	// when it is not known.
	DataPath(part int32, printed, text string) string
}

// Node is one block of a document: a pointer to one of the types below.
type Node interface{ Common() *Block }

// Block has the fields that all nodes share.
type Block struct {
	Src   *Source
	Style *Style
	// DefaultSpace says that the spaces above and below are those of a block without a style.
	DefaultSpace bool
	Anchor       string // name that "#anchor" links point at
	// AnchorFrom is what Anchor is made of, for diagnostics.
	AnchorFrom Origin
	// ID names the element of the block in the structure tree (ISO 32000-2, 14.7.2), for programs
	// that read it. It is unique in the document, IDs of cells included. What has no element of its
	// own, such as a Box, gets one; an artifact has none.
	ID     string
	IDFrom Origin // what ID is made of, for diagnostics
	Lang   string // BCP 47; empty: as the parent
	// Bookmark is the title of an outline item that leads here; empty: none.
	Bookmark string
	// BookmarkLevel nests outline items: 1 is the top. A heading with 0 uses its
	// own level, every other node 1.
	BookmarkLevel int
	KeepTogether  bool // not split over pages
	KeepWithNext  bool // on the page where the next block starts
	BreakBefore   Break
	// Artifact takes the block and what is in it out of the structure of the document: it is not
	// read aloud (ISO 32000-2, 14.8.2.2). It may not have links, anchors, bookmarks, footnotes,
	// form fields, tables of contents or sections. Its headings are not numbered or listed.
	Artifact bool
}

// Break says what ends before a block. Breaks are weak: several between two blocks are one, the
// strongest, and none makes an empty first or last page.
type Break uint8

// The breaks.
const (
	BreakNone Break = iota
	// BreakColumn begins a column: the next one of Columns, or of the page; behind the last, and
	// where there are none, the next page.
	BreakColumn
	BreakPage
	// BreakOdd begins a page with an odd number, behind an empty page where the next number is
	// even. The first page of a section with a number of its own is taken by its place in the file.
	BreakOdd
)

// Common returns the block itself.
func (b *Block) Common() *Block { return b }

// Text is a paragraph.
type Text struct {
	Block
	Spans []Span
	// Tabs are where the tabs in the text lead to, in the order of their places. Without any, a tab
	// is a space.
	Tabs []Tab
	Most Most
}

// Most bounds the lines of a text.
type Most struct {
	Lines    int  // 0: any number
	Ellipsis bool // a text that has more is cut and ends with "…"; else it is an error
}

// Tab is a tab stop: a position on the line to which the text after a tab is aligned.
type Tab struct {
	At     Width // a length or a share of the whole, from the side at which lines begin
	Align  TabAlign
	Leader TabLeader
}

// TabAlign says which part of a text is aligned at its tab stop.
type TabAlign uint8

// The alignments.
const (
	TabLeft    TabAlign = iota // its beginning
	TabRight                   // its end
	TabCenter                  // its middle
	TabDecimal                 // the decimal sign of its number
)

// TabLeader is what fills the room that a tab leaves.
type TabLeader uint8

// The leaders.
const (
	TabLeaderNone TabLeader = iota
	TabLeaderDots
	TabLeaderLine
)

// Heading is a heading of Level 1 to 9. It stays with the block after it.
type Heading struct {
	Block
	Level int
	Spans []Span
	Tabs  []Tab
	Most  Most
	// Numbered says whether its text begins with a number: 1, below that 1.1, then 1.1.1. It is a
	// part of the text everywhere: in tables of contents, the outline and running content. Headings
	// are counted below the heading that they belong to; those without a number do not count.
	Numbered Numbered
	// NumberFrom is its own number, the last part of it; 0: it is counted on.
	NumberFrom int
	// Numbering is how that part is written. The first heading that is written in another way than
	// the one before it has the number 1: appendices are A, B, C behind chapters 1, 2, 3.
	Numbering Numbering
	// InOutline makes its text a bookmark. Bookmark, if it is not empty, takes precedence.
	InOutline bool
}

// Numbered says whether headings are numbered.
type Numbered uint8

// The choices.
const (
	NumberedAuto Numbered = iota // as Document.NumberHeadings says
	NumberedOn
	NumberedOff
)

// Marker is the kind of label that list items have.
type Marker uint8

// The markers.
const (
	MarkerDisc    Marker = iota // a bullet
	MarkerDecimal               // 1. 2. 3.
	MarkerAlpha
	MarkerUpperAlpha
	MarkerRoman
	MarkerUpperRoman
	MarkerLegal // 1., in the list within it 1.1, in that 1.1.1
	MarkerText  // the Label of each item
)

// List is a list of items.
type List struct {
	Block
	Marker Marker
	Start  int // number of the first item of a numbered list; 0: 1
	Items  []ListItem
}

// ListItem is one item: blocks, among them nested lists.
type ListItem struct {
	Src   *Source
	Label string // with MarkerText: the text before the item
	Nodes []Node
}

// WidthKind is the unit of a Width.
type WidthKind uint8

// The width kinds.
const (
	WidthFraction WidthKind = iota // share of the remaining width: Value/1024 fr; the zero Width is 1fr
	WidthFixed                     // Value is a Length
	WidthPercent                   // share of the free width: Value/1024 fr; the zero Width is 1fr
	WidthAuto                      // as wide as the content
)

// Width is the width of a column.
type Width struct {
	Kind  WidthKind
	Value Length
}

// Fixed returns a fixed width.
func Fixed(l Length) Width { return Width{WidthFixed, l} }

// Fr returns a share of the width that is left.
func Fr(n float64) Width { return Width{WidthFraction, Length(math.Round(n * 1024))} }

// Percent returns a share of the whole width.
func Percent(n float64) Width { return Width{WidthPercent, Length(math.Round(n * 1024))} }

// Auto returns a width that follows the content.
func Auto() Width { return Width{Kind: WidthAuto} }

// Edges has one length per side.
type Edges struct{ Top, Right, Bottom, Left Length }

// Same returns equal edges.
func Same(l Length) Edges { return Edges{l, l, l, l} }

// Line is a line of a border. The zero Line draws nothing.
type Line struct {
	Width Length
	Color Color // none: black
	// Dash has the lengths of a dash and of the following gap; zero: the line is solid.
	Dash [2]Length
}

// Border has the lines around a box, a row, a cell or a page.
type Border struct{ Top, Right, Bottom, Left Line }

// Around returns a border of one line on all sides.
func Around(l Line) *Border { return &Border{l, l, l, l} }

// Beside sets its cells side by side.
type Beside struct {
	Block
	Widths []Width // per cell; missing ones are 1fr
	Gap    Length
	Cells  [][]Node
	VAlign VAlign
	// Stretch makes a box that ends a cell as high as leaves the cell as high as the others.
	Stretch bool
}

// Columns lays out its blocks in columns of equal width, one after the other and as equal in height
// as lines allow. Content that does not fit on a page continues in columns of the next.
type Columns struct {
	Block
	Count int // from 2
	Gap   Length
	// Uneven fills one column after the other, each down to the end of the page.
	Uneven bool
	Nodes  []Node
}

// Place puts blocks at an absolute position, outside the flow of the text: on its page, in the body
// or in a section, or in a Box, among its Nodes. X and Y are the position of its top left corner,
// from the top left corner of the sheet or the box. Content that is higher than Height or leaves
// the sheet or the box is an error. A Place in a box has no Layer.
type Place struct {
	Block
	X, Y, Width Length
	Height      Length // 0: as high as the content
	Layer       Layer
	Turn        Turn // of the content
	Nodes       []Node
}

// Layer says what a Place covers, and what covers it.
type Layer uint8

// The layers.
const (
	LayerFlow  Layer = iota // texts and images as in the flow; backgrounds are below all texts
	LayerUnder              // it lies beneath all else of the page, but for the background of the sheet and a watermark
	LayerOver               // it lies over all else of the page, but for a watermark
)

// Box is a frame around blocks. It splits over pages, unless there is a Place among its Nodes; each
// fragment has its own border.
type Box struct {
	Block
	Padding Edges
	Border  *Border // nil: none
	// Radius makes the corners round, but for those at a page break. The border must then be one
	// solid line on all sides.
	Radius     Length
	Background Color
	Width      Length // 0: the width available; a narrower box is aligned by its style
	Height     Length // at least; 0: as high as the content
	VAlign     VAlign // of the content, in a box that is higher
	// Turn rotates the content, whose line length is the length of its texts, or Height. A rotated
	// box is not split.
	Turn  Turn
	Nodes []Node
}

// Fit says how an image fills its box if both sizes are given.
type Fit uint8

// The fits.
const (
	FitContain Fit = iota // as large as fits, proportions kept
	FitStretch            // fills the box
	FitCover              // fills the box, proportions kept: what lies beyond it is cut off
)

// Image is a JPEG, PNG, GIF, WebP or TIFF image, or an SVG drawing, which stays vectors with text
// as text. If only one of Width and Height is given, the other follows from the proportions.
// Without both, the image has its natural size at 96 pixels per inch, but at most the available
// width.
type Image struct {
	Block
	Name       string // what diagnostics call it: the file name
	Data       []byte // it must not change until the document is made
	Alt        string // alternative text; required unless Decorative
	Decorative bool   // an artifact: carries no meaning
	Width      Length
	Height     Length
	Fit        Fit
	// MaxDPI is the highest resolution at which the image is printed, in pixels per inch: one that
	// has more pixels is made smaller. 0: it is left as it is. An image within a line is.
	MaxDPI int
	Link   string
	From   Origin // for diagnostics
}

// Rule is a horizontal line.
type Rule struct {
	Block
	Thickness Length    // 0: 0.5 pt
	Color     Color     // none: black
	Dash      [2]Length // lengths of a dash and of the gap after it; none: solid
	// Width is a fixed width or a percentage of the width there is, the default, and Align the
	// place of a narrower line: AlignLeft, AlignRight, AlignCenter, or AlignStart.
	Width Width
	Align Align
}

// Spacer is empty space. It vanishes at the end of a page.
type Spacer struct {
	Block
	Height Length
	// Fill, instead of Height, takes the remaining height of the page: the content after it is at
	// the foot of the page. Several share the height. It is allowed in the body or in a section.
	Fill bool
}

// PageBreak ends the page, or what To says.
type PageBreak struct {
	Block
	To Break // BreakNone: BreakPage
}

// Master describes the pages.
type Master struct {
	Width, Height Length // 0: A4
	// Margins are the space between the page's edge and the body. Running content is in the top and
	// bottom margins. If it is higher than its margin, the body of the page is smaller.
	Margins Edges
	// Border is drawn around the page, half way between its edge and the body.
	Border *Border
	// Background covers the sheet, beneath everything.
	Background Color
	// VAlign is the vertical alignment of content that does not fill its page.
	VAlign VAlign
	// Columns are those that the body of the pages is set in, each down to the end of its page.
	// Where a section ends, and before a page break, they are as equal in height as lines allow.
	Columns PageColumns
	// First, Odd and Even are how the first page of the document or section, and those with odd and
	// with even numbers, differ; nil: they do not. First takes precedence. Their bodies are as wide
	// as those of the other pages: to be bound, pages have more margin at the inner side.
	First, Odd, Even *PageLook
}

// PageLook is what may differ from page to page: that of a Master, instead of its own.
type PageLook struct {
	Margins    Edges
	Border     *Border
	Background Color
}

// PageColumns are the columns of pages. A footnote is as wide as the page. A Spacer with Fill is
// not allowed between them, and a table is laid out as a whole.
type PageColumns struct {
	Count int // below 2: none
	Gap   Length
	// Uneven fills one column after the other, also at the end.
	Uneven bool
}

// A4 returns a portrait A4 master with margins of 20 mm.
func A4() Master {
	return Master{Width: MM(210), Height: MM(297), Margins: Same(MM(20))}
}

// Running is the content of the headers or footers. On each page the first list
// that fits and is not nil is taken: First (page 1), Odd or Even, Other (all but
// page 1), All.
type Running struct {
	First, Odd, Even, Other, All []Node
	// Identity says that every document with the same Identity has the same content here, in the
	// same styles, so that its height is measured once. Templates set it; nil, which is always
	// right, measures the content of each document.
	Identity *Identity
}

// Identity names content that several documents have.
type Identity struct{ _ byte }

// Watermark is a text or an image in the middle of every page; always an artifact.
type Watermark struct {
	Text    string
	Image   *Image  // in the place of Text, as wide as it says; without a size it fills the page
	Over    bool    // over the content, not behind it
	Style   *Style  // nil: bold, sized to the page; Size 0: sized to the page
	Angle   float64 // degrees counter-clockwise
	Opacity float64 // 0..1; 0: 0.1
}

// Meta is the metadata of the document beyond its title.
type Meta struct {
	Author, Subject string
	Keywords        []string
}

// Document is a whole document, ready for layout.
type Document struct {
	Title string
	// FileName is a suggested file name; empty: none. It is not written to the file.
	FileName string
	Lang     string // BCP 47
	// DecimalSign is the character that decimal tab stops and decimal columns align; empty: a
	// point.
	DecimalSign string
	Meta        Meta
	Page        Master
	Fonts       *Fonts // nil: only the engine's fonts
	// BaseStyle is the style of blocks that have none, nor a parent with one.
	BaseStyle *Style
	Theme     *Theme // nil: none
	Header    Running
	Footer    Running
	// Background covers the sheets, beneath everything but Page.Background and a watermark: its
	// blocks begin at the top left corner of the sheet and are as wide as the sheet. Like a header,
	// it is repeated and no part of the document's structure. It has no tables, and does not print
	// the number of pages.
	Background Running
	Watermark  *Watermark
	Footnotes  Footnotes
	Viewer     Viewer
	Signing    *Signing    // the signature that is asked for; nil: none
	Protection *Protection // nil: it is not encrypted
	// Attachments are the files that the document carries.
	Attachments []Attachment
	// Outline is shown in the place of the bookmarks of the blocks; nil: these are.
	Outline []OutlineItem
	// OutlineLevels makes bookmarks of all headings down to this level that have none of their own.
	OutlineLevels int
	// NumberHeadings numbers all headings down to this level, but for those that say otherwise.
	NumberHeadings int
	// References says that the body contains page numbers or numbers of headings: SpanPage,
	// SpanPages, SpanReference, SpanNumber, Toc.
	// The body is then laid out up to four times, until the numbers agree with the pages. Warning
	// L316 says that they did not settle.
	References bool
	// Body yields the blocks in reading order. It is read as pages fill: once, or with References
	// several times, and must be the same each time. After an error, rendering fails; after
	// diagnostics, the following blocks are still read, and their problems are reported too.
	Body iter.Seq2[Node, error]
}

// Nodes returns a Body that yields the given nodes.
func Nodes(nodes ...Node) iter.Seq2[Node, error] {
	return func(yield func(Node, error) bool) {
		for _, n := range nodes {
			if !yield(n, nil) {
				return
			}
		}
	}
}

// Rows returns an iterator over the given rows.
func Rows(rows ...Row) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		for _, r := range rows {
			if !yield(r, nil) {
				return
			}
		}
	}
}
