package edit

import (
	"example.com/quire/pdf/cos"
)

// Select makes the pages those at the given places, in their order; a page that is named twice
// comes twice. What leads only to pages that are gone goes with them: bookmarks, named
// destinations, links, form fields, elements of the structure tree. An XFA form goes, for it has
// all pages. Page labels stay with their pages.
func (e *Draft) Select(pages []int) {
	before := e.pages
	stays := make(map[int]bool, len(pages))
	for _, p := range pages {
		stays[p] = true
	}
	if len(pages) == len(before) {
		same := true
		for i, p := range pages {
			same = same && i == p
		}
		if same {
			return
		}
	}
	dests, at, labels, outline := e.destinations(), e.pageIndex(), e.labels(), e.outline()

	// The pages that go are null from here on, whoever refers to them.
	e.pages = nil
	used := map[int]bool{}
	var from []label
	var had []bool
	for _, p := range pages {
		page := before[p]
		if used[p] || page.Ref.IsZero() {
			page = e.copyOf(page)
		}
		used[p] = true
		e.pages = append(e.pages, page)
		l, ok := labels.at(p)
		from, had = append(from, l), append(had, ok)
	}
	for i, p := range before {
		if !stays[i] && !p.Ref.IsZero() {
			e.set(p.Ref, cos.Null{})
		}
	}
	if form := e.dict(e.catalog().Get("AcroForm")); form.Get("XFA") != nil && len(stays) < len(before) {
		e.change("AcroForm", e.add(with(form, "XFA", nil)))
		e.lost = append(e.lost, "the XFA form was removed: it contains the pages that were removed")
	}

	kept, keys := map[uint32]bool{}, map[int64]bool{}
	key := func(d cos.Dict, name cos.Name) {
		if n := e.integer(d.Get(name), -1); n >= 0 {
			keys[n] = true
		}
	}
	for i, p := range e.pages {
		kept[p.Ref.Num] = true
		key(p.Dict, "StructParents")
		var annots cos.Array
		for _, a := range e.array(p.Dict.Get("Annots")) {
			d := e.dict(a)
			r := refOf(a)
			if d == nil {
				continue
			}
			if lead := e.leadsTo(d, dests, at); lead >= 0 && !stays[lead] {
				if e.name(d.Get("Subtype")) == "Link" {
					if !r.IsZero() {
						e.set(r, cos.Null{})
					}
					continue // it would lead nowhere
				}
				d = with(with(d, "Dest", nil), "A", nil)
			}
			if pg := refOf(d.Get("P")); !pg.IsZero() && pg.Num != p.Ref.Num {
				d = with(d, "P", p.Ref)
			}
			if !r.IsZero() {
				e.set(r, d)
				kept[r.Num] = true
				annots = append(annots, r)
			} else {
				annots = append(annots, d)
			}
			key(d, "StructParent")
		}
		d := with(p.Dict, "Annots", nil)
		if annots != nil {
			d = with(d, "Annots", annots)
		}
		e.pages[i].Dict = d
	}
	e.pageTree()
	e.voidSignatures()
	e.setLabels(from, had)
	e.setOutline(e.keptItems(outline, func(p int) bool { return stays[p] }))
	e.keepDestinations(dests, at, stays)
	e.pruneForm(kept)
	e.formKeys(keys)
	e.pruneStructure(kept, keys)
	e.change("Threads", nil) // articles run over pages that may be gone
}

// formKeys adds the keys under which forms drawn on the pages stand in the parent tree.
func (e *Draft) formKeys(keys map[int64]bool) {
	seen := map[cos.Ref]bool{}
	var walk func(resources cos.Object, depth int)
	walk = func(resources cos.Object, depth int) {
		if depth > 8 {
			return
		}
		for _, x := range e.dict(e.dict(resources).Get("XObject")) {
			r := refOf(x.Value)
			if r.IsZero() || seen[r] {
				continue
			}
			seen[r] = true
			d := e.dict(r)
			for _, name := range [...]cos.Name{"StructParent", "StructParents"} {
				if n := e.integer(d.Get(name), -1); n >= 0 {
					keys[n] = true
				}
			}
			walk(d.Get("Resources"), depth+1)
		}
	}
	for _, p := range e.pages {
		walk(p.Dict.Get("Resources"), 0)
	}
}

// copyOf returns a page like another with an object of its own. It has the annotations that are no
// fields, each a copy, and no place in the structure tree: that has each content once.
func (e *Draft) copyOf(p Page) Page {
	d := with(p.Dict, "StructParents", nil)
	var annots cos.Array
	page := Page{Ref: e.add(cos.Null{})}
	for _, a := range e.array(d.Get("Annots")) {
		x := e.dict(a)
		if x == nil || e.name(x.Get("Subtype")) == "Widget" || e.name(x.Get("Subtype")) == "Popup" {
			continue
		}
		annots = append(annots, e.add(with(with(with(x, "StructParent", nil), "P", page.Ref), "Popup", nil)))
	}
	d = with(d, "Annots", nil)
	if annots != nil {
		d = with(d, "Annots", annots)
	}
	page.Dict = d
	return page
}

// perNode is how many kids a node of the page tree has at most.
const perNode = 64

// pageTree makes a page tree of the pages and puts it into the catalog.
func (e *Draft) pageTree() {
	type node struct {
		ref   cos.Ref
		dict  cos.Dict
		count int
	}
	nodes := make([]node, len(e.pages))
	for i, p := range e.pages {
		if p.Ref.IsZero() {
			p.Ref = e.add(p.Dict)
			e.pages[i].Ref = p.Ref
		}
		nodes[i] = node{p.Ref, with(p.Dict, "Type", cos.Name("Page")), 1}
	}
	for top := false; !top; {
		var above []node
		for len(nodes) > 0 || len(above) == 0 {
			n := min(perNode, len(nodes))
			up := node{ref: e.add(cos.Null{})}
			var kids cos.Array
			for _, kid := range nodes[:n] {
				kids = append(kids, kid.ref)
				up.count += kid.count
				e.set(kid.ref, with(kid.dict, "Parent", up.ref))
			}
			nodes = nodes[n:]
			up.dict = cos.Dict{cos.E("Type", cos.Name("Pages")), cos.E("Kids", kids), cos.E("Count", cos.Int(up.count))}
			above = append(above, up)
		}
		nodes, top = above, len(above) == 1
	}
	e.set(nodes[0].ref, nodes[0].dict)
	e.change("Pages", nodes[0].ref)
}

// keepDestinations leaves the named destinations that lead to a page that stays, and the action at
// opening when it leads to one.
func (e *Draft) keepDestinations(dests map[string]cos.Object, at map[cos.Ref]int, stays map[int]bool) {
	leads := func(to cos.Object) bool {
		i := e.target(to, dests, at)
		return i >= 0 && stays[i]
	}
	var left []named
	for _, x := range e.names(e.dict(e.catalog().Get("Names")).Get("Dests")) {
		if leads(x.value) {
			left = append(left, x)
		}
	}
	e.setNames("Dests", left)
	if old := e.dict(e.catalog().Get("Dests")); old != nil {
		var out cos.Dict
		for _, x := range old {
			if leads(x.Value) {
				out = append(out, x)
			}
		}
		e.change("Dests", nil)
		if out != nil {
			e.change("Dests", out)
		}
	}
	if open := e.catalog().Get("OpenAction"); open != nil {
		to := open
		if d, ok := e.resolve(open).(cos.Dict); ok {
			if e.name(d.Get("S")) != "GoTo" {
				return
			}
			to = d.Get("D")
		}
		if !leads(to) {
			e.change("OpenAction", nil)
		}
	}
}

// setNames makes the entries those of a name tree of the catalog's Names.
func (e *Draft) setNames(key cos.Name, entries []named) {
	names := with(e.dict(e.catalog().Get("Names")), key, e.nameTree(entries))
	if len(names) == 0 {
		e.change("Names", nil)
		return
	}
	e.change("Names", e.add(names))
}
