package cache

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// TestAmbiguousWriteIsResolved: a write that failed after it was done has succeeded; one of which
// nothing is to be found says that it is not known, and what is held is compared at the next read.
func TestAmbiguousWriteIsResolved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		c, wire := node(t, h, Options[string, string]{})
		tell(t, c, "k", "old")
		fails(&wire.after, errWire)
		tell(t, c, "k", "new")
		peeks(t, c, "k", "new")
		if err := c.Delete(t.Context(), "k"); err != nil {
			t.Errorf("delete: %v", err)
		}
		peeks(t, c, "k", "")
		fails(&wire.after, nil)
		tell(t, c, "k", "old")

		lost := &losing{wire: wire}
		c.remote = lost
		if err := c.Set(t.Context(), "k", "new"); !errors.Is(err, ErrUncertain) || !errors.Is(err, errWire) {
			t.Errorf("set: %v", err)
		}
		peeks(t, c, "k", "")
		headers := wire.headers.Load()
		want(t, c, "k", "old")
		if wire.headers.Load() == headers {
			t.Error("not compared")
		}
		lost.late() // the write arrives after all
		synctest.Wait()
		want(t, c, "k", "new")

		c.remote = wire
		fails(&wire.before, unavailable(errWire))
		if err := c.Set(t.Context(), "k", "refused"); !errors.Is(err, ErrUnavailable) || errors.Is(err, ErrUncertain) {
			t.Errorf("refused: %v", err)
		}
		peeks(t, c, "k", "new")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := c.Set(ctx, "k", "cancelled"); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
		peeks(t, c, "k", "new")
	})
}

// losing keeps writes on the way.
type losing struct {
	*wire
	late func()
}

func (l *losing) Store(ctx context.Context, ns string, r StoreRequest) (StoreResult, error) {
	l.late = func() { _, _ = l.Hub.Store(context.WithoutCancel(ctx), ns, r) }
	return StoreResult{}, errWire
}

// TestRemoteThatIsDown: what is held serves for MaxStale, then the loader, which is kept for a
// short while; without one the error says why. Everything heals by itself.
func TestRemoteThatIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		loads := 0
		a, _ := node(t, h, Options[string, string]{Policy: Policy{MaxStale: 10 * time.Second}, Load: func(context.Context, string) (string, error) {
			loads++
			return fmt.Sprint("load ", loads), nil
		}})
		b, _ := node(t, h, Options[string, string]{Policy: Policy{MaxStale: 10 * time.Second}})
		tell(t, a, "k", "v")
		want(t, b, "k", "v")
		h.SetDown(true)
		synctest.Wait()
		for range 9 {
			want(t, a, "k", "v")
			want(t, b, "k", "v")
			pass(time.Second)
		}
		pass(2 * time.Second)
		want(t, a, "k", "load 1")
		wantErr(t, b, "k", ErrUnavailable)
		for range 5 {
			pass(time.Second - 1)
			want(t, a, "k", "load 1")
		}
		pass(time.Second)
		want(t, a, "k", "load 2")
		if err := a.Set(t.Context(), "k", "w"); !errors.Is(err, ErrUnavailable) {
			t.Errorf("set: %v", err)
		}
		h.SetDown(false)
		synctest.Wait()
		want(t, b, "k", "v")
		want(t, a, "k", "v")
	})
}

// TestBreakerLeavesTheRemoteAlone after five failures, tries again after a pause that doubles, and
// goes back to work with the link.
func TestBreakerLeavesTheRemoteAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		c, wire := node(t, h, Options[string, string]{})
		fails(&wire.before, errWire)
		for i := range 100 {
			_, _ = c.Get(t.Context(), fmt.Sprint(i))
		}
		calls := wire.fetches.Load()
		if calls != 5 {
			t.Errorf("%d calls in an instant", calls)
		}
		for range 100 {
			pass(100 * time.Millisecond)
			_, _ = c.Get(t.Context(), "k")
		}
		if n := wire.fetches.Load() - calls; n < 5 || n > 9 {
			t.Errorf("%d calls in 10 s", n)
		}
		fails(&wire.before, nil)
		wire.cutLink()
		wire.heal()
		wantErr(t, c, "k", ErrNotFound)
		tell(t, c, "k", "v")
	})
}

// TestValueFromElsewhereThatCannotBeRead is no value, and does not end the one that is held if
// there is no better.
func TestValueFromElsewhereThatCannotBeRead(t *testing.T) {
	for name, bad := range map[string]Record{
		"of another codec":       {Codec: 99, Payload: []byte("?")},
		"that cannot be weighed": {Codec: textCodec{}.ID(), Payload: []byte("no weight")},
	} {
		t.Run(name, func(t *testing.T) { valueFromElsewhereThatCannotBeRead(t, bad) })
	}
}

func valueFromElsewhereThatCannotBeRead(t *testing.T, bad Record) {
	t.Helper()
	weigh := func(_, v string) int {
		if v == "no weight" {
			panic(v)
		}
		return len(v)
	}
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		up := true
		a, _ := node(t, h, Options[string, string]{Weigh: weigh, Load: func(context.Context, string) (string, error) {
			if up {
				return "loaded", nil
			}
			return "", errOrigin
		}})
		tell(t, a, "k", "good")
		foreign := func() {
			bad.Version, bad.State, bad.Fresh, bad.Remove, bad.Tags = Version{WriteID: 1}, RecordValue, time.Hour, time.Hour, a.current(t, "")
			if _, err := h.Store(t.Context(), "n", StoreRequest{Key: "k", Push: true, Record: bad}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		up = false
		foreign()
		want(t, a, "k", "good")
		up = true
		pass(time.Minute)
		want(t, a, "k", "loaded")
		foreign()
		want(t, a, "k", "loaded")
		if s := a.Stats(); s.Malformed < 3 {
			t.Errorf("stats %+v", s)
		}
	})
}

// hanging is a remote that does not answer.
type hanging struct{ *wire }

func (hanging) Fetch(ctx context.Context, _ string, _ []string, _ bool) ([]Record, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}
