package compile_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"example.com/quire/pdf/internal/compile"
)

const memoryTemplate = `quire: 1
name: memory
lang: en
locale: en
data: {name: string, items: [{name: string, sum: decimal, tags: [string]}]}
vars: {sums: "map(items, .sum)"}
title: "Of ${name}"
filename: "of ${name}"
header: {all: [{row: {widths: [1fr, 1fr], cells: [[{text: "${name}"}], [{text: "${page()}"}]]}}]}
body:
  - {heading: "To ${name}", level: 1}
  - {for: i in items, do: [{text: "${i.name} has ${i.sum | number(2)}"}]}
  - table:
      columns: [{head: "Of ${name}", width: 1fr}, {head: Sum, width: auto}]
      head: [["${name}", "head"]]
      rows: {for: i in items, cells: ["${i.name}", {do: [{table: {columns: [{width: 1fr}], rows: {for: t in i.tags, cells: ["${t}"]}}}]}]}
      foot: [["Sum", "${sum(sums) | number(2)}"]]
`

// TestMemoryOfADocumentIsClearedForTheNext: documents that are made in one memory, one after the
// other, are those that are made alone, also after one that was given up or had wrong data, and
// nothing of a document is left in the memory.
func TestMemoryOfADocumentIsClearedForTheNext(t *testing.T) {
	p, err := compile.Compile(t.Context(), []byte(memoryTemplate), compile.Options{File: "memory.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	data := func(name string, items int) compile.Data {
		var list []string
		for i := range items {
			list = append(list, fmt.Sprintf(`{"name":"%s %d","sum":%d.5,"tags":["%s a","b%d"]}`, name, i, i, name, i))
		}
		return compile.JSON(fmt.Appendf(nil, `{"name":%q,"items":[%s]}`, name, strings.Join(list, ",")))
	}
	made := func(d compile.Data, m *compile.Memory) string {
		t.Helper()
		built, err := p.Build(t.Context(), d, compile.BuildOptions{Memory: m})
		if err != nil {
			return err.Error()
		}
		text, err := dump(t, built)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	var m compile.Memory
	for i, of := range []struct {
		name  string
		items int
	}{{"Alice", 3}, {"SECRET", 700}, {"Bob", 2}, {"SECRET", 1}, {"Carol", 40}, {"Dan", 0}} {
		want := made(data(of.name, of.items), nil)
		if got := made(data(of.name, of.items), &m); got != want {
			t.Errorf("document %d of %s differs from the one made alone", i, of.name)
		}
		m.Reset()
		if at := find(reflect.ValueOf(&m), of.name, map[uintptr]bool{}, "memory"); at != "" {
			t.Errorf("%s is left at %s", of.name, at)
		}
		if i == 1 {
			_ = made(compile.JSON([]byte(`{"name": "SECRET", "items": [{"name": 1}]}`)), &m)
			m.Reset()
			built, err := p.Build(t.Context(), data("SECRET", 50), compile.BuildOptions{Memory: &m})
			if err != nil {
				t.Fatal(err)
			}
			for _, err := range built.Body {
				if err != nil {
					t.Error(err)
				}
				break
			}
			m.Reset()
			if at := find(reflect.ValueOf(&m), "SECRET", map[uintptr]bool{}, "memory"); at != "" {
				t.Errorf("after an unfinished document SECRET is left at %s", at)
			}
		}
	}
}

// find returns where a text stands in what v leads to; empty: nowhere.
func find(v reflect.Value, text string, seen map[uintptr]bool, at string) string {
	switch v.Kind() {
	case reflect.String:
		if strings.Contains(v.String(), text) {
			return at
		}
	case reflect.Pointer:
		if v.IsNil() || seen[v.Pointer()] {
			return ""
		}
		seen[v.Pointer()] = true
		return find(v.Elem(), text, seen, at)
	case reflect.Interface:
		if !v.IsNil() {
			return find(v.Elem(), text, seen, at)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if s := find(v.Field(i), text, seen, at+"."+v.Type().Field(i).Name); s != "" {
				return s
			}
		}
	case reflect.Slice:
		if v.Cap() > 0 && v.Type().Elem().Kind() == reflect.Uint8 {
			if strings.Contains(string(v.Slice(0, v.Cap()).Bytes()), text) {
				return at
			}
			return ""
		}
		fallthrough
	case reflect.Array:
		if v.Kind() == reflect.Slice {
			v = v.Slice(0, v.Cap())
		}
		for i := range v.Len() {
			if s := find(v.Index(i), text, seen, fmt.Sprintf("%s[%d]", at, i)); s != "" {
				return s
			}
		}
	}
	return ""
}
