//go:build !race

package content

import (
	"strings"
	"testing"
)

// TestDrawingsAllocateNothingForEachOperator: large drawings are many operators of paths.
func TestDrawingsAllocateNothingForEachOperator(t *testing.T) {
	in := New(file{})
	run := func(n int) float64 {
		c := Content{Data: []byte(strings.Repeat("1 2 m 3 4 l 1 2 3 4 5 6 c f\n", n)), Matrix: Identity}
		return testing.AllocsPerRun(5, func() {
			if err := in.Again().Run(t.Context(), c, "here", func(*Event) error { return nil }); err != nil {
				t.Fatal(err)
			}
		})
	}
	if few, many := run(100), run(1100); many != few {
		t.Errorf("%v allocations for 400 operators, %v for 4400", few, many)
	}
}
