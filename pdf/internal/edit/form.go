package edit

import (
	"slices"
	"strings"

	"example.com/quire/pdf/cos"
)

// field is a terminal field of the interactive form (ISO 32000-2, 12.7.4): one with widgets or
// without, but without fields below.
type field struct {
	ref     cos.Ref // zero: it stands in its parent
	dict    cos.Dict
	name    string // full name
	kind    cos.Name
	widgets []cos.Ref // itself, where field and widget are one
}

// fields returns the terminal fields of the form.
func (e *Draft) fields() (out []field) {
	list := e.array(e.dict(e.catalog().Get("AcroForm")).Get("Fields"))
	if len(list) == 0 {
		return nil
	}
	seen := map[cos.Ref]bool{}
	var walk func(o cos.Object, name string, kind cos.Name, depth int)
	walk = func(o cos.Object, name string, kind cos.Name, depth int) {
		r := refOf(o)
		d := e.dict(o)
		if d == nil || depth > mostDepth || len(out) >= mostEntries || !r.IsZero() && seen[r] {
			return
		}
		seen[r] = true
		if t := e.text(d.Get("T")); t != "" {
			if name != "" {
				name += "."
			}
			name += t
		}
		if k := e.name(d.Get("FT")); k != "" {
			kind = k
		}
		kids := e.array(d.Get("Kids"))
		f := field{ref: r, dict: d, name: name, kind: kind}
		below := false
		for _, kid := range kids {
			if e.isField(kid) {
				below = true
				walk(kid, name, kind, depth+1)
			} else if w := refOf(kid); !w.IsZero() {
				f.widgets = append(f.widgets, w)
			}
		}
		if len(kids) == 0 && e.name(d.Get("Subtype")) == "Widget" && !r.IsZero() {
			f.widgets = append(f.widgets, r)
		}
		if !below || len(f.widgets) > 0 {
			out = append(out, f)
		}
	}
	for _, o := range list {
		walk(o, "", "", 0)
	}
	return out
}

// isField tells a field from a mere widget: it has a name of its own or fields below.
func (e *Draft) isField(o cos.Object) bool {
	d := e.dict(o)
	return d.Get("T") != nil || d.Get("Kids") != nil
}

// pruneForm leaves the fields that have a widget among kept, and those without any; none at all
// takes the form away. Signature fields lose their values, which do not hold for what is written.
func (e *Draft) pruneForm(kept map[uint32]bool) {
	form := e.dict(e.catalog().Get("AcroForm"))
	if form == nil {
		return
	}
	seen := map[cos.Ref]bool{}
	var walk func(o cos.Object, depth int) bool
	walk = func(o cos.Object, depth int) bool {
		r := refOf(o)
		d := e.dict(o)
		if r.IsZero() || d == nil || seen[r] || depth > mostDepth {
			return false
		}
		seen[r] = true
		kids := e.array(d.Get("Kids"))
		if len(kids) == 0 {
			return e.name(d.Get("Subtype")) != "Widget" || kept[r.Num]
		}
		var left cos.Array
		for _, kid := range kids {
			switch {
			case e.isField(kid):
				if walk(kid, depth+1) {
					left = append(left, kid)
				}
			case kept[refOf(kid).Num]:
				left = append(left, kid)
			}
		}
		if len(left) == 0 {
			return false
		}
		if len(left) < len(kids) {
			e.set(r, with(d, "Kids", left))
		}
		return true
	}
	var fields cos.Array
	for _, o := range e.array(form.Get("Fields")) {
		if walk(o, 0) {
			fields = append(fields, o)
		}
	}
	left := map[cos.Ref]bool{}
	if len(fields) == 0 {
		e.change("AcroForm", nil)
		return
	}
	form = with(form, "Fields", fields)
	for _, f := range e.fields() {
		left[f.ref] = true
	}
	if order := e.array(form.Get("CO")); order != nil {
		var co cos.Array
		for _, o := range order {
			if left[refOf(o)] {
				co = append(co, o)
			}
		}
		form = with(form, "CO", nil)
		if co != nil {
			form = with(form, "CO", co)
		}
	}
	e.change("AcroForm", e.add(form))
}

// voidSignatures takes the values of signed fields away, for they hold for the bytes of the file
// that was read, and notes the names of the fields. What they look like stays.
func (e *Draft) voidSignatures() {
	root := e.catalog()
	// They name signatures, of fields or without (12.8.6 and 12.8.4.3).
	if root.Get("Perms") != nil || root.Get("DSS") != nil {
		root = with(with(root, "Perms", nil), "DSS", nil)
		e.set(e.root, root)
	}
	form := e.dict(root.Get("AcroForm"))
	before := len(e.void)
	seen := map[cos.Ref]bool{}
	var walk func(o cos.Object, name string, kind cos.Name, depth int) cos.Object
	walk = func(o cos.Object, name string, kind cos.Name, depth int) cos.Object {
		r, d := refOf(o), e.dict(o)
		if d == nil || depth > mostDepth || !r.IsZero() && seen[r] {
			return o
		}
		seen[r] = true
		if t := e.text(d.Get("T")); t != "" {
			name = strings.TrimPrefix(name+"."+t, ".")
		}
		if k := e.name(d.Get("FT")); k != "" {
			kind = k
		}
		out := d
		if kind == "Sig" && d.Get("V") != nil { // a field may leave it to those below
			out = with(d, "V", nil)
			e.void = append(e.void, name)
		}
		if kids := e.array(d.Get("Kids")); len(kids) > 0 {
			left := make(cos.Array, len(kids))
			for i, kid := range kids {
				left[i] = walk(kid, name, kind, depth+1)
			}
			out = with(out, "Kids", left)
		}
		if r.IsZero() {
			return out
		}
		e.set(r, out)
		return o
	}
	fields := slices.Clone(e.array(form.Get("Fields")))
	for i, o := range fields {
		fields[i] = walk(o, "", "", 0)
	}
	if len(e.void) > before {
		e.change("AcroForm", e.add(with(with(form, "SigFlags", nil), "Fields", fields)))
	}
}
