package cache

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// entryOrigin answers with what next says and notes what it was given.
type entryOrigin struct {
	next  Loaded[string]
	takes time.Duration
	asked []string // "none", or value and age of old
}

func (o *entryOrigin) load(_ context.Context, _ string, old *Entry[string]) (Loaded[string], error) {
	next := o.next
	pass(o.takes)
	if old == nil {
		o.asked = append(o.asked, "none")
	} else {
		o.asked = append(o.asked, fmt.Sprint(old.Value, " ", old.Age))
	}
	return next, nil
}

func (o *entryOrigin) wantAsked(t *testing.T, want ...string) {
	t.Helper()
	if fmt.Sprint(o.asked) != fmt.Sprint(want) {
		t.Errorf("origin was asked with %q, want %q", o.asked, want)
	}
}

// TestNotModifiedRenewsTheLife: the value held is offered to the loader, and its answer that the
// value is still right begins a new life, as long as the answer says.
func TestNotModifiedRenewsTheLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var weighed atomic.Int64
		o := entryOrigin{next: Loaded[string]{Value: "one", TTL: time.Minute}}
		c := open(t, Options[string, string]{LoadEntry: o.load, Policy: plain(Policy{StaleWhileRevalidate: -1}), Weigh: func(_, v string) int {
			weighed.Add(1)
			return len(v)
		}})
		want(t, c, "k", "one")
		bytes := c.Stats().Bytes
		pass(time.Minute)
		o.next = Loaded[string]{Value: "ignored", TTL: time.Hour, NotModified: true}
		want(t, c, "k", "one")
		pass(time.Hour - 1)
		want(t, c, "k", "one")
		o.wantAsked(t, "none", "one 1m0s")
		pass(1)
		o.next = Loaded[string]{Value: "two"}
		want(t, c, "k", "two")
		o.wantAsked(t, "none", "one 1m0s", "one 1h0m0s")
		if weighed.Load() != 2 || c.Stats().Bytes != bytes {
			t.Errorf("weighed %d times, %d bytes held after %d", weighed.Load(), c.Stats().Bytes, bytes)
		}
		// Past its hard life the value is not offered.
		pass(48 * time.Hour)
		want(t, c, "k", "two")
		o.wantAsked(t, "none", "one 1m0s", "one 1h0m0s", "none")
	})
}

// TestNoStoreServesThoseWhoWait: they share the value, nothing is kept, and an older value or
// "does not exist" is dropped.
func TestNoStoreServesThoseWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := entryOrigin{next: Loaded[string]{Value: "private", NoStore: true}}
		c := open(t, Options[string, string]{LoadEntry: o.load, Policy: plain(Policy{TTL: time.Minute, StaleWhileRevalidate: -1})})
		want(t, c, "k", "private")
		want(t, c, "k", "private")
		set(t, c, "k", "old")
		pass(time.Minute)
		want(t, c, "k", "private")
		want(t, c, "k", "private")
		o.wantAsked(t, "none", "none", "old 1m0s", "none")
		if v, ok := c.Peek("k"); ok || c.Stats().Entries != 0 || c.Stats().Refused != 0 {
			t.Errorf("held %q, stats %+v", v, c.Stats())
		}
		set(t, c, "k", "old")
		pass(time.Minute)
		o.next = Loaded[string]{NoStore: true, NotModified: true}
		want(t, c, "k", "old")
		if s := c.Stats(); s.Entries != 0 {
			t.Errorf("stats %+v", s)
		}
	})
}

// TestLoadedThatCannotBe: the load fails, and says why.
func TestLoadedThatCannotBe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := entryOrigin{next: Loaded[string]{NotModified: true}}
		c := open(t, Options[string, string]{LoadEntry: o.load, Policy: Policy{ErrorBackoffMin: -1}})
		wantErr(t, c, "k", errNoOld)
		o.next = Loaded[string]{Value: "v", TTL: -1}
		_, err := c.Get(t.Context(), "k")
		if e, ok := errors.AsType[*ConfigError](err); !ok || e.Field != "Loaded.TTL" {
			t.Errorf("TTL -1: %v", err)
		}
		both := Options[string, string]{LoadEntry: o.load, Load: func(context.Context, string) (string, error) { return "", nil }}
		_, err = New(both)
		if e, ok := errors.AsType[*ConfigError](err); !ok || e.Field != "LoadEntry" {
			t.Errorf("two loaders: %v", err)
		}
	})
}

// TestConditionalRefreshIsFenced: an answer about a value that was replaced, deleted or cleared
// meanwhile does not bring it back.
func TestConditionalRefreshIsFenced(t *testing.T) {
	for name, tc := range map[string]struct {
		write func(*testing.T, *Cache[string, string])
		want  string // "" for nothing
	}{
		"Set":    {func(t *testing.T, c *Cache[string, string]) { t.Helper(); set(t, c, "k", "new") }, "new"},
		"Delete": {func(t *testing.T, c *Cache[string, string]) { t.Helper(); _ = c.Delete(t.Context(), "k") }, ""},
		"Clear":  {func(t *testing.T, c *Cache[string, string]) { t.Helper(); _ = c.Clear(t.Context()) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := entryOrigin{next: Loaded[string]{NotModified: true}, takes: time.Second}
				c := open(t, Options[string, string]{LoadEntry: o.load, Policy: plain(Policy{TTL: time.Minute})})
				set(t, c, "k", "old")
				pass(time.Minute)
				want(t, c, "k", "old") // begins the refresh
				synctest.Wait()
				tc.write(t, c)
				pass(2 * time.Second)
				synctest.Wait()
				o.wantAsked(t, "old 1m0s")
				if v, ok := c.Peek("k"); v != tc.want || ok != (tc.want != "") || c.Stats().Overtaken != 1 {
					t.Errorf("held %q, %v; stats %+v", v, ok, c.Stats())
				}
			})
		})
	}
}
