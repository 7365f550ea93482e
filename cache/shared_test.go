package cache

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestSetIsReadByEveryNode: by one that starts afterwards, too, and what others hold is replaced or
// ends when the frame comes, without a read of the remote until somebody asks.
func TestSetIsReadByEveryNode(t *testing.T) {
	for _, mode := range []SyncMode{Invalidate, Push} {
		synctest.Test(t, func(t *testing.T) {
			h := NewHub()
			p := Policy{Mode: mode, PushMaxBytes: 5}
			a, _ := node(t, h, Options[string, string]{Policy: p})
			b, wire := node(t, h, Options[string, string]{Policy: p})
			tell(t, a, "k", "one")
			peeks(t, a, "k", "one")
			want(t, b, "k", "one")
			want(t, b, "k", "one")
			for i, v := range []string{"two", "long three"} {
				tell(t, a, "k", v)
				synctest.Wait()
				if n := wire.fetches.Load() + wire.headers.Load(); mode == Push && n != 1 || mode == Invalidate && n != int64(i+1) {
					t.Errorf("mode %v: a write made the other node ask: %d", mode, n)
				}
				if mode == Push && len(v) <= 5 {
					peeks(t, b, "k", v)
				} else {
					peeks(t, b, "k", "")
				}
				want(t, b, "k", v)
				want(t, a, "k", v)
			}
			late, _ := node(t, h, Options[string, string]{Policy: p})
			want(t, late, "k", "long three")
			if s := b.Stats(); s.Pushed != b2u(mode == Push) || s.RemoteHits == 0 {
				t.Errorf("mode %v: stats %+v", mode, s)
			}
		})
	}
}

// TestOneLoadInAllNodes: whoever asks, one loader runs, and what it says is everybody's: a value,
// or that the key does not exist.
func TestOneLoadInAllNodes(t *testing.T) {
	for name, answer := range map[string]error{"value": nil, "absent": ErrNotFound} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := NewHub()
				var loads atomic.Int64
				load := func(context.Context, string) (string, error) {
					pass(5 * time.Second) // longer than a lease lives without renewal
					loads.Add(1)
					return "v", answer
				}
				var wg sync.WaitGroup
				start := time.Now()
				for range 4 {
					c, _ := node(t, h, Options[string, string]{Load: load})
					for range 20 {
						wg.Go(func() {
							if v, err := c.Get(t.Context(), "k"); !errors.Is(err, answer) || err == nil && v != "v" {
								t.Errorf("%q, %v", v, err)
							}
						})
					}
				}
				wg.Wait()
				if d := time.Since(start); loads.Load() != 1 || d > 6*time.Second {
					t.Errorf("%d loads in %v", loads.Load(), d)
				}
			})
		})
	}
}

// TestLeaseOfADeadNodeEnds: another one loads when it has run out.
func TestLeaseOfADeadNodeEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		if got, err := h.Lease(t.Context(), "n", LeaseRequest{Key: "k", Token: 1, TTL: 3 * time.Second}); err != nil || !got.Granted {
			t.Fatal(got, err)
		}
		c, _ := node(t, h, Options[string, string]{Load: func(context.Context, string) (string, error) { return "v", nil }})
		start := time.Now()
		want(t, c, "k", "v")
		if d := time.Since(start); d < 3*time.Second || d > 4*time.Second {
			t.Errorf("after %v", d)
		}
	})
}

// TestFailedLoadFreesTheLease: the next node tries at once if there is no pause after failures.
func TestFailedLoadFreesTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		off := Policy{ErrorBackoffMin: -1}
		a, _ := node(t, h, Options[string, string]{Policy: off, Load: func(context.Context, string) (string, error) {
			pass(time.Second)
			return "", errOrigin
		}})
		b, _ := node(t, h, Options[string, string]{Policy: off, Load: func(context.Context, string) (string, error) { return "v", nil }})
		go func() { wantErr(t, a, "k", errOrigin) }()
		synctest.Wait()
		start := time.Now()
		want(t, b, "k", "v")
		if d := time.Since(start); d != time.Second {
			t.Errorf("after %v", d)
		}
	})
}

// TestWriteOfAnotherNodeOvertakesALoad: what was loaded before is neither kept nor stored.
func TestWriteOfAnotherNodeOvertakesALoad(t *testing.T) {
	for name, tc := range map[string]struct {
		write func(ctx context.Context, c *Cache[string, string]) error
		then  string
		loads int64
	}{
		"Set":            {func(ctx context.Context, c *Cache[string, string]) error { return c.Set(ctx, "k", "new") }, "new", 1},
		"Delete":         {func(ctx context.Context, c *Cache[string, string]) error { return c.Delete(ctx, "k") }, "load 2", 2},
		"Clear":          {func(ctx context.Context, c *Cache[string, string]) error { return c.Clear(ctx) }, "load 2", 2},
		"InvalidateTags": {func(ctx context.Context, c *Cache[string, string]) error { return c.InvalidateTags(ctx, "t") }, "load 2", 2},
	} {
		for _, many := range []bool{false, true} {
			t.Run(fmt.Sprint(name, many), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					h := NewHub()
					var loads atomic.Int64
					a, _ := node(t, h, Options[string, string]{})
					load := func(context.Context, string, *Entry[string]) (Loaded[string], error) {
						l := Loaded[string]{Value: fmt.Sprint("load ", loads.Add(1)), Tags: []string{"t"}}
						pass(time.Second)
						return l, nil
					}
					b, _ := node(t, h, Options[string, string]{LoadEntry: load})
					go func() {
						if many && name != "InvalidateTags" {
							_, _ = b.GetMany(t.Context(), []string{"k"}, func(context.Context, []string) (map[string]string, error) {
								loads.Add(1)
								pass(time.Second)
								return map[string]string{"k": "load 1"}, nil
							})
							return
						}
						_, _ = b.Get(t.Context(), "k")
					}()
					pass(500 * time.Millisecond)
					if err := tc.write(t.Context(), a); err != nil {
						t.Fatal(err)
					}
					pass(time.Second)
					synctest.Wait()
					if v, ok := b.Peek("k"); ok && v != tc.then {
						t.Errorf("held: %q", v)
					}
					want(t, b, "k", tc.then)
					if loads.Load() != tc.loads {
						t.Errorf("%d loads", loads.Load())
					}
				})
			})
		}
	}
}

// TestBrokenLinkMakesEntriesSuspect: what changed meanwhile is not served once the link is up
// again, nor while it is down for longer than SuspectTTL; what did not is found by its header.
func TestBrokenLinkMakesEntriesSuspect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		a, _ := node(t, h, Options[string, string]{})
		b, wire := node(t, h, Options[string, string]{})
		for _, k := range []string{"same", "changed", "deleted", "tagged"} {
			if _, err := a.SetWith(t.Context(), k, "old", WriteOptions{Tags: []string{k}}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			want(t, b, k, "old")
		}
		pass(time.Second)
		if d := b.Staleness(); d > 300*time.Millisecond {
			t.Errorf("bound %v with the link up", d)
		}
		wire.cutLink()
		if d := b.Staleness(); d != math.MaxInt64 {
			t.Errorf("bound %v with the link down", d)
		}
		peeks(t, b, "same", "")
		fetches := wire.fetches.Load()
		want(t, b, "same", "old")
		headers := wire.headers.Load()
		for range 100 {
			want(t, b, "same", "old")
		}
		if n := wire.headers.Load() - headers; n != 0 || wire.fetches.Load() != fetches {
			t.Errorf("%d headers for reads within SuspectTTL", n)
		}
		tell(t, a, "changed", "new")
		if err := a.Delete(t.Context(), "deleted"); err != nil {
			t.Fatal(err)
		}
		if err := a.InvalidateTags(t.Context(), "tagged"); err != nil {
			t.Fatal(err)
		}
		want(t, b, "changed", "new")
		tell(t, a, "changed", "newer")
		pass(b.p.SuspectTTL)
		want(t, b, "changed", "newer")
		tell(t, a, "changed", "newest")
		wire.heal()
		want(t, b, "same", "old")
		want(t, b, "changed", "newest")
		wantErr(t, b, "deleted", ErrNotFound)
		wantErr(t, b, "tagged", ErrNotFound)
		peeks(t, b, "same", "old")
		if s := b.Stats(); s.LinkBreaks != 1 || s.Revalidated == 0 {
			t.Errorf("stats %+v", s)
		}
	})
}

// TestStoppedProcessDoesNotTrustWhatItHolds: without proof for MaxStale nothing is served unseen,
// even though no end of the link was noticed.
func TestStoppedProcessDoesNotTrustWhatItHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		a, _ := node(t, h, Options[string, string]{})
		b, wire := node(t, h, Options[string, string]{Policy: Policy{MaxStale: 2 * time.Second}})
		tell(t, a, "k", "old")
		want(t, b, "k", "old")
		wire.mu.Lock()
		wire.cut = true // and nobody says so
		wire.mu.Unlock()
		tell(t, a, "k", "new")
		pass(time.Second)
		want(t, b, "k", "old")
		if d := b.Staleness(); d < time.Second || d > 2*time.Second {
			t.Errorf("bound %v", d)
		}
		pass(2 * time.Second)
		want(t, b, "k", "new")
	})
}

// TestNewEpochEndsWhatIsHeld: a remote that lost everything does not leave nodes with entries that
// nobody can invalidate, and its restarted counters are no reason to refuse notices.
func TestNewEpochEndsWhatIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		a, _ := node(t, h, Options[string, string]{})
		b, _ := node(t, h, Options[string, string]{})
		for range 10 {
			tell(t, a, "k", "old")
		}
		tell(t, a, "gone", "old")
		want(t, b, "k", "old")
		want(t, b, "gone", "old")
		h.Reset()
		synctest.Wait()
		tell(t, a, "k", "new")
		synctest.Wait()
		want(t, b, "k", "new")
		want(t, a, "k", "new")
		wantErr(t, b, "gone", ErrNotFound)
	})
}

// TestClearAndTagsReachEveryNode and leave other entries and namespaces alone.
func TestClearAndTagsReachEveryNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		a, _ := node(t, h, Options[string, string]{})
		b, _ := node(t, h, Options[string, string]{Policy: Policy{Mode: Push, PushAll: true}})
		other := open(t, Options[string, string]{Name: "other", Remote: h, Bus: h, Codec: textCodec{}})
		tell(t, other, "k", "theirs")
		fill := func() {
			for _, tag := range []string{"x", "y"} {
				if _, err := a.SetWith(t.Context(), tag, "v", WriteOptions{Tags: []string{tag}, Mode: Push}); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				want(t, b, tag, "v")
			}
		}
		fill()
		if err := b.InvalidateTags(t.Context(), "x"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		for _, c := range []*Cache[string, string]{a, b} {
			wantErr(t, c, "x", ErrNotFound)
			peeks(t, c, "y", "v")
		}
		fill()
		if err := a.Clear(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		for _, c := range []*Cache[string, string]{a, b} {
			wantErr(t, c, "x", ErrNotFound)
			wantErr(t, c, "y", ErrNotFound)
		}
		want(t, other, "k", "theirs")
		fill()
		peeks(t, a, "y", "v")
	})
}

// current returns tags as a record stored now would have them.
func (c *Cache[K, V]) current(t *testing.T, names ...string) []RecordTag {
	t.Helper()
	got, err := c.remote.Tags(t.Context(), c.o.Name, names, time.Hour, false)
	if err != nil {
		t.Fatal(err)
	}
	tags := make([]RecordTag, len(names))
	for i, name := range names {
		tags[i] = RecordTag{Name: name, Counter: got[i]}
	}
	return tags
}

// TestDecodedOncePerNode, whichever way a value comes, and its type is the same on all of them.
func TestDecodedOncePerNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		var n [3]atomic.Int64
		var all [3]*Cache[string, string]
		for i := range all {
			all[i], _ = node(t, h, Options[string, string]{Codec: textCodec{&n[i]}, Policy: Policy{Mode: Push, PushAll: i == 1}})
		}
		if _, err := all[0].GetOrLoad(t.Context(), "loaded", func(context.Context, string) (string, error) { return "v", nil }); err != nil {
			t.Fatal(err)
		}
		tell(t, all[0], "set", "v")
		for i := range all {
			for range 10 {
				want(t, all[i], "loaded", "v")
				want(t, all[i], "set", "v")
			}
			if n[i].Load() != 2 {
				t.Errorf("node %d decoded %d times", i, n[i].Load())
			}
		}
		var types []reflect.Type
		for _, load := range []loader[string, any]{func(context.Context, string) (any, error) { return 7, nil }, nil} {
			c := open(t, Options[string, any]{Name: "any", Remote: h, Bus: h, Codec: jsonCodec[any]{}})
			for range 2 {
				v, err := c.GetOrLoad(t.Context(), "k", load)
				if err != nil {
					t.Fatal(err)
				}
				types = append(types, reflect.TypeOf(v))
			}
			if err := c.Set(t.Context(), "set", 7); err != nil {
				t.Fatal(err)
			}
			v, _ := c.Peek("set")
			types = append(types, reflect.TypeOf(v))
		}
		for _, typ := range types {
			if typ != reflect.TypeFor[float64]() {
				t.Errorf("types %v", types)
			}
		}
	})
}

// TestGetManyAsksTheRemoteOnce for all that is not held, and the loader once for the rest.
func TestGetManyAsksTheRemoteOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		a, _ := node(t, h, Options[string, string]{})
		b, wire := node(t, h, Options[string, string]{})
		keys := make([]string, 100)
		for i := range keys {
			keys[i] = fmt.Sprint("k", i)
			if i < 50 {
				tell(t, a, keys[i], "remote")
			}
		}
		want(t, b, "k0", "remote")
		var asked [][]string
		load := func(_ context.Context, ks []string) (map[string]string, error) {
			asked = append(asked, ks)
			m := map[string]string{}
			for _, k := range ks[1:] {
				m[k] = "loaded"
			}
			return m, nil
		}
		fetches := wire.fetches.Load()
		for range 2 {
			got, err := b.GetMany(t.Context(), keys, load)
			if err != nil || len(got) != 99 || got["k1"] != "remote" || len(asked) != 1 || len(asked[0]) != 50 || wire.fetches.Load() != fetches+1 {
				t.Fatalf("%d values, %v; %d loads, %d fetches", len(got), err, len(asked), wire.fetches.Load()-fetches)
			}
		}
		c, wire := node(t, h, Options[string, string]{})
		got, err := c.GetMany(t.Context(), keys, nil)
		if err != nil || len(got) != 99 || wire.fetches.Load() != 1 || c.Stats().Loads != 0 {
			t.Fatalf("%d values, %v; %d fetches, stats %+v", len(got), err, wire.fetches.Load(), c.Stats())
		}
		wantErr(t, c, asked[0][0], ErrNotFound)
		if wire.fetches.Load() != 1 {
			t.Error("what does not exist was asked for again")
		}
	})
}

// TestBulkLoadDoesNotBringBackWhatWasDeleted: a key that was written and deleted while the load ran
// is not one that nobody had written.
func TestBulkLoadDoesNotBringBackWhatWasDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		a, _ := node(t, h, Options[string, string]{})
		b, _ := node(t, h, Options[string, string]{})
		free, read := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(read)
			_, err := b.GetMany(t.Context(), []string{"k"}, func(context.Context, []string) (map[string]string, error) {
				<-free
				return map[string]string{"k": "old"}, nil
			})
			if err != nil {
				t.Error(err)
			}
		}()
		synctest.Wait()
		set(t, a, "k", "new")
		if err := a.Delete(t.Context(), "k"); err != nil {
			t.Error(err)
		}
		close(free)
		<-read
		wantErr(t, a, "k", ErrNotFound)
		wantErr(t, b, "k", ErrNotFound)
	})
}

// TestAbsentKeyCostsOneCall per NegativeTTL, and does not keep a read from its loader.
func TestAbsentKeyCostsOneCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		a, _ := node(t, h, Options[string, string]{})
		c, wire := node(t, h, Options[string, string]{})
		for range 10 {
			wantErr(t, c, "k", ErrNotFound)
		}
		if n := wire.fetches.Load(); n != 1 {
			t.Errorf("%d calls", n)
		}
		if v, err := c.GetOrLoad(t.Context(), "k", func(context.Context, string) (string, error) { return "v", nil }); v != "v" || err != nil {
			t.Errorf("%q, %v", v, err)
		}
		wantErr(t, c, "other", ErrNotFound)
		tell(t, a, "other", "set elsewhere")
		synctest.Wait()
		want(t, c, "other", "set elsewhere")
	})
}

// TestStaleEntryIsRefreshedByOneNode: all others get what it stored.
func TestStaleEntryIsRefreshedByOneNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		var loads atomic.Int64
		all := make([]*Cache[string, string], 4)
		for i := range all {
			all[i], _ = node(t, h, Options[string, string]{Policy: Policy{TTL: time.Minute}, Load: func(context.Context, string) (string, error) {
				pass(time.Second)
				return fmt.Sprint("load ", loads.Add(1)), nil
			}})
			want(t, all[i], "k", "load 1")
			synctest.Wait()
		}
		pass(time.Minute)
		for _, c := range all {
			want(t, c, "k", "load 1")
		}
		pass(2 * time.Second)
		for _, c := range all {
			want(t, c, "k", "load 2")
		}
		if loads.Load() != 2 {
			t.Errorf("%d loads", loads.Load())
		}
	})
}

// TestCloseLeavesNothingInTheRemote: no link, no lease.
func TestCloseLeavesNothingInTheRemote(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		c, _ := node(t, h, Options[string, string]{Load: func(context.Context, string) (string, error) {
			pass(time.Second)
			return "", errOrigin
		}})
		go func() { _, _ = c.Get(t.Context(), "k") }()
		synctest.Wait()
		shut(t, c)
		for _, err := range []error{c.Set(t.Context(), "k", "v"), c.Delete(t.Context(), "k"), c.Clear(t.Context())} {
			if !errors.Is(err, ErrClosed) {
				t.Error(err)
			}
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		if s := h.ns["n"]; len(s.leases) != 0 || len(s.links) != 0 {
			t.Errorf("%d leases, %d links", len(s.leases), len(s.links))
		}
	})
}
