//go:build !race

package origin

import "testing"

func TestOfAllocatesNothing(t *testing.T) {
	u := parse(t, "https://api.example:8443/items")
	if n := testing.AllocsPerRun(100, func() { _ = Of(u) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
