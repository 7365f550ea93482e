//go:build !race

package text_test

import (
	"testing"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/text"
)

// TestCachedWordDoesNotAllocate: V11.
func TestCachedWordDoesNotAllocate(t *testing.T) {
	ts := typesetter(t, 1<<20)
	s := text.NewSetter(t.Context(), ts)
	p := piece(t, ts, "settlement")
	set := func() {
		if _, err := s.Set(p, 200*doc.Pt, doc.AlignLeft); err != nil {
			t.Fatal(err)
		}
	}
	set()
	if n := testing.AllocsPerRun(200, set); n >= 1 {
		t.Errorf("%.2f allocations", n)
	}
}
