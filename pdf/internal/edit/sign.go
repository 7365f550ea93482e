package edit

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/quire/internal/nearest"
	"example.com/quire/pdf/cos"
)

// Signature is one that is put into a file (ISO 32000-2, 12.8).
type Signature struct {
	Field    string     // full name; empty: a new one
	Page     int        // of a new field, from 0
	Rect     [4]float64 // of a new field, in points; zero: it is not visible
	Name     string     // who signs
	Reason   string
	Location string
	Contact  string
	Time     time.Time
	// Certify is what later changes the signature allows: 1 none, 2 filling and signing, 3 notes
	// too. 0: it says nothing of them.
	Certify int
	Room    int       // bytes of the CMS data
	Look    *Document // of one page, which is shown; nil: nothing is
}

// Prepared is an update whose signature is still to come.
type Prepared struct {
	Field string
	doc   *Document
	more  []byte
	// The signature stands from before to after, brackets included, as offsets in the file; all
	// else is signed.
	before, after int64
}

// Sizes of what is filled in later: numbers of ten digits, behind 0.
const rangeDigits = 10

// Sign adds a signature to the draft and returns the update that holds it.
func (e *Draft) Sign(ctx context.Context, s Signature, deflater cos.Deflater, most int64) (*Prepared, error) {
	if err := e.mayBeSigned(s); err != nil {
		return nil, err
	}
	f, err := e.signatureField(&s)
	if err != nil {
		return nil, err
	}
	root := e.catalog()
	numbers, contents := &blanks{"[0", ' ', 3 * (rangeDigits + 1), "]", 0}, &blanks{"<", '0', 2 * s.Room, ">", 0}
	var locks cos.Array
	if lock := e.dict(f.dict.Get("Lock")); lock != nil { // 12.7.5.5: what the field locks, its signature names
		locks = append(locks, cos.Dict{
			cos.E("Type", cos.Name("SigRef")), cos.E("TransformMethod", cos.Name("FieldMDP")), cos.E("Data", e.root),
			cos.E("TransformParams", cos.Dict{
				cos.E("Type", cos.Name("TransformParams")), cos.E("Action", lock.Get("Action")), cos.E("Fields", lock.Get("Fields")), cos.E("V", cos.Name("1.2")),
			}),
		})
	}
	v := e.add(append(cos.Dict{cos.E("ByteRange", numbers), cos.E("Contents", contents)}, s.Dict(locks...)...))
	e.set(f.ref, with(e.dict(f.ref), "V", v))
	if s.Certify != 0 {
		perms := with(e.dict(root.Get("Perms")), "DocMDP", v)
		e.change("Perms", perms)
	}
	if s.Look != nil {
		if err := e.draw(f.widgets, s.Look); err != nil {
			return nil, err
		}
	}
	more, err := e.update(ctx, deflater, most, v)
	if err != nil {
		return nil, err
	}
	from := e.base.Size + int64(contents.at)
	p := &Prepared{Field: f.name, doc: e.base, more: more, before: from - 1, after: from + int64(contents.n) + 1}
	text := more[numbers.at:numbers.at]
	for _, n := range [...]int64{p.before, p.after, p.Size() - p.after} {
		text = cos.AppendInt(append(text, ' '), n)
	}
	return p, nil
}

// blanks are a value that is filled in when all else is written: n times a character between what
// it begins and ends with.
type blanks struct {
	begin string
	blank byte
	n     int
	end   string
	at    int // where the first of them stands in what was written
}

// AppendPDF implements [cos.Object].
func (b *blanks) AppendPDF(dst []byte) []byte {
	dst = append(dst, b.begin...)
	b.at = len(dst)
	return append(cos.AppendBlanks(dst, b.blank, b.n), b.end...)
}

// Dict returns the dictionary of the signature, without ByteRange and Contents. More are references
// beside that of a certification (ISO 32000-2, 12.8.1).
func (s *Signature) Dict(more ...cos.Object) cos.Dict {
	d := append(make(cos.Dict, 0, 9),
		cos.E("Type", cos.Name("Sig")), cos.E("Filter", cos.Name("Adobe.PPKLite")), cos.E("SubFilter", cos.Name("ETSI.CAdES.detached")), cos.E("M", cos.Date(s.Time)))
	for _, x := range [...]struct {
		key  cos.Name
		text string
	}{{"Name", s.Name}, {"Reason", s.Reason}, {"Location", s.Location}, {"ContactInfo", s.Contact}} {
		if x.text != "" {
			d = append(d, cos.E(x.key, cos.Text(x.text)))
		}
	}
	var references cos.Array
	if s.Certify != 0 {
		references = append(references, cos.Dict{
			cos.E("Type", cos.Name("SigRef")), cos.E("TransformMethod", cos.Name("DocMDP")),
			cos.E("TransformParams", cos.Dict{cos.E("Type", cos.Name("TransformParams")), cos.E("P", cos.Int(s.Certify)), cos.E("V", cos.Name("1.2"))}),
		})
	}
	if references = append(references, more...); references != nil {
		d = append(d, cos.E("Reference", references))
	}
	return d
}

// Update returns the file of a draft with the changes behind it; without any it is as it was.
func (e *Draft) Update(ctx context.Context, deflater cos.Deflater, most int64) (*Prepared, error) {
	if err := e.base.MayUpdate(); err != nil || len(e.over) == 0 {
		return &Prepared{doc: e.base}, err
	}
	more, err := e.update(ctx, deflater, most, cos.Ref{})
	return &Prepared{doc: e.base, more: more}, err
}

// mayBeSigned checks what signatures that are there allow.
func (e *Draft) mayBeSigned(s Signature) error {
	signed := false
	for _, f := range e.fields() {
		signed = signed || f.kind == "Sig" && e.dict(f.dict.Get("V")) != nil
	}
	if s.Certify < 0 || s.Certify > 3 {
		return &OptionError{Field: "certify", Got: strconv.Itoa(s.Certify), Want: "1, 2 or 3"}
	}
	if signed && s.Certify != 0 {
		return &OptionError{Field: "certify", Got: "a file that is signed", Want: "a certification before every other signature (ISO 32000-2, 12.8.2.2)"}
	}
	if e.certified() == 1 {
		return &OptionError{Field: "file", Got: "one that its author certified to stay as it is", Want: "one that allows signatures"}
	}
	if e.certified() > 0 && s.Rect != [4]float64{} {
		return &OptionError{Field: "box", Got: "a place on a page that its author certified, which the signature could cover", Want: "none, or a field that was there then"}
	}
	return nil
}

// certified returns what the certification of a file allows, 0 for none.
func (e *Draft) certified() int {
	v := e.dict(e.dict(e.catalog().Get("Perms")).Get("DocMDP"))
	return e.permits(v)
}

// permits returns what a signature allows (12.8.2.2), 0 where it certifies nothing.
func (e *Draft) permits(v cos.Dict) int {
	for _, r := range e.array(v.Get("Reference")) {
		if d := e.dict(r); e.name(d.Get("TransformMethod")) == "DocMDP" {
			if p := e.integer(e.dict(d.Get("TransformParams")).Get("P"), 2); p >= 1 && p <= 3 {
				return int(p)
			}
			return 2
		}
	}
	return 0
}

// signatureField returns the field to sign: the one of the name, or a new one.
func (e *Draft) signatureField(s *Signature) (field, error) {
	var names, open []string
	for _, f := range e.fields() {
		names = append(names, f.name)
		if f.kind == "Sig" && e.dict(f.dict.Get("V")) == nil {
			open = append(open, f.name)
		}
		if f.name != s.Field || s.Field == "" {
			continue
		}
		if f.kind != "Sig" || e.dict(f.dict.Get("V")) != nil || f.ref.IsZero() || len(f.widgets) > 1 {
			return field{}, &OptionError{Field: "field", Got: strconv.Quote(s.Field) + ", which is signed or no signature field", Want: cmp.Or(strings.Join(open, ", "), "the name of a new field")}
		}
		if len(f.widgets) == 1 {
			e.form(cos.Ref{})
			return f, nil
		}
		if e.array(f.dict.Get("Kids")) != nil {
			return field{}, &OptionError{Field: "field", Got: strconv.Quote(s.Field) + ", which has no place on a page", Want: "another one"}
		}
		return f, e.widget(&f, s)
	}
	name := s.Field
	for n := 1; name == ""; n++ {
		if c := "Signature" + strconv.Itoa(n); !slices.Contains(names, c) {
			name = c
		}
	}
	if strings.Contains(name, ".") {
		return field{}, &OptionError{Field: "field", Got: strconv.Quote(name), Want: "a name without a full stop, or that of a field of the file", Nearest: nearest.Name(name, open)}
	}
	if len(name) > 200 {
		return field{}, &OptionError{Field: "field", Got: "a name of more than 200 bytes", Want: "a shorter one"}
	}
	f := field{name: name, kind: "Sig", dict: cos.Dict{cos.E("FT", cos.Name("Sig")), cos.E("T", cos.Text(name)), cos.E("TU", cos.Text(name)), cos.E("Contents", cos.Text(name))}}
	f.ref = e.add(f.dict)
	if err := e.widget(&f, s); err != nil {
		return field{}, err
	}
	e.form(f.ref)
	return f, nil
}

// form makes the file's form one with signatures, which is only appended to (12.7.3), and adds a
// field to it.
func (e *Draft) form(f cos.Ref) {
	o := e.catalog().Get("AcroForm")
	form := with(e.dict(o), "SigFlags", cos.Int(e.integer(e.dict(o).Get("SigFlags"), 0)|3))
	if !f.IsZero() {
		form = with(form, "Fields", append(append(cos.Array{}, e.array(form.Get("Fields"))...), f))
	}
	if r := refOf(o); !r.IsZero() {
		e.set(r, form)
		return
	}
	e.change("AcroForm", form)
}

// widget makes a field its own widget on a page.
func (e *Draft) widget(f *field, s *Signature) error {
	if s.Page < 0 || s.Page >= len(e.pages) {
		return &OptionError{Field: "page", Got: strconv.Itoa(s.Page + 1), Want: "1 to " + strconv.Itoa(len(e.pages))}
	}
	page := e.pages[s.Page]
	if page.Ref.IsZero() {
		return &OptionError{Field: "file", Got: "a page that is not an indirect object", Want: "an undamaged file; rewrite it first, with metadata or reorder"}
	}
	media := e.box(page.Dict.Get("MediaBox"), letter)
	b, rect := s.Rect, make(cos.Array, len(s.Rect))
	if b != [4]float64{} && !(b[0] < b[2] && b[1] < b[3] && b[0] >= media[0] && b[1] >= media[1] && b[2] <= media[2] && b[3] <= media[3]) {
		return &OptionError{
			Field: "box", Got: fmt.Sprintf("%g,%g,%g,%g", b[0], b[1], b[2], b[3]),
			Want: fmt.Sprintf("left,bottom,right,top within those of page %d: %g,%g,%g,%g", s.Page+1, media[0], media[1], media[2], media[3]),
		}
	}
	for i, v := range b {
		rect[i] = cos.Int(0)
		if v != 0 {
			rect[i] = cos.Decimal{Mantissa: int64(math.Round(v * 1000)), Scale: 3}
		}
	}
	const printLocked = 4 | 128 // 12.5.3
	f.dict = append(
		e.dict(f.ref), cos.E("Type", cos.Name("Annot")), cos.E("Subtype", cos.Name("Widget")),
		cos.E("Rect", rect), cos.E("F", cos.Int(printLocked)), cos.E("P", page.Ref),
	)
	f.widgets = []cos.Ref{f.ref}
	own := e.dict(page.Ref)
	annots := append(append(cos.Array{}, e.array(own.Get("Annots"))...), f.ref)
	own = with(own, "Annots", annots)
	if e.dict(e.catalog().Get("StructTreeRoot")) != nil {
		own = with(own, "Tabs", cos.Name("S")) // the tab order is that of the tree (ISO 14289-2, 8.9.3.3)
		// One that shows nothing is an artifact in PDF 2.0 (ISO 14289-2, 8.9.2.4.13).
		if b != [4]float64{} || e.base.version() < "2" {
			e.tagWidget(f, page.Ref)
		}
	}
	e.set(page.Ref, own)
	e.set(f.ref, f.dict)
	return nil
}

// tagWidget adds an element Form that holds a widget to the structure tree.
func (e *Draft) tagWidget(f *field, page cos.Ref) {
	tree := refOf(e.catalog().Get("StructTreeRoot"))
	root := e.dict(tree)
	if root == nil || tree.IsZero() {
		return
	}
	top := root.Get("K")
	if list := e.array(top); len(list) > 0 {
		top = list[0]
	}
	parent := refOf(top)
	above := e.dict(parent)
	if above == nil {
		return
	}
	elem := e.add(cos.Dict{
		cos.E("Type", cos.Name("StructElem")), cos.E("S", cos.Name("Form")), cos.E("P", parent), cos.E("NS", above.Get("NS")), cos.E("Pg", page),
		cos.E("Alt", f.dict.Get("TU")),
		cos.E("K", cos.Dict{cos.E("Type", cos.Name("OBJR")), cos.E("Obj", f.ref), cos.E("Pg", page)}),
	})
	var kids cos.Array
	if list := e.array(above.Get("K")); list != nil {
		kids = append(kids, list...)
	} else if k := above.Get("K"); k != nil {
		kids = append(kids, k)
	}
	e.set(parent, with(above, "K", append(kids, elem)))

	key := e.integer(root.Get("ParentTreeNextKey"), 0)
	for _, x := range e.numbers(root.Get("ParentTree")) {
		key = max(key, x.key+1)
	}
	f.dict = append(f.dict, cos.E("StructParent", cos.Int(key)))
	root = with(root, "ParentTreeNextKey", cos.Int(key+1))
	e.set(tree, with(root, "ParentTree", e.grown(root.Get("ParentTree"), key, elem)))
}

// grown returns a number tree with an entry behind all others, whose nodes stay.
func (e *Draft) grown(o cos.Object, key int64, v cos.Object) cos.Object {
	d := e.dict(o)
	if kids := e.array(d.Get("Kids")); kids != nil {
		leaf := e.add(cos.Dict{cos.E("Limits", cos.Array{cos.Int(key), cos.Int(key)}), cos.E("Nums", cos.Array{cos.Int(key), v})})
		d = with(d, "Kids", append(append(cos.Array{}, kids...), leaf))
	} else {
		d = with(d, "Nums", append(append(cos.Array{}, e.array(d.Get("Nums"))...), cos.Int(key), v))
	}
	if r := refOf(o); !r.IsZero() {
		e.set(r, d)
		return r
	}
	return d
}

// draw makes the page of a document what widgets show.
func (e *Draft) draw(widgets []cos.Ref, look *Document) error {
	l := NewDraft(look)
	if len(l.pages) != 1 {
		return &OptionError{Field: "box", Got: "a text that does not fit into it", Want: "a larger one"}
	}
	page := l.pages[0].Dict
	content := l.content(page)
	size := l.box(page.Get("MediaBox"), letter)
	var box cos.Array
	for _, v := range size {
		box = append(box, cos.Decimal{Mantissa: int64(math.Round(v * 1000)), Scale: 3})
	}
	by := e.join(l)
	form := e.add(&stream{dict: cos.Dict{
		cos.E("Type", cos.Name("XObject")), cos.E("Subtype", cos.Name("Form")), cos.E("BBox", box),
		cos.E("Resources", moved(page.Get("Resources"), by)),
	}, data: content})
	for _, w := range widgets {
		e.set(w, with(e.dict(w), "AP", cos.Dict{cos.E("N", form)}))
	}
	return l.err
}

// WidgetSize returns the width and the height of the place that a signature will have.
func (e *Draft) WidgetSize(name string, rect [4]float64) (w, h float64) {
	for _, f := range e.fields() {
		if f.name == name && name != "" && len(f.widgets) == 1 {
			rect = e.box(e.dict(f.widgets[0]).Get("Rect"), rect)
		}
	}
	return rect[2] - rect[0], rect[3] - rect[1]
}

// Signed writes what is signed to h.
func (p *Prepared) Signed(h io.Writer) error {
	if err := copySection(h, p.doc.File, 0, p.doc.Size); err != nil {
		return err
	}
	if _, err := h.Write(p.more[:p.before-p.doc.Size]); err != nil {
		return err
	}
	_, err := h.Write(p.more[p.after-p.doc.Size:])
	return err
}

// Size is that of the whole file.
func (p *Prepared) Size() int64 { return p.doc.Size + int64(len(p.more)) }

// Reopen opens the file as it is so far, with a signature that is still to come.
func (p *Prepared) Reopen(o Options) (*Document, error) {
	d, err := Open(&appended{p.doc.File, p.doc.Size, p.more}, p.Size(), o)
	if err == nil {
		d.unsigned = p.before
	}
	return d, err
}

// Fill puts the signature in its place. One that is longer than the room for it is an error.
func (p *Prepared) Fill(signature []byte) error {
	if room := int(p.after-p.before-2) / 2; len(signature) > room {
		return fmt.Errorf("pdf: a signature of %d bytes, and room for %d", len(signature), room)
	}
	cos.PutHex(p.more[p.before-p.doc.Size+1:], signature)
	return nil
}

// Release gives the memory of the update back. Nothing of what is prepared may be used from then
// on.
func (p *Prepared) Release() {
	if buf := p.more; cap(buf) <= mostUpdateBytes {
		updates.Put(&buf)
	}
	p.more = nil
}

// WriteTo writes the whole file: the bytes that were there, and the update.
func (p *Prepared) WriteTo(w io.Writer) (int64, error) {
	if err := copySection(w, p.doc.File, 0, p.doc.Size); err != nil {
		return 0, err
	}
	n, err := w.Write(p.more)
	return p.doc.Size + int64(n), err
}

// Prepared returns the signature of a file that was prepared and is not signed: the one whose data
// is zeros, and that covers the whole file.
func (d *Document) Prepared() (*Prepared, error) {
	for _, s := range NewDraft(d).signatures() {
		if s.end == d.Size && len(bytes.Trim(s.contents, "\x00")) == 0 && s.fault == "" {
			// What stands there is copied, for it is written into.
			from := s.from
			more := make([]byte, d.Size-from)
			if _, err := io.ReadFull(io.NewSectionReader(d.File, from, d.Size-from), more); err != nil {
				return nil, err
			}
			cut := *d
			cut.Size = from
			return &Prepared{Field: s.name, doc: &cut, more: more, before: s.from, after: s.to}, nil
		}
	}
	return nil, &OptionError{Field: "file", Got: "one without a signature that is prepared", Want: "what sign-prepare wrote"}
}
