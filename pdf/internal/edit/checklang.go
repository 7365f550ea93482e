package edit

import (
	"slices"
	"strings"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/internal/content"
	"example.com/quire/pdf/standard"
)

// within tells which elements of the structure tree have a text under a key, or stand in one that
// has, and so what holds for their content.
type within struct {
	e       *Draft
	key     cos.Name
	parents map[int64]cos.Object // the parent tree
	elems   map[cos.Ref]bool     // what was asked before
}

// parentTree returns the elements of marked content and of annotations (14.7.5.4).
func (e *Draft) parentTree() map[int64]cos.Object {
	parents := map[int64]cos.Object{}
	for _, x := range e.numbers(e.dict(e.catalog().Get("StructTreeRoot")).Get("ParentTree")) {
		parents[x.key] = x.value
	}
	return parents
}

func newWithin(e *Draft, key cos.Name, parents map[int64]cos.Object) *within {
	return &within{e, key, parents, map[cos.Ref]bool{}}
}

// content returns the elements of the marked content of a page or a form, by the number of each.
func (w *within) content(d cos.Dict) cos.Array {
	return w.e.array(w.parents[w.e.integer(d.Get("StructParents"), -1)])
}

// has reports whether marked content of a number belongs to an element.
func (w *within) has(elems cos.Array, id int64) bool {
	if id < 0 || id >= int64(len(elems)) {
		return false
	}
	r := refOf(elems[id])
	is, known := w.elems[r]
	if !known {
		_, is = w.e.resolve(elems[id]).(cos.Dict)
		if !r.IsZero() {
			w.elems[r] = is
		}
	}
	return is
}

// elem reports whether an element is one.
func (w *within) elem(o cos.Object) bool {
	return w.e.inOne(w.elems, o, func(d cos.Dict) bool {
		// A text may be empty where it stands for another one, a language may not.
		return w.e.isText(d.Get(w.key)) && (w.key != "Lang" || w.e.text(d.Get(w.key)) != "")
	})
}

// isText reports whether a value is a string.
func (e *Draft) isText(o cos.Object) bool {
	_, is := cos.Bytes(e.resolve(o))
	return is
}

// inOne reports whether an element is one of some or stands in one. Each is looked at once: known
// has what was found before.
func (e *Draft) inOne(known map[cos.Ref]bool, o cos.Object, is func(cos.Dict) bool) (in bool) {
	var asked []cos.Ref
	for range mostDepth {
		r := refOf(o)
		if found, ok := known[r]; ok || r.IsZero() {
			in = found
			break
		}
		asked = append(asked, r)
		known[r] = false // until it is known, which ends circles
		d := e.dict(r)
		if in = d != nil && is(d); in {
			break
		}
		o = d.Get("P")
	}
	for _, r := range asked {
		known[r] = in
	}
	return in
}

// mark is an open marked-content sequence.
type mark struct {
	shown  bool // the judge knows it
	spoken bool // what it holds has a language
	told   bool // it has another text, or is no real content
}

// told reports whether content within open sequences has another text, or is no real content.
func told(marks []mark) bool { return len(marks) > 0 && marks[len(marks)-1].told }

// open returns the mark of a sequence that begins in content whose elements are kids.
func (c *checker) open(in surface, marks []mark, args []cos.Object) mark {
	if len(args) == 0 {
		return mark{shown: !c.apart, told: told(marks)}
	}
	m := mark{spoken: len(marks) > 0 && marks[len(marks)-1].spoken}
	var props cos.Dict
	if len(args) > 1 {
		props = c.e.dict(args[1])
		if n, ok := args[1].(cos.Name); ok {
			props = c.e.dict(c.e.dict(in.resources.Get("Properties")).Get(n))
		}
	}
	id, tagged := c.e.resolve(props.Get("MCID")).(cos.Int)
	artifact := args[0] == cos.Object(cos.Name("Artifact"))
	m.told = told(marks) || artifact || c.e.text(props.Get("Alt")) != "" || props.Get("ActualText") != nil
	if _, said := cos.Bytes(c.e.resolve(props.Get("Lang"))); said {
		c.j.Language(in.page, c.e.text(props.Get("Lang")), nil)
	}
	if !artifact {
		c.j.Replaced(in.page, c.e.text(props.Get("ActualText")), c.e.text(props.Get("Alt")))
	}
	m.shown = !c.apart && (tagged && c.tags.has(in.elems, int64(id)) || artifact)
	if c.spoken == nil || m.spoken {
		return m
	}
	m.spoken = c.e.text(props.Get("Lang")) != "" || tagged && id >= 0 && int64(id) < int64(len(in.elems)) && c.spoken.elem(in.elems[id])
	if !m.spoken && args[0] == cos.Object(cos.Name("Span")) && saysMore(props) {
		c.j.Unspoken(in.page, "a replacement text of content")
	}
	return m
}

// saysMore reports whether an element or a sequence has a text beside its content.
func saysMore(d cos.Dict) bool {
	return d.Get("Alt") != nil || d.Get("ActualText") != nil || d.Get("E") != nil
}

// private shows text that is made of characters of a private use area, with what stands in their
// place.
func (c *checker) private(f *shown, ev *content.Event, page cos.Dict) {
	if !slices.ContainsFunc(ev.Glyphs, func(g content.Glyph) bool { return strings.ContainsFunc(g.Text, standard.IsPrivate) }) {
		return
	}
	if c.actual == nil {
		parents := c.e.parentTree()
		c.actual, c.alt = newWithin(c.e, "ActualText", parents), newWithin(c.e, "Alt", parents)
	}
	var elems cos.Array
	var said standard.Replacement
	for _, m := range ev.Marks {
		said.Artifact = said.Artifact || m.Tag == "Artifact"
		said.Actual = said.Actual || m.Props.Get("ActualText") != nil
		said.Alt = said.Alt || m.Props.Get("Alt") != nil
		if m.ID < 0 {
			continue
		}
		if elems == nil {
			elems = c.actual.content(page)
		}
		if m.ID >= int64(len(elems)) {
			return // it is that of a form, whose elements are not known here
		}
		said.Actual, said.Alt = said.Actual || c.actual.elem(elems[m.ID]), said.Alt || c.alt.elem(elems[m.ID])
	}
	for _, g := range ev.Glyphs {
		if strings.ContainsFunc(g.Text, standard.IsPrivate) {
			c.j.Private(refOf(f.font.Object), f.font.Name, g.Code, said)
		}
	}
}
