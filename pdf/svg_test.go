package pdf_test

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"example.com/quire/pdf"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/pdftest"
	"example.com/quire/pdf/standard"
	"example.com/quire/pdf/template"
)

// badge is a drawing with a gradient, a group, a mask and text.
const badge = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 120 40">
<linearGradient id="g"><stop stop-color="#246"/><stop offset="1" stop-color="#246" stop-opacity="0"/></linearGradient>
<mask id="m"><circle cx="20" cy="20" r="15" fill="white"/></mask>
<rect width="120" height="40" fill="url(#g)"/><g opacity=".5" mask="url(#m)"><rect width="40" height="40" fill="red"/><circle cx="20" cy="20" r="8"/></g>
<text x="50" y="26" font-size="14" font-weight="bold">Zoë Quire</text></svg>`

// TestDrawingsAreVectorsWithText: a drawing is one form for all its uses, its text is found and
// stands under the alternative text of its figure.
func TestDrawingsAreVectorsWithText(t *testing.T) {
	body, res := render(t, newEngine(t, pdf.Config{}), pdf.RenderOptions{Standards: compliant}, func(b *doc.Builder) error {
		b.Title("Badges").Lang("en").Heading(1, "Badges")
		for range 3 {
			data := []byte(badge)
			b.Image(doc.Image{Name: "badge.svg", Data: data, Alt: "A badge", Width: doc.MM(60)})
		}
		return nil
	})
	if len(res.Warnings) > 0 {
		t.Errorf("warnings %v", res.Warnings)
	}
	file := pdftest.Write(t, "badges.pdf", body)
	if err := pdftest.QPDF(t, file); err != nil {
		t.Error(err)
	}
	if got := strings.Join(pdftest.Words(t, file), " "); strings.Count(got, "Zoë Quire") != 3 {
		t.Errorf("text %q", got)
	}
	if tree := pdftest.StructText(t, file); strings.Count(tree, "Figure:") != 3 || strings.Count(tree, `"Zoë Quire"`) != 3 {
		t.Errorf("structure\n%s", tree)
	}
	if n := bytes.Count(body, []byte("/Subtype/Image")); n > 0 {
		t.Errorf("%d bitmaps", n)
	}
	// The drawing, its group, the mask of that, and the mask of the gradient.
	if n := bytes.Count(body, []byte("/Subtype/Form")); n != 4 {
		t.Errorf("%d forms", n)
	}
	var boxes []pdftest.Word
	for _, w := range pdftest.Boxes(t, file) {
		if w.Text == "Quire" {
			boxes = append(boxes, w)
		}
	}
	// 14 units of 120 on 60 mm are 19.8 pt; the word begins behind "Zoë ".
	if len(boxes) != 3 || boxes[0].XMin < 56+70.9+30 || boxes[0].XMax > 56.7+170.1 {
		t.Errorf("places %+v", boxes)
	}
}

// TestDrawingsAreTheSameBytes whoever makes them, beside others and in any order, and whether they
// were made before.
func TestDrawingsAreTheSameBytes(t *testing.T) {
	all := drawings(t)
	one, _ := render(t, newEngine(t, pdf.Config{}), pdf.RenderOptions{Standards: compliant}, gallery(all, true))
	e := newEngine(t, pdf.Config{Cache: pdf.CacheLimits{Off: true}})
	render(t, e, pdf.RenderOptions{}, gallery(all[:20], true))
	if two, _ := render(t, e, pdf.RenderOptions{Standards: compliant}, gallery(all, true)); !bytes.Equal(one, two) {
		t.Error("the bytes differ")
	}
	keeps := newEngine(t, pdf.Config{})
	for range 2 {
		render(t, keeps, pdf.RenderOptions{Standards: []standard.ID{standard.PDFA3b}}, gallery(all[10:], true))
		if two, _ := render(t, keeps, pdf.RenderOptions{Standards: compliant}, gallery(all, true)); !bytes.Equal(one, two) {
			t.Error("the bytes differ when drawings are kept")
		}
	}
}

// withDrawing renders a template that has the drawing as a file.
func withDrawing(tb testing.TB, svg string, o pdf.RenderOptions) ([]byte, *pdf.Result, error) {
	tb.Helper()
	e := newEngine(tb, pdf.Config{Files: fstest.MapFS{"art/x.svg": {Data: []byte(svg)}}})
	const src = "quire: 1\nname: d\nlang: en\ntitle: Drawing\nbody:\n  - {image: art/x.svg, alt: A drawing, width: 30mm}\n"
	plan, err := e.Compile(tb.Context(), pdf.Source{File: "d.yaml", Text: []byte(src)})
	if err != nil {
		tb.Fatal(err)
	}
	var buf bytes.Buffer
	res, err := e.Render(tb.Context(), &buf, plan, template.JSON([]byte(`{}`)), o)
	return buf.Bytes(), res, err
}

// TestDrawingsThatReachOutAreRefused with their place in the file and in the template.
func TestDrawingsThatReachOutAreRefused(t *testing.T) {
	const open = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">` + "\n"
	for svg, want := range map[string]string{
		open + `<image href="http://example.com/x.png"/></svg>`:                `image art/x.svg:2:1: image refers to "http://example.com/x.png" outside of the file has no place in a drawing`,
		open + `<g><script>x</script></g></svg>`:                               "image art/x.svg:2:4: a script has no place in a drawing",
		`<!DOCTYPE svg [<!ENTITY a "b">]>` + open + `</svg>`:                   "image art/x.svg:1:1: a document type definition (<!DOCTYPE) has no place in a drawing",
		open + `<rect fill="url(../secret.svg#p)"/></svg>`:                     `image art/x.svg:2:1: fill of rect refers to "../secret.svg#p" outside of the file has no place in a drawing`,
		open + `<style>@import url("https://example.com/s.css")</style></svg>`: `image art/x.svg:2:1: the style sheet refers to "https://example.com/s.css" outside of the file has no place in a drawing`,
	} {
		_, _, err := withDrawing(t, svg, pdf.RenderOptions{})
		d := diagnosticsOf(err)
		if len(d) != 1 || d[0].Code != "L314" || d[0].Message != want || d[0].File != "d.yaml" || d[0].Line != 6 || d[0].Suggestion == "" {
			t.Errorf("got  %+v\nwant %s", d, want)
		}
	}
}

func TestDrawingsThatAreBroken(t *testing.T) {
	for svg, code := range map[string]string{
		`<svg xmlns="http://www.w3.org/2000/svg">`: "L307",
		`<html/>`: "L307",
		`<svg xmlns="http://www.w3.org/2000/svg"><text>` + "\U0001F9FF" + `</text></svg>`:                              "F401",
		`<svg xmlns="http://www.w3.org/2000/svg">` + strings.Repeat("<g>", 70) + strings.Repeat("</g>", 70) + `</svg>`: "X314",
	} {
		_, _, err := withDrawing(t, svg, pdf.RenderOptions{})
		if d := diagnosticsOf(err); len(d) != 1 || d[0].Code != code || d[0].Line != 6 {
			t.Errorf("%.60s: got %v, want %s", svg, err, code)
		}
	}
}

// TestWhatADrawingLeavesOutIsAWarning with the name of the element and both places.
func TestWhatADrawingLeavesOutIsAWarning(t *testing.T) {
	_, res, err := withDrawing(t, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">
  <foreignObject/><rect width="9" height="9" filter="url(#f)"/></svg>`, pdf.RenderOptions{Standards: compliant})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range res.Warnings {
		got = append(got, fmt.Sprintf("%s %s:%d %s", w.Code, w.File, w.Line, w.Message))
	}
	want := []string{
		"L315 d.yaml:6 image art/x.svg:2:3: the element foreignObject is not drawn",
		"L315 d.yaml:6 image art/x.svg:2:19: filter: url(#f) on rect is not drawn",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestDrawingsNeedAlternativeText as all images do.
func TestDrawingsNeedAlternativeText(t *testing.T) {
	e := newEngine(t, pdf.Config{})
	_, err := e.Build(t.Context(), &bytes.Buffer{}, pdf.RenderOptions{Standards: compliant}, func(b *doc.Builder) error {
		b.Title("T").Lang("en").Image(doc.Image{Name: "badge.svg", Data: []byte(badge)})
		return nil
	})
	wantCode(t, err, "S028")
	body, _ := render(t, e, pdf.RenderOptions{Standards: compliant}, func(b *doc.Builder) error {
		b.Title("T").Lang("en").Image(doc.Image{Name: "badge.svg", Data: []byte(badge), Decorative: true})
		return nil
	})
	if regexp.MustCompile(`/S/Figure`).Match(body) {
		t.Error("what is decorative is a figure")
	}
}
