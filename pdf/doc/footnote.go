package doc

// Note is a footnote: what its Spans say stands at the foot of the page on which its number stands.
// A note has no notes of its own.
type Note struct{ Spans []Span }

// Footnote returns a span that prints the number of a footnote and has the note set at the foot of
// its page.
func Footnote(spans ...Span) Span { return Span{Kind: SpanNote, Note: &Note{Spans: spans}} }

// Restart says where the numbers of footnotes begin anew.
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
	Style     *Style // nil: that of the theme, or smaller than BaseStyle
}

// Footnotes sets how footnotes are numbered and set.
func (b *Builder) Footnotes(f Footnotes) *Builder {
	b.doc.Footnotes = f
	return b
}
