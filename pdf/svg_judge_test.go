package pdf_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/font"
	"example.com/quire/pdf/font/liberation"
)

// drawing is one of testdata/drawings.txt.
type drawing struct {
	name string
	data []byte
}

// drawings reads the set that our drawings are judged by.
func drawings(tb testing.TB) []drawing {
	tb.Helper()
	text, err := os.ReadFile(filepath.FromSlash("testdata/drawings.txt"))
	if err != nil {
		tb.Fatal(err)
	}
	var out []drawing
	for part := range strings.SplitSeq(string(text), "\n-- ") {
		name, body, ok := strings.Cut(part, " --\n")
		if !ok {
			continue // what precedes the first
		}
		if !strings.HasPrefix(body, "<svg") || !strings.HasSuffix(strings.TrimSpace(body), "</svg>") || strings.HasPrefix(body, "<svg x=") {
			body = `<svg xmlns="http://www.w3.org/2000/svg" width="100" height="100">` + body + `</svg>`
		}
		out = append(out, drawing{name, []byte(strings.TrimSpace(body))})
	}
	return out
}

// gallery has the drawings, each in the top left corner of a page of its own or one below the
// other.
func gallery(all []drawing, apart bool) func(*doc.Builder) error {
	return func(b *doc.Builder) error {
		b.Title("Drawings").Lang("en")
		before := doc.BreakNone
		if apart {
			before = doc.BreakPage
			b.Page(doc.Master{Width: doc.MM(65), Height: doc.MM(55)})
		}
		for _, d := range all {
			b.Add(&doc.Image{Name: d.name + ".svg", Data: d.data, Alt: d.name, Block: doc.Block{Style: &doc.Style{}, BreakBefore: before}})
		}
		return nil
	}
}

// fontFiles writes the fonts of the default library.
func fontFiles(tb testing.TB) []string {
	tb.Helper()
	dir := tb.TempDir()
	var files []string
	lib := liberation.New()
	for _, family := range lib.Families() {
		for _, style := range []font.Style{{Weight: 400}, {Weight: 700}, {Weight: 400, Italic: true}, {Weight: 700, Italic: true}} {
			m, err := lib.Match(family, style)
			if err != nil {
				tb.Fatal(err)
			}
			file := filepath.Join(dir, m.Face.PostScriptName()+".ttf")
			if err := os.WriteFile(file, m.Face.Data(), 0o600); err != nil {
				tb.Fatal(err)
			}
			files = append(files, file)
		}
	}
	return files
}
