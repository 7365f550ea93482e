package render

import (
	"context"
	"slices"
	"sync"
	"time"

	"example.com/quire/internal/record"
)

// lane bounds how many documents are rendered at the same time. The others wait as long as their
// turn can be expected soon: whoever would wait longer is refused at once, because an answer that
// comes too late costs as much as one in time.
//
// The turns go round the spaces that wait, so that each gets the same share of the rendering time
// whatever the others ask for: a slot that becomes free goes to the space that has used least, and
// within a space to who came first. This is start-time fair queueing: a space that comes anew
// begins with what the space served last has used, so it neither waits for its past nor may save
// up for later.
type lane struct {
	slots int

	mu      sync.Mutex
	running int
	waiting int
	took    time.Duration // how long a slot is held, as a moving average
	turn    time.Duration // what the space served last had used
	spaces  map[record.Space]*line
}

// line is what a space has in the lane; it is there as long as there is something.
type line struct {
	used    time.Duration
	running int
	waiting []*waiter
}

// waiter waits for its turn or has a slot.
type waiter struct {
	turn    chan struct{} // closed when it comes
	charged time.Duration // what its space pays before it is known how long it takes
}

const (
	longestWait = 5 * time.Second // to be expected
	mostWaiting = 256             // whatever is expected: each holds its data in memory
)

func newLane(slots int) *lane { return &lane{slots: slots, spaces: map[record.Space]*line{}} }

// enter waits for a slot; leave gives it back. Errors are record.ErrOverload and that of ctx.
func (l *lane) enter(ctx context.Context, space record.Space) (leave func(), err error) {
	most := longestWait
	if end, ok := ctx.Deadline(); ok {
		most = min(most, time.Until(end))
	}
	l.mu.Lock()
	if l.tooLong(space, most) {
		l.mu.Unlock()
		return nil, record.ErrOverload
	}
	own := l.spaces[space]
	if own == nil {
		own = &line{used: l.turn}
		l.spaces[space] = own
	}
	w := &waiter{turn: make(chan struct{})}
	own.waiting = append(own.waiting, w)
	l.waiting++
	l.serve()
	l.mu.Unlock()

	select {
	case <-w.turn:
	case <-ctx.Done():
		l.mu.Lock()
		defer l.mu.Unlock()
		if i := slices.Index(own.waiting, w); i >= 0 {
			own.waiting = slices.Delete(own.waiting, i, i+1)
			l.waiting--
			l.drop(space)
		} else { // it came at the same moment
			l.end(space, -w.charged)
		}
		return nil, ctx.Err()
	}
	start := time.Now()
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		took := time.Since(start)
		l.end(space, took-w.charged)
		l.took += (took - l.took) / 8
	}, nil
}

// serve gives the slots that are free to those whose turn it is. Callers hold mu.
func (l *lane) serve() {
	for l.running < l.slots && l.waiting > 0 {
		var next *line
		for _, q := range l.spaces {
			if len(q.waiting) > 0 && (next == nil || q.used < next.used) {
				next = q
			}
		}
		w := next.waiting[0]
		next.waiting = slices.Delete(next.waiting, 0, 1)
		w.charged = l.took
		close(w.turn)
		l.turn = next.used
		next.used += w.charged
		next.running++
		l.waiting--
		l.running++
	}
}

// end takes a slot back; more is what its space has used beyond what it paid. Callers hold mu.
func (l *lane) end(space record.Space, more time.Duration) {
	own := l.spaces[space]
	own.used += more
	own.running--
	l.running--
	l.drop(space)
	l.serve()
}

// drop forgets a space that has nothing in the lane any more. Callers hold mu.
func (l *lane) drop(space record.Space) {
	if own := l.spaces[space]; own.running == 0 && len(own.waiting) == 0 {
		delete(l.spaces, space)
	}
}

// tooLong reports whether one more of a space would wait longer than most. Callers hold mu.
func (l *lane) tooLong(space record.Space, most time.Duration) bool {
	if l.running < l.slots {
		return false
	}
	before, others := 0, 0 // in its own line; spaces with others
	for name, q := range l.spaces {
		if name == space {
			before = len(q.waiting)
		} else if len(q.waiting) > 0 {
			others++
		}
	}
	if l.waiting >= mostWaiting || before >= mostWaiting/2 { // no space takes all places
		return true
	}
	ahead := min(l.waiting+1, (before+1)*(others+1))
	return l.took*time.Duration(ahead)/time.Duration(l.slots) > most
}

// full reports whether enter would refuse a space now.
func (l *lane) full(space record.Space) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tooLong(space, longestWait)
}
