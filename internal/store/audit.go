package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"example.com/quire/internal/record"
	"example.com/quire/internal/strictjson"
)

// Kinds of audit lines.
const (
	kindMade     = "document.made"
	kindFiled    = "document.filed"
	kindRestored = "document.restored"
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
	canonical, _, err := strictjson.Canonical(b, strictjson.Limits{})
	return canonical, err
}

// append writes e as the last line, in the transaction of what it tells of.
func (s *Store) append(ctx context.Context, tx *writer, e entry) error {
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

// Chained implements record.Documents.
func (s *Store) Chained(ctx context.Context, space record.Space, id, receipt record.Hash) (found bool, err error) {
	rows, err := s.reader.QueryContext(ctx, "SELECT line, hash FROM audit WHERE space = ? AND subject = ? AND kind = ?",
		string(space), id.String(), kindMade)
	if err != nil {
		return false, fmt.Errorf("audit log: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var line, hash string
		if err := rows.Scan(&line, &hash); err != nil {
			return false, fmt.Errorf("audit log: %w", err)
		}
		var e entry
		if record.Sum([]byte(line)).String() != hash || json.Unmarshal([]byte(line), &e) != nil {
			continue // damaged, so it vouches for nothing; VerifyAudit tells where
		}
		found = found || e.Receipt == receipt && e.Subject == id && e.Space == space
	}
	return found, rows.Err()
}

// AuditHead identifies a state of the audit log. If it is kept elsewhere, it can be shown later
// that nothing up to it was changed or removed.
type AuditHead struct {
	Lines int64
	Hash  record.Hash // of the last line; zero if there is none
}

// AuditError says where the audit log, or a receipt that is chained into it, was changed.
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
