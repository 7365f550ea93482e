package pdf_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"example.com/quire/pdf"
	"example.com/quire/pdf/pdftest"
	"example.com/quire/pdf/template"
)

// templateSamples renders the samples of the template language and returns the
// files by their names.
func templateSamples(tb testing.TB) map[string][]byte {
	tb.Helper()
	names, err := filepath.Glob("internal/compile/testdata/samples/*.yaml")
	if err != nil || len(names) < 4 {
		tb.Fatalf("samples %v: %v", names, err)
	}
	e := newEngine(tb, pdf.Config{Files: fstest.MapFS{"assets/logo.png": {Data: picture(tb, true)}}})
	out := map[string][]byte{}
	for _, name := range names {
		name = strings.TrimSuffix(name, ".yaml")
		src, err := os.ReadFile(name + ".yaml")
		if err != nil {
			tb.Fatal(err)
		}
		data, err := os.ReadFile(name + ".json")
		if err != nil {
			tb.Fatal(err)
		}
		plan, err := e.Compile(tb.Context(), pdf.Source{File: filepath.Base(name) + ".yaml", Text: src})
		if err != nil {
			tb.Fatal(err)
		}
		var buf bytes.Buffer
		res, err := e.Render(tb.Context(), &buf, plan, template.JSON(data), pdf.RenderOptions{Time: frozen, Standards: compliant})
		if err != nil {
			tb.Fatal(err)
		}
		if len(res.Standards) != 2 || res.Pages < 1 || !res.Deterministic || res.Engine == "" || len(res.Warnings) > 0 {
			tb.Errorf("%s: %+v", name, res)
		}
		out[filepath.Base(name)] = buf.Bytes()
	}
	return out
}

func TestRenderSamples(t *testing.T) {
	for name, body := range templateSamples(t) {
		if err := pdftest.QPDF(t, pdftest.Write(t, name+".pdf", body)); err != nil {
			t.Error(err)
		}
	}
}

// TestRecompiledPlan: a template changed in place, name and length
// equal, gives another document; so does a changed file behind an unchanged
// template.
func TestRecompiledPlan(t *testing.T) {
	files := fstest.MapFS{"a.png": {Data: picture(t, false)}}
	e := newEngine(t, pdf.Config{Files: files})
	make1 := func(word string) []byte {
		t.Helper()
		src := strings.ReplaceAll("quire: 1\nname: n\nlang: en\ntitle: T\nbody:\n  - text: WORD\n  - {image: a.png, decorative: true}\n", "WORD", word)
		plan, err := e.Compile(t.Context(), pdf.Source{File: "n.yaml", Text: []byte(src)})
		if err != nil {
			t.Fatal(err)
		}
		var buf bytes.Buffer
		if _, err := e.Render(t.Context(), &buf, plan, template.JSON([]byte("{}")), pdf.RenderOptions{}); err != nil {
			t.Fatal(err)
		}
		return buf.Bytes()
	}
	one, two, again := make1("alpha"), make1("gamma"), make1("alpha")
	if bytes.Equal(one, two) {
		t.Error("two templates give one document")
	}
	if !bytes.Equal(one, again) {
		t.Error("one template gives two documents")
	}
	files["a.png"] = &fstest.MapFile{Data: picture(t, true)}
	if bytes.Equal(one, make1("alpha")) {
		t.Error("a changed image is not seen")
	}
	delete(files, "a.png")
	if _, err := e.Compile(t.Context(), pdf.Source{File: "n.yaml", Text: []byte("quire: 1\nname: n\nlang: en\ntitle: T\nbody:\n  - text: alpha\n  - {image: a.png, decorative: true}\n")}); !errors.Is(err, pdf.ErrTemplate) {
		t.Errorf("a file that is gone: %v", err)
	}
}
