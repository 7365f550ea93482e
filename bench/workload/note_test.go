package workload_test

import (
	"testing"

	"example.com/quire/bench/workload"
)

// TestNotesAreNewEachTime: no two notes of a kind have equal data, and the same number gives the
// same note.
func TestNotesAreNewEachTime(t *testing.T) {
	for k := range workload.NoteKinds {
		seen := map[string]bool{}
		for i := range 50 {
			a := string(workload.AppendNote(nil, k, i))
			if seen[a] || a != string(workload.AppendNote(nil, k, i)) {
				t.Fatalf("%v note %d", k, i)
			}
			seen[a] = true
		}
	}
}

// TestTheMixHasItsShares: 80, 15 and 5 percent of each twenty documents, in changing orders.
func TestTheMixHasItsShares(t *testing.T) {
	orders := map[[workload.MixLength]workload.NoteKind]bool{}
	for from := 0; from < 10*workload.MixLength; from += workload.MixLength {
		var of [workload.NoteKinds]int
		var order [workload.MixLength]workload.NoteKind
		for i := range order {
			order[i] = workload.MixKind(from + i)
			of[order[i]]++
		}
		if of != [workload.NoteKinds]int{16, 3, 1} {
			t.Errorf("documents from %d: %v", from, of)
		}
		orders[order] = true
	}
	if len(orders) < 9 {
		t.Errorf("%d orders in ten times", len(orders))
	}
}
