package cache

import (
	"context"
	"fmt"
	"sync"
	"time"
)

const (
	breakAfter      = 5 // failures in a row
	minBreakerPause = 100 * time.Millisecond
	maxBreakerPause = 5 * time.Second
)

// breaker keeps calls from a remote that does not answer: after five failures in a row only one
// call in each pause goes through, and the pause doubles until one succeeds or the link comes up.
type breaker struct {
	mu       sync.Mutex
	failures int
	pause    time.Duration
	until    time.Time
	trial    bool
}

// allow says whether to call. After true, done must be called.
func (b *breaker) allow() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failures < breakAfter {
		return true
	}
	if b.trial || time.Now().Before(b.until) {
		return false
	}
	b.trial = true
	return true
}

// done takes the result of a call; ended says that the caller gave up, which tells nothing.
func (b *breaker) done(err error, ended bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.trial = false
	switch {
	case err == nil:
		b.failures, b.pause = 0, 0
	case ended:
	default:
		b.failures++
		if b.failures >= breakAfter {
			b.pause = min(max(2*b.pause, minBreakerPause), maxBreakerPause)
			b.until = time.Now().Add(b.pause)
		}
	}
}

// close lets calls through.
func (b *breaker) close() { b.done(nil, false) }

// calling is one call of the remote. It takes the place of a function that is called: what such a
// function shares with its caller would be allocated.
type calling struct {
	ctx  context.Context // of the caller
	here *limit          // of the call
}

// beginCall begins a call of the remote within RemoteTimeout, unless the breaker is open. After a
// nil error endCall must be called. here is memory for the context of the call, if the caller has
// some.
func (c *Cache[K, V]) beginCall(ctx context.Context, here *limit) (calling, error) {
	if !c.breaker.allow() {
		return calling{}, errBreaker
	}
	if here == nil {
		here = new(limit)
	}
	here.parent = ctx
	here.watch()
	c.calls.begin(here)
	return calling{ctx, here}, nil
}

// endCall ends a call and judges its error.
func (c *Cache[K, V]) endCall(a calling, err error) error {
	a.here.unwatch()
	inTime := c.calls.leave(a.here)
	a.here.end(context.Canceled)
	gone := a.ctx.Err() != nil
	if err != nil && !gone {
		c.n.remoteFailures.Add(1)
		if !inTime {
			err = fmt.Errorf("remote timeout after %v: %w", c.p.RemoteTimeout, context.DeadlineExceeded)
		}
	}
	c.breaker.done(err, gone)
	return err
}

// ask makes one call of the remote within RemoteTimeout, unless the breaker is open.
func (c *Cache[K, V]) ask(ctx context.Context, call func(context.Context) error) error {
	a, err := c.beginCall(ctx, nil)
	if err != nil {
		return err
	}
	return c.endCall(a, call(a.here))
}
