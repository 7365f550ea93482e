package compile_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"example.com/quire/pdf/internal/compile"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares text with a file, or writes it.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil { //nolint:gosec // a file of this test
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (run with -update to accept)\n%s", file, difference(string(want), got))
	}
}

// difference shows the first lines that differ.
func difference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(w), len(g)) {
		a, b := "", ""
		if i < len(w) {
			a = w[i]
		}
		if i < len(g) {
			b = g[i]
		}
		if a != b {
			return "want " + a + "\n got " + b
		}
	}
	return ""
}

// assets are the files that templates of these tests name.
var assets = fstest.MapFS{
	"assets/logo.png": {Data: []byte("not really a picture; the template does not look inside")},
	"brand.yaml": {Data: []byte(`quire: 1
styles:
  h1: {color: "#7a1f1f"}
  num: {align: right}
components:
  seal:
    params: {who: string}
    do: [{text: "Sealed by ${who}", style: num}]
`)},
	"parts.yaml": {Data: []byte(`quire: 1
import: [parts/card.yaml]
components:
  pair:
    params: {label: string}
    slots: [value]
    do: [{row: {widths: [30mm, 1fr], cells: ["${label}", [{slot: value, empty: [{text: (none)}]}]]}}]
`)},
	"parts/card.yaml": {Data: []byte(`quire: 1
components:
  card:
    params: {title: string, times: integer}
    slots: [body, foot]
    do:
      - box:
          border: hairline
          do:
            - {heading: "${title}", level: 2}
            - for: i in 1..times
              do: [{text: "${title} ${i}"}, {slot: body}, {text: "after ${title} ${i}"}]
            - table: {columns: [{head: "Of ${title}"}], rows: [[{do: [{slot: foot, empty: [{text: "no foot of ${title}"}]}]}]]}
`)},
	"circle.yaml": {Data: []byte("quire: 1\nimport: [circle.yaml]\ncomponents: {pair: {do: [{text: x}]}}\n")},
	"plain.yaml":  {Data: []byte("quire: 1\ntheme: none\nstyles: {h2: {size: 20pt}}\n")},
	"wrong.yaml":  {Data: []byte("quire: 1\nbody: []\nstyles:\n  h1: {sise: 3pt}\ncomponents:\n  seal: {do: [{text: \"${nothing}\"}]}\n")},
	"photo.jpg":   {Data: []byte("neither is this")},
}

func planOf(t *testing.T, file string) *compile.Plan {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p, err := compile.Compile(t.Context(), src, compile.Options{File: filepath.Base(file), Files: assets})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var renderTime = time.Date(2026, time.March, 9, 8, 7, 6, 0, time.UTC)

// TestSamples builds each template of testdata/samples with its data and
// compares the document with the golden file.
func TestSamples(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/samples/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			p := planOf(t, file)
			stem := strings.TrimSuffix(file, ".yaml")
			body, err := os.ReadFile(stem + ".json")
			if err != nil {
				t.Fatal(err)
			}
			d, err := p.Build(t.Context(), compile.NamedJSON(filepath.Base(stem)+".json", body), compile.BuildOptions{Time: renderTime})
			if err != nil {
				t.Fatal(err)
			}
			text, err := dump(t, d)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, stem+".golden", text)
			schema, err := p.Schema()
			if err != nil {
				t.Fatal(err)
			}
			golden(t, stem+".schema.json", string(schema)+"\n")
		})
	}
}
