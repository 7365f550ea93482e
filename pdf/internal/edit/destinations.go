package edit

import (
	"slices"

	"example.com/quire/pdf/cos"
)

// destinations joins the named destinations. A name that both have keeps its meaning in the first;
// what leads to it in the other gets the destination itself.
func (m *merger) destinations(o *Draft) {
	e := m.e
	ours, theirs := e.destinations(), o.destinations()
	x := redirector{o: o, dests: theirs, clash: map[string]bool{}, seen: map[cos.Ref]bool{}}
	all := e.names(e.dict(e.catalog().Get("Names")).Get("Dests"))
	for name, to := range theirs {
		if _, both := ours[name]; both {
			x.clash[name] = true
			continue
		}
		all = append(all, named{name, moved(to, m.by)})
	}
	// Names of PDF 1.1 are looked up in another place: links by them are made direct.
	x.old = o.dict(o.catalog().Get("Dests")) != nil
	e.setNames("Dests", all)
	for i, p := range o.pages {
		if events, changed := x.events(p.Dict); changed {
			o.setPage(i, "AA", events)
		}
		annots := slices.Clone(o.array(p.Dict.Get("Annots"))) // a Document keeps its own
		for j, a := range annots {
			if d := o.dict(a); d.Get("Dest") != nil || d.Get("A") != nil || d.Get("AA") != nil {
				if d = x.link(refOf(a), d); refOf(a).IsZero() {
					annots[j] = d
				}
			}
		}
		if annots != nil {
			o.setPage(i, "Annots", annots)
		}
	}
	for _, i := range o.outline() {
		x.link(i.ref, i.dict)
	}
}

// redirector puts destinations in the place of their names where these mean something else in the
// file that a draft is merged into.
type redirector struct {
	o     *Draft
	dests map[string]cos.Object // of o, by their names
	clash map[string]bool       // names that the other file has too
	old   bool                  // o has names of PDF 1.1
	seen  map[cos.Ref]bool      // actions
}

// direct returns the explicit destination that is to be in the place of another, nil where that
// stays.
func (x *redirector) direct(to cos.Object) cos.Object {
	var name string
	switch v := x.o.resolve(to).(type) {
	case cos.Name:
		if name = string(v); x.old {
			return destination(x.o, x.dests[name])
		}
	case cos.String:
		name = string(v)
	case cos.Hex:
		name = string(v)
	default:
		return nil
	}
	if !x.clash[name] {
		return nil
	}
	return destination(x.o, x.dests[name])
}

// link redirects an annotation or a bookmark, which stands in its own object or, where r is zero,
// in another one.
func (x *redirector) link(r cos.Ref, d cos.Dict) cos.Dict {
	if to := x.direct(d.Get("Dest")); to != nil {
		d = with(d, "Dest", to)
	}
	if to, changed := x.action(d.Get("A"), 0); changed {
		d = with(d, "A", to)
	}
	if events, changed := x.events(d); changed {
		d = with(d, "AA", events)
	}
	if !r.IsZero() {
		x.o.set(r, d)
	}
	return d
}

// events redirects the actions of a page or an annotation that events start (12.6.3).
func (x *redirector) events(d cos.Dict) (all cos.Dict, changed bool) {
	all = x.o.dict(d.Get("AA"))
	for _, a := range all {
		if to, other := x.action(a.Value, 0); other {
			all, changed = with(all, a.Key, to), true
		}
	}
	return all, changed
}

// action redirects an action and those that follow it (12.6.2): one, or an array of them.
func (x *redirector) action(a cos.Object, depth int) (as cos.Object, changed bool) {
	r := refOf(a)
	if x.seen[r] || depth > mostDepth {
		return a, false
	}
	if !r.IsZero() {
		x.seen[r] = true
	}
	switch v := x.o.resolve(a).(type) {
	case cos.Array:
		list := make(cos.Array, len(v))
		for i := range v {
			to, other := x.action(v[i], depth+1)
			list[i], changed = to, changed || other
		}
		as = list
	case cos.Dict:
		if x.o.name(v.Get("S")) == "GoTo" {
			if to := x.direct(v.Get("D")); to != nil {
				v, changed = with(v, "D", to), true
			}
		}
		if to, other := x.action(v.Get("Next"), depth+1); other {
			v, changed = with(v, "Next", to), true
		}
		as = v
	}
	if changed && !r.IsZero() {
		x.o.set(r, as)
		as = r
	}
	return as, changed
}

// destination returns an explicit destination.
func destination(o *Draft, to cos.Object) cos.Object {
	switch v := o.resolve(to).(type) {
	case cos.Array:
		return v
	case cos.Dict:
		return v.Get("D")
	}
	return nil
}
