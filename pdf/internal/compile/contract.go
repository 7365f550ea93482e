package compile

import (
	"regexp"
	"slices"
	"strings"

	"example.com/quire/internal/strictyaml"
	"example.com/quire/pdf/internal/compile/exprlang"
)

// reName is the form of names that expressions use.
var reName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// name checks a key that expressions use as a name.
func (c *compiler) name(k *strictyaml.Node, path, what string) bool {
	switch {
	case !reName.MatchString(k.Text):
		c.bad(k, path, codeContract, "use letters, digits and _", "%q cannot be the name of %s", k.Text, what)
	case slices.Contains(exprlang.ReservedNames(), k.Text):
		c.bad(k, path, codeContract, "", "%q is a word of the expression language", k.Text)
	default:
		return true
	}
	return false
}

// invalidType stands for a type that was reported already.
var invalidType = &exprlang.Type{}

// typeOf reads a type: a name with its parts ("enum(A, B)", "map(T)", "T?"), a
// list with one type, or a mapping of fields.
func (c *compiler) typeOf(n *strictyaml.Node, path string) *exprlang.Type {
	switch n.Kind {
	case strictyaml.Sequence:
		if len(n.Items) != 1 {
			c.bad(n, path, codeContract, "", "a list type names one type, as in [string]; got %d", len(n.Items))
			return invalidType
		}
		return &exprlang.Type{Kind: exprlang.ListKind, Elem: c.typeOf(n.Items[0], path+"[]")}
	case strictyaml.Mapping:
		return c.recordOf(n, path)
	case strictyaml.String:
		return c.typeText(n, path, strings.TrimSpace(n.Text))
	}
	c.bad(n, path, codeContract, "", "want a type, got %s", describe(n))
	return invalidType
}

func (c *compiler) recordOf(n *strictyaml.Node, path string) *exprlang.Type {
	t := &exprlang.Type{Kind: exprlang.RecordKind}
	for i, k := range n.Keys {
		at := k.Text
		if path != "" {
			at = path + "." + k.Text
		}
		if !c.name(k, at, "a field") {
			continue
		}
		t.Fields = append(t.Fields, &exprlang.Field{
			Name: k.Text, Type: c.typeOf(n.Values[i], at), Declared: [2]int{n.Values[i].Line, n.Values[i].Col},
		})
	}
	return t
}

// otherTypes are names that other languages have for types.
var otherTypes = map[string]string{
	"text": "string", "str": "string", "int": "integer", "bool": "boolean", "float": "decimal", "double": "decimal",
	"money": "decimal", "time": "datetime", "timestamp": "datetime", "colour": "color",
	"list": "[string] for a list of texts", "array": "[string] for a list of texts",
}

func (c *compiler) typeText(n *strictyaml.Node, path, s string) *exprlang.Type {
	if rest, ok := strings.CutSuffix(s, "?"); ok {
		t := c.typeText(n, path, strings.TrimSpace(rest))
		if t == invalidType || t.Optional {
			return t
		}
		o := *t
		o.Optional = true
		return &o
	}
	if t, ok := exprlang.Basic(s); ok {
		return t
	}
	if inner, ok := inParens(s, "enum"); ok {
		return c.enumText(n, path, inner)
	}
	if inner, ok := inParens(s, "map"); ok {
		return &exprlang.Type{Kind: exprlang.MapKind, Elem: c.typeText(n, path+".*", strings.TrimSpace(inner))}
	}
	if strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]") {
		return &exprlang.Type{Kind: exprlang.ListKind, Elem: c.typeText(n, path+"[]", strings.TrimSpace(s[1:len(s)-1]))}
	}
	if c.types.Key(s) != nil {
		return c.namedType(n, path, s)
	}
	names := append(exprlang.BasicNames(), "enum(", "map(")
	if c.types != nil {
		for _, k := range c.types.Keys {
			names = append(names, k.Text)
		}
	}
	hint := exprlang.Nearest(s, names)
	if hint == "" {
		hint = "write " + alternatives(exprlang.BasicNames()) + ", [string] for a list of texts, or a name under types"
	}
	switch of, list := strings.CutSuffix(s, "[]"); {
	case otherTypes[s] != "":
		hint = "write " + otherTypes[s]
	case list:
		hint = "write [" + of + "]"
	}
	if strings.HasPrefix(s, "{") {
		hint = "give the record a name under types, and write the name"
	}
	c.bad(n, path, codeContract, hint, "unknown type %q", s)
	return invalidType
}

func inParens(s, name string) (string, bool) {
	rest, ok := strings.CutPrefix(s, name+"(")
	if !ok {
		return "", false
	}
	return strings.CutSuffix(rest, ")")
}

func (c *compiler) enumText(n *strictyaml.Node, path, inner string) *exprlang.Type {
	t := &exprlang.Type{Kind: exprlang.EnumKind}
	for v := range strings.SplitSeq(inner, ",") {
		v = strings.TrimSpace(v)
		if v == "" || slices.Contains(t.Enum, v) {
			c.bad(n, path, codeContract, "", "the values of an enum are texts that differ")
			return invalidType
		}
		t.Enum = append(t.Enum, v)
	}
	return t
}

// namedType resolves a name of `types:`, once per name. A type that holds itself
// would have no end in a contract that is checked while it is read.
func (c *compiler) namedType(n *strictyaml.Node, path, name string) *exprlang.Type {
	if t, ok := c.named[name]; ok {
		if t == nil {
			c.bad(n, path, codeCircle, "", "type %q holds itself", name)
			return invalidType
		}
		return t
	}
	c.named[name] = nil
	t := c.typeOf(c.types.Get(name), "types."+name)
	if t != invalidType {
		o := *t
		o.Name = name
		t = &o
	}
	c.named[name] = t
	return t
}

// contract reads `types:` and `data:`.
func (c *compiler) contract(types, data *strictyaml.Node) *exprlang.Type {
	c.named = map[string]*exprlang.Type{}
	c.types = &strictyaml.Node{}
	if types != nil {
		if o, ok := c.object(types, "types", "types"); ok {
			c.types = o.n
			for _, k := range c.types.Keys {
				if _, basic := exprlang.Basic(k.Text); basic || !c.name(k, "types."+k.Text, "a type") {
					if basic {
						c.bad(k, "types."+k.Text, codeContract, "", "%q is a type of the language", k.Text)
					}
					continue
				}
				c.namedType(k, "types", k.Text)
			}
		}
	}
	if data == nil {
		return &exprlang.Type{Kind: exprlang.RecordKind}
	}
	if _, ok := c.object(data, "data", "data"); !ok {
		return invalidType
	}
	return c.recordOf(data, "data")
}
