package cos_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"example.com/quire/pdf/cos"
)

// TestPackedObjectsAreReadAsOthers: an object of any length that was compressed before is read from
// a file as one that is compressed with it.
func TestPackedObjectsAreReadAsOthers(t *testing.T) {
	d := cos.NewFlate()
	r := rand.New(rand.NewPCG(3, 7)) //nolint:gosec // G404: test data
	for _, n := range []int{0, 1, 17, 300, 5552, 5553, 70_000} {
		object := []byte{'['}
		for range n {
			object = fmt.Appendf(object, "%d ", r.IntN(1000))
		}
		object = append(object, ']')
		packed, err := d.Deflate(nil, object, cos.LevelBest)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		w := cos.NewWriter(&out, cos.Options{Deflater: d})
		pages, root := w.Reserve(), w.Reserve()
		w.ReserveN(r.IntN(3) * 500)
		kept, plain := w.Reserve(), w.Reserve()
		for i := root.Num + 1; i < kept.Num; i++ {
			if err := w.Put(cos.Ref{Num: i}, cos.Null{}); err != nil {
				t.Fatal(err)
			}
		}
		for _, err := range []error{
			w.Put(pages, cos.Dict{cos.E("Type", cos.Name("Pages")), cos.E("Kids", cos.Array{}), cos.E("Count", cos.Int(0))}),
			w.PutPacked(kept, packed, len(object)),
			w.PutRaw(plain, object),
			w.Put(root, cos.Dict{cos.E("Type", cos.Name("Catalog")), cos.E("Pages", pages), cos.E("W", kept)}),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		sum, err := w.Close(cos.Trailer{Root: root})
		if err != nil {
			t.Fatal(err)
		}
		f, err := cos.NewReader(bytes.NewReader(out.Bytes()), sum.Size, cos.ReaderOptions{})
		if err != nil {
			t.Fatal(err)
		}
		a, errA := f.Object(kept)
		b, errB := f.Object(plain)
		if errA != nil || errB != nil || f.Repaired() || !bytes.Equal(a.AppendPDF(nil), b.AppendPDF(nil)) {
			t.Errorf("%d numbers: %v, %v, repaired %v", n, errA, errB, f.Repaired())
		}
	}
}

// TestPackedObjectsNeedObjectStreams: a file with a cross-reference table takes none.
func TestPackedObjectsNeedObjectStreams(t *testing.T) {
	for name, c := range map[string]struct {
		options cos.Options
		packed  []byte
	}{"classic": {cos.Options{Version: cos.V14}, []byte("x\x9c\x03\x00\x00\x00\x00\x01")}, "no data": {cos.Options{}, nil}} {
		w := cos.NewWriter(&bytes.Buffer{}, c.options)
		if _, ok := errors.AsType[*cos.ObjectError](w.PutPacked(w.Reserve(), c.packed, 0)); !ok {
			t.Errorf("%s: it is written", name)
		}
	}
}
