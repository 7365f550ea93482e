package cache

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestLoadedValueIsNotAnsweredAfterALaterWrite: while what was loaded is being stored another node
// writes the key, and a load that was overtaken before is answered with that. Who has read it gets
// nothing that was loaded before.
func TestLoadedValueIsNotAnsweredAfterALaterWrite(t *testing.T) {
	for _, c := range []struct {
		name string
		load func() (Loaded[string], error)
	}{
		{"a value", func() (Loaded[string], error) { return Loaded[string]{Value: "loaded"}, nil }},
		{"no value", func() (Loaded[string], error) { return Loaded[string]{}, ErrNotFound }},
		{"a value for those who wait", func() (Loaded[string], error) { return Loaded[string]{Value: "loaded", NoStore: true}, nil }},
		{"a value with tags not known here", func() (Loaded[string], error) {
			return Loaded[string]{Value: "loaded", Tags: []string{"t"}}, nil
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := NewHub()
				a, _ := node(t, h, Options[string, string]{})
				goOn := make(chan struct{})
				b, wire := node(t, h, Options[string, string]{Policy: Policy{NegativeTTL: time.Minute}, LoadEntry: func(context.Context, string, *Entry[string]) (Loaded[string], error) {
					defer func() { <-goOn }()
					return c.load()
				}})
				get := func() (string, error) { return b.Get(t.Context(), "k") }
				asks := pause(&wire.fetching)
				first := begun(t, get)
				tell(t, a, "k", "1")
				if err := a.Delete(t.Context(), "k"); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				wire.fetching.Store(nil)
				answers := make(chan struct{})
				b.remote = &tardy{wire: wire, stored: func() { <-answers }}
				second := begun(t, get) // it loads
				wire.slow()
				close(goOn)
				synctest.Wait()
				tell(t, a, "k", "2")
				asks()
				if got := <-first; got != "2" {
					t.Fatalf("the load that was overtaken brought %s", got)
				}
				third := begun(t, get)
				close(answers)
				if got := <-third; got != "2" {
					t.Errorf("%s after 2", got)
				}
				<-second
				want(t, b, "k", "2")
				wire.release()
				synctest.Wait()
				want(t, b, "k", "2")
			})
		})
	}
}

// TestLateNoticeBringsBackNoValueThatWasReplaced, though what replaced it was read and is not held:
// it is too large.
func TestLateNoticeBringsBackNoValueThatWasReplaced(t *testing.T) {
	large := strings.Repeat("x", 4<<10)
	for _, p := range []Policy{{Mode: Push, PushAll: true}, {Mode: Push}} {
		synctest.Test(t, func(t *testing.T) {
			h := NewHub()
			a, _ := node(t, h, Options[string, string]{Policy: p})
			b, wire := node(t, h, Options[string, string]{Policy: p, MaxBytes: minMaxBytes})
			wire.cutSilently() // frames come by hand
			set(t, a, "k", "old")
			old := h.frame(t, "k")
			set(t, a, "k", large)
			want(t, b, "k", large)
			wire.sink.Frame(old)
			synctest.Wait()
			peeks(t, b, "k", "")
			want(t, b, "k", large)
		})
	}
}

// TestOwnWriteThatIsAnsweredLateIsNotServedAfterALaterOne, though that was read and is not held: it
// is too large.
func TestOwnWriteThatIsAnsweredLateIsNotServedAfterALaterOne(t *testing.T) {
	large := strings.Repeat("x", 4<<10)
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		a, _ := node(t, h, Options[string, string]{})
		b, wire := node(t, h, Options[string, string]{MaxBytes: minMaxBytes})
		wire.cutSilently()
		b.remote = &tardy{wire: wire, stored: func() {
			set(t, a, "k", large)
			want(t, b, "k", large)
		}}
		set(t, b, "k", "own")
		peeks(t, b, "k", "")
		want(t, b, "k", large)
	})
}

// TestNoReadHasLessThanAnUpdateSaw, though the notice of what that saw has not come.
func TestNoReadHasLessThanAnUpdateSaw(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		a, _ := node(t, h, Options[string, string]{})
		b, wire := node(t, h, Options[string, string]{})
		see := func(v string) {
			t.Helper()
			if _, err := b.Update(t.Context(), "k", func(old string, ok bool) (string, Op, error) {
				if old != v || ok != (v != "") {
					t.Errorf("Update sees %q, %v; want %q", old, ok, v)
				}
				return "", Keep, nil
			}); err != nil {
				t.Error(err)
			}
		}
		tagged := func(v string) {
			t.Helper()
			if _, err := a.SetWith(t.Context(), "k", v, WriteOptions{Tags: []string{"t"}}); err != nil {
				t.Fatal(err)
			}
		}
		tagged("1")
		want(t, b, "k", "1")
		wire.cutSilently()
		tagged("2")
		see("2")
		want(t, b, "k", "2")
		if err := a.Delete(t.Context(), "k"); err != nil {
			t.Fatal(err)
		}
		see("")
		wantErr(t, b, "k", ErrNotFound)
		tagged("3")
		see("3")
		want(t, b, "k", "3")
		if err := a.InvalidateTags(t.Context(), "t"); err != nil {
			t.Fatal(err)
		}
		see("")
		wantErr(t, b, "k", ErrNotFound)

		// A load that runs meanwhile is not answered with less, whether it asked before the write
		// or waits for its answer.
		tagged("4")
		answer := pause(&wire.fetched)
		first := begun(t, func() (string, error) { return b.Get(t.Context(), "k") })
		wire.fetched.Store(nil)
		tagged("5")
		see("5")
		second := begun(t, func() (string, error) { return b.Get(t.Context(), "k") })
		answer()
		<-first
		if got := <-second; got != "5" {
			t.Errorf("%s after 5", got)
		}
		want(t, b, "k", "5")
	})
}

// TestInvalidatedValueThatAReadFoundGoneIsNotServedAgain, though the notice of the invalidation has
// not come.
func TestInvalidatedValueThatAReadFoundGoneIsNotServedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		a, _ := node(t, h, Options[string, string]{})
		b, wire := node(t, h, Options[string, string]{})
		if _, err := a.SetWith(t.Context(), "k", "v", WriteOptions{Tags: []string{"t"}}); err != nil {
			t.Fatal(err)
		}
		want(t, b, "k", "v")
		wire.cutSilently()
		if err := a.InvalidateTags(t.Context(), "t"); err != nil {
			t.Fatal(err)
		}
		want(t, b, "k", "v") // within the bound
		if e, err := b.GetEntry(t.Context(), "k", ReadOptions{Verify: true}); err == nil {
			t.Fatalf("it is there still: %+v", e)
		}
		peeks(t, b, "k", "")
		wantErr(t, b, "k", ErrNotFound)
	})
}

// TestNoReadGoesBackToAnEarlierEpoch: a load that was overtaken brings a value of an epoch of which
// nothing was heard.
func TestNoReadGoesBackToAnEarlierEpoch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		a, _ := node(t, h, Options[string, string]{})
		b, wire := node(t, h, Options[string, string]{})
		get := func() (string, error) { return b.Get(t.Context(), "k") }
		asks := pause(&wire.fetching)
		first := begun(t, get)
		tell(t, a, "k", "1")
		wire.fetching.Store(nil)
		want(t, b, "k", "1")
		wire.cutSilently()
		h.Reset()
		h.mu.Lock()
		h.next = 1000 // versions and counters do not come again
		h.mu.Unlock()
		synctest.Wait()
		tell(t, a, "k", "2")
		asks()
		if got := <-first; got != "2" {
			t.Fatalf("the load that was overtaken brought %s", got)
		}
		peeks(t, b, "k", "")
		want(t, b, "k", "2")
	})
}
