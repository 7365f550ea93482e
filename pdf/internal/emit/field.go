package emit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/form"
	"example.com/quire/pdf/internal/diag"
	"example.com/quire/pdf/internal/layout"
	"example.com/quire/pdf/internal/tag"
)

// formField is a field of the interactive form (ISO 32000-2, 12.7.4) with its widgets, or one that
// has only fields below it.
type formField struct {
	name    string    // the last part
	field   doc.Field // of a field with widgets
	widgets []formWidget
	below   []*formField
	value   cos.Object // of a signature; nil: it is not signed
}

// formWidget is a widget whose object is written once its field is known as a whole.
type formWidget struct {
	ref    cos.Ref
	dict   cos.Dict
	option string
}

// widget writes the appearances of a place of a field, and keeps its annotation until the field is
// written.
func (c *content) widget(it *layout.WidgetItem) error {
	e, pi := c.e, c.pi
	e.from = it.Field.Src
	defer func() { e.from = nil }()
	f, err := e.fieldOf(it)
	if err != nil {
		return err
	}
	ref := e.w.Reserve()
	pi.annots = append(pi.annots, ref)
	x, y := it.X, c.height-it.Y-it.H
	d := cos.Dict{
		cos.E("Type", cos.Name("Annot")), cos.E("Subtype", cos.Name("Widget")),
		cos.E("Rect", cos.Array{cos.Fixed(x), cos.Fixed(y), cos.Fixed(x + it.W), cos.Fixed(y + it.H)}),
		cos.E("F", cos.Int(4)), cos.E("P", pi.ref), cos.E("Contents", cos.Text(it.Label)),
	}
	look := cos.Dict{}
	if b := it.Field.Border; b.Width > 0 {
		look = append(look, cos.E("BC", rgb(b.Color)))
		d = append(d, cos.E("BS", cos.Dict{cos.E("W", cos.Fixed(b.Width)), cos.E("S", cos.Name("S"))}))
	}
	if c := it.Field.Background; !c.None() {
		look = append(look, cos.E("BG", rgb(c)))
	}
	appearance, err := e.appearance(pi, it, true)
	if err != nil {
		return err
	}
	normal := cos.Object(appearance)
	if it.Look.Mark != layout.MarkNone {
		off, err := e.appearance(pi, it, false)
		if err != nil {
			return err
		}
		normal = cos.Dict{cos.E(cos.Name(it.Option), appearance), cos.E("Off", off)}
		state := cos.Name("Off")
		if slices.Contains(it.Field.Values, it.Option) {
			state = cos.Name(it.Option)
		}
		d = append(d, cos.E("AS", state))
		look = append(look, cos.E("CA", cos.String([]string{layout.MarkCheck: "4", layout.MarkDot: "l"}[it.Look.Mark])))
	}
	d = append(d, cos.E("AP", cos.Dict{cos.E("N", normal)}))
	if len(look) > 0 {
		d = append(d, cos.E("MK", look))
	}
	if e.tree != nil && it.Elem != nil {
		if err := e.add(it.Elem); err != nil {
			return err
		}
		it.Elem.AddAnnotation(pi.ref, ref)
		e.enclosed(ref, append(slices.Clip(d), cos.E("TU", cos.Text(it.Field.Label))), it.Elem)
		d = append(d, cos.E("StructParent", cos.Int(e.tree.AnnotationKey(it.Elem))))
	}
	if it.Field.Kind == doc.FieldText || it.Field.Kind == doc.FieldChoice || it.Field.Kind == doc.FieldList {
		d = append(d, e.variable(it)...)
	}
	f.widgets = append(f.widgets, formWidget{ref, d, it.Option})
	return nil
}

func rgb(c doc.Color) cos.Array {
	r, g, b := c.RGB()
	var a cos.Array
	for _, v := range [3]uint8{r, g, b} {
		a = append(a, cos.Decimal{Mantissa: (int64(v)*1000 + 127) / 255, Scale: 3})
	}
	return a
}

// variable says how programs set text that is typed into a field (12.7.4.3). Without a claim it is
// in one of the fonts that every program has; with one all fonts are embedded.
func (e *Emitter) variable(it *layout.WidgetItem) cos.Dict {
	name := "Helv"
	if len(e.o.Standards) > 0 {
		f := e.fontOf(it.Face)
		name = f.name
		for r := rune(' '); r <= 0xFF; r++ { // what may be typed
			if g := it.Face.GlyphIndex(r); g != 0 && (r < 0x7F || r > 0xA0) {
				f.use.Add(g, string(r))
			}
		}
	} else {
		switch family := strings.ToLower(it.Style.Family); {
		case strings.Contains(family, "mono"), strings.Contains(family, "courier"):
			name = "Cour"
		case strings.Contains(family, "serif") && !strings.Contains(family, "sans"), strings.Contains(family, "times"):
			name = "TiRo"
		}
	}
	if !slices.Contains(e.formFonts, name) {
		e.formFonts = append(e.formFonts, name)
	}
	da := cos.AppendName(nil, name)
	da = append(cos.AppendFixed(append(da, ' '), int64(it.Size), 3), " Tf "...)
	if it.Size > 0 && (it.Field.Multiline || it.Field.Kind == doc.FieldList) { // else lines that are filled in would stand otherwise
		da = append(cos.AppendFixed(da, int64(it.Lead), 3), " TL "...)
	}
	color := it.Style.Color
	r, g, b := color.RGB()
	for i, v := range [3]uint8{r, g, b} {
		if i > 0 {
			da = append(da, ' ')
		}
		da = cos.AppendRatio(da, int64(v), 255, 3)
	}
	d := cos.Dict{cos.E("DA", cos.String(append(da, " rg"...)))}
	switch it.Style.Align {
	case doc.AlignCenter:
		d = append(d, cos.E("Q", cos.Int(1)))
	case doc.AlignRight:
		d = append(d, cos.E("Q", cos.Int(2)))
	}
	return d
}

// fieldOf returns the field that a widget is of.
func (e *Emitter) fieldOf(it *layout.WidgetItem) (*formField, error) {
	fail := func(why string) (*formField, error) {
		return nil, diag.Fail(it.Field.Src.Place(diag.Diagnostic{Code: "L321", Message: fmt.Sprintf("the form field %q: %s", it.Field.Name, why)}))
	}
	list := &e.fields
	var f *formField
	parts := strings.Split(it.Field.Name, ".")
	for i, part := range parts {
		if f != nil && len(f.widgets) > 0 {
			return fail("another field has the first parts of its name")
		}
		at := slices.IndexFunc(*list, func(x *formField) bool { return x.name == part })
		if at < 0 {
			f = &formField{name: part}
			if i == len(parts)-1 {
				f.field = *it.Field
			}
			*list = append(*list, f)
		} else {
			f = (*list)[at]
		}
		list = &f.below
	}
	if len(f.below) > 0 {
		return fail("the names of other fields begin with its name")
	}
	a, b := &f.field, it.Field
	same := a.Kind == b.Kind && slices.Equal(a.Values, b.Values) && a.Required == b.Required && a.ReadOnly == b.ReadOnly &&
		a.Multiline == b.Multiline && a.Password == b.Password && a.Comb == b.Comb && a.Editable == b.Editable && a.Multiple == b.Multiple && a.Max == b.Max
	switch {
	case !same:
		return fail("another field of that name differs from it")
	case a.Kind == doc.FieldSignature && len(f.widgets) > 0:
		return fail("a place for a signature is there once")
	}
	return f, nil
}

// appearance writes what a widget shows (12.5.5); on is of buttons.
func (e *Emitter) appearance(pi *pageInfo, it *layout.WidgetItem, on bool) (cos.Ref, error) {
	c := &content{e: e, pi: pi, color: doc.Black, bare: true, height: it.H}
	l := &it.Look
	if l.Frame != nil {
		c.circle(it.W, it.H, l.Frame)
	}
	c.rects(l.Back)
	switch {
	case l.Mark == layout.MarkNone && (it.Field.Kind != doc.FieldSignature || len(l.Texts) > 0):
		c.b = append(c.b, "/Tx BMC\n"...)
		if len(l.Texts) > 0 {
			c.b = append(c.b, "q\n"...)
			for _, v := range [4]doc.Length{l.Clip.X, it.H - l.Clip.Y - l.Clip.H, l.Clip.W, l.Clip.H} {
				c.num(hundredths(v))
				c.b = append(c.b, ' ')
			}
			c.b = append(c.b, "re W n\n"...)
			if err := c.items(l.Texts); err != nil {
				return cos.Ref{}, err
			}
			c.end()
			c.b = append(c.b, "Q\n"...)
		}
		c.b = append(c.b, "EMC\n"...)
	case on && l.Mark == layout.MarkCheck:
		c.check(it)
	case on && l.Mark == layout.MarkDot:
		c.fill(ink(it.Style))
		in := min(it.W, it.H) / 4
		r := (min(it.W, it.H) - 2*in) / 2
		c.roundPath(it.W/2-r, it.H/2-r, it.W/2+r, it.H/2+r, [4]doc.Length{r, r, r, r})
		c.b = append(c.b, "f\n"...)
	}
	ref := e.w.Reserve()
	return ref, e.w.Stream(ref, cos.Dict{
		cos.E("Type", cos.Name("XObject")), cos.E("Subtype", cos.Name("Form")),
		cos.E("BBox", cos.Array{cos.Int(0), cos.Int(0), cos.Fixed(it.W), cos.Fixed(it.H)}),
		cos.E("Resources", e.resources),
	}, c.b)
}

func ink(s *doc.Style) doc.Color {
	if s.Color.None() {
		return doc.Black
	}
	return s.Color
}

// stroke sets the colour and the width of lines.
func (c *content) stroke(col doc.Color, width doc.Length) {
	c.judge(opStrokeColor)
	c.rgb(col, "RG ")
	c.num(max(hundredths(width), 1))
	c.b = append(c.b, " w\n"...)
}

// circle draws the largest circle in the middle of a rectangle.
func (c *content) circle(w, h doc.Length, f *layout.Circle) {
	r := (min(w, h) - f.Line.Width) / 2
	path := func() { c.roundPath(w/2-r, h/2-r, w/2+r, h/2+r, [4]doc.Length{r, r, r, r}) }
	if !f.Background.None() {
		c.fill(f.Background)
		path()
		c.b = append(c.b, "f\n"...)
	}
	if f.Line.Width > 0 {
		c.stroke(f.Line.Color, f.Line.Width)
		path()
		c.b = append(c.b, "S\n"...)
	}
}

// check draws a check mark.
func (c *content) check(it *layout.WidgetItem) {
	c.stroke(ink(it.Style), min(it.W, it.H)/8)
	c.b = append(c.b, "1 J 1 j\n"...)
	side := min(it.W, it.H)
	for i, p := range [3][2]doc.Length{{24, 50}, {43, 28}, {77, 74}} {
		c.num(hundredths(it.W/2 + (p[0]-50)*side/100))
		c.b = append(c.b, ' ')
		c.num(hundredths(it.H/2 + (p[1]-50)*side/100))
		c.b = append(c.b, [3]string{" m\n", " l\n", " l S\n"}[i]...)
	}
}

// interactiveForm writes the fields; zero when there are none.
func (e *Emitter) interactiveForm() (cos.Ref, error) {
	if err := e.signField(); err != nil || len(e.fields) == 0 && e.invisible.IsZero() {
		return cos.Ref{}, err
	}
	var roots cos.Array
	signed := false
	for _, f := range e.fields {
		r, err := e.writeField(f, cos.Ref{}, &signed)
		if err != nil {
			return r, err
		}
		roots = append(roots, r)
	}
	if !e.invisible.IsZero() {
		if err := e.unseen(); err != nil {
			return e.invisible, err
		}
		roots = append(roots, e.invisible)
	}
	d := cos.Dict{cos.E("Fields", roots)}
	switch { // 12.7.3
	case e.o.Sign != nil:
		d = append(d, cos.E("SigFlags", cos.Int(3)))
	case signed:
		d = append(d, cos.E("SigFlags", cos.Int(1)))
	}
	if len(e.formFonts) > 0 {
		var fonts cos.Dict
		for _, name := range e.formFonts {
			fonts = append(fonts, cos.E(cos.Name(name), e.formFont(name)))
		}
		d = append(d, cos.E("DR", cos.Dict{cos.E("Font", fonts)}), cos.E("DA", cos.String("/"+e.formFonts[0]+" 0 Tf 0 g")))
	}
	ref := e.w.Reserve()
	return ref, e.w.Put(ref, d)
}

// signField gives the field that is to be signed its signature.
func (e *Emitter) signField() error {
	if e.o.Sign == nil || e.o.Sign.Field == "" {
		return nil
	}
	var known []string
	var find func(list []*formField, above string) bool
	find = func(list []*formField, above string) bool {
		for _, f := range list {
			name := above + f.name
			if len(f.widgets) == 1 && f.field.Kind == doc.FieldSignature {
				if known = append(known, name); name == e.o.Sign.Field {
					f.value = e.signature
					return true
				}
			}
			if find(f.below, name+".") {
				return true
			}
		}
		return false
	}
	if find(e.fields, "") {
		return nil
	}
	suggestion := "leave the name out, for a signature that shows nothing"
	if len(known) > 0 {
		suggestion = "sign " + strings.Join(known, ", ")
	}
	return diag.Fail(diag.Diagnostic{
		Code: diag.CodeSigner, Message: fmt.Sprintf("the document has no signature field %q", e.o.Sign.Field), Suggestion: suggestion,
	})
}

// unseen writes the field of a signature that shows nothing. It is an artifact in PDF 2.0 (ISO
// 14289-2, 8.9.2.4.13); PDF/UA-1 wants every widget in the structure tree (ISO 14289-1, 7.18.4).
func (e *Emitter) unseen() error {
	name := ""
	for n := 1; name == ""; n++ {
		if c := "Signature" + strconv.Itoa(n); !slices.ContainsFunc(e.fields, func(f *formField) bool { return f.name == c }) {
			name = c
		}
	}
	page := e.pages[0].ref
	const printLocked = 4 | 128 // 12.5.3
	d := cos.Dict{
		cos.E("Type", cos.Name("Annot")), cos.E("Subtype", cos.Name("Widget")), cos.E("Rect", cos.Array{cos.Int(0), cos.Int(0), cos.Int(0), cos.Int(0)}),
		cos.E("F", cos.Int(printLocked)), cos.E("P", page), cos.E("Contents", cos.Text(name)),
		cos.E("T", cos.Text(name)), cos.E("TU", cos.Text(name)), cos.E("FT", cos.Name("Sig")), cos.E("V", e.signature),
	}
	if e.check.Opaque() { // ISO 19005-1, 6.9
		look := e.w.Reserve()
		if err := e.w.Stream(look, cos.Dict{
			cos.E("Type", cos.Name("XObject")), cos.E("Subtype", cos.Name("Form")),
			cos.E("BBox", cos.Array{cos.Int(0), cos.Int(0), cos.Int(0), cos.Int(0)}),
		}, nil); err != nil {
			return err
		}
		d = append(d, cos.E("AP", cos.Dict{cos.E("N", look)}))
	}
	if e.tree != nil && e.w.Version() != cos.V20 {
		el := &tag.Elem{Type: tag.Form, Alt: name}
		if err := e.add(el); err != nil {
			return err
		}
		el.AddAnnotation(page, e.invisible)
		e.enclosed(e.invisible, d, el)
		d = append(d, cos.E("StructParent", cos.Int(e.tree.AnnotationKey(el))))
	}
	return e.w.Put(e.invisible, d)
}

// formFont returns a font of the form's resources: an embedded one, or one of the standard fonts.
func (e *Emitter) formFont(name string) cos.Object {
	for _, f := range e.fonts {
		if f.name == name {
			return f.ref
		}
	}
	base := map[string]cos.Name{"Helv": "Helvetica", "TiRo": "Times-Roman", "Cour": "Courier"}[name]
	return cos.Dict{cos.E("Type", cos.Name("Font")), cos.E("Subtype", cos.Name("Type1")), cos.E("BaseFont", base), cos.E("Encoding", cos.Name("WinAnsiEncoding"))}
}

// writeField writes a field and what is below it.
func (e *Emitter) writeField(f *formField, parent cos.Ref, signed *bool) (cos.Ref, error) {
	e.from = f.field.Src
	defer func() { e.from = nil }()
	d := cos.Dict{cos.E("T", cos.Text(f.name))}
	if !parent.IsZero() {
		d = append(d, cos.E("Parent", parent))
	}
	if len(f.widgets) > 0 {
		d = append(d, fieldEntries(f)...)
		*signed = *signed || f.field.Kind == doc.FieldSignature
	}
	if len(f.widgets) == 1 && f.field.Kind != doc.FieldRadio {
		w := &f.widgets[0]
		return w.ref, e.w.Put(w.ref, append(w.dict, d...))
	}
	ref := e.w.Reserve()
	var kids cos.Array
	for i := range f.widgets {
		w := &f.widgets[i]
		kids = append(kids, w.ref)
		if err := e.w.Put(w.ref, append(w.dict, cos.E("Parent", ref))); err != nil {
			return ref, err
		}
	}
	for _, x := range f.below {
		r, err := e.writeField(x, ref, signed)
		if err != nil {
			return r, err
		}
		kids = append(kids, r)
	}
	return ref, e.w.Put(ref, append(d, cos.E("Kids", kids)))
}

// fieldEntries are those of a field beside its name (12.7.4.1).
func fieldEntries(f *formField) cos.Dict {
	n := &f.field
	flags := 0
	set := func(on bool, flag int) {
		if on {
			flags |= flag
		}
	}
	set(n.ReadOnly, form.FlagReadOnly)
	set(n.Required, form.FlagRequired)
	d := cos.Dict{cos.E("TU", cos.Text(n.Label))}
	var value cos.Object
	if len(n.Values) > 0 && n.Values[0] != "" {
		value = cos.Text(n.Values[0])
	}
	switch n.Kind {
	case doc.FieldText:
		d = append(d, cos.E("FT", cos.Name("Tx")))
		set(n.Multiline, form.FlagMultiline)
		set(n.Password, form.FlagPassword)
		set(n.Comb, form.FlagComb)
		if n.Max > 0 {
			d = append(d, cos.E("MaxLen", cos.Int(n.Max)))
		}
	case doc.FieldCheckBox, doc.FieldRadio:
		d = append(d, cos.E("FT", cos.Name("Btn")))
		set(n.Kind == doc.FieldRadio, form.FlagRadio|form.FlagNoToggleToOff)
		state := cos.Name("Off")
		for i := range f.widgets {
			if slices.Contains(n.Values, f.widgets[i].option) {
				state = cos.Name(f.widgets[i].option)
			}
		}
		value = state
	case doc.FieldChoice, doc.FieldList:
		d = append(d, cos.E("FT", cos.Name("Ch")))
		set(n.Kind == doc.FieldChoice, form.FlagCombo)
		set(n.Editable && n.Kind == doc.FieldChoice, form.FlagEdit)
		set(n.Multiple, form.FlagMultiSelect)
		var options, chosen cos.Array
		values := make(map[string]bool, len(n.Values))
		for _, v := range n.Values {
			values[v] = true
		}
		for i, o := range n.Options {
			if o.Text == "" || o.Text == o.Value {
				options = append(options, cos.Text(o.Value))
			} else {
				options = append(options, cos.Array{cos.Text(o.Value), cos.Text(o.Text)})
			}
			if values[o.Value] {
				chosen = append(chosen, cos.Int(i))
			}
		}
		d = append(d, cos.E("Opt", options))
		if n.Kind == doc.FieldList && chosen != nil {
			d = append(d, cos.E("I", chosen))
		}
		if len(n.Values) > 1 {
			var all cos.Array
			for _, v := range n.Values {
				all = append(all, cos.Text(v))
			}
			value = all
		}
	case doc.FieldSignature:
		d, value = append(d, cos.E("FT", cos.Name("Sig"))), f.value
	}
	if flags != 0 {
		d = append(d, cos.E("Ff", cos.Int(flags)))
	}
	return append(d, cos.E("V", value))
}
