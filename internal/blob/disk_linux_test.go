package blob_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"example.com/quire/internal/blob"
	"example.com/quire/internal/blob/blobtest"
	"example.com/quire/internal/disktest"
	"example.com/quire/internal/record"
)

// A real file system that is full. Where mounting is not allowed, TestEveryFault
// has the same errors from a layer that makes them.
func TestFullDisk(t *testing.T) {
	dir := disktest.Small(t, 256<<10)
	s := open(t, dir)
	kept := blobtest.Put(t, s, []byte("kept before"))
	// Write until nothing more fits, then a little more.
	for number := uint64(1); ; number++ {
		h, err := keep(t.Context(), s, blobtest.Bytes(number, 50_000))
		if err == nil {
			if number > 10 {
				t.Fatal("256 KiB took more than 500 KB")
			}
			if _, err := blobtest.Get(t, s, h); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if !errors.Is(err, record.ErrNoSpace) || !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("blob %d: %v, want no space", number, err)
		}
		if number < 3 {
			t.Fatalf("blob %d already failed", number)
		}
		break
	}
	if left := stray(t, dir); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	if got, err := blobtest.Get(t, s, kept); err != nil || string(got) != "kept before" {
		t.Errorf("the blob from before: %v", err)
	}
	// Space comes back: the store goes on.
	if err := os.Remove(blobFile(dir, record.Sum(blobtest.Bytes(1, 50_000)))); err != nil {
		t.Fatal(err)
	}
	blobtest.Put(t, s, blobtest.Bytes(100, 40_000))
}

func TestUnwritableDirectory(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil { //nolint:gosec // nobody is to reach it
		t.Fatal(err)
	}
	s := open(t, dir)
	kept := blobtest.Put(t, s, []byte("kept before"))
	chmod := func(mode fs.FileMode) {
		for _, d := range []string{dir, filepath.Join(dir, "tmp"), filepath.Dir(blobFile(dir, kept))} {
			if err := os.Chmod(d, mode); err != nil {
				t.Fatal(err)
			}
		}
	}
	chmod(0o555)
	disktest.AsNobody(t, func() {
		if _, err := keep(t.Context(), s, []byte("new")); !errors.Is(err, fs.ErrPermission) || !errors.Is(err, record.ErrUnavailable) {
			t.Errorf("commit: %v, want permission denied", err)
		}
		// A new store in a directory that nobody may write to.
		if s, err := blob.Open(blob.Config{Dir: filepath.Join(dir, "new")}); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("open: %v, %v, want permission denied", s, err)
		}
	})
	if left := stray(t, dir); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	chmod(0o700)
	blobtest.Put(t, s, []byte("new"))
	if got, err := blobtest.Get(t, s, kept); err != nil || string(got) != "kept before" {
		t.Errorf("the blob from before: %v", err)
	}
}

// A file system that becomes read-only, as one does after errors of its disk, and is mended.
func TestReadOnlyFileSystem(t *testing.T) {
	dir := disktest.Small(t, 256<<10)
	s := open(t, dir)
	kept := blobtest.Put(t, s, []byte("kept before"))
	remount := func(flags uintptr) {
		t.Helper()
		if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|flags, ""); err != nil {
			t.Fatal(err)
		}
	}
	remount(syscall.MS_RDONLY)
	if _, err := keep(t.Context(), s, []byte("new")); !errors.Is(err, syscall.EROFS) || !errors.Is(err, record.ErrUnavailable) {
		t.Errorf("commit: %v, want a read-only file system", err)
	}
	if got, err := blobtest.Get(t, s, kept); err != nil || string(got) != "kept before" {
		t.Errorf("the blob from before: %v", err)
	}
	remount(0)
	blobtest.Put(t, s, []byte("new"))
}
