package font

import "example.com/quire/pdf/internal/diag"

// readKern keeps the pairs of the first horizontal format 0 subtable. Other
// forms are left to the shaper; a damaged table, such as one that is not sorted,
// counts as none, for kerning is no reason to refuse a font.
func (f *Face) readKern(diag.Limits) error {
	t := f.dir.get("kern")
	if len(t) < 4 || u16(t, 0) != 0 {
		return nil
	}
	n := int(u16(t, 2))
	t = t[4:]
	for range n {
		if len(t) < 14 {
			return nil
		}
		// Coverage: format in the high byte, horizontal in bit 0; minimum
		// (bit 1) and cross-stream (bit 2) mean something else than kerning.
		length, coverage := int(u16(t, 2)), u16(t, 4)
		if coverage&0xFF07 == 1 {
			pairs := int(u16(t, 6))
			if len(t) >= 14+6*pairs {
				f.indexKern(t[14 : 14+6*pairs])
			}
			return nil
		}
		if length < 14 || length > len(t) {
			return nil
		}
		t = t[length:]
	}
	return nil
}

// indexKern notes where the pairs of each left glyph begin: few glyphs have any.
func (f *Face) indexKern(pairs []byte) {
	n := uint32(len(pairs) / 6) //nolint:gosec // G115: a count of 16 bits
	first := make([]uint32, f.numGlyphs+1)
	left, last := 0, int64(-1)
	for i := range n {
		key := u32(pairs, 6*int(i))
		if int64(key) <= last {
			return
		}
		for last = int64(key); left <= int(key>>16) && left < len(first); left++ {
			first[left] = i
		}
	}
	for ; left < len(first); left++ {
		first[left] = n
	}
	f.kern, f.kernFirst = pairs, first
}

// Kern returns the adjustment between two neighbouring glyphs by the table
// kern, in font units; negative brings them closer. Fonts that kern by GPOS
// alone return 0.
func (f *Face) Kern(left, right GID) int {
	if int(left)+1 >= len(f.kernFirst) {
		return 0
	}
	lo, hi := int(f.kernFirst[left]), int(f.kernFirst[left+1])
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		switch r := GID(u16(f.kern, 6*mid+2)); {
		case r == right:
			return i16(f.kern, 6*mid+4)
		case r < right:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return 0
}
