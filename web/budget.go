package web

import "time"

// Budgets bound what one request to a route may cost. Zero fields set nothing.
// Budgets is a RouteOption; Middleware makes it hold for a group.
type Budgets struct {
	// Time is what the handler has before the client gets a 503 problem, waiting at the Gate
	// included. The request's context ends then; what the handler still writes is discarded.
	// Streams, SSE and WebSocket take themselves out. Default: none.
	Time time.Duration
	// BodyBytes overrides Limits.Body. Negative: no limit. Danger: what is read
	// whole is held in memory.
	BodyBytes int64
	// Bodies bounds the bytes of bodies that Context.Body and the binding hold at once, together
	// with other routes that name it. It is for routes, not for groups.
	Bodies *BodyPool
	// ResponseBytes is the most a handler may write; more cuts the connection.
	ResponseBytes int64
	// Gate bounds how many requests run at once.
	Gate *Gate
}

func (b Budgets) option(r *Route) { r.budgets = b }

// Middleware applies the budgets to a group. A body limit applies to what is
// read by the handlers inside.
func (b Budgets) Middleware() Middleware {
	return func(next Handler) Handler {
		inner := next
		if mw := b.middleware(); mw != nil {
			inner = mw(next)
		}
		if b.BodyBytes == 0 {
			return inner
		}
		return func(c *Context) error {
			if c.route == nil || c.route.budgets.BodyBytes == 0 { // the route's own word is nearer
				c.setBodyLimit(b.BodyBytes)
				if c.body != nil {
					c.body.budgeted = true
				}
			}
			return inner(c)
		}
	}
}

// middleware is what of the budgets wraps a handler, nil when nothing does.
func (b Budgets) middleware() Middleware {
	if b.Time <= 0 && b.ResponseBytes <= 0 && b.Gate == nil {
		return nil
	}
	return func(next Handler) Handler {
		if n := b.ResponseBytes; n > 0 {
			inner := next
			next = func(c *Context) error {
				c.res.limit = n
				return inner(c)
			}
		}
		if b.Gate != nil {
			next = b.Gate.Middleware()(next)
		}
		if b.Time > 0 { // outside of the gate: whoever waits there has no more time than the others
			next = withDeadline(b.Time, next)
		}
		return next
	}
}
