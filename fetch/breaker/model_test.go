package breaker

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestBreakerAgreesWithItsModel runs random calls against a plain machine that remembers
// everything.
func TestBreakerAgreesWithItsModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := Config{ConsecutiveFailures: 3, MinCalls: 6, Window: time.Second, Buckets: 10, OpenFor: time.Second, MaxOpenFor: 4 * time.Second, Probes: 2, CloseAfter: 3}
		b, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		cfg = cfg.withDefaults()
		type outcome struct {
			slice  int64
			failed bool
		}
		type flight struct {
			ticket     Ticket
			generation int
		}
		var (
			now        = b.win.epoch
			state      = Closed
			generation int
			history    []outcome
			streak     int
			until      time.Time
			probes     int
			successes  int
			lastProbe  time.Time
			flights    []flight
		)
		enter := func(s State) {
			state, streak, probes, successes = s, 0, 0, 0
			generation++
			if s == Closed {
				history = nil
			}
		}
		for range rapid.IntRange(1, 150).Draw(t, "steps") {
			switch rapid.SampledFrom([]string{"wait", "call", "call", "done", "done", "done", "hand"}).Draw(t, "step") {
			case "wait":
				now = now.Add(time.Duration(rapid.IntRange(0, 1500).Draw(t, "ms")) * time.Millisecond)
			case "call":
				want := state == Closed || state == Disabled
				switch {
				case state == Open && !now.Before(until):
					enter(HalfOpen)
					want = true
				case state == HalfOpen && probes < cfg.Probes:
					want = true
				case state == HalfOpen && now.Sub(lastProbe) >= cfg.MaxOpenFor:
					enter(HalfOpen)
					want = true
				}
				ticket, err := b.Allow(now)
				if (err == nil) != want {
					t.Fatalf("%v: admitted %t, want %t", state, err == nil, want)
				}
				if err == nil {
					if state == HalfOpen {
						probes++
						lastProbe = now
					}
					flights = append(flights, flight{ticket, generation})
				}
			case "done":
				if len(flights) == 0 {
					continue
				}
				i := rapid.IntRange(0, len(flights)-1).Draw(t, "flight")
				f := flights[i]
				flights = slices.Delete(flights, i, i+1)
				o := rapid.SampledFrom([]Outcome{Success, Success, Failure, Failure, Ignored}).Draw(t, "outcome")
				f.ticket.Done(o, 0, now)
				if f.generation != generation {
					break
				}
				switch {
				case state == HalfOpen && o == Ignored:
					probes--
				case state == HalfOpen && o == Success:
					probes--
					if successes++; successes >= cfg.CloseAfter {
						enter(Closed)
					}
				case state == HalfOpen:
					enter(Open)
					until = b.Until()
				case state == Closed && o != Ignored:
					slice := b.win.number(now)
					history = append(history, outcome{slice, o == Failure})
					streak++
					if o == Success {
						streak = 0
						break
					}
					calls, failures := 0, 0
					for _, h := range history {
						if h.slice > slice-int64(cfg.Buckets) {
							calls++
							if h.failed {
								failures++
							}
						}
					}
					if streak >= cfg.ConsecutiveFailures || calls >= cfg.MinCalls && float64(failures) >= cfg.FailureRatio*float64(calls) {
						enter(Open)
						until = b.Until()
					}
				}
			case "hand":
				switch rapid.IntRange(0, 8).Draw(t, "hand") {
				case 0:
					b.Isolate()
					enter(Isolated)
				case 1:
					b.ForceClose()
					enter(Disabled)
				case 2, 3:
					b.Reset()
					enter(Closed)
				}
			}
			if b.State() != state {
				t.Fatalf("state %v, want %v", b.State(), state)
			}
		}
	})
}
