// Package host is the host of a PowerShell session: what a server calls when a pipeline writes to
// the console, asks the user or reads a key (MS-PSRP 2.2.6). The same interfaces serve both sides:
// a client implements them, or takes [Terminal], [NewScripted] or the zero [Set], and a server
// calls its client's host through the [Set] that [Remote] returns.
package host
