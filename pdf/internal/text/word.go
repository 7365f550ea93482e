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
	units, all := int64(0), int64(0)
	for i := range len(s) {
		w := a.inWord[s[i]]
		units += int64(int32(w)) //nolint:gosec // G115: the advance
		all |= w                 // negative once some character is outside, however many are
	}
	if all < 0 || plainClass[s[0]&0x7F] == plainStop {
		return 0, false, false
	}
	if all&kerns != 0 {
		some := int16(0)
		for i := 1; i < len(s); i++ {
			k := a.kern[pair(s[i-1], s[i])]
			units += int64(k)
			some |= k
		}
		kerned = some != 0
	}
	return Scale(units, size, c.Face()), kerned, true
}

// ASCII returns the table of the glyphs of words for which [Chain.WordWidth] holds.
func (c *Chain) ASCII() *ASCII { return c.ascii }
