package edit

import (
	"slices"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/internal/tag"
	"example.com/quire/pdf/standard"
)

// elements shows the elements of the structure tree, each when it is complete. Of those that are
// not, kids are the elements within them, one behind the other: what an element holds is behind
// those that its parent held before it.
type elements struct {
	*checker
	roles   roles
	classes cos.Dict
	tables  tableGrid
	seen    map[cos.Ref]cos.Name // kids that were come by, elements with their types
	n       int
	kids    []standard.Kid
	ids     map[string]bool       // of notes
	refs    map[cos.Ref][]cos.Ref // what elements refer to
	notes   []cos.Ref
	refers  map[cos.Ref]bool // which elements have Ref, of those that were asked
}

// standing is what an element stands in.
type standing struct {
	kind      cos.Name // the type of the element, without those that are seen through
	spoken    bool     // it has a language
	formula   bool     // it is within a Formula
	numbering cos.Name // ListNumbering, which lists inherit
}

// mathML stands for all types of its namespace.
const mathML = "MathML"

func (c *checker) structure() {
	root := c.e.dict(c.e.catalog().Get("StructTreeRoot"))
	s := &elements{
		checker: c, roles: roles{c.e, c.e.dict(root.Get("RoleMap"))}, classes: c.e.dict(root.Get("ClassMap")),
		seen: map[cos.Ref]cos.Name{}, ids: map[string]bool{}, refs: map[cos.Ref][]cos.Ref{}, refers: map[cos.Ref]bool{},
	}
	s.tables = tableGrid{c, s.roles, s.classes, map[cos.Ref]bool{}, mostEntries}
	if root != nil {
		c.rooted(root, s.roles)
	}
	for _, kid := range c.e.kids(root) {
		at := refOf(kid)
		if _, seen := s.seen[at]; !seen {
			if !at.IsZero() {
				s.seen[at] = ""
			}
			s.walk(kid, standing{kind: "StructTreeRoot", spoken: c.spoken == nil}, 0)
		}
	}
	c.citations(s.notes, s.refs)
}

// kindOf returns the standard type of an element as those around it see it; empty: it has none.
func (s *elements) kindOf(d cos.Dict) cos.Name {
	t, wrong := s.roles.standard(d)
	switch {
	case wrong == standard.RoleMissing || wrong == standard.RoleCircular:
		return ""
	case t.namespace == namespaceMathML:
		return mathML
	}
	return t.kind
}

// walk shows what an element holds, and the element; content says that it has content, or another
// one has that is seen through.
func (s *elements) walk(o cos.Object, in standing, depth int) (content bool) {
	r := refOf(o)
	d, _ := s.e.resolve(o).(cos.Dict)
	if s.n++; d == nil || depth > mostDepth || s.n > mostEntries {
		return false
	}
	kind, wrong := s.roles.of(d)
	s.j.Role(r, s.e.name(d.Get("S")), wrong)
	if _, told := cos.Bytes(s.e.resolve(d.Get("Lang"))); told {
		lang := s.e.text(d.Get("Lang"))
		s.j.Language(r, lang, nil)
		in.spoken = in.spoken || lang != ""
	}
	if !in.spoken && saysMore(d) {
		s.j.Unspoken(r, "a text in the place of an element")
	}
	s.j.Replaced(r, s.e.text(d.Get("ActualText")), s.e.text(d.Get("Alt")))
	e, known := tag.ReadElem(r, kind)
	if !known {
		e = &tag.Elem{} // what is within it is judged by itself
	}
	if known && e.Type == tag.H {
		s.j.Heading(r, e.Level)
	}
	if s.e.dict(d.Get("P")) == nil {
		s.j.Orphan(r)
	}
	if n := s.e.name(s.attribute(d, s.classes, "List", "ListNumbering")); n != "" {
		in.numbering = n
	}
	nested := standard.Nested{Kind: s.kindOf(d), In: in.kind, Formula: in.formula, Numbering: in.numbering}
	in.formula = in.formula || nested.Kind == "Formula" || nested.Kind == mathML
	if through := seenThrough(nested.Kind); !through {
		in.kind = nested.Kind
	}
	from := len(s.kids)
	for _, kid := range s.e.kids(d) {
		nested.Content = s.kid(kid, e, in, depth) || nested.Content
	}
	nested.Kids = s.kids[from:]
	s.left -= len(nested.Kids)
	s.j.Nested(r, nested)
	if !seenThrough(nested.Kind) {
		labelled := slices.ContainsFunc(nested.Kids, func(k standard.Kid) bool { return k.Kind == "Lbl" })
		s.kids = append(s.kids[:from], standard.Kid{Kind: nested.Kind, Labelled: labelled})
		content = false
	} else {
		content = nested.Content
	}
	for _, to := range s.e.array(d.Get("Ref")) {
		s.refs[r] = append(s.refs[r], refOf(to))
	}
	s.special(o, r, d, kind)
	if known {
		s.elem(e, d)
	}
	return content
}

// kid shows one kid of an element; it reports whether that is content.
func (s *elements) kid(kid cos.Object, e *tag.Elem, in standing, depth int) (content bool) {
	// What stands in several places is judged in the first: nothing is read twice.
	at := refOf(kid)
	if kind, seen := s.seen[at]; seen {
		if kind != "" {
			s.j.Twice(at)
		}
		if kind != "" && !seenThrough(kind) {
			s.kids = append(s.kids, standard.Kid{Kind: kind})
		}
		return false
	}
	x := s.e.resolve(kid)
	k, isDict := x.(cos.Dict)
	_, isInt := x.(cos.Int)
	what := s.e.name(k.Get("Type"))
	if !at.IsZero() {
		s.seen[at] = ""
		if isDict && (what == "" || what == "StructElem") {
			s.seen[at] = s.kindOf(k)
		}
	}
	switch {
	case !isDict && !isInt:
		return false
	case isInt || what == "MCR":
		e.AddContent(cos.Ref{Num: 1}, 0)
		return true
	case what == "OBJR":
		e.AddAnnotation(cos.Ref{Num: 1}, refOf(k.Get("Obj")))
		return true
	case what != "" && what != "StructElem":
		return false // it is no element
	default:
		e.AddElem(refOf(kid))
		return s.walk(kid, in, depth+1)
	}
}

// special shows what elements of some types have.
func (s *elements) special(o cos.Object, r cos.Ref, d cos.Dict, kind cos.Name) {
	switch kind {
	case "Table":
		s.j.Table(r, s.tables.look(d))
	case "TOCI":
		s.j.Contents(r, s.checker.refers(o, 0, s.refers))
	case "Formula":
		s.j.Formula(r, s.e.text(d.Get("Alt")) != "" || s.e.isText(d.Get("ActualText")))
	case "Note":
		id := s.e.text(d.Get("ID"))
		s.j.Note(r, id, s.ids[id])
		s.ids[id] = true
	case "FENote":
		s.notes = append(s.notes, r)
		if t, isName := s.attribute(d, s.classes, "FENote", "NoteType").(cos.Name); isName {
			s.j.NoteType(r, t)
		}
	}
}

// elem shows an element of a type that is made here too.
func (s *elements) elem(e *tag.Elem, d cos.Dict) {
	e.Alt = s.e.text(d.Get("Alt"))
	if e.Alt == "" {
		e.Alt = s.e.text(d.Get("ActualText"))
	}
	switch {
	case e.Alt != "":
	case s.e.isText(d.Get("ActualText")):
		e.Instead = tag.EmptyText
	case s.e.isText(d.Get("Alt")):
		e.Instead = tag.EmptyAlt
	}
	e.Printed = e.Type == tag.Form && s.attribute(d, s.classes, "PrintField", "Role") != nil
	s.j.Elem(e)
}
