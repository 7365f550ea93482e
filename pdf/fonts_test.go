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

// TestTemplatesBringFontsAlong: the files of a template are embedded, missing characters come from the fonts that
// are built in, and no other template knows the family.
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
	if _, _, err := withFonts(t, e, "fonts: {fallback: [Nowhere]}", body); !failsWith(err, "F403") {
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

// TestFontsOfDocumentsStayApart: many documents at once, each with another face under the same name.
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

// TestFeaturesOfFontsAreDrawnAndExtract: a feature draws other glyphs, whose text extracts as it was written.
func TestFeaturesOfFontsAreDrawnAndExtract(t *testing.T) {
	t.Parallel()
	e := newEngine(t, pdf.Config{})
	const words = "Hamburg 1234567890 office AVATAR"
	seen := map[string]string{}
	for _, features := range []string{"", "features: [smcp]", "features: [onum]", "features: [-liga]", "features: [-kern]", "features: [c2sc, smcp, onum]"} {
		body := "- {text: '" + words + "', font: Text, size: 20pt, " + features + "}"
		file, _, err := withFonts(t, e, "standard: [pdf/a-4, pdf/ua-2]\n"+family, body)
		if err != nil {
			t.Fatalf("%s: %v", features, err)
		}
		name := pdftest.Write(t, "f.pdf", file)
		if got := strings.Join(pdftest.Words(t, name), " "); got != words {
			t.Errorf("%s: extracts as %q", features, got)
		}
		drawn := pdftest.Raster(t, name, 100)[0]
		for other, before := range seen {
			if d, err := pdftest.Difference(drawn, pdftest.Raster(t, before, 100)[0]); err != nil || d == 0 {
				t.Errorf("%q and %q look alike (%v)", features, other, err)
			}
		}
		seen[features] = name
	}
	// Spans have features, too.
	file, _, err := withFonts(t, e, family+"\nstyles: {base: {font: Text}, sc: {features: [smcp]}}", "- {text: 'In [small]{sc} capitals'}")
	if err != nil || !slices.Equal(pdftest.Words(t, pdftest.Write(t, "f.pdf", file)), []string{"In", "small", "capitals"}) {
		t.Errorf("spans: %v", err)
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

// TestSyntheticStylesAreDrawnWhereAllowed: bold and italic of a family without such faces.
func TestSyntheticStylesAreDrawnWhereAllowed(t *testing.T) {
	t.Parallel()
	e := newEngine(t, pdf.Config{})
	const one = "fonts: {families: {Text: {regular: SourceSerif4-Regular.ttf}}}"
	allowed := "standard: [pdf/a-4, pdf/ua-2]\n" + strings.Replace(one, "fonts: {", "fonts: {synthetic: allow, ", 1)
	page := func(text string) string {
		file, res, err := withFonts(t, e, allowed, "- {text: '"+text+"', font: Text, size: 24pt}\n- {text: after, font: Text, size: 24pt}")
		if err != nil || len(res.Fonts) != 1 {
			t.Fatalf("%s: %v", text, err)
		}
		name := pdftest.Write(t, "f.pdf", file)
		if err := pdftest.QPDF(t, name); err != nil {
			t.Error(err)
		}
		return name
	}
	plain, bold, italic := page("one illicit word"), page("one **illicit** word"), page("one *illicit* word")
	for what, name := range map[string]string{"bold": bold, "italic": italic} {
		if d, err := pdftest.Difference(pdftest.Raster(t, plain, 100)[0], pdftest.Raster(t, name, 100)[0]); err != nil || d == 0 {
			t.Errorf("%s looks like the plain text (%v)", what, err)
		}
		want, got := pdftest.Boxes(t, plain), pdftest.Boxes(t, name)
		if len(want) != 4 || len(got) != 4 {
			t.Fatalf("%s: %d words", what, len(got))
		}
		for i := range want { // what stands around has its place
			if dx := got[i].XMin - want[i].XMin; i != 1 && (dx > 0.1 || dx < -0.1) || got[i].Text != want[i].Text {
				t.Errorf("%s: %v, want %v", what, got[i], want[i])
			}
		}
	}
	for _, text := range []string{"'**b**'", "'*i*'"} {
		if _, _, err := withFonts(t, e, one, "- {text: "+text+", font: Text}"); !failsWith(err, "F403") {
			t.Errorf("%s without synthetic: %v", text, err)
		}
	}
}

// TestMissingCharactersAreBoxesWhereAsked: their text is in the file all the same, and no standard allows them.
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
