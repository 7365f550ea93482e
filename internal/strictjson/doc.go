// Package strictjson reads JSON as strictly as its standards allow, and reports where a text is
// wrong.
//
// A text is valid if it is one value of RFC 8259 in UTF-8 and follows the rules of I-JSON (RFC
// 7493 section 2) for text: no duplicate name in an object, and no surrogate escape without its
// other half. Only white space may precede the value (a byte order mark may not), and only white
// space may follow it. [Limits] bound depth and number of values while reading.
//
// An error is a [*Fault]: its kind, the JSON Pointer (RFC 6901) and the byte offset in the text.
// [Position] converts an offset to line and column. That is done once, where a message is shown.
//
//   - [Check] checks a text.
//   - [Canonical] gives the canonical form of a value: RFC 8785, with numbers as they were
//     written.
//   - [Decode] reads a text into a Go value, by exact names. [Read] reads it value by value, for
//     callers that bind it themselves.
//   - [Locate] finds the offsets of JSON Pointers. [Path] and [Pointer] convert between pointers
//     and the paths of the template language, [Token] and [Name] between their parts.
//
// The grammar is that of github.com/go-json-experiment/json; none of its types is exported. The
// package imports nothing of this module, so every library may import it. All functions are safe
// for concurrent use and do not change the text.
package strictjson
