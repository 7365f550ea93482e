//go:build !race

package image_test

import (
	"runtime"
	"testing"
	"time"

	"example.com/quire/pdf/internal/diag"
)

// TestImagesAreReadRowByRow: what is allocated at any time is rows, not the image.
func TestImagesAreReadRowByRow(t *testing.T) {
	data := deepPNG(3000)
	if len(data) > 1<<20 {
		t.Fatalf("the file has %d bytes", len(data))
	}
	s := newStore(1<<20, 0)
	peak := heapPeak(func() {
		if _, err := s.Session(diag.Limits{}).Open(t.Context(), data); err != nil {
			t.Error(err)
		}
	})
	if peak > 32<<20 {
		t.Errorf("the heap grew by %d bytes for an image of 36 MB", peak)
	}
}

// heapPeak returns by how much the heap grew while f ran, at most.
func heapPeak(f func()) int64 {
	read := func() int64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapInuse) //nolint:gosec // far below
	}
	runtime.GC()
	before, peak := read(), int64(0)
	done := make(chan struct{})
	go func() { f(); close(done) }()
	for {
		select {
		case <-done:
			return max(peak, read()-before)
		case <-time.After(time.Millisecond):
			peak = max(peak, read()-before)
		}
	}
}
