package kflate

import "encoding/binary"

// checksum is the Adler-32 of p (RFC 1950, 9), eight bytes at a time: for bytes b0 to b7 the first
// sum grows by theirs, and the second by eight times the first and 8 b0 + 7 b1 + ... + b7. A
// multiplication adds up four lanes of 16 bits, weighted, in the highest one.
func checksum(p []byte) uint32 {
	const (
		modulus = 65521
		most    = 5552 // bytes after which neither sum is beyond 32 bits; a multiple of 8
		lanes   = 0x00FF00FF00FF00FF
		ones    = 1<<48 | 1<<32 | 1<<16 | 1
		evens   = 8<<48 | 6<<32 | 4<<16 | 2
		odds    = 7<<48 | 5<<32 | 3<<16 | 1
	)
	a, b := uint32(1), uint32(0)
	for len(p) > 0 {
		q := p[:min(len(p), most)]
		p = p[len(q):]
		for ; len(q) >= 8; q = q[8:] {
			x := binary.LittleEndian.Uint64(q)
			even, odd := x&lanes, x>>8&lanes
			b += 8*a + uint32(even*evens>>48) + uint32(odd*odds>>48)
			a += uint32((even + odd) * ones >> 48)
		}
		for _, c := range q {
			a += uint32(c)
			b += a
		}
		a, b = a%modulus, b%modulus
	}
	return b<<16 | a
}
