package pdf_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/pdftest"
	"example.com/quire/pdf/template"
)

const mappedTemplate = `quire: 1
name: t
lang: en
title: T
theme: none
page: {size: A5, margin: 20mm, valign: bottom}
data: {rows: [{name: string}]}
footer:
  all: [{text: "Page ${page()} of ${pages()}"}]
components:
  greeting:
    do:
      - {text: "Hello"}
body:
  - {use: greeting}
  - box:
      padding: 3mm
      border: {all: hairline}
      do:
        - {text: "In the box"}
  - table:
      columns: [{head: Name, width: 40mm}, {head: Length, width: 30mm}]
      rows:
        for: r in rows
        cells:
          - "${r.name}"
          - {text: "${len(r.name)}"}
  - place: {x: 100mm, y: 10mm, width: 20mm, layer: over, do: [{text: "Placed"}]}
`

func renderMapped(t *testing.T, on bool) ([]byte, *pdf.Result) {
	t.Helper()
	e := newEngine(t, pdf.Config{})
	p, err := e.Compile(t.Context(), pdf.Source{File: "t.yaml", Text: []byte(mappedTemplate)})
	if err != nil {
		t.Fatal(err)
	}
	data := `{"rows": [` + strings.Repeat(`{"name": "row"},`, 79) + `{"name": "last"}]}`
	var out bytes.Buffer
	res, err := e.Render(t.Context(), &out, p, template.JSON([]byte(data)), pdf.RenderOptions{Standards: compliant, Time: frozen, SourceMap: on})
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), res
}

// TestSourceMapLeadsBothWays: from what stands at a point of a page to its line of the template,
// and from a line to the pages.
func TestSourceMapLeadsBothWays(t *testing.T) {
	_, res := renderMapped(t, true)
	m := res.Map
	lines := strings.Split(mappedTemplate, "\n")
	for text, want := range map[string]struct {
		path  string
		pages []int
	}{
		`- {text: "Hello"}`:        {"components.greeting.do[0].text", []int{1}},
		"  - box:":                 {"body[1].box", []int{1}},
		`- {text: "In the box"}`:   {"body[1].box.do[0].text", []int{1}},
		`- "${r.name}"`:            {"body[2].table.rows.cells", []int{1, 2, 3, 4}},
		`- {text: "${len(r.name)}`: {"body[2].table.rows.cells[1]", []int{1, 2, 3, 4}},
		`all: [{text: "Page`:       {"footer.all[0].text", []int{1, 2, 3, 4}},
	} {
		line := 1 + slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, text) })
		areas := m.Of("t.yaml", line)
		var pages []int
		for _, a := range areas {
			if pages = append(pages, a.Page); !strings.HasPrefix(a.Path, want.path) {
				t.Errorf("%s: path %s, want %s", text, a.Path, want.path)
			}
			back := m.At(a.Page, a.X+a.W/2, a.Y+a.H/2)
			if !slices.Contains(back, a) {
				t.Errorf("%s: %+v is not found at its middle: %+v", text, a, back)
			}
		}
		if pages = slices.Compact(pages); !slices.Equal(pages, want.pages) || res.Pages != 4 {
			t.Errorf("%s: line %d on pages %v of %d, want %v", text, line, pages, res.Pages, want.pages)
		}
	}
	if rows := m.Of("t.yaml", 1+slices.Index(lines, `          - "${r.name}"`)); len(rows) != 160 {
		t.Errorf("%d areas, want 80 rows and their first cells", len(rows))
	}
	inner := m.Of("t.yaml", 1+slices.Index(lines, `        - {text: "In the box"}`))[0]
	around := m.At(1, inner.X+1, inner.Y+1)
	if len(around) != 2 || around[0] != inner || around[1].Path != "body[1].box" {
		t.Errorf("in the box are %+v", around)
	}
	if m.At(1, 1, 1) != nil || m.At(9, 100, 100) != nil || m.Of("t.yaml", 2) != nil || m.Of("u.yaml", inner.Line) != nil {
		t.Error("something where nothing is")
	}
}

// TestSourceMapLiesWhereTheTextIs: the areas are where poppler finds the words, on pages whose
// content stands at their foot.
func TestSourceMapLiesWhereTheTextIs(t *testing.T) {
	file, res := renderMapped(t, true)
	words := pdftest.Boxes(t, pdftest.Write(t, "mapped.pdf", file))
	for word, path := range map[string]string{
		"Hello": "components.greeting.do[0].text", "box": "body[1].box.do[0].text", "last": "body[2].table.rows.cells[0]", "Placed": "body[3].place.do[0].text",
	} {
		found := false
		for _, w := range words {
			if w.Text != word {
				continue
			}
			found = true
			if at := res.Map.At(w.Page, (w.XMin+w.XMax)/2, (w.YMin+w.YMax)/2); len(at) == 0 || at[0].Path != path {
				t.Errorf("at %+v is %+v, want %s", w, at, path)
			}
		}
		if !found {
			t.Errorf("no word %q", word)
		}
	}
}

// TestSourceMapChangesNoByte: it is noted beside the document.
func TestSourceMapChangesNoByte(t *testing.T) {
	with, _ := renderMapped(t, true)
	without, res := renderMapped(t, false)
	if !bytes.Equal(with, without) || res.Map != nil {
		t.Errorf("%d bytes with a map, %d without, map %v", len(with), len(without), res.Map)
	}
}
