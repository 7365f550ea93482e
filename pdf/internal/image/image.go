package image

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"

	"example.com/quire/pdf/internal/diag"
)

// Image is a checked image, ready to be placed. It is immutable and safe for
// concurrent use.
type Image struct {
	hash          [sha256.Size]byte
	width, height int // as stored
	orient        int // EXIF orientation, 1 to 8
	x             XObject
}

// XObject is an image as ISO 32000-2, 8.9.5 stores it.
type XObject struct {
	Width, Height int
	Bits          int
	// Space is DeviceGray or DeviceRGB; for an indexed image the base of Palette.
	Space   string
	Palette []byte // RGB triples of an indexed image; nil: not indexed
	// Filter names the encoding of Data; empty: samples to be compressed.
	Filter string
	// Predictor holds the columns and colours of PNG prediction; nil: none.
	Predictor *Predictor
	Data      []byte
	Mask      *XObject // soft mask: the alpha channel; nil: opaque
}

// Predictor are the parameters of PNG prediction (7.4.4.4).
type Predictor struct{ Colors, Bits, Columns int }

// ErrFormat says that image data is no JPEG or PNG, or a broken one.
var ErrFormat = errors.New("not a readable JPEG or PNG image")

// Open checks image data. Its size and the size it states are judged by l
// before anything is decoded. The data is kept and must not change.
func Open(data []byte, l diag.Limits) (*Image, error) {
	l = l.WithDefaults()
	if err := diag.Check("ImageBytes", int64(len(data)), l.ImageBytes, ""); err != nil {
		return nil, err
	}
	var img *Image
	var err error
	switch {
	case bytes.HasPrefix(data, []byte("\xFF\xD8\xFF")):
		img, err = openJPEG(data, l)
	case bytes.HasPrefix(data, []byte(pngSignature)):
		img, err = openPNG(data, l)
	default:
		err = fmt.Errorf("unknown kind of image: %w", ErrFormat)
	}
	if err != nil {
		return nil, err
	}
	img.hash = sha256.Sum256(data)
	return img, nil
}

// Hash returns the SHA-256 of the image file.
func (m *Image) Hash() [sha256.Size]byte { return m.hash }

// Width returns the width in pixels as seen: EXIF orientation applied.
func (m *Image) Width() int {
	if m.orient >= 5 {
		return m.height
	}
	return m.width
}

// Height returns the height in pixels as seen.
func (m *Image) Height() int {
	if m.orient >= 5 {
		return m.width
	}
	return m.height
}

// Matrix returns the signs and swap that turn the unit square of the stored
// image into that of the seen one: coefficients a b c d e f of ISO 32000-2,
// 8.3.3, each -1, 0 or 1.
func (m *Image) Matrix() [6]int {
	switch m.orient {
	case 2:
		return [6]int{-1, 0, 0, 1, 1, 0}
	case 3:
		return [6]int{-1, 0, 0, -1, 1, 1}
	case 4:
		return [6]int{1, 0, 0, -1, 0, 1}
	case 5:
		return [6]int{0, -1, -1, 0, 1, 1}
	case 6:
		return [6]int{0, -1, 1, 0, 0, 1}
	case 7:
		return [6]int{0, 1, 1, 0, 0, 0}
	case 8:
		return [6]int{0, 1, -1, 0, 1, 0}
	default:
		return [6]int{1, 0, 0, 1, 0, 0}
	}
}

// XObject returns the image as it is embedded. The caller must not change it.
func (m *Image) XObject() *XObject { return &m.x }

// checkPixels judges the stated size.
func checkPixels(w, h int, l diag.Limits) error {
	if w <= 0 || h <= 0 {
		return fmt.Errorf("image of %d by %d pixels: %w", w, h, ErrFormat)
	}
	return diag.Check("ImagePixels", int64(w)*int64(h), l.ImagePixels, "")
}
