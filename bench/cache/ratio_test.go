package cache

import (
	"context"
	"math/rand/v2"
	"strconv"
	"testing"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/maypok86/otter/v2"

	"example.com/quire/cache"
)

// ratios runs a sequence of keys through caches of so many entries and returns the shares of hits
// of quire's, otter's and an LRU.
func ratios(t *testing.T, size, n int, next func() int) (ours, otters, lrus float64) {
	t.Helper()
	ctx := context.Background()
	c, err := cache.New(cache.Options[int, int]{MaxEntries: size})
	if err != nil {
		t.Fatal(err)
	}
	o := otter.Must(&otter.Options[int, int]{MaximumSize: size})
	defer o.StopAllGoroutines()
	l, err := lru.New[int, int](size)
	if err != nil {
		t.Fatal(err)
	}
	var hits [3]int
	for range n {
		k := next()
		if _, ok := c.Peek(k); ok {
			hits[0]++
		} else if err := c.Set(ctx, k, k); err != nil {
			t.Fatal(err)
		}
		if _, ok := o.GetIfPresent(k); ok {
			hits[1]++
		} else {
			o.Set(k, k)
		}
		if _, ok := l.Get(k); ok {
			hits[2]++
		} else {
			l.Add(k, k)
		}
	}
	if err := c.Close(ctx); err != nil {
		t.Fatal(err)
	}
	share := func(i int) float64 { return float64(hits[i]) / float64(n) }
	return share(0), share(1), share(2)
}

// TestRatioOfHits beside the store below and beside an LRU, on sequences that favour either. What
// is evicted when depends on goroutines, so the bounds leave room.
func TestRatioOfHits(t *testing.T) {
	const universe, n = 50_000, 200_000
	for _, s := range []float64{0.7, 0.99} {
		for _, size := range []int{universe / 100, universe / 10} {
			t.Run("zipf "+strconv.FormatFloat(s, 'g', -1, 64)+" "+strconv.Itoa(size), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(seed, uint64(size))) //nolint:gosec // a fixed sequence
				ours, otters, lrus := ratios(t, size, n, zipf(rng, universe, s))
				t.Logf("%.4f, otter %.4f, LRU %.4f", ours, otters, lrus)
				if ours < otters-0.02 || ours < lrus {
					t.Errorf("%.4f, otter %.4f, LRU %.4f", ours, otters, lrus)
				}
			})
		}
	}
	t.Run("loop", func(t *testing.T) {
		const size = 2000
		i := -1
		ours, otters, lrus := ratios(t, size, n, func() int { i++; return i % (size * 5 / 4) })
		t.Logf("%.4f, otter %.4f, LRU %.4f", ours, otters, lrus)
		if ours < 0.4 || lrus > 0.01 { // the best there is hits 0.8
			t.Errorf("%.4f, otter %.4f, LRU %.4f", ours, otters, lrus)
		}
	})
	t.Run("scans between", func(t *testing.T) {
		rng := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // a fixed sequence
		pick, i := zipf(rng, universe, 0.9), 0
		ours, otters, lrus := ratios(t, 2000, n, func() int {
			if i++; i%20_000 < 5000 {
				return universe + i // a key that never comes again
			}
			return pick()
		})
		t.Logf("%.4f, otter %.4f, LRU %.4f", ours, otters, lrus)
		if ours < lrus+0.02 || ours < otters-0.02 {
			t.Errorf("%.4f, otter %.4f, LRU %.4f", ours, otters, lrus)
		}
	})
}
