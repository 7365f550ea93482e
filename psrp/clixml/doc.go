// Package clixml reads and writes CLIXML, the XML in which PowerShell serialises objects
// (MS-PSRP section 2.2.5), exactly: every primitive with its width and range, objects with their
// type names, adapted and extended properties, containers, references and cycles. A document that
// PowerShell wrote re-encodes byte for byte.
//
// A [Value] is one CLIXML value. [Encoder] appends values to a buffer and [Decoder] reads one back;
// both may be reused and have one owner at a time. [Marshal] and [Unmarshal] map Go values by
// struct tags. Values that nobody changes may be read by any number of goroutines.
//
// Received type names never select Go code, a received script block stays text, and a decoder
// works within [Limits]: hostile input ends in a typed error that names the offset.
package clixml
