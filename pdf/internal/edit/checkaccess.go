package edit

import (
	"regexp"
	"slices"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/standard"
)

// elemOf is what is known of the element that an annotation belongs to.
type elemOf struct {
	ref      cos.Ref
	dict     cos.Dict
	kind     cos.Name
	artifact bool // it is an Artifact or stands in one
	labelled bool // it holds a Lbl that is not empty
	target   string
}

// annotated tells which elements annotations belong to, as the parent tree has it (14.7.5.4). Each
// element is looked at once.
type annotated struct {
	c         *checker
	roles     roles
	parents   map[int64]cos.Object
	elems     map[cos.Ref]*elemOf
	artifacts map[cos.Ref]bool
}

func newAnnotated(c *checker) *annotated {
	root := c.e.dict(c.e.catalog().Get("StructTreeRoot"))
	return &annotated{
		c: c, roles: roles{c.e, c.e.dict(root.Get("RoleMap"))}, parents: c.e.parentTree(),
		elems: map[cos.Ref]*elemOf{}, artifacts: map[cos.Ref]bool{},
	}
}

// of returns the element of an annotation, nil where it is in the structure tree no more than a
// page is.
func (a *annotated) of(annot cos.Dict) *elemOf {
	key, ok := a.c.e.resolve(annot.Get("StructParent")).(cos.Int)
	o := a.parents[int64(key)]
	d, isDict := a.c.e.resolve(o).(cos.Dict)
	if !ok || !isDict {
		return nil
	}
	r := refOf(o)
	if known := a.elems[r]; known != nil && !r.IsZero() {
		return known
	}
	out := &elemOf{ref: r, dict: d, kind: a.kind(d), artifact: a.artifact(o)}
	kids := a.c.e.kids(d)
	a.c.left -= len(kids)
	out.labelled = slices.ContainsFunc(kids, func(kid cos.Object) bool {
		k, _ := a.c.e.resolve(kid).(cos.Dict)
		return k.Get("S") != nil && a.kind(k) == "Lbl" && len(a.c.e.kids(k)) > 0
	})
	a.elems[r] = out
	return out
}

func (a *annotated) kind(elem cos.Dict) cos.Name {
	kind, wrong := a.roles.of(elem)
	if wrong == standard.RoleMissing || wrong == standard.RoleCircular {
		return ""
	}
	return kind
}

// artifact reports whether an element is an Artifact or stands in one.
func (a *annotated) artifact(o cos.Object) bool {
	return a.c.e.inOne(a.artifacts, o, func(d cos.Dict) bool { return a.kind(d) == "Artifact" })
}

// beyond reports whether an annotation is outside the crop box of its page.
func (c *checker) beyond(annot cos.Dict, p Page) bool {
	a := c.e.array(annot.Get("Rect"))
	if len(a) < 4 {
		return false
	}
	crop := c.e.box(p.Dict.Get("CropBox"), c.e.box(p.Dict.Get("MediaBox"), letter))
	var b [4]float64
	for i := range b {
		b[i] = number(c.e.resolve(a[i]), 0)
	}
	return crop[1] >= max(b[1], b[3]) || crop[0] >= max(b[0], b[2]) || crop[3] <= min(b[1], b[3]) || crop[2] <= min(b[0], b[2])
}

// annotation shows an annotation, whose dictionary for the judge is shown, with the element that it
// belongs to.
func (c *checker) annotation(r cos.Ref, d, shown cos.Dict, outside bool) {
	if c.annotated == nil {
		c.annotated = newAnnotated(c)
	}
	elem := c.annotated.of(d)
	p := standard.Placed{Tagged: elem != nil, Outside: outside}
	if elem != nil {
		p.Artifact = elem.artifact
	}
	c.j.Annotation(r, shown, p)
	if elem == nil {
		return
	}
	in := cos.Dict{cos.E("TU", c.e.inherited(d, "TU"))}
	for _, key := range [...]cos.Name{"Subtype", "F", "Contents", "AA"} {
		if v := c.e.resolve(d.Get(key)); v != nil {
			in = append(in, cos.E(key, v))
		}
	}
	c.j.Enclosed(standard.Enclosure{
		Annotation: r, Dict: in, In: elem.kind, Alt: c.e.text(elem.dict.Get("Alt")), Described: c.e.resolve(elem.dict.Get("Alt")) != nil,
		Labelled: elem.labelled, Fieldless: d.Get("T") == nil && d.Get("Parent") == nil, Placed: p,
	})
	if c.e.name(d.Get("Subtype")) != "Link" || elem.ref.IsZero() {
		return
	}
	switch to := c.target(d); {
	case to == "" || elem.artifact:
	case elem.target == "":
		elem.target = to
	case elem.target != to:
		c.j.Targets(elem.ref)
	}
}

// target returns where a link leads, in words that are the same for one place; empty: nowhere.
func (c *checker) target(link cos.Dict) string {
	to := link.Get("Dest")
	if a := c.e.dict(link.Get("A")); a != nil {
		if to = a.Get("SD"); to == nil && c.e.name(a.Get("S")) == "GoTo" {
			to = a.Get("D")
		}
		if to == nil {
			return c.words(with(a, "Next", nil))
		}
	}
	c.structured.prepare(c.e)
	var name string
	switch v := c.e.resolve(to).(type) {
	case nil:
		return ""
	case cos.Name:
		name = string(v)
	default:
		b, _ := cos.Bytes(v)
		name = string(b)
	}
	if name != "" {
		to = c.structured.named[name]
	}
	dest := c.e.resolve(to)
	if d, ok := dest.(cos.Dict); ok {
		dest = c.e.resolve(d.Get("D"))
		if sd := c.e.resolve(d.Get("SD")); sd != nil {
			dest = sd
		}
	}
	if a, ok := dest.(cos.Array); ok && c.structured.explicit(c.e, a) {
		dest = a[:1] // the element, wherever in it
	}
	if dest == nil {
		return ""
	}
	return c.words(dest)
}

func (c *checker) words(o cos.Object) string {
	b := o.AppendPDF(nil)
	c.left -= len(b) / bytesOfOperator
	return string(b)
}

// drawn notes that a form is drawn which has content of the structure tree.
func (c *checker) drawn(form cos.Object, d cos.Dict) {
	r := refOf(form)
	if d.Get("StructParents") == nil || r.IsZero() {
		return
	}
	if c.forms[r.Num] {
		c.j.DrawnAgain(r)
	}
	c.forms[r.Num] = true
}

// mediaClip shows the media clip of an action that plays a rendition (13.2.4.2).
func (c *checker) mediaClip(r cos.Ref, action cos.Dict) {
	if c.e.name(action.Get("S")) != "Rendition" {
		return
	}
	clip := c.e.dict(c.e.dict(action.Get("R")).Get("C"))
	if clip == nil {
		return
	}
	var texts cos.Object
	if list, ok := c.e.resolve(clip.Get("Alt")).(cos.Array); ok {
		c.left -= len(list)
		told := make(cos.Array, len(list))
		for i, o := range list {
			told[i] = c.e.resolve(o)
		}
		texts = told
	}
	_, typed := cos.Bytes(c.e.resolve(clip.Get("CT")))
	c.j.MediaClip(r, typed, texts)
}

// richFields shows the text fields that have a rich value (12.7.4.3).
func (c *checker) richFields() error {
	for _, f := range c.e.fields() {
		rich := c.e.inherited(f.dict, "RV")
		if f.kind != "Tx" || rich == nil {
			continue
		}
		if err := c.ctx.Err(); err != nil {
			return err
		}
		value := c.e.inherited(f.dict, "V")
		text, plain := []byte(c.e.text(rich)), c.e.text(value)
		if _, ok := rich.(*stream); ok {
			text = c.e.data(rich)
		}
		if _, ok := value.(*stream); ok {
			plain = string(c.e.data(value))
			if t, ok := cos.TextOf(cos.String(plain)); ok {
				plain = t
			}
		}
		if c.left -= 1 + (len(text)+len(plain))/bytesOfOperator; c.left < 0 {
			return c.tooMuch(f.ref)
		}
		c.j.RichValue(f.ref, text, plain, value != nil)
	}
	return nil
}

// signaturePicture shows a signature whose appearance has a picture that nothing describes.
func (c *checker) signaturePicture(r cos.Ref, widget cos.Dict) {
	if c.e.name(widget.Get("Subtype")) != "Widget" || c.e.inherited(widget, "FT") != cos.Object(cos.Name("Sig")) || c.e.text(widget.Get("Contents")) != "" {
		return
	}
	if c.annotated == nil {
		c.annotated = newAnnotated(c)
	}
	elem := c.annotated.of(widget)
	if elem == nil || elem.artifact || c.e.text(elem.dict.Get("Alt")) != "" {
		return
	}
	c.j.SignaturePicture(r)
}

// renders is what the configuration of a dynamic XFA form says (XFA 3.3, dynamicRender).
var renders = regexp.MustCompile(`<dynamicRender\s*>\s*required\s*</dynamicRender`)

// dynamic reports whether a form of XFA is a dynamic one.
func (e *Draft) dynamic(xfa cos.Object) bool {
	parts := e.array(xfa)
	if _, one := e.resolve(xfa).(*stream); one {
		parts = cos.Array{xfa}
	}
	seen := map[cos.Ref]bool{}
	for _, o := range parts {
		if r := refOf(o); seen[r] {
			continue
		} else if seen[r] = true; renders.Match(e.data(o)) {
			return true
		}
	}
	return false
}
