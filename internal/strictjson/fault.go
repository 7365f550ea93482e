package strictjson

import (
	"cmp"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Kind is the kind of a [Fault].
type Kind string

// The kinds. Those from Unknown on come from [Decode] alone.
const (
	Syntax    Kind = "syntax"    // not the grammar of RFC 8259
	Missing   Kind = "missing"   // no value at all
	Trailing  Kind = "trailing"  // text after the value
	Duplicate Kind = "duplicate" // a name that is repeated in its object
	UTF8      Kind = "utf8"      // not UTF-8, or a surrogate escape without its other half
	Bytes     Kind = "bytes"     // more than Limits.Bytes
	Depth     Kind = "depth"     // more than Limits.Depth
	Nodes     Kind = "nodes"     // more than Limits.Nodes
	Unknown   Kind = "unknown"   // a name that the Go type does not have
	Type      Kind = "type"      // a value that the Go type does not take
	Range     Kind = "range"     // a number that does not fit into the Go type
)

// Fault is one thing that is wrong with a text.
type Fault struct { //nolint:errname // it is what is wrong with a text, of which an error is one form
	Kind Kind
	// Pointer is the value that the fault lies in (RFC 6901), "" for the whole text.
	Pointer string
	// Offset is where in the text the fault begins, in bytes from 0.
	Offset int
	// Msg describes the error as a phrase; "" if Want and Got describe it. See Message.
	Msg string
	// Got is the text at Offset, and Want what is allowed there; Want may be "".
	Got, Want string
	// Limit is the bound that was passed, for Bytes, Depth and Nodes.
	Limit int
	// GoType is the Go type of the destination, for faults of Decode: for Unknown the struct that
	// lacks the name, for Type and Range the type of the value. Nil for other kinds.
	GoType reflect.Type
	// Err is the error of a method such as UnmarshalText, for Type; otherwise nil.
	Err error
}

// Message describes the error: Msg, or what was wanted and what was found.
func (f *Fault) Message() string {
	return cmp.Or(f.Msg, "want "+f.Want+", got "+f.Got)
}

// Error is the path, or the offset without one, and the message.
func (f *Fault) Error() string {
	if f.Pointer == "" {
		return "json: offset " + strconv.Itoa(f.Offset) + ": " + f.Message()
	}
	return "json: " + Path(f.Pointer) + ": " + f.Message()
}

// Unwrap returns Err.
func (f *Fault) Unwrap() error { return f.Err }

// Position returns the line and the column of an offset into text, both from 1. Lines end with LF,
// CR LF or CR; columns count code points, a byte that is not UTF-8 counting as one. An offset
// beyond the text counts as its end.
func Position(text []byte, offset int) (line, column int) {
	c := cursor{text: text}
	return c.move(offset)
}

// cursor is Position for offsets that rise: each byte is looked at once.
type cursor struct {
	text    []byte
	at      int
	lines   int // ended before at
	columns int // before at in its line
}

func (c *cursor) move(offset int) (line, column int) {
	offset = min(offset, len(c.text))
	start := c.at
	for i := c.at; i < offset; i++ {
		if b := c.text[i]; b == '\n' || b == '\r' && (i+1 == len(c.text) || c.text[i+1] != '\n') {
			c.lines++
			c.columns, start = 0, i+1
		}
	}
	c.columns += utf8.RuneCount(c.text[start:offset])
	c.at = offset
	return c.lines + 1, c.columns + 1
}

// at describes what stands at an offset.
func at(text []byte, offset int) string {
	if offset >= len(text) {
		return "the end of the text"
	}
	switch r, n := utf8.DecodeRune(text[offset:]); {
	case r == utf8.RuneError && n == 1:
		return fmt.Sprintf("byte 0x%02X", text[offset])
	case r == '\ufeff':
		return "a byte order mark; save the file as UTF-8 without it"
	case strings.ContainsRune("'‘’“”„«»", r):
		return strconv.QuoteRune(r) + `; texts are written in straight double quotes, "`
	case r < ' ':
		return fmt.Sprintf("%U", r)
	default:
		return strconv.QuoteRune(r)
	}
}
