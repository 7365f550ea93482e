//go:build unix

package web

import (
	"errors"
	"net"
	"os"
	"syscall"
)

// sweep takes all that is in the queue of a listener and stops it, with nothing between the look
// that finds no more and the end: what comes in that time is reset. Once nobody can be kept from
// connecting (see refuse), that is one connection at most, and mostly none. false is for a listener
// whose socket is out of reach.
func sweep(ln net.Listener) (queued []net.Conn, ok bool) {
	s, ok := ln.(syscall.Conn)
	if !ok {
		return nil, false
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return nil, false
	}
	var files []int
	err = raw.Control(func(fd uintptr) {
		_ = syscall.Listen(int(fd), 0) // from now on one connection may wait
		syscall.ForkLock.RLock()       // no child gets what is accepted
		defer syscall.ForkLock.RUnlock()
		for len(files) < longQueue {
			n, _, err := syscall.Accept(int(fd))
			if errors.Is(err, syscall.EINTR) || errors.Is(err, syscall.ECONNABORTED) {
				continue
			}
			if err != nil {
				break
			}
			syscall.CloseOnExec(n)
			files = append(files, n)
		}
		_ = syscall.Shutdown(int(fd), syscall.SHUT_RDWR) // it is closed all the same
	})
	for _, n := range files {
		f := os.NewFile(uintptr(n), "")
		if c, err := net.FileConn(f); err == nil {
			queued = append(queued, c)
		}
		_ = f.Close() // FileConn has one of its own
	}
	return queued, err == nil
}
