package cache

// SetRandom replaces what c takes for chance. c has not been used.
func SetRandom[K comparable, V any](c *Cache[K, V], random func() float64) { c.random = random }
