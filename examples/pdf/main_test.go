package main

import (
	"bytes"
	"testing"
	"time"
)

func TestRender(t *testing.T) {
	at := time.Date(2026, time.January, 31, 18, 30, 0, 0, time.UTC)
	var first, second bytes.Buffer
	res, err := render(t.Context(), &first, at)
	if err != nil {
		t.Fatal(err)
	}
	if res.Pages != 1 || res.Size != int64(first.Len()) || !bytes.HasPrefix(first.Bytes(), []byte("%PDF-2.0")) {
		t.Errorf("%d pages, %d bytes of %d", res.Pages, res.Size, first.Len())
	}
	for _, claim := range []string{"pdfaid:part", "pdfuaid:part"} {
		if !bytes.Contains(first.Bytes(), []byte(claim)) {
			t.Errorf("no %s", claim)
		}
	}
	if _, err := render(t.Context(), &second, at); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("the same input gave other bytes")
	}
}
