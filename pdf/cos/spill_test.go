//go:build !race

package cos_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"testing"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/internal/emit/kflate"
)

// spill is a SpillFile in memory that fails where it is asked to.
type spill struct {
	data             []byte
	wrote, read      int
	closed           int
	failWrite, fails error
}

func (s *spill) WriteAt(p []byte, at int64) (int, error) {
	if s.failWrite != nil {
		return 0, s.failWrite
	}
	if grow := int(at) + len(p) - len(s.data); grow > 0 {
		s.data = append(s.data, make([]byte, grow)...)
	}
	s.wrote++
	return copy(s.data[at:], p), nil
}

func (s *spill) ReadAt(p []byte, at int64) (int, error) {
	if s.fails != nil {
		return 0, s.fails
	}
	s.read++
	n := copy(p, s.data[min(int(at), len(s.data)):])
	if int(at)+n >= len(s.data) {
		return n, io.EOF // as an io.ReaderAt may with the last bytes
	}
	return n, nil
}

func (s *spill) Close() error { s.closed++; return nil }

func (s *spill) open() (cos.SpillFile, error) { return s, nil }

// objects writes a file of n objects whose numbers come in an order of their own.
func objects(w *cos.Writer, n int) error {
	root := w.Reserve()
	first := w.ReserveN(n)
	order := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // G404: the same order each time
	for at := 0; at < n; at += 5000 {
		k := min(5000, n-at)
		for _, i := range order.Perm(k) {
			if err := w.PutRaw(first.Plus(at+i), cos.AppendInt(nil, int64(at+i))); err != nil {
				return err
			}
		}
	}
	pages := cos.Dict{cos.E("Type", cos.Name("Pages")), cos.E("Kids", cos.Array{}), cos.E("Count", cos.Int(0))}
	if err := w.Put(root, cos.Dict{cos.E("Type", cos.Name("Catalog")), cos.E("Pages", pages)}); err != nil {
		return err
	}
	_, err := w.Close(cos.Trailer{Root: root})
	return err
}

// inOnePiece is a deflater of whole streams.
type inOnePiece struct{ cos.RepeatDeflater }

// TestCrossReferenceDataIsCompressedInPieces: to the bytes that it has as a whole.
func TestCrossReferenceDataIsCompressedInPieces(t *testing.T) {
	for _, n := range []int{8_000, 8_190, 8_192, 9_000, 40_000} {
		var want, got bytes.Buffer
		if err := objects(cos.NewWriter(&want, cos.Options{Deflater: inOnePiece{kflate.New()}}), n); err != nil {
			t.Fatal(err)
		}
		if err := objects(cos.NewWriter(&got, cos.Options{Deflater: kflate.New()}), n); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want.Bytes()) {
			t.Errorf("%d objects: another file", n)
		}
	}
}

// TestCrossReferenceDataGoesToAFile: a long file has the same bytes wherever its cross-reference
// data was kept, and what it was kept in is closed.
func TestCrossReferenceDataGoesToAFile(t *testing.T) {
	const many = 40_000 // 320 kB
	for name, o := range map[string]cos.Options{
		"2.0": {Deflater: kflate.New()}, "1.4": {Version: cos.V14}, "classic": {Classic: true}, "whole deflater": {},
	} {
		t.Run(name, func(t *testing.T) {
			var want bytes.Buffer
			w := cos.NewWriter(&want, o)
			if err := objects(w, many); err != nil {
				t.Fatal(err)
			}
			s := &spill{}
			o.Spill, o.SpillAfter = s.open, 1
			for range 2 { // the second in the memory of the first
				*s = spill{}
				var got bytes.Buffer
				w.Reset(&got, o)
				if err := objects(w, many); err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got.Bytes(), want.Bytes()) {
					t.Fatalf("%d bytes are not the %d of a file without", got.Len(), want.Len())
				}
				if s.wrote < 3 || s.read < 3 || s.closed != 1 {
					t.Errorf("%d blocks written, %d read, closed %d times", s.wrote, s.read, s.closed)
				}
			}
			r, err := cos.NewReader(bytes.NewReader(want.Bytes()), int64(want.Len()), cos.ReaderOptions{Strict: true})
			if err != nil {
				t.Fatal(err)
			}
			root := cos.Ref{Num: 1}
			for _, i := range []int{0, 1, 8191, 8192, many - 1} {
				if o, err := r.Object(root.Plus(1 + i)); err != nil || o != cos.Object(cos.Int(i)) {
					t.Errorf("object %d is %v, %v", i, o, err)
				}
			}
			*s = spill{}
			w.Reset(io.Discard, o)
			if err := objects(w, 9000); err != nil || s.closed+s.wrote > 0 {
				t.Errorf("a short file: %v, %d blocks written", err, s.wrote)
			}
		})
	}
}

// TestFileForCrossReferenceDataThatFails: the error is told, and nothing more is written.
func TestFileForCrossReferenceDataThatFails(t *testing.T) {
	cause := errors.New("no space left")
	for name, s := range map[string]*spill{"write": {failWrite: cause}, "read": {fails: cause}, "open": nil} {
		open := func() (cos.SpillFile, error) { return nil, cause }
		if s != nil {
			open = s.open
		}
		w := cos.NewWriter(io.Discard, cos.Options{SpillAfter: 1, Spill: open, Deflater: kflate.New()})
		if err := objects(w, 40_000); !errors.Is(err, cause) {
			t.Errorf("%s: %v", name, err)
		}
		if s != nil && s.closed != 1 {
			t.Errorf("%s: closed %d times", name, s.closed)
		}
		at := w.Offset()
		w.ReserveN(100_000)
		if err := w.Put(w.Reserve(), cos.Int(1)); !errors.Is(err, cause) || w.Offset() != at {
			t.Errorf("%s: afterwards %v", name, err)
		}
	}
}

// TestAbandonedFilesCloseTheirSpillFile: Reset closes what a file without an end has open.
func TestAbandonedFilesCloseTheirSpillFile(t *testing.T) {
	s := &spill{}
	w := cos.NewWriter(io.Discard, cos.Options{SpillAfter: 1, Spill: s.open})
	w.ReserveN(40_000)
	if s.wrote == 0 || s.closed != 0 {
		t.Fatalf("%d blocks written, closed %d times", s.wrote, s.closed)
	}
	w.Reset(io.Discard, cos.Options{})
	if s.closed != 1 {
		t.Errorf("closed %d times", s.closed)
	}
}

// TestTemporaryFilesAreGone: without Options.Spill the file is one of the system, and none is left.
func TestTemporaryFilesAreGone(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"TMPDIR", "TMP", "TEMP"} {
		t.Setenv(name, dir)
	}
	var want, got bytes.Buffer
	if err := objects(cos.NewWriter(&want, cos.Options{}), 40_000); err != nil {
		t.Fatal(err)
	}
	w := cos.NewWriter(&got, cos.Options{SpillAfter: 1})
	if err := objects(w, 40_000); err != nil {
		t.Fatal(err)
	}
	w.Reset(io.Discard, cos.Options{SpillAfter: 1})
	w.ReserveN(40_000)
	w.Reset(io.Discard, cos.Options{})
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 || !bytes.Equal(got.Bytes(), want.Bytes()) {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestMemoryDoesNotGrowWithObjects: three million objects, whose cross-reference data are 24 MB and
// as a stream 27 MB, keep not much more than the 8 MiB that may stay in memory.
func TestMemoryDoesNotGrowWithObjects(t *testing.T) {
	const many, most = 3_000_000, 16 << 20
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	w := cos.NewWriter(io.Discard, cos.Options{Deflater: kflate.New()})
	before, peak := heap(), uint64(0)
	root := w.Reserve()
	first := w.ReserveN(many)
	for i := range many {
		if err := w.PutRaw(first.Plus(i), []byte("1")); err != nil {
			t.Fatal(err)
		}
		if i%500_000 == 0 {
			peak = max(peak, heap())
		}
	}
	if err := w.Put(root, cos.Dict{cos.E("Type", cos.Name("Catalog"))}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Close(cos.Trailer{Root: root}); err != nil {
		t.Fatal(err)
	}
	peak = max(peak, heap())
	t.Logf("%.1f MiB more", float64(peak-min(peak, before))/(1<<20))
	if peak > before+most {
		t.Errorf("%d bytes more than before, want at most %d", peak-before, most)
	}
	runtime.KeepAlive(w)
}

// TestFailedFilesOpenNoSpillFile: numbers that are reserved after an error take no memory and no
// file.
func TestFailedFilesOpenNoSpillFile(t *testing.T) {
	s := &spill{}
	w := cos.NewWriter(io.Discard, cos.Options{SpillAfter: 1, Spill: s.open})
	ref := w.Reserve()
	for range 2 {
		_ = w.PutRaw(ref, []byte("1"))
	}
	if err := w.Put(w.Reserve(), cos.Int(1)); err == nil {
		t.Fatal("an object was written twice without an error")
	}
	w.ReserveN(100_000)
	if s.wrote > 0 {
		t.Errorf("%d blocks went to a file that nothing closes", s.wrote)
	}
}
