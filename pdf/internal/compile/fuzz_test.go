package compile_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/quire/internal/strictjson"
	"example.com/quire/pdf/internal/compile"
	"example.com/quire/pdf/internal/diag"
)

// checkReport wants an error with diagnostics that have places and codes.
func checkReport(t *testing.T, err error) {
	t.Helper()
	var de *diag.DiagnosticError
	if !errors.As(err, &de) {
		t.Fatalf("error of type %T: %v", err, err)
	}
	for _, d := range de.Diagnostics {
		if d.Code == "" || d.Message == "" || d.Line < 1 || d.Col < 1 {
			t.Fatalf("diagnostic %+v", d)
		}
	}
}

func FuzzCompile(f *testing.F) {
	for _, pattern := range []string{"testdata/bad/*.yaml", "testdata/samples/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			src, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			if len(src) < 10_000 {
				f.Add(src)
			}
		}
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		p, err := compile.Compile(t.Context(), src, compile.Options{File: "f.yaml", Files: assets})
		if err != nil {
			checkReport(t, err)
			return
		}
		d, err := p.Build(t.Context(), nil, compile.BuildOptions{Limits: diag.Limits{PredicateSteps: 1000, ExprMemory: 1 << 20}})
		if err == nil {
			_, err = dump(t, d)
		}
		if err != nil {
			checkReport(t, err)
		}
	})
}

func FuzzData(f *testing.F) {
	src, err := os.ReadFile("testdata/baddata/template.yaml")
	if err != nil {
		f.Fatal(err)
	}
	p, err := compile.Compile(f.Context(), src, compile.Options{File: "f.yaml"})
	if err != nil {
		f.Fatal(err)
	}
	files, err := filepath.Glob("testdata/baddata/*.json")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
	f.Add([]byte(`{"note":{"number":"1","date":"2026-01-05","at":"2026-01-05T10:00:00Z","total":1.50},"client":{"name":"a","tags":["b"]},"trades":[{"symbol":"x","side":"BUY","qty":1,"price":2}],"rates":{"a":1},"deep":[[1]]}`))
	f.Add([]byte("{\"note\": \"\\ud800\"}"))
	f.Add([]byte("{\"rates\": {\"a\": 1, \"\\u0061\": 2}} "))
	f.Fuzz(func(t *testing.T, body []byte) {
		d, err := p.Build(t.Context(), compile.JSON(body), compile.BuildOptions{})
		if _, wrong := strictjson.Check(body, strictjson.Limits{}); wrong != nil {
			isNoJSON(t, wrong, err)
		} else if codes := codesOf(err); slices.Contains(codes, "D201") {
			t.Fatalf("what jsontext takes is no JSON here: %v", err)
		}
		if err == nil {
			_, err = dump(t, d)
		}
		if err != nil {
			checkReport(t, err)
		}
	})
}

// isNoJSON wants that err says so too of a text that jsontext does not take. A name that stands
// twice is told only where the contract wants the object; behind a limit nothing is read.
func isNoJSON(t *testing.T, wrong, err error) {
	t.Helper()
	codes := codesOf(err)
	limited := len(codes) >= 100 || slices.ContainsFunc(codes, func(c string) bool { return c[0] == 'X' })
	if limited || slices.Contains(codes, "D201") {
		return
	}
	if fault, ok := errors.AsType[*strictjson.Fault](wrong); !ok || fault.Kind != strictjson.Duplicate {
		t.Fatalf("jsontext says %v, here it is %v", wrong, err)
	}
}

func codesOf(err error) (codes []string) {
	if de, ok := errors.AsType[*diag.DiagnosticError](err); ok {
		for _, d := range de.Diagnostics {
			codes = append(codes, d.Code)
		}
	}
	return codes
}

func FuzzMarkup(f *testing.F) {
	for _, s := range []string{"a **b** *c* `d`", "[x](https://y) \\*", "***a***", "${s} **${s}**", "[a [b] c](#d)", "^[", "a*b*c", "`${s}`", "${'}'}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		// A block scalar takes any line as it stands.
		lines := strings.Split(text, "\n")
		src := "quire: 1\nname: m\nlang: en\ntitle: T\ndata: {s: string}\nbody:\n  - text: |2\n"
		for _, l := range lines {
			src += "      " + l + "\n"
		}
		p, err := compile.Compile(t.Context(), []byte(src), compile.Options{File: "m.yaml"})
		if err != nil {
			checkReport(t, err)
			return
		}
		d, err := p.Build(t.Context(), compile.JSON([]byte(`{"s": "<*>"}`)), compile.BuildOptions{})
		if err == nil {
			_, err = dump(t, d)
		}
		if err != nil {
			checkReport(t, err)
		}
	})
}
