package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

//go:embed sqlite/*.sql
var migrationFiles embed.FS

// migration is one numbered step of the schema. A step that has been released
// is never edited: its checksum stands in every database that took it.
type migration struct {
	version int
	name    string
	sql     string
	sum     string
}

// migrations reads NNNN_name.sql files; the numbers begin at 1 without gaps.
func migrations(fsys fs.FS, dir string) ([]migration, error) {
	files, err := fs.Glob(fsys, path.Join(dir, "*.sql")) // sorted
	if err != nil {
		return nil, err
	}
	steps := make([]migration, 0, len(files))
	for i, file := range files {
		number, name, ok := strings.Cut(strings.TrimSuffix(path.Base(file), ".sql"), "_")
		version, err := strconv.Atoi(number)
		if !ok || err != nil || version != i+1 {
			return nil, fmt.Errorf("migration %s: want number %d, then _ and a name", file, i+1)
		}
		b, err := fs.ReadFile(fsys, file)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(b)
		steps = append(steps, migration{version: version, name: name, sql: string(b), sum: hex.EncodeToString(sum[:])})
	}
	return steps, nil
}

// SchemaError says that a database is not one for this program.
type SchemaError struct {
	Version int
	Reason  string
}

func (e *SchemaError) Error() string {
	return fmt.Sprintf("schema version %d: %s", e.Version, e.Reason)
}

// migrate brings the schema up to date, each step in a transaction of its own.
func (s *Store) migrate(ctx context.Context) error {
	steps, err := migrations(migrationFiles, "sqlite")
	if err != nil {
		return err
	}
	return s.migrateTo(ctx, steps)
}

func (s *Store) migrateTo(ctx context.Context, steps []migration) error {
	err := s.transact(ctx, func(ctx context.Context, tx *writer) error {
		_, err := tx.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS migrations (
			version INTEGER PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL, applied TEXT NOT NULL) STRICT`)
		return err
	})
	if err != nil {
		return err
	}
	for _, step := range steps {
		// Another process may migrate at the same time: what is done is read again
		// inside each transaction.
		err := s.transact(ctx, func(ctx context.Context, tx *writer) error {
			done, err := applied(ctx, tx, steps)
			if err != nil || done >= step.version {
				return err
			}
			if _, err := tx.conn.ExecContext(ctx, step.sql); err != nil { // many statements
				return fmt.Errorf("migration %d %s: %w", step.version, step.name, err)
			}
			_, err = tx.ExecContext(ctx, "INSERT INTO migrations (version, name, sha256, applied) VALUES (?, ?, ?, ?)",
				step.version, step.name, step.sum, formatTime(s.now()))
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// querier is a *sql.DB, *sql.Conn or *sql.Tx.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// applied returns how many steps the database has taken and checks that they
// are these.
func applied(ctx context.Context, q querier, steps []migration) (n int, err error) {
	rows, err := q.QueryContext(ctx, "SELECT version, name, sha256 FROM migrations ORDER BY version")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var version int
		var name, sum string
		if err := rows.Scan(&version, &name, &sum); err != nil {
			return 0, err
		}
		switch {
		case version > len(steps):
			return 0, &SchemaError{version, fmt.Sprintf("newer than this program, which knows %d", len(steps))}
		case version != n+1:
			return 0, &SchemaError{version, fmt.Sprintf("version %d is missing before it", n+1)}
		case sum != steps[n].sum:
			return 0, &SchemaError{version, fmt.Sprintf("migration %s is not the one of this program", name)}
		}
		n = version
	}
	return n, rows.Err()
}

// checkSchema is for a database that was not migrated just now.
func (s *Store) checkSchema(ctx context.Context) error {
	steps, err := migrations(migrationFiles, "sqlite")
	if err != nil {
		return err
	}
	n, err := applied(ctx, s.read, steps)
	if err == nil && n < len(steps) {
		err = &SchemaError{n, fmt.Sprintf("older than this program, which wants %d: start the server once", len(steps))}
	}
	return err
}
