package cache

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// touching touches a key after each of its stores, before the answer arrives, as a tracked link
// does with the writes of its own node.
type touching struct{ *wire }

func (w touching) Store(ctx context.Context, ns string, r StoreRequest) (StoreResult, error) {
	got, err := w.wire.Store(ctx, ns, r)
	w.touch(r.Key)
	return got, err
}

// touch delivers a notice of k that names no version.
func (w *wire) touch(k string) {
	w.sink.Frame(Frame{Kind: FrameTouched, Key: k})
	synctest.Wait()
}

// foreign does to the record of k what a client without this package does: nobody is told.
func (w *wire) foreign(k string, change func(*hubRecord)) {
	w.Hub.mu.Lock()
	defer w.Hub.mu.Unlock()
	s := w.space("n")
	r := s.records[k]
	if change == nil {
		delete(s.records, k)
		return
	}
	change(&r)
	s.records[k] = r
}

// TestTouchedEntryIsCompared at its next read, once, and nothing else is.
func TestTouchedEntryIsCompared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, wire := node(t, NewHub(), Options[string, string]{Policy: Policy{Mode: Tracked}})
		tell(t, c, "k", "v")
		tell(t, c, "other", "v")
		headers := wire.headers.Load()
		wire.touch("k")
		peeks(t, c, "k", "")
		peeks(t, c, "other", "v")
		for range 3 {
			want(t, c, "k", "v")
		}
		if n := wire.headers.Load() - headers; n != 1 {
			t.Errorf("%d comparisons", n)
		}
		wire.foreign("k", nil)
		wire.touch("k")
		wantErr(t, c, "k", ErrNotFound)
		if s := c.Stats(); s.LinkBreaks != 0 || s.Revalidated != 1 {
			t.Errorf("stats %+v", s)
		}
	})
}

// TestOwnWriteThatIsTouchedIsKept, whether it was set or loaded, and compared at its next read.
func TestOwnWriteThatIsTouchedIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, wire := node(t, NewHub(), Options[string, string]{
			Policy: Policy{Mode: Tracked},
			Load:   func(context.Context, string) (string, error) { return "loaded", nil },
		})
		c.remote = touching{wire}
		tell(t, c, "set", "v")
		want(t, c, "loaded", "loaded")
		fetches, headers := wire.fetches.Load(), wire.headers.Load()
		for range 3 {
			want(t, c, "set", "v")
			want(t, c, "loaded", "loaded")
		}
		if f, n := wire.fetches.Load()-fetches, wire.headers.Load()-headers; f != 0 || n != 2 {
			t.Errorf("%d values fetched, %d compared", f, n)
		}
		if s := c.Stats(); s.Loads != 1 {
			t.Errorf("stats %+v", s)
		}
	})
}

// TestFetchThatIsTouchedIsNotKept: the record may have changed since the remote was asked.
func TestFetchThatIsTouchedIsNotKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		a, _ := node(t, h, Options[string, string]{})
		b, wire := node(t, h, Options[string, string]{Policy: Policy{Mode: Tracked}})
		tell(t, a, "k", "old")
		once := func() {
			wire.fetched.Store(nil)
			wire.foreign("k", func(r *hubRecord) { r.Payload = []byte("new"); r.Version.WriteID++ })
			wire.touch("k")
		}
		wire.fetched.Store(&once)
		if _, err := b.Get(t.Context(), "k"); err != nil { // it may be either: the change came during the read
			t.Fatal(err)
		}
		want(t, b, "k", "new")
	})
}

func TestTrackedNeedsTimeForItsProof(t *testing.T) {
	h := NewHub()
	o := Options[string, string]{Name: "n", Remote: h, Bus: h, Codec: textCodec{}, Policy: Policy{Mode: Tracked, Heartbeat: time.Second, MaxStale: 2500 * time.Millisecond}}
	if _, err := New(o); err == nil {
		t.Error("a bound that a tracked link cannot keep")
	}
	o.Policy.Mode = Invalidate
	c := open(t, o)
	if err := c.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
