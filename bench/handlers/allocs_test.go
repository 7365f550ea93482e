package handlers_test

import (
	"testing"

	"example.com/quire/bench/handlers"
	"example.com/quire/bench/internal/harnesstest"
)

func TestAllocationsStayWithinTheirBounds(t *testing.T) {
	for row, most := range map[string]float64{
		"text": 0.1, "routes-100": 0.1, "groups": 0.1, "middleware-5": 0.1, // the memory of request ids is taken for many at once
		"params-text": 3.1, "query-text": 4.1, "json": 2.1, "ratelimit": 0.1,
	} {
		if got := harnesstest.Allocations(t, handlers.Suite(), row, "quire"); got > most {
			t.Errorf("%s: %.2f allocations, at most %.1f", row, got, most)
		}
	}
}
