//go:build !race

package pdf_test

import (
	"flag"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/font/liberation"
	"example.com/quire/pdf/pdftest"
)

// The bars of a drawing beside that of another renderer: the mean difference of its pixels, and
// the share of those that differ by more than an eighth after both are blurred over 3 pixels, so
// that edges drawn half a pixel apart do not count.
const (
	mostMean  = 0.02
	mostApart = 0.05
)

var keepDrawings = flag.String("drawings", "", "folder to put both pictures of each drawing into")

// TestDrawingsLookAsResvgDrawsThem compares each drawing, at 192 dpi.
func TestDrawingsLookAsResvgDrawsThem(t *testing.T) {
	t.Parallel()
	pdftest.Need(t, "resvg")
	all := drawings(t)
	body, res := render(t, newEngine(t, pdf.Config{}), pdf.RenderOptions{Standards: compliant}, gallery(all, true))
	if res.Pages != len(all) {
		t.Fatalf("%d drawings on %d pages", len(all), res.Pages)
	}
	pages := pdftest.Raster(t, pdftest.Write(t, "drawings.pdf", body), 192)
	dir := t.TempDir()
	files := make([]string, len(all))
	for i, d := range all {
		files[i] = filepath.Join(dir, strconv.Itoa(i)+".svg")
		if err := os.WriteFile(files[i], d.data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := pdftest.Resvg(t, files, fontFiles(t), liberation.Sans, 2)
	worst, sum := 0.0, 0.0
	for i, d := range all {
		mean, apart := differ(want[i], pages[i])
		worst, sum = max(worst, mean), sum+mean
		if mean > mostMean || apart > mostApart {
			t.Errorf("%s: mean difference %.4f, %.4f of it is far apart", d.name, mean, apart)
		}
		if out := *keepDrawings; out != "" {
			keep(t, filepath.Join(out, fmt.Sprintf("%03d-ours.png", i)), pixels(pages[i], want[i].Bounds()))
			keep(t, filepath.Join(out, fmt.Sprintf("%03d-resvg.png", i)), want[i])
		}
	}
	t.Logf("%d drawings: mean difference %.4f, of the worst %.4f", len(all), sum/float64(len(all)), worst)
	t.Run("another drawing is told apart", func(t *testing.T) {
		if mean, apart := differ(want[0], pages[1]); mean < mostMean && apart < mostApart {
			t.Errorf("mean difference %.4f, %.4f far apart", mean, apart)
		}
	})
}

func keep(tb testing.TB, file string, m image.Image) {
	tb.Helper()
	f, err := os.Create(file)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if err := png.Encode(f, m); err != nil {
		tb.Fatal(err)
	}
}

// differ compares the part of b that a has: the mean difference of the channels from 0 to 1, and
// the share of pixels that are far apart when blurred.
func differ(a, b image.Image) (mean, apart float64) {
	r := a.Bounds().Intersect(b.Bounds())
	one, two := pixels(a, r), pixels(b, r)
	for i := range one.Pix {
		mean += math.Abs(float64(one.Pix[i]) - float64(two.Pix[i]))
	}
	far := 0
	for y := range r.Dy() {
		for x := range r.Dx() {
			p, q := blurred(one, x, y), blurred(two, x, y)
			if max(math.Abs(p[0]-q[0]), math.Abs(p[1]-q[1]), math.Abs(p[2]-q[2])) > 32 {
				far++
			}
		}
	}
	n := float64(r.Dx() * r.Dy())
	return mean / (3 * 255 * n), float64(far) / n // alpha is the same everywhere
}

func pixels(m image.Image, r image.Rectangle) *image.RGBA {
	out := image.NewRGBA(r)
	draw.Draw(out, r, m, r.Min, draw.Src)
	return out
}

// blurred is the mean colour of the pixels around one.
func blurred(m *image.RGBA, x, y int) (sum [3]float64) {
	r, n := m.Bounds(), 0.0
	for dy := max(0, y-1); dy <= min(r.Dy()-1, y+1); dy++ {
		for dx := max(0, x-1); dx <= min(r.Dx()-1, x+1); dx++ {
			i := dy*m.Stride + dx*4
			for k := range sum {
				sum[k] += float64(m.Pix[i+k])
			}
			n++
		}
	}
	return [3]float64{sum[0] / n, sum[1] / n, sum[2] / n}
}
