package conformance

import (
	"fmt"
	"slices"
	"strings"

	"example.com/quire/psrp/clixml"
)

// Alike reports whether two values mean the same to PowerShell: equal but for the order of
// properties and of a dictionary's entries, and for the version inside a list type's name.
func Alike(want, got clixml.Value) bool { return len(Differences(want, got)) == 0 }

// Differences names the places where two values are not alike, by their paths: names of properties,
// keys of dictionaries and indexes of lists, with slashes between. The path of a whole is "".
func Differences(want, got clixml.Value) []string {
	var d differences
	d.values("", want, got, 0)
	return d.paths
}

type differences struct{ paths []string }

func (d *differences) add(path string) { d.paths = append(d.paths, strings.TrimPrefix(path, "/")) }

func (d *differences) values(path string, want, got clixml.Value, depth int) {
	if depth > 200 {
		return // a cycle, compared that often
	}
	depth++
	if want.Kind() != got.Kind() {
		if !want.IsNil() || !got.IsNil() {
			d.add(path)
		}
		return
	}
	switch want.Kind() {
	case clixml.KindObject:
		x, _ := want.Object()
		y, _ := got.Object()
		if !slices.EqualFunc(x.TypeNames, y.TypeNames, sameType) || x.ToString != y.ToString {
			d.add(path)
		}
		d.values(path, x.Base, y.Base, depth)
		d.properties(path, x.Adapted, y.Adapted, depth)
		d.properties(path, x.Extended, y.Extended, depth)
	case clixml.KindList:
		x, _ := want.List()
		y, _ := got.List()
		if x.Kind != y.Kind || len(x.Items) != len(y.Items) {
			d.add(path)
			return
		}
		for i := range x.Items {
			d.values(fmt.Sprint(path, "/", i), x.Items[i], y.Items[i], depth)
		}
	case clixml.KindDict:
		x, _ := want.Dict()
		y, _ := got.Dict()
		d.entries(path, x.Entries, y.Entries, depth)
	case clixml.KindMemberSet:
		x, _ := want.MemberSet()
		y, _ := got.MemberSet()
		d.properties(path, x.Members, y.Members, depth)
	default:
		if !clixml.Equal(want, got) {
			d.add(path)
		}
	}
}

func (d *differences) entries(path string, want, got []clixml.Entry, depth int) {
	used := make([]bool, len(got))
	for _, e := range want {
		at := path + "/" + e.Key.String()
		i := slices.IndexFunc(got, func(f clixml.Entry) bool { return Alike(e.Key, f.Key) })
		if i < 0 || used[i] {
			d.add(at)
			continue
		}
		used[i] = true
		d.values(at, e.Value, got[i].Value, depth)
	}
	for i, e := range got {
		if !used[i] {
			d.add(path + "/" + e.Key.String())
		}
	}
}

func (d *differences) properties(path string, want, got clixml.Properties, depth int) {
	before := len(d.paths)
	for _, p := range want {
		if v, ok := got.Get(p.Name); ok {
			d.values(path+"/"+p.Name, p.Value, v, depth)
		} else {
			d.add(path + "/" + p.Name)
		}
	}
	for _, p := range got {
		if _, ok := want.Get(p.Name); !ok {
			d.add(path + "/" + p.Name)
		}
	}
	if len(want) != len(got) && len(d.paths) == before {
		d.add(path) // a name that is there twice
	}
}

// sameType compares type names; the list type of commands names a version of PowerShell, which no
// reader looks at.
func sameType(a, b string) bool {
	const list = "System.Collections.Generic.List`1[[System.Management.Automation.PSObject,"
	return a == b || strings.HasPrefix(a, list) && strings.HasPrefix(b, list)
}
