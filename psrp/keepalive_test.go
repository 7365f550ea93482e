package psrp

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"example.com/quire/psrp/proto"
)

// deaf is a transport that can lose what comes, as a network does that is gone.
type deaf struct {
	Transport
	gone atomic.Bool
}

func (d *deaf) Recv(ctx context.Context) (proto.Packet, error) {
	for {
		p, err := d.Transport.Recv(ctx)
		if err != nil || !d.gone.Load() {
			return p, err
		}
	}
}

// asked is how many Data packets the server has seen.
func (p *peer) asked() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(slices.DeleteFunc(slices.Clone(p.seen), func(kind string) bool { return kind != proto.PacketData.String() }))
}

func TestKeepaliveAsksAnIdleServerAndNoticesItsLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, p := startPeer(t, behaviours(), true)
		d := &deaf{Transport: conn}
		s, err := Open(t.Context(), d, Options{Keepalive: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		opened := p.asked()
		// Each second interval is silent: in the other the answer comes.
		<-time.After(20*time.Minute + time.Second)
		if n := p.asked() - opened; n != 10 || s.Err() != nil {
			t.Errorf("%d questions in 20 minutes, %v", n, s.Err())
		}

		running, err := s.Start(t.Context(), Cmd("sleep"))
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		busy := p.asked()
		<-time.After(20 * time.Minute)
		if n := p.asked() - busy; n != 0 || s.Err() != nil {
			t.Errorf("%d questions while a pipeline ran, %v", n, s.Err())
		}
		if err := running.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()

		d.gone.Store(true)
		start := time.Now()
		<-s.Done()
		if after := time.Since(start); after < 3*time.Minute || after > 5*time.Minute {
			t.Errorf("the loss was noticed after %v", after)
		}
		_, err = s.Run(t.Context(), Cmd("args"))
		for _, err := range []error{err, s.Err()} {
			if e, ok := errors.AsType[*TransportError](err); !ok || e.Phase != "keepalive" || !e.Timeout() {
				t.Errorf("error %v", err)
			}
		}
		_ = s.Close(t.Context())
	})
}

func TestSessionWithoutKeepaliveAsksNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := openTest(t, Options{})
		opened := p.asked()
		<-time.After(24 * time.Hour)
		if n := p.asked() - opened; n != 0 || s.Err() != nil {
			t.Errorf("%d questions in a day, %v", n, s.Err())
		}
	})
}
