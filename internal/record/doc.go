// Package record is the domain of Quire: documents of record and how they are made.
//
// A request names a template and gives data, or names sources to collect. The collected data is
// frozen into a [Snapshot]: canonical JSON with its time, named by its hash. Template, snapshot,
// options, space and signer together identify a [Document]. The same inputs give the same
// document, which is made once. Its bytes are committed before the document and its [Receipt] are
// saved, so every document that is listed can be read. With the receipt, anyone can render the
// file again and compare.
//
// [Maker] does this: Make makes and stores a document, Render does the same without storing
// anything, and Remake renders a stored document again and compares a file with it. The package
// does no I/O and imports no adapter. It declares the interfaces that Maker needs ([Collector],
// [Engine], [Blobs], [Documents], [Templates], [Reports]); the packages collect, render, blob,
// store and templates implement them.
//
// Nothing here reads a clock. Time comes with a request or from the function given to [NewMaker],
// is truncated to milliseconds ([TimePrecision]) and is part of the snapshot from then on.
package record
