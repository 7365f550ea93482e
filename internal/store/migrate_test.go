package store

import (
	"context"
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"example.com/quire/internal/record"
)

const (
	firstStep  = "CREATE TABLE one (a TEXT) STRICT;"
	secondStep = `CREATE TABLE two (a TEXT) STRICT;
		CREATE TRIGGER keep BEFORE DELETE ON two BEGIN SELECT RAISE(ABORT, 'no; never'); END;
		INSERT INTO two VALUES ('x');`
)

func steps(t *testing.T, texts ...string) []migration {
	t.Helper()
	fsys := fstest.MapFS{}
	for i, text := range texts {
		fsys["x/000"+string(rune('1'+i))+"_step.sql"] = &fstest.MapFile{Data: []byte(text)}
	}
	m, err := migrations(fsys, "x")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// bare returns a store whose database has no schema yet.
func bare(t *testing.T, file string) *Store {
	t.Helper()
	if err := makeFile(file); err != nil {
		t.Fatal(err)
	}
	db, err := connect(file, "rwc", "journal_mode(WAL)")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	s := &Store{write: newWriter(db), now: time.Now}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func count(t *testing.T, s *Store, query string) int {
	t.Helper()
	var n int
	if err := s.write.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

func TestMigrationNamesAreNumberedWithoutGaps(t *testing.T) {
	for _, names := range [][]string{{"0002_a.sql"}, {"0001_a.sql", "0003_b.sql"}, {"0001.sql"}, {"first_a.sql"}} {
		fsys := fstest.MapFS{}
		for _, name := range names {
			fsys["x/"+name] = &fstest.MapFile{}
		}
		if _, err := migrations(fsys, "x"); err == nil {
			t.Errorf("%q: no error", names)
		}
	}
	if m, err := migrations(migrationFiles, "sqlite"); err != nil || len(m) == 0 {
		t.Errorf("embedded: %d steps, %v", len(m), err)
	}
}

func TestMigrationsAreTakenOnceInOrder(t *testing.T) {
	s := bare(t, filepath.Join(t.TempDir(), "quire.db"))
	for _, m := range [][]migration{steps(t, firstStep), steps(t, firstStep, secondStep), steps(t, firstStep, secondStep)} {
		if err := s.migrateTo(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	if n := count(t, s, "SELECT count(*) FROM two"); n != 1 {
		t.Errorf("the second step ran %d times", n)
	}
	if n := count(t, s, "SELECT count(*) FROM migrations"); n != 2 {
		t.Errorf("%d steps noted, want 2", n)
	}
}

func TestMigrationThatFailsLeavesNothing(t *testing.T) {
	s := bare(t, filepath.Join(t.TempDir(), "quire.db"))
	err := s.migrateTo(t.Context(), steps(t, firstStep, "CREATE TABLE half (a TEXT) STRICT; CREATE TABLE one (a TEXT) STRICT;"))
	if err == nil || !strings.Contains(err.Error(), "migration 2 step") {
		t.Fatalf("got %v, want an error that names migration 2", err)
	}
	if n := count(t, s, "SELECT count(*) FROM sqlite_schema WHERE name = 'half'"); n != 0 {
		t.Error("half of the step is there")
	}
	if n := count(t, s, "SELECT count(*) FROM migrations"); n != 1 {
		t.Errorf("%d steps noted, want 1", n)
	}
	if err := s.migrateTo(t.Context(), steps(t, firstStep, secondStep)); err != nil {
		t.Errorf("with the step mended: %v", err)
	}
}

func TestSchemaOfAnotherProgramIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change string
		reason string
	}{
		"newer":          {"INSERT INTO migrations SELECT count(*) + 1, 'later', 'x', '' FROM migrations", "newer"},
		"edited":         {"UPDATE migrations SET sha256 = 'x' WHERE version = 1", "not the one of this program"},
		"gap":            {"UPDATE migrations SET version = 100 WHERE version = 1", "is missing before it"},
		"none was taken": {"DELETE FROM migrations", ""},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "quire.db")
			s, err := Open(t.Context(), Config{File: file})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.write.ExecContext(t.Context(), c.change); err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if _, err = Open(t.Context(), Config{File: file}); err == nil {
				t.Fatal("opened")
			}
			var wrong *SchemaError
			if c.reason != "" && (!errors.As(err, &wrong) || !strings.Contains(wrong.Error(), c.reason)) {
				t.Errorf("got %v, want %q", err, c.reason)
			}
			if _, err = Open(t.Context(), Config{File: file, ReadOnly: true}); !errors.As(err, &wrong) {
				t.Errorf("to read only: %v, want a schema error", err)
			}
		})
	}
}

// A document from before titles stays what it was, for the audit log too.
func TestDocumentsFromBeforeTitles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "quire.db")
	old := bare(t, file)
	all, err := migrations(migrationFiles, "sqlite")
	if err != nil {
		t.Fatal(err)
	}
	if err := old.migrateTo(t.Context(), all[:1]); err != nil {
		t.Fatal(err)
	}
	d := &record.Document{
		Space: record.Local, Content: record.Sum([]byte("file")), Size: 4, Pages: 1, Template: record.TemplateRef{Name: "note"},
		Engine: "1+abc", Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Made: time.Date(2026, 1, 2, 3, 4, 6, 0, time.UTC),
	}
	if d.ID, err = (record.Identity{Space: d.Space, Template: d.Template}).ID(); err != nil {
		t.Fatal(err)
	}
	r := record.Receipt{
		Version: 1, Space: d.Space, Document: d.ID, Template: d.Template, Engine: d.Engine, Content: d.Content,
		Size: d.Size, Pages: d.Pages, Time: &d.Time, Made: d.Made,
	}
	receipt, err := r.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	err = old.transact(t.Context(), func(ctx context.Context, tx *writer) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO templates VALUES (?, ?, ?, '')", "local", d.Template.Name, d.Template.Hash.String())
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "INSERT INTO documents VALUES ('local', ?, 1, ?, 4, 1, ?, ?, ?, '{}', '', ?, ?, ?, ?)",
			d.ID.String(), d.Content.String(), d.Template.Name, d.Template.Hash.String(), d.Snapshot.String(), d.Engine,
			formatTime(d.Time), formatTime(d.Made), string(receipt))
		if err != nil {
			return err
		}
		return old.append(ctx, tx, entry{Space: d.Space, Kind: kindMade, Subject: d.ID, Receipt: record.Sum(receipt)})
	})
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), Config{File: file})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if got, err := s.Document(t.Context(), record.Local, d.ID); err != nil || !reflect.DeepEqual(got, d) {
		t.Errorf("got %+v, %v, want %+v", got, err, d)
	}
	if _, err := s.VerifyAudit(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestAppliedNamesAMissingStep(t *testing.T) {
	s := bare(t, filepath.Join(t.TempDir(), "quire.db"))
	m := steps(t, firstStep, secondStep)
	if err := s.migrateTo(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if _, err := s.write.ExecContext(t.Context(), "DELETE FROM migrations WHERE version = 1"); err != nil {
		t.Fatal(err)
	}
	var wrong *SchemaError
	if err := s.migrateTo(t.Context(), m); !errors.As(err, &wrong) || !strings.Contains(wrong.Reason, "version 1 is missing") {
		t.Errorf("got %v, want that version 1 is missing", err)
	}
}

// TestManyProcessesMigrateAtOnce: who opens a new database while others open or close it waits.
func TestManyProcessesMigrateAtOnce(t *testing.T) {
	for range 20 {
		file := filepath.Join(t.TempDir(), "quire.db")
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				s, err := Open(t.Context(), Config{File: file})
				if err != nil {
					t.Error(err)
					return
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}
}
