package store

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
)

// TestReadsNeverGoBackWhateverTakesRecordsOut: writers that hold the lock of their key, as a cache
// does, replace records in all ways and remove some, while others are removed without that lock,
// evicted or at the end of their life. What a read finds is never older than what any read or write
// that ended before it has found, put or removed, a writer finds what it put or nothing, and the
// counts come to nothing with what is there.
func TestReadsNeverGoBackWhateverTakesRecordsOut(t *testing.T) {
	t.Run("by weight", func(t *testing.T) { testHistory(t, 6_000, 0) })
	t.Run("by number", func(t *testing.T) { testHistory(t, 0, 40) })
}

// oneKey is a key of testHistory.
type oneKey struct {
	mu    sync.Mutex // of writers
	last  int        // put, guarded by mu
	least atomic.Int64
}

// saw notes that no read that begins from now on may find less than id.
func (k *oneKey) saw(id int) {
	for {
		least := k.least.Load()
		if int64(id) <= least || k.least.CompareAndSwap(least, int64(id)) {
			return
		}
	}
}

func testHistory(t *testing.T, maxWeight int64, maxEntries int) {
	t.Helper()
	const keys, calls = 6, 5_000
	var now atomic.Int64
	now.Store(1)
	s := open(t, maxWeight, maxEntries, NewClock(now.Load))
	var all [keys]oneKey

	put := func(r *rand.Rand, at int) {
		k := &all[at]
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.last++; r.IntN(12) == 0 {
			s.Remove(at)
			k.saw(k.last)
			return
		}
		next := &rec{}
		if held, ok := s.Look(at); ok && r.IntN(2) == 0 {
			*next = *held // as of a record of which one field is to be another
		} else {
			next.weight, next.hard = 100, now.Load()+4000
			switch r.IntN(12) {
			case 0:
				next.weight = 140
			case 1:
				next.hard = now.Load() + 40
			case 2:
				next.hard += 4000
			}
		}
		next.id = k.last
		s.Put(at, next)
		k.saw(next.id)
		if held, ok := s.Look(at); ok && held != next {
			t.Errorf("key %d: %v after %v was put", at, held, next)
		}
	}
	remove := func(at int) {
		k, last := &all[at], 0
		if s.RemoveIf(at, func(r *rec) bool {
			last = r.id
			return r.id%3 == 0
		}) {
			k.saw(last + 1)
		}
	}

	var writers, readers sync.WaitGroup
	var stop atomic.Bool
	for w := range 3 {
		writers.Go(func() {
			r := rand.New(rand.NewPCG(7, uint64(w))) //nolint:gosec // G404: a test's history
			for i := range calls {
				switch at := r.IntN(keys); r.IntN(16) {
				case 0, 1:
					remove(at)
				case 2:
					now.Add(1 + r.Int64N(60))
				case 3, 4:
					// One of many that others have to make room for.
					s.Put(keys+w*calls+i, &rec{weight: 100, hard: now.Load() + 500})
				default:
					put(r, at)
				}
				s.Trim()
			}
		})
	}
	for range 2 {
		readers.Go(func() {
			for i := 0; !stop.Load() && !t.Failed(); i++ {
				at := i % keys
				look := s.Get
				if i%3 == 0 {
					look = s.Look
				}
				least := all[at].least.Load()
				r, ok := look(at)
				if !ok {
					continue
				}
				if int64(r.id) < least {
					t.Errorf("key %d: %v after %d", at, r, least)
				}
				all[at].saw(r.id)
			}
		})
	}
	writers.Wait()
	stop.Store(true)
	readers.Wait()

	if s.Evictions() == 0 || s.Expirations() == 0 {
		t.Errorf("%d evicted, %d expired", s.Evictions(), s.Expirations())
	}
	// Nothing is counted of which nothing is there. The store looks for what has ended once in a
	// while by its clock.
	now.Store(far)
	s.CleanUp()
	if entries, bytes := s.Held(); entries != 0 || bytes != 0 {
		t.Errorf("%d records of %d bytes are counted after the end of all", entries, bytes)
	}
}
