package cache

import (
	"context"
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"
)

// flight is one load of one key, shared by all reads that need it.
//
// It is also the fence of the key: every result is put into the store under
// the lock of the key's shard, and every write of the key takes the flight out
// of the shard under that lock. So either the result is there before the write
// and is replaced by it, or the flight is found detached and its result is not
// kept. Clear needs no walk over the flights: a result bears the generation at
// which its load began, and does not exist in a later one.
type flight[K comparable, V any] struct {
	cache *Cache[K, V]
	key   K
	gen   uint64
	bumps uint64        // invalidations when the load began
	old   *record[V]    // the value held when the load began, if any
	done  chan struct{} // closed by settle, after the result is written
	// detached is set, under the shard's lock, by a write of the key.
	detached atomic.Bool
	settled  bool // guarded by the shard's lock

	// The result, valid once done is closed.
	value  V
	err    error // ErrNotFound or *LoadError
	failed bool  // err is a failure, not an answer
	again  bool  // the result is older than what those who wait may have read: they read again
	// bumped is the number of an invalidation of a tag of value since the load began, or 0.
	bumped uint64
	rec    *record[V] // the record of value, if it has one
	source Source     // of value
	lost   error      // why the remote could not be asked, if so
	// spare: value is that of old, in place of err.
	spare bool
	// asOf is the time up to which the remote is known to have had rec, when f was settled.
	asOf time.Duration

	*asking // nil without Options.Remote
}

// asking is what a flight knows of the remote. Its goroutine alone uses it, but for what the
// shard's lock guards.
type asking struct {
	text  string        // the key
	loads bool          // there is a loader
	bulk  bool          // for several keys at once, without leases
	since time.Duration // when it began, by the clock of the link
	// verify: the remote is asked for the version of what is held, and for the counters of its
	// tags, whatever is known of them.
	verify bool
	asked  bool
	alone  bool    // the remote is left out of this load
	cut    error   // why, if it could not be asked
	known  Version // of the record that was found wanting
	bare   bool    // there was none, or a tombstone
	// failures is how often the key has failed in a row, as the remote says.
	failures uint32
	token    uint64
	// counters are those of tags before the load began, at began.
	counters map[string]tagCounter
	began    time.Duration
	stored   atomic.Bool

	// Guarded by the shard's lock.
	writeID uint64 // of the store of the result
	touched bool   // since then
	waits   bool   // for wake
	// replaced: the notice of a write has come meanwhile
	replaced bool
	wake     chan struct{}
	// least is what was read of the key past this load, as by one that began before it. Who has
	// read that may wait for this one, of which the question may have been faster.
	least Version
}

// behind says whether v is not known to be at least as new as what those who wait for f may have
// read. The caller holds the shard's lock.
func (f *flight[K, V]) behind(v Version) bool {
	return f.asking != nil && f.least != (Version{}) && !v.covers(f.least)
}

// surpass has no read of k that begins from now on return less than v, which is read without being
// kept: what is held goes if it is not as new, and a load that runs is not answered with less, nor
// falls back on it. The caller holds mu.
func (c *Cache[K, V]) surpass(s *shard[K, V], k K, v Version) {
	if v.Epoch == 0 {
		return
	}
	if held, ok := c.store.Look(k); ok && held.behind(v) {
		c.store.Remove(k)
	}
	switch f := s.flights[k]; {
	case f == nil:
	case f.old.behind(v):
		s.detach(k)
	case v.newer(f.least):
		f.least = v
	}
}

// shards is the number of locks the keys are spread over. A power of two.
const shards = 64

// shard has the flights of some of the keys. Its lock comes before those of
// the store, and no code of the user runs under it.
type shard[K comparable, V any] struct {
	mu      sync.Mutex
	flights map[K]*flight[K, V]
	runs    map[K]*runs
	seen    Version // the latest of the frames for these keys
	touches uint64  // FrameTouched for one of the keys
	_       [8]byte // off its neighbour's cache line
}

func (c *Cache[K, V]) shard(k K) *shard[K, V] {
	return &c.shards[maphash.Comparable(c.seed, k)%shards]
}

// detach parts k from its running load. The caller holds mu.
func (s *shard[K, V]) detach(k K) {
	if f := s.flights[k]; f != nil {
		f.detached.Store(true)
		delete(s.flights, k)
	}
}

// saw notes a version that the remote gave out for one of the keys, and says whether a later one
// was seen before. The caller holds mu.
func (s *shard[K, V]) saw(v Version) (late bool) {
	late = s.seen.Epoch == v.Epoch && s.seen.Counter > v.Counter
	if !late {
		s.seen = v
	}
	return late
}

// begin joins the load of k or begins one. seen is the record the caller found
// wanting: if the store holds another by now, begin does nothing and returns
// nil, since a load that ended in between must not be repeated. A source that verifies
// joins none, as one that runs may have asked the remote before the read began.
func (c *Cache[K, V]) begin(ctx context.Context, k K, from source[K, V], seen *record[V]) (f *flight[K, V], joined bool, err error) {
	s := c.shard(k)
	s.mu.Lock()
	defer s.mu.Unlock()
	gen := c.gen.Load()
	if f := s.flights[k]; f != nil && f.gen == gen && !from.verify {
		return f, true, nil
	}
	if now, _ := c.store.Look(k); now != seen {
		return nil, false, nil
	}
	if gen == genClosed || !c.busy.begin() {
		return nil, false, ErrClosed
	}
	f = c.newFlight()
	f.key, f.gen, f.bumps, f.done = k, gen, c.tags.bumps.Load(), make(chan struct{})
	s.detach(k) // one of an earlier generation, or of before a read that verifies
	s.flights[k] = f
	if seen != nil && seen.exists(gen) && seen.state == stateValue && c.clock.Now() < seen.hard {
		f.old = seen
	}
	if c.remote == nil {
		c.n.loads.Add(1)
	} else {
		*f.asking = asking{loads: !from.none(), bulk: from.batch != nil, token: randomID(), since: c.link.now(), verify: from.verify}
	}
	switch {
	case from.batch != nil:
		from.batch.flights = append(from.batch.flights, f)
	case c.remote != nil:
		c.inquire(ctx, f, from)
	default:
		go c.fly(ctx, []*flight[K, V]{f}, c.caller(from), nil)
	}
	return f, false, nil
}

// newFlight makes a flight, with what it knows of the remote, if there is one, in one piece of
// memory.
func (c *Cache[K, V]) newFlight() *flight[K, V] {
	if c.remote == nil {
		return &flight[K, V]{cache: c}
	}
	both := &struct {
		flight flight[K, V]
		asking asking
	}{}
	both.flight.cache, both.flight.asking = c, &both.asking
	return &both.flight
}

// refresh begins the background load of k unless one runs or seen has been
// replaced.
func (c *Cache[K, V]) refresh(ctx context.Context, k K, from source[K, V], seen *record[V]) {
	if f, joined, err := c.begin(ctx, k, from, seen); err == nil && f != nil && !joined {
		c.n.refreshes.Add(1)
	}
}

// chain is the load a context belongs to, and the one that load was asked by.
type chain struct {
	flight any // *flight[K, V]
	parent *chain
}

type chainKey struct{}

// asksItself says whether ctx is that of a loader whose load waits for k: to
// load k with it would be to wait for oneself, or to recurse without end. A
// load that has ended does not count, so that a context that outlives its
// loader does no harm.
func (c *Cache[K, V]) asksItself(ctx context.Context, k K) bool {
	link, _ := ctx.Value(chainKey{}).(*chain)
	for ; link != nil; link = link.parent {
		f, ok := link.flight.(*flight[K, V])
		if !ok || f.cache != c || f.key != k {
			continue
		}
		select {
		case <-f.done:
		default:
			return true
		}
	}
	return false
}

// withFlights marks ctx as that of the loader of fs.
func withFlights[K comparable, V any](ctx context.Context, fs []*flight[K, V]) context.Context {
	link, _ := ctx.Value(chainKey{}).(*chain)
	for _, f := range fs {
		link = &chain{flight: f, parent: link}
	}
	return context.WithValue(ctx, chainKey{}, link)
}
