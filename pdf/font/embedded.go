package font

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"

	"example.com/quire/pdf/internal/diag"
)

// Embedded is the font program of a PDF file: TrueType (FontFile2), or CFF by itself or in an
// OpenType file (FontFile3). Its glyphs are found as readers of PDF find them (ISO 32000-2, 9.6.5 and
// 9.7.4), and it can be written without some of them. It is not safe for concurrent use.
type Embedded struct {
	face *Face // with outlines in glyf; nil: cff
	cff  *cff
	// names are those of the glyphs, as far as they have some: of the table post or the charset of a
	// CFF font that is not keyed by CIDs.
	names []string
	sids  []uint16       // of CFF: SIDs or CIDs by glyph
	codes map[byte]GID   // of CFF: its own encoding
	cids  map[uint32]GID // of CFF that is keyed by CIDs
	calls *subrCalls     // of Width
	maps  []embeddedCmap // of TrueType
}

// embeddedCmap is a subtable of cmap.
type embeddedCmap struct {
	platform, encoding uint16
	glyphs             map[uint32]GID
}

// mostCmapEntries bounds the characters of all subtables of one program.
const mostCmapEntries = 1 << 18

// ParseEmbedded reads a font program. It keeps data. Zero limits are the defaults. Type 1 programs are
// an *UnsupportedError.
func ParseEmbedded(data []byte, l diag.Limits) (*Embedded, error) {
	l = l.WithDefaults()
	if err := diag.Check("FontBytes", int64(len(data)), l.FontBytes, "font program"); err != nil {
		return nil, err //nolint:wrapcheck // a LimitError says all
	}
	if len(data) < 5 {
		return nil, &FormatError{Reason: "shorter than its header"}
	}
	if data[0] == '%' || data[0] == 0x80 {
		return nil, &UnsupportedError{Kind: "Type 1"}
	}
	table := data
	if data[0] != 1 { // the major version of CFF
		dir, err := readDirectory(data, 0)
		if err != nil {
			return nil, err
		}
		if dir.get("glyf") != nil {
			f, err := Parse(data, l)
			if err != nil {
				return nil, err
			}
			p := &Embedded{face: f}
			p.readPostNames()
			p.readCmaps()
			return p, nil
		}
		if table, err = dir.need("CFF ", 4); err != nil {
			return nil, err
		}
	}
	c, err := parseCFF(table)
	if err != nil {
		return nil, err
	}
	p := &Embedded{cff: c}
	if c.charstrings.count == 0 || int64(c.charstrings.count) > l.FontGlyphs {
		return nil, cffError(strconv.Itoa(c.charstrings.count) + " glyphs")
	}
	if err := p.readCharset(); err != nil {
		return nil, err
	}
	return p, p.readEncoding()
}

// CFF reports whether the program is CFF.
func (p *Embedded) CFF() bool { return p.cff != nil }

// KeyedByCID reports whether the glyphs of a CFF program have CIDs of their own.
func (p *Embedded) KeyedByCID() bool { return p.cff != nil && p.cff.keyed }

// NumGlyphs returns the number of glyphs.
func (p *Embedded) NumGlyphs() int {
	if p.cff != nil {
		return p.cff.charstrings.count
	}
	return p.face.numGlyphs
}

// readCharset reads what the glyphs of a CFF font are called (TN5176, 13).
func (p *Embedded) readCharset() error {
	c := p.cff
	n := c.charstrings.count
	p.sids = make([]uint16, n)
	switch {
	case c.charset == 0 && c.keyed:
		for i := range p.sids {
			p.sids[i] = uint16(i)
		}
	case c.charset == 0:
		if n > lastISOAdobe+1 {
			return cffError("more glyphs than the charset ISOAdobe has")
		}
		for i := range p.sids {
			p.sids[i] = uint16(i)
		}
	case c.charset <= 2:
		return &UnsupportedError{Kind: "CFF with an expert charset"}
	default:
		if err := p.readCharsetAt(c.charset); err != nil {
			return err
		}
	}
	if c.keyed {
		p.cids = make(map[uint32]GID, n)
		for i := n - 1; i >= 0; i-- {
			p.cids[uint32(p.sids[i])] = GID(i) //nolint:gosec // G115: below the number of glyphs
		}
		return nil
	}
	p.names = make([]string, n)
	for i, sid := range p.sids {
		p.names[i] = c.string(sid)
	}
	return nil
}

// string returns the string of an SID.
func (c *cff) string(sid uint16) string {
	if int(sid) < numStandardStrings {
		return standardStrings()[sid]
	}
	if i := int(sid) - numStandardStrings; i < c.strings.count {
		return string(c.strings.get(i))
	}
	return ""
}

func (p *Embedded) readCharsetAt(offset int) error {
	b, err := at(p.cff.table, offset)
	if err != nil {
		return err
	}
	cut := cffError("the charset is cut off")
	if len(b) == 0 {
		return cut
	}
	size := 1 // of the count of a range
	switch b[0] {
	case 0:
		if len(b) < 1+2*(len(p.sids)-1) {
			return cut
		}
		for i := range len(p.sids) - 1 {
			p.sids[i+1] = u16(b, 1+2*i)
		}
		return nil
	case 1:
	case 2:
		size = 2
	default:
		return cffError("a charset of unknown form")
	}
	b = b[1:]
	for g := 1; g < len(p.sids); {
		if len(b) < 2+size {
			return cut
		}
		first, left := u16(b, 0), int(b[2])
		if size == 2 {
			left = int(u16(b, 2))
		}
		for k := 0; k <= left && g < len(p.sids); k++ {
			p.sids[g] = first + uint16(k)
			g++
		}
		b = b[2+size:]
	}
	return nil
}

// readEncoding reads the encoding of a CFF font by itself (TN5176, 12).
func (p *Embedded) readEncoding() error {
	c := p.cff
	if c.keyed {
		return nil
	}
	p.codes = map[byte]GID{}
	bySID := map[uint16]GID{}
	for g, sid := range slices.Backward(p.sids) {
		bySID[sid] = GID(g) //nolint:gosec // G115: below the number of glyphs
	}
	switch c.encoding {
	case 0:
		for code := range 256 {
			if sid := standardSID(byte(code)); sid != 0 {
				if g, ok := bySID[sid]; ok {
					p.codes[byte(code)] = g
				}
			}
		}
		return nil
	case 1:
		return &UnsupportedError{Kind: "CFF with the expert encoding"}
	}
	b, err := at(c.table, c.encoding)
	if err != nil {
		return err
	}
	cut := cffError("the encoding is cut off")
	if len(b) < 2 {
		return cut
	}
	form, n := b[0], int(b[1])
	b = b[2:]
	g := 1
	set := func(code byte) {
		if g < len(p.sids) {
			p.codes[code] = GID(g) //nolint:gosec // G115: below the number of glyphs
		}
		g++
	}
	switch form & 0x7F {
	case 0:
		if len(b) < n {
			return cut
		}
		for _, code := range b[:n] {
			set(code)
		}
		b = b[n:]
	case 1:
		if len(b) < 2*n {
			return cut
		}
		for i := range n {
			for k := 0; k <= int(b[2*i+1]); k++ {
				set(b[2*i] + byte(k))
			}
		}
		b = b[2*n:]
	default:
		return cffError("an encoding of unknown form")
	}
	if form&0x80 == 0 {
		return nil
	}
	if len(b) == 0 || len(b) < 1+3*int(b[0]) {
		return cut
	}
	for i := range int(b[0]) {
		if g, ok := bySID[u16(b, 2+3*i)]; ok {
			p.codes[b[1+3*i]] = g
		}
	}
	return nil
}

// readPostNames reads the names of a table post of version 2; what is wrong in it is left out.
func (p *Embedded) readPostNames() {
	t := p.face.dir.get("post")
	if len(t) < 34 || u32(t, 0) != 0x00020000 {
		return
	}
	n := int(u16(t, 32))
	if len(t) < 34+2*n {
		return
	}
	var own []string
	for b := t[34+2*n:]; len(b) > 0 && len(b) > int(b[0]); b = b[1+int(b[0]):] {
		own = append(own, string(b[1:1+int(b[0])]))
	}
	p.names = make([]string, p.face.numGlyphs)
	for g := range min(n, len(p.names)) {
		// The 258 names before those are of the Macintosh; a program of a PDF is found by them through
		// its cmap too.
		if i := int(u16(t, 34+2*g)) - 258; i >= 0 && i < len(own) {
			p.names[g] = own[i]
		}
	}
}

// readCmaps reads the subtables of the forms 0, 4, 6 and 12; others find no glyph.
func (p *Embedded) readCmaps() {
	t := p.face.dir.get("cmap")
	if len(t) < 4 {
		return
	}
	left := mostCmapEntries
	for i := range min(int(u16(t, 2)), (len(t)-4)/8) {
		offset := uint64(u32(t, 8+8*i))
		if offset+6 > uint64(len(t)) {
			continue
		}
		m := embeddedCmap{u16(t, 4+8*i), u16(t, 6+8*i), map[uint32]GID{}}
		add := func(code uint32, g GID) bool {
			if left--; left < 0 {
				return false
			}
			if g != 0 && int(g) < p.face.numGlyphs {
				m.glyphs[code] = g
			}
			return true
		}
		b := t[offset:]
		switch u16(b, 0) {
		case 0:
			for code := range min(256, len(b)-6) {
				add(uint32(code), GID(b[6+code]))
			}
		case 6:
			if len(b) < 10 {
				continue
			}
			first, n := uint32(u16(b, 6)), int(u16(b, 8))
			for k := range min(n, (len(b)-10)/2) {
				add(first+uint32(k), GID(u16(b, 10+2*k)))
			}
		default:
			c, ok, err := readSubtable(b)
			if !ok || err != nil {
				continue
			}
			for s := range max(c.segments, c.groups) {
				from, to := c.bounds(s)
				for code := from; code <= to; code++ {
					if !add(code, c.glyph(rune(code))) { //nolint:gosec // G115: at most 0x10FFFF
						break
					}
				}
			}
		}
		p.maps = append(p.maps, m)
	}
}

// Code is a code of a simple font with what it may mean: a reader finds its glyph by one of them.
type Code struct {
	Value byte
	Name  string // of the glyph; may be empty
	Text  string // what it stands for by its encoding; may be empty
	Mac   int    // the code of Text in MacRomanEncoding, below 0: none
}

// byCode adds the glyphs that a code may show to those in the set: each that some reader would take.
func (p *Embedded) byCode(set map[GID]bool, c Code) {
	for g, n := range p.names {
		if n != "" && n == c.Name {
			set[GID(g)] = true
		}
	}
	if p.cff != nil {
		if g, ok := p.codes[c.Value]; ok {
			set[g] = true
		}
		return
	}
	if len(p.maps) == 0 {
		if int(c.Value) < p.face.numGlyphs {
			set[GID(c.Value)] = true
		}
		return
	}
	for _, m := range p.maps {
		take := func(code uint32) {
			if g, ok := m.glyphs[code]; ok {
				set[g] = true
			}
		}
		take(uint32(c.Value))
		if m.platform == 1 {
			if c.Mac >= 0 {
				take(uint32(c.Mac)) //nolint:gosec // G115: below 256
			}
			continue
		}
		for _, high := range [...]uint32{0xF000, 0xF100, 0xF200} {
			take(high + uint32(c.Value))
		}
		if r := []rune(c.Text); len(r) == 1 {
			take(uint32(r[0]))
		}
	}
}

// ByCodes returns the glyphs that codes of a simple font may show, in rising order, .notdef among
// them. alias tells further names of a glyph that stand for the same text; it may be nil.
func (p *Embedded) ByCodes(codes []Code, alias func(name string) string) []GID {
	set := map[GID]bool{0: true}
	texts := map[string]bool{}
	for _, c := range codes {
		p.byCode(set, c)
		if c.Text != "" {
			texts[c.Text] = true
		}
	}
	for g, n := range p.names {
		if n != "" && alias != nil && texts[alias(n)] {
			set[GID(g)] = true
		}
	}
	return sorted(set)
}

func sorted(set map[GID]bool) []GID {
	out := make([]GID, 0, len(set))
	for g := range set {
		out = append(out, g)
	}
	slices.Sort(out)
	return out
}

// ByCID returns the glyph of a CID, without the CIDToGIDMap of a TrueType font; ok is false where there
// is none.
func (p *Embedded) ByCID(cid uint32) (g GID, ok bool) {
	if p.KeyedByCID() {
		g, ok = p.cids[cid]
		return g, ok
	}
	if cid >= uint32(p.NumGlyphs()) { //nolint:gosec // G115: below 65,536
		return 0, false
	}
	return GID(cid), true //nolint:gosec // G115: below the number of glyphs
}

// Blank reports whether a glyph draws nothing, as far as its program begins to tell.
func (p *Embedded) Blank(g GID) bool {
	if int(g) >= p.NumGlyphs() {
		return true
	}
	if p.cff != nil {
		b := p.cff.charstrings.get(int(g))
		return len(b) <= 4 && len(b) > 0 && b[len(b)-1] == opEndChar
	}
	b, err := p.face.outline(g)
	return err == nil && len(b) == 0
}

// Width returns the advance of a glyph in 1/1000 em, as its program says; ok is false where it says
// none that can be read.
func (p *Embedded) Width(g GID) (w float64, ok bool) {
	if int(g) >= p.NumGlyphs() {
		return 0, false
	}
	if p.cff == nil {
		return float64(p.face.Advance(g)) * 1000 / float64(p.face.UnitsPerEm()), true
	}
	c := p.cff
	d := c.dicts[c.dictOf(g)]
	if p.calls == nil {
		p.calls = newSubrCalls(c)
		p.calls.accent = func(byte, byte) error { return nil }
	}
	p.calls.width = func(v int32, nominal bool) {
		if ok = true; nominal {
			w = d.nominalWidth + float64(v)
		} else {
			w = d.defaultWidth
		}
	}
	if err := p.calls.glyph(g); err != nil || !ok {
		return 0, false
	}
	return w * c.scale(&d) * 1000, true
}

// scale is how many em one unit of a glyph is.
func (c *cff) scale(d *cffDict) float64 {
	s := 1.0
	for _, m := range [...][]byte{c.matrix, d.matrix} {
		if m == nil {
			continue
		}
		v, _, ok := realOperand(m)
		if !ok || v <= 0 {
			return 0.001
		}
		s *= v
	}
	if c.matrix == nil && d.matrix == nil {
		return 0.001
	}
	if c.keyed && c.matrix != nil && d.matrix != nil && s < 1e-5 { // both say thousandths
		return 0.001
	}
	return s
}

// realOperand decodes the number at the start of b, which may be a real (TN5176, 4).
func realOperand(b []byte) (v float64, size int, ok bool) {
	if len(b) == 0 {
		return 0, 0, false
	}
	if b[0] == 29 && len(b) >= 5 {
		return float64(int32(u32(b, 1))), 5, true //nolint:gosec // G115: the field is signed
	}
	if b[0] != 30 {
		if b[0] != opShortInt && (b[0] < 32 || b[0] == 255) {
			return 0, 0, false
		}
		n, size := operand(b)
		return float64(n), size, size > 0
	}
	var text []byte
	for i := 1; i < len(b) && i < 32; i++ {
		for _, nibble := range [...]byte{b[i] >> 4, b[i] & 15} {
			switch nibble {
			case 10:
				text = append(text, '.')
			case 11:
				text = append(text, 'E')
			case 12:
				text = append(text, "E-"...)
			case 14:
				text = append(text, '-')
			case 15:
				v, err := strconv.ParseFloat(string(text), 64)
				return v, i + 1, err == nil && !math.IsInf(v, 0)
			default:
				text = append(text, '0'+nibble)
			}
		}
	}
	return 0, 0, false
}

// Without returns the program with no other glyphs than keep, which rise from 0, and those that they
// are made of: of TrueType all keep their ids, and the others are blank and 0 wide; of CFF the others
// are gone. Nothing tells of the others what they were: neither names nor encodings nor character
// maps. cut is how many are gone. A CFF program is one by itself, whatever it was in.
func (p *Embedded) Without(keep []GID) (program []byte, cut int, err error) {
	if p.cff == nil {
		return p.blanked(keep)
	}
	ids, err := p.withAccents(keep)
	if err != nil {
		return nil, 0, err
	}
	cut = p.NumGlyphs() - len(ids)
	if p.cff.keyed {
		cids := make([]GID, len(ids))
		for i, g := range ids {
			cids[i] = GID(p.sids[g])
		}
		program, err = p.cff.cut(ids, cids, string(p.cff.name))
	} else {
		program, err = p.cutNamed(ids)
	}
	return program, cut, err
}

// withAccents adds the glyphs that accented letters are made of.
func (p *Embedded) withAccents(keep []GID) ([]GID, error) {
	set := map[GID]bool{0: true}
	calls := newSubrCalls(p.cff)
	calls.accent = func(base, accent byte) error {
		for _, c := range [...]byte{base, accent} {
			if g := slices.Index(p.sids, standardSID(c)); g > 0 && !p.cff.keyed {
				set[GID(g)] = true //nolint:gosec // G115: an id
			}
		}
		return nil
	}
	for _, g := range keep {
		if int(g) >= p.NumGlyphs() {
			continue
		}
		set[g] = true
		if err := calls.glyph(g); err != nil {
			return nil, err
		}
	}
	return sorted(set), nil
}

// cutNamed is cut for a font whose glyphs have names, and keeps them.
func (p *Embedded) cutNamed(ids []GID) ([]byte, error) {
	c := p.cff
	calls := newSubrCalls(c)
	calls.accent = func(byte, byte) error { return nil } // they are among ids
	for _, g := range ids {
		if err := calls.glyph(g); err != nil {
			return nil, err
		}
	}
	var own []string // strings that are no standard ones
	sids := make([]uint16, len(ids))
	for i, g := range ids {
		if sids[i] = p.sids[g]; int(sids[i]) >= numStandardStrings {
			sids[i] = numStandardStrings + uint16(len(own)) //nolint:gosec // G115: fewer than glyphs
			own = append(own, p.names[g])
		}
	}
	privates, err := c.privates()
	if err != nil {
		return nil, err
	}
	private := privates[0]

	top := func(charset, encoding, charstrings, at int) []byte {
		var b []byte
		for _, e := range [...]struct {
			operands []byte
			op       int
		}{{c.paint, opPaintType}, {c.matrix, opFontMatrix}, {c.bbox, opFontBBox}, {c.stroke, opStrokeWidth}} {
			if e.operands == nil {
				continue
			}
			if b = append(b, e.operands...); e.op > 0xFF {
				b = append(b, 12)
			}
			b = append(b, byte(e.op)) //nolint:gosec // G115: the low byte
		}
		b = append(appendInteger(b, charset), opCharset)
		if encoding > 0 {
			b = append(appendInteger(b, encoding), opEncoding)
		}
		b = append(appendInteger(b, charstrings), opCharStrings)
		return append(appendInteger(appendInteger(b, len(private)), at), opPrivate)
	}
	encoding := 0
	if c.encoding > 1 {
		encoding = 1
	}
	out := append(make([]byte, 0, 4096), 1, 0, 4, 4)
	out = appendIndex(out, 1, func(int) []byte { return c.name })
	first := top(0, encoding, 0, 0)
	from := len(out)
	out = appendIndex(out, 1, func(int) []byte { return first })
	tail := len(out)
	out = appendIndex(out, len(own), func(i int) []byte { return []byte(own[i]) })
	out = appendIndex(out, c.globals.count, calls.globals.keep(&c.globals))
	charset := len(out)
	out = append(out, 0)
	for _, sid := range sids[1:] {
		out = binary.BigEndian.AppendUint16(out, sid)
	}
	if encoding > 0 { // as supplements, which name no glyph that is gone
		encoding = len(out)
		out = append(out, 0x80, 0, 0)
		n := len(out) - 1
		for code := range 256 {
			g, ok := p.codes[byte(code)]
			if i, kept := slices.BinarySearch(ids, g); ok && kept && out[n] < 255 {
				out = binary.BigEndian.AppendUint16(append(out, byte(code)), sids[i])
				out[n]++
			}
		}
	}
	charstrings := len(out)
	out = appendIndex(out, len(ids), func(i int) []byte { return c.charstrings.get(int(ids[i])) })
	at := len(out)
	out = append(out, private...)
	if l := &c.dicts[0].locals; l.count > 0 {
		out = appendIndex(out, l.count, calls.locals[0].keep(l))
	}
	last := top(charset, encoding, charstrings, at)
	if again := appendIndex(nil, 1, func(int) []byte { return last }); len(again) == tail-from {
		copy(out[from:], again)
		return out, nil
	}
	return nil, cffError("a Top DICT that changes its size") // cannot be: operands have a fixed size
}
