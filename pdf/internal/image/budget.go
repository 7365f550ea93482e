package image

import (
	"context"
	"fmt"
	"sync"

	"example.com/quire/pdf/internal/diag"
)

// budget shares a number of bytes among those who ask, in the order in which they ask.
type budget struct {
	mu    sync.Mutex
	free  int64
	most  int64
	queue []*claim
}

type claim struct {
	bytes int64
	ready chan struct{}
}

func newBudget(bytes int64) *budget { return &budget{free: bytes, most: bytes} }

// take waits for n bytes until ctx ends. More than there will ever be is an error at once.
func (b *budget) take(ctx context.Context, n int64) error {
	if n == 0 {
		return nil
	}
	over := &diag.LimitError{Name: "DecodeBudget", Value: n, Limit: b.most}
	if n > b.most {
		return over
	}
	b.mu.Lock()
	if len(b.queue) == 0 && n <= b.free {
		b.free -= n
		b.mu.Unlock()
		return nil
	}
	c := &claim{bytes: n, ready: make(chan struct{})}
	b.queue = append(b.queue, c)
	b.mu.Unlock()
	select {
	case <-c.ready:
		return nil
	case <-ctx.Done():
		b.withdraw(c)
		return fmt.Errorf("no room to decode %d bytes while others do: %w: %w", n, over, context.Cause(ctx))
	}
}

// withdraw gives up a claim, which may have been granted in the same moment.
func (b *budget) withdraw(c *claim) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, q := range b.queue {
		if q == c {
			b.queue = append(b.queue[:i], b.queue[i+1:]...)
			b.grant()
			return
		}
	}
	b.free += c.bytes
	b.grant()
}

// give returns n bytes.
func (b *budget) give(n int64) {
	if n == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.free += n
	b.grant()
}

// grant serves the queue as far as the bytes reach.
func (b *budget) grant() {
	for len(b.queue) > 0 && b.queue[0].bytes <= b.free {
		c := b.queue[0]
		b.queue = b.queue[1:]
		b.free -= c.bytes
		close(c.ready)
	}
}
