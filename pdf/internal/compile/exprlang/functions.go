package exprlang

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/expr-lang/expr/ast"

	"example.com/quire/pdf/internal/compile/decimal"
	"example.com/quire/pdf/internal/compile/locale"
	"example.com/quire/pdf/internal/lettercase"
)

type function struct {
	least, most int
	check       func(*checker, *ast.CallNode) *expr
}

// otherFunctions are names that other languages have for functions.
var otherFunctions = map[string]string{
	"currency": "money", "formatMoney": "money", "formatNumber": "number", "format": "number", "fixed": "number",
	"formatDate": "date", "today": "now", "length": "len", "size": "len", "strip": "trim", "concat": "join", "average": "avg",
	"ceil": "round", "floor": "round", "coalesce": "default", "toUpper": "upper", "uppercase": "upper",
	"toLower": "lower", "lowercase": "lower", "capitalize": "title", "sort": "sortBy", "reduce": "total",
}

// noMethod says how a function is written that was called as a method.
func noMethod(m *ast.MemberNode) string {
	if name, ok := m.Property.(*ast.StringNode); ok {
		return asFunction(name.Value)
	}
	return ""
}

// asFunction says how the function of a name is written; "" when there is none.
func asFunction(name string) string {
	if other := otherFunctions[name]; other != "" {
		name = other
	}
	if !slices.Contains(FunctionNames(), name) {
		return ""
	}
	return "write " + call(name)
}

func (c *checker) call(n *ast.CallNode) *expr {
	id, ok := n.Callee.(*ast.IdentifierNode)
	if !ok {
		if m, ok := n.Callee.(*ast.MemberNode); ok {
			return c.bad(m.Property, CodeFunction, noMethod(m), "values have no methods")
		}
		return c.bad(n, CodeFunction, "", "only functions can be called")
	}
	f, ok := functions()[id.Value]
	if !ok {
		hint := asFunction(id.Value)
		if hint == "" {
			hint = Nearest(id.Value, FunctionNames())
		}
		return c.bad(n, CodeFunction, hint, "no function %s", id.Value)
	}
	if !c.arity(n, id.Value, len(n.Arguments), f.least, f.most) {
		return c.invalid(n)
	}
	return f.check(c, n)
}

// CodeLater marks what the language has and this version does not.
const CodeLater = "T112"

// maxArguments bounds a call of any number of arguments.
const maxArguments = 100

// functions are those of the template language. A name that expr-lang has too
// is ours: the parser makes it a call.
func functions() map[string]function {
	return map[string]function{
		"money":    {2, 2, (*checker).money},
		"number":   {1, 2, (*checker).numberFormat},
		"percent":  {1, 2, (*checker).numberFormat},
		"date":     {1, 2, (*checker).timeFormat},
		"time":     {1, 2, (*checker).timeFormat},
		"datetime": {1, 3, (*checker).timeFormat},
		"ordinal":  {1, 1, (*checker).ordinal},
		"plural":   {2, 3, (*checker).plural},
		"join":     {1, 2, (*checker).join},
		"default":  {2, 2, (*checker).fallback},
		"upper":    {1, 1, (*checker).letters},
		"lower":    {1, 1, (*checker).letters},
		"title":    {1, 1, (*checker).letters},
		"truncate": {2, 2, (*checker).truncate},
		"total":    {1, 1, (*checker).total},
		"sum":      {1, maxArguments, (*checker).aggregate},
		"avg":      {1, maxArguments, (*checker).aggregate},
		"min":      {1, maxArguments, (*checker).aggregate},
		"max":      {1, maxArguments, (*checker).aggregate},
		"keys":     {1, 1, (*checker).mapParts}, "values": {1, 1, (*checker).mapParts}, "entries": {1, 1, (*checker).mapParts},
		"abs":     {1, 1, (*checker).abs},
		"addDays": {2, 2, (*checker).shifted}, "addMonths": {2, 2, (*checker).shifted},
		"daysBetween": {2, 2, (*checker).between}, "age": {2, 2, (*checker).between},
		"weekday":      {1, 1, (*checker).weekday},
		"startOfMonth": {1, 1, (*checker).monthEdge}, "endOfMonth": {1, 1, (*checker).monthEdge},
		"round":  {1, 3, (*checker).round},
		"now":    {0, 0, (*checker).now},
		"page":   {0, 0, func(c *checker, n *ast.CallNode) *expr { return c.literal(n, typePage, Null) }},
		"pages":  {0, 0, func(c *checker, n *ast.CallNode) *expr { return c.literal(n, typePages, Null) }},
		"pageOf": {1, 1, (*checker).pageOf}, "numberOf": {1, 1, (*checker).numberOf}, "section": {0, 1, (*checker).sectionTitle},
	}
}

// callee is the name of a call that call has checked.
func callee(n *ast.CallNode) string {
	if id, ok := n.Callee.(*ast.IdentifierNode); ok {
		return id.Value
	}
	return ""
}

// needLocale reports once per call when formats have no locale.
func (c *checker) needLocale(n *ast.CallNode) bool {
	if c.o.Locale != nil {
		return true
	}
	c.bad(n, CodeLocale, "", "%s: %s", callee(n), c.o.NoLocale)
	return false
}

// format builds a call that writes text; null gives null, which default() may
// replace.
func (c *checker) format(n ast.Node, arg *expr, write func(m *Machine, dst []byte, v Value) ([]byte, error)) *expr {
	off, end := c.span(n)
	t := typeString
	if arg.typ.Optional {
		t = t.optional()
	}
	e := &expr{typ: t, off: off, end: end, desc: arg.desc, path: nil, of: arg}
	e.write = func(m *Machine, dst []byte) ([]byte, error) {
		v, err := arg.need(m)
		if err != nil {
			return dst, err
		}
		return write(m, dst, v)
	}
	e.eval = func(m *Machine) (Value, error) {
		v, err := arg.eval(m)
		if err != nil || v.IsNull() {
			return Null, err
		}
		buf, err := write(m, m.buf[:0], v)
		m.buf = buf[:0]
		if err == nil {
			err = m.take(off, len(buf))
		}
		return Text(string(buf)), err
	}
	return e
}

// figure is format for what prints a number or a date.
func (c *checker) figure(n ast.Node, arg *expr, write func(m *Machine, dst []byte, v Value) ([]byte, error)) *expr {
	e := c.format(n, arg, write)
	e.figure = true
	return e
}

// numberArg checks an argument that is a number.
func (c *checker) numberArg(name string, n ast.Node) *expr {
	e := c.node(n)
	if e.typ.Kind != Invalid && e.typ.Kind != NullKind && !e.typ.numeric() {
		return c.bad(n, CodeType, "", "%s wants a number, got %s", name, e.typ)
	}
	return e
}

func (c *checker) money(n *ast.CallNode) *expr {
	e, code := c.numberArg("money", n.Arguments[0]), c.textArg("money", n.Arguments[1])
	if e.typ.Kind == Invalid || code.typ.Kind == Invalid || !c.needLocale(n) {
		return c.invalid(n)
	}
	if code.lit != nil && !locale.ValidCurrency(code.lit.str) {
		hint := Nearest(strings.ToUpper(code.lit.str), locale.Currencies())
		if hint == "" {
			hint = "write a code of ISO 4217, as in money('EUR')"
		}
		return c.bad(n.Arguments[1], CodeType, hint, "%q is not an ISO 4217 currency code", code.lit.str)
	}
	l := c.o.Locale
	return c.figure(n, e, func(m *Machine, dst []byte, v Value) ([]byte, error) {
		cv, err := code.need(m)
		if err != nil {
			return dst, err
		}
		if code.lit == nil && !locale.ValidCurrency(cv.str) {
			return dst, fail(code.off, CodeValue, "%q is not an ISO 4217 currency code", cv.str)
		}
		return l.Money(dst, v.Dec(), cv.str), nil
	})
}

// maxPlaces bounds the fraction digits that a format may ask for.
const maxPlaces = 30

func (c *checker) numberFormat(n *ast.CallNode) *expr {
	name := callee(n)
	e := c.numberArg(name, n.Arguments[0])
	if e.typ.Kind == Invalid || !c.needLocale(n) {
		return c.invalid(n)
	}
	places, ok := c.places(n)
	if !ok {
		return c.invalid(n)
	}
	write := c.o.Locale.Number
	if name == "percent" {
		write = c.o.Locale.Percent
		if places < 0 {
			places = 0 // CLDR's percent pattern has no fraction
		}
	}
	return c.figure(n, e, func(_ *Machine, dst []byte, v Value) ([]byte, error) { return write(dst, v.Dec(), places), nil })
}

// places reads the second argument of a call, a count of fraction digits; -1
// without one.
func (c *checker) places(n *ast.CallNode) (int, bool) {
	if len(n.Arguments) < 2 {
		return -1, true
	}
	a := c.node(n.Arguments[1])
	v, ok := int64(0), false
	if a.lit != nil && a.typ.Kind == IntegerKind {
		v, ok = a.lit.Dec().Int64()
	}
	if !ok || v < 0 || v > maxPlaces {
		c.bad(n.Arguments[1], CodeType, "", "%s wants a count of fraction digits from 0 to %d", callee(n), maxPlaces)
		return 0, false
	}
	return int(v), true
}

// round is round(x, n) and round(x), exactly and by the mode of the document, as all formats
// round: what it gives is what number(n) and money would print. A third argument
// names another mode.
func (c *checker) round(n *ast.CallNode) *expr {
	e := c.numberArg("round", n.Arguments[0])
	places, ok := c.places(n)
	if e.typ.Kind == Invalid || !ok {
		return c.invalid(n)
	}
	mode := int(c.o.Rounding)
	if len(n.Arguments) == 3 {
		m := c.node(n.Arguments[2])
		if m.typ.Kind == Invalid {
			return m
		}
		if m.lit != nil {
			mode = slices.Index(decimal.Modes[:], m.lit.str)
		}
		if m.lit == nil || mode < 0 {
			return c.bad(n.Arguments[2], CodeType, "", "round wants one of the modes %s", strings.Join(decimal.Modes[:], ", "))
		}
	}
	t := typeDecimal
	if places <= 0 {
		t = typeInteger
	}
	off, end := c.span(n)
	return &expr{typ: t, off: off, end: end, desc: e.desc, eval: func(m *Machine) (Value, error) {
		v, err := e.need(m)
		if err != nil {
			return Null, err
		}
		return result(m, off, v.Dec().RoundBy(places, decimal.Mode(mode))) //nolint:gosec // an index of the modes
	}}
}

func (c *checker) timeFormat(n *ast.CallNode) *expr {
	name := callee(n)
	e := c.node(n.Arguments[0])
	k := e.typ.Kind
	if k == Invalid {
		return e
	}
	if k != DateTimeKind && (k != DateKind || name != "date") && k != NullKind {
		want := "a datetime"
		if name == "date" {
			want = "a date or a datetime"
		}
		return c.bad(n.Arguments[0], CodeType, "", "%s wants %s, got %s", name, want, e.typ)
	}
	if !c.needLocale(n) {
		return c.invalid(n)
	}
	p, ok := c.timePattern(n, name)
	if !ok {
		return c.invalid(n)
	}
	if k == DateKind && p.HasTime() {
		hint := ""
		if e := c.node(n.Arguments[1]); e.lit != nil {
			month := strings.ReplaceAll(e.lit.str, "mm", "MM")
			if p, err := locale.ParsePattern(month); err == nil && !p.HasTime() {
				hint = `mm are minutes; did you mean "` + month + `"?`
			}
		}
		return c.bad(n.Arguments[1], CodeType, hint, "a date has no time of day")
	}
	l := c.o.Locale
	return c.figure(n, e, func(_ *Machine, dst []byte, v Value) ([]byte, error) { return l.Time(dst, v.Time(), p), nil })
}

// timePattern reads the style arguments of date, time and datetime.
func (c *checker) timePattern(n *ast.CallNode, name string) (p locale.Pattern, ok bool) {
	date, tim := locale.Medium, locale.Short
	for i, a := range n.Arguments[1:] {
		e := c.node(a)
		if e.lit == nil || !e.typ.textual() {
			c.bad(a, CodeType, "", "the style of %s is a text in quotes", name)
			return p, false
		}
		style := e.lit.str
		at := slices.Index(locale.Styles[:], style)
		isTime := name == "time" || i == 1
		switch {
		case at >= 0 && isTime && at > int(locale.Medium):
			c.bad(a, CodeType, "", "a time has the styles short and medium")
			return p, false
		case at >= 0 && isTime:
			tim = locale.Style(at) //nolint:gosec // an index of four styles
		case at >= 0:
			date = locale.Style(at) //nolint:gosec // an index of four styles
		case style == "iso" && name == "date":
			style = "yyyy-MM-dd"
			fallthrough
		default:
			p, err := locale.ParsePattern(style)
			if err != nil || i == 1 || !p.HasDate() && !p.HasTime() {
				hint := cmp.Or(Nearest(style, locale.Styles[:]), "a pattern is made of letters, as in dd.MM.yyyy")
				if small := strings.NewReplacer("D", "d", "Y", "y").Replace(style); small != style {
					if _, err := locale.ParsePattern(small); err == nil {
						hint = `did you mean "` + small + `"?`
					}
				}
				c.bad(a, CodeType, hint, "%q is neither a style (short, medium, long, full) nor a pattern", style)
				return p, false
			}
			return p, true
		}
	}
	switch name {
	case "date":
		return c.o.Locale.DatePattern(date), true
	case "time":
		return c.o.Locale.TimePattern(tim), true
	}
	return c.o.Locale.DateTimePattern(date, tim), true
}

func (c *checker) ordinal(n *ast.CallNode) *expr {
	e := c.node(n.Arguments[0])
	if e.typ.Kind != Invalid && e.typ.Kind != IntegerKind && e.typ.Kind != NullKind {
		return c.bad(n.Arguments[0], CodeType, "", "ordinal wants an integer, got %s", e.typ)
	}
	if e.typ.Kind == Invalid || !c.needLocale(n) {
		return c.invalid(n)
	}
	l := c.o.Locale
	return c.figure(n, e, func(_ *Machine, dst []byte, v Value) ([]byte, error) {
		i, ok := v.Dec().Int64()
		if !ok {
			return dst, fail(e.off, CodeValue, "%s is too large for an ordinal", v.Dec())
		}
		return l.Ordinal(dst, i), nil
	})
}

// plural is plural(n, {one: ..., other: ...}) or plural(n, one, other).
func (c *checker) plural(n *ast.CallNode) *expr {
	e := c.numberArg("plural", n.Arguments[0])
	if e.typ.Kind == Invalid || !c.needLocale(n) {
		return c.invalid(n)
	}
	var forms [len(locale.Categories)]*expr
	if len(n.Arguments) == 3 {
		forms[locale.One], forms[locale.Other] = c.textArg("plural", n.Arguments[1]), c.textArg("plural", n.Arguments[2])
	} else if !c.pluralForms(n.Arguments[1], &forms) {
		return c.invalid(n)
	}
	for _, f := range forms {
		if f != nil && f.typ.Kind == Invalid {
			return f
		}
	}
	l := c.o.Locale
	return c.format(n, e, func(m *Machine, dst []byte, v Value) ([]byte, error) {
		f := forms[l.Plural(v.Dec())]
		if f == nil {
			f = forms[locale.Other]
		}
		t, err := f.need(m)
		return append(dst, t.str...), err
	})
}

func (c *checker) pluralForms(n ast.Node, forms *[len(locale.Categories)]*expr) bool {
	m, ok := n.(*ast.MapNode)
	if !ok {
		c.bad(n, CodeType, "write {one: 'item', other: 'items'}", "plural wants a form for each category")
		return false
	}
	for _, p := range m.Pairs {
		pair, ok := p.(*ast.PairNode)
		if !ok {
			continue
		}
		key, ok := pair.Key.(*ast.StringNode)
		if !ok {
			c.bad(n, CodeType, "", "the categories of plural are written out")
			return false
		}
		at := slices.Index(locale.Categories[:], key.Value)
		if at < 0 {
			c.bad(pair.Key, CodeType, Nearest(key.Value, locale.Categories[:]), "no plural category %q", key.Value)
			return false
		}
		forms[at] = c.textArg("plural", pair.Value)
	}
	if forms[locale.Other] == nil {
		c.bad(n, CodeType, "", `plural wants a form for "other"`)
		return false
	}
	return true
}

// join is join(list) in the way of the language, join(list, 'or') with its "or",
// and join(list, ', ') with a separator.
func (c *checker) join(n *ast.CallNode) *expr {
	e := c.listArg("join", n.Arguments[0])
	if e.typ.Kind == Invalid {
		return e
	}
	if !e.typ.Elem.textual() && e.typ.Elem.Kind != NullKind {
		return c.bad(n.Arguments[0], CodeType, "", "join wants a list of strings, got %s", e.typ)
	}
	var sep *expr
	or := false
	if len(n.Arguments) == 2 {
		if sep = c.textArg("join", n.Arguments[1]); sep.typ.Kind == Invalid {
			return sep
		}
		if sep.lit != nil && (sep.lit.str == "or" || sep.lit.str == "and") {
			or, sep = sep.lit.str == "or", nil
		}
	}
	if sep == nil && !c.needLocale(n) {
		return c.invalid(n)
	}
	l := c.o.Locale
	return c.format(n, e, func(m *Machine, dst []byte, v Value) ([]byte, error) {
		items := make([]string, v.Len())
		for i, item := range v.items() {
			if item.IsNull() {
				return dst, fail(e.off, CodeMissing, "%s is missing in a list", e.name("a text"))
			}
			items[i] = item.str
		}
		if sep == nil {
			return l.Join(dst, items, or), nil
		}
		s, err := sep.need(m)
		if err != nil {
			return dst, err
		}
		if err := m.take(e.off, len(s.str)*len(items)); err != nil {
			return dst, err
		}
		return append(dst, strings.Join(items, s.str)...), nil
	})
}

func (c *checker) fallback(n *ast.CallNode) *expr {
	a, b := c.node(n.Arguments[0]), c.node(n.Arguments[1])
	if a.typ.Kind == Invalid || b.typ.Kind == Invalid {
		return c.invalid(n)
	}
	return c.coalesce(n, a, b)
}

func (c *checker) letters(n *ast.CallNode) *expr {
	name := callee(n)
	e := c.textArg(name, n.Arguments[0])
	if e.typ.Kind == Invalid {
		return e
	}
	turn, lang := map[string]func(lang, s string) string{"upper": lettercase.Upper, "lower": lettercase.Lower, "title": lettercase.Title}[name], c.o.Language
	return c.format(n, e, func(_ *Machine, dst []byte, v Value) ([]byte, error) { return append(dst, turn(lang, v.str)...), nil })
}

// truncate is truncate(text, n): at most n code points, the last an ellipsis
// when something is left out; combining marks stay with their letter.
func (c *checker) truncate(n *ast.CallNode) *expr {
	e, most := c.textArg("truncate", n.Arguments[0]), c.node(n.Arguments[1])
	if e.typ.Kind == Invalid || most.typ.Kind == Invalid {
		return c.invalid(n)
	}
	if most.typ.Kind != IntegerKind {
		return c.bad(n.Arguments[1], CodeType, "", "truncate wants a count of characters, got %s", most.typ)
	}
	return c.format(n, e, func(m *Machine, dst []byte, v Value) ([]byte, error) {
		mv, err := most.need(m)
		if err != nil {
			return dst, err
		}
		limit, ok := mv.Dec().Int64()
		if !ok || limit < 1 {
			return dst, fail(most.off, CodeValue, "truncate wants a positive count, got %s", mv.Dec())
		}
		r := []rune(v.str)
		if int64(len(r)) <= limit {
			return append(dst, v.str...), nil
		}
		cut := int(limit) - 1
		for cut > 0 && unicode.Is(unicode.M, r[cut]) {
			cut--
		}
		return append(append(dst, strings.TrimRightFunc(string(r[:cut]), unicode.IsSpace)...), "…"...), nil
	})
}

func (c *checker) now(n *ast.CallNode) *expr {
	c.usesTime = true
	off, end := c.span(n)
	return &expr{typ: typeDateTime, off: off, end: end, eval: func(m *Machine) (Value, error) {
		if m.Now.IsZero() {
			return Null, fail(off, CodeNow, "now() needs a render time, and none is given")
		}
		return DateTime(m.Now), nil
	}}
}

// aloneMessage says where a value of the layout may stand.
const aloneMessage = "page(), pages(), pageOf(), numberOf() and section() must be alone in ${...}"

// pageOf is pageOf(anchor): its value is the anchor.
func (c *checker) pageOf(n *ast.CallNode) *expr { return c.ofAnchor(n, typeReference) }

// numberOf is numberOf(anchor): likewise.
func (c *checker) numberOf(n *ast.CallNode) *expr { return c.ofAnchor(n, typeNumberOf) }

func (c *checker) ofAnchor(n *ast.CallNode, typ *Type) *expr {
	arg := c.textArg(callee(n), n.Arguments[0])
	if arg.typ.Kind == Invalid {
		return arg
	}
	off, end := c.span(n)
	return &expr{typ: typ, off: off, end: end, leaves: arg.leaves, eval: arg.eval}
}

// sectionTitle is section(level): its value is the level.
func (c *checker) sectionTitle(n *ast.CallNode) *expr {
	level := 1
	if len(n.Arguments) == 1 {
		i, ok := n.Arguments[0].(*ast.IntegerNode)
		if !ok || i.Value < 1 || i.Value > 9 {
			return c.bad(n.Arguments[0], CodeType, "", "want a level of headings, a number from 1 to 9")
		}
		level = i.Value
	}
	return c.literal(n, typeTitle, Int(level))
}

// ReservedNames returns the names that fields, variables and parameters may not
// have, because an expression would take them for something else.
func ReservedNames() []string {
	names := []string{
		"true", "false", "nil", "null", "not", "and", "or", "in", "let", "if", "else",
		"matches", "contains", "startsWith", "endsWith", "$env",
	}
	names = append(names, "loop")
	return names
}
