// Package store is the local store of a cache: a bounded concurrent map that decides by W-TinyLFU
// what to keep and drops every entry at the end of its hard lifetime.
//
// It is the one package that knows the third-party store. Nothing of that module
// shows in the signatures here, so that another store can take its place.
package store

import (
	"math"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/maypok86/otter/v2"
)

// Slot is where the store finds a record of type T. A record has one in itself, for the store
// alone, in which it is found for as long as it is the only one there was for its key. From the
// second on the records of a key follow each other in a slot of their own. The zero value is ready.
type Slot[T any] struct {
	// now is a *T: the record, nil once the key was removed. That in a record itself never changes
	// while the record can be found, so that a record may be copied at any time.
	now unsafe.Pointer
}

func (s *Slot[T]) load() *T { return (*T)(atomic.LoadPointer(&s.now)) }

func (s *Slot[T]) swap(old, r *T) bool {
	return atomic.CompareAndSwapPointer(&s.now, unsafe.Pointer(old), unsafe.Pointer(r)) //nolint:gosec // G103: both are *T
}

// Config says what a Store holds and for how long. Exactly one of MaxWeight
// and MaxEntries is positive.
type Config[K comparable, T any] struct {
	// MaxWeight bounds the sum of the weights.
	MaxWeight int64
	// MaxEntries bounds the number of entries.
	MaxEntries int
	// Slot gives the slot in a record. It must be a pure function of the address.
	Slot func(*T) *Slot[T]
	// Weight gives the weight of a record, which must not change while the
	// record is held. It runs under a lock of the store and may not call it.
	Weight func(*T) uint32
	// Hard gives the instant, in nanoseconds of Clock, from which on a record may be dropped. It
	// runs under a lock of the store and may not call it. A record that has replaced another may be
	// found for longer, by up to an eighth of its life: who looks for it compares.
	Hard func(*T) int64
	// Clock is the time of the store. The caller stops it, after Close.
	Clock *Clock
}

// Store maps keys to records. All its methods may be called concurrently.
type Store[K comparable, T any] struct {
	o          *otter.Cache[K, *Slot[T]]
	slot       func(*T) *Slot[T]
	weight     func(*T) uint32
	hard       func(*T) int64
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
func New[K comparable, T any](c Config[K, T]) (*Store[K, T], error) {
	s := &Store[K, T]{slot: c.Slot, weight: c.Weight, hard: c.Hard, maxWeight: math.MaxInt64, maxEntries: math.MaxInt64}
	o := &otter.Options[K, *Slot[T]]{
		Clock: c.Clock.source(),
		ExpiryCalculator: otter.ExpiryWritingFunc(func(e otter.Entry[K, *Slot[T]]) time.Duration {
			return left(s.hard(e.Value.load()), e.ExpiresAtNano, e.SnapshotAtNano)
		}),
		OnAtomicDeletion: s.removed,
	}
	if c.MaxEntries > 0 {
		s.maxEntries = int64(c.MaxEntries)
		o.MaximumSize = c.MaxEntries - int(slack(int64(c.MaxEntries)))
	} else {
		s.maxWeight = c.MaxWeight
		o.MaximumWeight = uint64(max(c.MaxWeight-slack(c.MaxWeight), 1))
		o.Weigher = func(_ K, at *Slot[T]) uint32 { return s.weight(at.load()) }
	}
	m, err := otter.New(o)
	if err != nil {
		return nil, err
	}
	s.o = m
	return s, nil
}

// left is how long the module keeps a record from now on that is to be dropped at hard; held is
// until when it keeps the one that is replaced, or beyond all lives. The instant that is there
// stays if it is a little later: to make it earlier the module has to make a new entry, and lives
// that are shortened by chance would pay for that at every second write. Where it has to be later
// it is made so with something to spare, so that the next writes leave it as it is (see Put).
func left(hard, held, now int64) time.Duration {
	life := max(hard-now, 1)
	switch more := held - hard; {
	case more < 0:
		life += life / 32
	case more <= life/8:
		life += more
	}
	return time.Duration(life)
}

// removed runs in the atomic step that takes a slot out of the map, be it by
// removal, replacement, eviction or expiry.
func (s *Store[K, T]) removed(e otter.DeletionEvent[K, *Slot[T]]) {
	r := e.Value.load()
	if e.Cause != otter.CauseReplacement {
		// Whoever is about to follow r with another record finds that the slot is not in use any
		// more. Where one slot is replaced by another this must not be: between the two a reader
		// would find nothing.
		for r != nil && !s.alone(e.Value, r) && !e.Value.swap(r, nil) {
			r = e.Value.load()
		}
	}
	if r != nil {
		s.discount(r)
	}
	switch e.Cause {
	case otter.CauseOverflow:
		s.evictions.Add(1)
	case otter.CauseExpiration:
		s.expirations.Add(1)
	case otter.CauseInvalidation, otter.CauseReplacement:
	}
}

// alone says whether at is the slot in r itself.
func (s *Store[K, T]) alone(at *Slot[T], r *T) bool { return s.slot(r) == at }

func (s *Store[K, T]) discount(r *T) {
	s.entries.Add(-1)
	s.bytes.Add(-int64(s.weight(r)))
}

// Get returns the record of k and counts as a use of it. It does not allocate
// and does not keep k.
func (s *Store[K, T]) Get(k K) (*T, bool) {
	at, ok := s.o.GetIfPresent(k)
	if !ok {
		return nil, false
	}
	r := at.load()
	return r, r != nil
}

// Look is Get without counting as a use.
func (s *Store[K, T]) Look(k K) (*T, bool) {
	e, ok := s.o.GetEntryQuietly(k)
	if !ok {
		return nil, false
	}
	r := e.Value.load()
	return r, r != nil
}

// Put holds r under k. r was not put before and is found by nobody else. Call Trim afterwards,
// outside of any lock.
//
// A record that takes as much room as the one before it, and is to be dropped a little earlier than
// the module will do it, takes its place in the slot, and the module sees no more than a use of the
// key. All others are writes of the module.
func (s *Store[K, T]) Put(k K, r *T) {
	at := s.slot(r)
	if e, ok := s.o.GetEntry(k); ok {
		at.now = nil // a copy has that of the record that it was made of
		if s.follows(e, r) {
			return
		}
		at = new(Slot[T])
	}
	at.now = unsafe.Pointer(r) //nolint:gosec // G103: a *T
	// Added before the record can be taken out again.
	s.bytes.Add(int64(s.weight(r)))
	s.entries.Add(1)
	s.o.Set(k, at)
}

// follows lets r take the place of the record in the slot of e, if it may.
//
// A reader that has found the slot reads it afterwards. What it then gets was the record of the key
// at some instant in between: when it had found the slot or later, as a slot that is not in use any
// more has the last of its records, or none if the key was removed.
func (s *Store[K, T]) follows(e otter.Entry[K, *Slot[T]], r *T) bool {
	hard, weight := s.hard(r), s.weight(r)
	if more := e.ExpiresAtNano - hard; more < 0 || more > (hard-e.SnapshotAtNano)/8 {
		return false
	}
	if s.maxEntries == math.MaxInt64 && e.Weight != weight {
		return false
	}
	for {
		old := e.Value.load()
		if old == nil || s.alone(e.Value, old) || s.maxEntries != math.MaxInt64 && s.weight(old) != weight {
			return false
		}
		if e.Value.swap(old, r) {
			return true
		}
	}
}

// Remove drops k.
func (s *Store[K, T]) Remove(k K) { s.o.Invalidate(k) }

// RemoveIf drops k if its record satisfies dead, in one atomic step, and says whether it did. dead
// may not call the store.
func (s *Store[K, T]) RemoveIf(k K, dead func(*T) bool) (removed bool) {
	s.o.ComputeIfPresent(k, func(at *Slot[T]) (*Slot[T], otter.ComputeOp) {
		for {
			switch r := at.load(); {
			case r == nil || !dead(r):
				return at, otter.CancelOp
			case s.alone(at, r):
				removed = true
				return at, otter.InvalidateOp
			case at.swap(r, nil):
				s.discount(r)
				removed = true
				return at, otter.InvalidateOp
			}
		}
	})
	return removed
}

// Range calls f for every record until f returns false. Records written during
// the walk may or may not be seen.
func (s *Store[K, T]) Range(f func(K, *T) bool) {
	s.o.All()(func(k K, at *Slot[T]) bool {
		r := at.load()
		return r == nil || f(k, r)
	})
}

// Trim evicts until the store is within its bound. It costs nothing as long as
// background eviction keeps up, and makes the bound hold whenever no writer is
// between Put and Trim.
func (s *Store[K, T]) Trim() {
	for range 4 {
		if s.bytes.Load() <= s.maxWeight && s.entries.Load() <= s.maxEntries {
			return
		}
		s.o.CleanUp()
	}
}

// CleanUp does all pending maintenance now: eviction and expiry.
func (s *Store[K, T]) CleanUp() { s.o.CleanUp() }

// Held is the number of records held at this moment and the sum of their
// weights, expired ones included until they are taken out. While others write,
// the sum may be of more records than the number, never of fewer: a record's
// weight is counted before it and discounted after it.
func (s *Store[K, T]) Held() (entries, bytes int64) {
	for {
		entries, bytes = s.entries.Load(), s.bytes.Load()
		if s.entries.Load() == entries {
			return entries, bytes
		}
	}
}

// Evictions is the number of records dropped for lack of room so far.
func (s *Store[K, T]) Evictions() uint64 { return s.evictions.Load() }

// Expirations is the number of records dropped at their hard life so far.
func (s *Store[K, T]) Expirations() uint64 { return s.expirations.Load() }

// Close drops all records and ends the store's goroutine. A write that comes
// later is harmless.
func (s *Store[K, T]) Close() {
	s.o.InvalidateAll()
	s.o.StopAllGoroutines()
}
