//go:build !race

package text_test

import (
	"fmt"
	"strings"
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
