package blob_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"example.com/quire/internal/blob"
	"example.com/quire/internal/blob/blobtest"
	"example.com/quire/internal/record"
)

func open(t *testing.T, dir string) *blob.Store {
	t.Helper()
	s, err := blob.Open(blob.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func blobFile(dir string, h record.Hash) string {
	return filepath.Join(dir, h.String()[:2], h.String())
}

// stray lists every file below dir whose name is not the hash of its bytes.
func stray(t *testing.T, dir string) []string {
	t.Helper()
	root := os.DirFS(dir)
	var found []string
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(root, name)
		if h := record.Sum(b).String(); err == nil && name != h[:2]+"/"+h {
			found = append(found, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestConformance(t *testing.T) {
	blobtest.Run(t, func(t *testing.T) blobtest.Place {
		t.Helper()
		dir := filepath.Join(t.TempDir(), "blobs")
		return blobtest.Place{
			Blobs: open(t, dir),
			Damage: func(t *testing.T, h record.Hash, at int64) {
				t.Helper()
				f, err := os.OpenFile(blobFile(dir, h), os.O_RDWR, 0)
				if err != nil {
					t.Fatal(err)
				}
				b := make([]byte, 1)
				if _, err := f.ReadAt(b, at); err != nil {
					t.Fatal(err)
				}
				b[0] ^= 0x10
				if _, err := f.WriteAt(b, at); err != nil {
					t.Fatal(err)
				}
				if err := f.Close(); err != nil {
					t.Fatal(err)
				}
			},
			Cut: func(t *testing.T, h record.Hash, size int64) {
				t.Helper()
				if err := os.Truncate(blobFile(dir, h), size); err != nil {
					t.Fatal(err)
				}
			},
			Stray: func(t *testing.T) []string { t.Helper(); return stray(t, dir) },
		}
	})
}

func TestFilesAreNamedByTheirHashAndPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b", "blobs") // none of them is there
	s := open(t, dir)
	h := blobtest.Put(t, s, []byte("hello"))
	got, err := os.ReadFile(blobFile(dir, h))
	if err != nil || string(got) != "hello" {
		t.Fatalf("file of the blob: %q, %v", got, err)
	}
	if runtime.GOOS == "windows" {
		return // there are no permission bits to look at
	}
	for path, want := range map[string]fs.FileMode{blobFile(dir, h): 0o600, dir: 0o700, filepath.Dir(blobFile(dir, h)): 0o700} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s: mode %o, want %o", path, info.Mode().Perm(), want)
		}
	}
}

func TestOpenSweepsWhatACrashLeft(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	h := blobtest.Put(t, s, []byte("kept"))
	w, err := s.Create(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte("half")); err != nil {
		t.Fatal(err)
	}
	if len(stray(t, dir)) != 1 {
		t.Fatalf("files in the making: %q, want one", stray(t, dir))
	}
	// Beside the writer, reading alone sweeps nothing and makes nothing.
	beside, err := blob.Open(blob.Config{Dir: dir, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := beside.Create(t.Context()); !errors.Is(err, blob.ErrReadOnly) {
		t.Errorf("create: %v, want read-only", err)
	}
	if there, err := beside.Has(t.Context(), h); !there || err != nil {
		t.Errorf("has: %v, %v", there, err)
	}
	if got, err := blobtest.Get(t, beside, h); string(got) != "kept" || err != nil {
		t.Errorf("read-only: %q, %v", got, err)
	}
	if err := beside.Close(); err != nil {
		t.Error(err)
	}
	if len(stray(t, dir)) != 1 {
		t.Errorf("after a read-only open: %q, want the one file", stray(t, dir))
	}
	// The crash: nobody commits or aborts (Windows would not remove an open file).
	if runtime.GOOS == "windows" {
		if err := w.Abort(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "tmp", "LEFT"), []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	after := open(t, dir)
	if left := stray(t, dir); len(left) > 0 {
		t.Errorf("after a new start: %q", left)
	}
	if got, err := blobtest.Get(t, after, h); string(got) != "kept" || err != nil {
		t.Errorf("kept blob: %q, %v", got, err)
	}
	if runtime.GOOS != "windows" {
		// The writer that lost its file fails and publishes nothing.
		if _, err := w.Commit(record.Sum([]byte("half"))); err == nil {
			t.Error("commit of a swept file: no error")
		}
	}
	if left := stray(t, dir); len(left) > 0 {
		t.Errorf("at the end: %q", left)
	}
}

func TestOpenRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]blob.Config{
		"no directory":          {},
		"a file":                {Dir: file},
		"below a file":          {Dir: filepath.Join(file, "blobs")},
		"missing and read-only": {Dir: filepath.Join(t.TempDir(), "none"), ReadOnly: true},
	} {
		if s, err := blob.Open(c); err == nil {
			t.Errorf("%s: no error", name)
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// A directory that is deleted says nothing of the blobs it had; once it is there again, they are
// known to be lost.
func TestDirectoryThatIsDeleted(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "blobs")
	s := open(t, dir)
	h := blobtest.Put(t, s, []byte("kept before"))
	if err := os.RemoveAll(dir); err != nil {
		t.Skipf("an open directory cannot be deleted here: %v", err)
	}
	if _, err := s.Open(t.Context(), h); !errors.Is(err, record.ErrUnavailable) || errors.Is(err, record.ErrNotFound) {
		t.Errorf("open: %v", err)
	}
	if has, err := s.Has(t.Context(), h); has || !errors.Is(err, record.ErrUnavailable) {
		t.Errorf("has: %v, %v", has, err)
	}
	if _, err := keep(t.Context(), s, []byte("new")); !errors.Is(err, record.ErrUnavailable) {
		t.Errorf("commit: %v", err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Open(t.Context(), h); !errors.Is(err, record.ErrNotFound) {
		t.Errorf("open in a new directory: %v", err)
	}
	blobtest.Put(t, s, []byte("new"))
}

// A link inside the directory that leads out of it is not followed.
func TestLinksDoNotLeadOut(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("making links needs a privilege there")
	}
	dir, outside := t.TempDir(), t.TempDir()
	s := open(t, dir)
	want := []byte("outside")
	h := record.Sum(want)
	if err := os.WriteFile(filepath.Join(outside, h.String()), want, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, h.String()[:2])); err != nil {
		t.Fatal(err)
	}
	if got, err := blobtest.Get(t, s, h); err == nil || bytes.Equal(got, want) {
		t.Errorf("read through the link: %q, %v", got, err)
	}
	w, err := s.Create(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(want); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Commit(h); err == nil {
		t.Error("committed through the link")
	}
	if left := stray(t, filepath.Join(dir, "tmp")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}
