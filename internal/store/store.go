// Package store keeps the state of Quire in SQL: documents with their receipts, the documents of
// each report, and the audit log.
//
// The embedded database is SQLite in write-ahead mode with synchronous=FULL: whatever a method has
// acknowledged survives a power failure. One connection writes, and several read concurrently.
// Every query has a space; objects of another space are not found.
//
// The audit log is one chain over all spaces. Each line is canonical JSON that contains the hash
// of the line before it. Triggers refuse to change or delete a line. The hash of every receipt is
// in the line that was written in the same transaction. VerifyAudit checks the chain.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"modernc.org/sqlite"

	"example.com/quire/internal/record"
)

// Config says where the state is kept.
type Config struct {
	// File is the database, created if missing (0600). SQLite keeps FILE-wal and FILE-shm next to
	// it. Its directory must exist.
	File string
	// ReadOnly opens an existing database for reading, while another process may write. Its schema
	// must be this program's.
	ReadOnly bool
	// Now is the clock of the audit log. Nil: time.Now.
	Now func() time.Time
}

// Store keeps documents in SQLite. It is safe for concurrent use. It fills
// record.Documents.
type Store struct {
	write  *writer // nil when read-only
	read   *sql.DB
	reader *statements // over read
	now    func() time.Time
}

// ErrReadOnly is returned by methods that write when the store was opened to
// read only.
var ErrReadOnly = errors.New("store: opened read-only")

const (
	busyTimeout = 5 * time.Second // another process, such as a backup, may hold the lock
	readers     = 4               // at least so many connections read
)

// Open opens the database and brings its schema up to date. A database whose
// schema is newer than this program, or whose migrations are not this
// program's, is refused with a *SchemaError and stays as it is.
func Open(ctx context.Context, c Config) (*Store, error) {
	if c.File == "" {
		return nil, errors.New("store open: no file given")
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	s := &Store{now: c.Now}
	fail := func(err error) (*Store, error) {
		return nil, errors.Join(fmt.Errorf("store open %s: %w", c.File, known(err)), s.Close())
	}
	var err error
	if !c.ReadOnly {
		if err := makeFile(c.File); err != nil {
			return fail(err)
		}
		db, err := connect(c.File, "rwc", "journal_mode(WAL)", "synchronous(FULL)")
		if err != nil {
			return fail(err)
		}
		db.SetMaxOpenConns(1)
		s.write = newWriter(db)
		if err := s.migrate(ctx); err != nil {
			return fail(err)
		}
	}
	if s.read, err = connect(c.File, readMode(c), "query_only(1)"); err != nil {
		return fail(err)
	}
	n := max(readers, runtime.GOMAXPROCS(0))
	s.read.SetMaxOpenConns(n)
	s.read.SetMaxIdleConns(n)
	s.reader = newStatements(s.read)
	if err := s.checkSchema(ctx); err != nil {
		return fail(err)
	}
	return s, nil
}

// Close waits for running operations and closes the database.
func (s *Store) Close() error {
	var errs []error
	if s.read != nil { // before the writer: the last one to leave folds the log into the file
		if s.reader != nil {
			errs = append(errs, s.reader.close())
		}
		errs = append(errs, s.read.Close())
	}
	if s.write != nil {
		errs = append(errs, s.write.close())
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("store close: %w", err)
	}
	return nil
}

// makeFile makes an empty file that only its owner may read, which SQLite
// takes over with its mode for the files beside it, and makes its name durable.
func makeFile(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if runtime.GOOS == "windows" {
		return nil // a directory cannot be synced there; see package blob
	}
	d, err := os.Open(filepath.Dir(name))
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// readMode says how to read. Without a log beside it nobody has the database open, and it is
// whole: then SQLite need not make the files by which it would learn of a writer, and what lies
// on a read-only medium can be read.
func readMode(c Config) string {
	if c.ReadOnly {
		if _, err := os.Stat(c.File + "-wal"); errors.Is(err, fs.ErrNotExist) {
			return "ro&immutable=1"
		}
	}
	return "ro"
}

// connect returns connections to the file in the mode, each with the pragmas.
func connect(file, mode string, pragmas ...string) (*sql.DB, error) {
	abs, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	path := filepath.ToSlash(abs)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a drive letter, https://www.sqlite.org/uri.html section 3.1
	}
	q := url.Values{
		"_busy_timeout": {fmt.Sprint(busyTimeout.Milliseconds())},
		"_pragma":       append([]string{"foreign_keys(1)", "trusted_schema(0)"}, pragmas...),
		"_dqs":          {"0"},
		"_defensive":    {"1"},
		"_error_rc":     {"1"},
	}
	u := url.URL{Scheme: "file", Path: path, RawQuery: "mode=" + mode + "&" + q.Encode()}
	connector, err := sqlite.NewConnector(u.String())
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

// patiently tries f until the database is not busy, for as long as the busy timeout. While another
// process turns write-ahead logging on, recovers the log or closes the last connection, SQLite says
// at once that the database is busy, whatever that timeout (https://www.sqlite.org/wal.html,
// section 9).
func patiently(ctx context.Context, f func() error) error {
	const pause = 5 * time.Millisecond
	for end := time.Now().Add(busyTimeout); ; {
		err := f()
		if !errors.Is(known(err), record.ErrBusy) || time.Now().After(end) {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return err
		}
	}
}

// Result codes, https://www.sqlite.org/rescode.html.
const (
	sqlitePerm     = 3
	sqliteBusy     = 5
	sqliteLocked   = 6
	sqliteReadOnly = 8
	sqliteIOErr    = 10
	sqliteFull     = 13
	sqliteCantOpen = 14
)

// known makes an error of a full disk one that is record.ErrNoSpace too, one of a database that
// another process holds record.ErrBusy, and one of files that cannot be used
// record.ErrUnavailable.
func known(err error) error {
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return err
	}
	switch e.Code() & 0xff {
	case sqliteFull:
		return fmt.Errorf("%w: %w", record.ErrNoSpace, err)
	case sqliteBusy, sqliteLocked:
		return fmt.Errorf("%w: %w", record.ErrBusy, err)
	case sqlitePerm, sqliteReadOnly, sqliteIOErr, sqliteCantOpen:
		return fmt.Errorf("%w: %w", record.ErrUnavailable, err)
	}
	return err
}

// Check begins a transaction that writes nothing: nil says that one can write now.
func (s *Store) Check(ctx context.Context) error {
	if err := s.transact(ctx, func(context.Context, *writer) error { return nil }); err != nil {
		return fmt.Errorf("store check: %w", err)
	}
	return nil
}

// Blobs returns the hashes that the documents of all spaces name: their files, their snapshots,
// their signatures and, apart, the manifests of their templates, which name further blobs.
func (s *Store) Blobs(ctx context.Context) (files, manifests map[record.Hash]struct{}, err error) {
	files, manifests = map[record.Hash]struct{}{}, map[record.Hash]struct{}{}
	defer func() {
		if err != nil {
			err = fmt.Errorf("blobs of documents: %w", known(err))
		}
	}()
	rows, err := s.reader.QueryContext(ctx, `SELECT content, snapshot, template_hash,
		CASE WHEN signer = '' THEN NULL ELSE json_extract(receipt, '$.signature') END FROM documents`)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var names [3]string
		var signature *string // nil: the document is not signed
		if err := rows.Scan(&names[0], &names[1], &names[2], &signature); err != nil {
			return nil, nil, err
		}
		all := names[:]
		if signature != nil {
			all = append(all, *signature)
		}
		for i, name := range all {
			h, err := record.ParseHash(name)
			if err != nil {
				return nil, nil, err
			}
			if i == 2 {
				manifests[h] = struct{}{}
			} else {
				files[h] = struct{}{}
			}
		}
	}
	return files, manifests, rows.Err()
}

// transact runs f in a transaction of its own, or returns ErrReadOnly.
func (s *Store) transact(ctx context.Context, f func(ctx context.Context, tx *writer) error) error {
	if s.write == nil {
		return ErrReadOnly
	}
	return s.write.transact(ctx, f)
}

const timeLayout = "2006-01-02T15:04:05.000Z"

func formatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Truncate(record.TimePrecision).Format(timeLayout)
}

func parseTime(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	return time.Parse(timeLayout, s)
}
