package edit

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/form"
	"example.com/quire/pdf/internal/content"
)

// Unshown returns the appearances that fields with a value, a background or a border lack, which
// Show takes: Flatten would lose them.
func (e *Draft) Unshown() (looks []FieldLook) {
	for _, f := range e.fields() {
		kind := e.kindOf(&f)
		switch kind {
		case form.Text, form.Choice, form.List:
			for _, l := range e.fieldLooks(&f, kind) {
				n := &l.Field
				if e.fieldFlags(&f)&form.FlagPassword != 0 {
					n.Values = nil
				}
				shows := len(n.Values) > 0 && n.Values[0] != "" || n.Background != 0 || n.Border != doc.Line{}
				if shows && e.resolve(e.dict(e.dict(l.widget).Get("AP")).Get("N")) == nil {
					looks = append(looks, l)
				}
			}
		case form.CheckBox, form.Radio:
			on := e.name(e.inherited(f.dict, "V"))
			for i, s := range e.states(&f) {
				if s.name != string(on) || e.resolve(e.dict(e.dict(f.widgets[i]).Get("AP")).Get("N")) != nil {
					continue
				}
				if l, ok := e.lookOf(&f, kind, f.widgets[i]); ok {
					l.state = on
					e.set(l.widget, with(e.dict(l.widget), "AS", on))
					looks = append(looks, l)
				}
			}
		}
	}
	return looks
}

// Flatten makes what the fields of a form show a part of the pages, and takes the form away. In a
// tagged file the elements of the fields keep it as their content, with what kind of field it was
// (ISO 32000-2, 14.8.5.6).
func (e *Draft) Flatten() error {
	if e.dict(e.catalog().Get("AcroForm")) == nil {
		return &OptionError{Field: "file", Got: "a file without form fields", Want: "one with fields"}
	}
	e.separate()
	x := flattener{e: e, kinds: map[uint32]form.Kind{}}
	for _, f := range e.fields() {
		for _, w := range f.widgets {
			x.kinds[w.Num] = e.kindOf(&f)
		}
	}
	x.tree = refOf(e.catalog().Get("StructTreeRoot"))
	if root := e.dict(x.tree); root != nil {
		x.parents = map[int64]cos.Object{}
		for _, n := range e.numbers(root.Get("ParentTree")) {
			x.parents[n.key] = n.value
			x.next = max(x.next, n.key+1)
		}
		x.next = max(x.next, e.integer(root.Get("ParentTreeNextKey"), 0))
	}
	for i := range e.pages {
		x.page(i)
	}
	if x.parents != nil {
		var list []numbered
		for key, v := range x.parents {
			list = append(list, numbered{key, v})
		}
		root := with(e.dict(x.tree), "ParentTree", e.numberTree(list))
		e.set(x.tree, with(root, "ParentTreeNextKey", cos.Int(x.next)))
	}
	e.Void()
	e.change("AcroForm", nil)
	return nil
}

// flattener puts the appearances of widgets into pages.
type flattener struct {
	e       *Draft
	kinds   map[uint32]form.Kind
	tree    cos.Ref
	parents map[int64]cos.Object // of the parent tree; nil: the file is not tagged
	next    int64                // key of it
}

// page does so for one.
func (x *flattener) page(i int) {
	e := x.e
	page := e.pages[i].Dict
	var annots cos.Array
	var out []byte
	resources := e.dict(page.Get("Resources"))
	forms := e.dict(resources.Get("XObject"))
	gone := false
	made := 0
	for _, a := range e.array(page.Get("Annots")) {
		w := e.dict(a)
		if e.name(w.Get("Subtype")) != "Widget" {
			annots = append(annots, a)
			continue
		}
		gone = true
		elem := x.element(w)
		look, m := x.appearance(w)
		if look == nil {
			x.empty(elem, refOf(a))
			continue
		}
		name := cos.Name("")
		for name == "" || forms.Get(name) != nil {
			made++
			name = cos.Name("Field" + strconv.Itoa(made))
		}
		forms = append(slices.Clip(forms), cos.E(name, look))
		var begin, end []byte
		resources, begin, end = e.layer(resources, w)
		out = append(x.mark(out, i, elem, refOf(a)), begin...)
		out = append(draw(out, name, m), end...)
		if x.parents != nil {
			out = append(out, "EMC\n"...)
		}
	}
	if !gone {
		return
	}
	if annots == nil {
		e.setPage(i, "Annots", nil)
	} else {
		e.setPage(i, "Annots", annots)
	}
	if out == nil {
		return
	}
	e.setPage(i, "Resources", with(resources, "XObject", forms))
	// What the page leaves of the graphics state is not that of what is added.
	e.setPage(i, "Contents", append(e.enclosed(i, e.parts(page)), e.add(&stream{data: out})))
}

// appearance returns what a widget shows and the matrix that puts it there (12.5.5); nil: nothing.
func (x *flattener) appearance(w cos.Dict) (cos.Object, content.Matrix) {
	e := x.e
	const hidden, noView = 2, 32
	if e.integer(w.Get("F"), 0)&(hidden|noView) != 0 {
		return nil, content.Matrix{}
	}
	o := e.dict(w.Get("AP")).Get("N")
	if states, ok := e.resolve(o).(cos.Dict); ok {
		o = states.Get(e.name(w.Get("AS")))
	}
	s, ok := e.resolve(o).(*stream)
	rect := e.box(w.Get("Rect"), [4]float64{})
	if !ok || rect == [4]float64{} {
		return nil, content.Matrix{}
	}
	box := e.box(s.dict.Get("BBox"), [4]float64{})
	m := content.Identity
	for k, v := range e.array(s.dict.Get("Matrix")) {
		if k < len(m) {
			m[k] = number(e.resolve(v), m[k])
		}
	}
	q := m.Quad(content.Rect(box)).Bounds()
	if !(q[2] > q[0] && q[3] > q[1]) {
		return nil, content.Matrix{}
	}
	sx, sy := (rect[2]-rect[0])/(q[2]-q[0]), (rect[3]-rect[1])/(q[3]-q[1])
	to := content.Matrix{sx, 0, 0, sy, rect[0] - q[0]*sx, rect[1] - q[1]*sy}
	for _, v := range to {
		if math.IsNaN(v) || math.Abs(v) > 1e6 {
			return nil, content.Matrix{}
		}
	}
	if e.name(s.dict.Get("Subtype")) != "Form" { // an appearance need not say so
		c := *s
		c.dict = with(with(c.dict, "Subtype", cos.Name("Form")), "Type", cos.Name("XObject"))
		return e.add(&c), to
	}
	if r := refOf(o); !r.IsZero() {
		return r, to
	}
	return e.add(s), to
}

// mark appends the beginning of the content of an element.
func (x *flattener) mark(out []byte, page int, elem, w cos.Ref) []byte {
	switch {
	case x.parents == nil:
		return out
	case elem.IsZero():
		return append(out, "/Artifact BMC\n"...)
	}
	return fmt.Appendf(out, "/Form <</MCID %d>> BDC\n", x.content(page, elem, w))
}

// draw appends the drawing of an appearance.
func draw(out []byte, name cos.Name, m content.Matrix) []byte {
	out = append(out, "q "...)
	for _, v := range m {
		out = cos.AppendDecimal(out, int64(math.Round(v*1e5)), 5)
		out = append(out, ' ')
	}
	return append(cos.AppendName(append(out, "cm "...), string(name)), " Do Q\n"...)
}

// element returns the structure element of a widget, zero where it has none, and forgets its place
// in the parent tree.
func (x *flattener) element(w cos.Dict) cos.Ref {
	key := x.e.integer(w.Get("StructParent"), -1)
	r := refOf(x.parents[key])
	delete(x.parents, key)
	if x.e.dict(r) == nil {
		return cos.Ref{}
	}
	return r
}

// content makes marked content of a page what an element has in the place of a widget, and returns
// its number.
func (x *flattener) content(page int, elem, w cos.Ref) int {
	e := x.e
	p := &e.pages[page]
	key := e.integer(p.Dict.Get("StructParents"), -1)
	if key < 0 {
		key = x.next
		x.next++
		e.setPage(page, "StructParents", cos.Int(key))
	}
	list := e.array(x.parents[key])
	id := len(list)
	x.parents[key] = append(list[:id:id], elem)
	d := x.without(e.dict(elem), w, cos.Dict{cos.E("Type", cos.Name("MCR")), cos.E("Pg", p.Ref), cos.E("MCID", cos.Int(id))})
	e.set(elem, x.printed(d, w))
	return id
}

// without returns an element with something in the place of its reference to a widget.
func (x *flattener) without(d cos.Dict, w cos.Ref, instead cos.Object) cos.Dict {
	e := x.e
	isWidget := func(o cos.Object) bool {
		k, _ := e.resolve(o).(cos.Dict)
		return e.name(k.Get("Type")) == "OBJR" && refOf(k.Get("Obj")) == w
	}
	var kids cos.Array
	if list := e.array(d.Get("K")); list != nil {
		kids = append(kids, list...)
	} else if k := d.Get("K"); k != nil {
		kids = cos.Array{k}
	}
	left := cos.Array{}
	for _, k := range kids {
		if !isWidget(k) {
			left = append(left, k)
		} else if instead != nil {
			left = append(left, instead)
		}
	}
	return with(d, "K", left)
}

// empty takes a widget that shows nothing from its element.
func (x *flattener) empty(elem, w cos.Ref) {
	if !elem.IsZero() {
		x.e.set(elem, x.printed(x.without(x.e.dict(elem), w, nil), w))
	}
}

// printed says of an element which kind of field it was (14.8.5.6).
func (x *flattener) printed(d cos.Dict, w cos.Ref) cos.Dict {
	role := cos.Name("tv")
	attributes := cos.Dict{cos.E("O", cos.Name("PrintField"))}
	e := x.e
	widget := e.dict(w)
	switch kind := x.kinds[w.Num]; kind {
	case form.CheckBox, form.Radio:
		if role = "cb"; kind == form.Radio {
			role = "rb"
		}
		state := cos.Name("off")
		if s := e.name(widget.Get("AS")); s != "" && s != "Off" {
			state = "on"
		}
		attributes = append(attributes, cos.E("checked", state))
	case form.Button:
		role = "pb"
	}
	attributes = append(attributes, cos.E("Role", role))
	if label := e.text(e.inherited(widget, "TU")); label != "" {
		attributes = append(attributes, cos.E("Desc", cos.Text(label)))
	}
	var all cos.Array
	if list := e.array(d.Get("A")); list != nil {
		all = append(all, list...)
	} else if a := d.Get("A"); a != nil {
		all = append(all, a)
	}
	return with(d, "A", append(all, attributes))
}
