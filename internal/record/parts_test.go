package record_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"example.com/quire/internal/record"
)

func TestHash(t *testing.T) {
	h := record.Sum([]byte("abc"))
	const want = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" // FIPS 180-4's example
	if h.String() != want {
		t.Errorf("got %s", h)
	}
	back, err := record.ParseHash(want)
	if err != nil || back != h || h.IsZero() || !(record.Hash{}).IsZero() {
		t.Errorf("back %s, %v", back, err)
	}
	for _, s := range []string{"", want[:63], want + "0", strings.ToUpper(want), want[:63] + "g", " " + want[:63]} {
		if _, err := record.ParseHash(s); err == nil {
			t.Errorf("%q: no error", s)
		}
	}
	var m map[string]record.Hash
	if err := json.Unmarshal([]byte(`{"a":"`+want+`"}`), &m); err != nil || m["a"] != h {
		t.Errorf("JSON: %v, %v", m, err)
	}
	if err := json.Unmarshal([]byte(`{"a":"x"}`), &m); err == nil {
		t.Error("JSON of no hash: no error")
	}
}

func TestCheckName(t *testing.T) {
	for name, good := range map[string]bool{
		"local": true, "a": true, "0": true, "contract-note_2.v1": true, strings.Repeat("n", 64): true,
		"": false, strings.Repeat("n", 65): false, "A": false, ".a": false, "-a": false, "_a": false, "a b": false, "a/b": false, "..": false, "é": false, "a\n": false,
	} {
		if err := record.CheckName("name", name); (err == nil) != good {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestIdentity(t *testing.T) {
	i := record.Identity{
		Space: record.Local, Template: record.TemplateRef{Name: "note", Hash: record.Sum([]byte("t"))}, Snapshot: record.Sum([]byte("s")),
		Options: record.Options{Standards: []string{"pdf/ua-2", "pdf/a-4"}},
	}
	id, err := i.ID()
	if err != nil {
		t.Fatal(err)
	}
	// What the comment promises: anyone can compute it.
	text := fmt.Sprintf(`{"document":1,"options":{"standards":["pdf/a-4","pdf/ua-2"]},"signer":"","snapshot":"%s","space":"local","template":{"hash":"%s","name":"note"}}`,
		i.Snapshot, i.Template.Hash)
	if id != record.Sum([]byte(text)) {
		t.Errorf("id %s, want the hash of %s", id, text)
	}
	i.Options.Standards = []string{"pdf/a-4", "pdf/ua-2", "pdf/a-4"}
	if again, err := i.ID(); err != nil || again != id {
		t.Errorf("standards in another order: %s, %v", again, err)
	}
	// No two fields can be mistaken for each other.
	ids := map[record.Hash]string{id: "first"}
	for name, change := range map[string]func(i *record.Identity){
		"space":        func(i *record.Identity) { i.Space = "loca" },
		"signer":       func(i *record.Identity) { i.Signer = "local" },
		"quote":        func(i *record.Identity) { i.Signer = `","snapshot":"` },
		"name":         func(i *record.Identity) { i.Template.Name = "notes" },
		"swapped":      func(i *record.Identity) { i.Template.Hash, i.Snapshot = i.Snapshot, i.Template.Hash },
		"no standards": func(i *record.Identity) { i.Options = record.Options{} },
	} {
		j := i
		change(&j)
		id, err := j.ID()
		if err != nil {
			t.Fatal(err)
		}
		if before, ok := ids[id]; ok {
			t.Errorf("%s: the same id as %s", name, before)
		}
		ids[id] = name
	}
}

func TestTemplate(t *testing.T) {
	files := map[string][]byte{"main.yaml": []byte("abc"), "assets/logo.png": nil}
	a, err := record.NewTemplate("note", "main.yaml", files)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"files":{"assets/logo.png":"` + record.Sum(nil).String() + `","main.yaml":"` + record.Sum([]byte("abc")).String() + `"},"main":"main.yaml"}`
	if string(a.Manifest()) != want || a.Ref().Hash != record.Sum([]byte(want)) || a.Ref().Name != "note" {
		t.Errorf("manifest %s, want %s", a.Manifest(), want)
	}
	for name, c := range map[string]struct {
		name, main string
		files      map[string][]byte
		want       string
	}{
		"name":       {"No Te", "main.yaml", files, "template name"},
		"main":       {"note", "mian.yaml", files, `want one of the template's files, got "mian.yaml"; did you mean "main.yaml"?`},
		"no files":   {"note", "", nil, "main file"},
		"dots":       {"note", "a", map[string][]byte{"a": nil, "../b": nil}, `got "../b"`},
		"absolute":   {"note", "a", map[string][]byte{"a": nil, "/etc/passwd": nil}, `got "/etc/passwd"`},
		"backslash?": {"note", ".", map[string][]byte{".": nil}, `got "."`},
	} {
		if _, err := record.NewTemplate(c.name, c.main, c.files); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	many := map[string][]byte{}
	for i := range 1001 {
		many[fmt.Sprint(i)] = nil
	}
	var over *record.LimitError
	if _, err := record.NewTemplate("note", "1", many); !errors.As(err, &over) || over.Got != 1001 {
		t.Errorf("1001 files: %v", err)
	}
}

func TestFreeze(t *testing.T) {
	s, err := record.Freeze([]byte(`{"b":2,"a":{"sources":1}}`), record.Origin{}, nil, noon)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"data":{"a":{"sources":1},"b":2},"snapshot":1,"time":"2026-01-31T06:30:00.123Z"}`; string(s.Bytes) != want || s.Hash != record.Sum([]byte(want)) {
		t.Errorf("got %s, want %s", s.Bytes, want)
	}
	if want := `{"a":{"sources":1},"b":2}`; string(s.Data) != want {
		t.Errorf("data %s, want %s", s.Data, want)
	}
	if s, err = record.Freeze(nil, record.Origin{}, nil, time.Time{}); err != nil || string(s.Bytes) != `{"data":{},"snapshot":1}` {
		t.Errorf("nothing: %v, %v", s, err)
	}
	// Without sources the key is the caller's.
	if _, err = record.Freeze([]byte(`{"sources":{"a":{"outcome":"ok"}}}`), record.Origin{}, nil, noon); err != nil {
		t.Error(err)
	}
	// Sources stand among the data in canonical order, and share its limits.
	sources := func() []record.Collected {
		return []record.Collected{
			answer("z", ` [1, {"y":1,"x":2}] `),
			{SourceRecord: record.SourceRecord{Key: "B", Outcome: record.Stale, Reason: "503"}, Data: []byte(`"old"`)},
			{SourceRecord: record.SourceRecord{Key: "a", Outcome: record.Failed, Reason: `said "no"`}},
			answer("bad", `{"a":1,"a":2}`),
			answer("none", ""),
		}
	}
	given := sources()
	if s, err = record.Freeze([]byte(`{"m":1,"C":2}`), record.Origin{}, given, time.Time{}); err != nil {
		t.Fatal(err)
	}
	want := `{"B":"old","C":2,"a":null,"bad":null,"m":1,"none":null,"sources":{` +
		`"B":{"outcome":"stale","reason":"503"},"a":{"outcome":"failed","reason":"said \"no\""},` +
		`"bad":{"outcome":"failed","reason":"the answer cannot be frozen: data line 1, column 8: a: the name \"a\" occurs twice in its object [D202]"},` +
		`"none":{"outcome":"failed","reason":"the answer cannot be frozen: data line 1, column 1: want a value, got the end of the text [D201]"},` +
		`"z":{"outcome":"ok","reason":""}},"z":[1,{"x":2,"y":1}]}`
	if string(s.Data) != want {
		t.Errorf("got %s\nwant %s", s.Data, want)
	}
	if given[3].Outcome != record.Failed || given[3].Data != nil {
		t.Errorf("a source that cannot be frozen: %+v, want it failed", given[3])
	}
	for name, large := range map[string]string{
		"bytes": `"` + strings.Repeat("x", record.DataBytes-14) + `"`,
		"nodes": "[" + strings.Repeat("0,", record.DataNodes-4) + "0]",
		"depth": strings.Repeat("[", record.DataDepth) + strings.Repeat("]", record.DataDepth),
	} {
		given = []record.Collected{answer("z", large), answer("y", "[[1]]")}
		if _, err = record.Freeze([]byte(`{"m":1,"C":2}`), record.Origin{}, given, noon); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if given[0].Outcome != record.Failed || !strings.Contains(given[0].Reason, "limit data "+name) || given[1].Outcome != record.OK {
			t.Errorf("%s: %+.40v, want the first failed for that", name, given)
		}
	}
	for _, data := range []string{`{"sources":1}`, `{"z":1}`} {
		var wrong *record.DataError
		if _, err = record.Freeze([]byte(data), record.Origin{}, sources(), noon); !errors.As(err, &wrong) || wrong.Line != 1 {
			t.Errorf("%s: %v, want a data error", data, err)
		}
	}
	for in, kind := range map[string]string{"[]": "an array", `"x"`: "a string", "true": "a boolean", "false": "a boolean", "null": "null", "-1": "a number"} {
		if _, err = record.Freeze([]byte("\n "+in), record.Origin{}, nil, noon); err == nil || err.Error() != "data line 2, column 2: want an object, got "+kind+" [D203]" {
			t.Errorf("%s: %v", in, err)
		}
	}
}

// A snapshot is as deep as data can be, and no deeper.
func TestSnapshotDepth(t *testing.T) {
	deep := func(n int) []byte {
		return []byte(strings.Repeat(`{"a":`, n-1) + "{}" + strings.Repeat("}", n-1))
	}
	s, err := record.Freeze(deep(record.DataDepth), record.Origin{}, nil, noon)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := record.ParseSnapshot(s.Bytes); err != nil {
		t.Errorf("the deepest: %v", err)
	}
	source := []record.Collected{answer("s", string(deep(record.DataDepth-1)))}
	if s, err = record.Freeze(nil, record.Origin{}, source, noon); err != nil || source[0].Outcome != record.OK {
		t.Fatalf("%+v, %v", source, err)
	}
	if _, err := record.ParseSnapshot(s.Bytes); err != nil {
		t.Errorf("the deepest of a source: %v", err)
	}
	if _, err := record.Freeze(deep(record.DataDepth+1), record.Origin{}, nil, noon); err == nil {
		t.Error("deeper data: no error")
	}
	deeper := fmt.Appendf(nil, `{"data":%s,"snapshot":1}`, deep(record.DataDepth+1))
	if _, err := record.ParseSnapshot(deeper); !errors.Is(err, record.ErrDamaged) {
		t.Errorf("a deeper snapshot: %v, want that it is damaged", err)
	}
}

func TestParseSnapshot(t *testing.T) {
	for _, when := range []time.Time{noon, {}} {
		s, err := record.Freeze([]byte(`{"b":1.0,"a":"é"}`), record.Origin{}, nil, when)
		if err != nil {
			t.Fatal(err)
		}
		back, err := record.ParseSnapshot(s.Bytes)
		if err != nil || !bytes.Equal(back.Bytes, s.Bytes) || !bytes.Equal(back.Data, s.Data) || !back.Time.Equal(s.Time) || back.Hash != s.Hash {
			t.Errorf("back %+v, %v", back, err)
		}
	}
	for name, text := range map[string]string{
		"no JSON":      `{`,
		"version":      `{"data":{},"snapshot":2}`,
		"no version":   `{"data":{}}`,
		"no data":      `{"snapshot":1}`,
		"data":         `{"data":[],"snapshot":1}`,
		"time":         `{"data":{},"snapshot":1,"time":"2026-01-31"}`,
		"precision":    `{"data":{},"snapshot":1,"time":"2026-01-31T06:30:00Z"}`,
		"zone":         `{"data":{},"snapshot":1,"time":"2026-01-31T06:30:00.000+01:00"}`,
		"time is null": `{"data":{},"snapshot":1,"time":null}`,
		"white space":  `{"data":{}, "snapshot":1}`,
		"order":        `{"snapshot":1,"data":{}}`,
		"data's order": `{"data":{"b":1,"a":2},"snapshot":1}`,
		"more":         `{"data":{},"more":1,"snapshot":1}`,
		"twice":        `{"data":{"a":1,"a":1},"snapshot":1}`,
	} {
		if _, err := record.ParseSnapshot([]byte(text)); !errors.Is(err, record.ErrDamaged) {
			t.Errorf("%s: %v, want damaged", name, err)
		}
	}
}

func TestProblemsReadWell(t *testing.T) {
	for want, p := range map[string]record.Problem{
		`note.yaml:3:4: body[1]: no field "qtty"; did you mean "qty"? (ISO 14289-2, 8.2) [T104]`: {
			Code: "T104", File: "note.yaml", Line: 3, Column: 4, Node: "body[1]", Message: `no field "qtty"`, Suggestion: `did you mean "qty"?`, Clause: "ISO 14289-2, 8.2",
		},
		"line 1, column 9: trades[0].price: bad: want decimal, got string": {Line: 1, Column: 9, Path: "trades[0].price", Message: "bad", Want: "decimal", Got: "string"},
		"source api: x: want a": {Source: "api", Path: "x", Want: "a"},
		"data.json: got b":      {File: "data.json", Got: "b"},
	} {
		if p.String() != want {
			t.Errorf("got %s\nwant %s", p, want)
		}
	}
	if e := (&record.LimitError{Name: "pages", Limit: 5, Got: 7}).Error(); e != "limit pages: at most 5, got 7" {
		t.Error(e)
	}
}
