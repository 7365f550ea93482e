package image_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"testing"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/internal/diag"
	"example.com/quire/pdf/internal/emit/kflate"
	pdfimage "example.com/quire/pdf/internal/image"
)

func newStore(cache, budget int64) *pdfimage.Store {
	deflater := kflate.New()
	return pdfimage.NewStore(pdfimage.Options{
		Deflate: deflater.Writer, CacheBytes: cache, DecodeBudget: budget,
		Best: func(dst, src []byte) ([]byte, error) { return deflater.Deflate(dst, src, cos.LevelBest) },
	})
}

// predictor returns the parameters of a stream of samples; of one without, Bits 0 and how many
// colours a pixel has.
func predictor(x *pdfimage.XObject) pdfimage.Predictor {
	switch {
	case x.Predictor != nil:
		return *x.Predictor
	case x.Palette != nil || x.Space == "DeviceGray":
		return pdfimage.Predictor{Colors: 1}
	case x.Space == "DeviceRGB":
		return pdfimage.Predictor{Colors: 3}
	}
	return pdfimage.Predictor{Colors: 4}
}

// open opens an image as the only one of a document.
func open(data []byte, l diag.Limits) (*pdfimage.Image, error) {
	return newStore(0, 1<<30).Session(l).Open(context.Background(), data)
}

func encodePNG(tb testing.TB, m image.Image) []byte {
	tb.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func encodeJPEG(tb testing.TB, m image.Image) []byte {
	tb.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, nil); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

var bounds = image.Rect(0, 0, 7, 5)

func translucent() *image.NRGBA {
	m := image.NewNRGBA(bounds)
	for i := range m.Pix {
		m.Pix[i] = byte(i * 3)
	}
	return m
}

func TestOpenPassesThrough(t *testing.T) {
	gray := image.NewGray(bounds)
	rgb := image.NewRGBA(bounds)
	for i := range rgb.Pix {
		rgb.Pix[i] = 255
	}
	deep := image.NewGray16(bounds)
	pal := image.NewPaletted(bounds, color.Palette{color.Black, color.White})
	for _, c := range []struct {
		name, filter, space string
		data                []byte
		bits, palette       int
	}{
		{"gray png", "FlateDecode", "DeviceGray", encodePNG(t, gray), 8, 0},
		{"rgb png", "FlateDecode", "DeviceRGB", encodePNG(t, rgb), 8, 0},
		{"16-bit png", "FlateDecode", "DeviceGray", encodePNG(t, deep), 8, 0},
		{"palette png", "FlateDecode", "DeviceRGB", encodePNG(t, pal), 1, 6},
		{"gray jpeg", "DCTDecode", "DeviceGray", encodeJPEG(t, gray), 8, 0},
		{"colour jpeg", "DCTDecode", "DeviceRGB", encodeJPEG(t, rgb), 8, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			img, err := open(c.data, diag.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			x := img.XObject()
			if x.Filter != c.filter || x.Space != c.space || x.Bits != c.bits || len(x.Palette) != c.palette || x.Mask != nil {
				t.Errorf("%s %s %d bits, palette %d", x.Filter, x.Space, x.Bits, len(x.Palette))
			}
			if img.Width() != 7 || img.Height() != 5 || x.Width != 7 || x.Height != 5 {
				t.Errorf("%d by %d", img.Width(), img.Height())
			}
			if c.filter == "DCTDecode" && !bytes.Equal(x.Data, c.data) {
				t.Error("the JPEG data is not passed through")
			}
			other, err := open(bytes.Clone(c.data), diag.Limits{})
			if err != nil || other.Hash() != img.Hash() {
				t.Error("equal bytes have different hashes")
			}
		})
	}
}

func TestOpenAlpha(t *testing.T) {
	for name, data := range map[string][]byte{
		"RGBA":                         encodePNG(t, translucent()),
		"transparent entry of palette": encodePNG(t, image.NewPaletted(bounds, color.Palette{color.NRGBA{}, color.White})),
	} {
		img, err := open(data, diag.Limits{})
		if err != nil || img.XObject().Mask == nil || img.XObject().Mask.Space != "DeviceGray" {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A channel of opacity that is full everywhere is none.
	if img, err := open(rawPNG(7, 5, 8, 6, false, nil, nil, func(_, _, c int) uint16 { return []uint16{0, 0, 0, 255}[c] }), diag.Limits{}); err != nil || img.XObject().Mask != nil {
		t.Errorf("opaque RGBA has a mask: %v", err)
	}
}

// app1 puts an EXIF segment with an orientation into a JPEG.
func app1(data []byte, order binary.AppendByteOrder, mark string, orientation uint16) []byte {
	t := []byte(mark)
	t = order.AppendUint16(t, 42)
	t = order.AppendUint32(t, 8)
	t = order.AppendUint16(t, 2)
	for _, tag := range []uint16{0x010F, 0x0112} {
		t = order.AppendUint16(t, tag)
		t = order.AppendUint16(t, 3)
		t = order.AppendUint32(t, 1)
		t = order.AppendUint16(t, orientation)
		t = order.AppendUint16(t, 0)
	}
	seg := append([]byte("Exif\x00\x00"), t...)
	out := append([]byte{}, data[:2]...)
	out = append(out, 0xFF, 0xE1)
	out = binary.BigEndian.AppendUint16(out, uint16(len(seg)+2)) //nolint:gosec // G115: a short segment
	out = append(out, seg...)
	return append(out, data[2:]...)
}

// TestOrientation maps the corners of the stored image as EXIF says: where the
// first row and first column of the stored image are seen.
func TestOrientation(t *testing.T) {
	plain := encodeJPEG(t, image.NewGray(bounds))
	// The stored top left corner (0,1 in PDF's unit square) is seen here.
	corner := map[uint16][2]int{1: {0, 1}, 2: {1, 1}, 3: {1, 0}, 4: {0, 0}, 5: {0, 1}, 6: {1, 1}, 7: {1, 0}, 8: {0, 0}}
	for o := uint16(0); o <= 9; o++ {
		data := app1(plain, binary.LittleEndian, "II", o)
		if o%2 == 0 {
			data = app1(plain, binary.BigEndian, "MM", o)
		}
		img, err := open(data, diag.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		want, ok := corner[o]
		if !ok {
			want = corner[1]
		}
		m := img.Matrix()
		if got := [2]int{m[2] + m[4], m[3] + m[5]}; got != want {
			t.Errorf("orientation %d: the top left corner is seen at %v, want %v", o, got, want)
		}
		if turned := o >= 5 && o <= 8; turned != (img.Width() == 5) {
			t.Errorf("orientation %d: %d by %d", o, img.Width(), img.Height())
		}
	}
	for _, bad := range []string{"Exif\x00\x00", "Exif\x00\x00XX______", "Exif\x00\x00II*\x00\xFF\xFF\xFF\x7F", "Exif\x00\x00II*\x00\x08\x00\x00\x00\x05\x00", "other"} {
		out := append([]byte{0xFF, 0xD8, 0xFF, 0xE1}, binary.BigEndian.AppendUint16(nil, uint16(len(bad)+2))...) //nolint:gosec // G115: a short segment
		out = append(append(out, bad...), plain[2:]...)
		if img, err := open(out, diag.Limits{}); err != nil || img.Width() != 7 {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// chunk makes a PNG chunk.
func chunk(kind string, body []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(body))) //nolint:gosec // G115: a short chunk
	b = append(b, kind...)
	b = append(b, body...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
}

func ihdr(w, h uint32, bits, kind, interlace byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, w)
	b = binary.BigEndian.AppendUint32(b, h)
	return chunk("IHDR", append(b, bits, kind, 0, 0, interlace))
}

func TestOpenRefuses(t *testing.T) {
	sig := "\x89PNG\r\n\x1a\n"
	good := encodePNG(t, image.NewGray(bounds))
	jpg := encodeJPEG(t, image.NewGray(bounds))
	join := func(parts ...[]byte) []byte { return append([]byte(sig), bytes.Join(parts, nil)...) }
	flip := func(b []byte, i int) []byte {
		c := bytes.Clone(b)
		c[i] ^= 0xFF
		return c
	}
	sof := bytes.Index(jpg, []byte{0xFF, 0xC0})
	with := func(i int, v byte) []byte {
		c := bytes.Clone(jpg)
		c[sof+i] = v
		return c
	}
	end := chunk("IEND", nil)
	for name, data := range map[string][]byte{
		"nothing": nil, "gif": []byte("GIF89a"), "png cut": good[:20], "png checksum": flip(good, 17), "png no end": good[:len(good)-12],
		"png no header":  join(chunk("IDAT", nil), end),
		"png two":        join(ihdr(1, 1, 8, 0, 0), ihdr(1, 1, 8, 0, 0)),
		"png no size":    join(ihdr(0, 1, 8, 0, 0), end),
		"png bits":       join(ihdr(1, 1, 3, 0, 0), end),
		"png kind":       join(ihdr(1, 1, 8, 5, 0), end),
		"png short head": join(chunk("IHDR", []byte{1}), end),
		"png no data":    join(ihdr(1, 1, 8, 0, 0), end),
		"png no palette": join(ihdr(7, 5, 8, 3, 0), goodIDAT(t), end),
		"png few rows":   join(ihdr(7, 6, 8, 0, 0), goodIDAT(t), end),
		"png many rows":  join(ihdr(7, 4, 8, 0, 0), goodIDAT(t), end),
		"png interlaced": join(ihdr(7, 5, 8, 0, 1), goodIDAT(t), end),
		"png garbage":    join(ihdr(7, 5, 8, 0, 0), chunk("IDAT", []byte("garbage")), end),
		"jpeg cut":       jpg[:30], "jpeg body": jpg[:len(jpg)-40], "jpeg no frame": append([]byte{0xFF, 0xD8, 0xFF, 0xDA, 0, 2}, jpg[100:]...),
		"jpeg marker": {0xFF, 0xD8, 0xFF, 0xE0, 0, 2, 1, 2, 3, 4}, "jpeg end": {0xFF, 0xD8, 0xFF, 0xD9, 0, 0},
		"jpeg 12 bits": with(4, 12), "jpeg arithmetic": with(1, 0xC9), "jpeg four components": with(9, 4), "jpeg no width": with(8, 0),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := open(data, diag.Limits{})
			if !errors.Is(err, pdfimage.ErrFormat) && !errors.Is(err, diag.ErrUnsupported) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// goodIDAT is the data chunk of a gray image of 7 by 5 pixels.
func goodIDAT(tb testing.TB) []byte {
	tb.Helper()
	good := encodePNG(tb, image.NewGray(bounds))
	i := bytes.Index(good, []byte("IDAT"))
	n := binary.BigEndian.Uint32(good[i-4:])
	return good[i-4 : i+8+int(n)]
}

// TestOpenLimits: the stated size is judged before anything is decoded.
func TestOpenLimits(t *testing.T) {
	huge := append([]byte("\x89PNG\r\n\x1a\n"), ihdr(1<<20, 1<<20, 8, 0, 0)...)
	for name, c := range map[string]struct {
		data []byte
		l    diag.Limits
	}{
		"pixels":     {huge, diag.Limits{}},
		"huge":       {append([]byte("\x89PNG\r\n\x1a\n"), ihdr(1<<31, 1, 8, 0, 0)...), diag.Limits{}},
		"bytes":      {encodePNG(t, translucent()), diag.Limits{ImageBytes: 20}},
		"few pixels": {encodeJPEG(t, image.NewGray(bounds)), diag.Limits{ImagePixels: 34}},
	} {
		if _, err := open(c.data, c.l); !errors.Is(err, diag.ErrLimit) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzOpen(f *testing.F) {
	f.Add(encodePNG(f, translucent()))
	f.Add(encodePNG(f, image.NewPaletted(bounds, color.Palette{color.Black, color.White})))
	f.Add(encodeJPEG(f, image.NewGray(bounds)))
	f.Add(app1(encodeJPEG(f, image.NewGray(bounds)), binary.BigEndian, "MM", 6))
	f.Fuzz(func(t *testing.T, data []byte) {
		img, err := open(data, diag.Limits{ImagePixels: 1 << 16})
		if err != nil {
			return
		}
		if img.Width() <= 0 || img.Height() <= 0 || img.XObject().Data == nil {
			t.Errorf("%d by %d", img.Width(), img.Height())
		}
	})
}
