package pdf_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/pdftest"
	"example.com/quire/pdf/template"
)

// problemsOf renders data by a template and returns what is wrong.
func problemsOf(t *testing.T, source, data string) *pdf.DiagnosticError {
	t.Helper()
	_, err := rendered(t, source, data)
	de, ok := errors.AsType[*pdf.DiagnosticError](err)
	if !ok {
		t.Fatalf("error %v, want diagnostics", err)
	}
	return de
}

// rendered renders the body of a template.
func rendered(t *testing.T, source, data string) ([]byte, error) {
	t.Helper()
	e, err := pdf.New(pdf.Config{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := e.Compile(t.Context(), pdf.Source{File: "t.yaml", Text: []byte("quire: 1\nname: t\nlang: en\ntitle: T\n" + source)})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	_, err = e.Render(t.Context(), &out, p, template.JSON([]byte(data)), pdf.RenderOptions{})
	return out.Bytes(), err
}

// TestAllWrongRowsAreTold: layout goes on behind a problem, and tells twenty of them.
func TestAllWrongRowsAreTold(t *testing.T) {
	const table = `data: {rows: [{name: string, by: integer}]}
body:
  - {text: Rows}
  - table:
      columns: [{head: Name, width: 40mm}, {head: Share, width: auto}]
      rows: {for: r in rows, cells: ["${r.name}", "${100 / r.by}"]}
  - {text: "${rows[0].name}"}
`
	for _, c := range []struct{ name, row, code string }{
		{"no glyph", `{"name": "一", "by": 1}`, "F401"},
		{"an expression", `{"name": "a", "by": 0}`, "D207"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var rows []string
			for i := range 50 {
				rows = append(rows, `{"name": "good", "by": 4}`)
				if i%2 == 1 {
					rows[i] = c.row
				}
			}
			de := problemsOf(t, table, `{"rows": [`+strings.Join(rows, ",")+`]}`)
			if len(de.Diagnostics) != 20 || de.Omitted != 5 || !strings.HasSuffix(de.Error(), "\nand 5 more") {
				t.Fatalf("%d problems and %d more:\n%v", len(de.Diagnostics), de.Omitted, de)
			}
			for i, d := range de.Diagnostics {
				if want := fmt.Sprintf("rows[%d]", 2*i+1); d.Code != c.code || !strings.HasPrefix(d.DataPath, want) || d.Kind != pdf.KindData || d.Line == 0 {
					t.Errorf("problem %d: %v, want %s of %s", i, d, c.code, want)
				}
			}
		})
	}
}

// TestProblemsOfDifferentBlocksAreToldTogether: one that stands alone in its block does not hide
// those of the others.
func TestProblemsOfDifferentBlocksAreToldTogether(t *testing.T) {
	de := problemsOf(t, `data: {a: string, n: integer, list: [string]}
components:
  line: {params: {x: string}, do: [{text: "Line ${x}"}]}
body:
  - {text: "${a} and ${n}"}
  - {list: {for: l in list, item: "${l}"}}
  - {text: "${1 / n}"}
  - {for: l in list, do: [{use: line, with: {x: "${l}!"}}]}
`, `{"a": "ok", "n": 0, "list": ["x", "字"]}`)
	var got []string
	for _, d := range de.Diagnostics {
		got = append(got, d.Code+" "+d.DataPath)
	}
	if want := "F401 list[1], D207 n, F401 list[1]"; strings.Join(got, ", ") != want {
		t.Errorf("got %s, want %s\n%v", strings.Join(got, ", "), want, de)
	}
}

// TestDataPathOfOneOfSeveralValues: a text that prints several values names the one that is at
// fault.
func TestDataPathOfOneOfSeveralValues(t *testing.T) {
	for data, want := range map[string]string{
		`{"a": "字", "b": "b", "c": "c"}`: "a",
		`{"a": "a", "b": "字", "c": "c"}`: "b",
		`{"a": "a", "b": "b", "c": "字"}`: "c",
	} {
		de := problemsOf(t, "data: {a: string, b: string, c: string}\nbody: [{text: \"From ${a} to ${b}, by ${c}\"}]\n", data)
		if len(de.Diagnostics) != 1 || de.Diagnostics[0].DataPath != want {
			t.Errorf("%s: %v", data, de)
		}
	}
	// What the template says itself is of no value.
	de := problemsOf(t, "data: {a: string, b: string, c: string}\nbody: [{text: \"字 ${a} to ${b}\"}]\n", `{"a": "a", "b": "b", "c": "c"}`)
	if len(de.Diagnostics) != 1 || de.Diagnostics[0].DataPath != "" || de.Diagnostics[0].Line == 0 || !strings.Contains(de.Diagnostics[0].Suggestion, "under fonts") {
		t.Errorf("%v", de)
	}
}

func TestFileNameIsMadeOfData(t *testing.T) {
	e, err := pdf.New(pdf.Config{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := e.Compile(t.Context(), pdf.Source{File: "t.yaml", Text: []byte("quire: 1\nname: t\nlang: en\ntitle: T\nfilename: \"Note-${no}-${day | date('iso')}.pdf\"\ndata: {no: string, day: date}\nbody: [{text: x}]\n")})
	if err != nil {
		t.Fatal(err)
	}
	r, err := e.Render(t.Context(), io.Discard, p, template.JSON([]byte(`{"no": "7/12", "day": "2026-01-31"}`)), pdf.RenderOptions{})
	if err != nil || r.FileName != "Note-7-12-2026-01-31.pdf" {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestProblemsOfRunningContentAreTold: each once, whatever the count of pages, beside those of the
// body.
func TestProblemsOfRunningContentAreTold(t *testing.T) {
	de := problemsOf(t, `data: {a: string, rows: [string]}
header: {all: [{text: "${a}"}, {text: "字"}]}
footer: {odd: [{text: "${a}!"}], even: [{text: "${page()} of ${pages()} ${a}"}]}
body:
  - {for: r in rows, do: [{text: "${r}", break-before: page}]}
`, `{"a": "語", "rows": ["one", "漢", "three", "four"]}`)
	var got []string
	for _, d := range de.Diagnostics {
		got = append(got, d.Code+" "+d.Path+" "+d.DataPath)
	}
	want := "F401 header.all[0].text a, F401 header.all[1].text , F401 footer.odd[0].text a, F401 footer.even[0].text a, F401 body[0].do[0].text rows[1]"
	if strings.Join(got, ", ") != want || de.Omitted != 0 {
		t.Errorf("got %s and %d more, want %s\n%v", strings.Join(got, ", "), de.Omitted, want, de)
	}
}

// TestALinkToNowhereNamesItsData: of a text, a cell and an image.
func TestALinkToNowhereNamesItsData(t *testing.T) {
	de := problemsOf(t, `data: {to: string, rows: [{at: string, name: string}]}
body:
  - {text: "A [word](#${to}x) and ${to}"}
  - {text: words, link: "#${to}"}
  - table:
      columns: [{head: Name, width: 40mm}]
      rows: {for: r in rows, cells: [{text: "${r.name}", link: "#${r.at}"}]}
  - {text: "[fixed](#place)"}
  - {text: here, anchor: place}
`, `{"to": "t", "rows": [{"at": "place", "name": "a"}, {"at": "b", "name": "b"}]}`)
	var got []string
	for _, d := range de.Diagnostics {
		got = append(got, fmt.Sprint(d.Code, " ", d.Kind, " ", d.DataPath))
	}
	if want := "L308 data to, L308 data to, L308 data rows[1].at"; strings.Join(got, ", ") != want {
		t.Errorf("got %s, want %s\n%v", strings.Join(got, ", "), want, de)
	}
}

const anchored = `data: {rows: [{id: string, name: string}]}
body:
  - {for: r in rows, do: [{text: "${r.name}", link: "#row-${r.id}"}, {text: again, link: "#para-${r.id}"}]}
  - table:
      columns: [{head: Name, width: 40mm}]
      rows: {for: r in rows, anchor: "row-${r.id}", cells: ["${r.name}"]}
  - {for: r in rows, do: [{text: "${r.name}", anchor: "para-${r.id}", break-before: page}]}
`

// TestAnchorsMadeOfData: links from a loop lead to the rows and paragraphs that another loop made.
func TestAnchorsMadeOfData(t *testing.T) {
	body, err := rendered(t, anchored, `{"rows": [{"id": "1/a", "name": "one"}, {"id": "2 b", "name": "two"}]}`)
	if err != nil {
		t.Fatal(err)
	}
	file := pdftest.Write(t, "f.pdf", body)
	if err := pdftest.QPDF(t, file); err != nil {
		t.Error(err)
	}
	plain, _ := tool(t, "qpdf", "--qdf", "--object-streams=disable", file, "-")
	for what, want := range map[string]int{"/Subtype /Link": 4, "/D [": 4} {
		if n := strings.Count(plain, what); n != want {
			t.Errorf("%q stands %d times, want %d", what, n, want)
		}
	}
}

// TestADoubledAnchorNamesItsData: that of the second value.
func TestADoubledAnchorNamesItsData(t *testing.T) {
	de := problemsOf(t, anchored, `{"rows": [{"id": "a", "name": "one"}, {"id": "b", "name": "two"}, {"id": "a", "name": "three"}]}`)
	var got []string
	for _, d := range de.Diagnostics {
		got = append(got, fmt.Sprint(d.Code, " ", d.Kind, " ", d.DataPath))
	}
	if want := "L311 data rows[2].id, L311 data rows[2].id"; strings.Join(got, ", ") != want {
		t.Errorf("got %s, want %s\n%v", strings.Join(got, ", "), want, de)
	}
}

// TestProblemsThatAreNotToldAreCounted: of very many the first twenty of data are told, and the
// first hundred of a template.
func TestProblemsThatAreNotToldAreCounted(t *testing.T) {
	row := `{"n": "x"}, `
	de := problemsOf(t, "data: {rows: [{n: integer}]}\nbody: [{for: r in rows, do: [{text: \"${r.n}\"}]}]\n", `{"rows": [`+strings.Repeat(row, 129)+`{"n": "y"}]}`)
	if len(de.Diagnostics) != 20 || de.Omitted != 110 || !strings.HasSuffix(de.Error(), "\nand 110 more") {
		t.Errorf("%d problems and %d more", len(de.Diagnostics), de.Omitted)
	}
	e := newEngine(t, pdf.Config{})
	_, err := e.Compile(t.Context(), pdf.Source{File: "t.yaml", Text: []byte("quire: 1\nname: t\nlang: en\ntitle: T\nbody:\n" + strings.Repeat("  - {txt: a}\n", 130))})
	if de, ok := errors.AsType[*pdf.DiagnosticError](err); !ok || len(de.Diagnostics) != 100 || de.Omitted != 30 {
		t.Errorf("of a template: %v", err)
	}
}

// TestALimitOfNothingAllowsNothing: a negative limit is none that was not given, neither of an
// engine nor of a document.
func TestALimitOfNothingAllowsNothing(t *testing.T) {
	nothing := pdf.Limits{Pages: -1}
	for what, o := range map[string]struct {
		engine   pdf.Limits
		document *pdf.Limits
	}{"engine": {engine: nothing}, "document": {document: &nothing}} {
		eng, err := pdf.New(pdf.Config{Limits: o.engine})
		if err != nil {
			t.Fatal(err)
		}
		_, err = eng.Build(t.Context(), io.Discard, pdf.RenderOptions{Limits: o.document}, func(b *doc.Builder) error {
			b.Text("x").PageBreak().Text("y")
			return nil
		})
		if le, ok := errors.AsType[*pdf.LimitError](err); !ok || le.Name != "Pages" {
			t.Errorf("%s: %v", what, err)
		}
	}
}
