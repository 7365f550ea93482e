//go:build !race

package store

import "testing"

// TestReplacementInPlaceAllocatesNothing though every other record is to be dropped a little
// earlier than that before it.
func TestReplacementInPlaceAllocatesNothing(t *testing.T) {
	s := open(t, 10_000, 0, NewClock(never))
	recs := []*rec{{weight: 100, hard: far}, {weight: 100, hard: far - far/10}}
	s.Put(1, recs[0])
	i := 0
	if n := testing.AllocsPerRun(1000, func() {
		i++
		s.Put(1, recs[i%2])
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
	if r, ok := s.Get(1); !ok || r != recs[i%2] || lenOf(s) != 1 || bytesOf(s) != 100 {
		t.Errorf("not the last record: %v, %v, %d bytes", r, ok, bytesOf(s))
	}
}
