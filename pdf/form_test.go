//go:build !race

package pdf_test

import (
	"bytes"
	"crypto/elliptic"
	"errors"
	"fmt"
	"image"
	"slices"
	"strings"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/form"
	"example.com/quire/pdf/pdftest"
	"example.com/quire/pdf/standard"
	"example.com/quire/pdf/template"
)

// ourForm is a form with a text, a check box and two places for signatures.
func ourForm(t *testing.T, e *pdf.Engine, ids ...standard.ID) []byte {
	t.Helper()
	var out bytes.Buffer
	if _, err := e.Build(t.Context(), &out, pdf.RenderOptions{Standards: ids}, func(b *doc.Builder) error {
		b.Title("Form").Lang("en").Heading(1, "Form")
		b.Field(doc.NewField(doc.FieldText, "name", "Name"))
		b.Field(doc.NewField(doc.FieldCheckBox, "agreed", "Agreed"))
		b.Field(doc.NewField(doc.FieldSignature, "first", "First"))
		b.Field(doc.NewField(doc.FieldSignature, "second", "Second"))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func filled(t *testing.T, e *pdf.Engine, b []byte, o pdf.EditOptions, values ...form.Value) ([]byte, *pdf.Summary, error) {
	t.Helper()
	var out bytes.Buffer
	s, err := e.Edit(t.Context(), &out, opened(t, e, b), o, pdf.Fill(values, nil))
	return out.Bytes(), s, err
}

// TestSignaturesHoldAfterFilling as an update, where they allow it: also in files that claim PDF/A
// and PDF/UA, and signed a second time. What one certifies, or the request to write the file anew,
// is told.
func TestSignaturesHoldAfterFilling(t *testing.T) {
	t.Parallel()
	e := newEngine(t, pdf.Config{})
	a := newAuthority(t)
	id := a.identity(t, "Ada", ecKey(t, elliptic.P256()))
	name, agreed := form.Value{Name: "name", Is: []string{"Zoë"}}, form.Value{Name: "agreed", Is: []string{"true"}}
	update := pdf.EditOptions{Incremental: true}
	for _, ids := range [][]standard.ID{nil, {standard.PDFA4, standard.PDFUA2}} {
		one := signed(t, e, ourForm(t, e, ids...), pdf.SignRequest{Identity: id, Field: "first"})
		full, s, err := filled(t, e, one, update, name, agreed)
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Claims) != len(ids) || !bytes.HasPrefix(full, one) {
			t.Errorf("%v: claims %v, warnings %v", ids, s.Claims, s.Warnings)
		}
		two := signed(t, e, full, pdf.SignRequest{Identity: id, Field: "second"})
		for _, b := range [][]byte{full, two} {
			for _, v := range a.verdicts(t, e, b) {
				if !v.Valid {
					t.Errorf("%v: %+v", ids, v)
				}
			}
		}
		if err := pdftest.QPDF(t, pdftest.Write(t, "two.pdf", two)); err != nil {
			t.Error(err)
		}
		if got := opened(t, e, two).Fields(); got[0].Value != "Zoë" || got[1].Value != "Yes" {
			t.Errorf("%v: %+v", ids, got)
		}
	}
	closed := signed(t, e, ourForm(t, e), pdf.SignRequest{Identity: id, Field: "first", Certify: pdf.CertifyNoChanges})
	_, _, err := filled(t, e, closed, update, name)
	if o, ok := errors.AsType[*pdf.OptionError](err); !ok || o.Field != "incremental" || !strings.Contains(err.Error(), `the signature "first" allows`) {
		t.Errorf("certified: %v", err)
	}
	_, s, err := filled(t, e, closed, pdf.EditOptions{}, name)
	if err != nil || len(s.VoidSignatures) != 1 {
		t.Errorf("anew: %+v, %v", s, err)
	}
}

// TestSignaturesHoldOverMiscountedPages: what is appended to a signed file leaves a page tree that
// counts wrong or has pages without a type as it is; what is written anew has a sound one.
func TestSignaturesHoldOverMiscountedPages(t *testing.T) {
	t.Parallel()
	e := newEngine(t, pdf.Config{})
	a := newAuthority(t)
	id := a.identity(t, "Ada", ecKey(t, elliptic.P256()))
	var b []byte
	b = append(b, "%PDF-1.7\n"...)
	var table bytes.Buffer
	for i, o := range []string{
		`<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[4 0 R]/DA(/Helv 12 Tf 0 g)/DR<</Font<</Helv 5 0 R>>>>>>>>`,
		`<</Type/Pages/Kids[3 0 R]/Count 7>>`,
		`<</Parent 2 0 R/MediaBox[0 0 300 300]/Annots[4 0 R]/Resources<<>>>>`,
		`<</Type/Annot/Subtype/Widget/FT/Tx/T(name)/Rect[20 20 200 50]/F 4/P 3 0 R/DA(/Helv 12 Tf 0 g)>>`,
		`<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>`,
	} {
		fmt.Fprintf(&table, "%010d 00000 n \n", len(b))
		b = fmt.Appendf(b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	b = fmt.Appendf(b, "xref\n0 6\n0000000000 65535 f \n%strailer\n<</Size 6/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", table.Bytes(), len(b))
	one := signed(t, e, b, pdf.SignRequest{Identity: id, Field: "first", Certify: pdf.CertifyFormFilling})
	pages := func(file []byte) string { return pdftest.Info(t, pdftest.Write(t, "pages.pdf", file))["Pages"] }
	if got := pages(one); got != "7" {
		t.Errorf("signed it has %s pages: its tree was replaced", got)
	}
	full, _, err := filled(t, e, one, pdf.EditOptions{Incremental: true}, form.Value{Name: "name", Is: []string{"Zoë"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range [][]byte{full, signed(t, e, full, pdf.SignRequest{Identity: id, Field: "second"})} {
		if !bytes.HasPrefix(file, one) {
			t.Error("the bytes of the signed file have changed")
		}
		for _, v := range a.verdicts(t, e, file) {
			if !v.Valid {
				t.Errorf("%+v", v)
			}
		}
	}
	anew, _, err := filled(t, e, full, pdf.EditOptions{}, form.Value{Name: "name", Is: []string{"Ada"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := pages(anew); got != "1" {
		t.Errorf("anew it has %s pages", got)
	}
}

// TestSignaturesHoldOverCircularPages: a file that was signed keeps its page tree, even one that is
// none, by what is appended; what is written anew has a sound one.
func TestSignaturesHoldOverCircularPages(t *testing.T) {
	t.Parallel()
	e := newEngine(t, pdf.Config{})
	a := newAuthority(t)
	id := a.identity(t, "Ada", ecKey(t, elliptic.P256()))
	for name, kids := range map[string]string{"circle": "[3 0 R 2 0 R]", "page twice": "[3 0 R 3 0 R]"} {
		b := []byte("%PDF-1.7\n")
		var table bytes.Buffer
		for i, o := range []string{
			`<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[4 0 R 5 0 R]/SigFlags 3/DA(/Helv 12 Tf 0 g)/DR<</Font<</Helv 6 0 R>>>>>>>>`,
			`<</Type/Pages/Kids` + kids + `/Count 1>>`,
			`<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 300]/Annots[4 0 R 5 0 R]/Resources<<>>>>`,
			`<</Type/Annot/Subtype/Widget/FT/Tx/T(name)/Rect[20 20 200 50]/F 4/P 3 0 R/DA(/Helv 12 Tf 0 g)>>`,
			`<</Type/Annot/Subtype/Widget/FT/Sig/T(broken)/Rect[0 0 0 0]/F 132/P 3 0 R/V<</Type/Sig/Filter/Adobe.PPKLite/SubFilter/ETSI.CAdES.detached/Contents<00>/ByteRange[0 0 0 0]>>>>`,
			`<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>`,
		} {
			fmt.Fprintf(&table, "%010d 00000 n \n", len(b))
			b = fmt.Appendf(b, "%d 0 obj\n%s\nendobj\n", i+1, o)
		}
		b = fmt.Appendf(b, "xref\n0 7\n0000000000 65535 f \n%strailer\n<</Size 7/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", table.Bytes(), len(b))
		one := signed(t, e, b, pdf.SignRequest{Identity: id, Field: "first"})
		if bytes.Contains(one[len(b):], []byte("/Type/Pages")) {
			t.Errorf("%s: the page tree of a signed file was replaced", name)
		}
		full, _, err := filled(t, e, one, pdf.EditOptions{Incremental: true}, form.Value{Name: "name", Is: []string{"Zoë"}})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, file := range [][]byte{full, signed(t, e, full, pdf.SignRequest{Identity: id, Field: "second"})} {
			for _, v := range a.verdicts(t, e, file) {
				if v.Field != "broken" && !v.Valid {
					t.Errorf("%s: %+v", name, v)
				}
			}
		}
		anew, _, err := filled(t, e, full, pdf.EditOptions{}, form.Value{Name: "name", Is: []string{"Ada"}})
		if err != nil {
			t.Fatal(err)
		}
		if err := pdftest.QPDF(t, pdftest.Write(t, "anew.pdf", anew)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFieldsOfTemplatesAndGoAreTheSame to the byte.
func TestFieldsOfTemplatesAndGoAreTheSame(t *testing.T) {
	t.Parallel()
	e := newEngine(t, pdf.Config{})
	src := `quire: 1
name: form
lang: en
title: Form
theme: none
data: {who: string}
body:
  - {field: text, name: who, label: Who, value: "${who}", max: 9, required: true}
  - {field: radio, name: size, label: Size, value: M, options: [S, {value: M, text: Medium}]}
  - {field: list, name: langs, label: Languages, multiple: true, value: [a, c], options: [a, b, c], height: 30mm}
  - {field: choice, name: land, label: Country, caption: none, editable: true, fit: true, options: [x], width: 50mm}
`
	plan, err := e.Compile(t.Context(), pdf.Source{File: "form.yaml", Text: []byte(src)})
	if err != nil {
		t.Fatal(err)
	}
	var a, b bytes.Buffer
	if _, err := e.Render(t.Context(), &a, plan, template.JSON([]byte(`{"who": "Zoë"}`)), pdf.RenderOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Build(t.Context(), &b, pdf.RenderOptions{}, func(b *doc.Builder) error {
		b.Title("Form").Lang("en")
		who := doc.NewField(doc.FieldText, "who", "Who")
		who.Values, who.Max, who.Required = []string{"Zoë"}, 9, true
		size := doc.NewField(doc.FieldRadio, "size", "Size")
		size.Values, size.Options = []string{"M"}, []doc.FieldOption{{Value: "S"}, {Value: "M", Text: "Medium"}}
		langs := doc.NewField(doc.FieldList, "langs", "Languages")
		langs.Values, langs.Options, langs.Multiple, langs.Height = []string{"a", "c"}, []doc.FieldOption{{Value: "a"}, {Value: "b"}, {Value: "c"}}, true, doc.MM(30)
		land := doc.NewField(doc.FieldChoice, "land", "Country")
		land.Caption, land.Editable, land.Fit, land.Options, land.Width = doc.CaptionNone, true, true, []doc.FieldOption{{Value: "x"}}, doc.MM(50)
		b.Field(who).Field(size).Field(langs).Field(land)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Errorf("%d bytes by the template, %d by Go", a.Len(), b.Len())
	}
	_, err = e.Render(t.Context(), &a, plan, template.JSON([]byte(`{"who": "Zoë Łęcka-Nowak"}`)), pdf.RenderOptions{})
	d, _ := errors.AsType[*pdf.DiagnosticError](err)
	if d == nil || d.Diagnostics[0].Code != "L321" || d.Diagnostics[0].DataPath != "who" || d.Diagnostics[0].Line != 8 {
		t.Errorf("too long a value: %v", err)
	}
}

// TestFieldsThatCannotBe are errors with their place: without name or label, with values that they
// cannot have, unlike another of their name, or in a header.
func TestFieldsThatCannotBe(t *testing.T) {
	t.Parallel()
	e := newEngine(t, pdf.Config{})
	text := func(change func(*doc.Field)) doc.Field {
		f := doc.NewField(doc.FieldText, "a", "A")
		change(&f)
		return f
	}
	for want, list := range map[string][]doc.Field{
		"needs a name":  {doc.NewField(doc.FieldText, "", "A")},
		"parts between": {doc.NewField(doc.FieldText, "a..b", "A")},
		"needs a label": {doc.NewField(doc.FieldText, "a", " ")},
		"needs options": {doc.NewField(doc.FieldRadio, "a", "A")},
		"3 characters":  {text(func(f *doc.Field) { f.Max, f.Values = 2, []string{"xyz"} })},
		"a line end":    {text(func(f *doc.Field) { f.Values = []string{"x\ny"} })},
		"one value":     {text(func(f *doc.Field) { f.Values = []string{"x", "y"} })},
		"a comb":        {text(func(f *doc.Field) { f.Comb = true })},
		"a password":    {text(func(f *doc.Field) { f.Password, f.Values = true, []string{"x"} })},
		"no option \"z\"": {text(func(f *doc.Field) {
			f.Kind, f.Options, f.Values = doc.FieldChoice, []doc.FieldOption{{Value: "x"}}, []string{"z"}
		})},
		"\"x\" is there":      {text(func(f *doc.Field) { f.Kind, f.Options = doc.FieldList, []doc.FieldOption{{Value: "x"}, {Value: "x"}} })},
		"\"Off\" is none":     {text(func(f *doc.Field) { f.Kind, f.Options = doc.FieldRadio, []doc.FieldOption{{Value: "Off"}} })},
		"differs from it":     {text(func(*doc.Field) {}), text(func(f *doc.Field) { f.Required = true })},
		"there once":          {text(func(f *doc.Field) { f.Kind = doc.FieldSignature }), text(func(f *doc.Field) { f.Kind = doc.FieldSignature })},
		"the first parts":     {text(func(*doc.Field) {}), text(func(f *doc.Field) { f.Name = "a.b" })},
		"other fields begin":  {text(func(f *doc.Field) { f.Name = "a.b" }), text(func(*doc.Field) {})},
		"wide in a place of":  {text(func(f *doc.Field) { f.Width = doc.MM(300) })},
		"no glyph for U+E123": {text(func(f *doc.Field) { f.Values = []string{"\uE123"} })},
	} {
		_, err := e.Build(t.Context(), &bytes.Buffer{}, pdf.RenderOptions{}, func(b *doc.Builder) error {
			for _, f := range list {
				b.Field(f)
			}
			return nil
		})
		if _, ok := errors.AsType[*pdf.DiagnosticError](err); !ok || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
	f := doc.NewField(doc.FieldText, "a", "A")
	_, err := e.Build(t.Context(), &bytes.Buffer{}, pdf.RenderOptions{}, func(b *doc.Builder) error {
		b.Header(doc.Running{All: []doc.Node{&f}}).Text("x")
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "allowed in the body") {
		t.Errorf("in a header: %v", err)
	}
	res, err := e.Build(t.Context(), &bytes.Buffer{}, pdf.RenderOptions{}, func(b *doc.Builder) error {
		b.Field(text(func(f *doc.Field) { f.Width, f.Values = doc.MM(10), []string{"much wider than ten millimetres"} }))
		return nil
	})
	if err != nil || len(res.Warnings) != 1 || res.Warnings[0].Code != "L322" {
		t.Errorf("cut off: %+v, %v", res, err)
	}
}

// TestFieldsOfOneNameAreOne, shown in two places; radio buttons of a group exclude each other, for
// poppler and mupdf too.
func TestFieldsOfOneNameAreOne(t *testing.T) {
	t.Parallel()
	e := newEngine(t, pdf.Config{})
	var out bytes.Buffer
	if _, err := e.Build(t.Context(), &out, pdf.RenderOptions{Standards: []standard.ID{standard.PDFUA2}}, func(b *doc.Builder) error {
		b.Title("Form").Lang("en")
		for range 2 {
			b.Field(doc.NewField(doc.FieldText, "name", "Name"))
		}
		size := doc.NewField(doc.FieldRadio, "size", "Size")
		size.Options = []doc.FieldOption{{Value: "S"}, {Value: "M"}}
		b.Field(size)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	full, _, err := filled(t, e, out.Bytes(), pdf.EditOptions{}, form.Value{Name: "name", Is: []string{"Zoë"}}, form.Value{Name: "size", Is: []string{"S"}})
	if err != nil {
		t.Fatal(err)
	}
	full, s, err := filled(t, e, full, pdf.EditOptions{}, form.Value{Name: "size", Is: []string{"M"}})
	if err != nil || len(s.Claims) != 1 {
		t.Fatal(s, err)
	}
	path := pdftest.Write(t, "full.pdf", full)
	if n := strings.Count(pdftest.Text(t, path), "Zoë"); n != 2 {
		t.Errorf("the name is shown %d times", n)
	}
	list := opened(t, e, full).Fields()
	if len(list) != 2 || len(list[0].Widgets) != 2 || list[1].Value != "M" || len(list[1].Widgets) != 2 {
		t.Errorf("%+v", list)
	}
	// The dot of the second button alone is black.
	for name, draw := range map[string]func(testing.TB, string, int) []image.Image{"poppler": pdftest.Raster, "mupdf": pdftest.MuPDF} {
		page := draw(t, path, 72)[0]
		dark := func(w form.Widget) bool {
			x, y := int((w.Rect[0]+w.Rect[2])/2), page.Bounds().Dy()-int((w.Rect[1]+w.Rect[3])/2)
			r, _, _, _ := page.At(x, y).RGBA()
			return r < 0x8000
		}
		if dark(list[1].Widgets[0]) || !dark(list[1].Widgets[1]) {
			t.Errorf("%s: the buttons do not exclude each other", name)
		}
	}
}

// everyField has a field of each kind, one of which is shown twice.
func everyField(b *doc.Builder) error {
	b.Title("Every field").Lang("en").Heading(1, "Every field")
	name := doc.NewField(doc.FieldText, "person.name", "Name")
	name.Required, name.Max, name.Values = true, 40, []string{"Zoë"}
	b.Field(name)
	notes := doc.NewField(doc.FieldText, "notes", "Notes")
	notes.Multiline, notes.Values = true, []string{"first line\nsecond line"}
	b.Field(notes)
	code := doc.NewField(doc.FieldText, "code", "Postcode")
	code.Comb, code.Max, code.Fit, code.Width, code.Values = true, 5, true, doc.MM(40), []string{"123"}
	b.Field(code)
	b.Field(doc.NewField(doc.FieldCheckBox, "agree", "I agree"))
	size := doc.NewField(doc.FieldRadio, "size", "Size")
	size.Options, size.Values = []doc.FieldOption{{Value: "S", Text: "Small"}, {Value: "M", Text: "Medium"}}, []string{"M"}
	b.Field(size)
	land := doc.NewField(doc.FieldChoice, "country", "Country")
	land.Options = []doc.FieldOption{{Value: "de", Text: "Germany"}, {Value: "fr", Text: "France"}}
	b.Field(land)
	langs := doc.NewField(doc.FieldList, "languages", "Languages")
	langs.Options, langs.Multiple = []doc.FieldOption{{Value: "English"}, {Value: "French"}, {Value: "Polish"}}, true
	b.Field(langs)
	password := doc.NewField(doc.FieldText, "secret", "Password")
	password.Password, password.Caption = true, doc.CaptionNone
	b.Field(password).PageBreak().Field(name)
	b.Field(doc.NewField(doc.FieldSignature, "signature", "Signature"))
	return nil
}

// everyValue fills them.
var everyValue = []form.Value{
	{Name: "person.name", Is: []string{"Ada Łęcka"}},
	{Name: "notes", Is: []string{"one\ntwo\nthree"}},
	{Name: "code", Is: []string{"98765"}},
	{Name: "agree", Is: []string{"true"}},
	{Name: "size", Is: []string{"S"}},
	{Name: "country", Is: []string{"fr"}},
	{Name: "languages", Is: []string{"English", "Polish"}},
}

const buttonAddress = "https://example.com/send?a=ä"

// buttons are a form with one that resets it, and one that opens an address.
func buttons(b *doc.Builder) error {
	reset, send := doc.NewField(doc.FieldButton, "clear", "Clear all"), doc.NewField(doc.FieldButton, "send", "Send")
	reset.Action, send.Action = doc.ResetForm, buttonAddress
	send.Width, send.Height, send.Background = doc.MM(40), doc.MM(12), doc.RGB(0xdd, 0xdd, 0xdd)
	send.Style = &doc.Style{Size: 10 * doc.Pt, Align: doc.AlignCenter}
	b.Title("Buttons").Lang("en").Field(doc.NewField(doc.FieldText, "a", "A")).Field(reset).Field(send)
	return nil
}

// TestButtonsResetAndOpen: a button shows its label and does what it says, in a template as in Go.
// PDF/A has none, and what is no action is an error with its data.
func TestButtonsResetAndOpen(t *testing.T) {
	t.Parallel()
	e := newEngine(t, pdf.Config{})
	const source = `quire: 1
name: t
lang: en
title: Buttons
theme: none
data: {at: string}
body:
  - {field: text, name: a, label: A}
  - {field: button, name: clear, label: Clear all, action: reset}
  - {field: button, name: send, label: Send, action: "${at}", width: 40mm, height: 12mm, align: center, background: "#dddddd"}
`
	plan, err := e.Compile(t.Context(), pdf.Source{File: "t.yaml", Text: []byte(source)})
	if err != nil {
		t.Fatal(err)
	}
	made := func(at string, ids ...standard.ID) ([]byte, error) {
		var out bytes.Buffer
		_, err := e.Render(t.Context(), &out, plan, template.JSON([]byte(`{"at": "`+at+`"}`)), pdf.RenderOptions{Standards: ids, Time: frozen})
		return out.Bytes(), err
	}
	for _, ids := range [][]standard.ID{nil, {standard.PDFUA2}, {standard.PDFUA1}} {
		body, err := made(buttonAddress, ids...)
		if err != nil {
			t.Fatal(err)
		}
		inGo, _ := render(t, e, pdf.RenderOptions{Standards: ids, Time: frozen}, buttons)
		if !bytes.Equal(body, inGo) {
			t.Errorf("%v: %d bytes by the template, %d by Go", ids, len(body), len(inGo))
		}
		file := pdftest.Write(t, "buttons.pdf", body)
		if err := pdftest.QPDF(t, file); err != nil {
			t.Error(err)
		}
		if ids != nil {
			if found, err := e.Check(t.Context(), opened(t, e, body), ids...); err != nil || len(found) > 0 {
				t.Errorf("%v: %v %v", ids, found, err)
			}
		}
		plain, _ := tool(t, "qpdf", "--qdf", "--object-streams=disable", file, "-")
		for _, want := range []string{"/S /ResetForm", "/URI (https://example.com/send?a=%C3%A4)", "/CA (Clear all)", "/CA (Send)", "/Ff 65536"} {
			if !strings.Contains(plain, want) {
				t.Errorf("%v: no %s", ids, want)
			}
		}
		if text := pdftest.Text(t, file); strings.Count(text, "Clear all") != 1 || strings.Count(text, "Send") != 1 {
			t.Errorf("%v: shown is %q", ids, text)
		}
	}
	for _, c := range []struct {
		at   string
		ids  []standard.ID
		want string
	}{
		{buttonAddress, []standard.ID{standard.PDFA4}, "S044 t.yaml:9:6"},
		{buttonAddress, []standard.ID{standard.PDFA2b}, "S044 t.yaml:9:6"},
		{buttonAddress, []standard.ID{standard.PDFA1b}, "S044 t.yaml:9:6"},
		{"javascript:x", nil, "L310 t.yaml:10:6 at"},
		{"", nil, "L321 t.yaml:10:6"},
	} {
		_, err := made(c.at, c.ids...)
		var all []string
		for _, d := range diagnosticsOf(err) {
			all = append(all, strings.TrimSpace(fmt.Sprintf("%s %s:%d:%d %s", d.Code, d.File, d.Line, d.Col, d.DataPath)))
		}
		if !slices.Contains(all, c.want) {
			t.Errorf("%q %v: %v, want %s", c.at, c.ids, err, c.want)
		}
	}
}
