package breaker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"example.com/quire/fetch/internal/call"
	"example.com/quire/fetch/internal/origin"
)

func (c Config) withDefaults() Config {
	c.FailureRatio = cmp.Or(c.FailureRatio, 0.5)
	c.SlowRatio = cmp.Or(c.SlowRatio, 0.5)
	c.MinCalls = cmp.Or(c.MinCalls, 20)
	c.ConsecutiveFailures = cmp.Or(c.ConsecutiveFailures, 5)
	c.Window = cmp.Or(c.Window, 10*time.Second)
	c.Buckets = cmp.Or(c.Buckets, 10)
	c.MaxOpenFor = cmp.Or(c.MaxOpenFor, max(time.Minute, c.OpenFor))
	c.OpenFor = cmp.Or(c.OpenFor, min(5*time.Second, c.MaxOpenFor))
	// Doubled or with its jitter it must not overflow.
	c.MaxOpenFor, c.OpenFor = min(c.MaxOpenFor, longest), min(c.OpenFor, longest)
	c.Probes = cmp.Or(c.Probes, 1)
	c.CloseAfter = cmp.Or(c.CloseAfter, 2)
	c.MaxKeys = cmp.Or(c.MaxKeys, 4096)
	c.IdleAfter = cmp.Or(c.IdleAfter, 10*time.Minute)
	c.IdleAfter = max(c.IdleAfter, 2*c.MaxOpenFor, c.Window)
	if c.Classify == nil {
		c.Classify = Default
	}
	return c
}

// longest is the longest open time, of 73 years.
const longest time.Duration = 1 << 61

// Validate returns every ConfigError of c, joined; nil when New would take it.
func (c Config) Validate() error {
	var k call.Check
	k.Ratio("FailureRatio", c.FailureRatio)
	k.Ratio("SlowRatio", c.SlowRatio)
	k.Count("MinCalls", int64(c.MinCalls))
	k.Count("ConsecutiveFailures", int64(c.ConsecutiveFailures))
	k.Duration("Window", c.Window)
	k.Count("Buckets", int64(c.Buckets))
	k.Duration("SlowCall", c.SlowCall)
	k.Duration("OpenFor", c.OpenFor)
	k.Duration("MaxOpenFor", c.MaxOpenFor)
	k.Count("Probes", int64(c.Probes))
	k.Count("CloseAfter", int64(c.CloseAfter))
	k.Count("MaxKeys", int64(c.MaxKeys))
	k.Duration("IdleAfter", c.IdleAfter)
	if c.OpenFor > 0 && c.MaxOpenFor > 0 && c.OpenFor > c.MaxOpenFor {
		k.Fail("OpenFor", c.OpenFor, "at most MaxOpenFor, which is "+c.MaxOpenFor.String())
	}
	if c.Window >= 0 && c.Buckets >= 0 && (c.Window > 0 || c.Buckets > 0) {
		d := c.withDefaults()
		if d.Window/time.Duration(d.Buckets) < 10*time.Millisecond {
			k.Fail("Buckets", c.Buckets, fmt.Sprintf("at most %d, that is 10ms each", max(int(math.Floor(float64(d.Window)/1e7)), 1)))
		}
	}
	return k.Err()
}

// Default judges an attempt: an error or a status of 500 and above, save 501 and 505, is a Failure.
// Cancellation and errors that the origin has no part in, such as an address denied, are Ignored.
func Default(resp *http.Response, err error) Outcome {
	if err != nil {
		if errors.Is(err, context.Canceled) {
			return Ignored
		}
		if again, known := call.Retryable(err); known && !again {
			return Ignored
		}
		return Failure
	}
	switch c := resp.StatusCode; {
	case c == http.StatusNotImplemented || c == http.StatusHTTPVersionNotSupported:
		return Success
	case c >= http.StatusInternalServerError:
		return Failure
	}
	return Success
}

// Set is a breaker per key. It is safe for concurrent use.
type Set struct {
	cfg  Config
	reg  *origin.Registry[setKey, Breaker]
	mu   sync.Mutex
	pins map[setKey]*origin.Entry[setKey, Breaker] // isolated or disabled by hand: not to be forgotten
}

// setKey is an origin, or a name from Config.Key in Host.
type setKey struct {
	origin origin.Key
	named  bool
}

func (k setKey) String() string {
	if k.named {
		return k.origin.Host
	}
	return k.origin.String()
}

// NewSet returns a set without breakers; each is made closed when its key is first met.
func NewSet(c Config) (*Set, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	return &Set{
		cfg:  c,
		reg:  origin.NewRegistry(c.MaxKeys, c.IdleAfter, func(b *Breaker, k setKey) { b.init(c, k.String()) }),
		pins: make(map[setKey]*origin.Entry[setKey, Breaker]),
	}, nil
}

func (s *Set) keyOf(req *http.Request) setKey {
	if s.cfg.Key != nil {
		return setKey{origin.Key{Host: s.cfg.Key(req)}, true}
	}
	return setKey{call.OriginOf(req), false}
}

// keyNamed reads a key as OpenError and OnChange print it: an origin, or a name from Config.Key.
func (s *Set) keyNamed(name string) setKey {
	if s.cfg.Key != nil {
		return setKey{origin.Key{Host: name}, true}
	}
	if u, err := url.Parse(name); err == nil && u.Host != "" {
		return setKey{origin.Of(u), false}
	}
	return setKey{origin.Key{Host: name}, false}
}

// State returns the state of a key's breaker: Closed when there is none yet.
func (s *Set) State(key string) State {
	if b := s.reg.Peek(s.keyNamed(key)); b != nil {
		return b.State()
	}
	return Closed
}

// Until returns when a key's open breaker will probe; zero in the other states.
func (s *Set) Until(key string) time.Time {
	if b := s.reg.Peek(s.keyNamed(key)); b != nil {
		return b.Until()
	}
	return time.Time{}
}

// States returns the state of every breaker of the set by key.
func (s *Set) States() map[string]State {
	m := make(map[string]State)
	s.reg.Each(func(k setKey, b *Breaker) { m[k.String()] = b.State() })
	return m
}

// Isolate refuses every call of the key until Reset or ForceClose.
func (s *Set) Isolate(key string) { s.pin(key).Isolate() }

// ForceClose admits every call of the key until Reset or Isolate.
func (s *Set) ForceClose(key string) { s.pin(key).ForceClose() }

// Reset closes the key's breaker.
func (s *Set) Reset(key string) {
	k := s.keyNamed(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.pins[k]; e != nil {
		e.Value.Reset()
		delete(s.pins, k)
		s.reg.Release(e)
		return
	}
	if b := s.reg.Peek(k); b != nil {
		b.Reset()
	}
}

func (s *Set) pin(key string) *Breaker {
	k := s.keyNamed(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.pins[k]
	if e == nil {
		e = s.reg.Acquire(k, time.Now())
		s.pins[k] = e
	}
	return &e.Value
}

// Layer returns the set as a layer over next.
func (s *Set) Layer(next http.RoundTripper) http.RoundTripper { return &transport{next: next, set: s} }

type transport struct {
	next http.RoundTripper
	set  *Set
}

// Describe names the layer and its settings.
func (t *transport) Describe() (name, settings string) {
	c := &t.set.cfg
	return "breaker", fmt.Sprintf("opens at %d failures in a row or %.0f %% of %d calls in %v, for %v up to %v",
		c.ConsecutiveFailures, 100*c.FailureRatio, c.MinCalls, c.Window, c.OpenFor, c.MaxOpenFor)
}

// Unwrap returns the layer below.
func (t *transport) Unwrap() http.RoundTripper { return t.next }

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	st := call.From(req.Context())
	var now time.Time
	if st != nil {
		if st.Off(call.OffBreaker) {
			return t.next.RoundTrip(req)
		}
		try, _ := call.TryOf(req.Context())
		now = try.Start
	} else {
		now = time.Now()
	}
	e := t.set.reg.Acquire(t.set.keyOf(req), now)
	defer t.set.reg.Release(e)
	ticket, err := e.Value.Allow(now)
	if err != nil {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		if st != nil && st.Observed() {
			st.Emit(req, &call.Event{Kind: call.KindBreaker, Err: err, Detail: e.Value.State().String()})
		}
		return nil, err
	}
	returned := false
	defer func() {
		if !returned { // a panic below: the slot goes back, the panic goes on
			ticket.Done(Ignored, 0, now)
		}
	}()
	resp, err := t.next.RoundTrip(req)
	returned = true
	took := time.Since(now)
	o := Ignored
	if err == nil || req.Context().Err() == nil {
		o = t.set.cfg.Classify(resp, err)
	}
	if o != Success || err != nil || resp == nil || resp.Body == nil || resp.Body == http.NoBody || resp.StatusCode == http.StatusSwitchingProtocols {
		ticket.Done(o, took, now.Add(took))
		return resp, err
	}
	// A success is one when the body has come to its end.
	resp.Body = &judged{rc: resp.Body, req: req, ticket: ticket, start: now, took: took}
	return resp, nil
}

// judged reports the outcome of an admitted call with the end of its body: broken is a failure,
// closed early is not.
type judged struct {
	rc     io.ReadCloser
	req    *http.Request
	ticket Ticket
	start  time.Time
	took   time.Duration
	told   atomic.Bool
}

func (j *judged) Read(p []byte) (int, error) {
	n, err := j.rc.Read(p)
	switch {
	case err == nil:
	case err == io.EOF:
		j.done(Success)
	case j.req.Context().Err() != nil || errors.Is(err, http.ErrBodyReadAfterClose):
		j.done(Ignored)
	default:
		j.done(Failure)
	}
	return n, err
}

func (j *judged) Close() error {
	err := j.rc.Close()
	j.done(Success)
	return err
}

func (j *judged) done(o Outcome) {
	if !j.told.Swap(true) {
		j.ticket.Done(o, j.took, j.start.Add(j.took))
	}
}
