package pdf_test

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/pdftest"
)

// TestPassedThroughPNGIsPixelEqualInThreeRenderers: a page as large as its image, a point for each
// pixel, has the colours that the reference decoder gives, whoever draws it.
func TestPassedThroughPNGIsPixelEqualInThreeRenderers(t *testing.T) {
	const w, h = 120, 90
	area := image.Rect(0, 0, w, h)
	rng := rand.New(rand.NewPCG(5, 45)) //nolint:gosec // test data
	rgb, gray := image.NewNRGBA(area), image.NewGray(area)
	colors := make(color.Palette, 200)
	for i := range colors {
		colors[i] = color.RGBA{R: uint8(rng.IntN(256)), G: uint8(rng.IntN(256)), B: uint8(rng.IntN(256)), A: 0xFF} //nolint:gosec // a byte each
	}
	indexed := image.NewPaletted(area, colors)
	for y := range h {
		for x := range w {
			rgb.Set(x, y, color.RGBA{R: uint8(x * 2), G: uint8(y * 2), B: uint8(rng.IntN(256)), A: 0xFF}) //nolint:gosec // a byte each
			gray.SetGray(x, y, color.Gray{Y: uint8(rng.IntN(256))})                                       //nolint:gosec // a byte
			indexed.SetColorIndex(x, y, uint8(rng.IntN(len(colors))))                                     //nolint:gosec // a byte
		}
	}
	e := newEngine(t, pdf.Config{})
	for name, m := range map[string]image.Image{"colours": rgb, "shades of grey": gray, "palette": indexed} {
		t.Run(name, func(t *testing.T) {
			var file, out bytes.Buffer
			if err := png.Encode(&file, m); err != nil {
				t.Fatal(err)
			}
			_, err := e.Build(t.Context(), &out, pdf.RenderOptions{}, func(b *doc.Builder) error {
				b.Page(doc.Master{Width: w * doc.Pt, Height: h * doc.Pt})
				b.Image(doc.Image{Name: "image.png", Data: file.Bytes(), Alt: "Noise", Width: w * doc.Pt, Height: h * doc.Pt})
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Contains(out.Bytes(), passedBytes(t, file.Bytes())) {
				t.Fatal("the samples are not those of the file: the image was not passed through")
			}
			name := pdftest.Write(t, "image.pdf", out.Bytes())
			for renderer, draw := range map[string]func(testing.TB, string, int) []image.Image{
				"poppler": pdftest.RasterExact, "MuPDF": pdftest.MuPDF, "PDFium": pdftest.PDFium,
			} {
				pages := draw(t, name, 72)
				if len(pages) != 1 || pages[0].Bounds().Size() != area.Size() {
					t.Fatalf("%s: %d pages, the first of %v", renderer, len(pages), pages[0].Bounds())
				}
				if d, err := pdftest.Difference(pages[0], m); err != nil || d != 0 {
					t.Errorf("%s: the pixels differ by %.3f of 255 in the mean, %v", renderer, d, err)
				}
			}
		})
	}
}

// passedBytes returns the data of the one IDAT chunk of a PNG.
func passedBytes(t *testing.T, file []byte) []byte {
	t.Helper()
	at := bytes.Index(file, []byte("IDAT"))
	end := bytes.Index(file, []byte("IEND"))
	if at < 0 || end < at || bytes.Count(file, []byte("IDAT")) != 1 {
		t.Fatal("not a PNG of one IDAT chunk")
	}
	return file[at+len("IDAT") : end-8] // checksum and length stand between
}
