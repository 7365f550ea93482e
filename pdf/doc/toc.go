package doc

// Leader is what leads the eye from a title to the number of its page.
type Leader uint8

// The leaders.
const (
	LeaderDots Leader = iota
	LeaderNone
)

// Toc is a table of contents: the headings that follow it, each with the number of its page and a
// link to it. The document needs References.
type Toc struct {
	Block
	Levels int // the deepest level of headings that it has; 0: 3
	Leader Leader
	Title  string // above it, as a heading of level 2 looks; empty: none
	// Reserve is the number of pages reserved for it: it begins on a new page, and the content
	// after it begins on the page after them. More entries than fit are an error. 0: as many pages
	// as needed.
	Reserve int
}

// Contents appends a table of contents with the headings that follow, down to a level, and sets
// References.
func (b *Builder) Contents(levels int) *Builder {
	return b.References().Add(&Toc{Levels: levels})
}
