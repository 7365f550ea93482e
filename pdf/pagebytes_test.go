package pdf_test

import (
	"bytes"
	"testing"

	"example.com/quire/pdf"
)

// Every page has its bytes, in the order of the file; they are whole objects, and those of two
// pages do not overlap. A page whose running content waits for the number of pages has a second
// part.
func TestPageBytesAreTheContentsOfPages(t *testing.T) {
	e, err := pdf.New(pdf.Config{})
	if err != nil {
		t.Fatal(err)
	}
	body, res := render(t, e, pdf.RenderOptions{}, note("X", 200))
	if res.Pages < 3 {
		t.Fatalf("%d pages, want several", res.Pages)
	}
	parts := map[int]int{}
	var last int64
	for p := range res.PageBytes() {
		if p.From < last || p.To <= p.From || p.To > res.Size {
			t.Fatalf("bytes %+v behind %d, of %d", p, last, res.Size)
		}
		last = p.To
		parts[p.Page]++
		if b := bytes.TrimSpace(body[p.From:p.To]); !bytes.Contains(b[:40], []byte(" 0 obj")) || !bytes.HasSuffix(b, []byte("endobj")) {
			t.Errorf("page %d: bytes %d to %d are no object: %.40q ... %q", p.Page, p.From, p.To, b, b[len(b)-10:])
		}
	}
	for n := 1; n <= res.Pages; n++ {
		if parts[n] == 0 {
			t.Errorf("page %d of %d has no bytes", n, res.Pages)
		}
	}
	if len(parts) != res.Pages {
		t.Errorf("%d pages have bytes, want %d", len(parts), res.Pages)
	}
}
