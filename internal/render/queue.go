package render

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"

	"example.com/quire/internal/record"
)

// queue bounds how many documents are rendered at the same time. The others wait as long as their
// turn can be expected soon: whoever would wait longer is refused at once, because an answer that
// comes too late costs as much as one in time.
//
// The turns go round the spaces that wait, so that each gets the same share of the rendering time
// whatever the others ask for: a slot that becomes free goes to the space that has used least, and
// within a space to who came first. This is start-time fair queueing: a space that comes anew
// begins with what the space served last has used, so it neither waits for its past nor may save
// up for later.
type queue struct {
	slots int

	mu      sync.Mutex
	running int
	waiting int
	took    time.Duration // how long a slot is held, as a moving average
	turn    time.Duration // what the space served last had used
	spaces  map[record.Space]*share
}

// share is what a space has of the queue; it is there as long as there is something.
type share struct {
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

func newQueue(slots int) *queue { return &queue{slots: slots, spaces: map[record.Space]*share{}} }

// enter waits for a slot; leave gives it back. Errors are record.ErrOverload and that of ctx.
func (q *queue) enter(ctx context.Context, space record.Space) (leave func(), err error) {
	most := longestWait
	if end, ok := ctx.Deadline(); ok {
		most = min(most, time.Until(end))
	}
	q.mu.Lock()
	if q.tooLong(space, most) {
		q.mu.Unlock()
		return nil, record.ErrOverload
	}
	own := q.spaces[space]
	if own == nil {
		own = &share{used: q.turn}
		q.spaces[space] = own
	}
	w := &waiter{turn: make(chan struct{})}
	own.waiting = append(own.waiting, w)
	q.waiting++
	q.serve()
	q.mu.Unlock()

	select {
	case <-w.turn:
	case <-ctx.Done():
		q.mu.Lock()
		defer q.mu.Unlock()
		if i := slices.Index(own.waiting, w); i >= 0 {
			own.waiting = slices.Delete(own.waiting, i, i+1)
			q.waiting--
			q.drop(space)
		} else { // it came at the same moment
			q.end(space, -w.charged)
		}
		return nil, ctx.Err()
	}
	// Who is ready to run goes first: requests that have come are then counted and refused here, in
	// the order of their arrival. Otherwise they would wait for the processor, where nobody counts
	// them: a request that reads, renders and answers without a pause never finds another before
	// it.
	runtime.Gosched()
	start := time.Now()
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		took := time.Since(start)
		q.end(space, took-w.charged)
		q.took += (took - q.took) / 8
	}, nil
}

// serve gives the slots that are free to those whose turn it is. Callers hold mu.
func (q *queue) serve() {
	for q.running < q.slots && q.waiting > 0 {
		var next *share
		for _, other := range q.spaces {
			if len(other.waiting) > 0 && (next == nil || other.used < next.used) {
				next = other
			}
		}
		w := next.waiting[0]
		next.waiting = slices.Delete(next.waiting, 0, 1)
		w.charged = q.took
		close(w.turn)
		q.turn = next.used
		next.used += w.charged
		next.running++
		q.waiting--
		q.running++
	}
}

// end takes a slot back; more is what its space has used beyond what it paid. Callers hold mu.
func (q *queue) end(space record.Space, more time.Duration) {
	own := q.spaces[space]
	own.used += more
	own.running--
	q.running--
	q.drop(space)
	q.serve()
}

// drop forgets a space that has nothing in the queue any more. Callers hold mu.
func (q *queue) drop(space record.Space) {
	if own := q.spaces[space]; own.running == 0 && len(own.waiting) == 0 {
		delete(q.spaces, space)
	}
}

// tooLong reports whether one more of a space would wait longer than most. Callers hold mu.
func (q *queue) tooLong(space record.Space, most time.Duration) bool {
	if q.running < q.slots {
		return false
	}
	before, others := 0, 0 // of its own space; other spaces that wait
	for name, other := range q.spaces {
		if name == space {
			before = len(other.waiting)
		} else if len(other.waiting) > 0 {
			others++
		}
	}
	if q.waiting >= mostWaiting || before >= mostWaiting/2 { // no space takes all places
		return true
	}
	ahead := min(q.waiting+1, (before+1)*(others+1))
	return q.took*time.Duration(ahead)/time.Duration(q.slots) > most
}

// full reports whether enter would refuse a space now.
func (q *queue) full(space record.Space) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.tooLong(space, longestWait)
}
