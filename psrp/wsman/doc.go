// Package wsman connects to Windows hosts by Windows Remote Management (MS-WSMV), as PowerShell
// does for a computer name: SOAP envelopes over HTTPS, or over HTTP with bodies that NTLM encrypts,
// which a default Windows host on port 5985 requires.
//
// Nothing weaker is ever fallen back to. Over plain HTTP, NTLM always seals every body and an
// answer that is not sealed is an error; Basic, and no sealing at all, is refused unless
// Config.AllowPlaintext says otherwise. Over HTTPS the certificate is verified, and NTLM is bound
// to the connection's certificate, so that it cannot be relayed.
package wsman
