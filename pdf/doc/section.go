package doc

import "iter"

// Numbering is a style of page numbers and list numbers.
type Numbering uint8

// The numbering styles. After the last letter, letters are doubled: z, aa, bb (ISO 32000-2,
// 12.4.2).
const (
	NumberingDecimal    Numbering = iota // 1, 2, 3
	NumberingRoman                       // i, ii, iii
	NumberingUpperRoman                  // I, II, III
	NumberingAlpha                       // a, b, c
	NumberingUpperAlpha                  // A, B, C
)

// Section is a part of the document with its own pages. It starts a new page, which with BreakOdd
// is an odd one, and so does the content after it. A section is allowed in the body or in another
// section, never inside a block.
type Section struct {
	Block
	Page *Master // nil: that around
	// Header and Footer take the place of those around; nil: they stay. First is the first page
	// of the section, and odd or even is the number that a page shows.
	Header, Footer *Running
	// Background takes the place of that around; nil: it stays.
	Background *Running
	// Watermark replaces the watermark of the document or outer section; nil: keeps it. An empty
	// one draws nothing.
	Watermark *Watermark
	// NumberFrom is the number of its first page; 0: the pages are counted on.
	NumberFrom int
	// Part makes it a large division of the document, which sections with chapters belong to: its
	// structure type is Part, not Sect.
	Part      bool
	Numbering Numbering
	// Body yields the blocks as Document.Body does.
	Body iter.Seq2[Node, error]
}

// Section appends a section. f adds its content to the builder that it is given.
func (b *Builder) Section(s Section, f func(*Builder)) *Builder {
	var in Builder
	f(&in)
	s.Body = Nodes(in.nodes...)
	return b.Add(&s)
}
