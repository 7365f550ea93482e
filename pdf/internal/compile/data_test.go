package compile_test

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/compile"
	"example.com/quire/pdf/internal/diag"
)

// TestBadData builds testdata/baddata/template.yaml with each data file and
// compares the whole report with the file beside it.
func TestBadData(t *testing.T) {
	t.Parallel()
	p := planOf(t, "testdata/baddata/template.yaml")
	files, err := filepath.Glob("testdata/baddata/*.json")
	if err != nil || len(files) < 20 {
		t.Fatal(len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			body, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			d, err := p.Build(t.Context(), compile.NamedJSON(filepath.Base(file), body), compile.BuildOptions{})
			var de *diag.DiagnosticError
			if d != nil || !errors.As(err, &de) {
				t.Fatalf("built %v, error %v", d, err)
			}
			if !errors.Is(err, diag.ErrData) && !errors.Is(err, diag.ErrLimit) {
				t.Errorf("no sentinel in %v", err)
			}
			golden(t, strings.TrimSuffix(file, ".json")+".report", err.Error()+"\n")
		})
	}
}

// source compiles a template given as its data contract and body.
func source(t *testing.T, data, body string) *compile.Plan {
	t.Helper()
	src := "quire: 1\nname: x\nlang: en-IN\ntitle: T\ndata: " + data + "\n" + body
	p, err := compile.Compile(t.Context(), []byte(src), compile.Options{File: "x.yaml", Files: assets})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// build returns the dump of a document below its head, and what went wrong.
func build(t *testing.T, p *compile.Plan, data string, o compile.BuildOptions) (string, error) {
	t.Helper()
	d, err := p.Build(t.Context(), compile.JSON([]byte(data)), o)
	if err != nil {
		return "", err
	}
	return dump(t, d)
}

func texts(t *testing.T, p *compile.Plan, data string) string {
	t.Helper()
	out, err := build(t, p, data, compile.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for line := range strings.Lines(out) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "text "); ok {
			text, _, _ := strings.Cut(rest, " @")
			b.WriteString(text + "\n")
		}
	}
	return b.String()
}

// TestNumbersKeepTheirDigits: decimals print as they were written, numbers
// without trailing zeros, and nothing goes through a float.
func TestNumbersKeepTheirDigits(t *testing.T) {
	t.Parallel()
	p := source(t, "{d: decimal, n: number, i: integer, s: decimal}", `body: [{text: "${d} ${n} ${i} ${d * s}"}]`)
	got := texts(t, p, `{"d": 12.50, "n": 12.50, "i": 3.0, "s": 1e2}`)
	if got != `#"12.50" " " #"12.5" " " #"3" " " #"1250.00"`+"\n" {
		t.Error(got)
	}
	wide, _ := new(big.Int).SetString("123456789012345678901234567890", 10)
	got = texts(t, p, `{"d": `+wide.String()+`.10, "n": 1e30, "i": `+wide.String()+`, "s": 0}`)
	if got != fmt.Sprintf("#%q \" \" #%q \" \" #%q \" \" #\"0.00\"\n", wide.String()+".10", "1"+strings.Repeat("0", 30), wide.String()) {
		t.Error(got)
	}
}

// TestValuesAreNoMarkup: what stands in the data prints as itself.
func TestValuesAreNoMarkup(t *testing.T) {
	t.Parallel()
	p := source(t, "{s: string}", `body: [{text: "**${s}** ${s}"}]`)
	if got := texts(t, p, `{"s": "*a* [b](https://c) \u0024{s} \\ \u00e9\ud83d\ude00"}`); got != `b"*a* [b](https://c) ${s} \\ é😀" " *a* [b](https://c) ${s} \\ é😀"`+"\n" {
		t.Error(got)
	}
}

// TestMissingValues: never a blank, but an error with the path in the data.
func TestMissingValues(t *testing.T) {
	t.Parallel()
	const data = `{"a": [{"b": [{"c": "x"}, {}]}], "n": {}}`
	contract := `{a: [{b: [{c: "string?", link: "string?", img: "image?"}]}], n: {x: "string?", y: "decimal?"}, r: "{}?"}`
	contract = strings.Replace(contract, `, r: "{}?"`, "", 1)
	for _, tt := range []struct{ body, want string }{
		{`body: [{for: o in a, do: [{for: p in o.b, do: [{text: "${p.c + ''}"}]}]}]`, `x.yaml:6:58: body[0].do[0].do[0].text: a[].b[].c is missing; test it with if, or write | default(...) (data a[0].b[1].c)  [D206]`},
		{`body: [{text: "${n.x + ''}"}]`, "x.yaml:6:18: body[0].text: n.x is missing; test it with if, or write | default(...) (data n.x)  [D206]"},
		{`body: [{text: "${n.y + 1}"}]`, "x.yaml:6:18: body[0].text: n.y is missing; test it with if, or write | default(...) (data n.y)  [D206]"},
		{`body: [{table: {columns: [{head: A}], rows: {for: 'o in a[0].b', cells: ["${o.c + ''}"]}}}]`, "x.yaml:6:77: body[0].table.rows.cells[0]: a[].b[].c is missing; test it with if, or write | default(...) (data a[].b[].c)  [D206]"},
		{`body: [{text: "${n.x | default('-')} ${n.x ?? 'y'}"}]`, ""},
		{`body: [{for: 'p in a[0].b', do: [{text: t, link: "${p.link}", if: p.link == null}, {image: "${p.img}", alt: a}]}]`, ""},
		{`vars: {v: n.y * 2}` + "\n" + `body: [{text: "${v}"}]`, "x.yaml:6:11: vars.v: n.y is missing; test it with if, or write | default(...) (data n.y)  [D206]"},
	} {
		p := source(t, contract, tt.body)
		_, err := build(t, p, data, compile.BuildOptions{})
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.body, got, tt.want)
		}
	}
}

// TestBareDecimalsWarn: a decimal without a format stands there with a point; where the language
// writes a comma that is a warning, which every document repeats.
func TestBareDecimalsWarn(t *testing.T) {
	t.Parallel()
	for lang, want := range map[string]string{
		"de": "x.yaml:5:18: body[0].text: warning: d is printed with a point, and de writes \",\"; write | number(2), or | money('EUR')  [T121]",
		"en": "",
	} {
		p, err := compile.Compile(t.Context(), []byte("quire: 1\nname: x\nlang: "+lang+"\ntitle: \"${d}\"\n"+
			`body: [{text: "${d} ${d | number(2)} ${n}", anchor: "a-${d}"}]`+"\ndata: {d: decimal, n: integer}\n"), compile.Options{File: "x.yaml"})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, d := range p.Warnings() {
			if d.Severity != diag.SeverityWarning {
				t.Errorf("severity %v", d.Severity)
			}
			got = append(got, d.String())
		}
		if strings.Join(got, "\n") != want {
			t.Errorf("%s: %q", lang, got)
		}
	}
}

// TestNowNeedsATime: a document has the time that the caller gives, or none.
func TestNowNeedsATime(t *testing.T) {
	t.Parallel()
	p := source(t, "{}", `body: [{text: "${now() | date('iso')}"}]`)
	_, err := build(t, p, "{}", compile.BuildOptions{})
	if err == nil || !strings.Contains(err.Error(), "x.yaml:6:18: body[0].text: now() needs a render time") {
		t.Error(err)
	}
	out, err := build(t, p, "{}", compile.BuildOptions{Time: renderTime})
	if err != nil || !strings.Contains(out, "2026-03-09") {
		t.Error(out, err)
	}
}

// TestBudgets (rule 24): loops, deep components and huge ranges end by budget
// with an X code and a place.
func TestBudgets(t *testing.T) {
	t.Parallel()
	doubling := "components:\n  c0: {do: [{text: a}]}\n"
	for i := range 30 {
		doubling += fmt.Sprintf("  c%d: {do: [{use: c%d}, {use: c%d}]}\n", i+1, i, i)
	}
	for name, tt := range map[string]struct{ body, want string }{
		"huge range":       {`body: [{for: "x in 1..1000000000", do: [{text: a}]}]`, "x.yaml:6:21: body[0].for: the range 1..1000000000 has more than 100000 items  [X311]"},
		"nested loops":     {`body: [{for: "x in 1..50000", do: [{for: "y in 1..50000", do: [{if: x == y, do: [{text: a}]}]}]}]`, "[X31"},
		"deep components":  {doubling + "body: [{use: c30}]", "[X310]"},
		"box full of text": {`body: [{box: {do: [{for: "x in 1..99999", do: [{for: "y in 1..99999", do: [{text: a}]}]}]}}]`, "[X312]"},
		"long texts":       {`body: [{box: {do: [{for: "x in 1..9999", do: [{text: "${'` + strings.Repeat("y", 4000) + `' + ''}"}]}]}}]`, "[X312]"},
		"rows":             {`body: [{table: {columns: [{head: A}], rows: {for: "x in 1..99999", cells: [{do: [{for: "y in 1..99999", do: [{rule: }]}]}]}}}]`, "[X31"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := source(t, "{}", tt.body)
			_, err := build(t, p, "{}", compile.BuildOptions{Limits: diag.Limits{PredicateSteps: 300_000, ExprMemory: 8 << 20}})
			if err == nil || !strings.Contains(err.Error(), tt.want) || !errors.Is(err, diag.ErrLimit) {
				t.Errorf("%v, want %s", err, tt.want)
			}
		})
	}
}

func TestDataLimits(t *testing.T) {
	t.Parallel()
	p := source(t, "{l: [integer]}", "body: [{spacer: 1mm}]")
	for _, tt := range []struct {
		limits diag.Limits
		code   string
	}{{diag.Limits{DataBytes: 10}, "X307"}, {diag.Limits{DataDepth: 1}, "X308"}, {diag.Limits{DataNodes: 5}, "X309"}} {
		_, err := build(t, p, `{"l": [1, 2, 3, 4, 5]}`, compile.BuildOptions{Limits: tt.limits})
		if err == nil || !strings.Contains(err.Error(), tt.code) {
			t.Errorf("%+v: %v", tt.limits, err)
		}
	}
}

// TestLinksFromData: a link leads to a reader, whoever wrote it.
func TestLinksFromData(t *testing.T) {
	t.Parallel()
	p := source(t, "{u: string}", `body: [{text: "[a](${u})"}, {text: "[a](https://x/${u})"}]`)
	if out := texts(t, p, `{"u": "https://e.org"}`); out != "\"a\"->https://e.org\n\"a\"->https://x/https://e.org\n" {
		t.Error(out)
	}
	_, err := build(t, p, `{"u": "javascript:alert(1)"}`, compile.BuildOptions{})
	if err == nil || !strings.Contains(err.Error(), `"javascript:alert(1)" is not a valid link; links are https:`) {
		t.Error(err)
	}
}

// TestCancel: after cancellation no further block or row is begun.
func TestCancel(t *testing.T) {
	t.Parallel()
	p := source(t, "{}", `body: [{for: "x in 1..1000", do: [{text: "${x}"}]}, {table: {columns: [{head: A}], rows: {for: "x in 1..1000", cells: ["${x}"]}}}]`)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	d, err := p.Build(ctx, nil, compile.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, err = range d.Body {
		if count++; count == 10 {
			cancel()
		}
	}
	if !errors.Is(err, context.Canceled) || count != 11 {
		t.Errorf("%d blocks, %v", count, err)
	}
	if _, err := p.Build(ctx, nil, compile.BuildOptions{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := compile.Compile(ctx, []byte("a: b"), compile.Options{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestEarlyStop: layout may stop at any block or row.
func TestEarlyStop(t *testing.T) {
	t.Parallel()
	p := source(t, "{}", `body: [{table: {columns: [{head: A}], rows: {for: "x in 1..9", cells: ["${x}"]}}}, {text: a}]`)
	d, err := p.Build(t.Context(), nil, compile.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for n, err := range d.Body {
		if err != nil {
			t.Fatal(err)
		}
		table, ok := n.(*doc.Table)
		if !ok {
			t.Fatalf("%T", n)
		}
		for r, err := range table.Rows {
			if err != nil || r.Cells[0].Spans[0].Text != "1" {
				t.Fatal(r, err)
			}
			break
		}
		break
	}
}

// TestRowsSeeTheirOwnLoop: tables that wait inside boxes are filled later, with
// the values that the loop around them had.
func TestRowsSeeTheirOwnLoop(t *testing.T) {
	t.Parallel()
	p := source(t, "{groups: [{name: string, items: [string]}]}", `
components:
  group: {params: {name: string, items: "[string]"}, do: [{table: {columns: [{head: "${name}"}], rows: {for: i in items, cells: ["${name} ${i}"]}}}]}
body:
  - row:
      cells:
        - - for: g in groups
            do: [{use: group, with: {name: "${g.name}", items: "${g.items}"}}]
`)
	out, err := build(t, p, `{"groups": [{"name": "A", "items": ["1", "2"]}, {"name": "B", "items": ["3"]}]}`, compile.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"A 1"`, `"A 2"`, `"B 3"`, `"A"`, `"B"`} {
		if strings.Count(out, want) != 1 {
			t.Errorf("%s is there %d times\n%s", want, strings.Count(out, want), out)
		}
	}
}

// TestIsolation (rule 1): documents of one plan, made at the same time, hold each
// only its own text.
func TestIsolation(t *testing.T) {
	t.Parallel()
	p := planOf(t, "testdata/samples/contract-note.yaml")
	base, err := os.ReadFile("testdata/samples/contract-note.json")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			name := fmt.Sprintf("Client%04d", i)
			data := strings.ReplaceAll(string(base), "Asha Rao", name)
			for range 5 {
				out, err := build(t, p, data, compile.BuildOptions{})
				if err != nil || strings.Count(out, name) != 1 || strings.Count(out, "Client0") != 1 {
					t.Errorf("%s: %v\n%s", name, err, out)
					return
				}
			}
		})
	}
	wg.Wait()
}

// TestDeterminism (rule 11): the same template and data give the same document,
// compiled again, whatever the order of the keys in the data.
func TestDeterminism(t *testing.T) {
	t.Parallel()
	data := `{"m": {"b": 1, "a": 2, "c": 3}, "s": "x"}`
	turned := `{"s": "x", "m": {"c": 3, "a": 2, "b": 1}}`
	const body = `body: [{text: "${m.a ?? 0} ${m.b ?? 0} ${s} ${len(m)}"}, {image: photo.jpg, alt: a}, {image: assets/logo.png, decorative: true}]`
	want := ""
	for i := range 20 {
		p := source(t, "{m: map(integer), s: string}", body)
		for _, d := range []string{data, turned} {
			out, err := build(t, p, d, compile.BuildOptions{})
			if err != nil || want != "" && out != want {
				t.Fatalf("run %d: %v\n%s", i, err, out)
			}
			want = out
		}
		if files := strings.Join(p.Files(), " "); files != "assets/logo.png photo.jpg" {
			t.Fatal(files)
		}
	}
}

// TestJSONTemplate: JSON is YAML, tabs and all.
func TestJSONTemplate(t *testing.T) {
	t.Parallel()
	src := "{\n\t\"quire\": 1,\n\t\"name\": \"j\",\n\t\"lang\": \"de\",\n\t\"title\": \"T\",\n\t\"data\": {\"n\": \"decimal\"},\n\t\"body\": [\n\t\t{\"text\": \"${n | money('EUR')} \\u00e9\"}\n\t]\n}\n"
	p, err := compile.Compile(t.Context(), []byte(src), compile.Options{File: "j.json"})
	if err != nil {
		t.Fatal(err)
	}
	if got := texts(t, p, `{"n": 1234.5}`); got != `#"1.234,50\u00a0€" " é"`+"\n" {
		t.Errorf("%q", got)
	}
	if schema, err := p.Schema(); err != nil || !strings.Contains(string(schema), `"j"`) || len(p.Standards()) != 0 {
		t.Errorf("%s %v %v", schema, err, p.Standards())
	}
}

// TestTemplateLimits: what goes in is bounded.
func TestTemplateLimits(t *testing.T) {
	t.Parallel()
	_, err := compile.Compile(t.Context(), make([]byte, 2<<20), compile.Options{File: "big.yaml"})
	if err == nil || !strings.Contains(err.Error(), "X301") || !errors.Is(err, diag.ErrLimit) {
		t.Error(err)
	}
	p := source(t, "{i: image}", `body: [{image: "${i}", alt: "a ${1 + 1}", link: "https://x"}]`)
	out, err := build(t, p, `{"i": "data:image/png;base64,aGVsbG8="}`, compile.BuildOptions{})
	if err != nil || !strings.Contains(out, `image i 5 bytes alt "a 2"`) {
		t.Error(out, err)
	}
	_, err = compile.Compile(t.Context(), []byte("quire: 1\nname: x\nlang: en\ntitle: T\nbody: [{image: photo.jpg, alt: a}]"),
		compile.Options{File: "x.yaml", Files: assets, Limits: diag.Limits{ImageBytes: 3}})
	if err == nil || !strings.Contains(err.Error(), `file "photo.jpg": it is larger than the limit  [T118]`) {
		t.Error(err)
	}
	_, err = compile.Compile(t.Context(), []byte("quire: 1\nname: x\nlang: en\ntitle: T\nbody: [{image: photo.jpg, alt: a}]"), compile.Options{File: "x.yaml"})
	if err == nil || !strings.Contains(err.Error(), `the template has no files  [T118]`) {
		t.Error(err)
	}
}

// TestControl: conditions, loops, switches, components and their neighbours.
func TestControl(t *testing.T) {
	t.Parallel()
	p := source(t, `{side: "enum(BUY, SELL)", n: integer, flag: "boolean?", l: [string], o: "string?"}`, `
components:
  say: {params: {what: string, times: integer, sure: boolean, side: "enum(BUY, SELL)", note: "string?"}, do: [{text: "${what}${times}${sure}${side}${note ?? ''}"}]}
body:
  - {switch: side, cases: [{is: BUY, do: [{text: bought}]}, {is: SELL, do: [{text: sold}]}]}
  - {switch: n, cases: [{is: [1, 2.0], do: [{text: few}]}], else: [{text: many}]}
  - {switch: flag, cases: [{is: true, do: [{text: set}]}, {is: false, do: [{text: clear}]}], else: [{text: unset}]}
  - {for: "i, x in l", if: n > 0, do: [{text: "${i}${x}${loop.first}${loop.last}"}], empty: [{text: none}]}
  - {use: say, with: {what: "n=${n} ", times: 3, sure: true, side: "${side}", note: "${o}"}, if: n > 0}
  - {use: say, with: {what: plain, times: "${n + 1}", sure: "${n > 1}", side: SELL}}
  - {text: first, break-after: page, break-before: page, keep-with-next: true, lang: de, anchor: top, bookmark: "B ${n}"}
  - {if: flag, do: [{text: yes it is}], else: [{text: 'not \*it\* ***both*** a\b $ \${x}'}]}
  - {text: "\\*no\\* ${n} \\$", markup: none}
  - {heading: "Three ${n}", level: 3, bookmark: Third, color: "#123"}
  - {list: {items: [a], marker: decimal, start: 4}}
  - {list: {for: x in l, item: [{text: "${x}"}]}}
`[1:])
	got, err := build(t, p, `{"side": "SELL", "n": 2, "l": []}`, compile.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/control-empty.golden", got)
	got, err = build(t, p, `{"side": "BUY", "n": 7, "flag": true, "l": ["a", "b"], "o": "!"}`, compile.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/control-full.golden", got)
}

// TestBuildFailsInParts: what a header, a title or a watermark needs is missing.
func TestBuildFailsInParts(t *testing.T) {
	t.Parallel()
	for _, part := range []string{
		`title: "${o + ''}"`, `meta: {author: "${o + ''}"}`, `header: {all: [{text: "${o + ''}"}]}`, `footer: {all: [{row: {cells: ["${o + ''}"]}}]}`,
		`watermark: {text: "${o + ''}"}`, `watermark: {text: a, if: "o < 'a'"}`, `body: [{text: a, bookmark: "${o + ''}"}]`, `body: [{rule: , bookmark: "${o + ''}"}]`,
		`body: [{heading: "${o + ''}"}]`, `body: [{list: {items: ["${o + ''}"]}}]`, `body: [{box: {do: [{text: "${o + ''}"}]}}]`, `body: [{switch: o + 'x', cases: []}]`,
		`body: [{table: {columns: [{head: "${o + ''}"}], rows: []}}]`, `body: [{table: {columns: [{head: a}], rows: [], caption: "${o + ''}"}}]`,
		`body: [{table: {columns: [{head: a}], rows: [["${o + ''}"]]}}]`, `body: [{table: {columns: [{head: a}], rows: [], foot: [["${o + ''}"]]}}]`,
		`body: [{table: {columns: [{head: a}], rows: [], head: [[{text: a, link: "x${o + ''}"}]]}}]`,
		`body: [{table: {columns: [{head: a}], rows: {for: "x in [1]", if: "o < 'a'", cells: [b]}}}]`, `body: [{image: photo.jpg, alt: "${o + ''}"}]`,
		`body: [{spacer: 1mm, bookmark: "${o + ''}"}, {text: b}]`, `body: [{for: "x in [o + 'a']", do: []}]`, `body: [{text: "a", link: "https://${o + ''}"}]`,
	} {
		src := "quire: 1\nname: x\nlang: en\ndata: {o: \"string?\"}\n" + part + "\n"
		if !strings.HasPrefix(part, "title") {
			src += "title: T\n"
		}
		if !strings.HasPrefix(part, "body") {
			src += "body: [{spacer: 1mm}]\n"
		}
		p, err := compile.Compile(t.Context(), []byte(src), compile.Options{File: "x.yaml", Files: assets})
		if err != nil {
			t.Errorf("%s: %v", part, err)
			continue
		}
		if out, err := build(t, p, "{}", compile.BuildOptions{}); !errors.Is(err, diag.ErrData) || !strings.Contains(err.Error(), "o is missing") {
			t.Errorf("%s: %v\n%s", part, err, out)
		}
	}
}

// TestRecordsInTheOrderOfTheContract: a record whose fields are written as plainly as can be, in
// the order of the contract, is read as any other, whatever is wrong with it. One with more than 64
// fields is read field by field.
func TestRecordsInTheOrderOfTheContract(t *testing.T) {
	t.Parallel()
	fields := `a: string, b: "enum(BUY, SELL)", c: integer, d: decimal, e: string?, f: number`
	body := "body:\n  - for: t in rows\n    do: [{text: \"${t.a} ${t.b} ${t.c} ${t.d} ${t.e ?? '-'} ${t.f}\"}]\n"
	many := fields
	for i := range 64 {
		many += fmt.Sprintf(", zz%d: string?", i)
	}
	few, all := source(t, "{rows: [{"+fields+"}]}", body), source(t, "{rows: [{"+many+"}]}", body)
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // G404: test data
	pick := func(s ...string) string { return s[r.IntN(len(s))] }
	record := func() string {
		values := []string{
			pick(`"x"`, `""`, `"two words"`, `"é"`, `"a\nb"`, `"a\"b"`, `7`), pick(`"BUY"`, `"SELL"`, `"SELLS"`, `"b"`),
			pick(`1`, `-12`, `0`, `1.0`, `1.5`, `01`, `1e3`, `123456789012345678`, `12345678901234567890`, `-`),
			pick(`1.50`, `-0.05`, `0`, `1.`, `.5`, `1.5e2`, `0.1234567890123456789`, `12345678901.12345678`),
			pick(`"e"`, `null`, `"\u0041"`, `true`), pick(`2.50`, `3`),
		}
		var s []string
		for i, v := range values {
			if r.IntN(20) > 0 {
				s = append(s, `"`+string(rune('a'+i))+`":`+v)
			}
		}
		switch r.IntN(12) {
		case 0:
			r.Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] })
		case 1:
			s = append(s, `"a":"again"`)
		case 2:
			s = append(s, `"other":1`)
		}
		return "{" + strings.Join(s, pick(",", ",", ",", ",", ", ", " ,")) + "}"
	}
	good := 0
	for range 5000 {
		var rows []string
		for range 1 + r.IntN(3) {
			rows = append(rows, record())
		}
		data := []byte(`{"rows":[` + strings.Join(rows, ",") + "]}")
		if r.IntN(4) == 0 {
			data[r.IntN(len(data))] = pick(`"`, ",", "}", ":", " ", "1", "\\", "\n")[0]
		}
		if r.IntN(8) == 0 {
			data = data[:r.IntN(len(data))]
		}
		o := compile.BuildOptions{}
		if r.IntN(8) == 0 {
			o.Limits.DataNodes = 1 + r.Int64N(20)
		}
		got, err := build(t, few, string(data), o)
		want, wantErr := build(t, all, string(data), o)
		if got != want || fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Fatalf("%s\n got %s %v\nwant %s %v", data, got, err, want, wantErr)
		}
		if err == nil {
			good++
		}
	}
	if good < 100 {
		t.Errorf("%d of the data are right", good)
	}
}

// TestRowsOfOnePlaceDifferInTextsAlone: what the cells of a row have beside their texts is prepared
// once, and is that of its place in the template whatever row was before.
func TestRowsOfOnePlaceDifferInTextsAlone(t *testing.T) {
	t.Parallel()
	p := source(t, "{rows: [{a: string, n: integer}]}", `body:
  - table:
      columns: [{width: 1fr}, {width: 1fr}]
      rows:
        - for: t in rows
          rows:
            - ["${t.a}", "${t.n} of ${t.a}"]
            - if: t.n > 2
              rows: [[{text: "${t.a}", header: true, valign: middle}, "none"]]
              else: [{for: u in 1..3, cells: ["${u}", {text: "**${t.n}**", background: "#eeeeee"}]}]
`)
	d, err := p.Build(t.Context(), compile.JSON([]byte(`{"rows":[{"a":"x","n":1},{"a":"y","n":3},{"a":"z","n":2},{"a":"z","n":5},{"a":"z","n":4}]}`)), compile.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	all, first := 0, map[*doc.Source][]doc.Cell{}
	for n, err := range d.Body {
		if err != nil {
			t.Fatal(err)
		}
		for r, err := range n.(*doc.Table).Rows {
			if err != nil {
				t.Fatal(err)
			}
			var cells []doc.Cell
			for _, c := range r.Cells {
				c.Spans = slices.Clone(c.Spans)
				for i := range c.Spans {
					c.Spans[i].Text, c.Spans[i].From.Frame = "", nil
				}
				cells = append(cells, c)
			}
			all++
			if of, ok := first[r.Src]; !ok {
				first[r.Src] = cells
			} else if !reflect.DeepEqual(cells, of) {
				t.Errorf("row %d: cells %+v, want %+v", all, cells, of)
			}
		}
	}
	if all != 5+3+2*3 || len(first) != 3 {
		t.Errorf("%d rows of %d places", all, len(first))
	}
}
