package pdf_test

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/pdftest"
	"example.com/quire/pdf/standard"
	"example.com/quire/pdf/template"
)

// namedTemplate has an ID on each kind of block, and cells that name their headers.
const namedTemplate = `quire: 1
name: t
lang: en
title: Names
theme: none
data: {quarters: [string], regions: [{name: string, sums: [integer]}]}
body:
  - {heading: Sales, id: sales}
  - {text: "A paragraph with a note.^[The note.]", id: text}
  - {box: {do: [{text: In a box.}]}, id: box}
  - {row: {cells: [Left, Right]}, id: row}
  - {list: {items: [One]}, id: list}
  - table:
      columns: [{head: Region, id: region, width: 40mm}, {for: q in quarters, head: "${q}", id: "q-${q}", width: 30mm}]
      head: [[{text: "all in EUR (1000)", colspan: all, id: unit}]]
      rows:
        - for: r in regions
          cells: [{text: "${r.name}", header: true, id: "r-${r.name}"}, {for: s in r.sums, text: "${s}", headers: ["r-${r.name}", unit]}]
        - [{text: Notes, colspan: all, headers: region}]
      foot:
        - [{text: plain}, {for: q in quarters, text: a word or two, headers: "q-${q}"}]
    id: table
  - {field: radio, name: f, label: Choice, options: [a, b], id: field}
  - {place: {x: 150mm, y: 250mm, width: 40mm, do: [{text: Placed.}]}, id: place}
  - {section: {do: [{text: In a section.}]}, id: section}
`

const namedData = `{"quarters": ["I", "II"], "regions": [{"name": "North", "sums": [1, 2]}, {"name": "South (old)", "sums": [3, 4]}]}`

// named is the same document in Go.
func named(b *doc.Builder) error {
	spans := func(s string) []doc.Span { return []doc.Span{{Text: s}} }
	id := func(s string) doc.Block { return doc.Block{ID: s} }
	cell := func(s string, refs ...string) doc.Cell {
		return doc.Cell{Spans: spans(s), Names: &doc.CellNames{Headers: doc.Refs(refs...)}}
	}
	b.Title("Names").Lang("en")
	b.Add(&doc.Heading{Block: doc.Block{ID: "sales", Style: &doc.Style{
		Size: doc.Points(16), Weight: 700, SpaceBefore: doc.Points(16), SpaceAfter: doc.Points(8),
	}}, Level: 1, Spans: spans("Sales")})
	b.Spans([]doc.Span{{Text: "A paragraph with a note."}, doc.Footnote(spans("The note.")...)}, doc.ID("text"))
	b.Add(&doc.Box{Block: id("box"), Nodes: []doc.Node{para("In a box.")}})
	b.Add(&doc.Beside{Block: id("row"), Cells: [][]doc.Node{{para("Left")}, {para("Right")}}})
	b.Add(&doc.List{Block: id("list"), Items: []doc.ListItem{{Nodes: []doc.Node{para("One")}}}})
	var rows []doc.Row
	for i, region := range []string{"North", "South (old)"} {
		r := doc.Row{Cells: []doc.Cell{{Spans: spans(region), Header: true, Names: &doc.CellNames{ID: "r-" + region}}}}
		for s := range 2 {
			r.Cells = append(r.Cells, cell(fmt.Sprint(2*i+s+1), "r-"+region, "unit"))
		}
		rows = append(rows, r)
	}
	last := cell("Notes", "region")
	last.Colspan = 3
	b.Add(&doc.Table{
		Block: id("table"),
		Columns: []doc.Column{
			{Head: spans("Region"), ID: "region", Width: doc.Fixed(doc.MM(40))},
			{Head: spans("I"), ID: "q-I", Width: doc.Fixed(doc.MM(30))},
			{Head: spans("II"), ID: "q-II", Width: doc.Fixed(doc.MM(30))},
		},
		Head: []doc.Row{{Cells: []doc.Cell{{Spans: spans("all in EUR (1000)"), Colspan: 3, Names: &doc.CellNames{ID: "unit"}}}}},
		Rows: doc.Rows(append(rows, doc.Row{Cells: []doc.Cell{last}})...),
		Foot: []doc.Row{{Cells: []doc.Cell{cell("plain"), cell("a word or two", "q-I"), cell("a word or two", "q-II")}}},
	})
	f := doc.NewField(doc.FieldRadio, "f", "Choice")
	f.ID, f.Options = "field", []doc.FieldOption{{Value: "a"}, {Value: "b"}}
	b.Add(&f)
	b.Add(&doc.Place{Block: id("place"), X: doc.MM(150), Y: doc.MM(250), Width: doc.MM(40), Nodes: []doc.Node{para("Placed.")}})
	b.Section(doc.Section{Block: id("section")}, func(b *doc.Builder) { b.Text("In a section.") })
	return nil
}

// TestNamesOfTemplatesAndGoAreTheSame: the elements of blocks and cells have their IDs, all of
// which the tree of IDs lists, and cells name their headers.
func TestNamesOfTemplatesAndGoAreTheSame(t *testing.T) {
	t.Parallel()
	e := newEngine(t, pdf.Config{})
	alike(t, namedTemplate, namedData, func(b *doc.Builder) { _ = named(b) })
	for _, ids := range [][]standard.ID{compliant, claimable[1]} {
		body, _ := render(t, e, pdf.RenderOptions{Standards: ids, Time: frozen}, named)
		plain, _ := tool(t, "qpdf", "--qdf", "--object-streams=disable", pdftest.Write(t, "f.pdf", body), "-")
		of := map[string]string{} // types by IDs
		headers := map[string]int{}
		for object := range strings.SplitSeq(plain, "\nendobj") {
			kind := regexp.MustCompile(`\n  /S /(\w+)\n`).FindStringSubmatch(object)
			if kind == nil {
				continue
			}
			if m := regexp.MustCompile(`\n  /ID \((.*)\)\n`).FindStringSubmatch(object); m != nil {
				of[m[1]] = kind[1]
			}
			if m := regexp.MustCompile(`/Headers \[([^]]*)\]`).FindStringSubmatch(object); m != nil {
				headers[strings.Join(strings.Fields(m[1]), " ")]++
			}
		}
		want := map[string]string{
			"sales": "H1", "text": "P", "box": "Div", "row": "Div", "list": "L", "table": "Table", "field": "Div", "place": "Div", "section": "Sect",
			"region": "TH", "unit": "TH", "q-I": "TH", "q-II": "TH", "r-North": "TH", `r-South \(old\)`: "TH",
		}
		if ids[0] != compliant[0] {
			want["note00000001"] = "Note"
			if of["note00000001"] == "FENote" {
				want["note00000001"] = "FENote"
			}
		}
		if fmt.Sprint(of) != fmt.Sprint(want) {
			t.Errorf("%v: IDs %v, want %v", ids, of, want)
		}
		const cells = `map[(q-I):1 (q-II):1 (r-North) (unit):2 (r-South \(old\)) (unit):2 (region):1]`
		if got := fmt.Sprint(headers); got != cells {
			t.Errorf("%v: headers %s, want %s", ids, got, cells)
		}
		_, tree, _ := strings.Cut(plain, "/Names [")
		tree, _, _ = strings.Cut(tree, "]")
		if n := strings.Count(tree, " 0 R"); n != len(want) {
			t.Errorf("%v: %d IDs in the tree, want %d: %s", ids, n, len(want), tree)
		}
		if findings, err := e.Check(t.Context(), opened(t, e, body), ids...); err != nil || len(findings) > 0 {
			t.Errorf("%v: %v, %v", ids, findings, err)
		}
	}
}

// TestNamesWithoutTagsChangeNothing: a file without a structure is the same with them.
func TestNamesWithoutTagsChangeNothing(t *testing.T) {
	t.Parallel()
	e := newEngine(t, pdf.Config{})
	var files [2]bytes.Buffer
	for i, source := range []string{namedTemplate, regexp.MustCompile(`, (id|headers): ("[^"]*"|\[[^]]*\]|\w+)|\n    id: table`).ReplaceAllString(namedTemplate, "")} {
		if strings.Contains(source, "id:") != (i == 0) || strings.Contains(source, "headers:") != (i == 0) {
			t.Fatal(source)
		}
		plan, err := e.Compile(t.Context(), pdf.Source{File: "t.yaml", Text: []byte(source)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Render(t.Context(), &files[i], plan, template.JSON([]byte(namedData)), pdf.RenderOptions{Time: frozen}); err != nil {
			t.Fatal(err)
		}
	}
	if bytes.Contains(files[0].Bytes(), []byte("StructTreeRoot")) || !bytes.Equal(files[0].Bytes(), files[1].Bytes()) {
		t.Errorf("%d bytes with names, %d without", files[0].Len(), files[1].Len())
	}
}

// TestNamesThatCannotBe: a name that is there twice tells both places and its data; so does one
// that no header cell of the table has. It makes no difference whether the file is tagged.
func TestNamesThatCannotBe(t *testing.T) {
	t.Parallel()
	e := newEngine(t, pdf.Config{})
	const table = "data: {rows: [{id: string, of: string}]}\nbody:\n  - table:\n      columns: [{head: A}, {head: B}]\n      rows:\n        for: r in rows\n        "
	for _, c := range []struct{ name, body, data, want string }{
		{"twice", "body: [{text: a, id: x}, {text: b, id: x}]", "{}", `L323 t.yaml:5:27 "" the id "x" is given twice, first at t.yaml:5:9`},
		{"twice by data", "data: {a: [string]}\nbody: [{for: x in a, do: [{text: \"${x}\", id: \"i-${x}\"}]}]", `{"a": ["p", "q", "p"]}`, `L323 t.yaml:6:28 "a[2]" the id "i-p" is given twice, first at t.yaml:6:28`},
		{"twice in cells", table + `cells: [{text: a, id: "${r.id}", header: true}, b]`, `{"rows": [{"id": "p", "of": "p"}, {"id": "p", "of": "p"}]}`, `L323 t.yaml:11:17 "rows[1].id" the id "p" is given twice, first at t.yaml:11:17`},
		{"of a footnote", "body: [{text: a, id: note00000001}]", "{}", `L323 t.yaml:5:9 "" the id "note00000001" is that of a footnote`},
		{"no such header", table + `cells: [{text: a, id: "${r.id}", header: true}, {text: b, headers: "${r.of}"}]`, `{"rows": [{"id": "p", "of": "q"}, {"id": "o", "of": "p"}]}`, `L324 t.yaml:11:57 "rows[0].of" no header cell of the table has the id "q"`},
		{"no header", table + `cells: [{text: a, id: "${r.id}"}, {text: b, headers: "${r.of}"}]`, `{"rows": [{"id": "p", "of": "p"}]}`, `L324 t.yaml:11:43 "rows[0].of" no header cell of the table has the id "p"; the cell with this id is no header; write header: true in it`},
		{"itself", table + `cells: [{text: a, id: "${r.id}", headers: "${r.of}", header: true}, b]`, `{"rows": [{"id": "p", "of": "p"}]}`, `L324 t.yaml:11:17 "rows[0].of" the cell "p" is no header of its own`},
		{"another table", "body:\n  - {table: {columns: [{head: A, id: a}], rows: [[b]]}}\n  - {table: {columns: [{head: A, id: \"${'b'}\"}], rows: [[{text: b, headers: a}]]}}", "{}", `L324 t.yaml:7:58 "" no header cell of the table has the id "a"; the cell with this id is in another table`},
		{"no element", "body: [{image: \"data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIHdpZHRoPSIxMCIgaGVpZ2h0PSIxMCIvPg==\", decorative: true, id: a}]", "{}", `L323 t.yaml:5:9 "" what has the id "a" is no element of the structure`},
	} {
		t.Run(c.name, func(t *testing.T) {
			plan, err := e.Compile(t.Context(), pdf.Source{File: "t.yaml", Text: []byte("quire: 1\nname: t\nlang: en\ntitle: T\n" + c.body)})
			if err != nil {
				t.Fatal(err)
			}
			for _, ids := range [][]standard.ID{compliant, nil} {
				if ids == nil && c.name == "no element" {
					continue // there are no elements
				}
				_, err = e.Render(t.Context(), &bytes.Buffer{}, plan, template.JSON([]byte(c.data)), pdf.RenderOptions{Standards: ids})
				de, ok := errors.AsType[*pdf.DiagnosticError](err)
				if !ok {
					t.Fatalf("error %v, want %s", err, c.want)
				}
				d := de.Diagnostics[0]
				got := fmt.Sprintf("%s %s:%d:%d %q %s", d.Code, d.File, d.Line, d.Col, d.DataPath, d.Message)
				if d.Suggestion != "" {
					got += "; " + d.Suggestion
				}
				if got != c.want || len(de.Diagnostics) != 1 {
					t.Errorf("got  %s\nwant %s", got, c.want)
				}
			}
		})
	}
}
