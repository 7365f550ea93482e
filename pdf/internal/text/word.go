package text

import "example.com/quire/pdf/doc"

// WordWidth returns how wide s is, in the first face of the chain, when it is one plain word or
// number: letters, digits and stops of ASCII, which no line ends in, which stand side by side and
// which extract as what they are. ok is false for all else, which is set as any paragraph. Its
// glyphs are those of [Chain.ASCII], and they stand as [Setter.Set] has them; kerned says that some
// pair of them is kerned.
func (c *Chain) WordWidth(s string, size doc.Length) (w doc.Length, kerned, ok bool) {
	a := c.ascii
	if a == nil || c.bold || c.slanted || s == "" {
		return 0, false, false
	}
	units, all, kerns := int64(0), int64(0), int16(0)
	left := byte(0) // the character before
	for i := range len(s) {
		b := s[i]
		k, w := a.kern[pair(left, b)], a.inWord[b]
		units += w + int64(k)
		all |= w // negative once some character is outside, however many are
		kerns |= k
		left = b
	}
	if all < 0 || plainClass[s[0]&0x7F] == plainStop {
		return 0, false, false
	}
	return Scale(units, size, c.Face()), kerns != 0, true
}

// ASCII returns the table of the glyphs of words for which [Chain.WordWidth] holds.
func (c *Chain) ASCII() *ASCII { return c.ascii }
