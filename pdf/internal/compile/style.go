package compile

import (
	"strconv"

	"example.com/quire/internal/strictyaml"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/compile/exprlang"
)

// styleKeys are the keys of a style, which blocks and cells may carry too.
var styleKeys = []string{
	"font", "size", "leading", "weight", "italic", "color", "align", "space-before", "space-after",
	"figures", "keep-figures", "widows", "orphans", "breaking", "hyphenate",
}

// baseName is the style that is the document's own; styles that extend none
// extend it.
const baseName = "base"

// styleDef is an entry of `styles:`.
type styleDef struct {
	node  *strictyaml.Node
	busy  bool
	style *doc.Style
}

// styles reads `styles:`.
func (c *compiler) readStyles(n *strictyaml.Node) {
	c.styles = map[string]*styleDef{}
	c.base = &doc.Style{}
	if n == nil {
		return
	}
	o, ok := c.object(n, "styles", "styles")
	if !ok {
		return
	}
	for i, k := range o.n.Keys {
		c.styles[k.Text] = &styleDef{node: o.n.Values[i]}
		c.styleNames = append(c.styleNames, k.Text)
	}
	if c.styles[baseName] != nil {
		c.base = c.style(baseName)
	}
	for _, name := range c.styleNames {
		c.style(name)
	}
}

// style resolves a style that exists.
func (c *compiler) style(name string) *doc.Style {
	d := c.styles[name]
	if d.style != nil {
		return d.style
	}
	path := "styles." + name
	if d.busy {
		c.bad(d.node, path, codeCircle, "", "style %q extends itself", name)
		return &doc.Style{}
	}
	d.busy = true
	defer func() { d.busy = false }()
	o, ok := c.object(d.node, path, "a style")
	if !ok {
		d.style = c.base
		return d.style
	}
	from := c.base
	if name == baseName {
		from = &doc.Style{}
	}
	if v := o.get("extends"); v != nil {
		if s := c.styleRef(v, o.at("extends")); s != nil {
			from = s
		}
	}
	s := c.styleOver(o, from)
	o.done()
	d.style = s
	return s
}

// styleRef resolves the name of a style; nil when there is none.
func (c *compiler) styleRef(n *strictyaml.Node, path string) *doc.Style {
	name, ok := c.word(n, path)
	if !ok {
		return nil
	}
	if c.styles[name] == nil {
		c.bad(n, path, codeName, exprlang.Nearest(name, c.styleNames), "no style %q", name)
		return nil
	}
	return c.style(name)
}

// styleOver reads the style keys of o over a copy of from; from itself when
// there are none.
func (c *compiler) styleOver(o *object, from *doc.Style) *doc.Style {
	s := *from
	set, size, leading := false, false, false
	for _, key := range styleKeys {
		v := o.get(key)
		if v == nil {
			continue
		}
		set, size, leading = true, size || key == "size", leading || key == "leading"
		c.styleKey(&s, v, o.at(key), key)
	}
	o.later("features", "letter-spacing", "underline")
	if !set {
		return from
	}
	if size && !leading && from.Size > 0 {
		// The inherited leading belongs to the inherited size: 9/12 becomes 15/20.
		s.Leading = (from.Leading*s.Size + from.Size/2) / from.Size
	}
	return &s
}

func (c *compiler) styleKey(s *doc.Style, v *strictyaml.Node, path, key string) {
	switch key {
	case "font":
		if w, ok := c.word(v, path); ok {
			s.Family = w
		}
	case "size":
		s.Size = c.length(v, path, 1)
	case "leading":
		s.Leading = c.length(v, path, 1)
	case "weight":
		s.Weight = c.weight(v, path)
	case "italic":
		s.Italic = c.flag(v, path)
	case "color":
		s.Color = c.color(v, path)
	case "align":
		i, _ := c.choice(v, path, "left", "right", "center", "justify")
		s.Align = doc.Align(i) //nolint:gosec // one of four
	case "space-before":
		s.SpaceBefore = c.length(v, path, 0)
	case "space-after":
		s.SpaceAfter = c.length(v, path, 0)
	case "figures":
		i, _ := c.choice(v, path, "proportional", "tabular")
		s.TabularFigures = i == 1
	case "keep-figures":
		s.KeepFigures = doc.KeepFiguresOff
		if c.flag(v, path) {
			s.KeepFigures = doc.KeepFiguresOn
		}
	case "widows":
		s.Widows = c.integer(v, path, 1, 20)
	case "orphans":
		s.Orphans = c.integer(v, path, 1, 20)
	case "breaking":
		i, _ := c.choice(v, path, "greedy", "total")
		s.Breaking = doc.BreakingGreedy + doc.Breaking(i) //nolint:gosec // one of two
	case "hyphenate":
		s.Hyphenate = doc.HyphenateOff
		if c.flag(v, path) {
			s.Hyphenate = doc.HyphenateOn
		}
	}
}

func (c *compiler) weight(v *strictyaml.Node, path string) int {
	if v.Kind == strictyaml.Int {
		return c.integer(v, path, 1, 1000)
	}
	i, _ := c.choice(v, path, "normal", "bold")
	return 400 + 300*i
}

// headingStyle is the style of a heading that names none: `h1` to `h9` when the
// template has them, else bold in a size by level.
func (c *compiler) headingStyle(level int) *doc.Style {
	name := "h" + strconv.Itoa(level)
	if c.styles[name] != nil {
		return c.style(name)
	}
	if s := c.headings[level]; s != nil {
		return s
	}
	s := *c.base
	if s.Size == 0 {
		s.Size = 10 * doc.Pt
	}
	percent := [...]doc.Length{100, 160, 130, 115}
	if level < len(percent) {
		s.Size = s.Size * percent[level] / 100
	}
	s.Leading, s.Weight, s.Align = 0, 700, doc.AlignLeft
	s.SpaceBefore, s.SpaceAfter = s.Size, s.Size/2
	c.headings[level] = &s
	return &s
}
