package edit

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/internal/content"
)

// mostPixels bounds the samples of an image whose pixels are changed, in bytes.
const mostPixels = 128 << 20

// blanked returns an image with the samples in areas of the unit square set to 0, and so those of
// its masks; nil where its format is not one that is read here.
func (x *eraser) blanked(o cos.Object, areas []content.Rect) *stream {
	s, ok := x.e.resolve(o).(*stream)
	if !ok {
		return nil // an inline image, which is small
	}
	d := s.dict
	w, h := x.e.integer(d.Get("Width"), 0), x.e.integer(d.Get("Height"), 0)
	bits := x.e.integer(d.Get("BitsPerComponent"), 8)
	n := int64(1)
	if x.e.resolve(d.Get("ImageMask")) == cos.Object(cos.Bool(true)) {
		bits = 1
	} else if n = x.components(d.Get("ColorSpace")); n == 0 {
		return nil
	}
	if w < 1 || h < 1 || w > 1<<20 || h > 1<<20 || bits < 1 || bits > 16 || (w*n*bits+7)/8*h > mostPixels {
		return nil
	}
	data := x.samples(s, w, h, n)
	if data == nil {
		return nil
	}
	row := (w*n*bits + 7) / 8
	if int64(len(data)) < row*h {
		data = append(data, make([]byte, row*h-int64(len(data)))...)
	}
	blank(data[:row*h], w, h, n*bits, areas)
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
	return &stream{dict: d, data: data[:row*h]}
}

// samples returns the decoded samples of an image, nil where its format is not read here.
func (x *eraser) samples(s *stream, w, h, n int64) []byte {
	if s.in == nil {
		return bytes.Clone(s.data)
	}
	b, rest, err := s.from.Decode(s.in)
	if err != nil {
		return nil
	}
	if len(rest) == 0 {
		return bytes.Clone(b)
	}
	if len(rest) != 1 || rest[0] != "DCTDecode" || n != 1 && n != 3 {
		return nil
	}
	head, err := jpeg.DecodeConfig(bytes.NewReader(b))
	if err != nil || int64(head.Width) != w || int64(head.Height) != h {
		return nil
	}
	img, err := jpeg.Decode(bytes.NewReader(b))
	if err != nil {
		return nil
	}
	out := make([]byte, 0, w*h*n)
	switch m := img.(type) {
	case *image.Gray:
		if n != 1 {
			return nil
		}
		for y := range int(h) {
			out = append(out, m.Pix[y*m.Stride:y*m.Stride+int(w)]...)
		}
	case *image.YCbCr:
		if n != 3 {
			return nil
		}
		for y := range int(h) {
			for at := range int(w) {
				c := m.YCbCrAt(m.Rect.Min.X+at, m.Rect.Min.Y+y)
				r, g, b := color.YCbCrToRGB(c.Y, c.Cb, c.Cr)
				out = append(out, r, g, b)
			}
		}
	default:
		return nil
	}
	return out
}

// components returns how many samples a pixel of a colour space has, 0 where that is not told.
func (x *eraser) components(o cos.Object) int64 {
	o = x.e.resolve(o)
	if a, ok := o.(cos.Array); ok && len(a) > 0 {
		switch kind := x.e.name(a[0]); kind {
		case "ICCBased":
			if len(a) > 1 {
				if n := x.e.integer(x.e.dict(a[1]).Get("N"), 0); n == 1 || n == 3 || n == 4 {
					return n
				}
			}
			return 0
		case "DeviceN":
			if len(a) > 1 {
				return int64(min(len(x.e.array(a[1])), 32))
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
