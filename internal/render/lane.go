package render

import (
	"context"
	"sync"
	"time"

	"example.com/quire/internal/record"
)

// lane bounds how many documents are rendered at the same time. The others wait, first come first
// served, as long as their turn can be expected soon: whoever would wait longer is refused at once,
// because an answer that comes too late costs as much as one in time.
type lane struct {
	slots chan struct{}

	mu      sync.Mutex
	waiting int
	took    time.Duration // how long a slot is held, as a moving average
}

const (
	longestWait = 5 * time.Second // to be expected
	mostWaiting = 256             // whatever is expected: each holds its data in memory
)

func newLane(slots int) *lane { return &lane{slots: make(chan struct{}, slots)} }

// enter waits for a slot; leave gives it back. Errors are record.ErrOverload and that of ctx.
func (l *lane) enter(ctx context.Context) (leave func(), err error) {
	select {
	case l.slots <- struct{}{}:
	default:
		if err := l.wait(ctx); err != nil {
			return nil, err
		}
	}
	start := time.Now()
	return func() {
		l.mu.Lock()
		l.took += (time.Since(start) - l.took) / 8
		l.mu.Unlock()
		<-l.slots
	}, nil
}

func (l *lane) wait(ctx context.Context) error {
	most := longestWait
	if end, ok := ctx.Deadline(); ok {
		most = min(most, time.Until(end))
	}
	l.mu.Lock()
	if l.tooLong(most) {
		l.mu.Unlock()
		return record.ErrOverload
	}
	l.waiting++
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		l.waiting--
		l.mu.Unlock()
	}()
	select {
	case l.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// tooLong reports whether one more would wait longer than most. Callers hold mu.
func (l *lane) tooLong(most time.Duration) bool {
	expected := l.took * time.Duration(l.waiting+1) / time.Duration(cap(l.slots))
	return l.waiting >= mostWaiting || expected > most
}

// full reports whether enter would refuse now.
func (l *lane) full() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.slots) == cap(l.slots) && l.tooLong(longestWait)
}
