package edit

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"example.com/quire/internal/nearest"
	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/form"
)

// FieldLook is a widget whose appearance is to be made: that of Field, set in Style.
type FieldLook struct {
	Name   string // of the field, in full
	Field  doc.Field
	Style  doc.Style
	widget cos.Ref
	state  cos.Name // of a button: what is made is how it looks on and off
	turned int64    // 0 to 270, counter-clockwise (12.5.6.19)
	size   [2]float64
}

// Fill puts values into the fields of their names and returns the appearances that are to be made,
// which Show takes, and what could not be kept. Errors are *OptionError, several joined, and name
// their fields; the draft is of no use then.
func (e *Draft) Fill(values []form.Value) (looks []FieldLook, warnings []string, err error) {
	byName := map[string][]field{}
	var names []string
	for _, f := range e.fields() {
		if len(byName[f.name]) == 0 {
			names = append(names, f.name)
		}
		byName[f.name] = append(byName[f.name], f)
	}
	if len(names) == 0 && len(values) > 0 {
		return nil, nil, &OptionError{Field: "file", Got: "a file without form fields", Want: "one with fields"}
	}
	var faults []error
	changed := false
	for _, v := range values {
		list := byName[v.Name]
		if len(list) == 0 {
			faults = append(faults, unknownField(v.Name, names))
		}
		for i := range list {
			more, touched, err := e.fillField(&list[i], v.Is)
			if err != nil {
				faults = append(faults, err)
				break
			}
			looks, changed = append(looks, more...), changed || touched
		}
		if len(faults) == mostFaults {
			break
		}
	}
	if len(faults) == 1 {
		return nil, nil, faults[0]
	}
	if len(faults) > 0 {
		return nil, nil, errors.Join(faults...)
	}
	if changed {
		warnings = e.filled()
		if len(looks) == 0 {
			e.complete()
		}
	}
	return looks, warnings, nil
}

// mostFaults is how many wrong values are told.
const mostFaults = 20

func unknownField(name string, names []string) error {
	want := strings.Join(names[:min(len(names), 10)], ", ")
	if len(names) > 10 {
		want += fmt.Sprintf(" and %d more", len(names)-10)
	}
	return &OptionError{Field: fieldCalled(name), Got: "a field that the file does not have", Want: want, Nearest: nearest.Name(name, names)}
}

func fieldCalled(name string) string { return "field " + strconv.Quote(name) }

// fillField puts a value into one field; touched is false where it has it already.
func (e *Draft) fillField(f *field, is []string) (looks []FieldLook, touched bool, err error) {
	kind, flags := e.kindOf(f), e.fieldFlags(f)
	is = slices.Clone(is) // that of the caller stays
	bad := func(got, want string, known ...string) ([]FieldLook, bool, error) {
		o := &OptionError{Field: fieldCalled(f.name), Got: got, Want: want}
		if len(known) > 0 && len(is) > 0 {
			o.Nearest = nearest.Name(is[0], known)
		}
		return nil, false, o
	}
	switch {
	case flags&form.FlagReadOnly != 0:
		if e.holds(f, kind, is) {
			return nil, false, nil // as in what export wrote
		}
		return bad("another value", "none: the field is read-only")
	case kind == form.Button:
		return bad("a value", "none: the field is a button that starts something")
	case kind == form.Signature:
		return bad("a value", "none: the field is for a signature; see sign")
	case kind == form.Text && flags&(form.FlagPassword|form.FlagFileSelect) != 0:
		return bad("a value", "none: passwords and files are not kept in a document")
	case f.ref.IsZero():
		return bad("a field that is not an indirect object", "an undamaged file; rewrite it first, with metadata or reorder")
	case len(is) > 1 && (kind != form.List || flags&form.FlagMultiSelect == 0):
		return bad(fmt.Sprintf("%d values", len(is)), "one")
	}
	if len(is) == 1 && is[0] == "" && kind != form.CheckBox && kind != form.Radio {
		is = nil
	}
	if kind == form.CheckBox || kind == form.Radio {
		return e.press(f, kind, is)
	}
	var value, indices cos.Object
	if kind == form.Text {
		if len(is) > 0 {
			s := strings.ReplaceAll(strings.ReplaceAll(is[0], "\r\n", "\n"), "\r", "\n")
			most := e.integer(e.inherited(f.dict, "MaxLen"), 0)
			if n := len(utf16.Encode([]rune(s))); most > 0 && int64(n) > most {
				return bad(fmt.Sprintf("%d characters", n), fmt.Sprintf("at most %d", most))
			}
			if flags&form.FlagMultiline == 0 && strings.Contains(s, "\n") {
				return bad("a text of several lines", "one line")
			}
			is, value = []string{s}, cos.Text(s)
		}
	} else {
		options := e.options(f, kind)
		var list, at cos.Array
		var chosen []int
		for i, v := range is {
			k := slices.IndexFunc(options, func(o form.Option) bool { return o.Value == v })
			if k < 0 {
				k = slices.IndexFunc(options, func(o form.Option) bool { return o.Text == v && v != "" })
			}
			if k < 0 && (kind != form.Choice || flags&form.FlagEdit == 0) {
				var known []string
				for _, o := range options {
					known = append(known, o.Value)
				}
				is = is[i:]
				return bad(strconv.Quote(v), "one of "+strings.Join(known[:min(len(known), 20)], ", "), known...)
			}
			if k >= 0 {
				is[i] = options[k].Value
				chosen = append(chosen, k)
			}
			list = append(list, cos.Text(is[i]))
		}
		slices.Sort(chosen)
		for _, k := range chosen {
			at = append(at, cos.Int(k))
		}
		if len(list) == 1 {
			value = list[0]
		} else if len(list) > 1 {
			value = list
		}
		if at != nil && kind == form.List {
			indices = at
		}
	}
	if slices.Equal(e.valuesOf(f, kind), is) && !e.bare(f) {
		return nil, false, nil
	}
	d := with(with(e.dict(f.ref), "RV", nil), "I", indices)
	if value == nil && e.inherited(e.dict(d.Get("Parent")), "V") != nil {
		value = cos.Text("") // else that of the field above would be its own
	}
	e.set(f.ref, with(d, "V", value))
	f.dict = e.dict(f.ref)
	return e.fieldLooks(f, kind), true, nil
}

// holds reports whether a field has the values already.
func (e *Draft) holds(f *field, kind form.Kind, is []string) bool {
	some := func(list []string) []string {
		return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == "" })
	}
	return kind != form.Button && kind != form.Signature && slices.Equal(some(e.valuesOf(f, kind)), some(is))
}

// bare reports whether a widget of a field shows nothing.
func (e *Draft) bare(f *field) bool {
	return slices.ContainsFunc(f.widgets, func(w cos.Ref) bool { return e.resolve(e.dict(e.dict(w).Get("AP")).Get("N")) == nil })
}

// press sets check boxes and radio buttons.
func (e *Draft) press(f *field, kind form.Kind, is []string) (looks []FieldLook, touched bool, err error) {
	states := e.states(f)
	var known []string
	for _, s := range states {
		if !slices.Contains(known, s.value) {
			known = append(known, s.value)
		}
	}
	on := cos.Name("Off")
	if len(is) > 0 && is[0] != "" {
		at := slices.IndexFunc(states, func(s state) bool { return s.value == is[0] })
		if at < 0 {
			at = slices.IndexFunc(states, func(s state) bool { return s.name == is[0] })
		}
		switch {
		case at >= 0:
			on = cos.Name(states[at].name)
		case is[0] == "Off" || is[0] == "false" && kind == form.CheckBox:
		case is[0] == "true" && kind == form.CheckBox && len(states) > 0:
			on = cos.Name(states[0].name)
		default:
			return nil, false, &OptionError{Field: fieldCalled(f.name), Got: strconv.Quote(is[0]), Want: "one of " + strings.Join(append(known, "Off"), ", "), Nearest: nearest.Name(is[0], known)}
		}
	}
	if on == "Off" && kind == form.Radio && e.fieldFlags(f)&form.FlagNoToggleToOff != 0 && e.valuesOf(f, kind)[0] != "Off" {
		return nil, false, &OptionError{Field: fieldCalled(f.name), Got: "nothing chosen", Want: "one of " + strings.Join(known, ", ") + ": the field does not go off again"}
	}
	e.set(f.ref, with(e.dict(f.ref), "V", on))
	for i, w := range f.widgets {
		is := cos.Name("Off")
		if states[i].name == string(on) {
			is = on
		}
		e.set(w, with(e.dict(w), "AS", is))
		ap, _ := e.resolve(e.dict(e.dict(w).Get("AP")).Get("N")).(cos.Dict)
		if ap.Get(cos.Name(states[i].name)) == nil {
			if l, ok := e.lookOf(f, kind, w); ok {
				l.state = cos.Name(states[i].name)
				looks = append(looks, l)
			}
		}
	}
	f.dict = e.dict(f.ref)
	return looks, true, nil
}

// filled sees to the form as a whole after fields were changed.
func (e *Draft) filled() (warnings []string) {
	o := e.catalog().Get("AcroForm")
	form := e.dict(o)
	changed := form
	if form.Get("XFA") != nil {
		changed = with(changed, "XFA", nil)
		warnings = append(warnings, "the XFA form was removed: it would show the former values")
	}
	calculated := map[cos.Ref]bool{}
	for _, r := range e.array(form.Get("CO")) {
		calculated[refOf(r)] = true
	}
	var names []string
	for _, f := range e.fields() {
		if calculated[f.ref] && len(names) < 10 {
			names = append(names, f.name)
		}
	}
	if names != nil {
		warnings = append(warnings, "fields that scripts calculate were not recalculated: "+strings.Join(names, ", "))
	}
	if len(changed) < len(form) {
		if r := refOf(o); !r.IsZero() {
			e.set(r, changed)
		} else {
			e.change("AcroForm", changed)
		}
	}
	return warnings
}

// complete takes NeedAppearances away when every field has its appearance: programs would make them
// anew.
func (e *Draft) complete() {
	o := e.catalog().Get("AcroForm")
	form := e.dict(o)
	if form.Get("NeedAppearances") == nil {
		return
	}
	for _, f := range e.fields() {
		if e.kindOf(&f) != "signature" && e.bare(&f) {
			return
		}
	}
	form = with(form, "NeedAppearances", nil)
	if r := refOf(o); !r.IsZero() {
		e.set(r, form)
		return
	}
	e.change("AcroForm", form)
}

// fieldLooks returns what the widgets of a text or choice are to show.
func (e *Draft) fieldLooks(f *field, kind form.Kind) (out []FieldLook) {
	for _, w := range f.widgets {
		if l, ok := e.lookOf(f, kind, w); ok {
			out = append(out, l)
		}
	}
	return out
}

// lookOf describes the appearance of a widget by what its field and its own dictionary say; false:
// it has no room.
func (e *Draft) lookOf(f *field, kind form.Kind, w cos.Ref) (l FieldLook, ok bool) {
	d := e.dict(w)
	box := e.box(d.Get("Rect"), [4]float64{})
	width, height := box[2]-box[0], box[3]-box[1]
	if !(width > 0 && height > 0 && width <= 14400 && height <= 14400) {
		return l, false
	}
	mk := e.dict(d.Get("MK"))
	l = FieldLook{Name: f.name, widget: w, size: [2]float64{width, height}, turned: (e.integer(mk.Get("R"), 0)%360 + 360) % 360 / 90 * 90}
	if l.turned%180 != 0 {
		width, height = height, width
	}
	n := &l.Field
	n.Width, n.Height = doc.Points(width), doc.Points(height)
	n.Background, _ = e.color(mk.Get("BG"))
	if c, some := e.color(mk.Get("BC")); some {
		n.Border = doc.Line{Color: c, Width: doc.Points(min(e.borderWidth(d), width/4, height/4))}
	}
	e.typed(&l, f)
	flags, values := e.fieldFlags(f), e.valuesOf(f, kind)
	switch kind {
	case form.CheckBox, form.Radio:
		n.Kind, n.Round = doc.FieldCheckBox, kind == form.Radio
		if kind == form.Radio {
			n.Kind = doc.FieldRadio
		}
		n.Options = []doc.FieldOption{{Value: "on"}}
	case form.List:
		n.Kind, n.Multiple = doc.FieldList, true
		for i, o := range e.options(f, kind) {
			shown := o.Text
			if shown == "" {
				shown = o.Value
			}
			x := doc.FieldOption{Value: strconv.Itoa(i), Text: shown}
			n.Options = append(n.Options, x)
			if slices.Contains(values, o.Value) {
				n.Values = append(n.Values, x.Value)
			}
		}
		if n.Options == nil {
			return l, false
		}
	default:
		n.Kind = doc.FieldText
		n.Multiline = kind == form.Text && flags&form.FlagMultiline != 0
		if most := e.integer(e.inherited(f.dict, "MaxLen"), 0); kind == form.Text && flags&(form.FlagComb|form.FlagMultiline|form.FlagPassword|form.FlagFileSelect) == form.FlagComb && most > 0 && most <= 10_000 {
			n.Comb, n.Max = true, int(most)
		}
		if len(values) > 0 {
			s := values[0]
			for _, o := range e.options(f, kind) {
				if o.Value == s && o.Text != "" {
					s = o.Text
					break
				}
			}
			n.Values = []string{s}
		}
	}
	return l, true
}

// borderWidth returns the width of a widget's border (12.5.4).
func (e *Draft) borderWidth(d cos.Dict) float64 {
	if bs := e.dict(d.Get("BS")); bs != nil {
		return max(number(e.resolve(bs.Get("W")), 1), 0)
	}
	if a := e.array(d.Get("Border")); len(a) >= 3 {
		return max(number(e.resolve(a[2]), 1), 0)
	}
	return 1
}

// color reads an array of 1, 3 or 4 components; false where it has none.
func (e *Draft) color(o cos.Object) (doc.Color, bool) {
	var v []float64
	for _, x := range e.array(o) {
		v = append(v, min(max(number(e.resolve(x), 0), 0), 1))
	}
	return colorOf(v)
}

func colorOf(v []float64) (doc.Color, bool) {
	b := func(x float64) uint8 { return uint8(math.Round(min(max(x, 0), 1) * 255)) }
	switch len(v) {
	case 1:
		return doc.RGB(b(v[0]), b(v[0]), b(v[0])), true
	case 3:
		return doc.RGB(b(v[0]), b(v[1]), b(v[2])), true
	case 4:
		return doc.RGB(b((1-v[0])*(1-v[3])), b((1-v[1])*(1-v[3])), b((1-v[2])*(1-v[3]))), true
	}
	return 0, false
}

// typed reads how text of a field is set: its default appearance (12.7.4.3) and quadding.
func (e *Draft) typed(l *FieldLook, f *field) {
	acro := e.dict(e.catalog().Get("AcroForm"))
	da, _ := cos.Bytes(e.inherited(f.dict, "DA"))
	if own, ok := cos.Bytes(e.resolve(e.dict(l.widget).Get("DA"))); ok {
		da = own
	}
	if da == nil {
		da, _ = cos.Bytes(e.resolve(acro.Get("DA")))
	}
	st := &l.Style
	st.Align = doc.AlignLeft
	size, leading := 0.0, 0.0
	_ = cos.Operators(da, func(op []byte, args []cos.Object) error { // what it does not understand is not followed
		var v []float64
		for _, a := range args {
			v = append(v, number(a, 0))
		}
		switch n := len(args); string(op) {
		case "Tf":
			if n >= 2 {
				size = v[n-1]
				name, _ := args[n-2].(cos.Name)
				e.family(st, name, acro)
			}
		case "TL":
			if n > 0 {
				leading = v[n-1]
			}
		case "g", "rg", "k":
			if c, ok := colorOf(v); ok {
				st.Color = c
			}
		}
		return nil
	})
	if size > 0 && size <= 1000 {
		st.Size = doc.Points(size)
	} else {
		l.Field.Fit, st.Size = true, doc.Points(12)
	}
	if st.Leading = st.Size * 23 / 20; size > 0 && leading >= size/2 && leading <= 10*size {
		st.Leading = doc.Points(leading)
	}
	quadding := e.integer(e.inherited(f.dict, "Q"), e.integer(acro.Get("Q"), 0))
	switch quadding {
	case 1:
		st.Align = doc.AlignCenter
	case 2:
		st.Align = doc.AlignRight
	}
}

// family chooses the kind of letters by the name of a font of the form.
func (e *Draft) family(st *doc.Style, name cos.Name, acro cos.Dict) {
	base := string(e.name(e.dict(e.dict(e.dict(acro.Get("DR")).Get("Font")).Get(name)).Get("BaseFont")))
	s := strings.ToLower(string(name) + " " + base)
	switch {
	case strings.Contains(s, "cour"), strings.Contains(s, "mono"), strings.Contains(s, "consol"):
		st.Family = "Liberation Mono"
	case strings.Contains(s, "tiro"), strings.Contains(s, "times"), strings.Contains(s, "serif") && !strings.Contains(s, "sans"), strings.Contains(s, "georgia"), strings.Contains(s, "garamond"):
		st.Family = "Liberation Serif"
	default:
		st.Family = "Liberation Sans"
	}
	if strings.Contains(s, "bold") || strings.HasPrefix(s, "hebo ") || strings.HasPrefix(s, "tibo ") {
		st.Weight = 700
	}
	st.Italic = strings.Contains(s, "oblique") || strings.Contains(s, "italic")
}

// Show makes the fields of a document what widgets show: the i-th field that of the i-th look.
func (e *Draft) Show(looks []FieldLook, made *Document) error {
	o := NewDraft(made)
	fields := o.fields()
	if len(fields) != len(looks) {
		return fmt.Errorf("pdf: %d appearances of %d", len(fields), len(looks))
	}
	by := e.join(o)
	for i, l := range looks {
		ap := e.dict(e.dict(cos.Ref{Num: fields[i].widgets[0].Num + by}).Get("AP"))
		normal := e.turned(ap.Get("N"), l)
		d := e.dict(l.widget)
		if l.state != "" {
			states, _ := e.resolve(ap.Get("N")).(cos.Dict)
			normal = cos.Dict{cos.E(l.state, e.turned(states.Get("on"), l)), cos.E("Off", e.turned(states.Get("Off"), l))}
		}
		e.set(l.widget, with(d, "AP", cos.Dict{cos.E("N", normal)}))
	}
	if o.err != nil {
		return o.err
	}
	e.complete()
	return nil
}

// turned returns an appearance in the direction of its widget.
func (e *Draft) turned(o cos.Object, l FieldLook) cos.Object {
	if l.turned == 0 {
		return o
	}
	s, ok := e.resolve(o).(*stream)
	if !ok {
		return o
	}
	m := map[int64][6]float64{
		90: {0, 1, -1, 0, l.size[0], 0}, 180: {-1, 0, 0, -1, l.size[0], l.size[1]}, 270: {0, -1, 1, 0, 0, l.size[1]},
	}[l.turned]
	var matrix cos.Array
	for _, v := range m {
		matrix = append(matrix, cos.Decimal{Mantissa: int64(math.Round(v * 1000)), Scale: 3})
	}
	c := *s
	c.dict = with(c.dict, "Matrix", matrix)
	return e.add(&c)
}
