package fetch

import (
	"cmp"
	"net/http"
	"time"

	"example.com/quire/fetch/breaker"
	"example.com/quire/fetch/collapse"
	"example.com/quire/fetch/hedge"
	"example.com/quire/fetch/httpcache"
	"example.com/quire/fetch/limit"
	"example.com/quire/fetch/observe"
	"example.com/quire/fetch/retry"
)

// Config describes a Client. The zero value is the preset; a zero field means its default.
type Config struct {
	// Base does the exchanges: nil = an own *http.Transport, described by Transport. It is never
	// modified and never closed.
	Base http.RoundTripper
	// Transport describes the own one. It must be zero with a Base.
	Transport TransportConfig

	// BaseURL is what relative addresses are appended to: "https://api.example/v1" and "items?id=1"
	// give "https://api.example/v1/items?id=1". No query, no fragment, no credentials.
	BaseURL string
	// Header has fields for every request that does not set them itself; with a BaseURL only for
	// requests to its origin, since they may be credentials. A redirect that leaves the first
	// request's origin does not get them, nor what follows it.
	Header http.Header
	// UserAgent for requests without: "" = net/http's.
	UserAgent string
	// Jar keeps cookies: nil = none.
	Jar http.CookieJar

	// Total bounds a whole call, with retries, redirects and the reading of its body: 0 = 30 s.
	// Through HTTP and Transport each redirect's hop is a call of its own, with a Total of its own.
	Total time.Duration
	// Attempt bounds one attempt until its response headers: 0 = 10 s, or Total if that is less.
	Attempt time.Duration
	// BodyIdle bounds a single wait for bytes of the body: 0 = 15 s.
	BodyIdle time.Duration
	// Split shares the time left among the attempts left, at least 50 ms each, within Attempt.
	Split bool
	// MaxBody bounds the decoded bytes that are handed out: 0 = 32 MiB, -1 = no bound. Beyond, Read
	// fails with ErrBodyTooLarge.
	MaxBody int64
	// MaxRedirects that are followed: 0 = 10, -1 = none: a redirect is then the response.
	MaxRedirects int
	// CrossOriginBody lets a 307 or 308 to another origin carry the request's body there. Without
	// it such a redirect is denied.
	CrossOriginBody bool

	// Retry, Budget and Breaker are always on, unless in Off. The policy's own Spender takes the
	// place of Budget.
	Retry   retry.Policy
	Budget  retry.BudgetConfig
	Breaker breaker.Config
	// Cache is an HTTP cache by RFC 9111: nil = none.
	Cache *httpcache.Config
	// Collapse makes one request of identical ones under way at the same moment: nil = not.
	Collapse *collapse.Config
	// Limit is a rate limit by key: nil = none. More than one go into Middleware, by
	// limit.NewKeyed.
	Limit *limit.KeyedConfig
	// Bulkhead bounds the requests in flight per origin, Adaptive does so by what the origin shows:
	// nil = none, and at most one of the two.
	Bulkhead *limit.BulkheadConfig
	Adaptive *limit.AdaptiveConfig
	// Hedge sends a late request a second time: nil = not. Without a Spender of its own it spends
	// from the retries' budget.
	Hedge *hedge.Config
	// Drain is what closing a body early may read to keep the connection.
	Drain DrainConfig
	// Off leaves layers out.
	Off LayerSet

	// Middleware wraps each logical call, redirect hops one by one, outside of everything but the
	// observers.
	Middleware []Layer
	// PerAttempt wraps each attempt, inside the breaker and the attempt's deadline: for signing and
	// tracing. Cache and collapse above it do not see what it adds: credentials that differ between
	// calls belong in the request or in Middleware, which those take into account.
	PerAttempt []Layer

	// DeadlineHeader is the name of a field that tells the server the whole milliseconds left, per
	// attempt: "" = not sent.
	DeadlineHeader string
	// IdempotencyHeader is the name of the field for Overrides.IdempotencyKey: "" =
	// "Idempotency-Key".
	IdempotencyHeader string
	RequestID         RequestIDConfig

	// Observers get the events of every call.
	Observers []observe.Func
	// Decoders by content-coding, besides gzip, which is built in (and can be replaced).
	Decoders map[string]Decoder
}

// RequestIDConfig says whether the id of a call, 128 random bits in hexadecimal, is sent.
type RequestIDConfig struct {
	// Header is the field's name: "" = not sent. A field that the request carries already stays.
	Header string
}

// DrainConfig bounds the drain of a body that is closed before its end.
type DrainConfig struct {
	// MaxBytes that may be left: 0 = 64 KiB.
	MaxBytes int64
	// Wait for them: 0 = 5 ms.
	Wait time.Duration
}

// withDefaults fills in the zero fields. Defaults are cut to fit what is set.
func (c Config) withDefaults() Config {
	c.Total = cmp.Or(c.Total, max(30*time.Second, c.Attempt))
	c.Attempt = cmp.Or(c.Attempt, min(10*time.Second, c.Total))
	c.BodyIdle = cmp.Or(c.BodyIdle, 15*time.Second)
	c.MaxBody = cmp.Or(c.MaxBody, 32<<20)
	c.MaxRedirects = cmp.Or(c.MaxRedirects, 10)
	c.Drain.MaxBytes = cmp.Or(c.Drain.MaxBytes, 64<<10)
	c.Drain.Wait = cmp.Or(c.Drain.Wait, 5*time.Millisecond)
	c.IdempotencyHeader = cmp.Or(c.IdempotencyHeader, "Idempotency-Key")
	c.IdempotencyHeader = http.CanonicalHeaderKey(c.IdempotencyHeader)
	c.Transport = c.Transport.withDefaults()
	c.Header = c.Header.Clone()
	return c
}
