package cache

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"example.com/quire/cache/internal/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errOrigin = errors.New("origin is down")

// manualClock is a clock moved by hand.
type manualClock struct{ ns atomic.Int64 }

func newManualClock() *manualClock {
	h := &manualClock{}
	h.ns.Store(int64(time.Hour))
	return h
}

func (h *manualClock) clock() *store.Clock { return store.NewClock(h.ns.Load) }

func (h *manualClock) advance(d time.Duration) { h.ns.Add(int64(d)) }

// bubbleClock is the time of a synctest bubble, or of the world.
func bubbleClock() *store.Clock {
	return store.NewClock(func() int64 { return time.Now().UnixNano() })
}

// plain switches off what is random, so that lives are exact.
func plain(p Policy) Policy {
	if p.Jitter == 0 {
		p.Jitter = -1
	}
	if p.EarlyBeta == 0 {
		p.EarlyBeta = -1
	}
	return p
}

// open makes a cache that ends with the test. Without a clock it gets that of
// the bubble, if any.
func open[K comparable, V any](tb testing.TB, o Options[K, V]) *Cache[K, V] {
	tb.Helper()
	if o.clock == nil {
		o.clock = bubbleClock()
	}
	c, err := New(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { shut(tb, c) })
	return c
}

func shut[K comparable, V any](tb testing.TB, c *Cache[K, V]) {
	tb.Helper()
	// The context of the test has ended when clean-ups run.
	if err := c.Close(context.WithoutCancel(tb.Context())); err != nil {
		tb.Errorf("close: %v", err)
	}
}

func set[K comparable, V any](tb testing.TB, c *Cache[K, V], k K, v V) {
	tb.Helper()
	if err := c.Set(tb.Context(), k, v); err != nil {
		tb.Fatalf("set %v: %v", k, err)
	}
}

// want reads k and compares.
func want[K, V comparable](tb testing.TB, c *Cache[K, V], k K, v V) {
	tb.Helper()
	got, err := c.Get(tb.Context(), k)
	if err != nil || got != v {
		tb.Fatalf("get %v = %v, %v; want %v", k, got, err, v)
	}
}

func wantErr[K comparable, V any](tb testing.TB, c *Cache[K, V], k K, target error) {
	tb.Helper()
	got, err := c.Get(tb.Context(), k)
	if !errors.Is(err, target) {
		tb.Fatalf("get %v = %v, %v; want error %v", k, got, err, target)
	}
}

// settled waits until nothing runs in the background.
func settled[K comparable, V any](c *Cache[K, V]) {
	for {
		c.busy.mu.Lock()
		n := c.busy.n
		c.busy.mu.Unlock()
		if n == 0 {
			return
		}
		runtime.Gosched()
	}
}

// textLogger writes records to w without the time.
func textLogger(w io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
}

// pass lets d of the bubble's time go by.
func pass(d time.Duration) { <-time.After(d) }
