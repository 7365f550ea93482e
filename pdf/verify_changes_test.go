package pdf_test

import (
	"crypto/elliptic"
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/cos"
)

// revise appends a revision to a file: f has the objects under their names and puts others.
func revise(tb testing.TB, b []byte, f func(*revision)) []byte {
	tb.Helper()
	return updated(tb, b, func(r *cos.Reader, u *cos.Update) { f(&revision{tb, r, u}) })
}

type revision struct {
	tb testing.TB
	r  *cos.Reader
	u  *cos.Update
}

func (v *revision) root() cos.Ref {
	ref, _ := v.r.Trailer().Get("Root").(cos.Ref)
	return ref
}

func (v *revision) page() cos.Ref { return firstPage(v.tb, v.r) }

// at follows keys from an object.
func (v *revision) at(o cos.Object, keys ...cos.Name) cos.Object {
	v.tb.Helper()
	for _, k := range keys {
		d, err := v.r.Dict(o)
		if err != nil {
			v.tb.Fatal(err)
		}
		o = d.Get(k)
	}
	return o
}

func (v *revision) list(o cos.Object, keys ...cos.Name) cos.Array {
	v.tb.Helper()
	x, err := v.r.Resolve(v.at(o, keys...))
	if err != nil {
		v.tb.Fatal(err)
	}
	a, _ := x.(cos.Array)
	return slices.Clone(a)
}

func (v *revision) put(o cos.Object, key cos.Name, value cos.Object) {
	v.tb.Helper()
	put(v.tb, v.r, v.u, o, key, value)
}

// puts writes an object anew with values under keys.
func (v *revision) puts(o cos.Object, values cos.Dict) {
	v.tb.Helper()
	d, err := v.r.Dict(o)
	if err != nil {
		v.tb.Fatal(err)
	}
	out := slices.Clone(values)
	for _, x := range d {
		if values.Get(x.Key) == nil {
			out = append(out, x)
		}
	}
	v.over(o, out)
}

// add puts a new object.
func (v *revision) add(o cos.Object) cos.Ref {
	v.tb.Helper()
	ref := v.u.Reserve()
	v.over(ref, o)
	return ref
}

func (v *revision) over(ref cos.Object, o cos.Object) {
	v.tb.Helper()
	r, _ := ref.(cos.Ref)
	if err := v.u.Put(r, o); err != nil || r.IsZero() {
		v.tb.Fatal(ref, err)
	}
}

func (v *revision) stream(ref cos.Object, data string) {
	v.tb.Helper()
	r, _ := ref.(cos.Ref)
	if err := v.u.Stream(r, cos.Dict{}, []byte(data)); err != nil || r.IsZero() {
		v.tb.Fatal(ref, err)
	}
}

// widget is a text field of the first page, which is added to the form.
func (v *revision) widget(name string) cos.Dict {
	return cos.Dict{
		cos.E("Type", cos.Name("Annot")), cos.E("Subtype", cos.Name("Widget")), cos.E("FT", cos.Name("Tx")), cos.E("T", cos.Text(name)), cos.E("P", v.page()),
		cos.E("Rect", cos.Array{cos.Int(9), cos.Int(9), cos.Int(99), cos.Int(29)}), cos.E("V", cos.Text("one")),
	}
}

// shadow is how a file is made before it is signed and changed after.
type shadow struct {
	before, after func(*revision)
	want          string // in the reasons, when it is not to be valid
}

// verdict signs a file that was changed before and judges it changed after.
func (s shadow) verdict(t *testing.T, e *pdf.Engine, a *authority, body []byte, q pdf.SignRequest) []pdf.Verdict {
	t.Helper()
	if s.before != nil {
		body = revise(t, body, s.before)
	}
	q.Identity = a.identity(t, "Ada", ecKey(t, elliptic.P256()))
	return a.verdicts(t, e, revise(t, signed(t, e, body, q), s.after))
}

// TestShadowsInSignedFilesAreDetected: whoever makes a file can give one object two roles, of which one
// may change, or leave one out that comes later. None is valid.
func TestShadowsInSignedFilesAreDetected(t *testing.T) {
	t.Parallel()
	e, a := newEngine(t, pdf.Config{}), newAuthority(t)
	body, _ := render(t, e, pdf.RenderOptions{Standards: compliant, Time: testTime}, note("Shadow", 2))
	content := func(v *revision) cos.Object { return v.list(v.page(), "Contents")[0] }
	other := func(v *revision) { v.stream(content(v), "0 0 9 9 re f") }
	var missing, list cos.Ref
	mark := func(v *revision) cos.Ref {
		ref := v.u.Reserve()
		if err := v.u.Stream(ref, cos.Dict{cos.E("Type", cos.Name("Annot")), cos.E("Subtype", cos.Name("Square"))}, []byte("0 0 9 9 re f")); err != nil {
			t.Fatal(err)
		}
		return ref
	}
	for name, c := range map[string]shadow{
		"content is metadata": {func(v *revision) { v.put(v.root(), "Metadata", content(v)) }, other, "that is drawn"},
		"content is validation data": {
			func(v *revision) {
				v.put(v.root(), "DSS", v.add(cos.Dict{cos.E("Certs", cos.Array{content(v)})}))
			}, other, "that is drawn",
		},
		"layers are metadata": {
			func(v *revision) {
				list = v.add(cos.Dict{cos.E("OCGs", cos.Array{}), cos.E("D", cos.Dict{})})
				v.puts(v.root(), cos.Dict{cos.E("OCProperties", list), cos.E("Metadata", list)})
			},
			func(v *revision) { v.put(list, "D", cos.Dict{cos.E("BaseState", cos.Name("OFF"))}) }, "that is drawn",
		},
		"names are metadata": {
			func(v *revision) {
				list = v.add(cos.Dict{})
				v.puts(v.root(), cos.Dict{cos.E("Metadata", list), cos.E("Names", list)})
			},
			func(v *revision) { v.put(list, "JavaScript", cos.Dict{}) }, "an object",
		},
		"content that was missing": {
			func(v *revision) {
				missing = v.u.Reserve()
				v.put(v.page(), "Contents", cos.Array{content(v), missing})
				v.add(cos.Dict{})
			},
			func(v *revision) { v.stream(missing, "0 0 9 9 re f") }, "that was missing",
		},
		"annotations are content": {
			func(v *revision) {
				list = v.add(cos.Array{content(v)})
				v.puts(v.page(), cos.Dict{cos.E("Contents", list), cos.E("Annots", list)})
			},
			func(v *revision) { v.over(list, append(v.list(list), mark(v))) }, "",
		},
		"resources of the form are those of the page": {
			func(v *revision) {
				list = v.add(cos.Dict{cos.E("XObject", cos.Dict{})})
				v.put(v.page(), "Resources", list)
				v.put(v.root(), "AcroForm", v.add(cos.Dict{cos.E("Fields", cos.Array{}), cos.E("DR", list)}))
			},
			func(v *revision) { v.put(list, "XObject", cos.Dict{cos.E("X", mark(v))}) }, "that is drawn",
		},
		"a field is resources": {
			func(v *revision) {
				f := v.add(append(v.widget("shadow"), cos.E("AP", v.add(cos.Dict{}))))
				list = f
				v.put(v.page(), "Resources", cos.Dict{cos.E("XObject", f)})
				v.put(v.root(), "AcroForm", v.add(cos.Dict{cos.E("Fields", cos.Array{f})}))
			},
			func(v *revision) { v.put(list, "V", mark(v)) }, "that is drawn",
		},
		"how all fields look": {
			func(v *revision) {
				v.put(v.root(), "AcroForm", v.add(cos.Dict{cos.E("Fields", cos.Array{}), cos.E("DA", cos.String("/F 9 Tf 0 g"))}))
			},
			func(v *revision) { v.put(v.at(v.root(), "AcroForm"), "DA", cos.String("/F 9 Tf 1 g")) }, "the form: DA",
		},
		"a field is no longer on the page": {
			func(v *revision) {
				f := v.add(v.widget("sum"))
				v.put(v.root(), "AcroForm", v.add(cos.Dict{cos.E("Fields", cos.Array{f})}))
				v.put(v.page(), "Annots", cos.Array{f})
			},
			func(v *revision) { v.put(v.page(), "Annots", v.list(v.page(), "Annots")[1:]) }, "a field is gone",
		},
		"a field in the place of a note": {
			func(v *revision) {
				v.put(v.page(), "Annots", cos.Array{v.add(cos.Dict{cos.E("Type", cos.Name("Annot")), cos.E("Subtype", cos.Name("Square"))})})
			},
			func(v *revision) {
				v.put(v.page(), "Annots", append(v.list(v.page(), "Annots")[1:], v.add(v.widget("new"))))
			}, "a new field",
		},
		"an entry of the parent tree comes twice": {nil, func(v *revision) {
			tree := v.at(v.root(), "StructTreeRoot", "ParentTree")
			leaf := cos.Dict{cos.E("Limits", cos.Array{cos.Int(0), cos.Int(0)}), cos.E("Nums", cos.Array{cos.Int(0), cos.Array{}})}
			v.put(tree, "Kids", append(v.list(tree, "Kids"), v.add(leaf)))
		}, "the parent tree: entry 0"},
	} {
		v := c.verdict(t, e, a, body, pdf.SignRequest{})
		if len(v) != 1 || v[0].Integrity != "intact" || v[0].Valid || !strings.Contains(strings.Join(v[0].Reasons, "; "), c.want) {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// TestACopyOfASignatureIsNone: a later field with the bytes of a signature and other words about it.
func TestACopyOfASignatureIsNone(t *testing.T) {
	t.Parallel()
	e, a := newEngine(t, pdf.Config{}), newAuthority(t)
	body, _ := render(t, e, pdf.RenderOptions{}, note("Copy", 1))
	file := signed(t, e, body, pdf.SignRequest{Identity: a.identity(t, "Ada", ecKey(t, elliptic.P256())), Field: "Ada"})
	file = revise(t, file, func(v *revision) {
		value, err := v.r.Dict(valueOf(t, v.r))
		if err != nil {
			t.Fatal(err)
		}
		form := v.at(v.root(), "AcroForm")
		fields := append(v.list(form, "Fields"), v.add(cos.Dict{
			cos.E("FT", cos.Name("Sig")), cos.E("T", cos.Text("Ada")), cos.E("V", v.add(append(slices.Clone(value), cos.E("Reason", cos.Text("forged"))))),
		}))
		if _, own := form.(cos.Ref); own {
			v.put(form, "Fields", fields)
			return
		}
		v.put(v.root(), "AcroForm", cos.Dict{cos.E("SigFlags", cos.Int(3)), cos.E("Fields", fields)})
	})
	v := a.verdicts(t, e, file)
	if len(v) != 2 || !v[0].Valid || v[0].Reason == "forged" || v[1].Valid || v[1].Reason != "forged" {
		t.Errorf("%+v", v)
	}
}

// TestLocksOfFieldsHold: FieldMDP by each action; fields beside may be filled.
func TestLocksOfFieldsHold(t *testing.T) {
	t.Parallel()
	e, a := newEngine(t, pdf.Config{}), newAuthority(t)
	body, _ := render(t, e, pdf.RenderOptions{}, note("Locks", 1))
	names := []string{"sum", "note"}
	for name, c := range map[string]struct {
		lock cos.Dict
		want [2]bool // whether each field may be filled
	}{
		"all":     {cos.Dict{cos.E("Action", cos.Name("All"))}, [2]bool{false, false}},
		"include": {cos.Dict{cos.E("Action", cos.Name("Include")), cos.E("Fields", cos.Array{cos.Text("sum")})}, [2]bool{false, true}},
		"exclude": {cos.Dict{cos.E("Action", cos.Name("Exclude")), cos.E("Fields", cos.Array{cos.Text("sum")})}, [2]bool{true, false}},
		"other":   {cos.Dict{cos.E("Action", cos.Name("Unknown"))}, [2]bool{false, false}},
		"nothing": {cos.Dict{cos.E("Action", cos.Name("Include")), cos.E("P", cos.Int(1))}, [2]bool{false, false}},
	} {
		for i, field := range names {
			var fields cos.Array
			s := shadow{before: func(v *revision) {
				fields = nil
				for _, n := range names {
					fields = append(fields, v.add(v.widget(n)))
				}
				sig := v.add(cos.Dict{
					cos.E("Type", cos.Name("Annot")), cos.E("Subtype", cos.Name("Widget")), cos.E("FT", cos.Name("Sig")), cos.E("T", cos.Text("Ada")), cos.E("P", v.page()),
					cos.E("Rect", cos.Array{cos.Int(0), cos.Int(0), cos.Int(0), cos.Int(0)}), cos.E("Lock", v.add(append(slices.Clone(c.lock), cos.E("Type", cos.Name("SigFieldLock"))))),
				})
				v.put(v.root(), "AcroForm", v.add(cos.Dict{cos.E("Fields", append(slices.Clone(fields), sig))}))
				v.put(v.page(), "Annots", append(slices.Clone(fields), sig))
			}, after: func(v *revision) { v.put(fields[i], "V", cos.Text("two")) }}
			v := s.verdict(t, e, a, body, pdf.SignRequest{Field: "Ada"})
			if len(v) != 1 || v[0].Integrity != "intact" || v[0].Valid != c.want[i] || len(v[0].Changes) != 1 {
				t.Errorf("%s, %s: %+v", name, field, v)
			}
		}
	}
}

// TestDataForValidationMayCome after every signature (ISO 32000-2, 12.8.4.3), and grow; nothing else
// comes with it.
func TestDataForValidationMayCome(t *testing.T) {
	t.Parallel()
	e, a := newEngine(t, pdf.Config{}), newAuthority(t)
	body, _ := render(t, e, pdf.RenderOptions{}, note("DSS", 1))
	id := a.identity(t, "Ada", ecKey(t, elliptic.P256()))
	blob := func(v *revision, data string) cos.Ref {
		ref := v.u.Reserve()
		v.stream(ref, data)
		return ref
	}
	for _, level := range []pdf.Certification{0, pdf.CertifyNoChanges, pdf.CertifyFormFilling} {
		file := signed(t, e, body, pdf.SignRequest{Identity: id, Certify: level})
		file = revise(t, file, func(v *revision) {
			certs := v.add(cos.Array{blob(v, string(a.cert.Raw))})
			v.put(v.root(), "DSS", v.add(cos.Dict{cos.E("Type", cos.Name("DSS")), cos.E("Certs", certs), cos.E("VRI", cos.Dict{cos.E("ABC", cos.Dict{cos.E("Cert", certs)})})}))
		})
		if v := a.verdicts(t, e, file); len(v) != 1 || !v[0].Valid || v[0].Later != "allowed" || len(v[0].Changes) != 1 || v[0].Changes[0].What != "data for validation" {
			t.Errorf("level %d: %+v", level, v)
		}
		grown := revise(t, file, func(v *revision) {
			certs := v.at(v.root(), "DSS", "Certs")
			v.over(certs, append(v.list(certs), blob(v, "more")))
		})
		if v := a.verdicts(t, e, grown); len(v) != 1 || !v[0].Valid || v[0].Changes[0].What != "data for validation" {
			t.Errorf("level %d, grown: %+v", level, v)
		}
		// A second signature covers the store, which may still grow.
		if level != pdf.CertifyNoChanges {
			again := signed(t, e, file, pdf.SignRequest{Identity: id, Field: "Second"})
			again = revise(t, again, func(v *revision) {
				certs := v.at(v.root(), "DSS", "Certs")
				v.over(certs, append(v.list(certs), blob(v, "more")))
			})
			if v := a.verdicts(t, e, again); len(v) != 2 || !v[0].Valid || !v[1].Valid {
				t.Errorf("level %d, two: %+v", level, v)
			}
		}
		more := revise(t, file, func(v *revision) {
			v.put(v.root(), "DSS", cos.Dict{})
			v.put(v.page(), "MediaBox", cos.Array{cos.Int(0), cos.Int(0), cos.Int(9), cos.Int(9)})
		})
		if v := a.verdicts(t, e, more); len(v) != 1 || v[0].Valid {
			t.Errorf("level %d, more: %+v", level, v)
		}
	}
}

// TestParentTreesGrowUnderSignatures: one of leaves below nodes gets another leaf with each visible
// signature, and all stay valid.
func TestParentTreesGrowUnderSignatures(t *testing.T) {
	t.Parallel()
	e, a := newEngine(t, pdf.Config{}), newAuthority(t)
	file, _ := render(t, e, pdf.RenderOptions{Standards: compliant, Time: testTime}, note("Tree", 2))
	for i := range 3 {
		file = signed(t, e, file, pdf.SignRequest{
			Identity: a.identity(t, "Ada", ecKey(t, elliptic.P256())), Field: fmt.Sprintf("F%d", i), Rect: [4]float64{100, 100 + 90*float64(i), 300, 170 + 90*float64(i)},
		})
	}
	v := a.verdicts(t, e, file)
	if len(v) != 3 || !v[0].Valid || !v[1].Valid || !v[2].Valid || v[0].Later != "allowed" {
		t.Errorf("%+v", v)
	}
	revise(t, file, func(v *revision) {
		if n := len(v.list(v.root(), "StructTreeRoot", "ParentTree", "Kids")); n != 4 {
			t.Errorf("%d leaves", n)
		}
	})
}
