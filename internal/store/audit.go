package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"example.com/quire/internal/record"
)

// Kinds of audit lines.
const (
	kindMade  = "document.made"
	kindFiled = "document.filed"
)

// entry is one line of the audit log. Its text is canonical JSON.
type entry struct {
	At      string       `json:"at"`
	Kind    string       `json:"kind"`
	Prev    record.Hash  `json:"prev"` // hash of the line before; zeros for the first
	Receipt record.Hash  `json:"receipt,omitzero"`
	Report  string       `json:"report,omitempty"`
	Seq     int64        `json:"seq"`
	Space   record.Space `json:"space"`
	Subject record.Hash  `json:"subject"`
}

func (e entry) line() ([]byte, error) {
	b, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	return record.Canonical(b, record.Limits{})
}

// append writes e as the last line, in the transaction of what it tells of.
func (s *Store) append(ctx context.Context, tx *sql.Conn, e entry) error {
	var prev string
	err := tx.QueryRowContext(ctx, "SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1").Scan(&e.Seq, &prev)
	if err == nil {
		err = e.Prev.UnmarshalText([]byte(prev))
	} else if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	if err != nil {
		return fmt.Errorf("audit log: %w", err)
	}
	e.Seq++
	e.At = formatTime(s.now())
	line, err := e.line()
	if err != nil {
		return fmt.Errorf("audit log: %w", err)
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO audit (seq, space, kind, subject, line, hash) VALUES (?, ?, ?, ?, ?, ?)",
		e.Seq, string(e.Space), e.Kind, e.Subject.String(), string(line), record.Sum(line).String())
	if err != nil {
		return fmt.Errorf("audit log: %w", err)
	}
	return nil
}

// AuditHead names a state of the audit log: whoever keeps it elsewhere can tell
// later that nothing up to it was changed or cut off.
type AuditHead struct {
	Lines int64
	Hash  record.Hash // of the last line; zero when there is none
}

// AuditError says where the audit log, or a receipt that is chained into it, is
// not what was written.
type AuditError struct {
	Line   int64 // 0: not at one line
	Reason string
}

func (e *AuditError) Error() string {
	if e.Line == 0 {
		return "audit log: " + e.Reason
	}
	return fmt.Sprintf("audit log line %d: %s", e.Line, e.Reason)
}

// VerifyAudit walks the audit log from its first line and checks that each line
// has its hash and names the line before, that the documents' receipts are those
// whose hashes are chained, and that no document is without its line. What is
// wrong is an *AuditError. A log cut off at its end together with the rows it
// told of can be seen only with a head kept elsewhere.
func (s *Store) VerifyAudit(ctx context.Context) (head AuditHead, err error) {
	// One read transaction: a document saved meanwhile is in neither part.
	tx, err := s.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return head, fmt.Errorf("audit log: %w", err)
	}
	defer func() { err = errors.Join(err, tx.Rollback()) }()
	if head, err = walk(ctx, tx); err != nil {
		return head, err
	}
	return head, receipts(ctx, tx)
}

func walk(ctx context.Context, q querier) (head AuditHead, err error) {
	rows, err := q.QueryContext(ctx, "SELECT seq, space, kind, subject, line, hash FROM audit ORDER BY seq")
	if err != nil {
		return head, fmt.Errorf("audit log: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var seq int64
		var space, kind, subject, line, hash string
		if err := rows.Scan(&seq, &space, &kind, &subject, &line, &hash); err != nil {
			return head, fmt.Errorf("audit log: %w", err)
		}
		var e entry
		text := []byte(line)
		if err := json.Unmarshal(text, &e); err != nil {
			return head, &AuditError{seq, err.Error()}
		}
		again, err := e.line()
		reason := ""
		switch {
		case err != nil:
			reason = err.Error()
		case seq != head.Lines+1 || e.Seq != seq:
			reason = fmt.Sprintf("line %d is missing", head.Lines+1)
		case record.Sum(text).String() != hash:
			reason = "its hash is not that of its text"
		case e.Prev != head.Hash:
			reason = "it does not name the line before"
		case !bytes.Equal(again, text):
			reason = "its text is not of the form that is written"
		case string(e.Space) != space || e.Kind != kind || e.Subject.String() != subject:
			reason = "its columns are not what its text says"
		}
		if reason != "" {
			return head, &AuditError{seq, reason}
		}
		head = AuditHead{Lines: seq, Hash: record.Sum(text)}
	}
	return head, rows.Err()
}

// receipts checks every document's receipt against the line that chained it.
func receipts(ctx context.Context, q querier) (err error) {
	rows, err := q.QueryContext(ctx, `SELECT d.id, d.content, d.receipt, coalesce(a.seq, 0), coalesce(a.line, '')
		FROM documents d LEFT JOIN audit a ON a.space = d.space AND a.subject = d.id AND a.kind = ? ORDER BY d.space, d.seq`, kindMade)
	if err != nil {
		return fmt.Errorf("audit log: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var id, content, receipt, line string
		var seq int64
		if err := rows.Scan(&id, &content, &receipt, &seq, &line); err != nil {
			return fmt.Errorf("audit log: %w", err)
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
		if r, err := record.ParseReceipt([]byte(receipt)); err != nil || r.Content.String() != content {
			return &AuditError{seq, "the row of document " + id + " is not what its receipt says"}
		}
	}
	return rows.Err()
}
