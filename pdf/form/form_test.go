package form_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"example.com/quire/pdf/form"
)

// TestValuesAreWrittenAndReadBack in every format: nested names, letters beyond ASCII, several
// lines, several values, none.
func TestValuesAreWrittenAndReadBack(t *testing.T) {
	values := []form.Value{
		{Name: "person.name", Is: []string{`Zoë <"Łęcka"> & Co (\)`}},
		{Name: "person.address.city", Is: []string{"東京 𝄞"}},
		{Name: "person.agreed", Is: []string{"Yes"}, State: true},
		{Name: "notes", Is: []string{"one\ntwo"}},
		{Name: "languages", Is: []string{"English", "Polish"}},
		{Name: "empty", Is: []string{""}},
	}
	for _, name := range form.Formats() {
		f, err := form.ParseFormat(name)
		if err != nil {
			t.Fatal(err)
		}
		b := form.Append(nil, f, "a & b.pdf", values)
		got, err := form.Parse(b)
		if err != nil {
			t.Fatalf("%s: %v\n%s", f, err, b)
		}
		want := map[string][]string{}
		for _, v := range values {
			want[v.Name] = v.Is
		}
		is := map[string][]string{}
		for _, v := range got {
			is[v.Name] = v.Is
		}
		if !reflect.DeepEqual(is, want) {
			t.Errorf("%s: %q, want %q\n%s", f, is, want, b)
		}
	}
}

// TestValuesOfOtherPrograms: what FDF and XFDF files have beside fields, names in UTF-16 and in
// hexadecimal, an FDF file with cross-reference data, and JSON in which fields stand below each
// other.
func TestValuesOfOtherPrograms(t *testing.T) {
	want := []form.Value{{Name: "a.b", Is: []string{"Zoë"}}, {Name: "c", Is: []string{"Yes"}}, {Name: "d", Is: nil}}
	for name, src := range map[string]string{
		"FDF": "%FDF-1.2\n1 0 obj\n<</FDF<</F(x.pdf)/ID[<00><00>]/Fields[<</T<FEFF0061>/Kids[2 0 R]>><</T(c)/V/Yes/AP<<>>>><</T(d)/V null>>]/Annots[]>>>>\nendobj\n" +
			"2 0 obj <</T(b)/V<5A6FEB>>> endobj\ntrailer\n<</Root 1 0 R>>\n%%EOF\n",
		"XFDF": "\uFEFF" + `<?xml version="1.0" encoding="UTF-8"?><!-- x --><xfdf xmlns="http://ns.adobe.com/xfdf/" xml:space="preserve"><f href="x.pdf"/><ids original="1"/>
			<annots><text><contents>no value</contents></text></annots>
			<fields><field name="a"><field name="b"><value>Zo&#xEB;</value></field></field><field name="c"><value><![CDATA[Yes]]></value></field></fields></xfdf>`,
		"JSON": `{"a": {"b": "Zoë"}, "c": "Yes", "d": null}`,
	} {
		got, err := form.Parse([]byte(src))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		w := want
		if name == "XFDF" {
			w = want[:2] // which has no way to say nothing
		}
		if name == "FDF" {
			w = append(want[:2:2], form.Value{Name: "d"})
		}
		for i := range w {
			if i >= len(got) {
				break
			}
			if got[i].Name != w[i].Name || strings.Join(got[i].Is, "|") != strings.Join(w[i].Is, "|") {
				t.Errorf("%s: %v, want %v", name, got[i], w[i])
			}
		}
		if len(got) < len(w)-1 {
			t.Errorf("%s: %v", name, got)
		}
	}
	got, err := form.Parse([]byte(`{"n": 12.50, "b": true}`))
	if err != nil || got[0].Is[0] != "12.50" || got[1].Is[0] != "true" {
		t.Errorf("%v, %v", got, err)
	}
}

// TestWrongDataIsRefused with what is wrong with it.
func TestWrongDataIsRefused(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 200) + "1" + strings.Repeat("}", 200)
	for src, want := range map[string]string{
		"":                          "",
		"[1]":                       "no object",
		`{"a": [[1]]}`:              "a list holds texts",
		`{"a": 1, "a": 2}`:          "twice",
		`{"a": {"b": 1}, "a.b": 2}`: `field "a.b": it comes twice`,
		`{"": 1}`:                   "without a name",
		`{"` + strings.Repeat("x", 5000) + `":1}`: "5000 bytes",
		deep:         "json",
		`{"a": 1} x`: "json",
		"<!DOCTYPE a [<!ENTITY b 'c'>]><xfdf><fields/></xfdf>": "document type",
		"<html/>":           "not xfdf",
		"<xfdf><fields>":    "not all of it",
		"<xfdf></a></xfdf>": "not begun",
		"<xfdf/><xfdf/>":    "not xfdf",
		`<?xml version="1.0" encoding="UTF-16"?><xfdf/>`: "UTF-16",
		"<?php x?><xfdf/>": "processing instruction",
		"<xfdf><fields><field><value>1</value></field></fields></xfdf>":                                                         "without a name",
		"<xfdf><fields><field name='a'><value>1<b/></value></field></fields></xfdf>":                                            "an element within a value",
		"<xfdf><fields><field name='a'><value-richtext>x</value-richtext></field></fields></xfdf>":                              "formatted text",
		"<xfdf><fields><field name='a'><value>1</value></field><field name='a'><value>2</value></field></fields></xfdf>":        "twice",
		"<xfdf><fields><field name='a'><value>&b;</value></field></fields></xfdf>":                                              "twice or entity",
		"<xfdf>" + strings.Repeat("<a>", 100):                                                                                   "deep",
		"%FDF-1.2":                                                                                                              "fdf",
		"%FDF-1.2\n1 0 obj<</X 1>>endobj trailer<</Root 1 0 R>>":                                                                "no FDF dictionary",
		"%FDF-1.2\n1 0 obj<</FDF<</Fields[1]>>>>endobj trailer<</Root 1 0 R>>":                                                  "not a dictionary",
		"%FDF-1.2\n1 0 obj<</FDF<</Fields[<</T(a)/V 5>>]>>>>endobj trailer<</Root 1 0 R>>":                                      "not a text",
		"%FDF-1.2\n1 0 obj<</FDF<</Fields[2 0 R]>>>>endobj 2 0 obj<</T(a)/Kids[2 0 R]>>endobj trailer<</Root 1 0 R>>":           "too deep",
		"%FDF-1.2\n1 0 obj<</FDF<</Fields 2 0 R>>>>endobj 2 0 obj[<</Kids 2 0 R>><</Kids 2 0 R>>]endobj trailer<</Root 1 0 R>>": "too many",
	} {
		_, err := form.Parse([]byte(src))
		if _, ok := errors.AsType[*form.DataError](err); !ok {
			t.Errorf("%.60q: %v", src, err)
			continue
		}
		if want != "twice or entity" && !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %q", src, err, want)
		}
	}
	if _, err := form.Parse(make([]byte, form.MostBytes+1)); err == nil {
		t.Error("too large a file is read")
	}
	if _, err := form.ParseFormat("xdf"); err == nil || !strings.Contains(err.Error(), "did you mean") {
		t.Errorf("%v", err)
	}
}

// what Parse reads, it reads again from each format.
func again(t *testing.T, data []byte) {
	t.Helper()
	values, err := form.Parse(data)
	if err != nil {
		if _, ok := errors.AsType[*form.DataError](err); !ok {
			t.Fatalf("%T %v", err, err)
		}
		return
	}
	for _, v := range values {
		if v.Name == "" {
			t.Fatalf("%v", values)
		}
	}
	for _, f := range form.Formats() {
		_, err := form.Parse(form.Append(nil, form.Format(f), "x.pdf", values))
		if _, ok := errors.AsType[*form.DataError](err); err != nil && !ok { // names that are one in XML, or nothing
			t.Fatalf("%s: %v", f, err)
		}
	}
}

func FuzzFDF(f *testing.F) {
	f.Add([]byte("1 0 obj<</FDF<</Fields[<</T(a)/Kids[<</T(b)/V(c)>>]>><</T<FEFF0061>/V/Yes>>]>>>>endobj trailer<</Root 1 0 R>>"))
	f.Add([]byte("1 0 obj<</FDF<</Fields 2 0 R>>>>endobj 2 0 obj[<</T(x)/V[(a)(b)]>><</Kids 2 0 R>>]endobj trailer<</Root 1 0 R>>"))
	f.Add([]byte("1 0 obj<</FDF<</Fields[<</T(a)/V 2 0 R>>]>>>>endobj 2 0 obj<</Length 1>>stream\na\nendstream endobj trailer<</Root 1 0 R>>"))
	f.Fuzz(func(t *testing.T, data []byte) { again(t, append([]byte("%FDF-1.2\n"), data...)) })
}

func FuzzXFDF(f *testing.F) {
	f.Add([]byte("<xfdf><fields><field name='a'><field name='b'><value>c</value></field></field></fields></xfdf>"))
	f.Add([]byte("<xfdf xmlns='http://ns.adobe.com/xfdf/'><annots><a/></annots><fields><field name='&#x61;'><value>1</value><value>2</value></field></fields></xfdf>"))
	f.Add([]byte("<!DOCTYPE a><xfdf/>"))
	f.Fuzz(func(t *testing.T, data []byte) { again(t, append([]byte("<"), data...)) })
}

func FuzzJSON(f *testing.F) {
	f.Add([]byte(`{"a": {"b": "c"}, "d": [1, true, "x"], "e": null}`))
	f.Fuzz(func(t *testing.T, data []byte) { again(t, data) })
}
