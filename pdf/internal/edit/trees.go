package edit

import (
	"cmp"
	"slices"

	"example.com/quire/pdf/cos"
)

// mostEntries bounds the entries of one name or number tree, the items of an outline, the fields of
// a form and the elements of a structure tree; what lies behind is left out.
const mostEntries = 1_000_000

// mostDepth bounds how deep such a tree is followed.
const mostDepth = 200

// leaves calls f with the key and the value of each entry of a name tree or a number tree (ISO
// 32000-2, 7.9.6 and 7.9.7), whose leaves have their entries under key.
func (e *Draft) leaves(root cos.Object, key cos.Name, f func(k, v cos.Object)) {
	seen, n := map[cos.Ref]bool{}, 0
	var walk func(o cos.Object, depth int)
	walk = func(o cos.Object, depth int) {
		if r := refOf(o); !r.IsZero() {
			if seen[r] {
				return
			}
			seen[r] = true
		}
		d := e.dict(o)
		if d == nil || depth > mostDepth {
			return
		}
		list := e.array(d.Get(key))
		for ; len(list) > 1 && n < mostEntries; list = list[2:] {
			n++
			f(e.resolve(list[0]), list[1])
		}
		for _, kid := range e.array(d.Get("Kids")) {
			walk(kid, depth+1)
		}
	}
	walk(root, 0)
}

// named is an entry of a name tree.
type named struct {
	name  string
	value cos.Object
}

// names returns the entries of a name tree, in their order.
func (e *Draft) names(root cos.Object) (out []named) {
	e.leaves(root, "Names", func(k, v cos.Object) {
		if b, ok := cos.Bytes(k); ok {
			out = append(out, named{string(b), v})
		}
	})
	return out
}

// perLeaf is how many entries share a leaf of a tree.
const perLeaf = 64

// tree makes a name tree or a number tree (ISO 32000-2, 7.9.6 and 7.9.7) of keys in their order,
// each with its value behind it; nil of nothing. list is what its leaves call them.
func (e *Draft) tree(list cos.Name, entries cos.Array) cos.Object {
	var kids cos.Array
	for leaf := range slices.Chunk(entries, 2*perLeaf) {
		d := cos.Dict{cos.E(list, leaf)}
		if len(leaf) == len(entries) {
			return e.add(d)
		}
		kids = append(kids, e.add(append(d, cos.E("Limits", cos.Array{leaf[0], leaf[len(leaf)-2]}))))
	}
	if kids == nil {
		return nil
	}
	return e.add(cos.Dict{cos.E("Kids", kids)})
}

// nameTree makes a name tree; nil of nothing. Of entries with one name the first counts.
func (e *Draft) nameTree(entries []named) cos.Object {
	slices.SortStableFunc(entries, func(a, b named) int { return cmp.Compare(a.name, b.name) })
	entries = slices.CompactFunc(entries, func(a, b named) bool { return a.name == b.name })
	var list cos.Array
	for _, x := range entries {
		list = append(list, cos.String(x.name), x.value)
	}
	return e.tree("Names", list)
}

// numbered is an entry of a number tree.
type numbered struct {
	key   int64
	value cos.Object
}

// numbers returns the entries of a number tree, in their order.
func (e *Draft) numbers(root cos.Object) (out []numbered) {
	e.leaves(root, "Nums", func(k, v cos.Object) {
		if n, ok := k.(cos.Int); ok {
			out = append(out, numbered{int64(n), v})
		}
	})
	return out
}

// numberTree makes a number tree of entries, which are sorted by it.
func (e *Draft) numberTree(entries []numbered) cos.Object {
	slices.SortStableFunc(entries, func(a, b numbered) int { return cmp.Compare(a.key, b.key) })
	var list cos.Array
	for _, x := range entries {
		list = append(list, cos.Int(x.key), x.value)
	}
	if t := e.tree("Nums", list); t != nil {
		return t
	}
	return e.add(cos.Dict{cos.E("Nums", cos.Array{})})
}
