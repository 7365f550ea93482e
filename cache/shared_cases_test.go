package cache

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// remoteCases observes the options that concern the second level.
func remoteCases(cases map[string]func(t *testing.T)) {
	type opts = Options[string, string]
	cases["Options.Remote"] = func(t *testing.T) {
		t.Helper()
		h := NewHub()
		a, _ := node(t, h, opts{})
		b, _ := node(t, h, opts{})
		tell(t, a, "k", "v")
		want(t, b, "k", "v")
		for field, o := range map[string]opts{
			"Bus": {Name: "n", Remote: h, Codec: textCodec{}}, "Name": {Remote: h, Bus: h, Codec: textCodec{}}, "Codec": {Name: "n", Remote: h, Bus: h},
			"Remote":             {Name: "n", Remote: (*Hub)(nil), Bus: h, Codec: textCodec{}},
			"Policy.LoadTimeout": {Name: "n", Remote: h, Bus: h, Codec: textCodec{}, Policy: Policy{LoadTimeout: -1}},
		} {
			_, err := New(o)
			if e, ok := errors.AsType[*ConfigError](err); !ok || e.Field != field {
				t.Errorf("%s: %v", field, err)
			}
		}
	}
	cases["Options.Bus"] = cases["Options.Remote"]
	cases["Options.Codec"] = func(t *testing.T) {
		t.Helper()
		var n atomic.Int64
		c, _ := node(t, NewHub(), opts{Codec: textCodec{&n}})
		tell(t, c, "k", "v")
		if n.Load() != 1 {
			t.Errorf("decoded %d times", n.Load())
		}
	}
	cases["Options.Keys"] = func(t *testing.T) {
		t.Helper()
		h := NewHub()
		_, err := New(Options[at, string]{Name: "n", Remote: h, Bus: h, Codec: textCodec{}})
		if e, ok := errors.AsType[*ConfigError](err); !ok || e.Field != "Keys" {
			t.Errorf("a struct as key: %v", err)
		}
		c := open(t, Options[int, int]{Name: "n", Remote: h, Bus: h, Codec: jsonCodec[int]{}, MaxEntries: 10})
		if err := c.Set(t.Context(), -7, 12); err != nil {
			t.Error(err)
		}
		if r, err := h.Fetch(t.Context(), "n", []string{"-7"}, false); err != nil || string(r[0].Payload) != "12" {
			t.Errorf("%+v, %v", r, err)
		}
		small := basicKeys[int16]{}
		if k, err := small.Parse(small.Format(-7)); err != nil || k != -7 || small.Format(k) != "-7" {
			t.Errorf("int16: %d, %v", k, err)
		}
		if _, err := (basicKeys[uint8]{}).Parse("256"); err == nil {
			t.Error("256 is no uint8")
		}
	}
	cases["Options.NodeID"] = func(t *testing.T) {
		t.Helper()
		c, _ := node(t, NewHub(), opts{NodeID: 1<<24 - 1})
		v, err := c.SetWith(t.Context(), "k", "v", WriteOptions{})
		if err != nil || v.WriteID>>40 != 1<<24-1 {
			t.Errorf("%+v, %v", v, err)
		}
		h := NewHub()
		_, err = New(opts{Name: "n", Remote: h, Bus: h, Codec: textCodec{}, NodeID: 1 << 24})
		if wrong, ok := errors.AsType[*ConfigError](err); !ok || wrong.Field != "NodeID" {
			t.Errorf("an id of 25 bits: %v", err)
		}
	}
	cases["Options.ReadOnly"] = func(t *testing.T) {
		t.Helper()
		h := NewHub()
		load := func(context.Context, string) (string, error) { return "v", nil }
		c, _ := node(t, h, opts{ReadOnly: true, Load: load})
		for _, c := range []*Cache[string, string]{c, open(t, opts{ReadOnly: true, Load: load})} {
			_, with := c.SetWith(t.Context(), "k", "v", WriteOptions{})
			_, update := c.Update(t.Context(), "k", func(string, bool) (string, Op, error) { return "v", Put, nil })
			_, purge := c.Purge(t.Context(), 1)
			for _, err := range []error{c.Set(t.Context(), "k", "v"), with, update, purge, c.Delete(t.Context(), "k"), c.Clear(t.Context()), c.InvalidateTags(t.Context(), "t")} {
				if !errors.Is(err, ErrReadOnly) {
					t.Error(err)
				}
			}
			want(t, c, "k", "v")
		}
		other, _ := node(t, h, opts{})
		want(t, other, "k", "v")
	}
	cases["Policy.RemoteTimeout"] = func(t *testing.T) {
		t.Helper()
		c, wire := node(t, NewHub(), opts{Policy: Policy{RemoteTimeout: 3 * time.Second}})
		c.remote = hanging{wire}
		start := time.Now()
		wantErr(t, c, "k", context.DeadlineExceeded)
		if d := time.Since(start); d != 3*time.Second {
			t.Errorf("after %v", d)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := c.Get(ctx, "k"); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 4*time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	}
	cases["Policy.LeaseTTL"] = func(t *testing.T) {
		t.Helper()
		h := NewHub()
		c, _ := node(t, h, opts{Policy: Policy{LeaseTTL: 2 * time.Second}, Load: func(context.Context, string) (string, error) {
			pass(10 * time.Second)
			return "v", nil
		}})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, _ = c.Get(ctx, "k")
		h.mu.Lock()
		defer h.mu.Unlock()
		if l := h.ns["n"].leases["k"]; time.Until(l.until) > 2*time.Second || time.Until(l.until) < time.Second {
			t.Errorf("the lease ends in %v", time.Until(l.until))
		}
	}
	cases["Policy.TombstoneTTL"] = func(t *testing.T) {
		t.Helper()
		h := NewHub()
		c, _ := node(t, h, opts{Policy: Policy{TombstoneTTL: time.Minute}})
		if err := c.Delete(t.Context(), "k"); err != nil {
			t.Error(err)
		}
		if r, err := h.Fetch(t.Context(), "n", []string{"k"}, true); err != nil || r[0].Remove != time.Minute {
			t.Errorf("%+v, %v", r, err)
		}
	}
	pushes := func(p Policy, w WriteOptions, held, then string) func(t *testing.T) {
		return func(t *testing.T) {
			t.Helper()
			h := NewHub()
			a, _ := node(t, h, opts{Policy: p})
			b, _ := node(t, h, opts{Policy: p})
			tell(t, a, "other", "v")
			want(t, b, "other", "v")
			if held != "" {
				tell(t, a, "k", held)
				want(t, b, "k", held)
			}
			if _, err := a.SetWith(t.Context(), "k", "pushed", w); err != nil {
				t.Error(err)
			}
			synctest.Wait()
			peeks(t, b, "k", then)
		}
	}
	cases["Policy.Mode"] = pushes(Policy{Mode: Push}, WriteOptions{}, "old", "pushed")
	cases["Policy.PushMaxBytes"] = pushes(Policy{Mode: Push, PushMaxBytes: 5}, WriteOptions{}, "old", "")
	cases["Policy.PushAll"] = pushes(Policy{Mode: Push, PushAll: true}, WriteOptions{}, "", "pushed")
	cases["WriteOptions.Mode"] = pushes(Policy{Mode: Push}, WriteOptions{Mode: Invalidate}, "old", "")
	cases["Policy.Heartbeat"] = func(t *testing.T) {
		t.Helper()
		c, _ := node(t, NewHub(), opts{Policy: Policy{Heartbeat: 5 * time.Second}})
		pass(4 * time.Second)
		if d := c.Staleness(); d != 4*time.Second {
			t.Errorf("bound %v", d)
		}
		pass(2 * time.Second)
		if d := c.Staleness(); d != time.Second {
			t.Errorf("bound %v", d)
		}
	}
	cases["Policy.LinkTimeout"] = func(t *testing.T) {
		t.Helper()
		h := NewHub()
		h.SetDown(true)
		start := time.Now()
		c, _ := node(t, h, opts{Policy: Policy{LinkTimeout: 7 * time.Second}, Load: func(context.Context, string) (string, error) { return "v", nil }})
		if d := time.Since(start); d != 7*time.Second {
			t.Errorf("New waited %v", d)
		}
		want(t, c, "k", "v")
		h.SetDown(false)
		synctest.Wait()
		tell(t, c, "k", "w")
	}
	cases["Policy.SuspectTTL"] = func(t *testing.T) {
		t.Helper()
		c, wire := node(t, NewHub(), opts{Policy: Policy{SuspectTTL: 5 * time.Second}})
		tell(t, c, "k", "v")
		wire.cutLink()
		for range 10 {
			want(t, c, "k", "v")
			pass(time.Second)
		}
		if n := wire.headers.Load(); n != 2 {
			t.Errorf("%d comparisons in 10 s", n)
		}
		wire.heal()
	}
	cases["Policy.SelfCheck"] = func(t *testing.T) {
		t.Helper()
		for rate, least := range map[int]uint64{-1: 0, 5: 4, 100: 80} {
			c, _ := node(t, NewHub(), opts{Policy: Policy{SelfCheck: rate}})
			tell(t, c, "k", "v")
			for range 100 {
				for range 256 {
					want(t, c, "k", "v")
				}
				pass(10 * time.Millisecond)
			}
			if n := c.Stats().Compared; n < least || n > uint64(max(rate, 0)) {
				t.Errorf("SelfCheck %d: %d compared in a second", rate, n)
			}
		}
	}
	cases["Options.Observer"] = func(t *testing.T) {
		t.Helper()
		h := NewHub()
		var mu sync.Mutex
		var all []Event[string]
		c, wire := node(t, h, opts{MaxBytes: 8 << 10, Observer: func(e Event[string]) {
			mu.Lock()
			defer mu.Unlock()
			all = append(all, e)
		}})
		other, _ := node(t, h, opts{})
		told := func(kind EventKind) Event[string] {
			t.Helper()
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			if len(all) != 1 || all[0].Kind != kind {
				t.Fatalf("want kind %d alone: %+v", kind, all)
			}
			e := all[0]
			all = nil
			return e
		}
		told(EventLinkUp)
		version, err := c.SetWith(t.Context(), "k", "v", WriteOptions{Tags: []string{"t"}})
		if e := told(EventSet); err != nil || e.Key != "k" || e.Version != version {
			t.Errorf("%+v, %v", e, err)
		}
		if err := c.Delete(t.Context(), "k"); err != nil || told(EventDelete).Key != "k" {
			t.Error(err)
		}
		for _, by := range []*Cache[string, string]{c, other} {
			if err := by.InvalidateTags(t.Context(), "t"); err != nil || told(EventInvalidate).Tags[0] != "t" {
				t.Error(err)
			}
			if err := by.Clear(t.Context()); err != nil || told(EventClear).Err != nil {
				t.Error(err)
			}
		}
		tell(t, other, "k", "v")
		if e := told(EventRemoteWrite); e.Key != "k" || e.Version.Epoch != version.Epoch || !e.Version.newer(version) {
			t.Errorf("%+v", e)
		}
		tell(t, other, "big", strings.Repeat("v", 3000))
		told(EventRemoteWrite)
		if _, err := h.Store(t.Context(), "n", StoreRequest{Key: "k", Record: Record{
			State: RecordValue, Codec: 99, Fresh: time.Hour, Remove: time.Hour, Tags: c.current(t, ""),
		}}); err != nil {
			t.Error(err)
		}
		told(EventRemoteWrite)
		wantErr(t, c, "k", ErrNotFound)
		if e := told(EventRefuse); e.Key != "k" || e.Err == nil {
			t.Errorf("%+v", e)
		}
		wire.cutLink()
		if e := told(EventLinkDown); !errors.Is(e.Err, errWire) {
			t.Errorf("%+v", e)
		}
		wire.heal()
		told(EventLinkUp)
		alone := open(t, opts{Observer: func(e Event[string]) { all = append(all, e) }})
		set(t, alone, "k", "v")
		told(EventSet)
	}
	cases["Policy.MaxStale"] = func(t *testing.T) {
		t.Helper()
		h := NewHub()
		c, _ := node(t, h, opts{Policy: Policy{MaxStale: 20 * time.Second}})
		tell(t, c, "k", "v")
		h.SetDown(true)
		synctest.Wait()
		pass(19 * time.Second)
		want(t, c, "k", "v")
		pass(2 * time.Second)
		wantErr(t, c, "k", ErrUnavailable)
	}
}
