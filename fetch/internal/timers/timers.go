// Package timers manages the timers of many requests with one timer of the runtime.
//
// Each request has deadlines, and hardly any of them comes. A runtime timer for each would be made,
// put in a heap, perhaps wake the thread that polls the network, since it is the next one due, and
// be taken out again a moment later. Here a timer is a place in a heap of the queue's own. The
// runtime's timer is set when something is due before it would strike, and is left alone when that
// is taken out: it strikes once for nothing, and is set to what is due next. With deadlines that
// are all equally far away, which is the rule, it is set once per such time, however many requests
// there are.
package timers

import (
	"sync"
	"time"
)

// epoch is what all instants are counted from.
var epoch = time.Now()

// Striker is who a timer belongs to.
type Striker interface {
	// Strike is called at the timer's time or shortly after it, in a goroutine of the queue's, and
	// must not block. One that a Stop just missed is called all the same.
	Strike()
}

// Timer is the place of a timer in its queue. The zero Timer is not set. It is not to be copied.
type Timer struct{ place int32 } // counted from 1, guarded by the queue's lock

func (t *Timer) index() int { return int(t.place) - 1 }

// Queue is a set of timers. The zero Queue is empty; it is safe for concurrent use.
type Queue struct {
	mu    sync.Mutex
	heap  []entry // the one that is due first stands first
	brief bool    // the runtime's timer is stopped when nothing is left

	timer *time.Timer
	armed bool
	at    time.Duration // when it strikes
}

type entry struct {
	at    time.Duration
	timer *Timer
	who   Striker
}

// For returns the queue for the timers of what began then: q, or in a bubble of testing/synctest a
// new one, which is that request's own. A bubble has a clock of its own, no timer from outside
// follows it, and none of its timers outlives it; its times are known by having no monotonic part.
// A nil q stands for a new queue too.
func (q *Queue) For(begin time.Time) *Queue {
	if q == nil || begin == begin.Round(0) { //nolint:staticcheck // the parts of the value are compared, not the instants
		return &Queue{brief: true}
	}
	return q
}

// Set sets a timer, or sets it anew.
func (q *Queue) Set(t *Timer, who Striker, at time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	e := entry{at.Sub(epoch), t, who}
	if t.place == 0 {
		q.heap = append(q.heap, e)
		q.up(len(q.heap)-1, e)
	} else {
		q.down(t.index(), e)
		q.up(t.index(), e)
	}
	if q.heap[0].timer == t {
		q.arm()
	}
}

// Stop takes a timer out; what it belonged to is forgotten at once.
func (q *Queue) Stop(t *Timer) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if t.place != 0 {
		q.remove(t.index())
	}
	if q.brief {
		q.disarm()
	}
}

// Len returns how many timers are set.
func (q *Queue) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.heap)
}

// Close lets go of the runtime's timer as soon as no other is set. Timers can be set all the same.
func (q *Queue) Close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.brief = true
	q.disarm()
}

// disarm stops the runtime's timer when nothing is left. With the lock held, as all below.
func (q *Queue) disarm() {
	if len(q.heap) == 0 && q.armed {
		q.armed = false
		q.timer.Stop()
	}
}

// arm sets the runtime's timer, unless it strikes before anything is due.
func (q *Queue) arm() {
	first := q.heap[0].at
	if q.armed && q.at <= first {
		return
	}
	q.armed, q.at = true, first
	if left := first - time.Since(epoch); q.timer == nil {
		q.timer = time.AfterFunc(left, q.strike)
	} else {
		q.timer.Reset(left)
	}
}

// strike calls all whose time has come.
func (q *Queue) strike() {
	var due []Striker
	q.mu.Lock()
	// One that was under way while the timer was set anew comes early, and sets it once more.
	q.armed = false
	for now := time.Since(epoch); len(q.heap) > 0 && q.heap[0].at <= now; {
		due = append(due, q.heap[0].who)
		q.remove(0)
	}
	if len(q.heap) > 0 {
		q.arm()
	}
	q.mu.Unlock()
	for _, who := range due {
		who.Strike()
	}
}

// most is how long a heap that has become empty may be and be kept.
const most = 1 << 10

func (q *Queue) remove(i int) {
	q.heap[i].timer.place = 0
	last := len(q.heap) - 1
	e := q.heap[last]
	q.heap[last] = entry{}
	q.heap = q.heap[:last]
	switch {
	case i < last:
		q.down(i, e)
		q.up(e.timer.index(), e)
	case last == 0 && cap(q.heap) > most:
		q.heap = nil
	}
}

// up puts e at i, or above it where what stands there is due later.
func (q *Queue) up(i int, e entry) {
	for i > 0 {
		parent := (i - 1) / 2
		if q.heap[parent].at <= e.at {
			break
		}
		q.put(i, q.heap[parent])
		i = parent
	}
	q.put(i, e)
}

// down puts e at i, or below it where what stands there is due earlier.
func (q *Queue) down(i int, e entry) {
	for {
		child := 2*i + 1
		if child >= len(q.heap) {
			break
		}
		if right := child + 1; right < len(q.heap) && q.heap[right].at < q.heap[child].at {
			child = right
		}
		if e.at <= q.heap[child].at {
			break
		}
		q.put(i, q.heap[child])
		i = child
	}
	q.put(i, e)
}

func (q *Queue) put(i int, e entry) {
	q.heap[i] = e
	e.timer.place = int32(i + 1) //nolint:gosec // a queue of 2^31 timers would take 64 GiB
}
