package image

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
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
	trns          []byte   // the chunk tRNS; nil: there is none
	profile       []byte   // the ICC profile of the chunk iCCP; nil: there is none
	data          [][]byte // the IDAT chunks
}

// maxSide bounds a side of an image before the product of both is judged.
const maxSide = 1 << 30

func parsePNG(data []byte, l diag.Limits) (file, error) {
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
			if err := f.header(body); err != nil {
				return nil, err
			}
			if err := checkPixels(f.width, f.height, l); err != nil {
				return nil, err
			}
		case "PLTE":
			f.palette = body
		case "tRNS":
			f.trns = body
		case "iCCP":
			f.profile = inflatedProfile(body)
		case "IDAT":
			f.data = append(f.data, body)
		case "IEND":
			return f, f.check()
		}
	}
}

// inflatedProfile reads a chunk iCCP (ISO/IEC 15948, 11.3.3.3): a name, a method and the profile,
// deflated; nil when that is broken or too large.
func inflatedProfile(body []byte) []byte {
	_, rest, ok := bytes.Cut(body, []byte{0})
	if !ok || len(rest) < 1 || rest[0] != 0 {
		return nil
	}
	r, err := zlib.NewReader(bytes.NewReader(rest[1:]))
	if err != nil {
		return nil
	}
	out, err := io.ReadAll(io.LimitReader(r, mostProfile+1))
	if err != nil || len(out) > mostProfile {
		return nil
	}
	return out
}

func (f *pngFile) header(b []byte) error {
	if len(b) != 13 {
		return fmt.Errorf("png: header of %d bytes: %w", len(b), ErrFormat)
	}
	w, h := binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])
	if w == 0 || h == 0 {
		return fmt.Errorf("png: an image of %d by %d pixels: %w", w, h, ErrFormat)
	}
	f.width, f.height = int(min(w, maxSide)), int(min(h, maxSide))
	f.bits, f.kind, f.interlaced = int(b[8]), int(b[9]), b[12] == 1
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

// check judges the chunks that depend on others.
func (f *pngFile) check() error {
	if f.kind == pngPalette {
		if n := len(f.palette); n == 0 || n%3 != 0 || n > 3<<f.bits {
			return fmt.Errorf("png: palette of %d bytes: %w", n, ErrFormat)
		}
	}
	want := map[int]int{pngGray: 2, pngRGB: 6, pngPalette: len(f.palette) / 3}
	if n, may := want[f.kind]; f.trns != nil && (!may || f.kind == pngPalette && len(f.trns) > n || f.kind != pngPalette && len(f.trns) != n) {
		return fmt.Errorf("png: tRNS of %d bytes: %w", len(f.trns), ErrFormat)
	}
	return nil
}

// held implements file: rows of an interlaced image come in no order in which they could be
// written.
func (f *pngFile) held(Ask) int64 {
	if !f.interlaced {
		return 0
	}
	n := f.colors()
	if f.alpha() {
		n++
	}
	return int64(f.width) * int64(f.height) * int64(n)
}

// size implements file.
func (f *pngFile) size() (width, height, orient int) { return f.width, f.height, 1 }

// icc returns the profile of the colours; nil when there is none.
func (f *pngFile) icc() *Profile {
	colors := f.colors()
	if f.kind == pngPalette {
		colors = 3
	}
	return newProfile(f.profile, colors)
}

// channels is the number of samples of a pixel in the file.
func (f *pngFile) channels() int {
	switch f.kind {
	case pngRGB:
		return 3
	case pngGrayAlpha:
		return 2
	case pngRGBA:
		return 4
	}
	return 1
}

// colors is the number of them that is colour.
func (f *pngFile) colors() int {
	if f.kind == pngRGB || f.kind == pngRGBA {
		return 3
	}
	return 1
}

func (f *pngFile) alpha() bool {
	return f.trns != nil || f.kind == pngGrayAlpha || f.kind == pngRGBA
}

// stride is the number of bytes of a row of so many pixels, without its filter byte.
func (f *pngFile) stride(width int) int { return (width*f.bits*f.channels() + 7) / 8 }

// passes reports whether the compressed samples can be embedded as they are: PNG's filters are
// the PNG predictors of FlateDecode (ISO 32000-2, 7.4.4.4).
func (f *pngFile) passes() bool {
	return !f.interlaced && f.bits <= 8 && f.channels() == f.colors()
}

// image implements file.
func (f *pngFile) image(ctx context.Context, s *Store, to Ask) (*Image, error) {
	img, err := f.streams(ctx, s, to)
	if err != nil {
		return nil, fmt.Errorf("png: %w", err)
	}
	return img, img.x.profiled(s, f.icc())
}

func (f *pngFile) streams(ctx context.Context, s *Store, to Ask) (*Image, error) {
	if !to.none() {
		r, err := f.raster(ctx)
		if err != nil {
			return nil, err
		}
		return r.shrunk(to.Width, to.Height).compress(ctx, s)
	}
	img := &Image{width: f.width, height: f.height, orient: 1}
	img.x = XObject{Width: f.width, Height: f.height, Bits: 8, Space: "DeviceRGB", Filter: "FlateDecode"}
	switch f.kind {
	case pngGray, pngGrayAlpha:
		img.x.Space = "DeviceGray"
	case pngPalette:
		img.x.Palette = f.palette
	}
	var err error
	if f.interlaced {
		err = f.interlace(ctx, s, &img.x)
	} else {
		err = f.stream(ctx, s, &img.x)
	}
	if err != nil {
		return nil, err
	}
	if f.passes() {
		img.x.Bits = f.bits
		img.x.Data = f.data[0]
		if len(f.data) > 1 {
			img.x.Data = bytes.Join(f.data, nil)
		}
		img.x.Predictor = &Predictor{Colors: f.colors(), Bits: f.bits, Columns: f.width}
	}
	return img, nil
}

// stream reads the rows of an image that is not interlaced and writes them on as they come.
func (f *pngFile) stream(ctx context.Context, s *Store, x *XObject) error {
	r, err := f.rows()
	if err != nil {
		return err
	}
	out, err := newSink(s, f, x)
	if err != nil {
		return err
	}
	defer out.close()
	row, before := s.row(f.stride(f.width)+1), s.row(f.stride(f.width)+1)
	defer s.rows.Put(row)
	defer s.rows.Put(before)
	clear(*before)
	back := max(1, f.bits*f.channels()/8)
	for y := range f.height {
		if y%64 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := readRow(r, *row); err != nil {
			return err
		}
		if out.idle() {
			continue // the samples are only counted
		}
		filter := (*row)[0]
		unfilter(*row, *before, back)
		if err := out.write(f, *row, f.width, filter); err != nil {
			return err
		}
		row, before = before, row
	}
	if err := atEnd(r); err != nil {
		return err
	}
	return out.finish(x)
}

// rows returns the reader of the filtered rows.
func (f *pngFile) rows() (io.Reader, error) {
	readers := make([]io.Reader, len(f.data))
	for i, b := range f.data {
		readers[i] = bytes.NewReader(b)
	}
	r, err := zlib.NewReader(io.MultiReader(readers...))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrFormat)
	}
	return r, nil
}

func readRow(r io.Reader, row []byte) error {
	if _, err := io.ReadFull(r, row); err != nil {
		return fmt.Errorf("too few samples: %w: %w", err, ErrFormat)
	}
	if row[0] > 4 {
		return fmt.Errorf("unknown row filter %d: %w", row[0], ErrFormat)
	}
	return nil
}

// atEnd makes sure that nothing follows and that the checksum of the stream is right.
func atEnd(r io.Reader) error {
	var one [1]byte
	switch _, err := io.ReadFull(r, one[:]); err {
	case io.EOF:
		return nil
	case nil:
		return fmt.Errorf("too many samples: %w", ErrFormat)
	default:
		return fmt.Errorf("%w: %w", err, ErrFormat)
	}
}

// adam7 are the passes of an interlaced image (ISO/IEC 15948, 8.2): the first pixel and the
// steps.
var adam7 = [7]struct{ x, y, dx, dy int }{
	{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2},
}

// interlace writes an interlaced image.
func (f *pngFile) interlace(ctx context.Context, s *Store, x *XObject) error {
	r, err := f.deinterlaced(ctx)
	if err != nil {
		return err
	}
	out, err := newSink(s, f, x)
	if err != nil {
		return err
	}
	defer out.close()
	for y := range f.height {
		if y%64 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		var opacity []byte
		if out.mask != nil {
			opacity = out.mask.row()
		}
		if err := r.next(out.color.row(), opacity); err != nil {
			return err
		}
		if err := out.flush(paeth); err != nil {
			return err
		}
	}
	return out.finish(x)
}

// deinterlaced puts the rows of all passes in their places before it gives the first.
func (f *pngFile) deinterlaced(ctx context.Context) (*raster, error) {
	r, err := f.rows()
	if err != nil {
		return nil, err
	}
	colors := f.colors()
	whole := make([]byte, f.width*f.height*colors)
	var alpha []byte
	if f.alpha() {
		alpha = make([]byte, f.width*f.height)
	}
	back := max(1, f.bits*f.channels()/8)
	for _, p := range adam7 {
		w, h := (f.width-p.x+p.dx-1)/p.dx, (f.height-p.y+p.dy-1)/p.dy
		if w <= 0 || h <= 0 {
			continue
		}
		row, before := make([]byte, f.stride(w)+1), make([]byte, f.stride(w)+1)
		color, opacity := make([]byte, w*colors), make([]byte, w)
		for y := range h {
			if y%64 == 0 && ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			if err := readRow(r, row); err != nil {
				return nil, err
			}
			unfilter(row, before, back)
			f.expand(color, opacity, row[1:], w)
			at := (p.y+y*p.dy)*f.width + p.x
			for i := range w {
				copy(whole[(at+i*p.dx)*colors:][:colors], color[i*colors:])
				if alpha != nil {
					alpha[at+i*p.dx] = opacity[i]
				}
			}
			row, before = before, row
		}
	}
	if err := atEnd(r); err != nil {
		return nil, err
	}
	y := 0
	out := f.rowless()
	out.next = func(color, opacity []byte) error {
		n := f.width * colors
		copy(color, whole[y*n:][:n])
		if opacity != nil {
			copy(opacity, alpha[y*f.width:][:f.width])
		}
		y++
		return nil
	}
	return out, nil
}

// rowless is a raster that has no rows yet.
func (f *pngFile) rowless() *raster {
	r := &raster{width: f.width, height: f.height, colors: f.colors(), alpha: f.alpha()}
	if f.kind == pngPalette {
		r.palette = f.palette
	}
	return r
}

// raster gives the rows as they are read.
func (f *pngFile) raster(ctx context.Context) (*raster, error) {
	if f.interlaced {
		return f.deinterlaced(ctx)
	}
	r, err := f.rows()
	if err != nil {
		return nil, err
	}
	row, before := make([]byte, f.stride(f.width)+1), make([]byte, f.stride(f.width)+1)
	back := max(1, f.bits*f.channels()/8)
	y, out := 0, f.rowless()
	out.next = func(color, opacity []byte) error {
		if err := readRow(r, row); err != nil {
			return err
		}
		unfilter(row, before, back)
		f.expand(color, opacity, row[1:], f.width)
		row, before = before, row
		if y++; y == f.height {
			return atEnd(r)
		}
		return nil
	}
	return out, nil
}

// expand turns a row of samples into 8-bit colours, or indexes of the palette, and their
// opacity.
func (f *pngFile) expand(color, alpha, row []byte, width int) {
	switch {
	case f.bits == 16:
		f.reduce(color, alpha, row, width)
	case f.kind == pngRGBA:
		for i := range width {
			copy(color[3*i:3*i+3], row[4*i:])
			alpha[i] = row[4*i+3]
		}
	case f.kind == pngGrayAlpha:
		for i := range width {
			color[i], alpha[i] = row[2*i], row[2*i+1]
		}
	case f.kind == pngRGB:
		copy(color[:3*width], row)
		if f.trns != nil {
			key := [3]byte{f.trns[1], f.trns[3], f.trns[5]}
			for i := range width {
				alpha[i] = opaque([3]byte(row[3*i:3*i+3]) != key)
			}
		}
	default:
		f.unpack(color, alpha, row, width)
	}
}

// unpack is expand for grey and indexed samples of up to 8 bits.
func (f *pngFile) unpack(color, alpha, row []byte, width int) {
	most := 1<<f.bits - 1
	for i := range width {
		shift := 8 - f.bits - i*f.bits%8
		v := int(row[i*f.bits/8]) >> shift & most
		if f.kind == pngPalette {
			color[i] = byte(v) //nolint:gosec // at most 8 bits
			if alpha != nil {
				alpha[i] = 255
				if v < len(f.trns) {
					alpha[i] = f.trns[v]
				}
			}
			continue
		}
		color[i] = byte(v * 255 / most) //nolint:gosec // v <= most
		if f.trns != nil {
			alpha[i] = opaque(v != int(binary.BigEndian.Uint16(f.trns)))
		}
	}
}

// reduce is expand for 16-bit samples: the low byte is dropped.
func (f *pngFile) reduce(color, alpha, row []byte, width int) {
	channels, colors := f.channels(), f.colors()
	for i := range width {
		px := row[2*channels*i:][:2*channels]
		for c := range colors {
			color[colors*i+c] = px[2*c]
		}
		switch {
		case channels > colors:
			alpha[i] = px[2*colors]
		case f.trns != nil:
			alpha[i] = opaque(!bytes.Equal(px, f.trns))
		}
	}
}

func opaque(yes bool) byte {
	if yes {
		return 255
	}
	return 0
}
