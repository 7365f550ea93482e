// Package ntlm is the client of NTLM version 2 (MS-NLMP) as Windows Remote Management needs it:
// authentication of one connection, bound to its TLS channel, and encryption of its messages. NTLM
// version 1, LM responses and sessions without 128-bit keys are refused.
//
// NTLM proves a password without sending it, and protects bodies by RC4 and HMAC-MD5: prefer HTTPS
// where the host offers it.
package ntlm
