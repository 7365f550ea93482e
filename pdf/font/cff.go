package font

import (
	"encoding/binary"
	"fmt"

	"example.com/quire/pdf/internal/diag"
)

// cff is the table "CFF " of a font (Adobe Technical Note 5176, below: TN5176), as far as cutting
// it down needs it. All slices share the memory of the file.
type cff struct {
	table       []byte
	strings     cffIndex
	charset     int  // offset; 0 to 2: a predefined one
	encoding    int  // alike, 0 and 1; of fonts that are not keyed by CIDs
	keyed       bool // by CIDs
	charstrings cffIndex
	globals     cffIndex
	matrix      []byte // operands of the top FontMatrix; nil: the default
	bbox        []byte // operands of FontBBox
	dicts       []cffDict
	selects     []byte // FDSelect; nil: all glyphs are of dicts[0]
}

// cffDict is a Private DICT with its subroutines, and the FontMatrix of its Font DICT.
type cffDict struct {
	matrix  []byte
	private []byte
	locals  cffIndex

	defaultWidth, nominalWidth float64
}

// Operators of DICTs (TN5176, tables 9, 10 and 23); those of two bytes have escape in the high one.
const (
	opFontBBox       = 5
	opCharset        = 15
	opEncoding       = 16
	opCharStrings    = 17
	opPrivate        = 18
	opSubrs          = 19
	opDefaultWidth   = 20
	opNominalWidth   = 21
	opCharstringType = 12<<8 | 6
	opFontMatrix     = 12<<8 | 7
	opROS            = 12<<8 | 30
	opCIDCount       = 12<<8 | 34
	opFDArray        = 12<<8 | 36
	opFDSelect       = 12<<8 | 37
)

func cffError(reason string) error { return &FormatError{Table: "CFF ", Reason: reason} }

// cffIndex is an INDEX (TN5176, 5): count objects, whose offsets are checked when it is read.
type cffIndex struct {
	count   int
	offSize int
	offsets []byte
	data    []byte // the byte before the first object, so that offsets start at 1
}

// readIndex reads the INDEX at the start of b and returns what comes behind it.
func readIndex(b []byte) (x cffIndex, rest []byte, err error) {
	if len(b) < 2 {
		return x, nil, cffError("an INDEX is cut off")
	}
	if x.count = int(u16(b, 0)); x.count == 0 {
		return x, b[2:], nil
	}
	if len(b) < 3 || b[2] < 1 || b[2] > 4 {
		return x, nil, cffError("an INDEX has offsets of unknown size")
	}
	x.offSize = int(b[2])
	size := (x.count + 1) * x.offSize
	if len(b) < 3+size {
		return x, nil, cffError("an INDEX is cut off")
	}
	x.offsets, x.data = b[3:3+size], b[2+size:]
	last := 1
	for i := range x.count + 1 {
		at := x.offset(i)
		if at < last || at > len(x.data) || i == 0 && at != 1 {
			return x, nil, cffError("an object of an INDEX lies outside")
		}
		last = at
	}
	rest = x.data[last:]
	x.data = x.data[:last:last]
	return x, rest, nil
}

func (x *cffIndex) offset(i int) int {
	v := 0
	for _, c := range x.offsets[i*x.offSize : (i+1)*x.offSize] {
		v = v<<8 | int(c)
	}
	return v
}

func (x *cffIndex) get(i int) []byte {
	from, to := x.offset(i), x.offset(i+1)
	return x.data[from:to:to]
}

// appendIndex appends an INDEX of n objects.
func appendIndex(dst []byte, n int, get func(int) []byte) []byte {
	dst = binary.BigEndian.AppendUint16(dst, uint16(n)) //nolint:gosec // G115: as many as an INDEX of the font has
	if n == 0 {
		return dst
	}
	total := 1
	for i := range n {
		total += len(get(i))
	}
	size := 1
	for total>>(8*size) != 0 {
		size++
	}
	dst = append(dst, byte(size)) //nolint:gosec // G115: at most 4
	offset := func(v int) {
		for k := size - 1; k >= 0; k-- {
			dst = append(dst, byte(v>>(8*k))) //nolint:gosec // G115: a byte of it
		}
	}
	at := 1
	offset(at)
	for i := range n {
		at += len(get(i))
		offset(at)
	}
	for i := range n {
		dst = append(dst, get(i)...)
	}
	return dst
}

// eachEntry calls do for the entries of a DICT (TN5176, 4) with their operands as they stand.
func eachEntry(b []byte, do func(op int, operands []byte) error) error {
	start := 0
	for i := 0; i < len(b); {
		switch c := b[i]; {
		case c <= 21:
			op, from := int(c), i
			if i++; c == 12 {
				if i >= len(b) {
					return cffError("an operator of a DICT is cut off")
				}
				op = 12<<8 | int(b[i])
				i++
			}
			if err := do(op, b[start:from]); err != nil {
				return err
			}
			start = i
		case c == 28:
			i += 3
		case c == 29:
			i += 5
		case c == 30: // ends with a nibble of ones
			for i++; i < len(b) && b[i]&0x0F != 0x0F && b[i]>>4 != 0x0F; i++ {
			}
			i++
		case c >= 32 && c <= 246:
			i++
		case c >= 247 && c <= 254:
			i += 2
		default:
			return cffError(fmt.Sprintf("a DICT has the reserved byte %d", c))
		}
	}
	return nil
}

// integer decodes the operand of an entry that has one.
func integer(b []byte) (int, error) {
	v, err := integers(b, 1)
	return v[0], err
}

// integers decodes n integer operands.
func integers(b []byte, n int) (v [2]int, err error) {
	for k := range v[:n] {
		number, size := int32(0), 0
		switch {
		case len(b) >= 5 && b[0] == 29:
			number, size = int32(u32(b, 1)), 5 //nolint:gosec // G115: the field is signed
		case len(b) > 0 && (b[0] == opShortInt || b[0] >= 32 && b[0] <= 254):
			number, size = operand(b)
		}
		if size == 0 {
			return v, cffError("an operand of a DICT is not an integer")
		}
		v[k], b = int(number), b[size:]
	}
	if len(b) != 0 {
		return v, cffError("an operator of a DICT has too many operands")
	}
	return v, nil
}

// appendInteger appends an operand of five bytes whatever its value, so that sizes are known before
// offsets are.
func appendInteger(dst []byte, v int) []byte {
	return binary.BigEndian.AppendUint32(append(dst, 29), uint32(v)) //nolint:gosec // G115: no larger than the font
}

// at returns what stands from an offset on.
func at(t []byte, offset int) ([]byte, error) {
	if offset < 0 || offset > len(t) {
		return nil, cffError("an offset lies outside")
	}
	return t[offset:], nil
}

// readCFF reads the table of a font with CFF outlines. The charstrings are looked at when they are
// used.
func (f *Face) readCFF(diag.Limits) error {
	t, err := f.dir.need("CFF ", 4)
	if err != nil {
		return err
	}
	f.cff, err = parseCFF(t)
	if err != nil {
		return err
	}
	if n := f.cff.charstrings.count; n != f.numGlyphs {
		return cffError(fmt.Sprintf("%d charstrings for %d glyphs", n, f.numGlyphs))
	}
	return nil
}

// parseCFF reads a CFF font by itself, of four bytes at least.
func parseCFF(t []byte) (*cff, error) {
	if t[0] != 1 || int(t[2]) > len(t) {
		return nil, cffError(fmt.Sprintf("version %d.%d", t[0], t[1]))
	}
	_, rest, err := readIndex(t[t[2]:]) // names
	if err != nil {
		return nil, err
	}
	tops, rest, err := readIndex(rest)
	if err != nil {
		return nil, err
	}
	if tops.count != 1 {
		return nil, cffError(fmt.Sprintf("%d fonts", tops.count))
	}
	c := &cff{table: t}
	if c.strings, rest, err = readIndex(rest); err != nil {
		return nil, err
	}
	if c.globals, _, err = readIndex(rest); err != nil {
		return nil, err
	}
	return c, c.readTop(t, tops.get(0))
}

func (c *cff) readTop(t, top []byte) error {
	var chars, fonts, selects int
	single := cffDict{}
	err := eachEntry(top, func(op int, operands []byte) error {
		var err error
		switch op {
		case opFontMatrix:
			c.matrix = operands
		case opFontBBox:
			c.bbox = operands
		case opCharset:
			c.charset, err = integer(operands)
		case opEncoding:
			c.encoding, err = integer(operands)
		case opROS:
			c.keyed = true
		case opCharStrings:
			chars, err = integer(operands)
		case opFDArray:
			fonts, err = integer(operands)
		case opFDSelect:
			selects, err = integer(operands)
		case opPrivate:
			err = single.readPrivate(t, operands)
		case opCharstringType:
			var kind int
			if kind, err = integer(operands); err == nil && kind != 2 {
				err = &UnsupportedError{Kind: "CFF with charstrings of type 1"}
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	b, err := at(t, chars)
	if err != nil {
		return err
	}
	if c.charstrings, _, err = readIndex(b); err != nil {
		return err
	}
	if !c.keyed {
		c.dicts = []cffDict{single}
		return nil
	}
	if err := c.readFonts(t, fonts); err != nil {
		return err
	}
	return c.readSelects(t, selects)
}

// readPrivate reads the Private DICT that operands, a size and an offset, name.
func (d *cffDict) readPrivate(t, operands []byte) error {
	v, err := integers(operands, 2)
	if err != nil {
		return err
	}
	b, err := at(t, v[1])
	if err != nil {
		return err
	}
	if v[0] < 0 || v[0] > len(b) {
		return cffError("a Private DICT lies outside")
	}
	d.private = b[:v[0]:v[0]]
	return eachEntry(d.private, func(op int, operands []byte) error {
		switch op {
		case opDefaultWidth:
			d.defaultWidth, _, _ = realOperand(operands)
		case opNominalWidth:
			d.nominalWidth, _, _ = realOperand(operands)
		}
		if op != opSubrs {
			return nil
		}
		offset, err := integer(operands)
		if err != nil {
			return err
		}
		subrs, err := at(b, offset) // from the start of the Private DICT
		if err == nil && offset > 0 {
			d.locals, _, err = readIndex(subrs)
		}
		return err
	})
}

func (c *cff) readFonts(t []byte, offset int) error {
	b, err := at(t, offset)
	if err != nil {
		return err
	}
	fonts, _, err := readIndex(b)
	if err != nil {
		return err
	}
	if fonts.count == 0 || fonts.count > 256 {
		return cffError(fmt.Sprintf("%d Font DICTs", fonts.count))
	}
	c.dicts = make([]cffDict, fonts.count)
	for i := range c.dicts {
		d := &c.dicts[i]
		err := eachEntry(fonts.get(i), func(op int, operands []byte) error {
			switch op {
			case opFontMatrix:
				d.matrix = operands
			case opPrivate:
				return d.readPrivate(t, operands)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// readSelects reads FDSelect (TN5176, 19) into a byte for each glyph.
func (c *cff) readSelects(t []byte, offset int) error {
	b, err := at(t, offset)
	if err != nil {
		return err
	}
	n := c.charstrings.count
	cut := cffError("FDSelect is cut off")
	switch {
	case len(b) > 0 && b[0] == 0:
		if len(b) < 1+n {
			return cut
		}
		c.selects = b[1 : 1+n]
	case len(b) >= 5 && b[0] == 3:
		ranges := int(u16(b, 1))
		if len(b) < 5+3*ranges {
			return cut
		}
		c.selects = make([]byte, n)
		for i := range ranges {
			from, to := int(u16(b, 3+3*i)), int(u16(b, 6+3*i))
			if from > to || to > n || i == 0 && from != 0 || i == ranges-1 && to != n {
				return cffError("FDSelect does not cover the glyphs")
			}
			for g := from; g < to; g++ {
				c.selects[g] = b[5+3*i]
			}
		}
	default:
		return cffError("FDSelect of unknown form")
	}
	for _, d := range c.selects {
		if int(d) >= len(c.dicts) {
			return cffError("FDSelect names no Font DICT")
		}
	}
	return nil
}

// dictOf returns the number of the Font DICT of a glyph.
func (c *cff) dictOf(g GID) int {
	if c.selects == nil {
		return 0
	}
	return int(c.selects[g])
}

// cutCFF makes the font program of a CIDFont of type 0: the glyphs of ids, which rise from 0, with
// their ids in the font as CIDs, and the subroutines that they call. Other subroutines are empty,
// for numbers count from the middle of an INDEX. A font that is not keyed by CIDs becomes one that
// is (ISO 32000-2, 9.7.4.2): then its charset says what glyph a CID is.
func (f *Face) cutCFF(ids []GID, name string) ([]byte, error) {
	c := f.cff
	calls := newSubrCalls(c)
	for _, g := range ids {
		if err := calls.glyph(g); err != nil {
			return nil, err
		}
	}
	strings := [...]string{"Adobe", "Identity"} // 391 standard strings come before

	out := append(make([]byte, 0, 4096), 1, 0, 4, 4)
	out = appendIndex(out, 1, func(int) []byte { return []byte(name) })
	top := c.appendTop(nil, [4]int{}, 0)
	topAt := len(out) + 2 + 1 + 2 // count, size of the offsets, two of them
	if len(top)+1 > 0xFF {
		topAt += 2
	}
	out = appendIndex(out, 1, func(int) []byte { return top })
	out = appendIndex(out, len(strings), func(i int) []byte { return []byte(strings[i]) })
	out = appendIndex(out, c.globals.count, calls.globals.keep(&c.globals))
	var offsets [4]int
	offsets[0] = len(out)
	out = appendCharset(out, ids)
	offsets[1] = len(out)
	out = c.appendSelects(out, ids)
	offsets[2] = len(out)
	out = appendIndex(out, len(ids), func(i int) []byte { return c.charstrings.get(int(ids[i])) })
	offsets[3] = len(out)
	copy(out[topAt:], c.appendTop(nil, offsets, int(ids[len(ids)-1])+1))

	privates := make([][]byte, len(c.dicts))
	for i := range c.dicts {
		var err error
		if privates[i], err = c.dicts[i].rewritten(); err != nil {
			return nil, err
		}
	}
	fonts := func(next int) func(int) []byte {
		places := make([]int, len(c.dicts))
		for i := range places {
			places[i] = next
			next += len(privates[i]) + calls.locals[i].size(&c.dicts[i].locals)
		}
		return func(i int) []byte {
			b := c.dicts[i].appendMatrix(nil)
			b = appendInteger(appendInteger(b, len(privates[i])), places[i])
			return append(b, opPrivate)
		}
	}
	size := len(appendIndex(nil, len(c.dicts), fonts(0)))
	out = appendIndex(out, len(c.dicts), fonts(len(out)+size))
	for i := range c.dicts {
		out = append(out, privates[i]...)
		if l := &c.dicts[i].locals; l.count > 0 {
			out = appendIndex(out, l.count, calls.locals[i].keep(l))
		}
	}
	return out, nil
}

// appendTop appends the Top DICT; offsets are those of charset, FDSelect, CharStrings and FDArray.
func (c *cff) appendTop(b []byte, offsets [4]int, cids int) []byte {
	const registry, ordering = 391, 392
	b = appendInteger(appendInteger(appendInteger(b, registry), ordering), 0)
	b = append(b, opROS>>8, opROS&0xFF)
	if c.matrix != nil {
		b = append(append(b, c.matrix...), opFontMatrix>>8, opFontMatrix&0xFF)
	}
	if c.bbox != nil {
		b = append(append(b, c.bbox...), opFontBBox)
	}
	b = append(appendInteger(b, cids), opCIDCount>>8, opCIDCount&0xFF)
	b = append(appendInteger(b, offsets[0]), opCharset)
	b = append(appendInteger(b, offsets[1]), opFDSelect>>8, opFDSelect&0xFF)
	b = append(appendInteger(b, offsets[2]), opCharStrings)
	return append(appendInteger(b, offsets[3]), opFDArray>>8, opFDArray&0xFF)
}

func (d *cffDict) appendMatrix(b []byte) []byte {
	if d.matrix != nil {
		b = append(append(b, d.matrix...), opFontMatrix>>8, opFontMatrix&0xFF)
	}
	return b
}

// rewritten returns the Private DICT with its subroutines right behind it.
func (d *cffDict) rewritten() ([]byte, error) {
	out := make([]byte, 0, len(d.private)+6)
	err := eachEntry(d.private, func(op int, operands []byte) error {
		if op == opSubrs {
			return nil
		}
		out = append(out, operands...)
		if op > 0xFF {
			out = append(out, 12)
		}
		out = append(out, byte(op)) //nolint:gosec // G115: the low byte
		return nil
	})
	if d.locals.count > 0 {
		out = append(appendInteger(out, len(out)+6), opSubrs)
	}
	return out, err
}

// appendCharset appends a charset of ranges (TN5176, table 20), which leaves .notdef out.
func appendCharset(out []byte, ids []GID) []byte {
	out = append(out, 2)
	for i := 1; i < len(ids); {
		n := 1
		for i+n < len(ids) && ids[i+n] == ids[i]+GID(n) {
			n++
		}
		out = binary.BigEndian.AppendUint16(out, uint16(ids[i]))
		out = binary.BigEndian.AppendUint16(out, uint16(n-1))
		i += n
	}
	return out
}

// appendSelects appends FDSelect in ranges (TN5176, table 29).
func (c *cff) appendSelects(out []byte, ids []GID) []byte {
	out = append(out, 3)
	count := len(out)
	out = append(out, 0, 0)
	ranges := 0
	for i, g := range ids {
		if d := c.dictOf(g); i == 0 || d != c.dictOf(ids[i-1]) {
			out = binary.BigEndian.AppendUint16(out, uint16(i))
			out = append(out, byte(d)) //nolint:gosec // G115: at most 256 Font DICTs
			ranges++
		}
	}
	binary.BigEndian.PutUint16(out[count:], uint16(ranges))
	return binary.BigEndian.AppendUint16(out, uint16(len(ids))) //nolint:gosec // G115: as above
}
