package psrp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/quire/psrp/oop"
)

// TestCancelledFanOutReturnsThoughServersDoNotStop has servers that take a stop and never do it.
func TestCancelledFanOutReturnsThoughServersDoNotStop(t *testing.T) {
	for name, o := range map[string]FanOutOptions{"cancelled": {}, "timed out": {Timeout: 5 * time.Second}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &Registry{}
				release := make(chan bool)
				add(r, "Wait-Deaf", func(context.Context, *Call) error {
					<-release
					return nil
				})
				srv := &Server{Registry: r, Limits: ServerLimits{Stopping: time.Hour}}
				var group sync.WaitGroup
				var targets []Target
				for i := range 5 {
					targets = append(targets, Target{Name: fmt.Sprint("host", i), Dial: func(context.Context) (Transport, error) {
						a, b := net.Pipe()
						group.Go(func() {
							_ = srv.Serve(context.Background(), oop.NewConn(b, oop.Server, oop.Options{}), Identity{}) // it is cut off
						})
						return oop.NewConn(a, oop.Client, oop.Options{}), nil
					}})
				}
				ctx, cancel := context.WithCancel(t.Context())
				begin := time.Now()
				if o.Timeout == 0 {
					time.AfterFunc(5*time.Second, cancel)
					o.Throttle = 3
				}
				results := FanOut(ctx, targets, o, func(ctx context.Context, s *Session) (*Result, error) { return s.Run(ctx, Cmd("Wait-Deaf")) })
				if took := time.Since(begin); took > 8*time.Second {
					t.Errorf("it took %v", took)
				}
				for i, r := range results {
					switch {
					case o.Timeout == 0 && i >= 3:
						if !errors.Is(r.Err, ErrCancelled) || r.Phase != PhaseWaiting {
							t.Errorf("%+v", r)
						}
					case r.Phase != PhaseRunning || r.Err == nil || !errors.Is(r.Err, map[bool]error{true: context.Canceled, false: context.DeadlineExceeded}[o.Timeout == 0]):
						t.Errorf("%+v", r)
					}
				}
				close(release)
				group.Wait()
				cancel()
			})
		})
	}
}
