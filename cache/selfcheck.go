package cache

import "time"

// checkItself compares a hit on r, which was at that time of the link's clock, with the remote: if
// that has another record by now, its age tells whether it was there before the hit, and for how
// long.
func (c *Cache[K, V]) checkItself(k K, r *record[V], at time.Duration) {
	defer c.busy.end(1)
	recs, err := c.fetch(c.closing, []string{c.o.Keys.Format(k)}, true)
	if err != nil || recs[0].State == RecordNone {
		return // a record that has ended tells no time
	}
	c.n.compared.Add(1)
	late := at - (c.link.now() - recs[0].Age)
	if recs[0].Version == r.shared.version || late <= 0 {
		return
	}
	c.n.outdated.Add(1)
	for worst := c.n.worst.Load(); int64(late) > worst && !c.n.worst.CompareAndSwap(worst, int64(late)); {
		worst = c.n.worst.Load()
	}
}
