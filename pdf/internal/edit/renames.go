package edit

import (
	"slices"
	"strconv"

	"example.com/quire/pdf/cos"
)

// renames are names in the structure tree of a file that have another meaning in that of the file
// it is merged into, with those that they get.
type renames struct {
	ids            map[string]string // of elements (ISO 32000-2, 14.7.2)
	roles, classes map[cos.Name]cos.Name
}

// renames returns them: the IDs that both trees have, and the types and classes that stand for
// something else in ours.
func (m *merger) renames(o *Draft, ours, theirs cos.Dict) renames {
	e := m.e
	out := renames{ids: map[string]string{}}
	taken := names{}
	for _, x := range e.names(ours.Get("IDTree")) {
		taken.free(x.name)
	}
	for _, x := range o.names(theirs.Get("IDTree")) {
		if name := taken.free(x.name); name != x.name {
			out.ids[x.name] = name
		}
	}
	ourRoles, theirRoles := e.dict(ours.Get("RoleMap")), o.dict(theirs.Get("RoleMap"))
	out.roles = others(ourRoles, theirRoles, func(name cos.Name) bool {
		return e.role(ourRoles, name) == o.role(theirRoles, name)
	})
	ourClasses, theirClasses := e.dict(ours.Get("ClassMap")), o.dict(theirs.Get("ClassMap"))
	out.classes = others(ourClasses, theirClasses, func(name cos.Name) bool {
		a, b := e.resolve(ourClasses.Get(name)), moved(o.resolve(theirClasses.Get(name)), m.by)
		return a != nil && b != nil && string(a.AppendPDF(nil)) == string(b.AppendPDF(nil))
	})
	return out
}

// others returns new names for the keys that two maps have for what is not alike.
func others(ours, theirs cos.Dict, alike func(cos.Name) bool) map[cos.Name]cos.Name {
	as := map[cos.Name]cos.Name{}
	for _, x := range theirs {
		if ours.Get(x.Key) == nil || alike(x.Key) {
			continue
		}
		for n := 2; as[x.Key] == ""; n++ {
			if name := x.Key + cos.Name("-"+strconv.Itoa(n)); ours.Get(name) == nil && theirs.Get(name) == nil {
				as[x.Key] = name
			}
		}
	}
	return as
}

// role returns what a type is in the end, by a map of roles.
func (e *Draft) role(roles cos.Dict, name cos.Name) cos.Name {
	for range mostDepth {
		next := e.name(roles.Get(name))
		if next == "" || next == name {
			break
		}
		name = next
	}
	return name
}

// apply gives the elements of the structure tree of a draft their new names, and returns its root
// with them.
func (n *renames) apply(o *Draft, root cos.Dict) cos.Dict {
	if len(n.ids)+len(n.roles)+len(n.classes) == 0 {
		return root
	}
	w := renamer{renames: n, o: o, seen: map[cos.Ref]bool{}}
	if kids, changed := w.kids(root.Get("K"), 0); changed {
		root = with(root, "K", kids)
	}
	entries := func(key cos.Name, names map[cos.Name]cos.Name) {
		var all cos.Dict
		for _, x := range o.dict(root.Get(key)) {
			if name, other := names[x.Key]; other {
				x.Key = name
			}
			if to, other := n.roles[o.name(x.Value)]; other && key == "RoleMap" {
				x.Value = to
			}
			all = append(all, x)
		}
		if all != nil {
			root = with(root, key, all)
		}
	}
	entries("RoleMap", n.roles)
	entries("ClassMap", n.classes)
	ids := o.names(root.Get("IDTree"))
	for i, x := range ids {
		if name, other := n.ids[x.name]; other {
			ids[i].name = name
		}
	}
	return with(root, "IDTree", o.nameTree(ids))
}

// renamer goes through the elements of a structure tree.
type renamer struct {
	*renames
	o    *Draft
	seen map[cos.Ref]bool
	n    int
}

// kids is elem for what stands under K: a kid or an array of them.
func (w *renamer) kids(k cos.Object, depth int) (as cos.Object, changed bool) {
	list, several := w.o.resolve(k).(cos.Array)
	if !several {
		return w.elem(k, depth)
	}
	return replaced(list, func(kid cos.Object) (cos.Object, bool) { return w.elem(kid, depth) })
}

// replaced returns an array with what f returns for its elements, or the array itself where that
// changes none.
func replaced(list cos.Array, f func(cos.Object) (as cos.Object, changed bool)) (as cos.Object, changed bool) {
	for i, o := range list {
		to, other := f(o)
		if !other {
			continue
		}
		if !changed {
			list, changed = slices.Clone(list), true
		}
		list[i] = to
	}
	return list, changed
}

// elem renames an element and those below. What stands in its place is only another where it is no
// object of its own.
func (w *renamer) elem(kid cos.Object, depth int) (as cos.Object, changed bool) {
	r := refOf(kid)
	d, _ := w.o.resolve(kid).(cos.Dict)
	if w.n++; d.Get("S") == nil || w.seen[r] || depth > mostDepth || w.n > mostEntries {
		return kid, false
	}
	if !r.IsZero() {
		w.seen[r] = true
	}
	if kids, other := w.kids(d.Get("K"), depth+1); other {
		d, changed = with(d, "K", kids), true
	}
	if id, ok := cos.Bytes(w.o.resolve(d.Get("ID"))); ok {
		if name, other := w.ids[string(id)]; other {
			d, changed = with(d, "ID", cos.String(name)), true
		}
	}
	if name, other := w.roles[w.o.name(d.Get("S"))]; other && w.o.dict(d.Get("NS")) == nil {
		d, changed = with(d, "S", name), true
	}
	for _, x := range [...]struct {
		key    cos.Name
		rename func(cos.Object) (cos.Object, bool)
	}{{"C", w.class}, {"A", w.attributes}} {
		if to, other := w.each(d.Get(x.key), x.rename); other {
			d, changed = with(d, x.key, to), true
		}
	}
	if changed && !r.IsZero() {
		w.o.set(r, d)
		return r, false
	}
	return d, changed
}

// each renames an object or those of an array.
func (w *renamer) each(v cos.Object, rename func(cos.Object) (cos.Object, bool)) (as cos.Object, changed bool) {
	list, several := w.o.resolve(v).(cos.Array)
	if !several {
		return rename(v)
	}
	list = slices.Clone(list)
	for i := range list {
		to, other := rename(list[i])
		list[i], changed = to, changed || other
	}
	return list, changed
}

func (w *renamer) class(v cos.Object) (cos.Object, bool) {
	name, other := w.classes[w.o.name(v)]
	if !other {
		return v, false
	}
	return name, true
}

// attributes renames the headers that a cell of a table names (14.8.5.7).
func (w *renamer) attributes(v cos.Object) (cos.Object, bool) {
	d := w.o.dict(v)
	list, changed := w.each(d.Get("Headers"), func(id cos.Object) (cos.Object, bool) {
		b, _ := cos.Bytes(w.o.resolve(id))
		name, other := w.ids[string(b)]
		if !other {
			return id, false
		}
		return cos.String(name), true
	})
	if !changed {
		return v, false
	}
	return with(d, "Headers", list), true
}
