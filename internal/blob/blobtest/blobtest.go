// Package blobtest is the conformance suite of record.Blobs. Every implementation passes it.
package blobtest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"testing"

	"example.com/quire/internal/record"
)

// Place is a place for blobs under test.
type Place struct {
	Blobs record.Blobs
	// Damage flips one bit of the stored byte at offset at.
	Damage func(t *testing.T, h record.Hash, at int64)
	// Cut shortens what is stored to size bytes.
	Cut func(t *testing.T, h record.Hash, size int64)
	// Stray returns the names of files that no blob explains.
	Stray func(t *testing.T) []string
}

// sizes are chosen around the places where an implementation may change its ways.
var sizes = []int{0, 1, 100, 64 << 10, 64<<10 + 1, 1 << 20, 1<<20 + 1, 3<<20 + 12345}

// Run runs the suite, each test on a place of its own.
func Run(t *testing.T, open func(t *testing.T) Place) {
	t.Helper()
	t.Run("what was committed is read back", func(t *testing.T) { readBack(t, open(t)) })
	t.Run("seek and ReadAt", func(t *testing.T) { ranges(t, open(t)) })
	t.Run("abort leaves nothing", func(t *testing.T) { abort(t, open(t)) })
	t.Run("not found", func(t *testing.T) { notFound(t, open(t)) })
	t.Run("a flipped bit is an error, never a wrong byte", func(t *testing.T) { flipped(t, open(t)) })
	t.Run("a flip after opening is an error, never a wrong byte", func(t *testing.T) { flippedLate(t, open(t)) })
	t.Run("a cut file is an error", func(t *testing.T) { cut(t, open(t)) })
	t.Run("committing again mends damage", func(t *testing.T) { mend(t, open(t)) })
	t.Run("bytes under another hash are damage", func(t *testing.T) { misnamed(t, open(t)) })
	t.Run("many at once", func(t *testing.T) { atOnce(t, open(t)) })
	t.Run("a cancelled context", func(t *testing.T) { cancelled(t, open(t)) })
}

// Bytes returns n bytes that no other call with another number returns.
func Bytes(number uint64, n int) []byte {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], number)
	binary.LittleEndian.PutUint64(key[8:], uint64(n)) //nolint:gosec // lengths are not negative
	b := make([]byte, n)
	if _, err := rand.NewChaCha8(key).Read(b); err != nil {
		panic(err) // it never fails
	}
	return b
}

// Put commits b, written in pieces, and returns its name.
func Put(t *testing.T, blobs record.Blobs, b []byte) record.Hash {
	t.Helper()
	w, err := blobs.Create(t.Context())
	if err != nil {
		t.Fatalf("create: %v", err)
	}
	for rest := b; len(rest) > 0; {
		n := min(len(rest), 40_000)
		if k, err := w.Write(rest[:n]); err != nil || k != n {
			t.Fatalf("write %d: took %d, %v", n, k, err)
		}
		rest = rest[n:]
	}
	h := record.Sum(b)
	size, err := w.Commit(h)
	if err != nil || size != int64(len(b)) {
		t.Fatalf("commit: %d bytes of %d, %v", size, len(b), err)
	}
	return h
}

// Get opens a blob and reads it whole.
func Get(t *testing.T, blobs record.Blobs, h record.Hash) ([]byte, error) {
	t.Helper()
	b, err := blobs.Open(t.Context(), h)
	if err != nil {
		return nil, err
	}
	got, err := io.ReadAll(b)
	return got, errors.Join(err, b.Close())
}

func noStray(t *testing.T, p Place) {
	t.Helper()
	if stray := p.Stray(t); len(stray) > 0 {
		t.Errorf("files that no blob explains: %q", stray)
	}
}

func readBack(t *testing.T, p Place) {
	t.Helper()
	for i, n := range sizes {
		want := Bytes(uint64(i), n)
		h := Put(t, p.Blobs, want)
		got, err := Get(t, p.Blobs, h)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes: got %d bytes, equal %v, %v", n, len(got), bytes.Equal(got, want), err)
		}
		if there, err := p.Blobs.Has(t.Context(), h); !there || err != nil {
			t.Errorf("%d bytes: Has = %v, %v", n, there, err)
		}
		if again := Put(t, p.Blobs, want); again != h {
			t.Errorf("%d bytes: second commit is %s, want %s", n, again, h)
		}
	}
	noStray(t, p)
}

func ranges(t *testing.T, p Place) {
	t.Helper()
	for i, n := range sizes {
		want := Bytes(uint64(i)+100, n)
		b, err := p.Blobs.Open(t.Context(), Put(t, p.Blobs, want))
		if err != nil {
			t.Fatal(err)
		}
		if b.Size() != int64(n) {
			t.Errorf("size %d, want %d", b.Size(), n)
		}
		r := rand.New(rand.NewPCG(7, uint64(n))) //nolint:gosec // test data: it must repeat
		for range 10 {
			from := r.IntN(n + 1)
			to := from + r.IntN(n-from+1)
			got := make([]byte, to-from)
			if k, err := b.ReadAt(got, int64(from)); k != len(got) || err != nil && !errors.Is(err, io.EOF) {
				t.Fatalf("%d bytes: ReadAt [%d:%d] took %d, %v", n, from, to, k, err)
			}
			if !bytes.Equal(got, want[from:to]) {
				t.Fatalf("%d bytes: ReadAt [%d:%d] gave other bytes", n, from, to)
			}
			if at, err := b.Seek(int64(from), io.SeekStart); at != int64(from) || err != nil {
				t.Fatalf("%d bytes: seek %d: %d, %v", n, from, at, err)
			}
			if _, err := io.ReadFull(b, got); err != nil || !bytes.Equal(got, want[from:to]) {
				t.Fatalf("%d bytes: read [%d:%d] after seek: %v", n, from, to, err)
			}
		}
		if k, err := b.ReadAt(make([]byte, 1), int64(n)); k != 0 || !errors.Is(err, io.EOF) {
			t.Errorf("%d bytes: ReadAt the end: %d, %v", n, k, err)
		}
		if k, err := b.ReadAt(make([]byte, 1), -1); k != 0 || err == nil {
			t.Errorf("%d bytes: ReadAt -1: %d, %v", n, k, err)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}

func abort(t *testing.T, p Place) {
	t.Helper()
	want := Bytes(1, 200_000)
	w, err := p.Blobs.Create(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(want); err != nil {
		t.Fatal(err)
	}
	if err := w.Abort(); err != nil {
		t.Errorf("abort: %v", err)
	}
	if err := w.Abort(); err != nil {
		t.Errorf("abort again: %v", err)
	}
	if _, err := w.Write(want); err == nil {
		t.Error("write after abort: no error")
	}
	if _, err := w.Commit(record.Sum(want)); err == nil {
		t.Error("commit after abort: no error")
	}
	if _, err := Get(t, p.Blobs, record.Sum(want)); !errors.Is(err, record.ErrNotFound) {
		t.Errorf("aborted blob: %v, want not found", err)
	}
	noStray(t, p)
}

func notFound(t *testing.T, p Place) {
	t.Helper()
	for _, h := range []record.Hash{{}, record.Sum([]byte("never written"))} {
		if _, err := p.Blobs.Open(t.Context(), h); !errors.Is(err, record.ErrNotFound) {
			t.Errorf("open %s: %v, want not found", h, err)
		}
		if there, err := p.Blobs.Has(t.Context(), h); there || err != nil {
			t.Errorf("has %s: %v, %v", h, there, err)
		}
	}
}

func flipped(t *testing.T, p Place) {
	t.Helper()
	for i, n := range sizes[1:] {
		want := Bytes(uint64(i)+200, n)
		for _, at := range []int64{0, int64(n) / 2, int64(n) - 1} {
			h := Put(t, p.Blobs, want)
			p.Damage(t, h, at)
			got, err := Get(t, p.Blobs, h)
			if !errors.Is(err, record.ErrDamaged) {
				t.Errorf("%d bytes, flip at %d: %v, want damaged", n, at, err)
			}
			if !bytes.HasPrefix(want, got) {
				t.Errorf("%d bytes, flip at %d: wrong bytes were handed out", n, at)
			}
			p.Damage(t, h, at) // flips it back
		}
	}
}

func flippedLate(t *testing.T, p Place) {
	t.Helper()
	for i, n := range sizes[1:] {
		want := Bytes(uint64(i)+300, n)
		h := Put(t, p.Blobs, want)
		b, err := p.Blobs.Open(t.Context(), h)
		if err != nil {
			t.Fatal(err)
		}
		at := int64(n) / 2
		p.Damage(t, h, at)
		// The range ends right behind the flip: a check at the end of the file would come too late.
		got := make([]byte, at+1)
		k, err := b.ReadAt(got, 0)
		if !bytes.HasPrefix(want, got[:k]) {
			t.Errorf("%d bytes: wrong bytes were handed out", n)
		}
		if k < len(got) && !errors.Is(err, record.ErrDamaged) {
			t.Errorf("%d bytes: %d bytes, %v, want all of them or damaged", n, k, err)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		p.Damage(t, h, at)
	}
}

func cut(t *testing.T, p Place) {
	t.Helper()
	for i, n := range sizes[1:] {
		want := Bytes(uint64(i)+400, n)
		h := Put(t, p.Blobs, want)
		b, err := p.Blobs.Open(t.Context(), h)
		if err != nil {
			t.Fatal(err)
		}
		p.Cut(t, h, int64(n)/2)
		got, err := io.ReadAll(b)
		if !bytes.Equal(got, want) && (!bytes.HasPrefix(want, got) || !errors.Is(err, record.ErrDamaged)) {
			t.Errorf("%d bytes, cut while open: %d bytes, %v", n, len(got), err)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		if _, err := Get(t, p.Blobs, h); !errors.Is(err, record.ErrDamaged) {
			t.Errorf("%d bytes, cut: %v, want damaged", n, err)
		}
	}
}

func mend(t *testing.T, p Place) {
	t.Helper()
	want := Bytes(5, 100_000)
	h := Put(t, p.Blobs, want)
	p.Damage(t, h, 500)
	Put(t, p.Blobs, want)
	if got, err := Get(t, p.Blobs, h); err != nil || !bytes.Equal(got, want) {
		t.Errorf("after committing again: %v", err)
	}
}

func atOnce(t *testing.T, p Place) {
	t.Helper()
	const workers, each = 8, 30
	var wg sync.WaitGroup
	problems := make(chan error, workers*each)
	for worker := range workers {
		wg.Go(func() {
			for i := range each {
				want := Bytes(uint64(i), 1000+i) // the same in every worker
				if err := putGet(t, p.Blobs, want); err != nil {
					problems <- fmt.Errorf("worker %d, blob %d: %w", worker, i, err)
				}
			}
		})
	}
	wg.Wait()
	close(problems)
	for err := range problems {
		t.Error(err)
	}
	noStray(t, p)
}

func misnamed(t *testing.T, p Place) {
	t.Helper()
	w, err := p.Blobs.Create(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	other := record.Sum([]byte("other"))
	if _, err = w.Write([]byte("bytes")); err == nil {
		_, err = w.Commit(other)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Get(t, p.Blobs, other); !errors.Is(err, record.ErrDamaged) {
		t.Errorf("read: %v, want damaged", err)
	}
}

func putGet(t *testing.T, blobs record.Blobs, want []byte) error {
	t.Helper()
	w, err := blobs.Create(t.Context())
	if err != nil {
		return err
	}
	if _, err := w.Write(want); err != nil {
		return errors.Join(err, w.Abort())
	}
	h := record.Sum(want)
	if _, err := w.Commit(h); err != nil {
		return err
	}
	got, err := Get(t, blobs, h)
	if err == nil && !bytes.Equal(got, want) {
		err = errors.New("read other bytes than written")
	}
	return err
}

func cancelled(t *testing.T, p Place) {
	t.Helper()
	h := Put(t, p.Blobs, []byte("x"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Blobs.Create(ctx); !errors.Is(err, ctx.Err()) {
		t.Errorf("create: %v", err)
	}
	if _, err := p.Blobs.Open(ctx, h); !errors.Is(err, ctx.Err()) {
		t.Errorf("open: %v", err)
	}
	if _, err := p.Blobs.Has(ctx, h); !errors.Is(err, ctx.Err()) {
		t.Errorf("has: %v", err)
	}
}
