package compile_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"example.com/quire/pdf/internal/compile"
)

// TestSlotsAndImports: components of imported files are used by name, and the content of a slot is
// made of what is around the use, also where that is the same component once more.
func TestSlotsAndImports(t *testing.T) {
	p := planOf(t, "testdata/slots.yaml")
	if got := strings.Join(p.Files(), " "); got != "parts.yaml parts/card.yaml" {
		t.Errorf("files %s", got)
	}
	data, err := os.ReadFile("testdata/slots.json")
	if err != nil {
		t.Fatal(err)
	}
	d, err := p.Build(t.Context(), compile.JSON(data), compile.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := dump(t, d)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/slots.golden", text)
}

// TestImportsAreBounded: a template imports at most 64 files, at most 8 deep.
func TestImportsAreBounded(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files int
		next  func(i int) string // what file i imports
		first string
		want  string
	}{
		{"wide", 65, func(int) string { return "" }, list(0, 65), "more than 64 imported files"},
		{"as wide as allowed", 64, func(int) string { return "" }, list(0, 64), ""},
		{"deep", 9, func(i int) string { return list(i+1, min(i+2, 9)) }, list(0, 1), "more than 8 deep"},
		{"as deep as allowed", 8, func(i int) string { return list(i+1, min(i+2, 8)) }, list(0, 1), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files := fstest.MapFS{}
			for i := range tt.files {
				src := fmt.Sprintf("quire: 1\nimport: [%s]\ncomponents: {c%d: {do: [{text: a}]}}\n", tt.next(i), i)
				files[fmt.Sprintf("f%d.yaml", i)] = &fstest.MapFile{Data: []byte(src)}
			}
			src := "quire: 1\nname: x\nlang: en\ntitle: T\nimport: [" + tt.first + "]\nbody: [{use: c0}]\n"
			_, err := compile.Compile(t.Context(), []byte(src), compile.Options{File: "x.yaml", Files: files})
			if got := fmt.Sprint(err); tt.want == "" && err != nil || !strings.Contains(got, tt.want) {
				t.Errorf("want %q, got %v", tt.want, err)
			}
		})
	}
}

// list names the files from..to.
func list(from, to int) string {
	var names []string
	for i := from; i < to; i++ {
		names = append(names, fmt.Sprintf("f%d.yaml", i))
	}
	return strings.Join(names, ", ")
}
