package middleware

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"example.com/quire/web"
)

// sessionCookie has the prefix by which a browser takes it only from this host,
// over TLS, for all paths (RFC 6265bis, section 4.1.3.2).
const sessionCookie = "__Host-sid"

// SessionOptions configure Session.
type SessionOptions struct {
	// Store keeps the sessions. Default: 65,536 in memory; see SessionMemory for its
	// dangers.
	Store SessionStore
	// Idle ends a session that was not used for so long. Default: 30 minutes. It may
	// end a thirtieth earlier, so that not every request has to be saved.
	Idle time.Duration
	// Absolute ends a session so long after its id was made, used or not. Default: 12
	// hours. Danger: a stolen cookie is good for as long.
	Absolute time.Duration
	// MaxBytes bounds the keys, values and messages of one session. Default: 16 KiB.
	MaxBytes int
}

// Session gives requests a session, which a handler finds by SessionOf. One that
// nobody writes to is not kept and sets no cookie. An id has 130 random bits; one
// that the store does not know is never taken over from a client.
//
// A session is saved before its answer begins. When two requests at once change
// different values both changes stay. When they change a value that either has
// read or written, or the session has ended in between, the later one gets 409.
// A handler that sets a value when its answer has begun is saved at its end; a new
// session is then refused with ErrSessionLate.
//
// The cookie is Secure: over plain HTTP browsers keep it for localhost only.
func Session(o SessionOptions) (web.Middleware, error) {
	for _, d := range []struct {
		field string
		value *time.Duration
		def   time.Duration
	}{{"Idle", &o.Idle, 30 * time.Minute}, {"Absolute", &o.Absolute, 12 * time.Hour}} {
		if *d.value < 0 {
			return nil, &web.ConfigError{Field: "SessionOptions." + d.field, Got: *d.value, Want: "a time above 0"}
		}
		if *d.value == 0 {
			*d.value = d.def
		}
	}
	if o.MaxBytes < 0 {
		return nil, &web.ConfigError{Field: "SessionOptions.MaxBytes", Got: o.MaxBytes, Want: "at least 0"}
	}
	o.MaxBytes = cmp.Or(o.MaxBytes, 16<<10)
	if o.Store == nil {
		store, err := NewSessionMemory(0)
		if err != nil {
			return nil, err
		}
		o.Store = store
	}
	return func(next web.Handler) web.Handler {
		return func(c *web.Context) error {
			s := &SessionValues{c: c, o: &o}
			if err := s.load(); err != nil {
				return fmt.Errorf("session load: %w", err)
			}
			sessionKey.Set(c, s)
			inner := c.Writer()
			c.SetWriter(&sessionWriter{ResponseWriter: inner, s: s})
			err := next(c)
			c.SetWriter(inner)
			if s.failed == nil {
				s.commit() // nothing was written, or values were set after it
			}
			switch {
			case err == nil:
				return s.failed
			case s.failed == nil || errors.Is(err, s.failed):
				return err
			}
			return errors.Join(s.failed, err)
		}
	}, nil
}

var sessionKey = web.NewKey[*SessionValues]("session")

// SessionOf returns the session of the request, false when the middleware Session
// does not serve it.
func SessionOf(c *web.Context) (*SessionValues, bool) {
	s, ok := sessionKey.Get(c)
	if ok && !s.answered {
		s.vary()
	}
	return s, ok
}

// SessionValues is the session of one request. Like the Context it belongs to the
// handler's goroutine and is valid until the handler returns.
type SessionValues struct {
	c   *web.Context
	o   *SessionOptions
	id  string // of the store; "" before the first save
	rec SessionRecord

	touched   map[string]bool    // keys read or written
	changes   map[string]*string // nil: deleted
	flashes   []string           // to be added
	taken     bool               // the flashes of rec were shown
	renewed   bool
	destroyed bool
	varies    bool
	answered  bool // the header is on its way
	failed    error
}

// load takes the session of the cookie. What is no id of ours, is unknown or has
// expired leaves an empty session whose id is yet to be made. The old cookie stays:
// another answer may just have replaced it.
func (s *SessionValues) load() error {
	token := s.c.Cookie(sessionCookie)
	if len(token) != 26 || strings.Trim(token, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") != "" {
		return nil
	}
	id := sessionID(token)
	rec, err := s.o.Store.Load(s.c.Context(), id)
	if errors.Is(err, ErrSessionNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if s.expired(rec) {
		return s.o.Store.Delete(s.c.Context(), id)
	}
	s.id, s.rec = id, rec
	return nil
}

func (s *SessionValues) expired(rec SessionRecord) bool {
	now := time.Now()
	return !now.Before(rec.Used.Add(s.o.Idle)) || !now.Before(rec.Created.Add(s.o.Absolute)) || !now.Before(rec.Expires)
}

func sessionID(token string) string {
	sum := sha256.Sum256([]byte(token))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// Get returns a value and whether it is there.
func (s *SessionValues) Get(key string) (string, bool) {
	if s.touched == nil {
		s.touched = map[string]bool{}
	}
	s.touched[key] = true
	if v, ok := s.changes[key]; ok {
		if v == nil {
			return "", false
		}
		return *v, true
	}
	v, ok := s.rec.Values[key]
	return v, ok
}

// Set changes a value. Danger: a session that says who is signed in is to be given
// a new id by Renew first.
func (s *SessionValues) Set(key, value string) { s.change(key, &value) }

// Delete removes a value.
func (s *SessionValues) Delete(key string) { s.change(key, nil) }

func (s *SessionValues) change(key string, v *string) {
	if s.changes == nil {
		s.changes = map[string]*string{}
	}
	s.Get(key) // touched
	s.changes[key] = v
}

// Flash adds a message for the next page: Flashes returns it once.
func (s *SessionValues) Flash(message string) { s.flashes = append(s.flashes, message) }

// Flashes returns the messages that earlier requests left, and removes them.
func (s *SessionValues) Flashes() []string {
	if s.taken {
		return nil
	}
	s.taken = len(s.rec.Flashes) > 0
	return slices.Clone(s.rec.Flashes)
}

// Renew gives the session a new id and a new absolute expiry; its values stay and
// the old id ends. It is to be called at sign-in and whenever the user's rights
// grow, so that an id that somebody else may have planted is of no use (session
// fixation).
func (s *SessionValues) Renew() { s.renewed = true }

// Destroy ends the session and removes its cookie. Values set later begin another.
func (s *SessionValues) Destroy() {
	s.destroyed, s.renewed, s.taken = true, false, false
	s.touched, s.changes, s.flashes = nil, nil, nil
	s.rec = SessionRecord{}
}

// vary tells caches that the answer depends on the session (RFC 9111, section 4.1).
func (s *SessionValues) vary() {
	if !s.varies {
		s.varies = true
		s.c.Writer().Header().Add("Vary", "Cookie")
	}
}

// begin is called before the header of the answer leaves.
func (s *SessionValues) begin() error {
	if !s.answered && s.failed == nil {
		s.commit()
		s.answered = true
	}
	return s.failed
}

// commit saves what the request changed; failed has the error.
func (s *SessionValues) commit() {
	err := s.save(s.c.Context())
	switch {
	case err == nil:
		s.touched, s.changes, s.flashes, s.taken, s.renewed = nil, nil, nil, false, false
	case errors.Is(err, ErrSessionConflict):
		s.failed = web.NewProblem(http.StatusConflict, "the session was changed by another request: send the request again", err)
	default:
		s.failed = fmt.Errorf("session save: %w", err)
	}
}

func (s *SessionValues) save(ctx context.Context) error {
	if s.destroyed {
		if err := s.end(ctx); err != nil {
			return err
		}
	}
	written := s.taken || len(s.changes) > 0 || len(s.flashes) > 0
	if s.id == "" {
		if !written {
			return nil
		}
		return s.create(ctx)
	}
	if !written && !s.renewed {
		if time.Since(s.rec.Used) < s.o.Idle/30 {
			return nil
		}
		rec := s.stamp(s.rec)
		err := s.o.Store.Save(ctx, s.id, rec)
		if errors.Is(err, ErrSessionConflict) {
			return nil // somebody else has just used it
		}
		if err == nil {
			rec.Version++
			s.rec = rec
		}
		return err
	}
	return s.update(ctx)
}

// end deletes the session that Destroy ended, and its cookie.
func (s *SessionValues) end(ctx context.Context) error {
	if s.id != "" {
		if err := s.o.Store.Delete(ctx, s.id); err != nil {
			return err
		}
	}
	s.id, s.destroyed = "", false
	if !s.answered && len(s.changes) == 0 && len(s.flashes) == 0 {
		s.cookie("", -1)
	}
	return nil
}

func (s *SessionValues) create(ctx context.Context) error {
	if s.answered {
		return ErrSessionLate
	}
	rec, err := s.merged(s.rec)
	if err != nil {
		return err
	}
	rec.Version, rec.Created = 0, time.Now()
	rec = s.stamp(rec)
	token := rand.Text()
	if err := s.o.Store.Save(ctx, sessionID(token), rec); err != nil {
		return err
	}
	rec.Version++
	s.id, s.rec = sessionID(token), rec
	s.cookie(token, 0)
	return nil
}

// update saves a session that exists, merging with the changes of other requests.
func (s *SessionValues) update(ctx context.Context) error {
	if s.renewed && s.answered {
		return ErrSessionLate
	}
	now := s.rec
	for range 8 { // each turn lost means that another request got on
		rec, err := s.merged(now)
		if err != nil {
			return err
		}
		if s.renewed {
			err = s.move(ctx, now, rec)
		} else {
			rec = s.stamp(rec)
			if err = s.o.Store.Save(ctx, s.id, rec); err == nil {
				rec.Version++
				s.rec = rec
			}
		}
		if !errors.Is(err, ErrSessionConflict) {
			return err
		}
		now, err = s.o.Store.Load(ctx, s.id)
		if errors.Is(err, ErrSessionNotFound) {
			return ErrSessionConflict // signed out or renewed: not to be brought back
		}
		if err != nil {
			return err
		}
		if s.expired(now) {
			return ErrSessionConflict
		}
	}
	return ErrSessionConflict
}

// move saves rec under a new id and ends the old one. The old record is first
// replaced by an expired one of the version that was merged: a request that saves
// meanwhile meets a conflict rather than losing what it wrote.
func (s *SessionValues) move(ctx context.Context, old, rec SessionRecord) error {
	token := rand.Text()
	next := sessionID(token)
	rec.Version, rec.Created = 0, time.Now()
	rec = s.stamp(rec)
	if err := s.o.Store.Save(ctx, next, rec); err != nil {
		return err
	}
	if err := s.o.Store.Save(ctx, s.id, SessionRecord{Version: old.Version, Created: old.Created, Used: old.Used, Expires: time.Now()}); err != nil {
		return errors.Join(err, s.o.Store.Delete(ctx, next))
	}
	if err := s.o.Store.Delete(ctx, s.id); err != nil {
		return errors.Join(err, s.o.Store.Delete(ctx, next))
	}
	rec.Version++
	s.id, s.rec = next, rec
	s.cookie(token, 0)
	return nil
}

// merged is now with the changes of this request. A value that this request read
// or wrote and another changed since is a conflict, unless this request only read.
func (s *SessionValues) merged(now SessionRecord) (SessionRecord, error) {
	if now.Version != s.rec.Version {
		for key := range s.touched {
			a, inA := s.rec.Values[key]
			if b, inB := now.Values[key]; len(s.changes) > 0 && (a != b || inA != inB) {
				return now, ErrSessionConflict
			}
		}
	}
	rec := now
	rec.Values = maps.Clone(now.Values)
	if rec.Values == nil {
		rec.Values = map[string]string{}
	}
	for key, v := range s.changes {
		if v == nil {
			delete(rec.Values, key)
		} else {
			rec.Values[key] = *v
		}
	}
	shown := len(s.rec.Flashes)
	if s.taken && len(now.Flashes) >= shown && slices.Equal(now.Flashes[:shown], s.rec.Flashes) {
		rec.Flashes = now.Flashes[shown:]
	}
	rec.Flashes = slices.Concat(rec.Flashes, s.flashes)
	size := 0
	for k, v := range rec.Values {
		size += len(k) + len(v)
	}
	for _, f := range rec.Flashes {
		size += len(f)
	}
	if size > s.o.MaxBytes {
		return rec, fmt.Errorf("%w: %d bytes, allowed are %d", ErrSessionTooLarge, size, s.o.MaxBytes)
	}
	return rec, nil
}

func (s *SessionValues) stamp(rec SessionRecord) SessionRecord {
	rec.Used = time.Now()
	rec.Expires = rec.Used.Add(s.o.Idle)
	if end := rec.Created.Add(s.o.Absolute); end.Before(rec.Expires) {
		rec.Expires = end
	}
	return rec
}

// cookie sets the cookie, and keeps an answer that says nothing about caches out
// of them: who gets it gets the session.
func (s *SessionValues) cookie(token string, maxAge int) {
	s.c.SetCookie(&http.Cookie{Name: sessionCookie, Value: token, Path: "/", MaxAge: maxAge}) //nolint:gosec // SetCookie adds Secure, HttpOnly and SameSite
	s.vary()
	if h := s.c.Writer().Header(); h["Cache-Control"] == nil {
		h.Set("Cache-Control", "no-store")
	}
}

// sessionWriter saves the session before the header of the answer leaves. When
// that fails nothing is sent, so that the error can be the answer; an answer that
// is an error already passes.
type sessionWriter struct {
	http.ResponseWriter
	s      *SessionValues
	passed bool // an error is the answer
}

func (w *sessionWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *sessionWriter) WriteHeader(code int) {
	informational := code >= 100 && code < 200 && code != http.StatusSwitchingProtocols
	if informational || w.begin(code) == nil {
		w.ResponseWriter.WriteHeader(code)
	}
}

func (w *sessionWriter) begin(code int) error {
	err := w.s.begin()
	if w.passed = w.passed || code >= http.StatusBadRequest; w.passed {
		return nil
	}
	return err
}

func (w *sessionWriter) Write(p []byte) (int, error) {
	if err := w.begin(0); err != nil {
		return 0, err
	}
	return w.ResponseWriter.Write(p)
}

func (w *sessionWriter) WriteString(p string) (int, error) {
	if err := w.begin(0); err != nil {
		return 0, err
	}
	return io.WriteString(w.ResponseWriter, p)
}

func (w *sessionWriter) ReadFrom(r io.Reader) (int64, error) {
	if err := w.begin(0); err != nil {
		return 0, err
	}
	return io.Copy(w.ResponseWriter, r)
}

func (w *sessionWriter) FlushError() error {
	if err := w.begin(0); err != nil {
		return err
	}
	return http.NewResponseController(w.ResponseWriter).Flush()
}

func (w *sessionWriter) Flush() {
	_ = w.FlushError() // http.Flusher has no way to say so
}

func (w *sessionWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	if err := w.begin(0); err != nil {
		return nil, nil, err
	}
	return http.NewResponseController(w.ResponseWriter).Hijack()
}
