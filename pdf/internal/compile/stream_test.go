package compile_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/big"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/compile"
	"example.com/quire/pdf/internal/diag"
)

const streamed = `quire: 1
name: t
lang: en
title: "Trades of ${client.name}"
data:
  client: {name: string, no: "integer?"}
  trades: [{id: string, qty: integer, price: "decimal?"}]
  note: "string?"
vars: {label: "upper(client.name)"}
body:
  - {text: "${label}"}
  - table:
      columns: [{head: Id}, {head: Qty}, {head: Price}]
      rows:
        for: i, t in trades
        if: t.qty > 0
        carry: {sum: t.qty, out: [a, "${carry}", c]}
        cells: ["${i} ${t.id}${loop.last ? '.' : ''}", "${t.qty}", "${t.price | default(0) | number(2)}"]
        empty: none
`

func streamPlan(t *testing.T, change ...string) *compile.Plan {
	t.Helper()
	p, err := compile.Compile(t.Context(), []byte(strings.NewReplacer(change...).Replace(streamed)), compile.Options{File: "t.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// printed returns the texts of a document's body, cells apart by bars.
func printed(d *doc.Document) (string, error) {
	var out []string
	for n, err := range d.Body {
		if err != nil {
			return strings.Join(out, "\n"), err
		}
		switch n := n.(type) {
		case *doc.Text:
			out = append(out, plainOf(n.Spans))
		case *doc.Table:
			for r, err := range n.Rows {
				if err != nil {
					return strings.Join(out, "\n"), err
				}
				var cells []string
				for _, c := range r.Cells {
					cells = append(cells, plainOf(c.Spans))
				}
				out = append(out, strings.Join(cells, "|"))
			}
		}
	}
	return strings.Join(out, "\n"), nil
}

func plainOf(spans []doc.Span) (s string) {
	for _, p := range spans {
		s += p.Text
	}
	return s
}

func builtText(t *testing.T, p *compile.Plan, data compile.Data) (string, error) {
	t.Helper()
	d, err := p.Build(t.Context(), data, compile.BuildOptions{})
	if err != nil {
		return "", err
	}
	return printed(d)
}

// TestStreamedRowsEqualThoseInMemory: JSON that is read row by row, one byte at a time even, and Go
// values make the document that JSON in memory makes.
func TestStreamedRowsEqualThoseInMemory(t *testing.T) {
	type trade struct {
		ID    string `json:"id"`
		Qty   int
		Price *big.Float
		Inner string `json:"-"`
	}
	type client struct{ Name string }
	for _, c := range []struct {
		name, json string
		trades     []trade
	}{
		{"none", `{"client": {"name": "Ada"}, "trades": [ ]}`, nil},
		{"one", `{"client": {"name": "Ada"}, "trades": [{"id": "a]}\"\\", "qty": 1}], "note": "after"}`, []trade{{ID: `a]}"\`, Qty: 1}}},
		{"some", `{"client": {"name": "Ada", "no": null} , "trades" :[
			{"id": "a", "qty": 1, "price": 2.5} ,{"qty": 0, "id": "hidden"},
			{"id": "ü [", "qty": 3, "price": null}
		]}`, []trade{{ID: "a", Qty: 1, Price: big.NewFloat(2.5)}, {ID: "hidden"}, {ID: "ü [", Qty: 3}}},
	} {
		p := streamPlan(t)
		want, err := builtText(t, p, compile.JSON([]byte(c.json)))
		if err != nil {
			t.Fatal(err)
		}
		rows := func(yield func(trade) bool) {
			for _, t := range c.trades {
				if !yield(t) {
					return
				}
			}
		}
		failing := func(yield func(trade, error) bool) {
			rows(func(t trade) bool { return yield(t, nil) })
		}
		for name, data := range map[string]compile.Data{
			"stream": compile.Stream(iotest.OneByteReader(strings.NewReader(c.json)), "trades"),
			"struct": compile.Struct(struct {
				Client client
				Trades []trade
			}{client{"Ada"}, c.trades}),
			"iterator": compile.Struct(&struct {
				Client *client         `json:"client,omitempty"`
				Rows   iter.Seq[trade] `json:"trades"`
				Other  chan struct{}
			}{&client{"Ada"}, rows, nil}),
			"iterator with errors": compile.Struct(map[string]any{"client": client{"Ada"}, "trades": iter.Seq2[trade, error](failing)}),
		} {
			if got, err := builtText(t, p, data); got != want || err != nil {
				t.Errorf("%s, %s: %q, %v, want %q", c.name, name, got, err, want)
			}
		}
	}
}

// TestWrongStreamedData: faults before, in and behind the rows have the places that they have in
// the text.
func TestWrongStreamedData(t *testing.T) {
	for _, c := range []struct{ name, json, want string }{
		{"in front", `{"client": {"nme": "Ada"}, "trades": [{"id": 1}]}`, "1:12 client.name D204, 1:13 client.nme D205"},
		{"in front, not JSON", `{"client": {"name": Ada}, "trades": []}`, "1:21 client.name D201"},
		{"behind the rows what is needed", `{"trades": [], "client": {"name": "Ada"}}`, "1:14 client D204"},
		{"rows", "{\"client\": {\"name\": \"é\"}, \"trades\": [{\"id\": \"a\", \"qty\": 1},\n {\"id\": \"é\", \"qty\": 1.5}, {\"qty\": 2}\n]}", "2:21 trades[1].qty D203, 2:27 trades[2].id D204"},
		{"no row", `{"client": {"name": "Ada"}, "trades": [{"id": "a", "qty": 1}, ]}`, "1:64  D201"},
		{"two at once", `{"client": {"name": "Ada"}, "trades": [1 2]}`, "1:40 trades[0] D203, 1:42 trades[0] D201"},
		{"brackets", `{"client": {"name": "Ada"}, "trades": [}`, "1:41  D201"},
		{"open", `{"client": {"name": "Ada"}, "trades": [{"id": "a`, "1:49  D201"},
		{"behind", "{\"client\": {\"name\": \"Ada\"}, \"trades\": [],\n \"note\": 3, \"oops\": 1}", "2:10 note D203, 2:13 oops D205"},
		{"behind, again", `{"client": {"name": "Ada"}, "trades": [], "client": 1}`, "1:43 client D202"},
		{"behind the end", `{"client": {"name": "Ada"}, "trades": []} x`, "1:43  D201"},
		{"not closed", `{"client": {"name": "Ada"}, "trades": []`, "1:41  D201"},
		{"no array", `{"client": {"name": "Ada"}, "trades": 7}`, "1:39 trades D203"},
		{"an array elsewhere", `{"client": {"name": ["trades"]}, "x": {"trades": [1]}}`, "1:1 trades D204, 1:21 client.name D203, 1:34 x D205"},
	} {
		_, err := builtText(t, streamPlan(t), compile.Stream(strings.NewReader(c.json), "trades"))
		if got := problems(err); got != c.want {
			t.Errorf("%s: %s, want %s (%v)", c.name, got, c.want, err)
		}
	}
}

func problems(err error) string {
	de, ok := errors.AsType[*diag.DiagnosticError](err)
	if !ok {
		return fmt.Sprint(err)
	}
	var out []string
	for _, d := range de.Diagnostics {
		out = append(out, fmt.Sprintf("%d:%d %s %s", d.Line, d.Col, d.DataPath, d.Code))
	}
	return strings.Join(out, ", ")
}

// TestStreamsThatCannotBe: rows that are streamed are read once, by a loop.
func TestStreamsThatCannotBe(t *testing.T) {
	const data = `{"client": {"name": "Ada"}, "trades": [{"id": "a", "qty": 1}]}`
	const loop = "  - {for: x in trades, do: [{text: \"${x.id}\"}]}\n  - table"
	for _, c := range []struct{ name, path, was, is, want string }{
		{"counted", "trades", "upper(client.name)", "len(trades) > 0 ? 'a' : 'b'", "9:16 vars.label T108"},
		{"filtered", "trades", "in trades", "in filter(trades, .qty > 1)", "15:22 body[1].table.rows.for T108"},
		{"read twice", "trades", "  - table", loop, "16:22 body[2].table.rows.for T108"},
		{"grouped", "trades", "carry: {sum: t.qty, out: [a, \"${carry}\", c]}", "group: {by: t.id, head: [[a, b, c]]}", "15:22 body[1].table.rows.for T108"},
		{"pages", "trades", "body:", "body:\n  - {text: \"${pages()}\"}", "16:22 body[2].table.rows.for T108"},
		{"no list", "client", "", "", `template: stream "client": the template takes record there, no list`},
		{"no field", "client.trades", "", "", `template: stream "client.trades": the data of the template have no such field`},
	} {
		p := streamPlan(t, c.was, c.is)
		if c.was == "" {
			p = streamPlan(t)
		}
		_, err := builtText(t, p, compile.Stream(strings.NewReader(data), c.path))
		got := fmt.Sprint(err)
		if de, ok := errors.AsType[*diag.DiagnosticError](err); ok {
			d := de.Diagnostics[0]
			got = fmt.Sprintf("%d:%d %s %s", d.Line, d.Col, d.Path, d.Code)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	again := streamPlan(t, "  - table:\n", "  - {for: k in 1..2, do: [{for: x in trades, do: [{text: \"${x.id}\"}]}]}\n  - table:\n", "in trades\n", "in [client]\n",
		"t.qty > 0", "true", "t.qty, out", "1, out", "${i} ${t.id}", "${i}", "${t.qty}", "1", "${t.price | default(0) | number(2)}", "2")
	if _, err := builtText(t, again, compile.Stream(strings.NewReader(data), "trades")); !strings.Contains(fmt.Sprint(err), "read once") {
		t.Errorf("a loop that runs again: %v", err)
	}
}

// TestGoValuesAreJudgedAsJSON: by the contract, with the path of the value.
func TestGoValuesAreJudgedAsJSON(t *testing.T) {
	p, err := compile.Compile(t.Context(), []byte(`quire: 1
name: t
lang: en
title: T
data: {s: string, n: integer, d: decimal, b: boolean, day: date, at: datetime, e: "enum(A, B)", c: "color?", i: "image?", m: map(number), l: [[integer]], r: {x: "string?"}}
body: [{text: "${s} ${n} ${d} ${b} ${day | date('iso')} ${e} ${join(map(entries(m), .key + '=' + (.value | number(1))), ' ')} ${sum(l[0])} ${r.x | default('-')}"}]
`), compile.Options{File: "t.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	type embedded struct {
		S string `json:"s"`
		N uint8  `json:"n"`
	}
	type good struct {
		embedded2 struct{} //nolint:unused // not exported: not seen
		*embedded
		D   json.Number
		B   bool
		Day time.Time
		At  time.Time
		E   string
		C   *string
		I   []byte
		M   map[string]float64
		L   [][]int
		R   any
	}
	day := time.Date(2026, 1, 31, 23, 0, 0, 0, time.UTC)
	v := good{embedded: &embedded{"text", 7}, D: "2.50", B: true, Day: day, At: day, E: "A", I: []byte("x"), M: map[string]float64{"b": 0.1, "a": 2}, L: [][]int{{1, 2}}, R: map[string]*string{"x": nil}}
	got, err := builtText(t, p, compile.Struct(&v))
	if want := "text 7 2.50 true 2026-01-31 A a=2.0 b=0.1 3 -"; got != want || err != nil {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	_, err = builtText(t, p, compile.Struct(map[string]any{
		"s": 1, "n": 2.5, "d": "3", "b": "yes", "day": "2026-02-30", "at": nil, "e": "C", "c": "red", "i": "***", "m": map[int]int{}, "l": [][]int8{nil, {1}, {}}, "r": struct{ X int }{}, "zz": 0,
	}))
	const want = "0:0 s D203, 0:0 n D203, 0:0 d D203, 0:0 b D203, 0:0 day D203, 0:0 at D203, 0:0 e D203, 0:0 c D203, 0:0 i D203, 0:0 m D203, 0:0 r.x D203, 0:0 zz D205"
	if got := problems(err); got != want {
		t.Errorf("%s\nwant %s\n%v", got, want, err)
	}
	_, err = builtText(t, p, compile.Struct(struct{ Sx, N string }{}))
	if got := problems(err); !strings.HasPrefix(got, "0:0 s D204, 0:0 n D203, 0:0 d D204") || !strings.Contains(err.Error(), "declared at t.yaml:5:70") {
		t.Errorf("%s\n%v", got, err)
	}
	if _, err = builtText(t, p, compile.Struct(nil)); problems(err) != "0:0  D203" {
		t.Errorf("nil: %v", err)
	}
}

// TestErrorsOfTheSourceComeBack: what a reader or an iterator returns ends the rows as it is.
func TestErrorsOfTheSourceComeBack(t *testing.T) {
	broken := errors.New("broken")
	const head = `{"client": {"name": "Ada"}, "trades": [{"id": "a", "qty": 1}, {"id": "b`
	in := io.MultiReader(strings.NewReader(head), iotest.ErrReader(broken))
	if got, err := builtText(t, streamPlan(t), compile.Stream(in, "trades")); !errors.Is(err, broken) || got != "ADA" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := builtText(t, streamPlan(t), compile.Stream(iotest.ErrReader(broken), "trades")); !errors.Is(err, broken) {
		t.Error(err)
	}
	rows := func(yield func(map[string]any, error) bool) {
		_ = yield(map[string]any{"id": "a", "qty": 1}, nil) && yield(map[string]any{"id": "b", "qty": 1}, nil) && yield(nil, broken)
	}
	got, err := builtText(t, streamPlan(t), compile.Struct(map[string]any{"client": map[string]any{"name": "Ada"}, "trades": iter.Seq2[map[string]any, error](rows)}))
	if !errors.Is(err, broken) || got != "ADA\n0 a|1|0.00" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestStreamedDataAreBounded: by the limits of data, each row for itself and all that is no row.
func TestStreamedDataAreBounded(t *testing.T) {
	long := strings.Repeat("x", 400)
	for name, c := range map[string]struct{ json, code string }{
		"in front":    {`{"client": {"name": "` + long + `"}, "trades": []}`, "X307"},
		"a row":       {`{"client": {"name": "a"}, "trades": [{"id": "` + long + `", "qty": 1}]}`, "X307"},
		"behind":      {`{"client": {"name": "a"}, "trades": [], "note": "` + long + `"}`, "X307"},
		"deep":        {`{"client": {"name": "a"}, "trades": [` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `]}`, "X308"},
		"many in all": {`{"client": {"name": "a"}, "trades": [` + strings.Repeat(`{"id": "a", "qty": 1},`, 200) + `{"id": "a", "qty": 1}]}`, ""},
		"many in one": {`{"client": {"name": "a"}, "trades": [{"id": "a", "qty": 1, "x": [` + strings.Repeat("0,", 60) + `0]}]}`, "X309"},
	} {
		d, err := streamPlan(t).Build(t.Context(), compile.Stream(strings.NewReader(c.json), "trades"), compile.BuildOptions{Limits: diag.Limits{DataBytes: 300, DataNodes: 50, DataDepth: 40}})
		if err == nil {
			_, err = printed(d)
		}
		if (c.code == "") != (err == nil) || !strings.Contains(fmt.Sprint(err), c.code) {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
	}
}

// FuzzStream: a text that is read row by row makes the same document, or is refused, as the text in
// memory, but for what must stand before the rows.
func FuzzStream(f *testing.F) {
	for _, s := range []string{
		`{"client": {"name": "Ada"}, "trades": [{"id": "a", "qty": 1}, {"id": "b", "qty": 2}], "note": "x"}`,
		`{"trades": [], "client": {"name": "a"}}`, `{"client": {"name": "\u0041"}, "trades": [[]]} `, `[`, `{"trades": [}`, `{"client":{"name":"a"},"trades":[1,]}`,
		`{"\u0074rades": [{"id": "a", "qty": 1}], "client": {"name": "a"}}`, `{"client": {"name": "a"}, "trades": null}`, "\xEF\xBB\xBF{}", `{"trades": [], "trades": []}`,
	} {
		f.Add(s)
	}
	p, err := compile.Compile(f.Context(), []byte(streamed), compile.Options{File: "t.yaml"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		want, wrong := builtText(t, p, compile.JSON([]byte(text)))
		got, err := builtText(t, p, compile.Stream(strings.NewReader(text), "trades"))
		switch {
		case (err == nil) == (wrong == nil) && (err != nil || got == want):
		case wrong == nil && strings.Contains(fmt.Sprint(err), "must be before the rows"):
		default:
			t.Errorf("%q: streamed %q, %v; in memory %q, %v", text, got, err, want, wrong)
		}
	})
}
