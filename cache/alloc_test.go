//go:build !race

package cache

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
)

// TestAllocs: a local hit allocates nothing, whichever way it comes. The race
// detector allocates on its own, so the file is not built with it.
func TestAllocs(t *testing.T) {
	c, err := New(Options[string, string]{})
	if err != nil {
		t.Fatal(err)
	}
	defer shut(t, c)
	keys := make([]string, 100)
	for i := range keys {
		keys[i] = fmt.Sprint("posts/", i)
		set(t, c, keys[i], "value")
	}
	text, absent := []byte("posts/42"), []byte("posts/absent")
	ctx, i, found := t.Context(), 0, 0
	for _, tc := range []struct {
		name string
		max  float64
		hit  bool
		f    func() bool
	}{
		{"Peek", 0, true, func() bool { _, ok := c.Peek(keys[i]); return ok }},
		{"Peek absent", 0, false, func() bool { _, ok := c.Peek("absent"); return ok }},
		{"PeekBytes", 0, true, func() bool { _, ok := PeekBytes(c, text); return ok }},
		{"PeekBytes absent", 0, false, func() bool { _, ok := PeekBytes(c, absent); return ok }},
		{"Get", 0, true, func() bool { _, err := c.Get(ctx, keys[i]); return err == nil }},
		{"Get absent", 0, false, func() bool { _, err := c.Get(ctx, "absent"); return err == nil }},
		{"GetOrLoad", 0, true, func() bool { _, err := c.GetOrLoad(ctx, keys[i], nil); return err == nil }},
		// The record. The store makes no new entry, though the life is shorter than before every
		// other time.
		{"Set in place", 1, true, func() bool { return c.Set(ctx, keys[i], "value") == nil }},
	} {
		found = 0
		n := testing.AllocsPerRun(2000, func() {
			i = (i + 1) % len(keys)
			if tc.f() == tc.hit {
				found++
			}
		})
		if n > tc.max || found != 2001 {
			t.Errorf("%s: %v allocations, want at most %v; %d of 2001 as expected", tc.name, n, tc.max, found)
		}
	}
}

var sink string

func BenchmarkHit(b *testing.B) {
	c, err := New(Options[string, string]{})
	if err != nil {
		b.Fatal(err)
	}
	defer shut(b, c)
	keys := make([]string, 1000)
	for i := range keys {
		keys[i] = fmt.Sprint("posts/", i)
		set(b, c, keys[i], "value")
	}
	text := []byte("posts/42")
	ctx := b.Context()
	b.Run("Peek", func(b *testing.B) {
		i := 0
		for b.Loop() {
			i = (i + 1) % len(keys)
			sink, _ = c.Peek(keys[i])
		}
	})
	b.Run("PeekBytes", func(b *testing.B) {
		for b.Loop() {
			sink, _ = PeekBytes(c, text)
		}
	})
	b.Run("Get", func(b *testing.B) {
		i := 0
		for b.Loop() {
			i = (i + 1) % len(keys)
			sink, _ = c.Get(ctx, keys[i])
		}
	})
	b.Run("Set", func(b *testing.B) {
		i := 0
		for b.Loop() {
			i = (i + 1) % len(keys)
			if err := c.Set(ctx, keys[i], "value"); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// TestFullCacheIsWithinItsBound: what it holds takes no more of the heap than its bound, give or
// take a twentieth, though entries of many sizes came and went.
func TestFullCacheIsWithinItsBound(t *testing.T) {
	const bound = 32 << 20
	heap := func() float64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc)
	}
	before := heap()
	c := open(t, Options[string, []byte]{MaxBytes: bound})
	for i := range 200_000 {
		set(t, c, fmt.Sprint("posts/", i), make([]byte, 16+i*7919%240))
	}
	c.store.CleanUp()
	took := heap() - before
	s := c.Stats()
	t.Logf("heap %.3f of the bound, weights %.3f; %d entries of %.0f bytes", took/bound, float64(s.Bytes)/bound, s.Entries, took/float64(s.Entries))
	if s.Evictions == 0 || took > 1.05*bound || took < 0.85*bound {
		t.Errorf("heap %.0f, bound %d; %d entries, %d evicted", took, bound, s.Entries, s.Evictions)
	}
	runtime.KeepAlive(c)
}

// TestWeightIsMemory compares the weights with what the heap says, to which
// the race detector adds its own.
func TestWeightIsMemory(t *testing.T) {
	const n = 100_000
	heap := func() float64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc)
	}
	before := heap()
	c := open(t, Options[string, []byte]{MaxBytes: 256 << 20})
	for i := range n {
		set(t, c, fmt.Sprintf("posts/%010d", i), make([]byte, 64))
	}
	c.store.CleanUp()
	took := heap() - before
	told := c.Stats().Bytes
	t.Logf("heap %.0f bytes per entry, weight %d", took/n, told/n)
	if s := c.Stats(); s.Entries != n {
		t.Fatalf("%d entries", s.Entries)
	}
	if ratio := float64(told) / took; ratio < 0.85 || ratio > 1.25 {
		t.Errorf("weights are %.2f of the heap", ratio)
	}
	runtime.KeepAlive(c)
}

// TestHotFindsTheMostReadKeys: of the true ten most read ones of a million keys, read by Zipf's law
// with exponent 0.99, nine are in the list of ten.
func TestHotFindsTheMostReadKeys(t *testing.T) {
	const keys, reads = 1_000_000, 2_000_000
	sums := make([]float64, keys)
	sum := 0.0
	for i := range sums {
		sum += math.Pow(float64(i+1), -0.99)
		sums[i] = sum
	}
	c := open(t, Options[int, int]{MaxEntries: 1})
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // G404: the same keys each time
	counts := map[int]int{}
	hits := &c.n.stripes[0]
	for range reads {
		k, _ := slices.BinarySearch(sums, r.Float64()*sum)
		if k < 100 {
			counts[k]++
		}
		if hits.hit() {
			c.hot.count(k, same)
		}
	}
	all := make([]int, 0, len(counts))
	for k := range counts {
		all = append(all, k)
	}
	slices.SortFunc(all, func(a, b int) int { return counts[b] - counts[a] })
	found := 0
	top := c.Hot(10)
	for _, h := range top {
		if slices.Contains(all[:10], h.Key) {
			found++
		}
	}
	if found < 9 || len(top) != 10 {
		t.Errorf("%d of the ten most read keys in %v", found, top)
	}
	if share := float64(top[0].Hits) / float64(counts[all[0]]); share < 0.8 || share > 1.25 {
		t.Errorf("%d reads told of the most read key, %d true", top[0].Hits, counts[all[0]])
	}
}
