package cache

import "context"

// inquiry is the part of a load of one key that asks the remote. Mostly the remote has the value,
// and there is nothing else to do. So what a loader needs, a context that it may keep and a watch
// over it, is made when there is no answer, and the goroutine, whose stack has grown by then, is
// used again for the next inquiry. A loader gets one that ends with it.
type inquiry[K comparable, V any] struct {
	cache   *Cache[K, V]
	flights [1]*flight[K, V]
	keys    [1]string
	from    source[K, V]
	chain   chain
	limit   limit // until LoadTimeout or Close; it has the values of the context of the read
	call    limit // of the first call
}

// maxIdle is how many goroutines wait for an inquiry at most.
const maxIdle = 64

// inquire begins the load of f.
func (c *Cache[K, V]) inquire(ctx context.Context, f *flight[K, V], from source[K, V]) {
	q := &inquiry[K, V]{cache: c, flights: [1]*flight[K, V]{f}, from: from, chain: chain{flight: f}}
	q.limit.parent, q.limit.chain, q.limit.detached, q.limit.owner = ctx, &q.chain, true, q
	c.loads.begin(&q.limit)
	select {
	case c.inquiries <- q:
	default:
		go c.inquirer(q)
	}
}

// inquirer makes q, and then others.
func (c *Cache[K, V]) inquirer(q *inquiry[K, V]) {
	for q.run() {
		q = nil
		if c.idle.Add(1) > maxIdle {
			c.idle.Add(-1)
			return
		}
		select {
		case q = <-c.inquiries:
			c.idle.Add(-1)
		case <-c.closing.Done():
			return
		}
	}
}

// run asks the remote, and loads what it does not have. It says whether no loader was called.
func (q *inquiry[K, V]) run() bool {
	c, f := q.cache, q.flights[0]
	q.chain.parent, _ = q.limit.parent.Value(chainKey{}).(*chain)
	busy := true
	defer func() {
		if busy {
			c.busy.end(1)
		}
	}()
	goesOn := c.consultOnce(q)
	if goesOn && q.from.none() {
		c.unasked(f)
		goesOn = false
	}
	if !c.loads.leave(&q.limit) {
		q.limit.told.Wait()
		return true
	}
	q.limit.end(context.Canceled)
	if !goesOn {
		return true
	}
	busy = false
	c.fly(q.limit.parent, q.flights[:], c.caller(q.from), q)
	return false
}

// over releases the readers, whether the remote heeds the end of its context or not.
func (q *inquiry[K, V]) over(cause error) {
	q.cache.settle(q.flights[0], outcome[V]{err: cause})
}
