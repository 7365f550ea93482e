package blob_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"example.com/quire/internal/blob"
	"example.com/quire/internal/blob/blobtest"
	"example.com/quire/internal/record"
)

func TestSweepRemovesWhatNobodyNamesOrWants(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	named := blobtest.Put(t, s, []byte("a document names it"))
	asked := blobtest.Put(t, s, []byte("a document being made found it"))
	orphan := blobtest.Put(t, s, []byte("nobody names it"))
	fresh := blobtest.Put(t, s, []byte("nobody names it yet"))
	before := time.Now()
	if err := os.Chtimes(blobFile(dir, fresh), time.Time{}, before.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"tmp/half", orphan.String()[:2] + "/notes.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := s.Collect()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Collect(); !errors.Is(err, blob.ErrCollecting) {
		t.Errorf("a second collection: %v", err)
	}
	written := blobtest.Put(t, s, []byte("written meanwhile"))
	if there, err := s.Has(t.Context(), asked); err != nil || !there {
		t.Fatal(there, err)
	}
	n, err := c.Sweep(t.Context(), map[record.Hash]struct{}{named: {}}, before.Add(time.Minute))
	if err != nil || n != 1 {
		t.Errorf("removed %d, %v; want 1", n, err)
	}
	c.Close()
	for _, h := range []record.Hash{named, asked, fresh, written} {
		if _, err := blobtest.Get(t, s, h); err != nil {
			t.Error(err)
		}
	}
	if there, err := s.Has(t.Context(), orphan); err != nil || there {
		t.Errorf("the orphan: %v, %v", there, err)
	}
	for _, name := range []string{"tmp/half", orphan.String()[:2] + "/notes.txt"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	// What was removed can be kept again.
	if again := blobtest.Put(t, s, []byte("nobody names it")); again != orphan {
		t.Error("another hash")
	}
	if c, err = s.Collect(); err != nil {
		t.Fatal(err)
	}
	c.Close()
}

// A directory that was taken away and comes back, itself or another in its place, is used again
// by a store that has been open all the time; and the store makes none by itself, because what is
// missing may be a disk that is not mounted.
func TestDirectoryThatComesBack(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "blobs")
	away := dir + "-away"
	s := open(t, dir)
	kept := blobtest.Put(t, s, []byte("kept before"))
	if err := s.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	move := func(from, to string) {
		t.Helper()
		if err := os.Rename(from, to); err != nil {
			t.Skipf("an open directory cannot be moved here: %v", err)
		}
	}
	move(dir, away)
	if err := os.MkdirAll(dir, 0o700); err != nil { // an empty one, without tmp/
		t.Fatal(err)
	}
	other := blobtest.Put(t, s, []byte("kept in another"))
	if _, err := os.Stat(blobFile(dir, other)); err != nil {
		t.Errorf("not in the directory that is there: %v", err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := s.Check(t.Context()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Check without a directory: %v", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory: %v", err)
	}
	move(away, dir)
	if got, err := blobtest.Get(t, s, kept); err != nil || string(got) != "kept before" {
		t.Errorf("%q, %v", got, err)
	}
	if err := s.Check(t.Context()); err != nil {
		t.Error(err)
	}
	blobtest.Put(t, s, []byte("kept after"))
}
