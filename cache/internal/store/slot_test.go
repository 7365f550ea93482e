package store

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"weak"
)

// TestReadersOfWritesInPlaceNeverGoBack, nor do they miss a key that is never removed, whichever
// way its records follow each other: in their slot, or in a new one for a weight or a life that is
// another.
func TestReadersOfWritesInPlaceNeverGoBack(t *testing.T) {
	const keys, writes = 4, 4000
	s := open(t, 100_000, 0, NewClock(never))
	var last [keys]atomic.Int64 // put so far
	put := func(k, id int) {
		r := &rec{id: id, weight: 100, hard: far}
		switch id % 16 {
		case 5:
			r.weight = 101
		case 9:
			r.hard = far / 2
		case 13:
			r.hard = 2 * far
		}
		s.Put(k, r)
		last[k].Store(int64(id))
	}
	for k := range keys {
		put(k, 1)
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	var stop atomic.Bool
	defer stop.Store(true)
	for range 3 {
		wg.Go(func() {
			var least [keys]int64
			for i := 0; !stop.Load(); i++ {
				k := i % keys
				least[k] = max(least[k], last[k].Load())
				r, ok := s.Get(k)
				if i%3 == 0 {
					r, ok = s.Look(k)
				}
				if !ok || int64(r.id) < least[k] {
					t.Errorf("key %d: %v, %v after %d", k, r, ok, least[k])
					return
				}
				least[k] = int64(r.id)
			}
		})
	}
	var writers sync.WaitGroup
	for k := range keys {
		writers.Go(func() {
			for id := 2; id <= writes; id++ {
				put(k, id)
			}
		})
	}
	writers.Wait()
}

// TestWriteInPlaceIsNotRemovedWithWhatItReplaced: where RemoveIf finds that a record is out of use
// while another takes its place, the other one stays.
func TestWriteInPlaceIsNotRemovedWithWhatItReplaced(t *testing.T) {
	s := open(t, 100_000, 0, NewClock(never))
	put := func(id int) { s.Put(1, &rec{id: id, weight: 100, hard: far}) }
	put(1)
	put(2)
	removed := s.RemoveIf(1, func(r *rec) bool {
		if r.id == 2 {
			// A writer that found the slot before. It does not wait for the lock that RemoveIf
			// holds.
			put(3)
			return true
		}
		return false
	})
	if r, ok := s.Get(1); removed || !ok || r.id != 3 || lenOf(s) != 1 || bytesOf(s) != 100 {
		t.Errorf("removed: %v; %v, %v; %d records, %d bytes", removed, r, ok, lenOf(s), bytesOf(s))
	}
}

// TestWriteOfWhatIsRemovedIsThere, by writers that look for the slot while it is removed.
func TestWriteOfWhatIsRemovedIsThere(t *testing.T) {
	s := open(t, 100_000, 0, NewClock(never))
	for id := range 2000 {
		s.Put(1, &rec{id: -1, weight: 100, hard: far})
		s.Put(1, &rec{id: -1, weight: 100, hard: far})
		var wg sync.WaitGroup
		wg.Go(func() { s.RemoveIf(1, func(r *rec) bool { return r.id < 0 }) })
		s.Put(1, &rec{id: id, weight: 100, hard: far})
		wg.Wait()
		if r, ok := s.Get(1); !ok || r.id != id || lenOf(s) != 1 || bytesOf(s) != 100 {
			t.Fatalf("write %d: %v, %v; %d records, %d bytes", id, r, ok, lenOf(s), bytesOf(s))
		}
	}
}

// TestNoRecordIsFoundInTheSlotOfARemovedKey, though it was found before.
func TestNoRecordIsFoundInTheSlotOfARemovedKey(t *testing.T) {
	for name, remove := range map[string]func(*Store[int, rec]){
		"Remove":   func(s *Store[int, rec]) { s.Remove(1) },
		"RemoveIf": func(s *Store[int, rec]) { s.RemoveIf(1, func(*rec) bool { return true }) },
		// What was used twice outlives many that were used once: how many is chance, by which the
		// module defends itself against keys of one hash.
		"eviction": func(s *Store[int, rec]) {
			for i := 2; ; i++ {
				if _, there := s.Look(1); !there {
					return
				}
				s.Put(i, &rec{weight: 1000, hard: far})
				s.CleanUp()
			}
		},
	} {
		s := open(t, 4000, 0, NewClock(never))
		s.Put(1, &rec{weight: 100, hard: far})
		s.Put(1, &rec{weight: 100, hard: far})
		e, ok := s.o.GetEntry(1)
		if !ok {
			t.Fatal("there is no slot")
		}
		remove(s)
		if s.follows(e, &rec{weight: 100, hard: far}) {
			t.Errorf("%s: a record followed one that is not there any more", name)
		}
		if r := e.Value.load(); r != nil {
			t.Errorf("%s: %v is found in the slot", name, r)
		}
	}
}

// TestCopyOfARecordDoesNotKeepIt: what was replaced is memory that is free, also where each record
// was made from the one before it.
func TestCopyOfARecordDoesNotKeepIt(t *testing.T) {
	s := open(t, 100_000, 0, NewClock(never))
	var old []weak.Pointer[rec]
	s.Put(1, &rec{weight: 100, hard: far})
	for i := range 8 {
		r, _ := s.Get(1)
		old = append(old, weak.Make(r))
		next := *r
		next.weight += uint32(i % 4 / 3) // a new slot now and then
		s.Put(1, &next)
	}
	s.CleanUp()
	deadline := time.Now().Add(10 * time.Second)
	for i := 0; i < len(old); {
		if old[i].Value() == nil {
			i++
			continue
		}
		if time.Now().After(deadline) {
			t.Fatalf("record %d of %d is held", i, len(old))
		}
		runtime.GC()
	}
	if r, ok := s.Get(1); !ok || r.weight != 102 {
		t.Errorf("%v, %v", r, ok)
	}
}

// TestWriteInPlaceCountsAsAUse: what is written again and again stays, while others come and go.
func TestWriteInPlaceCountsAsAUse(t *testing.T) {
	s := open(t, 10_000, 0, NewClock(never))
	for i := range 5000 {
		s.Put(-1, &rec{weight: 100, hard: far})
		s.Put(i, &rec{weight: 100, hard: far})
		s.Trim()
		if i%16 == 0 {
			s.CleanUp()
		}
	}
	if _, ok := s.Look(-1); !ok || s.Evictions() == 0 {
		t.Errorf("it is gone; %d evictions", s.Evictions())
	}
}
