package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"example.com/quire/internal/record"
)

// columns are what scan reads, of documents AS d.
const columns = `d.space, d.id, d.content, d.size, d.pages, d.template, d.template_hash, d.snapshot, d.options,
	d.signer, d.engine, d.time, d.made, d.title, d.time_from, d.name,
	(SELECT json_group_array(f.report) FROM filings f WHERE f.space = d.space AND f.document = d.id)`

// Save implements record.Documents.
func (s *Store) Save(ctx context.Context, d *record.Document, receipt []byte, report string) (kept *record.Document, created bool, err error) {
	options, err := json.Marshal(d.Options)
	if err != nil {
		return nil, false, fmt.Errorf("save document %s: %w", d.ID, err)
	}
	err = s.transact(ctx, func(ctx context.Context, tx *writer) error {
		_, err := document(ctx, tx, d.Space, d.ID)
		created = errors.Is(err, record.ErrNotFound)
		if err != nil && !created {
			return err
		}
		if created {
			if err := s.insert(ctx, tx, d, options, receipt); err != nil {
				return err
			}
		}
		if report != "" {
			if err := s.file(ctx, tx, d.Space, d.ID, report); err != nil {
				return err
			}
		}
		kept, err = document(ctx, tx, d.Space, d.ID)
		return err
	})
	if err != nil {
		return nil, false, fmt.Errorf("save document %s: %w", d.ID, err)
	}
	return kept, created, nil
}

func (s *Store) insert(ctx context.Context, tx *writer, d *record.Document, options, receipt []byte) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO templates (space, name, hash, seen) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
		string(d.Space), d.Template.Name, d.Template.Hash.String(), formatTime(d.Made))
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO documents (space, id, seq, content, size, pages, template, template_hash, snapshot,
			options, signer, engine, time, made, receipt, title, time_from, name)
		VALUES (?1, ?2, (SELECT coalesce(max(seq), 0) + 1 FROM documents WHERE space = ?1), ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)`,
		string(d.Space), d.ID.String(), d.Content.String(), d.Size, d.Pages, d.Template.Name, d.Template.Hash.String(), d.Snapshot.String(),
		string(options), d.Signer, d.Engine, formatTime(d.Time), formatTime(d.Made), string(receipt), d.Title, string(d.TimeFrom), d.Name)
	if err != nil {
		return err
	}
	return s.append(ctx, tx, entry{Space: d.Space, Kind: kindMade, Subject: d.ID, Receipt: record.Sum(receipt)})
}

// File implements record.Documents. A document that is already in the report changes nothing, so a
// repeated request does not move the latest back.
func (s *Store) File(ctx context.Context, space record.Space, id record.Hash, report string) (kept *record.Document, err error) {
	err = s.transact(ctx, func(ctx context.Context, tx *writer) error {
		if _, err := document(ctx, tx, space, id); err != nil {
			return err
		}
		if err := s.file(ctx, tx, space, id, report); err != nil {
			return err
		}
		kept, err = document(ctx, tx, space, id)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("file document %s under %s: %w", id, report, err)
	}
	return kept, nil
}

// Restored implements record.Documents.
func (s *Store) Restored(ctx context.Context, space record.Space, id record.Hash) error {
	err := s.transact(ctx, func(ctx context.Context, tx *writer) error {
		if _, err := document(ctx, tx, space, id); err != nil {
			return err
		}
		return s.append(ctx, tx, entry{Space: space, Kind: kindRestored, Subject: id})
	})
	if err != nil {
		return fmt.Errorf("note that document %s is restored: %w", id, err)
	}
	return nil
}

func (s *Store) file(ctx context.Context, tx *writer, space record.Space, id record.Hash, report string) error {
	done, err := tx.ExecContext(ctx, `INSERT INTO filings (space, report, document, seq, filed)
		VALUES (?1, ?2, ?3, (SELECT coalesce(max(seq), 0) + 1 FROM filings WHERE space = ?1 AND report = ?2), ?4)
		ON CONFLICT (space, report, document) DO NOTHING`, string(space), report, id.String(), formatTime(s.now()))
	if err != nil {
		return err
	}
	if n, err := done.RowsAffected(); err != nil || n == 0 {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO latest (space, report, document) VALUES (?, ?, ?)
		ON CONFLICT (space, report) DO UPDATE SET document = excluded.document`, string(space), report, id.String())
	if err != nil {
		return err
	}
	return s.append(ctx, tx, entry{Space: space, Kind: kindFiled, Subject: id, Report: report})
}

// Document implements record.Documents.
func (s *Store) Document(ctx context.Context, space record.Space, id record.Hash) (*record.Document, error) {
	return document(ctx, s.reader, space, id)
}

func document(ctx context.Context, q querier, space record.Space, id record.Hash) (*record.Document, error) {
	row := q.QueryRowContext(ctx, "SELECT "+columns+" FROM documents d WHERE d.space = ? AND d.id = ?", string(space), id.String())
	return one(row, "document "+id.String())
}

// Receipt implements record.Documents.
func (s *Store) Receipt(ctx context.Context, space record.Space, id record.Hash) ([]byte, error) {
	var receipt string
	err := s.reader.QueryRowContext(ctx, "SELECT receipt FROM documents WHERE space = ? AND id = ?", string(space), id.String()).Scan(&receipt)
	if errors.Is(err, sql.ErrNoRows) {
		err = record.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("receipt of document %s: %w", id, err)
	}
	return []byte(receipt), nil
}

// ByContent returns the newest document of the space whose file has this hash,
// or ErrNotFound.
func (s *Store) ByContent(ctx context.Context, space record.Space, content record.Hash) (*record.Document, error) {
	row := s.reader.QueryRowContext(ctx, "SELECT "+columns+" FROM documents d WHERE d.space = ? AND d.content = ? ORDER BY d.seq DESC LIMIT 1",
		string(space), content.String())
	return one(row, "content "+content.String())
}

// Latest returns the document that was filed last under a report of the space,
// or ErrNotFound.
func (s *Store) Latest(ctx context.Context, space record.Space, report string) (*record.Document, error) {
	row := s.reader.QueryRowContext(ctx, "SELECT "+columns+` FROM latest l JOIN documents d ON d.space = l.space AND d.id = l.document
		WHERE l.space = ? AND l.report = ?`, string(space), report)
	return one(row, "latest of report "+report)
}

// List returns documents of the space, newest first; with a report those filed
// under it, the last filed first. An After that no page gave is a
// *record.RequestError.
func (s *Store) List(ctx context.Context, space record.Space, q record.Query) (page *record.Page, err error) {
	limit := min(q.Limit, record.PageMost)
	if limit <= 0 {
		limit = record.PageDefault
	}
	before := int64(1<<63 - 1)
	if q.After != "" {
		if before, err = strconv.ParseInt(q.After, 10, 64); err != nil || before < 1 {
			return nil, &record.RequestError{Field: "after", Got: strconv.Quote(q.After), Want: "the value of next in the previous page"}
		}
	}
	// One more than asked for tells whether there is a next page.
	var rows *sql.Rows
	if q.Report == "" {
		rows, err = s.reader.QueryContext(ctx, "SELECT "+columns+`, d.seq FROM documents d
			WHERE d.space = ? AND d.seq < ? ORDER BY d.seq DESC LIMIT ?`, string(space), before, limit+1)
	} else {
		rows, err = s.reader.QueryContext(ctx, "SELECT "+columns+`, l.seq FROM filings l JOIN documents d ON d.space = l.space AND d.id = l.document
			WHERE l.space = ? AND l.report = ? AND l.seq < ? ORDER BY l.seq DESC LIMIT ?`, string(space), q.Report, before, limit+1)
	}
	if err != nil {
		return nil, fmt.Errorf("list documents: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	page = &record.Page{}
	last := int64(0)
	for rows.Next() {
		if len(page.Documents) == limit {
			page.Next = strconv.FormatInt(last, 10)
			break
		}
		d, err := scan(rows, &last)
		if err != nil {
			return nil, fmt.Errorf("list documents: %w", err)
		}
		page.Documents = append(page.Documents, d)
	}
	return page, rows.Err()
}

// one reads the row of a query for one document.
func one(row *sql.Row, what string) (*record.Document, error) {
	d, err := scan(row)
	if errors.Is(err, sql.ErrNoRows) {
		err = record.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, known(err))
	}
	return d, nil
}

// scan reads columns, and more after them.
func scan(row interface{ Scan(into ...any) error }, more ...any) (*record.Document, error) {
	var d record.Document
	var space, id, content, templateHash, snapshot, options, when, made, reports string
	err := row.Scan(append([]any{
		&space, &id, &content, &d.Size, &d.Pages, &d.Template.Name, &templateHash, &snapshot, &options,
		&d.Signer, &d.Engine, &when, &made, &d.Title, &d.TimeFrom, &d.Name, &reports,
	}, more...)...)
	if err != nil {
		return nil, err
	}
	d.Space = record.Space(space)
	var errs []error
	for _, h := range []struct {
		text string
		into *record.Hash
	}{{id, &d.ID}, {content, &d.Content}, {templateHash, &d.Template.Hash}, {snapshot, &d.Snapshot}} {
		errs = append(errs, h.into.UnmarshalText([]byte(h.text)))
	}
	errs = append(errs, json.Unmarshal([]byte(options), &d.Options), json.Unmarshal([]byte(reports), &d.Reports))
	d.Time, err = parseTime(when)
	errs = append(errs, err)
	d.Made, err = parseTime(made)
	if err := errors.Join(append(errs, err)...); err != nil {
		return nil, fmt.Errorf("row of document %s: %w: %w", id, err, record.ErrDamaged)
	}
	if len(d.Reports) == 0 {
		d.Reports = nil
	}
	slices.Sort(d.Reports)
	return &d, nil
}
