//go:build !race

package edit

import (
	"bytes"
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
