// Package hist keeps the distribution of recent durations in little memory: 2 KiB for each of two halves of a window.
//
// A duration falls into one of 16 parts of its power of two, so a percentile is right within 6 %. The window turns by halves: when the
// newer half is full of time the older is forgotten, and a percentile looks at both.
package hist

import (
	"math/bits"
	"sync"
	"sync/atomic"
	"time"
)

const (
	parts   = 16 // of a power of two
	powers  = 32
	unit    = 16 * time.Microsecond // what the first bucket holds
	buckets = parts * powers
	// Half of the window.
	half  = 30 * time.Second
	fresh = 100 * time.Millisecond // a percentile is computed at most so often
)

// Hist is safe for concurrent use.
type Hist struct {
	mu     sync.Mutex
	turned time.Time
	new    [buckets]uint32
	old    [buckets]uint32
	n, was uint32

	cached atomic.Pointer[answer]
}

type answer struct {
	q       float64
	d       time.Duration
	samples int
	at      time.Time
}

// New returns an empty one.
func New() *Hist { return &Hist{} }

func bucket(d time.Duration) int {
	n := uint64(max(d, 0) / unit)
	if n < parts {
		return int(n)
	}
	power := bits.Len64(n) - 5
	return min(power*parts+int(n>>uint(power)), buckets-1) //nolint:gosec // at most 31
}

// value is the upper end of a bucket.
func value(b int) time.Duration {
	if b < parts {
		return time.Duration(b+1) * unit
	}
	power := b/parts - 1
	return time.Duration(b-power*parts+1) << power * unit
}

// Add counts a duration at now.
func (h *Hist) Add(d time.Duration, now time.Time) {
	b := bucket(d)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.turn(now)
	h.new[b]++
	h.n++
}

// turn forgets the older half when its time has come. With the lock held.
func (h *Hist) turn(now time.Time) {
	switch gone := now.Sub(h.turned); {
	case gone < half:
	case gone < 2*half:
		h.old, h.was = h.new, h.n
		h.new, h.n = [buckets]uint32{}, 0
		h.turned = now
	default:
		h.old, h.was = [buckets]uint32{}, 0
		if h.n > 0 && gone < 3*half {
			h.old, h.was = h.new, h.n
		}
		h.new, h.n = [buckets]uint32{}, 0
		h.turned = now
	}
}

// Quantile returns the duration that a share q of the samples did not exceed, and how many samples there are.
func (h *Hist) Quantile(q float64, now time.Time) (time.Duration, int) {
	if a := h.cached.Load(); a != nil && a.q == q && now.Sub(a.at) < fresh && !now.Before(a.at) {
		return a.d, a.samples
	}
	h.mu.Lock()
	h.turn(now)
	n := h.n + h.was
	want := uint32(q*float64(n) + 0.5)
	var sum uint32
	d := time.Duration(0)
	if n > 0 {
		for b := range buckets {
			if sum += h.new[b] + h.old[b]; sum >= max(want, 1) {
				d = value(b)
				break
			}
		}
	}
	h.mu.Unlock()
	h.cached.Store(&answer{q, d, int(n), now})
	return d, int(n)
}
