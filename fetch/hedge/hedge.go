// Package hedge sends a request a second time if the response is late, and takes the first good
// response.
//
// Late means: later than nearly all answers of the origin of the last minute (a percentile of its
// own digest), or than a fixed Delay. Of a service whose slow answers are rare and its own, a few
// percent more requests cut off the tail.
//
// Only requests that may be repeated are: an idempotent method or an idempotency key, and a body
// that can be sent again. Each extra one is paid out of the budget that retries spend from, so that
// a server that is slow because it has too much does not get more. The loser is cancelled, its
// response closed, its failure not shown.
//
// Defaults: the 0.95 quantile within 5 ms and 2 s, one extra request, no hedging before 100 answers
// are known.
//
// Do: hedge reads of replicated services.
// Do not: hedge without a budget (Spender), nor what is expensive to answer.
// Not for: single servers, whose slow moments are slow for both legs.
package hedge

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"reflect"
	"sync"
	"time"

	"example.com/quire/fetch/internal/body"
	"example.com/quire/fetch/internal/call"
	"example.com/quire/fetch/internal/hist"
	"example.com/quire/fetch/internal/origin"
)

// Spender pays for extra requests. *retry.Budget is one.
type Spender interface {
	Withdraw(req *http.Request, now time.Time) bool
}

// Quantiler knows how long the answers of a request's origin take.
type Quantiler interface {
	Quantile(req *http.Request, q float64) (d time.Duration, samples int)
}

// Config describes the layer. The zero value is the default.
type Config struct {
	// Percentile of the origin's answers after which one is late: 0 = 0.95; within 0.5 and 0.999.
	Percentile float64
	// Delay, when set, takes its place.
	Delay time.Duration
	// Min and Max bound the percentile: 0 = 5 ms and 2 s.
	Min, Max time.Duration
	// Extra requests at most: 0 = 1.
	Extra int
	// WarmUp is how many answers must be known: 0 = 100. A fixed Delay needs none.
	WarmUp int
	// Spender is asked before each extra request: nil = no budget.
	Spender Spender
	// Source of the percentile: nil = a digest of the layer's own.
	Source Quantiler
}

// ConfigError tells one thing that is wrong with a Config.
type ConfigError = call.ConfigError

// Validate returns every ConfigError of c, joined.
func (c Config) Validate() error {
	var k call.Check
	if p := c.Percentile; p != 0 && (p < 0.5 || p > 0.999 || math.IsNaN(p)) {
		k.Fail("Percentile", p, "0 for the default, or a quantile within 0.5 and 0.999")
	}
	k.Duration("Delay", c.Delay)
	k.Duration("Min", c.Min)
	k.Duration("Max", c.Max)
	k.Count("Extra", int64(c.Extra))
	k.Count("WarmUp", int64(c.WarmUp))
	if d := c.withDefaults(); d.Min > d.Max {
		k.Fail("Min", c.Min, "at most Max, which is "+d.Max.String())
	}
	for _, m := range []struct {
		field string
		value any
	}{{"Spender", c.Spender}, {"Source", c.Source}} {
		if v := reflect.ValueOf(m.value); v.Kind() == reflect.Pointer && v.IsNil() {
			k.Fail(m.field, "a nil "+v.Type().String(), "nothing, or a value that can be called")
		}
	}
	return k.Err()
}

func (c Config) withDefaults() Config {
	c.Percentile = cmp.Or(c.Percentile, 0.95)
	if c.Min == 0 {
		c.Min = 5 * time.Millisecond
		if c.Max > 0 {
			c.Min = min(c.Min, c.Max)
		}
	}
	c.Max = cmp.Or(c.Max, max(2*time.Second, c.Min))
	c.Extra = cmp.Or(c.Extra, 1)
	c.WarmUp = cmp.Or(c.WarmUp, 100)
	return c
}

// New returns the layer.
func New(c Config) (func(http.RoundTripper) http.RoundTripper, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	var own *digests
	if c.Source == nil && c.Delay == 0 {
		own = &digests{origin.NewRegistry(4096, 10*time.Minute, func(*hist.Hist, origin.Key) {})}
		c.Source = own
	}
	return func(next http.RoundTripper) http.RoundTripper { return &transport{next: next, c: c, own: own} }, nil
}

// digests are the layer's own.
type digests struct {
	reg *origin.Registry[origin.Key, hist.Hist]
}

// Quantile implements Quantiler.
func (d *digests) Quantile(req *http.Request, q float64) (time.Duration, int) {
	h := d.reg.Peek(origin.Of(req.URL))
	if h == nil {
		return 0, 0
	}
	return h.Quantile(q, time.Now())
}

func (d *digests) add(req *http.Request, took time.Duration) {
	now := time.Now()
	d.reg.Touch(origin.Of(req.URL), now).Add(took, now)
}

type transport struct {
	next http.RoundTripper
	c    Config
	own  *digests
}

// Describe names the layer and its settings.
func (t *transport) Describe() (name, settings string) {
	if t.c.Delay > 0 {
		return "hedge", fmt.Sprintf("after %v, %d extra, budget %t", t.c.Delay, t.c.Extra, t.c.Spender != nil)
	}
	return "hedge", fmt.Sprintf("after the %g quantile within %v and %v, %d extra, budget %t", t.c.Percentile, t.c.Min, t.c.Max, t.c.Extra, t.c.Spender != nil)
}

// Unwrap returns the layer below.
func (t *transport) Unwrap() http.RoundTripper { return t.next }

// delay returns after how long an answer to req is late; false when that is not known yet.
func (t *transport) delay(req *http.Request) (time.Duration, bool) {
	if t.c.Delay > 0 {
		return t.c.Delay, true
	}
	d, n := t.c.Source.Quantile(req, t.c.Percentile)
	return min(max(d, t.c.Min), t.c.Max), n >= t.c.WarmUp
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	req, st := call.Of(req)
	if st.Off(call.OffHedge) || !repeatable(req, st) {
		return t.next.RoundTrip(req)
	}
	delay, warm := t.delay(req)
	if !warm {
		start := time.Now()
		resp, err := t.next.RoundTrip(req)
		t.took(req, resp, err, time.Since(start))
		return resp, err
	}
	r := race{t: t, st: st, req: req, results: make(chan result, t.c.Extra+1)}
	return r.run(delay)
}

// repeatable tells whether the request may be sent twice, and can be.
func repeatable(req *http.Request, st *call.State) bool {
	switch req.Method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace, http.MethodPut, http.MethodDelete, "QUERY":
	default:
		if !st.Keyed() && req.Header.Get("Idempotency-Key") == "" && req.Header.Get("X-Idempotency-Key") == "" {
			return false
		}
	}
	return req.Body == nil || req.Body == http.NoBody || req.GetBody != nil
}

// took notes how long an answer took, in the digest of the layer's own.
func (t *transport) took(req *http.Request, resp *http.Response, err error, d time.Duration) {
	if t.own != nil && good(resp, err) {
		t.own.add(req, d)
	}
}

// good tells whether an outcome is worth ending the race.
func good(resp *http.Response, err error) bool {
	if err != nil {
		return false
	}
	switch resp.StatusCode {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return false
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported:
		return true
	}
	return resp.StatusCode < http.StatusInternalServerError
}

// race is one attempt with its legs. The first good outcome wins; a bad one waits for the legs that
// still run, and if none is good the first leg's counts.
type race struct {
	t       *transport
	st      *call.State
	req     *http.Request
	results chan result
	legs    []*leg
	running int
}

type leg struct {
	cancel context.CancelFunc
	start  time.Time
	done   bool
	resp   *http.Response
	err    error
}

type result struct {
	leg   *leg
	resp  *http.Response
	err   error
	panic any
}

func (r *race) run(delay time.Duration) (*http.Response, error) {
	r.send(r.req.Context(), r.req)
	timer := time.NewTimer(delay)
	defer timer.Stop()
	for {
		select {
		case res := <-r.results:
			l := res.leg
			l.done, l.resp, l.err = true, res.resp, res.err
			if res.panic != nil {
				r.lose(nil)
				panic(res.panic)
			}
			r.running--
			if good(res.resp, res.err) {
				return r.win(l)
			}
			if r.running == 0 {
				return r.win(r.legs[0])
			}
		case <-timer.C:
			if r.extra() && len(r.legs) <= r.t.c.Extra {
				timer.Reset(delay)
			}
		}
	}
}

// extra sends another leg, if the budget has it.
func (r *race) extra() bool {
	if r.req.Context().Err() != nil {
		return false
	}
	now, c := time.Now(), *r.req
	if c.Body != nil && c.Body != http.NoBody {
		b, err := c.GetBody()
		if err != nil {
			return false // before it is paid for
		}
		c.Body = b
	}
	if r.t.c.Spender != nil && !r.t.c.Spender.Withdraw(r.req, now) {
		if c.Body != nil {
			_ = c.Body.Close()
		}
		return false
	}
	try, _ := call.TryOf(r.req.Context())
	try.Start, try.Hedge = now, true
	r.send(call.WithTry(r.req.Context(), try), &c)
	if r.st.Observed() {
		r.st.Emit(r.req, &call.Event{Kind: call.KindHedge, Time: now})
	}
	return true
}

func (r *race) send(ctx context.Context, req *http.Request) {
	l := &leg{start: time.Now()}
	ctx, l.cancel = context.WithCancel(ctx)
	r.legs = append(r.legs, l)
	r.running++
	req = call.Apart(ctx, req)
	go func() {
		res := result{leg: l}
		defer func() {
			if p := recover(); p != nil {
				res.panic = p
			}
			r.results <- res
		}()
		res.resp, res.err = r.t.next.RoundTrip(req) //nolint:bodyclose // win hands it on, lose closes it
	}()
}

// win returns a leg's outcome and ends the others.
func (r *race) win(w *leg) (*http.Response, error) {
	r.t.took(r.req, w.resp, w.err, time.Since(w.start))
	r.lose(w)
	if len(r.legs) > 1 {
		r.log(w)
	}
	if w.err != nil {
		w.cancel()
		return nil, w.err
	}
	resp := w.resp
	if resp.Body == nil || resp.Body == http.NoBody {
		w.cancel()
		return resp, nil
	}
	b := &owned{rc: resp.Body, cancel: w.cancel}
	if rw, ok := resp.Body.(io.Writer); ok && resp.StatusCode == http.StatusSwitchingProtocols {
		resp.Body = switched{b, rw}
	} else {
		resp.Body = b
	}
	return resp, nil
}

// log enters the extra legs into the call's log. The attempt itself is entered by who made it, with
// the outcome of the race.
func (r *race) log(w *leg) {
	try, _ := call.TryOf(r.req.Context())
	for _, l := range r.legs[1:] {
		a := call.Attempt{N: try.N, Start: l.start, Took: time.Since(l.start), Delay: l.start.Sub(r.legs[0].start), Hedge: true, Reason: "lost"}
		if l == w {
			a.Reason = "won"
		}
		if l.done {
			a.Err = l.err
			if l.resp != nil {
				a.Status = l.resp.StatusCode
			}
		}
		r.st.Record(a)
	}
}

// lose cancels every leg but the winner, and closes what they bring. What a leg had taken when it
// was cancelled is a bound from below of what it would have: it counts as that, so that a slow
// origin does not look quick.
func (r *race) lose(w *leg) {
	pending := 0
	for _, l := range r.legs {
		if l == w {
			continue
		}
		if l.done {
			if l.resp != nil && l.resp.Body != nil {
				body.Discard(l.resp.Body)
			}
			l.cancel()
			continue
		}
		if r.t.own != nil && w != nil && w.err == nil {
			r.t.own.add(r.req, time.Since(l.start))
		}
		l.cancel()
		pending++
	}
	if pending == 0 {
		return
	}
	go func() { // their cancellation ends them soon; their responses, if they still come, are closed here
		for range pending {
			if res := <-r.results; res.resp != nil && res.resp.Body != nil {
				body.Discard(res.resp.Body)
			}
		}
	}()
}

// owned is the winner's body: its end is the end of the leg.
type owned struct {
	rc     io.ReadCloser
	cancel context.CancelFunc
	once   sync.Once
}

func (o *owned) Read(p []byte) (int, error) {
	n, err := o.rc.Read(p)
	if err != nil {
		o.once.Do(o.cancel)
	}
	return n, err
}

func (o *owned) Close() error {
	err := o.rc.Close()
	o.once.Do(o.cancel)
	return err
}

type switched struct {
	*owned
	io.Writer
}
