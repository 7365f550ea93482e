package pdf

import (
	"context"

	"example.com/quire/pdf/internal/edit"
)

// How documents are compared, and what comes of it.
type (
	// CompareOptions say what is compared beside what files say: pixels, when there is a Raster.
	CompareOptions = edit.CompareOptions
	// Comparison tells in what two files differ.
	Comparison = edit.Comparison
	// Difference is one thing that the second file has otherwise.
	Difference = edit.Difference
	// Raster draws the pages of a file for comparing their pixels.
	Raster = edit.Raster
	// Picture is a page that a Raster drew.
	Picture = edit.Picture
)

// Poppler returns the Raster that runs pdftoppm of poppler, a program beside this one. Where it is
// not installed the error is ErrTool and says how to install it. It is safe for concurrent use.
func Poppler() (Raster, error) { return edit.Poppler() }

// Compare tells in what b differs from a: what they say of themselves, pages, text and its places,
// what is drawn, fonts, annotations, values of fields, attachments, bookmarks and tags; pixels with
// o.Raster. Pages are held against those that are alike, so one that was added is told as such. How
// files are written is no difference: numbers of objects, compression, revisions. What cannot be
// decoded is told as a difference. Errors are those of Open, *OptionError, those of the Raster and
// of ctx.
func (e *Engine) Compare(ctx context.Context, a, b *Document, o CompareOptions) (*Comparison, error) {
	if o.DPI != 0 && (o.DPI < 18 || o.DPI > 600) {
		return nil, &OptionError{Field: "dpi", Got: "a number out of range", Want: "18 to 600"}
	}
	c, err := edit.Compare(ctx, a.d, b.d, o)
	return c, told(err)
}
