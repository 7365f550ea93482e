package conformance

import (
	"slices"
	"strings"

	"example.com/quire/psrp/clixml"
)

// Alike reports whether two values mean the same to PowerShell: equal but for the order of
// properties and of a dictionary's entries, and for the version inside a list type's name.
func Alike(a, b clixml.Value) bool { return alike(a, b, 0) }

func alike(a, b clixml.Value, depth int) bool {
	if depth > 200 {
		return true // a cycle, compared that often
	}
	depth++
	if a.Kind() != b.Kind() {
		return a.IsNil() && b.IsNil()
	}
	switch a.Kind() {
	case clixml.KindObject:
		x, _ := a.Object()
		y, _ := b.Object()
		return slices.EqualFunc(x.TypeNames, y.TypeNames, sameType) && x.ToString == y.ToString &&
			alike(x.Base, y.Base, depth) && sameProperties(x.Adapted, y.Adapted, depth) && sameProperties(x.Extended, y.Extended, depth)
	case clixml.KindList:
		x, _ := a.List()
		y, _ := b.List()
		return x.Kind == y.Kind && slices.EqualFunc(x.Items, y.Items, func(v, w clixml.Value) bool { return alike(v, w, depth) })
	case clixml.KindDict:
		x, _ := a.Dict()
		y, _ := b.Dict()
		if len(x.Entries) != len(y.Entries) {
			return false
		}
		used := make([]bool, len(y.Entries))
		for _, e := range x.Entries {
			i := slices.IndexFunc(y.Entries, func(f clixml.Entry) bool { return alike(e.Key, f.Key, depth) })
			if i < 0 || used[i] || !alike(e.Value, y.Entries[i].Value, depth) {
				return false
			}
			used[i] = true
		}
		return true
	case clixml.KindMemberSet:
		x, _ := a.MemberSet()
		y, _ := b.MemberSet()
		return sameProperties(x.Members, y.Members, depth)
	}
	return clixml.Equal(a, b)
}

func sameProperties(x, y clixml.Properties, depth int) bool {
	if len(x) != len(y) {
		return false
	}
	for _, p := range x {
		v, ok := y.Get(p.Name)
		if !ok || !alike(p.Value, v, depth) {
			return false
		}
	}
	return true
}

// sameType compares type names; the list type of commands names a version of PowerShell, which no
// reader looks at.
func sameType(a, b string) bool {
	const list = "System.Collections.Generic.List`1[[System.Management.Automation.PSObject,"
	return a == b || strings.HasPrefix(a, list) && strings.HasPrefix(b, list)
}
