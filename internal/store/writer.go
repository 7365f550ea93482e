package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"strings"
)

// writer is the one connection that writes, in turns.
type writer struct {
	db   *sql.DB
	turn chan struct{} // holds one while somebody writes
	conn *sql.Conn     // nil: the next turn opens one
	*statements
}

// newWriter takes over db, which must allow one connection.
func newWriter(db *sql.DB) *writer { return &writer{db: db, turn: make(chan struct{}, 1)} }

// open makes sure that there is a connection. It is called in a turn.
func (w *writer) open(ctx context.Context) error {
	if w.conn != nil {
		return nil
	}
	var conn *sql.Conn
	err := patiently(ctx, func() (err error) {
		conn, err = w.db.Conn(ctx)
		return err
	})
	if err != nil {
		return err
	}
	w.conn, w.statements = conn, newStatements(conn)
	return nil
}

// drop gives the connection back; discard says that nobody may have it again.
func (w *writer) drop(discard bool) error {
	if w.conn == nil {
		return nil
	}
	err := w.statements.close()
	if discard {
		// The driver closes it, which rolls back; the error is our own.
		_ = w.conn.Raw(func(any) error { return driver.ErrBadConn })
	} else {
		err = errors.Join(err, w.conn.Close())
	}
	w.conn, w.statements = nil, nil
	return err
}

func (w *writer) close() error {
	w.turn <- struct{}{} // waits for whoever writes
	defer func() { <-w.turn }()
	return errors.Join(w.drop(false), w.db.Close())
}

// transact runs f between BEGIN IMMEDIATE and COMMIT. database/sql's own transactions count as
// over when their COMMIT failed, while SQLite may keep such a one open, and then the only
// connection would never write again: here a failed COMMIT is rolled back like a failed f. So
// is a BEGIN that failed, because one whose context ends in the same moment may have begun.
func (w *writer) transact(ctx context.Context, f func(ctx context.Context, tx *writer) error) error {
	select {
	case w.turn <- struct{}{}:
		defer func() { <-w.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := w.open(ctx); err != nil {
		return known(err)
	}
	// The end of a transaction is not for the caller's context to interrupt.
	sure := context.WithoutCancel(ctx)
	_, err := w.ExecContext(ctx, "BEGIN IMMEDIATE")
	if err == nil {
		err = f(ctx, w)
	}
	if err == nil {
		if _, err = w.ExecContext(sure, "COMMIT"); err == nil {
			return nil
		}
	}
	if _, rollback := w.ExecContext(sure, "ROLLBACK"); rollback != nil && !strings.Contains(rollback.Error(), "no transaction is active") {
		// A connection that may still be inside its transaction is not used again.
		err = errors.Join(err, rollback, w.drop(true))
	}
	return known(err)
}
