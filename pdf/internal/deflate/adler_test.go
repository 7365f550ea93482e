package deflate

import (
	"bytes"
	"hash/adler32"
	"math/rand/v2"
	"testing"
)

// TestChecksumIsAdler32: for all lengths up to some hundreds, for long sources, and for the bytes
// that make the largest sums.
func TestChecksumIsAdler32(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8)) //nolint:gosec // G404: test data
	data := make([]byte, 100_000)
	for i := range data {
		data[i] = byte(r.Uint32()) //nolint:gosec // G115: the low byte is meant
	}
	check := func(p []byte) {
		if got, want := whole(p), adler32.Checksum(p); got != want {
			t.Fatalf("%d bytes: %08x, want %08x", len(p), got, want)
		}
	}
	for n := range 400 {
		check(data[n : 2*n])
	}
	for range 300 {
		check(data[:r.IntN(len(data))])
		check(bytes.Repeat([]byte{0xFF}, r.IntN(len(data))))
	}
}

// whole is the checksum of p, taken in two pieces.
func whole(p []byte) uint32 {
	s := adler(1)
	s.add(p[:len(p)/3])
	s.add(p[len(p)/3:])
	return uint32(s)
}

func BenchmarkChecksum(b *testing.B) {
	p := bytes.Repeat([]byte("<</Type/StructElem/S/TD>>"), 400)
	b.Run("here", func(b *testing.B) {
		for b.Loop() {
			whole(p)
		}
	})
	b.Run("library", func(b *testing.B) {
		for b.Loop() {
			adler32.Checksum(p)
		}
	})
}
