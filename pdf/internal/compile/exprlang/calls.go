package exprlang

import (
	"maps"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"example.com/quire/pdf/internal/compile/decimal"
)

// builtins are expr-lang's functions that the language keeps. Everything else
// it has works in floats, loses order or types, or has no bound.
func builtins() map[string]func(*checker, *ast.BuiltinNode) *expr {
	return map[string]func(*checker, *ast.BuiltinNode) *expr{
		"len": (*checker).length, "map": (*checker).mapped, "filter": (*checker).filter,
		"all": (*checker).quantifier, "any": (*checker).quantifier, "none": (*checker).quantifier, "one": (*checker).quantifier,
		"count": (*checker).count, "find": (*checker).find,
		"sortBy": (*checker).sortBy, "flatten": (*checker).flatten, "first": (*checker).end, "last": (*checker).end,
		"trim": (*checker).trim, "split": (*checker).split, "replace": (*checker).replace,
		"hasPrefix": (*checker).affix, "hasSuffix": (*checker).affix,
	}
}

// FunctionNames returns the names of all functions, sorted.
func FunctionNames() []string {
	names := slices.Collect(maps.Keys(builtins()))
	names = slices.AppendSeq(names, maps.Keys(functions()))
	slices.Sort(names)
	return names
}

func (c *checker) builtin(n *ast.BuiltinNode) *expr {
	f, ok := builtins()[n.Name]
	if !ok {
		return c.bad(n, CodeFunction, "", "function %s is not part of the template language", n.Name)
	}
	// The parser lets builtins through with any number of arguments.
	want := map[string][2]int{"len": {1, 1}, "count": {1, 2}, "flatten": {1, 1}, "first": {1, 1}, "last": {1, 1}, "trim": {1, 2}, "replace": {3, 3}, "sortBy": {2, 3}}
	w, ok := want[n.Name]
	if !ok {
		w = [2]int{2, 2}
	}
	if !c.arity(n, n.Name, len(n.Arguments), w[0], w[1]) {
		return c.invalid(n)
	}
	return f(c, n)
}

func (c *checker) arity(n ast.Node, name string, got, least, most int) bool {
	switch {
	case got >= least && got <= most:
		return true
	case least == most:
		c.bad(n, CodeFunction, "", "%s takes %d arguments, got %d", name, least, got)
	default:
		c.bad(n, CodeFunction, "", "%s takes %d to %d arguments, got %d", name, least, most, got)
	}
	return false
}

// listArg checks an argument that is a list.
func (c *checker) listArg(name string, n ast.Node) *expr {
	e := c.node(n)
	if e.typ.Kind != Invalid && e.typ.Kind != ListKind {
		return c.bad(n, CodeType, "", "%s wants a list, got %s", name, e.typ)
	}
	return e
}

func (c *checker) textArg(name string, n ast.Node) *expr {
	e := c.node(n)
	if e.typ.Kind != Invalid && !e.typ.textual() {
		return c.bad(n, CodeType, "", "%s wants a string, got %s", name, e.typ)
	}
	return e
}

func (c *checker) length(n *ast.BuiltinNode) *expr {
	e := c.node(n.Arguments[0])
	switch {
	case e.typ.Kind == Invalid:
		return e
	case e.typ.textual():
		return c.counted(n, e, func(v Value) int { return len([]rune(v.str)) })
	case e.typ.Kind == ListKind, e.typ.Kind == MapKind:
		return c.counted(n, e, Value.Len)
	}
	return c.bad(n.Arguments[0], CodeType, "", "len wants a list, a map or a string, got %s", e.typ)
}

func (c *checker) counted(n ast.Node, e *expr, count func(Value) int) *expr {
	off, end := c.span(n)
	return &expr{typ: typeInteger, off: off, end: end, eval: func(m *Machine) (Value, error) {
		v, err := e.need(m)
		if err != nil {
			return Null, err
		}
		return Int(count(v)), nil
	}}
}

// predicate checks the list and the predicate of a builtin. each runs the
// predicate over the items until visit says stop.
func (c *checker) predicate(n *ast.BuiltinNode, condition bool) (src, body *expr, each eachFunc) {
	src = c.listArg(n.Name, n.Arguments[0])
	if src.typ.Kind == Invalid {
		return src, nil, nil
	}
	off, end := c.span(n)
	if c.depth >= min(c.o.PredicateDepth, maxPredicates) {
		c.report(off, end, CodeNesting, "put the inner part into a variable", "predicates nest deeper than %d levels", c.o.PredicateDepth)
		return c.invalid(n), nil, nil
	}
	d := c.depth
	c.pointers = append(c.pointers, &expr{typ: src.typ.Elem, desc: src.name("the list") + "[]"})
	c.depth++
	if condition {
		body = c.boolean(predicateBody(n.Arguments[1]))
	} else {
		body = c.node(predicateBody(n.Arguments[1]))
	}
	c.depth--
	c.pointers = c.pointers[:d]
	if body.typ.Kind == Invalid {
		return body, nil, nil
	}
	return src, body, func(m *Machine, list Value, visit func(i int, item, v Value) bool) error {
		elem, index := m.elem[d], m.index[d]
		defer func() { m.elem[d], m.index[d] = elem, index }()
		items := list.items()
		for i := range items {
			if err := m.step(off); err != nil {
				return err
			}
			m.elem[d], m.index[d] = &items[i], i
			v, err := body.eval(m)
			if err != nil {
				return err
			}
			if !visit(i, items[i], v) {
				return nil
			}
		}
		return nil
	}
}

type eachFunc func(m *Machine, list Value, visit func(i int, item, v Value) bool) error

func predicateBody(n ast.Node) ast.Node {
	if p, ok := n.(*ast.PredicateNode); ok {
		return p.Node
	}
	return n
}

// predicateExpr builds the expression of a builtin with a predicate.
func (c *checker) predicateExpr(n ast.Node, typ *Type, src *expr, run func(m *Machine, list Value) (Value, error)) *expr {
	off, end := c.span(n)
	return &expr{typ: typ, off: off, end: end, desc: src.desc, eval: func(m *Machine) (Value, error) {
		list, err := src.need(m)
		if err != nil {
			return Null, err
		}
		return run(m, list)
	}}
}

func (c *checker) mapped(n *ast.BuiltinNode) *expr {
	src, body, each := c.predicate(n, false)
	if each == nil {
		return src.orInvalid(c, n)
	}
	if body.typ.OfLayout() {
		return c.bad(n, CodeType, "", aloneMessage)
	}
	off, _ := c.span(n)
	e := c.predicateExpr(n, &Type{Kind: ListKind, Elem: body.typ}, src, func(m *Machine, list Value) (Value, error) {
		if err := m.take(off, valueSize*(list.Len()+1)); err != nil {
			return Null, err
		}
		out := make([]Value, list.Len())
		err := each(m, list, func(i int, _, v Value) bool {
			out[i] = v
			return true
		})
		return List(out), err
	})
	e.desc = body.desc
	return e
}

func (e *expr) orInvalid(c *checker, n ast.Node) *expr {
	if e != nil && e.typ.Kind == Invalid {
		return e
	}
	return c.invalid(n)
}

func (c *checker) filter(n *ast.BuiltinNode) *expr {
	src, test, each := c.predicate(n, true)
	if each == nil {
		return src.orInvalid(c, n)
	}
	off, _ := c.span(n)
	t := *src.typ.required()
	t.Elem = t.Elem.shown(test.yes, c.depth)
	return c.predicateExpr(n, &t, src, func(m *Machine, list Value) (Value, error) {
		var out []Value
		err := each(m, list, func(_ int, item, v Value) bool {
			if v.True() {
				out = append(out, item)
			}
			return true
		})
		if err == nil {
			err = m.take(off, valueSize*(len(out)+1))
		}
		return List(out), err
	})
}

func (c *checker) quantifier(n *ast.BuiltinNode) *expr {
	src, _, each := c.predicate(n, true)
	if each == nil {
		return src.orInvalid(c, n)
	}
	name := n.Name
	return c.predicateExpr(n, typeBoolean, src, func(m *Machine, list Value) (Value, error) {
		hits := 0
		err := each(m, list, func(_ int, _, v Value) bool {
			if v.True() {
				hits++
			}
			switch name {
			case "all":
				return v.True()
			case "one":
				return hits < 2
			}
			return hits == 0
		})
		switch name {
		case "all":
			return Bool(hits == list.Len()), err
		case "one":
			return Bool(hits == 1), err
		case "none":
			return Bool(hits == 0), err
		}
		return Bool(hits > 0), err
	})
}

func (c *checker) count(n *ast.BuiltinNode) *expr {
	if len(n.Arguments) == 1 {
		return c.length(n)
	}
	src, _, each := c.predicate(n, true)
	if each == nil {
		return src.orInvalid(c, n)
	}
	return c.predicateExpr(n, typeInteger, src, func(m *Machine, list Value) (Value, error) {
		hits := 0
		err := each(m, list, func(_ int, _, v Value) bool {
			if v.True() {
				hits++
			}
			return true
		})
		return Int(hits), err
	})
}

func (c *checker) find(n *ast.BuiltinNode) *expr {
	src, test, each := c.predicate(n, true)
	if each == nil {
		return src.orInvalid(c, n)
	}
	e := c.predicateExpr(n, src.typ.Elem.shown(test.yes, c.depth).optional(), src, func(m *Machine, list Value) (Value, error) {
		found := Null
		err := each(m, list, func(_ int, item, v Value) bool {
			if v.True() {
				found = item
			}
			return !v.True()
		})
		return found, err
	})
	e.desc = src.name("the list") + "[]"
	return e
}

func (c *checker) flatten(n *ast.BuiltinNode) *expr {
	e := c.listArg(n.Name, n.Arguments[0])
	if e.typ.Kind == Invalid {
		return e
	}
	if e.typ.Elem.Kind != ListKind {
		return c.bad(n, CodeType, "", "flatten wants a list of lists, got %s", e.typ)
	}
	off, _ := c.span(n)
	return c.predicateExpr(n, e.typ.Elem.required(), e, func(m *Machine, l Value) (Value, error) {
		var out []Value
		for _, inner := range l.items() {
			if err := m.take(off, valueSize*(inner.Len()+1)); err != nil {
				return Null, err
			}
			out = append(out, inner.items()...)
		}
		return List(out), nil
	})
}

// end is first(list) and last(list); of an empty list both are null.
func (c *checker) end(n *ast.BuiltinNode) *expr {
	e := c.listArg(n.Name, n.Arguments[0])
	if e.typ.Kind == Invalid {
		return e
	}
	first := n.Name == "first"
	out := c.predicateExpr(n, e.typ.Elem.optional(), e, func(_ *Machine, l Value) (Value, error) {
		switch {
		case l.Len() == 0:
			return Null, nil
		case first:
			return l.At(0), nil
		}
		return l.At(l.Len() - 1), nil
	})
	out.desc = e.name("the list") + "[]"
	return out
}

// textCall checks the string arguments of a builtin and builds the call.
func (c *checker) textCall(n *ast.BuiltinNode, typ *Type, run func(m *Machine, off int, args []string) (Value, error)) *expr {
	args := make([]*expr, len(n.Arguments))
	for i, a := range n.Arguments {
		if args[i] = c.textArg(n.Name, a); args[i].typ.Kind == Invalid {
			return args[i]
		}
	}
	off, end := c.span(n)
	return &expr{typ: typ, off: off, end: end, eval: func(m *Machine) (Value, error) {
		texts := make([]string, len(args))
		for i, a := range args {
			v, err := a.need(m)
			if err != nil {
				return Null, err
			}
			texts[i] = v.str
		}
		return run(m, off, texts)
	}}
}

func (c *checker) trim(n *ast.BuiltinNode) *expr {
	return c.textCall(n, typeString, func(_ *Machine, _ int, a []string) (Value, error) {
		if len(a) == 1 {
			return Text(strings.TrimSpace(a[0])), nil
		}
		return Text(strings.Trim(a[0], a[1])), nil
	})
}

func (c *checker) split(n *ast.BuiltinNode) *expr {
	return c.textCall(n, &Type{Kind: ListKind, Elem: typeString}, func(m *Machine, off int, a []string) (Value, error) {
		if err := m.take(off, valueSize*(strings.Count(a[0], a[1])+2)); err != nil {
			return Null, err
		}
		parts := strings.Split(a[0], a[1])
		out := make([]Value, len(parts))
		for i, p := range parts {
			out[i] = Text(p)
		}
		return List(out), nil
	})
}

func (c *checker) replace(n *ast.BuiltinNode) *expr {
	return c.textCall(n, typeString, func(m *Machine, off int, a []string) (Value, error) {
		if err := m.take(off, len(a[0])+strings.Count(a[0], a[1])*len(a[2])); err != nil {
			return Null, err
		}
		return Text(strings.ReplaceAll(a[0], a[1], a[2])), nil
	})
}

func (c *checker) affix(n *ast.BuiltinNode) *expr {
	a, b := c.textArg(n.Name, n.Arguments[0]), c.textArg(n.Name, n.Arguments[1])
	if a.typ.Kind == Invalid || b.typ.Kind == Invalid {
		return c.invalid(n)
	}
	if n.Name == "hasPrefix" {
		return textTest(a, b, strings.HasPrefix)
	}
	return textTest(a, b, strings.HasSuffix)
}

// total adds a list up, exactly. It is a function of ours, but belongs to the
// lists.
func (c *checker) total(n *ast.CallNode) *expr {
	e := c.listArg("total", n.Arguments[0])
	if e.typ.Kind == Invalid {
		return e
	}
	if k := e.typ.Elem; !k.numeric() && k.Kind != NullKind {
		return c.bad(n, CodeType, "write total(map(list, .field))", "total wants a list of numbers, got %s", e.typ)
	}
	t := typeDecimal
	if e.typ.Elem.Kind == IntegerKind {
		t = typeInteger
	}
	off, end := c.span(n)
	return &expr{typ: t, off: off, end: end, eval: func(m *Machine) (Value, error) {
		l, err := e.need(m)
		if err != nil {
			return Null, err
		}
		var sum decimal.Decimal
		items := l.items()
		for i := range items {
			if err := m.step(off); err != nil {
				return Null, err
			}
			if items[i].IsNull() {
				return Null, fail(off, CodeMissing, "%s is missing in a total", e.name("a number"))
			}
			sum = sum.Add(items[i].Dec())
		}
		return result(m, off, sum)
	}}
}
