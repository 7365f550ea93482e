package middleware

import (
	"time"

	"example.com/quire/web"
)

// RequestIDOptions configure RequestID.
type RequestIDOptions struct {
	// Generate makes ids. Default: UUIDv7. Ids that web.ValidRequestID refuses
	// are not used.
	Generate func() string
}

// UUIDv7 makes ids that sort by time.
func UUIDv7() string { return web.UUIDv7(time.Now()) }

// RequestID gives the requests of a group ids of another form. The id that a
// trusted proxy sent stays.
func RequestID(o RequestIDOptions) (web.Middleware, error) {
	if o.Generate == nil {
		o.Generate = UUIDv7
	}
	return func(next web.Handler) web.Handler {
		return func(c *web.Context) error {
			if !c.FromProxy() || c.Header("X-Request-Id") != c.RequestID() {
				c.SetRequestID(o.Generate())
			}
			return next(c)
		}
	}, nil
}
