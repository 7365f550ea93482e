package fetch

import (
	"fmt"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"example.com/quire/fetch/breaker"
	"example.com/quire/fetch/collapse"
	"example.com/quire/fetch/hedge"
	"example.com/quire/fetch/httpcache"
	"example.com/quire/fetch/internal/body"
	"example.com/quire/fetch/internal/call"
	"example.com/quire/fetch/internal/origin"
	"example.com/quire/fetch/limit"
	"example.com/quire/fetch/retry"
)

// assemble builds the standard stack. The order and its reasons are in the package comment.
func (c *Client) assemble() error {
	cfg := &c.cfg
	base := cfg.Base
	if base == nil {
		c.own = newTransport(cfg.Transport)
	}
	policy := cfg.Retry
	if policy.Spender == nil {
		b, err := retry.NewBudget(cfg.Budget)
		if err != nil {
			return err
		}
		policy.Spender = b
	}
	c.spender = policy.Spender
	if c.own != nil {
		base = &transport{Transport: c.own, settings: cfg.Transport.settings(), spender: policy.Spender}
	}
	if cfg.Off&OffRetry != 0 {
		policy.MaxAttempts = 1 // the layer stays: it keeps the log of attempts
	}
	again, err := retry.New(policy)
	if err != nil {
		return err
	}
	c.breakers, err = breaker.NewSet(cfg.Breaker)
	if err != nil {
		return err
	}
	send := sendHeaders{deadline: cfg.DeadlineHeader, requestID: cfg.RequestID.Header, key: cfg.IdempotencyHeader}

	layers := make([]Layer, 0, 8+len(cfg.Middleware)+len(cfg.PerAttempt))
	layers = append(layers, func(next http.RoundTripper) http.RoundTripper { return &start{next: next, c: c} })
	layers = append(layers, cfg.Middleware...)
	layers = append(layers, newDecode(cfg.Decoders, cfg.MaxBody, cfg.Off&OffDecode != 0, len(cfg.Middleware) == 0 && cfg.Jar == nil, c.forget))
	if layers, err = c.optional(layers, again, policy.Spender); err != nil {
		return err
	}
	if cfg.Off&OffBreaker == 0 {
		layers = append(layers, c.breakers.Layer)
	}
	layers = append(layers, func(next http.RoundTripper) http.RoundTripper {
		d := &deadline{next: next, timers: c.timers, attempt: cfg.Attempt, idle: cfg.BodyIdle, split: cfg.Split, send: send}
		if cfg.Off&OffDeadlines != 0 {
			d.off = true
		}
		return d
	})
	layers = append(layers, cfg.PerAttempt...)
	if cfg.Off&OffDrain == 0 {
		layers = append(layers, func(next http.RoundTripper) http.RoundTripper {
			return &drain{next: next, most: body.Bounds{Bytes: cfg.Drain.MaxBytes, Wait: cfg.Drain.Wait, Timers: c.timers}}
		})
	}
	c.stack = Stack(base, layers...)
	return nil
}

// forget takes what does not decode out of the cache, which keeps bodies as they are coded and
// cannot know.
func (c *Client) forget(req *http.Request) {
	if c.cache != nil {
		c.cache.Invalidate(req.Context(), req.URL)
	}
}

// optional adds the layers between decode and breaker, of which retry alone is always there.
func (c *Client) optional(layers []Layer, again Layer, spender retry.Spender) ([]Layer, error) {
	cfg := &c.cfg
	var err error
	if cfg.Cache != nil && cfg.Off&OffCache == 0 {
		if c.cache, err = httpcache.New(*cfg.Cache); err != nil {
			return nil, err
		}
		layers = append(layers, c.cache.Layer)
	}
	if cfg.Collapse != nil && cfg.Off&OffCollapse == 0 {
		shared := *cfg.Collapse
		shared.Shared = shared.Shared || cfg.Cache != nil && cfg.Cache.Shared
		g, err := collapse.New(shared)
		if err != nil {
			return nil, err
		}
		layers = append(layers, g.Layer)
	}
	var perAttempt Layer
	if cfg.Limit != nil && cfg.Off&OffLimit == 0 {
		if c.limits, err = limit.NewKeyed(*cfg.Limit); err != nil {
			return nil, err
		}
		if cfg.Limit.PerAttempt {
			perAttempt = c.limits.Layer
		} else {
			layers = append(layers, c.limits.Layer)
		}
	}
	if cfg.Bulkhead != nil && cfg.Off&OffLimit == 0 {
		b, err := limit.NewBulkhead(*cfg.Bulkhead)
		if err != nil {
			return nil, err
		}
		c.bulkheads, layers = append(c.bulkheads, b), append(layers, b.Layer)
	}
	if cfg.Adaptive != nil && cfg.Off&OffLimit == 0 {
		b, err := limit.NewAdaptive(*cfg.Adaptive)
		if err != nil {
			return nil, err
		}
		c.bulkheads, layers = append(c.bulkheads, b), append(layers, b.Layer)
	}
	layers = append(layers, again)
	if perAttempt != nil {
		layers = append(layers, perAttempt)
	}
	if cfg.Hedge != nil && cfg.Off&OffHedge == 0 {
		h := *cfg.Hedge
		if h.Spender == nil {
			h.Spender = spender
		}
		twice, err := hedge.New(h)
		if err != nil {
			return nil, err
		}
		layers = append(layers, twice)
	}
	return layers, nil
}

// start is the outermost layer: it tells the observers, and asks the guard for the host, which
// every hop passes by here.
type start struct {
	next http.RoundTripper
	c    *Client
}

// Describe names the layer and its settings.
func (s *start) Describe() (name, settings string) {
	return "call", fmt.Sprintf("total %v, redirects %d, observers %d", s.c.cfg.Total, s.c.cfg.MaxRedirects, len(s.c.cfg.Observers))
}

// Unwrap returns the layer below.
func (s *start) Unwrap() http.RoundTripper { return s.next }

// RoundTrip implements http.RoundTripper. The request belongs to a call of this client: Do or entry
// made its state.
func (s *start) RoundTrip(req *http.Request) (*http.Response, error) {
	st := call.From(req.Context())
	if g := s.c.cfg.Transport.Guard; g != nil {
		if err := g.CheckHost(req.URL.Hostname()); err != nil {
			if req.Body != nil {
				_ = req.Body.Close()
			}
			if denied := deniedIn(err); denied != nil && st.Observed() {
				st.Emit(req, &call.Event{Kind: call.KindDenied, Err: err, Detail: denied.detail()})
			}
			return nil, err
		}
	}
	begin, from := st.SetOut(keyed(req, s.c.cfg.IdempotencyHeader, st))
	if !st.End.IsZero() && !begin.Before(st.End) {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, call.ErrTotalTimeout
	}
	here := st.OriginOf(req.URL)
	counted := s.c.meter.Begin(here, begin)
	if st.OriginText == "" && here == st.Origin {
		st.OriginText = counted.Origin()
	}
	var resp *http.Response
	err := errPanic // what remains when a layer below panics
	defer func() { s.count(counted, req, st, from, resp, err) }()
	if !st.Observed() {
		resp, err = s.next.RoundTrip(req)
		return resp, err
	}
	st.Emit(req, &call.Event{Kind: call.KindStart, Time: begin})
	resp, err = s.next.RoundTrip(req)
	if denied := deniedIn(err); denied != nil {
		st.Emit(req, &call.Event{Kind: call.KindDenied, Err: err, Detail: denied.detail()})
	}
	e := &call.Event{Kind: call.KindDone, Took: time.Since(begin), Err: err, Reason: st.Stop()}
	if resp != nil {
		e.Status, e.ResponseHeader = resp.StatusCode, resp.Header
	}
	st.Emit(req, e)
	return resp, err
}

var errPanic = call.Final("panic")

// entry makes each request that comes through Transport a call of its own.
type entry struct{ c *Client }

// Unwrap returns the stack.
func (e *entry) Unwrap() http.RoundTripper { return e.c.stack }

// Describe names the entrance.
func (e *entry) Describe() (name, settings string) { return "client", "each request is a call" }

// RoundTrip implements http.RoundTripper.
func (e *entry) RoundTrip(req *http.Request) (*http.Response, error) {
	r, st, err := e.c.begin(req)
	if err == nil {
		var resp *http.Response
		if resp, err = e.c.stack.RoundTrip(r); err == nil {
			if resp.Request == nil {
				resp.Request = r // by it a redirect's next hop finds its way back here
			}
			return resp, nil
		}
	}
	return nil, e.c.fail(req, st, err)
}

// transport is the own *http.Transport with a description. It counts what net/http sends again by
// itself over HTTP/2, where a server refused the stream or is going away (RFC 9113, sections 6.8
// and 8.7): there is no switch for that, so each is entered in the origin's budget, and no retry
// follows that the budget would not have had.
type transport struct {
	*http.Transport
	settings string
	spender  retry.Spender
}

// Describe names the transport and its settings.
func (t *transport) Describe() (name, settings string) { return "transport", t.settings }

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Scheme != "https" || !t.ForceAttemptHTTP2 {
		return t.Transport.RoundTrip(req)
	}
	st := stateOf(req)
	if st == nil {
		return t.Transport.RoundTrip(req)
	}
	var sent atomic.Int32
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { sent.Add(1) }}
	resp, err := t.Transport.RoundTrip(req.WithContext(httptrace.WithClientTrace(req.Context(), trace)))
	if n := int(sent.Load()) - 1; n > 0 {
		st.AddResent(n)
		for range n {
			t.spender.Withdraw(req, time.Now())
		}
	}
	return resp, err
}

// drain keeps the connections of bodies that are closed early.
type drain struct {
	next http.RoundTripper
	most body.Bounds
}

// Describe names the layer and its settings.
func (d *drain) Describe() (name, settings string) {
	return "drain", fmt.Sprintf("%d bytes in %v", d.most.Bytes, d.most.Wait)
}

// Unwrap returns the layer below.
func (d *drain) Unwrap() http.RoundTripper { return d.next }

// RoundTrip implements http.RoundTripper.
func (d *drain) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := d.next.RoundTrip(req)
	if err != nil || resp.Body == nil || resp.Body == http.NoBody || resp.StatusCode == http.StatusSwitchingProtocols {
		return resp, err
	}
	st := stateOf(req)
	if st != nil && st.Off(call.OffDrain) {
		return resp, nil
	}
	b := take(st, takenDrained, func(f *frame) *body.Drained { return &f.wire.drained })
	b.Wrap(resp.Body, resp.ContentLength, &d.most)
	resp.Body = b
	return resp, nil
}

// originOf is the text form for errors.
func originOf(req *http.Request) string { return origin.Of(req.URL).String() }
