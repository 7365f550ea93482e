//go:build unix

package cacheredis_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/quire/cache"
	"example.com/quire/cache/cacheredis"
	"example.com/quire/cache/cachetest"
	"example.com/quire/cache/codec"
)

type text = cache.Cache[string, []byte]

// node is a cache with a client of its own, as in a process of its own.
func node(t *testing.T, addr string, o cache.Options[string, []byte]) *text {
	t.Helper()
	client := open(t, cacheredis.Config{Addr: addr})
	o.Name, o.Remote, o.Bus, o.Codec = "posts", client, client, codec.Raw{}
	o.Policy.RemoteTimeout = 10 * time.Second
	o.Policy.Heartbeat, o.Policy.LinkTimeout = 20*time.Millisecond, 10*time.Second
	c, err := cache.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return c
}

// becomes waits until c has v under k, or nothing for "".
func becomes(t *testing.T, c *text, k, v string) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; {
		got, err := c.Get(t.Context(), k)
		if string(got) == v && (err == nil || v == "" && errors.Is(err, cache.ErrNotFound)) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("get %s: %q, %v; want %q", k, got, err, v)
		}
		<-time.After(5 * time.Millisecond)
	}
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

// TestNodesLoadOnce: many readers of several nodes, one load.
func TestNodesLoadOnce(t *testing.T) {
	server := cachetest.StartRedis(t, "redis")
	var loads atomic.Int64
	release := make(chan struct{})
	var nodes []*text
	for range 3 {
		nodes = append(nodes, node(t, server.Addr, cache.Options[string, []byte]{
			Policy: cache.Policy{LoadTimeout: time.Minute, LeaseTTL: 30 * time.Second},
			Load: func(context.Context, string) ([]byte, error) {
				loads.Add(1)
				<-release
				return []byte("v"), nil
			},
		}))
	}
	var wg sync.WaitGroup
	var reading atomic.Int64
	for i := range 60 {
		wg.Go(func() {
			reading.Add(1)
			if v, err := nodes[i%3].Get(t.Context(), "k"); err != nil || string(v) != "v" {
				t.Errorf("%q, %v", v, err)
			}
		})
	}
	for reading.Load() < 60 || loads.Load() == 0 {
		<-time.After(time.Millisecond)
	}
	close(release)
	wg.Wait()
	if n := loads.Load(); n != 1 {
		t.Errorf("%d loads", n)
	}
}

// TestServerThatIsLostAndComesBack empty: the nodes serve what they hold until they know better, and
// are in step again afterwards, by themselves.
func TestServerThatIsLostAndComesBack(t *testing.T) {
	server := cachetest.StartRedis(t, "redis")
	a, b := node(t, server.Addr, cache.Options[string, []byte]{}), node(t, server.Addr, cache.Options[string, []byte]{})
	do(t, a.Set(t.Context(), "k", []byte("old")))
	becomes(t, b, "k", "old")
	server.Kill()
	for end := time.Now().Add(30 * time.Second); a.Stats().LinkBreaks == 0; {
		if time.Now().After(end) {
			t.Fatal("the link is not down")
		}
		<-time.After(5 * time.Millisecond)
	}
	if err := a.Set(t.Context(), "k", []byte("lost")); err == nil {
		t.Error("set without a server")
	}
	server.Restart(t)
	becomes(t, b, "k", "")
	becomes(t, a, "k", "")
	for end := time.Now().Add(30 * time.Second); ; {
		err := a.Set(t.Context(), "k", []byte("new"))
		if err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
		<-time.After(5 * time.Millisecond)
	}
	becomes(t, b, "k", "new")
	becomes(t, a, "k", "new")
}
