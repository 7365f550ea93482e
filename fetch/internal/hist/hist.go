// Package hist keeps the distribution of recent durations in little memory: 64 bytes for each power
// of two that contains one of them, in each of two halves of a window. The durations of an ordinary
// origin fall into a handful of these.
//
// A duration falls into one of 16 parts of its power of two, so a percentile is right within 6 %.
// The window turns by halves: when the newer half is full of time the older is forgotten, and a
// percentile looks at both.
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

// Hist is safe for concurrent use; the zero Hist is empty.
type Hist struct {
	mu       sync.Mutex
	turned   time.Time
	new, old counts

	cached atomic.Pointer[answer]
}

// counts are the samples of half a window, by power and part. What no sample fell into is not
// there.
type counts struct {
	n       uint32
	byPower [powers]*[parts]uint32
}

func (c *counts) add(b int) {
	p := &c.byPower[b/parts]
	if *p == nil {
		*p = new([parts]uint32)
	}
	(*p)[b%parts]++
	c.n++
}

func (c *counts) power(p int) *[parts]uint32 {
	if own := c.byPower[p]; own != nil {
		return own
	}
	return &none
}

var none [parts]uint32 // nobody writes to it

type answer struct {
	q       float64
	d       time.Duration
	samples int
	at      time.Time
}

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
	h.new.add(b)
}

// turn forgets the older half when its time has come. With the lock held.
func (h *Hist) turn(now time.Time) {
	switch gone := now.Sub(h.turned); {
	case gone < half:
	case gone < 2*half:
		h.old, h.new, h.turned = h.new, counts{}, now
	default:
		h.old = counts{}
		if gone < 3*half {
			h.old = h.new
		}
		h.new, h.turned = counts{}, now
	}
}

// Quantile returns the duration that a share q of the samples did not exceed, and how many samples
// there are.
func (h *Hist) Quantile(q float64, now time.Time) (time.Duration, int) {
	if a := h.cached.Load(); a != nil && a.q == q && now.Sub(a.at) < fresh && !now.Before(a.at) {
		return a.d, a.samples
	}
	h.mu.Lock()
	h.turn(now)
	n := h.new.n + h.old.n
	d := h.reached(max(uint32(q*float64(n)+0.5), 1))
	h.mu.Unlock()
	h.cached.Store(&answer{q, d, int(n), now})
	return d, int(n)
}

// reached returns the duration that so many samples did not exceed; 0 when there are fewer. With
// the lock held.
func (h *Hist) reached(want uint32) time.Duration {
	var sum uint32
	for p := range powers {
		a, b := h.new.power(p), h.old.power(p)
		for i := range parts {
			if sum += a[i] + b[i]; sum >= want {
				return value(p*parts + i)
			}
		}
	}
	return 0
}
