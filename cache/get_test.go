package cache

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

type post struct {
	ID   int
	Tags []string
	Next *post
}

// TestOneTypeOnEveryPath: set, loaded and refreshed reads give the same
// concrete type, deeply equal, also when the value is behind an interface.
func TestOneTypeOnEveryPath(t *testing.T) {
	for _, v := range []any{
		post{ID: 1, Tags: []string{"a"}, Next: &post{ID: 2}}, &post{ID: 3}, "text", []byte("raw"), 42, map[string]int{"a": 1},
	} {
		t.Run(fmt.Sprintf("%T", v), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := open(t, Options[string, any]{
					MaxEntries: 10,
					Load:       func(context.Context, string) (any, error) { return v, nil },
					Policy:     plain(Policy{TTL: time.Second}),
				})
				check := func(path string, got any, err error) {
					t.Helper()
					if err != nil {
						t.Fatalf("%s: %v", path, err)
					}
					if d := cmp.Diff(v, got); d != "" || fmt.Sprintf("%T", got) != fmt.Sprintf("%T", v) {
						t.Fatalf("%s gives %T: %s", path, got, d)
					}
				}
				got, err := c.Get(t.Context(), "loaded")
				check("cold", got, err)
				got, err = c.Get(t.Context(), "loaded")
				check("warm", got, err)
				pass(time.Second)
				got, err = c.Get(t.Context(), "loaded")
				check("stale", got, err)
				synctest.Wait()
				got, err = c.Get(t.Context(), "loaded")
				check("refreshed", got, err)
				set(t, c, "set", v)
				got, err = c.Get(t.Context(), "set")
				check("own write", got, err)
				got, ok := PeekBytes(c, []byte("set"))
				if !ok {
					t.Fatal("not held")
				}
				check("peek", got, nil)
			})
		})
	}
}

// TestZeroValueIsAHitAndAbsentIsRemembered: nil and zero are values; absent is asked once per
// NegativeTTL.
func TestZeroValueIsAHitAndAbsentIsRemembered(t *testing.T) {
	t.Run("nil is a hit", func(t *testing.T) {
		c := open(t, Options[string, any]{MaxEntries: 10, Load: func(context.Context, string) (any, error) { return nil, nil }})
		for range 3 {
			want(t, c, "k", nil)
		}
		if v, ok := c.Peek("k"); !ok || v != nil {
			t.Fatalf("peek = %v, %v", v, ok)
		}
		if s := c.Stats(); s.Loads != 1 || s.Hits != 3 {
			t.Fatalf("stats %+v", s)
		}
	})
	t.Run("zero is a hit", func(t *testing.T) {
		c := open(t, Options[string, string]{})
		set(t, c, "", "")
		want(t, c, "", "")
		if v, ok := PeekBytes(c, nil); !ok || v != "" {
			t.Fatalf("peek = %q, %v", v, ok)
		}
	})
	t.Run("absent", func(t *testing.T) {
		h := newManualClock()
		c := open(t, Options[string, string]{clock: h.clock(), Policy: plain(Policy{}), Load: func(context.Context, string) (string, error) { return "", ErrNotFound }})
		for range 3 {
			for range 100 {
				wantErr(t, c, "k", ErrNotFound)
			}
			h.advance(5 * time.Second)
		}
		if s := c.Stats(); s.Loads != 3 {
			t.Fatalf("%d loads in three times NegativeTTL", s.Loads)
		}
	})
	t.Run("absent, off", func(t *testing.T) {
		c := open(t, Options[string, string]{Policy: Policy{NegativeTTL: -1}, Load: func(context.Context, string) (string, error) { return "", ErrNotFound }})
		for range 3 {
			wantErr(t, c, "k", ErrNotFound)
		}
		if s := c.Stats(); s.Loads != 3 || s.Entries != 0 {
			t.Fatalf("stats %+v", s)
		}
	})
}

// TestKeyBytesAreNotKept: nothing of the key buffer stays behind.
func TestKeyBytesAreNotKept(t *testing.T) {
	c := open(t, Options[string, string]{})
	for i := range 100 {
		set(t, c, fmt.Sprint("key", i), fmt.Sprint("value", i))
	}
	buf := make([]byte, 0, 16)
	for round := range 50 {
		for i := range 100 {
			buf = fmt.Appendf(buf[:0], "key%d", i)
			if v, ok := PeekBytes(c, buf); !ok || v != fmt.Sprint("value", i) {
				t.Fatalf("round %d: %s = %q, %v", round, buf, v, ok)
			}
			for j := range buf {
				buf[j] = '#'
			}
		}
	}
	c.store.Range(func(k string, _ *record[string]) bool {
		if strings.Contains(k, "#") {
			t.Fatalf("key %q", k)
		}
		return true
	})
}
