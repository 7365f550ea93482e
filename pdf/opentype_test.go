package pdf_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/font"
	"example.com/quire/pdf/font/liberation"
	"example.com/quire/pdf/pdftest"
)

const (
	cffText = "Zürich: 12,345 €, “façade” flat offices"
	cffHan  = "中文排版也是如此：“引号”与标点"
)

// openType makes a document in fonts with CFF outlines, one of them the second face of a
// collection.
func openType(tb testing.TB, o pdf.RenderOptions) ([]byte, *pdf.Result) {
	tb.Helper()
	read := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join("font", "testdata", name))
		if err != nil {
			tb.Fatal(err)
		}
		return data
	}
	lib, err := liberation.New().With(font.Options{Families: []font.Family{
		{Name: "Sample Text", Faces: []font.Source{{Data: read("SampleText.otf")}}},
		{Name: "Sample CJK", Faces: []font.Source{{Data: read("SampleCJK.ttc"), Name: "SampleCJKsc-Bold", Style: font.Style{Weight: 700}}}},
	}})
	if err != nil {
		tb.Fatal(err)
	}
	return render(tb, newEngine(tb, pdf.Config{Fonts: lib}), o, func(b *doc.Builder) error {
		b.Title("OpenType").Lang("en")
		b.Text(cffText, doc.In(&doc.Style{Family: "Sample Text"}))
		b.Text(cffHan, doc.In(&doc.Style{Family: "Sample CJK", Weight: 700, Size: 40 * doc.Pt}))
		return nil
	})
}

// TestOpenTypeFontsAreEmbedded: fonts with CFF outlines are cut down and embedded, their text
// extracts as typed and where it stands, and the glyphs are drawn.
func TestOpenTypeFontsAreEmbedded(t *testing.T) {
	body, res := openType(t, pdf.RenderOptions{Standards: compliant, Time: frozen})
	file := pdftest.Write(t, "f.pdf", body)
	if err := pdftest.QPDF(t, file); err != nil {
		t.Fatal(err)
	}
	if len(body) > 40_000 {
		t.Errorf("%d bytes: the fonts are not cut down", len(body))
	}
	fonts := pdftest.Fonts(t, file)
	if len(fonts) != 2 || len(res.Fonts) != 2 {
		t.Fatalf("%v, %v", fonts, res.Fonts)
	}
	for _, f := range fonts {
		if !f.Embedded || !f.Subset || !f.ToUnicode || !strings.Contains(f.Name, "+Sample") {
			t.Errorf("%+v", f)
		}
	}
	text := strings.ReplaceAll(pdftest.Text(t, file), "“引\n号”", "“引号”") // where the line ends
	for _, want := range []string{cffText, cffHan} {
		if !strings.Contains(text, want) {
			t.Errorf("%q lacks %q", text, want)
		}
	}
	boxes := pdftest.Boxes(t, file)
	if !slices.ContainsFunc(boxes, func(w pdftest.Word) bool { return strings.HasPrefix(w.Text, "中文") && w.XMax-w.XMin > 300 }) {
		t.Errorf("%v", boxes)
	}
	dark := 0
	page := pdftest.Raster(t, file, 50)[0]
	for y := page.Bounds().Min.Y; y < page.Bounds().Max.Y; y++ {
		for x := page.Bounds().Min.X; x < page.Bounds().Max.X; x++ {
			if r, _, _, _ := page.At(x, y).RGBA(); r < 0x8000 {
				dark++
			}
		}
	}
	if dark < 1000 {
		t.Errorf("%d dark pixels: the glyphs are not drawn", dark)
	}
}
