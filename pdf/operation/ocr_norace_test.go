//go:build !race

package operation_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"strings"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/pdftest"
)

// The tests of this file look at pixels for long in one goroutine, or wait for tesseract, which
// does so: the race detector would make them several times as long.

// TestWhatOCRCannotProve is refused with the page, and nothing is written.
func TestWhatOCRCannotProve(t *testing.T) {
	unread := stream(strings.Replace(grayImage, "DeviceGray", "DeviceGray/Filter/JBIG2Decode", 1), "no JBIG2")
	gray := stream(grayImage, string(marked()))
	pattern := stream("/PatternType 1/PaintType 1/TilingType 1/BBox[0 0 100 100]/XStep 100/YStep 100/Resources<</XObject<</I 3 0 R>>>>", "q 100 0 0 100 0 0 cm /I Do Q")
	whole := "q 100 0 0 100 50 50 cm /I Do Q"
	scan := bytes.Repeat([]byte{0xff}, 1000*1000)
	for y := 100; y < 200; y++ {
		copy(scan[1000*y+600:], bytes.Repeat([]byte{0x80}, 200))
	}
	fine := stream(strings.ReplaceAll(grayImage, "100", "1000"), string(scan))
	inline := "q 100 0 0 100 0 0 cm BI /W 100/H 100/BPC 8/CS/G/F/AHx ID " + fmt.Sprintf("%X", marked()) + "> EI Q"
	hidden := stream("/Type/XObject/Subtype/Form/BBox[0 0 100 100]", inline)
	tile := stream("/PatternType 1/PaintType 1/TilingType 1/BBox[0 0 100 100]/XStep 100/YStep 100/Resources<<>>", inline)
	inks := stream(strings.ReplaceAll(grayImage, "/DeviceGray", "[/DeviceN[/White/Black]/DeviceCMYK 4 0 R]"), strings.Repeat("\xff\x80", 100*100))
	for name, c := range map[string]struct {
		file []byte
		ocr  pdf.OCR
		want []string
	}{
		"a format":    {drawing([]string{unread}, "", whole), &grayOCR{word: "Zanzibar"}, []string{"page 2", "JBIG2Decode"}},
		"a pattern":   {bytes.Replace(drawing([]string{gray, pattern}, ""), []byte("<</XObject"), []byte("<</Pattern<</P 4 0 R>>/XObject"), 1), &grayOCR{word: "Zanzibar"}, []string{"object ", "no page draws"}},
		"drawn small": {drawing([]string{fine}, "q 20 0 0 20 50 50 cm /I Do Q"), &sharpOCR{grayOCR{word: "Zanzibar"}}, []string{"object ", "too small on the page"}},
		"an inline image of a hidden annotation": {bytes.Replace(
			drawing([]string{stream(strings.ReplaceAll(grayImage, "100", "1"), "\xff"), hidden}, ""), []byte("<</Type/Page/"),
			[]byte("<</Annots[<</Type/Annot/Subtype/Stamp/F 2/Rect[0 0 100 100]/AP<</N 4 0 R>>>>]/Type/Page/"), 1,
		), &grayOCR{word: "Zanzibar"}, []string{"object ", "within its content"}},
		"an inline image in a pattern": {bytes.Replace(drawing([]string{stream(strings.ReplaceAll(grayImage, "100", "1"), "\xff"), tile}, ""), []byte("<</XObject"), []byte("<</Pattern<</P 4 0 R>>/XObject"), 1), &grayOCR{word: "Zanzibar"}, []string{"object ", "within its content"}},
		"several inks":                 {drawing([]string{inks, stream("/FunctionType 4/Domain[0 1 0 1]/Range[0 1 0 1 0 1 0 1]", "{pop dup dup dup}")}, whole), &grayOCR{word: "Zanzibar"}, []string{"page 1", "ink"}},
		"a part of the palette":        {drawing([]string{stream(strings.ReplaceAll(grayImage, "/DeviceGray", "[/Indexed/DeviceGray 1<00FF>]/Decode[255 0]"), strings.Repeat("\xff", 100*100))}, whole), &grayOCR{word: "Zanzibar"}, []string{"page 1", "Decode"}},
		"found again":                  {drawing([]string{gray}, whole), always{}, []string{"page 1", "OCR goes on"}},
	} {
		_, out, err := redacted(t, c.file, pdf.RedactOptions{Text: "zanzibar", OCR: c.ocr})
		if !errors.Is(err, pdf.ErrNotProvable) || len(out) > 0 {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %v, want %q", name, err, w)
			}
		}
	}
	if _, _, err := redacted(t, drawing([]string{unread}, whole), pdf.RedactOptions{Text: "zanzibar", OCR: &grayOCR{word: "Zanzibar"}, Boxes: [][4]float64{{60, 60, 70, 70}}}); err != nil {
		t.Errorf("an image that goes whole: %v", err)
	}
	fault := errors.New("out of order")
	if _, out, err := redacted(t, drawing([]string{gray}, whole), pdf.RedactOptions{Text: "zanzibar", OCR: broken{fault}}); !errors.Is(err, fault) || len(out) > 0 {
		t.Errorf("an OCR that fails: %v", err)
	}
	var option *pdf.OptionError
	if _, _, err := redacted(t, drawing([]string{gray}, whole), pdf.RedactOptions{Boxes: [][4]float64{{0, 0, 9, 9}}, OCR: &grayOCR{}}); !errors.As(err, &option) || option.Field != "ocr" {
		t.Errorf("boxes only: %v", err)
	}
	large := drawing([]string{stream(strings.ReplaceAll(grayImage, "100", "9000"), "")}, "q 9000 0 0 9000 0 0 cm /I Do Q")
	var limit *pdf.LimitError
	if _, _, err := redacted(t, large, pdf.RedactOptions{Text: "zanzibar", OCR: &grayOCR{}}); !errors.As(err, &limit) || limit.Name != "OCRPixels" || limit.Place != "page 1" {
		t.Errorf("a large page: %v", err)
	}
	stack := drawing([]string{gray}, strings.Repeat(whole+" ", 30))
	if _, _, err := redacted(t, stack, pdf.RedactOptions{Text: "zanzibar", OCR: &grayOCR{}}); !errors.As(err, &limit) || limit.Name != "Layers" {
		t.Errorf("images over images: %v", err)
	}
}

// scans are a page of 528 x 126 points as scanners write it: one image, or strips that cut its
// lines.
func scans(t *testing.T, page image.Image) map[string][]byte {
	t.Helper()
	b := page.Bounds()
	w, h := b.Dx(), b.Dy()
	gray, rgb, bits := make([]byte, 0, w*h), make([]byte, 0, 3*w*h), make([]byte, (w+7)/8*h)
	shades := image.NewGray(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			c := color.GrayModel.Convert(page.At(b.Min.X+x, b.Min.Y+y)).(color.Gray).Y //nolint:forcetypeassert // what the model makes
			shades.SetGray(x, y, color.Gray{Y: c})
			gray, rgb = append(gray, c), append(rgb, c, c, 0xff-(0xff-c)/2)
			if c > 0x80 {
				bits[y*((w+7)/8)+x/8] |= 0x80 >> (x % 8)
			}
		}
	}
	var packed bytes.Buffer
	if err := jpeg.Encode(&packed, shades, nil); err != nil {
		t.Fatal(err)
	}
	image := func(h int, more string, data []byte) string {
		return stream(fmt.Sprintf("/Type/XObject/Subtype/Image/Width %d/Height %d%s", w, h, more), string(data))
	}
	whole, side := "q 528 0 0 126 0 0 cm /I Do Q", "q 0 528 -126 0 126 0 cm /I Do Q"
	drawing := func(page string, images []string, content string) []byte {
		return bytes.ReplaceAll(drawing(images, content), []byte("/MediaBox[0 0 300 200]"), []byte(page))
	}
	const wide, high = "/MediaBox[0 0 528 126]", "/MediaBox[0 0 126 528]"
	strips, content := []string{}, ""
	for i := 0; i < h; i += 40 {
		n := min(40, h-i)
		content += fmt.Sprintf("q 528 0 0 %g 0 %g cm /%c Do Q\n", float64(n)*126/float64(h), 126-float64(i+n)*126/float64(h), 'I'+len(strips))
		strips = append(strips, image(n, "/BitsPerComponent 8/ColorSpace/DeviceGray", gray[i*w:(i+n)*w]))
	}
	one := []string{image(h, "/BitsPerComponent 8/ColorSpace/DeviceGray", gray)}
	return map[string][]byte{
		"1 bit":             drawing(wide, []string{image(h, "/BitsPerComponent 1/ColorSpace/DeviceGray", bits)}, whole),
		"gray":              drawing(wide, one, whole),
		"RGB":               drawing(wide, []string{image(h, "/BitsPerComponent 8/ColorSpace/DeviceRGB", rgb)}, whole),
		"JPEG":              drawing(wide, []string{image(h, "/BitsPerComponent 8/ColorSpace/DeviceGray/Filter/DCTDecode", packed.Bytes())}, whole),
		"a mask":            drawing(wide, []string{image(h, "/ImageMask true", bits)}, "0 0 1 rg "+whole),
		"strips":            drawing(wide, strips, content),
		"on its side":       drawing(high, one, side),
		"a page that turns": drawing("/Rotate 90"+high, one, side),
	}
}

// remembering is an OCR that reads once what looks the same but for shades, which tesseract does
// not tell apart either: the pages of several scans differ in no more.
type remembering struct {
	ocr  pdf.OCR
	read map[[sha256.Size]byte][]pdf.PictureWord
}

func (r *remembering) Read(ctx context.Context, p *pdf.Picture) ([]pdf.PictureWord, error) {
	dark := fmt.Appendf(nil, "%d ", p.Width)
	for i := 0; i < len(p.RGB); i += 3 {
		dark = append(dark, p.RGB[i]>>7) // by red, of which all have the same
	}
	sum := sha256.Sum256(dark)
	if words, ok := r.read[sum]; ok {
		return words, nil
	}
	words, err := r.ocr.Read(ctx, p)
	if err == nil {
		r.read[sum] = words
	}
	return words, err
}

// TestScannedPagesAreRedactedByTesseract: a name in the pixels of a page is found and black, and
// tesseract reads it no longer, however the page was scanned; what stands beside it is still read.
func TestScannedPagesAreRedactedByTesseract(t *testing.T) {
	t.Parallel()
	pdftest.Need(t, "tesseract")
	e := engine(t)
	var page bytes.Buffer
	if _, err := e.Build(t.Context(), &page, pdf.RenderOptions{}, func(b *doc.Builder) error {
		b.Title("Letter").Lang("en")
		b.Text("Dear Doctor Quartzberg, thank you for your letter of yesterday.")
		b.Text("The parcel for Quartzberg was handed over at the harbour this morning.")
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	paper := pdftest.Raster(t, pdftest.Write(t, "page.pdf", page.Bytes()), 200)[0]
	cut, ok := paper.(interface {
		SubImage(r image.Rectangle) image.Image
	})
	if !ok {
		t.Fatalf("%T", paper)
	}
	program, err := pdf.Tesseract(t.Context(), pdf.TesseractOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ocr := &remembering{ocr: program, read: map[[sha256.Size]byte][]pdf.PictureWord{}}
	read := func(name string, b []byte) string {
		if name == "on its side" {
			_, turned, err := run(t, e, "rotate", map[string]string{"degrees": "90"}, b)
			if err != nil {
				t.Fatal(err)
			}
			b = turned[0]
		}
		img := pdftest.Raster(t, pdftest.Write(t, "scan.pdf", b), 200)[0]
		r := img.Bounds()
		p := &pdf.Picture{Width: r.Dx(), Height: r.Dy()}
		for y := r.Min.Y; y < r.Max.Y; y++ {
			for x := r.Min.X; x < r.Max.X; x++ {
				c := color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA) //nolint:forcetypeassert // what the model makes
				p.RGB = append(p.RGB, c.R, c.G, c.B)
			}
		}
		words, err := ocr.Read(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		var said strings.Builder
		for _, w := range words {
			said.WriteString(w.Text + " ")
		}
		return said.String()
	}
	for name, b := range scans(t, cut.SubImage(image.Rect(130, 130, 130+1467, 130+350))) {
		_, whole, err := run(t, e, "rotate", map[string]string{"degrees": "360"}, b) // with a cross-reference table
		if err != nil {
			t.Fatal(err)
		}
		b = whole[0]
		if n := strings.Count(read(name, b), "Quartzberg"); n < 2 {
			t.Errorf("%s, before: read %d times", name, n)
		}
		s, out, err := redacted(t, b, pdf.RedactOptions{Text: "quartzberg", OCR: ocr})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		after := read(name, out)
		if strings.Contains(after, "Quartz") || !strings.Contains(after, "harbour") || s.Removed.Pixels < 2 {
			t.Errorf("%s: %d matches, then %q", name, s.Removed.Pixels, after)
		}
		if err := pdftest.QPDF(t, pdftest.Write(t, "out.pdf", out)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
