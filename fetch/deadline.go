package fetch

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"example.com/quire/fetch/internal/call"
	"example.com/quire/fetch/internal/timers"
)

// deadline bounds an attempt until its headers, and its body by the total deadline and by silence.
//
// All three share one context and one timer. The context is cancelled with the reason as its cause.
// It is made, and the timer set, only when the transport asks for the context's channel or its
// error, since nobody else can be told; the timer is set anew when the phase changes. They live
// until the body is read to its end or closed: a context released with the headers would cut the
// body off, one never released would leak.
type deadline struct {
	next    http.RoundTripper
	timers  *timers.Queue
	attempt time.Duration // 0 = none
	idle    time.Duration
	split   bool
	off     bool
	send    sendHeaders
}

// leastAttempt is what an attempt gets at least when Split shares out a time that is nearly over.
const leastAttempt = 50 * time.Millisecond

// Describe names the layer and its settings.
func (d *deadline) Describe() (name, settings string) {
	return "attempt deadline", fmt.Sprintf("headers %v, body idle %v, split %t", d.attempt, d.idle, d.split)
}

// Unwrap returns the layer below.
func (d *deadline) Unwrap() http.RoundTripper { return d.next }

// RoundTrip implements http.RoundTripper.
func (d *deadline) RoundTrip(req *http.Request) (*http.Response, error) {
	req, st := call.Of(req)
	try, _ := call.TryOf(req.Context())
	if d.send.any(st) {
		req = d.send.apply(req, st, try.Start)
	}
	if d.off || st.Off(call.OffDeadlines) {
		return d.next.RoundTrip(req)
	}
	a := take(st, takenAttempt, func(f *frame) *attempt { return &f.wire.attempt })
	if q := d.timers.For(try.Start); q != d.timers {
		own := *d
		own.timers, d = q, &own
	}
	a.of, a.ctx.Parent, a.start = d, req.Context(), try.Start
	if !st.End.IsZero() {
		a.end = max(st.End.Sub(a.start), 1)
	}
	a.until(d.headers(st, try, a.end))
	returned := false
	defer func() {
		if !returned { // a panic below
			a.release()
		}
	}()
	a.req = *req.WithContext(a)
	resp, err := d.next.RoundTrip(&a.req)
	returned = true
	cause := a.stopped()
	if err == nil && cause != nil {
		// The transport did not look at the context. Its answer came too late.
		if resp.Body != nil {
			_ = resp.Body.Close()
		}
		err = cause
	}
	if err != nil {
		a.release()
		return nil, a.explain(err)
	}
	a.body(resp)
	return resp, nil
}

// headers returns after how long the attempt's headers must be there, of a call with so much time
// left (0 = any), and the reason why not later.
func (d *deadline) headers(st *call.State, try call.Try, left time.Duration) (time.Duration, reason) {
	own := d.attempt
	if o := st.Options.Attempt; o > 0 {
		own = o
	}
	if left == 0 {
		return own, attemptTime
	}
	if d.split {
		share := max(left/time.Duration(max(try.Of-try.N+1, 1)), leastAttempt)
		if own == 0 || share < own {
			own = share
		}
	}
	if own == 0 || left <= own {
		return left, totalTime
	}
	return own, attemptTime
}

// attempt is the request, the context, the timer and the body of one attempt. Its times count from
// its start; 0 = none.
type attempt struct {
	of    *deadline
	req   http.Request
	ctx   call.Lazy
	start time.Time
	end   time.Duration // total
	rc    io.ReadCloser

	// When the timer shall strike, and when it will: never later. Striking early it is set again,
	// which is cheaper than setting it on every Read. Whoever changes one of them then looks at the
	// other, so that one of two at the same time sees what is to be done.
	due   atomic.Int64
	armed atomic.Int64

	mu    sync.Mutex
	timer timers.Timer
	seen  atomic.Uint32
	cause reason // what it struck for
	done  bool
}

// What is seen of an attempt.
const (
	watched uint32 = 1 << iota // somebody looks at its context: only then is there a timer
	reading                    // a Read began before that
)

// Deadline implements context.Context.
func (a *attempt) Deadline() (time.Time, bool) { return a.ctx.Deadline() }

// Done implements context.Context.
func (a *attempt) Done() <-chan struct{} {
	a.watch()
	return a.ctx.Done()
}

// Err implements context.Context.
func (a *attempt) Err() error {
	a.watch()
	return a.ctx.Err()
}

// Value implements context.Context.
func (a *attempt) Value(key any) any { return a.ctx.Value(key) }

// stateOf returns the state of the call that an attempt's request belongs to: call.From, by the
// shortest way.
func stateOf(req *http.Request) *call.State {
	ctx := req.Context()
	if a, ok := ctx.(*attempt); ok {
		ctx = a.ctx.Parent
	}
	return call.From(ctx)
}

// AfterFunc is for package context (see call.Lazy).
func (a *attempt) AfterFunc(f func()) (stop func() bool) {
	a.watch()
	return a.ctx.AfterFunc(f)
}

// watch sets the timer when somebody looks at the context for the first time. The silence of a Read
// that is under way counts from here.
func (a *attempt) watch() {
	if a.seen.Load()&watched != 0 {
		return
	}
	switch before := a.seen.Or(watched); {
	case before&watched != 0:
	case before&reading != 0:
		a.untilSilence()
		// That Read may have ended meanwhile, and have said so before this.
		if a.seen.Load()&reading == 0 {
			a.until(a.end, totalTime)
		}
	default:
		a.arm()
	}
}

// reason is why a timer strikes.
type reason uint8

const (
	_ reason = iota
	attemptTime
	totalTime
	silence

	reasonBits = 2 // of a due time, beside which it stands
)

// err is the error that says so; nil of none.
func (r reason) err() error {
	return [...]error{nil, call.ErrAttemptTimeout, call.ErrTotalTimeout, call.ErrBodyIdle}[r]
}

// until sets the timer; 0 stops it. A time of more than 70 years is one of 70.
func (a *attempt) until(at time.Duration, why reason) {
	if at == 0 {
		a.due.Store(0)
		return
	}
	at = min(at, math.MaxInt64>>reasonBits)
	a.due.Store(int64(at)<<reasonBits | int64(why))
	if a.seen.Load()&watched == 0 {
		return // who looks first sets it
	}
	if armed := a.armed.Load(); armed == 0 || int64(at) < armed {
		a.arm()
	}
}

// dueAt returns when the timer shall strike, and for what; 0 = not at all.
func (a *attempt) dueAt() (at time.Duration, why reason) {
	d := a.due.Load()
	return time.Duration(d >> reasonBits), reason(d & (1<<reasonBits - 1))
}

// arm sets the timer to what is due.
func (a *attempt) arm() {
	a.mu.Lock()
	defer a.mu.Unlock()
	at, why := a.dueAt()
	if at == 0 || a.done || a.cause != 0 {
		return
	}
	if time.Since(a.start) >= at { // whoever looks only now shall see it
		a.over(why)
		return
	}
	a.set(at)
}

// set sets the timer. With the lock held.
func (a *attempt) set(at time.Duration) {
	a.armed.Store(int64(at))
	a.of.timers.Set(&a.timer, a, a.start.Add(at))
}

// over ends the context for a reason. With the lock held.
func (a *attempt) over(why reason) {
	a.cause = why
	a.ctx.Cancel(why.err())
}

// Strike implements timers.Striker.
func (a *attempt) Strike() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.armed.Store(0)
	at, why := a.dueAt()
	if a.done || at == 0 || a.cause != 0 {
		return
	}
	if time.Since(a.start) < at {
		a.set(at)
		return
	}
	a.over(why)
}

// stopped disarms the timer at the headers and returns what it struck for, or would have.
func (a *attempt) stopped() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if at, why := a.dueAt(); at != 0 && a.cause == 0 && a.seen.Load()&watched == 0 && time.Since(a.start) >= at {
		a.over(why)
	}
	a.due.Store(0)
	return a.cause.err()
}

// release ends the attempt's context. Once the body has ended nothing waits for it.
func (a *attempt) release() {
	a.mu.Lock()
	again := a.done
	a.done = true
	if !again && a.seen.Load()&watched != 0 {
		a.of.timers.Stop(&a.timer)
	}
	a.mu.Unlock()
	if !again {
		a.ctx.Cancel(nil)
	}
}

// explain turns the error of a cancelled exchange into its reason: ours when the timer struck, the
// context's own when the caller's ended.
func (a *attempt) explain(err error) error {
	a.mu.Lock()
	cause := a.cause.err()
	a.mu.Unlock()
	if own := a.ctx.Parent.Err(); own != nil && (cause == nil || !errors.Is(err, cause)) {
		if errors.Is(err, own) {
			return err
		}
		return &endedError{own, err}
	}
	return cmp.Or(cause, err)
}

// endedError is what a transport made of the caller's ended context, with that context's own error.
type endedError struct{ ctx, err error }

func (e *endedError) Error() string   { return e.ctx.Error() + ": " + e.err.Error() }
func (e *endedError) Unwrap() []error { return []error{e.ctx, e.err} }
func (e *endedError) Retryable() bool { return false }

// body takes charge of the response's body.
func (a *attempt) body(resp *http.Response) {
	if resp.Body == nil || resp.Body == http.NoBody {
		a.release()
		return
	}
	a.rc = resp.Body
	if w, ok := resp.Body.(io.ReadWriteCloser); ok && resp.StatusCode == http.StatusSwitchingProtocols {
		// From here on it is a connection of another protocol; no deadline of ours has a meaning
		// there.
		resp.Body = switched{a, w}
		return
	}
	resp.Body = a
	if a.end > 0 {
		a.until(a.end, totalTime)
	}
}

// Read reads the body. Silence is measured while a Read waits; a caller that takes its time between
// two is not silence.
func (a *attempt) Read(p []byte) (int, error) {
	idle := a.of.idle > 0
	if idle && a.seen.Or(reading)&watched != 0 {
		a.untilSilence()
	}
	n, err := a.rc.Read(p)
	if err != nil {
		return n, a.ended(err)
	}
	if idle && a.seen.And(^reading)&watched != 0 {
		a.until(a.end, totalTime)
	}
	return n, nil
}

// ended ends the attempt by the error of a Read, and returns what its caller gets.
func (a *attempt) ended(err error) error {
	if err != io.EOF { //nolint:errorlint // a reader says it so
		err = a.explain(err)
	}
	a.release()
	return err
}

// untilSilence sets the timer for a Read that begins.
func (a *attempt) untilSilence() {
	at, why := time.Since(a.start)+a.of.idle, silence
	if a.end > 0 && a.end <= at {
		at, why = a.end, totalTime
	}
	a.until(at, why)
}

// Close closes the body, and only then ends the context: the layer below may want to read a small
// rest first.
func (a *attempt) Close() error {
	err := a.rc.Close()
	a.release()
	return err
}

type switched struct {
	*attempt
	w io.Writer
}

func (s switched) Read(p []byte) (int, error) {
	n, err := s.rc.Read(p)
	if err != nil {
		err = s.ended(err)
	}
	return n, err
}

func (s switched) Write(p []byte) (int, error) { return s.w.Write(p) }

// sendHeaders are the header fields that an attempt gets.
type sendHeaders struct {
	deadline  string
	requestID string
	key       string
}

func (h *sendHeaders) any(st *call.State) bool {
	return h.requestID != "" || h.deadline != "" && !st.End.IsZero() || h.key != "" && st.Options.IdempotencyKey != ""
}

// apply returns a copy of req with the fields set.
func (h *sendHeaders) apply(req *http.Request, st *call.State, now time.Time) *http.Request {
	c := *req
	c.Header = req.Header.Clone()
	if c.Header == nil {
		c.Header = make(http.Header, 3)
	}
	if h.requestID != "" && c.Header.Get(h.requestID) == "" {
		c.Header.Set(h.requestID, st.RequestID())
	}
	if h.deadline != "" && !st.End.IsZero() {
		c.Header.Set(h.deadline, strconv.FormatInt(max(leftOf(&c, st, now).Milliseconds(), 0), 10))
	}
	h.setKey(&c, st)
	return &c
}

// leftOf is the time left of the call, by the client's deadline or the caller's own, whichever is
// nearer.
func leftOf(req *http.Request, st *call.State, now time.Time) time.Duration {
	end := st.End
	if d, ok := req.Context().Deadline(); ok && d.Before(end) {
		end = d
	}
	return end.Sub(now)
}
