package image

import (
	"context"
	"fmt"
	"image"
	"image/color"
)

// raster gives the samples of an image row by row, with 8 bits each.
type raster struct {
	width, height int
	colors        int // samples of colour: 1 (grey, or an index of palette), 3 or 4
	alpha         bool
	palette       []byte // RGB triples; nil: colours are not indexed
	// next puts the next row into color and, if there is one, its opacity into alpha.
	next func(color, alpha []byte) error
}

var spaces = map[int]string{1: "DeviceGray", 3: "DeviceRGB", 4: "DeviceCMYK"}

// compress makes the streams of all rows.
func (r *raster) compress(ctx context.Context, s *Store) (*Image, error) {
	img := &Image{width: r.width, height: r.height, orient: 1}
	img.x = XObject{
		Width: r.width, Height: r.height, Bits: 8, Space: spaces[r.colors], Palette: r.palette, Filter: "FlateDecode",
	}
	filter := byte(paeth)
	if r.palette != nil {
		img.x.Space, filter = "DeviceRGB", none // indexes have no neighbours
	}
	k := &sink{solid: true}
	defer k.close()
	var err error
	if k.color, err = newPlane(s, r.width, r.height, r.colors); err != nil {
		return nil, err
	}
	if r.alpha {
		if k.mask, err = newPlane(s, r.width, r.height, 1); err != nil {
			return nil, err
		}
	}
	var opacity []byte
	for y := range r.height {
		if y%64 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if k.mask != nil {
			opacity = k.mask.row()
		}
		if err := r.next(k.color.row(), opacity); err != nil {
			return nil, err
		}
		if err := k.flush(filter); err != nil {
			return nil, err
		}
	}
	return img, k.finish(&img.x)
}

// held is the number of bytes that a decoded image of a colour model takes, as image/color names
// it.
func held(m color.Model, width, height int) (int64, error) {
	bytes := int64(0)
	switch m {
	case color.GrayModel:
		bytes = 1
	case color.Gray16Model:
		bytes = 2
	case color.YCbCrModel, color.NYCbCrAModel:
		bytes = 4 // the planes of chroma and opacity among them
	case color.RGBAModel, color.NRGBAModel, color.CMYKModel:
		bytes = 4
	case color.RGBA64Model, color.NRGBA64Model:
		bytes = 8
	default:
		if _, ok := m.(color.Palette); !ok {
			return 0, fmt.Errorf("an unknown colour model: %w", ErrFormat)
		}
		bytes = 1
	}
	return bytes * int64(width) * int64(height), nil
}

// rasterOf returns the rows of a decoded image, colour not multiplied by opacity.
func rasterOf(m image.Image) *raster {
	b := m.Bounds()
	y := b.Min.Y
	r := &raster{width: b.Dx(), height: b.Dy(), colors: 3, alpha: true}
	row := func(f func(y int, color, alpha []byte)) func(color, alpha []byte) error {
		return func(color, alpha []byte) error {
			f(y, color, alpha)
			y++
			return nil
		}
	}
	switch m := m.(type) {
	case *image.Gray:
		r.colors, r.alpha = 1, false
		r.next = row(func(y int, color, _ []byte) { copy(color, m.Pix[m.PixOffset(b.Min.X, y):]) })
	case *image.Gray16:
		r.colors, r.alpha = 1, false
		r.next = row(func(y int, color, _ []byte) {
			for i := range r.width {
				color[i] = m.Pix[m.PixOffset(b.Min.X+i, y)]
			}
		})
	case *image.CMYK:
		r.colors, r.alpha = 4, false
		r.next = row(func(y int, color, _ []byte) { copy(color, m.Pix[m.PixOffset(b.Min.X, y):]) })
	case *image.Paletted:
		r.indexed(m, row)
	case *image.YCbCr:
		r.alpha = false
		r.next = row(func(y int, c, _ []byte) {
			for i := range r.width {
				p := m.YCbCrAt(b.Min.X+i, y)
				c[3*i], c[3*i+1], c[3*i+2] = color.YCbCrToRGB(p.Y, p.Cb, p.Cr)
			}
		})
	case *image.NRGBA:
		r.next = row(func(y int, color, alpha []byte) {
			pix := m.Pix[m.PixOffset(b.Min.X, y):]
			for i := range r.width {
				copy(color[3*i:3*i+3], pix[4*i:])
				alpha[i] = pix[4*i+3]
			}
		})
	default:
		r.next = row(func(y int, c, alpha []byte) {
			for i := range r.width {
				p := color.NRGBAModel.Convert(m.At(b.Min.X+i, y)).(color.NRGBA) //nolint:forcetypeassert // its own model
				c[3*i], c[3*i+1], c[3*i+2], alpha[i] = p.R, p.G, p.B, p.A
			}
		})
	}
	return r
}

// indexed keeps the palette of m.
func (r *raster) indexed(m *image.Paletted, row func(func(y int, color, alpha []byte)) func(color, alpha []byte) error) {
	r.colors, r.alpha = 1, false
	opacity := make([]byte, len(m.Palette))
	for i, c := range m.Palette {
		p := color.NRGBAModel.Convert(c).(color.NRGBA) //nolint:forcetypeassert // its own model
		r.palette = append(r.palette, p.R, p.G, p.B)
		opacity[i] = p.A
		r.alpha = r.alpha || p.A != 255
	}
	r.next = row(func(y int, color, alpha []byte) {
		copy(color, m.Pix[m.PixOffset(m.Rect.Min.X, y):][:r.width])
		if alpha != nil {
			for i, v := range color {
				alpha[i] = opacity[v]
			}
		}
	})
}

// flat returns the rows of r with the colours themselves in the place of indexes.
func (r *raster) flat() *raster {
	if r.palette == nil {
		return r
	}
	out := *r
	out.colors, out.palette = 3, nil
	index := make([]byte, r.width)
	out.next = func(color, alpha []byte) error {
		if err := r.next(index, alpha); err != nil {
			return err
		}
		for i, v := range index {
			if int(v)*3+3 > len(r.palette) {
				return fmt.Errorf("an index beyond the palette: %w", ErrFormat)
			}
			copy(color[3*i:], r.palette[3*int(v):3*int(v)+3])
		}
		return nil
	}
	return &out
}

// shrunk returns the rows of r as an image of width by height pixels, which must not be more: each
// pixel is the mean of the area that it covers, weighted by opacity. It holds no more than a row of
// sums.
func (r *raster) shrunk(width, height int) *raster {
	r = r.flat()
	out := &raster{width: width, height: height, colors: r.colors, alpha: r.alpha}
	n := r.colors + 1 // and the opacity
	color, alpha := make([]byte, r.width*r.colors), make([]byte, r.width)
	for i := range alpha {
		alpha[i] = 255
	}
	line := make([]uint64, width*n) // sums of one row of r
	sum := make([]uint64, width*n)
	// Row y of r covers [y*height, (y+1)*height), row k of the result [k*r.height, (k+1)*r.height):
	// both axes are measured in parts of r.width*width and r.height*height.
	y, done := 0, 0 // the next row of r; how far the current one was used
	out.next = func(to, opacity []byte) error {
		clear(sum)
		for left := r.height; left > 0; {
			if done == 0 {
				var a []byte
				if r.alpha {
					a = alpha
				}
				if err := r.next(color, a); err != nil {
					return err
				}
				across(line, color, alpha, r.width, width, r.colors)
				y++
			}
			part := min(height-done, left)
			for i, v := range line {
				sum[i] += v * uint64(part) //nolint:gosec // above 0
			}
			left -= part
			if done += part; done == height {
				done = 0
			}
		}
		area := uint64(r.width) * uint64(r.height) //nolint:gosec // above 0
		for i := range width {
			s := sum[i*n:][:n]
			a := s[n-1]
			for c := range r.colors {
				to[i*r.colors+c] = 0
				if a > 0 {
					to[i*r.colors+c] = byte((s[c] + a/2) / a) //nolint:gosec // a mean of bytes
				}
			}
			if opacity != nil {
				opacity[i] = byte((a + area/2) / area) //nolint:gosec // a mean of bytes
			}
		}
		return nil
	}
	return out
}

// across sums a row over the columns of the result: colours times opacity, and the opacity.
func across(line []uint64, color, alpha []byte, from, to, colors int) {
	clear(line)
	n := colors + 1
	k, left := 0, from // the column of the result, and what it still takes
	for i := range from {
		a := uint64(alpha[i])
		for rest := to; rest > 0; {
			part := min(rest, left)
			w := uint64(part) * a
			for c := range colors {
				line[k*n+c] += uint64(color[i*colors+c]) * w
			}
			line[k*n+colors] += w
			rest -= part
			if left -= part; left == 0 {
				k, left = k+1, from
			}
		}
	}
}
