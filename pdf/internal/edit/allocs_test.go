//go:build !race

package edit

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"example.com/quire/pdf/cos"
)

func TestOpenKeepsWhatItReads(t *testing.T) {
	file := []byte("%PDF-1.7\n1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n2 0 obj\n<</Type/Pages/Kids[3 0 R]/Count 1>>\nendobj\n3 0 obj\n<</Type/Page>>\nendobj\ntrailer\n<</Root 1 0 R>>\n")
	d, err := Open(bytes.NewReader(file), int64(len(file)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	e := NewDraft(d)
	if n := testing.AllocsPerRun(100, func() { e.dict(e.catalog().Get("Pages")); e.dict(d.Pages[0].Ref); d.version() }); n != 0 {
		t.Errorf("the catalog and a page take %v allocations, as if they were read again", n)
	}
}

func TestObjectsThatStayAreNotCopied(t *testing.T) {
	c := &copier{e: &Draft{}, keeps: true, to: map[uint32]cos.Ref{}}
	o := cos.Object(cos.Dict{
		cos.E("Type", cos.Name("Page")), cos.E("Parent", cos.Ref{Num: 3}), cos.E("MediaBox", cos.Array{cos.Int(0), cos.Int(0), cos.Int(595), cos.Int(842)}),
	})
	if n := testing.AllocsPerRun(100, func() { c.object(o) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestRedactionReadsAPageFewTimes: a page without ActualText is read once to find the text and once
// to prove that it is gone, whatever else is asked of it.
func TestRedactionReadsAPageFewTimes(t *testing.T) {
	shows := strings.Repeat("BT /F 9 Tf 1 0 0 1 20 20 Tm (one and two) Tj ET\n", 200)
	file := fmt.Appendf(nil, "%%PDF-1.7\n1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n2 0 obj\n<</Type/Pages/Kids[3 0 R]/Count 1>>\nendobj\n"+
		"3 0 obj\n<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 4 0 R/Resources<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>\nendobj\n"+
		"4 0 obj\n<</Length %d>>\nstream\n%s\nendstream\nendobj\ntrailer\n<</Root 1 0 R>>\n", len(shows), shows)
	d, err := Open(bytes.NewReader(file), int64(len(file)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	once := testing.AllocsPerRun(2, func() {
		if _, err := newReader(NewDraft(d), nil).page(t.Context(), 0, false); err != nil {
			t.Fatal(err)
		}
	})
	re := regexp.MustCompile("three")
	for what, run := range map[string]func(){
		"finding": func() {
			r := &Redaction{boxes: make([][]area, 1), re: re}
			if err := r.match(t.Context(), NewDraft(d)); err != nil {
				t.Fatal(err)
			}
		},
		"proof": func() {
			r := &Redaction{boxes: make([][]area, 1), asked: []int{0}, re: re}
			if err := r.Proved(t.Context(), d); err != nil {
				t.Fatal(err)
			}
		},
	} {
		if n := testing.AllocsPerRun(2, run); n > 1.5*once {
			t.Errorf("%s: %v allocations, %v for reading the page", what, n, once)
		}
	}
}
