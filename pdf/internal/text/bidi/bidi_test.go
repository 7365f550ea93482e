package bidi_test

import (
	"slices"
	"testing"

	"example.com/quire/pdf/internal/text/bidi"
)

func FuzzLevels(f *testing.F) {
	f.Add("abc \u05D0\u05D1 12", uint8(2))
	f.Add("\u202E(\u0627]\u2067\u2069\n\u202C", uint8(1))
	f.Fuzz(func(t *testing.T, s string, base uint8) {
		levels := new(bidi.Paragraph).Levels(s, bidi.Base(base%3))
		if len(levels) != len(s) {
			t.Fatalf("%d levels of %d bytes", len(levels), len(s))
		}
		order := bidi.Order(nil, levels)
		slices.Sort(order)
		for i, k := range order {
			if i != k {
				t.Fatalf("%d is not in the order once", i)
			}
		}
	})
}
