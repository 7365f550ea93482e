package store_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"example.com/quire/internal/disktest"
	"example.com/quire/internal/record"
	"example.com/quire/internal/store"
	"example.com/quire/internal/store/storetest"
)

// On a full disk the save fails, what was saved stays, and when there is space
// again the same store saves again: a COMMIT that failed has not left the one
// writing connection inside its transaction.
func TestFullDisk(t *testing.T) {
	dir := disktest.Small(t, 512<<10)
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 100_000), 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, filepath.Join(dir, "quire.db"))
	var kept []record.Hash
	for number := 0; ; number++ {
		d, receipt := storetest.Document(t, record.Local, number)
		_, created, err := s.Save(t.Context(), d, receipt, "daily")
		if err == nil {
			if kept = append(kept, d.ID); number > 5000 {
				t.Fatal("the disk does not fill up")
			}
			continue
		}
		if !errors.Is(err, record.ErrNoSpace) || created {
			t.Fatalf("document %d: created %v, %v, want no space", number, created, err)
		}
		break
	}
	if len(kept) == 0 {
		t.Fatal("nothing was saved")
	}
	check := func(more int) {
		t.Helper()
		for _, id := range kept {
			if _, err := s.Document(t.Context(), record.Local, id); err != nil {
				t.Fatal(err)
			}
		}
		if head, err := s.VerifyAudit(t.Context()); err != nil || head.Lines != int64(2*(len(kept)+more)) {
			t.Errorf("audit log: %+v, %v, want %d lines", head, err, 2*(len(kept)+more))
		}
	}
	check(0)
	d, receipt := storetest.Document(t, record.Local, 10_000)
	for range 3 { // it stays full, and every save says so
		if _, _, err := s.Save(t.Context(), d, receipt, "daily"); !errors.Is(err, record.ErrNoSpace) {
			t.Fatalf("on the full disk: %v", err)
		}
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if _, created, err := s.Save(t.Context(), d, receipt, "daily"); err != nil || !created {
		t.Fatalf("with space again: created %v, %v", created, err)
	}
	check(1)
}

// readable is a directory that anybody can reach, with the mode.
func readable(t *testing.T, mode fs.FileMode) string {
	t.Helper()
	dir := t.TempDir()
	for name, m := range map[string]fs.FileMode{filepath.Dir(dir): 0o755, dir: mode} {
		if err := os.Chmod(name, m); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// What lies on a medium that cannot be written to, such as a backup, can be verified.
func TestReadOnlyMedium(t *testing.T) {
	dir := readable(t, 0o755)
	file := filepath.Join(dir, "quire.db")
	s, err := store.Open(t.Context(), store.Config{File: file})
	if err != nil {
		t.Fatal(err)
	}
	want := save(t, s, 1, "daily")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]fs.FileMode{file: 0o444, dir: 0o555} {
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
	}
	disktest.AsNobody(t, func() {
		s, err := store.Open(t.Context(), store.Config{File: file, ReadOnly: true})
		if err != nil {
			t.Error(err)
			return
		}
		if got, err := s.Latest(t.Context(), record.Local, "daily"); err != nil || got.ID != want.ID {
			t.Errorf("latest: %v, %v", got, err)
		}
		if head, err := s.VerifyAudit(t.Context()); err != nil || head.Lines != 2 {
			t.Errorf("audit log: %+v, %v", head, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestUnwritableDirectory(t *testing.T) {
	dir := readable(t, 0o555)
	disktest.AsNobody(t, func() {
		if s, err := store.Open(t.Context(), store.Config{File: filepath.Join(dir, "quire.db")}); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("open: %v, %v, want permission denied", s, err)
		}
	})
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}
