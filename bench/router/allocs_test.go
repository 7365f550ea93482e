package router_test

import (
	"testing"

	"example.com/quire/bench/internal/harnesstest"
	"example.com/quire/bench/router"
)

func TestLookupsAllocateNothing(t *testing.T) {
	for _, suite := range router.Suites() {
		for _, row := range suite.Rows {
			// Beside the look-up an App takes memory for many request ids at once.
			if got := harnesstest.Allocations(t, suite, row.Name, "quire"); got > 0.1 {
				t.Errorf("%s/%s: %.2f allocations", suite.Name, row.Name, got)
			}
		}
	}
}
