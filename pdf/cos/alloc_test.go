//go:build !race

package cos_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
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

// TestStreamsThatDoNotShrinkAllocateOnce: what compression did not make shorter is compressed in
// the memory of what came before.
func TestStreamsThatDoNotShrinkAllocateOnce(t *testing.T) {
	data := make([]byte, 1<<20)
	_, _ = rand.NewChaCha8([32]byte{}).Read(data) // it never fails
	w := cos.NewWriter(io.Discard, cos.Options{})
	write := func() {
		if err := w.Stream(w.Reserve(), nil, data); err != nil {
			t.Fatal(err)
		}
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection would empty the pool of deflaters
	write()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 10 {
		write()
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
		t.Errorf("10 streams of 1 MiB allocate %d KiB", n>>10)
	}
}

// TestArenaLetsGoOfObjects: what is written is not held by what is made after it, however kinds and
// lengths of objects fall together.
func TestArenaLetsGoOfObjects(t *testing.T) {
	for _, entries := range []int{3, 7, 9} {
		w := cos.NewWriter(io.Discard, cos.Options{})
		put := func(n int) {
			a := w.Arena()
			for i := range n {
				action := append(a.Entries(2), cos.E("S", cos.Name("URI")), cos.E("URI", a.String("https://example.com/")))
				d := append(a.Entries(entries), cos.E("Rect", a.List(a.Fixed(int64(i)), a.Int(i))), cos.E("A", a.Dict(action)), cos.E("P", a.Ref(cos.Ref{Num: 1})))
				if err := w.Put(w.Reserve(), a.Dict(d)); err != nil {
					t.Fatal(err)
				}
			}
		}
		heap := func() int64 {
			runtime.GC()
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return int64(m.HeapAlloc) //nolint:gosec // G115: of a test
		}
		put(2_000)
		before := heap()
		put(20_000)
		grown := heap() - before
		runtime.KeepAlive(w)
		if grown > 1<<20 { // cross-reference data: eight bytes each
			t.Errorf("dictionaries of %d entries: 20,000 objects hold %d KiB", entries, grown>>10)
		}
	}
}
