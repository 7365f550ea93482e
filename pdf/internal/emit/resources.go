package emit

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strconv"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/font"
	"example.com/quire/pdf/internal/diag"
	"example.com/quire/pdf/internal/image"
	"example.com/quire/pdf/internal/layout"
	"example.com/quire/pdf/internal/text"
)

// fontRes is a font of the document.
type fontRes struct {
	face *font.Face
	use  *font.Use
	name string
	ref  cos.Ref

	codes [0x80]code // of the characters that words were shown with
}

// code is a character in a literal string (7.3.4.2): the two bytes of its glyph, each of which may
// be escaped, from the lowest one on, and above 32 bits how many these are; 0: no word has it yet.
type code uint64

// literal shows a word as a literal string, by the table of its glyphs, which say themselves what
// they stand for.
func (r *fontRes) literal(b []byte, table *text.ASCII, s string) []byte {
	from := len(b)
	// A code is written with all of its four bytes, and the next one over what it does not have.
	b = slices.Grow(b, 4*len(s)+len("("+shown))
	to, codes := b[from:cap(b)], &r.codes
	to[0] = '('
	n := 1
	for i := range len(s) {
		c := codes[s[i]&0x7F]
		if c == 0 {
			r.encode(table, s)
			return r.literal(b[:from], table, s)
		}
		binary.LittleEndian.PutUint32(to[n:n+4], uint32(c)) //nolint:gosec // G115: the bytes
		n += int(c >> 32)
	}
	binary.LittleEndian.PutUint32(to[n:n+4], ')'|'T'<<8|'j'<<16|'\n'<<24)
	return b[:from+n+len(shown)]
}

// shown stands behind a word, show is the operator in it.
const shown, show = ")Tj\n", "Tj\n"

// kerned shows a word some of whose letters are kerned, in size, by the table of its glyphs. The
// operand is that of words.
func (r *fontRes) kerned(b []byte, table *text.ASCII, s string) []byte {
	upem := int64(r.face.UnitsPerEm())
	half := upem / 2
	diff := int64(0) // from where a letter belongs to where a viewer stands, in 1/1000 font units
	begin, from := len(b), 0
	b = append(b, '[')
	for i := 1; i < len(s); i++ {
		diff -= int64(table.Kern(s[i-1], s[i])) * 1000
		if diff < half && diff > -half {
			continue
		}
		n := (diff + half) / upem
		if diff < 0 {
			n = -((-diff + half) / upem)
		}
		diff -= n * upem
		b = r.literal(b, table, s[from:i])
		b = cos.AppendInt(b[:len(b)-len(show)], n)
		from = i
	}
	if from == 0 {
		return r.literal(b[:begin], table, s)
	}
	b = r.literal(b, table, s[from:])
	return append(b[:len(b)-len(show)], "]TJ\n"...)
}

// encode makes the codes of the characters of a word.
func (r *fontRes) encode(table *text.ASCII, s string) {
	for i := range len(s) {
		g, _ := table.Glyph(s[i])
		r.use.Draw(g)
		var room [len("(\\n\\n)")]byte
		b := cos.AppendLiteral(room[:0], []byte{byte(g >> 8), byte(g)}) //nolint:gosec // G115: the bytes of 16 bits
		var four [4]byte
		n := copy(four[:], b[1:len(b)-1])
		r.codes[s[i]&0x7F] = code(binary.LittleEndian.Uint32(four[:])) | code(n)<<32 //nolint:gosec // G115: at most 4
	}
}

func (e *Emitter) fontOf(f *font.Face) *fontRes {
	for _, r := range e.fonts { // a document has a handful
		if r.face == f {
			return r
		}
	}
	n := len(e.fonts)
	if n == cap(e.fonts) {
		e.fonts = slices.Grow(e.fonts, 1)
	}
	e.fonts = e.fonts[:n+1]
	r := e.fonts[n] // of a document before
	if r == nil {
		r = &fontRes{use: &font.Use{}, name: "F" + strconv.Itoa(n+1)}
		e.fonts[n] = r
	}
	*r = fontRes{face: f, use: r.use, name: r.name, ref: e.w.Reserve()}
	r.use.Reset(f)
	return r
}

type imageRes struct {
	name string
	ref  cos.Ref
}

// imageOf embeds an image where it is first drawn; images of equal bytes are one
// object.
func (e *Emitter) imageOf(m *image.Image) (*imageRes, error) {
	key := m.Hash()
	if r, ok := e.byHash[key]; ok {
		return r, nil
	}
	ref, err := e.xobject(m.XObject())
	if err != nil {
		return nil, err
	}
	r := e.imageRes.One()
	r.name, r.ref = "I"+strconv.Itoa(len(e.images)+1), ref
	e.images = append(e.images, r)
	e.byHash[key] = r
	return r, nil
}

// xobject writes an image XObject with its soft mask (8.9.5).
func (e *Emitter) xobject(x *image.XObject) (cos.Ref, error) {
	a := e.w.Arena()
	d := append(
		a.Entries(10),
		cos.E("Type", cos.Name("XObject")), cos.E("Subtype", cos.Name("Image")),
		cos.E("Width", a.Int(x.Width)), cos.E("Height", a.Int(x.Height)),
		cos.E("BitsPerComponent", a.Int(x.Bits)),
	)
	space, err := e.colorSpace(x)
	if err != nil {
		return cos.Ref{}, err
	}
	if x.Palette != nil {
		space = cos.Array{cos.Name("Indexed"), space, cos.Int(len(x.Palette)/3 - 1), cos.Hex(x.Palette)}
	}
	d = append(d, cos.E("ColorSpace", space))
	if x.Inverted {
		var decode cos.Array
		for range 4 {
			decode = append(decode, cos.Int(1), cos.Int(0))
		}
		d = append(d, cos.E("Decode", decode))
	}
	if x.Mask != nil {
		mask, err := e.xobject(x.Mask)
		if err != nil {
			return mask, err
		}
		d = append(d, cos.E("SMask", a.Ref(mask)))
	}
	ref := e.w.Reserve()
	if p := x.Predictor; p != nil {
		d = append(d, cos.E("DecodeParms", a.Dict(append(
			a.Entries(4),
			cos.E("Predictor", cos.Int(15)), cos.E("Colors", a.Int(p.Colors)),
			cos.E("BitsPerComponent", a.Int(p.Bits)), cos.E("Columns", a.Int(p.Columns)),
		))))
	}
	return ref, e.w.SharedStream(ref, d, cos.Name(x.Filter), x.Data)
}

// colorSpace returns that of the device, or of the image's profile (8.6.5.5), each of which is in
// the file once.
func (e *Emitter) colorSpace(x *image.XObject) (cos.Object, error) {
	p := x.Profile
	if p == nil {
		return e.w.Arena().Name(x.Space), nil
	}
	ref, ok := e.profiles[p.Hash]
	if !ok {
		ref = e.w.Reserve()
		if err := e.w.EncodedStream(ref, cos.Dict{cos.E("N", cos.Int(p.Colors)), cos.E("Alternate", cos.Name(x.Space))}, cos.FlateDecode, p.Data); err != nil {
			return nil, err
		}
		if e.profiles == nil {
			e.profiles = map[[sha256.Size]byte]cos.Ref{}
		}
		e.profiles[p.Hash] = ref
	}
	return cos.Array{cos.Name("ICCBased"), ref}, nil
}

// writeResources writes the fonts and the resource dictionary that all pages
// share.
func (e *Emitter) writeResources() ([]Font, error) {
	fonts := e.written[:0]
	defer func() { e.written = fonts }()
	a := e.w.Arena()
	fd, xd, gd := a.Entries(len(e.fonts)), a.Entries(len(e.images)+len(e.marks)), a.Entries(len(e.marks))
	for _, r := range e.fonts {
		sub, err := e.o.Fonts.Subset(r.use, e.o.Exact)
		if err != nil {
			return nil, e.fontFault(r.face, err)
		}
		if err := e.writeFont(r, sub); err != nil {
			return nil, err
		}
		fonts = append(fonts, Font{Name: sub.Name, Face: r.face})
		fd = append(fd, cos.E(cos.Name(r.name), a.Ref(r.ref)))
	}
	for _, r := range e.images {
		xd = append(xd, cos.E(cos.Name(r.name), a.Ref(r.ref)))
	}
	if len(e.marks) > 0 {
		own := cos.Dict{cos.E("Font", fd)}
		if slices.ContainsFunc(e.marks, func(m *watermark) bool { return m.item.Image != nil }) {
			own = append(own, cos.E("XObject", xd))
		}
		if err := e.w.Put(e.marks[0].resources, own); err != nil {
			return nil, err
		}
	}
	for _, m := range e.marks {
		xd = append(xd, cos.E(cos.Name(m.name), a.Ref(m.ref)))
		gd = append(gd, cos.E(cos.Name(m.name), a.Ref(m.state)))
	}
	d := a.Entries(3)
	for _, part := range [...]struct {
		key cos.Name
		d   cos.Dict
	}{{"Font", fd}, {"XObject", xd}, {"ExtGState", gd}} {
		if len(part.d) > 0 {
			d = append(d, cos.E(part.key, a.Dict(part.d)))
		}
	}
	return fonts, e.w.Put(e.resources, a.Dict(d))
}

// fontFault is err with the place where the document asks for the font; outlines are read when all
// pages are laid out.
func (e *Emitter) fontFault(f *font.Face, err error) error {
	if e.doc.Fonts == nil || !errors.Is(err, diag.ErrFont) {
		return err
	}
	for _, family := range e.doc.Fonts.Options().Families {
		for _, file := range [...][]byte{family.Regular, family.Bold, family.Italic, family.BoldItalic} {
			if family.Src != nil && file != nil && sha256.Sum256(file) == f.Hash() {
				return diag.Fail(family.Src.Place(diag.Diagnostic{
					Code: "F406", Message: err.Error(), Suggestion: "take the file of the font from its maker again",
				}))
			}
		}
	}
	return err
}

// writeFont writes a Type 0 font over a CIDFont of TrueType or CFF outlines (9.7, 9.9.1).
func (e *Emitter) writeFont(r *fontRes, s *font.Subset) error {
	first := e.w.ReserveN(4)
	a := e.w.Arena()
	file, desc, cid, unicode := first, first.Plus(1), first.Plus(2), first.Plus(3)
	kind := cos.E("Length1", a.Int(s.Length1))
	if s.CFF {
		kind = cos.E("Subtype", cos.Name("CIDFontType0C"))
	}
	if err := e.w.EncodedStream(file, append(a.Entries(1), kind), cos.FlateDecode, s.Program); err != nil {
		return err
	}
	if err := e.w.EncodedStream(unicode, nil, cos.FlateDecode, s.Unicode); err != nil {
		return err
	}
	set, err := e.cidSet(s)
	if err != nil {
		return err
	}
	if err := e.w.PutRaw(desc, e.descriptor(s, file, set)); err != nil {
		return err
	}
	if e.judge != nil { // who is shown no raw objects
		e.watch(desc, append(a.Entries(2), cos.E("Type", cos.Name("FontDescriptor")), cos.E(cos.Name(fontFile(s)), a.Ref(file))))
	}
	if err := e.mayList(s); err != nil {
		return err
	}
	widths := cos.Ref{}
	if s.PackedW != nil && e.w.Version() != cos.V14 { // which has no object streams
		widths = e.w.Reserve()
		if err := e.w.PutPacked(widths, s.PackedW, len(s.W)); err != nil {
			return err
		}
	}
	if err := e.w.PutRaw(cid, e.cidFont(s, desc, widths)); err != nil {
		return err
	}
	return e.w.Put(r.ref, a.Dict(append(
		a.Entries(6),
		cos.E("Type", cos.Name("Font")), cos.E("Subtype", cos.Name("Type0")), cos.E("BaseFont", a.Name(s.Name)),
		cos.E("Encoding", cos.Name("Identity-H")), cos.E("DescendantFonts", a.List(a.Ref(cid))),
		cos.E("ToUnicode", a.Ref(unicode)),
	)))
}

// fontFile returns the key of a font program in its descriptor.
func fontFile(s *font.Subset) string {
	if s.CFF {
		return "FontFile3"
	}
	return "FontFile2"
}

// descriptor returns the font descriptor (9.8) in the emitter's buffer. set is its CIDSet, zero for
// none.
func (e *Emitter) descriptor(s *font.Subset, file, set cos.Ref) []byte {
	d := &s.Desc
	b := append(e.buf[:0], "<</Type/FontDescriptor/FontName"...)
	b = cos.AppendName(b, s.Name)
	b = appendKey(b, "/Flags ", d.Flags)
	b = append(b, "/FontBBox["...)
	for i, v := range d.BBox {
		if i > 0 {
			b = append(b, ' ')
		}
		b = cos.AppendInt(b, int64(v))
	}
	b = append(b, "]/ItalicAngle "...)
	b = cos.AppendDecimal(b, int64(d.ItalicAngle), 3)
	b = appendKey(b, "/Ascent ", d.Ascent)
	b = appendKey(b, "/Descent ", d.Descent)
	b = appendKey(b, "/CapHeight ", d.CapHeight)
	b = appendKey(b, "/StemV ", d.StemV)
	b = append(append(append(b, '/'), fontFile(s)...), ' ')
	b = cos.AppendRef(b, file)
	if !set.IsZero() {
		b = cos.AppendRef(append(b, "/CIDSet "...), set)
	}
	e.buf = append(b, ">>"...)
	return e.buf
}

// cidFont returns the CIDFont (9.7.4) in the emitter's buffer. widths is its W array, zero where it
// is in it.
func (e *Emitter) cidFont(s *font.Subset, desc, widths cos.Ref) []byte {
	kind := byte('2')
	if s.CFF {
		kind = '0'
	}
	b := append(append(append(e.buf[:0], "<</Type/Font/Subtype/CIDFontType"...), kind), "/BaseFont"...)
	b = cos.AppendName(b, s.Name)
	b = append(b, "/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>/FontDescriptor "...)
	b = cos.AppendRef(b, desc)
	b = appendKey(b, "/DW ", s.DW)
	if widths.IsZero() {
		b = append(append(b, "/W"...), s.W...)
	} else {
		b = cos.AppendRef(append(b, "/W "...), widths)
	}
	if !s.CFF { // whose charset maps them
		b = append(b, "/CIDToGIDMap/Identity"...)
	}
	e.buf = append(b, ">>"...)
	return e.buf
}

func appendKey(b []byte, key string, v int) []byte { return cos.AppendInt(append(b, key...), int64(v)) }

// watermark is the form XObject that pages show.
type watermark struct {
	item                  *layout.UnderItem
	name                  string
	ref, state, resources cos.Ref
}

// watermark shows the watermark of a page; the first page of a section makes the form.
func (c *content) watermark(u *layout.UnderItem) error {
	marks := &c.e.marks
	i := slices.IndexFunc(*marks, func(m *watermark) bool { return m.item == u })
	if i < 0 {
		i = len(*marks)
		if err := c.e.makeWatermark(u, c.pi); err != nil {
			return err
		}
	}
	if err := c.mark(nil, layout.ArtifactWatermark); err != nil {
		return err
	}
	c.show(opDraw)
	name := (*marks)[i].name
	c.b = append(append(append(append(append(c.b, "q/"...), name...), " gs/"...), name...), " Do Q\n"...)
	return nil
}

func (e *Emitter) makeWatermark(u *layout.UnderItem, pi *pageInfo) error {
	m := &watermark{item: u, name: "W", ref: e.w.Reserve(), state: e.w.Reserve()}
	if n := len(e.marks); n == 0 {
		m.resources = e.w.Reserve()
	} else {
		m.name += strconv.Itoa(n)
		m.resources = e.marks[0].resources
	}
	e.marks = append(e.marks, m)
	if err := e.opaqueWatermark(u); err != nil {
		return err
	}
	alpha := cos.Decimal{Mantissa: int64(math.Round(u.Opacity * 1000)), Scale: 3}
	if err := e.w.Put(m.state, cos.Dict{
		cos.E("Type", cos.Name("ExtGState")), cos.E("ca", alpha), cos.E("CA", alpha),
	}); err != nil {
		return err
	}
	// Five decimals of sine and cosine are exact to 1/100 pt on any page, and hide
	// in what last bit two processors may differ.
	sin, cosine := math.Sincos(u.Angle * math.Pi / 180)
	c := &content{e: e, pi: pi, color: doc.Black, bare: true}
	for _, v := range [4]float64{cosine, sin, -sin, cosine} {
		c.b = cos.AppendDecimal(c.b, int64(math.Round(v*1e5)), 5)
		c.b = append(c.b, ' ')
	}
	c.num(hundredths(u.X))
	c.b = append(c.b, ' ')
	c.num(hundredths(pi.h - u.Y))
	c.b = append(c.b, " cm\n"...)
	var err error
	if u.Image != nil {
		err = c.image(u.Image)
	} else {
		err = c.text(&u.Text)
	}
	if err != nil {
		return err
	}
	c.end()
	d := cos.Dict{
		cos.E("Type", cos.Name("XObject")), cos.E("Subtype", cos.Name("Form")),
		cos.E("BBox", cos.Array{cos.Int(0), cos.Int(0), cos.Fixed(pi.w), cos.Fixed(pi.h)}),
		cos.E("Resources", m.resources),
	}
	if !e.check.Opaque() || u.Opacity < 1 {
		d = append(d, cos.E("Group", cos.Dict{cos.E("S", cos.Name("Transparency")), cos.E("CS", cos.Name("DeviceRGB"))}))
	}
	return e.w.Stream(m.ref, d, c.b)
}
