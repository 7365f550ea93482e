//go:build unix

package cacheredis_test

import (
	"bytes"
	"context"
	"net"
	"slices"
	"sync"
	"sync/atomic"
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

// TestTrackedLinkIsProvedLate: by the heartbeat before the last that was answered, and one that is
// not tracked by the last. A tracked link says what was touched.
func TestTrackedLinkIsProvedLate(t *testing.T) {
	server := cachetest.StartRedis(t, "redis")
	for _, tracked := range []bool{false, true} {
		var sent sentBeats
		client := open(t, cacheredis.Config{Addr: server.Addr, Dial: sent.dial})
		s := &proofSink{Recorder: cachetest.NewRecorder()}
		s.proof = func(p time.Time) {
			beats := sent.all()
			before, last := beats[max(len(beats)-2, 0)], beats[len(beats)-1]
			if tracked && (len(beats) < 2 || p.After(before)) || !tracked && (p.After(last) || len(beats) > 1 && !p.After(before)) {
				t.Errorf("tracked %v: proof %v after %d heartbeats, the last ones at %v and %v", tracked, p, len(beats), before, last)
			}
		}
		detach, err := client.Attach("n", cache.LinkOptions{Heartbeat: 10 * time.Millisecond, Timeout: 10 * time.Second, Tracked: tracked}, s)
		do(t, err)
		s.WaitUp(t)
		if tracked {
			touches(t, server.Addr, client, s.Recorder)
		}
		eventually(t, "proofs", func() bool { return s.proofs.Load() >= 3 })
		detach()
	}
}

func touches(t *testing.T, addr string, client *cacheredis.Client, r *cachetest.Recorder) {
	t.Helper()
	command(t, addr, "SET", "q1:d:{n2/00}:other", "v")
	command(t, addr, "SET", "q1:d:{n/00}:k", "v")
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

// proofSink is a Recorder that looks at proofs.
type proofSink struct {
	*cachetest.Recorder
	proof  func(sent time.Time)
	proofs atomic.Int64
}

// Proof implements cache.Sink.
func (s *proofSink) Proof(sent time.Time) {
	s.proof(sent)
	s.proofs.Add(1)
	s.Recorder.Proof(sent)
}

// sentBeats are the times at which heartbeats were written to the connection.
type sentBeats struct {
	mu sync.Mutex
	at []time.Time
}

func (b *sentBeats) all() []time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.at)
}

func (b *sentBeats) dial(ctx context.Context, addr string) (net.Conn, error) {
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	return &beatConn{Conn: c, beats: b}, err
}

type beatConn struct {
	net.Conn
	beats *sentBeats
}

// Write notes each TIME, which a heartbeat begins with.
func (c *beatConn) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("\r\nTIME\r\n")) {
		c.beats.mu.Lock()
		c.beats.at = append(c.beats.at, time.Now())
		c.beats.mu.Unlock()
	}
	return c.Conn.Write(p)
}
