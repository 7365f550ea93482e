package pdftest

import (
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Text returns the text that pdftotext extracts, in reading order, pages divided
// by form feeds.
func Text(tb testing.TB, file string) string {
	tb.Helper()
	out, errs, code := run(tb, "pdftotext", "-enc", "UTF-8", file, "-")
	if code != 0 || errs != "" {
		tb.Fatalf("pdftotext %s: exit %d: %s", filepath.Base(file), code, errs)
	}
	return out
}

// Words returns the extracted text as words: divided by white space, whatever
// the lines and pages.
func Words(tb testing.TB, file string) []string {
	tb.Helper()
	return strings.Fields(Text(tb, file))
}

// Word is a word with its place in points from the top left corner of its page.
type Word struct {
	Page                   int
	XMin, YMin, XMax, YMax float64
	Text                   string
}

// Boxes returns the words of a file with their places, by pdftotext -bbox.
func Boxes(tb testing.TB, file string) []Word {
	tb.Helper()
	out, errs, code := run(tb, "pdftotext", "-enc", "UTF-8", "-bbox", file, "-")
	if code != 0 {
		tb.Fatalf("pdftotext -bbox %s: exit %d: %s", filepath.Base(file), code, errs)
	}
	var words []Word
	page := 0
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "<page ") {
			page++
		}
		rest, ok := strings.CutPrefix(line, "<word ")
		if !ok {
			continue
		}
		w := Word{Page: page}
		if _, err := fmt.Sscanf(rest, `xMin="%f" yMin="%f" xMax="%f" yMax="%f">`, &w.XMin, &w.YMin, &w.XMax, &w.YMax); err != nil {
			tb.Fatalf("pdftotext -bbox %s: line %q: %v", filepath.Base(file), line, err)
		}
		_, s, _ := strings.Cut(rest, ">")
		w.Text = unescape.Replace(strings.TrimSuffix(s, "</word>"))
		words = append(words, w)
	}
	return words
}

var unescape = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&quot;", `"`, "&apos;", "'", "&amp;", "&")

// Font is a line of pdffonts.
type Font struct {
	Name                        string
	Embedded, Subset, ToUnicode bool
}

// Fonts returns the fonts of a file.
func Fonts(tb testing.TB, file string) []Font {
	tb.Helper()
	out, errs, code := run(tb, "pdffonts", file)
	if code != 0 || errs != "" {
		tb.Fatalf("pdffonts %s: exit %d: %s", filepath.Base(file), code, errs)
	}
	var fonts []Font
	for i, line := range strings.Split(strings.TrimRight(out, "\n"), "\n") {
		f := strings.Fields(line)
		// name, type (one or two words), encoding, emb, sub, uni, object number
		if i < 2 || len(f) < 7 {
			continue
		}
		yes := func(back int) bool { return f[len(f)-back] == "yes" }
		fonts = append(fonts, Font{Name: f[0], Embedded: yes(5), Subset: yes(4), ToUnicode: yes(3)})
	}
	return fonts
}

// StructText returns the structure tree with its text as pdfinfo prints it.
func StructText(tb testing.TB, file string) string {
	tb.Helper()
	out, errs, code := run(tb, "pdfinfo", "-struct-text", file)
	if code != 0 || errs != "" {
		tb.Fatalf("pdfinfo -struct-text %s: exit %d: %s", filepath.Base(file), code, errs)
	}
	return out
}

// Info returns the lines of pdfinfo by their names.
func Info(tb testing.TB, file string) map[string]string {
	tb.Helper()
	out, errs, code := run(tb, "pdfinfo", file)
	if code != 0 {
		tb.Fatalf("pdfinfo %s: exit %d: %s", filepath.Base(file), code, errs)
	}
	info := map[string]string{}
	for line := range strings.Lines(out) {
		if k, v, ok := strings.Cut(line, ":"); ok {
			info[k] = strings.TrimSpace(v)
		}
	}
	return info
}

// Raster draws the pages with pdftoppm. A message of the renderer fails the
// test.
func Raster(tb testing.TB, file string, dpi int) []image.Image {
	tb.Helper()
	return readPNGs(tb, rasterFiles(tb, "pdftoppm", file, dpi))
}

// RasterExact draws the pages with pdftocairo, which gives the pixels of an image as they are where
// the page has one for each: pdftoppm smooths images that it does not make smaller.
func RasterExact(tb testing.TB, file string, dpi int) []image.Image {
	tb.Helper()
	return readPNGs(tb, rasterFiles(tb, "pdftocairo", file, dpi))
}

func readPNGs(tb testing.TB, names []string) []image.Image {
	tb.Helper()
	pages := make([]image.Image, len(names))
	for i, name := range names {
		pages[i] = readPNG(tb, name)
	}
	return pages
}

// rasterFiles draws the pages of a file by a tool of poppler and returns the names of their PNG
// files.
func rasterFiles(tb testing.TB, tool, file string, dpi int) []string {
	tb.Helper()
	dir := tb.TempDir()
	_, errs, code := run(tb, tool, "-r", fmt.Sprint(dpi), "-png", file, filepath.Join(dir, "p"))
	if code != 0 || errs != "" {
		tb.Fatalf("%s %s: exit %d: %s", tool, filepath.Base(file), code, errs)
	}
	names, err := filepath.Glob(filepath.Join(dir, "p-*.png"))
	if err != nil {
		tb.Fatal(err)
	}
	slices.Sort(names)
	return names
}

// RasterFirst draws the first page of a file with pdftoppm, at 72 dpi and as it is cropped; nil: it
// does not.
func RasterFirst(tb testing.TB, file string) image.Image {
	tb.Helper()
	out, _, code := run(tb, "pdftoppm", "-r", "72", "-cropbox", "-f", "1", "-l", "1", "-singlefile", file)
	if code != 0 {
		return nil
	}
	return readPPM(out)
}

// readPPM reads a picture in the binary format of Netpbm (PPM, 8 bits), which takes a renderer a
// tenth of the time that PNG takes; nil: it is none.
func readPPM(s string) image.Image {
	var width, height, most int
	if n, err := fmt.Sscanf(s, "P6\n%d %d\n%d\n", &width, &height, &most); n != 3 || err != nil || most != 255 || width < 0 || height < 0 {
		return nil
	}
	pixels := len(s) - 3*width*height
	if pixels < 0 {
		return nil
	}
	m := image.NewRGBA(image.Rect(0, 0, width, height))
	for i, at := 0, pixels; i < len(m.Pix); i, at = i+4, at+3 {
		m.Pix[i], m.Pix[i+1], m.Pix[i+2], m.Pix[i+3] = s[at], s[at+1], s[at+2], 255
	}
	return m
}

func readPNG(tb testing.TB, name string) image.Image {
	tb.Helper()
	f, err := os.Open(name)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	img, err := png.Decode(f)
	if err != nil {
		tb.Fatal(err)
	}
	return img
}

// Attachments returns the contents of the files that a document carries by their names, by
// pdfdetach.
func Attachments(tb testing.TB, file string) map[string]string {
	tb.Helper()
	dir := tb.TempDir()
	if out, errs, code := run(tb, "pdfdetach", "-saveall", "-o", dir, file); code != 0 {
		tb.Fatalf("pdfdetach %s: exit %d: %s%s", filepath.Base(file), code, out, errs)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		tb.Fatal(err)
	}
	files := map[string]string{}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			tb.Fatal(err)
		}
		files[e.Name()] = string(b)
	}
	return files
}
