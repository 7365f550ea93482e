package operation_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/quire/pdf"
	"example.com/quire/pdf/operation"
	"example.com/quire/pdf/pdftest"
)

// grayOCR is an OCR that reads a word where pixels are of a middle gray, one word at most.
type grayOCR struct {
	word string
	read int
}

func (o *grayOCR) Read(_ context.Context, p *pdf.Picture) ([]pdf.PictureWord, error) {
	o.read++
	var box image.Rectangle
	n := 0
	for i := 0; i < len(p.RGB); i += 3 {
		if p.RGB[i] > 100 && p.RGB[i] < 160 {
			x, y := i/3%p.Width, i/3/p.Width
			box = box.Union(image.Rect(x, y, x+1, y+1))
			n++
		}
	}
	if n < 64 || n < box.Dx()*box.Dy()/2 && box.Dx() > 8 { // an edge
		return nil, nil
	}
	return []pdf.PictureWord{{Text: o.word, Box: box, Line: 1, Confidence: 90}}, nil
}

// sharpOCR is one that reads large words only.
type sharpOCR struct{ grayOCR }

func (o *sharpOCR) Read(ctx context.Context, p *pdf.Picture) ([]pdf.PictureWord, error) {
	words, err := o.grayOCR.Read(ctx, p)
	if len(words) > 0 && words[0].Box.Dx() < 60 {
		return nil, err
	}
	return words, err
}

// redacted redacts a text by an OCR.
func redacted(t *testing.T, b []byte, o pdf.RedactOptions) (*pdf.RedactSummary, []byte, error) {
	t.Helper()
	var out bytes.Buffer
	e := engine(t)
	s, err := e.Redact(t.Context(), &out, open(t, e, b, ""), o)
	return s, out.Bytes(), err
}

// marked is an image of 100 x 100 gray samples, white but for a gray area of 20 x 10 at (60, 10)
// from the top, as an object with a filter of its own where one is given.
func marked() []byte {
	b := bytes.Repeat([]byte{0xff}, 100*100)
	for y := 10; y < 20; y++ {
		for x := 60; x < 80; x++ {
			b[100*y+x] = 0x80
		}
	}
	return b
}

const grayImage = "/Type/XObject/Subtype/Image/Width 100/Height 100/BitsPerComponent 8/ColorSpace/DeviceGray"

// drawing is a file of pages with one content each that draw the images I and J.
func drawing(images []string, contents ...string) []byte {
	kids, pages := "", []string{}
	names := ""
	first := 3 + len(images)
	for i := range images {
		names += fmt.Sprintf("/%c %d 0 R", 'I'+i, 3+i)
	}
	for i, c := range contents {
		kids += fmt.Sprintf("%d 0 R ", first+2*i)
		pages = append(pages, fmt.Sprintf(`<</Type/Page/Parent 2 0 R/Contents %d 0 R>>`, first+2*i+1), stream("", c))
	}
	all := append([]string{`<</Type/Catalog/Pages 2 0 R>>`, fmt.Sprintf(`<</Type/Pages/Kids[%s]/Count %d/MediaBox[0 0 300 200]/Resources<</XObject<<%s>>>>>>`, kids, len(contents), names)}, images...)
	return raw(append(all, pages...)...)
}

// wholeOCR is one that reads a word only where all of it stands, the right way round: a light sign
// before a gray area of at least so many pixels, and white behind it.
type wholeOCR struct {
	grayOCR
	width int
}

func (o *wholeOCR) Read(ctx context.Context, p *pdf.Picture) ([]pdf.PictureWord, error) {
	words, err := o.grayOCR.Read(ctx, p)
	if len(words) == 0 {
		return nil, err
	}
	b := words[0].Box
	y, by := (b.Min.Y+b.Max.Y)/2, b.Dy()/4
	at := func(x int) byte { return p.RGB[3*(y*p.Width+min(max(x, 0), p.Width-1))] }
	if b.Dx() < o.width || at(b.Min.X-by) > 0xd8 || at(b.Max.X+by) < 0xf0 {
		return nil, nil
	}
	return words, nil
}

// always is an OCR that finds a word wherever it is asked.
type always struct{}

func (always) Read(_ context.Context, p *pdf.Picture) ([]pdf.PictureWord, error) {
	return []pdf.PictureWord{{Text: "Zanzibar", Box: image.Rect(p.Width-9, p.Height-9, p.Width-1, p.Height-1), Line: 1}}, nil
}

// broken is an OCR that fails.
type broken struct{ err error }

func (b broken) Read(context.Context, *pdf.Picture) ([]pdf.PictureWord, error) { return nil, b.err }

// TestEqualPicturesAreReadOnce: a letterhead on each page costs one reading, and so does the proof
// of what stays as it was.
func TestEqualPicturesAreReadOnce(t *testing.T) {
	ocr := &grayOCR{word: "Letterhead"}
	page := "q 100 0 0 100 50 50 cm /I Do Q"
	s, _, err := redacted(t, drawing([]string{stream(grayImage, string(marked()))}, page, page, page), pdf.RedactOptions{Text: "zanzibar", OCR: ocr})
	if err != nil || ocr.read != 4 || s.Record.Proof.Images != 3 || s.Removed.ImageParts != 0 {
		t.Errorf("%v: read %d times, %+v", err, ocr.read, s)
	}
}

// TestFaxesAndJPEGsAreRedacted: scans in CCITT Group 3 and 4 lose the pixels in a box and keep the
// others; JPEGs stay JPEGs.
func TestFaxesAndJPEGsAreRedacted(t *testing.T) {
	var gray, colours bytes.Buffer
	if err := jpeg.Encode(&gray, &image.Gray{Pix: marked(), Stride: 100, Rect: image.Rect(0, 0, 100, 100)}, nil); err != nil {
		t.Fatal(err)
	}
	m := image.NewRGBA(image.Rect(0, 0, 100, 100))
	for i := range m.Pix {
		m.Pix[i] = 0xff
	}
	for y := range 10 {
		for x := range 20 {
			m.Set(60+x, 10+y, color.RGBA{0x80, 0x80, 0x80, 0xff})
		}
	}
	if err := jpeg.Encode(&colours, m, nil); err != nil {
		t.Fatal(err)
	}
	fax := "/Type/XObject/Subtype/Image/Width 16/Height 8/BitsPerComponent 1/ColorSpace/DeviceGray/Filter/CCITTFaxDecode/DecodeParms<</Columns 16/Rows 8/K "
	for name, c := range map[string]struct{ image, stays string }{
		"Group 4":     {stream(fax+"-1>>", "\xff\x00\x10\x01"), ""},
		"Group 3":     {stream(fax+"0/EndOfLine true>>", "\x00\x1a\x80\x06\xa0\x01\xa8\x00\x6a\x00\x1a\x80\x06\xa0\x01\xa8\x00\x6a\x00\x10\x01\x00\x10\x01\x00\x10\x01"), ""},
		"gray JPEG":   {stream(grayImage+"/Filter/DCTDecode", gray.String()), "/DCTDecode"},
		"colour JPEG": {stream(strings.Replace(grayImage, "Gray", "RGB", 1)+"/Filter/DCTDecode", colours.String()), "/DCTDecode"},
	} {
		s, out, err := redacted(t, drawing([]string{c.image}, "q 200 0 0 100 50 50 cm /I Do Q"), pdf.RedactOptions{Boxes: [][4]float64{{160, 120, 220, 145}}, Unmarked: true})
		if err != nil || s.Removed.ImageParts != 1 || !bytes.Contains(out, []byte(c.stays)) {
			t.Errorf("%s: %+v, %v", name, s, err)
			continue
		}
		img := pdftest.Raster(t, pdftest.Write(t, "out.pdf", out), 72)[0]
		black, _, _, _ := img.At(190, 65).RGBA()
		white, _, _, _ := img.At(80, 100).RGBA()
		if black > 0x1000 || white < 0xf000 {
			t.Errorf("%s: %#x in the box, %#x beside it", name, black, white)
		}
	}
}

// TestWithoutTesseractOCRIsRefused: the program and the remedy are named; so are the languages that
// are installed where another is asked for.
func TestWithoutTesseractOCRIsRefused(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	_, err := pdf.Tesseract(t.Context(), pdf.TesseractOptions{})
	if !errors.Is(err, pdf.ErrTool) || !strings.Contains(err.Error(), "tesseract-ocr") {
		t.Errorf("without tesseract: %v", err)
	}
	redact, err := operation.Find("redact")
	if err != nil {
		t.Fatal(err)
	}
	in := operation.Input{Files: []operation.File{file("in.pdf", twoPages())}, Values: map[string]string{"text": "a", "ocr": "eng"}, Create: (&parts{}).create}
	var option *pdf.OptionError
	if _, err := redact.Run(t.Context(), engine(t), in); !errors.As(err, &option) || option.Field != "ocr" {
		t.Errorf("where there is no OCR: %v", err)
	}

	program := func(text string) { // the program of that name does what a test says
		if err := os.WriteFile(filepath.Join(dir, "tesseract"), []byte("#!/bin/sh\n"+text), 0o700); err != nil { //nolint:gosec // G306: it is run
			t.Fatal(err)
		}
	}
	const languages = "if [ \"$1\" = --list-langs ]; then echo 'List of available languages (3):'; echo deu; echo eng; echo osd; exit; fi\n"
	program(languages)
	t.Setenv("SECRET", "s3cret")
	if _, err := pdf.Tesseract(t.Context(), pdf.TesseractOptions{Languages: slices.Repeat([]string{"deu", "eng"}, 50)}); err != nil {
		t.Errorf("two languages, fifty times: %v", err)
	}
	if _, err := pdf.Tesseract(t.Context(), pdf.TesseractOptions{Languages: strings.Split("abcdefghi", "")}); !errors.As(err, &option) || !strings.Contains(err.Error(), "at most 8") {
		t.Errorf("nine languages: %v", err)
	}
	for _, l := range []string{"fra", "den", "--help", "../eng", ""} {
		_, err := pdf.Tesseract(t.Context(), pdf.TesseractOptions{Languages: []string{l}})
		if !errors.As(err, &option) || !strings.Contains(err.Error(), "deu, eng") || !strings.Contains(err.Error(), "tesseract-ocr-deu") {
			t.Errorf("language %q: %v", l, err)
		}
	}
	picture := &pdf.Picture{Width: 2, Height: 1, RGB: make([]byte, 6)}
	const head = "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext\n"
	table := func(rows string) string { return languages + "cat >/dev/null; cat <<'EOF'\n" + head + rows + "EOF\n" }
	for name, c := range map[string]struct {
		program string
		limit   string // its name, or the text of another error
	}{
		"words":        {table("5\t1\t1\t1\t1\t1\t3\t4\t5\t6\t95.5\tone two\n5\t1\t1\t1\t2\t1\t3\t4\t5\t6\t-1\t \n"), ""},
		"no table":     {languages + "echo no\n", "no table"},
		"few cells":    {table("5\t1\n"), "row 2"},
		"no place":     {table("5\t1\t1\t1\t1\t1\tx\t4\t5\t6\t95\tone\n"), "the place"},
		"no number":    {table("5\t1\t1\t1\t1\t1\t3\t4\t5\t6\tsure\tone\n"), "the confidence"},
		"a language":   {table("") + "echo \"Failed loading language 'deu'\" >&2\n", "loading language 'deu'"},
		"a secret":     {languages + "echo \"secret: $SECRET\" >&2; exit 3\n", "secret:\n"},
		"a fault":      {languages + "echo broken >&2; exit 3\n", "broken"},
		"no end":       {languages + "while :; do :; done\n", "OCRTime"},
		"a great deal": {languages + "cat >/dev/null; PATH=/usr/bin:/bin head -c 17000000 /dev/zero\n", "OCRBytes"},
	} {
		program(strings.ReplaceAll(c.program, "cat ", "/bin/cat "))
		ocr, err := pdf.Tesseract(t.Context(), pdf.TesseractOptions{Languages: []string{"deu", "eng"}, Time: 3 * time.Second})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		words, err := ocr.Read(t.Context(), picture)
		if c.limit == "" {
			if err != nil || len(words) != 1 || words[0].Text != "one two" || words[0].Box != image.Rect(3, 4, 8, 10) {
				t.Errorf("%s: %+v, %v", name, words, err)
			}
			continue
		}
		var limit *pdf.LimitError
		if err == nil || !strings.Contains(err.Error()+"\n", c.limit) || strings.HasPrefix(c.limit, "OCR") && !errors.As(err, &limit) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := must(t).Read(t.Context(), &pdf.Picture{Width: 2, Height: 2, RGB: make([]byte, 3)}); err == nil {
		t.Error("a picture of too few pixels is read")
	}
}

// must is the OCR of the program of this test.
func must(t *testing.T) pdf.OCR {
	t.Helper()
	ocr, err := pdf.Tesseract(t.Context(), pdf.TesseractOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return ocr
}

// FuzzImagesForOCR: images of any shape and data are read and redacted, or refused with a typed
// error.
func FuzzImagesForOCR(f *testing.F) {
	f.Add("/Width 8/Height 8/BitsPerComponent 8/ColorSpace/DeviceGray", bytes.Repeat([]byte{0x80}, 64), "100 0 0 100 50 50")
	f.Add("/Width 9/Height 7/BitsPerComponent 2/ColorSpace[/Indexed/DeviceCMYK 3<0102030405060708>]/Decode[3 0]", []byte("\x1b\xff"), "0 9 -9 0 1 1")
	f.Add("/Width 5/Height 4/BitsPerComponent 4/ColorSpace[/DeviceN[/A/B/C/D/E]/DeviceRGB 9 0 R]/Decode[1 0]", []byte("\x1b\xff\x00\x7f"), "9 1 3 9 1 1")
	f.Add("/Width 5/Height 4/ImageMask true/Decode[1 0]", []byte("\x80"), "1e9 0 0 1e-9 0 0")
	f.Add("/Width 16/Height 8/BitsPerComponent 1/ColorSpace/DeviceGray/Filter/CCITTFaxDecode/DecodeParms<</Columns 16/K -1>>", []byte("\xff\x00\x10\x01"), "9 0 0 9 0 0")
	f.Add("/Width 3/Height 3/BitsPerComponent 16/ColorSpace[/Lab<<>>]", []byte("\x80"), "50 0 0 0 0 0")
	e, err := pdf.New(pdf.Config{Cache: pdf.CacheLimits{Off: true}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, dict string, data []byte, matrix string) {
		if len(dict)+len(data)+len(matrix) > 1<<12 {
			return // longer than what finds more
		}
		b := drawing([]string{stream("/Subtype/Image"+dict, string(data))}, "q "+matrix+" cm /I Do Q")
		d, err := e.Open(t.Context(), bytes.NewReader(b), int64(len(b)), pdf.OpenOptions{})
		if err == nil {
			_, err = e.Redact(t.Context(), io.Discard, d, pdf.RedactOptions{Text: "zanzibar", OCR: &grayOCR{word: "Zanzibar"}})
		}
		var told *pdf.DiagnosticError
		var limit *pdf.LimitError
		if err != nil && !errors.As(err, &told) && !errors.As(err, &limit) {
			t.Fatal(err)
		}
	})
}
