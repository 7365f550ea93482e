package fetch

import (
	"cmp"
	"context"
	"time"

	"example.com/quire/fetch/httpcache"
	"example.com/quire/fetch/internal/call"
	"example.com/quire/fetch/retry"
)

// LayerSet is a set of layers, to be left out.
type LayerSet = call.Layers

// The layers that Config.Off and Overrides.Off can name.
const (
	OffRetry     = call.OffRetry     // one attempt
	OffBreaker   = call.OffBreaker   // neither asked nor told
	OffDrain     = call.OffDrain     // closing a body early drops its connection
	OffDecode    = call.OffDecode    // bodies are handed out as they are coded; MaxBody still counts
	OffDeadlines = call.OffDeadlines // Total, Attempt and BodyIdle; what remains is the caller's context
	OffCache     = call.OffCache     // neither looked up nor stored
	OffCollapse  = call.OffCollapse  // the request is not shared
	OffLimit     = call.OffLimit     // no rate limit, no bound in flight
	OffHedge     = call.OffHedge     // no extra leg
)

// Overrides are settings of the calls under one context. Zero fields change nothing.
type Overrides struct {
	// Total and Attempt replace Config.Total and Config.Attempt.
	Total, Attempt time.Duration
	// MaxAttempts replaces the policy's.
	MaxAttempts int
	// Retry replaces the whole policy. One without a Spender keeps the client's budget.
	Retry *retry.Policy
	// Off leaves layers out, in addition to Config.Off.
	Off LayerSet
	// Cache sets the cache otherwise.
	Cache httpcache.RequestOptions
	// Route is a template such as "GET /users/{id}": what events name the call by, since a path may
	// hold personal data.
	Route string
	// LimitKey replaces the key of the rate limit.
	LimitKey string
	// IdempotencyKey is sent in the header field Config.IdempotencyHeader and makes the call
	// repeatable whatever its method: AutoKey for a new random one, else the field's whole value. A
	// key that the request carries already stays.
	IdempotencyKey string
}

// AutoKey as Overrides.IdempotencyKey asks for a new random key per logical call.
const AutoKey = "auto"

// With returns a context whose calls take o. An inner With wins field by field.
func With(ctx context.Context, o Overrides) context.Context {
	c := *call.OptionsOf(ctx)
	set(&c.Total, o.Total)
	set(&c.Attempt, o.Attempt)
	set(&c.MaxAttempts, o.MaxAttempts)
	set(&c.Off, o.Off)
	set(&c.Route, o.Route)
	set(&c.LimitKey, o.LimitKey)
	set(&c.IdempotencyKey, o.IdempotencyKey)
	set(&c.Cache.Bypass, o.Cache.Bypass)
	set(&c.Cache.Refresh, o.Cache.Refresh)
	set(&c.Cache.NoStore, o.Cache.NoStore)
	set(&c.Cache.OnlyIfCached, o.Cache.OnlyIfCached)
	set(&c.Cache.TTL, o.Cache.TTL)
	set(&c.Cache.MaxStale, o.Cache.MaxStale)
	if o.Retry != nil {
		own := *o.Retry
		c.Retry = &own
	}
	return call.WithOptions(ctx, &c)
}

func set[T comparable](to *T, v T) {
	*to = cmp.Or(v, *to)
}
