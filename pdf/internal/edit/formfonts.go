package edit

import (
	"bytes"
	"slices"

	"example.com/quire/pdf/cos"
)

// fontNames gives the fonts of a form other names where the form that it is merged into has theirs
// for other fonts, and writes them into the default appearances of its fields and annotations
// (ISO 32000-2, 12.7.4.3). It returns the form with them.
func (m *merger) fontNames(o *Draft, ours, theirs cos.Dict) cos.Dict {
	resources := o.dict(theirs.Get("DR"))
	fonts := o.dict(resources.Get("Font"))
	ourFonts := m.e.dict(m.e.dict(ours.Get("DR")).Get("Font"))
	w := fontRenamer{o: o, seen: map[cos.Ref]bool{}, as: others(ourFonts, fonts, func(name cos.Name) bool {
		return m.alike(ourFonts.Get(name), moved(fonts.Get(name), m.by))
	})}
	if len(w.as) == 0 {
		return theirs
	}
	fonts = slices.Clone(fonts)
	for i, x := range fonts {
		if name, other := w.as[x.Key]; other {
			fonts[i].Key = name
		}
	}
	theirs = with(theirs, "DR", with(resources, "Font", fonts))
	if da, other := w.appearance(theirs.Get("DA")); other {
		theirs = with(theirs, "DA", da)
	}
	if fields, other := w.fields(theirs.Get("Fields"), 0); other {
		theirs = with(theirs, "Fields", fields)
	}
	for i, p := range o.pages {
		if annots, other := w.fields(p.Dict.Get("Annots"), 0); other {
			o.pages[i].Dict = with(p.Dict, "Annots", annots)
			o.set(p.Ref, o.pages[i].Dict)
		}
	}
	return theirs
}

// fontRenamer goes through the fields of a form.
type fontRenamer struct {
	o    *Draft
	as   map[cos.Name]cos.Name
	seen map[cos.Ref]bool
	n    int
}

// fields renames in an array of fields or annotations. What stands in its place is another where
// some of them are no objects of their own.
func (w *fontRenamer) fields(list cos.Object, depth int) (as cos.Object, changed bool) {
	return replaced(w.o.array(list), func(f cos.Object) (cos.Object, bool) { return w.field(f, depth) })
}

func (w *fontRenamer) field(o cos.Object, depth int) (as cos.Object, changed bool) {
	r := refOf(o)
	d := w.o.dict(o)
	if w.n++; d == nil || w.seen[r] || depth > mostDepth || w.n > mostEntries {
		return o, false
	}
	if !r.IsZero() {
		w.seen[r] = true
	}
	if kids, other := w.fields(d.Get("Kids"), depth+1); other {
		d, changed = with(d, "Kids", kids), true
	}
	if da, other := w.appearance(d.Get("DA")); other {
		d, changed = with(d, "DA", da), true
	}
	if changed && !r.IsZero() {
		w.o.set(r, d)
		return r, false
	}
	return d, changed
}

// appearance renames the fonts of a default appearance.
func (w *fontRenamer) appearance(o cos.Object) (as cos.Object, changed bool) {
	da, ok := cos.Bytes(w.o.resolve(o))
	if !ok {
		return o, false
	}
	var out []byte
	err := cos.Operators(da, func(op []byte, args []cos.Object) error {
		for i, a := range args {
			if name, is := a.(cos.Name); is && string(op) == "Tf" && i == len(args)-2 {
				if to, other := w.as[name]; other {
					a, changed = to, true
				}
			}
			out = append(a.AppendPDF(out), ' ')
		}
		out = append(append(out, op...), ' ')
		return nil
	})
	if err != nil || !changed {
		return o, false
	}
	return cos.String(bytes.TrimSpace(out)), true
}

// mostAlike bounds what is compared of two objects.
const mostAlike = 1000

// alike reports whether two objects say the same, with all that they refer to.
func (m *merger) alike(a, b cos.Object) bool {
	n := 0
	var same func(a, b cos.Object) bool
	same = func(a, b cos.Object) bool {
		if n++; n > mostAlike {
			return false
		}
		if x, y := refOf(a), refOf(b); !x.IsZero() && x == y {
			return true
		}
		switch x := m.e.resolve(a).(type) {
		case nil:
			return m.e.resolve(b) == nil
		case cos.Array:
			y, ok := m.e.resolve(b).(cos.Array)
			return ok && slices.EqualFunc(x, y, same)
		case cos.Dict:
			y, ok := m.e.resolve(b).(cos.Dict)
			return ok && len(x) == len(y) && !slices.ContainsFunc(x, func(v cos.Entry) bool { return !same(v.Value, y.Get(v.Key)) })
		case *stream:
			y, ok := m.e.resolve(b).(*stream)
			if !ok || x.in == nil || y.in == nil || !same(x.dict, y.dict) {
				return false
			}
			p, err := x.from.Raw(x.in)
			q, fault := y.from.Raw(y.in)
			return err == nil && fault == nil && bytes.Equal(p, q)
		default:
			y := m.e.resolve(b)
			return y != nil && bytes.Equal(x.AppendPDF(nil), y.AppendPDF(nil))
		}
	}
	return same(a, b)
}
