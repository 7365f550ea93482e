package cache

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"
)

// entryOf reads k with its entry.
func entryOf(t *testing.T, c *Cache[string, string], k string, o ReadOptions) Entry[string] {
	t.Helper()
	e, err := c.GetEntry(t.Context(), k, o)
	if err != nil {
		t.Fatalf("get %s with %+v: %v", k, o, err)
	}
	return e
}

// TestGetEntryTellsWhereAValueComesFrom: its version, age, state and source.
func TestGetEntryTellsWhereAValueComesFrom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		a, _ := node(t, h, Options[string, string]{})
		b, wire := node(t, h, Options[string, string]{Policy: Policy{TTL: time.Minute}, Load: func(context.Context, string) (string, error) {
			pass(time.Second)
			return "loaded", nil
		}})
		version, err := a.SetWith(t.Context(), "k", "v", WriteOptions{TTL: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		pass(10 * time.Second)
		for _, from := range []Source{FromRemote, FromLocal} {
			e := entryOf(t, b, "k", ReadOptions{})
			if e.Value != "v" || e.Version != version || e.Source != from || e.State != Fresh || e.Age < 10*time.Second || e.Age > 11*time.Second || e.Bound > time.Second {
				t.Errorf("from %v: %+v, want version %v", from, e, version)
			}
		}
		pass(time.Minute)
		if e := entryOf(t, b, "k", ReadOptions{}); e.State != Stale || e.Value != "v" {
			t.Errorf("after its soft life: %+v", e)
		}
		if e := entryOf(t, b, "new", ReadOptions{}); e.Source != FromOrigin || e.Value != "loaded" || e.Version.Epoch != version.Epoch {
			t.Errorf("loaded: %+v", e)
		}
		wire.cutLink()
		if e := entryOf(t, b, "new", ReadOptions{}); e.State != Suspect || e.Source != FromRemote {
			t.Errorf("with the link down: %+v", e)
		}
		wire.heal()
		if _, err := a.GetEntry(t.Context(), "none", ReadOptions{}); !errors.Is(err, ErrNotFound) {
			t.Error(err)
		}
		alone := open(t, Options[string, string]{})
		set(t, alone, "k", "v")
		if e := entryOf(t, alone, "k", ReadOptions{Verify: true, MaxStale: 1}); e != (Entry[string]{Value: "v"}) {
			t.Errorf("without a remote: %+v", e)
		}
		_, err = a.GetEntry(t.Context(), "k", ReadOptions{MaxStale: -1})
		if e, ok := errors.AsType[*ConfigError](err); !ok || e.Field != "ReadOptions.MaxStale" {
			t.Error(err)
		}
	})
}

// TestMaxStaleOfARead: what may be older is compared; if that cannot be, the read fails and others
// do not.
func TestMaxStaleOfARead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		a, _ := node(t, h, Options[string, string]{Policy: Policy{Heartbeat: 5 * time.Second}})
		b, wire := node(t, h, Options[string, string]{Policy: Policy{Heartbeat: 5 * time.Second}})
		tell(t, a, "k", "old")
		want(t, b, "k", "old")
		pass(4 * time.Second)
		wire.mu.Lock()
		wire.cut = true // and nobody notices
		wire.mu.Unlock()
		tell(t, a, "k", "new")
		if e := entryOf(t, b, "k", ReadOptions{MaxStale: 5 * time.Second}); e.Value != "old" || e.Bound != 4*time.Second {
			t.Errorf("a bound of 5 s: %+v", e)
		}
		headers := wire.headers.Load()
		if e := entryOf(t, b, "k", ReadOptions{MaxStale: 3 * time.Second}); e.Value != "new" || e.Bound > 3*time.Second || wire.headers.Load() != headers+1 {
			t.Errorf("a bound of 3 s: %+v, %d headers", e, wire.headers.Load()-headers)
		}
		if e := entryOf(t, b, "k", ReadOptions{MaxStale: 3 * time.Second}); e.Source != FromLocal || wire.headers.Load() != headers+1 {
			t.Errorf("read again: %+v", e)
		}
		h.SetDown(true)
		pass(4 * time.Second)
		if _, err := b.GetEntry(t.Context(), "k", ReadOptions{MaxStale: 3 * time.Second}); !errors.Is(err, ErrStale) {
			t.Errorf("with the remote down: %v", err)
		}
		if _, err := b.GetEntry(t.Context(), "k", ReadOptions{Verify: true}); !errors.Is(err, ErrUnavailable) {
			t.Errorf("verified with the remote down: %v", err)
		}
		want(t, b, "k", "new")
		h.SetDown(false)
	})
}

// TestVerifyAlwaysCompares: the value and its tags, with the link up, and also what a load that
// runs already may have asked for.
func TestVerifyAlwaysCompares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		a, _ := node(t, h, Options[string, string]{})
		b, wire := node(t, h, Options[string, string]{})
		verified := ReadOptions{Verify: true}
		write := func(v string) {
			t.Helper()
			if _, err := a.SetWith(t.Context(), "k", v, WriteOptions{Tags: []string{"t"}}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		write("one")
		want(t, b, "k", "one")
		for range 3 {
			headers := wire.headers.Load()
			if e := entryOf(t, b, "k", verified); e.Value != "one" || e.Source != FromRemote || wire.headers.Load() != headers+1 {
				t.Errorf("unchanged: %+v, %d headers", e, wire.headers.Load()-headers)
			}
		}
		wire.mu.Lock()
		wire.cut = true
		wire.mu.Unlock()
		write("two")
		if e := entryOf(t, b, "k", ReadOptions{}); e.Value != "one" {
			t.Fatalf("the frame was not lost: %+v", e)
		}
		if e := entryOf(t, b, "k", verified); e.Value != "two" {
			t.Errorf("changed: %+v", e)
		}
		if err := a.InvalidateTags(t.Context(), "t"); err != nil {
			t.Fatal(err)
		}
		if _, err := b.GetEntry(t.Context(), "k", verified); !errors.Is(err, ErrNotFound) {
			t.Errorf("invalidated: %v", err)
		}
	})
}

// TestVerifyJoinsNoOlderLoad: one that has asked the remote already would bring what was there
// then.
func TestVerifyJoinsNoOlderLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		a, _ := node(t, h, Options[string, string]{})
		b, wire := node(t, h, Options[string, string]{})
		tell(t, a, "k", "one")
		wire.mu.Lock()
		wire.cut = true
		wire.mu.Unlock()
		slow := &slowFetch{wire: wire}
		b.remote = slow
		go func() { _, _ = b.Get(t.Context(), "k") }()
		synctest.Wait() // the answer is on its way
		tell(t, a, "k", "two")
		if e := entryOf(t, b, "k", ReadOptions{Verify: true}); e.Value != "two" {
			t.Errorf("got %+v", e)
		}
		pass(time.Minute)
		want(t, b, "k", "two")
	})
}

// slowFetch delays the answer of the first Fetch.
type slowFetch struct {
	*wire
	done bool
}

func (s *slowFetch) Fetch(ctx context.Context, ns string, keys []string, headersOnly bool) ([]Record, error) {
	got, err := s.wire.Fetch(ctx, ns, keys, headersOnly)
	if !s.done {
		s.done = true
		pass(50 * time.Millisecond)
	}
	return got, err
}

// TestPropagationIsMeasured for the writes of others, from when they were stored.
func TestPropagationIsMeasured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		a, _ := node(t, h, Options[string, string]{})
		b, _ := node(t, h, Options[string, string]{})
		tell(t, a, "k", "one")
		tell(t, b, "k", "own")
		if p := b.Stats().Propagation; p.Count() != 1 || p.Buckets[0] != 1 || p.Sum != 0 {
			t.Errorf("at once: %+v", p)
		}
		receiver[string, string]{b}.Frame(Frame{
			Kind: FrameKey, Key: "k", Version: Version{Epoch: h.epoch, Counter: 9}, Written: time.Now().Add(-5 * time.Millisecond),
		})
		p := b.Stats().Propagation
		if p.Count() != 2 || p.Sum != 5*time.Millisecond {
			t.Errorf("after 5 ms: %+v", p)
		}
		for i, n := range p.Buckets {
			if within := i > 0 && p.Upper(i-1) < 5*time.Millisecond && p.Upper(i) >= 5*time.Millisecond; i > 0 && (n == 1) != within {
				t.Errorf("up to %v: %d", p.Upper(i), n)
			}
		}
	})
}

// TestSelfCheckFindsWhatIsOutOfDate: samples of the hits are compared with the remote afterwards.
func TestSelfCheckFindsWhatIsOutOfDate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		p := Policy{SelfCheck: 100}
		a, _ := node(t, h, Options[string, string]{Policy: p})
		b, wire := node(t, h, Options[string, string]{Policy: p})
		off, _ := node(t, h, Options[string, string]{Policy: Policy{SelfCheck: -1}})
		tell(t, a, "k", "old")
		read := func(c *Cache[string, string]) {
			for range 10 {
				for range 64 * 4 {
					want(t, c, "k", "old")
				}
				pass(20 * time.Millisecond)
			}
			synctest.Wait()
		}
		read(off)
		read(b)
		if s := b.Stats(); s.Compared == 0 || s.Compared > 30 || s.Outdated != 0 || s.WorstStaleness != 0 {
			t.Errorf("up to date: %d compared, %d outdated, worst %v", s.Compared, s.Outdated, s.WorstStaleness)
		}
		wire.mu.Lock()
		wire.cut = true
		wire.mu.Unlock()
		tell(t, a, "k", "new")
		pass(3 * time.Second)
		read(b)
		if s := b.Stats(); s.Outdated == 0 || s.WorstStaleness < 3*time.Second || s.WorstStaleness > 4*time.Second {
			t.Errorf("out of date: %d compared, %d outdated, worst %v", s.Compared, s.Outdated, s.WorstStaleness)
		}
		if s := off.Stats(); s.Compared != 0 {
			t.Errorf("switched off: %d compared", s.Compared)
		}
		if d := b.Staleness(); d == math.MaxInt64 {
			t.Error("the link went down")
		}
	})
}
