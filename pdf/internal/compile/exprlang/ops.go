package exprlang

import (
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"example.com/quire/pdf/internal/compile/decimal"
)

func (c *checker) unary(n *ast.UnaryNode) *expr {
	off, end := c.span(n)
	switch n.Operator {
	case "!", "not":
		e := c.boolean(n.Node)
		return &expr{typ: typeBoolean, off: off, end: e.end, yes: e.no, no: e.yes, eval: func(m *Machine) (Value, error) {
			v, err := e.eval(m)
			return Bool(!v.True()), err
		}}
	case "-", "+":
		e := c.node(n.Node)
		if e.typ.Kind == Invalid {
			return e
		}
		if !e.typ.numeric() {
			return c.bad(n, CodeType, "", "%s wants a number, got %s", n.Operator, e.typ)
		}
		neg := n.Operator == "-"
		out := &expr{typ: e.typ.required(), off: off, end: e.end, eval: func(m *Machine) (Value, error) {
			v, err := e.need(m)
			if err != nil || !neg {
				return v, err
			}
			return Number(v.Dec().Neg()), nil
		}}
		if e.lit != nil && neg {
			v := Number(e.lit.Dec().Neg())
			out.lit = &v
		}
		return out
	}
	return c.bad(n, CodeType, "", "operator %s is not part of the template language", c.src[off:end])
}

func (c *checker) binary(n *ast.BinaryNode) *expr {
	switch n.Operator {
	case "and", "&&", "or", "||":
		return c.logic(n)
	case "matches":
		return c.bad(n, CodeFunction, "use contains, startsWith or endsWith", "matches is not part of the template language")
	case "**", "^":
		return c.bad(n, CodeFunction, "", "powers are not part of the template language")
	}
	a, b := c.node(n.Left), c.node(n.Right)
	if a.typ.Kind == Invalid || b.typ.Kind == Invalid {
		return c.invalid(n)
	}
	switch n.Operator {
	case "+":
		if a.typ.textual() && b.typ.textual() {
			return c.concat(n, a, b)
		}
		return c.arithmetic(n, a, b)
	case "-", "*", "/", "%":
		return c.arithmetic(n, a, b)
	case "==", "!=":
		return c.equality(n, a, b)
	case "<", "<=", ">", ">=":
		return c.order(n, a, b)
	case "in":
		return c.in(n, a, b)
	case "contains", "startsWith", "endsWith":
		return c.textTest(n, a, b)
	case "??":
		return c.coalesce(n, a, b)
	case "..":
		return c.rangeOf(n, a, b)
	}
	return c.bad(n, CodeType, "", "operator %s is not part of the template language", n.Operator)
}

func (c *checker) logic(n *ast.BinaryNode) *expr {
	stop := n.Operator == "or" || n.Operator == "||"
	a := c.boolean(n.Left)
	onward := a.yes
	if stop {
		onward = a.no
	}
	b := c.given(onward, n.Right, c.boolean)
	yes, no := slices.Concat(a.yes, b.yes), both(a.no, b.no)
	if stop {
		yes, no = both(a.yes, b.yes), slices.Concat(a.no, b.no)
	}
	return &expr{typ: typeBoolean, off: a.off, end: b.end, yes: yes, no: no, eval: func(m *Machine) (Value, error) {
		v, err := a.eval(m)
		if err != nil || v.True() == stop {
			return Bool(stop), err
		}
		v, err = b.eval(m)
		return Bool(v.True()), err
	}}
}

func (c *checker) concat(n *ast.BinaryNode, a, b *expr) *expr {
	off, _ := c.span(n)
	return &expr{typ: typeString, off: a.off, end: b.end, eval: func(m *Machine) (Value, error) {
		x, y, err := need2(m, a, b)
		if err != nil {
			return Null, err
		}
		if err := m.take(off, len(x.str)+len(y.str)); err != nil {
			return Null, err
		}
		return Text(x.str + y.str), nil
	}}
}

func (c *checker) arithmetic(n *ast.BinaryNode, a, b *expr) *expr {
	for _, e := range [2]*expr{a, b} {
		if !e.typ.numeric() {
			hint := ""
			if a.typ.textual() || b.typ.textual() {
				hint = "put texts and values side by side: \"${a} ${b}\""
			}
			return c.bad(n, CodeType, hint, "%s wants numbers, got %s and %s", n.Operator, a.typ, b.typ)
		}
	}
	if (n.Operator == "/" || n.Operator == "%") && b.lit != nil && b.lit.Dec().Sign() == 0 {
		return c.bad(n, CodeType, "", "division by zero")
	}
	t := typeDecimal
	if a.typ.Kind == IntegerKind && b.typ.Kind == IntegerKind && n.Operator != "/" {
		t = typeInteger
	}
	off, _ := c.span(n)
	op := arithmetic[n.Operator]
	if n.Operator == "/" {
		mode := c.o.Rounding
		op = func(a, b decimal.Decimal) (decimal.Decimal, error) { return a.QuoBy(b, mode) }
	}
	return &expr{typ: t, off: a.off, end: b.end, eval: func(m *Machine) (Value, error) {
		x, err := a.number(m)
		if err != nil {
			return Null, err
		}
		y, err := b.number(m)
		if err != nil {
			return Null, err
		}
		d, err := op(x, y)
		if err != nil {
			return Null, fail(off, CodeValue, "division by zero")
		}
		return result(m, off, d)
	}}
}

// number is need for what is a number.
func (e *expr) number(m *Machine) (decimal.Decimal, error) {
	if e.path != nil {
		if v := e.path.value(m); v.kind != null {
			return v.Dec(), nil
		}
	}
	v, err := e.need(m)
	return v.Dec(), err
}

// result bounds the digits of a number that an expression makes, those of its
// fraction too: 0.1 times itself has one digit and many places.
func result(m *Machine, off int, d decimal.Decimal) (Value, error) {
	if n := max(d.Digits(), d.Scale()); n > 19 {
		if n > decimal.MaxDigits {
			return Null, fail(off, CodeValue, "the number has more than %d digits", decimal.MaxDigits)
		}
		if err := m.take(off, n); err != nil {
			return Null, err
		}
	}
	return Number(d), nil
}

var arithmetic = map[string]func(a, b decimal.Decimal) (decimal.Decimal, error){
	"+": func(a, b decimal.Decimal) (decimal.Decimal, error) { return a.Add(b), nil },
	"-": func(a, b decimal.Decimal) (decimal.Decimal, error) { return a.Sub(b), nil },
	"*": func(a, b decimal.Decimal) (decimal.Decimal, error) { return a.Mul(b), nil },
	"%": decimal.Decimal.Rem,
}

func (c *checker) equality(n *ast.BinaryNode, a, b *expr) *expr {
	t := join(a.typ, b.typ)
	if t == nil {
		return c.bad(n, CodeType, "", "%s and %s are never equal", a.typ, b.typ)
	}
	if k := t.Kind; (k == ListKind || k == RecordKind || k == MapKind) && a.typ.Kind != NullKind && b.typ.Kind != NullKind ||
		t.OfLayout() {
		return c.bad(n, CodeType, "", "values of type %s cannot be compared", t)
	}
	if !c.enumLiteral(n.Right, a, b) || !c.enumLiteral(n.Left, b, a) {
		return c.invalid(n)
	}
	want := n.Operator == "=="
	e := &expr{typ: typeBoolean, off: a.off, end: b.end, eval: func(m *Machine) (Value, error) {
		x, y, err := eval2(m, a, b)
		return Bool(Equal(x, y) == want), err
	}}
	switch {
	case a.typ.Kind == NullKind || b.typ.Kind == NullKind:
		e.no = named(a, b)
	case !a.typ.Optional || !b.typ.Optional: // what equals a value is one
		e.yes = named(a, b)
	}
	if !want {
		e.yes, e.no = e.no, e.yes
	}
	return e
}

// enumLiteral checks that a text compared with an enum is one of its values.
func (c *checker) enumLiteral(n ast.Node, enum, lit *expr) bool {
	if enum.typ.Kind != EnumKind || lit.lit == nil || lit.lit.kind != text || slices.Contains(enum.typ.Enum, lit.lit.str) {
		return true
	}
	c.bad(n, CodeType, Nearest(lit.lit.str, enum.typ.Enum), "%s is never %q", enum.name("the value"), lit.lit.str)
	return false
}

func (c *checker) order(n *ast.BinaryNode, a, b *expr) *expr {
	t := join(a.typ, b.typ)
	ordered := t != nil && (t.numeric() || t.textual() || t.Kind == DateKind || t.Kind == DateTimeKind)
	if !ordered {
		return c.bad(n, CodeType, "", "%s and %s have no order", a.typ, b.typ)
	}
	op := n.Operator
	return &expr{typ: typeBoolean, off: a.off, end: b.end, yes: named(a, b), no: named(a, b), eval: func(m *Machine) (Value, error) {
		x, y, err := need2(m, a, b)
		if err != nil {
			return Null, err
		}
		switch r := compare(x, y); op {
		case "<":
			return Bool(r < 0), nil
		case "<=":
			return Bool(r <= 0), nil
		case ">":
			return Bool(r > 0), nil
		default:
			return Bool(r >= 0), nil
		}
	}}
}

func (c *checker) in(n *ast.BinaryNode, a, b *expr) *expr {
	switch b.typ.Kind {
	case MapKind:
		if !a.typ.textual() {
			return c.bad(n, CodeType, "", "the keys of a map are strings, not %s", a.typ)
		}
	case ListKind:
		if join(a.typ, b.typ.Elem) == nil {
			return c.bad(n, CodeType, "", "%s is never in %s", a.typ, b.typ)
		}
		if arr, ok := n.Right.(*ast.ArrayNode); ok {
			for _, item := range arr.Nodes {
				if s, ok := item.(*ast.StringNode); ok && !c.enumLiteral(item, a, c.literal(item, typeString, Text(s.Value))) {
					return c.invalid(n)
				}
			}
		}
	default:
		return c.bad(n, CodeType, "", "in wants a list or a map, got %s", b.typ)
	}
	off, _ := c.span(n)
	var yes []string
	if b.typ.Kind == MapKind || !b.typ.Elem.Optional {
		yes = named(a)
	}
	return &expr{typ: typeBoolean, off: a.off, end: b.end, yes: yes, eval: func(m *Machine) (Value, error) {
		x, y, err := eval2(m, a, b)
		if err != nil {
			return Null, err
		}
		if y.kind == mapping {
			_, found := slices.BinarySearch(y.box.keys, x.str)
			return Bool(found && x.kind == text), nil
		}
		for _, v := range y.items() {
			if err := m.step(off); err != nil {
				return Null, err
			}
			if Equal(x, v) {
				return Bool(true), nil
			}
		}
		return Bool(false), nil
	}}
}

func (c *checker) textTest(n *ast.BinaryNode, a, b *expr) *expr {
	if !a.typ.textual() || !b.typ.textual() {
		return c.bad(n, CodeType, "", "%s wants strings, got %s and %s", n.Operator, a.typ, b.typ)
	}
	test := map[string]func(s, t string) bool{
		"contains": strings.Contains, "startsWith": strings.HasPrefix, "endsWith": strings.HasSuffix,
	}[n.Operator]
	return textTest(a, b, test)
}

func textTest(a, b *expr, test func(s, t string) bool) *expr {
	return &expr{typ: typeBoolean, off: a.off, end: b.end, yes: named(a, b), no: named(a, b), eval: func(m *Machine) (Value, error) {
		x, y, err := need2(m, a, b)
		return Bool(err == nil && test(x.str, y.str)), err
	}}
}

func (c *checker) coalesce(n ast.Node, a, b *expr) *expr {
	t := joinColors(&expr{typ: a.typ.required(), leaves: a.leaves, lit: a.lit, choice: a.choice}, b)
	if a.typ.Kind == NullKind {
		t = b.typ
	}
	if t == nil {
		return c.bad(n, CodeType, "", "the value is %s, its replacement %s", a.typ.required(), b.typ)
	}
	out := &expr{typ: t, off: a.off, end: b.end, figure: a.isFigure() || b.isFigure(), eval: func(m *Machine) (Value, error) {
		v, err := a.eval(m)
		if err == nil && v.IsNull() {
			return b.eval(m)
		}
		return v, err
	}}
	return out.chosen(a, b)
}

func (c *checker) rangeOf(n *ast.BinaryNode, a, b *expr) *expr {
	if a.typ.Kind != IntegerKind || b.typ.Kind != IntegerKind {
		hint := ""
		if a.typ.numeric() && b.typ.numeric() {
			hint = "round(x) gives an integer"
		}
		return c.bad(n, CodeType, hint, ".. wants integers, got %s and %s", a.typ, b.typ)
	}
	off, _ := c.span(n)
	return &expr{typ: &Type{Kind: ListKind, Elem: typeInteger}, off: a.off, end: b.end, eval: func(m *Machine) (Value, error) {
		x, y, err := need2(m, a, b)
		if err != nil {
			return Null, err
		}
		from, ok1 := x.Dec().Int64()
		to, ok2 := y.Dec().Int64()
		if d := y.Dec().Sub(x.Dec()); !ok1 || !ok2 || d.Cmp(decimal.New(m.Range, 0)) >= 0 {
			return Null, fail(off, CodeRange, "the range %s..%s has more than %d items", x.Dec(), y.Dec(), m.Range)
		}
		if to < from {
			return List(nil), nil
		}
		count := int(to - from + 1)
		if err := m.take(off, valueSize*(count+1)); err != nil {
			return Null, err
		}
		out := make([]Value, count)
		for i := range out {
			out[i] = Value{kind: number, num: from + int64(i)}
		}
		return List(out), nil
	}}
}
