// Package proto is the PowerShell Remoting Protocol as Go values: packets, fragments and messages
// (MS-PSRP section 2.2), with append-style encoders and decoders that return views. It has no
// state, no goroutines and no transport: those who move bytes, answer host calls or read captures
// need this package, users of a session only its record types.
//
//	object -- CLIXML --> message (40-byte header and body) -- cut --> fragments (21-byte header) -- Packet --> transport
//
// Fragment headers are big-endian, message headers little-endian, GUIDs in .NET order.
package proto
