package cache

import "hash/maphash"

// SetRandom replaces what c takes for chance. c has not been used.
func SetRandom[K comparable, V any](c *Cache[K, V], random func() float64) { c.random = random }

// Spread draws anew how c spreads keys over its locks until those of keys have one in common, or
// one each. c has not been used.
func Spread[K comparable, V any](c *Cache[K, V], keys []K, common bool) {
	for {
		all := map[*shard[K, V]]struct{}{}
		for _, k := range keys {
			all[c.shard(k)] = struct{}{}
		}
		if common && len(all) == 1 || !common && len(all) == len(keys) {
			return
		}
		c.seed = maphash.MakeSeed()
	}
}
