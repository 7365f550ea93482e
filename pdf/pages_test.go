package pdf_test

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"example.com/quire/pdf"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/font"
	"example.com/quire/pdf/pdftest"
	"example.com/quire/pdf/template"
)

// TestManyPages: a page tree of two levels, with two content streams on every
// page.
func TestManyPages(t *testing.T) {
	const pages = 150
	e := newEngine(t, pdf.Config{})
	body, res := render(t, e, pdf.RenderOptions{Standards: compliant}, func(b *doc.Builder) error {
		b.Title("Many pages").Lang("en").Footer(pageOf())
		for i := range pages {
			b.Text(strconv.Itoa(i + 1)).PageBreak()
		}
		return nil
	})
	if res.Pages != pages { // the last break leaves no empty page
		t.Errorf("%d pages", res.Pages)
	}
	file := pdftest.Write(t, "f.pdf", body)
	if err := pdftest.QPDF(t, file); err != nil {
		t.Error(err)
	}
	if n := pdftest.Info(t, file)["Pages"]; n != strconv.Itoa(pages) {
		t.Errorf("pdfinfo counts %s pages", n)
	}
}

// TestPlacesOnPaper: what layout placed is where a reader finds it, through
// kerning, justification, alignment and a change of face within the line.
func TestPlacesOnPaper(t *testing.T) {
	e := newEngine(t, pdf.Config{})
	page := doc.A4()
	long := strings.Repeat("AVATAR To. fi ₹ Wave ", 40)
	body, _ := render(t, e, pdf.RenderOptions{}, func(b *doc.Builder) error {
		b.Page(page)
		b.Text(long, doc.In(&doc.Style{Align: doc.AlignJustify}))
		b.Text("right", doc.In(&doc.Style{Align: doc.AlignRight}))
		b.Text("centre", doc.In(&doc.Style{Align: doc.AlignCenter}))
		return nil
	})
	words := pdftest.Boxes(t, pdftest.Write(t, "f.pdf", body))
	left, right := float64(page.Margins.Left)/1024, float64(page.Width-page.Margins.Right)/1024
	lines := map[float64][]pdftest.Word{}
	for _, w := range words {
		lines[w.YMax] = append(lines[w.YMax], w)
	}
	near := func(a, b float64) bool { return a-b < 0.1 && b-a < 0.1 }
	full := 0
	for _, w := range words {
		switch {
		case w.Text == "right" && !near(w.XMax, right):
			t.Errorf("%+v does not end at %.2f", w, right)
		case w.Text == "centre" && !near((w.XMin+w.XMax)/2, (left+right)/2):
			t.Errorf("%+v is not centred", w)
		case near(w.XMax, right):
			full++
		}
		if w.XMin < left-0.1 || w.XMax > right+0.1 {
			t.Errorf("%+v stands outside %.2f to %.2f", w, left, right)
		}
	}
	if full < 6 {
		t.Errorf("%d lines end flush", full)
	}
}

// TestSharedImages: images of equal bytes are in the file once.
func TestSharedImages(t *testing.T) {
	e := newEngine(t, pdf.Config{})
	body, _ := render(t, e, pdf.RenderOptions{}, func(b *doc.Builder) error {
		for range 5 {
			b.Image(doc.Image{Data: photo(t), Alt: "x"})
		}
		b.Image(doc.Image{Data: picture(t, false), Alt: "y"})
		return nil
	})
	if n := bytes.Count(body, []byte("/Subtype/Image")); n != 2 {
		t.Errorf("%d images", n)
	}
}

// TestFilesStayInside: a template reaches nothing but Config.Files.
func TestFilesStayInside(t *testing.T) {
	e := newEngine(t, pdf.Config{Files: fstest.MapFS{"a.png": {Data: picture(t, false)}}})
	none := newEngine(t, pdf.Config{})
	compile := func(e *pdf.Engine, file string) error {
		_, err := e.Compile(t.Context(), pdf.Source{File: "n.yaml", Text: []byte("quire: 1\nname: n\nlang: en\ntitle: T\nbody:\n  - {image: \"" + file + "\", decorative: true}\n")})
		return err
	}
	if err := compile(e, "a.png"); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"../a.png", "/a.png", "https://example.com/a.png", "missing.png", "./a.png"} {
		if err := compile(e, bad); !errors.Is(err, pdf.ErrTemplate) {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if err := compile(none, "a.png"); !errors.Is(err, pdf.ErrTemplate) {
		t.Errorf("an engine without files: %v", err)
	}
}

// TestFontsOfOneEngine: a font lives in the library it was given to.
func TestFontsOfOneEngine(t *testing.T) {
	m, err := liberationRegular()
	if err != nil {
		t.Fatal(err)
	}
	lib, err := font.NewLibrary(font.Options{Families: []font.Family{{Name: "Corporate", Faces: []font.Source{{Style: font.Style{Weight: 400}, Data: m}}}}})
	if err != nil {
		t.Fatal(err)
	}
	own := newEngine(t, pdf.Config{Fonts: lib})
	corporate := func(b *doc.Builder) error {
		b.Style(&doc.Style{Family: "Corporate"}).Text("in the corporate font")
		return nil
	}
	if _, res := render(t, own, pdf.RenderOptions{}, corporate); len(res.Fonts) != 1 {
		t.Errorf("%v", res.Fonts)
	}
	_, err = newEngine(t, pdf.Config{}).Build(t.Context(), io.Discard, pdf.RenderOptions{}, corporate)
	wantCode(t, err, "F403")
	_, err = own.Build(t.Context(), io.Discard, pdf.RenderOptions{}, func(b *doc.Builder) error {
		b.Spans([]doc.Span{{Text: "bold", Bold: true}})
		return nil
	})
	wantCode(t, err, "F403") // no synthetic bold
	empty, err := font.NewLibrary(font.Options{})
	if err == nil {
		if _, err := pdf.New(pdf.Config{Fonts: empty}); !errors.Is(err, pdf.ErrFont) {
			t.Errorf("an engine without fonts: %v", err)
		}
	}
}

// TestRenderErrors: problems of the data and of limits come out of Render.
func TestRenderErrors(t *testing.T) {
	e := newEngine(t, pdf.Config{})
	plan, err := e.Compile(t.Context(), pdf.Source{File: "n.yaml", Text: []byte("quire: 1\nname: n\nlang: en\ntitle: T\ndata: {who: string}\nbody:\n  - text: \"${who}\"\n")})
	if err != nil {
		t.Fatal(err)
	}
	again, err := e.Compile(t.Context(), pdf.Source{File: "n.yaml", Text: []byte("quire: 1\nname: n\nlang: en\ntitle: T\ndata: {who: string}\nbody:\n  - text: \"${who}\"\n")})
	if err != nil || again != plan {
		t.Error("a plan is compiled twice")
	}
	if _, err := e.Render(t.Context(), io.Discard, plan, template.JSON([]byte(`{"who": 1}`)), pdf.RenderOptions{}); !errors.Is(err, pdf.ErrData) {
		t.Errorf("got %v", err)
	}
	if _, err := e.Render(t.Context(), io.Discard, plan, template.JSON([]byte(`{"who": "x"}`)), pdf.RenderOptions{Limits: &pdf.Limits{Pages: 1 << 30}}); !errors.Is(err, pdf.ErrLimit) {
		t.Errorf("got %v", err)
	}
	if _, err := e.Compile(t.Context(), pdf.Source{File: "bad.yaml", Text: []byte("quire: 2\n")}); !errors.Is(err, pdf.ErrTemplate) {
		t.Errorf("got %v", err)
	}
}

// TestPlanCacheIsBounded: plans make room for each other, and all still render.
func TestPlanCacheIsBounded(t *testing.T) {
	e := newEngine(t, pdf.Config{Cache: pdf.CacheLimits{Bytes: 64 << 10}})
	for i := range 60 {
		word := "w" + strconv.Itoa(i)
		plan, err := e.Compile(t.Context(), pdf.Source{File: "n.yaml", Text: []byte("quire: 1\nname: n\nlang: en\ntitle: T\nbody:\n  - text: " + word + "\n")})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Render(t.Context(), io.Discard, plan, template.JSON([]byte("{}")), pdf.RenderOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if n := e.CachedPlanBytes(); n > 16<<10 || n == 0 {
		t.Errorf("%d bytes of plans", n)
	}
}

// TestHyphenatedTextExtractsWhole reads a justified paragraph of narrow lines as a reader does: a
// word that a line ends within is whole again without its soft hyphen (ISO 32000-2, 14.8.2.2.3).
func TestHyphenatedTextExtractsWhole(t *testing.T) {
	const in = "Die Donaudampfschifffahrt beförderte zwischen Regensburg und dem Schwarzen Meer " +
		"Reisende, Güter und Nachrichten; ihre Betriebsordnung regelte Fahrpreisermäßigungen für Geschäftsreisende."
	style := &doc.Style{Align: doc.AlignJustify, Size: 11 * doc.Pt}
	var sizes []int64
	for _, s := range []*doc.Style{style, {Align: doc.AlignJustify, Size: 11 * doc.Pt, Hyphenate: doc.HyphenateOff}, {Align: doc.AlignJustify, Size: 11 * doc.Pt, Breaking: doc.BreakingGreedy}} {
		file, r := render(t, newEngine(t, pdf.Config{}), pdf.RenderOptions{}, func(b *doc.Builder) error {
			b.Title("T").Lang("de")
			b.Page(doc.Master{Width: 245 * doc.Pt, Height: 400 * doc.Pt, Margins: doc.Edges{Left: 20 * doc.Pt, Right: 20 * doc.Pt, Top: 20 * doc.Pt, Bottom: 20 * doc.Pt}})
			b.Add(styled(s, txt(in)...))
			return nil
		})
		sizes = append(sizes, r.Size)
		words := pdftest.Words(t, pdftest.Write(t, "hyphens.pdf", file))
		if got := strings.ReplaceAll(strings.Join(words, " "), "\u00AD ", ""); got != in {
			t.Errorf("got  %s\nwant %s", got, in)
		}
	}
	if sizes[0] == sizes[1] || sizes[0] == sizes[2] {
		t.Errorf("hyphenation or total fit changes nothing: %d bytes", sizes)
	}
}
