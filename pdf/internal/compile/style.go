package compile

import (
	"slices"
	"strconv"

	"example.com/quire/internal/strictyaml"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/compile/exprlang"
)

// styleKeys are the keys of a style, which blocks and cells may carry too.
var styleKeys = []string{
	"font", "size", "leading", "weight", "italic", "color", "align", "space-before", "space-after",
	"figures", "keep-figures", "widows", "orphans", "breaking", "hyphenate",
	"underline", "strike", "letter-spacing", "caps", "position", "features", "indent", "margin-left", "margin-right",
}

// baseName is the style that is the document's own; styles that extend none
// extend it.
const baseName = "base"

// styleDef is an entry of `styles:`.
type styleDef struct {
	node  *strictyaml.Node // nil: of the default theme
	file  string
	below *styleDef // of the same name, in the theme; nil: there is none
	busy  bool
	style *doc.Style
	over  overlay   // its own keys
	from  *styleDef // what it extends by name; nil: nothing, or base
}

// style resolves a style that exists.
func (c *compiler) style(name string) *doc.Style { return c.resolve(c.styles[name], name) }

func (c *compiler) resolve(d *styleDef, name string) *doc.Style {
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
	c.within(d.file, func() { c.readStyle(d, name, path) })
	return d.style
}

func (c *compiler) readStyle(d *styleDef, name, path string) {
	o, ok := c.object(d.node, path, "a style")
	if !ok {
		d.style = c.base
		return
	}
	from := c.base
	if name == baseName {
		from = &doc.Style{}
	}
	if d.below != nil {
		from, d.from = c.resolve(d.below, name), d.below
	}
	if v := o.get("extends"); v != nil {
		if s := c.styleRef(v, o.at("extends")); s != nil {
			from, d.from = s, c.styles[v.Text]
		}
	}
	d.over = c.overlay(o, false)
	d.style = d.over.on(from, c.base)
	o.done()
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

// overlay holds style keys that were read: what they change of a style.
type overlay struct {
	set           []func(*doc.Style)
	size, leading bool
	spaced        bool // they have a space above or below
	colored       bool
	paint         *programAt // the colour, when data decides it
}

// overlay reads the style keys of o. A colour may be an expression where data says so.
func (c *compiler) overlay(o *object, data bool) (over overlay) {
	for _, key := range styleKeys {
		v := o.get(key)
		if v == nil || slices.Contains(o.kindKeys, key) {
			continue
		}
		if key == "color" && data {
			if p, ok := c.choices(v, o.at(key)); ok {
				over.paint = c.colors(p)
				continue
			}
		}
		if set := c.styleKey(v, o.at(key), key); set != nil {
			over.set = append(over.set, set)
		}
		over.size, over.leading = over.size || key == "size", over.leading || key == "leading"
		over.colored = over.colored || key == "color"
		over.spaced = over.spaced || key == "space-before" || key == "space-after"
	}
	return over
}

// on returns from with the keys laid over it; from itself when there are none. A from that is nil
// stands for base.
func (over *overlay) on(from, base *doc.Style) *doc.Style {
	if len(over.set) == 0 {
		return from
	}
	if from == nil {
		from = base
	}
	s := *from
	for _, set := range over.set {
		set(&s)
	}
	if over.size && !over.leading && from.Size > 0 {
		// The inherited leading belongs to the inherited size: 9/12 becomes 15/20.
		s.Leading = (from.Leading*s.Size + from.Size/2) / from.Size
	}
	return &s
}

// styleKey reads one key and returns what it sets.
func (c *compiler) styleKey(v *strictyaml.Node, path, key string) func(*doc.Style) {
	switch key {
	case "font":
		if w, ok := c.family(v, path); ok {
			return func(s *doc.Style) { s.Family = w }
		}
	case "size":
		l := c.length(v, path, 1)
		return func(s *doc.Style) { s.Size = l }
	case "leading":
		l := c.length(v, path, 1)
		return func(s *doc.Style) { s.Leading = l }
	case "weight":
		w := c.weight(v, path)
		return func(s *doc.Style) { s.Weight = w }
	case "italic":
		on := c.flag(v, path)
		return func(s *doc.Style) { s.Italic = on }
	case "color":
		col := c.color(v, path)
		return func(s *doc.Style) { s.Color = col }
	case "align":
		i, _ := c.choice(v, path, "start", "right", "center", "justify", "left", "decimal")
		return func(s *doc.Style) { s.Align = doc.Align(i) } //nolint:gosec // one of six
	case "space-before":
		l := c.length(v, path, 0)
		return func(s *doc.Style) { s.SpaceBefore = l }
	case "space-after":
		l := c.length(v, path, 0)
		return func(s *doc.Style) { s.SpaceAfter = l }
	case "figures":
		i, _ := c.choice(v, path, "proportional", "tabular")
		return func(s *doc.Style) { s.TabularFigures = i == 1 }
	case "keep-figures":
		keep := doc.KeepFiguresOff
		if c.flag(v, path) {
			keep = doc.KeepFiguresOn
		}
		return func(s *doc.Style) { s.KeepFigures = keep }
	case "widows":
		n := c.integer(v, path, 1, 20)
		return func(s *doc.Style) { s.Widows = n }
	case "orphans":
		n := c.integer(v, path, 1, 20)
		return func(s *doc.Style) { s.Orphans = n }
	case "breaking":
		i, _ := c.choice(v, path, "greedy", "total")
		return func(s *doc.Style) { s.Breaking = doc.BreakingGreedy + doc.Breaking(i) } //nolint:gosec // one of two
	case "hyphenate":
		hyphenate := doc.HyphenateOff
		if c.flag(v, path) {
			hyphenate = doc.HyphenateOn
		}
		return func(s *doc.Style) { s.Hyphenate = hyphenate }
	case "indent":
		l := c.length(v, path, -maxLength)
		return func(s *doc.Style) { s.Indent = l }
	case "margin-left":
		l := c.length(v, path, 0)
		return func(s *doc.Style) { s.MarginLeft = l }
	case "margin-right":
		l := c.length(v, path, 0)
		return func(s *doc.Style) { s.MarginRight = l }
	case "underline":
		l := c.textLine(v, path)
		return func(s *doc.Style) { s.Underline = l }
	case "strike":
		l := c.textLine(v, path)
		return func(s *doc.Style) { s.Strike = l }
	case "letter-spacing":
		l := c.length(v, path, -10*doc.Pt)
		return func(s *doc.Style) { s.LetterSpacing = l }
	case "caps":
		i, _ := c.choice(v, path, "normal", "small")
		return func(s *doc.Style) { s.SmallCaps = i == 1 }
	case "features":
		f := c.features(v, path)
		return func(s *doc.Style) { s.Features = f }
	case "position":
		i, _ := c.choice(v, path, "base", "super", "sub")
		return func(s *doc.Style) { s.Position = doc.Position(i) } //nolint:gosec // one of three
	}
	return nil
}

// textLine reads a line below or through text: true, false, or how it looks.
func (c *compiler) textLine(v *strictyaml.Node, path string) *doc.Line {
	if v.Kind == strictyaml.Bool {
		if !c.flag(v, path) {
			return nil
		}
		return &doc.Line{}
	}
	o, ok := c.object(v, path, "a line of text")
	if !ok {
		return nil
	}
	l := &doc.Line{}
	if v := o.get("thickness"); v != nil {
		l.Width = c.length(v, o.at("thickness"), 1)
	}
	if v := o.get("color"); v != nil {
		l.Color = c.color(v, o.at("color"))
	}
	if v := o.get("dash"); v != nil {
		l.Dash = c.dash(v, o.at("dash"))
	}
	o.done()
	return l
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
	s.Leading, s.Weight, s.Align, s.Indent = 0, 700, doc.AlignStart, 0
	s.SpaceBefore, s.SpaceAfter = s.Size, s.Size/2
	c.headings[level] = &s
	return &s
}
