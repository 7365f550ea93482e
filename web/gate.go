package web

import (
	"errors"
	"net/http"
)

// Gate lets a number of requests run at once and lets some more wait.
type Gate struct {
	running chan struct{}
	queue   chan struct{}
}

// NewGate makes a gate for so many running requests and so many queued ones.
// A request beyond them gets 503 with Retry-After at once. A gate may be shared by
// routes. It panics with a *ConfigError unless at least one may run.
func NewGate(running, queued int) *Gate {
	if running < 1 {
		panic(&ConfigError{Field: "NewGate.running", Got: running, Want: "at least 1"})
	}
	if queued < 0 {
		panic(&ConfigError{Field: "NewGate.queued", Got: queued, Want: "0 or more"})
	}
	return &Gate{running: make(chan struct{}, running), queue: make(chan struct{}, running+queued)}
}

// ErrBusy is the cause of the 503 that a full Gate answers.
var ErrBusy = errors.New("web: gate is full")

// Middleware puts handlers behind the gate.
func (g *Gate) Middleware() Middleware {
	return func(next Handler) Handler {
		return func(c *Context) error {
			select {
			case g.queue <- struct{}{}:
			default:
				return NewProblem(http.StatusServiceUnavailable, "too many requests at once", ErrBusy)
			}
			defer func() { <-g.queue }()
			select {
			case g.running <- struct{}{}:
			case <-c.Context().Done():
				return c.Context().Err()
			}
			defer func() { <-g.running }()
			return next(c)
		}
	}
}

// Limits returns how many requests run at once and how many more may wait.
func (g *Gate) Limits() (running, queued int) {
	return cap(g.running), cap(g.queue) - cap(g.running)
}
