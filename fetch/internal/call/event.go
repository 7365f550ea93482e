package call

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"example.com/quire/fetch/internal/origin"
)

// Kind names what an event is about.
type Kind string

// The kinds of events.
const (
	KindStart    Kind = "start"    // a logical call begins
	KindAttempt  Kind = "attempt"  // an attempt ended, well or not
	KindRetry    Kind = "retry"    // another attempt follows after Delay
	KindStop     Kind = "stop"     // a failed call is not tried again; Detail says why
	KindBreaker  Kind = "breaker"  // a breaker refused an attempt
	KindRedirect Kind = "redirect" // the call goes on at URL
	KindDenied   Kind = "denied"   // the guard refused an address or a host; Detail names it
	KindCache    Kind = "cache"    // the cache answered or passed the request on; Detail is the result
	KindLimit    Kind = "limit"    // a limit refused the request; Detail is its key
	KindHedge    Kind = "hedge"    // an extra leg was sent
	KindDone     Kind = "done"     // the call ended: response headers are there, or the error
)

// Event is one thing that happened to a call. It is valid during the observer's call only. URL is
// redacted; Header and ResponseHeader are not and belong to the request and response: read only.
type Event struct {
	Kind      Kind
	Time      time.Time
	RequestID string
	Method    string
	URL       string
	Origin    string
	Route     string
	// Attempt, Of: the running attempt's number and the most there may be.
	Attempt, Of int
	Status      int
	// Took is the attempt's time for KindAttempt, the call's for KindDone; Delay the wait that
	// follows a KindRetry.
	Took, Delay time.Duration
	Reason      string
	Detail      string
	Err         error

	Header, ResponseHeader http.Header

	url *url.URL
}

// ErrorText is Err's text without what Redact hides in the request's address.
func (e *Event) ErrorText() string {
	if e.Err == nil {
		return ""
	}
	return origin.Cut(origin.Scrub(e.Err.Error(), e.url))
}

// Redact returns u without userinfo, fragment and the values of the query.
func Redact(u *url.URL) string { return origin.Redact(u) }

// Func gets events, on the goroutine of the call; it must not block.
type Func func(ctx context.Context, e *Event)

// Observed tells whether somebody listens: without, no event need be built.
func (s *State) Observed() bool { return len(s.Observers) > 0 }

// Emit completes e by the call and by req and hands it to the observers. Call it only when
// Observed.
func (s *State) Emit(req *http.Request, e *Event) {
	e.RequestID = s.RequestID()
	e.Route = s.Options.Route
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	if e.Attempt == 0 {
		var ctx context.Context = s
		if req != nil {
			ctx = req.Context()
		}
		t, _ := TryOf(ctx)
		e.Attempt, e.Of = t.N, t.Of
	}
	if req != nil {
		e.Method, e.Header, e.url = req.Method, req.Header, req.URL
		if e.Method == "" {
			e.Method = http.MethodGet
		}
		if e.URL == "" {
			e.URL = origin.Redact(req.URL)
		}
		e.Origin = OriginText(req)
	}
	for _, f := range s.Observers {
		f(s, e)
	}
}
