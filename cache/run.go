package cache

import "context"

// maxRuns is how many loaders of one key may run at a time: that of the present load, and one that
// was overtaken by a write or has outrun its timeout. One origin that hangs once does not make its
// key unreadable, and one that always hangs costs two goroutines per key, not one per read.
const maxRuns = 2

// runs are the loaders of one key that have not returned. Guarded by the shard's lock.
type runs struct {
	n, abandoned int
	changed      chan struct{} // closed at the next change
}

func (r *runs) change() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// run is the call of one loader. Unlike its flight, which ends when the readers are released, it
// lasts until the loader has returned. Its fields are guarded by the shard's lock.
type run[K comparable, V any] struct {
	flight    *flight[K, V]
	hasSlot   bool
	abandoned bool
	ended     bool // the context ended before the loader was called
}

// admit waits until the loader of the key may run beside those that still do. Its error is
// errAbandoned if all of these have outrun their timeouts, so that waiting is vain, or the cause of
// the end of ctx.
func (r *run[K, V]) admit(ctx context.Context) error {
	k := r.flight.key
	s := r.flight.cache.shard(k)
	for {
		s.mu.Lock()
		all := s.runs[k]
		if all == nil {
			all = &runs{changed: make(chan struct{})}
			s.runs[k] = all
		}
		if all.n < maxRuns {
			all.n++
			s.mu.Unlock()
			return nil
		}
		hopeless, changed := all.abandoned >= maxRuns, all.changed
		s.mu.Unlock()
		if hopeless {
			return errAbandoned
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// start notes that the run has taken a slot and says whether to call the loader.
func (r *run[K, V]) start() bool {
	c := r.flight.cache
	s := c.shard(r.flight.key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.ended {
		<-c.slots
		return false
	}
	r.hasSlot = true
	c.n.loading.Add(1)
	return true
}

// abandon gives the slot of a loader that has not returned in time to others.
func (r *run[K, V]) abandon() {
	c := r.flight.cache
	s := c.shard(r.flight.key)
	s.mu.Lock()
	defer s.mu.Unlock()
	r.ended = true
	if !r.hasSlot {
		return
	}
	r.hasSlot, r.abandoned = false, true
	<-c.slots
	c.n.loading.Add(-1)
	c.n.abandoned.Add(1)
	all := s.runs[r.flight.key]
	all.abandoned++
	all.change()
}

// end notes that the loader has returned, or was not called.
func (r *run[K, V]) end() {
	c := r.flight.cache
	k := r.flight.key
	s := c.shard(k)
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.runs[k]
	all.n--
	switch {
	case r.hasSlot:
		r.hasSlot = false
		<-c.slots
		c.n.loading.Add(-1)
	case r.abandoned:
		all.abandoned--
		c.n.abandoned.Add(-1)
	}
	if all.n == 0 {
		delete(s.runs, k)
	}
	all.change()
}
