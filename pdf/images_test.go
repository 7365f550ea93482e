package pdf_test

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"sync"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/doc"
)

// interlacedPNG is an interlaced RGBA image (ISO/IEC 15948, 8.2): one that has to be held whole.
func interlacedPNG(side int, shade byte) []byte {
	var data bytes.Buffer
	zw := zlib.NewWriter(&data)
	for _, p := range [][4]int{{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}} {
		row := make([]byte, 1+4*((side-p[0]+p[2]-1)/p[2]))
		for i := range row[1:] {
			row[1+i] = shade
		}
		for y := p[1]; y < side; y += p[3] {
			_, _ = zw.Write(row) // to memory
		}
	}
	_ = zw.Close()
	chunk := func(to []byte, kind string, body []byte) []byte {
		to = binary.BigEndian.AppendUint32(to, uint32(len(body))) //nolint:gosec // small
		from := len(to)
		to = append(append(to, kind...), body...)
		return binary.BigEndian.AppendUint32(to, crc32.ChecksumIEEE(to[from:]))
	}
	head := binary.BigEndian.AppendUint32(nil, uint32(side)) //nolint:gosec // small
	head = binary.BigEndian.AppendUint32(head, uint32(side)) //nolint:gosec // small
	out := chunk([]byte("\x89PNG\r\n\x1a\n"), "IHDR", append(head, 8, 6, 0, 0, 1))
	return chunk(chunk(out, "IDAT", data.Bytes()), "IEND", nil)
}

func renderImage(t *testing.T, e *pdf.Engine, w io.Writer, data []byte) error {
	t.Helper()
	_, err := e.Build(t.Context(), w, pdf.RenderOptions{}, func(b *doc.Builder) error {
		b.Image(doc.Image{Name: "photo.png", Data: data, Alt: "A photo"})
		return nil
	})
	return err
}

// TestParallelImagesWaitForTheBudget: ten documents, of which one at a time finds room for its
// image, wait for each other and are all made.
func TestParallelImagesWaitForTheBudget(t *testing.T) {
	const side = 200
	renderInParallel(t, pdf.Config{DecodeBudget: 4 * side * side}, side)
}

// renderInParallel makes ten documents, each with an image of its own, at once.
func renderInParallel(t *testing.T, c pdf.Config, side int) {
	t.Helper()
	e, err := pdf.New(c)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for shade := range byte(10) {
		wg.Go(func() {
			if err := renderImage(t, e, io.Discard, interlacedPNG(side, shade)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// TestImageBeyondTheBudgetIsALimit: the error is typed and names the image's place.
func TestImageBeyondTheBudgetIsALimit(t *testing.T) {
	data := interlacedPNG(100, 1)
	for name, c := range map[string]pdf.Config{
		"DecodeBudget": {DecodeBudget: 4*100*100 - 1},
		"DecodedBytes": {Limits: pdf.Limits{DecodedBytes: 4*100*100 - 1}},
		"ImagePixels":  {Limits: pdf.Limits{ImagePixels: 100*100 - 1}},
	} {
		e, err := pdf.New(c)
		if err != nil {
			t.Fatal(err)
		}
		err = renderImage(t, e, io.Discard, data)
		d, ok := errors.AsType[*pdf.DiagnosticError](err)
		if !ok || !errors.Is(err, pdf.ErrLimit) || d.Diagnostics[0].Code != "X314" || !bytes.Contains([]byte(d.Error()), []byte(name)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestImageCacheChangesNoByte: two engines, one without caches, write the same.
func TestImageCacheChangesNoByte(t *testing.T) {
	var files [2][3]bytes.Buffer
	for i, c := range []pdf.Config{{}, {Cache: pdf.CacheLimits{Off: true}}} {
		e, err := pdf.New(c)
		if err != nil {
			t.Fatal(err)
		}
		for j := range files[i] {
			if err := renderImage(t, e, &files[i][j], interlacedPNG(50, byte(j/2))); err != nil {
				t.Fatal(err)
			}
		}
	}
	for j := range files[0] {
		if !bytes.Equal(files[0][j].Bytes(), files[1][j].Bytes()) {
			t.Errorf("document %d differs with the cache", j)
		}
	}
	if !bytes.Equal(files[0][0].Bytes(), files[0][1].Bytes()) || bytes.Equal(files[0][0].Bytes(), files[0][2].Bytes()) {
		t.Error("equal images give other files, or other images the same")
	}
}

// TestImagesThatAreKeptAreNotTheCallers: what a caller does with its memory when its document is
// made changes no image of another one.
func TestImagesThatAreKeptAreNotTheCallers(t *testing.T) {
	passed := picture(t, false) // a PNG whose samples are embedded as they are
	for name, data := range map[string][]byte{"JPEG": photo(t), "PNG": passed, "interlaced PNG": interlacedPNG(16, 7)} {
		var want, got bytes.Buffer
		if err := renderImage(t, newEngine(t, pdf.Config{}), &want, data); err != nil {
			t.Fatal(err)
		}
		e, buf := newEngine(t, pdf.Config{}), bytes.Clone(data)
		if err := renderImage(t, e, io.Discard, buf); err != nil {
			t.Fatal(err)
		}
		for i := range buf {
			buf[i] = 'S' // what the caller reads next
		}
		if err := renderImage(t, e, &got, data); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want.Bytes()) {
			t.Errorf("%s: the document of another caller has what was read into the first one's memory", name)
		}
	}
}
