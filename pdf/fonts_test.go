package pdf_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/pdftest"
	"example.com/quire/pdf/template"
)

// serif is the folder of a sample that brings a family with features along.
var serif = filepath.Join("..", "examples", "pdf", "samples", "programme", "fonts")

// withFonts renders a template that begins with head.
func withFonts(tb testing.TB, e *pdf.Engine, head, body string) ([]byte, *pdf.Result, error) {
	tb.Helper()
	src := "quire: 1\nname: x\nlang: en\ntitle: T\n" + head + "\nbody:\n" + body
	plan, err := e.Compile(tb.Context(), pdf.Source{File: "x.yaml", Text: []byte(src), Files: os.DirFS(serif)})
	if err != nil {
		return nil, nil, err
	}
	var out bytes.Buffer
	res, err := e.Render(tb.Context(), &out, plan, template.JSON([]byte("{}")), pdf.RenderOptions{})
	return out.Bytes(), res, err
}

const family = "fonts: {families: {Text: {regular: SourceSerif4-Regular.ttf, italic: SourceSerif4-Italic.ttf}}}"

// TestTemplatesBringFontsAlong: the files of a template are embedded, missing characters come from
// the fonts that are built in, and no other template knows the family.
func TestTemplatesBringFontsAlong(t *testing.T) {
	t.Parallel()
	e := newEngine(t, pdf.Config{})
	const body = "- {text: 'Flat *office* \u2603', font: Text}"
	file, res, err := withFonts(t, e, "standard: [pdf/a-4, pdf/ua-2]\n"+family, body)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range res.Fonts {
		names = append(names, f.Name[len("ABCDEF+"):])
	}
	if slices.Sort(names); !slices.Equal(names, []string{"DejaVuSans", "SourceSerif4-Italic", "SourceSerif4-Regular"}) {
		t.Errorf("fonts %q", names)
	}
	if got := pdftest.Words(t, pdftest.Write(t, "f.pdf", file)); !slices.Equal(got, []string{"Flat", "office", "\u2603"}) {
		t.Errorf("words %q", got)
	}
	if _, _, err := withFonts(t, e, "", body); !failsWith(err, "F403") {
		t.Errorf("a family of another template: %v", err)
	}
	if _, _, err := withFonts(t, e, "fonts: {fallback: [Nowhere]}", body); !failsWith(err, "F403", "F403") {
		t.Errorf("a fallback that is not there: %v", err)
	}
	exact, _, err := withFonts(t, e, strings.Replace(family, "fonts: {", "fonts: {subset: exact, ", 1), body)
	if err != nil || len(exact) >= len(file)/2 {
		t.Errorf("exact subsets: %d bytes, %d with blocks, %v", len(exact), len(file), err)
	}
}

// failsWith reports whether err lists diagnostics of these codes alone.
func failsWith(err error, want ...string) bool {
	de, ok := errors.AsType[*pdf.DiagnosticError](err)
	return ok && slices.EqualFunc(de.Diagnostics, want, func(d pdf.Diagnostic, code string) bool { return d.Code == code })
}

// TestDamagedFallbackIsTheFault: a font of the fallback is read when a character needs it; one that
// cannot be read is what is wrong then, not the character.
func TestDamagedFallbackIsTheFault(t *testing.T) {
	t.Parallel()
	e := newEngine(t, pdf.Config{})
	damaged := doc.NewFonts(doc.FontOptions{Families: []doc.FontFamily{{Name: "Damaged", Regular: []byte("\x00\x01\x00\x00 is no font")}}, Fallback: []string{"Damaged"}})
	for text, want := range map[string]string{"plain": "", "\u4E00": "F403", "\u0E01\u0E33": "F403"} {
		_, err := e.Build(t.Context(), io.Discard, pdf.RenderOptions{}, func(b *doc.Builder) error {
			b.Title("T").Lang("en").Fonts(damaged).Style(&doc.Style{Family: "Liberation Sans", Size: 10 * doc.Pt, Leading: 12 * doc.Pt}).Text(text)
			return nil
		})
		if want == "" && err != nil || want != "" && (!failsWith(err, want) || !strings.Contains(err.Error(), "Damaged")) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestFontsOfDocumentsStayApart: many documents at once, each with another face under the same
// name.
func TestFontsOfDocumentsStayApart(t *testing.T) {
	t.Parallel()
	var faces [][]byte
	for _, name := range []string{"SourceSerif4-Regular.ttf", "SourceSerif4-Italic.ttf", "SourceSerif4-SemiBold.ttf"} {
		b, err := os.ReadFile(filepath.Join(serif, name))
		if err != nil {
			t.Fatal(err)
		}
		faces = append(faces, b)
	}
	for _, off := range []bool{false, true} {
		e := newEngine(t, pdf.Config{Cache: pdf.CacheLimits{Off: off}})
		var wg sync.WaitGroup
		for i := range 12 {
			wg.Go(func() {
				f := doc.NewFonts(doc.FontOptions{Families: []doc.FontFamily{{Name: "Text", Regular: faces[i%len(faces)]}}})
				res, err := e.Build(t.Context(), io.Discard, pdf.RenderOptions{}, func(b *doc.Builder) error {
					b.Fonts(f).Text("Hamburg", doc.In(&doc.Style{Family: "Text"}))
					return nil
				})
				want := []string{"SourceSerif4-Regular", "SourceSerif4-Italic", "SourceSerif4-SemiBold"}[i%len(faces)]
				if err != nil || len(res.Fonts) != 1 || !strings.HasSuffix(res.Fonts[0].Name, want) {
					t.Errorf("want %s: %v, %v", want, res, err)
				}
			})
		}
		wg.Wait()
	}
}

// TestFeatureThatTheFontLacksIsAnError: it names the ones that the font has.
func TestFeatureThatTheFontLacksIsAnError(t *testing.T) {
	t.Parallel()
	e := newEngine(t, pdf.Config{})
	_, _, err := withFonts(t, e, family, "- {text: a, font: Text, features: [swsh]}")
	if !failsWith(err, "F405") || !strings.Contains(err.Error(), "smcp") {
		t.Errorf("%v", err)
	}
	// What is off may be missing, and code is set in another family.
	if _, _, err := withFonts(t, e, family, "- {text: 'a `b`', font: Text, features: [-swsh, smcp]}"); err != nil {
		t.Error(err)
	}
}

// TestMissingCharactersAreBoxesWhereAsked: their text is in the file all the same, and no standard
// allows them.
func TestMissingCharactersAreBoxesWhereAsked(t *testing.T) {
	t.Parallel()
	e := newEngine(t, pdf.Config{})
	const body = "- {text: 'a \u4e2d b \u0e01\u0e33 c'}"
	file, _, err := withFonts(t, e, "fonts: {missing: box}", body)
	if err != nil {
		t.Fatal(err)
	}
	if got := pdftest.Text(t, pdftest.Write(t, "f.pdf", file)); !strings.Contains(got, "a") || !strings.Contains(got, "\u4e2d") || !strings.Contains(got, "c") {
		t.Errorf("text %q", got)
	}
	if _, _, err := withFonts(t, e, "fonts: {missing: error}", body); err == nil {
		t.Error("made without a glyph")
	}
	if _, _, err := withFonts(t, e, "standard: pdf/ua-2\nfonts: {missing: box}", body); !failsWith(err, "T105") {
		t.Errorf("with a standard: %v", err)
	}
	_, err = e.Build(t.Context(), io.Discard, pdf.RenderOptions{Standards: compliant}, func(b *doc.Builder) error {
		b.Fonts(doc.NewFonts(doc.FontOptions{Boxes: true})).Title("x").Lang("en").Text("x")
		return nil
	})
	if !failsWith(err, "S051") {
		t.Errorf("with a standard, built: %v", err)
	}
}
