//go:build !race

package image_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// The tests of this file compute for long in one goroutine, where the race detector takes ten times
// as long and finds nothing.

func TestEveryKindOfPNGEqualsTheReferenceDecoder(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // test data
	palette := make([]byte, 3*256)
	for i := range palette {
		palette[i] = byte(rnd.IntN(256)) //nolint:gosec // a byte
	}
	for kind, depths := range map[byte][]byte{0: {1, 2, 4, 8, 16}, 2: {8, 16}, 3: {1, 2, 4, 8}, 4: {8, 16}, 6: {8, 16}} {
		for _, bits := range depths {
			for _, interlaced := range []bool{false, true} {
				for _, keyed := range []bool{false, true} {
					if keyed && kind > 3 {
						continue
					}
					name := fmt.Sprintf("kind %d, %d bits, interlaced %v, transparent %v", kind, bits, interlaced, keyed)
					for _, size := range [][2]int{{13, 9}, {1, 1}, {3, 17}, {5, 1}} {
						values := make([]uint16, size[0]*size[1]*channelsOf[kind])
						for i := range values {
							values[i] = uint16(rnd.IntN(1 << min(bits, 16))) //nolint:gosec // 16 bits
							if bits > 4 && i%3 == 0 {
								values[i] = 7 // so that keys are hit
							}
						}
						var plte, trns []byte
						if kind == 3 {
							plte = palette[:3<<bits]
						}
						if keyed {
							trns = map[byte][]byte{0: {0, 7 % byte(1<<min(bits, 7))}, 2: {0, 7, 0, 7, 0, 7}, 3: {0, 128}}[kind]
						}
						data := rawPNG(size[0], size[1], bits, kind, interlaced, plte, trns, func(x, y, c int) uint16 {
							return values[(y*size[0]+x)*channelsOf[kind]+c]
						})
						if !t.Run(name, func(t *testing.T) { compare(t, data) }) {
							return
						}
					}
				}
			}
		}
	}
	for name, m := range map[string][]byte{"filtered by the encoder": encodePNG(t, translucent())} {
		t.Run(name, func(t *testing.T) { compare(t, m) })
	}
}
