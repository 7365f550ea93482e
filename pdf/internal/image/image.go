package image

import (
	"bytes"
	"context"
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
	held          int64
	x             XObject
}

// XObject is an image as ISO 32000-2, 8.9.5 stores it.
type XObject struct {
	Width, Height int
	Bits          int
	// Space is DeviceGray, DeviceRGB or DeviceCMYK; for an indexed image the base of Palette.
	Space string
	// Profile says what the colours are; nil: those of the device.
	Profile *Profile
	// Inverted says that 255 is no ink, as Adobe's programs write CMYK.
	Inverted bool
	Palette  []byte // RGB triples of an indexed image; nil: not indexed
	// Filter names the encoding of Data.
	Filter string
	// Predictor holds the columns and colours of PNG prediction; nil: none.
	Predictor *Predictor
	Data      []byte
	Mask      *XObject // soft mask: the alpha channel; nil: opaque
}

// bytes is what an image takes up in a cache, about.
func (x *XObject) bytes() int64 {
	const overhead = 512
	n := int64(cap(x.Data)+len(x.Palette)) + overhead
	if x.Mask != nil {
		n += x.Mask.bytes()
	}
	if x.Profile != nil {
		n += int64(len(x.Profile.Data))
	}
	return n
}

// Predictor are the parameters of PNG prediction (7.4.4.4).
type Predictor struct{ Colors, Bits, Columns int }

// ErrFormat says that image data is none of the known kinds, or broken.
var ErrFormat = errors.New("not a readable JPEG, PNG, GIF, WebP, TIFF or SVG image")

// Ask is what is asked of an image beyond its file: the pixels that it is made smaller to, as they
// are stored. The zero Ask leaves it as it is.
type Ask struct{ Width, Height int }

func (a Ask) none() bool { return a == Ask{} }

// file is an image file whose header was read.
type file interface {
	size() (width, height, orient int)
	// held is the number of bytes that image holds decoded at one time, beyond a few rows.
	held(to Ask) int64
	// image makes the streams. The image has no hash yet.
	image(ctx context.Context, s *Store, to Ask) (*Image, error)
}

// parse reads the header of an image file and judges the size that it states.
func parse(data []byte, l diag.Limits) (file, error) {
	switch {
	case bytes.HasPrefix(data, []byte("\xFF\xD8\xFF")):
		return parseJPEG(data, l)
	case bytes.HasPrefix(data, []byte(pngSignature)):
		return parsePNG(data, l)
	case bytes.HasPrefix(data, []byte("GIF8")):
		return parseGIF(data, l)
	case isWebP(data):
		return parseWebP(data, l)
	case isTIFF(data):
		return parseTIFF(data, l)
	}
	return nil, fmt.Errorf("unknown kind of image: %w", ErrFormat)
}

// checkPixels judges a stated size.
func checkPixels(w, h int, l diag.Limits) error {
	return diag.Check("ImagePixels", int64(w)*int64(h), l.ImagePixels, "")
}

// Hash returns the SHA-256 of the image file and of what was asked of it.
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
