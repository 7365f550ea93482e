package store_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"example.com/quire/internal/record"
	"example.com/quire/internal/store"
	"example.com/quire/internal/store/storetest"
)

func open(t *testing.T, file string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), store.Config{File: file})
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

func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Store {
		t.Helper()
		return open(t, filepath.Join(t.TempDir(), "quire.db"))
	})
}

func save(t *testing.T, s *store.Store, number int, report string) *record.Document {
	t.Helper()
	d, receipt := storetest.Document(t, record.Local, number)
	kept, _, err := s.Save(t.Context(), d, receipt, report)
	if err != nil {
		t.Fatal(err)
	}
	return kept
}

func TestWhatWasSavedIsThereAfterClosing(t *testing.T) {
	// A name that SQLite's own syntax for names would take apart.
	dir := filepath.Join(t.TempDir(), "100% sure? #1 & more")
	if err := os.Mkdir(dir, 0o700); err != nil && runtime.GOOS != "windows" {
		t.Fatal(err)
	} else if err != nil {
		dir = t.TempDir() // Windows has no ? in names
	}
	file := filepath.Join(dir, "quire.db")
	s, err := store.Open(t.Context(), store.Config{File: file})
	if err != nil {
		t.Fatal(err)
	}
	d := save(t, s, 1, "daily")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("files after closing: %v, %v, want the database alone", entries, err)
	}
	s = open(t, file)
	got, err := s.Latest(t.Context(), record.Local, "daily")
	if err != nil || got.ID != d.ID {
		t.Errorf("latest: %v, %v", got, err)
	}
	if head, err := s.VerifyAudit(t.Context()); err != nil || head.Lines != 2 {
		t.Errorf("audit log: %+v, %v", head, err)
	}
}

func TestFilesArePrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no permission bits to look at")
	}
	dir := t.TempDir()
	s := open(t, filepath.Join(dir, "quire.db"))
	save(t, s, 1, "")
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 3 {
		t.Errorf("%d files, want database, log and index", len(entries))
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s: mode %o, want 600", e.Name(), info.Mode().Perm())
		}
	}
}

func TestReadOnlyBesideTheWriter(t *testing.T) {
	file := filepath.Join(t.TempDir(), "quire.db")
	s := open(t, file)
	one := save(t, s, 1, "")
	beside, err := store.Open(t.Context(), store.Config{File: file, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := beside.Close(); err != nil {
			t.Error(err)
		}
	}()
	two := save(t, s, 2, "")
	for _, d := range []*record.Document{one, two} {
		if _, err := beside.Document(t.Context(), record.Local, d.ID); err != nil {
			t.Error(err)
		}
	}
	d, receipt := storetest.Document(t, record.Local, 3)
	if _, _, err := beside.Save(t.Context(), d, receipt, ""); !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("save: %v, want read-only", err)
	}
	if _, err := beside.File(t.Context(), record.Local, one.ID, "daily"); !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("file: %v, want read-only", err)
	}
}

// To read only means to write nothing, not even the files that SQLite keeps beside a database
// in use.
func TestReadOnlyLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "quire.db")
	s, err := store.Open(t.Context(), store.Config{File: file})
	if err != nil {
		t.Fatal(err)
	}
	d := save(t, s, 1, "")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	alone, err := store.Open(t.Context(), store.Config{File: file, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := alone.Document(t.Context(), record.Local, d.ID); err != nil {
		t.Error(err)
	}
	if err := alone.Close(); err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
	save(t, open(t, file), 2, "") // and the next writer is none the worse
}

// After a crash the log holds what was acknowledged last; whoever reads only sees it.
func TestReadOnlyAfterACrash(t *testing.T) {
	dir := t.TempDir()
	s := open(t, filepath.Join(dir, "quire.db"))
	d := save(t, s, 1, "")
	crashed := t.TempDir()
	for _, name := range []string{"quire.db", "quire.db-wal"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(crashed, name), b, 0o600); err != nil { //nolint:gosec // G703: the path is the test's own
			t.Fatal(err)
		}
	}
	beside, err := store.Open(t.Context(), store.Config{File: filepath.Join(crashed, "quire.db"), ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := beside.Document(t.Context(), record.Local, d.ID); err != nil {
		t.Error(err)
	}
	if err := beside.Close(); err != nil {
		t.Error(err)
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	notDatabase := filepath.Join(dir, "text")
	if err := os.WriteFile(notDatabase, []byte("this is no database, and long enough to be read as a header of one"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]store.Config{
		"no file":               {},
		"no directory":          {File: filepath.Join(dir, "none", "quire.db")},
		"a directory":           {File: dir},
		"not a database":        {File: notDatabase},
		"missing and read-only": {File: filepath.Join(dir, "none.db"), ReadOnly: true},
	} {
		if s, err := store.Open(t.Context(), c); err == nil {
			t.Errorf("%s: no error", name)
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "none.db")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("opening to read only made a file: %v", err)
	}
}

func TestAuditTimesComeFromTheClock(t *testing.T) {
	at := time.Date(2026, 3, 4, 5, 6, 7, 890_123_456, time.UTC)
	file := filepath.Join(t.TempDir(), "quire.db")
	heads := map[store.AuditHead]bool{}
	for range 2 { // the same clock and documents give the same chain
		s, err := store.Open(t.Context(), store.Config{File: file, Now: func() time.Time { return at }})
		if err != nil {
			t.Fatal(err)
		}
		save(t, s, 1, "daily")
		head, err := s.VerifyAudit(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		heads[head] = true
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	if len(heads) != 1 {
		t.Errorf("%d different chains, want 1", len(heads))
	}
}
