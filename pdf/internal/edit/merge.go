package edit

import (
	"fmt"
	"slices"

	"example.com/quire/pdf/cos"
)

// MostInputs is how many files can be merged at one time.
const MostInputs = 100

// Merge puts the pages of another draft behind those of e, with what belongs to them: bookmarks,
// destinations, fields, structure elements, attachments, layers and page labels. It returns what
// could not be taken along. The other must not be used any more; metadata, output intent and
// preferences are those of e.
func (e *Draft) Merge(o *Draft) (lost []string) {
	e.separate()
	by := e.join(o)
	m := merger{e: e, by: by, root: moved(o.catalog(), by).(cos.Dict)} //nolint:forcetypeassert // moved keeps the type
	m.destinations(o)
	lost = m.form(o)
	labels, had := e.labelsOf()
	more, hadMore := o.labelsOf()
	for i := range more {
		more[i].prefix = moved(more[i].prefix, by)
	}
	labels, had = append(labels, more...), append(had, hadMore...)
	o.separate()
	for _, p := range o.pages {
		d, _ := moved(p.Dict, by).(cos.Dict)
		e.pages = append(e.pages, Page{Ref: cos.Ref{Num: p.Ref.Num + by}, Dict: d})
	}
	m.structure(o)
	for i := range e.pages {
		e.pages[i].Dict = m.current(e.pages[i])
	}
	e.pageTree()
	e.setLabels(labels, had)
	m.attachments(o)
	m.layers()
	if len(o.names(o.dict(o.catalog().Get("Names")).Get("JavaScript"))) > 0 {
		lost = append(lost, "scripts of the document")
	}
	e.void = append(e.void, o.void...)
	e.version = max(e.version, o.version)
	return lost
}

// Nest puts the bookmarks of each file below one with its name: counts are the pages of each.
func (e *Draft) Nest(names []string, counts []int, outlines Outlines) {
	e.separate()
	var all []item
	first, parents := 0, e.parentTree()
	for i, name := range names {
		if counts[i] == 0 {
			continue
		}
		top := e.add(cos.Null{})
		all = append(all, item{ref: top, dict: cos.Dict{cos.E("Title", cos.Text(name)), e.toPage(first, parents)}, level: 0, page: first})
		for _, x := range outlines[i] {
			x.level++
			all = append(all, x)
		}
		first += counts[i]
	}
	e.setOutline(all)
}

// toPage leads to a page: from PDF 2.0 on to the first element of its content, too (ISO 14289-2,
// 8.8; ISO 32000-2, 12.3.2.3).
func (e *Draft) toPage(n int, parents map[int64]cos.Object) cos.Entry {
	page := cos.Array{e.pages[n].Ref, cos.Name("Fit")}
	for _, elem := range e.array(parents[e.integer(e.pages[n].Dict.Get("StructParents"), -1)]) {
		if e.version >= "2.0" && e.dict(elem) != nil {
			return cos.E("A", cos.Dict{cos.E("S", cos.Name("GoTo")), cos.E("D", page), cos.E("SD", cos.Array{elem, cos.Name("Fit")})})
		}
	}
	return cos.E("Dest", page)
}

// bookmarks returns the bookmarks of a draft for Nest, moved to the numbers of one it was merged
// into as the n-th, from 0.
func (e *Draft) bookmarks(n int) []item {
	by := uint32(n) * 2 * span //nolint:gosec // G115: MostInputs bounds it
	out := e.outline()
	for i := range out {
		out[i].ref.Num += by
		out[i].dict, _ = moved(out[i].dict, by).(cos.Dict)
	}
	return out
}

type merger struct {
	e    *Draft
	by   uint32
	root cos.Dict // catalog of the other, moved
}

// current is the dictionary of a page with what was changed in its object, and what it inherits.
func (m *merger) current(p Page) cos.Dict {
	d := p.Dict
	for _, x := range m.e.dict(p.Ref) {
		if x.Key != "Parent" {
			d = with(d, x.Key, x.Value)
		}
	}
	return d
}

// labelsOf returns the label range of each page, and whether it has one.
func (e *Draft) labelsOf() (from []label, had []bool) {
	l := e.labels()
	for i := range e.pages {
		x, ok := l.at(i)
		from, had = append(from, x), append(had, ok)
	}
	return from, had
}

// form joins the interactive forms. Fields of the first level whose names both have get another.
func (m *merger) form(o *Draft) (lost []string) {
	e := m.e
	theirs := o.dict(o.catalog().Get("AcroForm"))
	if theirs == nil {
		return nil
	}
	if theirs.Get("XFA") != nil {
		lost = append(lost, "the XFA form")
	}
	ours := e.dict(e.catalog().Get("AcroForm"))
	theirs = m.fontNames(o, ours, theirs)
	fields := append(cos.Array{}, e.array(ours.Get("Fields"))...)
	taken := names{}
	for _, f := range fields {
		taken.free(e.text(e.dict(f).Get("T")))
	}
	for _, f := range o.array(theirs.Get("Fields")) {
		r := refOf(f)
		d := o.dict(f)
		if d == nil {
			continue
		}
		if r.IsZero() {
			r = o.add(d)
		}
		was := o.text(d.Get("T"))
		if name := taken.free(was); name != was {
			d = with(d, "T", cos.Text(name))
		}
		for _, key := range [...]cos.Name{"DA", "Q"} { // defaults of their form
			v := o.resolve(theirs.Get(key))
			if v == nil && key == "Q" && ours.Get(key) != nil {
				v = cos.Int(0)
			}
			if d.Get(key) == nil && v != nil {
				d = with(d, key, v)
			}
		}
		o.set(r, d)
		fields = append(fields, cos.Ref{Num: r.Num + m.by})
	}
	form := with(with(ours, "XFA", nil), "Fields", fields)
	if ours == nil {
		form = cos.Dict{cos.E("Fields", fields)}
		if da := o.resolve(theirs.Get("DA")); da != nil {
			form = append(form, cos.E("DA", da))
		}
	}
	resources := e.dict(ours.Get("DR"))
	for _, kind := range o.dict(theirs.Get("DR")) {
		list := e.dict(resources.Get(kind.Key))
		for _, x := range o.dict(kind.Value) {
			if list.Get(x.Key) == nil {
				list = with(list, x.Key, moved(x.Value, m.by))
			}
		}
		if list != nil {
			resources = with(resources, kind.Key, list)
		}
	}
	if resources != nil {
		form = with(form, "DR", resources)
	}
	if o.resolve(theirs.Get("NeedAppearances")) == cos.Object(cos.Bool(true)) {
		form = with(form, "NeedAppearances", cos.Bool(true))
	}
	if co := append(append(cos.Array{}, e.array(ours.Get("CO"))...), m.array(o.array(theirs.Get("CO")))...); len(co) > 0 {
		form = with(form, "CO", co)
	}
	e.change("AcroForm", e.add(form))
	return lost
}

// names are those that are taken, each with the last number that was put behind it: files in which
// all have one name do not make the search quadratic.
type names map[string]int

// free takes a name, or where it is taken already the next with a number that is free.
func (t names) free(name string) string {
	n, was := t[name]
	if !was {
		t[name] = 1
		return name
	}
	for {
		n++
		next := fmt.Sprintf("%s-%d", name, n)
		if _, was := t[next]; !was {
			t[name], t[next] = n, 1
			return next
		}
	}
}

func (m *merger) array(a cos.Array) cos.Array {
	out, _ := moved(a, m.by).(cos.Array)
	return out
}

// structure joins the structure trees: the keys of the other's parent tree come behind ours, and
// its IDs, types and classes get other names where ours have them for something else.
func (m *merger) structure(o *Draft) {
	e := m.e
	ours, theirs := e.dict(e.catalog().Get("StructTreeRoot")), o.dict(o.catalog().Get("StructTreeRoot"))
	if theirs == nil {
		if ours != nil {
			e.change("MarkInfo", nil) // not all content is tagged any more
		}
		return
	}
	if ours == nil {
		ours = cos.Dict{cos.E("Type", cos.Name("StructTreeRoot"))}
	} else {
		e.change("MarkInfo", m.marked(o))
	}
	renames := m.renames(o, ours, theirs)
	theirs = renames.apply(o, theirs)
	parents := e.numbers(ours.Get("ParentTree"))
	after := e.integer(ours.Get("ParentTreeNextKey"), 0)
	for _, x := range parents {
		after = max(after, x.key+1)
	}
	next := after
	for _, x := range o.numbers(theirs.Get("ParentTree")) {
		next = max(next, after+x.key+1)
		parents = append(parents, numbered{after + x.key, moved(x.value, m.by)})
	}
	m.keys(o, after)
	root := e.add(cos.Null{})
	has := len(e.kids(ours))
	kids := append(append(cos.Array{}, e.kids(ours)...), m.array(o.kids(theirs))...)
	lang, other := e.resolve(e.catalog().Get("Lang")), o.text(o.catalog().Get("Lang"))
	said, _ := cos.TextOf(lang)
	for i, k := range kids {
		d := e.dict(k)
		if d == nil {
			continue
		}
		d = with(d, "P", root)
		if i >= has && other != "" && other != said && d.Get("Lang") == nil {
			d = with(d, "Lang", cos.Text(other))
		}
		if r := refOf(k); !r.IsZero() {
			e.set(r, d)
		} else {
			kids[i] = d
		}
	}
	if len(kids) == 2 && has == 1 && e.document(kids[0]) && e.document(kids[1]) {
		kids = cos.Array{e.aggregate(root, refOf(kids[0]), refOf(kids[1]))}
	}
	d := with(with(with(ours, "K", kids), "ParentTree", e.numberTree(parents)), "ParentTreeNextKey", cos.Int(next))
	ids := e.names(ours.Get("IDTree"))
	for _, x := range o.names(theirs.Get("IDTree")) {
		ids = append(ids, named{x.name, moved(x.value, m.by)})
	}
	d = with(d, "IDTree", e.nameTree(ids))
	for _, key := range [...]cos.Name{"RoleMap", "ClassMap"} {
		all := e.dict(ours.Get(key))
		for _, x := range o.dict(theirs.Get(key)) {
			if all.Get(x.Key) == nil {
				all = with(all, x.Key, moved(x.Value, m.by))
			}
		}
		if all != nil {
			d = with(d, key, all)
		}
	}
	for _, key := range [...]cos.Name{"Namespaces", "AF", "PronunciationLexicon"} {
		if all := append(append(cos.Array{}, e.array(ours.Get(key))...), m.array(o.array(theirs.Get(key)))...); len(all) > 0 {
			d = with(d, key, all)
		}
	}
	e.set(root, d)
	e.change("StructTreeRoot", root)
}

// kids returns what stands below an element, or the structure tree as a whole.
func (e *Draft) kids(elem cos.Dict) cos.Array {
	switch v := e.resolve(elem.Get("K")).(type) {
	case cos.Array:
		return v
	case nil, cos.Null:
		return nil
	default:
		return cos.Array{elem.Get("K")}
	}
}

// document reports whether an element, an object of its own, is a Document of PDF 2.0 (14.8.4.3).
func (e *Draft) document(o cos.Object) bool {
	d := e.dict(o)
	return !refOf(o).IsZero() && e.name(d.Get("S")) == "Document" && e.text(e.dict(d.Get("NS")).Get("NS")) == namespace2
}

// aggregate returns the Document that has two others, the only elements at the root, as PDF/UA-2
// wants a single one there. The first may be one of others already.
func (e *Draft) aggregate(root, first, second cos.Ref) cos.Ref {
	whole, d := first, e.dict(first)
	kids := e.kids(d)
	if len(kids) < 2 || slices.ContainsFunc(kids, func(k cos.Object) bool { return !e.document(k) }) {
		whole, kids = e.add(cos.Null{}), cos.Array{first}
		d = cos.Dict{cos.E("Type", cos.Name("StructElem")), cos.E("S", cos.Name("Document")), cos.E("NS", d.Get("NS")), cos.E("P", root)}
		e.set(first, with(e.dict(first), "P", whole))
	}
	e.set(whole, with(d, "K", append(slices.Clip(kids), second)))
	e.set(second, with(e.dict(second), "P", whole))
	return whole
}

// marked is the MarkInfo of both: what only one says does not hold for the whole.
func (m *merger) marked(o *Draft) cos.Object {
	yes := func(d *Draft) bool {
		return d.resolve(d.dict(d.catalog().Get("MarkInfo")).Get("Marked")) == cos.Object(cos.Bool(true))
	}
	if yes(m.e) && yes(o) {
		return cos.Dict{cos.E("Marked", cos.Bool(true))}
	}
	return nil
}

// keys moves the keys under which pages, annotations, forms and images of the other stand in the
// parent tree.
func (m *merger) keys(o *Draft, by int64) {
	seen := map[cos.Ref]bool{}
	shift := func(d cos.Dict) cos.Dict {
		for _, key := range [...]cos.Name{"StructParent", "StructParents"} {
			if n := o.integer(d.Get(key), -1); n >= 0 {
				d = with(d, key, cos.Int(n+by))
			}
		}
		return d
	}
	put := func(r cos.Ref) {
		if r.IsZero() || seen[r] {
			return
		}
		seen[r] = true
		switch v := o.object(r).(type) {
		case cos.Dict:
			o.set(r, shift(v))
		case *stream:
			s := *v
			s.dict = shift(v.dict)
			o.set(r, &s)
		}
	}
	var resources func(d cos.Dict, depth int)
	resources = func(d cos.Dict, depth int) {
		for _, x := range o.dict(d.Get("XObject")) {
			r := refOf(x.Value)
			if r.IsZero() || seen[r] || depth > mostForms {
				continue
			}
			put(r)
			resources(o.dict(o.dict(r).Get("Resources")), depth+1)
		}
	}
	for _, p := range o.pages {
		put(p.Ref)
		for _, a := range o.array(p.Dict.Get("Annots")) {
			put(refOf(a))
		}
		resources(o.dict(p.Dict.Get("Resources")), 0)
	}
}

// attachments joins the embedded files; a name that both have gets a number.
func (m *merger) attachments(o *Draft) {
	e := m.e
	all := e.names(e.dict(e.catalog().Get("Names")).Get("EmbeddedFiles"))
	taken := names{}
	for _, x := range all {
		taken.free(x.name)
	}
	for _, x := range o.names(o.dict(o.catalog().Get("Names")).Get("EmbeddedFiles")) {
		x.name = taken.free(x.name)
		all = append(all, named{x.name, moved(x.value, m.by)})
	}
	e.setNames("EmbeddedFiles", all)
	if files := append(append(cos.Array{}, e.array(e.catalog().Get("AF"))...), m.array(o.array(o.catalog().Get("AF")))...); len(files) > 0 {
		e.change("AF", files)
	}
}

// layers joins the optional content groups.
func (m *merger) layers() {
	e := m.e
	theirs := e.dict(m.root.Get("OCProperties"))
	if theirs == nil {
		return
	}
	ours := e.dict(e.catalog().Get("OCProperties"))
	if ours == nil {
		e.change("OCProperties", m.root.Get("OCProperties"))
		return
	}
	joined := func(a, b cos.Dict, keys ...cos.Name) cos.Dict {
		for _, key := range keys {
			if all := append(append(cos.Array{}, e.array(a.Get(key))...), e.array(b.Get(key))...); len(all) > 0 {
				a = with(a, key, all)
			}
		}
		return a
	}
	a, b := e.dict(ours.Get("D")), e.dict(theirs.Get("D"))
	if e.hides(a) != e.hides(b) {
		b = e.listed(b, e.array(theirs.Get("OCGs")))
	}
	d := joined(a, b, "ON", "OFF", "Order", "RBGroups", "Locked", "AS")
	e.change("OCProperties", with(joined(ours, theirs, "OCGs"), "D", d))
}

// hides reports whether layers that a configuration does not list are off (8.11.4.3).
func (e *Draft) hides(config cos.Dict) bool { return e.name(config.Get("BaseState")) == "OFF" }

// listed returns a configuration that lists each of its layers as on or off.
func (e *Draft) listed(config cos.Dict, layers cos.Array) cos.Dict {
	state := map[cos.Ref]bool{} // whether it is off
	for _, r := range e.array(config.Get("ON")) {
		state[refOf(r)] = false
	}
	for _, r := range e.array(config.Get("OFF")) {
		state[refOf(r)] = true
	}
	on, off := cos.Array{}, cos.Array{}
	for _, l := range layers {
		hidden, said := state[refOf(l)]
		if hidden || !said && e.hides(config) {
			off = append(off, l)
		} else {
			on = append(on, l)
		}
	}
	return with(with(config, "ON", on), "OFF", off)
}

// Outlines are the bookmarks of merged drafts, for Nest.
type Outlines [][]item

// Add adds those of the n-th draft, from 0.
func (o *Outlines) Add(d *Draft, n int) { *o = append(*o, d.bookmarks(n)) }
