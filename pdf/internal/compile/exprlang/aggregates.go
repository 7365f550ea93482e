package exprlang

import (
	"math/bits"
	"slices"

	"github.com/expr-lang/expr/ast"

	"example.com/quire/pdf/internal/compile/decimal"
)

// aggregate is sum, avg, min and max, of one list of numbers or of two arguments or more. Of an
// empty list sum is 0 and the others are null.
func (c *checker) aggregate(n *ast.CallNode) *expr {
	name := callee(n)
	args := make([]*expr, len(n.Arguments))
	whole, ofList := true, false
	for i, a := range n.Arguments {
		e := c.node(a)
		t := e.typ
		if len(args) == 1 && t.Kind == ListKind {
			t, ofList = t.Elem, true
		}
		switch {
		case e.typ.Kind == Invalid:
			return e
		case len(args) == 1 && !ofList:
			return c.bad(a, CodeType, "", "%s wants a list of numbers, or several numbers, got %s", name, e.typ)
		case !t.numeric() && t.Kind != NullKind:
			return c.bad(a, CodeType, "write "+name+"(map(list, .field))", "%s wants numbers, got %s", name, e.typ)
		}
		whole = whole && t.Kind == IntegerKind
		args[i] = e
	}
	t := typeDecimal
	if whole && name != "avg" {
		t = typeInteger
	}
	if ofList && name != "sum" {
		t = t.optional()
	}
	off, end := c.span(n)
	return &expr{typ: t, off: off, end: end, desc: name + " of " + args[0].name("the list"), eval: func(m *Machine) (Value, error) {
		var acc decimal.Decimal
		count := 0
		add := func(v Value) error {
			if err := m.step(off); err != nil {
				return err
			}
			if v.IsNull() {
				return fail(off, CodeMissing, "%s is missing in %s", args[0].name("a number"), name)
			}
			d := v.Dec()
			switch {
			case name == "sum" || name == "avg":
				acc = acc.Add(d)
			case count == 0, name == "min" && d.Cmp(acc) < 0, name == "max" && d.Cmp(acc) > 0:
				acc = d
			}
			count++
			return nil
		}
		for _, a := range args {
			v, err := a.need(m)
			if err != nil {
				return Null, err
			}
			items := []Value{v}
			if ofList {
				items = v.items()
			}
			for _, item := range items {
				if err := add(item); err != nil {
					return Null, err
				}
			}
		}
		switch {
		case count == 0 && name != "sum":
			return Null, nil
		case name == "avg":
			q, err := acc.QuoBy(decimal.New(int64(count), 0), c.o.Rounding)
			if err != nil {
				return Null, fail(off, CodeValue, "%s", err)
			}
			return result(m, off, q)
		}
		return result(m, off, acc)
	}}
}

// abs is abs(x).
func (c *checker) abs(n *ast.CallNode) *expr {
	e := c.numberArg("abs", n.Arguments[0])
	if e.typ.Kind == Invalid {
		return e
	}
	off, end := c.span(n)
	return &expr{typ: e.typ.required(), off: off, end: end, desc: e.desc, eval: func(m *Machine) (Value, error) {
		v, err := e.need(m)
		if err != nil {
			return Null, err
		}
		return result(m, off, v.Dec().Abs())
	}}
}

// sortBy is sortBy(list, key) and sortBy(list, key, 'desc'): stable, by value or by code point. The
// keys are computed once for each item, and the steps of sorting are taken before it begins.
func (c *checker) sortBy(n *ast.BuiltinNode) *expr {
	desc := false
	if len(n.Arguments) == 3 {
		order := c.node(n.Arguments[2])
		if order.lit == nil || order.lit.str != "asc" && order.lit.str != "desc" {
			return c.bad(n.Arguments[2], CodeType, "", "the order of sortBy is 'asc' or 'desc'")
		}
		desc = order.lit.str == "desc"
	}
	src, body, each := c.predicate(n, false)
	if each == nil {
		return src.orInvalid(c, n)
	}
	if t := body.typ; !t.numeric() && !t.textual() && t.Kind != DateKind && t.Kind != DateTimeKind {
		return c.bad(n.Arguments[1], CodeType, "", "sortBy wants a number, a text or a date as key, got %s", t)
	}
	off, _ := c.span(n)
	return c.predicateExpr(n, src.typ.required(), src, func(m *Machine, list Value) (Value, error) {
		type keyed struct{ item, key Value }
		size := list.Len()
		if err := m.take(off, 3*valueSize*(size+1)); err != nil {
			return Null, err
		}
		m.Steps -= int64(size) * int64(bits.Len(uint(size)))
		if err := m.step(off); err != nil {
			return Null, err
		}
		pairs := make([]keyed, 0, size)
		missing := false
		err := each(m, list, func(_ int, item, v Value) bool {
			missing = missing || v.IsNull()
			pairs = append(pairs, keyed{item, v})
			return !missing
		})
		if err != nil {
			return Null, err
		}
		if missing {
			return Null, fail(off, CodeMissing, "%s is missing as a key of sortBy", body.name("a value"))
		}
		slices.SortStableFunc(pairs, func(a, b keyed) int {
			if desc {
				return compare(b.key, a.key)
			}
			return compare(a.key, b.key)
		})
		out := make([]Value, size)
		for i, p := range pairs {
			out[i] = p.item
		}
		return List(out), nil
	})
}

// mapParts is keys(m), values(m) and entries(m), in code point order of the keys. An entry is a
// record of .key and .value.
func (c *checker) mapParts(n *ast.CallNode) *expr {
	name := callee(n)
	e := c.node(n.Arguments[0])
	switch {
	case e.typ.Kind == Invalid:
		return e
	case e.typ.Kind != MapKind:
		return c.bad(n.Arguments[0], CodeType, "", "%s wants a map, got %s", name, e.typ)
	}
	elem := typeString
	switch name {
	case "values":
		elem = e.typ.Elem
	case "entries":
		elem = &Type{Kind: RecordKind, Fields: []*Field{{Name: "key", Type: typeString}, {Name: "value", Type: e.typ.Elem}}}
	}
	off, end := c.span(n)
	return &expr{typ: &Type{Kind: ListKind, Elem: elem}, off: off, end: end, desc: e.desc, eval: func(m *Machine) (Value, error) {
		v, err := e.need(m)
		if err != nil {
			return Null, err
		}
		if err := m.take(off, 3*valueSize*(v.Len()+1)); err != nil {
			return Null, err
		}
		out := make([]Value, v.Len())
		for i, item := range v.items() {
			if err := m.step(off); err != nil {
				return Null, err
			}
			switch key := Text(v.box.keys[i]); name {
			case "keys":
				out[i] = key
			case "values":
				out[i] = item
			default:
				out[i] = Record([]Value{key, item})
			}
		}
		return List(out), nil
	}}
}
