package image

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"io"

	"example.com/quire/pdf/internal/diag"
)

const pngSignature = "\x89PNG\r\n\x1a\n"

// Colour types of PNG (ISO/IEC 15948, 11.2.2).
const (
	pngGray      = 0
	pngRGB       = 2
	pngPalette   = 3
	pngGrayAlpha = 4
	pngRGBA      = 6
)

// pngFile is what the chunks of a PNG say.
type pngFile struct {
	width, height int
	bits, kind    int
	interlaced    bool
	palette       []byte
	transparent   bool
	data          []byte // the IDAT chunks joined
}

// openPNG passes the compressed samples of a PNG through: its filters are the
// PNG predictors of FlateDecode (ISO 32000-2, 7.4.4.4). Interlaced images and
// those with transparency are decoded, since PDF keeps alpha apart.
func openPNG(data []byte, l diag.Limits) (*Image, error) {
	f, err := readPNG(data, l)
	if err != nil {
		return nil, err
	}
	img := &Image{width: f.width, height: f.height, orient: 1}
	if f.interlaced || f.transparent || f.kind == pngGrayAlpha || f.kind == pngRGBA {
		img.x, err = decodePNG(data, f)
	} else {
		img.x, err = passPNG(f)
	}
	if err != nil {
		return nil, err
	}
	return img, nil
}

func readPNG(data []byte, l diag.Limits) (*pngFile, error) {
	f := &pngFile{}
	rest := data[len(pngSignature):]
	for first := true; ; first = false {
		if len(rest) < 12 {
			return nil, fmt.Errorf("png: the file is cut short: %w", ErrFormat)
		}
		n := int64(binary.BigEndian.Uint32(rest))
		kind := string(rest[4:8])
		if n > int64(len(rest)-12) {
			return nil, fmt.Errorf("png: chunk %q is cut short: %w", kind, ErrFormat)
		}
		body := rest[8 : 8+n]
		if crc32.ChecksumIEEE(rest[4:8+n]) != binary.BigEndian.Uint32(rest[8+n:]) {
			return nil, fmt.Errorf("png: chunk %q: wrong checksum: %w", kind, ErrFormat)
		}
		rest = rest[12+n:]
		if first != (kind == "IHDR") {
			return nil, fmt.Errorf("png: IHDR is not the first chunk: %w", ErrFormat)
		}
		switch kind {
		case "IHDR":
			if err := f.header(body, l); err != nil {
				return nil, err
			}
		case "PLTE":
			f.palette = body
		case "tRNS":
			f.transparent = true
		case "IDAT":
			f.data = append(f.data, body...)
		case "IEND":
			return f, nil
		}
	}
}

func (f *pngFile) header(b []byte, l diag.Limits) error {
	if len(b) != 13 {
		return fmt.Errorf("png: header of %d bytes: %w", len(b), ErrFormat)
	}
	w, h := binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])
	if w > 1<<30 || h > 1<<30 {
		return diag.Check("ImagePixels", 1<<60, l.ImagePixels, "")
	}
	f.width, f.height = int(w), int(h)
	f.bits, f.kind, f.interlaced = int(b[8]), int(b[9]), b[12] == 1
	if err := checkPixels(f.width, f.height, l); err != nil {
		return err
	}
	ok := b[10] == 0 && b[11] == 0 && b[12] <= 1
	switch f.kind {
	case pngGray:
		ok = ok && (f.bits == 1 || f.bits == 2 || f.bits == 4 || f.bits == 8 || f.bits == 16)
	case pngPalette:
		ok = ok && (f.bits == 1 || f.bits == 2 || f.bits == 4 || f.bits == 8)
	case pngRGB, pngGrayAlpha, pngRGBA:
		ok = ok && (f.bits == 8 || f.bits == 16)
	default:
		ok = false
	}
	if !ok {
		return fmt.Errorf("png: header names an unknown coding: %w", ErrFormat)
	}
	return nil
}

func (f *pngFile) channels() int {
	if f.kind == pngRGB {
		return 3
	}
	return 1
}

// passPNG checks that the samples inflate to exactly the stated size and hands
// the compressed bytes on.
func passPNG(f *pngFile) (XObject, error) {
	ch := f.channels()
	row := (int64(f.width)*int64(f.bits*ch)+7)/8 + 1
	zr, err := zlib.NewReader(bytes.NewReader(f.data))
	if err != nil {
		return XObject{}, fmt.Errorf("png: %w: %w", err, ErrFormat)
	}
	n, err := io.Copy(&filterCheck{row: row}, io.LimitReader(zr, row*int64(f.height)+1))
	if err != nil {
		return XObject{}, fmt.Errorf("png: %w: %w", err, ErrFormat)
	}
	if n != row*int64(f.height) {
		return XObject{}, fmt.Errorf("png: %d bytes of samples, want %d: %w", n, row*int64(f.height), ErrFormat)
	}
	x := XObject{
		Width: f.width, Height: f.height, Bits: f.bits, Space: "DeviceRGB", Filter: "FlateDecode", Data: f.data,
		Predictor: &Predictor{Colors: ch, Bits: f.bits, Columns: f.width},
	}
	switch f.kind {
	case pngGray:
		x.Space = "DeviceGray"
	case pngPalette:
		if n := len(f.palette); n == 0 || n%3 != 0 || n > 3<<f.bits {
			return XObject{}, fmt.Errorf("png: palette of %d bytes: %w", n, ErrFormat)
		}
		x.Palette = f.palette
	}
	return x, nil
}

var errPNGFilter = errors.New("unknown row filter")

// filterCheck sees the inflated rows go by and checks their filter bytes.
type filterCheck struct {
	row, at int64
}

func (c *filterCheck) Write(p []byte) (int, error) {
	for i := (c.row - c.at%c.row) % c.row; i < int64(len(p)); i += c.row {
		if p[i] > 4 {
			return 0, errPNGFilter
		}
	}
	c.at += int64(len(p))
	return len(p), nil
}

// decodePNG decodes an image with alpha or interlacing into 8-bit samples.
func decodePNG(data []byte, f *pngFile) (XObject, error) {
	src, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return XObject{}, fmt.Errorf("%w: %w", err, ErrFormat)
	}
	gray := f.kind == pngGray || f.kind == pngGrayAlpha
	ch := 3
	space := "DeviceRGB"
	if gray {
		ch, space = 1, "DeviceGray"
	}
	b := src.Bounds()
	pix := make([]byte, 0, b.Dx()*b.Dy()*ch)
	alpha := make([]byte, 0, b.Dx()*b.Dy())
	opaque := true
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			c := nrgba(src, x, y)
			pix = append(pix, c.R)
			if !gray {
				pix = append(pix, c.G, c.B)
			}
			alpha = append(alpha, c.A)
			opaque = opaque && c.A == 255
		}
	}
	out := XObject{Width: b.Dx(), Height: b.Dy(), Bits: 8, Space: space, Data: pix}
	if !opaque {
		out.Mask = &XObject{Width: b.Dx(), Height: b.Dy(), Bits: 8, Space: "DeviceGray", Data: alpha}
	}
	return out, nil
}

func nrgba(src image.Image, x, y int) color.NRGBA {
	if m, ok := src.(*image.NRGBA); ok {
		return m.NRGBAAt(x, y)
	}
	return color.NRGBAModel.Convert(src.At(x, y)).(color.NRGBA)
}
