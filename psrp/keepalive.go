package psrp

import (
	"context"
	"time"
)

// keepaliveMisses is how many intervals without any packet an asked server has.
const keepaliveMisses = 3

// keepAlive asks the server for an answer when nothing has come for an interval, and takes the
// session for lost when nothing comes then. While a pipeline runs nothing is asked: a server may
// answer only when a runspace is free.
func (s *Session) keepAlive(interval time.Duration) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	var seen uint64 // packets until the last tick
	silent := 0     // ticks since the server was asked
	for {
		select {
		case <-s.done:
			return
		case <-ticker.C:
		}
		s.mu.Lock()
		switch {
		case s.received != seen || !s.opened || len(s.running) > 0:
			seen, silent = s.received, 0
		case s.asked == 0:
			if ci, err := s.machine.Available(); err == nil { // else it is being closed
				s.asked = ci
				s.wake()
			}
		default:
			if silent++; silent == keepaliveMisses {
				s.machine.Lost(&TransportError{Phase: "keepalive", ExitCode: -1, Err: context.DeadlineExceeded})
				s.dispatch()
			}
		}
		s.mu.Unlock()
	}
}
