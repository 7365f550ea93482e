//go:build !race

package operation_test

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"strings"
	"testing"

	"example.com/quire/pdf"
)

// repeated is a file whose page has the same stream of content n times.
func repeated(t *testing.T, n int, content string) []byte {
	t.Helper()
	var z bytes.Buffer
	w := zlib.NewWriter(&z)
	if _, err := w.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return raw(
		`<</Type/Catalog/Pages 2 0 R>>`, `<</Type/Pages/Kids[3 0 R]/Count 1>>`,
		`<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Resources<</Font<</F 5 0 R>>>>/Contents[`+strings.Repeat("4 0 R ", n)+`]>>`,
		fmt.Sprintf("<</Length %d/Filter/FlateDecode>>stream\n%s\nendstream", z.Len(), z.String()), `<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>`,
	)
}

// counted counts how often a file is read from.
type counted struct {
	*bytes.Reader
	reads int
}

func (c *counted) ReadAt(b []byte, at int64) (int, error) {
	c.reads++
	return c.Reader.ReadAt(b, at)
}

func TestContentThatComesAgainIsReadOnce(t *testing.T) {
	e, err := pdf.New(pdf.Config{})
	if err != nil {
		t.Fatal(err)
	}
	var files [2]*counted
	var docs [2]*pdf.Document
	for i, letter := range []string{"a", "b"} {
		b := repeated(t, 20_000, "BT /F 9 Tf ("+letter+") Tj ET")
		files[i] = &counted{Reader: bytes.NewReader(b)}
		if docs[i], err = e.Open(t.Context(), files[i], int64(len(b)), pdf.OpenOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	c, err := e.Compare(t.Context(), docs[0], docs[1], pdf.CompareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Differences) != 1 || !strings.HasPrefix(c.Differences[0].Before, "a") {
		t.Errorf("%+v", c.Differences)
	}
	for _, f := range files {
		if f.reads > 500 {
			t.Errorf("the file was read from %d times", f.reads)
		}
	}
}
