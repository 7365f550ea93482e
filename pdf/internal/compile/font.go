package compile

import (
	"regexp"
	"slices"
	"strings"

	"example.com/quire/internal/strictyaml"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/font"
	"example.com/quire/pdf/internal/compile/exprlang"
)

// fonts reads `fonts:`, the families that the template brings along and how they are taken.
func (c *compiler) fonts(n *strictyaml.Node) {
	if n == nil {
		return
	}
	o, ok := c.object(n, "fonts", "fonts")
	if !ok {
		return
	}
	var f doc.FontOptions
	if v := o.get("families"); v != nil {
		f.Families = c.readFamilies(v, o.at("families"))
		for _, own := range f.Families {
			c.families = append(c.families, own.Name)
		}
	}
	if v := o.get("fallback"); v != nil && c.filled(v, o.at("fallback"), "families") {
		for i, name := range v.Items {
			if s, ok := c.family(name, index(o.at("fallback"), i)); ok {
				f.Fallback = append(f.Fallback, s)
			}
		}
	}
	if v := o.get("synthetic"); v != nil {
		i, _ := c.choice(v, o.at("synthetic"), "refuse", "allow")
		f.Synthetic = i == 1
	}
	if v := o.get("missing"); v != nil {
		i, _ := c.choice(v, o.at("missing"), "error", "box")
		if f.Boxes = i == 1; f.Boxes && len(c.plan.standards) > 0 {
			c.bad(v, o.at("missing"), codeWrong, "", "a document that claims %s has no missing glyphs", c.plan.standards[0])
		}
	}
	if v := o.get("subset"); v != nil {
		i, _ := c.choice(v, o.at("subset"), "blocks", "exact")
		f.Exact = i == 1
	}
	o.done()
	c.plan.fonts = doc.NewFonts(f)
}

// family reads the name of a family that there is. When those of the engine are not known, layout
// finds the wrong ones.
func (c *compiler) family(n *strictyaml.Node, path string) (string, bool) {
	s, ok := c.word(n, path)
	if ok && c.known && !slices.ContainsFunc(c.families, func(f string) bool { return strings.EqualFold(f, s) }) {
		hint := exprlang.Nearest(s, c.families)
		if hint == "" {
			hint = "there are " + strings.Join(c.families, ", ")
		}
		c.bad(n, path, codeFamily, hint, "no font family %q", s)
		return "", false
	}
	return s, ok
}

// readFamilies reads the files of families by name.
func (c *compiler) readFamilies(n *strictyaml.Node, path string) []doc.FontFamily {
	o, ok := c.object(n, path, "families")
	if !ok {
		return nil
	}
	out := make([]doc.FontFamily, 0, len(n.Keys))
	for i, k := range n.Keys {
		of := doc.FontFamily{Name: k.Text, Src: c.source(n.Values[i], o.at(k.Text))}
		f, ok := c.object(n.Values[i], o.at(k.Text), "a family of fonts")
		if !ok {
			continue
		}
		if v := f.need("regular"); v != nil {
			of.Regular = c.fontFile(v, f.at("regular"))
		}
		for _, e := range [...]struct {
			key string
			to  *[]byte
		}{{"bold", &of.Bold}, {"italic", &of.Italic}, {"bold-italic", &of.BoldItalic}} {
			if v := f.get(e.key); v != nil {
				*e.to = c.fontFile(v, f.at(e.key))
			}
		}
		f.done()
		out = append(out, of)
	}
	return out
}

// fontFile reads the file of a face, which must be one that can be embedded.
func (c *compiler) fontFile(n *strictyaml.Node, path string) []byte {
	name, ok := c.word(n, path)
	if !ok {
		return nil
	}
	b := c.readFile(n, path, name)
	if b == nil {
		return nil
	}
	if _, err := font.Parse(b, c.limit); err != nil {
		c.bad(n, path, codeFile, "", "file %s: %v", quoted(name), err)
		return nil
	}
	return b
}

// optional are the registered OpenType features that a template may ask for: those that a script
// cannot be read without are not its choice.
var optional = strings.Fields("afrc c2pc c2sc calt case clig cpsp cswh dlig dnom expt falt fina fwid frac halt hist hkna hlig hngl hojo hwid " +
	"jp04 jp78 jp83 jp90 kern liga lnum mgrk nalt nlck numr onum ordn ornm palt pcap pkna pnum pwid qwid rand rclt rlig ruby " +
	"salt sinf smcp smpl subs sups swsh titl tnum trad twid unic valt zero")

var reFeature = regexp.MustCompile(`^(-?)([a-z0-9]{4})(?:=([1-9][0-9]?))?$`)

// features reads a list of features of a font.
func (c *compiler) features(n *strictyaml.Node, path string) string {
	if !c.filled(n, path, "features") {
		return ""
	}
	var out []string
	for i, v := range n.Items {
		s, ok := c.word(v, index(path, i))
		if !ok {
			continue
		}
		m := reFeature.FindStringSubmatch(s)
		switch {
		case m == nil || m[1] != "" && m[3] != "":
			c.bad(v, index(path, i), codeWrong, "as in onum, -liga or salt=2", "want a feature of four letters, got %s", quoted(s))
		case !slices.Contains(optional, m[2]) && !numbered(m[2]):
			c.bad(v, index(path, i), codeName, exprlang.Nearest(m[2], optional), "no feature %q", m[2])
		case slices.ContainsFunc(out, func(have string) bool { return strings.Contains(have, m[2]) }):
			c.bad(v, index(path, i), codeWrong, "", "feature %q comes twice", m[2])
		default:
			out = append(out, s)
		}
	}
	slices.Sort(out)
	return strings.Join(out, ",")
}

// numbered reports stylistic sets and character variants: ss01 to ss20, cv01 to cv99.
func numbered(tag string) bool {
	n := tag[2:]
	return tag[:2] == "ss" && n >= "01" && n <= "20" || tag[:2] == "cv" && n >= "01" && n <= "99"
}
