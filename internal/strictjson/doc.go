// Package strictjson reads JSON as strictly as its standards allow, and says where a text is wrong.
//
// A text passes when it is one value of RFC 8259 in UTF-8 and keeps the rules of I-JSON (RFC 7493
// section 2) that are about text: no name twice in an object, no surrogate escape without its other
// half. Nothing may stand before the value but white space (a byte order mark may not), and nothing
// behind it. Depth and number of values are bounded by [Limits], while reading.
//
// What is wrong is a [*Fault]: its kind, the JSON Pointer (RFC 6901) and the byte offset in the
// text. [Position] turns an offset into a line and a column; that is done once, where a message is
// shown.
//
//   - [Check] judges a text.
//   - [Canonical] gives the one spelling of a value: RFC 8785 with numbers as they were written.
//   - [Decode] reads a text into a Go value, by exact names; [Read] reads it value by value, for
//     those who bind it themselves.
//   - [Locate] finds the offsets of JSON Pointers; [Path] and [Pointer] go between pointers and the
//     paths of the template language, [Token] and [Name] between their parts.
//
// The grammar is that of github.com/go-json-experiment/json; no type of it is shown. The package
// imports nothing of this module, so that every library may import it. All functions are safe for
// concurrent use and leave the text as it is.
package strictjson
