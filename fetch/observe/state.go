package observe

import (
	"time"

	"example.com/quire/fetch/internal/meter"
)

// State is what a client is and has done, at one moment.
type State struct {
	Time     time.Time
	InFlight int64
	Layers   []Layer
	Origins  []Origin
	// Cache is nil without one.
	Cache *CacheState `json:",omitempty"`
	// Limits are refusals and waits of all keys.
	Limits LimitState
	// Events are the last calls that failed or needed more than one attempt, at most 50, the latest
	// first.
	Events []Note
}

// Layer names a layer and its settings.
type Layer struct{ Name, Settings string }

// Note is one of the last events.
type Note = meter.Note

// Count is a number with what it counts.
type Count struct {
	Method string `json:",omitempty"`
	Code   int    `json:",omitempty"` // 0 = an error
	Name   string `json:",omitempty"` // of an error, a reason, a result
	N      int64
}

// Origin is what the client knows of an origin.
type Origin struct {
	Origin   string
	InFlight int
	// Requests by method and status; Errors by type; Retries by the reason of the attempt before;
	// Hedges by result.
	Requests, Errors, Retries, Hedges []Count `json:",omitempty"`
	Attempts                          int64
	// Collapsed were answered by another's request.
	Collapsed int64
	// BudgetSpent counts calls that were not tried again because the retry budget was spent.
	BudgetSpent int64
	// Breaker is its state; Until is when an open one will probe.
	Breaker string
	Until   time.Time `json:",omitzero"`
	// Seconds is the time of all requests until their headers; P50, P95 and P99 are of the last
	// minute's.
	Seconds       float64
	P50, P95, P99 time.Duration
	Samples       int
}

// Total returns the number of requests.
func (o *Origin) Total() int64 {
	var n int64
	for _, c := range o.Requests {
		n += c.N
	}
	return n
}

// CacheState are a cache's counters.
type CacheState struct {
	Hits, Stale, Revalidated, Misses, Bypassed, Stored, StoreErrors, Entries, Bytes int64
}

// LimitState are the counters of rate limits, bulkhead and adaptive limit.
type LimitState struct {
	RateLimited, Overloaded int64
	Waited                  time.Duration
}

// Source has a state to show. *fetch.Client is one.
type Source interface{ State() State }
