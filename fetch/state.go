package fetch

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"example.com/quire/fetch/breaker"
	"example.com/quire/fetch/internal/call"
	"example.com/quire/fetch/internal/fault"
	"example.com/quire/fetch/internal/meter"
	"example.com/quire/fetch/internal/origin"
	"example.com/quire/fetch/observe"
	"example.com/quire/fetch/retry"
)

// State is what a client is and has done, at one moment.
type State = observe.State

// State returns the client's counters, the state of its breakers, and the last calls that had
// trouble.
func (c *Client) State() State {
	s := State{Time: time.Now(), InFlight: c.meter.InFlight(), Events: c.meter.Notes()}
	for _, l := range Describe(c.stack) {
		s.Layers = append(s.Layers, observe.Layer(l))
	}
	for _, o := range c.meter.Origins() {
		one := observe.Origin{
			Origin: o.Origin, InFlight: o.InFlight, Attempts: o.Attempts, Collapsed: o.Collapsed, BudgetSpent: o.BudgetSpent,
			Errors: byName(o.Errors), Retries: byName(o.Retries), Hedges: byName(o.Hedges),
			Breaker: c.breakers.State(o.Origin).String(), Until: c.breakers.Until(o.Origin),
			Seconds: o.Sum.Seconds(), P50: o.P50, P95: o.P95, P99: o.P99, Samples: o.Samples,
		}
		for a, n := range o.Requests {
			one.Requests = append(one.Requests, observe.Count{Method: a.Method, Code: a.Code, N: n})
		}
		slices.SortFunc(one.Requests, func(a, b observe.Count) int {
			return cmp.Or(cmp.Compare(a.Method, b.Method), cmp.Compare(a.Code, b.Code))
		})
		s.Origins = append(s.Origins, one)
	}
	if c.cache != nil {
		cs := observe.CacheState(c.cache.Stats())
		s.Cache = &cs
	}
	if c.limits != nil {
		s.Limits.RateLimited, s.Limits.Waited = c.limits.Rejected(), c.limits.Waited()
	}
	for _, b := range c.bulkheads {
		s.Limits.Overloaded += b.Rejected()
	}
	return s
}

func byName(m map[string]int64) []observe.Count {
	var list []observe.Count
	for name, n := range m {
		list = append(list, observe.Count{Name: name, N: n})
	}
	slices.SortFunc(list, func(a, b observe.Count) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// Control changes a client's state by hand. It is safe for concurrent use.
type Control struct{ c *Client }

// Control returns what changes the client's state by hand.
func (c *Client) Control() *Control { return &Control{c} }

// Isolate refuses every call to an origin, such as "https://api.example", until Reset or
// ForceClose.
func (k *Control) Isolate(origin string) { k.c.breakers.Isolate(origin) }

// ForceClose admits every call to an origin, whatever the outcomes, until Reset or Isolate.
func (k *Control) ForceClose(origin string) { k.c.breakers.ForceClose(origin) }

// Reset closes an origin's breaker.
func (k *Control) Reset(origin string) { k.c.breakers.Reset(origin) }

// PurgeCache removes what is cached under addresses that begin with prefix, and returns how many
// entries they were.
func (k *Control) PurgeCache(prefix string) (int, error) {
	if k.c.cache == nil {
		return 0, nil
	}
	return k.c.cache.Purge(context.Background(), prefix)
}

// count enters a request that ended into the counters, and notes it when it had trouble.
func (s *start) count(m meter.Call, req *http.Request, st *call.State, from int, resp *http.Response, err error) {
	o := meter.Outcome{Method: req.Method, Log: st, From: from, Shared: st.Collapsed(), Spent: st.Stop() == retry.StopBudget}
	if resp != nil {
		o.Status = resp.StatusCode
	}
	if err != nil {
		o.Error = errorType(err)
	}
	now := st.Now()
	tried := m.End(o, now)
	if err == nil && tried <= 1 && o.Status < http.StatusInternalServerError {
		return
	}
	n := meter.Note{Time: now, Method: req.Method, URL: origin.Redact(req.URL), What: o.Error}
	if err == nil {
		n.What = http.StatusText(o.Status)
	}
	st.EachAttempt(from, func(a *call.Attempt) { n.What += ", " + a.Reason })
	s.c.meter.Add(n)
}

// errorType is the short word for an error in counters.
func errorType(err error) string {
	if r, ok := errors.AsType[interface {
		error
		Reason() string
	}](err); ok {
		return r.Reason()
	}
	switch {
	case errors.Is(err, ErrRetryBudget):
		return "budget"
	case errors.Is(err, ErrTotalTimeout), errors.Is(err, ErrAttemptTimeout):
		return "timeout"
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return "cancelled"
	case errors.Is(err, breaker.ErrOpen):
		return breaker.ErrOpen.Error()
	case fault.Certificate(err):
		return "certificate"
	case retry.Unsent(err):
		return "dial"
	}
	return "error"
}
