package font

import (
	"iter"

	"example.com/quire/pdf/internal/diag"
)

// cmap is a character map in the form it has in the font: format 4 (segments
// over the Basic Multilingual Plane) or format 12 (groups over all planes).
// The zero value maps nothing.
type cmap struct {
	format   uint16
	segments int    // format 4
	groups   int    // format 12
	data     []byte // the subtable
}

// readCmap chooses the subtable with the widest repertoire. A font program
// without the table maps nothing.
func (f *Face) readCmap(diag.Limits) error {
	t := f.dir.get("cmap")
	if t == nil {
		return nil
	}
	if len(t) < 4 {
		return &FormatError{Table: "cmap", Reason: "cut off"}
	}
	n := int(u16(t, 2))
	if len(t) < 4+8*n {
		return &FormatError{Table: "cmap", Reason: "records lie outside"}
	}
	best := 0
	for i := range n {
		platform, encoding, at := u16(t, 4+8*i), u16(t, 6+8*i), uint64(u32(t, 8+8*i))
		rank := cmapRank(platform, encoding)
		if rank <= best {
			continue
		}
		if at+2 > uint64(len(t)) {
			return &FormatError{Table: "cmap", Reason: "a subtable lies outside"}
		}
		c, ok, err := readSubtable(t[at:])
		if err != nil {
			return err
		}
		if ok {
			best, f.cmap, f.symbol = rank, c, platform == 3 && encoding == 0
		}
	}
	for r := range f.latin {
		f.latin[r] = f.lookup(rune(r))
	}
	return nil
}

// cmapRank orders the encodings (platform, encoding) this package reads; 0 is
// one it does not.
func cmapRank(platform, encoding uint16) int {
	switch {
	case platform == 3 && encoding == 10: // Windows, all planes
		return 5
	case platform == 0 && (encoding == 4 || encoding == 6): // Unicode, all planes
		return 4
	case platform == 3 && encoding == 1: // Windows, basic plane
		return 3
	case platform == 0 && encoding <= 3:
		return 2
	case platform == 3 && encoding == 0: // symbols at U+F000
		return 1
	}
	return 0
}

// readSubtable checks the arrays of a subtable, so that look-ups need not. ok
// is false for a format this package does not read.
func readSubtable(t []byte) (c cmap, ok bool, err error) {
	bad := func(reason string) (cmap, bool, error) {
		return cmap{}, false, &FormatError{Table: "cmap", Reason: reason}
	}
	switch u16(t, 0) {
	case 4:
		if len(t) < 16 {
			return bad("format 4 cut off")
		}
		double := int(u16(t, 6))
		if double == 0 || double%2 != 0 || len(t) < 16+4*double {
			return bad("format 4 segments lie outside")
		}
		// The length field is 16 bits and wraps in large fonts; the end of the
		// table is the bound that holds.
		return cmap{format: 4, segments: double / 2, data: t}, true, nil
	case 12:
		if len(t) < 16 {
			return bad("format 12 cut off")
		}
		n := uint64(u32(t, 12))
		if 16+12*n > uint64(len(t)) {
			return bad("format 12 groups lie outside")
		}
		return cmap{format: 12, groups: int(n), data: t}, true, nil //nolint:gosec // G115: bounded by the table
	}
	return cmap{}, false, nil
}

// lookup returns the glyph of r without the table for Latin-1.
func (f *Face) lookup(r rune) GID {
	g := f.cmap.glyph(r)
	if g == 0 && f.symbol && r >= 0 && r <= 0xFF {
		g = f.cmap.glyph(0xF000 + r)
	}
	if int(g) >= f.numGlyphs {
		return 0
	}
	return g
}

func (c *cmap) glyph(r rune) GID {
	if r < 0 {
		return 0
	}
	switch c.format {
	case 4:
		if r > 0xFFFF {
			return 0
		}
		return c.segmentGlyph(uint16(r))
	case 12:
		return c.groupGlyph(uint32(r))
	}
	return 0
}

// segmentGlyph searches the first segment that ends at or behind code.
func (c *cmap) segmentGlyph(code uint16) GID {
	lo, hi := 0, c.segments
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if u16(c.data, 14+2*mid) < code {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == c.segments {
		return 0
	}
	return c.inSegment(lo, code)
}

// inSegment maps code by segment i, which ends at or behind it. The arrays lie
// behind each other: end codes, a pad, start codes, deltas, range offsets.
func (c *cmap) inSegment(i int, code uint16) GID {
	start := u16(c.data, 16+2*c.segments+2*i)
	if code < start {
		return 0
	}
	delta := u16(c.data, 16+4*c.segments+2*i)
	at := 16 + 6*c.segments + 2*i
	offset := u16(c.data, at)
	if offset == 0 {
		return GID(code + delta)
	}
	// A range offset counts from its own place to the first glyph id.
	at += int(offset) + 2*int(code-start)
	if at+2 > len(c.data) {
		return 0
	}
	g := u16(c.data, at)
	if g == 0 {
		return 0
	}
	return GID(g + delta)
}

func (c *cmap) groupGlyph(code uint32) GID {
	lo, hi := 0, c.groups
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if u32(c.data, 16+12*mid+4) < code {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == c.groups {
		return 0
	}
	return c.inGroup(lo, code)
}

func (c *cmap) inGroup(i int, code uint32) GID {
	at := 16 + 12*i
	start := u32(c.data, at)
	if code < start {
		return 0
	}
	g := uint64(u32(c.data, at+8)) + uint64(code-start)
	if g > 0xFFFF {
		return 0
	}
	return GID(g)
}

// all yields every character of text with a glyph, in ascending order; controls
// are none. A font whose segments overlap or run backwards yields the part that
// lookup finds.
func (f *Face) all() iter.Seq2[rune, GID] {
	return func(yield func(rune, GID) bool) {
		next := uint32(0) // first code not yet visited
		n := max(f.cmap.segments, f.cmap.groups)
		for i := range n {
			start, end := f.cmap.bounds(i)
			for code := max(start, next); code <= end; code++ {
				g := f.lookup(rune(code))          //nolint:gosec // G115: end <= U+10FFFF
				if g == 0 || !isText(rune(code)) { //nolint:gosec // G115: as above
					continue
				}
				if !yield(rune(code), g) { //nolint:gosec // G115: as above
					return
				}
			}
			next = max(next, end+1)
		}
	}
}

// isText reports whether r may be what a glyph stands for: no control, no
// surrogate, no byte order mark and no noncharacter at the end of a plane.
// PDF/A-2u and PDF/A-4 forbid some of them as values of a ToUnicode CMap
// (ISO 19005-2, 6.2.11.7.2).
func isText(r rune) bool {
	switch {
	case r < ' ', r >= 0x7F && r <= 0x9F, r >= 0xD800 && r <= 0xDFFF, r == 0xFEFF, r&0xFFFE == 0xFFFE:
		return false
	}
	return true
}

// bounds returns the codes of a segment or group, cut to Unicode.
func (c *cmap) bounds(i int) (start, end uint32) {
	if c.format == 4 {
		return uint32(u16(c.data, 16+2*c.segments+2*i)), uint32(u16(c.data, 14+2*i))
	}
	at := 16 + 12*i
	return u32(c.data, at), min(u32(c.data, at+4), 0x10FFFF)
}
