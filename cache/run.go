package cache

import (
	"context"
	"sync"
)

// maxRuns is how many loaders of one key may run at a time: that of the present load, and one that
// was overtaken by a write or has outrun its timeout. One origin that hangs once does not make its
// key unreadable, and one that always hangs costs two goroutines per key, not one per read.
const maxRuns = 2

// runs are the loaders of one key that have not returned. Guarded by the shard's lock.
type runs struct {
	n, abandoned int
	changed      chan struct{} // closed at the next change
}

// run is one call of a loader, for one key or, in GetMany, for several. Unlike its flights, which
// end when the readers are released, it lasts until the loader has returned.
type run[K comparable, V any] struct {
	cache *Cache[K, V]
	keys  []K // admitted

	mu        sync.Mutex // taken before that of a shard
	hasSlot   bool
	abandoned bool
	ended     bool // the context ended
}

// admit waits until one more loader of k may run beside those that still do. Its error is
// errAbandoned if all of these have outrun their timeouts, so that waiting is vain, or the cause of
// the end of ctx.
func (r *run[K, V]) admit(ctx context.Context, k K) error {
	s := r.cache.shard(k)
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
			r.mu.Lock()
			r.keys = append(r.keys, k)
			r.mu.Unlock()
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
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		<-r.cache.slots
		return false
	}
	r.hasSlot = true
	r.cache.n.loading.Add(1)
	return true
}

// abandon gives the slot of a loader that has not returned in time to others.
func (r *run[K, V]) abandon() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	if !r.hasSlot {
		return
	}
	r.abandoned = true
	r.release()
	r.cache.n.abandoned.Add(1)
	r.each(func(all *runs) { all.abandoned++ })
}

// end notes that the loader has returned, or was not called.
func (r *run[K, V]) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	left := 0
	if r.hasSlot {
		r.release()
	} else if r.abandoned {
		left = 1
		r.cache.n.abandoned.Add(-1)
	}
	r.each(func(all *runs) {
		all.n--
		all.abandoned -= left
	})
}

func (r *run[K, V]) release() {
	r.hasSlot = false
	<-r.cache.slots
	r.cache.n.loading.Add(-1)
}

// each changes the counts of every key of r.
func (r *run[K, V]) each(change func(*runs)) {
	for _, k := range r.keys {
		s := r.cache.shard(k)
		s.mu.Lock()
		all := s.runs[k]
		change(all)
		if all.n == 0 {
			delete(s.runs, k)
		}
		close(all.changed)
		all.changed = make(chan struct{})
		s.mu.Unlock()
	}
}
