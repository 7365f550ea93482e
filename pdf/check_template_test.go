//go:build !race

package pdf_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/quire/pdf"
)

// checkTemplate compiles and checks a template whose fifth line comes first in source.
func checkTemplate(t *testing.T, e *pdf.Engine, source string) ([]pdf.Diagnostic, error) {
	t.Helper()
	p, err := e.Compile(t.Context(), pdf.Source{File: "t.yaml", Text: []byte("quire: 1\nname: t\nlang: de\ntitle: T\n" + source), Files: os.DirFS("testdata")})
	if err != nil {
		return nil, err
	}
	return e.CheckTemplate(t.Context(), p)
}

// TestTemplatesAreCheckedWithoutData (rule 42): what no data would mend is found without any, at
// its place, in branches and loops too.
func TestTemplatesAreCheckedWithoutData(t *testing.T) {
	e := newEngine(t, pdf.Config{})
	for _, c := range []struct{ name, source, want string }{
		{"unknown family", "styles:\n  base: {font: Liberation Snas}\nbody: [{text: a}]", "F403 6:16 styles.base.font"},
		{"unknown family of a block", "body:\n  - {text: a, font: Helvetica}", "F403 6:21 body[0].font"},
		{"unknown fallback", "fonts: {fallback: [Noto]}\nbody: [{text: a}]", "F403 5:20 fonts.fallback[0]"},
		{"no glyph", "body:\n  - {text: 休み}", "F401 6:6 body[0].text"},
		{"no glyph beside a value", "data: {a: string}\nbody:\n  - {text: \"${a} 休み\"}", "F401 7:6 body[0].text"},
		{"no glyph in a branch", "data: {a: boolean}\nbody:\n  - {if: a, do: [{text: a}], else: [{text: 休}]}", "F401 7:38 body[0].else[0].text"},
		{"no glyph in a case", "data: {a: \"enum(x, y)\"}\nbody:\n  - {switch: a, cases: [{is: x, do: [{text: a}]}, {is: y, do: [{text: 休}]}]}", "F401 7:65 body[0].cases[1].do[0].text"},
		{"no glyph in a loop", "data: {a: [string]}\nbody:\n  - {for: x in a, do: [{text: \"休 ${x}\"}]}", "F401 7:25 body[0].do[0].text"},
		{"no glyph when there is nothing", "data: {a: [string]}\nbody:\n  - {for: x in a, do: [{text: \"${x}\"}], empty: [{text: 休}]}", "F401 7:50 body[0].empty[0].text"},
		{"no glyph in a list", "data: {a: [string]}\nbody:\n  - list: {for: x in a, item: \"休 ${x}\"}", "F401 7:31 body[0].list.item"},
		{"no glyph in a row", "data: {a: [{b: string}]}\nbody:\n  - table:\n      columns: [{head: A}]\n      rows: {for: x in a, if: x.b != \"\", cells: [\"休 ${x.b}\"]}", "F401 9:50 body[0].table.rows.cells[0]"},
		{"no glyph in the head of a group", "data: {a: [{b: string}]}\nbody:\n  - table:\n      columns: [{head: A}]\n      rows: {for: x in a, group: {by: x.b, head: [[\"休\"]]}, cells: [\"${x.b}\"]}", "F401 9:52 body[0].table.rows.group.head[0][0]"},
		{"no glyph for an empty table", "data: {a: [{b: string}]}\nbody:\n  - table:\n      columns: [{head: A}]\n      rows: {for: x in a, cells: [\"${x.b}\"], empty: 休}", "F401 9:53 body[0].table.rows.empty"},
		{"no glyph in a component", "data: {a: string}\ncomponents:\n  c: {params: {p: string}, do: [{text: \"${p} 休\"}]}\nbody:\n  - {use: c, with: {p: \"${a}\"}}", "F401 7:34 components.c.do[0].text"},
		{"no glyph in a header", "header: {all: [{text: 休}]}\nbody: [{text: a}]", "F401 5:17 header.all[0].text"},
		{"no glyph in a section", "body:\n  - section: {do: [{text: 休}]}", "F401 6:21 body[0].section.do[0].text"},
		{"columns beyond the body", "body:\n  - table:\n      columns: [{head: A, width: 100mm}, {head: B, width: 100mm}]\n      rows: [[a, b]]", "L306 6:5 body[0].table"},
		{"a field beyond the body", "body:\n  - {field: text, name: a, label: A, width: 300mm}", "L306 6:6 body[0].field"},
		{"a figure beyond its column", "body:\n  - table:\n      columns: [{head: A, width: 8mm}]\n      rows: [[\"${12345678901 | number(2)}\"]]", "L312 8:15 body[0].table.rows[0][0]"},
		{"an image beyond repair", "body:\n  - {image: mutants.json, alt: A}", "L307 6:6 body[0].image"},
		{"a picture of a signature beyond repair", "body:\n  - {signature: f, alt: l, picture: \"data:image/png;base64,AAAA\"}", "L307 6:37 body[0].picture"},
		{"an anchor twice", "body:\n  - {text: a, anchor: x}\n  - {text: b, anchor: x}", "L311 7:6 body[1].text"},
		{"an id twice", "body:\n  - {text: a, id: x}\n  - table: {columns: [{head: A}], rows: [[{text: b, id: x}]]}", "L323 7:43 body[1].table.rows[0][0]"},
		{"a break in a box", "data: {a: boolean}\nbody:\n  - box: {do: [{if: a, do: [{page-break: true}]}]}", "L305 7:30 body[0].box.do[0].do[0].page-break"},
		{"a break of a column in a box", "body:\n  - columns: {do: [{box: {do: [{text: a}, {text: b, break-before: column}]}}]}", "L305 6:44 body[0].columns.do[0].box.do[1].text"},
		{"a link in an artifact", "body:\n  - {box: {do: [{text: \"[a](https://example.com/)\"}]}, artifact: true}", "L305 6:18 body[0].box.do[0].text"},
		{"an anchor in an artifact", "body:\n  - {text: \"[a](#a)\"}\n  - {box: {do: [{text: a, anchor: a}]}, artifact: true}", "L305 7:18 body[1].box.do[0].text"},
		{"a footnote in an artifact", "body:\n  - {text: \"a^[b]\", artifact: true}", "L305 6:6 body[0].text"},
		{"a contents in an artifact", "body:\n  - {box: {do: [{toc: {}}]}, artifact: true}", "L305 6:18 body[0].box.do[0].toc"},
		{"a field in an artifact", "body:\n  - {box: {do: [{field: text, name: a, label: a}]}, artifact: true}", "L305 6:18 body[0].box.do[0].field"},
		{"a break in a cell", "body:\n  - table:\n      columns: [{head: A}]\n      rows: [[{do: [{page-break: true}]}]]", "L305 8:22 body[0].table.rows[0][0].do[0].page-break"},
		{"a break in a header", "header: {all: [{page-break: true}]}\nbody: [{text: a}]", "L305 5:17 header.all[0].page-break"},
		{"a barcode of a wrong value", "body:\n  - {barcode: ean13, value: \"12345\", alt: A}", "L313 6:6 body[0].barcode"},
		{"a place beyond the sheet", "body:\n  - place: {x: 200mm, y: 10mm, width: 50mm, do: [{text: a}]}", "L317 6:5 body[0].place"},
		{"a place beyond its box", "body:\n  - box: {width: 50mm, height: 30mm, do: [{place: {x: 10mm, y: 10mm, width: 50mm, do: [{text: a}]}}]}", "L317 6:44 body[0].box.do[0].place"},
		{"a layer in a box", "body:\n  - box: {do: [{place: {x: 0mm, y: 0mm, width: 50mm, layer: over, do: []}}]}", "L305 6:17 body[0].box.do[0].place"},
		{"content beyond its place", "body:\n  - place: {x: 10mm, y: 10mm, width: 50mm, height: 1mm, do: [{text: a}]}", "L317 6:5 body[0].place"},
		{"higher than a page", "body:\n  - {spacer: 10mm}\n  - box: {height: 400mm, do: [{text: a}]}\n    keep-together: true", "L301 7:5 body[1].box"},
		{"a text of too many lines", "body:\n  - {text: \"a word of a text that has several lines\", max-lines: 1, size: 40pt}", "L320 6:6 body[0].text"},
		{"division by zero", "data: {a: decimal}\nbody:\n  - {text: \"${a / 0 | number(2)}\"}", "T107 7:17 body[0].text"},
		{"division by what is zero", "body:\n  - {text: \"${7 / (2 - 2) | number(2)}\"}", "T107 6:17 body[0].text"},
		{"unknown currency", "data: {a: decimal}\nbody:\n  - {text: \"${a | money('EUX')}\"}", "T107 7:25 body[0].text"},
		{"unknown language", "body:\n  - {text: a, lang: xx}", "T105 6:21 body[0].lang"},
		{"no formats for the locale, once", "locale: yo\ndata: {a: decimal, b: date}\nbody:\n  - {text: \"${a | number(2)} ${a | percent(1)}\"}\n  - {text: \"${b | date('long')}\"}", "T117 5:9 locale"},
		{"empty body", "body: []", "T105 5:7 body"},
		{"a key without effect", "body:\n  - {rule: {thickness: 1pt}, color: \"#f00\"}", "T105 6:30 body[0]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := checkTemplate(t, e, c.source)
			de, ok := errors.AsType[*pdf.DiagnosticError](err)
			if !ok {
				t.Fatalf("error %v, want %s", err, c.want)
			}
			d := de.Diagnostics[0]
			if got := fmt.Sprintf("%s %d:%d %s", d.Code, d.Line, d.Col, d.Path); got != c.want || len(de.Diagnostics) != 1 || d.Kind != pdf.KindTemplate {
				t.Errorf("got %s (%s), want %s alone:\n%v", got, d.Kind, c.want, de)
			}
		})
	}
}

// TestSoundTemplatesPassTheCheck: what depends on data is not held against a template.
func TestSoundTemplatesPassTheCheck(t *testing.T) {
	e := newEngine(t, pdf.Config{})
	for _, source := range []string{
		"data: {a: string}\nbody: [{barcode: ean13, value: \"${a}\", alt: A}, {field: text, name: \"${a}\", label: A}, {markdown: \"${a}\"}, {text: a, link: \"${a}\"}]",
		"data: {a: boolean}\nbody: [{if: a, do: [{text: a, anchor: x}], else: [{text: b, anchor: x}]}, {text: c, link: \"#x\"}]",
		"data: {a: [string], b: boolean}\nbody:\n  - table:\n      columns: [{head: A, if: b, width: 100mm}, {head: A, if: not b, width: 100mm}, {for: x in a, head: \"${x}\", width: 90mm}]\n      rows: [[a, b, {for: x in a, text: \"${x}\"}]]",
		"data: {a: boolean}\nbody:\n  - place: {x: 10mm, y: 10mm, width: 50mm, height: 10mm, do: [{if: a, do: [{text: a}], else: [{text: b}]}, {if: a, do: [{text: c}]}]}",
		"data: {a: [{b: string, c: decimal}]}\nbody:\n  - {for: x in a, do: [{text: \"${x.b} ${x.c / x.c | number(2)}\", anchor: \"${x.b}\"}, {text: \"Page ${pageOf(x.b)} of ${pages()}\"}]}",
		"body: [{row: {widths: [1fr, auto], cells: [a, {barcode: qr, value: a, size: 20mm, alt: A}]}}]",
		"data: {a: image}\nbody: [{image: \"${a}\", alt: A}]",
		"data: {a: [string]}\nbody:\n  - box: {do: [{for: x in a, do: [{text: \"${x}\"}]}, {place: {x: 10mm, y: 20mm, width: 50mm, do: [{text: b}]}}]}",
		"data: {a: string, b: [string]}\nbody: [{text: a, id: \"${a}\"}, {text: a, id: \"x${a}\"}, {table: {columns: [{for: x in b, head: A, id: \"h-${x}\"}], rows: [[{for: x in b, text: a, headers: \"h-${x}\"}]]}}]",
		"data: {small: string}\nstyles: {small: {size: 8pt}}\nbody: [{text: \"[${small}]{small} [x]{small}\"}]",
	} {
		if _, err := checkTemplate(t, e, source); err != nil {
			t.Errorf("%s\n%v", source, err)
		}
	}
	samples, err := filepath.Glob("../examples/pdf/samples/*/template.yaml")
	if err != nil || len(samples) < 20 {
		t.Fatal(len(samples), err)
	}
	for _, file := range samples {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		p, err := e.Compile(t.Context(), pdf.Source{File: file, Text: src, Files: os.DirFS(filepath.Dir(file))})
		if err != nil {
			t.Fatal(err)
		}
		if warnings, err := e.CheckTemplate(t.Context(), p); err != nil || len(warnings) > 0 {
			t.Errorf("%v %v", warnings, err)
		}
	}
}

// TestWhatIsLikelyAMistakeIsAWarning: a template with one makes documents all the same.
func TestWhatIsLikelyAMistakeIsAWarning(t *testing.T) {
	e := newEngine(t, pdf.Config{})
	for source, want := range map[string]string{
		"body: [{if: \"1 > 2\", do: [{text: a}]}, {text: b}]":                                    "T122 5:13 body[0].if: the condition is always false",
		"body: [{text: b, if: \"upper('a') == 'A'\"}]":                                           "T122 5:22 body[0].if: the condition is always true",
		"data: {a: string}\nbody: [{switch: a, cases: [{is: [x, y], do: []}, {is: y, do: []}]}]": "T122 6:55 body[0].cases[1].is: a case above takes \"y\" already",
		"data: {a: string}\nbody: [{text: \"{{a}} ${a} ${upper('{a}')}\"}]":                      "T123 6:16 body[0].text: \"{{a}}\" is printed as it is",
		"data: {a: {b: string}}\nbody: [{text: \"it is $a.b, not $5 or \\\\$a\"}]":               "T123 6:22 body[0].text: \"$a.b\" is printed as it is",
		"data: {a: string}\nbody: [{text: \"a <%= a %> {b} (a) %a {a\"}]":                        "T123 6:18 body[0].text: \"<%= a %>\" is printed as it is",
		"data: {a: string}\nmeta: {subject: \"of $(a)\"}\nbody: [{text: b}]":                     "T123 6:21 meta.subject: \"$(a)\" is printed as it is",
		"data: {a: decimal}\nbody: [{text: \"${a}\"}]":                                           "T121 6:18 body[0].text: a is printed with a point, and de writes \",\"",
		"body: [{svg: \"data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIHdpZHRoPSIxMCIgaGVpZ2h0PSIxMCI+PGZpbHRlci8+PHJlY3Qgd2lkdGg9IjUiIGhlaWdodD0iNSIvPjxmb3JlaWduT2JqZWN0Lz48L3N2Zz4=\", alt: A}]": "L315 5:9 body[0].svg",
	} {
		warnings, err := checkTemplate(t, e, source)
		var got []string
		for _, w := range warnings {
			got = append(got, fmt.Sprintf("%s %d:%d %s: %s", w.Code, w.Line, w.Col, w.Path, w.Message))
		}
		if err != nil || len(got) != 1 || !strings.HasPrefix(got[0], want) {
			t.Errorf("%s: got %q, %v, want %q", source, got, err, want)
		}
	}
}
