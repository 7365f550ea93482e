package edit

import (
	"errors"
	"maps"
	"math/bits"
	"slices"

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

// shown are the codes that pages show of a font.
type shown struct {
	font  *content.Font
	codes map[string]bool
	own   cos.Dict // the font, or of a composite one its CIDFont
	at    cos.Ref  // where findings are
}

// glyphs shows the characters of embedded fonts that pages show, each once for each font.
func (c *checker) glyphs() error {
	src := &source{e: c.e}
	in := content.New(src)
	var fonts []*shown
	byFont := map[*content.Font]*shown{}
	for i, p := range c.e.pages {
		for _, x := range src.drawn(p) {
			err := in.Run(c.ctx, x, content.Place(i+1), func(ev *content.Event) error {
				if ev.Kind != content.Show || ev.State.Font == nil || ev.State.Font.Object == nil || ev.State.Mode == 3 { // no font, or nothing is seen
					return nil
				}
				f, ok := byFont[ev.State.Font]
				if !ok {
					f = &shown{font: ev.State.Font, codes: map[string]bool{}}
					byFont[ev.State.Font] = f
					fonts = append(fonts, f)
				}
				for _, g := range ev.Glyphs {
					f.codes[string(g.Code)] = true
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
	}
	// Fonts with one program are judged together, so that no more than one is in memory.
	programs := map[uint32][]*shown{}
	var order []cos.Ref
	for _, f := range fonts {
		program := c.program(f)
		if program.IsZero() {
			continue
		}
		if programs[program.Num] == nil {
			order = append(order, program)
		}
		programs[program.Num] = append(programs[program.Num], f)
	}
	for _, program := range order {
		if err := c.fonts(program, programs[program.Num]); err != nil {
			return err
		}
	}
	return nil
}

// program returns the font program of a font, none where it has none that is read, or nobody knows
// which; it notes where what says of its glyphs stands.
func (c *checker) program(s *shown) cos.Ref {
	s.own, s.at = c.e.dict(s.font.Object), refOf(s.font.Object)
	if s.font.Composite() {
		list := c.e.array(s.own.Get("DescendantFonts"))
		if len(list) != 1 {
			return cos.Ref{}
		}
		s.own = c.e.dict(list[0])
	}
	descriptor := c.e.dict(s.own.Get("FontDescriptor"))
	if descriptor.Get("FontFile") != nil || descriptor.Get("FontFile2") != nil && descriptor.Get("FontFile3") != nil {
		return cos.Ref{} // Type 1, or two programs
	}
	program := refOf(descriptor.Get("FontFile2"))
	if program.IsZero() {
		program = refOf(descriptor.Get("FontFile3"))
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
	for _, code := range slices.Sorted(maps.Keys(s.codes)) {
		ids, known := glyphs(p, s.font, []byte(code))
		if !known {
			continue
		}
		g := standard.ShownGlyph{Font: s.at, Name: s.font.Name, Code: []byte(code), Width: s.font.Width([]byte(code)), Program: -1}
		switch {
		case len(ids) == 0 && !s.font.Composite():
			name, _, _ := s.font.Encoded(code[0])
			g.NotDef, g.Missing = name == ".notdef", name != ".notdef"
		case len(ids) == 0 || int(ids[0]) >= p.NumGlyphs():
			g.Missing = true
		case ids[0] == 0:
			g.NotDef = true
		}
		for _, id := range ids { // of several that readers may take, one that is right is enough
			if w, ok := p.Width(id); ok && (g.Program < 0 || abs(w-g.Width) < abs(g.Program-g.Width)) {
				g.Program = w
			}
		}
		c.j.Glyph(g)
	}
	return nil
}

// listed shows the first CID that the CIDSet of a subset is wrong about (ISO 19005-1, 6.3.5). One
// whose CIDs are turned into glyphs by a map is passed over.
func (c *checker) listed(p *font.Embedded, s *shown) {
	set := c.e.dict(s.own.Get("FontDescriptor")).Get("CIDSet")
	_, ok := c.e.resolve(set).(*stream)
	if m := c.e.resolve(s.own.Get("CIDToGIDMap")); !ok || !s.font.Composite() || m != nil && c.e.name(m) != "Identity" {
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
			c.j.Unlisted(s.at, s.font.Name, 8*i+bits.LeadingZeros8(a^b))
			return
		}
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
