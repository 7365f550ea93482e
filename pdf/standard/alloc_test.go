//go:build !race

package standard_test

import (
	"runtime"
	"testing"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/internal/tag"
	"example.com/quire/pdf/standard"
)

// TestJudgeMemoryDoesNotGrow: a million faults take no more memory than twenty.
func TestJudgeMemoryDoesNotGrow(t *testing.T) {
	j := standard.NewJudge([]standard.ID{standard.PDFUA2}, cos.V20)
	op, e := []byte("Tj"), &tag.Elem{Type: tag.Figure}
	judge := func(n int) {
		for i := range n {
			j.Content(cos.Ref{Num: uint32(i + 1)}, op, nil)
			j.Elem(e)
		}
	}
	judge(100)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	judge(1 << 19)
	runtime.GC()
	runtime.ReadMemStats(&after)
	if after.HeapAlloc > before.HeapAlloc+64<<10 {
		t.Errorf("the heap grew from %d to %d bytes", before.HeapAlloc, after.HeapAlloc)
	}
	if n := len(j.Finish(cos.Trailer{})); n != 20 {
		t.Errorf("%d findings", n)
	}
}
