package blob_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"example.com/quire/internal/blob"
	"example.com/quire/internal/blob/blobtest"
	"example.com/quire/internal/record"
)

// faulty is a layer in memory in which the call number failAt, and if sticky
// every call that needs space from then on, fails with err. A write that fails
// takes half of its bytes first, as a full disk does.
type faulty struct {
	*memory
	failAt int
	sticky bool
	err    error
	calls  []string // what was called, for messages
}

func (l *faulty) fault(call string, space bool) error {
	l.calls = append(l.calls, call)
	n := len(l.calls)
	if n == l.failAt || l.sticky && space && l.failAt > 0 && n > l.failAt {
		return fmt.Errorf("%s: %w", call, l.err)
	}
	return nil
}

func (l *faulty) Create(name string) (blob.File, error) {
	if err := l.fault("create "+name, true); err != nil {
		return nil, err
	}
	f, err := l.memory.Create(name)
	return &faultyFile{f, l}, err
}

func (l *faulty) Open(name string) (blob.File, error) {
	if err := l.fault("open "+name, false); err != nil {
		return nil, err
	}
	f, err := l.memory.Open(name)
	if err != nil {
		return nil, err
	}
	return &faultyFile{f, l}, nil
}

func (l *faulty) Rename(from, to string) error {
	if err := l.fault("rename "+from, true); err != nil {
		return err
	}
	return l.memory.Rename(from, to)
}

func (l *faulty) Remove(name string) error {
	if err := l.fault("remove "+name, false); err != nil {
		return err
	}
	return l.memory.Remove(name)
}

func (l *faulty) Mkdir(name string) error {
	if err := l.fault("mkdir "+name, true); err != nil {
		return err
	}
	return l.memory.Mkdir(name)
}

func (l *faulty) SyncDir(name string) error {
	if err := l.fault("syncdir "+name, true); err != nil {
		return err
	}
	return l.memory.SyncDir(name)
}

func (l *faulty) List(name string) ([]string, error) {
	if err := l.fault("list "+name, false); err != nil {
		return nil, err
	}
	return l.memory.List(name)
}

type faultyFile struct {
	blob.File
	layer *faulty
}

func (f *faultyFile) Write(p []byte) (int, error) {
	if err := f.layer.fault("write", true); err != nil {
		n, _ := f.File.Write(p[:len(p)/2]) // memory takes everything
		return n, err
	}
	return f.File.Write(p)
}

func (f *faultyFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.layer.fault("read", false); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, off)
}

func (f *faultyFile) Sync() error {
	if err := f.layer.fault("sync", true); err != nil {
		return err
	}
	return f.File.Sync()
}

func (f *faultyFile) Size() (int64, error) {
	if err := f.layer.fault("size", false); err != nil {
		return 0, err
	}
	return f.File.Size()
}

func (f *faultyFile) Close() error {
	err := f.layer.fault("close", false)
	return errors.Join(err, f.File.Close())
}

// keep writes a blob in two pieces, as Make does.
func keep(ctx context.Context, s *blob.Store, b []byte) (record.Hash, error) {
	w, err := s.Create(ctx)
	if err != nil {
		return record.Hash{}, err
	}
	for _, part := range [][]byte{b[:len(b)/2], b[len(b)/2:]} {
		if _, err := w.Write(part); err != nil {
			return record.Hash{}, errors.Join(err, w.Abort())
		}
	}
	h := record.Sum(b)
	if _, err := w.Commit(h); err != nil {
		return record.Hash{}, err
	}
	return h, nil
}

// Every single call that the store makes of the file system fails once, for
// good and for a moment. The request fails with the cause, no blob is wrong or
// half there, nothing stays in tmp/ unless removing is what failed, and when the
// fault is over the store works on.
func TestEveryFault(t *testing.T) {
	want := blobtest.Bytes(1, 100_000)
	for _, sticky := range []bool{false, true} {
		for failAt := 1; ; failAt++ {
			l := &faulty{memory: newMemory(), err: syscall.ENOSPC}
			s, err := blob.Open(blob.Config{Layer: l})
			if err != nil {
				t.Fatal(err)
			}
			kept, err := keep(t.Context(), s, []byte("kept before"))
			if err != nil {
				t.Fatal(err)
			}
			l.calls, l.failAt, l.sticky = nil, failAt, sticky
			h, err := keep(t.Context(), s, want)
			if len(l.calls) < failAt {
				if err != nil {
					t.Fatalf("without a fault: %v", err)
				}
				if failAt < 10 {
					t.Fatalf("only %d calls were made: %q", len(l.calls), l.calls)
				}
				break
			}
			name := fmt.Sprintf("sticky %v, %s", sticky, l.calls[failAt-1])
			if err == nil {
				t.Errorf("%s: no error", name)
			} else if !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("%s: %v, want the cause", name, err)
			}
			if !h.IsZero() {
				t.Errorf("%s: a name in spite of the error", name)
			}
			removing := strings.HasPrefix(l.calls[failAt-1], "remove")
			if !removing && err != nil && !errors.Is(err, record.ErrNoSpace) {
				t.Errorf("%s: %v is not ErrNoSpace", name, err)
			}
			l.failAt = 0
			left, err := l.List("tmp")
			if err != nil || len(left) > 0 && !removing {
				t.Errorf("%s: left in tmp: %q, %v", name, left, err)
			}
			if got, err := blobtest.Get(t, s, kept); err != nil || string(got) != "kept before" {
				t.Errorf("%s: the blob from before: %v", name, err)
			}
			// Either whole or not there.
			if got, err := blobtest.Get(t, s, record.Sum(want)); err == nil && len(got) != len(want) || err != nil && !errors.Is(err, record.ErrNotFound) {
				t.Errorf("%s: the blob itself: %d bytes, %v", name, len(got), err)
			}
			if h, err := keep(t.Context(), s, want); err != nil || h != record.Sum(want) {
				t.Errorf("%s: afterwards: %v", name, err)
			}
		}
	}
}

func TestEveryFaultWhileReading(t *testing.T) {
	for _, size := range []int{1000, 1<<20 + 100_000} {
		want := blobtest.Bytes(1, size)
		for failAt := 1; ; failAt++ {
			l := &faulty{memory: newMemory(), err: syscall.EIO}
			s, err := blob.Open(blob.Config{Layer: l})
			if err != nil {
				t.Fatal(err)
			}
			h, err := keep(t.Context(), s, want)
			if err != nil {
				t.Fatal(err)
			}
			l.calls, l.failAt = nil, failAt
			got, err := blobtest.Get(t, s, h)
			if len(l.calls) < failAt {
				if err != nil {
					t.Fatal(err)
				}
				break
			}
			if !errors.Is(err, syscall.EIO) || string(got) != string(want[:len(got)]) {
				t.Errorf("%d bytes, %s: %d bytes, %v, want the cause", size, l.calls[failAt-1], len(got), err)
			}
		}
	}
}

func TestEveryFaultOfHas(t *testing.T) {
	for failAt := 1; ; failAt++ {
		l := &faulty{memory: newMemory(), err: syscall.EIO}
		first, err := blob.Open(blob.Config{Layer: l})
		if err != nil {
			t.Fatal(err)
		}
		h, err := keep(t.Context(), first, []byte("x"))
		if err != nil {
			t.Fatal(err)
		}
		// Another store cannot know that the name is durable and has to see to it.
		s, err := blob.Open(blob.Config{Layer: l})
		if err != nil {
			t.Fatal(err)
		}
		l.calls, l.failAt = nil, failAt
		there, err := s.Has(t.Context(), h)
		if len(l.calls) < failAt {
			if !there || err != nil {
				t.Errorf("has: %v, %v", there, err)
			}
			if calls := strings.Join(l.calls, ", "); !strings.Contains(calls, "syncdir .") || !strings.Contains(calls, "syncdir "+h.String()[:2]) {
				t.Errorf("calls %s, want both directories synced", calls)
			}
			l.calls = nil
			if there, err := s.Has(t.Context(), h); !there || err != nil || strings.Contains(strings.Join(l.calls, " "), "sync") {
				t.Errorf("a second time: %v, %v, calls %q, want no sync", there, err, l.calls)
			}
			break
		}
		if there || !errors.Is(err, syscall.EIO) {
			t.Errorf("%s: %v, %v, want the cause", l.calls[failAt-1], there, err)
		}
	}
}

func TestOpenReportsFaults(t *testing.T) {
	for failAt := 1; failAt <= 2; failAt++ {
		l := &faulty{memory: newMemory(), err: syscall.EIO, failAt: failAt}
		if _, err := blob.Open(blob.Config{Layer: l}); !errors.Is(err, syscall.EIO) {
			t.Errorf("%q: %v, want the cause", l.calls, err)
		}
	}
	m := newMemory()
	if err := m.Mkdir("tmp"); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Create("tmp/left"); err != nil {
		t.Fatal(err)
	}
	l := &faulty{memory: m, err: syscall.EIO, failAt: 3}
	if _, err := blob.Open(blob.Config{Layer: l}); !errors.Is(err, syscall.EIO) {
		t.Errorf("%q: %v, want the cause", l.calls, err)
	}
}
