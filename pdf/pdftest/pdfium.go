package pdftest

import (
	"bytes"
	"encoding/binary"
	"image"
	"os/exec"
	"strconv"
	"testing"
)

// pdfiumScript writes the pages of a file one after the other: width and height, then the pixels of
// each row from the top, red, green, blue.
const pdfiumScript = `
import struct, sys
import pypdfium2

with pypdfium2.PdfDocument(sys.argv[1]) as d:
    for page in d:
        m = page.render(scale=float(sys.argv[2]) / 72, rev_byteorder=True, force_bitmap_format=pypdfium2.raw.FPDFBitmap_BGR)
        sys.stdout.buffer.write(struct.pack(">II", m.width, m.height))
        pixels = bytes(m.buffer)
        for y in range(m.height):
            sys.stdout.buffer.write(pixels[y * m.stride:y * m.stride + 3 * m.width])
`

// PDFium draws the pages of a file by PDFium, the renderer of Chromium, which shares no code with
// poppler and MuPDF.
func PDFium(tb testing.TB, file string, dpi int) (pages []image.Image) {
	tb.Helper()
	cmd := exec.CommandContext(tb.Context(), Need(tb, "pdfium"), "-c", pdfiumScript, file, strconv.Itoa(dpi)) //nolint:gosec // G204: a judge, with a file of the test
	out, errs, code := output(tb, cmd)
	if code != 0 {
		tb.Fatalf("pdfium: exit %d: %s", code, errs)
	}
	for r := bytes.NewBufferString(out); r.Len() > 0; {
		var size [2]uint32
		if err := binary.Read(r, binary.BigEndian, &size); err != nil {
			tb.Fatalf("pdfium: %v", err)
		}
		m := image.NewRGBA(image.Rect(0, 0, int(size[0]), int(size[1])))
		pixels := r.Next(3 * len(m.Pix) / 4)
		if len(pixels) != 3*len(m.Pix)/4 {
			tb.Fatalf("pdfium: %d bytes of a page of %v", len(pixels), m.Rect)
		}
		for i := range len(m.Pix) / 4 {
			copy(m.Pix[4*i:], pixels[3*i:3*i+3])
			m.Pix[4*i+3] = 0xFF
		}
		pages = append(pages, m)
	}
	return pages
}
