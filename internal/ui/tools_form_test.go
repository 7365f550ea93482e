//go:build !race

package ui_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"example.com/quire/pdf"
	"example.com/quire/pdf/crypt"
	"example.com/quire/pdf/doc"
)

// application makes a form of two pages, encrypted where a password is given.
func application(t *testing.T, password string) []byte {
	t.Helper()
	e, err := pdf.New(pdf.Config{})
	check(t, err)
	var o pdf.RenderOptions
	if password != "" {
		o.Protect = &crypt.Options{Owner: "of the owner", User: password, Permissions: crypt.All}
	}
	var out bytes.Buffer
	_, err = e.Build(t.Context(), &out, o, func(b *doc.Builder) error {
		b.Title("Application").Lang("en")
		name := doc.NewField(doc.FieldText, "person.name", "Name")
		name.Required, name.Max = true, 12
		b.Field(name)
		fixed := doc.NewField(doc.FieldText, "number", "Number")
		fixed.ReadOnly, fixed.Values = true, []string{"2026-17"}
		b.Field(fixed)
		b.Field(doc.NewField(doc.FieldCheckBox, "agree", "I agree"))
		size := doc.NewField(doc.FieldRadio, "size", "Size")
		size.Options = []doc.FieldOption{{Value: "S", Text: "Small"}, {Value: "M", Text: "Medium"}}
		b.Field(size)
		b.PageBreak()
		langs := doc.NewField(doc.FieldList, "languages", "Languages")
		langs.Options, langs.Multiple = []doc.FieldOption{{Value: "English"}, {Value: "French"}, {Value: "Polish"}}, true
		langs.Values = []string{"French"}
		b.Field(langs)
		notes := doc.NewField(doc.FieldText, "notes", "Notes")
		notes.Multiline, notes.Values = true, []string{"as before"}
		b.Field(notes)
		return nil
	})
	check(t, err)
	return out.Bytes()
}

// dropped64 drops bytes on the page.
func (b *tab) dropped64(t *testing.T, name string, content []byte) {
	t.Helper()
	b.dropping(t, fmt.Sprintf(`new File([Uint8Array.from(atob('%s'), (c) => c.charCodeAt(0))], '%s', { type: 'application/pdf' })`, base64.StdEncoding.EncodeToString(content), name))
}

// TestBrowserToolFillsInForms: the fields of a file are controls, what is changed in them is what
// the form is filled with, and an error stands at its field.
func TestBrowserToolFillsInForms(t *testing.T) {
	t.Parallel()
	h := open(t)
	b := browse(t)
	b.look(t, 1280, 900, 1, "light")
	b.tool(t, h, "fill")
	b.dropped64(t, "form.pdf", application(t, ""))
	b.until(t, `document.querySelectorAll('#form-fields .field').length === 5`)
	if text := ask[string](t, b, `document.getElementById('form-fields').innerText`); strings.Contains(text, "number") {
		t.Errorf("a field that is read-only can be filled in:\n%s", text)
	} else {
		hasAll(t, text, "Fields of form.pdf", "Page 1", "Name person.name (required)", "I agree agree", "Page 2", "Languages languages")
	}
	if ask[bool](t, b, `document.getElementById('form-values').open`) {
		t.Error("values as text stand open beside the fields")
	}
	b.usable(t)
	press := func() { check(t, chromedp.Do(b.ctx, chromedp.Click(chromedp.CSS(`#run`)))) }
	press()
	b.until(t, `document.getElementById('answer').innerText.includes('Change a field first.') && document.activeElement.closest('#form-fields') !== null`)
	control := func(field string) string {
		return `document.querySelector('[data-field="field \\"` + field + `\\""] :is(input, select, textarea)')`
	}
	set := func(field, property, value string) {
		ask[bool](t, b, `(`+control(field)+`.`+property+` = `+value+`, true)`)
	}
	set("person.name", "value", `'名前'`)
	press()
	b.until(t, `document.getElementById('answer').innerText.includes('no glyph')`)
	if got := ask[string](t, b, `document.activeElement.id + ' ' + document.activeElement.ariaInvalid`); got != ask[string](t, b, control("person.name")+`.id`)+" true" {
		t.Errorf("the error stands at %q", got)
	}
	set("person.name", "value", `'Zoë'`)
	set("agree", "checked", `true`)
	set("size", "value", `'M'`)
	ask[bool](t, b, `([...`+control("languages")+`.options].forEach((o) => { o.selected = o.value !== 'French'; }), true)`)
	press()
	b.until(t, `document.querySelectorAll('#made .sheet').length === 2`)
	name, file := b.kept(t)
	e, err := pdf.New(pdf.Config{})
	check(t, err)
	d, err := e.Open(t.Context(), bytes.NewReader(file), int64(len(file)), pdf.OpenOptions{})
	check(t, err)
	var got []string
	for _, f := range d.Fields() {
		got = append(got, f.Name+"="+f.Value+strings.Join(f.Values, "+"))
	}
	if text := strings.Join(got, " "); name != "form-fill.pdf" || text != "person.name=Zoë number=2026-17 agree=Yes size=M languages=EnglishEnglish+Polish notes=as before" {
		t.Errorf("%s holds %q", name, text)
	}

	// A file that needs its password shows its fields when that is given.
	b.dropped64(t, "locked.pdf", application(t, "secret"))
	b.until(t, `document.getElementById('form-fields').innerText.includes('Enter the password')`)
	ask[bool](t, b, `(document.querySelector('[name=password]').value = 'secret', document.querySelector('[name=password]').dispatchEvent(new Event('change')))`)
	b.until(t, `document.querySelectorAll('#form-fields .field').length === 5`)

	// One without a form says so, and the fields of the one before are gone.
	b.given(t, [2]string{"plain.pdf", "/d/" + h.made(t, small).Content.String() + ".pdf"})
	b.until(t, `document.getElementById('form-fields').innerText === 'The file has no fields that can be filled in.'`)
	if !ask[bool](t, b, `document.getElementById('form-values').open`) {
		t.Error("values as text are folded away")
	}
	b.forgive() // the browser notes the requests that failed
}
