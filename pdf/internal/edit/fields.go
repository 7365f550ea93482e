package edit

import (
	"slices"
	"strings"
	"unicode/utf8"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/form"
)

// inherited returns the entry of a field, or that of the nearest one above it that has it.
func (e *Draft) inherited(d cos.Dict, key cos.Name) cos.Object {
	for range mostDepth {
		if d == nil {
			break
		}
		if v := e.resolve(d.Get(key)); v != nil {
			return v
		}
		d = e.dict(d.Get("Parent"))
	}
	return nil
}

func (e *Draft) fieldFlags(f *field) int64 { return e.integer(e.inherited(f.dict, "Ff"), 0) }

// kindOf tells what a field is.
func (e *Draft) kindOf(f *field) form.Kind {
	flags := e.fieldFlags(f)
	switch {
	case f.kind == "Sig":
		return form.Signature
	case f.kind == "Ch" && flags&form.FlagCombo != 0:
		return form.Choice
	case f.kind == "Ch":
		return form.List
	case f.kind == "Btn" && flags&form.FlagPushbutton != 0:
		return form.Button
	case f.kind == "Btn" && flags&form.FlagRadio != 0:
		return form.Radio
	case f.kind == "Btn":
		return form.CheckBox
	default:
		return form.Text
	}
}

// state is what a button is when it is on: the name of its appearance, and what is exported.
type state struct{ name, value string }

// states returns those of a field's widgets, in their order.
func (e *Draft) states(f *field) (out []state) {
	values := e.array(e.inherited(f.dict, "Opt"))
	for i, w := range f.widgets {
		s := state{name: e.onState(e.dict(w))}
		s.value = stateText(s.name)
		if i < len(values) {
			if v := e.text(values[i]); v != "" {
				s.value = v
			}
		}
		out = append(out, s)
	}
	return out
}

// stateText is the name of a state as text: names that are not UTF-8 are in PDFDocEncoding, as
// older programs write them.
func stateText(name string) string {
	if utf8.ValidString(name) {
		return name
	}
	s, _ := cos.TextOf(cos.String(name))
	return s
}

// onState returns the name of the appearance of a button that is on.
func (e *Draft) onState(w cos.Dict) string {
	ap := e.dict(w.Get("AP"))
	for _, key := range [...]cos.Name{"N", "D"} {
		list, _ := e.resolve(ap.Get(key)).(cos.Dict)
		for _, x := range list {
			if x.Key != "Off" {
				return string(x.Key)
			}
		}
	}
	if s := e.name(w.Get("AS")); s != "" && s != "Off" {
		return string(s)
	}
	return "Yes"
}

// options returns what can be chosen.
func (e *Draft) options(f *field, kind form.Kind) (out []form.Option) {
	switch kind {
	case form.CheckBox, form.Radio:
		for _, s := range e.states(f) {
			if o := (form.Option{Value: s.value}); !slices.Contains(out, o) {
				out = append(out, o)
			}
		}
	case form.Choice, form.List:
		for _, o := range e.array(e.inherited(f.dict, "Opt")) {
			if pair := e.array(o); len(pair) > 1 {
				x := form.Option{Value: e.text(pair[0]), Text: e.text(pair[1])}
				if x.Text == x.Value {
					x.Text = ""
				}
				out = append(out, x)
			} else {
				out = append(out, form.Option{Value: e.text(o)})
			}
		}
	}
	return out
}

// valuesOf returns what a field holds.
func (e *Draft) valuesOf(f *field, kind form.Kind) []string {
	v := e.inherited(f.dict, "V")
	switch kind {
	case form.Button, form.Signature:
		return nil
	case form.CheckBox, form.Radio:
		name, isName := v.(cos.Name)
		text := e.text(v) // as some files have it
		for _, s := range e.states(f) {
			if isName && s.name == string(name) || !isName && stateText(s.name) == text {
				return []string{s.value}
			}
		}
		return []string{"Off"}
	}
	var out []string
	list, several := v.(cos.Array)
	if !several && v != nil {
		list = cos.Array{v}
	}
	for _, o := range list {
		switch x := e.resolve(o).(type) {
		case cos.Name:
			out = append(out, string(x))
		case *stream:
			s, _ := cos.TextOf(cos.String(e.data(x)))
			out = append(out, s)
		default:
			out = append(out, e.text(x))
		}
	}
	return out
}

// Fields returns the fields of the form, in its order.
func (e *Draft) Fields() []form.Field {
	at := e.widgetPages()
	out := []form.Field{}
	for _, f := range e.fields() {
		kind := e.kindOf(&f)
		x := form.Field{Name: f.name, Kind: kind, Options: e.options(&f, kind), Flags: e.flagNames(&f, kind), Label: e.text(e.inherited(f.dict, "TU")), Widgets: []form.Widget{}}
		if kind == form.Text {
			x.Max = int(max(0, min(e.integer(e.inherited(f.dict, "MaxLen"), 0), 1<<31-1)))
		}
		if v := e.valuesOf(&f, kind); len(v) > 0 {
			x.Value = v[0]
			if len(v) > 1 {
				x.Values = v
			}
		}
		var states []state
		if kind == form.CheckBox || kind == form.Radio {
			states = e.states(&f)
		}
		for i, w := range f.widgets {
			place := form.Widget{Page: at[w.Num], Rect: e.box(e.dict(w).Get("Rect"), [4]float64{})}
			if i < len(states) {
				place.Option = states[i].value
			}
			x.Widgets = append(x.Widgets, place)
		}
		out = append(out, x)
	}
	return out
}

// widgetPages returns the pages, from 1, of annotations by their objects.
func (e *Draft) widgetPages() map[uint32]int {
	at := map[uint32]int{}
	for i, p := range e.pages {
		for _, a := range e.array(p.Dict.Get("Annots")) {
			if r := refOf(a); !r.IsZero() {
				at[r.Num] = i + 1
			}
		}
	}
	return at
}

func (e *Draft) flagNames(f *field, kind form.Kind) []string {
	flags, out := e.fieldFlags(f), []string{}
	for _, x := range []struct {
		on   bool
		name string
	}{
		{flags&form.FlagReadOnly != 0, "read-only"},
		{flags&form.FlagRequired != 0, "required"},
		{flags&form.FlagNoExport != 0, "no-export"},
		{kind == form.Text && flags&form.FlagMultiline != 0, "multiline"},
		{kind == form.Text && flags&form.FlagPassword != 0, "password"},
		{kind == form.Text && flags&form.FlagComb != 0, "comb"},
		{kind == form.Text && flags&form.FlagRichText != 0, "rich-text"},
		{kind == form.Text && flags&form.FlagDoNotScroll != 0, "no-scroll"},
		{kind == form.Choice && flags&form.FlagEdit != 0, "editable"},
		{kind == form.List && flags&form.FlagMultiSelect != 0, "multiple"},
		{kind == form.Radio && flags&form.FlagNoToggleToOff != 0, "no-off"},
		{kind == form.Signature && e.dict(f.dict.Get("V")) != nil, "signed"},
	} {
		if x.on {
			out = append(out, x.name)
		}
	}
	return out
}

// FieldValues returns what the fields of the form hold, but for buttons that start something,
// signatures and those that are not to be exported.
func (e *Draft) FieldValues() (out []form.Value) {
	seen := map[string]bool{}
	for _, f := range e.fields() {
		kind := e.kindOf(&f)
		if kind == form.Button || kind == form.Signature || f.name == "" || seen[f.name] || e.fieldFlags(&f)&form.FlagNoExport != 0 || kind == form.Text && e.fieldFlags(&f)&form.FlagPassword != 0 {
			continue
		}
		seen[f.name] = true
		out = append(out, form.Value{Name: strings.ToValidUTF8(f.name, "\uFFFD"), Is: e.valuesOf(&f, kind), State: kind == form.CheckBox || kind == form.Radio})
	}
	return out
}
