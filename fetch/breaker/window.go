package breaker

import (
	"sync"
	"sync/atomic"
	"time"
)

// window counts outcomes over the last len(buckets) slices of time without a lock on the way of a
// call.
//
// A bucket belongs to a slice by its number, and serves slice n, n+len, n+2*len in turn. Whoever
// first meets a bucket of an old number empties it under the lock; everybody else adds with one
// atomic operation. An adder that read the number before such a turn and adds after it puts an
// outcome into a slice one whole window too late: an outcome that took that long to arrive, which
// is as true in the new slice as in the old.
//
// The three counts share a word, so that they are read together: calls, failures and slow calls, 21
// bits each. A bucket that fills is halved, which keeps the ratios.
type window struct {
	epoch   time.Time
	width   time.Duration
	mu      sync.Mutex
	buckets []bucket
}

type bucket struct {
	number atomic.Int64
	counts atomic.Uint64
}

const (
	countBits = 21
	countMask = 1<<countBits - 1
	oneCall   = 1
	oneFail   = 1 << countBits
	oneSlow   = 1 << (2 * countBits)
	fullCount = 1 << 20
)

func newWindow(epoch time.Time, total time.Duration, n int) *window {
	w := &window{epoch: epoch, width: total / time.Duration(n), buckets: make([]bucket, n)}
	for i := range w.buckets {
		w.buckets[i].number.Store(int64(i) - int64(n)) // a slice before the epoch
	}
	return w
}

func (w *window) number(now time.Time) int64 { return max(int64(now.Sub(w.epoch)/w.width), 0) }

// add counts one call at now.
func (w *window) add(now time.Time, failed, slow bool) {
	n := w.number(now)
	b := &w.buckets[n%int64(len(w.buckets))]
	if b.number.Load() < n {
		w.mu.Lock()
		if b.number.Load() < n {
			b.counts.Store(0)
			b.number.Store(n)
		}
		w.mu.Unlock()
	}
	inc := uint64(oneCall)
	if failed {
		inc |= oneFail
	}
	if slow {
		inc |= oneSlow
	}
	if b.counts.Add(inc)&countMask >= fullCount {
		w.halve(b)
	}
}

func (w *window) halve(b *bucket) {
	for {
		old := b.counts.Load()
		if old&countMask < fullCount {
			return
		}
		half := (old & countMask) / 2
		half |= (old >> countBits & countMask) / 2 << countBits
		half |= (old >> (2 * countBits) & countMask) / 2 << (2 * countBits)
		if b.counts.CompareAndSwap(old, half) {
			return
		}
	}
}

// sum returns the counts of the window that ends at now.
func (w *window) sum(now time.Time) (calls, failures, slow int) {
	n := w.number(now)
	oldest := n - int64(len(w.buckets)) + 1
	for i := range w.buckets {
		b := &w.buckets[i]
		if at := b.number.Load(); at < oldest {
			continue
		}
		c := b.counts.Load()
		calls += int(c & countMask)
		failures += int(c >> countBits & countMask)
		slow += int(c >> (2 * countBits) & countMask)
	}
	return calls, failures, slow
}

// clear forgets everything.
func (w *window) clear() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.buckets {
		w.buckets[i].counts.Store(0)
	}
}
