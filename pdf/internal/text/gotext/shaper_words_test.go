//go:build !race

package gotext_test

import (
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"example.com/quire/pdf/font/liberation"
	"example.com/quire/pdf/internal/text"
	"example.com/quire/pdf/internal/text/gotext"
)

// TestFastPathEqualsTheSlowOne: without marks, the embedded faces give the same glyphs at the same
// places by the tables cmap, hmtx and kern as by all of GSUB and GPOS, in words of letters that
// stand together in languages and in words of whatever the face has. QUIRE_WORDS sets how many.
func TestFastPathEqualsTheSlowOne(t *testing.T) {
	words := 2_000
	if testing.Short() {
		words = 500
	}
	if n, err := strconv.Atoi(os.Getenv("QUIRE_WORDS")); err == nil {
		words = n
	}
	for _, f := range embedded(t) {
		t.Run(f.PostScriptName(), func(t *testing.T) {
			t.Parallel()
			s := gotext.Shaper{Proven: liberation.Embedded}
			fast := s.Fast(f)                // else what would come of it is counted
			r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // G404: test data
			common, all := []rune(letters), repertoire(f)
			var a, b []text.Glyph
			held, differ := 0, 0
			for tried := 0; held < words; tried++ {
				from := common
				if r.IntN(4) == 0 {
					from = all
				}
				w := word(r, from)
				if tried < len(hard) {
					w = hard[tried]
				}
				if !f.Covers(w) {
					continue
				}
				held++
				var sh text.Shaper = &s
				if !fast {
					sh = text.Latin{}
				}
				var err error
				if a, err = sh.Shape(a[:0], f, text.Run{Text: w}); err != nil {
					t.Fatal(err)
				}
				if b = s.Slow(b[:0], f, text.Run{Text: w}); !slices.Equal(placed(a), placed(b)) {
					if differ++; fast && differ < 5 {
						t.Errorf("%q\nfast %v\nslow %v", w, a, b)
					}
				}
			}
			t.Logf("fast path %v: %d of %d words differ", fast, differ, held)
			if !fast && differ == 0 {
				t.Error("the slow path is taken for nothing")
			}
			if foreign := (&gotext.Shaper{}); f.Table("kern") != nil && foreign.Fast(f) {
				t.Error("the fast path is taken unproved")
			}
		})
	}
}
