package pdftest_test

import (
	"image"
	"image/color"
	"testing"

	"example.com/quire/pdf/pdftest"
)

// TestDifferenceOfPictures: none of equal ones, all of black and white, in part where a part
// differs; pictures of two sizes cannot be compared.
func TestDifferenceOfPictures(t *testing.T) {
	plain := func(c color.Gray) *image.Gray {
		m := image.NewGray(image.Rect(0, 0, 10, 10))
		for i := range m.Pix {
			m.Pix[i] = c.Y
		}
		return m
	}
	white, black := plain(color.Gray{Y: 255}), plain(color.Gray{})
	spot := plain(color.Gray{Y: 255})
	spot.SetGray(3, 4, color.Gray{})
	for name, c := range map[string]struct {
		a, b image.Image
		want float64
	}{"equal": {white, plain(color.Gray{Y: 255}), 0}, "black and white": {white, black, 255}, "one of a hundred": {white, spot, 2.55}} {
		if d, err := pdftest.Difference(c.a, c.b); err != nil || d != c.want {
			t.Errorf("%s: %v, %v", name, d, err)
		}
	}
	if _, err := pdftest.Difference(white, image.NewGray(image.Rect(0, 0, 5, 5))); err == nil {
		t.Error("pictures of two sizes are compared")
	}
}
