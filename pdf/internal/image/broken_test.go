//go:build !race

package image_test

import (
	"bytes"
	"image/jpeg"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"example.com/quire/pdf/internal/diag"
)

// TestBrokenJPEGIsRefused: bytes of the coded data are replaced; what Go's decoder refuses for its
// codes is refused here, and nothing panics.
func TestBrokenJPEGIsRefused(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4)) //nolint:gosec // test data
	refused, missed := 0, 0
	files := references(t)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		data := files[name]
		if len(data) > 10_000 {
			continue
		}
		for range 60 {
			b := bytes.Clone(data)
			for range 1 + rnd.IntN(3) {
				b[600+rnd.IntN(len(b)-600)] = byte(rnd.IntN(256)) //nolint:gosec // a byte
			}
			_, want := jpeg.Decode(bytes.NewReader(b))
			_, err := open(b, diag.Limits{})
			if want == nil {
				continue
			}
			refused++
			if err == nil {
				missed++
				t.Logf("%s: Go says %v", name, want)
			}
		}
	}
	if refused < 50 || missed > refused/20 {
		t.Errorf("%d of %d broken images pass", missed, refused)
	}
}
