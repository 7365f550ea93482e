//go:build !race

package memory_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"example.com/quire/cache"
)

// open makes a cache that ends with the test.
func open[V any](tb testing.TB, o cache.Options[string, V]) *cache.Cache[string, V] {
	tb.Helper()
	c, err := cache.New(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := c.Close(context.WithoutCancel(tb.Context())); err != nil {
			tb.Errorf("close: %v", err)
		}
	})
	return c
}

func set[V any](tb testing.TB, c *cache.Cache[string, V], k string, v V) {
	tb.Helper()
	if err := c.Set(tb.Context(), k, v); err != nil {
		tb.Fatalf("set %s: %v", k, err)
	}
}

// heap is what is in use of it.
func heap() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// TestAllocs: a local hit allocates nothing, whichever way it comes. The race
// detector allocates on its own, so the file is not built with it.
func TestAllocs(t *testing.T) {
	c := open(t, cache.Options[string, string]{})
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
		{"PeekBytes", 0, true, func() bool { _, ok := cache.PeekBytes(c, text); return ok }},
		{"PeekBytes absent", 0, false, func() bool { _, ok := cache.PeekBytes(c, absent); return ok }},
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
	c := open(b, cache.Options[string, string]{})
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
			sink, _ = cache.PeekBytes(c, text)
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
	before := heap()
	c := open(t, cache.Options[string, []byte]{MaxBytes: bound})
	for i := range 200_000 {
		set(t, c, fmt.Sprint("posts/", i), make([]byte, 16+i*7919%240))
	}
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
	before := heap()
	c := open(t, cache.Options[string, []byte]{MaxBytes: 256 << 20})
	for i := range n {
		set(t, c, fmt.Sprintf("posts/%010d", i), make([]byte, 64))
	}
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
