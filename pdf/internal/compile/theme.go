package compile

import (
	"strconv"
	"strings"

	"example.com/quire/internal/strictyaml"
	"example.com/quire/pdf/doc"
)

// Styles are found in layers: those of the template lie over those of a theme's file, which lie
// over the default theme's. A style extends the one of its name in the layer below, if there is
// one, else the style named base.

// The styles that a theme applies by itself, beside base and h1 to h9.
const (
	linkName    = "link"
	captionName = "caption"
	headName    = "table-head"
	footName    = "table-foot"
	noteName    = "footnote"
)

// themeFile is a theme of the template's folder.
type themeFile struct {
	file               string
	styles, components *strictyaml.Node
}

// theme reads `theme:` and the styles. Without it a template has the default theme, unless its
// styles have a base: then it is set by these alone.
func (c *compiler) theme(n, styles *strictyaml.Node) (*themeFile, bool) {
	if n == nil {
		return nil, styles == nil || styles.Get(baseName) == nil
	}
	name, ok := c.word(n, "theme")
	switch {
	case !ok:
		return nil, false
	case name == "default":
		return nil, true
	case name == "none":
		return nil, false
	case !strings.Contains(name, "."):
		c.choice(n, "theme", "default", "none")
		return nil, false
	}
	return c.readTheme(n, name)
}

// readTheme reads the file of a theme. It lies over the default one unless it says otherwise.
func (c *compiler) readTheme(n *strictyaml.Node, name string) (t *themeFile, themed bool) {
	src := c.readFile(n, "theme", name)
	if src == nil {
		return nil, false
	}
	t = &themeFile{file: name}
	c.part(name, src, "a theme", func(o *object) {
		themed = true
		if v := o.get("theme"); v != nil {
			i, _ := c.choice(v, "theme", "default", "none")
			themed = i == 0
		}
		t.styles, t.components = o.get("styles"), o.get("components")
	})
	return t, themed
}

// readStyles reads the styles of all layers.
func (c *compiler) readStyles(n *strictyaml.Node, file *themeFile, themed bool) {
	c.styles = map[string]*styleDef{}
	c.base = &doc.Style{}
	if themed {
		base := doc.ThemeBase()
		c.base = &base
		c.themeStyle(baseName, func(s *doc.Style) { s.Size, s.Leading = base.Size, base.Leading }).style = &base
	}
	if file != nil {
		c.within(file.file, func() { c.layer(file.styles) })
	}
	c.layer(n)
	if c.styles[baseName] != nil {
		c.base = c.style(baseName)
	}
	if themed {
		c.themeStyles()
	}
	for _, name := range c.styleNames {
		c.style(name)
	}
	if themed {
		c.plan.theme = c.made()
	}
}

// layer lays the styles of a mapping over those that are there.
func (c *compiler) layer(n *strictyaml.Node) {
	if n == nil {
		return
	}
	o, ok := c.object(n, "styles", "styles")
	if !ok {
		return
	}
	for i, k := range o.n.Keys {
		if c.styles[k.Text] == nil {
			c.styleNames = append(c.styleNames, k.Text)
		}
		c.styles[k.Text] = &styleDef{node: o.n.Values[i], file: c.file, below: c.styles[k.Text]}
	}
}

// themeStyle puts a style of the default theme below those of the same name.
func (c *compiler) themeStyle(name string, set func(*doc.Style)) *styleDef {
	d := &styleDef{over: overlay{set: []func(*doc.Style){set}}}
	d.style = d.over.on(c.base, c.base)
	top := c.styles[name]
	if top == nil {
		c.styles[name] = d
		c.styleNames = append(c.styleNames, name)
		return d
	}
	for top.below != nil {
		top = top.below
	}
	top.below = d
	return d
}

// themeStyles adds the default theme's styles, which are reckoned from base.
func (c *compiler) themeStyles() {
	t := doc.DefaultTheme(*c.base)
	for i, h := range t.Headings {
		c.themeStyle("h"+strconv.Itoa(i+1), func(s *doc.Style) { *s = *h })
	}
	c.themeStyle(captionName, func(s *doc.Style) { *s = *t.Caption })
	c.themeStyle(noteName, func(s *doc.Style) { *s = *t.Footnote })
	c.themeStyle(headName, func(s *doc.Style) { *s = t.TableHead(*s) })
	c.themeStyle(footName, func(s *doc.Style) { *s = t.TableFoot(*s) })
	c.themeStyle(linkName, func(s *doc.Style) {
		if !t.Link.None() {
			s.Color = t.Link
		}
	})
	c.plan.theme = t
}

// made is the theme with the template's own styles over it.
func (c *compiler) made() *doc.Theme {
	t := *c.plan.theme
	for i := range t.Headings {
		t.Headings[i] = c.style("h" + strconv.Itoa(i+1))
	}
	t.Caption, t.Footnote = c.style(captionName), c.style(noteName)
	head, foot := c.styles[headName], c.styles[footName]
	t.TableHead = func(s doc.Style) doc.Style { return *head.laid(&s) }
	t.TableFoot = func(s doc.Style) doc.Style { return *foot.laid(&s) }
	t.Link = c.style(linkName).Color
	if c.base.SpaceAfter > 0 {
		t.ParagraphGap = c.base.SpaceAfter
	}
	return &t
}
