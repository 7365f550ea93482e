package pdftest

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"testing"
)

// Barcode is a barcode that a reader found on a page.
type Barcode struct {
	Page   int    // from 1
	Format string // as the reader calls it, such as QRCode or EAN-13
	Text   string
}

// zxingScript prints what zxing-cpp reads in the PNG files named as arguments.
const zxingScript = `
import json, sys, zxingcpp
from PIL import Image
found = []
for page, name in enumerate(sys.argv[1:], 1):
    for b in zxingcpp.read_barcodes(Image.open(name), text_mode=zxingcpp.TextMode.Plain):
        found.append({"Page": page, "Format": b.format.name, "Text": b.text})
print(json.dumps(found))
`

var zbarSymbol = regexp.MustCompile(`(?s)<symbol type='([^']+)'[^>]*><data[^>]*><!\[CDATA\[(.*?)\]\]></data>`)

// ReadBarcodes returns what two readers, zxing-cpp and zbar, read on the pages of a file, drawn
// at dpi by poppler.
func ReadBarcodes(tb testing.TB, file string, dpi int) (zxing, zbar []Barcode) {
	tb.Helper()
	Need(tb, "zxing")
	Need(tb, "zbarimg")
	names := rasterFiles(tb, "pdftoppm", file, dpi)
	out, errs, code := run(tb, "zxing", append([]string{"-c", zxingScript}, names...)...)
	if err := json.Unmarshal([]byte(out), &zxing); err != nil || code != 0 {
		tb.Fatalf("zxing %s: exit %d, %v: %s", filepath.Base(file), code, err, errs)
	}
	for i, name := range names {
		out, _, _ := run(tb, "zbarimg", "-q", "--xml", name) // exit 4: it found nothing
		for _, m := range zbarSymbol.FindAllStringSubmatch(out, -1) {
			zbar = append(zbar, Barcode{Page: i + 1, Format: m[1], Text: m[2]})
		}
	}
	return zxing, zbar
}
