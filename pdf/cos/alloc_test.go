//go:build !race

package cos_test

import (
	"io"
	"testing"

	"example.com/quire/pdf/cos"
)

// TestAllocations: objects that are encoded by the caller cost none.
func TestAllocations(t *testing.T) {
	w := cos.NewWriter(io.Discard, cos.Options{})
	first := w.ReserveN(200_000)
	body := []byte("<</Type/StructElem/S/TD/P 12 0 R/K 3>>")
	i := 0
	n := testing.AllocsPerRun(100, func() {
		for range 1000 {
			if err := w.PutRaw(first.Plus(i), body); err != nil {
				t.Fatal(err)
			}
			i++
		}
	})
	if n > 40 { // dictionaries of five object streams
		t.Errorf("1,000 objects cost %v allocations", n)
	}
}
