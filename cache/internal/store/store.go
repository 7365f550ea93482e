// Package store is the local store of a cache: a bounded concurrent map that
// decides by W-TinyLFU what to keep and drops every entry at its hard life.
//
// It is the one package that knows the third-party store. Nothing of that module
// shows in the signatures here, so that another store can take its place.
package store

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"
)

// Config says what a Store holds and for how long. Exactly one of MaxWeight
// and MaxEntries is positive.
type Config[K comparable, R any] struct {
	// MaxWeight bounds the sum of the weights.
	MaxWeight int64
	// MaxEntries bounds the number of entries.
	MaxEntries int
	// Weight gives the weight of a record, which must not change while the
	// record is held. It runs under a lock of the store and may not call it.
	Weight func(R) uint32
	// Hard gives the instant, in nanoseconds of Clock, from which on a record may be dropped. It runs
	// under a lock of the store and may not call it. A record that has replaced another may be found
	// for longer, by up to an eighth of its life: who looks for it compares.
	Hard func(R) int64
	// Clock is the time of the store. The caller stops it, after Close.
	Clock *Clock
}

// Store maps keys to records. All its methods may be called concurrently.
type Store[K comparable, R any] struct {
	o          *otter.Cache[K, R]
	weight     func(R) uint32
	maxWeight  int64
	maxEntries int64

	// Counted here and not asked of the module, whose own figures lag behind
	// its write buffer.
	bytes       atomic.Int64
	entries     atomic.Int64
	evictions   atomic.Uint64
	expirations atomic.Uint64
}

// slack keeps the module's own bound a little under ours. Eviction there is
// asynchronous; within the slack it runs in the background, and only a writer
// that overruns it pays for the clean-up itself (see Trim).
func slack(maximum int64) int64 { return maximum / 64 }

// New makes a store.
func New[K comparable, R any](c Config[K, R]) (*Store[K, R], error) {
	s := &Store[K, R]{weight: c.Weight, maxWeight: math.MaxInt64, maxEntries: math.MaxInt64}
	o := &otter.Options[K, R]{
		Clock: c.Clock.source(),
		ExpiryCalculator: otter.ExpiryWritingFunc(func(e otter.Entry[K, R]) time.Duration {
			return left(c.Hard(e.Value), e.ExpiresAtNano, e.SnapshotAtNano)
		}),
		OnAtomicDeletion: s.removed,
	}
	if c.MaxEntries > 0 {
		s.maxEntries = int64(c.MaxEntries)
		o.MaximumSize = c.MaxEntries - int(slack(int64(c.MaxEntries)))
	} else {
		s.maxWeight = c.MaxWeight
		o.MaximumWeight = uint64(max(c.MaxWeight-slack(c.MaxWeight), 1))
		o.Weigher = func(_ K, r R) uint32 { return s.weight(r) }
	}
	m, err := otter.New(o)
	if err != nil {
		return nil, err
	}
	s.o = m
	return s, nil
}

// left is how long a record is kept from now on that is to be dropped at hard and replaces one that was to
// be dropped at held. The module replaces in place only what then ends no earlier; otherwise it makes a new
// entry, and a task for its queues and its timer. Lives that are shortened by chance would pay for that at every second
// write, so one that ends a little earlier keeps the instant that is there.
func left(hard, held, now int64) time.Duration {
	life := max(hard-now, 1)
	if more := held - hard; more > 0 && more <= life/8 {
		life += more
	}
	return time.Duration(life)
}

// removed runs in the atomic step that takes a record out of the map, be it by
// removal, replacement, eviction or expiry.
func (s *Store[K, R]) removed(e otter.DeletionEvent[K, R]) {
	s.entries.Add(-1)
	s.bytes.Add(-int64(s.weight(e.Value)))
	switch e.Cause {
	case otter.CauseOverflow:
		s.evictions.Add(1)
	case otter.CauseExpiration:
		s.expirations.Add(1)
	case otter.CauseInvalidation, otter.CauseReplacement:
	}
}

// Get returns the record of k and counts as a use of it. It does not allocate
// and does not keep k.
func (s *Store[K, R]) Get(k K) (R, bool) { return s.o.GetIfPresent(k) }

// Look is Get without counting as a use.
func (s *Store[K, R]) Look(k K) (R, bool) {
	e, ok := s.o.GetEntryQuietly(k)
	return e.Value, ok
}

// Put holds r under k. Call Trim afterwards, outside of any lock.
func (s *Store[K, R]) Put(k K, r R) {
	// Added before the record can be taken out again.
	s.bytes.Add(int64(s.weight(r)))
	s.entries.Add(1)
	s.o.Set(k, r)
}

// Remove drops k.
func (s *Store[K, R]) Remove(k K) { s.o.Invalidate(k) }

// RemoveIf drops k if its record satisfies dead, in one atomic step, and says whether it did. dead
// may not call the store.
func (s *Store[K, R]) RemoveIf(k K, dead func(R) bool) (removed bool) {
	s.o.ComputeIfPresent(k, func(r R) (R, otter.ComputeOp) {
		if removed = dead(r); removed {
			return r, otter.InvalidateOp
		}
		return r, otter.CancelOp
	})
	return removed
}

// Range calls f for every record until f returns false. Records written during
// the walk may or may not be seen.
func (s *Store[K, R]) Range(f func(K, R) bool) { s.o.All()(f) }

// Trim evicts until the store is within its bound. It costs nothing as long as
// background eviction keeps up, and makes the bound hold whenever no writer is
// between Put and Trim.
func (s *Store[K, R]) Trim() {
	for range 4 {
		if s.bytes.Load() <= s.maxWeight && s.entries.Load() <= s.maxEntries {
			return
		}
		s.o.CleanUp()
	}
}

// CleanUp does all pending maintenance now: eviction and expiry.
func (s *Store[K, R]) CleanUp() { s.o.CleanUp() }

// Held is the number of records held at this moment and the sum of their
// weights, expired ones included until they are taken out. While others write,
// the sum may be of more records than the number, never of fewer: a record's
// weight is counted before it and discounted after it.
func (s *Store[K, R]) Held() (entries, bytes int64) {
	for {
		entries, bytes = s.entries.Load(), s.bytes.Load()
		if s.entries.Load() == entries {
			return entries, bytes
		}
	}
}

// Evictions is the number of records dropped for lack of room so far.
func (s *Store[K, R]) Evictions() uint64 { return s.evictions.Load() }

// Expirations is the number of records dropped at their hard life so far.
func (s *Store[K, R]) Expirations() uint64 { return s.expirations.Load() }

// Close drops all records and ends the store's goroutine. A write that comes
// later is harmless.
func (s *Store[K, R]) Close() {
	s.o.InvalidateAll()
	s.o.StopAllGoroutines()
}
