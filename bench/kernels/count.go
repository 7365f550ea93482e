package kernels

import (
	"fmt"
	"math"
	"runtime"
)

// Counts are allocations and bytes per operation, rounded down like
// testing.AllocsPerRun.
type Counts struct {
	Allocs int64 `json:"allocs"`
	Bytes  int64 `json:"bytes"`
}

const batches = 7

// Count runs a kernel and counts: the least of several batches, because the
// runtime allocates now and then on its own account. The process must have
// GOMAXPROCS=1 and GOGC=off.
func Count(name string) (Counts, error) {
	k, err := Find(name)
	if err != nil {
		return Counts{}, err
	}
	op, err := k.Open()
	if err != nil {
		return Counts{}, fmt.Errorf("%s: %w", name, err)
	}
	batch := k.Batch
	if batch == 0 {
		batch = 200
	}
	for range batch / 4 {
		if err := op(); err != nil {
			return Counts{}, fmt.Errorf("%s: %w", name, err)
		}
	}
	best := Counts{Allocs: math.MaxInt64, Bytes: math.MaxInt64}
	var before, after runtime.MemStats
	for range batches {
		runtime.ReadMemStats(&before)
		for range batch {
			if err := op(); err != nil {
				return Counts{}, fmt.Errorf("%s: %w", name, err)
			}
		}
		runtime.ReadMemStats(&after)
		best.Allocs = min(best.Allocs, int64((after.Mallocs-before.Mallocs))/int64(batch))     //nolint:gosec // far below 2^63
		best.Bytes = min(best.Bytes, int64((after.TotalAlloc-before.TotalAlloc))/int64(batch)) //nolint:gosec // far below 2^63
	}
	return best, nil
}

// Run does n operations and nothing else.
func Run(name string, n int) error {
	k, err := Find(name)
	if err != nil {
		return err
	}
	op, err := k.Open()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for range n {
		if err := op(); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}
