//go:build !race

package operation_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/form"
	"example.com/quire/pdf/operation"
	"example.com/quire/pdf/pdftest"
	"example.com/quire/pdf/standard"
)

// application has a field of every kind; ids are what it claims.
func application(t *testing.T, e *pdf.Engine, ids ...standard.ID) []byte {
	t.Helper()
	var out bytes.Buffer
	if _, err := e.Build(t.Context(), &out, pdf.RenderOptions{Standards: ids}, func(b *doc.Builder) error {
		b.Title("Application").Lang("en").Heading(1, "Application")
		name := doc.NewField(doc.FieldText, "person.name", "Name")
		name.Required, name.Max = true, 40
		b.Field(name)
		b.Field(doc.NewField(doc.FieldText, "person.city", "City"))
		notes := doc.NewField(doc.FieldText, "notes", "Notes")
		notes.Multiline, notes.Fit, notes.Values = true, true, []string{"first line\nsecond line"}
		b.Field(notes)
		code := doc.NewField(doc.FieldText, "code", "Postcode")
		code.Comb, code.Max, code.Fit, code.Width = true, 5, true, doc.MM(40)
		b.Field(code)
		agree := doc.NewField(doc.FieldCheckBox, "agree", "I agree")
		b.Field(agree)
		size := doc.NewField(doc.FieldRadio, "size", "Size")
		size.Options = []doc.FieldOption{{Value: "S", Text: "Small"}, {Value: "M", Text: "Medium"}, {Value: "L", Text: "Large"}}
		size.Values = []string{"M"}
		b.Field(size)
		land := doc.NewField(doc.FieldChoice, "country", "Country")
		land.Options = []doc.FieldOption{{Value: "de", Text: "Germany"}, {Value: "fr", Text: "France"}}
		b.Field(land)
		langs := doc.NewField(doc.FieldList, "languages", "Languages")
		langs.Options, langs.Multiple = []doc.FieldOption{{Value: "English"}, {Value: "French"}, {Value: "Polish"}}, true
		b.Field(langs)
		fixed := doc.NewField(doc.FieldText, "number", "Number")
		fixed.ReadOnly, fixed.Values = true, []string{"2026-17"}
		b.Field(fixed)
		b.Field(doc.NewField(doc.FieldSignature, "signature", "Signature"))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// fill runs the operation with values.
func fill(t *testing.T, e *pdf.Engine, b []byte, data string, values map[string]string) (*operation.Outcome, []byte, error) {
	t.Helper()
	o, err := operation.Find("fill")
	if err != nil {
		t.Fatal(err)
	}
	p := &parts{}
	done, err := o.Run(t.Context(), e, operation.Input{
		Values: values, Create: p.create, Files: []operation.File{file("in.pdf", b)},
		Uploads: map[string]operation.File{"data": file("values", []byte(data))},
	})
	if len(p.files) == 0 {
		return done, nil, err
	}
	return done, p.files[0].Bytes(), err
}

const filledIn = `{"person.name": "Zoë Łęcka", "person": {"city": "Łódź"}, "notes": "one\ntwo\nthree", "code": "12345",
	"agree": true, "size": "L", "country": "France", "languages": ["English", "Polish"]}`

// held is what the fields of a file hold.
func held(t *testing.T, e *pdf.Engine, b []byte) map[string]form.Field {
	t.Helper()
	out := map[string]form.Field{}
	for _, f := range open(t, e, b, "").Fields() {
		out[f.Name] = f
	}
	return out
}

// TestFieldsAreListed: kind, value, what can be chosen, flags and places of each.
func TestFieldsAreListed(t *testing.T) {
	e := engine(t)
	done, _, err := run(t, e, "fields", nil, application(t, e))
	if err != nil {
		t.Fatal(err)
	}
	r, ok := done.Report.(operation.Listed)
	if !ok || len(r.Fields) != 10 {
		t.Fatalf("%T %s", done.Report, done.Text)
	}
	f := held(t, e, application(t, e))
	for name, want := range map[string]string{
		"person.name": "text  [required] 40 0", "notes": "text first line\nsecond line [multiline] 0 0", "code": "text  [comb] 5 0", "agree": "checkbox Off [] 0 1",
		"size": "radio M [no-off] 0 3", "country": "choice  [] 0 2", "languages": "list  [multiple] 0 3", "number": "text 2026-17 [read-only] 0 0", "signature": "signature  [] 0 0",
	} {
		x := f[name]
		if got := strings.Join([]string{string(x.Kind), x.Value, "[" + strings.Join(x.Flags, " ") + "]", itoa(x.Max), itoa(len(x.Options))}, " "); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		if len(x.Widgets) == 0 || x.Widgets[0].Page != 1 || x.Widgets[0].Rect[2] <= x.Widgets[0].Rect[0] || x.Label == "" {
			t.Errorf("%s: places %v, label %q", name, x.Widgets, x.Label)
		}
	}
}

func itoa(n int) string {
	b, _ := json.Marshal(n)
	return string(b)
}

// TestFilledFieldsAreSeenByOtherReaders: values in qpdf, appearances in poppler and mupdf, both in
// the own reader, from each of the formats.
func TestFilledFieldsAreSeenByOtherReaders(t *testing.T) {
	e := engine(t)
	plain := application(t, e)
	values, err := form.Parse([]byte(filledIn))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []form.Format{form.JSON, form.FDF, form.XFDF} {
		done, out, err := fill(t, e, plain, string(form.Append(nil, f, "in.pdf", values)), nil)
		if err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		if strings.Contains(done.Text, "warning") {
			t.Errorf("%s: %s", f, done.Text)
		}
		path := pdftest.Write(t, "out.pdf", out)
		if err := pdftest.QPDF(t, path); err != nil {
			t.Errorf("%s: %v", f, err)
		}
		h := held(t, e, out)
		for name, want := range map[string]string{"person.name": "Zoë Łęcka", "person.city": "Łódź", "notes": "one\ntwo\nthree", "code": "12345", "agree": "Yes", "size": "L", "country": "fr", "number": "2026-17"} {
			if h[name].Value != want {
				t.Errorf("%s: %s holds %q, want %q", f, name, h[name].Value, want)
			}
		}
		if !slices.Equal(h["languages"].Values, []string{"English", "Polish"}) {
			t.Errorf("%s: languages %q", f, h["languages"].Values)
		}
		for reader, text := range map[string]string{"poppler": pdftest.Text(t, path), "mupdf": pdftest.MuPDFText(t, path)} {
			for _, want := range []string{"Zoë Łęcka", "Łódź", "three", "France", "2026-17"} {
				if !strings.Contains(text, want) {
					t.Errorf("%s: %s sees no %q in\n%s", f, reader, want, text)
				}
			}
		}
		b, _ := pdftest.Run(t, "qpdf", "--json", "--json-key=acroform", path)
		var q struct {
			Acroform struct {
				NeedAppearances bool
				Fields          []struct {
					FullName string
					Value    json.RawMessage
				}
			}
		}
		if err := json.Unmarshal([]byte(b), &q); err != nil {
			t.Fatal(err)
		}
		seen := map[string]string{}
		for _, x := range q.Acroform.Fields {
			seen[x.FullName] = string(x.Value)
		}
		for name, want := range map[string]string{"person.name": `"u:Zoë Łęcka"`, "agree": `"/Yes"`, "size": `"/L"`, "country": `"u:fr"`} {
			if seen[name] != want {
				t.Errorf("%s: qpdf reads %s of %s, want %s", f, seen[name], name, want)
			}
		}
	}
}

// TestFormsAreFilledInAPipe, with values of a further file; how the file is written is no matter of
// a step.
func TestFormsAreFilledInAPipe(t *testing.T) {
	e := engine(t)
	run := func(steps string) (*operation.Outcome, []byte, error) {
		o, err := operation.Find("pipe")
		if err != nil {
			t.Fatal(err)
		}
		p := &parts{}
		done, err := o.Run(t.Context(), e, operation.Input{
			Create: p.create, Files: []operation.File{file("in.pdf", application(t, e)), file("values.json", []byte(filledIn))},
			Uploads: map[string]operation.File{"steps": file("steps.json", []byte(steps))},
		})
		if err != nil || len(p.files) == 0 {
			return done, nil, err
		}
		return done, p.files[0].Bytes(), nil
	}
	_, out, err := run(`[{"rotate": {"degrees": 180}}, {"fill": {"data": "values.json"}}, {"number": {"format": "no. {page}"}}, {"flatten": {}}]`)
	if err != nil {
		t.Fatal(err)
	}
	text := pdftest.Text(t, pdftest.Write(t, "out.pdf", out))
	for _, want := range []string{"Zoë Łęcka", "Łódź", "no. 1"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %q", want, text)
		}
	}
	if fields := open(t, e, out, "").Fields(); len(fields) > 0 {
		t.Errorf("%d fields are left", len(fields))
	}
	for steps, want := range map[string]string{
		`[{"fill": {"data": "value.json"}}]`:                         `steps[0].fill.data: got "value.json"`,
		`[{"fill": {}}]`:                                             `steps[0].fill.data: got nothing`,
		`[{"fill": {"data": "values.json", "incremental": true}}]`:   `steps[0].fill.incremental: got an unknown parameter`,
		`[{"flatten": {}}, {"fill": {"data": "values.json"}}]`:       `steps[1].fill.`,
		`[{"delete": {"pages": "r1"}}, {"fil": {"data": "x.json"}}]`: `did you mean "fill"`,
	} {
		_, _, err := run(steps)
		if option, ok := errors.AsType[*pdf.OptionError](err); !ok || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %+v", steps, err, option)
		}
	}
}

// TestWrongValuesNameTheirFields, all of them at once.
func TestWrongValuesNameTheirFields(t *testing.T) {
	e := engine(t)
	b := application(t, e)
	for data, want := range map[string]string{
		`{"person.nam": "x"}`:                     `field "person.nam": got a field that the file does not have, want person.name, person.city, notes`,
		`{"country": "Frence"}`:                   `field "country": got "Frence", want one of de, fr`,
		`{"size": "XL"}`:                          `field "size": got "XL", want one of S, M, L, Off`,
		`{"size": "Off"}`:                         `the field does not go off again`,
		`{"agree": "maybe"}`:                      `field "agree": got "maybe"`,
		`{"code": "123456"}`:                      `field "code": got 6 characters, want at most 5`,
		`{"person.city": "a\nb"}`:                 `field "person.city": got a text of several lines`,
		`{"number": "1"}`:                         `field "number": got another value, want none: the field is read-only`,
		`{"signature": "me"}`:                     `field "signature": got a value`,
		`{"person.city": ["a", "b"]}`:             `field "person.city": got 2 values, want one`,
		`{"languages": ["English", "Klingon"]}`:   `field "languages": got "Klingon"`,
		`{"person.city": "\ue123"}`:               `field "person.city": got no glyph for U+E123 in "\ue123", want characters that the fonts have, or a font with them by font-file`,
		`{"code": "123456", "nothing": 1}`:        `field "nothing"`,
		`{"person.name": "a", "person.name": "b"`: `data: got json`,
		`<!DOCTYPE x><xfdf/>`:                     `a document type, which is refused`,
		`%FDF-1.2 nothing`:                        `data: got fdf`,
		``:                                        `data: got json`,
	} {
		_, out, err := fill(t, e, b, data, nil)
		var option *pdf.OptionError
		if !errors.As(err, &option) || !strings.Contains(err.Error(), want) || len(out) > 0 {
			t.Errorf("%s: %v", data, err)
		}
	}
	_, _, err := fill(t, e, b, `{"person.nam": "x"}`, nil)
	if option, _ := errors.AsType[*pdf.OptionError](err); option == nil || option.Nearest != "person.name" {
		t.Errorf("no suggestion: %v", err)
	}
	if _, _, err := fill(t, e, sample(t, e, "None"), `{"a": "x"}`, nil); err == nil || !strings.Contains(err.Error(), "without form fields") {
		t.Errorf("no form: %v", err)
	}
}

// TestUntouchedFieldsStayAsTheyAre, to the byte, and so do the bytes of the file where asked.
func TestUntouchedFieldsStayAsTheyAre(t *testing.T) {
	e := engine(t)
	b := application(t, e)
	_, first, err := fill(t, e, b, `{"person.city": "Łódź"}`, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, again, err := fill(t, e, first, `{"person.name": "Zoë"}`, map[string]string{"incremental": "true"})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(again, first) || len(again) == len(first) {
		t.Error("the bytes of the file did not stay")
	}
	if bytes.Contains(again[len(first):], []byte("(city)")) || !bytes.Contains(again[len(first):], []byte("(name)")) {
		t.Errorf("the update has\n%q", again[len(first):])
	}
	_, anew, err := fill(t, e, first, `{"person.name": "Zoë"}`, nil)
	if err != nil {
		t.Fatal(err)
	}
	// What qpdf makes of both has the field alike, but for the numbers of objects.
	at := func(b []byte) string {
		path := pdftest.Write(t, "qdf.pdf", b)
		out, _ := pdftest.Run(t, "qpdf", "--qdf", "--object-streams=disable", "--no-original-object-ids", path, "-")
		for object := range strings.SplitSeq(out, "endobj") {
			if strings.Contains(object, "/T (city)") {
				_, object, _ = strings.Cut(object, " obj")
				return regexp.MustCompile(`\d+ 0 R`).ReplaceAllString(object, "R")
			}
		}
		return "none"
	}
	if was, is := at(first), at(anew); was != is || was == "none" {
		t.Errorf("the field was\n%s\nand is\n%s", was, is)
	}
	if same, _ := run1(t, e, first, `{"person.city": "Łódź"}`); !bytes.Equal(same, first) {
		t.Error("a value that the field has already changes the file")
	}
}

// run1 fills incrementally.
func run1(t *testing.T, e *pdf.Engine, b []byte, data string) ([]byte, error) {
	t.Helper()
	_, out, err := fill(t, e, b, data, map[string]string{"incremental": "true"})
	return out, err
}

// TestExportedValuesFillTheFormAgain, in each format, and say the same in all.
func TestExportedValuesFillTheFormAgain(t *testing.T) {
	e := engine(t)
	plain := application(t, e)
	_, full, err := fill(t, e, plain, filledIn, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range form.Formats() {
		_, out, err := run(t, e, "export", map[string]string{"format": f}, full)
		if err != nil {
			t.Fatal(err)
		}
		values, err := form.Parse(out[0])
		if err != nil {
			t.Fatalf("%s: %v\n%s", f, err, out[0])
		}
		_, again, err := fill(t, e, plain, string(form.Append(nil, form.JSON, "", values)), nil)
		if err != nil {
			t.Fatalf("%s: %v\n%s", f, err, out[0])
		}
		was, is := held(t, e, full), held(t, e, again)
		for name, x := range was {
			if y := is[name]; x.Value != y.Value || !slices.Equal(x.Values, y.Values) {
				t.Errorf("%s: %s was %q %q, is %q %q", f, name, x.Value, x.Values, y.Value, y.Values)
			}
		}
	}
	if _, _, err := run(t, e, "export", map[string]string{"format": "xfd"}, full); err == nil || !strings.Contains(err.Error(), `did you mean "xfdf"`) {
		t.Errorf("%v", err)
	}
	if err := open(t, e, full, "").Export(failing{}, form.JSON, ""); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("a failing writer: %v", err)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// TestFlattenedFormsLookAsTheyDid: the same words for poppler, no field any more, and tagged files
// keep their claims.
func TestFlattenedFormsLookAsTheyDid(t *testing.T) {
	e := engine(t)
	for _, ids := range [][]standard.ID{nil, {standard.PDFA4, standard.PDFUA2}, {standard.PDFA2b, standard.PDFUA1}} {
		done, full, err := fill(t, e, application(t, e, ids...), filledIn, nil)
		if err != nil {
			t.Fatalf("%v: %v", ids, err)
		}
		before := open(t, e, full, "").Info()
		if len(before.Claims) != len(ids) {
			t.Errorf("%v: filled: %v %s", ids, before.Claims, done.Text)
		}
		done, out, err := run(t, e, "flatten", nil, full)
		if err != nil {
			t.Fatal(err)
		}
		flat := out[0]
		a, b := pdftest.Write(t, "filled.pdf", full), pdftest.Write(t, "flat.pdf", flat)
		if err := pdftest.QPDF(t, b); err != nil {
			t.Error(err)
		}
		info := open(t, e, flat, "").Info()
		if len(info.Fields) > 0 || info.Pages[0].Annotations != 0 || len(info.Claims) != len(ids) {
			t.Errorf("%v: fields %v, %d annotations, claims %v\n%s", ids, info.Fields, info.Pages[0].Annotations, info.Claims, done.Text)
		}
		was, is := strings.Fields(pdftest.Text(t, a)), strings.Fields(pdftest.Text(t, b))
		slices.Sort(was)
		slices.Sort(is)
		if !slices.Equal(was, is) {
			t.Errorf("%v: words were %q, are %q", ids, was, is)
		}
	}
	if _, _, err := run(t, e, "flatten", nil, sample(t, e, "None")); err == nil || !strings.Contains(err.Error(), "without form fields") {
		t.Errorf("no form: %v", err)
	}
}

// TestFlattenedFieldsStandWhereTheyStood: the content of a page may leave any state behind: a
// matrix of its own, text or marks that do not end, or more ends than beginnings.
func TestFlattenedFieldsStandWhereTheyStood(t *testing.T) {
	e := engine(t)
	for _, content := range []string{"", "3 0 0 3 0 0 cm q", "q 3 0 0 3 0 0 cm", "Q Q q Q", "BT 3 0 0 3 0 0 Tm", "/P BMC", "q Q Q 3 0 0 3 0 0 cm q q"} {
		b := raw(
			`<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[5 0 R]>>>>`,
			`<</Type/Pages/Kids[3 0 R]/Count 1/MediaBox[0 0 200 200]>>`,
			`<</Type/Page/Parent 2 0 R/Contents 4 0 R/Annots[5 0 R]>>`,
			stream("", content),
			`<</Subtype/Widget/FT/Tx/T(a)/V(shown)/Rect[20 20 120 50]/AP<</N 6 0 R>>>>`,
			stream("/Subtype/Form/BBox[0 0 100 30]/Resources<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>", "BT /F 12 Tf 2 5 Td (shown) Tj ET"),
		)
		_, out, err := run(t, e, "flatten", nil, b)
		if err != nil {
			t.Fatal(err)
		}
		w := pdftest.Boxes(t, pdftest.Write(t, "flat.pdf", out[0]))
		if len(w) != 1 || w[0].Text != "shown" || w[0].XMin < 21 || w[0].XMin > 23 || w[0].YMax < 170 || w[0].YMax > 180 {
			t.Errorf("behind %q: %+v", content, w)
		}
	}
}

// TestStatesOfButtonsInLatinOneAreChosen: names of states that are not UTF-8 are in
// PDFDocEncoding, as Acrobat writes them. What export says of them, fill takes.
func TestStatesOfButtonsInLatinOneAreChosen(t *testing.T) {
	e := engine(t)
	b := raw(
		`<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[4 0 R 7 0 R]>>>>`,
		`<</Type/Pages/Kids[3 0 R]/Count 1/MediaBox[0 0 200 200]>>`,
		`<</Type/Page/Parent 2 0 R/Annots[5 0 R 6 0 R 7 0 R]>>`,
		`<</FT/Btn/Ff 49152/T(sex)/V/weiblich/Kids[5 0 R 6 0 R]>>`,
		`<</Subtype/Widget/Parent 4 0 R/AS/Off/Rect[20 20 30 30]/AP<</N<</m#e4nnlich 8 0 R/Off 8 0 R>>>>>>`,
		`<</Subtype/Widget/Parent 4 0 R/AS/weiblich/Rect[20 40 30 50]/AP<</N<</weiblich 8 0 R/Off 8 0 R>>>>>>`,
		`<</Subtype/Widget/FT/Btn/T(way)/AS/Off/Rect[20 60 30 70]/AP<</N<</Stra#c3#9fe 8 0 R/Off 8 0 R>>>>>>`,
		stream("/Subtype/Form/BBox[0 0 10 10]", ""),
	)
	for _, data := range []string{`{"sex": "männlich", "way": "Straße"}`, "%FDF-1.2\n1 0 obj<</FDF<</Fields[<</T(sex)/V/m#e4nnlich>><</T(way)/V/Stra#c3#9fe>>]>>>>endobj trailer<</Root 1 0 R>>"} {
		_, out, err := fill(t, e, b, data, nil)
		if err != nil {
			t.Fatal(err)
		}
		if f := held(t, e, out); f["sex"].Value != "männlich" || f["way"].Value != "Straße" {
			t.Errorf("%+v", f)
		}
		for _, format := range []string{"json", "fdf", "xfdf"} {
			_, values, err := run(t, e, "export", map[string]string{"format": format}, out)
			if err != nil {
				t.Fatal(err)
			}
			_, again, err := fill(t, e, b, string(values[0]), nil)
			if err != nil {
				t.Errorf("%s: %v\n%s", format, err, values[0])
				continue
			}
			if f := held(t, e, again); f["sex"].Value != "männlich" || f["way"].Value != "Straße" {
				t.Errorf("%s: %+v", format, f)
			}
		}
	}
}

// TestFillLeavesTheValuesOfItsCaller: values fill many forms, at the same time too.
func TestFillLeavesTheValuesOfItsCaller(t *testing.T) {
	e := engine(t)
	values := []form.Value{{Name: "country", Is: []string{"France"}}, {Name: "languages", Is: []string{"Polish", "English"}}}
	op := pdf.Fill(values, nil)
	d := open(t, e, application(t, e), "")
	if _, err := e.Edit(t.Context(), io.Discard, d, pdf.EditOptions{}, op); err != nil {
		t.Fatal(err)
	}
	if values[0].Is[0] != "France" || values[1].Is[0] != "Polish" {
		t.Errorf("the values are %v", values)
	}
}

// TestFieldsOfMergedFormsLookAsInTheirFile: fonts of one name stay apart, and what a form says of
// all its fields holds for those of the other no more.
func TestFieldsOfMergedFormsLookAsInTheirFile(t *testing.T) {
	e := engine(t)
	typed := func(name, font, of, field string) []byte {
		return raw(
			`<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[4 0 R 5 0 R]`+of+`/DR<</Font<</F1 8 0 R/Same 9 0 R>>>>>>>>`,
			`<</Type/Pages/Kids[3 0 R]/Count 1/MediaBox[0 0 200 200]>>`,
			`<</Type/Page/Parent 2 0 R/Annots[4 0 R 6 0 R 7 0 R]>>`,
			`<</T(`+name+`)/FT/Tx/Type/Annot/Subtype/Widget/P 3 0 R/Rect[10 10 190 30]`+field+`>>`,
			`<</T(kids `+name+`)/FT/Tx/Kids[6 0 R]>>`,
			`<</Parent 5 0 R/Type/Annot/Subtype/Widget/P 3 0 R/Rect[10 40 190 60]/DA(0 g\n/F1 10 Tf)>>`,
			`<</Type/Annot/Subtype/FreeText/P 3 0 R/Rect[10 70 190 90]/DA(/F1 10 Tf)/Contents(x)>>`,
			`<</Type/Font/Subtype/Type1/BaseFont/`+font+`>>`,
			`<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding<</Type/Encoding/Differences[0/A]>>>>`,
		)
	}
	a := typed("a", "Times-Roman", "/Q 2/DA(/F1 12 Tf)", "")
	b := typed("b", "Courier", "/DA(/F1 12 Tf)", "")
	c := typed("c", "Courier", "/Q 1", "/DA(/F1 0 Tf /Same 9 Tf)")
	_, out, err := run(t, e, "merge", nil, a, b, c)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := pdftest.Run(t, "qpdf", "--qdf", "--object-streams=disable", pdftest.Write(t, "merged.pdf", out[0]), "-")
	fonts := strings.Join(regexp.MustCompile(`/(\S+) \d+ 0 R`).FindAllString(between(text, "/DR <<", ">>"), -1), " ")
	if fonts = regexp.MustCompile(` \d+ 0 R`).ReplaceAllString(fonts, ""); fonts != "/F1 /F1-2 /F1-3 /Same" && fonts != "/F1 /Same /F1-2 /F1-3" {
		t.Errorf("the fonts of the form are %s", fonts)
	}
	for what, n := range map[string]int{
		"/DA (0 g /F1-2 10 Tf)": 1, "/DA (/F1-2 10 Tf)": 1, "/DA (0 g /F1-3 10 Tf)": 1, "/DA (/F1-3 10 Tf)": 1, "/DA (/F1-3 0 Tf /Same 9 Tf)": 1,
	} {
		if got := strings.Count(text, what); got != n {
			t.Errorf("%q: %d times, want %d", what, got, n)
		}
	}
	_, filled, err := fill(t, e, out[0], `{"a": "AAA", "b": "BBB", "kids b": "CCC", "c": "DDD"}`, nil)
	if err != nil {
		t.Fatal(err)
	}
	pages, err := open(t, e, filled, "").Text(t.Context(), pdf.TextOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, p := range pages {
		for _, l := range p.Lines {
			for _, w := range l.Words {
				where := "middle"
				if w.Box[0] < 30 {
					where = "left"
				} else if w.Box[2] > 170 {
					where = "right"
				}
				got[w.Text] = w.Font + " " + where
			}
		}
	}
	for text, want := range map[string]string{"AAA": "LiberationSerif right", "BBB": "LiberationMono left", "CCC": "LiberationMono left", "DDD": "LiberationSans middle"} {
		if got[text] != want {
			t.Errorf("%s: %q, want %q", text, got[text], want)
		}
	}
}

// between is what stands behind one text, up to another.
func between(s, from, to string) string {
	_, s, _ = strings.Cut(s, from)
	s, _, _ = strings.Cut(s, to)
	return s
}

// TestFieldsWithoutAppearanceKeepTheirBackground: programs draw the background and the border of a
// field that has no appearance, though it is empty, and so does the page that it becomes part of.
// What a password field has is not shown, and a widget that has an appearance keeps it.
func TestFieldsWithoutAppearanceKeepTheirBackground(t *testing.T) {
	e := engine(t)
	const mk = "/MK<</BG[1 .5 0]/BC[0 0 0]>>"
	b := raw(`<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[4 0 R 5 0 R 6 0 R 7 0 R]/DA(/Helv 10 Tf 0 g)/DR<</Font<</Helv<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>>>`,
		`<</Type/Pages/Kids[3 0 R]/Count 1>>`, `<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Resources<<>>/Annots[4 0 R 5 0 R 6 0 R 8 0 R 9 0 R]>>`,
		`<</Type/Annot/Subtype/Widget/FT/Tx/T(empty)/F 4/Rect[20 20 180 40]`+mk+`>>`,
		`<</Type/Annot/Subtype/Widget/FT/Ch/Ff 131072/T(choice)/F 4/Rect[20 50 180 70]/Opt[(a)(b)]`+mk+`>>`,
		`<</Type/Annot/Subtype/Widget/FT/Tx/Ff 8192/T(secret)/F 4/V(secret)/Rect[20 80 180 100]`+mk+`>>`,
		`<</FT/Tx/T(two)/V(value)/Kids[8 0 R 9 0 R]>>`,
		`<</Type/Annot/Subtype/Widget/Parent 7 0 R/F 4/Rect[20 110 180 130]`+mk+`>>`,
		`<</Type/Annot/Subtype/Widget/Parent 7 0 R/F 4/Rect[20 140 180 160]/AP<</N 10 0 R>>`+mk+`>>`,
		stream("/Subtype/Form/BBox[0 0 160 20]", "0 0 1 rg 0 0 160 20 re f"))
	_, out, err := run(t, e, "flatten", nil, b)
	if err != nil {
		t.Fatal(err)
	}
	file := pdftest.Write(t, "out.pdf", out[0])
	if text := strings.Fields(pdftest.Text(t, file)); !slices.Equal(text, []string{"value"}) {
		t.Errorf("text %q", text)
	}
	picture := pictures(t, out[0])[0]
	scale := float64(picture.Bounds().Dx()) / 200
	for y, want := range map[float64][3]uint8{30: {255, 128, 0}, 60: {255, 128, 0}, 90: {255, 128, 0}, 120: {255, 128, 0}, 150: {0, 0, 255}} {
		r, g, b, _ := picture.At(int(170*scale), int((200-y)*scale)).RGBA()
		if got := [3]uint8{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8)}; got != want { //nolint:gosec // G115: of 16 bits the upper 8
			t.Errorf("the field at %g has the colour %v, want %v", y, got, want)
		}
	}
}
