package font

import "example.com/quire/pdf/internal/diag"

// readOutlines finds loca and glyf, or the table CFF; the single outlines are checked when they
// are used.
func (f *Face) readOutlines(l diag.Limits) error {
	if f.dir.get("glyf") == nil {
		if f.dir.get("CFF2") != nil {
			return &UnsupportedError{Kind: "a variable font with CFF2 outlines"}
		}
		if f.dir.get("CFF ") != nil {
			return f.readCFF(l)
		}
	}
	size := 2 * (f.numGlyphs + 1)
	if f.longLoca {
		size *= 2
	}
	var err error
	if f.loca, err = f.dir.need("loca", size); err != nil {
		return err
	}
	f.glyf, err = f.dir.need("glyf", 0)
	return err
}

// outline returns the bytes of a glyph in glyf, none for a blank one. g must be
// below NumGlyphs.
func (f *Face) outline(g GID) ([]byte, error) {
	var from, to uint64
	if i := int(g); f.longLoca {
		from, to = uint64(u32(f.loca, 4*i)), uint64(u32(f.loca, 4*i+4))
	} else {
		from, to = 2*uint64(u16(f.loca, 2*i)), 2*uint64(u16(f.loca, 2*i+2))
	}
	if from > to || to > uint64(len(f.glyf)) {
		return nil, &FormatError{Table: "loca", Reason: "an outline lies outside glyf"}
	}
	return f.glyf[from:to:to], nil
}

// Flags of a component of a composite glyph (OpenType, glyf).
const (
	argsAreWords     = 0x0001
	haveScale        = 0x0008
	moreComponents   = 0x0020
	haveXYScale      = 0x0040
	haveTwoByTwo     = 0x0080
	haveInstructions = 0x0100
)

// component returns the length of the component at the start of b and its
// glyph.
func component(b []byte) (flags uint16, g GID, size int, err error) {
	if len(b) < 4 {
		return 0, 0, 0, &FormatError{Table: "glyf", Reason: "component cut off"}
	}
	flags = u16(b, 0)
	size = 6
	if flags&argsAreWords != 0 {
		size = 8
	}
	switch {
	case flags&haveScale != 0:
		size += 2
	case flags&haveXYScale != 0:
		size += 4
	case flags&haveTwoByTwo != 0:
		size += 8
	}
	if len(b) < size {
		return 0, 0, 0, &FormatError{Table: "glyf", Reason: "component cut off"}
	}
	return flags, GID(u16(b, 2)), size, nil
}

// isComposite reports whether an outline is made of others.
func isComposite(b []byte) bool { return len(b) >= 10 && i16(b, 0) < 0 }

// components calls add for every glyph an outline is made of.
func components(b []byte, add func(GID) error) error {
	if !isComposite(b) {
		return nil
	}
	for b = b[10:]; ; {
		flags, g, size, err := component(b)
		if err != nil {
			return err
		}
		if err := add(g); err != nil {
			return err
		}
		if flags&moreComponents == 0 {
			return nil
		}
		b = b[size:]
	}
}

// Flags of a point of a simple glyph.
const (
	xShort  = 0x02
	yShort  = 0x04
	repeats = 0x08
	xSame   = 0x10
	ySame   = 0x20
)

// appendOutline appends an outline without its instructions and without padding
// behind it. Points, flags and components are kept byte for byte, but for the
// flag that announces instructions.
func appendOutline(dst, b []byte) ([]byte, error) {
	if len(b) == 0 {
		return dst, nil
	}
	if len(b) < 10 {
		return nil, &FormatError{Table: "glyf", Reason: "outline cut off"}
	}
	if isComposite(b) {
		return appendComposite(dst, b)
	}
	contours := i16(b, 0)
	if contours == 0 {
		return append(dst, b[:10]...), nil
	}
	head := 10 + 2*contours
	if len(b) < head+2 {
		return nil, &FormatError{Table: "glyf", Reason: "outline cut off"}
	}
	points := int(u16(b, head-2)) + 1
	body := head + 2 + int(u16(b, head))
	end, err := pointsEnd(b, body, points)
	if err != nil {
		return nil, err
	}
	dst = append(dst, b[:head]...)
	dst = append(dst, 0, 0) // no instructions
	return append(dst, b[body:end]...), nil
}

func appendComposite(dst, b []byte) ([]byte, error) {
	dst = append(dst, b[:10]...)
	for b = b[10:]; ; {
		flags, _, size, err := component(b)
		if err != nil {
			return nil, err
		}
		at := len(dst)
		dst = append(dst, b[:size]...)
		kept := flags &^ haveInstructions
		dst[at], dst[at+1] = byte(kept>>8), byte(kept) //nolint:gosec // G115: the two bytes of a word
		if flags&moreComponents == 0 {
			return dst, nil
		}
		b = b[size:]
	}
}

// pointsEnd walks the flags of a simple glyph from at and returns where its
// coordinates end.
func pointsEnd(b []byte, at, points int) (int, error) {
	coords := 0
	for points > 0 {
		if at >= len(b) {
			return 0, &FormatError{Table: "glyf", Reason: "flags cut off"}
		}
		flag, n := b[at], 1
		at++
		if flag&repeats != 0 {
			if at >= len(b) {
				return 0, &FormatError{Table: "glyf", Reason: "flags cut off"}
			}
			n += int(b[at])
			at++
		}
		n = min(n, points)
		points -= n
		coords += n * (coordSize(flag, xShort, xSame) + coordSize(flag, yShort, ySame))
	}
	if at+coords > len(b) {
		return 0, &FormatError{Table: "glyf", Reason: "coordinates cut off"}
	}
	return at + coords, nil
}

func coordSize(flag, short, same byte) int {
	switch {
	case flag&short != 0:
		return 1
	case flag&same != 0:
		return 0
	}
	return 2
}
