package psrptest

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"example.com/quire/psrp"
	"example.com/quire/psrp/oop"
)

// Side is who sends a packet.
type Side uint8

// The sides.
const (
	FromServer Side = iota
	FromClient
)

// Action is what becomes of a packet.
type Action uint8

// The actions.
const (
	Drop      Action = iota // it never arrives
	Delay                   // it arrives after Fault.Wait, as all that follows it
	Split                   // it arrives byte by byte
	Duplicate               // it arrives twice
	Corrupt                 // the byte in its middle is an exclamation mark
	Close                   // half of it arrives, and then the end
)

// Fault is something that happens to packets on their way.
type Fault struct {
	From   Side
	Packet int // which packet of that side, from 1; 0 is every one
	Do     Action
	Wait   time.Duration // of Delay
}

// Open serves one client in memory and returns its session. Without faults both ends must end well.
func Open(tb testing.TB, srv *psrp.Server, o psrp.Options, faults ...Fault) *psrp.Session {
	tb.Helper()
	return OpenAs(tb, srv, psrp.Identity{}, o, faults...)
}

// OpenAs is Open for a client that the transport knows.
func OpenAs(tb testing.TB, srv *psrp.Server, id psrp.Identity, o psrp.Options, faults ...Fault) *psrp.Session {
	tb.Helper()
	conn, err := Dialer(tb, srv, id, faults...)(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	s, err := psrp.Open(tb.Context(), conn, o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil && len(faults) == 0 {
			tb.Errorf("psrptest: close the session: %v", err)
		}
	})
	return s
}

// Dialer returns a function that connects to srv, for [psrp.Target] and [psrp.Open]: each call is a
// new client, whose transport the caller closes.
func Dialer(tb testing.TB, srv *psrp.Server, id psrp.Identity, faults ...Fault) func(ctx context.Context) (psrp.Transport, error) {
	tb.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	tb.Cleanup(func() {
		cancel()
		group.Wait()
	})
	return func(context.Context) (psrp.Transport, error) {
		client, server := Pipe(faults...)
		group.Go(func() {
			if err := srv.Serve(ctx, server, id); err != nil && len(faults) == 0 && ctx.Err() == nil {
				tb.Errorf("psrptest: serve: %v", err)
			}
		})
		return client, nil
	}
}

// Pipe returns the two ends of a connection in memory.
func Pipe(faults ...Fault) (client, server *oop.Conn) {
	a, b := net.Pipe()
	end := func(c net.Conn, from Side, role oop.Role) *oop.Conn {
		return oop.NewConn(&faulty{Conn: c, from: from, faults: faults}, role, oop.Options{Confidential: true, Host: "psrptest"})
	}
	return end(a, FromClient, oop.Client), end(b, FromServer, oop.Server)
}

// faulty is one end, whose writes are packets, one each.
type faulty struct {
	net.Conn
	from   Side
	faults []Fault
	sent   int
}

func (f *faulty) Write(line []byte) (int, error) {
	f.sent++
	pieces := [][]byte{line}
	for _, fault := range f.faults {
		if fault.From != f.from || fault.Packet != 0 && fault.Packet != f.sent {
			continue
		}
		switch fault.Do {
		case Drop:
			return len(line), nil
		case Delay:
			timer := time.NewTimer(fault.Wait)
			<-timer.C
		case Split:
			pieces = nil
			for i := range line {
				pieces = append(pieces, line[i:i+1])
			}
		case Duplicate:
			pieces = append(pieces, line)
		case Corrupt:
			broken := append([]byte{}, line...)
			broken[len(broken)/2] = '!'
			pieces = [][]byte{broken}
		case Close:
			_, err := f.Conn.Write(line[:len(line)/2])
			if closed := f.Close(); err == nil {
				err = closed
			}
			return len(line) / 2, err
		}
	}
	for _, p := range pieces {
		if _, err := f.Conn.Write(p); err != nil {
			return 0, err
		}
	}
	return len(line), nil
}
