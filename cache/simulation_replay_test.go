package cache_test

import (
	"fmt"
	"strings"
	"testing"

	"example.com/quire/cache/cachetest"
)

// TestSimulationIsReplayedFromItsNumber: the same number, the same history, to the byte; another,
// another.
func TestSimulationIsReplayedFromItsNumber(t *testing.T) {
	seen := map[string]uint64{}
	for seed := range number(t, "QUIRE_RUNS", 2) {
		first := told(simulate(t, seed))
		if other, again := seen[first]; again {
			t.Fatalf("one history of the numbers %d and %d", other, seed)
		}
		seen[first] = seed
		for range 2 {
			if again := told(simulate(t, seed)); again != first {
				a, b := strings.Split(first, "\n"), strings.Split(again, "\n")
				i := 0
				for i < min(len(a), len(b))-1 && a[i] == b[i] {
					i++
				}
				t.Fatalf("seed %d: call %d of %d is\n%s\nand of %d, when it is run again,\n%s", seed, i, len(a), a[i], len(b), b[i])
			}
		}
	}
}

// told is a history as text, without what is drawn at random to be a name.
func told(ops []cachetest.Op) string {
	var b strings.Builder
	for _, o := range ops {
		o.Version.Epoch, o.Version.WriteID = 0, 0
		type all cachetest.Op // without its String
		fmt.Fprintf(&b, "%+v\n", all(o))
	}
	return b.String()
}
