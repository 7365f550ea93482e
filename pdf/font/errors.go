package font

import (
	"fmt"
	"strconv"
	"strings"

	"example.com/quire/pdf/internal/diag"
)

// FormatError reports a font file that breaks the rules of OpenType.
type FormatError struct {
	Table  string // tag of the table, empty for the file as a whole
	Reason string
}

// Error implements error.
func (e *FormatError) Error() string {
	if e.Table == "" {
		return "font: read file: " + e.Reason
	}
	tag := strings.TrimSpace(e.Table)
	if strings.ContainsFunc(tag, func(r rune) bool { return r < ' ' || r > '~' }) { // as no tag has
		tag = strconv.QuoteToASCII(tag)
	}
	return "font: read table " + tag + ": " + e.Reason
}

// Is reports that the error is a [diag.ErrFont].
func (e *FormatError) Is(target error) bool { return target == diag.ErrFont }

// UnsupportedError reports a font of a kind this package does not read. It is
// both a [diag.ErrFont] and a [diag.ErrUnsupported].
type UnsupportedError struct{ Kind string }

// Error implements error.
func (e *UnsupportedError) Error() string { return "font: read file: " + e.Kind + " is not supported" }

// Is implements the match of errors.Is.
func (e *UnsupportedError) Is(target error) bool {
	return target == diag.ErrFont || target == diag.ErrUnsupported
}

// EmbeddingError reports a font whose licence bits forbid embedding it
// (OpenType, OS/2 fsType).
type EmbeddingError struct {
	Font   string
	FSType uint16
}

// Error implements error.
func (e *EmbeddingError) Error() string {
	return fmt.Sprintf("font: embed %s: its OS/2 fsType 0x%04X forbids embedding", e.Font, e.FSType)
}

// Is reports that the error is a [diag.ErrFont].
func (e *EmbeddingError) Is(target error) bool { return target == diag.ErrFont }

// FamilyError reports a family the library does not have.
type FamilyError struct {
	Family string
	Known  []string // in the order of the library
}

// Error implements error.
func (e *FamilyError) Error() string {
	return fmt.Sprintf("font: find family %q: not in the library, which has %s", e.Family, strings.Join(e.Known, ", "))
}

// Is reports that the error is a [diag.ErrFont].
func (e *FamilyError) Is(target error) bool { return target == diag.ErrFont }

// MissingError reports a character that no face of a chain has.
type MissingError struct {
	Rune    rune     // the first character without a glyph in the last face tried
	Cluster string   // the text that has to be set in one face
	Tried   []string // PostScript names, in order
}

// Error implements error.
func (e *MissingError) Error() string {
	return fmt.Sprintf("font: set %q: no glyph for U+%04X in %s", e.Cluster, e.Rune, strings.Join(e.Tried, ", "))
}

// Is reports that the error is a [diag.ErrFont].
func (e *MissingError) Is(target error) bool { return target == diag.ErrFont }

// CollectionError reports a face that a font file does not have.
type CollectionError struct {
	Face  string   // index or PostScript name asked for
	Count int      // faces of the file
	Known []string // PostScript names of the faces, when one was asked for
}

// Error implements error.
func (e *CollectionError) Error() string {
	if e.Known == nil {
		return fmt.Sprintf("font: find face %s of a collection: the file has %d, counted from 0", e.Face, e.Count)
	}
	return fmt.Sprintf("font: find face %q of a collection: the file has %s", e.Face, strings.Join(e.Known, ", "))
}

// Is reports that the error is a [diag.ErrFont].
func (e *CollectionError) Is(target error) bool { return target == diag.ErrFont }
