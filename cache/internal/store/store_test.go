package store

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func bytesOf[K comparable, T any](s *Store[K, T]) int64 { _, bytes := s.Held(); return bytes }

func lenOf[K comparable, T any](s *Store[K, T]) int64 { entries, _ := s.Held(); return entries }

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type rec struct {
	slot   Slot[rec]
	id     int
	weight uint32
	hard   int64
}

func open(t *testing.T, maxWeight int64, maxEntries int, c *Clock) *Store[int, rec] {
	t.Helper()
	s, err := New(Config[int, rec]{
		MaxWeight: maxWeight, MaxEntries: maxEntries, Clock: c,
		Slot:   func(r *rec) *Slot[rec] { return &r.slot },
		Weight: func(r *rec) uint32 { return r.weight }, Hard: func(r *rec) int64 { return r.hard },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		c.Stop()
	})
	return s
}

// pass lets d of the bubble's time go by.
func pass(d time.Duration) { <-time.After(d) }

func never() int64 { return 1 }

const far = int64(time.Hour)

// TestBytesAreWhatRangeSees after a storm of every kind of change.
func TestBytesAreWhatRangeSees(t *testing.T) {
	var now atomic.Int64
	s := open(t, 100_000, 0, NewClock(now.Load))
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(w))) //nolint:gosec // G404: a test's history
			for i := range 5000 {
				k := r.IntN(300)
				switch r.IntN(6) {
				case 0:
					s.Remove(k)
				case 1:
					s.RemoveIf(k, func(x *rec) bool { return x.id%2 == 0 })
				case 2:
					now.Add(1)
				default:
					s.Put(k, &rec{id: i, weight: uint32(64 + r.IntN(2000)), hard: now.Load() + int64(1+r.IntN(1000))}) //nolint:gosec // G115: small
					s.Trim()
				}
			}
		})
	}
	wg.Wait()
	s.CleanUp()
	bytes, n := int64(0), int64(0)
	s.Range(func(_ int, r *rec) bool {
		bytes += int64(r.weight)
		n++
		return true
	})
	// The timer wheel of the store is coarser than its clock: an expired
	// record may still be held, but is not seen.
	if bytesOf(s) < bytes || lenOf(s) < n || bytesOf(s) > 100_000 {
		t.Fatalf("told %d in %d, seen %d in %d", bytesOf(s), lenOf(s), bytes, n)
	}
	now.Add(far)
	for k := range 300 {
		s.Remove(k)
	}
	if bytesOf(s) != 0 || lenOf(s) != 0 {
		t.Fatalf("%d bytes in %d records left of nothing", bytesOf(s), lenOf(s))
	}
}

// TestHeldIsOfOneMoment: no count of records goes with the weight of fewer, though expiry runs
// in another goroutine.
func TestHeldIsOfOneMoment(t *testing.T) {
	s := open(t, 100_000, 0, NewClock(never))
	var wg sync.WaitGroup
	defer wg.Wait()
	stop := make(chan struct{})
	defer close(stop)
	wg.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			s.Put(i%8, &rec{weight: 100, hard: far})
			s.Remove(i % 8)
		}
	})
	for range 200_000 {
		if entries, bytes := s.Held(); bytes < 100*entries {
			t.Fatalf("%d bytes in %d records", bytes, entries)
		}
	}
}

func TestBounds(t *testing.T) {
	for _, tc := range []struct {
		name       string
		maxWeight  int64
		maxEntries int
	}{{"weight", 10_000, 0}, {"entries", 0, 100}, {"one entry", 0, 1}} {
		t.Run(tc.name, func(t *testing.T) {
			s := open(t, tc.maxWeight, tc.maxEntries, NewClock(never))
			for i := range 2000 {
				s.Put(i, &rec{weight: 100, hard: far})
				s.Trim()
				if tc.maxWeight > 0 && bytesOf(s) > tc.maxWeight || tc.maxEntries > 0 && lenOf(s) > int64(tc.maxEntries) {
					t.Fatalf("%d bytes in %d records", bytesOf(s), lenOf(s))
				}
			}
			s.CleanUp() // eviction to below the slack may be under way
			if lenOf(s) == 0 || s.Evictions()+uint64(len(seen(s))) != 2000 || bytesOf(s) != 100*lenOf(s) {
				t.Fatalf("%d bytes in %d records, %d evicted", bytesOf(s), lenOf(s), s.Evictions())
			}
		})
	}
}

// TestHardLife: a record is not seen from its hard life on, is replaced like
// an absent one, and leaves by itself.
func TestHardLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCoarse(5 * time.Millisecond)
		s := open(t, 10_000, 0, c)
		start := c.Now()
		s.Put(1, &rec{weight: 100, hard: start + int64(time.Second)})
		s.Put(2, &rec{weight: 100, hard: start + int64(time.Minute)})
		pass(900 * time.Millisecond)
		if _, ok := s.Get(1); !ok {
			t.Fatal("gone too early")
		}
		pass(110 * time.Millisecond)
		if _, ok := s.Get(1); ok {
			t.Fatal("there after its hard life")
		}
		if _, ok := s.Look(1); ok {
			t.Fatal("there after its hard life")
		}
		pass(10 * time.Second)
		synctest.Wait()
		if _, ok := s.Look(2); !ok || lenOf(s) != 1 || s.Expirations() != 1 || bytesOf(s) != 100 {
			t.Fatalf("%d records, %d expired", lenOf(s), s.Expirations())
		}
		s.Close()
		c.Stop()
		if c.Now() < start+int64(10*time.Second) {
			t.Fatal("a stopped clock stands still")
		}
	})
}

// TestReplacementOfMuchShorterLifeIsDroppedAtItsEnd, and one of a little shorter life not much
// later.
func TestReplacementOfMuchShorterLifeIsDroppedAtItsEnd(t *testing.T) {
	for _, tc := range []struct{ hard, there, gone time.Duration }{
		{50 * time.Minute, 49 * time.Minute, 50 * time.Minute},
		{55 * time.Minute, 54 * time.Minute, time.Hour},
		{61 * time.Minute, 61*time.Minute - 1, 63 * time.Minute},
	} {
		var now atomic.Int64
		s := open(t, 10_000, 0, NewClock(now.Load))
		s.Put(1, &rec{weight: 100, hard: far})
		s.Put(1, &rec{id: 2, weight: 100, hard: int64(tc.hard)})
		now.Store(int64(tc.there))
		if r, ok := s.Get(1); !ok || r.id != 2 {
			t.Errorf("life of %v: gone after %v", tc.hard, tc.there)
		}
		now.Store(int64(tc.gone))
		if _, ok := s.Get(1); ok {
			t.Errorf("life of %v: there after %v", tc.hard, tc.gone)
		}
	}
}

func TestRemoveIf(t *testing.T) {
	s := open(t, 10_000, 0, NewClock(never))
	s.Put(1, &rec{id: 1, weight: 64, hard: far})
	s.RemoveIf(1, func(r *rec) bool { return r.id == 2 })
	s.RemoveIf(2, func(*rec) bool { return true })
	if r, ok := s.Get(1); !ok || r.id != 1 {
		t.Fatal("removed the wrong one")
	}
	s.RemoveIf(1, func(r *rec) bool { return r.id == 1 })
	if _, ok := s.Get(1); ok || bytesOf(s) != 0 {
		t.Fatal("not removed")
	}
}

// seen lists the keys a walk finds.
func seen(s *Store[int, rec]) []int {
	var ks []int
	s.Range(func(k int, _ *rec) bool {
		ks = append(ks, k)
		return true
	})
	return ks
}
