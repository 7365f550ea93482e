package font

import (
	"maps"
	"math"
	"slices"
	"strconv"

	"example.com/quire/pdf/internal/diag"
)

// Embedded is the font program of a PDF file: Type 1 (FontFile), TrueType (FontFile2), or CFF by
// itself or in an OpenType file (FontFile3). Its glyphs are found as readers of PDF find them (ISO
// 32000-2, 9.6.5 and 9.7.4). It is not safe for concurrent use.
type Embedded struct {
	face  *Face // with outlines in glyf; nil: cff or type1
	cff   *cff
	type1 *type1
	// names finds the first glyph of a name, as far as glyphs have some: of the table post or the
	// charset of a CFF font that is not keyed by CIDs.
	names map[string]GID
	texts map[string][]GID // glyphs by what their names stand for; nil until ByCode asks
	sids  []uint16         // of CFF: SIDs or CIDs by glyph
	codes map[byte]GID     // of CFF: its own encoding
	cids  map[uint16]GID   // of CFF that is keyed by CIDs
	calls *subrCalls       // of Width
	maps  []embeddedCmap   // of TrueType
	// unread says that the program has names or character maps that are not read: what it has for a
	// code is not known then.
	unread bool
}

// embeddedCmap is a subtable of cmap; glyph returns 0 for a code that it does not have.
type embeddedCmap struct {
	platform uint16
	glyph    func(code uint32) GID
}

// Limits of one program, of which real ones come nowhere near.
const (
	mostCmaps = 64 // subtables; a program with more is one whose maps are not read
	// mostNameBytes is the longest name of PDF (ISO 32000-1, annex C.2): no font asks for a longer
	// one.
	mostNameBytes = 127
	mostAliases   = 16 // glyphs whose names stand for one text
)

// ParseEmbedded reads a font program. It keeps data. Zero limits are the defaults.
func ParseEmbedded(data []byte, l diag.Limits) (*Embedded, error) {
	l = l.WithDefaults()
	if err := diag.Check("FontBytes", int64(len(data)), l.FontBytes, "font program"); err != nil {
		return nil, err //nolint:wrapcheck // a LimitError says all
	}
	if len(data) < 5 {
		return nil, &FormatError{Reason: "shorter than its header"}
	}
	if data[0] == '%' || data[0] == 0x80 {
		return parseType1(data, l)
	}
	table := data
	if data[0] != 1 { // the major version of CFF
		dir, err := readDirectory(data, 0)
		if err != nil {
			return nil, err
		}
		if dir.get("glyf") != nil {
			return parseTrueType(data, dir, l)
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

// parseTrueType reads the tables that a reader of PDF needs (9.9.1); whatever else the program has,
// it may lack.
func parseTrueType(data []byte, dir directory, l diag.Limits) (*Embedded, error) {
	f := &Face{data: data, whole: true, dir: dir}
	for _, read := range []func(*Face, diag.Limits) error{(*Face).readHead, (*Face).readMaxp, (*Face).readHorizontal, (*Face).readOutlines} {
		if err := read(f, l); err != nil {
			return nil, err
		}
	}
	p := &Embedded{face: f}
	p.readPostNames()
	p.readCmaps()
	return p, nil
}

// CFF reports whether the program is CFF.
func (p *Embedded) CFF() bool { return p.cff != nil }

// Type1 reports whether the program is Type 1.
func (p *Embedded) Type1() bool { return p.type1 != nil }

// NumGlyphs returns the number of glyphs.
func (p *Embedded) NumGlyphs() int {
	if p.cff != nil {
		return p.cff.charstrings.count
	}
	if p.type1 != nil {
		return len(p.type1.glyphs)
	}
	return p.face.numGlyphs
}

// name notes the name of a glyph.
func (p *Embedded) name(n []byte, g GID) {
	if len(n) == 0 || len(n) > mostNameBytes {
		return
	}
	if _, ok := p.names[string(n)]; !ok {
		p.names[string(n)] = g
	}
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
		p.cids = make(map[uint16]GID, n)
		for g, cid := range slices.Backward(p.sids) {
			p.cids[cid] = GID(g) //nolint:gosec // G115: below the number of glyphs
		}
		return nil
	}
	p.names = map[string]GID{}
	for g, sid := range p.sids {
		p.name(c.string(sid), GID(g))
	}
	return nil
}

// string returns the string of an SID; none: it has none.
func (c *cff) string(sid uint16) []byte {
	if int(sid) < numStandardStrings {
		return []byte(standardStrings()[sid])
	}
	if i := int(sid) - numStandardStrings; i < c.strings.count {
		return c.strings.get(i)
	}
	return nil
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

// readPostNames reads the names of a table post (OpenType, post); one that is cut off has none.
func (p *Embedded) readPostNames() {
	t := p.face.dir.get("post")
	if len(t) < 32 {
		return
	}
	p.names = map[string]GID{}
	standard := macintoshNames()
	switch u32(t, 0) {
	case 0x00010000:
		for g := range min(p.face.numGlyphs, len(standard)) {
			p.name([]byte(standard[g]), GID(g))
		}
		return
	case 0x00020000:
	case 0x00030000: // without names
		return
	default:
		p.unread = true
		return
	}
	if len(t) < 34 || len(t) < 34+2*int(u16(t, 32)) {
		return
	}
	n := int(u16(t, 32))
	var own [][]byte
	for b := t[34+2*n:]; len(b) > 0 && len(b) > int(b[0]); b = b[1+int(b[0]):] {
		own = append(own, b[1:1+int(b[0])])
	}
	for g := range min(n, p.face.numGlyphs) {
		i := int(u16(t, 34+2*g))
		switch {
		case i < len(standard):
			p.name([]byte(standard[i]), GID(g))
		case i-len(standard) < len(own):
			p.name(own[i-len(standard)], GID(g))
		}
	}
}

// readCmaps finds the subtables. Those of variation sequences show no glyph of a code of PDF.
func (p *Embedded) readCmaps() {
	t := p.face.dir.get("cmap")
	if len(t) < 4 {
		return
	}
	n := int(u16(t, 2))
	if n > mostCmaps || n > (len(t)-4)/8 {
		p.unread = true
		return
	}
	for i := range n {
		offset := uint64(u32(t, 8+8*i))
		if offset+6 > uint64(len(t)) {
			p.unread = true
			continue
		}
		if u16(t[offset:], 0) == 14 {
			continue
		}
		glyph := readCodes(t[offset:])
		if glyph == nil {
			p.unread = true
			continue
		}
		p.maps = append(p.maps, embeddedCmap{u16(t, 4+8*i), glyph})
	}
}

// readCodes returns what finds glyphs in a subtable of the forms 0, 4, 6 and 12, nil for others and
// for one that is damaged.
func readCodes(b []byte) func(code uint32) GID {
	switch u16(b, 0) {
	case 0:
		codes := b[6:min(262, len(b))]
		return func(code uint32) GID {
			if code >= uint32(len(codes)) { //nolint:gosec // G115: at most 256
				return 0
			}
			return GID(codes[code])
		}
	case 6:
		if len(b) < 10 {
			return nil
		}
		first, codes := uint32(u16(b, 6)), b[10:min(len(b), 10+2*int(u16(b, 8)))]
		return func(code uint32) GID {
			if code < first || int(code-first) >= len(codes)/2 {
				return 0
			}
			return GID(u16(codes, 2*int(code-first)))
		}
	}
	c, ok, err := readSubtable(b)
	if !ok || err != nil {
		return nil
	}
	return func(code uint32) GID {
		if code > 0x10FFFF {
			return 0
		}
		return c.glyph(rune(code))
	}
}

// Code is a code of a simple font with its possible meanings: a reader finds its glyph by one of
// them.
type Code struct {
	Value byte
	Name  string // of the glyph; may be empty
	Text  string // its text by the encoding; may be empty
	Mac   int    // the code of Text in MacRomanEncoding, below 0: none
}

// ByCode returns the glyphs that a code of a simple font may show, each of which some reader
// chooses, in rising order and without .notdef. known is false if the program has maps or names
// that are not read. text returns the text of a glyph name, and must be the same function in all
// calls.
func (p *Embedded) ByCode(c Code, text func(name string) string) (glyphs []GID, known bool) {
	if p.unread || p.cff != nil && p.cff.keyed {
		return nil, false
	}
	set := map[GID]bool{}
	if g, ok := p.names[c.Name]; ok {
		set[g] = true
	}
	if c.Text != "" && (p.type1 == nil || c.Name == "") { // glyphs of Type 1 have names and nothing else
		for _, g := range p.named(text)[c.Text] {
			set[g] = true
		}
	}
	switch {
	case p.cff != nil:
		if g, ok := p.codes[c.Value]; ok {
			set[g] = true
		}
	case p.type1 != nil:
	case len(p.maps) == 0:
		set[GID(c.Value)] = true
	default:
		for _, m := range p.maps {
			m.byCode(set, c)
		}
	}
	for g := range set {
		if g > 0 && int(g) < p.NumGlyphs() {
			glyphs = append(glyphs, g)
		}
	}
	slices.Sort(glyphs)
	return glyphs, true
}

// named returns the glyphs by what their names stand for.
func (p *Embedded) named(text func(name string) string) map[string][]GID {
	if p.texts == nil {
		p.texts = map[string][]GID{}
		for _, n := range slices.Sorted(maps.Keys(p.names)) {
			g := p.names[n]
			if s := text(n); s != "" && len(p.texts[s]) < mostAliases {
				p.texts[s] = append(p.texts[s], g)
			}
		}
	}
	return p.texts
}

// byCode adds the glyphs that a code may show by one subtable (9.6.5.4).
func (m embeddedCmap) byCode(set map[GID]bool, c Code) {
	set[m.glyph(uint32(c.Value))] = true
	if m.platform == 1 {
		if c.Mac >= 0 {
			set[m.glyph(uint32(c.Mac))] = true //nolint:gosec // G115: below 256
		}
		return
	}
	for _, high := range [...]uint32{0xF000, 0xF100, 0xF200} {
		set[m.glyph(high+uint32(c.Value))] = true
	}
	if r := []rune(c.Text); len(r) == 1 {
		set[m.glyph(uint32(r[0]))] = true
	}
}

// ByCID returns the glyph of a CID, without the CIDToGIDMap of a TrueType font; ok is false if
// there is none.
func (p *Embedded) ByCID(cid uint32) (g GID, ok bool) {
	if p.cff != nil && p.cff.keyed {
		if cid > math.MaxUint16 {
			return 0, false
		}
		g, ok = p.cids[uint16(cid)]
		return g, ok
	}
	if cid >= uint32(p.NumGlyphs()) { //nolint:gosec // G115: below 65,536
		return 0, false
	}
	return GID(cid), true //nolint:gosec // G115: below the number of glyphs
}

// Width returns the advance of a glyph in 1/1000 em, as its program says; ok is false where it says
// none that can be read.
func (p *Embedded) Width(g GID) (w float64, ok bool) {
	if int(g) >= p.NumGlyphs() {
		return 0, false
	}
	if p.type1 != nil {
		return p.type1.width(g)
	}
	if p.cff == nil {
		return float64(p.face.Advance(g)) * 1000 / float64(p.face.UnitsPerEm()), true
	}
	c := p.cff
	d := c.dicts[c.dictOf(g)]
	if p.calls == nil {
		p.calls = newSubrCalls(c)
		p.calls.accents = true
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

// Names returns the names of the glyphs but .notdef, sorted; ok is false where glyphs have none, or
// not all of them are read.
func (p *Embedded) Names() (names []string, ok bool) {
	if p.type1 == nil && (p.cff == nil || p.cff.keyed) {
		return nil, false
	}
	names = slices.Sorted(maps.Keys(p.names))
	return slices.DeleteFunc(names, func(n string) bool { return n == ".notdef" }), true
}

// CharacterMaps returns how many subtables the cmap of a TrueType program has, and whether there is
// one of symbols (platform 3, encoding 0), of Unicode (3, 1) and of the Macintosh (1, 0); n is
// below 0 where that is not known.
func (p *Embedded) CharacterMaps() (n int, symbols, unicode, macintosh bool) {
	if p.face == nil || p.unread {
		return -1, false, false, false
	}
	t := p.face.dir.get("cmap")
	if len(t) < 4 {
		return 0, false, false, false
	}
	n = int(u16(t, 2))
	for i := range n {
		platform, encoding := u16(t, 4+8*i), u16(t, 6+8*i)
		symbols = symbols || platform == 3 && encoding == 0
		unicode = unicode || platform == 3 && encoding == 1
		macintosh = macintosh || platform == 1 && encoding == 0
	}
	return n, symbols, unicode, macintosh
}

// CIDSet returns the bits of the CIDs for which the program has glyphs, the highest of each byte
// first (ISO 32000-1, table 124). For TrueType these are all glyph numbers.
func (p *Embedded) CIDSet() []byte {
	const cids = 1 << 16
	set := make([]byte, 0, p.NumGlyphs()/8+1)
	add := func(cid int) {
		for len(set) <= cid/8 {
			set = append(set, 0)
		}
		set[cid/8] |= 0x80 >> (cid % 8)
	}
	if !p.CFF() {
		for g := range p.NumGlyphs() {
			add(g)
		}
		return set
	}
	for cid := range uint32(cids) {
		if _, ok := p.ByCID(cid); ok {
			add(int(cid))
		}
	}
	return set
}
