package pdf

import (
	"context"

	"example.com/quire/pdf/internal/edit"
)

// The text of documents and what is found in it.
type (
	// TextOptions say of which pages text is told.
	TextOptions = edit.TextOptions
	// TextPage is the text of a page: lines and words in the order of reading, with their places.
	TextPage = edit.TextPage
	// TextLine is words next to each other on one baseline.
	TextLine = edit.TextLine
	// TextWord is a word with its place, font and size.
	TextWord = edit.TextWord
	// SearchOptions say what is searched, a text or a regular expression.
	SearchOptions = edit.SearchOptions
	// Match is text that was found, with its places.
	Match = edit.Match
)

// Text returns the text of pages as words and lines with their places in points, in the order of
// reading, which is taken from where they stand. It reads the fonts of every kind; text that is
// drawn as paths or pixels it does not see. Annotations and fields count by what they look like.
// Errors are those of Open and *OptionError.
func (d *Document) Text(ctx context.Context, o TextOptions) ([]TextPage, error) {
	t, err := d.d.Text(ctx, o)
	return t, told(err)
}

// Search returns where a text or a regular expression matches, over line ends and through hyphens
// at them. The boxes are in the coordinates that Redact takes. Errors are those of Text.
func (d *Document) Search(ctx context.Context, o SearchOptions) ([]Match, error) {
	m, err := d.d.Search(ctx, o)
	return m, told(err)
}
