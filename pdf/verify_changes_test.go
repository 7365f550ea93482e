//go:build !race

package pdf_test

import (
	"bytes"
	"crypto/elliptic"
	"crypto/x509"
	"errors"
	"fmt"
	"regexp"
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

// shadows are how files can be made that show something else later: one object has two roles, of
// which one may change, or one is left out that comes later, or something that was hidden is shown.
func shadows(t *testing.T) map[string]shadow {
	t.Helper()
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
	return map[string]shadow{
		"hide: what lay over the content is gone": {
			func(v *revision) {
				list = v.u.Reserve()
				if err := v.u.Stream(list, cos.Dict{cos.E("Type", cos.Name("XObject")), cos.E("Subtype", cos.Name("Form")), cos.E("BBox", cos.Array{cos.Int(0), cos.Int(0), cos.Int(9), cos.Int(9)})}, []byte("1 g 0 0 9 9 re f")); err != nil {
					t.Fatal(err)
				}
				v.put(v.page(), "Resources", cos.Dict{cos.E("XObject", cos.Dict{cos.E("Over", list)})})
			},
			func(v *revision) { v.over(list, cos.Null{}) }, "that is drawn",
		},
		"hide: its layer is off": {
			func(v *revision) {
				v.put(v.root(), "OCProperties", cos.Dict{cos.E("OCGs", cos.Array{}), cos.E("D", cos.Dict{})})
			},
			func(v *revision) {
				v.put(v.root(), "OCProperties", cos.Dict{cos.E("OCGs", cos.Array{}), cos.E("D", cos.Dict{cos.E("BaseState", cos.Name("OFF"))})})
			}, "the catalog: OCProperties",
		},
		"replace: another font": {nil, func(v *revision) {
			for r := range v.r.Refs() {
				if d, err := v.r.Dict(r); err == nil && d.Get("Type") == cos.Object(cos.Name("Font")) {
					v.put(r, "ToUnicode", cos.Name("Identity-H"))
					return
				}
			}
		}, "that is drawn"},
		"hide and replace: another tree of pages": {
			func(v *revision) {
				list = v.add(cos.Dict{cos.E("Type", cos.Name("Pages")), cos.E("Kids", cos.Array{}), cos.E("Count", cos.Int(0))})
				v.put(v.root(), "PieceInfo", list)
			},
			func(v *revision) { v.put(v.root(), "Pages", list) }, "the catalog: ",
		},
		"hide and replace: another page": {
			func(v *revision) {
				list = v.add(cos.Dict{cos.E("Type", cos.Name("Page")), cos.E("Parent", v.at(v.page(), "Parent")), cos.E("MediaBox", cos.Array{cos.Int(0), cos.Int(0), cos.Int(9), cos.Int(9)})})
				v.put(v.root(), "PieceInfo", list)
			},
			func(v *revision) {
				kids := v.list(v.at(v.root(), "Pages"), "Kids")
				v.put(v.at(v.root(), "Pages"), "Kids", append(cos.Array{list}, kids...))
			}, "an object of the type Pages",
		},
		"a note that runs something": {nil, func(v *revision) {
			v.put(v.page(), "Annots", append(v.list(v.page(), "Annots"), v.add(cos.Dict{
				cos.E("Type", cos.Name("Annot")), cos.E("Subtype", cos.Name("Square")), cos.E("A", cos.Dict{cos.E("S", cos.Name("JavaScript")), cos.E("JS", cos.Text("x"))}),
			})))
		}, "with an action"},
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
			func(v *revision) { v.put(v.page(), "Annots", v.list(v.page(), "Annots")[1:]) }, "a field was removed",
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
	}
}

// TestShadowsInSignedFilesAreDetected: none is valid, and each says why.
func TestShadowsInSignedFilesAreDetected(t *testing.T) {
	t.Parallel()
	e, a := newEngine(t, pdf.Config{}), newAuthority(t)
	body, _ := render(t, e, pdf.RenderOptions{Standards: compliant, Time: testTime}, note("Shadow", 2))
	for name, c := range shadows(t) {
		v := c.verdict(t, e, a, body, pdf.SignRequest{})
		if len(v) != 1 || v[0].Integrity != "intact" || v[0].Valid || !strings.Contains(strings.Join(v[0].Reasons, "; "), c.want) {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// TestWhatComesAfterACertificationMayNotCoverIt: a signature that is seen could hide what was
// certified, as could a note where notes are allowed, which is told. Neither is made here.
func TestWhatComesAfterACertificationMayNotCoverIt(t *testing.T) {
	t.Parallel()
	e, a := newEngine(t, pdf.Config{}), newAuthority(t)
	id := a.identity(t, "Ada", ecKey(t, elliptic.P256()))
	body, _ := render(t, e, pdf.RenderOptions{}, note("Covered", 1))
	box := [4]float64{100, 100, 300, 200}
	for _, level := range []pdf.Certification{pdf.CertifyFormFilling, pdf.CertifyAnnotations} {
		file := signed(t, e, body, pdf.SignRequest{Identity: id, Certify: level})
		var option *pdf.OptionError
		var out bytes.Buffer
		if _, err := e.Sign(t.Context(), &out, opened(t, e, file), pdf.SignRequest{Identity: id, Time: testTime, Rect: box}); !errors.As(err, &option) || option.Field != "box" || out.Len() > 0 {
			t.Errorf("level %d: %v", level, err)
		}
		hidden := signed(t, e, file, pdf.SignRequest{Identity: id})
		if v := a.verdicts(t, e, hidden); len(v) != 2 || !v[0].Valid || !v[1].Valid {
			t.Errorf("level %d, not seen: %+v", level, v)
		}
		seen := revise(t, file, func(v *revision) {
			f := v.widget("Second")
			f[2], f[5] = cos.E("FT", cos.Name("Sig")), cos.E("Rect", cos.Array{cos.Int(9), cos.Int(9), cos.Int(599), cos.Int(799)})
			ref := v.add(slices.DeleteFunc(f, func(x cos.Entry) bool { return x.Key == "V" }))
			v.put(v.page(), "Annots", append(v.list(v.page(), "Annots"), ref))
			form := v.at(v.root(), "AcroForm")
			fields := append(v.list(form, "Fields"), ref)
			if _, own := form.(cos.Ref); own {
				v.put(form, "Fields", fields)
			} else {
				v.put(v.root(), "AcroForm", cos.Dict{cos.E("SigFlags", cos.Int(3)), cos.E("Fields", fields)})
			}
		})
		if v := a.verdicts(t, e, seen); len(v) != 1 || v[0].Valid || !strings.Contains(strings.Join(v[0].Reasons, "; "), "which may cover what the author certified") {
			t.Errorf("level %d, seen: %+v", level, v)
		}
	}
	// Without a certification it is allowed, and told.
	twice := signed(t, e, signed(t, e, body, pdf.SignRequest{Identity: id}), pdf.SignRequest{Identity: id, Rect: box})
	if v := a.verdicts(t, e, twice); len(v) != 2 || !v[0].Valid || !strings.Contains(strings.Join(v[0].Reasons, "; "), "may cover content that was signed") {
		t.Errorf("%+v", v)
	}
}

// TestBytesBehindASignatureAreARevisionOrNothing: what only some readers would take for a part of
// the file is not passed over; an entry of a cross-reference table alone changes what is shown.
func TestBytesBehindASignatureAreARevisionOrNothing(t *testing.T) {
	t.Parallel()
	e, a := newEngine(t, pdf.Config{}), newAuthority(t)
	id := a.identity(t, "Ada", ecKey(t, elliptic.P256()))
	stream := func(s string) string {
		return fmt.Sprintf("4 0 obj\n<</Length %d>>\nstream\n%s\nendstream\nendobj\n", len(s), s)
	}
	b := []byte("%PDF-1.7\n")
	at := map[string]int{}
	for name, o := range map[string]string{
		"1": "1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n", "2": "2 0 obj\n<</Type/Pages/Kids[3 0 R]/Count 1/MediaBox[0 0 300 200]>>\nendobj\n",
		"3": "3 0 obj\n<</Type/Page/Parent 2 0 R/Contents 4 0 R>>\nendobj\n", "4": stream("0 0 9 9 re f"), "hidden": stream("0 0 99 99 re f"),
	} {
		at[name] = len(b)
		b = append(b, o...)
	}
	table := len(b)
	b = append(b, "xref\n0 5\n0000000000 65535 f \n"...)
	for _, n := range []string{"1", "2", "3", "4"} {
		b = fmt.Appendf(b, "%010d 00000 n \n", at[n])
	}
	b = fmt.Appendf(b, "trailer\n<</Size 5/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", table)
	file := signed(t, e, b, pdf.SignRequest{Identity: id})
	if v := a.verdicts(t, e, file); len(v) != 1 || !v[0].Valid || !v[0].CoversFile {
		t.Fatalf("%+v", v)
	}
	last := regexp.MustCompile(`startxref\n(\d+)\n`).FindAllSubmatch(file, -1)
	prev := string(last[len(last)-1][1])
	size := opened(t, e, file).Info().Revisions + 100 // any that is large enough
	for name, c := range map[string]struct {
		more string
		want string
	}{
		"no cross-reference table":               {"\n" + stream("0 0 99 99 re f"), "not a revision"},
		"a table and no trailer":                 {fmt.Sprintf("\n%sxref\n4 1\n%010d 00000 n \nstartxref\n%d\n%%%%EOF\n", stream("0 0 99 99 re f"), len(file)+1, len(file)+1), ""},
		"comments":                               {"\n% nothing\n", "not a revision"},
		"an end and more":                        {"\n%%EOF\n%%EOF\n", "not a revision"},
		"an entry of the table alone":            {fmt.Sprintf("\nxref\n4 1\n%010d 00000 n \ntrailer\n<</Size %d/Root 1 0 R/Prev %s>>\nstartxref\n%d\n%%%%EOF\n", at["hidden"], size, prev, len(file)+1), "that is drawn"},
		"an entry that frees an object":          {fmt.Sprintf("\nxref\n4 1\n0000000000 00001 f \ntrailer\n<</Size %d/Root 1 0 R/Prev %s>>\nstartxref\n%d\n%%%%EOF\n", size, prev, len(file)+1), "that is drawn"},
		"a revision that says nothing, and junk": {fmt.Sprintf("\nxref\n0 0\ntrailer\n<</Size %d/Root 1 0 R/Prev %s>>\nstartxref\n%d\n%%%%EOF\n%s", size, prev, len(file)+1, stream("0 0 99 99 re f")), "not a revision"},
	} {
		forged := append(slices.Clone(file), c.more...)
		d, err := e.Open(t.Context(), bytes.NewReader(forged), int64(len(forged)), pdf.OpenOptions{})
		if err != nil {
			continue // no file at all
		}
		v, err := e.Verify(t.Context(), d, pdf.VerifyOptions{Roots: []*x509.Certificate{a.cert}, At: testTime})
		if err == nil && (len(v) != 1 || v[0].Valid || !strings.Contains(strings.Join(v[0].Reasons, "; "), c.want)) {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// TestEachSignatureIsJudgedByWhatFollowsIt: a change between two signatures breaks the first and
// not the second; one behind them both.
func TestEachSignatureIsJudgedByWhatFollowsIt(t *testing.T) {
	t.Parallel()
	e, a := newEngine(t, pdf.Config{}), newAuthority(t)
	id := a.identity(t, "Ada", ecKey(t, elliptic.P256()))
	body, _ := render(t, e, pdf.RenderOptions{}, note("Twice", 1))
	attack := func(v *revision) {
		v.put(v.page(), "MediaBox", cos.Array{cos.Int(0), cos.Int(0), cos.Int(9), cos.Int(9)})
	}
	once := signed(t, e, body, pdf.SignRequest{Identity: id})
	between := signed(t, e, revise(t, once, attack), pdf.SignRequest{Identity: id})
	if v := a.verdicts(t, e, between); len(v) != 2 || v[0].Valid || v[0].Later != "forbidden" || !v[1].Valid || !v[1].CoversFile {
		t.Errorf("between: %+v", v)
	}
	twice := signed(t, e, once, pdf.SignRequest{Identity: id})
	if v := a.verdicts(t, e, revise(t, twice, attack)); len(v) != 2 || v[0].Valid || v[1].Valid || v[0].Integrity != "intact" || v[1].Integrity != "intact" {
		t.Errorf("behind: %+v", v)
	}
	// The second cannot be taken away without a trace.
	gone := revise(t, twice, func(v *revision) {
		form := v.at(v.root(), "AcroForm")
		v.put(v.list(form, "Fields")[1], "V", cos.Null{})
	})
	if v := a.verdicts(t, e, gone); len(v) != 1 || v[0].Valid && len(v[0].Changes) == 0 {
		t.Errorf("taken away: %+v", v)
	}
}

// TestACopyOfASignatureIsNone: a later field with the bytes of a signature and other words about
// it.
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

// TestDataForValidationMayCome after every signature (ISO 32000-2, 12.8.4.3), and grow; nothing
// else comes with it.
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
