package pdf

import (
	"context"

	"example.com/quire/pdf/internal/edit"
)

// Text extraction and search.
type (
	// TextOptions select the pages of Text.
	TextOptions = edit.TextOptions
	// TextPage is the text of a page: lines and words in reading order, with their positions.
	TextPage = edit.TextPage
	// TextLine is words next to each other on one baseline.
	TextLine = edit.TextLine
	// TextWord is a word with its position, font and size.
	TextWord = edit.TextWord
	// SearchOptions are what to search for: a text or a regular expression.
	SearchOptions = edit.SearchOptions
	// Match is a text that was found, with its positions.
	Match = edit.Match
)

// Text returns the text of pages as words and lines with their positions in points, in reading
// order, which is inferred from the positions. It reads fonts of every kind. It does not see text
// that is drawn as paths or pixels. Annotations and fields are read by their appearances. Errors
// are those of Open and *OptionError.
func (d *Document) Text(ctx context.Context, o TextOptions) ([]TextPage, error) {
	t, err := d.d.Text(ctx, o)
	return t, told(err)
}

// Search returns the matches of a text or a regular expression, also across line ends and hyphens
// there. The boxes have the coordinates that Redact takes. Errors are those of Text.
func (d *Document) Search(ctx context.Context, o SearchOptions) ([]Match, error) {
	m, err := d.d.Search(ctx, o)
	return m, told(err)
}
