//go:build !race

package deflate_test

import (
	"bytes"
	"compress/flate"
	"math/rand/v2"
	"testing"

	"example.com/quire/pdf/internal/deflate"
)

// A stream is compressed in one goroutine, where the race detector takes ten times as long and
// finds nothing: the tests of this file compress many or long ones.

const again = 16 << 20 // where the positions of a stream begin again

// TestRoundTrip: readers of others give the source back, the output stands behind what was there,
// and is hardly longer than a source that cannot be compressed.
func TestRoundTrip(t *testing.T) {
	var c deflate.Compressor
	for name, src := range sources(t) {
		packed, ok := bytes.CutPrefix(c.Append([]byte("before"), src, nil, nil), []byte("before"))
		if !ok || !bytes.Equal(inflate(t, packed), src) {
			t.Errorf("%s: other bytes came back", name)
		}
		if n := len(packed); n > len(src)+len(src)/1000+16 {
			t.Errorf("%s: %d bytes of %d", name, n, len(src))
		}
		if v := int(packed[0])<<8 | int(packed[1]); v%31 != 0 || packed[0] != 0x78 {
			t.Errorf("%s: header %x", name, packed[:2])
		}
	}
}

// TestLongStreams: positions begin again without a fault.
func TestLongStreams(t *testing.T) {
	part := sources(t)["pages"]
	src := bytes.Repeat(part, (again+3*segment)/len(part)+1)
	var w deflate.Writer
	packed := w.Append(nil, src, nil, nil)
	if !bytes.Equal(inflate(t, packed), src) {
		t.Error("other bytes came back")
	}
	if !bytes.Equal(cut(t, &w, src, func() int { return 100_000 }), packed) {
		t.Error("a writer gives other bytes")
	}
}

// TestWriterGivesWhatAppendGives: however a stream is cut, and whatever was written before.
func TestWriterGivesWhatAppendGives(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6)) //nolint:gosec // G404: test data
	all := sources(t)
	var w deflate.Writer
	for name, src := range all {
		want := new(deflate.Compressor).Append(nil, src, nil, nil)
		for _, most := range []int{1, 10, 1000, segment, len(src) + 1} {
			if most == 1 && len(src) > segment+1 {
				continue
			}
			if !bytes.Equal(cut(t, &w, src, func() int { return 1 + random.IntN(most) }), want) {
				t.Errorf("%s has other bytes in pieces of at most %d", name, most)
			}
		}
		if !bytes.Equal(w.Append(nil, src, nil, nil), want) {
			t.Errorf("%s has other bytes after another stream", name)
		}
	}
	for _, n := range []int{segment - 1, segment, segment + 1} {
		src := all["pages"][:2*segment+7]
		if !bytes.Equal(cut(t, &w, src, func() int { return n }), w.Append(nil, src, nil, nil)) {
			t.Errorf("other bytes in pieces of %d", n)
		}
	}
}

// TestSizes: the output is not much larger than that of the standard library at its everyday level,
// for what documents are made of.
func TestSizes(t *testing.T) {
	var c deflate.Compressor
	all := sources(t)
	delete(all, "two letters") // of which the match before is as good as any
	for name, src := range all {
		var b bytes.Buffer
		zw, err := flate.NewWriter(&b, flate.DefaultCompression)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = zw.Write(src)
		_ = zw.Close()
		if n, most := len(c.Append(nil, src, nil, nil)), b.Len()+b.Len()*12/100+20; n > most {
			t.Errorf("%s: %d bytes, at most %d are expected", name, n, most)
		}
	}
}
