//go:build !race

package hyph

import "testing"

func TestPointsDoNotAllocate(t *testing.T) {
	l := New().Language("de")
	dst := make([]int, 0, 16)
	if n := testing.AllocsPerRun(100, func() { dst = l.Points(dst[:0], "Silbentrennungsverfahren") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
