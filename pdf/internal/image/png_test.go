package image_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"
	"sync"
	"testing"

	"example.com/quire/pdf/internal/diag"
	"example.com/quire/pdf/internal/emit/kflate"
	pdfimage "example.com/quire/pdf/internal/image"
)

// passes of an interlaced PNG (ISO/IEC 15948, 8.2); of another the whole.
func passes(interlaced bool) [][4]int {
	if !interlaced {
		return [][4]int{{0, 0, 1, 1}}
	}
	return [][4]int{{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}}
}

var channelsOf = map[byte]int{0: 1, 2: 3, 3: 1, 4: 2, 6: 4}

// rawPNG writes a PNG of any kind, its rows unfiltered, in two IDAT chunks.
func rawPNG(w, h int, bits, kind byte, interlaced bool, palette, trns []byte, sample func(x, y, c int) uint16) []byte {
	var rows bytes.Buffer
	zw := zlib.NewWriter(&rows)
	ch := channelsOf[kind]
	for _, p := range passes(interlaced) {
		for y := p[1]; y < h; y += p[3] {
			row := []byte{0}
			acc, n := 0, 0
			for x := p[0]; x < w; x += p[2] {
				for c := range ch {
					v := sample(x, y, c)
					if bits == 16 {
						row = binary.BigEndian.AppendUint16(row, v)
						continue
					}
					acc, n = acc<<bits|int(v)&(1<<bits-1), n+int(bits)
					if n == 8 {
						row = append(row, byte(acc)) //nolint:gosec // 8 bits
						acc, n = 0, 0
					}
				}
			}
			if n > 0 {
				row = append(row, byte(acc<<(8-n))) //nolint:gosec // 8 bits
			}
			if len(row) > 1 {
				_, _ = zw.Write(row)
			}
		}
	}
	_ = zw.Close()
	out := append([]byte("\x89PNG\r\n\x1a\n"), ihdr(uint32(w), uint32(h), bits, kind, map[bool]byte{true: 1}[interlaced])...) //nolint:gosec // small sides
	if palette != nil {
		out = append(out, chunk("PLTE", palette)...)
	}
	if trns != nil {
		out = append(out, chunk("tRNS", trns)...)
	}
	half := rows.Len() / 2
	out = append(out, chunk("IDAT", rows.Bytes()[:half])...)
	out = append(out, chunk("IDAT", rows.Bytes()[half:])...)
	return append(out, chunk("IEND", nil)...)
}

// samples inflates an image stream and undoes its prediction (ISO 32000-2, 7.4.4.4), bit by bit
// and without any of the code under test.
func samples(t *testing.T, x *pdfimage.XObject) [][]byte {
	t.Helper()
	zr, err := zlib.NewReader(bytes.NewReader(x.Data))
	if err != nil {
		t.Fatal(err)
	}
	p := predictor(x)
	stride, back := (x.Width*p.Colors*x.Bits+7)/8, max(1, p.Colors*x.Bits/8)
	if p.Bits != 0 && (p.Bits != x.Bits || p.Columns != x.Width) {
		t.Fatalf("predictor %v of an image of %d columns, %d bits", p, x.Width, x.Bits)
	}
	above := make([]byte, stride)
	var rows [][]byte
	for range x.Height {
		row := make([]byte, stride+1)
		to := row
		if p.Bits == 0 {
			to = row[1:]
		}
		if _, err := io.ReadFull(zr, to); err != nil {
			t.Fatal(err)
		}
		filter, r := row[0], row[1:]
		for i := range r {
			var a, b, c int
			b = int(above[i])
			if i >= back {
				a, c = int(r[i-back]), int(above[i-back])
			}
			q := a + b - c
			best := a
			for _, v := range []int{b, c} {
				if abs(q-v) < abs(q-best) {
					best = v
				}
			}
			r[i] += byte([]int{0, a, b, (a + b) / 2, best}[filter]) //nolint:gosec // a byte
		}
		rows = append(rows, r)
		above = r
	}
	if n, err := zr.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
		t.Fatalf("%d bytes behind the samples, %v", n, err)
	}
	return rows
}

func abs(v int) int { return max(v, -v) }

// pixel returns a colour of an embedded image.
func pixel(x *pdfimage.XObject, rows, mask [][]byte, px, py int) color.NRGBA {
	get := func(c int) byte {
		bit := (px*predictor(x).Colors + c) * x.Bits
		return rows[py][bit/8] >> (8 - x.Bits - bit%8) & byte(1<<x.Bits-1)
	}
	out := color.NRGBA{A: 255}
	switch {
	case x.Palette != nil:
		i := int(get(0)) * 3
		out.R, out.G, out.B = x.Palette[i], x.Palette[i+1], x.Palette[i+2]
	case x.Space == "DeviceGray":
		v := byte(int(get(0)) * 255 / (1<<x.Bits - 1)) //nolint:gosec // a byte
		out.R, out.G, out.B = v, v, v
	default:
		out.R, out.G, out.B = get(0), get(1), get(2)
	}
	if mask != nil {
		out.A = mask[py][px]
	}
	return out
}

// compare holds an embedded image against Go's decoder, reduced to 8 bits.
func compare(t *testing.T, data []byte) *pdfimage.XObject {
	t.Helper()
	// Large images are compressed as the rows come, which are then those of a small one.
	streamed, err := pdfimage.NewStore(pdfimage.Options{Deflate: kflate.New().Writer, DecodeBudget: 1 << 30}).Session(diag.Limits{}).Open(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	compareWith(t, data, streamed)
	img, err := open(data, diag.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return compareWith(t, data, img)
}

func compareWith(t *testing.T, data []byte, img *pdfimage.Image) *pdfimage.XObject {
	t.Helper()
	want, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	x := img.XObject()
	rows := samples(t, x)
	var mask [][]byte
	if x.Mask != nil {
		mask = samples(t, x.Mask)
	}
	for py := range x.Height {
		for px := range x.Width {
			ref := reduced(want.At(px, py))
			got := pixel(x, rows, mask, px, py)
			if ref.A == 0 {
				got.R, got.G, got.B = ref.R, ref.G, ref.B // the reference has no colour there
			}
			if got != ref {
				t.Fatalf("pixel %d, %d: %v, want %v", px, py, got, ref)
			}
		}
	}
	return x
}

// reduced drops the low byte of a colour without multiplying by its opacity and back.
func reduced(c color.Color) color.NRGBA {
	switch c := c.(type) {
	case color.NRGBA:
		return c
	case color.NRGBA64:
		return color.NRGBA{uint8(c.R >> 8), uint8(c.G >> 8), uint8(c.B >> 8), uint8(c.A >> 8)}
	}
	r, g, b, a := c.RGBA()
	return color.NRGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), uint8(a >> 8)} //nolint:gosec // 16 bits each
}

// deepPNG is an image of side x side pixels with 16 bits and opacity whose file is small.
func deepPNG(side int) []byte {
	return rawPNG(side, side, 16, 6, false, nil, nil, func(x, y, c int) uint16 {
		return uint16((x/64+y/64)*257 + c*4096) //nolint:gosec // any 16 bits
	})
}

func TestOneFileIsWorkedOnOnce(t *testing.T) {
	data := deepPNG(200)
	s := newStore(1<<20, 0)
	other := bytes.Clone(data)
	images := make([]*pdfimage.Image, 50)
	var wg sync.WaitGroup
	for i := range images {
		wg.Go(func() {
			img, err := s.Session(diag.Limits{}).Open(t.Context(), map[bool][]byte{true: data, false: other}[i%2 == 0])
			if err != nil {
				t.Error(err)
			}
			images[i] = img
		})
	}
	wg.Wait()
	for _, img := range images {
		if img != images[0] {
			t.Fatal("equal files were worked on twice")
		}
	}
	off, err := newStore(0, 0).Session(diag.Limits{}).Open(t.Context(), data)
	if err != nil || off == images[0] || !bytes.Equal(off.XObject().Data, images[0].XObject().Data) {
		t.Errorf("without the cache the stream differs: %v", err)
	}
	// One byte of a text chunk differs: another file, which shares nothing.
	end := len(data) - 12
	changed := append(append(bytes.Clone(data[:end]), chunk("tEXt", []byte("a\x00b"))...), data[end:]...)
	if img, err := s.Session(diag.Limits{}).Open(t.Context(), changed); err != nil || img == images[0] {
		t.Errorf("another file is the same image: %v", err)
	}
}

func TestCacheKeepsToItsBytes(t *testing.T) {
	s := newStore(3000, 0)
	first := encodePNG(t, translucent())
	img, err := s.Session(diag.Limits{}).Open(t.Context(), first)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		if _, err := s.Session(diag.Limits{}).Open(t.Context(), rawPNG(5, 5, 8, 6, false, nil, nil, func(x, _, _ int) uint16 { return uint16(x * i) })); err != nil { //nolint:gosec // small
			t.Fatal(err)
		}
	}
	if again, err := s.Session(diag.Limits{}).Open(t.Context(), first); err != nil || again == img {
		t.Errorf("an image stays for ever: %v", err)
	}
}

// TestDecodeBudgetIsWaitedFor: an interlaced image waits for its share until its context ends.
func TestDecodeBudgetIsWaitedFor(t *testing.T) {
	const side = 64
	data := func(i uint16) []byte {
		return rawPNG(side, side, 8, 6, true, nil, nil, func(x, _, _ int) uint16 { return uint16(x) + i }) //nolint:gosec // small
	}
	s := newStore(0, 4*side*side)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			if _, err := s.Session(diag.Limits{}).Open(t.Context(), data(uint16(i))); err != nil { //nolint:gosec // small
				t.Error(err)
			}
		})
	}
	wg.Wait()
	small := newStore(0, 4*side*side-1)
	if _, err := small.Session(diag.Limits{}).Open(t.Context(), data(0)); !errors.Is(err, diag.ErrLimit) {
		t.Errorf("more than the budget: %v", err)
	}
	if _, err := s.Session(diag.Limits{DecodedBytes: 4*side*side - 1}).Open(t.Context(), data(0)); !errors.Is(err, diag.ErrLimit) {
		t.Errorf("more than the document's share: %v", err)
	}
	two := s.Session(diag.Limits{DecodedBytes: 6 * side * side})
	if _, err := two.Open(t.Context(), data(0)); err != nil {
		t.Error(err)
	}
	if _, err := two.Open(t.Context(), data(1)); !errors.Is(err, diag.ErrLimit) {
		t.Errorf("two images beyond the document's share: %v", err)
	}
}

func TestCancelledImageIsNotKept(t *testing.T) {
	data := deepPNG(300)
	s := newStore(1<<20, 0)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Session(diag.Limits{}).Open(ctx, data); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := s.Session(diag.Limits{}).Open(t.Context(), data); err != nil {
		t.Errorf("the next document: %v", err)
	}
}

// TestSmallImagesAreShortestWithOrWithoutFilters: a drawing is kept without the filters of PNG, a
// gradient with them, and each is no longer than the same rows in a large image.
func TestSmallImagesAreShortestWithOrWithoutFilters(t *testing.T) {
	drawing := image.NewNRGBA(image.Rect(0, 0, 120, 60))
	gradient := image.NewNRGBA(drawing.Rect)
	for i := range drawing.Pix {
		x, y := i/4%120, i/480
		if drawing.Pix[i] = byte(x / 9 * 40 & (y / 7 * 60)); i%4 == 3 { //nolint:gosec // any byte
			drawing.Pix[i] = byte(y)
		}
		gradient.Pix[i] = byte(x*(i%4+1) + y*y/16) //nolint:gosec // any byte
	}
	for name, c := range map[string]struct {
		image  *image.NRGBA
		filter bool
	}{"drawing": {drawing, false}, "gradient": {gradient, true}} {
		data := encodePNG(t, c.image)
		x := compare(t, data)
		if (x.Predictor != nil) != c.filter {
			t.Errorf("%s: predictor %v", name, x.Predictor)
		}
		img, err := pdfimage.NewStore(pdfimage.Options{Deflate: kflate.New().Writer}).Session(diag.Limits{}).Open(t.Context(), data)
		if err != nil {
			t.Fatal(err)
		}
		if large := img.XObject(); len(x.Data) > len(large.Data) || len(x.Mask.Data) > len(large.Mask.Data) {
			t.Errorf("%s: %d and %d bytes, %d and %d in a large image", name, len(x.Data), len(x.Mask.Data), len(large.Data), len(large.Mask.Data))
		}
	}
}

func BenchmarkDeepPNG(b *testing.B) {
	data := deepPNG(2000)
	b.SetBytes(2000 * 2000 * 8)
	for b.Loop() {
		if _, err := open(data, diag.Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}
