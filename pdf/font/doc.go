// Package font reads fonts with TrueType or CFF outlines, single or in collections, chooses faces
// for text and makes the subsets that a PDF embeds.
//
// [Parse] returns a [Face], which is immutable and safe for concurrent use. All its measures are
// integers in font units, of which [Face.UnitsPerEm] make one em. A [Library] groups faces into
// families, chooses among them by weight and slope, and has the fallback chain for characters that
// a family lacks:
//
//	lib := liberation.New()
//	chain, err := lib.Chain("Liberation Sans", font.Style{Weight: 700})
//	face, err := chain.Pick("₹") // DejaVu Sans Bold: Liberation has no rupee sign
//
// A document collects the glyphs it draws in a [Use] per face and asks a [Cache] for the [Subset].
// Subsets keep the glyph ids of the font, so that content streams can be written before the subset
// is known (Identity-H with an identity CIDToGIDMap or a CFF charset, ISO 32000-2, 9.7.4). The set
// of glyphs is extended to whole Unicode blocks, so that documents with different text share one
// subset. The cache key is the SHA-256 of font and glyph set, never less.
//
// Fonts are hostile input: every offset is checked, and no font can make the package allocate more
// than a small multiple of the font's size.
package font
