package pdf

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"example.com/quire/internal/nearest"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/edit"
	"example.com/quire/pdf/internal/emit"
)

// Placing is the position and look of content drawn on pages, as a reader sees the pages: upright
// on rotated pages, and inside the visible part of cropped ones.
type Placing = edit.Place

// Positions are the values of Placing.Position.
func Positions() []string { return edit.Positions() }

// Overlaying says which pages of a document are drawn over which.
type Overlaying struct {
	Doc   *Document
	From  string // pages of Doc, one for each page; empty: all
	Pages string // the pages to draw them on; empty: all
	// Repeat starts again with the first page when there are fewer. Otherwise the remaining pages
	// get none.
	Repeat  bool
	Under   bool    // draw below the content, not above it
	Opacity float64 // above 0, up to 1; 0: 1
}

// Overlay draws pages of another document over pages, each scaled to fit and centred, with the
// appearances of its annotations. The result is an artifact (ISO 32000-2, 14.8.2.2), which
// assistive technology does not read in a tagged file. A claim of PDF/A or PDF/UA is kept if the
// other document makes one of the same kind and the Judge finds nothing.
func Overlay(o Overlaying) Op {
	return Op{apply: func(ctx context.Context, c *change) error {
		pages, err := edit.ParsePages(o.Pages, len(c.d.Pages()))
		if err != nil {
			return err
		}
		x, err := c.imported(o.Doc)
		if err != nil {
			return err
		}
		from, err := edit.ParsePages(o.From, x.Pages())
		if err != nil {
			if e, ok := errors.AsType[*OptionError](err); ok {
				e.Field = "from"
			}
			return err
		}
		if len(from) == 0 {
			return &OptionError{Field: "from", Got: "no pages", Want: "one at least"}
		}
		for k, i := range pages {
			if k >= len(from) && !o.Repeat {
				break
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			piece, err := x.Page(from[k%len(from)])
			if err == nil {
				err = c.d.Draw(i, piece, Placing{Fit: 1, Opacity: o.Opacity, Under: o.Under})
			}
			if err != nil {
				return err
			}
		}
		c.summary.notKept("the document that is laid over: ", x.Lost())
		return nil
	}}
}

// imported makes the pages of another document known. Claims that it does not make as well go.
func (c *change) imported(d *Document) (*edit.Import, error) {
	if d == nil {
		return nil, &OptionError{Field: "with", Got: "no document", Want: "one"}
	}
	if err := d.mayChange(c.o, false); err != nil {
		if e, ok := errors.AsType[*OptionError](err); ok {
			e.Field = "with"
		}
		if e, ok := errors.AsType[*DiagnosticError](err); ok {
			for i := range e.Diagnostics {
				e.Diagnostics[i].File = "with" // the other document, which has no name here
			}
		}
		return nil, err
	}
	x, err := c.d.Import(d.d)
	if err != nil {
		return nil, err
	}
	theirs := x.Claims()
	for _, claim := range c.d.Claims() {
		kind := claim[:min(len("pdf/a"), len(claim))] // pdf/a or pdf/u
		if !slices.ContainsFunc(theirs, func(s string) bool { return strings.HasPrefix(s, kind) }) {
			c.summary.drop(c.d, claim, "the document that is laid over makes none like it")
		}
	}
	return x, nil
}

// Stamping is a text or a page to draw on pages.
type Stamping struct {
	Text string    // with line feeds between lines; instead of Doc
	Doc  *Document // the document whose page is drawn
	Page int       // of Doc, from 1; 0: 1
	Look TextLook

	Pages string // the pages to draw on; empty: all
	Placing
}

// TextLook is the look of a text. Its font is embedded.
type TextLook struct {
	Family string  // of the engine's fonts or of Fonts; empty: the engine's first
	Size   float64 // in points; 0: 12
	Bold   bool
	Italic bool
	Color  doc.Color // zero: black
	// Fonts are families beside the engine's; nil: none. Their fallback is asked for characters
	// that the font of the text lacks.
	Fonts *doc.Fonts
}

// Stamp draws a text or a page of another document on pages, as an artifact like Overlay.
func Stamp(s Stamping) Op {
	return Op{apply: func(ctx context.Context, c *change) error { return c.stamp(ctx, s) }}
}

// Watermark is Stamp at the centre of pages and as large as fits. Opacity 0 means 0.15.
func Watermark(s Stamping) Op {
	s.Position, s.Artifact, s.Fit = "center", "Watermark", 0.85
	if s.Opacity == 0 {
		s.Opacity = 0.15
	}
	return Stamp(s)
}

func (c *change) stamp(ctx context.Context, s Stamping) error {
	if err := s.Check(); err != nil {
		return err
	}
	pages, err := edit.ParsePages(s.Pages, len(c.d.Pages()))
	if err != nil {
		return err
	}
	var piece edit.Piece
	switch {
	case (s.Text == "") == (s.Doc == nil):
		got := "neither a text nor a file"
		if s.Text != "" {
			got = "a text and a file"
		}
		return &OptionError{Field: "text", Got: got, Want: "one of them"}
	case s.Doc != nil:
		x, err := c.imported(s.Doc)
		if err != nil {
			return err
		}
		if s.Page < 0 || s.Page > x.Pages() || x.Pages() == 0 {
			return &OptionError{Field: "page", Got: strconv.Itoa(s.Page), Want: "1 to " + strconv.Itoa(x.Pages())}
		}
		if piece, err = x.Page(max(s.Page, 1) - 1); err != nil {
			return err
		}
		c.summary.notKept("the document that is laid over: ", x.Lost())
	default:
		if s.Fit > 0 && s.Look.Size == 0 {
			s.Look.Size = 72 // it is made as large as fits
		}
		pieces, err := c.texts(ctx, []string{s.Text}, s.Look)
		if err != nil {
			return err
		}
		piece = pieces[0]
	}
	for _, i := range pages {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := c.d.Draw(i, piece, s.Placing); err != nil {
			return err
		}
	}
	return nil
}

// Numbers are page numbers.
type Numbers struct {
	// Format is the text: {page} is replaced by the number, {pages} by the last number. Any other
	// name in braces is an error. Empty: {page}.
	Format    string
	Numbering doc.Numbering // style of the numbers
	// Start is the number of the first page in Pages; the others follow. 0: each page has the
	// number of its position in the document.
	Start int
	Look  TextLook // Size 0: 9

	Pages string // the pages to number; empty: all
	Placing
}

// placeholder is what stands for a number in the format of Number.
var placeholder = regexp.MustCompile(`\{\w*\}`)

// Number draws page numbers, as artifacts, by default at the bottom, 24 points from the edge.
func Number(n Numbers) Op {
	return Op{apply: func(ctx context.Context, c *change) error {
		if n.Position == "" {
			n.Position = "bottom"
		}
		if n.Margin == 0 {
			n.Margin = 24
		}
		if n.Look.Size == 0 {
			n.Look.Size = 9
		}
		if n.Format == "" {
			n.Format = "{page}"
		}
		for _, word := range placeholder.FindAllString(n.Format, -1) {
			if known := []string{"{page}", "{pages}"}; !slices.Contains(known, word) {
				return &OptionError{Field: "format", Got: strconv.Quote(word), Want: "{page} for the number, {pages} for the last one", Nearest: nearest.Name(word, known)}
			}
		}
		switch {
		case strings.HasPrefix(n.Position, "top"):
			n.Artifact = "Header"
		case strings.HasPrefix(n.Position, "bottom"):
			n.Artifact = "Footer"
		}
		if err := n.Check(); err != nil {
			return err
		}
		if n.Start < 0 || n.Start > 1_000_000 {
			return &OptionError{Field: "start", Got: strconv.Itoa(n.Start), Want: "1 to 1000000"}
		}
		pages, err := edit.ParsePages(n.Pages, len(c.d.Pages()))
		if err != nil {
			return err
		}
		last := len(c.d.Pages())
		if n.Start > 0 {
			last = n.Start + len(pages) - 1
		}
		var texts []string
		for k, i := range pages {
			number := i + 1
			if n.Start > 0 {
				number = n.Start + k
			}
			texts = append(texts, strings.NewReplacer("{page}", written(n.Numbering, number), "{pages}", written(n.Numbering, last)).Replace(n.Format))
		}
		pieces, err := c.texts(ctx, texts, n.Look)
		if err != nil {
			if e, ok := errors.AsType[*OptionError](err); ok && e.Field == "text" {
				e.Field = "format"
			}
			return err
		}
		for k, i := range pages {
			if err := c.d.Draw(i, pieces[k], n.Placing); err != nil {
				return err
			}
		}
		return nil
	}}
}

func written(n doc.Numbering, number int) string {
	style := map[doc.Numbering]string{doc.NumberingDecimal: "D", doc.NumberingRoman: "r", doc.NumberingUpperRoman: "R", doc.NumberingAlpha: "a", doc.NumberingUpperAlpha: "A"}[n]
	return edit.Numeral(style, int64(number))
}

// texts sets texts, each a piece of its own that is as large as the text.
func (c *change) texts(ctx context.Context, texts []string, look TextLook) ([]edit.Piece, error) {
	if look.Size == 0 {
		look.Size = 12
	}
	if !(look.Size >= 1 && look.Size <= 1000) {
		return nil, &OptionError{Field: "size", Got: fmt.Sprint(look.Size), Want: "1 to 1000 points"}
	}
	known := c.e.fonts.Families()
	style := &doc.Style{
		Family: cmp.Or(look.Family, known[0]), Size: doc.Points(look.Size), Leading: doc.Points(look.Size * 1.2), Weight: 400, Italic: look.Italic, Color: look.Color, Align: doc.AlignLeft,
	}
	if look.Bold {
		style.Weight = 700
	}
	if look.Fonts != nil {
		for _, f := range look.Fonts.Options().Families {
			known = append(known, f.Name)
		}
	}
	if look.Family != "" && !slices.Contains(known, look.Family) {
		return nil, &OptionError{Field: "font", Got: strconv.Quote(look.Family), Want: strings.Join(known, ", ")}
	}
	const widest = 14000 // points
	lines := 1
	for _, s := range texts {
		lines = max(lines, strings.Count(s, "\n")+1)
		if strings.TrimSpace(s) == "" || len(s) > 10_000 {
			return nil, &OptionError{Field: "text", Got: "nothing to see, or more than 10,000 bytes", Want: "a text"}
		}
	}
	height := float64(lines)*look.Size*1.2 + 72 // pages have a least height
	if height > widest {
		return nil, &OptionError{Field: "text", Got: strconv.Itoa(lines) + " lines", Want: "fewer, or smaller letters"}
	}
	b := doc.NewBuilder().Fonts(look.Fonts)
	b.Page(doc.Master{Width: doc.Points(widest), Height: doc.Points(height)}).Style(style)
	for i, s := range texts {
		if i > 0 {
			b.PageBreak()
		}
		b.Text(s)
	}
	var out bytes.Buffer
	res, err := c.e.emit(ctx, &out, b.Document(), emit.Options{Limits: c.e.limits, Listed: c.d.Part1()})
	if e, ok := errors.AsType[*DiagnosticError](err); ok && len(e.Diagnostics) > 0 {
		return nil, textFault("text", e.Diagnostics[0], "a text that a page takes")
	}
	if err != nil {
		return nil, err
	}
	if len(texts) == 0 {
		return nil, nil
	}
	if res.Pages != len(texts) {
		return nil, &OptionError{Field: "text", Got: "one that is wider than " + strconv.Itoa(widest) + " points", Want: "a shorter one, or smaller letters"}
	}
	d, err := edit.Open(bytes.NewReader(out.Bytes()), int64(out.Len()), edit.Options{Pages: len(texts), Limits: ReadLimits{FileBytes: int64(out.Len())}})
	if err != nil {
		return nil, err
	}
	set, err := d.Text(ctx, edit.TextOptions{})
	if err != nil {
		return nil, err
	}
	x, err := c.d.Import(d)
	if err != nil {
		return nil, err
	}
	pieces := make([]edit.Piece, len(texts))
	for i, s := range texts {
		width := 1.0
		for _, l := range set[i].Lines {
			width = max(width, l.Box[2])
		}
		if pieces[i], err = x.Part(i, width, float64(strings.Count(s, "\n")+1)*look.Size*1.2); err != nil {
			return nil, err
		}
	}
	return pieces, nil
}

// Sheets says how several pages are placed on one sheet.
type Sheets = edit.Sheets

// SheetSize returns the size of a kind of paper in points: a3, a4, a5, letter, legal.
func SheetSize(name string) ([2]float64, bool) { return edit.SheetSize(name) }

// NUp places several pages on each sheet, scaled down, row by row or in booklet order. Bookmarks
// and destinations lead to the sheet of their page. Tags, links and form fields are dropped; their
// appearance is drawn.
func NUp(s Sheets) Op {
	return Op{apply: func(_ context.Context, c *change) error {
		lost, err := c.d.Sheets(s)
		c.summary.notKept("", lost)
		return err
	}}
}
