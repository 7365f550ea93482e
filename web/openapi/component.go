package openapi

import (
	"bytes"
	"cmp"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// name gives the components their names and makes one of two forms that are equal.
func (b *builder) name() error {
	slices.SortStableFunc(b.order, func(x, y *component) int {
		return cmp.Or(strings.Compare(x.of.PkgPath(), y.of.PkgPath()), strings.Compare(x.of.Name(), y.of.Name()))
	})
	short := map[string]int{}
	for _, pair := range b.parts {
		short[shortName(first(pair).of.Name())]++
	}
	taken := map[string]bool{}
	for _, c := range b.order {
		pair := b.parts[c.of]
		if first(pair) != c {
			continue
		}
		name := shortName(c.of.Name())
		if short[name] > 1 {
			name = path.Base(c.of.PkgPath()) + "." + name
		}
		unique := name
		for i := 2; taken[unique] || taken[unique+"Input"]; i++ {
			unique = name + strconv.Itoa(i)
		}
		taken[unique], taken[unique+"Input"] = true, true
		for side, one := range pair {
			if one != nil {
				one.name = unique
				if side == 1 && pair[0] != nil {
					one.name += "Input"
				}
			}
		}
	}
	return b.unite()
}

func first(pair *[2]*component) *component {
	if pair[0] != nil {
		return pair[0]
	}
	return pair[1]
}

var notName = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// shortName is a type's name without the paths that stand in it when it is generic:
// Page[example.com/shop.Order] is Page_Order.
func shortName(name string) string {
	var out []string
	for _, part := range strings.FieldsFunc(name, func(r rune) bool { return r == '[' || r == ']' || r == ',' }) {
		if i := strings.LastIndexByte(part, '/'); i >= 0 {
			part = part[i+1:]
		}
		if i := strings.LastIndexByte(part, '.'); i >= 0 {
			part = part[i+1:]
		}
		part, _, _ = strings.Cut(part, "·") // of a type within a function
		out = append(out, part)
	}
	name = notName.ReplaceAllString(strings.Join(out, "_"), "_")
	if name != "" {
		name = strings.ToUpper(name[:1]) + name[1:]
	}
	return name
}

// unite finds the types whose two forms are equal: all are taken to be, until one
// differs itself or refers to one that does.
func (b *builder) unite() error {
	for _, pair := range b.parts {
		if pair[0] != nil && pair[1] != nil {
			pair[1].same = pair[0]
		}
	}
	for changed := true; changed; {
		changed = false
		for _, pair := range b.parts {
			if pair[1] == nil || pair[1].same == nil {
				continue
			}
			in, err := marshal(pair[1].schema)
			if err != nil {
				return err
			}
			out, err := marshal(pair[0].schema)
			if err != nil {
				return err
			}
			if !bytes.Equal(in, out) {
				pair[1].same, changed = nil, true
			}
		}
	}
	return nil
}

// components returns the schemas by name.
func (b *builder) components() object {
	var all object
	for _, c := range b.order {
		if c.same == nil {
			all.put(c.name, c.schema)
		}
	}
	slices.SortFunc(all, func(x, y member) int { return strings.Compare(x.name, y.name) })
	return all
}
