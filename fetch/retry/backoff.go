package retry

import (
	"cmp"
	"math"
	"time"

	"example.com/quire/fetch/internal/call"
)

// Backoff gives the wait before the next attempt. It is pure: prev is the wait before the attempt
// that just failed (zero for the first), attempt that one's number from 1, and u a uniform random
// number in [0,1) from the caller.
type Backoff interface {
	Next(prev time.Duration, attempt int, u float64) time.Duration
}

// Jitter says how much of a wait is left to chance. Waits without any make the clients that failed
// together come back together.
type Jitter float64

// The kinds of jitter besides Fraction.
const (
	Full  Jitter = 0  // anything from nothing to the whole wait
	Equal Jitter = -1 // at least half of it
	None  Jitter = -2 // all of it
)

// Fraction is a jitter that takes up to f of the wait away; f is within 0 and 1, anything else is
// refused by New.
func Fraction(f float64) Jitter {
	switch {
	case f == 0:
		return None
	case f > 0 && f <= 1:
		return Jitter(f)
	}
	return Jitter(math.NaN())
}

// Exponential waits Base, Base*Factor, Base*Factor*Factor ..., at most Max, less jitter.
type Exponential struct {
	Base   time.Duration // 0 = 100 ms
	Max    time.Duration // 0 = 10 s, or Base if that is more
	Factor float64       // 0 = 2
	Jitter Jitter        // zero value = Full
}

// Decorrelated waits a random time between Base and three times the previous wait, at most Max: it
// grows like Exponential on average, but the waits of two clients drift apart.
type Decorrelated struct {
	Base time.Duration // 0 = 100 ms
	Max  time.Duration // 0 = 10 s, or Base if that is more
}

const (
	defaultBase = 100 * time.Millisecond
	defaultMax  = 10 * time.Second

	// longest is the longest wait, of 146 years: floating point rounds the greatest Duration up to
	// one that is negative.
	longest time.Duration = 1 << 62
)

func bounds(base, limit time.Duration) (float64, float64) {
	if base == 0 {
		base = defaultBase
		if limit > 0 {
			base = min(base, limit)
		}
	}
	limit = cmp.Or(limit, max(defaultMax, base))
	return float64(base), float64(limit)
}

// Next implements Backoff.
func (e Exponential) Next(_ time.Duration, attempt int, u float64) time.Duration {
	base, limit := bounds(e.Base, e.Max)
	factor := cmp.Or(e.Factor, 2)
	// The power overflows to +Inf at worst, and min takes the bound then.
	d := min(limit, base*math.Pow(factor, float64(max(attempt, 1)-1)))
	switch {
	case e.Jitter == Full:
		d *= u
	case e.Jitter == Equal:
		d = d/2 + u*d/2
	case e.Jitter > 0:
		d -= u * d * float64(e.Jitter)
	}
	return time.Duration(min(d, float64(longest)))
}

// Next implements Backoff: min(Max, Base + u*(3*prev - Base)).
func (b Decorrelated) Next(prev time.Duration, _ int, u float64) time.Duration {
	base, limit := bounds(b.Base, b.Max)
	span := max(3*max(float64(prev), base)-base, 0)
	return time.Duration(min(limit, base+u*span, float64(longest)))
}

func (e Exponential) validate(c *call.Check) {
	checkBounds(c, e.Base, e.Max)
	if e.Factor != 0 && !(e.Factor >= 1) || math.IsInf(e.Factor, 0) {
		c.Fail("Backoff.Factor", e.Factor, "0 for the default, or a number of at least 1")
	}
	if j := e.Jitter; j != Equal && j != None && !(j >= 0 && j <= 1) {
		c.Fail("Backoff.Jitter", float64(j), "Full, Equal, None, or Fraction of a number within 0 and 1")
	}
}

func (b Decorrelated) validate(c *call.Check) { checkBounds(c, b.Base, b.Max) }

func checkBounds(c *call.Check, base, limit time.Duration) {
	c.Duration("Backoff.Base", base)
	c.Duration("Backoff.Max", limit)
	if base > 0 && limit > 0 && base > limit {
		c.Fail("Backoff.Base", base, "at most Backoff.Max, which is "+limit.String())
	}
}
