// Package host is the host of a PowerShell session: the interface that a server calls when a
// pipeline writes to the console, asks the user or reads a key (MS-PSRP 2.2.6). Both sides use the
// same interfaces: a client implements them, or uses [Terminal], [NewScripted] or the zero [Set],
// and a server calls its client's host through the [Set] that [Remote] returns.
package host
