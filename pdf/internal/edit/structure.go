package edit

import (
	"example.com/quire/pdf/cos"
)

// pruneStructure leaves of the structure tree (ISO 32000-2, 14.7) what has content on a page that
// stays: kept are its objects, annotations included. Elements without any content of their own or
// below go. The parent tree keeps the entries of what stays.
func (e *Draft) pruneStructure(kept map[uint32]bool, keys map[int64]bool) {
	root := e.dict(e.catalog().Get("StructTreeRoot"))
	if root == nil {
		return
	}
	seen, gone := map[cos.Ref]bool{}, map[uint32]bool{}
	n := 0
	// walk returns what is left of a kid: nil for nothing. page is that of the element above.
	var walk func(o cos.Object, page cos.Ref, depth int) cos.Object
	walk = func(o cos.Object, page cos.Ref, depth int) cos.Object {
		if n++; n > mostEntries || depth > mostDepth {
			return nil
		}
		r := refOf(o)
		if !r.IsZero() {
			if seen[r] {
				return nil
			}
			seen[r] = true
		}
		d, isDict := e.resolve(o).(cos.Dict)
		if !isDict {
			if _, mcid := e.resolve(o).(cos.Int); mcid && kept[page.Num] {
				return o
			}
			return nil
		}
		if pg := refOf(d.Get("Pg")); !pg.IsZero() {
			page = pg
		}
		switch e.name(d.Get("Type")) {
		case "MCR":
			if kept[page.Num] {
				return o
			}
			return nil
		case "OBJR":
			if kept[refOf(d.Get("Obj")).Num] {
				return o
			}
			return nil
		}
		var left cos.Array
		kids := e.resolve(d.Get("K"))
		if list, ok := kids.(cos.Array); ok {
			for _, kid := range list {
				if k := walk(kid, page, depth+1); k != nil {
					left = append(left, k)
				}
			}
		} else if d.Get("K") != nil {
			if k := walk(d.Get("K"), page, depth+1); k != nil {
				left = append(left, k)
			}
		}
		if len(left) == 0 {
			gone[r.Num] = true
			return nil
		}
		d = with(d, "K", left)
		if pg := refOf(d.Get("Pg")); !pg.IsZero() && !kept[pg.Num] {
			d = with(d, "Pg", nil)
		}
		if r.IsZero() {
			return d
		}
		e.set(r, d)
		return o
	}
	var left cos.Array
	if list, ok := e.resolve(root.Get("K")).(cos.Array); ok {
		for _, kid := range list {
			if k := walk(kid, cos.Ref{}, 0); k != nil {
				left = append(left, k)
			}
		}
	} else if k := walk(root.Get("K"), cos.Ref{}, 0); k != nil {
		left = append(left, k)
	}
	var parents []numbered
	for _, x := range e.numbers(root.Get("ParentTree")) {
		if keys[x.key] {
			parents = append(parents, x)
		}
	}
	var ids []named
	for _, x := range e.names(root.Get("IDTree")) {
		if r := refOf(x.value); seen[r] && !gone[r.Num] {
			ids = append(ids, x)
		}
	}
	for num := range gone {
		if num != 0 {
			e.set(cos.Ref{Num: num}, cos.Null{})
		}
	}
	if left == nil {
		left = cos.Array{}
	}
	root = with(with(root, "K", left), "ParentTree", e.numberTree(parents))
	root = with(root, "IDTree", e.nameTree(ids))
	if r := refOf(e.catalog().Get("StructTreeRoot")); !r.IsZero() {
		e.set(r, root)
		return
	}
	e.change("StructTreeRoot", root)
}
