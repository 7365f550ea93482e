package pdftest

import (
	"bytes"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"testing"
)

// goldenDPI is the resolution of golden pages.
const goldenDPI = 80

// mostDifference is how much a page may differ from its golden one, as the mean over its pixels of
// the differences in grey, of 255: versions of poppler smooth edges in different ways, but a line
// that moves or a colour that changes is far more.
const mostDifference = 1.5

// Golden compares the pages of a PDF file, drawn by pdftoppm, with those of a directory, page-1.png
// and so on. update writes them.
func Golden(tb testing.TB, file, dir string, update bool) {
	tb.Helper()
	pages := Raster(tb, file, goldenDPI)
	want, err := filepath.Glob(filepath.Join(dir, "page-*.png"))
	if err != nil {
		tb.Fatal(err)
	}
	if update {
		for _, f := range want {
			if err := os.Remove(f); err != nil {
				tb.Fatal(err)
			}
		}
	} else if len(want) != len(pages) {
		tb.Errorf("%d pages, %s has %d", len(pages), dir, len(want))
	}
	for i, page := range pages {
		name := filepath.Join(dir, fmt.Sprintf("page-%d.png", i+1))
		if update {
			if err := writePNG(name, page); err != nil {
				tb.Fatal(err)
			}
			continue
		}
		b, err := os.ReadFile(name)
		if err != nil {
			tb.Errorf("golden page: %v", err)
			continue
		}
		golden, err := png.Decode(bytes.NewReader(b))
		if err != nil {
			tb.Fatalf("%s: %v", name, err)
		}
		if d, err := Difference(page, golden); err != nil || d > mostDifference {
			tb.Errorf("page %d differs from %s by %.2f of 255: %v", i+1, name, d, err)
		}
	}
}

func writePNG(name string, m image.Image) error {
	var b bytes.Buffer
	e := png.Encoder{CompressionLevel: png.BestCompression}
	if err := e.Encode(&b, m); err != nil {
		return err
	}
	return os.WriteFile(name, b.Bytes(), 0o600)
}

// Difference returns how much two pictures of one size differ: the mean over their pixels of the
// largest difference of a colour, from 0 to 255.
func Difference(a, b image.Image) (float64, error) {
	size := a.Bounds().Size()
	if size != b.Bounds().Size() {
		return 255, fmt.Errorf("pdftest: pictures of %v and %v pixels", size, b.Bounds().Size())
	}
	if size.X == 0 || size.Y == 0 {
		return 0, nil
	}
	pa, pb := flat(a), flat(b)
	sum := 0
	for i := 0; i < len(pa.Pix); i += 4 {
		most := 0
		for c := range 3 {
			d := int(pa.Pix[i+c]) - int(pb.Pix[i+c])
			most = max(most, d, -d)
		}
		sum += most
	}
	return float64(sum) / float64(size.X*size.Y), nil
}

// flat returns a picture as bytes of red, green, blue and opacity.
func flat(m image.Image) *image.RGBA {
	out := image.NewRGBA(image.Rectangle{Max: m.Bounds().Size()})
	draw.Draw(out, out.Rect, m, m.Bounds().Min, draw.Src)
	return out
}
