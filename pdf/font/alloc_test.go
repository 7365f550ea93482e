//go:build !race

package font_test

import (
	"testing"

	quire "example.com/quire/pdf/font"
)

// TestCacheHitAllocations: a hit costs the glyph set and the hashed bytes.
func TestCacheHitAllocations(t *testing.T) {
	c := quire.NewCache(1<<20, nil)
	u := draw(t, parse(t, embedded[0].data), "Meyer")
	n := testing.AllocsPerRun(100, func() {
		if _, err := c.Subset(u, false); err != nil {
			t.Fatal(err)
		}
	})
	if n > 3 {
		t.Errorf("a hit costs %v allocations", n)
	}
	f := u.Face()
	if n := testing.AllocsPerRun(100, func() {
		for _, r := range "Meyer € → fi" {
			u.AddRune(f.GlyphIndex(r), r)
		}
	}); n != 0 {
		t.Errorf("known glyphs cost %v allocations", n)
	}
}
