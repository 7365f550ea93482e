package web

import (
	"net"
	"syscall"
)

// refuse drops requests for new connections (SYN) before they reach the queue,
// which can then be emptied without a race: closing the socket resets what is in
// its queue. Clients send the SYN again a second later and find the socket
// closed, or its successor. Without the filter the race is some microseconds long.
func refuse(ln net.Listener) {
	s, ok := ln.(syscall.Conn)
	if !ok {
		return
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return
	}
	// Classic BPF over the TCP header: its octet 13 has the flags, 0x02 is SYN.
	filter := []syscall.SockFilter{
		{Code: syscall.BPF_LD | syscall.BPF_B | syscall.BPF_ABS, K: 13},
		{Code: syscall.BPF_JMP | syscall.BPF_JSET | syscall.BPF_K, Jt: 0, Jf: 1, K: 0x02},
		{Code: syscall.BPF_RET | syscall.BPF_K, K: 0},
		{Code: syscall.BPF_RET | syscall.BPF_K, K: 1 << 18},
	}
	_ = raw.Control(func(fd uintptr) {
		_ = syscall.AttachLsf(int(fd), filter) //nolint:staticcheck // SA1019: what replaces it is another module; a refusal leaves the short race
	})
}
