package image_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"io"
	"math/rand/v2"
	"os"
	"testing"

	"golang.org/x/image/tiff"

	"example.com/quire/pdf/internal/diag"
	pdfimage "example.com/quire/pdf/internal/image"
)

// samplesOf inflates a stream of 8-bit samples and takes its prediction from it.
func samplesOf(tb testing.TB, x *pdfimage.XObject) []byte {
	tb.Helper()
	if x.Filter != "FlateDecode" || x.Bits != 8 {
		tb.Fatalf("%s, %d bits", x.Filter, x.Bits)
	}
	r, err := zlib.NewReader(bytes.NewReader(x.Data))
	if err != nil {
		tb.Fatal(err)
	}
	raw, err := io.ReadAll(r)
	if err != nil {
		tb.Fatal(err)
	}
	p := predictor(x)
	n := p.Colors
	if p.Bits == 0 {
		if len(raw) != x.Width*n*x.Height {
			tb.Fatalf("%d bytes, want %d", len(raw), x.Width*n*x.Height)
		}
		return raw
	}
	stride := x.Width*n + 1
	if len(raw) != stride*x.Height {
		tb.Fatalf("%d bytes, want %d", len(raw), stride*x.Height)
	}
	out := make([]byte, 0, x.Width*n*x.Height)
	before := make([]byte, stride-1)
	for ; len(raw) > 0; raw = raw[stride:] {
		row := raw[1:stride]
		for i := range row {
			var a, c byte
			if i >= n {
				a, c = row[i-n], before[i-n]
			}
			switch raw[0] {
			case 0:
			case 4:
				row[i] += paethOf(a, before[i], c)
			default:
				tb.Fatalf("filter %d", raw[0])
			}
		}
		before = row
		out = append(out, row...)
	}
	return out
}

func paethOf(a, b, c byte) byte {
	p := int(a) + int(b) - int(c)
	away := func(v byte) int { return max(p-int(v), int(v)-p) }
	if away(a) <= away(b) && away(a) <= away(c) {
		return a
	}
	if away(b) <= away(c) {
		return b
	}
	return c
}

// pixels returns the colours of an embedded image, not multiplied by their opacity.
func pixels(tb testing.TB, x *pdfimage.XObject) []color.NRGBA {
	tb.Helper()
	colors := samplesOf(tb, x)
	out := make([]color.NRGBA, x.Width*x.Height)
	for i := range out {
		p := color.NRGBA{A: 255}
		switch {
		case x.Palette != nil:
			k := 3 * int(colors[i])
			p.R, p.G, p.B = x.Palette[k], x.Palette[k+1], x.Palette[k+2]
		case predictor(x).Colors == 1:
			p.R, p.G, p.B = colors[i], colors[i], colors[i]
		default:
			p.R, p.G, p.B = colors[3*i], colors[3*i+1], colors[3*i+2]
		}
		out[i] = p
	}
	if x.Mask != nil {
		for i, a := range samplesOf(tb, x.Mask) {
			out[i].A = a
		}
	}
	return out
}

// near reports whether two colours look the same: what nobody sees has no colour.
func near(a, b color.NRGBA, most int) bool {
	if a.A == 0 && b.A == 0 {
		return true
	}
	for _, d := range [4]int{int(a.R) - int(b.R), int(a.G) - int(b.G), int(a.B) - int(b.B), int(a.A) - int(b.A)} {
		if max(d, -d) > most {
			return false
		}
	}
	return true
}

func encodeGIF(tb testing.TB, p *image.Paletted, screen image.Point) []byte {
	tb.Helper()
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, &gif.GIF{Image: []*image.Paletted{p}, Delay: []int{0}, Config: image.Config{Width: screen.X, Height: screen.Y}}); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func encodeTIFF(tb testing.TB, m image.Image, o *tiff.Options) []byte {
	tb.Helper()
	var b bytes.Buffer
	if err := tiff.Encode(&b, m, o); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// noise has colours and opacities of all kinds.
func noise(w, h int, opaque bool) *image.NRGBA {
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // G404: the same each time
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i := range m.Pix {
		m.Pix[i] = byte(r.Uint32() >> 24)
		if opaque && i%4 == 3 {
			m.Pix[i] = 255
		}
	}
	return m
}

// TestOtherFormatsEqualTheirDecoders: GIF, WebP and TIFF are embedded pixel by pixel as the
// decoders of Go read them, with their opacity.
func TestOtherFormatsEqualTheirDecoders(t *testing.T) {
	pal := image.NewPaletted(bounds, color.Palette{color.NRGBA{}, color.White, color.NRGBA{200, 30, 30, 255}})
	for i := range pal.Pix {
		pal.Pix[i] = byte(i % 3)
	}
	gray16 := image.NewGray16(bounds)
	for i := range gray16.Pix {
		gray16.Pix[i] = byte(i * 5)
	}
	files := map[string][]byte{
		"gif": encodeGIF(t, pal, image.Pt(7, 5)), "tiff": encodeTIFF(t, noise(7, 5, false), nil),
		"tiff, deflated": encodeTIFF(t, noise(40, 30, true), &tiff.Options{Compression: tiff.Deflate, Predictor: true}),
		"tiff, 16 bits":  encodeTIFF(t, gray16, nil), "tiff, palette": encodeTIFF(t, pal, nil),
		"webp": readFile(t, "testdata/lossy.webp"), "webp, lossless": readFile(t, "testdata/lossless.webp"), "webp, alpha": readFile(t, "testdata/alpha.webp"),
	}
	for name, data := range files {
		img, err := open(data, diag.Limits{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want, _, err := image.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if b := want.Bounds(); img.Width() != b.Dx() || img.Height() != b.Dy() {
			t.Fatalf("%s: %d by %d", name, img.Width(), img.Height())
		}
		translucent := false
		for i, got := range pixels(t, img.XObject()) {
			x, y := i%img.Width(), i/img.Width()
			p := color.NRGBAModel.Convert(want.At(want.Bounds().Min.X+x, want.Bounds().Min.Y+y)).(color.NRGBA) //nolint:forcetypeassert // its own model
			translucent = translucent || p.A != 255
			if !near(got, p, 0) {
				t.Fatalf("%s: at %d, %d: %v, want %v", name, x, y, got, p)
			}
		}
		if translucent != (img.XObject().Mask != nil) {
			t.Errorf("%s: mask %v, translucent %v", name, img.XObject().Mask != nil, translucent)
		}
	}
}

func readFile(tb testing.TB, name string) []byte {
	tb.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// TestGIFSmallerThanItsScreen: around the image nothing is seen.
func TestGIFSmallerThanItsScreen(t *testing.T) {
	p := image.NewPaletted(image.Rect(2, 1, 4, 3), color.Palette{color.Black, color.White})
	p.Pix[0] = 1
	img, err := open(encodeGIF(t, p, image.Pt(6, 4)), diag.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for i, got := range pixels(t, img.XObject()) {
		want := color.NRGBA{}
		if x, y := i%6, i/6; x >= 2 && x < 4 && y >= 1 && y < 3 {
			want.A = 255
			if x == 2 && y == 1 {
				want = color.NRGBA{255, 255, 255, 255}
			}
		}
		if !near(got, want, 0) {
			t.Errorf("pixel %d is %v, want %v", i, got, want)
		}
	}
}

// TestImagesAreMadeSmaller: to the mean of what each pixel covers, by opacity; a JPEG stays one,
// and what has few pixels stays as it is.
func TestImagesAreMadeSmaller(t *testing.T) {
	const w, h = 90, 60
	source := noise(w, h, false)
	inside := func(data []byte, width, height int) *pdfimage.XObject {
		t.Helper()
		img, err := newStore(1<<20, 1<<30).Session(diag.Limits{}).OpenWithin(t.Context(), data, width, height)
		if err != nil {
			t.Fatal(err)
		}
		return img.XObject()
	}
	for _, size := range []image.Point{{30, 20}, {37, 23}, {1, 1}, {90, 20}, {89, 59}} {
		for name, data := range map[string][]byte{"png": encodePNG(t, source), "tiff": encodeTIFF(t, source, nil)} {
			x := inside(data, size.X, size.Y)
			if x.Width != size.X || x.Height != size.Y {
				t.Fatalf("%s: %d by %d, want %v", name, x.Width, x.Height, size)
			}
			for i, got := range pixels(t, x) {
				if want := meanOf(source, image.Rect(0, 0, size.X, size.Y), i%size.X, i/size.X); !near(got, want, 1) {
					t.Fatalf("%s to %v: pixel %d is %v, want %v", name, size, i, got, want)
				}
			}
		}
	}
	if x := inside(encodePNG(t, source), w, h); x.Width != w || x.Height != h {
		t.Error("an image that has no more pixels was made smaller")
	}
	smooth := image.NewRGBA(image.Rect(0, 0, 200, 100))
	for i := range smooth.Pix {
		smooth.Pix[i] = byte(i / 4 % 200)
	}
	x := inside(encodeJPEG(t, smooth), 50, 25)
	m, err := jpeg.Decode(bytes.NewReader(x.Data))
	if err != nil || x.Filter != "DCTDecode" || m.Bounds() != image.Rect(0, 0, 50, 25) {
		t.Fatalf("%s, %v", x.Filter, err)
	}
	for i := range 50 {
		r, _, _, _ := m.At(i, 12).RGBA()
		if d := int(r>>8) - (4*i + 2); max(d, -d) > 6 {
			t.Errorf("column %d is %d, want about %d", i, r>>8, 4*i+2)
		}
	}
	turned := app1(encodeJPEG(t, smooth), binary.BigEndian, "MM", 6)
	img, err := newStore(0, 1<<30).Session(diag.Limits{}).OpenWithin(t.Context(), turned, 25, 50)
	if err != nil || img.Width() != 25 || img.Height() != 50 || img.XObject().Width != 50 {
		t.Errorf("a turned image: %v", err)
	}
}

// meanOf computes a pixel of a smaller image in another way: by parts of pixels as real numbers.
func meanOf(m *image.NRGBA, to image.Rectangle, px, py int) color.NRGBA {
	fx, fy := float64(m.Rect.Dx())/float64(to.Dx()), float64(m.Rect.Dy())/float64(to.Dy())
	var r, g, b, a, area float64
	share := func(i int, from, to float64) float64 { return max(0, min(to, float64(i+1))-max(from, float64(i))) }
	for y := int(float64(py) * fy); y < m.Rect.Dy() && float64(y) < float64(py+1)*fy; y++ {
		for x := int(float64(px) * fx); x < m.Rect.Dx() && float64(x) < float64(px+1)*fx; x++ {
			s := share(x, float64(px)*fx, float64(px+1)*fx) * share(y, float64(py)*fy, float64(py+1)*fy)
			if s == 0 {
				continue
			}
			p := m.NRGBAAt(x, y)
			w := s * float64(p.A)
			r, g, b, a, area = r+w*float64(p.R), g+w*float64(p.G), b+w*float64(p.B), a+w, area+s
		}
	}
	if a == 0 {
		return color.NRGBA{}
	}
	return color.NRGBA{byte(r/a + 0.5), byte(g/a + 0.5), byte(b/a + 0.5), byte(a/area + 0.5)}
}

// testProfile is a profile of a header and one tag.
func testProfile(space string) []byte {
	b := make([]byte, 128+4+12+20)
	binary.BigEndian.PutUint32(b, uint32(len(b))) //nolint:gosec // G115: some hundred
	b[8] = 4
	copy(b[12:], "mntr"+space+"XYZ ")
	copy(b[36:], "acsp")
	binary.BigEndian.PutUint32(b[128:], 1)
	copy(b[132:], "wtpt")
	binary.BigEndian.PutUint32(b[136:], 144)
	binary.BigEndian.PutUint32(b[140:], 20)
	return b
}

// withProfile puts a profile into a JPEG, in parts.
func withProfile(data, profile []byte) []byte {
	out := bytes.Clone(data[:2])
	half := len(profile) / 2
	for i, part := range [][]byte{profile[half:], profile[:half]} { // the order is told by numbers
		seg := append([]byte("ICC_PROFILE\x00"), []byte{2, 1}[i], 2)
		seg = append(seg, part...)
		out = append(out, 0xFF, 0xE2)
		out = binary.BigEndian.AppendUint16(out, uint16(len(seg)+2)) //nolint:gosec // G115: some hundred
		out = append(out, seg...)
	}
	return append(out, data[2:]...)
}

// withICCP puts a profile into a PNG, behind its header.
func withICCP(data, profile []byte) []byte {
	var z bytes.Buffer
	w := zlib.NewWriter(&z)
	_, _ = w.Write(profile)
	_ = w.Close()
	body := append([]byte("iCCPname\x00\x00"), z.Bytes()...)
	const header = 8 + 25
	out := bytes.Clone(data[:header])
	out = binary.BigEndian.AppendUint32(out, uint32(len(body)-4)) //nolint:gosec // G115: some hundred
	out = append(out, body...)
	out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(body))
	return append(out, data[header:]...)
}

// TestProfilesAreKept: that of a JPEG, of a PNG, also when the image is made smaller; what is no
// profile of the image's colours is left out.
func TestProfilesAreKept(t *testing.T) {
	rgb := testProfile("RGB ")
	gray := image.NewGray(bounds)
	changed := func(at int, v byte) []byte {
		b := bytes.Clone(rgb)
		b[at] = v
		return b
	}
	for name, c := range map[string]struct {
		data []byte
		kept bool
	}{
		"jpeg":             {withProfile(encodeJPEG(t, noise(20, 20, true)), rgb), true},
		"png":              {withICCP(encodePNG(t, noise(20, 20, true)), rgb), true},
		"grey jpeg":        {withProfile(encodeJPEG(t, gray), testProfile("GRAY")), true},
		"grey of colours":  {withProfile(encodeJPEG(t, gray), rgb), false},
		"of CMYK":          {withICCP(encodePNG(t, noise(20, 20, true)), testProfile("CMYK")), false},
		"of version 9":     {withICCP(encodePNG(t, noise(20, 20, true)), changed(8, 9)), false},
		"cut short":        {withICCP(encodePNG(t, noise(20, 20, true)), rgb[:140]), false},
		"with a wild tag":  {withICCP(encodePNG(t, noise(20, 20, true)), changed(137, 9)), false},
		"with many tags":   {withICCP(encodePNG(t, noise(20, 20, true)), changed(128, 255)), false},
		"no profile":       {withICCP(encodePNG(t, noise(20, 20, true)), changed(36, 'x')), false},
		"of a link":        {withICCP(encodePNG(t, noise(20, 20, true)), changed(12, 'l')), false},
		"of another space": {withICCP(encodePNG(t, noise(20, 20, true)), changed(20, 'R')), false},
	} {
		for _, size := range []int{1000, 5} {
			img, err := newStore(0, 1<<30).Session(diag.Limits{}).OpenWithin(t.Context(), c.data, size, size)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			p := img.XObject().Profile
			if (p != nil) != c.kept {
				t.Errorf("%s: profile kept: %v", name, p != nil)
			}
			if p == nil {
				continue
			}
			r, err := zlib.NewReader(bytes.NewReader(p.Data))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(r); err != nil || len(got) != len(rgb) || string(got[36:40]) != "acsp" {
				t.Errorf("%s: %d bytes, %v", name, len(got), err)
			}
		}
	}
}

// TestCMYK: a JPEG of four components is passed through, said to be inverted where Adobe's marker
// says so; made smaller, it is four samples for each pixel.
func TestCMYK(t *testing.T) {
	data := references(t)["video-001.cmyk.jpeg"]
	img, err := open(data, diag.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if x := img.XObject(); x.Space != "DeviceCMYK" || !x.Inverted || !bytes.Equal(x.Data, data) {
		t.Errorf("%s, inverted: %v", x.Space, x.Inverted)
	}
	small, err := newStore(0, 1<<30).Session(diag.Limits{}).OpenWithin(t.Context(), data, 10, 10)
	if err != nil {
		t.Fatal(err)
	}
	x := small.XObject()
	if x.Space != "DeviceCMYK" || x.Inverted || len(samplesOf(t, x)) != 400 {
		t.Errorf("%s, %d by %d, inverted: %v", x.Space, x.Width, x.Height, x.Inverted)
	}
}

// TestDecodedImagesAreBounded: what a GIF, WebP or TIFF takes decoded is judged by its header.
func TestDecodedImagesAreBounded(t *testing.T) {
	big := encodeTIFF(t, image.NewNRGBA(image.Rect(0, 0, 600, 500)), &tiff.Options{Compression: tiff.Deflate})
	var limit *diag.LimitError
	if _, err := open(big, diag.Limits{DecodedBytes: 1_000_000}); !errors.As(err, &limit) || limit.Name != "DecodedBytes" {
		t.Errorf("a document's share: %v", err)
	}
	if _, err := open(big, diag.Limits{ImagePixels: 1000}); !errors.As(err, &limit) || limit.Name != "ImagePixels" {
		t.Errorf("pixels: %v", err)
	}
	if _, err := newStore(0, 1000).Session(diag.Limits{}).Open(context.Background(), big); !errors.As(err, &limit) || limit.Name != "DecodeBudget" {
		t.Errorf("the engine's budget: %v", err)
	}
	// The header of a lossless image says more than that of its file.
	bomb := []byte("RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00VP8L\x05\x00\x00\x00\x2f\xff\xff\xff\x0f\x00")
	binary.LittleEndian.PutUint32(bomb[4:], uint32(len(bomb)-8)) //nolint:gosec // G115: some bytes
	if _, err := open(bomb, diag.Limits{}); !errors.Is(err, pdfimage.ErrFormat) {
		t.Errorf("sizes that differ: %v", err)
	}
	for name, data := range map[string][]byte{"gif": []byte("GIF89a\x05"), "webp": []byte("RIFF\x00\x00\x00\x00WEBPVP8 "), "tiff": []byte("II*\x00\x08\x00\x00\x00\x00\x00")} {
		if _, err := open(data, diag.Limits{}); !errors.Is(err, pdfimage.ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzDecoded: GIF, WebP and TIFF end with an image or an error of their own, also when they are
// made smaller, and hold what their header said.
func FuzzDecoded(f *testing.F) {
	f.Add(encodeGIF(f, image.NewPaletted(bounds, color.Palette{color.Black, color.White}), image.Pt(9, 9)), 3, 2)
	f.Add(encodeTIFF(f, noise(7, 5, false), &tiff.Options{Compression: tiff.Deflate}), 1, 9)
	for _, name := range []string{"lossy", "lossless", "alpha"} {
		f.Add(readFile(f, "testdata/"+name+".webp"), 20, 20)
	}
	f.Add(withICCP(encodePNG(f, noise(5, 5, true)), testProfile("RGB ")), 2, 2)
	f.Fuzz(func(t *testing.T, data []byte, width, height int) {
		l := diag.Limits{ImagePixels: 250_000, DecodedBytes: 8 << 20}
		img, err := newStore(0, 16<<20).Session(l).OpenWithin(t.Context(), data, max(1, width), max(1, height))
		if err != nil {
			var limit *diag.LimitError
			if !errors.Is(err, pdfimage.ErrFormat) && !errors.Is(err, diag.ErrUnsupported) && !errors.As(err, &limit) {
				t.Fatalf("an error of no kind: %v", err)
			}
			return
		}
		if x := img.XObject(); x.Width < 1 || x.Height < 1 || len(x.Data) == 0 {
			t.Fatalf("%d by %d pixels, %d bytes", x.Width, x.Height, len(x.Data))
		}
	})
}
