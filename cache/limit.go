package cache

import (
	"context"
	"sync"
	"time"
)

// limit is the context of one call of the remote, or of the remote's part of a load: it has the
// values of its parent and ends at a time of its own. It is what context.WithTimeout makes, without
// a timer for each: all that last equally long wait in one line (see limits). It ends with its
// parent too, unless detached.
type limit struct {
	parent context.Context
	// chain, if not nil, is the load that the context belongs to.
	chain    *chain
	detached bool
	line     *limits
	// owner, if not nil, is told in a goroutine of its own when time is over or the line is closed.
	owner interface{ over(cause error) }
	told  sync.WaitGroup // owner

	// Guarded by the mutex of line.
	at         time.Time
	prev, next *limit
	waits      bool // in line

	mu    sync.Mutex
	done  chan struct{} // made when it is asked for
	err   error
	child *limit      // ends with it
	stop  func() bool // ends the watch of parent, if there is one
}

// Deadline implements context.Context.
func (l *limit) Deadline() (time.Time, bool) {
	if at, ok := l.parent.Deadline(); ok && !l.detached && at.Before(l.at) {
		return at, true
	}
	return l.at, true
}

// Done implements context.Context.
func (l *limit) Done() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.done == nil {
		l.done = make(chan struct{})
		if l.err != nil {
			close(l.done)
		}
	}
	return l.done
}

// Err implements context.Context.
func (l *limit) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Value implements context.Context.
func (l *limit) Value(key any) any {
	if l.chain != nil && key == (chainKey{}) {
		return l.chain
	}
	return l.parent.Value(key)
}

// end ends l for a reason, unless it has ended.
func (l *limit) end(err error) {
	l.mu.Lock()
	if l.err != nil {
		l.mu.Unlock()
		return
	}
	l.err = err
	if l.done != nil {
		close(l.done)
	}
	child := l.child
	l.child = nil
	l.mu.Unlock()
	if child != nil {
		child.end(err)
	}
}

// watch lets l end with its parent.
func (l *limit) watch() {
	if p, ok := l.parent.(*limit); ok && p.adopt(l) {
		return
	}
	if l.parent.Done() != nil {
		l.stop = context.AfterFunc(l.parent, func() { l.end(l.parent.Err()) })
	}
}

// adopt lets child end with l, if it is the only one.
func (l *limit) adopt(child *limit) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.err != nil:
		child.err = l.err // nobody else has it yet
	case l.child != nil:
		return false
	default:
		l.child = child
	}
	return true
}

// unwatch ends what watch has begun.
func (l *limit) unwatch() {
	if l.stop != nil {
		l.stop()
	}
	if p, ok := l.parent.(*limit); ok {
		p.mu.Lock()
		if p.child == l {
			p.child = nil
		}
		p.mu.Unlock()
	}
}

// limits are contexts that last equally long, in the order in which they began: one timer, that of
// the first, does for all. It is not set anew when the first leaves, but when it fires.
type limits struct {
	last time.Duration

	mu         sync.Mutex
	head, tail *limit
	timer      *time.Timer
	armed      bool
	closed     error
}

// begin puts l in line. If the line is closed l ends at once.
func (q *limits) begin(l *limit) {
	l.line = q
	q.mu.Lock()
	l.at = time.Now().Add(q.last)
	if q.closed != nil {
		cause := q.closed
		q.mu.Unlock()
		l.over(context.Canceled, cause)
		return
	}
	l.waits, l.prev = true, q.tail
	if q.tail != nil {
		q.tail.next = l
	} else {
		q.head = l
	}
	q.tail = l
	switch {
	case q.armed:
	case q.timer == nil:
		q.timer = time.AfterFunc(q.last, q.expire)
	default:
		q.timer.Reset(q.last)
	}
	q.armed = true
	q.mu.Unlock()
}

// leave takes l out of the line. It returns false if l has been taken out before: its time was
// over.
func (q *limits) leave(l *limit) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.remove(l)
}

// remove is leave for one that holds mu.
func (q *limits) remove(l *limit) bool {
	if !l.waits {
		return false
	}
	if l.prev != nil {
		l.prev.next = l.next
	} else {
		q.head = l.next
	}
	if l.next != nil {
		l.next.prev = l.prev
	} else {
		q.tail = l.prev
	}
	l.prev, l.next, l.waits = nil, nil, false
	return true
}

// over ends l because its time is over, or because all is.
func (l *limit) over(err, cause error) {
	l.end(err)
	if l.owner != nil {
		l.told.Go(func() { l.owner.over(cause) })
	}
}

// expire ends those whose time is over.
func (q *limits) expire() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.head != nil {
		l := q.head
		if left := time.Until(l.at); left > 0 {
			q.timer.Reset(left)
			return
		}
		q.remove(l)
		l.over(context.DeadlineExceeded, &timeoutError{after: q.last})
	}
	q.armed = false
}

// close ends all that are in line, and those that come.
func (q *limits) close(cause error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = cause
	if q.timer != nil {
		q.timer.Stop()
	}
	for q.head != nil {
		l := q.head
		q.remove(l)
		l.over(context.Canceled, cause)
	}
}
