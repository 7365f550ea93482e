package strictjson

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Kind is what a [Fault] complains of.
type Kind string

// The kinds. Those from Unknown on come from [Decode] alone.
const (
	Syntax    Kind = "syntax"    // not the grammar of RFC 8259
	Missing   Kind = "missing"   // no value at all
	Trailing  Kind = "trailing"  // something behind the value
	Duplicate Kind = "duplicate" // a name that stands twice in its object
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
	// Path is Pointer as the template language writes it: trades[17].price, with ["unit price"]
	// for a name that is no identifier.
	Path string
	// Offset is where in the text the fault begins, in bytes from 0.
	Offset int
	// Msg says what is wrong, without a full stop, in words that need neither place nor text.
	Msg string
	// Got is what stands at Offset and Want what may stand there; either may be "".
	Got, Want string
	// Limit is the bound that was passed, for Bytes, Depth and Nodes.
	Limit int
	// GoType is the Go type that was read into, for faults of Decode: of Unknown the struct that
	// lacks the name, of Type and Range that of the value. Nil for other kinds.
	GoType reflect.Type
	// Err is what a method such as UnmarshalText returned, for Type; otherwise nil.
	Err error
}

// Error is the path, or the offset without one, and the message.
func (f *Fault) Error() string {
	if f.Path == "" {
		return "json: offset " + strconv.Itoa(f.Offset) + ": " + f.Msg
	}
	return "json: " + f.Path + ": " + f.Msg
}

// Unwrap returns Err.
func (f *Fault) Unwrap() error { return f.Err }

// Position returns the line and the column of an offset into text, both from 1. Lines end with LF,
// CR LF or CR; columns count code points, a byte that is not UTF-8 counting as one. An offset beyond
// the text counts as its end.
func Position(text []byte, offset int) (line, column int) {
	line = 1
	start := 0
	offset = min(offset, len(text))
	for i, c := range text[:offset] {
		if c == '\n' || c == '\r' && (i+1 == len(text) || text[i+1] != '\n') {
			line++
			start = i + 1
		}
	}
	return line, 1 + utf8.RuneCount(text[start:offset])
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
		return "a byte order mark"
	case r < ' ':
		return fmt.Sprintf("%U", r)
	default:
		return strconv.QuoteRune(r)
	}
}

// expression writes a pointer as the template language does; isArray tells of each level whether
// it is an array.
func expression(pointer string, isArray func(level int) bool) string {
	if pointer == "" {
		return ""
	}
	var b strings.Builder
	for i, token := range strings.Split(pointer[1:], "/") {
		name := unescapeToken.Replace(token)
		switch {
		case isArray(i):
			b.WriteString("[" + name + "]")
		case isIdentifier(name):
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(name)
		default:
			b.WriteByte('[')
			b.Write(AppendString(nil, name))
			b.WriteByte(']')
		}
	}
	return b.String()
}

func isIdentifier(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		if !letter && (i == 0 || (c < '0' || c > '9') && c != '-') {
			return false
		}
	}
	return s != ""
}
