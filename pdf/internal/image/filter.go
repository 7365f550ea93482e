package image

import (
	"bytes"
	"io"
)

// The filters of rows (ISO/IEC 15948, 9.2).
const (
	none = iota
	sub
	up
	average
	paeth
)

// unfilter restores a row, whose first byte is its filter, from what stands before: back bytes
// to the left and the row above.
func unfilter(row, above []byte, back int) {
	filter, r, a := row[0], row[1:], above[1:]
	switch filter {
	case sub:
		for i := back; i < len(r); i++ {
			r[i] += r[i-back]
		}
	case up:
		for i := range r {
			r[i] += a[i]
		}
	case average:
		for i := range r {
			left := 0
			if i >= back {
				left = int(r[i-back])
			}
			r[i] += byte((left + int(a[i])) / 2) //nolint:gosec // the mean of two bytes
		}
	case paeth:
		for i := range min(back, len(r)) {
			r[i] += a[i]
		}
		for i := back; i < len(r); i++ {
			r[i] += predict(r[i-back], a[i], a[i-back])
		}
	}
}

// predict is Paeth's predictor (9.4).
func predict(left, above, corner byte) byte {
	p := int(above) - int(corner)
	q := int(left) - int(corner)
	toLeft, toAbove, toCorner := max(p, -p), max(q, -q), max(p+q, -p-q)
	switch {
	case toLeft <= toAbove && toLeft <= toCorner:
		return left
	case toAbove <= toCorner:
		return above
	}
	return corner
}

// plane compresses the rows of one image stream. Those of a small one are gathered and compressed
// at the best level, filtered and as they are: drawings are shorter without filters, photographs
// with them. Those of a large one are compressed as they come.
type plane struct {
	store *Store
	buf   bytes.Buffer
	zw    io.WriteCloser // of a large plane
	back  int
	// now and before are rows with a filter byte in front, out is the filtered one.
	now, before, out *[]byte
	filtered, plain  []byte // the rows of a small plane
}

// mostGathered is how many samples a small plane has.
const mostGathered = 512 << 10

func newPlane(s *Store, width, height, colors int) (*plane, error) {
	n := width*colors + 1
	p := &plane{store: s, back: colors, now: s.row(n), before: s.row(n), out: s.row(n)}
	clear(*p.before)
	if s.best != nil && int64(n)*int64(height) <= mostGathered {
		p.filtered, p.plain = make([]byte, 0, n*height), make([]byte, 0, (n-1)*height)
		return p, nil
	}
	var err error
	p.zw, err = s.deflate(&p.buf)
	return p, err
}

// row is where the next row goes.
func (p *plane) row() []byte { return (*p.now)[1:] }

// flush filters the row and writes it.
func (p *plane) flush(filter byte) error {
	r, a, o := p.row(), (*p.before)[1:], (*p.out)[1:]
	(*p.out)[0] = filter
	first := min(p.back, len(r))
	switch filter {
	case none:
		copy(o, r)
	case sub:
		copy(o, r[:first])
		for i := first; i < len(r); i++ {
			o[i] = r[i] - r[i-p.back]
		}
	case up:
		for i := range r {
			o[i] = r[i] - a[i]
		}
	case average:
		for i := range r {
			left := 0
			if i >= p.back {
				left = int(r[i-p.back])
			}
			o[i] = r[i] - byte((left+int(a[i]))/2) //nolint:gosec // the mean of two bytes
		}
	case paeth:
		for i := range first {
			o[i] = r[i] - a[i]
		}
		for i := first; i < len(r); i++ {
			o[i] = r[i] - predict(r[i-p.back], a[i], a[i-p.back])
		}
	}
	p.now, p.before = p.before, p.now
	if p.zw == nil {
		p.filtered, p.plain = append(p.filtered, *p.out...), append(p.plain, r...)
		return nil
	}
	_, err := p.zw.Write(*p.out)
	return err
}

// finish puts the stream into x.
func (p *plane) finish(x *XObject) error {
	x.Predictor = &Predictor{Colors: p.back, Bits: 8, Columns: x.Width}
	if p.zw != nil {
		err := p.zw.Close()
		x.Data = bytes.Clone(p.buf.Bytes()) // without the room to grow: it is kept
		return err
	}
	filtered, err := p.store.best(nil, p.filtered)
	if err != nil {
		return err
	}
	plain, err := p.store.best(nil, p.plain)
	if err != nil {
		return err
	}
	if len(plain) <= len(filtered) {
		x.Predictor, filtered = nil, plain
	}
	x.Data = bytes.Clone(filtered)
	return nil
}

func (p *plane) close() {
	for _, b := range []*[]byte{p.now, p.before, p.out} {
		p.store.rows.Put(b)
	}
}

// sink takes the rows of an image: its colours, unless the file's own stream is used, and its
// opacity, if there may be any.
type sink struct {
	color, mask *plane
	spare       []byte // for colours that nobody takes
	solid       bool   // all was opaque so far
}

func newSink(s *Store, f *pngFile, x *XObject) (*sink, error) {
	k := &sink{solid: true}
	var err error
	if !f.passes() {
		if k.color, err = newPlane(s, x.Width, x.Height, f.colors()); err != nil {
			return nil, err
		}
	} else {
		k.spare = make([]byte, x.Width*f.colors())
	}
	if f.alpha() {
		if k.mask, err = newPlane(s, x.Width, x.Height, 1); err != nil {
			return nil, err
		}
	}
	return k, nil
}

// idle reports that nothing is made of the rows.
func (k *sink) idle() bool { return k.color == nil && k.mask == nil }

// write takes a row of the file. Its filter is used again: what suited the samples suits what
// is made of them.
func (k *sink) write(f *pngFile, row []byte, width int, filter byte) error {
	color, alpha := k.spare, []byte(nil)
	if k.color != nil {
		color = k.color.row()
	}
	if k.mask != nil {
		alpha = k.mask.row()
	}
	f.expand(color, alpha, row[1:], width)
	return k.flush(filter)
}

// flush takes the rows that were put into the planes.
func (k *sink) flush(filter byte) error {
	if k.color != nil {
		if err := k.color.flush(filter); err != nil {
			return err
		}
	}
	if k.mask == nil {
		return nil
	}
	for _, v := range k.mask.row() {
		if v != 255 {
			k.solid = false
			break
		}
	}
	return k.mask.flush(filter)
}

// finish puts the streams into x.
func (k *sink) finish(x *XObject) error {
	if k.color != nil {
		if err := k.color.finish(x); err != nil {
			return err
		}
	}
	if k.mask == nil {
		return nil
	}
	mask := &XObject{Width: x.Width, Height: x.Height, Bits: 8, Space: "DeviceGray", Filter: "FlateDecode"}
	if err := k.mask.finish(mask); err != nil || k.solid {
		return err
	}
	x.Mask = mask
	return nil
}

func (k *sink) close() {
	if k.color != nil {
		k.color.close()
	}
	if k.mask != nil {
		k.mask.close()
	}
}
