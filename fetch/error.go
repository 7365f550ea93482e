package fetch

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"example.com/quire/fetch/breaker"
	"example.com/quire/fetch/internal/call"
	"example.com/quire/fetch/internal/fault"
	"example.com/quire/fetch/internal/origin"
	"example.com/quire/fetch/limit"
	"example.com/quire/fetch/retry"
	"example.com/quire/internal/httpfield"
)

// What errors.Is finds in the errors of a call.
var (
	ErrCircuitOpen    = breaker.ErrOpen        // the origin's breaker refused
	ErrRetryBudget    = retry.ErrBudget        // no further attempt: the origin's budget is spent
	ErrNotReplayable  = retry.ErrNotReplayable // no further attempt: the body cannot be sent again
	ErrRateLimited    = limit.ErrRateLimited   // a rate limit refused
	ErrOverloaded     = limit.ErrOverloaded    // as many requests are in flight, and wait, as may
	ErrAttemptTimeout = call.ErrAttemptTimeout // Config.Attempt passed without response headers; also a context.DeadlineExceeded
	ErrTotalTimeout   = call.ErrTotalTimeout   // Config.Total passed; also a context.DeadlineExceeded
	ErrBodyIdle       = call.ErrBodyIdle       // Config.BodyIdle passed without a byte; from Read; also a context.DeadlineExceeded
	ErrBodyTooLarge   = call.ErrBodyTooLarge   // more than Config.MaxBody; from Read
	ErrAddressDenied  = call.Final("address denied")
	ErrRedirectDenied = call.Final("redirect denied")
	ErrClosed         = call.Final("client closed")
)

// ConfigError tells one thing that is wrong with a Config: the field, what it is, and what it
// should be.
type ConfigError = call.ConfigError

// Error is what every failed call returns. Err has the reason for errors.Is and errors.As.
type Error struct {
	Op        string // the method
	URL       string // of the hop that failed: no userinfo, query values as "_", cut at 1,024 bytes
	Origin    string
	RequestID string
	Attempts  []Attempt
	Err       error

	urls []*url.URL // of all hops: what texts from below may quote
}

// Error implements error.
func (e *Error) Error() string {
	return fmt.Sprintf("fetch %s %s: %s", e.Op, e.URL, e.reason(e.Err))
}

// reason is err's text without what the request's address keeps to itself, and no longer than a
// line of a log may be.
func (e *Error) reason(err error) string {
	if err == nil {
		return "no reason given"
	}
	text := err.Error()
	for _, u := range e.urls {
		text = origin.Scrub(text, u)
	}
	return origin.Cut(text)
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// Timeout makes it a net.Error in the sense that matters: whether a deadline passed.
func (e *Error) Timeout() bool {
	var t interface{ Timeout() bool }
	return e.Err != nil && errors.As(e.Err, &t) && t.Timeout()
}

// Format prints the log of attempts for %+v, one per line.
func (e *Error) Format(f fmt.State, verb rune) {
	switch {
	case verb == 'v' && f.Flag('+'):
		var b strings.Builder
		fmt.Fprintf(&b, "%s\n  request %s to %s", e.Error(), e.RequestID, e.Origin)
		for _, a := range e.Attempts {
			fmt.Fprintf(&b, "\n  attempt %d: %s after %v", a.N, a.Reason, a.Took.Round(time.Microsecond))
			if a.Delay > 0 {
				fmt.Fprintf(&b, ", waited %v before", a.Delay.Round(time.Microsecond))
			}
			if a.Err != nil {
				fmt.Fprintf(&b, ": %s", e.reason(a.Err))
			}
		}
		_, _ = io.WriteString(f, b.String())
	case verb == 'q':
		_, _ = fmt.Fprintf(f, "%q", e.Error())
	default:
		_, _ = io.WriteString(f, e.Error())
	}
}

// IsTransient tells whether the failure may be gone a while later: timeouts, connection errors, the
// statuses 408, 425, 429 and 5xx save 501 and 505, an open circuit, a spent budget, a limit's
// refusal. Never so are certificate errors, violations of the protocol, a name that does not exist,
// what the guard or the redirect policy denied, what could not be decoded, and the caller's own
// cancellation. Of errors below HTTP it says what the retry layer goes by.
func IsTransient(err error) bool {
	if err == nil {
		return false
	}
	if code := StatusOf(err); code != 0 {
		return retry.Status(code) || code > 500 && code <= 599 && code != http.StatusNotImplemented && code != http.StatusHTTPVersionNotSupported
	}
	for _, is := range []error{ErrCircuitOpen, ErrRetryBudget, ErrRateLimited, ErrOverloaded} {
		if errors.Is(err, is) {
			return true
		}
	}
	switch fault.Of(err) {
	case fault.Transient:
		return true
	case fault.Unknown:
		// A transport's own words. They count as the retry layer counts them, if they ended an
		// attempt.
		e, ok := errors.AsType[*Error](err)
		return ok && len(e.Attempts) > 0
	case fault.Final, fault.Cancelled:
	}
	return false
}

// RetryAfter returns how long to wait before the same call is worth another try, when the server or
// the breaker said so.
func RetryAfter(err error) (time.Duration, bool) {
	now := time.Now()
	if e, ok := errors.AsType[*StatusError](err); ok {
		return httpfield.RetryAfter(e.Header, now)
	}
	if e, ok := errors.AsType[*ProblemError](err); ok {
		return httpfield.RetryAfter(e.Header, now)
	}
	if e, ok := errors.AsType[*limit.Error](err); ok && e.RetryIn > 0 {
		return e.RetryIn, true
	}
	if e, ok := errors.AsType[*breaker.OpenError](err); ok && !e.Until.IsZero() {
		return e.RetryIn(now), true
	}
	return 0, false
}

// StatusOf returns the status of the response that err is about, 0 when there was none.
func StatusOf(err error) int {
	if e, ok := errors.AsType[*StatusError](err); ok {
		return e.Status
	}
	if e, ok := errors.AsType[*ProblemError](err); ok {
		return e.Status
	}
	return 0
}

// chainError adds the way that led to a redirect's failing hop.
type chainError struct {
	hops []string
	err  error
}

func (e *chainError) Error() string {
	return fmt.Sprintf("redirected to %s: %v", strings.Join(e.hops, ", to "), e.err)
}

func (e *chainError) Unwrap() error { return e.err }
