// Package record is the domain of Quire: documents of record and the one way
// in which they come about.
//
// A request names a template and brings data, or names sources that are collected. What was
// collected is frozen into a [Snapshot]: canonical JSON with its time, named by its hash. Template,
// snapshot, options, space and signer together are the identity of a [Document]; the same inputs
// are the same document, made once. Its bytes are committed before the document and its [Receipt]
// are saved, so a document that is listed can be read, and from the receipt anyone can make the
// file again and compare.
//
// [Maker] is that way: Make (keep a document), Render (the same without keeping anything) and
// Remake (make a kept document again and judge a file by it). The package does no input or output
// of its own and imports no adapter: what Maker needs of the world it declares as interfaces
// ([Collector], [Engine], [Blobs], [Documents], [Templates], [Reports]), which the packages
// collect, render, blob, store and templates fill.
//
// Nothing here reads a clock. Time enters with a request or through the function given to
// [NewMaker], is cut to milliseconds ([TimePrecision]) and from then on is part of the snapshot.
package record
