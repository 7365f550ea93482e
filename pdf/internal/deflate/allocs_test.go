//go:build !race

package deflate_test

import (
	"io"
	"testing"

	"example.com/quire/pdf/internal/deflate"
)

// TestStreamsAllocateNothing once a compressor is warm and there is room for the output.
func TestStreamsAllocateNothing(t *testing.T) {
	all := sources(t)
	var w deflate.Writer
	var out []byte
	for _, name := range []string{"nothing", "a page", "pages", "noise", "objects"} {
		src := all[name]
		if n := testing.AllocsPerRun(10, func() { out = w.Append(out[:0], src, nil, nil) }); n > 0 {
			t.Errorf("%s: %v allocations of Append", name, n)
		}
		if n := testing.AllocsPerRun(10, func() {
			w.Reset(io.Discard)
			_, _ = w.Write(src)
			_ = w.Close()
		}); n > 0 {
			t.Errorf("%s: %v allocations of a writer", name, n)
		}
	}
}
