package exprlang

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"

	"example.com/quire/pdf/internal/compile/decimal"
	"example.com/quire/pdf/internal/compile/locale"
)

// Problem is a reason why an expression cannot be compiled.
type Problem struct {
	Off, End int // bytes of the source
	Code     string
	Message  string
	Hint     string
}

// Var is a name that an expression may use.
type Var struct {
	Slot  int
	Field int // index into the record in the slot, or -1 for the slot itself
	Type  *Type
	Desc  string // in messages; "" for the name itself
	// Note is the contract's field behind a name of the data, or nil.
	Note *Field
}

// Scope tells which names there are.
type Scope interface {
	Lookup(name string) (Var, bool)
	Names() []string
	// Used is called for each field of the contract that an expression reads.
	Used(f *Field, off int)
}

// Options says how expressions are compiled.
type Options struct {
	// Locale is what formats use; nil makes them a problem with the text of
	// NoLocale.
	Locale   *locale.Locale
	NoLocale string
	// Language is that of the text, a BCP 47 tag: upper and the like follow it.
	Language string

	// Rounding is the mode of division, round and all formats.
	Rounding decimal.Mode
	// Known are the facts that hold where the expression stands: Holds of the tests around it that
	// succeeded, Fails of those that did not.
	Known []string

	MaxBytes, MaxNodes, PredicateDepth int
}

// Compile parses and checks src.
func Compile(src string, scope Scope, o Options) (*Program, []Problem) {
	c := &checker{src: src, scope: scope, o: o}
	if len(src) > o.MaxBytes {
		c.report(0, len(src), CodeExprSize, "", "expression of %d bytes is over %d", len(src), o.MaxBytes)
		return nil, c.problems
	}
	if strings.TrimSpace(src) == "" {
		c.report(0, len(src), CodeSyntax, "", "the expression is empty")
		return nil, c.problems
	}
	tree, err := parse(src, o.MaxNodes)
	if err != nil {
		c.parseError(err)
		return nil, c.problems
	}
	e := c.node(tree)
	e.test()
	if len(c.problems) > 0 {
		return nil, c.problems
	}
	return &Program{
		Type: e.typ, Path: e.path, Reads: c.reads, Figure: e.isFigure(), Desc: e.desc, Subject: c.subject(e),
		Constant: len(c.reads) == 0 && !c.usesTime && !e.typ.OfLayout(),
		Leaves:   e.leaves, Open: e.open(), Holds: lasting(e.yes), Fails: lasting(e.no), Itself: lasting(named(e)),
		lets: c.maxLets, eval: e.eval, write: e.write,
	}, nil
}

// parse runs expr-lang's parser with our functions in place of its builtins of
// the same name, which makes them calls.
func parse(src string, maxNodes int) (ast.Node, error) {
	cfg := &conf.Config{
		MaxNodes:          uint(max(maxNodes, 1)),
		Functions:         make(conf.FunctionsTable, len(functions())),
		DisableIfOperator: true,
	}
	for name := range functions() {
		cfg.Functions[name] = &builtin.Function{Name: name}
	}
	tree, err := parser.ParseWithConfig(src, cfg)
	if err != nil {
		return nil, err
	}
	return tree.Node, nil
}

func (c *checker) parseError(err error) {
	var fe *file.Error
	if !errors.As(err, &fe) {
		c.report(0, len(c.src), CodeSyntax, "", "%s", err)
		return
	}
	code, msg, hint := CodeSyntax, fe.Message, ""
	switch {
	case strings.Contains(msg, "maximum allowed nodes"):
		code, msg = CodeExprNodes, fmt.Sprintf("expression has more than %d nodes", c.o.MaxNodes)
	case strings.HasPrefix(msg, "invalid integer literal"):
		msg, hint = "an integer has at most 18 digits here", "write it with a point, as in 100000000000000000000.0"
	case strings.HasPrefix(msg, "unexpected token EOF"):
		msg = "the expression ends too early"
		if i, closing := unclosed(c.src); i >= 0 {
			c.report(i, i+1, code, "", "%c without %s", c.src[i], closing)
			return
		}
		if name := pipedName(c.src); name != "" {
			msg, hint = name+" has no brackets", "write "+pipedCall(name)
		}
	case strings.HasPrefix(msg, "unexpected token Operator(\"=\")"):
		msg, hint = "assignment is not part of the expression language", "compare with =="
	case strings.HasPrefix(msg, `unexpected token Operator(",")`) && reComma.MatchString(c.src):
		msg, hint = `unexpected (",")`, "numbers have a point, as in 1.5"
	case strings.HasPrefix(msg, "unrecognized character: ") && strings.ContainsAny(msg, "‘’“”„"):
		hint = "write straight quotes, '"
		fallthrough
	default:
		switch from := c.byteOff(fe.From); {
		case strings.HasPrefix(msg, "unexpected token String(") && from > 0 && c.src[from-1] == c.src[from]:
			hint = "write \\" + c.src[from:from+1] + " for a quote in a text"
		case strings.HasPrefix(c.src, "if "):
			hint = "write condition ? this : that"
		case strings.Contains(c.src, "${"):
			hint = "names are written without ${} here"
		case strings.HasPrefix(msg, `unexpected token Operator("&")`):
			hint = "put texts and values side by side: \"${a} ${b}\""
		}
		msg = strings.NewReplacer("unexpected token Operator(", "unexpected (", "unexpected token Bracket(", "unexpected (",
			"unexpected token Identifier(", "unexpected (", "unexpected token String(", "unexpected (", "unexpected token Number(", "unexpected (").Replace(msg)
	}
	c.report(c.byteOff(fe.From), c.byteOff(max(fe.To, fe.From)), code, hint, "%s", msg)
}

// call is how a function is written.
func call(name string) string {
	switch name {
	case "now", "page", "pages", "section":
		return name + "()"
	}
	return name + "(...)"
}

// reComma is a number with a comma.
var reComma = regexp.MustCompile(`\d\s*,\s*\d`)

// unclosed finds the last bracket that opens and does not close, and what would close it; -1: all
// do. Brackets in texts are none.
func unclosed(src string) (at int, closing string) {
	var open []int
	quote := byte(0)
	for i := 0; i < len(src); i++ {
		switch b := src[i]; {
		case quote != 0 && b == '\\':
			i++
		case quote != 0:
			if b == quote {
				quote = 0
			}
		case b == '\'' || b == '"':
			quote = b
		case strings.IndexByte("([{", b) >= 0:
			open = append(open, i)
		case strings.IndexByte(")]}", b) >= 0 && len(open) > 0:
			open = open[:len(open)-1]
		}
	}
	if len(open) == 0 {
		return -1, ""
	}
	at = open[len(open)-1]
	return at, map[byte]string{'(': ")", '[': "]", '{': "}"}[src[at]]
}

// pipedName returns the function that src ends with behind a bar, as in `price | money`.
func pipedName(src string) string {
	i := strings.LastIndexByte(src, '|')
	if i < 0 {
		return ""
	}
	name := strings.TrimSpace(src[i+1:])
	if _, ok := functions()[name]; !ok {
		return ""
	}
	return name
}

// pipedCall is how a function is written behind a bar, with an argument where it needs one.
func pipedCall(name string) string {
	argument := ""
	switch name {
	case "money":
		argument = "'EUR'"
	case "date":
		argument = "'long'"
	case "default":
		argument = "'none'"
	case "plural":
		argument = "'item', 'items'"
	default:
		if functions()[name].least > 1 {
			argument = "..."
		}
	}
	return "| " + name + "(" + argument + ")"
}

// checker types one expression and compiles it on the way.
type checker struct {
	src      string
	scope    Scope
	o        Options
	problems []Problem

	depth    int // of the predicate
	pointers []*expr
	lets     []letVar
	maxLets  int
	usesTime bool
	reads    []*Path
	facts    []string // that hold here, beside those of the options
}

type letVar struct {
	name string
	typ  *Type
	desc string
	ref  string
}

// expr is a checked expression.
type expr struct {
	typ  *Type
	eval evalFunc
	off  int
	end  int
	lit  *Value // its value, when it needs no data
	// leaves are the literals that the value may be. What is neither one nor chosen among some
	// (choice) has none.
	leaves []Leaf
	choice bool // all that it may be is in leaves
	path   *Path
	desc   string
	// ref names the value for facts; yes and no are those that it proves, a condition, when it
	// holds and when it does not.
	ref     string
	yes, no []string
	of      *expr // what is formatted; nil: it is no format
	in      *expr // the record or map that it is a part of
	// figure says that a text is a formatted number or date, or may be one.
	figure bool
	// write appends the text without making a string of it first; nil: by eval.
	write func(m *Machine, dst []byte) ([]byte, error)
}

func (e *expr) open() bool { return e.lit == nil && !e.choice }

// chosen makes e one of a and b.
func (e *expr) chosen(a, b *expr) *expr {
	e.leaves, e.choice = slices.Concat(a.leaves, b.leaves), !a.open() && !b.open()
	return e
}

func (e *expr) isFigure() bool {
	return e.figure || e.typ.numeric() || e.typ.Kind == DateKind || e.typ.Kind == DateTimeKind
}

// byteOff turns an offset in code points, which expr-lang counts, into bytes.
func (c *checker) byteOff(runes int) int {
	n := 0
	for i := range c.src {
		if n == runes {
			return i
		}
		n++
	}
	return len(c.src)
}

func (c *checker) span(n ast.Node) (off, end int) {
	l := n.Location()
	return c.byteOff(l.From), c.byteOff(max(l.To, l.From))
}

func (c *checker) report(off, end int, code, hint, format string, args ...any) {
	c.problems = append(c.problems, Problem{Off: off, End: end, Code: code, Hint: hint, Message: fmt.Sprintf(format, args...)})
}

func (c *checker) bad(n ast.Node, code, hint, format string, args ...any) *expr {
	off, end := c.span(n)
	c.report(off, end, code, hint, format, args...)
	return c.invalid(n)
}

func (c *checker) invalid(n ast.Node) *expr {
	off, end := c.span(n)
	return &expr{typ: typeInvalid, off: off, end: end, eval: func(*Machine) (Value, error) {
		return Null, fail(off, CodeType, "invalid expression")
	}}
}

func (c *checker) literal(n ast.Node, t *Type, v Value) *expr {
	off, end := c.span(n)
	return &expr{typ: t, off: off, end: end, lit: &v, leaves: []Leaf{{off, v}}, eval: func(*Machine) (Value, error) { return v, nil }}
}

func (c *checker) node(n ast.Node) *expr {
	switch n := n.(type) {
	case *ast.NilNode:
		return c.literal(n, typeNull, Null)
	case *ast.BoolNode:
		return c.literal(n, typeBoolean, Bool(n.Value))
	case *ast.IntegerNode:
		return c.literal(n, typeInteger, Int(n.Value))
	case *ast.FloatNode:
		return c.float(n)
	case *ast.StringNode:
		return c.literal(n, typeString, Text(n.Value))
	case *ast.IdentifierNode:
		return c.identifier(n)
	case *ast.PointerNode:
		return c.pointer(n)
	case *ast.ChainNode:
		return c.node(n.Node)
	case *ast.MemberNode:
		return c.member(n)
	case *ast.SliceNode:
		return c.slice(n)
	case *ast.UnaryNode:
		return c.unary(n)
	case *ast.BinaryNode:
		return c.binary(n)
	case *ast.ConditionalNode:
		return c.conditional(n)
	case *ast.ArrayNode:
		return c.array(n)
	case *ast.MapNode:
		return c.bad(n, CodeType, "", "a mapping is allowed in plural() only")
	case *ast.VariableDeclaratorNode:
		return c.let(n)
	case *ast.CallNode:
		return c.call(n)
	case *ast.BuiltinNode:
		return c.builtin(n)
	}
	return c.bad(n, CodeType, "", "this form of expression is not part of the template language")
}

// float keeps the decimal digits of the source: 0.1 is a tenth.
func (c *checker) float(n *ast.FloatNode) *expr {
	off, end := c.span(n)
	lit := strings.ReplaceAll(c.src[off:end], "_", "")
	if strings.HasPrefix(lit, ".") {
		lit = "0" + lit
	}
	lit = strings.TrimSuffix(lit, ".")
	d, err := decimal.Parse(lit)
	if err != nil {
		return c.bad(n, CodeSyntax, "", "%q is not a number", c.src[off:end])
	}
	return c.literal(n, typeDecimal, Number(d))
}

func (c *checker) identifier(n *ast.IdentifierNode) *expr {
	off, end := c.span(n)
	if n.Value == "null" {
		return c.literal(n, typeNull, Null)
	}
	for i, l := range slices.Backward(c.lets) {
		if l.name == n.Value {
			return c.narrow(&expr{typ: l.typ, off: off, end: end, desc: l.desc, ref: l.ref, eval: func(m *Machine) (Value, error) { return m.lets[i], nil }})
		}
	}
	v, ok := c.scope.Lookup(n.Value)
	if !ok {
		if n.Value == "$env" {
			return c.bad(n, CodeType, "", "$env is not part of the template language")
		}
		if slices.Contains(FunctionNames(), n.Value) {
			return c.bad(n, CodeType, "write "+call(n.Value), "%q is a function", n.Value)
		}
		hint := Nearest(n.Value, c.scope.Names())
		if hint == "" && strings.ToUpper(n.Value) == n.Value {
			hint = "a text is written in quotes, '" + n.Value + "'"
		}
		return c.bad(n, CodeField, hint, "no field, variable or parameter %q", n.Value)
	}
	if v.Note != nil {
		c.scope.Used(v.Note, off)
	}
	e := &expr{typ: v.Type, off: off, end: end, desc: v.Desc, path: &Path{Slot: v.Slot}}
	if e.desc == "" {
		e.desc = n.Value
	}
	if v.Field >= 0 {
		e.path.Steps, e.path.Names = []int{v.Field}, []string{n.Value}
	}
	c.reads = append(c.reads, e.path)
	e.eval, e.ref = e.path.eval(), e.path.name()
	return c.narrow(e)
}

// eval returns the reading of a path. A field of null is null: null is caught
// where it would be printed or computed with.
func (p *Path) eval() evalFunc {
	return func(m *Machine) (Value, error) { return *p.value(m), nil }
}

// value is where the value of a path lies.
func (p *Path) value(m *Machine) *Value {
	v := &m.Slots[p.Slot]
	for _, i := range p.Steps {
		if v.kind != record {
			return &absent
		}
		v = &v.box.vals[int(v.num>>32)+i]
	}
	return v
}

// absent is the value of fields of what is null. It is never changed.
var absent = Null

func (v Value) field(i int) Value {
	if v.kind != record {
		return Null
	}
	return v.At(i)
}

func (c *checker) pointer(n *ast.PointerNode) *expr {
	if c.depth == 0 {
		return c.bad(n, CodeSyntax, "", "# is allowed in a predicate only")
	}
	d := c.depth - 1
	off, end := c.span(n)
	switch n.Name {
	case "":
		p := c.pointers[d]
		return c.narrow(&expr{typ: p.typ, off: off, end: end, desc: p.desc, ref: itemName(d), eval: func(m *Machine) (Value, error) { return *m.elem[d], nil }})
	case "index":
		return &expr{typ: typeInteger, off: off, end: end, eval: func(m *Machine) (Value, error) { return Int(m.index[d]), nil }}
	}
	return c.bad(n, CodeType, Nearest("#"+n.Name, []string{"#index"}), "no pointer #%s", n.Name)
}

func (c *checker) member(n *ast.MemberNode) *expr {
	base := c.node(n.Node)
	if n.Method {
		return c.bad(n, CodeFunction, noMethod(n), "values have no methods")
	}
	name, named := n.Property.(*ast.StringNode)
	off, end := c.span(n.Property)
	switch base.typ.Kind {
	case Invalid:
		return base
	case RecordKind:
		if !named {
			return c.bad(n, CodeType, "", "a record has fields, no items")
		}
		return c.fieldOf(n, base, name.Value, off, end)
	case MapKind:
		key := c.node(n.Property)
		if key.typ.Kind != Invalid && !key.typ.textual() {
			return c.bad(n.Property, CodeType, "", "the key of a map is a string, not %s", key.typ)
		}
		e := &expr{typ: base.typ.Elem.optional(), off: off, end: end, desc: base.desc + "." + "*", eval: func(m *Machine) (Value, error) {
			b, k, err := eval2(m, base, key)
			return b.key(k.str), err
		}}
		if key.lit != nil && base.ref != "" {
			e.in, e.desc = base, base.desc+"['"+key.lit.str+"']"
			e.ref = base.ref + "[" + strconv.Quote(key.lit.str) + "]"
		}
		return c.narrow(e)
	case ListKind:
		if named {
			hint := asFunction(name.Value)
			if hint == "" {
				hint = "take one item, or loop over them"
			}
			return c.bad(n.Property, CodeType, hint, "%s is a list and has no field %q", base.name("this"), name.Value)
		}
		return c.item(base, c.node(n.Property), n)
	}
	if named {
		return c.bad(n.Property, CodeType, "", "%s is %s and has no field %q", base.name("this"), base.typ, name.Value)
	}
	return c.bad(n, CodeType, "", "%s is %s and has no items", base.name("this"), base.typ)
}

func (e *expr) name(none string) string {
	if e.desc == "" {
		return none
	}
	return e.desc
}

func (c *checker) fieldOf(n *ast.MemberNode, base *expr, name string, off, end int) *expr {
	i, f := base.typ.Field(name)
	if f == nil {
		names := make([]string, len(base.typ.Fields))
		for i, f := range base.typ.Fields {
			names[i] = f.Name
		}
		return c.bad(n.Property, CodeField, Nearest(name, names), "no field %q in %s", name, base.name("the record"))
	}
	c.scope.Used(f, off)
	typ := f.Type
	if slices.Contains(base.typ.present, i) {
		typ = typ.required()
	}
	if base.typ.Optional {
		typ = typ.optional()
	}
	e := &expr{typ: typ, off: base.off, end: end, desc: base.desc + "." + name, ref: fieldName(base.ref, i), in: base}
	if base.desc == "" {
		e.desc = name
	}
	if base.path != nil {
		e.path = &Path{
			Slot:  base.path.Slot,
			Steps: append(slices.Clone(base.path.Steps), i),
			Names: append(slices.Clone(base.path.Names), name),
		}
		c.reads[len(c.reads)-1] = e.path // in the place of base, which was read last
		e.eval = e.path.eval()
		return c.narrow(e)
	}
	e.eval = func(m *Machine) (Value, error) {
		v, err := base.eval(m)
		return v.field(i), err
	}
	return c.narrow(e)
}

func (c *checker) conditional(n *ast.ConditionalNode) *expr {
	cond := c.boolean(n.Cond)
	a, b := c.given(cond.yes, n.Exp1, c.node), c.given(cond.no, n.Exp2, c.node)
	t := joinColors(a, b)
	if t == nil {
		return c.bad(n.Exp2, CodeType, "", "one branch is %s, the other %s", a.typ, b.typ)
	}
	if a.typ.OfLayout() || b.typ.OfLayout() {
		return c.bad(n.Exp1, CodeType, "", aloneMessage)
	}
	out := &expr{typ: t, off: a.off, end: b.end, figure: a.isFigure() || b.isFigure(), eval: func(m *Machine) (Value, error) {
		v, err := cond.eval(m)
		if err != nil {
			return Null, err
		}
		if v.True() {
			return a.eval(m)
		}
		return b.eval(m)
	}}
	return out.chosen(a, b)
}

// boolean checks a condition. A missing optional boolean counts as false.
func (c *checker) boolean(n ast.Node) *expr {
	e := c.node(n)
	if k := e.typ.Kind; k != BooleanKind && k != Invalid && k != NullKind {
		return c.bad(n, CodeType, "", "want a condition, got %s", e.typ)
	}
	return e.test()
}

// test notes what a truth value of the data proves of itself.
func (e *expr) test() *expr {
	if e.typ.Kind == BooleanKind && e.typ.Optional {
		e.yes = append(e.yes, named(e)...)
	}
	return e
}

func (c *checker) array(n *ast.ArrayNode) *expr {
	elem := typeNothing
	items := make([]*expr, len(n.Nodes))
	for i, in := range n.Nodes {
		items[i] = c.node(in)
		t := items[i].typ
		if i > 0 {
			t = join(elem, t)
		}
		if t == nil {
			return c.bad(in, CodeType, "", "an item is %s, those before it are %s", items[i].typ, elem)
		}
		elem = t
	}
	off, end := c.span(n)
	return &expr{typ: &Type{Kind: ListKind, Elem: elem}, off: off, end: end, eval: func(m *Machine) (Value, error) {
		if err := m.take(off, valueSize*(len(items)+1)); err != nil {
			return Null, err
		}
		out := make([]Value, len(items))
		for i, e := range items {
			v, err := e.eval(m)
			if err != nil {
				return Null, err
			}
			out[i] = v
		}
		return List(out), nil
	}}
}

func (c *checker) let(n *ast.VariableDeclaratorNode) *expr {
	value := c.node(n.Value)
	slot := len(c.lets)
	c.lets = append(c.lets, letVar{n.Name, value.typ, value.desc, value.ref})
	c.maxLets = max(c.maxLets, len(c.lets))
	body := c.node(n.Expr)
	c.lets = c.lets[:slot]
	return &expr{typ: body.typ, off: value.off, end: body.end, desc: body.desc, eval: func(m *Machine) (Value, error) {
		v, err := value.eval(m)
		if err != nil {
			return Null, err
		}
		m.lets[slot] = v
		return body.eval(m)
	}}
}

// missing is the error of a value that is needed and null.
func (e *expr) missing() error {
	err := &Error{Code: CodeMissing, Off: e.off, Missing: e.path}
	err.Message = "the value is missing"
	if e.desc != "" {
		err.Message = e.desc + " is missing"
	}
	return err
}

// need evaluates e and refuses null.
func (e *expr) need(m *Machine) (Value, error) {
	if e.path != nil {
		if v := e.path.value(m); v.kind != null {
			return *v, nil
		}
	}
	v, err := e.eval(m)
	if err == nil && v.IsNull() {
		err = e.missing()
	}
	return v, err
}

func eval2(m *Machine, a, b *expr) (av, bv Value, err error) {
	if av, err = a.eval(m); err != nil {
		return Null, Null, err
	}
	bv, err = b.eval(m)
	return av, bv, err
}

func need2(m *Machine, a, b *expr) (av, bv Value, err error) {
	if av, err = a.need(m); err != nil {
		return Null, Null, err
	}
	bv, err = b.need(m)
	return av, bv, err
}
