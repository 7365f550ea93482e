package font

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
)

// Deflate compresses src in zlib format (RFC 1950) and appends it to dst.
// Fonts are compressed once and kept, so it should take the best level.
type Deflate func(dst, src []byte) ([]byte, error)

// Subset is a face as a PDF embeds it, with the glyph ids of the font as CIDs of Identity-H: a
// TrueType font program for a CIDFont of type 2 with an identity CIDToGIDMap, or a CFF program for
// one of type 0 (ISO 32000-2, 9.7.4). It is immutable and may be shared by documents.
type Subset struct {
	Name    string     // BaseFont and FontName: "ABCDEF+LiberationSans", without tag when the whole font is embedded
	CFF     bool       // the program is of CIDFontType0C
	Program []byte     // FontFile2 stream, with CFF FontFile3, compressed with FlateDecode
	Length1 int        // size of the font program before compression
	W       []byte     // the W array in PDF syntax, empty "[]" when DW says all
	PackedW []byte     // W compressed with FlateDecode; nil where it is short
	DW      int        // default width, in 1/1000 em
	Unicode []byte     // ToUnicode stream, compressed with FlateDecode
	Desc    Descriptor // of the face
}

// leastPackedW is the length, in bytes, of a W array that is worth an object of its own.
const leastPackedW = 256

// size is what a cache counts for it.
func (s *Subset) size() int64 {
	const fixed = 256
	return int64(fixed + len(s.Name) + len(s.Program) + len(s.W) + len(s.PackedW) + len(s.Unicode))
}

// Descriptor has the values of a FontDescriptor (ISO 32000-2, 9.8), lengths in 1/1000 em. StemV is
// an estimate from the weight, because TrueType fonts do not state it.
type Descriptor struct {
	Flags                      int
	BBox                       [4]int
	ItalicAngle                int // in 1/1000 degree
	Ascent, Descent, CapHeight int
	StemV                      int
}

// Flags of a FontDescriptor (ISO 32000-2, table 121).
const (
	flagFixedPitch = 1 << 0
	flagSerif      = 1 << 1
	flagSymbolic   = 1 << 2
	flagItalic     = 1 << 6
)

// Descriptor returns the values for the face's FontDescriptor.
func (f *Face) Descriptor() Descriptor {
	m := &f.metrics
	d := Descriptor{
		// Every CIDFont is symbolic: it has no Standard Latin encoding.
		Flags:       flagSymbolic,
		ItalicAngle: m.ItalicAngle,
		Ascent:      f.perMille(m.Ascent), Descent: f.perMille(m.Descent), CapHeight: f.perMille(m.CapHeight),
		StemV: 50 + f.style.Weight*f.style.Weight/(65*65),
	}
	for i, v := range m.BBox {
		d.BBox[i] = f.perMille(v)
	}
	if f.fixed {
		d.Flags |= flagFixedPitch
	}
	if f.serif {
		d.Flags |= flagSerif
	}
	if f.style.Italic {
		d.Flags |= flagItalic
	}
	return d
}

// perMille scales font units to 1/1000 em, rounded half away from zero.
func (f *Face) perMille(v int) int {
	em := f.metrics.UnitsPerEm
	if v < 0 {
		return -((-v*1000 + em/2) / em)
	}
	return (v*1000 + em/2) / em
}

// Bits of OS/2 fsType. A font with several of the lower ones grants the most
// liberal.
const (
	fsRestricted = 0x0002
	fsPreview    = 0x0004
	fsEditable   = 0x0008
	fsNoSubset   = 0x0100
	fsBitmapOnly = 0x0200
)

// Embeddable returns nil when the licence bits of the font allow its outlines
// in a document, an [*EmbeddingError] otherwise.
func (f *Face) Embeddable() error {
	restricted := f.fsType&(fsRestricted|fsPreview|fsEditable) == fsRestricted
	if restricted || f.fsType&fsBitmapOnly != 0 {
		return &EmbeddingError{Font: f.psName, FSType: f.fsType}
	}
	return nil
}

// Subset makes the subset of what u has drawn. Unless exact, the glyph set is
// rounded up to whole Unicode blocks in use. A nil deflate is the standard
// library's at its best level. A font that forbids subsetting is embedded
// whole; one that forbids embedding is an [*EmbeddingError]. Use [Cache.Subset]
// where documents follow each other.
func (u *Use) Subset(exact bool, deflate Deflate) (*Subset, error) {
	return u.subset(u.glyphs(exact), deflate)
}

func (u *Use) subset(set glyphSet, deflate Deflate) (*Subset, error) {
	f := u.face
	if err := f.Embeddable(); err != nil {
		return nil, err
	}
	if deflate == nil {
		deflate = bestDeflate
	}
	key := u.key(set)
	s := &Subset{Name: subsetTag(key) + "+" + f.psName, CFF: f.cff != nil, Desc: f.Descriptor()}
	ids := set.appendIDs(nil)
	if f.fsType&fsNoSubset != 0 {
		s.Name = f.psName
		set = fullGlyphSet(f.numGlyphs)
	}
	program, err := f.program(set, s.Name)
	if err != nil {
		return nil, fmt.Errorf("font: subset %s: %w", f.psName, err)
	}
	s.Length1 = len(program)
	s.W, s.DW = f.widths(ids)
	if len(s.W) >= leastPackedW {
		if s.PackedW, err = deflate(nil, s.W); err != nil {
			return nil, fmt.Errorf("font: subset %s: %w", f.psName, err)
		}
	}
	if s.Program, err = deflate(nil, program); err != nil {
		return nil, fmt.Errorf("font: subset %s: %w", f.psName, err)
	}
	if s.Unicode, err = deflate(nil, u.toUnicode(ids)); err != nil {
		return nil, fmt.Errorf("font: subset %s: %w", f.psName, err)
	}
	return s, nil
}

// program returns the font program with the glyphs of set; all of them are the file itself, where
// that is a program.
func (f *Face) program(set glyphSet, name string) ([]byte, error) {
	switch ids := set.appendIDs(nil); {
	case f.cff != nil:
		return f.cutCFF(ids, name)
	case len(ids) == f.numGlyphs && f.fsType&fsNoSubset != 0 && f.whole:
		return f.data, nil
	}
	return f.cut(set)
}

func bestDeflate(dst, src []byte) ([]byte, error) {
	out := bytes.NewBuffer(dst)
	zw, err := zlib.NewWriterLevel(out, zlib.BestCompression)
	if err != nil {
		return nil, err //nolint:wrapcheck // the caller names the font
	}
	if _, err := zw.Write(src); err != nil {
		return nil, err //nolint:wrapcheck // as above
	}
	if err := zw.Close(); err != nil {
		return nil, err //nolint:wrapcheck // as above
	}
	return out.Bytes(), nil
}

// subsetTag makes the six letters before the name of a subset
// (ISO 32000-2, 9.9.2) from the hash of its content: 26^6 is about 2^28, so two
// different subsets in one document get different tags but by rare chance, in
// which nothing but a reader's font list suffers.
func subsetTag(key [32]byte) string {
	n := binary.BigEndian.Uint64(key[:])
	var tag [6]byte
	for i := range tag {
		tag[i] = 'A' + byte(n%26)
		n /= 26
	}
	return string(tag[:])
}

// cut makes the font program: the glyphs of set and what they are composed of
// keep their ids, all others are blank; tables end behind the highest id;
// hinting is gone. The tables are those ISO 32000-2, 9.9.1 asks of a CIDFont.
func (f *Face) cut(set glyphSet) ([]byte, error) {
	set, err := f.closure(set)
	if err != nil {
		return nil, err
	}
	ids := set.appendIDs(nil)
	count := int(ids[len(ids)-1]) + 1 // .notdef is always in the set

	glyf := make([]byte, 0, len(ids)*96)
	ends := make([]int, count)
	next := 0
	for _, g := range ids {
		for ; next < int(g); next++ {
			ends[next] = len(glyf)
		}
		b, err := f.outline(g)
		if err != nil {
			return nil, err
		}
		if glyf, err = appendOutline(glyf, b); err != nil {
			return nil, err
		}
		if len(glyf)%2 != 0 { // short loca counts in words
			glyf = append(glyf, 0)
		}
		ends[g] = len(glyf)
		next = int(g) + 1
	}

	long := len(glyf) > 2*0xFFFF
	loca := make([]byte, 0, 4*(count+1))
	offset := func(at int) {
		if long {
			loca = binary.BigEndian.AppendUint32(loca, uint32(at)) //nolint:gosec // G115: no larger than the font
		} else {
			loca = binary.BigEndian.AppendUint16(loca, uint16(at/2)) //nolint:gosec // G115: checked by long
		}
	}
	offset(0)
	for _, end := range ends {
		offset(end)
	}

	hmtx := make([]byte, 4*count)
	for _, g := range ids {
		binary.BigEndian.PutUint16(hmtx[4*int(g):], uint16(f.Advance(g))) //nolint:gosec // G115: from a 16-bit field
		binary.BigEndian.PutUint16(hmtx[4*int(g)+2:], f.bearing(g))
	}

	return writeProgram([]table{
		{"glyf", glyf},
		{"head", f.subsetHead(long)},
		{"hhea", patched(f.dir.get("hhea")[:36], 34, uint16(count))}, //nolint:gosec // G115: at most 65,535 glyphs
		{"hmtx", hmtx},
		{"loca", loca},
		{"maxp", f.subsetMaxp(count)},
	}), nil
}

// closure adds the components of composites, and theirs. A glyph is looked at
// once, so a font whose composites run in circles ends too.
func (f *Face) closure(set glyphSet) (glyphSet, error) {
	out := append(glyphSet(nil), set...)
	todo := set.appendIDs(nil)
	for len(todo) > 0 {
		g := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		b, err := f.outline(g)
		if err != nil {
			return nil, err
		}
		err = components(b, func(part GID) error {
			if int(part) >= f.numGlyphs {
				return &FormatError{Table: "glyf", Reason: "a component is not a glyph of the font"}
			}
			if !out.has(part) {
				out.add(part)
				todo = append(todo, part)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

func patched(t []byte, at int, v uint16) []byte {
	t = append([]byte(nil), t...)
	binary.BigEndian.PutUint16(t[at:], v)
	return t
}

func (f *Face) subsetHead(long bool) []byte {
	form := uint16(0)
	if long {
		form = 1
	}
	t := patched(f.dir.get("head")[:54], 50, form)
	binary.BigEndian.PutUint32(t[8:], 0) // checkSumAdjustment, set in the end
	// Bits 2 to 4 of flags speak of instructions.
	binary.BigEndian.PutUint16(t[16:], u16(t, 16)&^0x001C)
	return t
}

// subsetMaxp drops what the interpreter of instructions would reserve: the
// words from maxZones to maxSizeOfInstructions. maxZones is 1 in a font
// without a twilight zone.
func (f *Face) subsetMaxp(count int) []byte {
	t := patched(f.dir.get("maxp")[:32], 4, uint16(count)) //nolint:gosec // G115: at most 65,535 glyphs
	clear(t[14:28])
	t[15] = 1
	return t
}

// writeProgram lays out an sfnt file (OpenType, "Organization of an OpenType
// Font"). The tables come in the order of their tags.
func writeProgram(tables []table) []byte {
	n := len(tables)
	size := 12 + 16*n
	for _, t := range tables {
		size += (len(t.data) + 3) &^ 3
	}
	out := make([]byte, 12+16*n, size)
	power, log := 1, 0
	for power*2 <= n {
		power, log = power*2, log+1
	}
	binary.BigEndian.PutUint32(out, kindTrueType)
	for i, v := range [...]int{n, power * 16, log, n*16 - power*16} {
		binary.BigEndian.PutUint16(out[4+2*i:], uint16(v)) //nolint:gosec // G115: six tables
	}
	head := 0
	for i, t := range tables {
		at := len(out)
		if t.tag == "head" {
			head = at
		}
		out = append(out, t.data...)
		for len(out)%4 != 0 {
			out = append(out, 0)
		}
		r := out[12+16*i:]
		copy(r, t.tag)
		binary.BigEndian.PutUint32(r[4:], checksum(out[at:]))
		binary.BigEndian.PutUint32(r[8:], uint32(at))           //nolint:gosec // G115: no larger than the font
		binary.BigEndian.PutUint32(r[12:], uint32(len(t.data))) //nolint:gosec // G115: as above
	}
	const whole = 0xB1B0AFBA // what the sum of the file has to come to
	binary.BigEndian.PutUint32(out[head+8:], whole-checksum(out))
	return out
}

// checksum adds the words of b, whose length is a multiple of four.
func checksum(b []byte) uint32 {
	var sum uint32
	for ; len(b) >= 4; b = b[4:] {
		sum += binary.BigEndian.Uint32(b)
	}
	return sum
}
