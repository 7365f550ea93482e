package compile_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"example.com/quire/pdf/internal/compile"
)

// reusable is a template with components of its own and of a file, one of which uses another.
const reusable = `quire: 1
name: reusable
lang: en
title: "Letter ${number}"
data: {number: integer, to: {name: string, town: string}, lines: [{text: string, amount: decimal}]}
styles: {strong: {weight: bold}}
import: [parts.yaml]
components:
  greeting:
    params: {who: string}
    do: [{text: "Dear ${who} of ${to.town}", style: strong}]
  amounts:
    do: [{for: l in lines, do: [{use: line, with: {text: "${l.text}", amount: "${l.amount}"}}]}]
body:
  - {use: greeting, with: {who: "${to.name}"}}
  - {use: amounts}
  - {text: "Page ${page()}, ${number}"}
`

const reusableParts = `quire: 1
components:
  line: {params: {text: string, amount: decimal}, do: [{text: "${text}: ${amount | number(2)}"}]}
  mark: {do: [{image: mark.png, alt: Our mark, width: 10mm}, {text: "see ${pageOf('end')}"}]}
`

// TestChangedComponentsAloneAreCompiledAgain counts what is compiled after changes of a template
// and of the files that it reads, and holds what comes of it against a compilation of all.
func TestChangedComponentsAloneAreCompiledAgain(t *testing.T) {
	kept := compile.NewComponents(1 << 20)
	files := fstest.MapFS{"parts.yaml": {Data: []byte(reusableParts)}, "mark.png": {Data: []byte("a")}}
	src := reusable
	data := compile.JSON([]byte(`{"number": 7, "to": {"name": "Ada", "town": "Ely"}, "lines": [{"text": "a", "amount": 1.5}, {"text": "b", "amount": 2}]}`))
	wrong := compile.JSON([]byte(`{"number": "x", "to": {"name": 1, "town": 2}, "lines": [{"text": 3, "amount": "y"}]}`))
	said := func(k *compile.Components, src string) string {
		p, err := compile.Compile(t.Context(), []byte(src), compile.Options{File: "t.yaml", Files: files, Components: k})
		if err != nil {
			return err.Error()
		}
		_, err = p.Build(t.Context(), wrong, compile.BuildOptions{})
		d, fault := p.Build(t.Context(), data, compile.BuildOptions{})
		if fault != nil {
			return fault.Error()
		}
		text, fault := dump(t, d)
		return fmt.Sprint(text, fault, err, p.Warnings(), p.Files())
	}
	own := func(old, now string) func() { return func() { src = strings.Replace(src, old, now, 1) } }
	file := func(name, old, now string) func() {
		return func() {
			files[name] = &fstest.MapFile{Data: []byte(strings.Replace(string(files[name].Data), old, now, 1))}
		}
	}
	for _, step := range []struct {
		name   string
		change func()
		want   int64 // components compiled
	}{
		{"first", func() {}, 4},
		{"nothing", func() {}, 0},
		{"the body", own("Page ${page()}", "Sheet ${page()}"), 0},
		{"the title, with another span", own("Letter ${number}", "Letter ${number} to ${to.name}"), 0},
		{"one that nobody uses", own("Dear ${who}", "Good morning, ${who}"), 1},
		{"one that is used by another", file("parts.yaml", "${text}:", "${text} -"), 2},
		{"a file that one shows", file("mark.png", "a", "b"), 1},
		{"one gets a parameter and a loop", own("do: [{text: \"Good", "do: [{for: l in lines, do: [{text: \"${l.text}\"}]}, {text: \"Good"), 1},
		{"a line above all", own("title:", "\ntitle:"), 2},
		{"a style", own("weight: bold", "size: 20pt"), 4},
		{"the data", own("number: integer,", "number: integer, date: 'date?',"), 4},
		{"a fault", own("${who} of", "${whom} of"), 1},
		{"the fault is mended", own("${whom} of", "${who} of"), 0},
		{"one more", own("\nbody:", "\n  last: {do: [{text: last}]}\nbody:"), 1},
		{"one less", own("  last: {do: [{text: last}]}\n", ""), 0},
	} {
		step.change()
		before := kept.Compiled()
		got, want := said(kept, src), said(nil, src)
		if got != want {
			t.Errorf("%s: what was kept makes another document:\n%s\nwant:\n%s", step.name, got, want)
		}
		if n := kept.Compiled() - before; n != step.want && !strings.Contains(want, "whom") {
			t.Errorf("%s: %d components compiled, want %d", step.name, n, step.want)
		}
	}
}
