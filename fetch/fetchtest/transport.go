// Package fetchtest simulates servers that fail: a scripted transport, one with numbered random
// faults, and real net/http over in-memory connections. It is for tests of programs that use fetch,
// and of fetch itself.
//
// All three work inside a testing/synctest bubble, where hours of backoff take no time. Nothing
// here sleeps but by timers.
//
// Do: end a test with [Transport.AssertClosed]; a body that is not closed is a connection lost. Not
// for: what depends on real sockets, such as connection reuse; use [Serve] or net/http/httptest for
// that.
package fetchtest

import (
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"
)

// Transport is an http.RoundTripper without a network. It is safe for concurrent use.
type Transport struct {
	pick func(n int) Step

	mu       sync.Mutex
	requests []Recorded
	calls    int
	running  int
	bodies   map[*scripted]struct{}
}

// Recorded is a request as it arrived. It shares nothing with the original.
type Recorded struct {
	Time          time.Time
	Method        string
	URL           *url.URL
	Host          string
	Header        http.Header
	Trailer       http.Header
	ContentLength int64
	Body          []byte
}

// Script returns a transport that answers the first request by the first step and so on; the last
// step answers all further ones. Without steps every answer is an empty 200.
func Script(steps ...Step) *Transport {
	if len(steps) == 0 {
		steps = []Step{{}}
	}
	steps = slices.Clone(steps)
	return newTransport(func(n int) Step { return steps[min(n, len(steps)-1)] })
}

// Profile says how often Chaos does what: each field is a probability within 0 and 1, and what
// remains is an ordinary 200. When they add up to more than 1, the later ones lose.
type Profile struct {
	Dial, Reset, Status503, Status500, Slow, Hang float64

	Body  string        // of answers that succeed, and that Reset breaks in the middle
	Delay time.Duration // of Slow
}

// Chaos returns a transport with faults at random: the same number gives the same faults in the
// same order.
func Chaos(number uint64, p Profile) *Transport {
	return newTransport(func(n int) Step {
		// Each request draws from its own source, so that the faults do not depend on who comes
		// first.
		u := rand.New(rand.NewPCG(number, uint64(n))).Float64() //nolint:gosec // repeatable on purpose, and n is never negative
		ok := Step{}.Body(p.Body)
		for _, f := range []struct {
			share float64
			step  Step
		}{
			{p.Dial, Step{}.DialError()},
			{p.Reset, ok.ResetAfter(len(p.Body) / 2)},
			{p.Status503, Step{}.Status(http.StatusServiceUnavailable)},
			{p.Status500, Step{}.Status(http.StatusInternalServerError)},
			{p.Slow, ok.Delay(p.Delay)},
			{p.Hang, Step{}.Hang()},
		} {
			if u < f.share {
				return f.step
			}
			u -= f.share
		}
		return ok
	})
}

func newTransport(pick func(int) Step) *Transport {
	return &Transport{pick: pick, bodies: make(map[*scripted]struct{})}
}

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	t.mu.Lock()
	n := t.calls
	t.calls++
	t.running++
	t.mu.Unlock()
	defer func() {
		t.mu.Lock()
		t.running--
		t.mu.Unlock()
	}()
	return t.pick(n).play(t, req)
}

func (t *Transport) record(req *http.Request, body []byte) {
	u := *req.URL
	t.mu.Lock()
	defer t.mu.Unlock()
	t.requests = append(t.requests, Recorded{
		Time: time.Now(), Method: req.Method, URL: &u, Host: req.Host, Header: req.Header.Clone(),
		Trailer: req.Trailer.Clone(), ContentLength: req.ContentLength, Body: body,
	})
}

// Requests returns what arrived so far, in order.
func (t *Transport) Requests() []Recorded {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.requests)
}

func (t *Transport) opened(b *scripted) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.bodies[b] = struct{}{}
}

func (t *Transport) ended(b *scripted) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.bodies, b)
}

// AssertClosed fails the test for every body that was handed out and not closed, and for every
// goroutine that still is inside the transport.
func (t *Transport) AssertClosed(tb testing.TB) {
	tb.Helper()
	t.mu.Lock()
	open := make([]*scripted, 0, len(t.bodies))
	for b := range t.bodies {
		open = append(open, b)
	}
	running := t.running
	t.mu.Unlock()
	for _, b := range open {
		b.mu.Lock() // a Read that waits holds it: then the body is in use, and this waits for the Read
		tb.Errorf("body not closed: %v", b)
		b.mu.Unlock()
	}
	if running > 0 {
		tb.Errorf("%d requests still inside the transport", running)
	}
}
