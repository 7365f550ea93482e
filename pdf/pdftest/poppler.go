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
func Text(t testing.TB, file string) string {
	t.Helper()
	out, errs, code := run(t, "pdftotext", "-enc", "UTF-8", file, "-")
	if code != 0 || errs != "" {
		t.Fatalf("pdftotext %s: exit %d: %s", filepath.Base(file), code, errs)
	}
	return out
}

// Words returns the extracted text as words: divided by white space, whatever
// the lines and pages.
func Words(t testing.TB, file string) []string {
	t.Helper()
	return strings.Fields(Text(t, file))
}

// Word is a word with its place in points from the top left corner of its page.
type Word struct {
	Page                   int
	XMin, YMin, XMax, YMax float64
	Text                   string
}

// Boxes returns the words of a file with their places, by pdftotext -bbox.
func Boxes(t testing.TB, file string) []Word {
	t.Helper()
	out, errs, code := run(t, "pdftotext", "-enc", "UTF-8", "-bbox", file, "-")
	if code != 0 {
		t.Fatalf("pdftotext -bbox %s: exit %d: %s", filepath.Base(file), code, errs)
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
			t.Fatalf("pdftotext -bbox %s: line %q: %v", filepath.Base(file), line, err)
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
func Fonts(t testing.TB, file string) []Font {
	t.Helper()
	out, errs, code := run(t, "pdffonts", file)
	if code != 0 || errs != "" {
		t.Fatalf("pdffonts %s: exit %d: %s", filepath.Base(file), code, errs)
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
func StructText(t testing.TB, file string) string {
	t.Helper()
	out, errs, code := run(t, "pdfinfo", "-struct-text", file)
	if code != 0 || errs != "" {
		t.Fatalf("pdfinfo -struct-text %s: exit %d: %s", filepath.Base(file), code, errs)
	}
	return out
}

// Info returns the lines of pdfinfo by their names.
func Info(t testing.TB, file string) map[string]string {
	t.Helper()
	out, errs, code := run(t, "pdfinfo", file)
	if code != 0 {
		t.Fatalf("pdfinfo %s: exit %d: %s", filepath.Base(file), code, errs)
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
func Raster(t testing.TB, file string, dpi int) []image.Image {
	t.Helper()
	dir := t.TempDir()
	_, errs, code := run(t, "pdftoppm", "-r", fmt.Sprint(dpi), "-png", file, filepath.Join(dir, "p"))
	if code != 0 || errs != "" {
		t.Fatalf("pdftoppm %s: exit %d: %s", filepath.Base(file), code, errs)
	}
	names, err := filepath.Glob(filepath.Join(dir, "p-*.png"))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	pages := make([]image.Image, len(names))
	for i, name := range names {
		pages[i] = readPNG(t, name)
	}
	return pages
}

func readPNG(t testing.TB, name string) image.Image {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	return img
}
