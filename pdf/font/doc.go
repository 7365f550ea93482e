// Package font reads fonts with TrueType or CFF outlines, alone or in
// collections, finds faces for text and cuts the subsets that a PDF embeds.
//
// [Parse] makes a [Face], which is immutable and safe for concurrent use. All
// its measures are integers in font units; [Face.UnitsPerEm] of them make one
// em. A [Library] groups faces into families, chooses among them by weight and
// slope, and holds the fallback chain for characters a family lacks:
//
//	lib := liberation.New()
//	chain, err := lib.Chain("Liberation Sans", font.Style{Weight: 700})
//	face, err := chain.Pick("₹") // DejaVu Sans Bold: Liberation has no rupee sign
//
// A document collects the glyphs it draws in a [Use] per face and asks a
// [Cache] for the [Subset]. Subsets keep the glyph ids of the font, so that
// content streams can be written before the subset is known (Identity-H with an
// identity CIDToGIDMap or a CFF charset, ISO 32000-2, 9.7.4). The set of glyphs is rounded up to
// whole Unicode blocks, which makes documents with different text share one
// subset; the cache is keyed by the SHA-256 of font and glyph set, never by
// less.
//
// Fonts are hostile input: every offset is checked, and nothing a font says
// makes the package allocate more than a small multiple of the font's size.
package font
