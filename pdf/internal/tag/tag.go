// Package tag writes the structure tree of a tagged PDF (ISO 32000-2, 14.7 and
// 14.8): elements with their namespaces and attributes, the links between
// content and elements, and the parent tree.
//
// An element has its object number from the start, so content and annotations
// may refer to it at once; Tree.Finish writes it with everything beneath and
// lets it go.
package tag

import (
	"strconv"

	"example.com/quire/pdf/cos"
)

// Namespace is the name space of a structure type.
type Namespace uint8

// The namespaces (14.8.6).
const (
	PDF2  Namespace = iota // of PDF 2.0
	PDF17                  // of PDF 1.7, for types that 2.0 dropped
)

var namespaceURI = [...]string{
	PDF2:  "http://iso.org/pdf2/ssn",
	PDF17: "http://iso.org/pdf/ssn",
}

// Type is a structure type.
type Type struct {
	Name cos.Name
	NS   Namespace
}

// The structure types in use (14.8.4).
var (
	Document = Type{Name: "Document"}
	Aside    = Type{Name: "Aside"}
	Div      = Type{Name: "Div"}
	P        = Type{Name: "P"}
	L        = Type{Name: "L"}
	LI       = Type{Name: "LI"}
	Lbl      = Type{Name: "Lbl"}
	LBody    = Type{Name: "LBody"}
	Table    = Type{Name: "Table"}
	Caption  = Type{Name: "Caption"}
	THead    = Type{Name: "THead"}
	TBody    = Type{Name: "TBody"}
	TFoot    = Type{Name: "TFoot"}
	TR       = Type{Name: "TR"}
	TH       = Type{Name: "TH"}
	TD       = Type{Name: "TD"}
	Figure   = Type{Name: "Figure"}
	Link     = Type{Name: "Link"}
	Span     = Type{Name: "Span"}
	Em       = Type{Name: "Em"}
	Strong   = Type{Name: "Strong"}
	Code     = Type{Name: "Code", NS: PDF17} // not a type of PDF 2.0
)

// Heading returns the type of a heading: H1, H2 and so on. PDF 2.0 has no
// highest level.
func Heading(level int) Type { return Type{Name: cos.Name("H" + strconv.Itoa(max(level, 1)))} }

// Elem is a structure element.
type Elem struct {
	typ    Type
	ref    cos.Ref
	parent cos.Ref
	page   cos.Ref // of the first content: what kids without a page refer to
	kids   []kid
	state  uint8

	Lang string // BCP 47; empty: as the parent
	Alt  string
	// Attr refers to attribute objects, as Tree.Attr returns them.
	Attr []cos.Ref

	// Most elements have one kid and at most one attribute object.
	oneKid  [1]kid
	oneAttr [1]cos.Ref
}

const (
	stateOpen uint8 = iota
	stateWritten
)

// kid is a child: an element, marked content of a page, or an annotation.
type kid struct {
	elem *Elem   // until it is written
	ref  cos.Ref // element or annotation
	page cos.Ref
	mcid int32 // marked content when page is set and ref is not
}

// Ref returns the element's object.
func (e *Elem) Ref() cos.Ref { return e.ref }

// Type returns the element's structure type.
func (e *Elem) Type() Type { return e.typ }

// AddContent makes marked content sequence mcid of a page a kid of e.
func (e *Elem) AddContent(page cos.Ref, mcid int) {
	if e.page.IsZero() {
		e.page = page
	}
	e.kids = append(e.kids, kid{page: page, mcid: int32(mcid)}) //nolint:gosec // G115: sequences of one page
}

// AddAnnotation makes an annotation of a page a kid of e (14.7.5.3).
func (e *Elem) AddAnnotation(page, annotation cos.Ref) {
	e.kids = append(e.kids, kid{page: page, ref: annotation})
}

// Tree is the structure tree of one document. It is not safe for concurrent
// use.
type Tree struct {
	w     *cos.Writer
	root  cos.Ref
	doc   *Elem
	ns    [len(namespaceURI)]cos.Ref
	attrs map[string]cos.Ref
	buf   []byte
	nums  []num  // of the parent tree, in the order of their keys
	elems []Elem // memory for new elements
	made  int    // of them at a time
}

type num struct {
	refs []cos.Ref // of a page: the elements by mcid
	ref  cos.Ref   // of an annotation
}

// NewTree begins a tree with its one Document element (14.8.4.3).
func NewTree(w *cos.Writer) *Tree {
	t := &Tree{w: w, root: w.Reserve(), attrs: map[string]cos.Ref{}}
	t.doc = &Elem{typ: Document, ref: w.Reserve(), parent: t.root}
	return t
}

// Document returns the root element.
func (t *Tree) Document() *Elem { return t.doc }

// New makes an element, the last kid of parent.
func (t *Tree) New(parent *Elem, typ Type) *Elem {
	if len(t.elems) == 0 {
		t.elems = make([]Elem, min(max(2*t.made, 16), 128))
		t.made = len(t.elems)
	}
	e := &t.elems[0]
	t.elems = t.elems[1:]
	e.typ, e.ref, e.parent = typ, t.w.Reserve(), parent.ref
	e.kids, e.Attr = e.oneKid[:0], e.oneAttr[:0]
	parent.kids = append(parent.kids, kid{elem: e, ref: e.ref})
	return e
}

// Attr returns an attribute object with the given body in PDF syntax, as in
// "/O/Table/Scope/Column"; equal ones are one object.
func (t *Tree) Attr(body string) (cos.Ref, error) {
	if ref, ok := t.attrs[body]; ok {
		return ref, nil
	}
	ref := t.w.Reserve()
	t.attrs[body] = ref
	return ref, t.w.PutRaw(ref, []byte("<<"+body+">>"))
}

// PageKey reserves a key of the parent tree for a page.
func (t *Tree) PageKey() int {
	t.nums = append(t.nums, num{})
	return len(t.nums) - 1
}

// SetContent records that content mcid of the page with the given key belongs to
// e. Every page counts its content from 0 without a gap.
func (t *Tree) SetContent(key, mcid int, e *Elem) {
	n := &t.nums[key]
	if n.refs == nil {
		n.refs = make([]cos.Ref, 0, 64)
	}
	for len(n.refs) <= mcid {
		n.refs = append(n.refs, cos.Ref{})
	}
	n.refs[mcid] = e.ref
}

// AnnotationKey returns a key of the parent tree for an annotation that belongs
// to e.
func (t *Tree) AnnotationKey(e *Elem) int {
	t.nums = append(t.nums, num{ref: e.ref})
	return len(t.nums) - 1
}

// Finish writes e and all elements beneath it. They take no more kids.
func (t *Tree) Finish(e *Elem) error {
	if e.state == stateWritten {
		return nil
	}
	e.state = stateWritten
	for i := range e.kids {
		k := &e.kids[i]
		if k.elem == nil {
			continue
		}
		if err := t.Finish(k.elem); err != nil {
			return err
		}
		k.elem = nil
	}
	if err := t.write(e); err != nil {
		return err
	}
	e.kids, e.oneKid = nil, [1]kid{}
	return nil
}

func (t *Tree) write(e *Elem) error {
	ns, err := t.namespace(e.typ.NS)
	if err != nil {
		return err
	}
	b := append(t.buf[:0], "<</Type/StructElem/S"...)
	b = cos.AppendName(b, string(e.typ.Name))
	b = append(b, "/NS "...)
	b = cos.AppendRef(b, ns)
	b = append(b, "/P "...)
	b = cos.AppendRef(b, e.parent)
	if !e.page.IsZero() {
		b = append(b, "/Pg "...)
		b = cos.AppendRef(b, e.page)
	}
	if e.Lang != "" {
		b = append(b, "/Lang"...)
		b = cos.AppendText(b, e.Lang)
	}
	if e.Alt != "" {
		b = append(b, "/Alt"...)
		b = cos.AppendText(b, e.Alt)
	}
	b = appendAttrs(b, e.Attr)
	if len(e.kids) > 0 {
		b = append(b, "/K"...)
		b = e.appendKids(b)
	}
	t.buf = append(b, ">>"...)
	return t.w.PutRaw(e.ref, t.buf)
}

func appendAttrs(b []byte, refs []cos.Ref) []byte {
	switch len(refs) {
	case 0:
		return b
	case 1:
		b = append(b, "/A "...)
		return cos.AppendRef(b, refs[0])
	}
	b = append(b, "/A["...)
	for i, r := range refs {
		if i > 0 {
			b = append(b, ' ')
		}
		b = cos.AppendRef(b, r)
	}
	return append(b, ']')
}

func (e *Elem) appendKids(b []byte) []byte {
	one := len(e.kids) == 1
	if one {
		b = append(b, ' ')
	} else {
		b = append(b, '[')
	}
	for i := range e.kids {
		if i > 0 {
			b = append(b, ' ')
		}
		k := &e.kids[i]
		switch {
		case k.page.IsZero():
			b = cos.AppendRef(b, k.ref)
		case !k.ref.IsZero():
			b = append(b, "<</Type/OBJR/Pg "...)
			b = cos.AppendRef(b, k.page)
			b = append(b, "/Obj "...)
			b = cos.AppendRef(b, k.ref)
			b = append(b, ">>"...)
		case k.page == e.page:
			b = cos.AppendInt(b, int64(k.mcid))
		default:
			b = append(b, "<</Type/MCR/Pg "...)
			b = cos.AppendRef(b, k.page)
			b = append(b, "/MCID "...)
			b = cos.AppendInt(b, int64(k.mcid))
			b = append(b, ">>"...)
		}
	}
	if !one {
		b = append(b, ']')
	}
	return b
}

// namespace returns the dictionary of a namespace (14.7.4).
func (t *Tree) namespace(ns Namespace) (cos.Ref, error) {
	if !t.ns[ns].IsZero() {
		return t.ns[ns], nil
	}
	t.ns[ns] = t.w.Reserve()
	return t.ns[ns], t.w.Put(t.ns[ns], cos.Dict{
		cos.E("Type", cos.Name("Namespace")),
		cos.E("NS", cos.Text(namespaceURI[ns])),
	})
}

// leafKeys is how many entries a leaf of the parent tree holds.
const leafKeys = 256

// Close writes what is left of the tree and returns its root for the catalog.
func (t *Tree) Close() (cos.Ref, error) {
	if err := t.Finish(t.doc); err != nil {
		return cos.Ref{}, err
	}
	parents, err := t.parentTree()
	if err != nil {
		return cos.Ref{}, err
	}
	spaces := cos.Array{}
	for _, r := range t.ns {
		if !r.IsZero() {
			spaces = append(spaces, r)
		}
	}
	root := cos.Dict{
		cos.E("Type", cos.Name("StructTreeRoot")),
		cos.E("Namespaces", spaces),
		cos.E("K", t.doc.ref),
		// Readers of PDF 1.7 know neither namespaces nor these types: to them they are
		// what comes nearest. The map does not concern elements with a namespace
		// (14.8.6.1).
		cos.E("RoleMap", cos.Dict{
			cos.E("Aside", cos.Name("Div")), cos.E("Em", cos.Name("Span")), cos.E("Strong", cos.Name("Span")),
		}),
		cos.E("ParentTree", parents),
		cos.E("ParentTreeNextKey", cos.Int(len(t.nums))),
	}
	return t.root, t.w.Put(t.root, root)
}

// parentTree writes the number tree (7.9.7) in leaves of bounded size.
func (t *Tree) parentTree() (cos.Ref, error) {
	var leaves cos.Array
	for from := 0; from < len(t.nums); from += leafKeys {
		to := min(from+leafKeys, len(t.nums))
		b := append(t.buf[:0], "<</Limits["...)
		b = cos.AppendInt(b, int64(from))
		b = append(b, ' ')
		b = cos.AppendInt(b, int64(to-1))
		b = append(b, "]/Nums["...)
		for k := from; k < to; k++ {
			b = t.appendNum(b, k, k > from)
		}
		t.buf = append(b, "]>>"...)
		ref := t.w.Reserve()
		if err := t.w.PutRaw(ref, t.buf); err != nil {
			return ref, err
		}
		leaves = append(leaves, ref)
	}
	ref := t.w.Reserve()
	if len(leaves) == 0 {
		return ref, t.w.Put(ref, cos.Dict{cos.E("Nums", cos.Array{})})
	}
	return ref, t.w.Put(ref, cos.Dict{cos.E("Kids", leaves)})
}

func (t *Tree) appendNum(b []byte, key int, space bool) []byte {
	if space {
		b = append(b, ' ')
	}
	b = cos.AppendInt(b, int64(key))
	n := &t.nums[key]
	if !n.ref.IsZero() {
		b = append(b, ' ')
		return cos.AppendRef(b, n.ref)
	}
	b = append(b, '[')
	for i, r := range n.refs {
		if i > 0 {
			b = append(b, ' ')
		}
		b = cos.AppendRef(b, r)
	}
	return append(b, ']')
}
