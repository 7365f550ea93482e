package compile

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"example.com/quire/internal/strictyaml"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/compile/decimal"
	"example.com/quire/pdf/internal/compile/exprlang"
	"example.com/quire/pdf/internal/diag"
)

// Codes of diagnostics; those of expressions are in exprlang.
const (
	codeSyntax    = "T001"
	codeKey       = "T101"
	codeKind      = "T102"
	codeName      = "T103"
	codeWrong     = "T105"
	codeStream    = "T108"
	codeNoKey     = "T111"
	codeLater     = exprlang.CodeLater
	codeMarkup    = "T113"
	codeContract  = "T114"
	codeCircle    = "T115"
	codeArguments = "T116"
	codeFile      = "T118"
	codeMissing   = "T120"
	codeBare      = "T121"
	codeDead      = "T122"
	codeForeign   = "T123"
	codeSecret    = "T901"
	codeNoAlt     = "S028"
	codeTplBytes  = "X301"
	codeTplDepth  = "X302"
	codeTplNodes  = "X303"
	codeTexts     = "X313"
	codeColumns   = "X315"
	codeImports   = "X316"
	codeRagged    = "L303"
	codeFamily    = "F403"
)

// maxReported bounds a report; a text with more problems has one cause.
const maxReported = 100

// reporter gathers diagnostics of one template.
type reporter struct {
	file     string
	list     diag.List
	warnings []diag.Diagnostic
	omitted  int // problems beyond those in list
}

func (r *reporter) at(line, col int, path, code, hint, format string, args ...any) {
	if len(r.list) >= maxReported {
		r.omitted++
		return
	}
	r.list.Add(diag.Diagnostic{
		Code: code, File: r.file, Line: line, Col: col, Path: path,
		Message: fmt.Sprintf(format, args...), Suggestion: hint,
	})
}

// warn notes what is likely a mistake and stops nothing.
func (r *reporter) warn(line, col int, path, code, hint, format string, args ...any) {
	if len(r.warnings) < maxReported {
		r.warnings = append(r.warnings, diag.Diagnostic{
			Code: code, File: r.file, Line: line, Col: col, Path: path, Severity: diag.SeverityWarning,
			Message: fmt.Sprintf(format, args...), Suggestion: hint,
		})
	}
}

func (r *reporter) bad(n *strictyaml.Node, path, code, hint, format string, args ...any) {
	r.at(n.Line, n.Col, path, code, hint, format, args...)
}

// err returns all that was found, by place.
func (r *reporter) err() error {
	r.sort(r.list)
	return r.list.ErrAnd(r.omitted)
}

// sort orders by place, the template's own file first.
func (r *reporter) sort(list []diag.Diagnostic) {
	sort.SliceStable(list, func(i, j int) bool {
		a, b := list[i], list[j]
		if a.File != b.File {
			return a.File == r.file || b.File != r.file && a.File < b.File
		}
		return a.Line < b.Line || a.Line == b.Line && a.Col < b.Col
	})
}

// object reads a mapping key by key and knows which keys nobody asked for.
type object struct {
	c     *compiler
	n     *strictyaml.Node
	path  string
	of    *mapping // the keys that the language has here; nil: those of the template
	asked []string
	told  []string // keys that are wrong here, as was said
	// kindKeys are those that a kind of block has of its own, whatever they mean in a style.
	kindKeys []string
	// Of a block whose kind has a mapping as its value: the kind, and that value or the block.
	kind         string
	value, block *object
}

// shape says how a mapping is written, where people write something else.
func shape(what string) string {
	switch what {
	case "a block":
		return "write its kind and a colon, as in text: Hello"
	case "a column":
		return "write {head: TEXT}"
	case "page":
		return "write {size: A4}"
	case "a header", "a footer", "a background":
		return "say on which pages, as in {all: [{text: Hello}]}"
	case "data":
		return "write a name, a colon, a space and a type, as in name: string"
	case "a template":
		return "begin with quire: 1"
	case "the value of list":
		return "write {items: [TEXT, TEXT]}"
	case "the value of row":
		return "write {cells: [TEXT, TEXT]}"
	case "the value of rule":
		return "write {thickness: 0.5pt}"
	case "the value of box", "the value of columns", "the value of section", "the value of place":
		return "write {do: [{text: Hello}]}"
	}
	return ""
}

// object wants a mapping; what names it in the message.
func (c *compiler) object(n *strictyaml.Node, path, what string) (*object, bool) {
	if n.Kind != strictyaml.Mapping {
		c.bad(n, path, codeWrong, shape(what), "%s is a mapping, got %s", what, n.Kind)
		return nil, false
	}
	return &object{c: c, n: n, path: path, of: language()[strings.TrimPrefix(what, "the value of ")]}, true
}

// get returns the value of a key, or nil when it is not there or the language has no such key. A
// key that is there without a value counts as there, but for the kinds that take null.
func (o *object) get(key string) *strictyaml.Node {
	if o.of != nil && o.of.get(key) == nil {
		return nil
	}
	o.asked = append(o.asked, key)
	return o.n.Get(key)
}

// need is get for keys that must be there.
func (o *object) need(key string) *strictyaml.Node {
	v := o.get(key)
	if v == nil {
		o.c.bad(o.n, o.path, codeNoKey, "", "key %q is missing", key)
	}
	return v
}

// done refuses the keys that were not asked for, and those of a later version.
func (o *object) done() {
	known := o.asked
	if o.of != nil {
		known = o.of.names()
	}
	for _, k := range o.n.Keys {
		switch {
		case o.of != nil && o.of.get(k.Text) != nil && o.of.get(k.Text).later:
			o.c.bad(k, o.at(k.Text), codeLater, "", "%q is not in this version", k.Text)
		case !slices.Contains(o.asked, k.Text) && !slices.Contains(o.told, k.Text):
			hint := exprlang.Nearest(k.Text, known)
			switch {
			case o.value != nil && o.value.of.get(k.Text) != nil:
				hint = "write it in the value of " + o.kind
			case o.block != nil && o.block.of.get(k.Text) != nil:
				hint = "write it beside " + o.kind + ", not in its value"
			case k.Text == "for" && slices.Contains(known, "keep-together"):
				hint = "put the blocks of a loop into do"
			case k.Text == "bold" && slices.Contains(known, "weight"):
				hint = "write weight: bold"
			}
			o.c.bad(k, o.path, codeKey, hint, "unknown key %q", k.Text)
		}
	}
}

func (o *object) at(key string) string {
	if o.path == "" {
		return key
	}
	return o.path + "." + key
}

func index(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// word reads a literal text.
func (c *compiler) word(n *strictyaml.Node, path string) (string, bool) {
	if !n.IsScalar() || n.Kind == strictyaml.Null {
		c.bad(n, path, codeWrong, "", "want a text, got %s", n.Kind)
		return "", false
	}
	if strings.Contains(n.Text, "${") {
		c.bad(n, path, codeWrong, "", "an expression is not allowed here")
		return "", false
	}
	return n.Text, true
}

// choice reads one of the given words and returns its index.
func (c *compiler) choice(n *strictyaml.Node, path string, words ...string) (int, bool) {
	s, ok := c.word(n, path)
	if !ok {
		return 0, false
	}
	if i := slices.Index(words, s); i >= 0 {
		return i, true
	}
	c.bad(n, path, codeWrong, exprlang.Nearest(s, words), "want %s, got %q", alternatives(words), s)
	return 0, false
}

func alternatives(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

func (c *compiler) flag(n *strictyaml.Node, path string) bool {
	if n.Kind != strictyaml.Bool {
		c.bad(n, path, codeWrong, "", "want true or false, got %s", describe(n))
	}
	return n.Kind == strictyaml.Bool && strings.EqualFold(n.Text, "true")
}

func describe(n *strictyaml.Node) string {
	if n.IsScalar() && n.Kind != strictyaml.Null {
		return strconv.Quote(n.Text)
	}
	return n.Kind.String()
}

func (c *compiler) integer(n *strictyaml.Node, path string, least, most int) int {
	v, err := strconv.Atoi(n.Text)
	if n.Kind != strictyaml.Int || err != nil || v < least || v > most {
		c.bad(n, path, codeWrong, "", "want a whole number from %d to %d, got %s", least, most, describe(n))
		return least
	}
	return v
}

func (c *compiler) float(n *strictyaml.Node, path string, least, most float64) float64 {
	v, err := strconv.ParseFloat(n.Text, 64)
	if n.Kind != strictyaml.Int && n.Kind != strictyaml.Float || err != nil || v < least || v > most || v != v {
		c.bad(n, path, codeWrong, "", "want a number from %g to %g, got %s", least, most, describe(n))
		return 0
	}
	return v
}

// units are lengths in points, as exact fractions.
var units = map[string][2]int64{"pt": {1, 1}, "in": {72, 1}, "mm": {720, 254}, "cm": {7200, 254}}

var unitNames = []string{"pt", "mm", "cm", "in"}

// maxLength is the largest length that a template may name: ten times an A0.
const maxLength = 36_000 * doc.Pt

// splitUnit cuts "12.5mm" into its number and unit.
func splitUnit(s string) (number, unit string) {
	i := strings.LastIndexAny(s, "0123456789.") + 1
	return strings.TrimSpace(s[:i]), strings.TrimSpace(s[i:])
}

// scaled returns number x mul / div, rounded to the nearest whole.
func scaled(number string, mul, div int64) (int64, bool) {
	d, err := decimal.Parse(number)
	if err != nil {
		return 0, false
	}
	q, err := d.Mul(decimal.New(mul, 0)).Quo(decimal.New(div, 0))
	if err != nil {
		return 0, false
	}
	return q.Round(0).Int64()
}

// length reads a length of at least least.
func (c *compiler) length(n *strictyaml.Node, path string, least doc.Length) doc.Length {
	if !n.IsScalar() {
		c.bad(n, path, codeWrong, "as in 5mm", "want a length, got %s", n.Kind)
		return 0
	}
	s, ok := c.word(n, path)
	if !ok {
		return 0
	}
	l, ok := c.lengthText(n, path, s)
	if ok && (l < least || l > maxLength) {
		c.bad(n, path, codeWrong, "", "length %q is out of range", s)
		return 0
	}
	return l
}

func (c *compiler) lengthText(n *strictyaml.Node, path, s string) (doc.Length, bool) {
	number, unit := splitUnit(s)
	if number == "0" && unit == "" {
		return 0, true
	}
	f, known := units[unit]
	if !known {
		switch {
		case unit == "":
			c.bad(n, path, codeWrong, "as in "+s+"mm", "length %q has no unit", s)
		case number == "":
			c.bad(n, path, codeWrong, "", "want a length, got %q", s)
		default:
			c.bad(n, path, codeWrong, exprlang.Nearest(unit, unitNames), "unknown unit %q", unit)
		}
		return 0, false
	}
	v, ok := scaled(number, f[0]*int64(doc.Pt), f[1])
	if !ok {
		c.bad(n, path, codeWrong, "", "want a length, got %q", s)
	}
	return doc.Length(v), ok
}

// edges reads one length, or a list of two (vertical, horizontal) or four (top,
// right, bottom, left).
func (c *compiler) edges(n *strictyaml.Node, path string) doc.Edges {
	if n.Kind != strictyaml.Sequence {
		return doc.Same(c.length(n, path, 0))
	}
	l := make([]doc.Length, len(n.Items))
	for i, v := range n.Items {
		l[i] = c.length(v, index(path, i), 0)
	}
	switch len(l) {
	case 2:
		return doc.Edges{Top: l[0], Right: l[1], Bottom: l[0], Left: l[1]}
	case 4:
		return doc.Edges{Top: l[0], Right: l[1], Bottom: l[2], Left: l[3]}
	}
	c.bad(n, path, codeWrong, "", "want one, two or four lengths, got %d", len(l))
	return doc.Edges{}
}

// width reads a column width: a length, a share (1fr), a percentage, auto.
func (c *compiler) width(n *strictyaml.Node, path string) doc.Width {
	s, ok := c.word(n, path)
	if !ok {
		return doc.Width{}
	}
	if s == "auto" {
		return doc.Auto()
	}
	number, unit := splitUnit(s)
	kind := doc.WidthFixed
	switch unit {
	case "fr":
		kind = doc.WidthFraction
	case "%":
		kind = doc.WidthPercent
	}
	if kind == doc.WidthFixed {
		if _, known := units[unit]; !known && unit != "" {
			c.bad(n, path, codeWrong, exprlang.Nearest(unit, append([]string{"fr", "%", "auto"}, unitNames...)), "unknown unit %q", unit)
			return doc.Width{}
		}
		return doc.Fixed(c.length(n, path, 0))
	}
	v, ok := scaled(number, 1024, 1)
	if !ok || v <= 0 || v > 1000*1024 || unit == "%" && v > 100*1024 {
		c.bad(n, path, codeWrong, "", "width %q is out of range", s)
		return doc.Width{}
	}
	return doc.Width{Kind: kind, Value: doc.Length(v)}
}

// color reads #rgb, #rrggbb or none.
func (c *compiler) color(n *strictyaml.Node, path string) doc.Color {
	s, ok := c.word(n, path)
	if !ok {
		return 0
	}
	v, ok := exprlang.Color(s)
	if !ok {
		c.bad(n, path, codeWrong, colorHint, "want a colour, got %q", s)
	}
	return colorOf(v)
}
