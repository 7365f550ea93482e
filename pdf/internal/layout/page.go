package layout

import (
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/image"
	"example.com/quire/pdf/internal/svg"
	"example.com/quire/pdf/internal/tag"
	"example.com/quire/pdf/internal/text"
)

// Artifact is the kind of content that has no element.
type Artifact uint8

// The kinds of artifacts (ISO 32000-2, 14.8.2.2.2).
const (
	ArtifactNone       Artifact = iota
	ArtifactLayout              // rules, borders, backgrounds, decoration
	ArtifactHeader              // running header
	ArtifactFooter              // running footer
	ArtifactRepeat              // header rows printed again on a later page
	ArtifactWatermark           // text behind the page
	ArtifactBackground          // what covers the sheet
)

// PieceStyle tells how the items of a line that belong to one piece are drawn.
type PieceStyle struct {
	Size  doc.Length
	Color doc.Color
	Elem  *tag.Elem // nil: an artifact
	Link  *Link     // nil: none
	// Inline is how the piece differs from plain text; nil: in nothing.
	Inline *Inline

	note *note // whose number it is; nil: it is none
}

// Inline is how text stands on its line that is not plain.
type Inline struct {
	Rise    doc.Length // of the baseline
	Spacing doc.Length // behind each letter
	// Underline and Strike are lines below and through the text, nil: none, whose middles stand at
	// UnderlineY and StrikeY above the baseline.
	Underline, Strike   *doc.Line
	UnderlineY, StrikeY doc.Length
	// Image stands in place of the text; nil: it is text.
	Image *ImageItem
}

// Link is one link of the document; its areas may stand on many lines and
// pages.
type Link struct {
	Target string // URL, or "#anchor"
	Src    *doc.Source
	Elem   *tag.Elem // the Link element; nil when the document is not tagged
	Text   string
	From   doc.Origin
	Item   *tag.Elem // the TOCI that points at what the target names; nil: none
}

// DataPath names the value of the data that the target is made of; empty when it is not of data.
func (l *Link) DataPath() string {
	if l.From.Frame == nil {
		return ""
	}
	return l.From.Frame.DataPath(l.From.Link, l.Target, l.Target)
}

// TextItem is a line of text with its left end and baseline at X, Y.
type TextItem struct {
	X, Y     doc.Length
	Line     *text.Line
	Pieces   []PieceStyle
	Artifact Artifact // for pieces that have no element
}

// WordsItem is words that stand on one baseline, as those of a row of a table do. They count from X
// to the right.
type WordsItem struct {
	X, Y     doc.Length
	Words    []Word
	Artifact Artifact // for words that have no element
}

// Word is a word for which [text.Chain.WordWidth] holds, with its left end at X.
type Word struct {
	X      doc.Length
	Text   string
	Style  *WordStyle
	Elem   *tag.Elem // nil: an artifact
	Kerned bool      // some pair of its letters is
}

// WordStyle tells how words are drawn.
type WordStyle struct {
	Chain *text.Chain
	Size  doc.Length
	Color doc.Color
}

// RectItem is a filled rectangle: a background, a rule, a border side.
type RectItem struct {
	X, Y, W, H doc.Length
	Color      doc.Color
	Dash       [2]doc.Length // along the longer side; zero: the rectangle is filled
	Round      *Round        // nil: its corners are not
	Rule       bool          // a line: filled by itself, so that viewers give it whole pixels
}

// Round says how the corners of a rectangle are rounded.
type Round struct {
	Radius [4]doc.Length // top left, top right, bottom right, bottom left
	Line   doc.Length    // of a frame: its width; 0: the rectangle is filled
}

// ImageItem is an image in its rectangle: a bitmap or a drawing.
type ImageItem struct {
	X, Y, W, H doc.Length
	Image      *image.Image
	Drawing    *svg.Drawing
	Full       *Rect     // all of the image, from X, Y, of which the rectangle shows a part; nil: it shows all
	Elem       *tag.Elem // nil: an artifact
	Artifact   Artifact
	Inline     bool // it stands within a line of text
	Src        *doc.Source
}

// Rect is a rectangle.
type Rect struct{ X, Y, W, H doc.Length }

// ShapeItem is a drawing of filled rectangles, in the order in which they cover each other.
type ShapeItem struct {
	X, Y, W, H doc.Length // what the drawing takes
	Rects      []RectItem
	Elem       *tag.Elem // nil: an artifact
	Artifact   Artifact
}

// TurnItem is what is drawn at a quarter of a turn. X, Y, W and H are what it takes of the page;
// the positions of Back and Items count from its own top left corner, before it was turned.
type TurnItem struct {
	X, Y, W, H doc.Length
	Turn       doc.Turn
	Back       []RectItem // as that of a page
	Items      []Item
}

// UnderItem is the watermark: a line of text or an image, turned about the point X, Y by
// Angle degrees counter-clockwise. The positions of Text and Image count from that point.
type UnderItem struct {
	Text           TextItem
	Image          *ImageItem // in the place of Text
	Over           bool       // it is drawn last
	X, Y           doc.Length
	Angle, Opacity float64
}

// LinkArea is a clickable rectangle.
type LinkArea struct {
	X, Y, W, H doc.Length
	Link       *Link
}

// Mark is a place that links and outline items point at.
type Mark struct {
	Anchor   string // name for "#anchor" links; may be empty
	Bookmark string // title of an outline item; may be empty
	Level    int    // of the outline item, from 1
	Y        doc.Length
	Elem     *tag.Elem
	Src      *doc.Source
	// Title is the text of a heading that tables of contents or running content ask for, and
	// TitleLevel its level.
	Title      string
	TitleLevel int
}

// Area is where a node of the document stands, or a cell of a table.
type Area struct {
	Rect
	Src *doc.Source
}

// Item is one thing drawn in the foreground; exactly one pointer is set.
type Item struct {
	Text   *TextItem
	Words  *WordsItem
	Image  *ImageItem
	Shape  *ShapeItem
	Turn   *TurnItem
	Widget *WidgetItem
}

// Page is a finished page, or the part of one that had to wait for the number
// of pages. All positions count from the top left corner of the sheet, y
// downwards. It is valid only during the call that hands it over.
type Page struct {
	Number        int // from 1
	Label         PageLabel
	Width, Height doc.Length
	Background    doc.Color // of the sheet, beneath all
	// Under is drawn next, or last when it lies over the page; nil: nothing. It is the same for
	// all pages of a section.
	Under *UnderItem
	// Beneath is drawn next, in its order.
	Beneath []Item
	// Back is drawn next: backgrounds, then rules, in this order. All of it is
	// ArtifactLayout.
	Back  []RectItem
	Items []Item // in reading order
	Above []Item // drawn after these
	Links []LinkArea
	Marks []Mark
	// Areas say what of the document stands where, those within others before them. They are there
	// when Options.Trace asks for them.
	Areas []Area
	// Begun lists the block elements made since the page before, in reading order;
	// Done those that get no more content after this page.
	Begun, Done []*tag.Elem
}

// PageLabel is the number that a page shows.
type PageLabel struct {
	Number    int
	Numbering doc.Numbering
}

// Sink takes the pages. An error ends the layout and is returned from it.
type Sink interface {
	// Page takes the next page.
	Page(p *Page) error
	// Late takes what page p.Number shows in addition, once the number of pages is
	// known: it is called after the last Page, in the order of the pages.
	Late(p *Page) error
}

func (p *Page) reset(number int, m *doc.Master) {
	clear(p.Items)
	clear(p.Links)
	clear(p.Marks)
	clear(p.Areas)
	clear(p.Begun)
	clear(p.Done)
	*p = Page{
		Number: number, Width: m.Width, Height: m.Height,
		Back: p.Back[:0], Items: p.Items[:0], Links: p.Links[:0], Marks: p.Marks[:0],
		Areas: p.Areas[:0], Begun: p.Begun[:0], Done: p.Done[:0],
	}
}
