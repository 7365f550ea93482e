package font

import "example.com/quire/pdf/diag"

// readKern keeps the pairs of the first horizontal format 0 subtable. Other
// forms are left to the shaper; a damaged table counts as none, for kerning is
// no reason to refuse a font.
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
				f.kern = t[14 : 14+6*pairs]
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

// Kern returns the adjustment between two neighbouring glyphs by the table
// kern, in font units; negative brings them closer. Fonts that kern by GPOS
// alone return 0.
func (f *Face) Kern(left, right GID) int {
	key := uint32(left)<<16 | uint32(right)
	lo, hi := 0, len(f.kern)/6
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		switch k := u32(f.kern, 6*mid); {
		case k == key:
			return i16(f.kern, 6*mid+4)
		case k < key:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return 0
}
