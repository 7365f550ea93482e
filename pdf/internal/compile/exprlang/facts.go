package exprlang

import (
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// A fact is the name of a value that a test has shown to be there: not null. A value has a name
// when it is read as it stands: a slot, the item of a predicate, a field or a literal key of one.
// `client.phone != null` proves client.phone where it holds, and client too, since a field of null
// is null. What stands behind the test sees the value as required:
//
//	phone != null ? phone : '–'      note != null && len(note) > 3      !(a == null or b == null)
//
// Facts are of types alone. A missing value that gets by them is an error when it is printed.

// name makes the name of what a path reads.
func (p *Path) name() string {
	s := "s" + strconv.Itoa(p.Slot)
	for _, i := range p.Steps {
		s = fieldName(s, i)
	}
	return s
}

func itemName(depth int) string { return "#" + strconv.Itoa(depth) }

// fieldName is the name of field i of what base names; that of nothing is nothing.
func fieldName(base string, i int) string {
	if base == "" {
		return ""
	}
	return base + "." + strconv.Itoa(i)
}

// narrow makes the type of e required when its value is known to be there.
func (c *checker) narrow(e *expr) *expr {
	if e.typ.Optional && e.typ.Kind != NullKind && c.proved(e.ref) {
		e.typ = e.typ.required()
	}
	return e
}

// proved reports whether some fact is about the named value or a part of it.
func (c *checker) proved(name string) bool {
	if name == "" {
		return false
	}
	part := func(fact string) bool {
		return strings.HasPrefix(fact, name) && (len(fact) == len(name) || fact[len(name)] == '.' || fact[len(name)] == '[')
	}
	return slices.ContainsFunc(c.facts, part) || slices.ContainsFunc(c.o.Known, part)
}

// given checks n where facts hold.
func (c *checker) given(facts []string, n ast.Node, check func(ast.Node) *expr) *expr {
	around := len(c.facts)
	c.facts = append(c.facts, facts...)
	e := check(n)
	c.facts = c.facts[:around]
	return e
}

// subject returns the source of the value that e formats, or is: what a test of its presence names.
// Empty: no test proves that it is there.
func (c *checker) subject(e *expr) string {
	for e.of != nil {
		e = e.of
	}
	if e.ref == "" {
		return ""
	}
	end := e.end
	if i := strings.IndexByte(c.src[end:], ']'); i >= 0 && strings.TrimSpace(c.src[end:end+i]) == "" {
		end += i + 1 // the place of a part of a map is that of its key
	}
	for e.in != nil {
		e = e.in
	}
	return c.src[e.off:end]
}

// named lists the names that expressions have.
func named(all ...*expr) (names []string) {
	for _, e := range all {
		if e.ref != "" {
			names = append(names, e.ref)
		}
	}
	return names
}

// both returns the facts that stand in a and in b.
func both(a, b []string) (facts []string) {
	for _, f := range a {
		if slices.Contains(b, f) {
			facts = append(facts, f)
		}
	}
	return facts
}

// lasting returns the facts that outlive the expression: those about slots.
func lasting(facts []string) []string {
	return slices.DeleteFunc(slices.Clone(facts), func(f string) bool { return f[0] != 's' })
}

// shown is the type of the items of a list that a predicate of the given depth, whose facts these
// are, has let through.
func (t *Type) shown(facts []string, depth int) *Type {
	item := itemName(depth)
	for _, f := range facts {
		rest, ok := strings.CutPrefix(f, item)
		if !ok || rest != "" && rest[0] != '.' {
			continue
		}
		t = t.required()
		first, _, _ := strings.Cut(strings.TrimPrefix(rest, "."), ".")
		if i, err := strconv.Atoi(first); err == nil && t.Kind == RecordKind && !slices.Contains(t.present, i) {
			own := *t
			own.present = append(slices.Clone(t.present), i)
			t = &own
		}
	}
	return t
}
