package cache

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func setTagged(t *testing.T, c *Cache[string, string], k, v string, tags ...string) {
	t.Helper()
	if _, err := c.SetWith(t.Context(), k, v, WriteOptions{Tags: tags}); err != nil {
		t.Fatal(err)
	}
}

func invalidateTags(t *testing.T, c *Cache[string, string], tags ...string) {
	t.Helper()
	if err := c.InvalidateTags(t.Context(), tags...); err != nil {
		t.Fatal(err)
	}
}

// TestInvalidateTagsDropsWhatHasTheTag: and nothing else; what is written afterwards stays.
func TestInvalidateTagsDropsWhatHasTheTag(t *testing.T) {
	c := open(t, Options[string, string]{})
	set(t, c, "plain", "v")
	setTagged(t, c, "a", "v", "posts", "a")
	setTagged(t, c, "b", "v", "posts", "b")
	invalidateTags(t, c, "unknown", "a")
	wantErr(t, c, "a", ErrNotFound)
	want(t, c, "b", "v")
	setTagged(t, c, "a", "new", "posts", "a")
	want(t, c, "a", "new")
	invalidateTags(t, c)
	invalidateTags(t, c, "posts")
	wantErr(t, c, "a", ErrNotFound)
	wantErr(t, c, "b", ErrNotFound)
	want(t, c, "plain", "v")
	if v, ok := PeekBytes(c, []byte("b")); ok || c.Stats().Invalidations != 2 {
		t.Errorf("%q, stats %+v", v, c.Stats())
	}
}

// TestInvalidateTagsFencesLoads: a load that an invalidation overtakes serves those who asked
// before it, is not kept, and does not serve those who ask afterwards, alone or among many keys.
func TestInvalidateTagsFencesLoads(t *testing.T) {
	for _, notModified := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			value := "old"
			c := open(t, Options[string, string]{Policy: plain(Policy{TTL: time.Minute, StaleWhileRevalidate: -1, LoadSoftTimeout: -1}), LoadEntry: func(_ context.Context, _ string, old *Entry[string]) (Loaded[string], error) {
				l := Loaded[string]{Value: value, Tags: []string{"t"}}
				if old != nil {
					l = Loaded[string]{NotModified: true}
				}
				pass(time.Second)
				return l, nil
			}})
			if notModified {
				setTagged(t, c, "k", "old", "t")
				pass(time.Minute)
			}
			var wg sync.WaitGroup
			wg.Go(func() { want(t, c, "k", "old") })
			synctest.Wait()
			value = "new"
			invalidateTags(t, c, "t", "other")
			wg.Go(func() { want(t, c, "k", "new") })
			wg.Go(func() { wantMany(t, c, nil, []string{"k"}, map[string]string{"k": "new"}) })
			wg.Wait()
			want(t, c, "k", "new")
			if s := c.Stats(); s.Overtaken != 1 || s.Loads != 2 || s.Hits+s.Misses != 4 {
				t.Errorf("stats %+v", s)
			}
		})
	}
}

// TestUnmodifiedKeepsItsTags: unless the answer has others.
func TestUnmodifiedKeepsItsTags(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := entryOrigin{next: Loaded[string]{Value: "v", Tags: []string{"one"}}}
		c := open(t, Options[string, string]{LoadEntry: o.load, Policy: plain(Policy{TTL: time.Minute, StaleWhileRevalidate: -1})})
		want(t, c, "k", "v")
		bytes := c.Stats().Bytes
		pass(time.Minute)
		o.next = Loaded[string]{NotModified: true}
		want(t, c, "k", "v")
		pass(time.Minute)
		o.next = Loaded[string]{NotModified: true, Tags: []string{"another"}}
		want(t, c, "k", "v")
		if got := c.Stats().Bytes; got != bytes+int64(len("another")-len("one")) {
			t.Errorf("%d bytes after %d", got, bytes)
		}
		invalidateTags(t, c, "one")
		want(t, c, "k", "v")
		invalidateTags(t, c, "another")
		if v, ok := c.Peek("k"); ok {
			t.Errorf("after the bump: %q", v)
		}
	})
}

// TestTagsNobodyHasAreForgotten: and a load that began before such a tag was bumped is not kept.
func TestTagsNobodyHasAreForgotten(t *testing.T) {
	var table tagTable
	before := table.bumps.Load()
	table.bump([]string{"t"})
	for i := range recentBumps {
		table.bump([]string{fmt.Sprint(i)})
	}
	after := table.bumps.Load()
	for range 100 {
		runtime.GC()
		pass(time.Millisecond)
		table.mu.Lock()
		n := len(table.known)
		table.mu.Unlock()
		if n == recentBumps {
			break
		}
	}
	if n := len(table.known); n != recentBumps {
		t.Fatalf("%d tags known, want %d", n, recentBumps)
	}
	if table.set([]string{"t"}, before).overtaken() == 0 || table.set([]string{"t"}, after).overtaken() != 0 {
		t.Error("a forgotten bump is not respected, or one is made up")
	}
}

// TestTagsThatCannotBe: refused by name, and nothing is written.
func TestTagsThatCannotBe(t *testing.T) {
	c := open(t, Options[string, string]{})
	for _, tags := range [][]string{{""}, {strings.Repeat("t", 129)}, make([]string, 17)} {
		_, err := c.SetWith(t.Context(), "k", "v", WriteOptions{Tags: tags})
		if e, ok := errors.AsType[*ConfigError](err); !ok || e.Field != "WriteOptions.Tags" {
			t.Errorf("set %.9q: %v", tags, err)
		}
		if e, ok := errors.AsType[*ConfigError](c.InvalidateTags(t.Context(), tags...)); !ok || e.Field != "InvalidateTags.tags" {
			t.Errorf("bump %.9q: %v", tags, e)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.InvalidateTags(ended, "t"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	shut(t, c)
	if err := c.InvalidateTags(t.Context(), "t"); !errors.Is(err, ErrClosed) || c.Stats().Sets+c.Stats().Invalidations != 0 {
		t.Errorf("%v, stats %+v", err, c.Stats())
	}
}
