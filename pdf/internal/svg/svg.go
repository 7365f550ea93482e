// Package svg draws SVG files (SVG 1.1 and the parts of SVG 2 that replaced it) with the operators
// of ISO 32000-2: as vectors, never as pixels.
//
//	f, err := svg.Read(data, limits)      // strict XML to a tree; external references are refused
//	d, err := f.Draw(svg.Fonts{...})      // the tree to forms, gradients and lines of text
//
// Unsupported elements are reported: Drawing.Warnings has the element and its position. A file
// with scripts, entities, a DTD or external references is refused as a whole.
//
// Operators use one coordinate space per drawing, with y upwards and the longer side 1000 units.
// Three decimals are therefore exact enough for any file, and nested forms, patterns and soft
// masks need no matrices of their own.
package svg

import (
	"crypto/sha256"
	"fmt"

	"example.com/quire/pdf/internal/text"
)

// Error is a fault of an SVG file.
type Error struct {
	Line, Col int  // from 1; Col counts bytes
	Refused   bool // not broken, but what no SVG image may have: scripts, entities, outside references
	Message   string
	Remedy    string // what to do, as a phrase; empty: nothing helps but mending the file
}

// Error returns the place and what is wrong there.
func (e *Error) Error() string { return fmt.Sprintf("%d:%d: %s", e.Line, e.Col, e.Message) }

// Warning is something in an SVG file that is not drawn, or not as it says.
type Warning struct {
	Line, Col int
	Message   string
}

// Drawing is what an SVG file paints. It is not changed once made.
type Drawing struct {
	Hash [sha256.Size]byte // of the file
	// Width and Height are the size that the file asks for, in pixels of 1/96 inch.
	Width, Height float64
	// Form paints the drawing into its BBox.
	Form     *Form
	Warnings []Warning
}

// Form is a form XObject (ISO 32000-2, 8.10). Its resources are named by their index:
// S0, S1 ... are States, P0 ... Gradients, X0 ... Forms.
type Form struct {
	BBox [4]float64
	// Group makes it an isolated transparency group (11.6.6); Gray blends in DeviceGray.
	Group, Gray bool
	Ops         []Op
	States      []State
	Gradients   []*Gradient
	Forms       []*Form
	// Packed is the code of a form without text as a stream in zlib format (RFC 1950); nil: nobody
	// compressed it, or it is not worth it.
	Packed []byte
}

// Op is a piece of content: operators, or a text that is shown at the origin in the colours set
// before. The font is the emitter's business.
type Op struct {
	Code []byte
	Text *Text
}

// Text is a stretch of a line in one style.
type Text struct {
	Items []text.Item
	Size  int64 // in 1/1024 unit, as doc.Length
}

// State is an extended graphics state (8.4.5).
type State struct {
	Fill, Stroke float64 // constant alpha
	Blend        string  // empty: Normal
	Mask         *Form   // luminosity soft mask; nil: none
}

// Gradient is a shading pattern (8.7.4), axial or radial.
type Gradient struct {
	Radial bool
	Coords [6]float64 // x0 y0 x1 y1, or x0 y0 r0 x1 y1 r1, before Matrix
	Matrix [6]float64
	Stops  []Stop // at least two, offsets from 0 to 1 and never falling
	Gray   bool
}

// Stop is a colour of a gradient.
type Stop struct {
	Offset float64
	Color  [3]float64 // 0..1; of a gray gradient the first counts
}

// transparent reports whether a form or one within it uses transparency.
func (f *Form) transparent() bool { return f.Group || len(f.States) > 0 || len(f.Forms) > 0 }
