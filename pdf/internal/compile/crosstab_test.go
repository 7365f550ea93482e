package compile_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/compile"
	"example.com/quire/pdf/internal/diag"
)

// TestColumnsOfDataKeepTablesRegular: with columns that fall away and with any number of those
// that come from a list, every row covers the columns that there are; a row whose cells are not
// as many as these is an error with the path of its list.
func TestColumnsOfDataKeepTablesRegular(t *testing.T) {
	p := planOf(t, "testdata/samples/crosstab.yaml")
	body := func(months, last, note string) compile.Data {
		return compile.NamedJSON("c.json", []byte(`{"months": [`+months+`], "notes": true, "budget": [{"item": "a"`+note+`, "by": {"2026-01-01": 3}, "last": [`+last+`]}]}`))
	}
	for _, tt := range []struct {
		name, months, last, note string
		columns                  [2]int
	}{
		{"no months", "", "", "", [2]int{2, 2}},
		{"one", `"2026-01-01"`, "1", "", [2]int{3, 3}},
		{"three and the note", `"2026-01-01", "2026-02-01", "2026-03-01"`, "1, 2, 3", `, "note": "x"`, [2]int{6, 5}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, err := p.Build(t.Context(), body(tt.months, tt.last, tt.note), compile.BuildOptions{})
			if err != nil {
				t.Fatal(err)
			}
			tables := 0
			for n, err := range d.Body {
				if err != nil {
					t.Fatal(err)
				}
				table, ok := n.(*doc.Table)
				if !ok {
					continue
				}
				if len(table.Columns) != tt.columns[tables] {
					t.Errorf("table %d has %d columns, want %d", tables, len(table.Columns), tt.columns[tables])
				}
				covers := func(r doc.Row) {
					t.Helper()
					n := 0
					for _, c := range r.Cells {
						n += max(c.Colspan, 1)
					}
					if n != len(table.Columns) {
						t.Errorf("a row of table %d covers %d of %d columns", tables, n, len(table.Columns))
					}
				}
				for _, r := range append(table.Head, table.Foot...) {
					covers(r)
				}
				for r, err := range table.Rows {
					if err != nil {
						t.Fatal(err)
					}
					covers(r)
				}
				tables++
			}
			if tables != 2 {
				t.Errorf("%d tables", tables)
			}
		})
	}

	d, err := p.Build(t.Context(), body(`"2026-01-01"`, "1, 2", ""), compile.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = dump(t, d)
	var de *diag.DiagnosticError
	if !errors.As(err, &de) || de.Diagnostics[0].Code != "L303" || de.Diagnostics[0].DataPath != "budget[0].last" || de.Diagnostics[0].Line != 36 {
		t.Errorf("two cells in one column: %v", err)
	}
}

// TestColumnsOfDataAreBounded: a list makes at most 1,000 columns, and no table is written with
// more.
func TestColumnsOfDataAreBounded(t *testing.T) {
	src, err := os.ReadFile("testdata/samples/crosstab.yaml")
	if err != nil {
		t.Fatal(err)
	}
	p, err := compile.Compile(t.Context(), src, compile.Options{File: "c.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	many := strings.Repeat(`"2026-01-01",`, 1000)
	d, err := p.Build(t.Context(), compile.JSON([]byte(`{"months": [`+many[:len(many)-1]+`], "notes": false, "budget": []}`)), compile.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = dump(t, d); !errors.Is(err, diag.ErrLimit) || !strings.Contains(err.Error(), "more than 1000 columns") {
		t.Errorf("1,002 columns of data: %v", err)
	}
	written := "quire: 1\nname: x\nlang: en\ntitle: T\nbody: [{table: {columns: [" + strings.Repeat("{head: a}, ", 1001) + "], rows: []}}]\n"
	if _, err = compile.Compile(t.Context(), []byte(written), compile.Options{File: "x.yaml"}); !errors.Is(err, diag.ErrLimit) {
		t.Errorf("1,001 columns as written: %v", err)
	}
}
