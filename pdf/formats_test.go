package pdf_test

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"os"
	"strings"
	"testing"

	"golang.org/x/image/tiff"

	"example.com/quire/pdf"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/pdftest"
	"example.com/quire/pdf/standard"
)

// sunset is a picture of w by h pixels, red from the left to the right and blue from the top down.
func sunset(w, h int) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			m.SetNRGBA(x, y, color.NRGBA{R: byte(255 * x / w), G: 90, B: byte(255 * y / h), A: 255}) //nolint:gosec // G115: below 256
		}
	}
	return m
}

// formats are files of all kinds of images.
func formats(tb testing.TB) map[string][]byte {
	tb.Helper()
	must := func(err error) {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
	}
	var g, tf, jp, pn bytes.Buffer
	pal := image.NewPaletted(image.Rect(0, 0, 40, 30), color.Palette{color.NRGBA{}, color.White, color.NRGBA{200, 30, 30, 255}})
	for i := range pal.Pix {
		pal.Pix[i] = byte(i / 7 % 3)
	}
	must(gif.Encode(&g, pal, nil))
	must(tiff.Encode(&tf, sunset(60, 40), &tiff.Options{Compression: tiff.Deflate}))
	must(jpeg.Encode(&jp, sunset(600, 400), nil))
	must(png.Encode(&pn, sunset(60, 40)))
	webp, err := os.ReadFile("internal/image/testdata/alpha.webp")
	must(err)
	return map[string][]byte{
		"a.gif": g.Bytes(), "a.tiff": tf.Bytes(), "a.webp": webp, "a.jpg": jp.Bytes(), "a.png": withProfile(pn.Bytes(), standard.SRGBProfile()),
	}
}

// withProfile puts an ICC profile into a PNG, behind its header.
func withProfile(data, profile []byte) []byte {
	var z bytes.Buffer
	w := zlib.NewWriter(&z)
	_, _ = w.Write(profile)
	_ = w.Close()
	body := append([]byte("iCCPname\x00\x00"), z.Bytes()...)
	const header = 8 + 25
	out := bytes.Clone(data[:header])
	out = binary.BigEndian.AppendUint32(out, uint32(len(body)-4)) //nolint:gosec // G115: some thousand
	out = append(out, body...)
	out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(body))
	return append(out, data[header:]...)
}

// pictures shows an image of each kind, one with a profile, one made smaller, one cut to its box.
func pictures(tb testing.TB) func(*doc.Builder) error {
	tb.Helper()
	files := formats(tb)
	return func(b *doc.Builder) error {
		b.Title("Pictures").Lang("en").Heading(1, "Pictures")
		for _, name := range []string{"a.gif", "a.tiff", "a.webp", "a.png"} {
			b.Image(doc.Image{Name: name, Data: files[name], Alt: "A picture", Height: doc.MM(20)}).Space(doc.MM(4))
		}
		b.Image(doc.Image{Name: "a.jpg", Data: files["a.jpg"], Alt: "A picture", Width: doc.Inch, MaxDPI: 100}).Space(doc.MM(4))
		b.Image(doc.Image{Name: "a.jpg", Data: files["a.jpg"], Alt: "A picture", Width: doc.MM(20), Height: doc.MM(20), Fit: doc.FitCover, MaxDPI: 72})
		return nil
	}
}

// TestImagesOfAllKinds: they are drawn with the colours that they have, at the resolution that was
// asked for, and profiles stand in the file once.
func TestImagesOfAllKinds(t *testing.T) {
	e := newEngine(t, pdf.Config{})
	body, _ := render(t, e, pdf.RenderOptions{Standards: compliant}, pictures(t))
	file := pdftest.Write(t, "f.pdf", body)
	if err := pdftest.QPDF(t, file); err != nil {
		t.Fatal(err)
	}
	plain := unpack(t, body)
	for want, n := range map[string]int{"/ICCBased": 1, "/Width 100/Height 67": 1, "/Width 86/Height 57": 1, "/Filter/DCTDecode": 2, "re W n": 1} {
		if strings.Count(plain, want) != n {
			t.Errorf("%s is %d times in the file, want %d", want, strings.Count(plain, want), n)
		}
	}
	page := pdftest.Raster(t, file, 72)[0]
	// The last picture is a square of 20 mm; the left and right sixths of the image are cut off.
	var red []uint32
	for y := range page.Bounds().Dy() {
		row := page.Bounds().Dy() - 1 - y
		r, g, _, _ := page.At(58, row).RGBA()
		if g>>8 > 70 && g>>8 < 110 {
			left, _, _, _ := page.At(58, row).RGBA()
			right, _, _, _ := page.At(56+54, row).RGBA()
			red = []uint32{left >> 8, right >> 8, r}
			break
		}
	}
	if red == nil || red[0] < 35 || red[0] > 60 || red[1] < 195 || red[1] > 222 {
		t.Errorf("the picture that is cut to its box is red from %v", red)
	}
}

// TestImageKeysOfTemplates: dpi-max and fit: cover mean what they mean in Go, and an image of any
// kind may come in the data.
func TestImageKeysOfTemplates(t *testing.T) {
	files := formats(t)
	const text = `quire: 1
name: x
lang: en
title: T
data: {photo: image}
body:
  - {image: "${photo}", alt: A picture, width: 1in, dpi-max: 100}
`
	body, err := renderText(t, newEngine(t, pdf.Config{}), text, `{"photo": "`+base64.StdEncoding.EncodeToString(files["a.jpg"])+`"}`)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(unpack(t, body), "/Width 100/Height 67") {
		t.Error("the image has more pixels than it may")
	}
	for _, name := range []string{"a.gif", "a.webp", "a.tiff"} {
		kind := strings.TrimPrefix(name, "a.")
		data := `{"photo": "data:image/` + kind + `;base64,` + base64.StdEncoding.EncodeToString(files[name]) + `"}`
		if _, err := renderText(t, newEngine(t, pdf.Config{}), text, data); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCMYKNeedsAProfileInArchives: without one nobody knows its colours (ISO 19005-4, 6.2.4.3); a
// plain document shows it as the device does.
func TestCMYKNeedsAProfileInArchives(t *testing.T) {
	cmyk := fourComponents()
	e := newEngine(t, pdf.Config{})
	build := func(ids ...standard.ID) error {
		_, err := e.Build(t.Context(), &bytes.Buffer{}, pdf.RenderOptions{Standards: ids}, func(b *doc.Builder) error {
			b.Title("T").Lang("en").Add(&doc.Image{Block: doc.Block{Src: &doc.Source{File: "t.yaml", Line: 7}}, Name: "a.jpg", Data: cmyk, Alt: "x"})
			return nil
		})
		return err
	}
	if err := build(); err != nil {
		t.Errorf("a plain document: %v", err)
	}
	if err := build(standard.PDFUA2); err != nil {
		t.Errorf("an accessible one: %v", err)
	}
	for _, id := range []standard.ID{standard.PDFA2b, standard.PDFA4} {
		if d := diagnosticsOf(build(id)); len(d) != 1 || d[0].Code != "S047" || d[0].Line != 7 {
			t.Errorf("%s: %v", id, d)
		}
	}
}

// fourComponents makes a JPEG of 8 by 8 pixels with four components, all of whose coefficients are
// zero.
func fourComponents() []byte {
	b := []byte{0xFF, 0xD8}
	seg := func(marker byte, body ...byte) {
		b = append(b, 0xFF, marker)
		b = binary.BigEndian.AppendUint16(b, uint16(len(body)+2)) //nolint:gosec // G115: some bytes
		b = append(b, body...)
	}
	quant := append([]byte{0}, bytes.Repeat([]byte{1}, 64)...)
	seg(0xDB, quant...)
	seg(0xC0, 8, 0, 8, 0, 8, 4, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0, 4, 0x11, 0)
	table := func(class byte) []byte { // one code of one bit, for 0
		return append([]byte{class, 1}, make([]byte, 16)...)
	}
	seg(0xC4, table(0)...)
	seg(0xC4, table(0x10)...)
	seg(0xDA, 4, 1, 0, 2, 0, 3, 0, 4, 0, 0, 63, 0)
	// A block is a difference of 0 and the end of the block: two bits, four times.
	return append(b, 0x00, 0xFF, 0xD9)
}
