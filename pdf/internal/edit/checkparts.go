package edit

import (
	"errors"
	"fmt"
	"maps"
	"math/bits"
	"regexp"
	"slices"
	"strings"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/font"
	"example.com/quire/pdf/internal/content"
	"example.com/quire/pdf/internal/diag"
	"example.com/quire/pdf/standard"
)

// profile shows an ICC profile, each once for what it is used.
func (c *checker) profile(r cos.Ref, intent bool) {
	s, ok := c.e.resolve(r).(*stream)
	if !ok || c.profiles[r.Num] {
		return
	}
	c.profiles[r.Num] = true
	c.j.Profile(r, c.e.data(r), c.e.integer(s.dict.Get("N"), 0), intent)
}

// blends reports whether a graphics state makes what follows transparent.
func (c *checker) blends(d cos.Dict) bool {
	for _, key := range [...]cos.Name{"ca", "CA"} {
		if number(c.e.resolve(d.Get(key)), 1) < 1 {
			return true
		}
	}
	if m := c.e.resolve(d.Get("SMask")); m != nil && m != cos.Object(cos.Name("None")) {
		return true
	}
	mode := c.e.resolve(d.Get("BM"))
	if list, ok := mode.(cos.Array); ok && len(list) > 0 {
		mode = c.e.resolve(list[0])
	}
	return mode != nil && mode != cos.Object(cos.Name("Normal")) && mode != cos.Object(cos.Name("Compatible"))
}

// shown are the codes that pages show of a font, each with whether it is seen: text of mode 3 is
// not.
type shown struct {
	font  *content.Font
	codes map[string]bool
	seen  bool     // some are
	dict  cos.Dict // the font,
	own   cos.Dict // and of a composite one its CIDFont
	at    cos.Ref  // where findings are
}

// glyphs shows the characters of embedded fonts that pages show, each once for each font.
func (c *checker) glyphs() error {
	src := &source{e: c.e}
	in := content.New(src)
	var fonts []*shown
	byFont := map[*content.Font]*shown{}
	looks := map[cos.Ref]bool{}
	for i, p := range c.e.pages {
		for _, x := range c.drawnOf(src, p, looks) {
			err := in.Run(c.ctx, x, content.Place(i+1), func(ev *content.Event) error {
				if ev.Kind != content.Show || ev.State.Font == nil || ev.State.Font.Object == nil { // no font
					return nil
				}
				const unseen = 3
				f, ok := byFont[ev.State.Font]
				if !ok {
					f = &shown{font: ev.State.Font, codes: map[string]bool{}}
					byFont[ev.State.Font] = f
					fonts = append(fonts, f)
				}
				f.seen = f.seen || ev.State.Mode != unseen
				c.private(f, ev, p.Dict)
				for _, g := range ev.Glyphs {
					f.codes[string(g.Code)] = f.codes[string(g.Code)] || ev.State.Mode != unseen
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
	}
	// Fonts with one program are judged together, so that no more than one is in memory.
	by := map[uint32][]*shown{}
	var order []cos.Ref
	for _, f := range fonts {
		program := c.program(f)
		c.meanings(f)
		if f.font.Composite() {
			c.composite(f)
		}
		if program.IsZero() {
			c.fontOf(f, nil)
			continue
		}
		if by[program.Num] == nil {
			order = append(order, program)
		}
		by[program.Num] = append(by[program.Num], f)
	}
	for _, program := range order {
		if err := c.fonts(program, by[program.Num]); err != nil {
			return err
		}
	}
	return nil
}

// drawnOf returns the content of a page and every appearance of its annotations, also those that
// are not shown now, each once.
func (c *checker) drawnOf(src *source, p Page, seen map[cos.Ref]bool) []content.Content {
	out := []content.Content{{Data: src.pageData(p.Dict), Resources: c.e.dict(p.Dict.Get("Resources")), Matrix: content.Identity}}
	look := func(o cos.Object) {
		r := refOf(o)
		s, ok := c.e.resolve(o).(*stream)
		if !ok || seen[r] {
			return
		}
		seen[r] = true
		out = append(out, content.Content{Data: src.Data(o), Resources: c.e.dict(s.dict.Get("Resources")), Matrix: content.Identity})
	}
	for _, a := range c.e.array(p.Dict.Get("Annots")) {
		for _, x := range c.e.dict(c.e.dict(a).Get("AP")) {
			look(x.Value)
			states, _ := c.e.resolve(x.Value).(cos.Dict)
			for _, state := range states {
				look(state.Value)
			}
		}
	}
	return out
}

// programs are the keys of font programs in descriptors.
var programs = [...]cos.Name{"FontFile", "FontFile2", "FontFile3"}

// program returns the font program of a font, none where it has none that is read, or nobody knows
// which; it notes where what says of its glyphs stands.
func (c *checker) program(s *shown) cos.Ref {
	s.dict, s.at = c.e.dict(s.font.Object), refOf(s.font.Object)
	s.own = s.dict
	if s.font.Composite() {
		list := c.e.array(s.own.Get("DescendantFonts"))
		if len(list) != 1 {
			return cos.Ref{}
		}
		s.own = c.e.dict(list[0])
	}
	c.use(s.at)
	descriptor := c.e.dict(s.own.Get("FontDescriptor"))
	if !s.seen {
		r := refOf(s.own.Get("FontDescriptor"))
		if descriptor == nil {
			r = s.at
		}
		c.invisible[r.Num] = true
	} else {
		c.visible[refOf(s.own.Get("FontDescriptor")).Num] = true
	}
	var program cos.Ref
	for _, key := range programs {
		if o := descriptor.Get(key); o != nil {
			if !program.IsZero() || key == "FontFile" && s.font.Composite() {
				return cos.Ref{} // two programs, or one that a CIDFont cannot have
			}
			program = refOf(o)
		}
	}
	if s.at.IsZero() { // the font stands in resources itself
		s.at = program
	}
	return program
}

// fonts shows the characters of fonts that have one program.
func (c *checker) fonts(program cos.Ref, all []*shown) error {
	data := c.e.data(program)
	if c.e.err != nil {
		return nil //nolint:nilerr // which Check returns in the end
	}
	p, err := font.ParseEmbedded(data, diag.Limits{})
	if errors.As(err, new(*diag.LimitError)) {
		return err
	}
	for _, s := range all {
		c.fontOf(s, p)
		switch {
		case err == nil:
			if err := c.font(p, s); err != nil {
				return err
			}
		case errors.As(err, new(*font.FormatError)):
			c.j.Program(s.at, s.font.Name, err)
		}
	}
	return nil
}

// font shows the characters of one font. What is not known of it, such as the CIDs of a CMap that
// is not read, is passed over.
func (c *checker) font(p *font.Embedded, s *shown) error {
	if err := c.ctx.Err(); err != nil {
		return err
	}
	if c.left < 0 {
		return c.tooMuch(s.at)
	}
	glyphs := byCode
	if s.font.Composite() {
		glyphs = c.byCID(p, s.own)
	}
	c.listed(p, s)
	first, last := int64(0), int64(255)
	if s.dict.Get("Widths") != nil || c.e.name(s.dict.Get("Subtype")) == "TrueType" {
		first, last = c.e.integer(s.dict.Get("FirstChar"), 0), c.e.integer(s.dict.Get("LastChar"), -1)
		if c.e.array(s.dict.Get("Widths")) == nil {
			last = -1 // it says nothing of any
		}
	}
	missing := number(c.e.resolve(c.e.dict(s.dict.Get("FontDescriptor")).Get("MissingWidth")), 0)
	for _, code := range slices.Sorted(maps.Keys(s.codes)) {
		seen := s.codes[code]
		ids, known := glyphs(p, s.font, []byte(code))
		if !known {
			continue
		}
		g := standard.ShownGlyph{Font: s.at, Name: s.font.Name, Code: []byte(code), Width: s.font.Width([]byte(code)), Program: -1}
		if !s.font.Composite() && (int64(code[0]) < first || int64(code[0]) > last) {
			g.Width = missing
		}
		switch {
		case len(ids) == 0 && !s.font.Composite():
			name, _, _ := s.font.Encoded(code[0])
			g.NotDef, g.Missing = name == ".notdef", name != ".notdef"
		case len(ids) == 0 || int(ids[0]) >= p.NumGlyphs():
			g.Missing = true
		case ids[0] == 0:
			g.NotDef = true
			cid, ok := s.font.CID([]byte(code))
			g.Missing = ok && cid == 0 && strings.Trim(code, "\x00") != ""
		}
		for _, id := range ids { // of several that readers may take, one that is right is enough
			if w, ok := p.Width(id); ok && (g.Program < 0 || abs(w-g.Width) < abs(g.Program-g.Width)) {
				g.Program = w
			}
		}
		if seen || g.NotDef {
			c.j.Glyph(g)
		}
		if w, twice := s.font.OtherWidth([]byte(code)); twice && seen {
			g.Width = w
			c.j.Glyph(g)
		}
	}
	return nil
}

// listed shows the first glyph that the CIDSet or CharSet of a subset is wrong about (ISO 19005-1,
// 6.3.5, and 2, 6.2.11.4.2). A CIDSet whose CIDs are turned into glyphs by a map is passed over.
func (c *checker) listed(p *font.Embedded, s *shown) {
	descriptor := c.e.dict(s.own.Get("FontDescriptor"))
	if !subsetName.MatchString(string(c.e.name(s.own.Get("BaseFont")))) {
		return
	}
	if !s.font.Composite() {
		c.charSet(p, s, descriptor)
		return
	}
	set := descriptor.Get("CIDSet")
	_, ok := c.e.resolve(set).(*stream)
	if m := c.e.resolve(s.own.Get("CIDToGIDMap")); !ok || m != nil && c.e.name(m) != "Identity" {
		return
	}
	said, has := c.e.data(set), p.CIDSet()
	for i := range max(len(said), len(has)) {
		var a, b byte
		if i < len(said) {
			a = said[i]
		}
		if i < len(has) {
			b = has[i]
		}
		if i == 0 {
			a, b = a|0x80, b|0x80 // .notdef is there always
		}
		if a != b {
			c.j.Unlisted(s.at, s.font.Name, "CIDSet", fmt.Sprintf("the CID %d", 8*i+bits.LeadingZeros8(a^b)))
			return
		}
	}
}

var subsetName = regexp.MustCompile(`^[A-Z]{6}\+`)

// charSet is listed for a font of names.
func (c *checker) charSet(p *font.Embedded, s *shown, descriptor cos.Dict) {
	b, ok := cos.Bytes(c.e.resolve(descriptor.Get("CharSet")))
	if kind := c.e.name(s.own.Get("Subtype")); !ok || kind != "Type1" && kind != "MMType1" {
		return
	}
	said := map[string]bool{}
	for n := range strings.SplitSeq(string(b), "/") {
		if n = strings.Trim(n, " \t\r\n"); n != "" && n != ".notdef" {
			said[n] = true
		}
	}
	c.left -= len(b) / bytesOfOperator
	names, known := p.Names()
	if !known {
		return
	}
	for _, n := range names {
		if !said[n] {
			c.j.Unlisted(s.at, s.font.Name, "CharSet", "the glyph "+n)
			return
		}
		delete(said, n)
	}
	for _, n := range slices.Sorted(maps.Keys(said)) {
		c.j.Unlisted(s.at, s.font.Name, "CharSet", "the glyph "+n)
		return
	}
}

// byCode returns the glyphs that a code of a simple font may show.
func byCode(p *font.Embedded, f *content.Font, code []byte) (ids []font.GID, known bool) {
	name, text, mac := f.Encoded(code[0])
	return p.ByCode(font.Code{Value: code[0], Name: name, Text: text, Mac: mac}, content.NameText)
}

// byCID returns what finds the glyph of a code of a composite font, whose CIDFont is own (ISO
// 32000-2, 9.7.4.2). A CIDFont whose program is not of its kind is passed over: readers differ.
func (c *checker) byCID(p *font.Embedded, own cos.Dict) func(*font.Embedded, *content.Font, []byte) ([]font.GID, bool) {
	var toGID []byte
	known := p.CFF() == (c.e.name(own.Get("Subtype")) == "CIDFontType0")
	if m := c.e.resolve(own.Get("CIDToGIDMap")); m != nil && !p.CFF() && c.e.name(m) != "Identity" {
		toGID = c.e.data(m)
		c.left -= len(toGID) / bytesOfOperator
		known = known && len(toGID) > 0
	}
	return func(p *font.Embedded, f *content.Font, code []byte) ([]font.GID, bool) {
		cid, ok := f.CID(code)
		switch {
		case !ok || !known:
			return nil, false
		case toGID == nil:
			if g, ok := p.ByCID(cid); ok {
				return []font.GID{g}, true
			}
		case 2*uint64(cid)+1 < uint64(len(toGID)):
			return []font.GID{font.GID(toGID[2*cid])<<8 | font.GID(toGID[2*cid+1])}, true
		}
		return nil, true
	}
}

func abs(v float64) float64 { return max(v, -v) }

// jpeg2000 shows the data of an image in JPEG 2000.
func (c *checker) jpeg2000(r cos.Ref, s *stream) {
	if s.in == nil || c.e.name(s.dict.Get("Subtype")) != "Image" {
		return
	}
	filters := c.e.array(s.dict.Get("Filter"))
	last := c.e.name(s.dict.Get("Filter"))
	if len(filters) > 0 {
		last = c.e.name(filters[len(filters)-1])
	}
	if last != "JPXDecode" {
		return
	}
	data, _, err := s.from.Decode(s.in)
	if err != nil {
		if c.e.err == nil {
			c.e.err = err
		}
		return
	}
	c.left -= len(data) / bytesOfOperator
	c.j.JPEG2000(r, data, s.dict.Get("ColorSpace") != nil)
}
