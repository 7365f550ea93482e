//go:build unix

package cacheredis_test

import (
	"context"
	"testing"
	"time"

	"example.com/quire/cache"
	"example.com/quire/cache/cacheredis"
	"example.com/quire/cache/cachetest"
	"example.com/quire/internal/toxitest"
)

// TestPartitionDownsTheLink: no data pass, though all connections stay open. What was written
// meanwhile is there when the link is up again, under its version.
func TestPartitionDownsTheLink(t *testing.T) {
	server := cachetest.StartRedis(t, "redis")
	proxy := toxitest.Start(t)

	near := open(t, cacheredis.Config{Addr: proxy.Proxy(t, "redis", server.Addr)})
	far := open(t, cacheredis.Config{Addr: server.Addr})
	r := cachetest.NewRecorder()
	detach, err := near.Attach("n", cache.LinkOptions{Heartbeat: 20 * time.Millisecond, Timeout: time.Second}, r)
	if err != nil {
		t.Fatal(err)
	}
	defer detach()
	epoch := r.WaitUp(t)
	for _, stream := range []string{"upstream", "downstream"} {
		proxy.Add(t, "redis", toxitest.Toxic{
			Name: stream, Type: "timeout", Stream: stream, Attributes: map[string]int{"timeout": 0},
		})
	}
	r.WaitDown(t)
	stored, err := far.Store(t.Context(), "n", cache.StoreRequest{Key: "k", Record: cachetest.Value("written meanwhile", 1)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if got, err := near.Fetch(ctx, "n", []string{"k"}, false); err == nil {
		t.Errorf("fetched %+v through the partition", got)
	}
	for _, stream := range []string{"upstream", "downstream"} {
		proxy.RemoveToxic(t, "redis", stream)
	}
	if again := r.WaitUp(t); again != epoch {
		t.Errorf("epoch %x after %x: the server is the same", again, epoch)
	}
	end := time.Now().Add(30 * time.Second)
	for {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		got, err := near.Fetch(ctx, "n", []string{"k"}, false)
		cancel()
		if err == nil && got[0].Version == stored.Version {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("after the partition: %+v, %v", got, err)
		}
		<-time.After(20 * time.Millisecond)
	}
}
