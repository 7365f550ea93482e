package cache

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestOvertakenLoadIsNotKept: a load overtaken by Delete, Set or Clear does
// not come back, and its readers get nothing older than what the key holds.
func TestOvertakenLoadIsNotKept(t *testing.T) {
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

// TestReadAfterWriteNeverJoinsOlderLoad: a read after a Delete or Clear never joins the
// load that began before it.
func TestReadAfterWriteNeverJoinsOlderLoad(t *testing.T) {
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

// TestLateReaderLooksAgain: a reader that found nothing, and comes to begin
// a load when another one has just ended, looks again and does not repeat it.
func TestLateReaderLooksAgain(t *testing.T) {
	c := open(t, Options[string, string]{})
	set(t, c, "k", "v")
	load := func(context.Context, string) (string, error) { return "again", nil }
	if f, joined, err := c.begin(t.Context(), "k", source[string, string]{load: load}, nil); f != nil || joined || err != nil {
		t.Fatalf("begin after a look that is out of date: %v, %v, %v", f, joined, err)
	}
	if s := c.Stats(); s.Loads != 0 {
		t.Fatalf("stats %+v", s)
	}
}

// TestRefusedWriteChangesNothing.
func TestRefusedWriteChangesNothing(t *testing.T) {
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

// TestRefreshNeverOverwritesNewerSet: a refresh never overwrites a newer Set, including one
// that follows a stale read.
func TestRefreshNeverOverwritesNewerSet(t *testing.T) {
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
