package fetch

import (
	"context"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/quire/fetch/limit"
)

// degrading is a server that gets less done the more it has in hand. Up to its capacity a request
// takes an exponential time around base; past it that grows with the square of the load, so that at
// three times its capacity it does a third of what it could. What it has not finished within
// patience it gives up with 503, and the work was for nothing.
type degrading struct {
	capacity       int
	base, patience time.Duration

	mu     sync.Mutex
	random *rand.Rand
	inHand int
}

// RoundTrip implements http.RoundTripper.
func (s *degrading) RoundTrip(req *http.Request) (*http.Response, error) {
	s.mu.Lock()
	s.inHand++
	load := max(float64(s.inHand)/float64(s.capacity), 1)
	takes := time.Duration(s.random.ExpFloat64() * load * load * float64(s.base))
	s.mu.Unlock()
	err := wait(req, min(takes, s.patience))
	s.mu.Lock()
	s.inHand--
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	status := http.StatusOK
	if takes > s.patience {
		status = http.StatusServiceUnavailable
	}
	return reply(req, status), nil
}

// 60 callers want one answer after the other for a minute and ask until they have it, through a
// bound in flight: one that follows the server, and one that was set for a server three times as
// large.
func TestAdaptiveLimitOnADegradingServer(t *testing.T) {
	const callers, capacity, lasts = 60, 10, time.Minute
	run := func(bound *limit.Bulkhead, err error) (good int, p99 time.Duration) {
		if err != nil {
			t.Fatal(err)
		}
		synctest.Test(t, func(t *testing.T) {
			rt := bound.Layer(&degrading{
				capacity: capacity, base: 10 * time.Millisecond, patience: 50 * time.Millisecond,
				random: rand.New(rand.NewPCG(seed, 13)), //nolint:gosec // a fixed stream of inputs
			})
			ctx, cancel := context.WithTimeout(t.Context(), lasts)
			defer cancel()
			var mu sync.Mutex
			var took []time.Duration
			var wg sync.WaitGroup
			for range callers {
				wg.Go(func() {
					for start := time.Now(); ctx.Err() == nil; {
						if get(ctx, rt) != http.StatusOK {
							continue
						}
						mu.Lock()
						took = append(took, time.Since(start))
						mu.Unlock()
						start = time.Now()
					}
				})
			}
			wg.Wait()
			slices.Sort(took)
			good, p99 = len(took), took[len(took)*99/100]
		})
		return good, p99
	}
	fixed, fixedTail := run(limit.NewBulkhead(limit.BulkheadConfig{Max: 3 * capacity, Queue: callers}))
	adaptive, adaptiveTail := run(limit.NewAdaptive(limit.AdaptiveConfig{Queue: callers}))
	t.Logf("answers: adaptive %d, fixed %d (%.2f times); p99: adaptive %v, fixed %v (%.2f times)",
		adaptive, fixed, float64(adaptive)/float64(fixed), adaptiveTail, fixedTail, adaptiveTail.Seconds()/fixedTail.Seconds())
	if fixed == 0 || 10*adaptive < 13*fixed {
		t.Errorf("%d answers through the adaptive bound, %d through the fixed one; want 1.3 times as many", adaptive, fixed)
	}
	if 2*adaptiveTail > fixedTail {
		t.Errorf("p99 %v through the adaptive bound, %v through the fixed one; want half at most", adaptiveTail, fixedTail)
	}
}
