package pdf

import (
	"context"

	"example.com/quire/pdf/internal/edit"
)

// Comparing documents.
type (
	// CompareOptions are the options of Compare. Pixels are compared if there is a Raster.
	CompareOptions = edit.CompareOptions
	// Comparison lists the differences of two files.
	Comparison = edit.Comparison
	// Difference is one difference of the second file from the first.
	Difference = edit.Difference
	// Raster draws the pages of a file, to compare their pixels.
	Raster = edit.Raster
	// Picture is a page drawn by a Raster.
	Picture = edit.Picture
)

// Poppler returns the Raster that runs the program pdftoppm of poppler. If it is not installed, the
// error is ErrTool and says how to install it. The Raster is safe for concurrent use.
func Poppler() (Raster, error) { return edit.Poppler() }

// Compare lists the differences between a and b: document information, pages, text and its
// positions, graphics, fonts, annotations, field values, attachments, bookmarks and tags; with
// o.Raster also pixels. Each page is compared with the most similar one, so an inserted page is
// reported as such. Object numbers, compression and revisions are ignored. Content that cannot be
// decoded is reported as a difference. Errors are those of Open, *OptionError, those of the Raster
// and of ctx.
func (e *Engine) Compare(ctx context.Context, a, b *Document, o CompareOptions) (*Comparison, error) {
	if o.DPI != 0 && (o.DPI < 18 || o.DPI > 600) {
		return nil, &OptionError{Field: "dpi", Got: "a number out of range", Want: "18 to 600"}
	}
	c, err := edit.Compare(ctx, a.d, b.d, o)
	return c, told(err)
}
