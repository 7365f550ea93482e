//go:build unix

package cacheredis_test

import (
	"testing"
	"time"

	"example.com/quire/cache"
	"example.com/quire/cache/cacheredis"
	"example.com/quire/cache/cachetest"
)

// TestTrackedSeesForeignClients: what clients without this package do to records, records that end,
// and what was done while the link was cut.
func TestTrackedSeesForeignClients(t *testing.T) {
	for _, kind := range cachetest.RedisKinds() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			server := cachetest.StartRedis(t, kind)
			o := cache.Options[string, []byte]{Policy: cache.Policy{Mode: cache.Tracked, TTL: time.Hour}}
			a, b := node(t, server.Addr, o), node(t, server.Addr, o)
			for what, words := range map[string][]string{
				"deletion":           {"DEL"},
				"expiry":             {"PEXPIRE", "1"},
				"value of others":    {"SET", "no record"},
				"record of a key":    {"RENAME", "elsewhere"},
				"cut, then deletion": {"DEL"},
				"flush":              nil,
			} {
				do(t, a.Set(t.Context(), what, []byte("v")))
				becomes(t, a, what, "v")
				becomes(t, b, what, "v")
				if what == "cut, then deletion" {
					command(t, server.Addr, "CLIENT", "KILL", "TYPE", "pubsub")
				}
				if words == nil {
					command(t, server.Addr, "FLUSH"+"ALL")
				} else {
					command(t, server.Addr, append([]string{words[0], "q1:d:{posts/00}:" + what}, words[1:]...)...)
				}
				becomes(t, a, what, "")
				becomes(t, b, what, "")
			}
		})
	}
}

// TestTrackedLinkIsProvedLate: by the heartbeat before the last, and it says what was touched.
func TestTrackedLinkIsProvedLate(t *testing.T) {
	server := cachetest.StartRedis(t, "redis")
	client := open(t, cacheredis.Config{Addr: server.Addr})
	r := cachetest.NewRecorder()
	detach, err := client.Attach("n", cache.LinkOptions{Heartbeat: 10 * time.Millisecond, Timeout: 10 * time.Second, Tracked: true}, r)
	do(t, err)
	defer detach()
	r.WaitUp(t)
	command(t, server.Addr, "SET", "q1:d:{n2/00}:other", "v")
	command(t, server.Addr, "SET", "q1:d:{n/00}:k", "v")
	if f := r.WaitFrame(t, func(cache.Frame) bool { return true }); f.Kind != cache.FrameTouched || f.Key != "k" {
		t.Errorf("%+v", f)
	}
	for range 3 {
		_, err := client.Store(t.Context(), "n", cache.StoreRequest{Key: "stored", Record: cachetest.Value("v", 1)})
		do(t, err)
	}
	r.WaitFrame(t, func(f cache.Frame) bool { return f.Kind == cache.FrameKey && f.Key == "stored" })
	r.WaitFrame(t, func(f cache.Frame) bool { return f.Kind == cache.FrameTouched && f.Key == "stored" })
}
