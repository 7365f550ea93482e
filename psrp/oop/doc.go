// Package oop is PowerShell's out-of-process framing: one packet per line, over standard input and
// output, SSH, Unix sockets or any other stream. It has no public standard; the package follows the
// public sources and recordings of PowerShell 7.
//
//	<Data Stream='Default' PSGuid='00000000-0000-0000-0000-000000000000'>BASE64</Data>
//	<DataAck PSGuid='00000000-0000-0000-0000-000000000000' />
//
// A [Conn] moves packets and keeps no state of the protocol: acknowledgements and the send window
// are the session's business.
package oop
