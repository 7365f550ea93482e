package cache

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

type post struct {
	ID   int
	Tags []string
	Next *post
}

// TestR02OneTypeOnEveryPath: set, loaded and refreshed reads give the same
// concrete type, deeply equal, also when the value is behind an interface.
func TestR02OneTypeOnEveryPath(t *testing.T) {
	for _, v := range []any{
		post{ID: 1, Tags: []string{"a"}, Next: &post{ID: 2}}, &post{ID: 3}, "text", []byte("raw"), 42, map[string]int{"a": 1},
	} {
		t.Run(fmt.Sprintf("%T", v), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := open(t, Options[string, any]{
					MaxEntries: 10,
					Load:       func(context.Context, string) (any, error) { return v, nil },
					Policy:     plain(Policy{TTL: time.Second}),
				})
				check := func(path string, got any, err error) {
					t.Helper()
					if err != nil {
						t.Fatalf("%s: %v", path, err)
					}
					if d := cmp.Diff(v, got); d != "" || fmt.Sprintf("%T", got) != fmt.Sprintf("%T", v) {
						t.Fatalf("%s gives %T: %s", path, got, d)
					}
				}
				got, err := c.Get(t.Context(), "loaded")
				check("cold", got, err)
				got, err = c.Get(t.Context(), "loaded")
				check("warm", got, err)
				pass(time.Second)
				got, err = c.Get(t.Context(), "loaded")
				check("stale", got, err)
				synctest.Wait()
				got, err = c.Get(t.Context(), "loaded")
				check("refreshed", got, err)
				set(t, c, "set", v)
				got, err = c.Get(t.Context(), "set")
				check("own write", got, err)
				got, ok := PeekBytes(c, []byte("set"))
				if !ok {
					t.Fatal("not held")
				}
				check("peek", got, nil)
			})
		})
	}
}

// TestR06OvertakenLoadIsNotKept: a load overtaken by Delete, Set or Clear does
// not come back, and its readers get nothing older than what the key holds.
func TestR06OvertakenLoadIsNotKept(t *testing.T) {
	for _, tc := range []struct {
		name     string
		write    func(t *testing.T, c *Cache[string, string])
		reader   string // what the read that began before the write gets
		held     string // what the cache holds afterwards, "" for nothing
		loadErr  error
		overtake uint64
	}{
		{"Set", func(t *testing.T, c *Cache[string, string]) { t.Helper(); set(t, c, "k", "new") }, "new", "new", nil, 1},
		{"Set, failing load", func(t *testing.T, c *Cache[string, string]) { t.Helper(); set(t, c, "k", "new") }, "new", "new", errOrigin, 1},
		{"Set, load finds nothing", func(t *testing.T, c *Cache[string, string]) { t.Helper(); set(t, c, "k", "new") }, "new", "new", ErrNotFound, 1},
		{"Delete", func(t *testing.T, c *Cache[string, string]) {
			t.Helper()
			if err := c.Delete(t.Context(), "k"); err != nil {
				t.Fatal(err)
			}
		}, "old", "", nil, 1},
		{"Delete, load finds nothing", func(t *testing.T, c *Cache[string, string]) {
			t.Helper()
			if err := c.Delete(t.Context(), "k"); err != nil {
				t.Fatal(err)
			}
		}, "not found", "", ErrNotFound, 1},
		{"Clear", func(t *testing.T, c *Cache[string, string]) {
			t.Helper()
			if err := c.Clear(t.Context()); err != nil {
				t.Fatal(err)
			}
		}, "old", "", nil, 1},
		{"Delete, failing load", func(t *testing.T, c *Cache[string, string]) {
			t.Helper()
			if err := c.Delete(t.Context(), "k"); err != nil {
				t.Fatal(err)
			}
		}, "failed", "", errOrigin, 1},
		{"Set of another key", func(t *testing.T, c *Cache[string, string]) { t.Helper(); set(t, c, "other", "new") }, "old", "old", nil, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := open(t, Options[string, string]{Policy: plain(Policy{})})
				free := make(chan struct{})
				got := make(chan string, 1)
				go func() {
					v, err := c.GetOrLoad(t.Context(), "k", func(context.Context, string) (string, error) {
						<-free
						return "old", tc.loadErr
					})
					switch {
					case errors.Is(err, ErrNotFound):
						v = "not found"
					case err != nil:
						v = "failed"
					}
					got <- v
				}()
				synctest.Wait()
				tc.write(t, c)
				close(free)
				if v := <-got; v != tc.reader {
					t.Errorf("the waiting read got %q, want %q", v, tc.reader)
				}
				synctest.Wait()
				if v, _ := c.Peek("k"); v != tc.held {
					t.Errorf("held afterwards: %q, want %q", v, tc.held)
				}
				if s := c.Stats(); s.Overtaken != tc.overtake {
					t.Errorf("stats %+v", s)
				}
			})
		})
	}
}

// TestR06LaterReadsBeginAnew: a read after a Delete or Clear never joins the
// load that began before it.
func TestR06LaterReadsBeginAnew(t *testing.T) {
	for _, write := range []string{"Delete", "Clear"} {
		t.Run(write, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := open(t, Options[string, string]{})
				origin := "deleted"
				free := make(chan struct{})
				load := func(context.Context, string) (string, error) {
					v := origin
					<-free
					return v, nil
				}
				go func() { _, _ = c.GetOrLoad(t.Context(), "k", load) }()
				synctest.Wait()
				origin = "new"
				err := c.Clear(t.Context())
				if write == "Delete" {
					err = c.Delete(t.Context(), "k")
				}
				if err != nil {
					t.Fatal(err)
				}
				time.AfterFunc(time.Second, func() { close(free) })
				v, err := c.GetOrLoad(t.Context(), "k", load)
				if err != nil || v != "new" {
					t.Fatalf("afterwards: %q, %v", v, err)
				}
				synctest.Wait()
				if v, _ := c.Peek("k"); v != "new" {
					t.Fatalf("held: %q", v)
				}
			})
		})
	}
}

// TestR14LateReaderLooksAgain: a reader that found nothing, and comes to begin
// a load when another one has just ended, looks again and does not repeat it.
func TestR14LateReaderLooksAgain(t *testing.T) {
	c := open(t, Options[string, string]{})
	set(t, c, "k", "v")
	load := func(context.Context, string) (string, error) { return "again", nil }
	if f, joined, err := c.begin(t.Context(), "k", load, nil); f != nil || joined || err != nil {
		t.Fatalf("begin after a look that is out of date: %v, %v, %v", f, joined, err)
	}
	if s := c.Stats(); s.Loads != 0 {
		t.Fatalf("stats %+v", s)
	}
}

// TestR07RefusedWriteChangesNothing.
func TestR07RefusedWriteChangesNothing(t *testing.T) {
	c := open(t, Options[string, string]{MaxBytes: 1 << 20})
	set(t, c, "k", "good")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Set(ended, "k", "bad"); !errors.Is(err, context.Canceled) {
		t.Errorf("set with an ended context: %v", err)
	}
	if err := c.Delete(ended, "k"); !errors.Is(err, context.Canceled) {
		t.Errorf("delete with an ended context: %v", err)
	}
	if err := c.Clear(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("clear with an ended context: %v", err)
	}
	if err := c.Set(t.Context(), "k", strings.Repeat("x", 1<<18)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("set of a quarter and more: %v", err)
	}
	if err := c.Set(t.Context(), strings.Repeat("k", 1025), ""); !errors.Is(err, ErrTooLarge) {
		t.Errorf("set with a long key: %v", err)
	}
	if _, err := c.SetWith(t.Context(), "k", "bad", WriteOptions{TTL: -1}); err == nil {
		t.Error("negative TTL taken")
	}
	want(t, c, "k", "good")
	if s := c.Stats(); s.Sets != 1 || s.Deletes+s.Clears != 0 || s.Refused != 2 || s.Entries != 1 {
		t.Errorf("stats %+v", s)
	}
}

// TestR08MaxBytesIsBytes: the bound holds after every single write, and the
// reported size is that of what is held.
func TestR08MaxBytesIsBytes(t *testing.T) {
	const most = 1 << 20
	c := open(t, Options[int, []byte]{MaxBytes: most})
	for i := range 5000 {
		set(t, c, i, make([]byte, 64<<10))
		if s := c.Stats(); s.Bytes > most {
			t.Fatalf("after %d writes: %d bytes", i+1, s.Bytes)
		}
	}
	c.store.CleanUp() // eviction to below the slack may be under way
	held := 0
	for i := range 5000 {
		if v, ok := c.Peek(i); ok {
			held++
			if len(v) != 64<<10 {
				t.Fatalf("value of %d bytes: truncated", len(v))
			}
		}
	}
	s := c.Stats()
	if held < 10 || held > 15 || s.Entries != int64(held) || s.Evictions != uint64(5000-held) {
		t.Fatalf("%d held, stats %+v", held, s)
	}
	if low := int64(held) * (64 << 10); s.Bytes < low || s.Bytes > low+int64(held)*512 {
		t.Fatalf("%d bytes reported for %d values of 64 KiB", s.Bytes, held)
	}
}

// TestR08SizeIsLive: the size follows replacement, removal, expiry and Clear.
func TestR08SizeIsLive(t *testing.T) {
	h := newHand()
	c := open(t, Options[string, string]{clock: h.clock(), Policy: plain(Policy{TTL: time.Second})})
	base := int64(c.overhead)
	step := func(name string, want int64, entries int64) {
		t.Helper()
		settled(c)
		if s := c.Stats(); s.Bytes != want || s.Entries != entries {
			t.Fatalf("%s: %d bytes in %d entries, want %d in %d", name, s.Bytes, s.Entries, want, entries)
		}
	}
	set(t, c, "a", "1234")
	set(t, c, "bb", "1234")
	step("two", 2*base+1+2+8, 2)
	set(t, c, "a", "12345678")
	step("replaced", 2*base+1+2+12, 2)
	if err := c.Delete(t.Context(), "bb"); err != nil {
		t.Fatal(err)
	}
	step("deleted", base+1+8, 1)
	h.advance(2 * time.Hour)
	set(t, c, "c", "")
	c.store.CleanUp()
	step("expired", base+1, 1)
	if err := c.Clear(t.Context()); err != nil {
		t.Fatal(err)
	}
	step("cleared", 0, 0)
	if s := c.Stats(); s.Expirations != 1 || s.Evictions != 0 {
		t.Fatalf("stats %+v", s)
	}
}

// TestR08WeightIsMemory compares the weights with what the heap says.
func TestR08WeightIsMemory(t *testing.T) {
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

// TestR11Contexts: a reader's context ends its own waiting and nothing else.
func TestR11Contexts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type valueKey struct{}
		var calls atomic.Int64
		var seen any
		c := open(t, Options[string, string]{Load: func(ctx context.Context, _ string) (string, error) {
			calls.Add(1)
			seen = ctx.Value(valueKey{})
			select {
			case <-time.After(2 * time.Second):
				return "v", nil
			case <-ctx.Done():
				return "", ctx.Err()
			}
		}})

		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := c.Get(ended, "k"); !errors.Is(err, context.Canceled) || calls.Load() != 0 {
			t.Fatalf("ended context: %v, %d loads", err, calls.Load())
		}

		// The first caller leaves, the second stays.
		first, cancel := context.WithTimeout(context.WithValue(t.Context(), valueKey{}, "trace"), time.Second)
		defer cancel()
		var wg sync.WaitGroup
		start := time.Now()
		wg.Go(func() {
			if _, err := c.Get(first, "k"); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("first: %v", err)
			}
			if d := time.Since(start); d != time.Second {
				t.Errorf("first left after %v", d)
			}
		})
		synctest.Wait()
		wg.Go(func() { want(t, c, "k", "v") })
		wg.Wait()
		if calls.Load() != 1 || seen != "trace" {
			t.Fatalf("%d loads, context value %v", calls.Load(), seen)
		}

		// All leave: the load goes on and fills the cache.
		alone, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := c.Get(alone, "k2"); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		pass(time.Second)
		synctest.Wait()
		if v, ok := c.Peek("k2"); !ok || v != "v" {
			t.Fatal("the abandoned load did not fill the cache")
		}
	})
}

// TestR12ZeroAndAbsent: nil and zero are values; absent is asked once per
// NegativeTTL.
func TestR12ZeroAndAbsent(t *testing.T) {
	t.Run("nil is a hit", func(t *testing.T) {
		c := open(t, Options[string, *post]{MaxEntries: 10, Load: func(context.Context, string) (*post, error) { return nil, nil }})
		for range 3 {
			want(t, c, "k", nil)
		}
		if v, ok := c.Peek("k"); !ok || v != nil {
			t.Fatalf("peek = %v, %v", v, ok)
		}
		if s := c.Stats(); s.Loads != 1 || s.Hits != 3 {
			t.Fatalf("stats %+v", s)
		}
	})
	t.Run("zero is a hit", func(t *testing.T) {
		c := open(t, Options[string, string]{})
		set(t, c, "", "")
		want(t, c, "", "")
		if v, ok := PeekBytes(c, nil); !ok || v != "" {
			t.Fatalf("peek = %q, %v", v, ok)
		}
	})
	t.Run("absent", func(t *testing.T) {
		h := newHand()
		c := open(t, Options[string, string]{clock: h.clock(), Policy: plain(Policy{}), Load: func(context.Context, string) (string, error) { return "", ErrNotFound }})
		for range 3 {
			for range 100 {
				wantErr(t, c, "k", ErrNotFound)
			}
			h.advance(5 * time.Second)
		}
		if s := c.Stats(); s.Loads != 3 {
			t.Fatalf("%d loads in three times NegativeTTL", s.Loads)
		}
	})
	t.Run("absent, off", func(t *testing.T) {
		c := open(t, Options[string, string]{Policy: Policy{NegativeTTL: -1}, Load: func(context.Context, string) (string, error) { return "", ErrNotFound }})
		for range 3 {
			wantErr(t, c, "k", ErrNotFound)
		}
		if s := c.Stats(); s.Loads != 3 || s.Entries != 0 {
			t.Fatalf("stats %+v", s)
		}
	})
}

// TestR13StatsUnderLoad: hits + misses = reads, whatever goes on beside.
func TestR13StatsUnderLoad(t *testing.T) {
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
		Policy: Policy{TTL: 5 * time.Millisecond, NegativeTTL: time.Millisecond, ErrorBackoffMin: time.Millisecond},
	})
	if err != nil {
		t.Fatal(err)
	}
	const workers, rounds = 8, 4000
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

// TestR14OneLoadPerColdKey: 1 000 readers of a cold key, one load.
func TestR14OneLoadPerColdKey(t *testing.T) {
	for _, took := range []time.Duration{0, time.Second} {
		t.Run(took.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var calls atomic.Int64
				c := open(t, Options[string, int]{MaxEntries: 10, Load: func(context.Context, string) (int, error) {
					if took > 0 {
						pass(took)
					}
					return int(calls.Add(1)), nil
				}})
				var wg sync.WaitGroup
				for range 1000 {
					wg.Go(func() { want(t, c, "k", 1) })
				}
				wg.Wait()
				if n := calls.Load(); n != 1 {
					t.Fatalf("%d loads", n)
				}
			})
		})
	}
}

// TestR23NewerSetWins: a refresh never overwrites a newer Set, including one
// that follows a stale read.
func TestR23NewerSetWins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, Options[string, string]{
			Load: func(context.Context, string) (string, error) {
				pass(time.Second)
				return "loaded", nil
			},
			Policy: plain(Policy{TTL: 10 * time.Second}),
		})
		set(t, c, "k", "first")
		pass(10 * time.Second)
		want(t, c, "k", "first") // begins the refresh
		set(t, c, "k", "second")
		pass(2 * time.Second)
		synctest.Wait()
		want(t, c, "k", "second")
		if s := c.Stats(); s.Overtaken != 1 {
			t.Fatalf("stats %+v", s)
		}
	})
}

// TestR23BrokenLoaders: panic, Goexit and a loader that asks for itself release
// all waiters with an error that says so.
func TestR23BrokenLoaders(t *testing.T) {
	boom := errors.New("boom")
	var c *Cache[string, string]
	for _, tc := range []struct {
		name string
		load func(ctx context.Context, k string) (string, error)
		is   error
		text string
	}{
		{"panic", func(context.Context, string) (string, error) { panic("with a value") }, nil, `cache load "k": loader panicked: with a value`},
		{"panic with an error", func(context.Context, string) (string, error) { panic(boom) }, boom, "loader panicked: boom"},
		{"Goexit", func(context.Context, string) (string, error) {
			runtime.Goexit()
			return "", nil
		}, errGoexit, ""},
		{"own key", func(ctx context.Context, k string) (string, error) { return c.Get(ctx, k) }, errOwnKey, ""},
		{"own key by way of another", func(ctx context.Context, k string) (string, error) {
			if k == "k" {
				return c.Get(ctx, "other")
			}
			return c.Get(ctx, "k")
		}, errOwnKey, ""},
		{"own key after its removal", func(ctx context.Context, k string) (string, error) {
			if err := c.Delete(ctx, k); err != nil {
				return "", err
			}
			return c.Get(ctx, k)
		}, errOwnKey, ""},
		{"own key with a loader of the call", func(ctx context.Context, k string) (string, error) {
			return c.GetOrLoad(ctx, k, func(context.Context, string) (string, error) { return "", nil })
		}, errOwnKey, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				c = open(t, Options[string, string]{Load: func(ctx context.Context, k string) (string, error) {
					pass(time.Second)
					return tc.load(ctx, k)
				}, Logger: textLogger(&log)})
				var wg sync.WaitGroup
				for range 100 {
					wg.Go(func() {
						_, err := c.Get(t.Context(), "k")
						e, ok := errors.AsType[*LoadError](err)
						if !ok || e.Key != "k" || tc.is != nil && !errors.Is(err, tc.is) || !strings.Contains(err.Error(), tc.text) {
							t.Errorf("error %v", err)
						}
					})
				}
				wg.Wait()
				synctest.Wait() // the goroutine of the load ends after its readers are released
				if s := c.Stats(); s.Loading != 0 || s.LoadFailures == 0 && s.Overtaken == 0 {
					t.Errorf("stats %+v", s)
				}
				if strings.HasPrefix(tc.name, "panic") && !strings.Contains(log.String(), "rules_test.go") {
					t.Errorf("the log does not tell where it panicked: %s", log.String())
				}
			})
		})
	}
}

// TestR23LoaderContextOutlivesLoad: a context that a loader leaves behind is an
// ordinary one once the load has ended.
func TestR23LoaderContextOutlivesLoad(t *testing.T) {
	var kept context.Context
	c := open(t, Options[string, string]{Load: func(ctx context.Context, _ string) (string, error) {
		kept = context.WithoutCancel(ctx)
		return "v", nil
	}})
	want(t, c, "k", "v")
	if err := c.Delete(t.Context(), "k"); err != nil {
		t.Fatal(err)
	}
	if v, err := c.Get(kept, "k"); err != nil || v != "v" {
		t.Fatalf("%q, %v", v, err)
	}
}

// TestR23TooLargeLoad: a value that cannot be held is returned to its readers
// and displaces the one it makes wrong.
func TestR23TooLargeLoad(t *testing.T) {
	h := newHand()
	big := strings.Repeat("x", 1<<18)
	c := open(t, Options[string, string]{
		clock: h.clock(), MaxBytes: 1 << 20, Policy: plain(Policy{TTL: time.Second, StaleWhileRevalidate: -1}),
		Load: func(context.Context, string) (string, error) { return big, nil },
	})
	set(t, c, "k", "old")
	h.advance(time.Second)
	want(t, c, "k", big)
	if s := c.Stats(); s.Refused != 1 || s.Entries != 0 {
		t.Fatalf("stats %+v", s)
	}
	long := strings.Repeat("k", 2000)
	if v, err := c.GetOrLoad(t.Context(), long, func(context.Context, string) (string, error) { return "small", nil }); err != nil || v != "small" {
		t.Fatalf("%q, %v", v, err)
	}
	for _, e := range []error{errOrigin, ErrNotFound} {
		_, err := c.GetOrLoad(t.Context(), long, func(context.Context, string) (string, error) { return "", e })
		if !errors.Is(err, e) || len(err.Error()) > 300 {
			t.Fatalf("error %v", err)
		}
	}
	if s := c.Stats(); s.Entries != 0 {
		t.Fatalf("held under a long key: %+v", s)
	}
}

// TestR24OriginDown: with the origin failing all the time no read fails within
// hard life, and the origin is asked once per back-off and key.
func TestR24OriginDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []time.Duration
		start := time.Now()
		c := open(t, Options[string, string]{
			Load: func(context.Context, string) (string, error) {
				asked = append(asked, time.Since(start))
				return "", errOrigin
			},
			Policy: plain(Policy{TTL: 10 * time.Second, StaleIfError: 110 * time.Second, StaleWhileRevalidate: 20 * time.Second, ErrorBackoffMin: time.Second, ErrorBackoffMax: 16 * time.Second}),
		})
		set(t, c, "k", "v")
		for time.Since(start) < 120*time.Second {
			want(t, c, "k", "v")
			synctest.Wait()
			pass(250 * time.Millisecond)
		}
		var pauses []time.Duration
		for i := 1; i < len(asked); i++ {
			pauses = append(pauses, (asked[i] - asked[i-1]).Round(time.Second))
		}
		s := time.Second
		if want := []time.Duration{s, 2 * s, 4 * s, 8 * s, 16 * s, 16 * s, 16 * s, 16 * s, 16 * s}; asked[0] != 10*s || !slices.Equal(pauses, want) {
			t.Fatalf("asked at %v", asked)
		}
		// Hard life over: errors, and still not more than once per back-off.
		wantErr(t, c, "k", errOrigin)
		n := len(asked)
		for range 100 {
			wantErr(t, c, "k", errOrigin)
		}
		if len(asked) != n {
			t.Fatalf("asked %d times more within the back-off", len(asked)-n)
		}
	})
}

// TestR24BackoffDoublesWithoutValue: a key that never had a value backs off in
// the same way.
func TestR24BackoffDoublesWithoutValue(t *testing.T) {
	h := newHand()
	calls := 0
	c := open(t, Options[string, string]{clock: h.clock(), Policy: plain(Policy{}), Load: func(context.Context, string) (string, error) {
		calls++
		return "", errOrigin
	}})
	back := 100 * time.Millisecond
	for i := range 12 {
		wantErr(t, c, "k", errOrigin)
		h.advance(back - 1)
		wantErr(t, c, "k", errOrigin)
		if calls != i+1 {
			t.Fatalf("%d calls in back-off %d", calls, i)
		}
		h.advance(1)
		back = min(2*back, 30*time.Second)
	}
	set(t, c, "k", "v") // a value ends it
	want(t, c, "k", "v")
}

// TestR25SpreadLives: 10 000 entries written at once neither refresh nor expire
// at once.
func TestR25SpreadLives(t *testing.T) {
	h := newHand()
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

// TestR30KeyBytesAreNotKept: nothing of the key buffer stays behind.
func TestR30KeyBytesAreNotKept(t *testing.T) {
	c := open(t, Options[string, string]{})
	for i := range 100 {
		set(t, c, fmt.Sprint("key", i), fmt.Sprint("value", i))
	}
	buf := make([]byte, 0, 16)
	for round := range 50 {
		for i := range 100 {
			buf = fmt.Appendf(buf[:0], "key%d", i)
			if v, ok := PeekBytes(c, buf); !ok || v != fmt.Sprint("value", i) {
				t.Fatalf("round %d: %s = %q, %v", round, buf, v, ok)
			}
			for j := range buf {
				buf[j] = '#'
			}
		}
	}
	c.store.Range(func(k string, _ *record[string]) bool {
		if strings.Contains(k, "#") {
			t.Fatalf("key %q", k)
		}
		return true
	})
}

// TestR32Close leaves no goroutine, and nothing works afterwards.
func TestR32Close(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	c, err := New(Options[string, string]{Load: func(context.Context, string) (string, error) { return "v", nil }})
	if err != nil {
		t.Fatal(err)
	}
	want(t, c, "k", "v")
	set(t, c, "k2", "v")
	for range 3 {
		shut(t, c)
	}
	if _, ok := c.Peek("k"); ok {
		t.Error("peek after close")
	}
	if _, ok := PeekBytes(c, []byte("k")); ok {
		t.Error("peek after close")
	}
	wantErr(t, c, "k", ErrClosed)
	wantErr(t, c, "other", ErrClosed)
	_, swErr := c.SetWith(t.Context(), "k", "v", WriteOptions{})
	_, golErr := c.GetOrLoad(t.Context(), "k", nil)
	for i, err := range []error{c.Set(t.Context(), "k", "v"), swErr, golErr, c.Delete(t.Context(), "k"), c.Clear(t.Context())} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("call %d after close: %v", i, err)
		}
	}
	if s := c.Stats(); s.Entries != 0 || s.Hits+s.Misses != 1 {
		t.Errorf("stats after close: %+v", s)
	}
}

// TestR32CloseWaits: for running loads, whose readers get their results, as
// long as its context allows; then the loads are cut.
func TestR32CloseWaits(t *testing.T) {
	for _, patience := range []time.Duration{time.Minute, time.Second} {
		t.Run(patience.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, err := New(Options[string, string]{clock: bubbleClock(), Load: func(ctx context.Context, _ string) (string, error) {
					select {
					case <-time.After(5 * time.Second):
						return "v", nil
					case <-ctx.Done():
						return "", ctx.Err()
					}
				}})
				if err != nil {
					t.Fatal(err)
				}
				patient := patience > 5*time.Second
				var wg sync.WaitGroup
				wg.Go(func() {
					v, err := c.Get(t.Context(), "k")
					if patient && (err != nil || v != "v") || !patient && !errors.Is(err, ErrClosed) {
						t.Errorf("reader: %q, %v", v, err)
					}
				})
				synctest.Wait()
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				start := time.Now()
				err = c.Close(ctx)
				if d := time.Since(start); patient && (err != nil || d != 5*time.Second) || !patient && (!errors.Is(err, context.DeadlineExceeded) || d != time.Second) {
					t.Errorf("close: %v after %v", err, d)
				}
				wg.Wait()
				shut(t, c)
			})
		})
	}
}
