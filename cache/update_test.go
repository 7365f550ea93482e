package cache

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// onHub runs test with a cache alone and with two nodes of a hub.
func onHub(t *testing.T, test func(t *testing.T, a, b *Cache[string, string])) {
	t.Helper()
	for _, nodes := range []int{1, 2} {
		t.Run(fmt.Sprint(nodes), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if nodes == 1 {
					c := open(t, Options[string, string]{Policy: plain(Policy{})})
					test(t, c, c)
					return
				}
				h := NewHub()
				a, _ := node(t, h, Options[string, string]{})
				b, _ := node(t, h, Options[string, string]{})
				test(t, a, b)
			})
		})
	}
}

// TestUpdateSetsByWhatIsThere: it keeps, puts and removes, and keeps tags.
func TestUpdateSetsByWhatIsThere(t *testing.T) {
	onHub(t, func(t *testing.T, a, b *Cache[string, string]) {
		t.Helper()
		update := func(c *Cache[string, string], old, v string, op Op) Version {
			t.Helper()
			version, err := c.Update(t.Context(), "k", func(got string, ok bool) (string, Op, error) {
				if got != old || ok != (old != "") {
					t.Errorf("there is %q, %v; want %q", got, ok, old)
				}
				return v, op, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			return version
		}
		if v := update(a, "", "x", Keep); v != (Version{}) {
			t.Errorf("kept nothing: %v", v)
		}
		wantErr(t, b, "k", ErrNotFound)
		first := update(a, "", "one", Put)
		want(t, b, "k", "one")
		if second := update(b, "one", "two", Put); !second.newer(first) || second.Epoch == 0 {
			t.Errorf("%v after %v", second, first)
		}
		want(t, a, "k", "two")
		update(a, "two", "x", Keep)
		want(t, b, "k", "two")
		update(b, "two", "x", Remove)
		wantErr(t, a, "k", ErrNotFound)
		update(a, "", "again", Put)
		want(t, b, "k", "again")
		if _, err := a.SetWith(t.Context(), "k", "tagged", WriteOptions{Tags: []string{"t"}}); err != nil {
			t.Fatal(err)
		}
		update(b, "tagged", "tagged still", Put)
		want(t, a, "k", "tagged still")
		if err := a.InvalidateTags(t.Context(), "t"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		wantErr(t, b, "k", ErrNotFound)
		update(a, "", "new", Put)
		pass(5 * time.Minute)
		update(a, "", "at the end of its life", Put)
	})
}

// TestUpdatesOfAllNodesAreOneAfterTheOther: none is lost, whoever is faster.
func TestUpdatesOfAllNodesAreOneAfterTheOther(t *testing.T) {
	onHub(t, func(t *testing.T, a, b *Cache[string, string]) {
		t.Helper()
		var wg sync.WaitGroup
		const each = 50
		for _, c := range []*Cache[string, string]{a, b} {
			wg.Go(func() {
				for range each {
					for {
						_, err := c.Update(t.Context(), "k", func(old string, _ bool) (string, Op, error) {
							n, _ := strconv.Atoi(old)
							return strconv.Itoa(n + 1), Put, nil
						})
						if err == nil {
							break
						}
						if !errors.Is(err, ErrConflict) {
							t.Error(err)
							return
						}
					}
				}
			})
		}
		wg.Wait()
		synctest.Wait()
		want(t, a, "k", strconv.Itoa(2*each))
		want(t, b, "k", strconv.Itoa(2*each))
	})
}

// TestUpdateThatCannotBe: a key that others write each time, an error of the function, a write that
// is not allowed.
func TestUpdateThatCannotBe(t *testing.T) {
	onHub(t, func(t *testing.T, a, b *Cache[string, string]) {
		t.Helper()
		tries := 0
		for name, write := range map[string]func() error{
			"set":       func() error { return b.Set(t.Context(), "k", fmt.Sprint("other", tries)) },
			"set twice": func() error { return errors.Join(b.Set(t.Context(), "k", "v"), b.Set(t.Context(), "k", "v")) },
			"tag": func() error {
				_, err := b.SetWith(t.Context(), "k", "v", WriteOptions{Tags: []string{"t"}})
				return errors.Join(err, b.InvalidateTags(t.Context(), "t"))
			},
		} {
			tries = 0
			_, err := a.Update(t.Context(), "k", func(string, bool) (string, Op, error) {
				tries++
				return "lost", Put, write()
			})
			if !errors.Is(err, ErrConflict) || tries != maxTries {
				t.Errorf("%s: %v after %d tries", name, err, tries)
			}
			if v, err := a.Get(t.Context(), "k"); v == "lost" {
				t.Errorf("%s: %q, %v", name, v, err)
			}
		}
		if _, err := a.Update(t.Context(), "k", func(string, bool) (string, Op, error) { return "", Remove, errOrigin }); !errors.Is(err, errOrigin) {
			t.Error(err)
		}
		long := strings.Repeat("k", 2000)
		put := func(string, bool) (string, Op, error) { return "v", Put, nil }
		if v, err := a.Update(t.Context(), long, put); !errors.Is(err, ErrTooLarge) || v != (Version{}) {
			t.Errorf("a key that is too long: %+v, %v", v, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		none := func(string, bool) (string, Op, error) { t.Error("called"); return "", Put, nil }
		if _, err := a.Update(ctx, "k", none); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		shut(t, a)
		if _, err := a.Update(t.Context(), "k", none); !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		c, _ := node(t, NewHub(), Options[string, string]{ReadOnly: true})
		if _, err := c.Update(t.Context(), "k", func(string, bool) (string, Op, error) { return "", Put, nil }); !errors.Is(err, ErrReadOnly) {
			t.Error(err)
		}
	})
}

// TestPurgeFreesWhatIsOutOfUse and nothing else, of this namespace alone.
func TestPurgeFreesWhatIsOutOfUse(t *testing.T) {
	onHub(t, func(t *testing.T, a, b *Cache[string, string]) {
		t.Helper()
		set(t, b, "cleared", "v")
		if err := a.Clear(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // the memory of what was cleared here is freed in the background
		for _, k := range []string{"kept", "tagged"} {
			if _, err := a.SetWith(t.Context(), k, "v", WriteOptions{Tags: []string{k}}); err != nil {
				t.Fatal(err)
			}
		}
		if err := a.InvalidateTags(t.Context(), "tagged"); err != nil {
			t.Fatal(err)
		}
		removed := 2
		if a == b {
			removed = 1
		}
		for _, want := range []int{removed, 0} {
			if n, err := a.Purge(t.Context(), 1000); n != want || err != nil {
				t.Errorf("removed %d, %v; want %d", n, err, want)
			}
		}
		want(t, b, "kept", "v")
		if s := a.Stats(); s.Entries != 1 {
			t.Errorf("stats %+v", s)
		}
		_, err := a.Purge(t.Context(), 0)
		if e, ok := errors.AsType[*ConfigError](err); !ok || e.Field != "Purge.perSecond" {
			t.Error(err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		c, _ := node(t, NewHub(), Options[string, string]{ReadOnly: true})
		if _, err := c.Purge(t.Context(), 1); !errors.Is(err, ErrReadOnly) {
			t.Error(err)
		}
	})
}

// TestFailedLoadIsSharedUntilItsTime: other nodes leave the origin alone as long as the one that
// asked it, the pauses double for all together, and a write ends them.
func TestFailedLoadIsSharedUntilItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		asked := 0
		var all [3]*Cache[string, string]
		for i := range all {
			all[i], _ = node(t, h, Options[string, string]{
				Policy: Policy{ErrorBackoffMin: time.Second, ErrorBackoffMax: 8 * time.Second},
				Load: func(context.Context, string) (string, error) {
					asked++
					return "", errOrigin
				},
			})
		}
		for try, pause := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 8 * time.Second} {
			begun := time.Now()
			for range 2 {
				for i := range all {
					_, err := all[(i+try)%3].Get(t.Context(), "k")
					e, ok := errors.AsType[*LoadError](err)
					if !ok {
						t.Fatalf("try %d: %v", try, err)
					}
					if d := e.RetryAt.Sub(begun); d != pause {
						t.Errorf("try %d, node %d: to be tried again after %v, want %v", try, i, d, pause)
					}
				}
				synctest.Wait()
			}
			if asked != try+1 {
				t.Fatalf("try %d: the origin was asked %d times", try, asked)
			}
			pass(pause)
		}
		wantErr(t, all[0], "k", errOrigin)
		tell(t, all[1], "k", "set")
		for _, c := range all {
			want(t, c, "k", "set")
		}
	})
}

// TestFailedLoadDoesNotEndAValue in the remote, nor a tombstone.
func TestFailedLoadDoesNotEndAValue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		p := Policy{TTL: time.Second, StaleWhileRevalidate: -1}
		a, _ := node(t, h, Options[string, string]{Policy: p})
		b, _ := node(t, h, Options[string, string]{Policy: p, Load: func(context.Context, string) (string, error) { return "", errOrigin }})
		tell(t, a, "k", "v")
		tell(t, a, "deleted", "v")
		if err := a.Delete(t.Context(), "deleted"); err != nil {
			t.Fatal(err)
		}
		pass(time.Second)
		want(t, b, "k", "v")
		wantErr(t, b, "deleted", errOrigin)
		synctest.Wait()
		recs, err := h.Fetch(t.Context(), "n", []string{"k", "deleted"}, false)
		if err != nil || recs[0].State != RecordValue || recs[1].State != RecordTombstone {
			t.Errorf("%+v, %v", recs, err)
		}
	})
}
