package doc

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"
)

// FontFamily is a family that a document brings along: the files of its faces, TrueType or
// OpenType. Regular is needed; the others may be nil. They must not change.
type FontFamily struct {
	Name                              string
	Regular, Bold, Italic, BoldItalic []byte
	Src                               *Source // where it is asked for, for diagnostics; nil: not known
}

// FontOptions are fonts of a document in addition to those of the engine.
type FontOptions struct {
	// Families are added to those of the engine, and replace families of the same names.
	Families []FontFamily
	// Fallback names families, in order, for characters that the font of a text lacks. They are
	// tried before those of the engine.
	Fallback []string
	// Synthetic lets a face be drawn bolder, or slanted, where a family has no bold or italic one;
	// without it such a text is an error.
	Synthetic bool
	// Boxes draws the box of the font for a character that no font has, in the place of an
	// error. No document that claims a standard may have one.
	Boxes bool
	// Exact embeds the glyphs that are drawn alone, not the Unicode blocks that they are of.
	Exact bool
	// Once says that the fonts serve one document: an engine does not keep what it has read of them
	// for the next.
	Once bool
}

// Fonts are the fonts of a document. They are immutable; an engine reads them once for all
// documents that have equal ones.
type Fonts struct {
	o   FontOptions
	sum [sha256.Size]byte
}

// NewFonts returns the fonts that o describes.
func NewFonts(o FontOptions) *Fonts {
	h := sha256.New()
	part := func(b []byte) { // its length and itself: parts cannot run into each other
		_, _ = h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(b))))
		_, _ = h.Write(b)
	}
	flag := func(on bool) {
		if on {
			part([]byte{1})
		} else {
			part([]byte{0})
		}
	}
	for _, f := range o.Families {
		part([]byte(f.Name))
		for _, face := range [...][]byte{f.Regular, f.Bold, f.Italic, f.BoldItalic} {
			part(face)
		}
	}
	part([]byte(strings.Join(o.Fallback, "\x00")))
	flag(o.Synthetic)
	flag(o.Boxes)
	flag(o.Exact)
	flag(o.Once)
	f := &Fonts{o: o}
	h.Sum(f.sum[:0])
	return f
}

// Options returns the options of the fonts. The caller must not change them.
func (f *Fonts) Options() FontOptions { return f.o }

// Sum returns the SHA-256 of everything that the fonts were made of.
func (f *Fonts) Sum() [sha256.Size]byte { return f.sum }
