package doc

import "iter"

// Grid has the lines of a table: around it, between its rows and between its columns. If the table
// is split over pages, the lines between rows close the parts.
type Grid struct {
	Border
	Rows, Columns Line
}

// Lattice returns a grid of one line around every cell.
func Lattice(l Line) *Grid { return &Grid{Border{l, l, l, l}, l, l} }

// Table is a table. Its rows come from an iterator and are laid out one by one: a table is never
// held in memory as a whole.
type Table struct {
	Block
	Caption      []Span
	CaptionStyle *Style // nil: the table's style
	Columns      []Column
	Head         []Row // after the row of Column.Head, if there is one
	// Rows yields the body rows. The cells and spans of a Row need only stay valid
	// until the next one is asked for; nodes in cells stay. An error ends the render
	// with that error.
	Rows iter.Seq2[Row, error]
	Foot []Row // once, after the last body row
	// HeadOnce prints the head rows on the first page of the table only.
	HeadOnce bool
	// Stripe has the alternating backgrounds of the body rows.
	Stripe []Color
	Border *Grid // nil: the Rules of the theme
	// Padding is inside every cell that has none of its own; nil: CellPadding, but none at the
	// sides of a table without border, stripes and backgrounds of its columns and head.
	Padding *Edges
	// Width is the width of the table, and Align its position if the width leaves space. The zero
	// Width, and auto, are the full width.
	Width Width
	Align Align
	// HeadBackground is the background of the header row, HeadBorder its border.
	HeadBackground Color
	HeadBorder     *Border
}

// CellPadding is the padding of tables that name none.
func CellPadding() Edges {
	return Edges{Top: 5 * Pt / 2, Right: 4 * Pt, Bottom: 5 * Pt / 2, Left: 4 * Pt}
}

// Column describes one column of a table.
type Column struct {
	Width Width
	Head  []Span // text of the head cell; the head row exists when one column has it
	// HeadStyle is the style of the head cell; nil: the column's, bold.
	HeadStyle *Style
	Style     *Style // of the body cells; nil: the table's
	ID        string // of the head cell, as CellNames.ID
	IDFrom    Origin
	// RowHeader makes the body cells of the column row headers (TH Scope=Row).
	RowHeader bool
	// Background is the background of the body cells of the column that have no other background.
	Background Color
	Src        *Source
}

// Row is one row of a table.
type Row struct {
	Src   *Source
	Cells []Cell
	Keep  bool // not split over pages
	// Height is the least height of the row; 0: as high as its content. No row is higher than a
	// page for it.
	Height Length
	// Background is the background of the row, instead of the stripe.
	Background Color
	// Border is drawn over the lines of the table.
	Border *Border
	// KeepWithNext keeps the row on the page where the next one starts.
	KeepWithNext bool
	// Carry returns the rows to print if a page ends after this row: out below it, in on the next
	// page below the header; nil is none. They show totals of the rows above and are not part of
	// the table's structure. Carry may be called, once, until the document is laid out. A row with
	// Carry is split over pages only if it does not fit on an empty page.
	Carry func() (out, in *Row, err error)
}

// Cell is one cell. It has Spans, or Nodes if there are any.
type Cell struct {
	Src        *Source
	Style      *Style // nil: the column's
	Spans      []Span
	Nodes      []Node
	Colspan    int // 0: 1
	Rowspan    int // 0: 1
	Link       string
	Background Color
	Border     *Border // drawn over the lines of the table
	VAlign     VAlign
	Header     bool   // TH: Scope=Column in head rows, Scope=Row elsewhere
	Turn       Turn   // of the content, whose line length is the length of its texts
	Padding    *Edges // nil: that of the table
	Names      *CellNames
}

// CellNames are how a cell is named in the structure tree, and which header cells it names.
type CellNames struct {
	ID     string // as Block.ID
	IDFrom Origin
	// Headers are the IDs of the header cells of the table that the cell belongs to (ISO 32000-2,
	// 14.8.5.7), where its row and column do not say it. They can be above or below it.
	Headers []CellRef
}

// CellRef names a cell by its ID.
type CellRef struct {
	ID   string
	From Origin // what ID is made of, for diagnostics
}

// Refs returns references to the cells with the given IDs.
func Refs(ids ...string) []CellRef {
	out := make([]CellRef, len(ids))
	for i, id := range ids {
		out[i].ID = id
	}
	return out
}
