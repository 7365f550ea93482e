package compile

import (
	"cmp"
	"strconv"

	"example.com/quire/internal/strictyaml"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/compile/exprlang"
)

// paint is a colour: a fixed one, or what an expression gives.
type paint struct {
	fixed doc.Color
	prog  *programAt
}

const colorHint = `write "#rrggbb" in quotes`

// paint reads a colour or an expression of one.
func (c *compiler) paint(n *strictyaml.Node, path string) paint {
	if p, ok := c.choices(n, path); ok {
		return paint{prog: c.colors(p)}
	}
	return paint{fixed: c.color(n, path)}
}

// choices reads a value that is one ${...}; ok is false when it is none.
func (c *compiler) choices(n *strictyaml.Node, path string) (p *programAt, ok bool) {
	if !n.IsScalar() || n.Kind == strictyaml.Null || !wrapped(n.Text) {
		return nil, false
	}
	return c.expr(n, path), true
}

// leaf reports what is wrong with a literal of p.
func (c *compiler) leaf(p *programAt, l exprlang.Leaf, code, hint, format string, args ...any) {
	line, col := p.at.node.Pos(p.at.off + l.Off)
	c.at(line, col, p.at.path, code, hint, format, args...)
}

// colors checks that p gives colours: those of the data, and literals. It is nil when p does not.
func (c *compiler) colors(p *programAt) *programAt {
	if p == nil || p.prog.Type.Kind == exprlang.ColorKind || p.prog.Type.Kind == exprlang.NullKind {
		return p
	}
	if p.prog.Open || p.prog.Type.Kind != exprlang.StringKind {
		c.bad(p.at.node, p.at.path, exprlang.CodeType, "declare the field as color", "want a colour, got %s", p.prog.Type)
		return nil
	}
	for _, l := range p.prog.Leaves {
		if _, ok := exprlang.Color(l.Value.Str()); !ok && !l.Value.IsNull() {
			c.leaf(p, l, codeWrong, "write '#rrggbb'", "want a colour, got %s", quoted(l.Value.Str()))
			return nil
		}
	}
	return p
}

// colorOf is the colour of a value of the type color; none when it is missing.
func colorOf(v exprlang.Value) doc.Color {
	v, _ = exprlang.Color(v.Str()) // a literal may stand as it was written
	s := v.Str()
	if len(s) != len("#rrggbb") {
		return 0
	}
	rgb, _ := strconv.ParseUint(s[1:], 16, 24) // Color has looked
	return doc.Color(0xFF000000 | uint32(rgb))
}

func (r *render) paint(p paint) (doc.Color, error) {
	if p.prog == nil {
		return p.fixed, nil
	}
	v, err := r.eval(p.prog)
	return colorOf(v), err
}

// look is the style of a node: a fixed one, or one that data decides.
type look struct {
	fixed *doc.Style            // where name gives none; nil: the parent's
	name  *programAt            // nil: fixed
	named map[string]*doc.Style // what name may give
	color *programAt            // nil: the style's own
	over  overlay               // the keys beside `style`
	bare  bool                  // it names no style: over changes that of what is around
}

// ownLook reads `style` and the style keys beside it. Without any it is parent, nil for the style
// of what is around.
func (c *compiler) ownLook(o *object, parent *doc.Style) look {
	over := c.overlay(o, true)
	l := look{fixed: over.on(parent, c.base), color: over.paint, over: over}
	v := o.get("style")
	if v == nil {
		l.bare = parent == nil
		return l
	}
	p, ok := c.choices(v, o.at("style"))
	if !ok {
		if named := c.styleRef(v, o.at("style")); named != nil {
			l.fixed = over.on(named, c.base)
		}
		return l
	}
	l.name, l.named = p, c.styleLeaves(p, func(d *styleDef) *doc.Style { return over.on(d.style, c.base) })
	return l
}

// within is the style of what is in a block of this look, as far as it is known without data; nil:
// the base.
func (l *look) within(around, base *doc.Style) *doc.Style {
	if l.bare && around != nil {
		return l.over.within(around, base)
	}
	return cmp.Or(l.fixed, around)
}

// styleLeaves returns the styles that p may name, each as of makes it.
func (c *compiler) styleLeaves(p *programAt, of func(*styleDef) *doc.Style) map[string]*doc.Style {
	out := map[string]*doc.Style{}
	switch {
	case p == nil || p.prog.Type.Kind == exprlang.NullKind:
		return out
	case p.prog.Open || p.prog.Type.Kind != exprlang.StringKind:
		c.bad(p.at.node, p.at.path, exprlang.CodeType, "write the names of styles, as in ${late ? 'warn' : 'num'}",
			"want one of the styles by name, got %s", p.prog.Type)
		return out
	}
	for _, l := range p.prog.Leaves {
		name := l.Value.Str()
		switch {
		case l.Value.IsNull():
		case c.styles[name] == nil:
			c.leaf(p, l, codeName, exprlang.Nearest(name, c.styleNames), "no style %q", name)
		default:
			c.style(name)
			out[name] = of(c.styles[name])
		}
	}
	return out
}

// tint names a style in another colour.
type tint struct {
	style *doc.Style
	color doc.Color
}

// keys are those of a block that names no style.
type keys struct {
	over *overlay // nil: none
	// made is what they make of around, the style of what the block is in as far as that is known
	// without data; nil: it is the base.
	around, made *doc.Style
}

// within returns the style of what is around with the keys laid over it; that itself when there are
// none. The spaces above and below are those of the base: they belong to what is around as a whole.
func (over *overlay) within(around, base *doc.Style) *doc.Style {
	if len(over.set) == 0 {
		return around
	}
	s := *around
	s.SpaceBefore, s.SpaceAfter = base.SpaceBefore, base.SpaceAfter
	return over.on(&s, nil)
}

// change names a style that keys of a block change.
type change struct {
	over   *overlay
	around *doc.Style
}

// changed returns what keys make of the style of what is around. It is made once for a document.
func (r *render) changed(k *keys) *doc.Style {
	if r.around == k.around {
		return k.made
	}
	key := change{k.over, r.around}
	if made := r.changes[key]; made != nil {
		return made
	}
	if r.changes == nil {
		r.changes = map[change]*doc.Style{}
	}
	made := k.over.within(r.around, r.plan.base)
	r.changes[key] = made
	return made
}

// look returns the style of a node. A style in a colour of the data is made once for a document.
func (r *render) look(l *look) (*doc.Style, error) {
	s := l.fixed
	if l.bare && r.around != nil {
		s = r.changed(&keys{over: &l.over})
	}
	if l.name != nil {
		v, err := r.eval(l.name)
		if err != nil {
			return nil, err
		}
		if !v.IsNull() {
			s = l.named[v.Str()]
		}
	}
	if l.color == nil {
		return s, nil
	}
	v, err := r.eval(l.color)
	if err != nil || v.IsNull() {
		return s, err
	}
	if s == nil {
		s = r.plan.base
	}
	key := tint{s, colorOf(v)}
	if made := r.tints[key]; made != nil {
		return made, nil
	}
	made := *s
	made.Color = key.color
	if r.tints == nil {
		r.tints = map[tint]*doc.Style{}
	}
	r.tints[key] = &made
	return &made, nil
}
