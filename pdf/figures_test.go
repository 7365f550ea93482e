package pdf_test

import (
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/template"
)

// TestFigureWithoutRoom: a figure that does not fit is an error with
// the node, the data and the remedy; the width that it names is enough.
func TestFigureWithoutRoom(t *testing.T) {
	e := newEngine(t, pdf.Config{})
	const data = `{"rows":[{"n":12,"s":"x"},{"n":1234567.89,"s":"9f86d081884c7d659a2feaa0c55ad015"}],"paid":98765432109876.5,"groups":[[1],[2,30000000000]],"day":"2026-01-31"}`
	for _, c := range []struct{ name, body, path, has, data string }{
		{"column", "{table: {columns: [{width: WIDTH}], rows: {for: r in rows, cells: [\"${r.n | money('EUR')}\"]}}}", "body[0].table.rows.cells[0]", "18.0", "rows[1].n"},
		{"padded column", "{table: {columns: [{}, {width: WIDTH}, {}], rows: {for: r in rows, cells: [a, {text: \"${r.n | money('EUR')}\"}, b]}}}", "body[0].table.rows.cells[1]", "18.0", "rows[1].n"},
		{"auto columns, read ahead", "{table: {columns: [{width: auto}, {width: WIDTH}], rows: {for: r in rows, cells: [\"${r.s}\", \"${r.n | number(2)}\"]}}}", "body[0].table.rows.cells[1]", "12.0", "rows[1].n"},
		{"computed", "{table: {columns: [{width: WIDTH}], rows: {for: r in rows, cells: [\"${r.n * 100 + paid - paid | number(2)} kg\"]}}}", "body[0].table.rows.cells[0]", "16.0", "rows[1].n"},
		{"row and box", "{row: {widths: [WIDTH, 1fr], cells: [[{box: {padding: 2mm, do: [{text: \"${paid}\"}]}}], x]}}", "body[0].row.cells[0][0].box.do[0].text", "20.0", "paid"},
		{"component", "{row: {widths: [1fr, WIDTH], cells: [x, [{use: sum, with: {label: A, value: \"${due | money('EUR')}\"}}]]}}", "components.sum.do[0].text", "20.0", "rows"},
		{"nested loop", "{for: g in groups, do: [{row: {widths: [1fr, WIDTH], cells: [x, [{for: n in g, do: [{text: \"No. ${n}\"}]}]]}}]}", "body[0].do[0].row.cells[1][0].do[0].text", "12.0", "groups[1][1]"},
		{"made list", "{row: {widths: [WIDTH, 1fr], cells: [[{for: \"r in filter(rows, .n > 100)\", do: [{text: \"${r.n}\"}]}], x]}}", "body[0].row.cells[0][0].do[0].text", "12.0", "rows"},
		{"list", "{row: {widths: [WIDTH, 1fr], cells: [[{list: {for: r in rows, item: \"${r.n}\"}}], x]}}", "body[0].row.cells[0][0].list.item", "16.0", "rows[1].n"},
		{"date", "{row: {widths: [WIDTH, 1fr], cells: [[{text: \"on ${day}\"}], x]}}", "body[0].row.cells[0][0].text", "12.0", "day"},
		{"literal", "{row: {widths: [WIDTH, 1fr], cells: [[{text: \"1,234,567.89\", keep-figures: true}], x]}}", "body[0].row.cells[0][0].text", "12.0", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			make1 := func(width string) error {
				src := "quire: 1\nname: n\nlang: en\ntitle: T\n" +
					"data: {rows: [{n: decimal, s: string}], paid: decimal, groups: [[integer]], day: date}\n" +
					"vars: {due: \"total(map(rows, .n)) + paid\"}\n" +
					"components: {sum: {params: {label: string, value: string}, do: [{text: \"${value}\", size: 14pt, keep-figures: true}]}}\n" +
					"body:\n  - " + strings.Replace(c.body, "WIDTH", width, 1) + "\n"
				plan, err := e.Compile(t.Context(), pdf.Source{File: "t.yaml", Text: []byte(src)})
				if err != nil {
					t.Fatal(err)
				}
				_, err = e.Render(t.Context(), io.Discard, plan, template.JSON([]byte(data)), pdf.RenderOptions{})
				return err
			}
			de, ok := errors.AsType[*pdf.DiagnosticError](make1(c.has + "mm"))
			if !ok || len(de.Diagnostics) != 1 {
				t.Fatalf("got %v", de)
			}
			d := de.Diagnostics[0]
			if d.Code != "L312" || d.File != "t.yaml" || d.Line == 0 || d.Col == 0 || d.Path != c.path || d.DataPath != c.data || !errors.Is(de, pdf.ErrLayout) {
				t.Errorf("%+v", d)
			}
			m := regexp.MustCompile(`^the figure ".*" needs ([0-9.]+) mm, (?:the column|the cell) has ([0-9.]+) mm$`).FindStringSubmatch(d.Message)
			if m == nil || m[2] != c.has || !strings.HasPrefix(d.Suggestion, "widen the c") {
				t.Fatalf("%s; %s", d.Message, d.Suggestion)
			}
			if err := make1(m[1] + "mm"); err != nil {
				t.Errorf("with the width that is said: %v", err)
			}
		})
	}
}
