package font

import (
	"encoding/binary"
	"maps"
	"slices"
)

// blanked is Without for TrueType. Instructions stay, for they decide how glyphs look.
func (p *Embedded) blanked(keep []GID) (program []byte, cut int, err error) {
	f := p.face
	set := newGlyphSet(f.numGlyphs)
	for _, g := range keep {
		if int(g) < f.numGlyphs {
			set.add(g)
		}
	}
	if set, err = f.closure(set); err != nil {
		return nil, 0, err
	}
	glyf, loca := make([]byte, 0, len(f.glyf)), make([]byte, 4, 4*(f.numGlyphs+1))
	hmtx := slices.Clone(f.hmtx[:4*f.hMetrics+2*(f.numGlyphs-f.hMetrics)])
	vmtx := slices.Clone(f.dir.get("vmtx"))
	for i := range f.numGlyphs {
		g := GID(i)
		b, err := f.outline(g)
		if err != nil {
			return nil, 0, err
		}
		if set.has(g) {
			glyf = append(glyf, b...)
			for len(glyf)%4 != 0 {
				glyf = append(glyf, 0)
			}
		} else {
			if len(b) > 0 {
				cut++
			}
			f.forgetMetric(hmtx, i)
			if len(vmtx) >= 4*i+4 && len(vmtx) == 4*f.numGlyphs {
				clear(vmtx[4*i : 4*i+4])
			}
		}
		loca = binary.BigEndian.AppendUint32(loca, uint32(len(glyf))) //nolint:gosec // G115: no larger than the font
	}
	if len(glyf) == 0 {
		glyf = make([]byte, 4) // a table of no length is none to some readers
	}
	head := patched(f.dir.get("head")[:54], 50, 1)
	binary.BigEndian.PutUint32(head[8:], 0) // checkSumAdjustment, set in the end
	var tables []table
	for _, t := range f.dir {
		switch t.tag {
		case "glyf":
			t.data = glyf
		case "loca":
			t.data = loca
		case "head":
			t.data = head
		case "hmtx":
			t.data = hmtx
		case "vmtx":
			t.data = vmtx
		case "cmap":
			t.data = p.cmapOf(set)
		case "post":
			t.data = p.postOf(set, t.data)
		case "OS/2":
			if len(t.data) >= 68 { // the first and last character
				t.data = patched(patched(t.data, 64, 0), 66, 0xFFFF)
			}
		case "maxp", "hhea", "cvt ", "fpgm", "prep", "vhea", "gasp":
		default: // kerning, substitution and others, which readers of PDF do not use and which name glyphs
			continue
		}
		tables = append(tables, t)
	}
	slices.SortFunc(tables, func(a, b table) int { return slices.Compare([]byte(a.tag), []byte(b.tag)) })
	return writeProgram(tables), cut, nil
}

// forgetMetric makes a glyph 0 wide. The last advance is also that of all glyphs behind it.
func (f *Face) forgetMetric(hmtx []byte, i int) {
	switch {
	case i < f.hMetrics-1 || i < f.hMetrics && f.hMetrics == f.numGlyphs:
		clear(hmtx[4*i : 4*i+4])
	case i < f.hMetrics:
		clear(hmtx[4*i+2 : 4*i+4])
	default:
		at := 4*f.hMetrics + 2*(i-f.hMetrics)
		clear(hmtx[at : at+2])
	}
}

// cmapOf writes the subtables without the characters of other glyphs.
func (p *Embedded) cmapOf(set glyphSet) []byte {
	out := binary.BigEndian.AppendUint16([]byte{0, 0}, uint16(len(p.maps))) //nolint:gosec // G115: as many as were read
	out = append(out, make([]byte, 8*len(p.maps))...)
	for i, m := range p.maps {
		left := map[uint32]GID{}
		for code, g := range m.glyphs {
			if set.has(g) {
				left[code] = g
			}
		}
		for len(out)%4 != 0 {
			out = append(out, 0)
		}
		r := out[4+8*i:]
		binary.BigEndian.PutUint16(r, m.platform)
		binary.BigEndian.PutUint16(r[2:], m.encoding)
		binary.BigEndian.PutUint32(r[4:], uint32(len(out))) //nolint:gosec // G115: bounded by mostCmapEntries
		out = appendSubtable(out, left)
	}
	return out
}

// appendSubtable writes characters as form 6 where they are codes of one byte, else as form 4, or 12
// where one is beyond the basic plane.
func appendSubtable(out []byte, glyphs map[uint32]GID) []byte {
	codes := slices.Sorted(maps.Keys(glyphs))
	word := func(vs ...int) {
		for _, v := range vs {
			out = binary.BigEndian.AppendUint16(out, uint16(v)) //nolint:gosec // G115: words of the table
		}
	}
	switch {
	case len(codes) == 0 || codes[len(codes)-1] < 256:
		first, n := 0, 0
		if len(codes) > 0 {
			first = int(codes[0])
			n = int(codes[len(codes)-1]) - first + 1
		}
		word(6, 10+2*n, 0, first, n)
		for k := range n {
			word(int(glyphs[uint32(first+k)]))
		}
	case codes[len(codes)-1] < 0xFFFF && len(codes) < 8000: // whose length a word holds
		type segment struct{ from, to, delta int }
		var all []segment
		for _, c := range codes {
			code, delta := int(c), int(glyphs[c])-int(c)
			if n := len(all) - 1; n >= 0 && all[n].to == code-1 && all[n].delta == delta {
				all[n].to = code
				continue
			}
			all = append(all, segment{code, code, delta})
		}
		all = append(all, segment{0xFFFF, 0xFFFF, 1})
		n := len(all)
		power, log := 1, 0
		for power*2 <= n {
			power, log = power*2, log+1
		}
		word(4, 16+8*n, 0, 2*n, 2*power, log, 2*n-2*power)
		for _, s := range all {
			word(s.to)
		}
		word(0)
		for _, s := range all {
			word(s.from)
		}
		for _, s := range all {
			word(s.delta)
		}
		for range all {
			word(0)
		}
	default:
		word(12, 0, 0, 16+12*len(codes), 0, 0, len(codes)>>16, len(codes)&0xFFFF)
		at := len(out) - 16
		binary.BigEndian.PutUint32(out[at+4:], uint32(16+12*len(codes))) //nolint:gosec // G115: bounded
		for _, c := range codes {
			out = binary.BigEndian.AppendUint32(out, c)
			out = binary.BigEndian.AppendUint32(out, c)
			out = binary.BigEndian.AppendUint32(out, uint32(glyphs[c]))
		}
	}
	return out
}

// postOf writes the names of a table post without those of other glyphs.
func (p *Embedded) postOf(set glyphSet, t []byte) []byte {
	if len(t) < 32 {
		return t
	}
	out := slices.Clone(t[:32])
	if u32(t, 0) != 0x00020000 || len(t) < 34 || len(t) < 34+2*int(u16(t, 32)) {
		binary.BigEndian.PutUint32(out, 0x00030000) // no names
		return out
	}
	n := int(u16(t, 32))
	out = binary.BigEndian.AppendUint16(out, uint16(n)) //nolint:gosec // G115: a word of the table
	var text []byte
	own := 0
	for g := range n {
		i := u16(t, 34+2*g)
		switch {
		case g >= p.face.numGlyphs || !set.has(GID(g)):
			i = 0
		case i >= 258 && g < len(p.names) && len(p.names[g]) < 256:
			i = uint16(258 + own)
			own++
			text = append(append(text, byte(len(p.names[g]))), p.names[g]...) //nolint:gosec // G115: below 256
		}
		out = binary.BigEndian.AppendUint16(out, i)
	}
	return append(out, text...)
}
