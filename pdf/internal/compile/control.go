package compile

import (
	"regexp"
	"slices"

	"example.com/quire/internal/strictyaml"
	"example.com/quire/pdf/internal/compile/decimal"
	"example.com/quire/pdf/internal/compile/exprlang"
)

// loop is the head of a loop: `for: x in list` or `for: i, x in list`.
type loop struct {
	list        *programAt
	item, i, at int // slots: the item, the index (-1: none), `loop`
}

var reFor = regexp.MustCompile(`^\s*(?:([A-Za-z_][A-Za-z0-9_]*)\s*,\s*)?([A-Za-z_][A-Za-z0-9_]*)\s+in\s`)

// loopType is the type of `loop`.
func loopType() *exprlang.Type {
	b, _ := exprlang.Basic("boolean")
	return &exprlang.Type{Kind: exprlang.RecordKind, Fields: []*exprlang.Field{{Name: "first", Type: b}, {Name: "last", Type: b}}}
}

// loop compiles the head of a loop and opens the scope of its names; endLoop
// closes it, whether or not there are problems.
func (c *compiler) loop(n *strictyaml.Node, path string) *loop {
	c.loops++
	l := &loop{i: -1}
	text, ok := c.scalar(n, path)
	m := reFor.FindStringSubmatchIndex(text)
	if ok && m == nil {
		c.bad(n, path, exprlang.CodeSyntax, "", "want `x in list` or `i, x in list`, got %s", quoted(text))
	}
	elem := invalidType
	desc := ""
	var list *exprlang.Path
	var reads []*exprlang.Path
	name, count := "", ""
	if m != nil {
		name = text[m[4]:m[5]]
		if m[2] >= 0 {
			count = text[m[2]:m[3]]
		}
		for _, s := range []string{name, count} {
			if slices.Contains(exprlang.ReservedNames(), s) {
				c.bad(n, path, codeContract, "", "%q is a word of the expression language", s)
			}
		}
		if prog := c.compileExpr(n, path, m[1], text[m[1]:]); prog != nil {
			if prog.Type.Kind != exprlang.ListKind {
				line, col := n.Pos(m[1])
				c.at(line, col, path, exprlang.CodeType, "", "for wants a list, got %s", prog.Type)
			} else {
				l.list = &programAt{prog, c.place(n, path, m[1], prog)}
				elem, list, reads = prog.Type.Elem, prog.Path, prog.Reads
				if list != nil {
					c.plan.reads[len(c.plan.reads)-1].loop = true
				}
				desc = prog.Desc
				if desc != "" {
					desc += "[]"
				}
			}
		}
	}
	called := name
	if desc != "" {
		called = desc
	}
	l.item = c.slot(slotInfo{list: list, name: called, reads: reads})
	l.at = c.slot(slotInfo{name: "loop"})
	c.locals = append(c.locals, local{name, elem, l.item, desc}, local{"loop", loopType(), l.at, ""})
	if count != "" {
		integer, _ := exprlang.Basic("integer")
		l.i = c.slot(slotInfo{name: count})
		c.locals = append(c.locals, local{count, integer, l.i, ""})
	}
	return l
}

func (c *compiler) endLoop(l *loop) {
	c.loops--
	n := 2
	if l.i >= 0 {
		n = 3
	}
	c.locals = c.locals[:len(c.locals)-n]
}

func (c *compiler) forBlock(o *object) block {
	var cond *programAt
	if v := o.get("if"); v != nil {
		cond = c.condition(v, o.at("if"))
		defer c.given(cond.holds())()
	}
	f := &forNode{loop: c.loop(o.get("for"), o.at("for"))}
	f.body = c.blocks(o.get("do"), o.at("do"))
	c.endLoop(f.loop)
	if v := o.get("empty"); v != nil {
		f.empty = c.blocks(v, o.at("empty"))
	}
	o.done()
	if o.n.Get("if") != nil {
		return &ifNode{cond: cond, then: []block{f}}
	}
	return f
}

func (c *compiler) ifBlock(o *object) block {
	f := &ifNode{cond: c.condition(o.get("if"), o.at("if"))}
	end := c.given(f.cond.holds())
	f.then = c.blocks(o.get("do"), o.at("do"))
	end()
	if v := o.get("else"); v != nil {
		defer c.given(f.cond.fails())()
		f.other = c.blocks(v, o.at("else"))
	}
	o.done()
	return f
}

// switchBlock compares one value with those of its cases.
func (c *compiler) switchBlock(b *blockSource) block {
	o := b.common
	s := &switchNode{value: c.expr(b.value, b.path)}
	cases := o.need("cases")
	if cases != nil && cases.Kind != strictyaml.Sequence {
		c.bad(cases, o.at("cases"), codeWrong, "", "want a list of cases, got %s", cases.Kind)
		cases = nil
	}
	if cases != nil {
		end := func() {}
		if s.value != nil {
			end = c.given(s.value.prog.Itself) // null is no case
		}
		for i, n := range cases.Items {
			path := index(o.at("cases"), i)
			co, ok := c.object(n, path, "a case")
			if !ok {
				continue
			}
			var one switchCase
			if v := co.need("is"); v != nil {
				items := []*strictyaml.Node{v}
				if v.Kind == strictyaml.Sequence {
					items = v.Items
				}
				for _, item := range items {
					val, ok := c.caseValue(item, co.at("is"), s.value)
					if !ok {
						continue
					}
					one.is = append(one.is, val)
					if taken(s.cases, val) {
						c.warn(item.Line, item.Col, co.at("is"), codeDead, "", "a case above takes %s already", describe(item))
					}
				}
			}
			if v := co.need("do"); v != nil {
				one.do = c.blocks(v, co.at("do"))
			}
			co.done()
			s.cases = append(s.cases, one)
		}
		end()
	}
	if v := o.get("else"); v != nil {
		s.other = c.blocks(v, o.at("else"))
	}
	return s
}

// taken reports whether one of the cases is for v.
func taken(cases []switchCase, v exprlang.Value) bool {
	return slices.ContainsFunc(cases, func(c switchCase) bool {
		return slices.ContainsFunc(c.is, func(is exprlang.Value) bool { return exprlang.Equal(is, v) })
	})
}

// caseValue reads a literal that a switch compares with.
func (c *compiler) caseValue(n *strictyaml.Node, path string, value *programAt) (exprlang.Value, bool) {
	if value == nil {
		return exprlang.Null, false
	}
	t := value.prog.Type
	switch t.Kind {
	case exprlang.EnumKind, exprlang.StringKind:
		s, ok := c.word(n, path)
		if ok && t.Kind == exprlang.EnumKind && !slices.Contains(t.Enum, s) {
			c.bad(n, path, exprlang.CodeType, exprlang.Nearest(s, t.Enum), "%s is never %q", value.prog.Desc, s)
		}
		return exprlang.Text(s), ok
	case exprlang.IntegerKind, exprlang.DecimalKind, exprlang.NumberKind:
		if d, err := decimal.Parse(n.Text); err == nil && (n.Kind == strictyaml.Int || n.Kind == strictyaml.Float) {
			return exprlang.Number(d), true
		}
	case exprlang.BooleanKind:
		if n.Kind == strictyaml.Bool {
			return exprlang.Bool(c.flag(n, path)), true
		}
	default:
		c.bad(value.at.node, value.at.path, exprlang.CodeType, "", "switch wants a text, a number or a condition, got %s", t)
		return exprlang.Null, false
	}
	c.bad(n, path, exprlang.CodeType, "", "the value is %s and never %s", t, describe(n))
	return exprlang.Null, false
}

// component is an entry of `components:`.
type component struct {
	name   string
	node   *strictyaml.Node
	file   string
	theme  bool // of a theme's file: another one may stand in its place
	busy   bool // being compiled
	done   bool
	params []param
	body   []block
	slots  []string // that a use may fill
	placed []string // those that the body has a place for
}

type param struct {
	name string
	typ  *exprlang.Type
	slot int
}

// declareComponents reads the names of `components:`; only one of a theme may be there already.
func (c *compiler) declareComponents(n *strictyaml.Node, theme bool) {
	if n == nil {
		return
	}
	o, ok := c.object(n, "components", "components")
	if !ok {
		return
	}
	for i, k := range o.n.Keys {
		switch there := c.components[k.Text]; {
		case there != nil && !there.theme:
			c.bad(k, "components."+k.Text, codeContract, "", "there is a component %q in %s already", k.Text, there.file)
			continue
		case there == nil:
			c.componentNames = append(c.componentNames, k.Text)
		}
		c.components[k.Text] = &component{name: k.Text, node: o.n.Values[i], file: c.file, theme: theme}
	}
}

// readComponents compiles the bodies, each once, when all names are known.
func (c *compiler) readComponents() {
	for _, name := range c.componentNames {
		c.component(c.components[name])
	}
}

func (c *compiler) component(d *component) {
	if d.done || d.busy {
		return
	}
	d.busy = true
	defer func() { d.busy, d.done = false, true }()
	end := c.keep(d)
	c.within(d.file, func() { c.readComponent(d) })
	end()
}

func (c *compiler) readComponent(d *component) {
	path := "components." + d.name
	o, ok := c.object(d.node, path, "a component")
	if !ok {
		return
	}
	locals, loops, known := c.locals, c.loops, c.exprOptions.Known
	// A component sees the data, the variables and its parameters, not where it
	// is used; it may be used in a loop.
	c.locals, c.loops, c.exprOptions.Known = nil, 1, nil
	defer func() { c.locals, c.loops, c.exprOptions.Known = locals, loops, known }()
	if v := o.get("params"); v != nil {
		if po, ok := c.object(v, o.at("params"), "params"); ok {
			for i, k := range po.n.Keys {
				if !c.name(k, po.at(k.Text), "a parameter") {
					continue
				}
				p := param{name: k.Text, typ: c.typeOf(po.n.Values[i], po.at(k.Text)), slot: c.slot(slotInfo{name: k.Text})}
				d.params = append(d.params, p)
				c.locals = append(c.locals, local{p.name, p.typ, p.slot, ""})
			}
		}
	}
	if v := o.get("slots"); v != nil {
		c.declareSlots(d, v, o.at("slots"))
	}
	inside, around, artifact := c.inside, c.around, c.artifact
	c.inside, c.around, c.artifact = d, nil, false
	defer func() { c.inside, c.around, c.artifact = inside, around, artifact }()
	if v := o.need("do"); v != nil {
		d.body = c.blocks(v, o.at("do"))
	}
	for i, name := range d.slots {
		if !slices.Contains(d.placed, name) {
			v := o.n.Get("slots").Items[i]
			c.bad(v, index(o.at("slots"), i), codeWrong, "place it as in - {slot: "+name+"}", "slot %q has no place in the component", name)
		}
	}
	o.done()
}

func (c *compiler) useBlock(b *blockSource) block {
	o := b.common
	with := o.get("with")
	slots := o.get("slots")
	name, ok := c.word(b.value, b.path)
	if !ok {
		return nil
	}
	d := c.components[name]
	if d == nil {
		c.bad(b.value, b.path, codeName, exprlang.Nearest(name, c.componentNames), "no component %q", name)
		return nil
	}
	if d.busy {
		c.bad(b.value, b.path, codeCircle, "", "component %q uses itself", name)
		return nil
	}
	c.component(d)
	c.noteUse(name)
	u := &useNode{component: d, at: c.place(b.value, b.path, 0, nil)}
	args := &object{c: c, n: &strictyaml.Node{}, path: o.at("with")}
	if with != nil {
		if args, ok = c.object(with, o.at("with"), "with"); !ok {
			return nil
		}
	}
	for _, p := range d.params {
		v := args.get(p.name)
		if v == nil {
			if !p.typ.Optional {
				c.bad(b.value, b.path, codeArguments, "", "component %q wants %s: %s", name, p.name, p.typ)
			}
			u.args = append(u.args, argument{slot: p.slot})
			continue
		}
		u.args = append(u.args, c.argument(v, args.at(p.name), p))
	}
	if slots != nil {
		u.slots = c.fill(d, slots, o.at("slots"))
	}
	for _, k := range args.n.Keys {
		if !slices.Contains(args.asked, k.Text) {
			c.bad(k, args.path, codeArguments, exprlang.Nearest(k.Text, args.asked), "component %q has no parameter %q", name, k.Text)
		}
	}
	return u
}

// argument compiles the value of a parameter: one ${...} gives its value, any
// other text a string, a number or truth value itself.
func (c *compiler) argument(n *strictyaml.Node, path string, p param) argument {
	a := argument{slot: p.slot}
	accept := func(t *exprlang.Type) {
		if t != nil && !p.typ.Accepts(t) {
			c.bad(n, path, codeArguments, "", "%s is %s, got %s", p.name, p.typ, t)
		}
	}
	literal := func(kind string, v exprlang.Value) {
		t, _ := exprlang.Basic(kind)
		accept(t)
		a.value = v
	}
	switch {
	case !n.IsScalar():
		c.bad(n, path, codeArguments, "", "want a value, got %s", n.Kind)
	case wrapped(n.Text) && (n.Kind == strictyaml.String):
		if a.prog = c.expr(n, path); a.prog != nil {
			accept(a.prog.prog.Type)
		}
	case n.Kind == strictyaml.Null:
		if !p.typ.Optional {
			c.bad(n, path, codeArguments, "", "%s is %s and needs a value", p.name, p.typ)
		}
	case p.typ.Kind == exprlang.StringKind:
		a.text = c.plain(n, path)
		if s, ok := a.text.known(); ok {
			a.value, a.text = exprlang.Text(s), nil
		}
	case n.Kind == strictyaml.Bool:
		literal("boolean", exprlang.Bool(c.flag(n, path)))
	case n.Kind == strictyaml.Int || n.Kind == strictyaml.Float:
		d, err := decimal.Parse(n.Text)
		if err != nil {
			c.bad(n, path, codeArguments, "", "%s is not a number", describe(n))
			break
		}
		kind := "decimal"
		if n.Kind == strictyaml.Int {
			kind = "integer"
		}
		literal(kind, exprlang.Number(d))
	case p.typ.Kind == exprlang.EnumKind:
		if !slices.Contains(p.typ.Enum, n.Text) {
			c.bad(n, path, codeArguments, exprlang.Nearest(n.Text, p.typ.Enum), "%s is %s, got %s", p.name, p.typ, describe(n))
		}
		a.value = exprlang.Text(n.Text)
	default:
		c.bad(n, path, codeArguments, "", "%s is %s, got %s", p.name, p.typ, describe(n))
	}
	return a
}
