package htmlpdf

import (
	"fmt"
	"math"
)

// PDFOptions say how a page is printed. Lengths are in millimetres. The zero value is A4 upright
// with margins of 10 mm, without backgrounds.
type PDFOptions struct {
	Width, Height float64  // paper, 20 to 3,000; 0: 210 and 297
	Landscape     bool     // turns the paper
	Margins       *Margins // of the paper; nil: those that the page gives in @page, or 10 mm
	Scale         float64  // of the page's content, 0.1 to 2; 0: 1
	Background    bool     // backgrounds are printed
	CSSPageSize   bool     // a size that the page gives in @page takes the place of Width and Height
	Pages         string   // such as "1-3,5"; "" is all
	// Grayscale is refused: Chromium makes an image of a page that is turned gray, so its text
	// could not be extracted. [ImageOptions] have it. A printed page is gray if the page's own
	// colours are.
	Grayscale bool
}

// Margins of the paper in millimetres, 0 or more.
type Margins struct{ Top, Right, Bottom, Left float64 }

// Formats of images.
const (
	PNG  = "png"
	JPEG = "jpeg"
	WebP = "webp"
)

// ImageOptions say how a page is drawn. Lengths are in CSS pixels. The zero value is the whole
// page at a width of 1,280 as PNG.
type ImageOptions struct {
	Format        string  // PNG, JPEG or WebP; "": PNG
	Width, Height int     // window, 1 to 16,384; Width 0: 1,280; Height 0: the whole page
	Zoom          float64 // device pixels of a CSS pixel, 0.1 to 8; 0: 1
	Crop          *Crop   // the part that is drawn; nil is all of it
	Quality       int     // of JPEG and WebP, 1 to 100; 0: 80
	Grayscale     bool    // all colours become shades of gray
	Transparent   bool    // no white below pages that have no background: PNG and WebP
}

// Crop is a part of the page, from its left upper corner. Width and Height are above 0.
type Crop struct{ X, Y, Width, Height float64 }

func option(name string, value any, want string) error {
	return &OptionError{Field: name, Got: fmt.Sprint(value), Want: want}
}

// between tells numbers that are not: NaN is between nothing.
func between(v, low, high float64) bool { return v >= low && v <= high }

func (o PDFOptions) valid() (PDFOptions, error) {
	if o.Width == 0 && o.Height == 0 {
		o.Width, o.Height = 210, 297
	}
	if o.Scale == 0 {
		o.Scale = 1
	}
	m := o.margins()
	if o.Landscape {
		o.Width, o.Height, o.Landscape = o.Height, o.Width, false
	}
	switch {
	case o.Grayscale:
		return o, option("Grayscale", true, "false, because a page that is turned gray has no text in print: make an image, or give gray colours in the page's @media print")
	case !between(o.Width, 20, 3000):
		return o, option("Width", o.Width, "20 to 3000 mm")
	case !between(o.Height, 20, 3000):
		return o, option("Height", o.Height, "20 to 3000 mm")
	case !between(o.Scale, 0.1, 2):
		return o, option("Scale", o.Scale, "0.1 to 2")
	case !between(m.Left, 0, o.Width) || !between(m.Right, 0, o.Width) || m.Left+m.Right > o.Width-10:
		return o, option("Margins", m, "at least 10 mm of the width between left and right")
	case !between(m.Top, 0, o.Height) || !between(m.Bottom, 0, o.Height) || m.Top+m.Bottom > o.Height-10:
		return o, option("Margins", m, "at least 10 mm of the height between top and bottom")
	}
	return o, pageRanges(o.Pages)
}

func (o PDFOptions) margins() Margins {
	if o.Margins == nil {
		return Margins{10, 10, 10, 10}
	}
	return *o.Margins
}

// css says the size of valid options to the page, for what a page says itself comes before what
// Chromium is told by its own options.
func (o PDFOptions) css() string {
	var s string
	if !o.CSSPageSize {
		s = fmt.Sprintf("size: %gmm %gmm !important;", o.Width, o.Height)
	}
	if m := o.Margins; m != nil {
		s += fmt.Sprintf("margin: %gmm %gmm %gmm %gmm !important", m.Top, m.Right, m.Bottom, m.Left)
	}
	return "@page {" + s + "}"
}

func (o ImageOptions) css() string {
	if o.Grayscale {
		return "html { filter: grayscale(1) !important }"
	}
	return ""
}

// pageRanges tells what is no list of pages, in rising order, such as 1-3,5.
func pageRanges(s string) error {
	if s == "" {
		return nil
	}
	wrong := option("Pages", fmt.Sprintf("%.40q", s), "pages in rising order, such as 1-3,5")
	last, number, digits, open := 0, 0, 0, false
	for i := 0; i <= len(s); i++ {
		switch {
		case i < len(s) && s[i] >= '0' && s[i] <= '9' && digits < 6:
			number, digits = number*10+int(s[i]-'0'), digits+1
			continue
		case digits == 0 || i < len(s) && s[i] != ',' && s[i] != '-':
			return wrong
		case number == 0 || number < last || number == last && !open:
			return wrong
		case i < len(s) && s[i] == '-' && open:
			return wrong
		}
		open = i < len(s) && s[i] == '-'
		last, number, digits = number, 0, 0
	}
	return nil
}

func (o ImageOptions) valid() (ImageOptions, error) {
	if o.Format == "" {
		o.Format = PNG
	}
	if o.Width == 0 {
		o.Width = 1280
	}
	if o.Zoom == 0 {
		o.Zoom = 1
	}
	if o.Quality == 0 && o.Format != PNG {
		o.Quality = 80
	}
	const most = 16384
	switch {
	case o.Format != PNG && o.Format != JPEG && o.Format != WebP:
		return o, option("Format", fmt.Sprintf("%.20q", o.Format), "png, jpeg or webp")
	case o.Width < 1 || o.Width > most:
		return o, option("Width", o.Width, "1 to 16384")
	case o.Height < 0 || o.Height > most:
		return o, option("Height", o.Height, "0 to 16384")
	case !between(o.Zoom, 0.1, 8):
		return o, option("Zoom", o.Zoom, "0.1 to 8")
	case o.Format == PNG && o.Quality != 0:
		return o, option("Quality", o.Quality, "none with png, which loses nothing")
	case o.Format != PNG && (o.Quality < 1 || o.Quality > 100):
		return o, option("Quality", o.Quality, "1 to 100")
	case o.Transparent && o.Format == JPEG:
		return o, option("Transparent", true, "png or webp: jpeg has no transparency")
	}
	if c := o.Crop; c != nil && !(between(c.X, 0, math.MaxInt32) && between(c.Y, 0, math.MaxInt32) &&
		between(c.Width, 1, most) && between(c.Height, 1, most)) {
		return o, option("Crop", *c, "a corner at 0,0 or beyond, and a size of 1 to 16384")
	}
	return o, nil
}
