package web

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// SSEOptions configure Context.SSE.
type SSEOptions struct {
	// Heartbeat is the time after which a comment is sent when no event was, so
	// that proxies keep the connection and a lost client is noticed. Default 15 s.
	Heartbeat time.Duration
	// Retry is told to the client as the time before it connects again. Default:
	// what the client thinks right.
	Retry time.Duration
	// Log replays to a client that comes back with Last-Event-ID what it has
	// missed. Default: none.
	Log *EventLog
}

// Event is one server-sent event. Its data may have several lines.
type Event struct {
	ID   string // no line break, no NUL; "" keeps the client's last one
	Name string // no line break; "" is message
	Data string // at most 1 MiB
}

// maxEvent is the most bytes of data an event may have.
const maxEvent = 1 << 20

// ErrStreamEnded is returned by Send when the client has left or the server drains.
var ErrStreamEnded = errors.New("web: event stream has ended")

// EventStream is the answer of Context.SSE. Its methods are safe for concurrent
// use until the handler returns, which ends the stream.
type EventStream struct {
	c      *Context
	ctx    context.Context
	cancel context.CancelFunc
	stop   func() // of OnDrain
	beat   *time.Timer
	every  time.Duration
	lastID string

	mu    sync.Mutex
	ended bool
	buf   bytes.Buffer
}

// SSE begins a stream of server-sent events (WHATWG HTML, section 9.2). The time
// budget of the route no longer applies; each event has 30 seconds to be written.
// The stream ends when its Context does: the client has left, or the server
// drains, which first tells the client to come back.
func (c *Context) SSE(o SSEOptions) (*EventStream, error) {
	c.live()
	if err := c.mayAnswer(http.StatusOK); err != nil {
		return nil, err
	}
	c.disarm()
	ctx, cancel := context.WithCancel(c.req.Context())
	s := &EventStream{c: c, ctx: ctx, cancel: cancel, every: cmp.Or(o.Heartbeat, 15*time.Second), lastID: c.req.Header.Get("Last-Event-ID")}
	h := c.w.Header()
	h["Content-Type"] = []string{"text/event-stream"}
	h["Cache-Control"] = []string{"no-cache"}
	h["X-Accel-Buffering"] = []string{"no"} // nginx would keep events back
	c.w.WriteHeader(http.StatusOK)
	c.stream = s
	s.beat = time.AfterFunc(s.every, s.heartbeat)
	s.stop = c.app.flights.onEnd(s.drained)
	s.mu.Lock()
	defer s.mu.Unlock()
	if o.Retry > 0 {
		s.buf.WriteString("retry: " + strconv.FormatInt(o.Retry.Milliseconds(), 10) + "\n\n")
	}
	if o.Log != nil && s.lastID != "" {
		missed, whole := o.Log.Since(s.lastID)
		if !whole {
			s.buf.WriteString(": some events are no longer there\n\n")
		}
		for _, e := range missed {
			s.append(e)
		}
	}
	if s.buf.Len() == 0 {
		s.buf.WriteString(":\n\n") // the head leaves now, and the client knows that it is connected
	}
	return s, s.send()
}

// LastEventID returns the id of the last event that a client which comes back had.
func (s *EventStream) LastEventID() string { return s.lastID }

// Context ends with the stream.
func (s *EventStream) Context() context.Context { return s.ctx }

// Send sends an event and returns when it is written. An event that cannot be is
// an error, and nothing of it is sent.
func (s *EventStream) Send(e Event) error {
	if err := e.check(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.append(e)
	return s.send()
}

func (e Event) check() error {
	switch {
	case strings.ContainsAny(e.ID, "\r\n\x00"):
		return fmt.Errorf("web: event id %q: line breaks or NUL", e.ID)
	case strings.ContainsAny(e.Name, "\r\n"):
		return fmt.Errorf("web: event name %q: line breaks", e.Name)
	case len(e.Data) > maxEvent:
		return fmt.Errorf("web: event of %d bytes: at most %d", len(e.Data), maxEvent)
	}
	return nil
}

// append writes an event into the buffer. Callers hold mu.
func (s *EventStream) append(e Event) {
	if e.ID != "" {
		s.buf.WriteString("id: " + e.ID + "\n")
	}
	if e.Name != "" {
		s.buf.WriteString("event: " + e.Name + "\n")
	}
	// Each of the three line breaks begins a line of data: none can begin a field.
	for line := range strings.SplitSeq(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(e.Data), "\n") {
		s.buf.WriteString("data: " + line + "\n")
	}
	s.buf.WriteByte('\n')
}

// send writes the buffer and flushes. Callers hold mu.
func (s *EventStream) send() error {
	defer s.buf.Reset()
	if s.ended || s.ctx.Err() != nil {
		return ErrStreamEnded
	}
	s.c.chunkTime()
	if _, err := s.c.w.Write(s.buf.Bytes()); err != nil {
		s.end()
		return fmt.Errorf("%w: %w", ErrStreamEnded, err)
	}
	if err := http.NewResponseController(s.c.w).Flush(); err != nil {
		s.end()
		return fmt.Errorf("%w: %w", ErrStreamEnded, err)
	}
	s.beat.Reset(s.every)
	return nil
}

func (s *EventStream) heartbeat() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.buf.WriteString(":\n\n")
	_ = s.send() // the stream has ended then, and its Context says so
}

// drained tells the client to come back, then ends the stream.
func (s *EventStream) drained(context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.buf.WriteString("retry: 1000\n\n")
	_ = s.send() // as in heartbeat
	s.end()
}

// end ends the stream. Callers hold mu.
func (s *EventStream) end() {
	s.ended = true
	s.cancel()
}

// close is called when the handler has returned.
func (s *EventStream) close() {
	s.stop()
	s.beat.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end()
}

// EventLog keeps the last events for clients that come back. It is safe for
// concurrent use.
type EventLog struct {
	mu     sync.Mutex
	events []Event // a ring; next is the oldest once it is full
	next   int
	size   int
}

// NewEventLog makes a log of the last n events; n <= 0 means 256.
func NewEventLog(n int) *EventLog {
	if n <= 0 {
		n = 256
	}
	return &EventLog{size: n}
}

// Add keeps an event, which needs an id of its own to be found again. An event that Send would
// refuse is an error here too, and is not kept.
func (l *EventLog) Add(e Event) error {
	if err := e.check(); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.events) < l.size {
		l.events = append(l.events, e)
		return nil
	}
	l.events[l.next] = e
	l.next = (l.next + 1) % l.size
	return nil
}

// Since returns what came after the event of an id. whole is false when that event
// is not there any more: then it is everything that still is.
func (l *EventLog) Since(id string) (missed []Event, whole bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := append(append([]Event(nil), l.events[l.next:]...), l.events[:l.next]...)
	for i, e := range slices.Backward(all) {
		if e.ID == id {
			return all[i+1:], true
		}
	}
	return all, false
}
