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
	name    string     // the last part
	field   *doc.Field // of its first widget; nil: it has only fields below it
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
	if s := e.o.Sign; s != nil && it.Field.Kind == doc.FieldSignature && it.Field.Name == s.Field {
		f.value = e.w.Arena().Ref(e.signature)
		e.signs = true
	}
	ref := e.w.Reserve()
	pi.annots = append(pi.annots, ref)
	a := e.w.Arena()
	x, y := int64(it.X), int64(c.height-it.Y-it.H)
	d := append(
		a.Entries(widgetEntries+fieldEntries), cos.E("Type", cos.Name("Annot")), cos.E("Subtype", cos.Name("Widget")),
		cos.E("Rect", a.List(a.Fixed(x), a.Fixed(y), a.Fixed(x+int64(it.W)), a.Fixed(y+int64(it.H)))),
		cos.E("F", cos.Int(4)), cos.E("P", a.Ref(pi.ref)), cos.E("Contents", a.Text(it.Label)),
	)
	look := a.Entries(3)
	if b := it.Field.Border; b.Width > 0 {
		look = append(look, cos.E("BC", rgb(a, b.Color)))
		d = append(d, cos.E("BS", a.Dict(append(a.Entries(2), cos.E("W", a.Fixed(int64(b.Width))), cos.E("S", cos.Name("S"))))))
	}
	if c := it.Field.Background; !c.None() {
		look = append(look, cos.E("BG", rgb(a, c)))
	}
	appearance, err := e.appearance(pi, it, true)
	if err != nil {
		return err
	}
	normal := a.Ref(appearance)
	if it.Look.Mark != layout.MarkNone {
		off, err := e.appearance(pi, it, false)
		if err != nil {
			return err
		}
		normal = a.Dict(append(a.Entries(2), cos.E(cos.Name(it.Option), normal), cos.E("Off", a.Ref(off))))
		state := cos.Object(cos.Name("Off"))
		if slices.Contains(it.Field.Values, it.Option) {
			state = a.Name(it.Option)
		}
		d = append(d, cos.E("AS", state))
		look = append(look, cos.E("CA", cos.String([]string{layout.MarkCheck: "4", layout.MarkDot: "l"}[it.Look.Mark])))
	}
	d = append(d, cos.E("AP", a.Dict(append(a.Entries(1), cos.E("N", normal)))))
	if it.Field.Kind == doc.FieldButton {
		look = append(look, cos.E("CA", a.Text(it.Field.Label)))
		act, err := e.buttonAction(it.Field)
		if err != nil {
			return err
		}
		d = append(d, cos.E("A", act))
	}
	if len(look) > 0 {
		d = append(d, cos.E("MK", a.Dict(look)))
	}
	if e.tree != nil && it.Elem != nil {
		if err := e.add(it.Elem); err != nil {
			return err
		}
		it.Elem.AddAnnotation(pi.ref, ref)
		e.enclosed(ref, append(append(a.Entries(len(d)+1), d...), cos.E("TU", a.Text(it.Field.Label))), it.Elem)
		d = append(d, cos.E("StructParent", a.Int(e.tree.AnnotationKey(it.Elem))))
	}
	if it.Field.Kind == doc.FieldText || it.Field.Kind == doc.FieldChoice || it.Field.Kind == doc.FieldList {
		d = append(d, e.variable(it)...)
	}
	f.widgets = e.formWidgets.Add(f.widgets, formWidget{ref, d, it.Option})
	return nil
}

// buttonAction is what a button does (12.7.5.2.2).
func (e *Emitter) buttonAction(f *doc.Field) (cos.Object, error) {
	a := e.w.Arena()
	if f.Action == doc.ResetForm {
		return a.Dict(append(a.Entries(1), cos.E("S", cos.Name("ResetForm")))), nil
	}
	uri, err := toURI(f.Action)
	if err != nil {
		wrong := diag.Diagnostic{Code: "L310", Message: err.Error(), Suggestion: "a button opens an address, or has the action reset"}
		if f.From.Frame != nil {
			wrong.DataPath = f.From.Frame.DataPath(f.From.Part, f.Action, f.Action)
		}
		return nil, diag.Fail(f.Src.Place(wrong))
	}
	return a.Dict(append(a.Entries(2), cos.E("S", cos.Name("URI")), cos.E("URI", a.String(uri)))), nil
}

// The most entries of a widget, and those that its field adds where it has no other.
const widgetEntries, fieldEntries = 14, 9

func rgb(a *cos.Arena, c doc.Color) cos.Object {
	r, g, b := c.RGB()
	part := func(v uint8) cos.Object { return a.Decimal((int64(v)*1000+127)/255, 3) }
	return a.List(part(r), part(g), part(b))
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
	for part, rest, more := strings.Cut(it.Field.Name, "."); ; part, rest, more = strings.Cut(rest, ".") {
		if f != nil && len(f.widgets) > 0 {
			return fail("another field has the first parts of its name")
		}
		at := slices.IndexFunc(*list, func(x *formField) bool { return x.name == part })
		if at < 0 {
			f = e.formFields.One()
			f.name = part
			*list = append(*list, f)
		} else {
			f = (*list)[at]
		}
		if !more {
			break
		}
		list = &f.below
	}
	if len(f.below) > 0 {
		return fail("the names of other fields begin with its name")
	}
	if f.field == nil {
		f.field = it.Field
	}
	a, b := f.field, it.Field
	same := a.Kind == b.Kind && slices.Equal(a.Values, b.Values) && a.Required == b.Required && a.ReadOnly == b.ReadOnly &&
		a.Multiline == b.Multiline && a.Password == b.Password && a.Action == b.Action && a.Comb == b.Comb && a.Editable == b.Editable && a.Multiple == b.Multiple && a.Max == b.Max
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
	c := &content{e: e, pi: pi, b: e.look[:0], repeats: e.lookRepeats[:0], color: doc.Black, bare: true, height: it.H}
	l := &it.Look
	if l.Frame != nil {
		c.circle(it.W, it.H, l.Frame)
	}
	c.rects(l.Back)
	switch {
	case it.Field.Kind == doc.FieldButton:
		if err := c.clipped(l, it.H); err != nil {
			return cos.Ref{}, err
		}
	case l.Mark == layout.MarkNone && (it.Field.Kind != doc.FieldSignature || len(l.Texts) > 0):
		c.b = append(c.b, "/Tx BMC\n"...)
		if len(l.Texts) > 0 {
			if err := c.clipped(l, it.H); err != nil {
				return cos.Ref{}, err
			}
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
	e.look, e.lookRepeats = c.b, c.repeats
	ref, a := e.w.Reserve(), e.w.Arena()
	return ref, e.w.StreamRepeats(ref, append(
		a.Entries(4), cos.E("Type", cos.Name("XObject")), cos.E("Subtype", cos.Name("Form")),
		cos.E("BBox", a.List(cos.Int(0), cos.Int(0), a.Fixed(int64(it.W)), a.Fixed(int64(it.H)))),
		cos.E("Resources", a.Ref(e.resources)),
	), c.b, c.repeats)
}

// clipped draws the texts of a widget of a height, but for what is beyond it.
func (c *content) clipped(l *layout.Look, height doc.Length) error {
	c.b = append(c.b, "q\n"...)
	for _, v := range [4]doc.Length{l.Clip.X, height - l.Clip.Y - l.Clip.H, l.Clip.W, l.Clip.H} {
		c.num(hundredths(v))
		c.b = append(c.b, ' ')
	}
	c.b = append(c.b, "re W n\n"...)
	if err := c.items(l.Texts); err != nil {
		return err
	}
	c.end()
	c.b = append(c.b, "Q\n"...)
	return nil
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
	if err := e.maySign(); err != nil || len(e.fields) == 0 && e.invisible.IsZero() {
		return cos.Ref{}, err
	}
	a := e.w.Arena()
	roots, signed := a.Items(len(e.fields)+1), false
	for _, f := range e.fields {
		r, err := e.writeField(f, cos.Ref{}, &signed)
		if err != nil {
			return r, err
		}
		roots = append(roots, a.Ref(r))
	}
	if !e.invisible.IsZero() {
		if err := e.unseen(); err != nil {
			return e.invisible, err
		}
		roots = append(roots, a.Ref(e.invisible))
	}
	d := append(a.Entries(4), cos.E("Fields", a.Array(roots)))
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
	return ref, e.w.Put(ref, a.Dict(d))
}

// maySign reports whether the field that is to be signed is there.
func (e *Emitter) maySign() error {
	if e.o.Sign == nil || e.o.Sign.Field == "" || e.signs {
		return nil
	}
	known := appendUnsigned(nil, e.fields)
	suggestion := "leave the name out, for a signature that shows nothing"
	if len(known) > 0 {
		suggestion = "sign " + strings.Join(known, ", ")
	}
	wrong := diag.Diagnostic{
		Code: diag.CodeSigner, Message: fmt.Sprintf("the document has no signature field %q", e.o.Sign.Field), Suggestion: suggestion,
	}
	if asked := e.doc.Signing; asked != nil && asked.Field == e.o.Sign.Field {
		wrong = asked.Src.Place(wrong)
	}
	return diag.Fail(wrong)
}

// appendUnsigned appends the full names of the signature fields of a list and below it.
func appendUnsigned(names []string, list []*formField) []string {
	for _, f := range list {
		if f.field != nil && f.field.Kind == doc.FieldSignature {
			names = append(names, f.field.Name)
		}
		names = appendUnsigned(names, f.below)
	}
	return names
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
	pages := e.pages.reader(nil)
	page := pages.next().ref
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
	a := e.w.Arena()
	if f.field != nil {
		e.from = f.field.Src
		defer func() { e.from = nil }()
		*signed = *signed || f.field.Kind == doc.FieldSignature
		if len(f.widgets) == 1 && f.field.Kind != doc.FieldRadio {
			w := &f.widgets[0]
			return w.ref, e.w.Put(w.ref, a.Dict(e.describe(w.dict, f, parent)))
		}
	}
	ref := e.w.Reserve()
	d, kids := e.describe(a.Entries(fieldEntries), f, parent), a.Items(len(f.widgets)+len(f.below))
	for i := range f.widgets {
		w := &f.widgets[i]
		kids = append(kids, a.Ref(w.ref))
		if err := e.w.Put(w.ref, a.Dict(append(w.dict, cos.E("Parent", a.Ref(ref))))); err != nil {
			return ref, err
		}
	}
	for _, x := range f.below {
		r, err := e.writeField(x, ref, signed)
		if err != nil {
			return r, err
		}
		kids = append(kids, a.Ref(r))
	}
	return ref, e.w.Put(ref, a.Dict(append(d, cos.E("Kids", a.Array(kids)))))
}

// describe adds the entries of a field to d (12.7.4.1).
func (e *Emitter) describe(d cos.Dict, f *formField, parent cos.Ref) cos.Dict {
	a := e.w.Arena()
	d = append(d, cos.E("T", a.Text(f.name)))
	if !parent.IsZero() {
		d = append(d, cos.E("Parent", a.Ref(parent)))
	}
	n := f.field
	if n == nil {
		return d
	}
	flags := 0
	set := func(on bool, flag int) {
		if on {
			flags |= flag
		}
	}
	set(n.ReadOnly, form.FlagReadOnly)
	set(n.Required, form.FlagRequired)
	d = append(d, cos.E("TU", a.Text(n.Label)))
	var value cos.Object
	if len(n.Values) > 0 && n.Values[0] != "" {
		value = a.Text(n.Values[0])
	}
	switch n.Kind {
	case doc.FieldText:
		d = append(d, cos.E("FT", cos.Name("Tx")))
		set(n.Multiline, form.FlagMultiline)
		set(n.Password, form.FlagPassword)
		set(n.Comb, form.FlagComb)
		if n.Max > 0 {
			d = append(d, cos.E("MaxLen", a.Int(n.Max)))
		}
	case doc.FieldCheckBox, doc.FieldRadio:
		d = append(d, cos.E("FT", cos.Name("Btn")))
		set(n.Kind == doc.FieldRadio, form.FlagRadio|form.FlagNoToggleToOff)
		state := "Off"
		for i := range f.widgets {
			if slices.Contains(n.Values, f.widgets[i].option) {
				state = f.widgets[i].option
			}
		}
		value = a.Name(state)
	case doc.FieldButton:
		d = append(d, cos.E("FT", cos.Name("Btn")))
		set(true, form.FlagPushbutton)
	case doc.FieldChoice, doc.FieldList:
		d = append(d, cos.E("FT", cos.Name("Ch")))
		set(n.Kind == doc.FieldChoice, form.FlagCombo)
		set(n.Editable && n.Kind == doc.FieldChoice, form.FlagEdit)
		set(n.Multiple, form.FlagMultiSelect)
		options, chosen := a.Items(len(n.Options)), a.Items(len(n.Values))
		values := make(map[string]bool, len(n.Values))
		for _, v := range n.Values {
			values[v] = true
		}
		for i, o := range n.Options {
			if o.Text == "" || o.Text == o.Value {
				options = append(options, a.Text(o.Value))
			} else {
				options = append(options, a.List(a.Text(o.Value), a.Text(o.Text)))
			}
			if values[o.Value] {
				chosen = append(chosen, a.Int(i))
			}
		}
		d = append(d, cos.E("Opt", a.Array(options)))
		if n.Kind == doc.FieldList && len(chosen) > 0 {
			d = append(d, cos.E("I", a.Array(chosen)))
		}
		if len(n.Values) > 1 {
			all := a.Items(len(n.Values))
			for _, v := range n.Values {
				all = append(all, a.Text(v))
			}
			value = a.Array(all)
		}
	case doc.FieldSignature:
		d, value = append(d, cos.E("FT", cos.Name("Sig"))), f.value
	}
	if flags != 0 {
		d = append(d, cos.E("Ff", a.Int(flags)))
	}
	return append(d, cos.E("V", value))
}
