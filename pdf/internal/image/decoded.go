package image

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"io"

	"golang.org/x/image/tiff"
	"golang.org/x/image/webp"

	"example.com/quire/pdf/internal/diag"
)

// decodedFile is a GIF, WebP or TIFF, which is decoded as a whole.
type decodedFile struct {
	kind          string
	data          []byte
	width, height int
	orient        int
	profile       *Profile
	memory        int64
	decode        func(io.Reader) (image.Image, error)
}

func isTIFF(data []byte) bool {
	return bytes.HasPrefix(data, []byte("II*\x00")) || bytes.HasPrefix(data, []byte("MM\x00*"))
}

func isWebP(data []byte) bool {
	return len(data) >= 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP"
}

// newDecoded takes what the header of a file says; copies is how many times the decoder holds the
// image while it works.
func newDecoded(kind string, data []byte, c image.Config, copies int64, l diag.Limits) (*decodedFile, error) {
	if c.Width < 1 || c.Height < 1 {
		return nil, fmt.Errorf("%s: an image of %d by %d pixels: %w", kind, c.Width, c.Height, ErrFormat)
	}
	if err := checkPixels(c.Width, c.Height, l); err != nil {
		return nil, err
	}
	bytes, err := held(c.ColorModel, c.Width, c.Height)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", kind, err)
	}
	return &decodedFile{kind: kind, data: data, width: c.Width, height: c.Height, orient: 1, memory: copies * bytes}, nil
}

// decoderError says that a file is broken, or of a kind that the decoder does not know.
func decoderError(kind string, err error) error {
	if unsupported, ok := errors.AsType[tiff.UnsupportedError](err); ok {
		return fmt.Errorf("%s: %w: %w", kind, unsupported, diag.ErrUnsupported)
	}
	return fmt.Errorf("%s: %w: %w", kind, err, ErrFormat)
}

// parseGIF reads the size of a GIF. Of an animation the first image counts.
func parseGIF(data []byte, l diag.Limits) (file, error) {
	c, err := gif.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil, decoderError("gif", err)
	}
	c.ColorModel = color.Palette{} // its screen may have none, its images always do
	f, err := newDecoded("gif", data, c, 2, l)
	if err != nil {
		return nil, err
	}
	f.decode = func(r io.Reader) (image.Image, error) {
		m, err := gif.Decode(r)
		if err != nil {
			return nil, err
		}
		return onScreen(m, c.Width, c.Height)
	}
	return f, nil
}

// onScreen puts an image that is smaller than its screen at its place there; around it nothing is
// seen.
func onScreen(m image.Image, width, height int) (image.Image, error) {
	p, ok := m.(*image.Paletted)
	screen := image.Rect(0, 0, width, height)
	if !ok || p.Rect == screen {
		return m, nil
	}
	if !p.Rect.In(screen) {
		return nil, errors.New("an image beyond its screen")
	}
	around := -1
	for i, c := range p.Palette {
		if _, _, _, a := c.RGBA(); a == 0 {
			around = i
		}
	}
	if around < 0 {
		if around = len(p.Palette); around > 255 {
			return nil, errors.New("a palette without room for what is around the image")
		}
		p.Palette = append(p.Palette[:around:around], color.NRGBA{})
	}
	whole := image.NewPaletted(screen, p.Palette)
	for i := range whole.Pix {
		whole.Pix[i] = byte(around)
	}
	for y := p.Rect.Min.Y; y < p.Rect.Max.Y; y++ {
		copy(whole.Pix[whole.PixOffset(p.Rect.Min.X, y):], p.Pix[p.PixOffset(p.Rect.Min.X, y):][:p.Rect.Dx()])
	}
	return whole, nil
}

// parseWebP walks the chunks of a WebP file (RFC 9649): the decoder would take the size of a
// lossless image from its own header, whatever the file's says.
func parseWebP(data []byte, l diag.Limits) (file, error) {
	c := image.Config{ColorModel: color.YCbCrModel}
	var f decodedFile
	cut := fmt.Errorf("webp: a chunk is cut short: %w", ErrFormat)
	found := false
	for rest := data[12:]; len(rest) >= 8 && !found; {
		kind, n := string(rest[:4]), int64(binary.LittleEndian.Uint32(rest[4:]))
		if rest = rest[8:]; n > int64(len(rest)) {
			return nil, cut
		}
		body := rest[:n]
		rest = rest[min(n+n%2, int64(len(rest))):]
		width, height := 0, 0
		switch kind {
		case "VP8X":
			if len(body) < 10 {
				return nil, cut
			}
			c.Width, c.Height = 1+int(uint24(body[4:])), 1+int(uint24(body[7:]))
			continue
		case "ICCP":
			f.profile = newProfile(body, 3)
			continue
		case "VP8 ":
			if len(body) < 10 {
				return nil, cut
			}
			width, height = int(binary.LittleEndian.Uint16(body[6:])&0x3FFF), int(binary.LittleEndian.Uint16(body[8:])&0x3FFF)
		case "VP8L":
			if len(body) < 5 {
				return nil, cut
			}
			v := binary.LittleEndian.Uint32(body[1:])
			width, height, c.ColorModel = 1+int(v&0x3FFF), 1+int(v>>14&0x3FFF), color.NRGBAModel
		default:
			continue
		}
		found = true
		if c.Width == 0 {
			c.Width, c.Height = width, height
		}
		if c.Width != width || c.Height != height {
			return nil, fmt.Errorf("webp: an image of %d by %d pixels in a file of %d by %d: %w", width, height, c.Width, c.Height, ErrFormat)
		}
	}
	if !found {
		return nil, fmt.Errorf("webp: no image, or an animation: %w", ErrFormat)
	}
	out, err := newDecoded("webp", data, c, 2, l)
	if err != nil {
		return nil, err
	}
	out.profile, out.decode = f.profile, webp.Decode
	return out, nil
}

func uint24(b []byte) uint32 { return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 }

// parseTIFF reads the first image of a TIFF file.
func parseTIFF(data []byte, l diag.Limits) (file, error) {
	c, err := tiff.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil, decoderError("tiff", err)
	}
	f, err := newDecoded("tiff", data, c, 2, l)
	if err != nil {
		return nil, err
	}
	f.decode = tiff.Decode
	f.orient = tiffOrientation(data)
	const profileTag = 34675
	if body := tiffBytes(data, profileTag); body != nil {
		colors := 3
		if c.ColorModel == color.GrayModel || c.ColorModel == color.Gray16Model {
			colors = 1
		}
		f.profile = newProfile(body, colors)
	}
	return f, nil
}

// held implements file.
func (f *decodedFile) held(Ask) int64 { return f.memory }

// size implements file.
func (f *decodedFile) size() (width, height, orient int) { return f.width, f.height, f.orient }

// image implements file.
func (f *decodedFile) image(ctx context.Context, s *Store, to Ask) (*Image, error) {
	m, err := f.decode(bytes.NewReader(f.data))
	if err != nil {
		return nil, decoderError(f.kind, err)
	}
	if b := m.Bounds(); b.Dx() != f.width || b.Dy() != f.height {
		return nil, fmt.Errorf("%s: %d by %d pixels, its header says %d by %d: %w", f.kind, b.Dx(), b.Dy(), f.width, f.height, ErrFormat)
	}
	r := rasterOf(m)
	if !to.none() {
		r = r.shrunk(to.Width, to.Height)
	}
	img, err := r.compress(ctx, s)
	if err != nil {
		return nil, err
	}
	img.orient = f.orient
	return img, img.x.profiled(s, f.profile)
}

// smallerJPEG decodes a JPEG and codes it anew with fewer pixels. CMYK is not coded as JPEG: there
// is no encoder for it.
func (f *jpegFile) smallerJPEG(ctx context.Context, s *Store, to Ask) (*Image, error) {
	m, err := jpeg.Decode(bytes.NewReader(f.data))
	if err != nil {
		return nil, decoderError("jpeg", err)
	}
	r := rasterOf(m).shrunk(to.Width, to.Height)
	if r.colors == 4 {
		return r.compress(ctx, s)
	}
	var small image.Image
	gray, rgb := image.NewGray(image.Rect(0, 0, to.Width, to.Height)), image.NewRGBA(image.Rect(0, 0, to.Width, to.Height))
	small = rgb
	if r.colors == 1 {
		small = gray
	}
	row := make([]byte, to.Width*r.colors)
	for y := range to.Height {
		if y%64 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err := r.next(row, nil); err != nil {
			return nil, err
		}
		if r.colors == 1 {
			copy(gray.Pix[y*gray.Stride:], row)
			continue
		}
		for i := range to.Width {
			px := rgb.Pix[y*rgb.Stride+4*i:][:4]
			copy(px, row[3*i:3*i+3])
			px[3] = 255
		}
	}
	const quality = 90
	var out bytes.Buffer
	if err := jpeg.Encode(&out, small, &jpeg.Options{Quality: quality}); err != nil {
		return nil, err
	}
	img := &Image{width: to.Width, height: to.Height}
	img.x = XObject{Width: to.Width, Height: to.Height, Bits: 8, Space: spaces[r.colors], Filter: "DCTDecode", Data: bytes.Clone(out.Bytes())}
	return img, nil
}
