package record_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"example.com/quire/internal/record"
)

func TestLocate(t *testing.T) {
	const text = `{
  "client": {"name": "Ana", "a.b": {"c": 1}, "a": {"b": {"d": 2}}},
  "trades": [
    {"price": 1.50, "unit price": 2},
    {"price": "n/a", "\u0070ath": [[1, [2, 3]], {"x": {}}]}
  ],
  "": 7, "é": "ü", "x": 1, "[0]": 5
}`
	for _, c := range []struct {
		path         string
		line, column int
		exact        bool
	}{
		{"", 1, 1, true},
		{"client", 2, 13, true},
		{"client.name", 2, 22, true},
		{"trades", 3, 13, true},
		{"trades[0]", 4, 5, true},
		{"trades[0].price", 4, 15, true},
		{`trades[0]["unit price"]`, 4, 35, true},
		{"trades[0].unit price", 4, 35, true},
		{"trades[1].price", 5, 15, true},
		{"trades[1].path", 5, 35, true}, // the name is spelled with an escape
		{"trades[1].path[0][1][1]", 5, 44, true},
		{"trades[1].path[1].x", 5, 55, true},
		{`["é"]`, 7, 15, true},
		{"é", 7, 15, true},
		{"x", 7, 25, true},
		{`["[0]"]`, 7, 35, true},
		{`[""]`, 7, 7, true},
		// Bare names with dots: the one that leads to the end counts.
		{"client.a.b.c", 2, 42, true},
		{"client.a.b.d", 2, 63, true},
		{`client["a.b"].c`, 2, 42, true},
		// What is not there: the place where it should have been.
		{"client.code", 2, 13, false},
		{"client.name.first", 2, 22, false},
		{"trades[2].price", 3, 13, false},
		{"trades[0].qty", 4, 5, false},
		{"trades[x]", 3, 13, false},
		{"trades[0", 3, 13, false},
		{"trades.price", 3, 13, false},
		{"clients", 1, 1, false},
		{"nothing", 1, 1, false},
		{"[0].a", 7, 35, false},
	} {
		line, column, exact := record.Locate([]byte(text), c.path)
		if line != c.line || column != c.column || exact != c.exact {
			t.Errorf("%s: line %d column %d exact %v, want %d, %d, %v", c.path, line, column, exact, c.line, c.column, c.exact)
		}
	}
	for _, bad := range []string{"", "{", `{"a":1,"a":2}`} {
		if line, column, exact := record.Locate([]byte(bad), "a"); line != 0 || column != 0 || exact {
			t.Errorf("%q: line %d column %d exact %v, want none", bad, line, column, exact)
		}
	}
}

// Every error of Canonical in an indented text names a path that leads to its
// line again.
func TestLocateFindsWhatAnErrorNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.StringOfN(rapid.SampledFrom([]rune(`ab.[]"\ é😀`)), 1, 4, -1)
		value := map[string]any{}
		n := rapid.IntRange(1, 5).Draw(t, "members")
		for i := range n {
			value[names.Draw(t, "name")+fmt.Sprint(i)] = []any{i, map[string]any{names.Draw(t, "name"): "x"}}
		}
		text, err := json.MarshalIndent(value, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		for limit := 1; ; limit++ {
			_, err := record.Canonical(text, record.Limits{Nodes: limit})
			if err == nil {
				return
			}
			over := err.(*record.LimitError) //nolint:errorlint // the only error there is; a panic fails the test
			line, column, exact := record.Locate(text, over.At.Path)
			if !exact || line != over.At.Line || column != over.At.Column {
				t.Fatalf("%s\n%s is at line %d column %d, located at %d, %d (%v)", text, over.At.Path, over.At.Line, over.At.Column, line, column, exact)
			}
		}
	})
}

func FuzzLocate(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"b":"c"}]}`), "a[1].b")
	f.Add([]byte(`[[["x\"]"]]]`), "[0][0][0]")
	f.Fuzz(func(t *testing.T, text []byte, path string) {
		line, column, exact := record.Locate(text, path)
		if exact && (line < 1 || column < 1) {
			t.Fatalf("exact at line %d, column %d", line, column)
		}
	})
}
