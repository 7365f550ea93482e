package cache

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestHitsAndMissesAreTheReads: hits + misses = reads, whatever goes on beside.
func TestHitsAndMissesAreTheReads(t *testing.T) {
	c, err := New(Options[int, int]{
		MaxEntries: 300,
		Load: func(_ context.Context, k int) (int, error) {
			switch k % 10 {
			case 0:
				return 0, ErrNotFound
			case 1:
				return 0, errOrigin
			}
			return k, nil
		},
		Policy: Policy{TTL: 20 * time.Millisecond, NegativeTTL: time.Millisecond, ErrorBackoffMin: time.Millisecond},
	})
	if err != nil {
		t.Fatal(err)
	}
	const workers, rounds = 8, 2000
	var wg sync.WaitGroup
	var wrong atomic.Int64
	for w := range workers {
		wg.Go(func() {
			for i := range rounds {
				k := (i*7 + w*13) % 500
				switch i % 8 {
				case 0, 1, 2, 3:
					if v, ok := c.Peek(k); ok && v != k {
						wrong.Add(1)
					}
				default:
					if v, err := c.Get(t.Context(), k); err == nil && v != k {
						wrong.Add(1)
					}
				}
				switch {
				case i%97 == 0:
					_ = c.Set(t.Context(), k, k)
				case i%89 == 0:
					_ = c.Delete(t.Context(), k)
				case i%1999 == 0:
					_ = c.Clear(t.Context())
				case i%50 == 0:
					_ = c.Stats()
				}
			}
		})
	}
	wg.Wait()
	settled(c)
	s := c.Stats()
	if s.Hits+s.Misses != workers*rounds || wrong.Load() != 0 || s.Loading != 0 {
		t.Fatalf("%d reads, %d wrong, stats %+v", workers*rounds, wrong.Load(), s)
	}
	if s.Entries > 300 || s.StaleHits+s.NegativeHits > s.Hits || s.Hits == 0 || s.LoadFailures == 0 {
		t.Fatalf("stats %+v", s)
	}
	shut(t, c)
	if s := c.Stats(); s.Entries != 0 || s.Bytes != 0 {
		t.Fatalf("after Close: %+v", s)
	}
}
