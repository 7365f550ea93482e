package psrp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"example.com/quire/psrp/internal/conformance"
	"example.com/quire/psrp/proto"
)

func fleet(t *testing.T, n int, down func(i int) bool) []Target {
	t.Helper()
	targets := make([]Target, n)
	for i := range targets {
		targets[i] = Target{Name: fmt.Sprintf("host%d", i), Dial: func(context.Context) (Transport, error) {
			if down(i) {
				return nil, errors.New("connection refused")
			}
			conn, _ := startPeer(t, behaviours(), true)
			return conn, nil
		}}
	}
	return targets
}

func TestFanOutReportsEveryHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int32
		events := map[Phase]int{}
		results := FanOut(t.Context(), fleet(t, 200, func(i int) bool { return i%30 == 7 }), FanOutOptions{Throttle: 8, Progress: func(e TargetEvent) { events[e.Phase]++ }},
			func(ctx context.Context, s *Session) (int, error) {
				defer now.Add(-1)
				if n := now.Add(1); n > most.Load() {
					most.Store(n)
				}
				res, err := s.Run(ctx, Cmd("streams"))
				if err != nil {
					return 0, err
				}
				return len(res.Records), nil
			})
		down := 0
		for i, r := range results {
			if r.Target != fmt.Sprintf("host%d", i) {
				t.Fatalf("result %d is of %s", i, r.Target)
			}
			if i%30 == 7 {
				down++
				e, ok := errors.AsType[*TransportError](r.Err)
				if !ok || !e.Unreachable() || r.Phase != PhaseDialing || r.Attempts != 3 {
					t.Errorf("%+v", r)
				}
				continue
			}
			if r.Err != nil || r.Value != 8 || r.Phase != PhaseDone || r.Attempts != 1 {
				t.Errorf("%+v", r)
			}
		}
		if down != 7 || len(results) != 200 || most.Load() > 8 || events[PhaseDone] != 193 {
			t.Errorf("%d down of %d, %d at once, events %v", down, len(results), most.Load(), events)
		}
	})
}

func TestFanOutKeepsHostsApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		results := FanOut(ctx, fleet(t, 6, func(int) bool { return false }), FanOutOptions{
			Throttle: 3, Timeout: 30 * time.Second,
			Allow: func(target string) error {
				if target == "host2" {
					return errors.New("the breaker is open")
				}
				return nil
			},
		}, func(ctx context.Context, s *Session) (string, error) {
			switch s.Server().Protocol.String() {
			case "2.4":
			default:
				return "", errors.New("protocol")
			}
			<-time.After(time.Second)
			if ctx.Err() == nil && strings.HasSuffix(t.Name(), "Apart") {
				cancel() // the rest is not begun any more
			}
			panic("boom")
		})
		cancelled, panicked := 0, 0
		for _, r := range results {
			switch {
			case errors.Is(r.Err, ErrCancelled):
				cancelled++
			case r.Target == "host2":
				if r.Err == nil || r.Attempts != 0 {
					t.Errorf("%+v", r)
				}
			default:
				if e, ok := errors.AsType[*PanicError](r.Err); ok && e.Value == "boom" {
					panicked++
				} else {
					t.Errorf("%+v", r)
				}
			}
		}
		if panicked == 0 || cancelled == 0 || panicked+cancelled != 5 {
			t.Errorf("%d panicked, %d cancelled", panicked, cancelled)
		}
	})
}

func TestFanOutTimeoutIsNoFailedScript(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		results := FanOut(t.Context(), fleet(t, 1, func(int) bool { return false }), FanOutOptions{Timeout: 5 * time.Second}, func(ctx context.Context, s *Session) (*Result, error) {
			return s.Run(ctx, Cmd("sleep"))
		})
		e, ok := errors.AsType[*PipelineError](results[0].Err)
		if !ok || e.State != proto.PipelineStopped || !errors.Is(e, context.DeadlineExceeded) || results[0].Elapsed != 5*time.Second {
			t.Errorf("%+v", results[0])
		}
	})
}

func TestCommandMetadataOfARealServer(t *testing.T) {
	all, err := conformance.Transcripts("tap/testdata/real")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]CommandMetadata{}
	for _, tr := range all {
		if tr.Name != "get-command-metadata" {
			continue
		}
		steps, err := tr.Steps()
		if err != nil {
			t.Fatal(err)
		}
		asked := map[string]bool{}
		for _, s := range steps {
			for _, m := range s.Messages {
				id := m.Header.Pipeline.String()
				asked[id] = asked[id] || m.Header.Type == proto.MessageGetCommandMetadata
				if m.Header.Type != proto.MessagePipelineOutput || !asked[id] {
					continue
				}
				v, err := conformance.ClearDecoder().Decode(m.Body)
				if err != nil {
					t.Fatal(err)
				}
				if _, isCount := proto.MetadataCount(v); isCount {
					continue
				}
				c, err := proto.CommandMetadataOf(v)
				if err != nil {
					t.Fatal(err)
				}
				found[c.Name] = c
				again, err := proto.CommandMetadataOf(c.Value())
				if err != nil || again.Name != c.Name || len(again.Parameters) != len(c.Parameters) || again.Type != c.Type {
					t.Errorf("written and read back: %+v, %v", again, err)
				}
			}
		}
	}
	date, ok := found["Get-Date"]
	if !ok || date.Type != proto.CommandCmdlet || date.Module != "Microsoft.PowerShell.Utility" || len(date.Parameters) < 10 {
		t.Errorf("found %d commands, Get-Date %+v", len(found), date)
	}
}
