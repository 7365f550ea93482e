package edit

import (
	"slices"

	"example.com/quire/pdf/cos"
)

// item is a bookmark: an outline item (ISO 32000-2, 12.3.3).
type item struct {
	ref   cos.Ref
	dict  cos.Dict
	level int // from 0
	page  int // where it leads, from 0; -1: to no page of the file
}

// outline returns the bookmarks of a draft, in the order of reading.
func (e *Draft) outline() (out []item) {
	at := e.pageIndex()
	dests := e.destinations()
	seen := map[cos.Ref]bool{}
	var walk func(o cos.Object, level int)
	walk = func(o cos.Object, level int) {
		for level < mostDepth && len(out) < mostEntries {
			r := refOf(o)
			d := e.dict(o)
			if r.IsZero() || seen[r] || d == nil {
				return
			}
			seen[r] = true
			out = append(out, item{r, d, level, e.leadsTo(d, dests, at)})
			walk(d.Get("First"), level+1)
			o = d.Get("Next")
		}
	}
	walk(e.dict(e.catalog().Get("Outlines")).Get("First"), 0)
	return out
}

// pageIndex returns the place of each page, from 0.
func (e *Draft) pageIndex() map[cos.Ref]int {
	at := make(map[cos.Ref]int, len(e.pages))
	for i, p := range e.pages {
		if _, twice := at[cos.Ref{Num: p.Ref.Num}]; !twice {
			at[cos.Ref{Num: p.Ref.Num}] = i
		}
	}
	return at
}

// destinations returns the named destinations, those of the name tree and those of PDF 1.1.
func (e *Draft) destinations() map[string]cos.Object {
	out := map[string]cos.Object{}
	for _, x := range e.dict(e.catalog().Get("Dests")) {
		out[string(x.Key)] = x.Value
	}
	for _, x := range e.names(e.dict(e.catalog().Get("Names")).Get("Dests")) {
		out[x.name] = x.value
	}
	return out
}

// leadsTo returns the place of the page that a link, a bookmark or an action leads to, -1 for none
// of the file. Names are looked up in dests.
func (e *Draft) leadsTo(d cos.Dict, dests map[string]cos.Object, at map[cos.Ref]int) int {
	if to := d.Get("Dest"); to != nil {
		return e.target(to, dests, at)
	}
	if a := e.dict(d.Get("A")); e.name(a.Get("S")) == "GoTo" {
		return e.target(a.Get("D"), dests, at)
	}
	return -1
}

// target returns the place of the page that a destination (12.3.2) shows.
func (e *Draft) target(o cos.Object, dests map[string]cos.Object, at map[cos.Ref]int) int {
	for range 4 {
		switch v := e.resolve(o).(type) {
		case cos.Name:
			o = dests[string(v)]
		case cos.String:
			o = dests[string(v)]
		case cos.Hex:
			o = dests[string(v)]
		case cos.Dict:
			o = v.Get("D")
		case cos.Array:
			if len(v) == 0 {
				return -1
			}
			r, ok := v[0].(cos.Ref)
			if !ok {
				return -1
			}
			if i, ok := at[cos.Ref{Num: r.Num}]; ok {
				return i
			}
			return -1
		default:
			return -1
		}
	}
	return -1
}

// setOutline makes the outline of items, whose levels rise by at most one, with count the number
// of all that are shown; none takes it away.
func (e *Draft) setOutline(items []item) {
	if len(items) == 0 {
		e.change("Outlines", nil)
		return
	}
	root := e.add(cos.Dict{})
	e.set(root, append(cos.Dict{cos.E("Type", cos.Name("Outlines"))}, e.linked(items, root)...))
	e.change("Outlines", root)
}

// linked sets the links between items below parent and returns the entries of the parent.
func (e *Draft) linked(items []item, parent cos.Ref) cos.Dict {
	level := items[0].level
	var heads []int
	for i, x := range items {
		if x.level <= level {
			heads = append(heads, i)
		}
	}
	shown := len(heads)
	for n, i := range heads {
		end := len(items)
		if n+1 < len(heads) {
			end = heads[n+1]
		}
		x := items[i]
		d := x.dict
		open := e.integer(d.Get("Count"), 0) > 0
		for _, key := range [...]cos.Name{"Parent", "Prev", "Next", "First", "Last", "Count"} {
			d = with(d, key, nil)
		}
		d = with(d, "Parent", parent)
		if n > 0 {
			d = with(d, "Prev", items[heads[n-1]].ref)
		}
		if n+1 < len(heads) {
			d = with(d, "Next", items[heads[n+1]].ref)
		}
		if below := items[i+1 : end]; len(below) > 0 {
			kids := e.linked(below, x.ref)
			count, _ := kids.Get("Count").(cos.Int)
			if open {
				shown += int(count)
			} else {
				kids = with(kids, "Count", -count)
			}
			d = append(d, kids...)
		}
		e.set(x.ref, d)
	}
	return cos.Dict{cos.E("First", items[heads[0]].ref), cos.E("Last", items[heads[len(heads)-1]].ref), cos.E("Count", cos.Int(shown))}
}

// keptItems returns the items that lead to a page for which keep holds or have such items below;
// others of these lead nowhere. Levels stay so that each rises by one at most.
func (e *Draft) keptItems(items []item, keep func(page int) bool) (out []item) {
	needed := make([]bool, len(items))
	for i := range slices.Backward(items) {
		x := items[i]
		needed[i] = x.page >= 0 && keep(x.page) || x.page < 0 && len(x.dict) > 0 && e.external(x.dict)
		for j := i + 1; j < len(items) && items[j].level > x.level && !needed[i]; j++ {
			needed[i] = needed[j]
		}
	}
	for i, x := range items {
		if !needed[i] {
			continue
		}
		if x.page >= 0 && !keep(x.page) {
			x.dict = with(with(with(x.dict, "Dest", nil), "A", nil), "SE", nil)
		}
		out = append(out, x)
	}
	return out
}

// external reports whether a bookmark has an action that does not lead into the file.
func (e *Draft) external(d cos.Dict) bool {
	s := e.name(e.dict(d.Get("A")).Get("S"))
	return s != "" && s != "GoTo"
}
