// Package kernels holds the pure pieces of work whose allocations, bytes and
// instructions the gate counts. A kernel does one operation on prepared inputs;
// it starts no goroutines and does not depend on the clock, so that its counts are exact.
package kernels

import (
	"fmt"
	"slices"
)

// Kernel is one gated piece of work.
type Kernel struct {
	Name string // library/what
	// N is the number of operations of the shorter run under valgrind: enough for
	// LeastInstructions.
	N int
	// Batch is the number of operations over which allocations are averaged; 0 is
	// 200.
	Batch int
	// Open prepares and returns the operation.
	Open func() (func() error, error)
}

// LeastInstructions is what the shorter run of a kernel executes at least. Starting a process costs
// some 200,000 instructions more or less by chance (where the heap lies, how pages are cleared, in
// which order tables are sorted), which must stay below a quarter of a percent.
const LeastInstructions = 80_000_000

// All returns every gated kernel.
func All() []Kernel {
	return slices.Concat(reference(), webKernels(), pdfKernels(), fetchKernels())
}

// Find returns the kernel of that name.
func Find(name string) (Kernel, error) {
	for _, k := range All() {
		if k.Name == name {
			return k, nil
		}
	}
	return Kernel{}, fmt.Errorf("no kernel %q", name)
}
