//go:build !race

package svg_test

import (
	"testing"

	"example.com/quire/pdf/internal/diag"
)

// TestAKeptDrawingAllocatesNothing beyond what looks it up.
func TestAKeptDrawingAllocatesNothing(t *testing.T) {
	s, file, f := newStore(1<<20), []byte(wrap(`<path d="M1 2L30 40L5 60z"/>`)), fonts(t)
	if n := testing.AllocsPerRun(100, func() {
		if _, err := s.Draw(t.Context(), file, diag.Limits{}, f); err != nil {
			t.Error(err)
		}
	}); n > 3 {
		t.Errorf("%v allocations", n)
	}
}
