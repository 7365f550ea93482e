package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"

	"example.com/quire/internal/record"
)

// VerifyAudit checks the audit log from its first line: each line has its hash and the hash of the
// line before; every line's document and report entry exist, and no others; the documents' receipts
// have the chained hashes, and their rows agree with the receipts. A problem is an *AuditError. If
// the end of the log and the rows it records are removed together, this is visible only with a head
// kept elsewhere.
func (s *Store) VerifyAudit(ctx context.Context) (head AuditHead, err error) {
	// One read transaction: a document saved meanwhile is in neither part.
	tx, err := s.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return head, fmt.Errorf("audit log: %w", err)
	}
	defer func() { err = errors.Join(err, tx.Rollback()) }()
	v := &verification{q: tx, latest: map[reportKey]filed{}}
	for _, check := range []func(context.Context) error{v.lines, v.documents, v.gone, v.filings, v.latestFiled} {
		if err := check(ctx); err != nil {
			if _, ok := errors.AsType[*AuditError](err); !ok {
				err = fmt.Errorf("audit log: %w", err)
			}
			return v.head, err
		}
	}
	return v.head, nil
}

// verification is one walk.
type verification struct {
	q      querier
	head   AuditHead
	latest map[reportKey]filed // as the lines tell
}

// reportKey names a report of a space.
type reportKey struct{ space, report string }

// filed is what was put there last, and by which line.
type filed struct {
	line     int64
	document string
}

// each calls f for every row of a query.
func (v *verification) each(ctx context.Context, f func(row *sql.Rows) error, query string, args ...any) (err error) {
	rows, err := v.q.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := f(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// lines checks the chain.
func (v *verification) lines(ctx context.Context) error {
	return v.each(ctx, func(row *sql.Rows) error {
		var seq int64
		var space, kind, subject, line, hash string
		if err := row.Scan(&seq, &space, &kind, &subject, &line, &hash); err != nil {
			return err
		}
		var e entry
		text := []byte(line)
		if err := json.Unmarshal(text, &e); err != nil {
			return &AuditError{seq, err.Error()}
		}
		again, err := e.line()
		reason := ""
		switch {
		case err != nil:
			reason = err.Error()
		case seq != v.head.Lines+1 || e.Seq != seq:
			reason = fmt.Sprintf("line %d is missing", v.head.Lines+1)
		case record.Sum(text).String() != hash:
			reason = "its hash is not that of its text"
		case e.Prev != v.head.Hash:
			reason = "it does not name the line before"
		case !bytes.Equal(again, text):
			reason = "its text is not of the form that is written"
		case string(e.Space) != space || e.Kind != kind || e.Subject.String() != subject:
			reason = "its columns are not what its text says"
		}
		if reason != "" {
			return &AuditError{seq, reason}
		}
		v.head = AuditHead{Lines: seq, Hash: record.Sum(text)}
		if kind == kindFiled {
			v.latest[reportKey{space, e.Report}] = filed{seq, subject}
		}
		return nil
	}, "SELECT seq, space, kind, subject, line, hash FROM audit ORDER BY seq")
}

// documents checks every document against its receipt, and that against the line that chained it.
func (v *verification) documents(ctx context.Context) error {
	return v.each(ctx, func(row *sql.Rows) error {
		var id, receipt, line string
		var seq int64
		d, damage := scan(row, &id, &receipt, &seq, &line)
		if damage != nil && !errors.Is(damage, record.ErrDamaged) { // the row could not be read
			return damage
		}
		if seq == 0 {
			return &AuditError{Reason: "document " + id + " has no line"}
		}
		var e entry
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			return &AuditError{seq, err.Error()}
		}
		if e.Receipt != record.Sum([]byte(receipt)) {
			return &AuditError{seq, "the receipt of document " + id + " is not the one that was chained"}
		}
		r, _, err := record.ParseReceipt([]byte(receipt))
		if err := errors.Join(damage, err); err != nil {
			return &AuditError{seq, err.Error()}
		}
		if what := differs(d, r); what != "" {
			return &AuditError{seq, "the row of document " + id + ": its " + what + " is not what its receipt says"}
		}
		return nil
	}, "SELECT "+columns+`, d.id, d.receipt, coalesce(a.seq, 0), coalesce(a.line, '')
		FROM documents d LEFT JOIN audit a ON a.space = d.space AND a.subject = d.id AND a.kind = ? ORDER BY d.space, d.seq`, kindMade)
}

// differs names what a document has other than its receipt; "" when nothing.
func differs(d *record.Document, r *record.Receipt) string {
	var when time.Time
	if r.Time != nil {
		when = *r.Time
	}
	for _, c := range []struct {
		what      string
		got, want any
	}{
		{"id", d.ID, r.Document},
		{"space", d.Space, r.Space},
		{"content", d.Content, r.Content},
		{"size", d.Size, r.Size},
		{"pages", d.Pages, r.Pages},
		{"title", d.Title, r.Title},
		{"template", d.Template, r.Template},
		{"snapshot", d.Snapshot, r.Snapshot},
		{"options", d.Options.Normal(), r.Options.Normal()},
		{"signer", d.Signer, r.Signer},
		{"engine", d.Engine, r.Engine},
		{"time", formatTime(d.Time), formatTime(when)},
		{"time_from", d.TimeFrom, r.TimeFrom},
		{"made", formatTime(d.Made), formatTime(r.Made)},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			return c.what
		}
	}
	return ""
}

// gone checks that what the lines tell of is there.
func (v *verification) gone(ctx context.Context) error {
	err := v.each(ctx, func(row *sql.Rows) error {
		e := &AuditError{}
		if err := row.Scan(&e.Line, &e.Reason); err != nil {
			return err
		}
		e.Reason = "document " + e.Reason + " is gone"
		return e
	}, `SELECT a.seq, a.subject FROM audit a LEFT JOIN documents d ON d.space = a.space AND d.id = a.subject
		WHERE a.kind = ? AND d.id IS NULL ORDER BY a.seq LIMIT 1`, kindMade)
	if err != nil {
		return err
	}
	return v.each(ctx, func(row *sql.Rows) error {
		var e AuditError
		var document, report string
		if err := row.Scan(&e.Line, &document, &report); err != nil {
			return err
		}
		e.Reason = "document " + document + " is no longer under report " + report
		return &e
	}, `SELECT a.seq, a.subject, json_extract(a.line, '$.report') FROM audit a
		LEFT JOIN filings f ON f.space = a.space AND f.document = a.subject AND f.report = json_extract(a.line, '$.report')
		WHERE a.kind = ? AND f.document IS NULL ORDER BY a.seq LIMIT 1`, kindFiled)
}

// filings checks that nothing stands under a report without a line that put it there.
func (v *verification) filings(ctx context.Context) error {
	return v.each(ctx, func(row *sql.Rows) error {
		var document, report string
		if err := row.Scan(&document, &report); err != nil {
			return err
		}
		return &AuditError{Reason: "document " + document + " is under report " + report + " without a line"}
	}, `SELECT f.document, f.report FROM filings f WHERE NOT EXISTS (
			SELECT 1 FROM audit a WHERE a.space = f.space AND a.subject = f.document AND a.kind = ? AND json_extract(a.line, '$.report') = f.report)
		LIMIT 1`, kindFiled)
}

// latestFiled checks that the latest document of each report is the one that was filed last.
func (v *verification) latestFiled(ctx context.Context) error {
	wrong := func(at reportKey) error {
		return &AuditError{v.latest[at].line, "the latest of report " + at.report + " in space " + at.space + " is not the one that was filed last"}
	}
	err := v.each(ctx, func(row *sql.Rows) error {
		var at reportKey
		var document string
		if err := row.Scan(&at.space, &at.report, &document); err != nil {
			return err
		}
		if v.latest[at].document != document {
			return wrong(at)
		}
		delete(v.latest, at)
		return nil
	}, "SELECT space, report, document FROM latest ORDER BY space, report")
	if err != nil {
		return err
	}
	for at := range v.latest {
		return wrong(at)
	}
	return nil
}
