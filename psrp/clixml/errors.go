package clixml

import (
	"cmp"
	"errors"
	"fmt"
)

// What a [SyntaxError] or an encoder's error may wrap.
var (
	// ErrTooDeep is nesting beyond Limits.Depth or Encoder.Depth.
	ErrTooDeep = errors.New("nested too deeply")
	// ErrTooLarge is input, text or a number of values beyond [Limits].
	ErrTooLarge = errors.New("too large")
	// ErrUnknownTag is an element that CLIXML does not have, or not in that place.
	ErrUnknownTag = errors.New("unknown element")
	// ErrUnknownRef is a Ref or TNRef to an identifier that was not declared before it.
	ErrUnknownRef = errors.New("unknown reference")
	// ErrDTD is a document type declaration, which is never read.
	ErrDTD = errors.New("document type declaration")
	// ErrNoCipher is a SecureString where no session key is there yet.
	ErrNoCipher = errors.New("no session key for a SecureString")
	// ErrInvalidText is a Go string that is neither UTF-8 nor generalised UTF-8.
	ErrInvalidText = errors.New("text is not UTF-8")
)

// SyntaxError is CLIXML that cannot be read.
type SyntaxError struct {
	Offset  int64  // in bytes from the start of the document or body
	Element string // the innermost element, "" outside any
	Reason  string
	Err     error // one of the sentinels above, or nil
}

func (e *SyntaxError) Error() string {
	in := ""
	if e.Element != "" {
		in = " in " + e.Element
	}
	return fmt.Sprintf("clixml: decode at byte %d%s: %s", e.Offset, in, e.Reason)
}

// Unwrap returns the sentinel, if any.
func (e *SyntaxError) Unwrap() error { return e.Err }

// FieldError is a Go value and a CLIXML value that do not fit each other.
type FieldError struct {
	Path      string // "Disk.Free"
	Want, Got string // "int64", "U64 9223372036854775808"
	Reason    string // "overflows", "is not a number"; "" = of another kind
}

func (e *FieldError) Error() string {
	reason := cmp.Or(e.Reason, "does not fit")
	path := cmp.Or(e.Path, "value")
	return fmt.Sprintf("clixml: %s: %s %s %s", path, e.Got, reason, e.Want)
}

// Limits bound what a [Decoder] accepts; a zero field is its default.
type Limits struct {
	Depth   int   // nested Obj (and member sets); default 50, as PowerShell
	Nodes   int   // values of one message; default 1,000,000
	Bytes   int64 // one body or document; default 32 MiB
	Decoded int64 // bytes of decoded text and values; default 96 MiB
}

func (l Limits) withDefaults() Limits {
	l.Depth = cmp.Or(l.Depth, 50)
	l.Nodes = cmp.Or(l.Nodes, 1_000_000)
	l.Bytes = cmp.Or(l.Bytes, 32<<20)
	l.Decoded = cmp.Or(l.Decoded, 96<<20)
	return l
}
