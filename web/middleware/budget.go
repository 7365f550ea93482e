package middleware

import (
	"errors"
	"time"

	"example.com/quire/web"
)

// BodyLimitOptions configure BodyLimit.
type BodyLimitOptions struct {
	// Bytes a request's body may have. Default: 1 MiB. A route's own
	// Budgets.BodyBytes goes before it.
	Bytes int64
}

// BodyLimit sets the limit of request bodies for a group; more is 413.
func BodyLimit(o BodyLimitOptions) (web.Middleware, error) {
	if o.Bytes < 0 {
		return nil, errors.New("middleware: body limit: negative; no limit is set per route, by web.Budgets")
	}
	if o.Bytes == 0 {
		o.Bytes = 1 << 20
	}
	return web.Budgets{BodyBytes: o.Bytes}.Middleware(), nil
}

// TimeoutOptions configure Timeout.
type TimeoutOptions struct {
	// Time handlers have before the client gets a 503 problem. Default: 30 s.
	Time time.Duration
}

// Timeout bounds the time of the handlers in a group: their context ends, the
// client gets a 503 problem at once, what they still write is discarded. They
// run on in their own goroutine until they heed the context. Streams take
// themselves out.
func Timeout(o TimeoutOptions) (web.Middleware, error) {
	if o.Time < 0 {
		return nil, errors.New("middleware: timeout: negative")
	}
	if o.Time == 0 {
		o.Time = 30 * time.Second
	}
	return web.Budgets{Time: o.Time}.Middleware(), nil
}
