//go:build unix

package cacheredis_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"example.com/quire/cache"
	"example.com/quire/cache/cacheredis"
	"example.com/quire/cache/cachetest"
)

type text = cache.Cache[string, []byte]

// node is a cache with a client of its own, as in a process of its own.
func node(t *testing.T, addr string, o cache.Options[string, []byte]) *text {
	t.Helper()
	o.Policy.LinkTimeout = 10 * time.Second
	return nodeOf(t, cacheredis.Config{Addr: addr}, o)
}

// becomes waits until c has v under k, or nothing for "".
func becomes(t *testing.T, c *text, k, v string) {
	t.Helper()
	eventually(t, fmt.Sprintf("%s is %q", k, v), func() bool {
		got, err := c.Get(t.Context(), k)
		return string(got) == v && (err == nil || v == "" && errors.Is(err, cache.ErrNotFound))
	})
}

func do(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestCachesShareAServer: each with connections of its own, in all modes.
func TestCachesShareAServer(t *testing.T) {
	for _, kind := range cachetest.RedisKinds() {
		for _, mode := range []cache.SyncMode{cache.Invalidate, cache.Push, cache.Tracked} {
			t.Run(fmt.Sprint(kind, mode), func(t *testing.T) {
				t.Parallel()
				server := cachetest.StartRedis(t, kind)
				cachetest.RunCaches(t, "", mode, func(t *testing.T) cachetest.Shared {
					t.Helper()
					return open(t, cacheredis.Config{Addr: server.Addr})
				})
			})
		}
	}
}

// prefixed are keys whose text is longer than they are.
type prefixed string

func (p prefixed) Format(k string) string { return string(p) + k }

func (p prefixed) Parse(s string) (string, error) { return strings.TrimPrefix(s, string(p)), nil }

// TestKeyThatIsTooLongIsNoFaultOfTheServer: whoever asks for such keys, or deletes them, does not
// open the breaker for others.
func TestKeyThatIsTooLongIsNoFaultOfTheServer(t *testing.T) {
	server := cachetest.StartRedis(t, "redis")
	long := strings.Repeat("k", 2000)
	load := func(context.Context, string) ([]byte, error) { return []byte("loaded"), nil }
	for name, tc := range map[string]struct {
		keys cache.KeyCodec[string]
		key  string
	}{"key": {nil, long}, "its text": {prefixed(long), "k"}} {
		c := node(t, server.Addr, cache.Options[string, []byte]{Keys: tc.keys, Load: load})
		for range 10 {
			if err := c.Set(t.Context(), tc.key, []byte("v")); !errors.Is(err, cache.ErrTooLarge) {
				t.Fatalf("%s: set: %v", name, err)
			}
			if v, err := c.Get(t.Context(), tc.key); string(v) != "loaded" || err != nil {
				t.Fatalf("%s: get: %q, %v", name, v, err)
			}
			if err := c.Delete(t.Context(), tc.key); err != nil {
				t.Fatalf("%s: delete: %v", name, err)
			}
		}
		if n := c.Stats().RemoteFailures; n != 0 {
			t.Errorf("%s: %d failures of the server", name, n)
		}
	}
}

// TestServerThatIsLostAndComesBack empty: the nodes serve what they hold until they know better,
// and are in step again afterwards, by themselves.
func TestServerThatIsLostAndComesBack(t *testing.T) {
	server := cachetest.StartRedis(t, "redis")
	a, b := node(t, server.Addr, cache.Options[string, []byte]{}), node(t, server.Addr, cache.Options[string, []byte]{})
	do(t, a.Set(t.Context(), "k", []byte("old")))
	becomes(t, b, "k", "old")
	server.Kill()
	eventually(t, "the link is down", func() bool { return a.Stats().LinkBreaks > 0 })
	if err := a.Set(t.Context(), "k", []byte("lost")); err == nil {
		t.Error("set without a server")
	}
	server.Restart(t)
	becomes(t, b, "k", "")
	becomes(t, a, "k", "")
	eventually(t, "a write is taken", func() bool { return a.Set(t.Context(), "k", []byte("new")) == nil })
	becomes(t, b, "k", "new")
	becomes(t, a, "k", "new")
}
