//go:build !race

package cos_test

import (
	"bytes"
	"io"
	"runtime"
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

// TestResetLetsGoOfALargeObject: a writer that is used again holds no more than one that is new.
func TestResetLetsGoOfALargeObject(t *testing.T) {
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc) //nolint:gosec // G115: a size
	}
	w := cos.NewWriter(io.Discard, cos.Options{})
	before := heap()
	if err := w.PutDirect(w.Reserve(), cos.Raw(bytes.Repeat([]byte{'['}, 16<<20))); err != nil {
		t.Fatal(err)
	}
	w.Reset(io.Discard, cos.Options{})
	if rest := heap() - before; rest > 4<<20 {
		t.Errorf("%d KiB are kept", rest>>10)
	}
	runtime.KeepAlive(w)
}
