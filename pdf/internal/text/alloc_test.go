//go:build !race

package text_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/text"
	"example.com/quire/pdf/internal/text/gotext"
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
	shape := func() {
		if _, err := s.Word(&p[0], p[0].Text); err != nil {
			t.Fatal(err)
		}
	}
	if n := testing.AllocsPerRun(200, shape); n > 0 {
		t.Errorf("%.2f allocations outside of a paragraph", n)
	}
}

// TestCachedWordTakesAFiftiethOfShapingIt: V11. Of each the fastest of many short runs counts,
// which is what it takes when nothing else is done.
func TestCachedWordTakesAFiftiethOfShapingIt(t *testing.T) {
	ts, shaper := typesetter(t, 1<<20), &gotext.Shaper{}
	p := piece(t, ts, "settlement")
	var glyphs []text.Glyph
	fastest := func(times int, do func() error) time.Duration {
		best := time.Duration(math.MaxInt64)
		for range 50 {
			start := time.Now()
			for range times {
				if err := do(); err != nil {
					t.Fatal(err)
				}
			}
			best = min(best, time.Since(start)/time.Duration(times))
		}
		return best
	}
	slow := fastest(20, func() (err error) {
		glyphs, err = shaper.Shape(glyphs[:0], p[0].Chain.Face(), text.Run{Text: p[0].Text})
		return err
	})
	hits := 0
	cached := fastest(1000, func() error {
		_, hit, err := ts.Cached(p[0].Chain, p[0].Text)
		if hit {
			hits++
		}
		return err
	})
	if hits < 49_000 || len(glyphs) != len(p[0].Text) {
		t.Fatalf("%d hits of 50000, %d glyphs", hits, len(glyphs))
	}
	t.Logf("%v from the cache, %v from the shaper: %.0f times as long", cached, slow, float64(slow)/float64(cached))
	if slow < 50*cached {
		t.Error("want 50 times at least")
	}
}

// TestWordsThatComeOnceTakeNoMemoryOfTheCache: names and symbols that are asked for once are shaped
// in the memory of the setter; those that come again are kept.
func TestWordsThatComeOnceTakeNoMemoryOfTheCache(t *testing.T) {
	ts := typesetter(t, 1<<20)
	s := text.NewSetter(t.Context(), ts)
	n := 0
	letters := strings.NewReplacer("0", "a", "1", "b", "2", "c", "3", "d", "4", "e", "5", "f", "6", "g", "7", "h", "8", "i", "9", "j")
	words := make([][]text.Piece, 3000)
	for i := range words {
		words[i] = piece(t, ts, letters.Replace(fmt.Sprintf("%06d", i)))
	}
	set := func() {
		if _, err := s.Set(words[n], 200*doc.Pt, doc.AlignLeft); err != nil {
			t.Fatal(err)
		}
		n++
	}
	if per := testing.AllocsPerRun(2000, set); per > 0.5 {
		t.Errorf("%.2f allocations for a word that comes once", per)
	}
}
