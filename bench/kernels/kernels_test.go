package kernels_test

import (
	"strings"
	"testing"

	"example.com/quire/bench/internal/gate"
	"example.com/quire/bench/kernels"
)

func TestEveryKernelRuns(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range kernels.All() {
		if seen[k.Name] || !strings.Contains(k.Name, "/") || k.N < 10 {
			t.Errorf("kernel %q: a unique library/what and a number of operations are needed", k.Name)
		}
		seen[k.Name] = true
		if err := kernels.Run(k.Name, 3); err != nil {
			t.Error(err)
		}
	}
	if err := kernels.Run("no/such", 1); err == nil {
		t.Error("a kernel that is not there ran")
	}
	if _, err := kernels.Count("no/such"); err == nil {
		t.Error("a kernel that is not there was counted")
	}
}

func TestCountOfTheReferenceKernel(t *testing.T) {
	c, err := kernels.Count("reference/sha256")
	if err != nil || c.Allocs != 1 || c.Bytes != 32 {
		t.Errorf("got %+v, %v; want one allocation of 32 bytes", c, err)
	}
}

// A count is the difference of two processes; in a short run what starting up costs by chance would
// look like a change.
func TestKernelsRunLongEnoughToBeCounted(t *testing.T) {
	base, err := gate.Load("../baseline")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range kernels.All() {
		if n := base.Kernels[k.Name].Instructions * float64(k.N); n < kernels.LeastInstructions {
			t.Errorf("kernel %s executes %.0f instructions in %d operations, want at least %d: raise its N", k.Name, n, k.N, kernels.LeastInstructions)
		}
	}
}
