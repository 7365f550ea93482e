package cache

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestLifeOfAnEntry walks one entry through its whole life: fresh, stale while
// revalidated, stale if error, gone.
func TestLifeOfAnEntry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int64
		var down atomic.Bool
		c := open(t, Options[string, string]{
			Load: func(context.Context, string) (string, error) {
				n := calls.Add(1)
				if down.Load() {
					return "", errOrigin
				}
				return fmt.Sprint("v", n), nil
			},
			Policy: plain(Policy{
				TTL: 10 * time.Second, StaleWhileRevalidate: 5 * time.Second, StaleIfError: 60 * time.Second,
				ErrorBackoffMin: time.Second, ErrorBackoffMax: 4 * time.Second,
			}),
		})

		want(t, c, "k", "v1")
		pass(10*time.Second - 1)
		want(t, c, "k", "v1")
		if n := calls.Load(); n != 1 {
			t.Fatalf("%d loads of a fresh entry", n)
		}

		pass(1) // the soft life ends: the old value, and a refresh
		want(t, c, "k", "v1")
		synctest.Wait()
		want(t, c, "k", "v2")
		if s := c.Stats(); s.Refreshes != 1 || s.StaleHits != 1 || s.Loads != 2 {
			t.Fatalf("stats %+v", s)
		}

		pass(15 * time.Second) // past the window: the read waits for the new value
		want(t, c, "k", "v3")
		if s := c.Stats(); s.Refreshes != 1 || s.Loads != 3 {
			t.Fatalf("stats %+v", s)
		}

		down.Store(true)
		pass(15 * time.Second) // 5 s into stale-if-error
		want(t, c, "k", "v3")  // 4th call fails: back-off 1 s
		want(t, c, "k", "v3")
		pass(time.Second - 1)
		want(t, c, "k", "v3")
		if n := calls.Load(); n != 4 {
			t.Fatalf("origin asked %d times within the first back-off, want 4 calls", n)
		}
		for i, pause := range []time.Duration{1, 2 * time.Second, 4 * time.Second, 4 * time.Second} {
			pass(pause)
			want(t, c, "k", "v3")
			want(t, c, "k", "v3")
			if n := calls.Load(); n != int64(5+i) {
				t.Fatalf("origin asked %d times after pause %d, want %d", n, i, 5+i)
			}
		}

		pass(60 * time.Second) // hard life over
		wantErr(t, c, "k", errOrigin)
		_, err := c.Get(t.Context(), "k")
		e, ok := errors.AsType[*LoadError](err)
		if !ok || e.Key != "k" || !e.RetryAt.After(time.Now()) {
			t.Fatalf("error %#v", err)
		}
		down.Store(false)
		pass(time.Until(e.RetryAt))
		if v, err := c.Get(t.Context(), "k"); err != nil || v == "v3" {
			t.Fatalf("after the origin came back: %v, %v", v, err)
		}
	})
}

// TestLifeWithoutLoader: what nobody can replace ends with its soft life.
func TestLifeWithoutLoader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, Options[string, int]{MaxEntries: 10, Policy: plain(Policy{TTL: time.Second})})
		set(t, c, "k", 1)
		pass(time.Second - 1)
		want(t, c, "k", 1)
		pass(1)
		wantErr(t, c, "k", ErrNotFound)
		if v, ok := c.Peek("k"); ok {
			t.Fatalf("peek of a stale entry without a loader = %v", v)
		}
		// A loader of the call's own revives the stale rules.
		v, err := c.GetOrLoad(t.Context(), "k", func(context.Context, string) (int, error) { return 2, nil })
		if err != nil || v != 1 {
			t.Fatalf("stale while revalidate = %v, %v", v, err)
		}
		synctest.Wait()
		want(t, c, "k", 2)
	})
}

// TestPeekRefreshes: Peek serves stale within its window and sets off the
// refresh, if the cache has a loader.
func TestPeekRefreshes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, Options[string, int]{
			MaxEntries: 10,
			Load:       func(context.Context, string) (int, error) { return 2, nil },
			Policy:     plain(Policy{TTL: time.Second, StaleWhileRevalidate: time.Second}),
		})
		if _, ok := c.Peek("k"); ok {
			t.Fatal("peek of nothing")
		}
		if c.Stats().Loads != 0 {
			t.Fatal("peek of nothing loads")
		}
		set(t, c, "k", 1)
		pass(time.Second)
		key := []byte("k")
		if v, ok := PeekBytes(c, key); !ok || v != 1 {
			t.Fatalf("stale peek = %v, %v", v, ok)
		}
		key[0] = 'x' // the refresh has a key of its own
		synctest.Wait()
		if v, ok := c.Peek("k"); !ok || v != 2 {
			t.Fatalf("after the refresh: %v, %v", v, ok)
		}
		pass(2 * time.Second)
		if v, ok := c.Peek("k"); ok {
			t.Fatalf("peek past the window = %v", v)
		}
		if s := c.Stats(); s.Hits != 2 || s.Misses != 2 || s.StaleHits != 1 {
			t.Fatalf("stats %+v", s)
		}
	})
}

// TestOneRefresh: however many reads meet a stale entry, one refresh runs.
func TestOneRefresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int64
		c := open(t, Options[string, int]{
			MaxEntries: 10,
			Load: func(context.Context, string) (int, error) {
				pass(100 * time.Millisecond)
				return int(calls.Add(1)), nil
			},
			Policy: plain(Policy{TTL: time.Second}),
		})
		want(t, c, "k", 1)
		pass(time.Second)
		var wg sync.WaitGroup
		for range 1000 {
			wg.Go(func() { want(t, c, "k", 1) })
		}
		wg.Wait()
		pass(100 * time.Millisecond)
		synctest.Wait()
		want(t, c, "k", 2)
		if s := c.Stats(); calls.Load() != 2 || s.Refreshes != 1 {
			t.Fatalf("%d loads, stats %+v", calls.Load(), s)
		}
	})
}

// TestLoadSoftTimeout: past the revalidation window a read waits for the load,
// but not longer than the soft timeout; the load completes behind it.
func TestLoadSoftTimeout(t *testing.T) {
	for _, off := range []bool{false, true} {
		t.Run(fmt.Sprintf("off=%v", off), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				slow := time.Duration(0)
				n := 0
				p := Policy{TTL: time.Second, StaleWhileRevalidate: -1, LoadSoftTimeout: 300 * time.Millisecond}
				if off {
					p.LoadSoftTimeout = -1
				}
				c := open(t, Options[string, int]{MaxEntries: 10, Policy: plain(p), Load: func(context.Context, string) (int, error) {
					pass(slow)
					n++
					return n, nil
				}})
				want(t, c, "k", 1)
				slow = 2 * time.Second
				pass(time.Second)
				start := time.Now()
				if off {
					want(t, c, "k", 2)
					if d := time.Since(start); d != slow {
						t.Fatalf("waited %v", d)
					}
					return
				}
				want(t, c, "k", 1)
				if d := time.Since(start); d != 300*time.Millisecond {
					t.Fatalf("waited %v, want the soft timeout", d)
				}
				pass(slow)
				want(t, c, "k", 2)
			})
		})
	}
}

// TestSoftTimeoutAfterSet: a read that waits for a slow load is not kept
// waiting, nor given the old value, when somebody sets the key.
func TestSoftTimeoutAfterSet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, Options[string, int]{
			MaxEntries: 10,
			Load: func(context.Context, string) (int, error) {
				pass(5 * time.Second)
				return 2, nil
			},
			Policy: plain(Policy{TTL: time.Second, StaleWhileRevalidate: -1}),
		})
		set(t, c, "k", 1)
		pass(time.Second)
		go func() {
			pass(100 * time.Millisecond)
			set(t, c, "k", 3)
		}()
		start := time.Now()
		want(t, c, "k", 3)
		if d := time.Since(start); d != 250*time.Millisecond {
			t.Fatalf("waited %v", d)
		}
	})
}

// TestLoadTimeout releases the readers of a loader that ignores its context.
func TestLoadTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		var cause error
		c := open(t, Options[string, int]{
			MaxEntries: 10,
			Load: func(ctx context.Context, _ string) (int, error) {
				<-free
				cause = ctx.Err()
				return 1, nil
			},
			Policy: plain(Policy{LoadTimeout: 3 * time.Second, ErrorBackoffMin: -1}),
		})
		start := time.Now()
		wantErr(t, c, "k", context.DeadlineExceeded)
		if d := time.Since(start); d != 3*time.Second {
			t.Fatalf("released after %v", d)
		}
		close(free)
		synctest.Wait()
		if !errors.Is(cause, context.DeadlineExceeded) {
			t.Fatalf("context of the late loader: %v", cause)
		}
		if v, ok := c.Peek("k"); ok {
			t.Fatalf("the late result %v was kept", v)
		}
		if s := c.Stats(); s.LoadFailures != 1 || s.Loading != 0 {
			t.Fatalf("stats %+v", s)
		}
	})
}

// TestEarlyRefresh drives XFetch with known draws.
func TestEarlyRefresh(t *testing.T) {
	for _, tc := range []struct {
		name   string
		beta   float64
		left   time.Duration // of the soft life, at the read
		random float64
		early  bool
	}{
		// delta is 1 s: the read refreshes when -ln(1-random)*beta >= left.
		{"unlucky draw", 1, time.Second, 1 - math.Exp(-0.99), false},
		{"lucky draw", 1, time.Second, 1 - math.Exp(-1.01), true},
		{"beta 2 doubles the reach", 2, 2 * time.Second, 1 - math.Exp(-1.01), true},
		{"outside of the window nothing is drawn", 1, 11 * time.Second, 1 - 1e-300, false},
		{"off", -1, 1, 1 - 1e-12, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := 0
				c := open(t, Options[string, int]{
					MaxEntries: 10,
					Load: func(context.Context, string) (int, error) {
						pass(time.Second)
						n++
						return n, nil
					},
					Policy: Policy{TTL: 60 * time.Second, Jitter: -1, EarlyBeta: tc.beta},
				})
				c.random = func() float64 { return tc.random }
				want(t, c, "k", 1)
				pass(60*time.Second - tc.left)
				want(t, c, "k", 1)
				if got := c.Stats().Refreshes == 1; got != tc.early {
					t.Fatalf("refreshed = %v", got)
				}
			})
		})
	}
}

// TestEarlyRefreshFirst: with real draws, a steadily read key is refreshed
// before its soft life ends, so no read ever meets a stale value.
func TestEarlyRefreshFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, Options[string, int]{
			MaxEntries: 10,
			Load: func(context.Context, string) (int, error) {
				pass(time.Second)
				return 1, nil
			},
			Policy: Policy{TTL: time.Minute},
		})
		for range 30_000 {
			want(t, c, "k", 1)
			pass(20 * time.Millisecond)
		}
		s := c.Stats()
		if s.StaleHits != 0 || s.Misses != 1 || s.Refreshes < 9 || s.Refreshes > 15 {
			t.Fatalf("stats %+v", s)
		}
	})
}

// TestNegativeLife: the loader's ErrNotFound is remembered for NegativeTTL and
// replaces a stale value.
func TestNegativeLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls int
		exists := true
		c := open(t, Options[string, int]{
			MaxEntries: 10,
			Load: func(context.Context, string) (int, error) {
				calls++
				if !exists {
					return 0, fmt.Errorf("no row: %w", ErrNotFound)
				}
				return calls, nil
			},
			Policy: plain(Policy{TTL: time.Second, StaleWhileRevalidate: -1, NegativeTTL: 2 * time.Second}),
		})
		want(t, c, "k", 1)
		exists = false
		pass(time.Second)
		wantErr(t, c, "k", ErrNotFound)
		if _, ok := c.Peek("k"); ok {
			t.Fatal("peek finds what does not exist")
		}
		pass(2*time.Second - 1)
		wantErr(t, c, "k", ErrNotFound)
		if calls != 2 {
			t.Fatalf("%d loads", calls)
		}
		exists = true
		pass(1)
		want(t, c, "k", 3)
		if s := c.Stats(); s.NegativeHits != 1 || s.LoadFailures != 0 {
			t.Fatalf("stats %+v", s)
		}
	})
}

// TestEntriesWrittenTogetherEndApart: 10 000 entries written at once neither refresh nor expire
// at once.
func TestEntriesWrittenTogetherEndApart(t *testing.T) {
	h := newManualClock()
	c := open(t, Options[int, int]{MaxEntries: 20_000, clock: h.clock(), Policy: Policy{TTL: 100 * time.Second, StaleIfError: 200 * time.Second}})
	const n = 10_000
	for i := range n {
		set(t, c, i, i)
	}
	soft, hard := map[int64]int{}, map[int64]int{}
	now := h.ns.Load()
	c.store.Range(func(_ int, r *record[int]) bool {
		if r.soft <= now+int64(90*time.Second)-1 || r.soft > now+int64(100*time.Second) || r.hard != r.soft+int64(200*time.Second) {
			t.Fatalf("soft %v, hard %v after the write", time.Duration(r.soft-now), time.Duration(r.hard-now))
		}
		soft[(r.soft-now)/int64(100*time.Millisecond)]++
		hard[(r.hard-now)/int64(100*time.Millisecond)]++
		return true
	})
	for _, m := range []map[int64]int{soft, hard} {
		if len(m) < 100 {
			t.Fatalf("lives end in %d different tenths of a second", len(m))
		}
		for at, k := range m {
			if k > n/100*2 {
				t.Fatalf("%d entries end in tenth %d", k, at)
			}
		}
	}
}

// TestShorterLifeThanBeforeIsTheOneThatCounts: the store may hold a record a little past its life
// if that which it replaced was to live longer. No read finds it.
func TestShorterLifeThanBeforeIsTheOneThatCounts(t *testing.T) {
	h := newManualClock()
	c := open(t, Options[string, string]{clock: h.clock(), Policy: plain(Policy{})})
	ctx := t.Context()
	for _, life := range []time.Duration{100 * time.Second, 95 * time.Second} {
		if _, err := c.SetWith(ctx, "k", "old", WriteOptions{TTL: life, StaleWhileRevalidate: -1, StaleIfError: -1}); err != nil {
			t.Fatal(err)
		}
	}
	h.advance(94 * time.Second)
	if v, err := c.Get(ctx, "k"); v != "old" || err != nil {
		t.Fatalf("%q, %v before the end of its life", v, err)
	}
	h.advance(2 * time.Second)
	if _, held := c.store.Look("k"); !held {
		t.Fatal("the store does not hold it: this test shows nothing")
	}
	if _, ok := c.Peek("k"); ok {
		t.Error("Peek finds it")
	}
	if _, ok := PeekBytes(c, []byte("k")); ok {
		t.Error("PeekBytes finds it")
	}
	if _, err := c.Get(ctx, "k"); !errors.Is(err, ErrNotFound) {
		t.Errorf("Get: %v", err)
	}
	if _, err := c.GetEntry(ctx, "k", ReadOptions{}); !errors.Is(err, ErrNotFound) {
		t.Errorf("GetEntry: %v", err)
	}
	if m, err := c.GetMany(ctx, []string{"k"}, nil); len(m) != 0 {
		t.Errorf("GetMany: %v, %v", m, err)
	}
	if _, err := c.Update(ctx, "k", func(old string, ok bool) (string, Op, error) {
		if ok {
			t.Errorf("Update is given %q", old)
		}
		return "", Keep, nil
	}); err != nil {
		t.Error(err)
	}
	failing := errors.New("the origin fails")
	if v, err := c.GetOrLoad(ctx, "k", func(context.Context, string) (string, error) { return "", failing }); !errors.Is(err, failing) {
		t.Errorf("GetOrLoad of an origin that fails: %q, %v", v, err)
	}
}
