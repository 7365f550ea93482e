package store_test

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/quire/internal/store"
)

// other opens the database as anyone with the file could.
func other(t *testing.T, file string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	db.SetMaxOpenConns(1)
	return db
}

func exec(t *testing.T, db *sql.DB, statement string) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func TestAuditLogRefusesChanges(t *testing.T) {
	file := filepath.Join(t.TempDir(), "quire.db")
	s := open(t, file)
	for number := range 3 {
		save(t, s, number, "")
	}
	db := other(t, file)
	for _, statement := range []string{
		"UPDATE audit SET line = '{}' WHERE seq = 2",
		"UPDATE audit SET hash = hash",
		"DELETE FROM audit WHERE seq = 3",
		"DELETE FROM audit",
		"INSERT OR REPLACE INTO audit (seq, space, kind, subject, line, hash) VALUES (2, '', '', '', '{}', '')",
		"INSERT INTO audit (seq, space, kind, subject, line, hash) VALUES (9, '', '', '', '{}', '')",
		"INSERT INTO audit (space, kind, subject, line, hash) VALUES (NULL, '', '', '{}', '')",
		"UPDATE documents SET receipt = '{}'",
		"UPDATE documents SET content = id",
	} {
		if _, err := db.ExecContext(t.Context(), statement); err == nil {
			t.Errorf("%s: no error", statement)
		}
	}
	if head, err := s.VerifyAudit(t.Context()); err != nil || head.Lines != 3 {
		t.Errorf("audit log: %+v, %v", head, err)
	}
}

// Whoever takes the triggers away can write what he likes; the chain tells. Five documents are
// there: 1 to 3 by themselves, 4 and 5 under the report daily, which gives lines 4 to 7.
func TestVerifyAuditFindsTampering(t *testing.T) {
	const noTriggers = `DROP TRIGGER audit_does_not_change; DROP TRIGGER audit_does_not_shrink; DROP TRIGGER audit_grows_at_its_end;
		DROP TRIGGER documents_do_not_change; PRAGMA foreign_keys = OFF;`
	untouched := filepath.Join(t.TempDir(), "quire.db")
	s, err := store.Open(t.Context(), store.Config{File: untouched})
	if err != nil {
		t.Fatal(err)
	}
	for number, report := range []string{"", "", "", "daily", "daily"} {
		save(t, s, number, report)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	image, err := os.ReadFile(untouched)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		statement string
		line      int64
		reason    string // "": nothing is wrong
	}{
		"nothing":                 {"SELECT 1", 0, ""},
		"text of a line":          {"UPDATE audit SET line = replace(line, 'local', 'loca1') WHERE seq = 3", 3, "hash"},
		"text that is no JSON":    {"UPDATE audit SET line = 'x' WHERE seq = 3", 3, "invalid"},
		"hash of a line":          {"UPDATE audit SET hash = (SELECT hash FROM audit WHERE seq = 1) WHERE seq = 3", 3, "hash"},
		"a line is gone":          {"DELETE FROM audit WHERE seq = 2", 3, "line 2 is missing"},
		"the first line is gone":  {"DELETE FROM audit WHERE seq = 1", 2, "line 1 is missing"},
		"the last lines are gone": {"DELETE FROM audit WHERE seq >= 6", 0, "has no line"},
		"a line moved up":         {"DELETE FROM audit WHERE seq = 2; UPDATE audit SET seq = seq - 1 WHERE seq > 2", 2, "missing"},
		"columns of a line":       {"UPDATE audit SET kind = 'nothing' WHERE seq = 4", 4, "columns"},
		"subject of a line":       {"UPDATE audit SET subject = 'x' WHERE seq = 4", 4, "columns"},
		"space of a line":         {"UPDATE audit SET space = 'x' WHERE seq = 4", 4, "columns"},

		"receipt of a document":   {"UPDATE documents SET receipt = replace(receipt, '1+test', '2+test') WHERE seq = 2", 2, "not the one that was chained"},
		"content of a document":   {"UPDATE documents SET content = snapshot WHERE seq = 2", 2, "content is not what its receipt says"},
		"size of a document":      {"UPDATE documents SET size = size + 1 WHERE seq = 2", 2, "size is not"},
		"pages of a document":     {"UPDATE documents SET pages = pages + 1 WHERE seq = 2", 2, "pages is not"},
		"template of a document":  {"UPDATE documents SET template = 'other' WHERE seq = 2", 2, "template is not"},
		"version of a template":   {"UPDATE documents SET template_hash = snapshot WHERE seq = 2", 2, "template is not"},
		"snapshot of a document":  {"UPDATE documents SET snapshot = content WHERE seq = 2", 2, "snapshot is not"},
		"options of a document":   {"UPDATE documents SET options = '{\"standards\":[\"x\"]}' WHERE seq = 2", 2, "options is not"},
		"signer of a document":    {"UPDATE documents SET signer = 'somebody' WHERE seq = 2", 2, "signer is not"},
		"engine of a document":    {"UPDATE documents SET engine = '9' WHERE seq = 2", 2, "engine is not"},
		"time of a document":      {"UPDATE documents SET time = made WHERE seq = 2", 2, "time is not"},
		"making of a document":    {"UPDATE documents SET made = time WHERE seq = 2", 2, "made is not"},
		"a row that is damaged":   {"UPDATE documents SET snapshot = 'x' WHERE seq = 2", 2, "damaged"},
		"a document without line": {"UPDATE documents SET id = 'f' WHERE seq = 2", 0, "has no line"},
		"a document is gone":      {"DELETE FROM documents WHERE seq = 2", 2, "is gone"},

		"a filing is gone":           {"DELETE FROM filings WHERE seq = 1", 5, "no longer under report daily"},
		"a filing without line":      {"INSERT INTO filings SELECT space, 'weekly', document, 1, filed FROM filings WHERE seq = 1", 0, "without a line"},
		"a filing in another report": {"UPDATE filings SET report = 'weekly' WHERE seq = 1", 5, "no longer under report daily"},
		"an older latest":            {"UPDATE latest SET document = (SELECT document FROM filings WHERE seq = 1)", 7, "latest of report daily"},
		"no latest":                  {"DELETE FROM latest", 7, "latest of report daily"},
		"a latest of nothing":        {"INSERT INTO latest SELECT space, 'weekly', document FROM latest", 0, "latest of report weekly"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "quire.db")
			if err := os.WriteFile(file, image, 0o600); err != nil { //nolint:gosec // G703: the path is the test's own
				t.Fatal(err)
			}
			exec(t, other(t, file), noTriggers+c.statement)
			s, err := store.Open(t.Context(), store.Config{File: file, ReadOnly: true})
			if err != nil {
				t.Fatal(err)
			}
			_, err = s.VerifyAudit(t.Context())
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if c.reason == "" && err == nil {
				return
			}
			var wrong *store.AuditError
			if !errors.As(err, &wrong) || wrong.Line != c.line || !strings.Contains(wrong.Error(), c.reason) {
				t.Errorf("got %v, want line %d: %s", err, c.line, c.reason)
			}
		})
	}
}

// Even a whole chain made anew is told by a head kept elsewhere.
func TestAuditHeadTellsAChainMadeAnew(t *testing.T) {
	one := open(t, filepath.Join(t.TempDir(), "quire.db"))
	two := open(t, filepath.Join(t.TempDir(), "quire.db"))
	for number := range 3 {
		save(t, one, number, "")
		save(t, two, 2-number, "")
	}
	a, err := one.VerifyAudit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b, err := two.VerifyAudit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if a.Lines != b.Lines || a.Hash == b.Hash {
		t.Errorf("heads %+v and %+v, want equal lengths and other hashes", a, b)
	}
}

func TestRowsThatAreDamagedAreErrors(t *testing.T) {
	for _, column := range []string{"content", "snapshot", "options", "time", "made"} {
		file := filepath.Join(t.TempDir(), "quire.db")
		s := open(t, file)
		d := save(t, s, 1, "")
		db := other(t, file)
		exec(t, db, "DROP TRIGGER documents_do_not_change; UPDATE documents SET "+column+" = 'x'")
		if got, err := s.Document(t.Context(), d.Space, d.ID); err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("%s: %v, %v, want damaged", column, got, err)
		}
	}
}
