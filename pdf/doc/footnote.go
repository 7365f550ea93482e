package doc

// Note is a footnote: its Spans are printed at the foot of the page that has its number. A note has
// no notes.
type Note struct{ Spans []Span }

// Footnote returns a span that prints the number of a footnote and has the note set at the foot of
// its page.
func Footnote(spans ...Span) Span { return Span{Kind: SpanNote, Note: &Note{Spans: spans}} }

// Restart says where footnote numbers start again.
type Restart uint8

// The places.
const (
	RestartNever   Restart = iota // they are counted through the document
	RestartSection                // in each section
	RestartPage                   // on each page; the document is laid out several times, as with References
)

// Footnotes says how footnotes are set.
type Footnotes struct {
	Restart   Restart
	Numbering Numbering
	Style     *Style // nil: the style of the theme, or smaller than BaseStyle
}

// Footnotes sets how footnotes are numbered and set.
func (b *Builder) Footnotes(f Footnotes) *Builder {
	b.doc.Footnotes = f
	return b
}
