package exprlang

import "github.com/expr-lang/expr/ast"

// item is list[i]; a negative i counts from the end.
func (c *checker) item(base, i *expr, n *ast.MemberNode) *expr {
	if i.typ.Kind != Invalid && i.typ.Kind != IntegerKind {
		return c.bad(n.Property, CodeType, "", "the index of a list is an integer, not %s", i.typ)
	}
	off, end := i.off, i.end
	return &expr{typ: base.typ.Elem, off: off, end: end, desc: base.desc + "[]", eval: func(m *Machine) (Value, error) {
		b, iv, err := eval2(m, base, i)
		if err != nil {
			return Null, err
		}
		at, ok, err := position(base, i, b, iv)
		if err != nil {
			return Null, err
		}
		if !ok || at >= b.Len() {
			return Null, fail(off, CodeValue, "index %s is outside %s with %d items", iv.Dec(), base.name("the list"), b.Len())
		}
		return b.At(at), nil
	}}
}

// position turns an index value into a place in 0..Len.
func position(base, i *expr, b, iv Value) (at int, ok bool, err error) {
	if b.IsNull() {
		return 0, false, base.missing()
	}
	if iv.IsNull() {
		return 0, false, i.missing()
	}
	n, ok := iv.Dec().Int64()
	if n < 0 {
		n += int64(b.Len())
	}
	return int(n), ok && n >= 0 && n <= int64(b.Len()), nil
}

func (c *checker) slice(n *ast.SliceNode) *expr {
	base := c.node(n.Node)
	if base.typ.Kind == Invalid {
		return base
	}
	if base.typ.Kind != ListKind {
		return c.bad(n, CodeType, "", "%s is %s; only lists have slices", base.name("this"), base.typ)
	}
	bound := func(b ast.Node) *expr {
		if b == nil {
			return nil
		}
		e := c.node(b)
		if e.typ.Kind != Invalid && e.typ.Kind != IntegerKind {
			return c.bad(b, CodeType, "", "the bound of a slice is an integer, not %s", e.typ)
		}
		return e
	}
	from, to := bound(n.From), bound(n.To)
	off, end := c.span(n)
	return &expr{typ: base.typ, off: off, end: end, desc: base.desc, eval: func(m *Machine) (Value, error) {
		b, err := base.eval(m)
		if err != nil {
			return Null, err
		}
		if b.IsNull() {
			return Null, base.missing()
		}
		ends := [2]int{0, b.Len()}
		for k, e := range [2]*expr{from, to} {
			if e == nil {
				continue
			}
			iv, err := e.eval(m)
			if err != nil {
				return Null, err
			}
			at, ok, err := position(base, e, b, iv)
			if err != nil {
				return Null, err
			}
			if !ok { // beyond an end is that end, as in expr-lang
				at = 0
				if iv.Dec().Sign() > 0 {
					at = b.Len()
				}
			}
			ends[k] = at
		}
		if err := m.take(off, valueSize); err != nil {
			return Null, err
		}
		return List(b.items()[min(ends[0], ends[1]):ends[1]]), nil
	}}
}
