//go:build !race

package pdf_test

import (
	"bytes"
	"os"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/doc"
)

// TestLongDocumentsSpillToTheFileOfTheConfiguration: the file is asked for when the memory for
// cross-reference data is used up, changes no byte of the document, and is closed with it.
func TestLongDocumentsSpillToTheFileOfTheConfiguration(t *testing.T) {
	var files []*os.File
	e := newEngine(t, pdf.Config{Spill: func() (pdf.SpillFile, error) {
		f, err := os.CreateTemp(t.TempDir(), "spill")
		files = append(files, f)
		return f, err
	}})
	render := func() []byte {
		t.Helper()
		var out bytes.Buffer
		if _, err := e.Build(t.Context(), &out, pdf.RenderOptions{Standards: compliant, Time: frozen}, func(b *doc.Builder) error {
			b.Title("Many").Lang("en")
			for range 20_000 {
				b.Text("x")
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	want := render()
	if len(files) > 0 {
		t.Fatal("a file for a document that memory holds")
	}
	e.SpillAfter(1)
	if got := render(); !bytes.Equal(got, want) {
		t.Errorf("%d bytes are not the %d of before", len(got), len(want))
	}
	if len(files) != 1 {
		t.Fatalf("%d files", len(files))
	}
	if info, err := os.Stat(files[0].Name()); err != nil || info.Size() < 1<<16 {
		t.Errorf("the file: %v, %v", info, err)
	}
	if files[0].Close() == nil {
		t.Error("the file is open")
	}
}
