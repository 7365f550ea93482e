package edit

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"io"
	"slices"

	"golang.org/x/image/ccitt"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/internal/content"
)

// mostPixels bounds the samples of an image whose pixels are changed, in bytes.
const mostPixels = 128 << 20

// blanked returns an image with the samples in areas of the unit square set to 0, and so those of
// its masks; nil where its format is not one that is read here. A JPEG is compressed again.
func (x *eraser) blanked(o cos.Object, areas []content.Rect) *stream {
	s, ok := x.e.resolve(o).(*stream)
	if !ok {
		return nil // an inline image, which is small
	}
	i, err := x.e.image(s)
	if err != nil {
		return nil
	}
	blank(i.data, i.w, i.h, i.n*i.bits, areas)
	d := s.dict
	for _, key := range [...]cos.Name{"Filter", "DecodeParms", "Length", "Metadata", "PieceInfo", "Alternates", "OPI"} {
		d = with(d, key, nil)
	}
	for _, key := range [...]cos.Name{"SMask", "Mask"} {
		if _, isStream := x.e.resolve(d.Get(key)).(*stream); !isStream {
			continue
		}
		mask := x.blanked(d.Get(key), areas)
		if mask == nil {
			return nil
		}
		d = with(d, key, x.e.add(mask))
	}
	if i.jpeg {
		if b := i.compressed(); b != nil {
			return &stream{dict: d, data: b, filter: "DCTDecode"}
		}
	}
	return &stream{dict: d, data: i.data}
}

// samples are those of an image: w x h of n components of so many bits, rows from the top down,
// each of whole bytes.
type samples struct {
	w, h, n, bits int64
	data          []byte
	dict          cos.Dict
	jpeg          bool
}

// errFormat is that of an image whose samples are not read here.
var errFormat = errors.New("an image whose format is not read here")

// image decodes the samples of an image. Errors are errFormat, with the filter where it is that,
// and those of reading the file.
func (e *Draft) image(s *stream) (*samples, error) {
	return e.samples(s.dict, func(i *samples) error { return e.decode(s, i) })
}

// inline is image for one in the content of a page, whose dictionary has the full names of keys.
func (e *Draft) inline(i cos.InlineImage, d cos.Dict) (*samples, error) {
	return e.samples(d, func(s *samples) error {
		b, rest, err := e.base.DecodeInline(i)
		if err != nil {
			return err
		}
		return e.format(b, rest, s)
	})
}

// stencil reports whether an image says where its colour is painted (ISO 32000-2, 8.9.6.2).
func (e *Draft) stencil(d cos.Dict) bool {
	return e.resolve(d.Get("ImageMask")) == cos.Object(cos.Bool(true))
}

// masked reports whether an image does not paint all of its square.
func (e *Draft) masked(d cos.Dict) bool {
	return e.stencil(d) || e.resolve(d.Get("Mask")) != nil || e.resolve(d.Get("SMask")) != nil
}

// samples reads the shape of an image, and has decode fill in its data.
func (e *Draft) samples(d cos.Dict, decode func(*samples) error) (*samples, error) {
	i := &samples{w: e.integer(d.Get("Width"), 0), h: e.integer(d.Get("Height"), 0), bits: e.integer(d.Get("BitsPerComponent"), 8), n: 1, dict: d}
	if e.stencil(d) {
		i.bits = 1
	} else if i.n = e.components(d.Get("ColorSpace")); i.n == 0 {
		return nil, errFormat
	}
	if i.w < 1 || i.h < 1 || i.w > 1<<20 || i.h > 1<<20 || !slices.Contains([]int64{1, 2, 4, 8, 16}, i.bits) || (i.w*i.n*i.bits+7)/8*i.h > mostPixels {
		return nil, errFormat
	}
	if err := decode(i); err != nil {
		return nil, err
	}
	if size := (i.w*i.n*i.bits + 7) / 8 * i.h; int64(len(i.data)) < size {
		i.data = append(i.data, make([]byte, size-int64(len(i.data)))...)
	} else {
		i.data = i.data[:size]
	}
	return i, nil
}

// decode reads the data of an image, which are a copy.
func (e *Draft) decode(s *stream, i *samples) error {
	if s.in == nil {
		if s.filter != "" {
			return errFormat
		}
		i.data = bytes.Clone(s.data)
		return nil
	}
	b, rest, err := s.from.Decode(s.in)
	if err != nil {
		return err
	}
	return e.format(b, rest, i)
}

// format decodes what is left when the filters of streams are undone.
func (e *Draft) format(b []byte, rest []cos.Name, i *samples) error {
	if len(rest) == 0 {
		i.data = bytes.Clone(b)
		return nil
	}
	if len(rest) == 1 && rest[0] == "CCITTFaxDecode" && i.n*i.bits == 1 {
		return e.fax(b, i)
	}
	if len(rest) != 1 || rest[0] != "DCTDecode" || i.bits != 8 {
		return fmt.Errorf("%w: %s", errFormat, rest[0])
	}
	head, err := jpeg.DecodeConfig(bytes.NewReader(b))
	if err != nil || int64(head.Width) != i.w || int64(head.Height) != i.h {
		return fmt.Errorf("%w: DCTDecode", errFormat)
	}
	if gray := head.ColorModel == color.GrayModel; gray != (i.n == 1) { // of another size than was judged
		return fmt.Errorf("%w: DCTDecode", errFormat)
	}
	img, err := jpeg.Decode(bytes.NewReader(b))
	if err != nil {
		return fmt.Errorf("%w: DCTDecode", errFormat)
	}
	out := make([]byte, 0, i.w*i.h*i.n)
	i.jpeg = true
	switch m := img.(type) {
	case *image.Gray:
		if i.n != 1 {
			break
		}
		for y := range int(i.h) {
			out = append(out, m.Pix[y*m.Stride:y*m.Stride+int(i.w)]...)
		}
	case *image.YCbCr:
		if i.n != 3 {
			break
		}
		for y := range int(i.h) {
			for at := range int(i.w) {
				c := m.YCbCrAt(m.Rect.Min.X+at, m.Rect.Min.Y+y)
				r, g, b := color.YCbCrToRGB(c.Y, c.Cb, c.Cr)
				out = append(out, r, g, b)
			}
		}
	case *image.RGBA: // one whose components are RGB
		if i.n != 3 {
			break
		}
		for y := range int(i.h) {
			for at := range int(i.w) {
				out = append(out, m.Pix[y*m.Stride+4*at:][:3]...)
			}
		}
	}
	if i.data = out; len(out) == 0 {
		return fmt.Errorf("%w: DCTDecode", errFormat)
	}
	return nil
}

// fax decodes CCITT Group 3 in one dimension and Group 4 (ISO 32000-2, 7.4.6).
func (e *Draft) fax(b []byte, i *samples) error {
	parms := e.dict(i.dict.Get("DecodeParms"))
	if list := e.array(i.dict.Get("DecodeParms")); len(list) > 0 {
		parms = e.dict(list[len(list)-1])
	}
	k := e.integer(parms.Get("K"), 0)
	if e.integer(parms.Get("Columns"), 1728) != i.w || k > 0 {
		return fmt.Errorf("%w: CCITTFaxDecode", errFormat)
	}
	kind := ccitt.Group3
	if k < 0 {
		kind = ccitt.Group4
	}
	o := ccitt.Options{
		Align: e.resolve(parms.Get("EncodedByteAlign")) == cos.Object(cos.Bool(true)), Invert: e.resolve(parms.Get("BlackIs1")) == cos.Object(cos.Bool(true)),
	}
	out := make([]byte, (i.w+7)/8*i.h)
	n, err := io.ReadFull(ccitt.NewReader(bytes.NewReader(b), ccitt.MSB, kind, int(i.w), int(i.h), &o), out)
	if err != nil && (n == 0 || !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF)) {
		return fmt.Errorf("%w: CCITTFaxDecode", errFormat)
	}
	i.data = out
	return nil
}

// compressed returns the samples of a JPEG as one again; nil where that cannot be.
func (i *samples) compressed() []byte {
	var img image.Image
	bounds := image.Rect(0, 0, int(i.w), int(i.h))
	if i.n == 1 {
		img = &image.Gray{Pix: i.data, Stride: int(i.w), Rect: bounds}
	} else {
		m := image.NewRGBA(bounds)
		for at := range int(i.w * i.h) {
			copy(m.Pix[4*at:], i.data[3*at:3*at+3])
			m.Pix[4*at+3] = 0xff
		}
		img = m
	}
	var out bytes.Buffer
	if err := jpeg.Encode(&out, img, &jpeg.Options{Quality: 90}); err != nil {
		return nil // such as more than 65,535 pixels in a row
	}
	return out.Bytes()
}

// components returns how many samples a pixel of a colour space has, 0 where that is not told.
func (e *Draft) components(o cos.Object) int64 {
	o = e.resolve(o)
	if a, ok := o.(cos.Array); ok && len(a) > 0 {
		switch kind := e.name(a[0]); kind {
		case "ICCBased":
			if len(a) > 1 {
				if n := e.integer(e.dict(a[1]).Get("N"), 0); n == 1 || n == 3 || n == 4 {
					return n
				}
			}
			return 0
		case "DeviceN":
			if len(a) > 1 {
				return int64(min(len(e.array(a[1])), 32))
			}
			return 0
		default:
			o = kind
		}
	}
	switch o {
	case cos.Object(cos.Name("DeviceGray")), cos.Object(cos.Name("CalGray")), cos.Object(cos.Name("Indexed")), cos.Object(cos.Name("Separation")):
		return 1
	case cos.Object(cos.Name("DeviceRGB")), cos.Object(cos.Name("CalRGB")), cos.Object(cos.Name("Lab")):
		return 3
	case cos.Object(cos.Name("DeviceCMYK")):
		return 4
	}
	return 0
}

// blank sets the bits of pixels to 0 whose place meets an area; pixels have so many bits, rows
// begin at bytes, the topmost first.
func blank(data []byte, w, h, bits int64, areas []content.Rect) {
	row := (w*bits + 7) / 8
	for _, a := range areas {
		x0, x1 := clamp(a[0]*float64(w)-1, w), clamp(a[2]*float64(w)+1, w)
		y0, y1 := clamp((1-a[3])*float64(h)-1, h), clamp((1-a[1])*float64(h)+1, h)
		for y := y0; y < y1; y++ {
			line := data[y*row : (y+1)*row]
			for bit := x0 * bits; bit < x1*bits; {
				if bit%8 == 0 && x1*bits-bit >= 8 {
					line[bit/8] = 0
					bit += 8
					continue
				}
				line[bit/8] &^= 0x80 >> (bit % 8)
				bit++
			}
		}
	}
}

// clamp is v as a whole number from 0 to most.
func clamp(v float64, most int64) int64 {
	if !(v > 0) {
		return 0
	}
	return int64(min(v, float64(most)))
}
