// Package cos writes and reads the object layer of PDF (ISO 32000-2, clause 7): objects
// in PDF syntax, object streams, cross-reference streams and the file around
// them. COS is the historic name of that layer.
//
// The package has three parts.
//
// The append part turns values into bytes: [AppendName], [AppendString],
// [AppendText], [AppendInt], [AppendFixed] and the object values [Name],
// [String], [Text], [Int], [Decimal], [Array], [Dict], [Ref] ... Every function appends
// to the slice it is given and keeps nothing. The output is a function of the
// value alone: numbers are printed shortest, without exponent and without
// "-0"; dictionaries keep the order in which the caller names their keys. No
// floating-point number is involved anywhere, so every platform writes the
// same bytes.
//
// The writing part is [Writer]. Object numbers are reserved first and written
// in any order, so an object may point to one that comes much later:
//
//	w := cos.NewWriter(out, cos.Options{Version: cos.V20})
//	pages, page := w.Reserve(), w.Reserve()
//	err := w.Put(page, cos.Dict{cos.E("Type", cos.Name("Page")), cos.E("Parent", pages)})
//	...
//	sum, err := w.Close(cos.Trailer{Root: catalog})
//
// Objects that are no streams are gathered, 200 at a time, in compressed
// object streams (7.5.7); nothing else is held back, and cross-reference data
// beyond 8 MiB goes to a file, so memory does not grow with the document.
//
// The file identifier is the first half of the SHA-256 of everything before
// the cross-reference stream: equal input makes an equal file.
//
// The reading part is [Reader]: it finds the objects of a file of any maker, in whatever form
// its cross-reference data has, undoes filters, and repairs what is damaged. It trusts nothing
// in the file: every size is held against [ReadLimits] before memory is taken for it.
package cos
