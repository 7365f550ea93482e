// Package shortid writes 128 bits as 26 characters of base32 (RFC 4648, section 6, in lower case).
package shortid

import "encoding/binary"

// Len is how many characters an id has.
const Len = 26

// Half are the 13 characters of 64 bits: the first eight, and the last eight.
type Half struct{ first, last uint64 }

// HalfOf returns the characters of x: five of its low 25 bits, eight of its high 40, so that one
// bit counts twice.
func HalfOf(x uint64) Half { return Half{base32x8(x), base32x8(x >> 24)} }

// Put writes an id to the first Len bytes of b.
func Put(b []byte, left, right Half) {
	_ = b[Len-1]
	// Of eight characters written at 0 and 13 the last three are overwritten.
	binary.LittleEndian.PutUint64(b[0:], left.first)
	binary.LittleEndian.PutUint64(b[5:], left.last)
	binary.LittleEndian.PutUint64(b[13:], right.first)
	binary.LittleEndian.PutUint64(b[18:], right.last)
}

// base32x8 turns the low 40 bits of x into eight characters at once: it moves
// each five bits into a byte of their own, then adds what makes 0..25 a..z and
// 26..31 the digits 2..7.
func base32x8(x uint64) uint64 {
	x = x&0xfffff | x&0xff_fff0_0000<<12
	x = x&0x0000_03ff_0000_03ff | x&0x000f_fc00_000f_fc00<<6
	x = x&0x001f_001f_001f_001f | x&0x03e0_03e0_03e0_03e0<<3
	const each = 0x0101_0101_0101_0101
	digits := (x + each*(0x80-26)) >> 7 & each
	return x + each*'a' - digits*('a'+26-'2')
}
