package edit

import (
	"math"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/internal/content"
)

// texture tells the colours of the samples of an image, as far as text in them needs: colour spaces
// are those of the device, whatever calibrates them.
type texture struct {
	*samples
	row     int64
	kind    cos.Name // DeviceGray, DeviceRGB, DeviceCMYK, Lab or Ink
	palette []byte   // of Indexed: three bytes of each colour
	invert  bool
}

func newTexture(e *Draft, s *samples) *texture {
	t := &texture{samples: s, row: (s.w*s.n*s.bits + 7) / 8}
	t.kind = t.space(e, s.dict.Get("ColorSpace"), s.n)
	if d := e.array(s.dict.Get("Decode")); len(d) >= 2 && t.palette == nil {
		t.invert = number(e.resolve(d[0]), 0) > number(e.resolve(d[1]), 1)
	}
	return t
}

// plain reports whether the colours of the samples are known: no more inks than one, and a Decode
// array that changes nothing or inverts all.
func (t *texture) plain(e *Draft) bool {
	if t.kind == "Ink" && t.n > 1 {
		return false
	}
	d := e.array(t.dict.Get("Decode"))
	if d == nil {
		return true
	}
	most := 1.0
	if t.palette != nil {
		most = float64(int64(1)<<t.bits - 1)
	}
	if int64(len(d)) != 2*t.n {
		return false
	}
	for i := 0; i < len(d); i += 2 {
		from, to := number(e.resolve(d[i]), 0), number(e.resolve(d[i+1]), most)
		switch {
		case t.kind == "Lab":
			return false
		case t.palette != nil && (from != 0 || to != most),
			t.invert && (from != 1 || to != 0), t.palette == nil && !t.invert && (from != 0 || to != 1):
			return false
		}
	}
	return true
}

// space returns what the n components of a colour space are.
func (t *texture) space(e *Draft, o cos.Object, n int64) cos.Name {
	a, _ := e.resolve(o).(cos.Array)
	if len(a) > 0 {
		switch e.name(a[0]) {
		case "Separation", "DeviceN":
			return "Ink"
		case "Lab":
			return "Lab"
		case "Indexed":
			if len(a) == 4 && t.palette == nil {
				t.palette = t.colours(e, a)
				return "Indexed"
			}
			return "DeviceGray"
		}
	}
	switch n {
	case 3:
		return "DeviceRGB"
	case 4:
		return "DeviceCMYK"
	case 1:
		return "DeviceGray"
	}
	return "Ink"
}

// colours returns the palette of an Indexed colour space (ISO 32000-2, 8.6.6.3).
func (t *texture) colours(e *Draft, a cos.Array) []byte {
	n := e.components(a[1])
	var table []byte
	if b, ok := cos.Bytes(e.resolve(a[3])); ok {
		table = b
	} else {
		table = e.data(a[3])
	}
	of := texture{samples: &samples{n: n, bits: 8}, palette: []byte{}} // an Indexed base is none
	of.kind = of.space(e, a[1], n)
	out := []byte{}
	for i := int64(0); n > 0 && (i+1)*n <= int64(len(table)) && i < 1<<16; i++ {
		r, g, b := of.colour(table[i*n : (i+1)*n])
		out = append(out, r, g, b)
	}
	return out
}

// colour returns what a pixel looks like that has these components.
func (t *texture) colour(c []byte) (r, g, b byte) {
	switch t.kind {
	case "DeviceRGB":
		return c[0], c[1], c[2]
	case "DeviceCMYK":
		of := func(v byte) byte { return 0xff - byte(min(0xff, int(v)+int(c[3]))) } //nolint:gosec // G115: at most 0xff
		return of(c[0]), of(c[1]), of(c[2])
	case "Ink":
		most := byte(0)
		for _, v := range c {
			most = max(most, v)
		}
		return 0xff - most, 0xff - most, 0xff - most
	}
	return c[0], c[0], c[0] // gray, and the lightness of Lab
}

// at returns the colour of a sample.
func (t *texture) at(x, y int64) (r, g, b byte) {
	line := t.data[y*t.row:]
	if t.bits == 8 && t.kind == "DeviceRGB" && !t.invert {
		return line[3*x], line[3*x+1], line[3*x+2]
	}
	var c [32]byte
	for k := range min(t.n, int64(len(c))) {
		bit := (x*t.n + k) * t.bits
		c[k] = line[bit/8]
		if t.bits < 8 {
			most := byte(1)<<t.bits - 1
			c[k] = c[k] >> (8 - bit%8 - t.bits) & most
			if t.palette == nil {
				c[k] *= 0xff / most
			}
		}
		if t.invert {
			c[k] = ^c[k]
		}
	}
	if t.palette != nil {
		if i := 3 * int(c[0]); i+3 <= len(t.palette) {
			return t.palette[i], t.palette[i+1], t.palette[i+2]
		}
		return 0, 0, 0
	}
	return t.colour(c[:min(t.n, int64(len(c)))])
}

// draw draws the image over a picture, the unit square through m, whose pixels are means of the
// samples that they cover, or lie between them where they are smaller.
func (t *texture) draw(p *Picture, m content.Matrix) {
	inverse, ok := m.Inverse()
	if !ok {
		return
	}
	w, h := float64(t.w), float64(t.h)
	to := inverse.Mul(content.Matrix{w, 0, 0, -h, 0, h}) // from pixels to samples
	area := m.Quad(content.Rect{0, 0, 1, 1}).Bounds()
	x0, x1 := clamp(math.Floor(area[0]), int64(p.Width)), clamp(math.Ceil(area[2]), int64(p.Width))
	y0, y1 := clamp(math.Floor(area[1]), int64(p.Height)), clamp(math.Ceil(area[3]), int64(p.Height))
	step := max(math.Hypot(to[0], to[1]), math.Hypot(to[2], to[3]))
	if step < 1 {
		t.between(p, to, x0, x1, y0, y1)
		return
	}
	const most = 4 // samples across a pixel
	k := int(min(math.Ceil(step-0.01), most))
	for y := y0; y < y1; y++ {
		for x := x0; x < x1; x++ {
			var r, g, b, n int
			for v := range k {
				for u := range k {
					c := to.At(float64(x)+(float64(u)+0.5)/float64(k), float64(y)+(float64(v)+0.5)/float64(k))
					if !(c.X >= 0 && c.Y >= 0 && c.X < w && c.Y < h) {
						continue
					}
					cr, cg, cb := t.at(int64(c.X), int64(c.Y))
					r, g, b, n = r+int(cr), g+int(cg), b+int(cb), n+1
				}
			}
			if n > 0 {
				at := 3 * (y*int64(p.Width) + x)
				p.RGB[at], p.RGB[at+1], p.RGB[at+2] = byte(r/n), byte(g/n), byte(b/n) //nolint:gosec // G115: means of bytes
			}
		}
	}
}

// between is draw for pixels that are smaller than samples.
func (t *texture) between(p *Picture, to content.Matrix, x0, x1, y0, y1 int64) {
	for y := y0; y < y1; y++ {
		for x := x0; x < x1; x++ {
			c := to.At(float64(x)+0.5, float64(y)+0.5)
			if !(c.X >= 0 && c.Y >= 0 && c.X < float64(t.w) && c.Y < float64(t.h)) {
				continue
			}
			fx, fy := max(c.X-0.5, 0), max(c.Y-0.5, 0)
			sx, sy := int64(fx), int64(fy)
			fx, fy = fx-float64(sx), fy-float64(sy)
			var sum [3]float64
			for _, o := range [...]struct {
				x, y int64
				part float64
			}{{sx, sy, (1 - fx) * (1 - fy)}, {sx + 1, sy, fx * (1 - fy)}, {sx, sy + 1, (1 - fx) * fy}, {sx + 1, sy + 1, fx * fy}} {
				r, g, b := t.at(min(o.x, t.w-1), min(o.y, t.h-1))
				sum[0] += o.part * float64(r)
				sum[1] += o.part * float64(g)
				sum[2] += o.part * float64(b)
			}
			at := 3 * (y*int64(p.Width) + x)
			p.RGB[at], p.RGB[at+1], p.RGB[at+2] = byte(sum[0]+0.5), byte(sum[1]+0.5), byte(sum[2]+0.5)
		}
	}
}
