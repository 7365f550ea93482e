package edit

import (
	"errors"
	"maps"
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

// glyphs shows the characters of embedded fonts that pages show, each once for each font.
func (c *checker) glyphs() error {
	src := &source{e: c.e}
	in := content.New(src)
	fonts := map[string]*shown{}
	for i, p := range c.e.pages {
		for _, x := range src.drawn(p) {
			err := in.Run(c.ctx, x, content.Place(i+1), func(ev *content.Event) error {
				if ev.Kind != content.Show || ev.State.Font == nil || ev.State.Font.Object == nil || ev.State.Mode == 3 { // no font, or nothing is seen
					return nil
				}
				key := string(ev.State.Font.Object.AppendPDF(nil))
				f, ok := fonts[key]
				if !ok {
					f = &shown{font: ev.State.Font, codes: map[string]bool{}}
					fonts[key] = f
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
	programs := map[uint32]*font.Embedded{}
	for _, key := range slices.Sorted(maps.Keys(fonts)) {
		if err := c.font(fonts[key], programs); err != nil {
			return err
		}
	}
	return nil
}

// font shows the characters of one font. Programs that are not read, of Type 1, are passed over.
func (c *checker) font(s *shown, programs map[uint32]*font.Embedded) error {
	d := c.e.dict(s.font.Object)
	f := &fontUse{ref: refOf(s.font.Object), dict: d, own: d, shown: *s}
	if s.font.Composite() {
		list := c.e.array(d.Get("DescendantFonts"))
		if len(list) != 1 {
			return nil
		}
		f.own = c.e.dict(list[0])
	}
	f.key, f.program, _ = c.e.programOf(f.own)
	if f.program.IsZero() || f.key == "FontFile" {
		return nil
	}
	p, read := programs[f.program.Num]
	if !read {
		data := c.e.data(f.program)
		if c.e.err != nil {
			return nil //nolint:nilerr // which Check returns in the end
		}
		var err error
		if p, err = font.ParseEmbedded(data, diag.Limits{}); err != nil {
			p = nil
			if errors.As(err, new(*diag.LimitError)) {
				return err
			}
			if errors.As(err, new(*font.FormatError)) {
				c.j.Program(f.ref, s.font.Name, err)
			}
		}
		programs[f.program.Num] = p
	}
	if p == nil {
		return nil
	}
	for _, code := range slices.Sorted(maps.Keys(s.codes)) {
		one := *f
		one.shown.codes = map[string]bool{code: true}
		ids, ok := c.e.glyphsOf(p, &one)
		if !ok {
			return nil
		}
		g := standard.ShownGlyph{Font: f.ref, Name: s.font.Name, Code: []byte(code), Width: s.font.Width([]byte(code)), Program: -1}
		if !s.font.Composite() && len(ids) > 1 { // .notdef comes first, whatever else a reader takes
			ids = ids[1:]
		}
		switch {
		case len(ids) == 0 || int(ids[0]) >= p.NumGlyphs():
			g.Missing = true
		case ids[0] == 0 && s.font.Composite():
			g.NotDef = true
		case ids[0] == 0:
			name, _, _ := s.font.Encoded(code[0])
			g.NotDef, g.Missing = name == ".notdef", name != ".notdef"
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

func abs(v float64) float64 { return max(v, -v) }
