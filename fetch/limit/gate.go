package limit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"example.com/quire/fetch/internal/call"
	"example.com/quire/fetch/internal/origin"
)

// BulkheadConfig bounds the requests in flight per key, from their sending to the end of their
// bodies.
type BulkheadConfig struct {
	// Max in flight; at least 1.
	Max int
	// Queue is how many may wait, first come first served: 0 = none. MaxWait bounds their wait: 0 =
	// until the call's own deadline.
	Queue   int
	MaxWait time.Duration
	// Key: nil = the origin.
	Key func(*http.Request) string
}

// Validate returns every ConfigError of c, joined.
func (c BulkheadConfig) Validate() error {
	var k call.Check
	if c.Max < 1 {
		k.Fail("Max", c.Max, "a positive number")
	}
	k.Count("Queue", int64(c.Queue))
	k.Duration("MaxWait", c.MaxWait)
	return k.Err()
}

// AdaptiveConfig lets the bound follow the server: additive increase while all is well,
// multiplicative decrease when the server shows that it has too much: 429, 503, an attempt's
// timeout, a refused connection.
type AdaptiveConfig struct {
	// Min, Max and Initial bounds: 0 = 1, 1 000 and 20.
	Min, Max, Initial int
	// Backoff is what the bound is multiplied by: 0 = 0.9.
	Backoff float64
	// Queue and MaxWait as in BulkheadConfig.
	Queue   int
	MaxWait time.Duration
	// Key: nil = the origin.
	Key func(*http.Request) string
}

// Validate returns every ConfigError of c, joined.
func (c AdaptiveConfig) Validate() error {
	var k call.Check
	k.Count("Min", int64(c.Min))
	k.Count("Max", int64(c.Max))
	k.Count("Initial", int64(c.Initial))
	k.Count("Queue", int64(c.Queue))
	k.Duration("MaxWait", c.MaxWait)
	if b := c.Backoff; b < 0 || b >= 1 || math.IsNaN(b) {
		k.Fail("Backoff", b, "0 for the default, or a number between 0 and 1")
	}
	if d := c.withDefaults(); k.Err() == nil && (d.Initial < d.Min || d.Initial > d.Max) {
		k.Fail("Initial", d.Initial, fmt.Sprintf("within Min and Max, which are %d and %d", d.Min, d.Max))
	}
	return k.Err()
}

func (c AdaptiveConfig) withDefaults() AdaptiveConfig {
	c.Min = cmp.Or(c.Min, 1)
	c.Max = cmp.Or(c.Max, max(1000, c.Min))
	c.Initial = cmp.Or(c.Initial, min(max(20, c.Min), c.Max))
	c.Backoff = cmp.Or(c.Backoff, 0.9)
	return c
}

// Bulkhead is a bound per key, fixed ([NewBulkhead]) or adaptive ([NewAdaptive]). It is safe for
// concurrent use.
type Bulkhead struct {
	key      func(*http.Request) string
	queue    int
	maxWait  time.Duration
	adaptive *AdaptiveConfig
	settings string
	reg      *origin.Registry[string, gate]
	rejected atomic.Int64
}

// Adaptive is a Bulkhead whose bound follows the server.
type Adaptive = Bulkhead

// NewBulkhead returns a fixed bound per key.
func NewBulkhead(c BulkheadConfig) (*Bulkhead, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	b := &Bulkhead{key: c.Key, queue: c.Queue, maxWait: c.MaxWait, settings: fmt.Sprintf("%d in flight, %d may wait", c.Max, c.Queue)}
	b.init(float64(c.Max))
	return b, nil
}

// NewAdaptive returns a bound per key that follows the server.
func NewAdaptive(c AdaptiveConfig) (*Adaptive, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	b := &Bulkhead{
		key: c.Key, queue: c.Queue, maxWait: c.MaxWait, adaptive: &c,
		settings: fmt.Sprintf("adaptive, %d to %d in flight, from %d, %d may wait", c.Min, c.Max, c.Initial, c.Queue),
	}
	b.init(float64(c.Initial))
	return b, nil
}

func (b *Bulkhead) init(limit float64) {
	if b.key == nil {
		b.key = ByHost
	}
	b.reg = origin.NewRegistry(4096, 10*time.Minute, func(g *gate, _ string) { g.limit = limit })
}

// Rejected returns how many requests were refused.
func (b *Bulkhead) Rejected() int64 { return b.rejected.Load() }

// State returns the bound of a key and how many requests are in flight and waiting.
func (b *Bulkhead) State(key string) (limit float64, inFlight, waiting int) {
	g := b.reg.Peek(key)
	if g == nil {
		return 0, 0, 0
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.limit, g.inFlight, len(g.queue)
}

// gate is the bound of one key. Those who wait stand in a list, and are let in from its front.
type gate struct {
	mu       sync.Mutex
	limit    float64
	inFlight int
	queue    []chan struct{}
	lowered  time.Time // when the bound was last lowered
}

// enter returns when there is a place, or why there is none.
func (g *gate) enter(ctx context.Context, queue int, wait time.Duration) error {
	g.mu.Lock()
	if g.inFlight < int(g.limit) && len(g.queue) == 0 {
		g.inFlight++
		g.mu.Unlock()
		return nil
	}
	if len(g.queue) >= queue || wait < 0 {
		g.mu.Unlock()
		return ErrOverloaded
	}
	place := make(chan struct{})
	g.queue = append(g.queue, place)
	g.mu.Unlock()
	var over <-chan time.Time
	if wait > 0 {
		t := time.NewTimer(wait)
		defer t.Stop()
		over = t.C
	}
	err := ErrOverloaded
	select {
	case <-place:
		return nil
	case <-over:
	case <-ctx.Done():
		err = ctx.Err()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, p := range g.queue {
		if p == place {
			g.queue = append(g.queue[:i], g.queue[i+1:]...)
			return err
		}
	}
	// Let in at the same moment: the place goes to the next.
	g.inFlight--
	g.admit()
	return err
}

// admit lets in who waits, as far as there are places. With the lock held.
func (g *gate) admit() {
	for len(g.queue) > 0 && g.inFlight < int(g.limit) {
		close(g.queue[0])
		g.queue = g.queue[1:]
		g.inFlight++
	}
}

// Outcomes of a request, to an adaptive bound.
const (
	nothing = iota
	well
	tooMuch
)

// leave gives the place back. start is when the request was let in: what was sent before the bound
// was lowered says nothing about the lower one.
func (g *gate) leave(outcome int, start, now time.Time, c *AdaptiveConfig) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if c != nil {
		switch {
		case outcome == tooMuch && !start.Before(g.lowered):
			g.limit = max(g.limit*c.Backoff, float64(c.Min))
			g.lowered = now
		case outcome == well && 2*g.inFlight >= int(g.limit): // a bound that nobody reaches is not raised
			g.limit = min(g.limit+1/g.limit, float64(c.Max))
		}
	}
	g.inFlight--
	g.admit()
}

// Layer returns the bound as a layer over next.
func (b *Bulkhead) Layer(next http.RoundTripper) http.RoundTripper {
	return &gateLayer{next: next, b: b}
}

type gateLayer struct {
	next http.RoundTripper
	b    *Bulkhead
}

// Describe names the layer and its settings.
func (l *gateLayer) Describe() (name, settings string) { return "bulkhead", l.b.settings }

// Unwrap returns the layer below.
func (l *gateLayer) Unwrap() http.RoundTripper { return l.next }

// RoundTrip implements http.RoundTripper.
func (l *gateLayer) RoundTrip(req *http.Request) (*http.Response, error) {
	st := call.From(req.Context())
	if st != nil && st.Off(call.OffLimit) {
		return l.next.RoundTrip(req)
	}
	b := l.b
	key, begin := b.key(req), time.Now()
	wait := b.maxWait
	if st != nil && !st.End.IsZero() {
		left := st.End.Sub(begin)
		if wait == 0 || left < wait {
			wait = left
		}
		if left <= 0 {
			wait = -1
		}
	}
	e := b.reg.Acquire(key, begin)
	if err := e.Value.enter(req.Context(), b.queue, wait); err != nil {
		b.reg.Release(e)
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, b.refuse(req, st, key, err)
	}
	start := time.Now()
	if st != nil && start.After(begin) {
		st.AddWait(start.Sub(begin))
	}
	h := &held{b: b, e: e, start: start}
	returned := false
	defer func() {
		if !returned { // a panic below
			h.leave(nothing)
		}
	}()
	resp, err := l.next.RoundTrip(req)
	returned = true
	outcome := judge(resp, err)
	if err != nil || resp.Body == nil || resp.Body == http.NoBody || resp.StatusCode == http.StatusSwitchingProtocols {
		h.leave(outcome)
		return resp, err
	}
	h.rc, h.outcome = resp.Body, outcome
	resp.Body = h
	return resp, nil
}

func (b *Bulkhead) refuse(req *http.Request, st *call.State, key string, err error) error {
	if !errors.Is(err, ErrOverloaded) {
		return err
	}
	b.rejected.Add(1)
	refused := &Error{Kind: ErrOverloaded, Key: key}
	if st != nil && st.Observed() {
		st.Emit(req, &call.Event{Kind: call.KindLimit, Err: refused, Detail: key})
	}
	return refused
}

// judge tells what an outcome says about the server's load. Cancellation, refusals by layers and
// other failures say nothing.
func judge(resp *http.Response, err error) int {
	switch {
	case err == nil && (resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusServiceUnavailable):
		return tooMuch
	case err == nil && resp.StatusCode < http.StatusInternalServerError:
		return well
	case err != nil && (errors.Is(err, call.ErrAttemptTimeout) || errors.Is(err, syscall.ECONNREFUSED)):
		return tooMuch
	}
	return nothing
}

// held is a place, kept to the end of the body.
type held struct {
	b       *Bulkhead
	e       *origin.Entry[string, gate]
	start   time.Time
	rc      io.ReadCloser
	outcome int
	once    sync.Once
}

func (h *held) leave(outcome int) {
	h.once.Do(func() {
		h.e.Value.leave(outcome, h.start, time.Now(), h.b.adaptive)
		h.b.reg.Release(h.e)
	})
}

func (h *held) Read(p []byte) (int, error) {
	n, err := h.rc.Read(p)
	if err != nil {
		h.leave(h.outcome)
	}
	return n, err
}

func (h *held) Close() error {
	err := h.rc.Close()
	h.leave(h.outcome)
	return err
}
