package cos

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"sync"
	"testing"
)

// begun writes a file that begins with shared streams and ends with one of its own.
func begun(t *testing.T, w *Writer, o *Openings, own string, shared ...[]byte) ([]byte, Summary) {
	t.Helper()
	var out bytes.Buffer
	w.Reset(&out, Options{Openings: o})
	for _, data := range shared {
		if err := w.SharedStream(w.Reserve(), nil, "", data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.EncodedStream(w.Reserve(), nil, "", []byte(own)); err != nil {
		t.Fatal(err)
	}
	root := w.Reserve()
	if err := w.Put(root, Dict{E("Type", Name("Catalog"))}); err != nil {
		t.Fatal(err)
	}
	sum, err := w.Close(Trailer{Root: root})
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), sum
}

// TestFilesThatBeginAlikeHaveTheirOwnHash: whatever files before them began with, and however long
// that was.
func TestFilesThatBeginAlikeHaveTheirOwnHash(t *testing.T) {
	w, o := NewWriter(&bytes.Buffer{}, Options{}), &Openings{}
	logo := func(n int, first byte) []byte {
		b := bytes.Repeat([]byte{7}, n)
		b[0] = first
		return b
	}
	for round := range 3 {
		for _, n := range []int{1, leastOpening - 100, leastOpening, 10_000, bufferBytes/2 - 1, bufferBytes, pieceBytes, 2 * pieceBytes} {
			for first := range byte(3) {
				own := fmt.Sprint("own ", round, n, first)
				for _, shared := range [][][]byte{{logo(n, first)}, {logo(n, 9), logo(n, first)}, {logo(n, first), logo(5, 5)}, nil} {
					file, sum := begun(t, w, o, own, shared...)
					plain, want := begun(t, NewWriter(&bytes.Buffer{}, Options{}), nil, own, shared...)
					if sum != want || sum.SHA256 != sha256.Sum256(file) || !bytes.Equal(file, plain) {
						t.Fatalf("%d bytes, %d streams, round %d: %+v, want %+v", n, len(shared), round, sum, want)
					}
				}
			}
		}
	}
}

// TestWhatFilesBeginWithIsHashedOnce: the second file of a template starts behind it, and one whose
// own stream comes first does not.
func TestWhatFilesBeginWithIsHashedOnce(t *testing.T) {
	w, o := NewWriter(&bytes.Buffer{}, Options{}), &Openings{}
	logo := bytes.Repeat([]byte("logo"), 2000)
	for i := range 5 {
		begun(t, w, o, fmt.Sprint(i), logo)
	}
	if n := o.next; n != 1 || !bytes.Contains(o.kept[0].bytes, logo) || bytes.Contains(o.kept[0].bytes, []byte("catalog")) {
		t.Errorf("%d openings, of %d bytes", n, len(o.kept[0].bytes))
	}
	var out bytes.Buffer
	w.Reset(&out, Options{Openings: o})
	for _, write := range []func(Ref, Dict, Name, []byte) error{w.EncodedStream, w.SharedStream} {
		if err := write(w.Reserve(), nil, "", bytes.Repeat([]byte("mine"), 2000)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	for i := range o.kept {
		if bytes.Contains(o.kept[i].bytes, []byte("mine")) {
			t.Error("a stream of the document itself is kept")
		}
	}
}

// TestOpeningsAreSharedSafely: by documents of several goroutines, and at most so many are kept.
func TestOpeningsAreSharedSafely(t *testing.T) {
	o := &Openings{}
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			w := NewWriter(&bytes.Buffer{}, Options{})
			for i := range 60 {
				file, sum := begun(t, w, o, fmt.Sprint(g, i), bytes.Repeat([]byte{byte(i % 20)}, 3000))
				if sum.SHA256 != sha256.Sum256(file) {
					t.Errorf("file %d of goroutine %d has another hash", i, g)
				}
			}
		})
	}
	all.Wait()
}
