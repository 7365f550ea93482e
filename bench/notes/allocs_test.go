//go:build !race

package notes

import (
	"testing"

	"example.com/quire/bench/workload"
)

// TestNotesTakeFewAllocations: a retail note takes at most 60, an HFT note at most one for each
// row.
func TestNotesTakeFewAllocations(t *testing.T) {
	e, err := newEngine(t.Context(), plain)
	if err != nil {
		t.Fatal(err)
	}
	for k, most := range map[workload.NoteKind]float64{workload.Retail: 60, workload.HFT: float64(workload.HFT.Trades())} {
		if err := e.warm(t.Context(), k); err != nil {
			t.Fatal(err)
		}
		const runs = 10
		ins, next := make([]input, runs+1), 0 // one more warms up
		for i := range ins {
			ins[i].fill(k, i)
			ins[i].out.Grow(1 << 20)
		}
		n := testing.AllocsPerRun(runs, func() {
			if err := e.produce(t.Context(), &ins[next]); err != nil {
				t.Error(err)
			}
			next++
		})
		if t.Logf("%s: %.0f allocations", k, n); n > most {
			t.Errorf("%s: %.0f allocations, want at most %.0f", k, n, most)
		}
	}
}
