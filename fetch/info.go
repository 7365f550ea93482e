package fetch

import (
	"net/http"
	"time"

	"example.com/quire/fetch/internal/call"
	"example.com/quire/fetch/retry"
)

// Attempt is what one try of a call did.
type Attempt = retry.Attempt

// CacheInfo is what a cache did for a call: Result is one of httpcache's (httpcache.ResultHit and
// so on), "" without a cache.
type CacheInfo = call.CacheInfo

// Info tells how a response came about.
type Info struct {
	// Attempts is the log, over all hops of a redirect chain: N starts at 1 with each.
	Attempts []Attempt
	// Stop says why a response that failed was not tried again, in the words of the retry package:
	// retry.StopBudget and so on. Empty when there was no need.
	Stop string
	// Resent counts requests that net/http sent again by itself over HTTP/2: the server had refused
	// the stream or was going away. They spend from the retry budget.
	Resent int
	// Cache tells what the cache did.
	Cache CacheInfo
	// Collapsed is true when another call's request brought the response; Attempts is empty then.
	Collapsed bool
	// Hedged is true when an extra leg was sent: it is in Attempts.
	Hedged bool
	// LimiterWait is how long the call waited for limits.
	LimiterWait time.Duration
	// Hops are the redacted targets of the redirects that were followed.
	Hops []string
	// RequestID is the call's id, 128 random bits in hexadecimal.
	RequestID string
}

// InfoOf returns what is known about the call that resp answers. A response that did not come
// through this package's layers has an empty one.
func InfoOf(resp *http.Response) Info {
	if resp == nil || resp.Request == nil {
		return Info{}
	}
	st := call.From(resp.Request.Context())
	if st == nil {
		return Info{}
	}
	i := Info{
		Attempts: st.Attempts(), Stop: st.Stop(), Resent: st.Resent(), Cache: st.Cache(), Collapsed: st.Collapsed(), LimiterWait: st.Waited(),
		Hops: redacted(st.Hops()), RequestID: st.RequestID(),
	}
	for _, a := range i.Attempts {
		i.Hedged = i.Hedged || a.Hedge
	}
	return i
}
