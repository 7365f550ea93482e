package deflate

import "encoding/binary"

// adler is an Adler-32 (RFC 1950, 9); that of nothing is 1.
type adler uint32

// add takes p. Of 128 bytes, eight at a time are added up in lanes of 16 bits; of each lane, what
// it was before every step is added up, too: bytes b0 to b7 add to the second sum eight times the
// first sum before them and 8 b0 + 7 b1 + ... + b7.
func (s *adler) add(p []byte) {
	const (
		modulus = 65521
		most    = 5504 // bytes after which neither sum is beyond 32 bits; a multiple of chunk
		chunk   = 128
		lanes   = 0x00FF00FF00FF00FF
	)
	a, b := uint32(*s&0xFFFF), uint32(*s>>16)
	for len(p) > 0 {
		q := p[:min(len(p), most)]
		p = p[len(q):]
		for ; len(q) >= chunk; q = q[chunk:] {
			var even, odd, before uint64 // of bytes 0, 2, 4, 6, of 1, 3, 5, 7, and of all
			for i := range chunk / 32 {
				b := (*[32]byte)(q[32*i:])
				x, y := binary.LittleEndian.Uint64(b[:8]), binary.LittleEndian.Uint64(b[8:16])
				before += even + odd
				even += x & lanes
				odd += x >> 8 & lanes
				before += even + odd
				even += y & lanes
				odd += y >> 8 & lanes
				x, y = binary.LittleEndian.Uint64(b[16:24]), binary.LittleEndian.Uint64(b[24:])
				before += even + odd
				even += x & lanes
				odd += x >> 8 & lanes
				before += even + odd
				even += y & lanes
				odd += y >> 8 & lanes
			}
			b += chunk*a + 8*sum(before) + weighted(even, 8) + weighted(odd, 7)
			a += sum(even + odd)
		}
		for _, c := range q {
			a += uint32(c)
			b += a
		}
		a, b = a%modulus, b%modulus
	}
	*s = adler(b<<16 | a)
}

// sum is that of four lanes.
func sum(x uint64) uint32 {
	const halves = 0x0000FFFF0000FFFF
	x = x&halves + x>>16&halves
	return uint32(x + x>>32) //nolint:gosec // G115: the low half is meant
}

// weighted is the sum of four lanes, the lowest one times w and each of the others times two less
// than the one below: a product's upper half has what both lanes give.
func weighted(x, w uint64) uint32 {
	const halves = 0x0000FFFF0000FFFF
	low, high := x&halves*(w<<32|(w-4)), x>>16&halves*((w-2)<<32|(w-6))
	return uint32(low>>32 + high>>32) //nolint:gosec // G115: at most 65,280
}
