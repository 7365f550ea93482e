//go:build !race

package pdf_test

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"example.com/quire/pdf"
)

// TestParallelImagesStayWithinTheDecodeBudget: ten documents wait for each other's memory, which is
// given back. The race detector would be measured with it.
func TestParallelImagesStayWithinTheDecodeBudget(t *testing.T) {
	const side, budget, spare = 2000, 40 << 20, 64 << 20
	inUse := func() int64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapInuse) //nolint:gosec // far below
	}
	// What is measured is memory in use; without this half of it may be garbage.
	defer debug.SetGCPercent(debug.SetGCPercent(50))
	runtime.GC()
	before := inUse()
	done := make(chan struct{})
	go func() {
		defer close(done)
		renderInParallel(t, pdf.Config{DecodeBudget: budget}, side)
	}()
	var peak int64
	for running := true; running; {
		select {
		case <-done:
			running = false
		case <-time.After(time.Millisecond):
			peak = max(peak, inUse()-before)
		}
	}
	if peak > budget+spare {
		t.Errorf("the heap grew by %d bytes, more than the budget of %d and %d", peak, budget, spare)
	}
	runtime.GC()
	runtime.GC() // empties the pools
	if rest := inUse() - before; rest > 32<<20 {
		t.Errorf("%d bytes are kept", rest)
	}
	t.Logf("heap peak %d KiB above the start, budget %d KiB", peak>>10, budget>>10)
}
