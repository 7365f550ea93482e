package middleware

import (
	"cmp"
	"container/list"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"example.com/quire/web"
)

var (
	// ErrSessionNotFound is what SessionStore.Load returns for an id it does not have.
	ErrSessionNotFound = errors.New("session not found")
	// ErrSessionConflict is what SessionStore.Save returns when the record has changed
	// since it was loaded, and the cause of a 409 when two requests changed one value.
	ErrSessionConflict = errors.New("session changed by another request")
	// ErrSessionTooLarge is in the error of a request whose session outgrows
	// SessionOptions.MaxBytes.
	ErrSessionTooLarge = errors.New("session too large")
	// ErrSessionLate is in the error of a request that began a session when its
	// answer, and with it the time for a cookie, was gone.
	ErrSessionLate = errors.New("session begun after the answer")
)

// SessionRecord is a session as a store keeps it.
type SessionRecord struct {
	// Version counts the saves. It is 0 for a record that no store has.
	Version uint64
	Values  map[string]string
	Flashes []string
	Created time.Time // of this id
	Used    time.Time // within a thirtieth of SessionOptions.Idle
	// Expires is when the record is of no more use; a store may then forget it.
	Expires time.Time
}

// SessionStore keeps sessions. Sessions that must outlive the process, or be seen
// by several, need one over the program's database. An id is a digest of what the
// client has, so that who reads the store cannot act for its users. A store is
// safe for concurrent use and keeps no map or slice of a record it was given.
type SessionStore interface {
	// Load returns the record, or an error that is ErrSessionNotFound.
	Load(ctx context.Context, id string) (SessionRecord, error)
	// Save stores rec with its Version raised by one, if Version is what the store
	// has now (0: no record of this id), in one atomic step. Else it changes nothing
	// and returns ErrSessionConflict.
	Save(ctx context.Context, id string, rec SessionRecord) error
	// Delete removes the record. An id that is not there is no error.
	Delete(ctx context.Context, id string) error
}

// SessionMemory is a SessionStore in the memory of the process, bounded. Danger: a
// restart signs everybody out, and so does, for those away longest, a flood of new
// sessions: begin sessions behind a rate limit. It is safe for concurrent use.
type SessionMemory struct {
	max int

	mu   sync.Mutex
	byID map[string]*list.Element
	used list.List // of *memorySession, the latest used first
}

type memorySession struct {
	id  string
	rec SessionRecord
}

// NewSessionMemory makes a store of at most so many sessions; 0 is 65,536. When it
// is full the session that was not used for longest gives way.
func NewSessionMemory(sessions int) (*SessionMemory, error) {
	if sessions < 0 {
		return nil, &web.ConfigError{Field: "NewSessionMemory.sessions", Got: sessions, Want: "at least 0"}
	}
	sessions = cmp.Or(sessions, 65536)
	return &SessionMemory{max: sessions, byID: make(map[string]*list.Element)}, nil
}

// Len is how many sessions are kept, expired ones included until they are met.
func (m *SessionMemory) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.used.Len()
}

// Load implements SessionStore.
func (m *SessionMemory) Load(_ context.Context, id string) (SessionRecord, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.byID[id]
	if e == nil {
		return SessionRecord{}, ErrSessionNotFound
	}
	s := held(e)
	if !time.Now().Before(s.rec.Expires) {
		m.remove(e)
		return SessionRecord{}, ErrSessionNotFound
	}
	m.used.MoveToFront(e)
	return copyRecord(s.rec), nil
}

// Save implements SessionStore.
func (m *SessionMemory) Save(_ context.Context, id string, rec SessionRecord) error {
	rec = copyRecord(rec)
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.byID[id]
	var have uint64
	if e != nil {
		have = held(e).rec.Version
	}
	if have != rec.Version {
		return ErrSessionConflict
	}
	rec.Version++
	if e != nil {
		held(e).rec = rec
		m.used.MoveToFront(e)
		return nil
	}
	for m.used.Len() >= m.max {
		m.remove(m.used.Back())
	}
	m.byID[id] = m.used.PushFront(&memorySession{id, rec})
	return nil
}

// Delete implements SessionStore.
func (m *SessionMemory) Delete(_ context.Context, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.byID[id]; e != nil {
		m.remove(e)
	}
	return nil
}

func (m *SessionMemory) remove(e *list.Element) {
	m.used.Remove(e)
	delete(m.byID, held(e).id)
}

func held(e *list.Element) *memorySession {
	return e.Value.(*memorySession) //nolint:forcetypeassert // the list holds nothing else
}

func copyRecord(rec SessionRecord) SessionRecord {
	rec.Values, rec.Flashes = maps.Clone(rec.Values), slices.Clone(rec.Flashes)
	return rec
}
