// Package proto is the PowerShell Remoting Protocol as Go values: packets, fragments and messages
// (MS-PSRP section 2.2), with append-style encoders and decoders that return slices of their input.
// It has no state, no goroutines and no transport. Transports, hosts and readers of captures need
// this package; users of a session need only its record types.
//
//	object -- CLIXML --> message (40-byte header and body) -- cut --> fragments (21-byte header) -- Packet --> transport
//
// Fragment headers are big-endian, message headers little-endian, GUIDs in .NET order.
package proto
