// Package retry sends a request again if that is safe and useful.
//
// Safe means: the method is idempotent (RFC 9110, section 9.2.2), or the request carries an
// idempotency key, or it is proven that nothing of the request reached the server. Of use means:
// the outcome is one that passes, the wait ends before the deadline, and the origin's retry budget
// is not spent. When a retry is not safe or not of use the last outcome is returned as it is: a
// response stays a response, with its body unread.
//
// Defaults: 3 attempts, exponential backoff from 100 ms to 10 s with full jitter, Retry-After
// obeyed up to 5 minutes. A [Policy] without a Spender has no budget; fetch.New always gives it
// one.
//
// Do: share one layer, and so one budget, among all calls to an origin. Give POST requests an
// Idempotency-Key when the server knows it. Do not: stack it over another retrying client; attempts
// multiply. Not for: streams that are consumed while they are sent, and calls where a late answer
// is as bad as none.
package retry

import (
	"cmp"
	"context"
	"math/rand/v2"
	"net/http"
	"reflect"
	"time"

	"example.com/quire/fetch/internal/call"
	"example.com/quire/internal/httpfield"
)

// Attempt is what one try did.
type Attempt = call.Attempt

// ConfigError tells one thing that is wrong with a Policy or a BudgetConfig.
type ConfigError = call.ConfigError

// Policy says when and how to try again. The zero value is the default policy. The layer copies it.
type Policy struct {
	// MaxAttempts is the most times a request is sent, the first included: 0 = 3, 1 = never again.
	MaxAttempts int
	// Backoff gives the wait before the next attempt: nil = Exponential{}.
	Backoff Backoff
	// Decide replaces the rules of this package: nil = Default(policy). The limits of the layer
	// stay in force around it: attempts, replayable body, deadlines, budget.
	Decide Decider
	// Prepare is called with each attempt's own copy of the request before it is sent, the first
	// included, to sign it anew. Its error ends the call.
	Prepare func(*http.Request, int) error
	// BufferBody is how many bytes of a body without GetBody are kept to be sent again: 0 = none,
	// such a body is sent once.
	BufferBody int64
	// MaxRetryAfter is the longest Retry-After that is waited for: 0 = 5 minutes. A longer one ends
	// the call at once.
	MaxRetryAfter time.Duration
	// Spender is asked before every retry: nil = no budget.
	Spender Spender
	// OnRetry is called before the wait, with the attempt that failed. It must not block.
	OnRetry func(context.Context, Attempt)
}

// Decider tells whether to try again after an attempt, and how long to wait before.
type Decider interface {
	// Decide gets the attempt's request, its response (nil on an error; not to be read) and its log
	// entry.
	Decide(req *http.Request, resp *http.Response, a Attempt) (delay time.Duration, again bool)
}

// Spender keeps one account per origin of the requests: calls deposit, retries and hedges withdraw.
// Its methods are called concurrently.
type Spender interface {
	Deposit(req *http.Request, now time.Time)
	Withdraw(req *http.Request, now time.Time) bool
}

const (
	defaultAttempts      = 3
	defaultMaxRetryAfter = 5 * time.Minute
)

// withDefaults fills in p's zero fields.
func (p Policy) withDefaults() Policy {
	p.MaxAttempts = cmp.Or(p.MaxAttempts, defaultAttempts)
	if p.Backoff == nil {
		p.Backoff = Exponential{}
	}
	p.MaxRetryAfter = cmp.Or(p.MaxRetryAfter, defaultMaxRetryAfter)
	return p
}

// Validate returns every ConfigError of p, joined; nil when New would take it.
func (p Policy) Validate() error {
	var c call.Check
	c.Count("MaxAttempts", int64(p.MaxAttempts))
	c.Count("BufferBody", p.BufferBody)
	c.Duration("MaxRetryAfter", p.MaxRetryAfter)
	for _, m := range []struct {
		field string
		value any
	}{{"Backoff", p.Backoff}, {"Decide", p.Decide}, {"Spender", p.Spender}} {
		if v := reflect.ValueOf(m.value); v.Kind() == reflect.Pointer && v.IsNil() {
			c.Fail(m.field, "a nil "+v.Type().String(), "nothing, or a value that can be called")
			return c.Err()
		}
	}
	if v, ok := p.Backoff.(interface{ validate(*call.Check) }); ok {
		v.validate(&c)
	}
	return c.Err()
}

// Default returns the rules of this package as a Decider, to be asked by one's own.
func Default(p Policy) Decider { return rules{p.withDefaults()} }

type rules struct{ p Policy }

func (r rules) Decide(req *http.Request, resp *http.Response, a Attempt) (time.Duration, bool) {
	delay, stop := r.decide(req, resp, a, time.Now())
	return delay, stop == ""
}

// decide returns why not to try again: one of the Stop constants, or the wait.
func (r rules) decide(req *http.Request, resp *http.Response, a Attempt, now time.Time) (delay time.Duration, stop string) {
	if !passing(resp, a.Err) {
		return 0, StopFinal
	}
	if !repeatable(req) && !Unsent(a.Err) {
		return 0, StopMethod
	}
	delay = r.p.Backoff.Next(a.Delay, a.N, rand.Float64()) //nolint:gosec // jitter needs no secrecy
	if resp != nil {
		if after, ok := httpfield.RetryAfter(resp.Header, now); ok {
			if after > r.p.MaxRetryAfter {
				return 0, StopRetryAfter
			}
			delay = max(delay, after)
		}
	}
	return max(delay, 0), ""
}
