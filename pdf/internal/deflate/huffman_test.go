package deflate

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestCodesAreComplete: codewords fill all that a decoder may read (Kraft's sum is 1), none is too
// long, symbols that do not occur have none, and what occurs more often is not longer. Where no
// length is limited the code is within a bit for each symbol of its entropy.
func TestCodesAreComplete(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // G404: test data
	var tr tree
	fibonacci := make([]uint32, 24) // of which an unlimited code has 23 bits
	fibonacci[0], fibonacci[1] = 1, 1
	for i := 2; i < len(fibonacci); i++ {
		fibonacci[i] = fibonacci[i-1] + fibonacci[i-2]
	}
	check := func(freq []uint32, most int) {
		t.Helper()
		codes := make([]codeword, len(freq))
		used, bits := tr.build(codes, freq, most)
		kraft, n, total, size, entropy := 0, 0, 0.0, 0.0, 0.0
		for s, f := range freq {
			l := int(codes[s].length())
			if (f == 0) != (l == 0) || l > most {
				t.Fatalf("symbol %d occurs %d times and has %d bits of at most %d", s, f, l, most)
			}
			if f == 0 {
				continue
			}
			n++
			kraft += 1 << (16 - l)
			total += float64(f)
			size += float64(f) * float64(l)
			entropy -= float64(f) * math.Log2(float64(f))
			for o, g := range freq {
				if g > f && int(codes[o].length()) > l {
					t.Fatalf("%d times %d bits, %d times %d bits", f, l, g, codes[o].length())
				}
			}
		}
		if n != len(used) || int(size) != bits {
			t.Fatalf("%d symbols of %.0f bits are told to be %d of %d", n, size, len(used), bits)
		}
		if n > 1 && kraft != 1<<16 {
			t.Fatalf("%d symbols: the codewords leave %d of 65536", n, 1<<16-kraft)
		}
		entropy += total * math.Log2(total)
		if n > 1 && most > 12 && size > entropy+total {
			t.Errorf("%d symbols have %.0f bits, their entropy is %.0f", n, size, entropy)
		}
	}
	for _, most := range []int{mostLengthBits, mostBits, mostDistanceBits} {
		if most > mostLengthBits {
			check(fibonacci, most)
		} else {
			check(fibonacci[:19], most)
		}
		check(nil, most)
		check([]uint32{0, 0}, most)
		check([]uint32{0, 5, 0}, most)
		check([]uint32{7, 1}, most)
		for range 500 {
			n := map[int]int{mostLengthBits: 17, mostBits: 284, mostDistanceBits: 28}[most]
			freq := make([]uint32, 2+random.IntN(n))
			for i := range freq {
				if random.IntN(3) > 0 {
					freq[i] = uint32(math.Exp(random.Float64()*9)) - 1
				}
			}
			check(freq, most)
		}
	}
}

// TestLengthAndDistanceCodes are those of RFC 1951, 3.2.5.
func TestLengthAndDistanceCodes(t *testing.T) {
	for _, tt := range []struct{ length, symbol, bits, extra int }{
		{3, 257, 0, 0},
		{10, 264, 0, 0},
		{11, 265, 1, 0},
		{12, 265, 1, 1},
		{18, 268, 1, 1},
		{19, 269, 2, 0},
		{34, 272, 2, 3},
		{35, 273, 3, 0},
		{67, 277, 4, 0},
		{130, 280, 4, 15},
		{131, 281, 5, 0},
		{257, 284, 5, 30},
		{258, 285, 0, 0},
	} {
		l := lengthCodes[tt.length-3]
		if l.symbol() != tt.symbol || int(l.extra().length()) != tt.bits || int(l.extra().bits()) != tt.extra { //nolint:gosec // G115: a few bits
			t.Errorf("length %d: %x", tt.length, l)
		}
	}
	for _, tt := range []struct {
		distance      int
		symbol, extra int
	}{
		{1, 0, 0},
		{4, 3, 0},
		{5, 4, 1},
		{6, 4, 1},
		{7, 5, 1},
		{9, 6, 2},
		{193, 15, 6},
		{256, 15, 6},
		{257, 16, 7},
		{16385, 28, 13},
		{24577, 29, 13},
		{32768, 29, 13},
	} {
		d := codeOf(uint16(tt.distance - 1)) //nolint:gosec // G115: at most 32767
		if d.symbol() != tt.symbol || int(d.bits()) != tt.extra {
			t.Errorf("distance %d: symbol %d with %d bits", tt.distance, d.symbol(), d.bits())
		}
	}
}

// TestShortBlocks take hardly more than the kind of block that is shortest, and codes of their own
// where those save much.
func TestShortBlocks(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6)) //nolint:gosec // G404: the same in each run
	const tolerance = leastSaved + 8*48   // what the codes take is estimated
	kinds := map[byte]int{}
	for range 5000 {
		src := make([]byte, random.IntN(short+1))
		letters, first, skew := 1+random.IntN(250), random.IntN(256), random.Float64()*4
		for i := range src {
			src[i] = byte(first + int(float64(letters)*math.Pow(random.Float64(), 1+skew))) //nolint:gosec // G115: any byte
		}
		if n := len(src) / 4; random.IntN(2) > 0 { // with matches
			for i := range src {
				if i > n && random.IntN(3) > 0 {
					src[i] = src[i-n]
				}
			}
		}
		var c Compressor
		out := c.Append(nil, src, nil, nil)
		kinds[out[2]>>1&3]++
		b := &c.block
		extra := c.count(src)
		used, size := b.tree.build(b.codes[:symbols], b.freq[:], mostBits)
		fixed := extra + 5*c.n
		for _, s := range used {
			fixed += int(b.freq[s]) * int(fixedCodes[s].length())
		}
		_, distanceSize := b.tree.build(b.distances[:distances], b.distanceFreq[:], mostDistanceBits)
		own := extra + size + distanceSize + b.lengths.make(&b.tree, b.codes[:symbols], b.distances[:distances])
		if got, best := 8*len(out), min(own, fixed, 8*(len(src)+5))+8*len("\x78\x9C....")+10; got > best+tolerance {
			t.Fatalf("%d bytes take %d bits, and with codes of their own %d, with the fixed ones %d", len(src), got, own, fixed)
		}
	}
	for kind, name := range []string{"stored", "with the fixed codes", "with codes of their own"} {
		if kinds[byte(kind)] < 100 {
			t.Errorf("%d blocks %s, want some of each kind", kinds[byte(kind)], name)
		}
	}
}
