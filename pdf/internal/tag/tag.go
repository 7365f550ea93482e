// Package tag writes the structure tree of a tagged PDF (ISO 32000-2, 14.7 and 14.8): elements
// with their namespaces and attributes, the links between content and elements, and the parent
// tree. In a PDF 1.7 file the tree has no namespaces, and types of later versions are mapped to
// those of 1.7.
//
// Layout creates the elements: there is one tree, and one enum of structure types. An element has
// its object number as soon as it is added, so content and annotations may refer to it at once.
// Tree.Finish writes it with everything below it and releases it.
package tag

import (
	"slices"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/diag"
)

// Tree is the structure tree of one document. It is not safe for concurrent
// use.
type Tree struct {
	// Closed is told of each element when all of it is known, before it is written
	// and its kids are let go; nil: nobody is.
	Closed func(*Elem)

	// Old says that types of tables which came with PDF 1.5 are to have roles of 1.4.
	Old bool

	w        *cos.Writer
	root     Elem // only its object: the parent of the Document
	doc      Elem
	ns       [len(namespaceURI)]cos.Ref
	attrs    map[string]cos.Ref
	next     cos.Ref // of the elements that are expected
	expected int
	head     head // of the element that was written last
	buf      []byte
	// What is written goes to the writer many elements at a time.
	written []cos.RawObject
	body    []byte
	parents parents
	repeats []cos.Repeat // in buf
	notes   int
	ids     []identified
	// spare are the empty lists of elements that are written, by how many kids they have room for:
	// few, or few times as many.
	spare [2][][]kid
}

// few is how many kids the shortest list of its own has room for, and mostSpare bounds the lists
// that are used again: as many as a body of a table has rows.
const few, mostSpare = 8, 512

// mostKept bounds what else a tree hands on to the next one, in values, and keptBytes its buffers.
const mostKept, keptBytes = 1024, 64 << 10

// NewTree begins a tree with its one Document element (14.8.4.3).
func NewTree(w *cos.Writer) *Tree {
	t := &Tree{}
	t.Reset(w)
	return t
}

// Reset makes t what NewTree would return, in the memory of the tree that it was.
func (t *Tree) Reset(w *cos.Writer) {
	t.Release()
	t.w = w
	t.root.ref = w.Reserve()
	t.doc = Elem{Type: Document, ref: w.Reserve(), Parent: &t.root}
}

// Release ends a tree, whatever became of it. It keeps memory for Reset, and nothing of the
// document.
func (t *Tree) Release() {
	kept := Tree{attrs: t.attrs, spare: t.spare}
	if kept.attrs == nil || len(kept.attrs) > mostKept { // a map never becomes smaller
		kept.attrs = map[string]cos.Ref{}
	}
	clear(kept.attrs)
	t.parents.reset()
	clear(t.ids) // which are texts of the document
	kept.ids, kept.parents = emptied(t.ids, mostKept), t.parents
	kept.written, kept.repeats = emptied(t.written, mostKept), emptied(t.repeats, mostKept)
	kept.buf, kept.body = emptied(t.buf, keptBytes), emptied(t.body, keptBytes)
	kept.head.body = emptied(t.head.body, keptBytes) // of no element
	*t = kept
}

// emptied returns s without values, and nil where it has room for more than most.
func emptied[T any](s []T, most int) []T {
	if cap(s) > most {
		return nil
	}
	return s[:0]
}

// Document returns the root element.
func (t *Tree) Document() *Elem { return &t.doc }

// Expect reserves the objects of the next n elements, all of which must be added.
func (t *Tree) Expect(n int) {
	if t.expected == 0 {
		t.next, t.expected = t.w.ReserveN(n), n
	}
}

// Add makes e the last kid of its parent, which must be in the tree already, and
// gives it its object.
func (t *Tree) Add(e *Elem) error {
	if e.Parent == nil {
		e.Parent = &t.doc
	}
	if e.kids = e.oneKid[:0]; t.expected > 0 {
		e.ref = t.next
		t.next.Num++
		t.expected--
	} else {
		e.ref = t.w.Reserve()
	}
	p := e.Parent
	if e.Type == Link || e.Type == Form { // which have content and an annotation
		e.kids = t.longer(nil)
	}
	if len(p.kids) == cap(p.kids) && !p.fold() {
		p.kids = t.longer(p.kids)
	}
	p.kids = append(p.kids, kid{elem: e, ref: e.ref})
	if e.Type == FENote || e.Names != nil {
		t.identify(e)
	}
	if e.Marker == doc.MarkerText && t.w.Version() != cos.V20 {
		e.Marker = doc.MarkerDisc // 1.7 has no other word for what is not numbered (14.8.5.5)
	}
	if body := e.attributes(); body != "" {
		e.attrs = e.oneAttr[:0]
		return t.AddAttributes(e, body)
	}
	return nil
}

// longer returns a list with room for more kids behind those of one that is full and not used any
// more.
func (t *Tree) longer(kids []kid) []kid {
	class, room := 0, few
	for room <= len(kids) {
		class, room = class+1, few*room
	}
	if class >= len(t.spare) {
		return slices.Grow(kids, 1)
	}
	var list []kid
	if n := len(t.spare[class]); n > 0 {
		list = t.spare[class][n-1]
		t.spare[class] = t.spare[class][:n-1]
	} else {
		list = make([]kid, 0, room)
	}
	list = append(list, kids...)
	t.free(kids)
	return list
}

// free lets a list be used again.
func (t *Tree) free(kids []kid) {
	for class, room := 0, few; class < len(t.spare); class, room = class+1, few*room {
		if cap(kids) == room && len(t.spare[class]) < mostSpare {
			clear(kids)
			t.spare[class] = append(t.spare[class], kids[:0])
		}
	}
}

// AddAttributes gives e an attribute object with the given body in PDF syntax, as in
// "/O/Table/Scope/Column"; equal ones are one object.
func (t *Tree) AddAttributes(e *Elem, body string) error {
	ref, err := t.attr(body)
	e.attrs = append(e.attrs, ref)
	return err
}

func (t *Tree) attr(body string) (cos.Ref, error) {
	if ref, ok := t.attrs[body]; ok {
		return ref, nil
	}
	ref := t.w.Reserve()
	t.attrs[body] = ref
	t.buf = append(append(append(t.buf[:0], "<<"...), body...), ">>"...)
	return ref, t.w.PutRaw(ref, t.buf)
}

// PageKey reserves a key of the parent tree for a page.
func (t *Tree) PageKey() int { return t.parents.key() }

// SetContent records that content mcid of the page with the given key belongs to
// e. Every page counts its content from 0 without a gap.
func (t *Tree) SetContent(key, mcid int, e *Elem) { t.parents.add(key, mcid, e) }

// AnnotationKey returns a key of the parent tree for an annotation that belongs
// to e.
func (t *Tree) AnnotationKey(e *Elem) int { return t.parents.annotate(e) }

// Finish writes e and all elements beneath it. They take no more kids.
func (t *Tree) Finish(e *Elem) error {
	if e.written {
		return nil
	}
	parent := e.Parent
	if err := t.finish(e); err != nil {
		return err
	}
	for above := parent.kids; len(above) > 0; above = above[:len(above)-1] {
		if last := &above[len(above)-1]; last.elem == e {
			last.elem = nil
			break
		}
	}
	return nil
}

// finish is Finish of an element that is not written. Nothing leads from what is written to what
// was before, nor, when those who call it have seen to that, from what is above to what is written:
// elements come from blocks of memory, and one of them would keep all there were.
func (t *Tree) finish(e *Elem) error {
	e.written = true
	for i := range e.kids {
		k := &e.kids[i]
		if k.elem == nil {
			continue
		}
		if !k.elem.written {
			if err := t.finish(k.elem); err != nil {
				return err
			}
		}
		k.elem = nil
	}
	if err := t.write(e); err != nil {
		return err
	}
	if cap(e.kids) >= few {
		t.free(e.kids)
	}
	e.kids, e.oneKid, e.folded, e.Parent = nil, [1]kid{}, nil, nil
	return nil
}

func (t *Tree) write(e *Elem) error {
	if t.Closed != nil {
		t.Closed(e)
	}
	if !t.head.fits(e) {
		if e.Counterpart != nil {
			e.Refer(e.Counterpart.ref)
			e.Counterpart = nil
		}
		var ns cos.Ref
		if t.w.Version() == cos.V20 {
			var err error
			if ns, err = t.namespace(types[e.Type].ns); err != nil {
				return err
			}
		}
		t.head.of(e, ns)
	}
	if err := t.arrayOf(e.folded.len() + len(e.kids)); err != nil {
		return err
	}
	t.body = append(e.appendTail(append(t.body, t.head.body...)), '\n')
	t.written = append(t.written, cos.RawObject{Ref: e.ref, End: len(t.body)})
	if len(t.body) < mostBody {
		return nil
	}
	return t.put()
}

// mostBody is from how many bytes on what is written goes to the writer.
const mostBody = 4 << 10

// put gives the writer what is written.
func (t *Tree) put() error {
	err := t.w.PutRaws(t.written, t.body)
	t.written, t.body = t.written[:0], emptied(t.body, keptBytes)
	return err
}

// most14 is how many elements an array of PDF 1.4 has at most (PDF Reference, third edition, annex
// C).
const most14 = 8_191

// arrayOf judges an array of n elements, which the writer does not see.
func (t *Tree) arrayOf(n int) error {
	if t.w.Version() != cos.V14 {
		return nil
	}
	return diag.Check("ArrayLen", int64(n), most14, "the structure tree")
}

// namespace returns the dictionary of a namespace (14.7.4).
func (t *Tree) namespace(ns Namespace) (cos.Ref, error) {
	if !t.ns[ns].IsZero() {
		return t.ns[ns], nil
	}
	t.ns[ns] = t.w.Reserve()
	a := t.w.Arena()
	return t.ns[ns], t.w.Put(t.ns[ns], a.Dict(append(
		a.Entries(2), cos.E("Type", cos.Name("Namespace")), cos.E("NS", a.Text(namespaceURI[ns])),
	)))
}

// Close writes what is left of the tree and returns its root for the catalog.
func (t *Tree) Close() (cos.Ref, error) {
	if err := t.Finish(&t.doc); err != nil {
		return cos.Ref{}, err
	}
	if err := t.put(); err != nil {
		return cos.Ref{}, err
	}
	parents, err := t.parentTree()
	if err != nil {
		return cos.Ref{}, err
	}
	a := t.w.Arena()
	spaces := a.Items(len(t.ns))
	for _, r := range t.ns {
		if !r.IsZero() {
			spaces = append(spaces, a.Ref(r))
		}
	}
	roles := append(a.Entries(7), cos.E("Aside", cos.Name("Div")), cos.E("Em", cos.Name("Span")), cos.E("Strong", cos.Name("Span")))
	if t.Old {
		for _, kind := range [...]cos.Name{"THead", "TBody", "TFoot"} {
			roles = append(roles, cos.E(kind, cos.Name("NonStruct")))
		}
	}
	root := append(a.Entries(7), cos.E("Type", cos.Name("StructTreeRoot")))
	if t.notes > 0 {
		roles = append(roles, cos.E("FENote", cos.Name("Note")))
	}
	if len(t.ids) > 0 {
		ids, err := t.idTree()
		if err != nil {
			return cos.Ref{}, err
		}
		root = append(root, cos.E("IDTree", a.Ref(ids)))
	}
	if len(spaces) > 0 {
		root = append(root, cos.E("Namespaces", a.Array(spaces)))
	}
	root = append(
		root,
		cos.E("K", a.Ref(t.doc.ref)),
		// PDF 1.7 knows neither namespaces nor these types: they are what comes nearest. The
		// map does not concern elements with a namespace (14.8.6.1).
		cos.E("RoleMap", a.Dict(roles)),
		cos.E("ParentTree", a.Ref(parents)),
		cos.E("ParentTreeNextKey", a.Int(t.parents.keys)),
	)
	return t.root.ref, t.w.Put(t.root.ref, a.Dict(root))
}
