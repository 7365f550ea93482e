package edit

import (
	"slices"
	"strings"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/standard"
)

// The namespaces of structure types that need no mapping (14.8.6).
const (
	namespace1      = "http://iso.org/pdf/ssn" // also that of elements without a namespace
	namespace2      = "http://iso.org/pdf2/ssn"
	namespaceMathML = "http://www.w3.org/1998/Math/MathML"
)

// The standard structure types of both namespaces (14.8.4), and those of one only.
var (
	inBoth = []cos.Name{
		"Annot", "Caption", "Div", "Document", "Figure", "Form", "Formula", "H", "L", "LBody", "LI", "Lbl", "Link", "P", "Part", "RB", "RP", "RT", "Ruby",
		"Sect", "Span", "TBody", "TD", "TFoot", "TH", "THead", "TR", "Table", "WP", "WT", "Warichu",
	}
	inFirst = []cos.Name{
		"Art", "BibEntry", "BlockQuote", "Code", "H1", "H2", "H3", "H4", "H5", "H6", "Index", "NonStruct", "Note", "Private", "Quote", "Reference", "TOC", "TOCI",
	}
	inSecond = []cos.Name{"Artifact", "Aside", "DocumentFragment", "Em", "FENote", "Strong", "Sub", "Title"}
)

func isStandardType(namespace string, kind cos.Name) bool {
	switch namespace {
	case namespace1:
		return slices.Contains(inBoth, kind) || slices.Contains(inFirst, kind)
	case namespace2:
		level, isHeading := strings.CutPrefix(string(kind), "H")
		numbered := isHeading && level != "" && level[0] != '0' && strings.Trim(level, "0123456789") == ""
		return numbered || slices.Contains(inBoth, kind) || slices.Contains(inSecond, kind)
	}
	return namespace == namespaceMathML
}

// roles maps the types of structure elements to standard ones.
type roles struct {
	e    *Draft
	root cos.Dict // the RoleMap of the structure tree
}

// of returns the standard type of an element, by the role maps of the tree and of its namespace
// (14.7.3, 14.7.4.2), and what is wrong with them.
func (m roles) of(d cos.Dict) (kind cos.Name, wrong standard.RoleFault) {
	t, wrong := m.standard(d)
	return t.kind, wrong
}

// typ is a structure type of a namespace.
type typ struct {
	namespace string
	kind      cos.Name
}

// standard is of with the namespace of the type.
func (m roles) standard(d cos.Dict) (typ, standard.RoleFault) {
	kind := m.e.name(d.Get("S"))
	space := m.e.dict(d.Get("NS"))
	var before []typ
	for {
		now := typ{namespace1, kind}
		if uri := m.e.text(space.Get("NS")); uri != "" {
			now.namespace = uri
		}
		to, next := m.e.name(m.root.Get(kind)), cos.Dict(nil)
		if space != nil {
			switch v := m.e.resolve(m.e.dict(space.Get("RoleMapNS")).Get(kind)).(type) {
			case cos.Name:
				to = v
			case cos.Array:
				if to = ""; len(v) == 2 {
					to, next = m.e.name(v[0]), m.e.dict(v[1])
				}
			default:
				to = ""
			}
		}
		switch {
		case isStandardType(now.namespace, kind):
			if to != "" && to != kind {
				return now, standard.RoleOfStandardType
			}
			if to == kind {
				return now, standard.RoleOfItself
			}
			return now, standard.RoleFound
		case to == "":
			return now, standard.RoleMissing
		case slices.Contains(before, now), len(before) == mostDepth:
			return now, standard.RoleCircular
		}
		before = append(before, now)
		kind, space = to, next
	}
}

// attribute returns the value of a key in the attributes of an owner that an element has, or that
// its classes have (14.7.6).
func (c *checker) attribute(d, classes cos.Dict, owner, key cos.Name) cos.Object {
	look := func(o cos.Object) cos.Object {
		list := c.e.array(o)
		if list == nil {
			list = cos.Array{o}
		}
		for _, a := range list {
			if d := c.e.dict(a); c.e.name(d.Get("O")) == owner && d.Get(key) != nil {
				return c.e.resolve(d.Get(key))
			}
		}
		return nil
	}
	if v := look(d.Get("A")); v != nil {
		return v
	}
	class := c.e.resolve(d.Get("C"))
	list, ok := class.(cos.Array)
	if !ok {
		list = cos.Array{class}
	}
	for _, n := range list {
		if name := c.e.name(n); name != "" {
			if v := look(classes.Get(name)); v != nil {
				return v
			}
		}
	}
	return nil
}

// citations shows the notes that do not refer to what refers to them, or that something does not
// refer to which they refer to.
func (c *checker) citations(notes []cos.Ref, refs map[cos.Ref][]cos.Ref) {
	isNote := make(map[cos.Ref]bool, len(notes))
	for _, note := range notes {
		isNote[note] = true
		for _, to := range refs[note] {
			if !slices.Contains(refs[to], note) {
				c.j.Citation(note)
			}
		}
	}
	for from, list := range refs {
		for _, to := range list {
			if isNote[to] && !slices.Contains(refs[to], from) {
				c.j.Citation(to)
			}
		}
	}
}

// structured tells which destinations are those of structure elements (ISO 32000-2, 12.3.2.3). What
// many lead to is looked at once.
type structured struct {
	named map[string]cos.Object
	names map[string]bool  // what was asked before,
	dests map[cos.Ref]bool // of destinations
	elems map[cos.Ref]bool // and of what they begin with
}

// is reports whether a destination is one: an array that begins with an element, or the name of
// one, or of a dictionary with the key SD.
func (s *structured) is(e *Draft, o cos.Object) (is bool) {
	s.prepare(e)
	r := refOf(o)
	if known, ok := s.dests[r]; ok {
		return known
	}
	if !r.IsZero() {
		defer func() { s.dests[r] = is }()
	}
	switch v := e.resolve(o).(type) {
	case cos.Name:
		return s.name(e, string(v))
	case cos.Dict, cos.Array:
		return s.explicit(e, v)
	default:
		b, ok := cos.Bytes(v)
		return ok && s.name(e, string(b))
	}
}

// prepare reads the names of destinations, once.
func (s *structured) prepare(e *Draft) {
	if s.named == nil {
		s.named = e.destinations()
		s.names, s.dests, s.elems = map[string]bool{}, map[cos.Ref]bool{}, map[cos.Ref]bool{}
	}
}

// name is is for the name of a destination.
func (s *structured) name(e *Draft, n string) bool {
	is, known := s.names[n]
	if !known {
		is = s.explicit(e, e.resolve(s.named[n]))
		s.names[n] = is
	}
	return is
}

// explicit is is for a destination that is no name.
func (s *structured) explicit(e *Draft, o cos.Object) bool {
	switch v := o.(type) {
	case cos.Dict:
		return v.Get("SD") != nil
	case cos.Array:
		if len(v) == 0 {
			return false
		}
		r := refOf(v[0])
		is, known := s.elems[r]
		if !known {
			is = e.dict(v[0]).Get("S") != nil
			if !r.IsZero() {
				s.elems[r] = is
			}
		}
		return is
	}
	return false
}

// goTo returns an action, with SD where what it names is a structure destination.
func (c *checker) goTo(a cos.Dict) cos.Dict {
	if a.Get("SD") != nil || c.e.name(a.Get("S")) != "GoTo" {
		return a
	}
	to := c.e.resolve(a.Get("D"))
	if _, array := to.(cos.Array); array || to == nil || !c.structured.is(c.e, to) {
		return a
	}
	return with(a, "SD", to)
}

// rooted shows what the root of the structure tree holds.
func (c *checker) rooted(root cos.Dict, roles roles) {
	at := refOf(c.e.catalog().Get("StructTreeRoot"))
	var kinds []cos.Name
	namespace := ""
	for _, o := range c.e.kids(root) {
		d, _ := c.e.resolve(o).(cos.Dict)
		if what := c.e.name(d.Get("Type")); d != nil && (what == "" || what == "StructElem") {
			t, _ := roles.standard(d)
			kinds, namespace = append(kinds, t.kind), t.namespace
		}
		if len(kinds) > 1 {
			break
		}
	}
	c.j.Root(at, kinds, namespace == namespace2)
}

// refers reports whether an element, or one within it, has Ref; known is what was asked before.
func (c *checker) refers(o cos.Object, depth int, known map[cos.Ref]bool) bool {
	r := refOf(o)
	if has, asked := known[r]; asked {
		return has
	}
	d, _ := c.e.resolve(o).(cos.Dict)
	if d.Get("S") == nil || depth > mostDepth {
		return false
	}
	if !r.IsZero() {
		known[r] = false // until it is known, which ends circles
	}
	has := d.Get("Ref") != nil || slices.ContainsFunc(c.e.kids(d), func(kid cos.Object) bool { return c.refers(kid, depth+1, known) })
	if !r.IsZero() {
		known[r] = has
	}
	return has
}

// rich shows the text of a markup annotation.
func (c *checker) rich(r cos.Ref, d cos.Dict) {
	switch c.e.name(d.Get("Subtype")) {
	case "Text", "FreeText", "Line", "Square", "Circle", "Polygon", "PolyLine", "Highlight", "Underline", "Squiggly", "StrikeOut", "Caret",
		"Stamp", "Ink", "FileAttachment", "Redact", "Projection":
	default:
		return
	}
	rc := d.Get("RC")
	if rc == nil || d.Get("Contents") == nil {
		return
	}
	text := []byte(c.e.text(rc))
	if _, ok := c.e.resolve(rc).(*stream); ok {
		text = c.e.data(rc)
	}
	c.left -= len(text) / bytesOfOperator
	c.j.Rich(r, text, c.e.text(d.Get("Contents")))
}
