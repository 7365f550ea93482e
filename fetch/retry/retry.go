package retry

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"example.com/quire/fetch/internal/body"
	"example.com/quire/fetch/internal/call"
)

// ErrBudget is the error of a call that was not tried again because its origin's retry budget was
// spent. The error of the last attempt is in the same chain.
var ErrBudget = errors.New("retry budget spent")

// ErrNotReplayable is the error of a call that was not tried again because its body cannot be sent
// twice.
var ErrNotReplayable = errors.New("request body cannot be sent again")

// Why a failed call was not tried again.
const (
	StopFinal      = "final"          // the failure is not one that passes
	StopMethod     = "method"         // the method is not idempotent and there is no idempotency key
	StopAttempts   = "attempts"       // all attempts are used
	StopBody       = "not replayable" // the body cannot be sent again
	StopDeadline   = "deadline"       // the wait would not end before the deadline
	StopRetryAfter = "retry-after"    // the server asks for a longer wait than MaxRetryAfter
	StopBudget     = "budget"         // the origin's retry budget is spent
	StopCancelled  = "cancelled"      // the caller's context ended
	StopDecider    = "decider"        // the policy's own Decider said no
)

// New returns the layer. It records every attempt in the state of the call, also when retrying is
// switched off.
func New(p Policy) (func(http.RoundTripper) http.RoundTripper, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	p = p.withDefaults()
	return func(next http.RoundTripper) http.RoundTripper {
		return &transport{next: next, p: p}
	}, nil
}

type transport struct {
	next http.RoundTripper
	p    Policy
}

// Describe names the layer and its settings.
func (t *transport) Describe() (name, settings string) {
	return "retry", fmt.Sprintf("attempts %d, retry-after up to %v, budget %t", t.p.MaxAttempts, t.p.MaxRetryAfter, t.p.Spender != nil)
}

// Unwrap returns the layer below.
func (t *transport) Unwrap() http.RoundTripper { return t.next }

// policyOf returns the policy of this call: the layer's, or the one the caller set for it.
func (t *transport) policyOf(st *call.State) (*Policy, error) {
	p := &t.p
	if own, ok := st.Options.Retry.(*Policy); ok && own != nil {
		if err := own.Validate(); err != nil {
			return nil, err
		}
		c := own.withDefaults()
		if c.Spender == nil {
			c.Spender = t.p.Spender // a policy of one's own is no way around the budget
		}
		p = &c
	}
	if n := st.Options.MaxAttempts; n > 0 && n != p.MaxAttempts {
		c := *p
		c.MaxAttempts = n
		p = &c
	}
	if st.Off(call.OffRetry) {
		c := *p
		c.MaxAttempts = 1
		p = &c
	}
	return p, nil
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	req, st := call.Of(req)
	if !st.Enter() {
		st = call.New(req.Context(), time.Now())
		req = req.WithContext(st)
		st.Enter()
	}
	defer st.Leave()
	p, err := t.policyOf(st)
	if err != nil {
		closeBody(req)
		return nil, err
	}
	req, again, err := newReplay(req, p.bufferable())
	if err != nil {
		return nil, fmt.Errorf("read request body: %w", err)
	}
	l := loop{transport: t, p: p, st: st, replay: again, safe: repeatable(req)}
	return l.run(req)
}

func (p *Policy) bufferable() int64 {
	if p.MaxAttempts <= 1 {
		return 0
	}
	return p.BufferBody
}

// loop is one call's way through its attempts.
type loop struct {
	*transport
	p      *Policy
	st     *call.State
	replay replay
	safe   bool
}

func (l *loop) run(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	if err := ctx.Err(); err != nil {
		closeBody(req)
		l.st.SetStop(StopCancelled)
		return nil, err
	}
	now := l.st.Now() // the one reading at the start of an attempt; the layers below take it from the call's state
	if l.p.Spender != nil {
		l.p.Spender.Deposit(req, now)
	}
	var delay time.Duration
	for n := 1; ; n++ {
		resp, a := l.attempt(req, n, delay, now)
		v := l.judge(req, resp, a)
		if !v.again {
			return l.finish(req, resp, a, v)
		}
		delay = v.delay
		if l.p.OnRetry != nil {
			l.p.OnRetry(ctx, a)
		}
		if l.st.Observed() {
			l.st.Emit(req, &call.Event{Kind: call.KindRetry, Delay: delay, Status: a.Status, Err: a.Err, Reason: a.Reason})
		}
		if resp != nil {
			body.Discard(resp.Body)
		}
		if err := sleep(ctx, delay); err != nil {
			l.st.SetStop(StopCancelled)
			return nil, fmt.Errorf("attempt %d of %d: %s, waiting to try again: %w", n, l.p.MaxAttempts, a.Reason, err)
		}
		next, err := l.replay.next()
		if err != nil {
			l.st.SetStop(StopBody)
			return nil, fmt.Errorf("attempt %d of %d: %w: %w", n+1, l.p.MaxAttempts, ErrNotReplayable, err)
		}
		req, now = next, l.st.Now()
	}
}

// attempt sends req once and logs it.
func (l *loop) attempt(req *http.Request, n int, delay time.Duration, now time.Time) (*http.Response, Attempt) {
	l.st.Begin(call.Try{N: n, Of: l.p.MaxAttempts, Start: now})
	resp, err := l.send(req, n)
	a := Attempt{N: n, Start: now, Took: time.Since(now), Delay: delay, Err: err, Reason: reason(resp, err)}
	if resp != nil {
		a.Status = resp.StatusCode
	}
	l.st.Record(a)
	if l.st.Observed() {
		e := &call.Event{Kind: call.KindAttempt, Attempt: n, Of: l.p.MaxAttempts, Status: a.Status, Took: a.Took, Reason: a.Reason, Err: err}
		if resp != nil {
			e.ResponseHeader = resp.Header
		}
		l.st.Emit(req, e)
	}
	return resp, a
}

func (l *loop) send(req *http.Request, n int) (*http.Response, error) {
	if l.p.Prepare != nil {
		c := *req
		c.Header = req.Header.Clone()
		if c.Header == nil {
			c.Header = http.Header{}
		}
		if u := req.URL; u != nil {
			own := *u
			c.URL = &own
		}
		if err := l.p.Prepare(&c, n); err != nil {
			closeBody(req)
			return nil, &prepareError{err}
		}
		req = &c
	}
	if l.safe {
		resp, err := l.next.RoundTrip(req)
		return checked(req, resp, err)
	}
	// Whether a request that must not be sent twice was sent at all, only the transport knows: it
	// asks for a connection and gets one before the first byte. Asked and not got is the proof. Its
	// own attempts on a second connection leave got set, which is the safe side.
	var asked, got atomic.Bool
	trace := &httptrace.ClientTrace{
		GetConn: func(string) { asked.Store(true) },
		GotConn: func(httptrace.GotConnInfo) { got.Store(true) },
	}
	resp, err := l.next.RoundTrip(req.WithContext(httptrace.WithClientTrace(req.Context(), trace)))
	resp, err = checked(req, resp, err)
	if err != nil && asked.Load() && !got.Load() && req.Context().Err() == nil {
		err = &unsentError{err}
	}
	return resp, err
}

// checked catches what breaks the contract of RoundTripper before it breaks us.
func checked(req *http.Request, resp *http.Response, err error) (*http.Response, error) {
	if err != nil {
		if resp != nil && resp.Body != nil {
			_ = resp.Body.Close()
		}
		return nil, err
	}
	if resp == nil {
		return nil, errNoResponse
	}
	call.Complete(resp, req)
	return resp, nil
}

var errNoResponse = call.Final("the transport returned neither response nor error")

// verdict says what follows an attempt: another one after delay, or nothing more, because it is
// done or because of stop. why is the sentinel that belongs to an error then.
type verdict struct {
	again bool
	delay time.Duration
	stop  string
	why   error
}

func (l *loop) judge(req *http.Request, resp *http.Response, a Attempt) verdict {
	if resp != nil && l.p.Decide == nil && !Status(resp.StatusCode) {
		return verdict{}
	}
	ended := req.Context().Err() != nil
	if a.Err != nil && ended {
		return verdict{stop: StopCancelled}
	}
	now := a.Start.Add(a.Took)
	var delay time.Duration
	if l.p.Decide != nil {
		var again bool
		switch delay, again = l.p.Decide.Decide(req, resp, a); {
		case !again && a.Err == nil && !passing(resp, nil):
			return verdict{}
		case !again:
			return verdict{stop: StopDecider}
		}
		delay = max(delay, 0)
	} else {
		var stop string
		if delay, stop = (rules{*l.p}).decide(req, resp, a, now); stop != "" {
			return verdict{stop: stop}
		}
	}
	switch {
	case ended:
		return verdict{stop: StopCancelled}
	case a.N >= l.p.MaxAttempts:
		return verdict{stop: StopAttempts}
	case !l.replay.can():
		return verdict{stop: StopBody, why: ErrNotReplayable}
	case !l.fits(req.Context(), now, delay):
		return verdict{stop: StopDeadline}
	case l.p.Spender != nil && !l.p.Spender.Withdraw(req, now):
		return verdict{stop: StopBudget, why: ErrBudget}
	}
	return verdict{again: true, delay: delay}
}

// fits tells whether a wait that begins now leaves something of the call's time.
func (l *loop) fits(ctx context.Context, now time.Time, delay time.Duration) bool {
	end := now.Add(delay)
	if d, ok := ctx.Deadline(); ok && !end.Before(d) {
		return false
	}
	return l.st.End.IsZero() || end.Before(l.st.End)
}

// finish returns the last outcome.
func (l *loop) finish(req *http.Request, resp *http.Response, a Attempt, v verdict) (*http.Response, error) {
	if v.stop != "" {
		l.st.SetStop(v.stop)
	}
	if l.st.Observed() && v.stop != "" {
		l.st.Emit(req, &call.Event{Kind: call.KindStop, Status: a.Status, Err: a.Err, Reason: a.Reason, Detail: v.stop})
	}
	if a.Err == nil {
		return resp, nil
	}
	err := a.Err
	if u, ok := err.(*unsentError); ok { //nolint:errorlint // ours and outermost: the mark has done its work
		err = u.err
	}
	return nil, &stopError{n: a.N, of: l.p.MaxAttempts, why: v.why, err: err}
}

// stopError is the error of the last attempt, with the reason why there was no other when that has
// a sentinel.
type stopError struct {
	n, of int
	why   error
	err   error
}

func (e *stopError) Error() string {
	if e.why != nil {
		return fmt.Sprintf("attempt %d of %d: %v, %v", e.n, e.of, e.err, e.why)
	}
	return fmt.Sprintf("attempt %d of %d: %v", e.n, e.of, e.err)
}

func (e *stopError) Unwrap() []error {
	if e.why != nil {
		return []error{e.err, e.why}
	}
	return []error{e.err}
}

// prepareError is a failure before anything was sent, and by the caller's own doing.
type prepareError struct{ err error }

func (e *prepareError) Error() string   { return "prepare: " + e.err.Error() }
func (e *prepareError) Unwrap() error   { return e.err }
func (e *prepareError) Retryable() bool { return false }
func (e *prepareError) Reason() string  { return "prepare" }

func sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if d <= 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func closeBody(req *http.Request) {
	if req.Body != nil {
		_ = req.Body.Close()
	}
}
