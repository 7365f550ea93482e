package store

import (
	"context"
	"database/sql"
	"errors"
	"sync"
)

// statements runs queries over a *sql.DB or a *sql.Conn and keeps each one prepared: most of
// what a small query costs SQLite is reading its text and planning it. The queries are those of
// this package, so there are few. It is safe for concurrent use as far as what it runs over is.
type statements struct {
	over preparer

	mu   sync.Mutex
	made map[string]statement
}

// statement is a *sql.Stmt.
type statement interface {
	ExecContext(ctx context.Context, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, args ...any) *sql.Row
	Close() error
}

type preparer interface {
	PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
	querier
}

func newStatements(over preparer) *statements {
	return &statements{over: over, made: map[string]statement{}}
}

func (s *statements) prepare(ctx context.Context, query string) (statement, error) {
	s.mu.Lock()
	st, ok := s.made[query]
	s.mu.Unlock()
	if ok {
		return st, nil
	}
	// It may wait for a connection: meanwhile others find theirs.
	made, err := s.over.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	return s.keep(query, made)
}

// keep keeps a statement, unless somebody was quicker with the same one.
func (s *statements) keep(query string, made statement) (statement, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if st, ok := s.made[query]; ok {
		return st, made.Close()
	}
	s.made[query] = made
	return made, nil
}

// ExecContext runs one statement that gives no rows.
func (s *statements) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	st, err := s.prepare(ctx, query)
	if err != nil {
		return nil, err
	}
	return st.ExecContext(ctx, args...)
}

// QueryContext implements querier.
func (s *statements) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	st, err := s.prepare(ctx, query)
	if err != nil {
		return nil, err
	}
	return st.QueryContext(ctx, args...)
}

// QueryRowContext implements querier.
func (s *statements) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	st, err := s.prepare(ctx, query)
	if err != nil {
		return s.over.QueryRowContext(ctx, query, args...) // whose error its Scan tells
	}
	return st.QueryRowContext(ctx, args...)
}

func (s *statements) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, st := range s.made {
		errs = append(errs, st.Close())
	}
	clear(s.made)
	return errors.Join(errs...)
}
