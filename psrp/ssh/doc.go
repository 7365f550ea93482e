// Package ssh carries PowerShell remoting over SSH, as PowerShell 7 does: the out-of-process
// framing of package oop in the subsystem "powershell".
//
// A client always verifies the host's key against known_hosts files. A server has nobody to let in
// until it is told whom.
//
//	t, err := ssh.Dial(ctx, ssh.Config{Addr: "host:22", User: "ops", Auth: []ssh.Auth{ssh.Agent("")}})
//	s, err := psrp.Open(ctx, t, psrp.Options{})
//
// The standards are RFC 4251 to 4254, for keys that are asked for keep-alive OpenSSH's PROTOCOL.
package ssh
