package arena

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestNumbersAreRead: as they were added, whatever their size, in the memory of lists before.
func TestNumbersAreRead(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // G404: test data
	var l Numbers
	for round := range 60 {
		want := make([]int64, r.IntN(1<<(round%17)))
		for i := range want {
			switch r.IntN(8) {
			case 0:
				want[i] = int64(r.Uint64()) >> r.IntN(64) //nolint:gosec // G115: any bits
			case 1:
				want[i] = [...]int64{math.MinInt64, math.MaxInt64, -64, 63, -65, 64}[r.IntN(6)]
			default:
				want[i] = int64(r.IntN(128) - 64)
			}
			l.Add(want[i])
		}
		from := &l
		if round%5 == 0 {
			taken := l.Take()
			from = &taken
			l.Add(1) // in the memory that is left
		}
		read := from.Reader()
		for i, v := range want {
			if !read.More() {
				t.Fatalf("round %d: %d numbers of %d", round, i, len(want))
			}
			if got := read.Next(); got != v {
				t.Fatalf("round %d: number %d is %d, want %d", round, i, got, v)
			}
		}
		if read.More() {
			t.Fatalf("round %d: more than %d numbers", round, len(want))
		}
		l.Reset()
		if len(l.kept) > keptBlocks || cap(l.full) > keptBlocks || cap(l.open) > blockBytes || len(l.full)+len(l.open) > 0 {
			t.Fatalf("round %d: %d blocks are kept", round, len(l.kept))
		}
	}
}
