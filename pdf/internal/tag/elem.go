package tag

import (
	"slices"
	"strconv"
	"strings"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/doc"
)

// Scope is what the cells are that a header cell belongs to.
type Scope uint8

// The scopes.
const (
	ScopeNone Scope = iota
	ScopeRow
	ScopeColumn
)

// TextLook is what the look of a Span means, one bit each.
type TextLook uint8

// The looks that mean something (ISO 32000-2, 14.8.5.4.5).
const (
	Underlined TextLook = 1 << iota
	Struck
)

// spanAttributes returns what the look of a Span asks for. A text has one decoration: one that is
// both struck and underlined is struck.
func (e *Elem) spanAttributes() string {
	if e.Look == 0 && e.Shift == 0 {
		return ""
	}
	b := []byte("/O/Layout")
	switch {
	case e.Look&Struck != 0:
		b = append(b, "/TextDecorationType/LineThrough"...)
	case e.Look&Underlined != 0:
		b = append(b, "/TextDecorationType/Underline"...)
	}
	if e.Shift != 0 { // TextPosition says less, and is not in PDF 1.7
		b = cos.AppendFixed(append(b, "/BaselineShift "...), int64(e.Shift), 3)
	}
	return string(b)
}

// Instead tells what a figure has in its place that says nothing.
type Instead uint8

// What there may be.
const (
	NothingInstead Instead = iota
	EmptyAlt               // an Alt without text
	EmptyText              // an ActualText without text
)

// Elem is an element of the structure tree. Layout makes it with what it means;
// Tree.Add gives it its object and its place among its parent's kids, and
// Tree.Finish writes it.
type Elem struct {
	// A long table has many elements: fields of a byte stand together.
	Type    Type
	Look    TextLook   // of Span
	Marker  doc.Marker // of L
	Scope   Scope      // of TH
	Printed bool       // of Form that is read: it has the role of a field that became content (14.8.5.6)
	Instead Instead    // of Figure that is read: what stands beside an Alt that is empty
	written bool

	Level            int   // of H
	Parent           *Elem // nil: the document
	Src              *doc.Source
	Lang             string     // BCP 47; empty: as the parent
	Alt              string     // of Figure and Link
	Shift            doc.Length // of the baseline, of Span: above 0 it is raised
	Colspan, Rowspan int        // of TH and TD; 0: 1
	Names            *Names     // few have them
	// Counterpart is the FENote of a citation, or the citation of an FENote: each refers to the
	// other (ISO 14289-2, 8.2.5.14). The FENote is added before the citation is written, and
	// written after that was added.
	Counterpart *Elem

	ref    cos.Ref
	page   cos.Ref // of the first content: what kids without a page refer to
	kids   []kid
	folded *folded // the kids before these; nil: there are none
	attrs  []cos.Ref
	refers []cos.Ref

	// Most elements have one kid and at most one attribute object.
	oneKid  [1]kid
	oneAttr [1]cos.Ref
}

// kid is a child: an element, marked content of a page, or an annotation.
type kid struct {
	elem *Elem   // until it is written
	ref  cos.Ref // element or annotation
	page cos.Ref
	mcid int32 // marked content when page is set and ref is not
}

// folded are elements that are written, the first kids of one that is not. An element that has kids
// on all pages, as the Document, has two bytes of most. Behind a kid that is not written, as a
// table of contents is not until the end, nothing is folded.
type folded struct {
	objects

	n     int64 // runs
	count int
}

// leastFolded is how many kids an element has before some are folded.
const leastFolded = few * few

func (f *folded) len() int {
	if f == nil {
		return 0
	}
	return f.count
}

// fold folds the first kids of e. It reports whether that gives room for as many as there are left.
func (e *Elem) fold() bool {
	if len(e.kids) < leastFolded {
		return false
	}
	n := slices.IndexFunc(e.kids, func(k kid) bool { return k.elem != nil || !k.page.IsZero() })
	if n < 0 {
		n = len(e.kids)
	}
	if n < len(e.kids)/2 {
		return false
	}
	if e.folded == nil {
		e.folded = &folded{}
	}
	f := e.folded
	for i := range e.kids[:n] {
		if !f.follow(e.kids[i].ref) {
			f.begin(e.kids[i].ref)
			f.n++
		}
	}
	f.count += n
	e.kids = slices.Delete(e.kids, 0, n)
	return true
}

// Ref returns the element's object; zero before Tree.Add.
func (e *Elem) Ref() cos.Ref { return e.ref }

// Holds tells what the element has beneath it, until it is written: elements, marked
// content and annotations.
func (e *Elem) Holds() (elems, content, annotations int) {
	elems = e.folded.len()
	for i := range e.kids {
		switch k := &e.kids[i]; {
		case k.page.IsZero():
			elems++
		case k.ref.IsZero():
			content++
		default:
			annotations++
		}
	}
	return elems, content, annotations
}

// ReadElem returns the element of a file that is read, by the name of its structure type; ok is
// false for a type that is not made here. It is for [Elem.Holds] and what judges it: no Tree takes
// it.
func ReadElem(ref cos.Ref, name cos.Name) (e *Elem, ok bool) {
	e = &Elem{ref: ref, written: true}
	if n, found := strings.CutPrefix(string(name), "H"); found {
		if level, err := strconv.Atoi(n); err == nil && level > 0 || n == "" {
			e.Type, e.Level = H, level
			return e, true
		}
	}
	for t := range NumTypes {
		if t != H && types[t].name == string(name) {
			e.Type = t
			return e, true
		}
	}
	return nil, false
}

// AddElem makes an element that is read a kid of e.
func (e *Elem) AddElem(of cos.Ref) { e.kids = append(e.kids, kid{ref: of}) }

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

// Refer makes e refer to an element (14.7.2, Ref). PDF 1.7 does not have that.
func (e *Elem) Refer(to cos.Ref) { e.refers = append(e.refers, to) }

// attributes returns what the type of e asks for (14.8.5), in PDF syntax.
func (e *Elem) attributes() string {
	switch e.Type {
	case L:
		// ISO 14289-2, 8.2.5.25: a list with labels says how it is numbered.
		return "/O/List/ListNumbering/" + listNumberings[e.Marker]
	case TH, TD:
		return e.cellAttributes()
	case Span:
		return e.spanAttributes()
	case FENote:
		if e.Names != nil { // a Note of PDF 1.7
			return ""
		}
		return "/O/FENote/NoteType/Footnote"
	default:
		return ""
	}
}

var listNumberings = [...]string{
	doc.MarkerDisc: "Disc", doc.MarkerDecimal: "Decimal", doc.MarkerAlpha: "LowerAlpha", doc.MarkerUpperAlpha: "UpperAlpha",
	doc.MarkerRoman: "LowerRoman", doc.MarkerUpperRoman: "UpperRoman", doc.MarkerLegal: "Decimal", doc.MarkerText: "Unordered",
}

func (e *Elem) cellAttributes() string {
	const table = "/O/Table"
	body := ""
	switch e.Scope {
	case ScopeRow:
		body = table + "/Scope/Row"
	case ScopeColumn:
		body = table + "/Scope/Column"
	}
	if body == "" && (e.Colspan > 1 || e.Rowspan > 1) {
		body = table
	}
	if e.Colspan > 1 {
		body += "/ColSpan " + strconv.Itoa(e.Colspan)
	}
	if e.Rowspan > 1 {
		body += "/RowSpan " + strconv.Itoa(e.Rowspan)
	}
	return body
}

// head is what stands before the kids of an element, and what it depends on. It is that of most
// elements after it.
type head struct {
	typ          Type
	parent, page cos.Ref // no parent: it is of one element alone
	body         []byte
}

// bare reports whether an element is told apart by its type, its place and its content alone.
func (e *Elem) bare() bool {
	return e.Lang == "" && e.Alt == "" && e.Names == nil && len(e.attrs) == 0 && len(e.refers) == 0 && e.Counterpart == nil && e.Type != H
}

// fits reports whether h is the head of e.
func (h *head) fits(e *Elem) bool {
	return h.typ == e.Type && h.parent == e.Parent.ref && h.page == e.page && e.bare()
}

// of makes h the head of e in PDF syntax. PDF 1.7 has no namespaces, and there ns is zero; a
// heading beneath the lowest that it has is one of that.
func (h *head) of(e *Elem, ns cos.Ref) {
	b := append(h.body[:0], "<</S"...)
	if ns.IsZero() {
		b = (&Elem{Type: e.Type, Level: min(e.Level, MostLevels17)}).AppendName(b)
	} else {
		b = append(e.AppendName(b), "/NS "...)
		b = cos.AppendRef(b, ns)
	}
	b = append(b, "/P "...)
	b = cos.AppendRef(b, e.Parent.ref)
	if !e.page.IsZero() {
		b = append(b, "/Pg "...)
		b = cos.AppendRef(b, e.page)
	}
	if h.body = b; e.bare() {
		h.typ, h.parent, h.page = e.Type, e.Parent.ref, e.page
		return
	}
	h.parent = cos.Ref{}
	if e.Lang != "" {
		b = append(b, "/Lang"...)
		b = cos.AppendText(b, e.Lang)
	}
	if e.Names != nil && e.Names.ID != "" {
		b = cos.AppendLiteral(append(b, "/ID"...), e.Names.ID)
	}
	if e.Alt != "" {
		b = append(b, "/Alt"...)
		b = cos.AppendText(b, e.Alt)
	}
	b = e.appendAttributes(b)
	if len(e.refers) > 0 && !ns.IsZero() {
		b = append(b, "/Ref["...)
		for i, r := range e.refers {
			if i > 0 {
				b = append(b, ' ')
			}
			b = cos.AppendRef(b, r)
		}
		b = append(b, ']')
	}
	h.body = b
}

// appendTail appends what stands behind the head of e.
func (e *Elem) appendTail(b []byte) []byte {
	switch {
	case e.folded != nil:
		b = e.appendKids(append(b, "/K"...))
	case len(e.kids) == 0:
	case len(e.kids) == 1 && e.kids[0].page == e.page && e.kids[0].ref.IsZero() && !e.page.IsZero(): // as most
		b = cos.AppendInt(append(b, "/K "...), int64(e.kids[0].mcid))
	default:
		b = e.appendKids(append(b, "/K"...))
	}
	return append(b, ">>"...)
}

// appendAttributes appends the attributes of e. Cells of few rows have the same headers: they stand
// in the element itself, not in an object of their own.
func (e *Elem) appendAttributes(b []byte) []byte {
	var headers []string
	if e.Names != nil {
		headers = e.Names.Headers
	}
	n := len(e.attrs)
	if len(headers) > 0 {
		n++
	}
	switch n {
	case 0:
		return b
	case 1:
		b = append(b, "/A"...)
	default:
		b = append(b, "/A["...)
	}
	for i, r := range e.attrs {
		if i > 0 || n == 1 {
			b = append(b, ' ')
		}
		b = cos.AppendRef(b, r)
	}
	if len(headers) > 0 {
		b = append(b, "<</O/Table/Headers["...)
		for _, id := range headers {
			b = cos.AppendLiteral(b, id)
		}
		b = append(b, "]>>"...)
	}
	if n > 1 {
		b = append(b, ']')
	}
	return b
}

func (e *Elem) appendKids(b []byte) []byte {
	one := e.folded == nil && len(e.kids) == 1
	if one {
		b = append(b, ' ')
	} else {
		b = append(b, '[')
	}
	if f := e.folded; f != nil {
		const most = len("1234567 0 R ") // of a reference in most files
		f.end()
		read := f.reader()
		b, _ = read.append(slices.Grow(b, most*(f.count+len(e.kids))), f.n)
		if len(e.kids) > 0 {
			b = append(b, ' ')
		}
	}
	for i := 0; i < len(e.kids); i++ {
		if i > 0 {
			b = append(b, ' ')
		}
		k := &e.kids[i]
		switch {
		case k.page.IsZero():
			first, n := k.ref, 1
			for ; i+1 < len(e.kids) && e.kids[i+1].page.IsZero() && e.kids[i+1].ref == first.Plus(n); n++ {
				i++
			}
			b = cos.AppendRefs(b, first, n)
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
