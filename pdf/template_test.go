package pdf_test

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"example.com/quire/pdf"
	"example.com/quire/pdf/pdftest"
	"example.com/quire/pdf/template"
)

// contractNote reads the sample of the template language.
func contractNote(tb testing.TB) (src, data []byte, files fstest.MapFS) {
	tb.Helper()
	var err error
	if src, err = os.ReadFile("template/testdata/samples/contract-note.yaml"); err != nil {
		tb.Fatal(err)
	}
	if data, err = os.ReadFile("template/testdata/samples/contract-note.json"); err != nil {
		tb.Fatal(err)
	}
	// The sample has a link to "#top"; a document needs the place.
	src = bytes.Replace(src, []byte("style: h1, bookmark: true}"), []byte("style: h1, bookmark: true, anchor: top}"), 1)
	return src, data, fstest.MapFS{"assets/logo.png": {Data: picture(tb, true)}}
}

func TestRenderContractNote(t *testing.T) {
	src, data, files := contractNote(t)
	e := newEngine(t, pdf.Config{Files: files})
	plan, err := e.Compile(t.Context(), "contract-note.yaml", src)
	if err != nil {
		t.Fatal(err)
	}
	var buf bytes.Buffer
	res, err := e.Render(t.Context(), &buf, plan, template.JSON(data), pdf.RenderOptions{Time: frozen})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Standards) != 2 || res.Pages < 1 || !res.Deterministic || res.Engine == "" {
		t.Errorf("%+v", res)
	}
	file := pdftest.Write(t, "note.pdf", buf.Bytes())
	if err := pdftest.QPDF(t, file); err != nil {
		t.Error(err)
	}
}

// TestRecompiledPlan: rule 5.2. A template changed in place, name and length
// equal, gives another document; so does a changed file behind an unchanged
// template.
func TestRecompiledPlan(t *testing.T) {
	files := fstest.MapFS{"a.png": {Data: picture(t, false)}}
	e := newEngine(t, pdf.Config{Files: files})
	make1 := func(word string) []byte {
		t.Helper()
		src := strings.ReplaceAll("quire: 1\nname: n\nlang: en\ntitle: T\nbody:\n  - text: WORD\n  - {image: a.png, decorative: true}\n", "WORD", word)
		plan, err := e.Compile(t.Context(), "n.yaml", []byte(src))
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
	if _, err := e.Compile(t.Context(), "n.yaml", []byte("quire: 1\nname: n\nlang: en\ntitle: T\nbody:\n  - text: alpha\n  - {image: a.png, decorative: true}\n")); !errors.Is(err, pdf.ErrTemplate) {
		t.Errorf("a file that is gone: %v", err)
	}
}
