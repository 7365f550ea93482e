package pdf_test

import (
	"bytes"
	"strings"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/pdftest"
	"example.com/quire/pdf/standard"
	"example.com/quire/pdf/template"
)

// fromTemplate renders a template and fails the test when that fails.
func fromTemplate(tb testing.TB, e *pdf.Engine, src, data string, o pdf.RenderOptions) []byte {
	tb.Helper()
	plan, err := e.Compile(tb.Context(), pdf.Source{File: "t.yaml", Text: []byte(src)})
	if err != nil {
		tb.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := e.Render(tb.Context(), &out, plan, template.JSON([]byte(data)), o); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

// inlineLooks has every look that text within a line may have.
func inlineLooks(tb testing.TB) func(*doc.Builder) error {
	tb.Helper()
	logo := &doc.Image{Name: "logo.png", Data: picture(tb, true), Alt: "The logo"}
	return func(b *doc.Builder) error {
		b.Title("Looks").Lang("en").Style(&doc.Style{Size: 12 * doc.Pt})
		b.Spans([]doc.Span{
			{Text: "H"},
			{Text: "2", Style: &doc.Style{Position: doc.PositionSub}},
			{Text: "O and 3"},
			{Text: "e", Style: &doc.Style{Position: doc.PositionSuper}},
			{Text: " are "},
			{Text: "below a line", Style: &doc.Style{Underline: &doc.Line{Width: doc.Pt, Color: doc.RGB(0xB0, 0, 0x20)}}},
			{Text: " or "},
			{Text: "gone", Style: &doc.Style{Strike: &doc.Line{}}},
			{Text: ". "},
			{Text: "Müller & Søn ßfi", Style: &doc.Style{SmallCaps: true}},
			{Text: " is "},
			{Text: "spaced", Style: &doc.Style{LetterSpacing: 3 * doc.Pt}},
			{Text: ", "},
			{Kind: doc.SpanImage, Image: logo},
			{Text: " within "},
			{Kind: doc.SpanImage, Image: &doc.Image{Name: "logo.png", Data: logo.Data, Decorative: true, Height: 20 * doc.Pt}},
			{Text: " and "},
			{Kind: doc.SpanImage, Image: logo, Link: "https://example.com/"},
			{Text: "end"},
		})
		b.Text("All of it is both", doc.In(&doc.Style{Underline: &doc.Line{}, SmallCaps: true}))
		return nil
	}
}

// TestInlineLooksAreTaggedAndExtracted: what a look means is in the structure, what the reader gets
// is what was written, and the images stand where the text has them.
func TestInlineLooksAreTaggedAndExtracted(t *testing.T) {
	body, res := render(t, newEngine(t, pdf.Config{}), pdf.RenderOptions{Standards: compliant, Time: frozen}, inlineLooks(t))
	if len(res.Warnings) > 0 {
		t.Error(res.Warnings)
	}
	file := pdftest.Write(t, "looks.pdf", body)
	if err := pdftest.QPDF(t, file); err != nil {
		t.Error(err)
	}
	text := strings.Join(pdftest.Words(t, file), " ")
	for _, want := range []string{"below a line or gone.", "Müller & Søn ßfi is spaced", "All of it is both"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %q", want, text)
		}
	}
	tree := pdftest.StructText(t, file)
	for _, want := range []string{"TextDecorationType /Underline", "TextDecorationType /LineThrough", "BaselineShift 4.079", "BaselineShift -1.68", "Figure"} {
		if !strings.Contains(tree, want) {
			t.Errorf("no %s in\n%s", want, tree)
		}
	}
	within := strings.Index(tree, "within")
	if first := strings.Index(tree, "Figure"); first < 0 || within < first || strings.Index(tree, "gone") > first {
		t.Errorf("the image does not stand between its texts:\n%s", tree)
	}
}

// TestInlineLooksOnPaper: sizes, places and lines are what the style says.
func TestInlineLooksOnPaper(t *testing.T) {
	const dpi = 144
	body, _ := render(t, newEngine(t, pdf.Config{}), pdf.RenderOptions{}, func(b *doc.Builder) error {
		b.Title("Looks").Lang("en").Style(&doc.Style{Size: 20 * doc.Pt, Leading: 40 * doc.Pt})
		word := func(s *doc.Style) { b.Spans([]doc.Span{{Text: "x"}, {Text: "HIH", Style: s}}) }
		word(&doc.Style{})
		word(&doc.Style{Position: doc.PositionSuper})
		word(&doc.Style{Position: doc.PositionSub})
		word(&doc.Style{LetterSpacing: 5 * doc.Pt})
		word(&doc.Style{Underline: &doc.Line{Width: 2 * doc.Pt, Color: doc.RGB(0xFF, 0, 0)}})
		word(&doc.Style{Strike: &doc.Line{Width: 2 * doc.Pt, Color: doc.RGB(0xFF, 0, 0)}})
		return nil
	})
	file := pdftest.Write(t, "looks.pdf", body)
	page := pdftest.Raster(t, file, dpi)[0]
	// ink returns the rows of a line of the page that have a pixel for which is holds, from its
	// top.
	ink := func(line int, is func(c uint32) bool) (rows []int) {
		top := int((doc.MM(20)+doc.Length(line)*40*doc.Pt)*dpi/72) / int(doc.Pt)
		for y := range 40 * dpi / 72 {
			for x := page.Bounds().Min.X; x < page.Bounds().Max.X; x++ {
				if is(rgb(page.At(x, top+y))) {
					rows = append(rows, y)
					break
				}
			}
		}
		return rows
	}
	dark := func(c uint32) bool { return c>>16 < 0x80 && c&0xFF < 0x80 }
	red := func(c uint32) bool { return c>>16 > 0xC0 && c&0xFF < 0x60 }
	plain, super, sub := ink(0, dark), ink(1, dark), ink(2, dark)
	if plain[0]-super[0] < 0 || plain[0]-super[0] > 10 || sub[len(sub)-1] <= plain[len(plain)-1] {
		t.Errorf("rows of ink: plain %v, super %v, sub %v", plain, super, sub)
	}
	under, strike := ink(4, red), ink(5, red)
	if len(under) < 3 || len(under) > 5 || under[0] <= plain[len(plain)-1] {
		t.Errorf("the underline is on rows %v, the letters on %v", under, plain)
	}
	if len(strike) < 3 || len(strike) > 5 || strike[0] <= plain[0] || strike[len(strike)-1] >= plain[len(plain)-1] {
		t.Errorf("the strike is on rows %v, the letters on %v", strike, plain)
	}
	words := pdftest.Boxes(t, file)
	small, wide := 0, 0
	for _, w := range words {
		switch width := w.XMax - w.XMin; {
		case w.Text == "HIH" && width > 22 && width < 23: // 65 % of 34.4
			small++
		case width > 44.4+9:
			wide++
		}
	}
	if small != 2 || wide != 1 {
		t.Errorf("%d small words and %d wide ones: %v", small, wide, words)
	}
}

// TestInlineLooksOfTemplatesAndGoAreTheSame: the markup of a template and the nodes of a Builder
// make the same pages.
func TestInlineLooksOfTemplatesAndGoAreTheSame(t *testing.T) {
	e := newEngine(t, pdf.Config{})
	of := fromTemplate(t, e, `quire: 1
name: looks
lang: en
title: Looks
styles: {base: {font: Liberation Sans, size: 12pt}, loud: {weight: bold, underline: true}}
body: [{text: "a[2]{sup} [b [c]{s}]{loud} [d]{sc}"}]
`, "{}", pdf.RenderOptions{})
	loud := doc.Style{Weight: 700, Underline: &doc.Line{}}
	struck := loud
	struck.Strike = &doc.Line{}
	built, _ := render(t, e, pdf.RenderOptions{}, func(b *doc.Builder) error {
		b.Title("Looks").Lang("en").Style(&doc.Style{Family: "Liberation Sans", Size: 12 * doc.Pt})
		b.Spans([]doc.Span{
			{Text: "a"},
			{Text: "2", Style: &doc.Style{Position: doc.PositionSuper}},
			{Text: " "},
			{Text: "b ", Style: &loud},
			{Text: "c", Style: &struck},
			{Text: " "},
			{Text: "d", Style: &doc.Style{SmallCaps: true}},
		})
		return nil
	})
	if !bytes.Equal(of, built) {
		t.Error("the files differ")
	}
}

// TestInlineLooksAreAllowedBeforePDF2: files of PDF 1.7 may have them, too.
func TestInlineLooksAreAllowedBeforePDF2(t *testing.T) {
	_, res := render(t, newEngine(t, pdf.Config{}), pdf.RenderOptions{Standards: []standard.ID{standard.PDFA2b, standard.PDFUA1}, Time: frozen}, inlineLooks(t))
	if res.Pages != 1 {
		t.Error(res.Pages)
	}
}
