package pdftest

import (
	"image"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
)

// MuPDF draws the pages of a file by mutool, a renderer that shares no code with poppler. Form
// fields are drawn as their appearances have them.
func MuPDF(tb testing.TB, file string, dpi int) (pages []image.Image) {
	tb.Helper()
	dir := tb.TempDir()
	out, errs, code := run(tb, "mutool", "draw", "-q", "-r", strconv.Itoa(dpi), "-o", filepath.Join(dir, "m%05d.png"), file)
	if code != 0 {
		tb.Fatalf("mutool: exit %d: %s%s", code, out, errs)
	}
	names, err := filepath.Glob(filepath.Join(dir, "m*.png"))
	if err != nil {
		tb.Fatal(err)
	}
	slices.Sort(names)
	for _, name := range names {
		pages = append(pages, readPNG(tb, name))
	}
	return pages
}

// MuPDFText returns the text that mutool finds on the pages of a file.
func MuPDFText(tb testing.TB, file string) string {
	tb.Helper()
	out, errs, code := run(tb, "mutool", "draw", "-q", "-F", "txt", file)
	if code != 0 {
		tb.Fatalf("mutool: exit %d: %s", code, errs)
	}
	return out
}

// MuPDFFirst draws the first page of a file by mutool, at 72 dpi; nil: it does not.
func MuPDFFirst(tb testing.TB, file string) image.Image {
	tb.Helper()
	out, _, code := run(tb, "mutool", "draw", "-q", "-r", "72", "-F", "ppm", "-o", "-", file, "1")
	if code != 0 {
		return nil
	}
	return readPPM(out)
}
