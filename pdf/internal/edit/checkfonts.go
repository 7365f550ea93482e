package edit

import (
	"maps"
	"slices"
	"strings"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/font"
	"example.com/quire/pdf/internal/content"
	"example.com/quire/pdf/standard"
)

// fontOf shows a font that pages show; p is its program, nil where none is read.
func (c *checker) fontOf(s *shown, p *font.Embedded) {
	f := standard.ShownFont{Maps: -1, Seen: s.seen, Absent: true}
	for _, key := range [...]cos.Name{"Type", "Subtype", "BaseFont"} {
		if n := c.e.name(s.dict.Get(key)); n != "" {
			f.Dict = append(f.Dict, cos.E(key, n))
		}
	}
	descriptor := c.e.dict(s.own.Get("FontDescriptor"))
	for _, key := range programs {
		if program, ok := c.e.resolve(descriptor.Get(key)).(*stream); ok {
			f.Subtype, f.Absent = c.e.name(program.dict.Get("Subtype")), false
		}
	}
	const symbolic = 4
	f.Symbolic = c.e.integer(descriptor.Get("Flags"), 0)&symbolic != 0
	f.Simple = c.e.name(s.dict.Get("Subtype")) == "TrueType"
	for _, o := range c.e.array(c.e.dict(s.dict.Get("Encoding")).Get("Differences")) {
		if n := c.e.name(o); n != "" {
			f.Encoded = true
			f.Unknown = f.Unknown || !listedName(string(n))
		}
	}
	if p != nil && s.seen {
		f.Maps, f.Symbol, f.Unicode, f.Macintosh = p.CharacterMaps()
	}
	c.j.Font(s.at, f)
	if s.font.Composite() {
		c.j.UTF8(s.at, c.e.name(s.own.Get("BaseFont")))
	}
}

// listedName reports whether the name of a glyph is one of the Adobe Glyph List.
func listedName(n string) bool {
	return content.NameText(n) != "" && !strings.Contains(n, "_") && !strings.Contains(n, ".") && !strings.HasPrefix(n, "uni")
}

// meanings shows what the codes of a font stand for. A simple font that has neither an encoding nor
// a program, whose own encoding it would be, does not say it (9.10.2), unless it has no descriptor
// either: then it is one of the 14 whose encodings are known (9.6.2.2).
func (c *checker) meanings(s *shown) {
	silent := !s.font.Composite() && c.e.name(s.dict.Get("Subtype")) != "Type3" && c.e.resolve(s.dict.Get("Encoding")) == nil
	descriptor := c.e.dict(s.own.Get("FontDescriptor"))
	silent = silent && descriptor != nil
	// A font that is not embedded has no other glyphs than its encoding names.
	absent := !s.font.Composite() && c.e.name(s.dict.Get("Subtype")) != "Type3" && c.e.resolve(s.dict.Get("Encoding")) != nil
	for _, key := range programs {
		silent = silent && descriptor.Get(key) == nil
		absent = absent && descriptor.Get(key) == nil
	}
	if s.at.IsZero() {
		s.at = refOf(s.own.Get("FontDescriptor"))
	}
	for _, code := range slices.Sorted(maps.Keys(s.codes)) {
		text, mapped, known := s.font.Meaning([]byte(code))
		if known = known && !silent; known || !s.font.Miscounted() {
			c.j.Meaning(s.at, s.font.Name, []byte(code), text, mapped, known)
		} else {
			c.j.Miscounted(s.at, s.font.Name)
		}
		if name, of, _ := s.font.Encoded(code[0]); absent && name+of == "" {
			c.j.Glyph(standard.ShownGlyph{Font: s.at, Name: s.font.Name, Code: []byte(code), NotDef: true})
		}
	}
}

// composite shows how the codes of a composite font become CIDs.
func (c *checker) composite(s *shown) {
	shown := standard.Composite{Font: c.system(s.own)}
	switch v := c.e.resolve(s.dict.Get("Encoding")).(type) {
	case cos.Name:
		shown.CMap = string(v)
	case *stream:
		data := c.e.data(v)
		c.left -= len(data) / bytesOfOperator
		m := content.ReadCMap(data)
		shown.CMap, shown.Embedded, shown.Of = string(c.e.name(v.dict.Get("CMapName"))), true, c.system(v.dict)
		shown.Stated, shown.Uses, shown.Largest = c.e.integer(v.dict.Get("WMode"), 0), m.Uses, m.Largest
		if m.Vertical {
			shown.Mode = 1
		}
		if n := c.e.name(v.dict.Get("UseCMap")); n != "" {
			shown.Uses = string(n)
		} else if base, ok := c.e.resolve(v.dict.Get("UseCMap")).(*stream); ok {
			shown.Uses, shown.Inner = string(c.e.name(base.dict.Get("CMapName"))), true
		}
	default:
		return // a font without an encoding is none
	}
	c.j.Composite(s.at, shown)
}

// system reads the character collection that a CIDFont or a CMap is for.
func (c *checker) system(d cos.Dict) standard.CIDSystem {
	info := c.e.dict(d.Get("CIDSystemInfo"))
	return standard.CIDSystem{Registry: c.e.text(info.Get("Registry")), Ordering: c.e.text(info.Get("Ordering")), Supplement: c.e.integer(info.Get("Supplement"), -1)}
}

// use notes that text has a font, with its CIDFont and the descriptor.
func (c *checker) use(font cos.Ref) {
	c.used[font.Num] = true
	d := c.e.dict(font)
	c.used[refOf(d.Get("FontDescriptor")).Num] = true
	for _, o := range c.e.array(d.Get("DescendantFonts")) {
		c.used[refOf(o).Num] = true
		c.used[refOf(c.e.dict(o).Get("FontDescriptor")).Num] = true
	}
}

// hidden notes the resources of content that is not followed for the text that it shows: patterns,
// glyphs of Type 3 and groups of soft masks.
func (c *checker) hidden(d cos.Dict) {
	switch {
	case d.Get("PatternType") != nil, c.e.name(d.Get("Subtype")) == "Type3":
		c.unfollowed = append(c.unfollowed, d.Get("Resources"))
	case c.e.name(d.Get("Type")) == "Mask" || c.e.name(d.Get("S")) == "Luminosity" || c.e.name(d.Get("S")) == "Alpha":
		c.unfollowed = append(c.unfollowed, c.e.dict(d.Get("G")).Get("Resources"))
	}
}

// fontsOfUnfollowed shows the fonts that content may use which is not followed.
func (c *checker) fontsOfUnfollowed() error {
	seen := map[uint32]bool{}
	for i := 0; i < len(c.unfollowed); i++ {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		r := refOf(c.unfollowed[i])
		if !r.IsZero() && seen[r.Num] {
			continue
		}
		seen[r.Num] = true
		resources := c.e.dict(c.unfollowed[i])
		for _, x := range c.e.dict(resources.Get("Font")) {
			font := refOf(x.Value)
			if c.left--; c.left < 0 {
				return c.tooMuch(font)
			}
			if font.IsZero() || c.used[font.Num] {
				continue // or it was judged where it stands
			}
			c.use(font)
			d := c.e.dict(font)
			shown := []cos.Object{font, d.Get("FontDescriptor")}
			for _, o := range c.e.array(d.Get("DescendantFonts")) {
				shown = append(shown, o, c.e.dict(o).Get("FontDescriptor"))
			}
			for _, o := range shown {
				if r := refOf(o); !r.IsZero() {
					c.show(r, c.e.dict(r), "", false)
				}
			}
		}
		for _, x := range c.e.dict(resources.Get("XObject")) {
			form := refOf(x.Value)
			if c.left--; c.left < 0 {
				return c.tooMuch(form)
			}
			if !form.IsZero() && !seen[form.Num] {
				seen[form.Num] = true
				c.unfollowed = append(c.unfollowed, c.e.dict(form).Get("Resources"))
			}
		}
	}
	return nil
}
