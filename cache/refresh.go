package cache

import "math"

// Early refresh is XFetch: Vattani, Chierichetti, Lowenstein, "Optimal
// Probabilistic Cache Stampede Prevention", VLDB 2015.
//
// A read of a fresh record refreshes it in the background with a probability
// that grows towards the end of the soft life:
//
//	now + beta * delta * (-ln u) >= soft,   u uniform in (0,1]
//
// delta is how long the value took to load: what is slow to get is fetched
// earlier. With beta 1 and a value that takes 1 s, a read 1 s before the end
// refreshes with probability 1/e, one 5 s before with less than 1 %. -ln u has
// no bound, so in principle every read would have to draw; the probability at
// 10 delta is below 5e-5, and a record outside that window skips the draw.

// earlyWindow is the window in units of beta*delta.
const earlyWindow = 10

// earlyFrom is the instant at which draws for r begin.
func (c *Cache[K, V]) earlyFrom(r *record[V]) int64 {
	return r.soft - int64(min(earlyWindow*c.p.EarlyBeta*float64(r.delta), float64(maxLife)))
}

// drawEarly says whether this read refreshes r although it is fresh.
func (c *Cache[K, V]) drawEarly(r *record[V], now int64) bool {
	u := 1 - c.random() // (0,1]: the logarithm of 0 would be a certain refresh
	ahead := c.p.EarlyBeta * float64(r.delta) * -math.Log(u)
	return float64(r.soft-now) <= ahead
}
