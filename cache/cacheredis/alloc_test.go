//go:build unix && !race

package cacheredis_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"example.com/quire/cache"
	"example.com/quire/cache/cacheredis"
	"example.com/quire/cache/cachetest"
	"example.com/quire/cache/codec"
)

// TestAllocsOfRemoteCalls counts what a read and a write of the server allocate in all goroutines
// together, those of the client and of the heartbeat among them. The race detector allocates on its
// own, so the file is not built with it.
func TestAllocsOfRemoteCalls(t *testing.T) {
	const runs = 2000
	server := cachetest.StartRedis(t, "redis")
	keys, value := make([]string, runs+1), make([]byte, 256)
	for i := range keys {
		keys[i] = fmt.Sprint("posts/", i)
	}
	node := func(o cache.Options[string, []byte]) *text {
		client := open(t, cacheredis.Config{Addr: server.Addr})
		o.Name, o.Remote, o.Bus, o.Codec = "posts", client, client, codec.Raw{}
		c, err := cache.New(o)
		do(t, err)
		t.Cleanup(func() { do(t, c.Close(context.WithoutCancel(t.Context()))) })
		return c
	}
	slow := cache.Policy{RemoteTimeout: 10 * time.Second, LinkTimeout: 10 * time.Second, Heartbeat: 10 * time.Second}
	writer := node(cache.Options[string, []byte]{Policy: slow})
	for _, k := range keys {
		do(t, writer.Set(t.Context(), k, value))
	}
	holder := node(cache.Options[string, []byte]{Policy: slow})
	full := node(cache.Options[string, []byte]{Policy: slow, MaxBytes: 8 << 10, Weigh: func(string, []byte) int { return 4 << 10 }})
	plain, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{server.Addr}, ForceSingleClient: true, DisableCache: true, AlwaysPipelining: true})
	do(t, err)
	defer plain.Close()
	do(t, plain.Do(t.Context(), plain.B().Set().Key("k").Value(string(value)).Build()).Error())
	for _, tc := range []struct {
		name string
		max  float64
		f    func(k string) error
	}{
		{"GET of the client alone", 3, func(string) error {
			return plain.Do(t.Context(), plain.B().Get().Key("k").Build()).Error()
		}},
		{"read that is held", 15, func(k string) error { _, err := holder.Get(t.Context(), k); return err }},
		{"read that is too large to be held", 12, func(k string) error { _, err := full.Get(t.Context(), k); return err }},
		// Beside the writer two more nodes of this process take the notice.
		{"write", 34, func(k string) error { return writer.Set(t.Context(), k, value) }},
	} {
		i := 0
		n := testing.AllocsPerRun(runs, func() {
			do(t, tc.f(keys[i]))
			i++
		})
		if n > tc.max {
			t.Errorf("%s: %v allocations, want at most %v", tc.name, n, tc.max)
		}
	}
}
