// Package cos writes and reads the object layer of PDF (ISO 32000-2, clause 7): objects in PDF
// syntax, object streams, cross-reference streams and the file structure. COS is the historic name
// of that layer.
//
// The package has three parts.
//
// The append functions convert values to bytes: [AppendName], [AppendString], [AppendText],
// [AppendInt], [AppendFixed] and the object values [Name], [String], [Text], [Int], [Decimal],
// [Array], [Dict], [Ref] ... Every function appends to the given slice and keeps nothing. The
// output depends only on the value: numbers are printed in their shortest form, without exponent
// and without "-0", and dictionaries keep the order of keys that the caller gives. No
// floating-point numbers are used, so every platform writes the same bytes.
//
// [Writer] writes a file. Object numbers are reserved first and written in any order, so an object
// may refer to one that comes much later:
//
//	w := cos.NewWriter(out, cos.Options{Version: cos.V20})
//	pages, page := w.Reserve(), w.Reserve()
//	err := w.Put(page, cos.Dict{cos.E("Type", cos.Name("Page")), cos.E("Parent", pages)})
//	...
//	sum, err := w.Close(cos.Trailer{Root: catalog})
//
// Objects other than streams are collected, 200 at a time, in compressed object streams (7.5.7).
// Nothing else is held back, and cross-reference data beyond 8 MiB goes to a file, so memory does
// not grow with the document.
//
// The file identifier is the first half of the SHA-256 of everything before the cross-reference
// stream, or of its checksums: equal input gives an equal file.
//
// [Reader] reads a file from any producer, with any form of cross-reference data. It decodes
// filters and repairs damage. It trusts nothing in the file: every size is checked against
// [ReadLimits] before memory is allocated.
package cos
