package frozen

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"example.com/quire/internal/httpfield"
)

// A conn stands between net/http and one connection. What net/http reads is cut
// into whole messages, so that it never holds a part of the next request:
//
//   - at the boundary between messages its Read waits here. Heads that a source
//     can answer are answered on the spot; any other ends the boundary.
//   - a message is handed up, head and body, and not one byte more.
//   - in flight, when the message is up and not yet answered, every Read is the
//     one by which net/http notices that the client has gone. It sees the end of
//     the connection, but of a next request it is told nothing: it is parked
//     until net/http, as it does before it goes on, sets a deadline in the past.
//   - opaque means that net/http has the connection for itself, for ever.
//
// The surprising case: net/http tells of the end of an answer by StateIdle, in
// the goroutine that then reads. So state and buffer need no lock, save for what
// Drain, Close and deadlines touch from outside.
type conn struct {
	net.Conn
	lane *Lane

	state connState
	fresh bool   // net/http has had no message yet
	buf   []byte // maxHead bytes; what has come is buf[r:w]
	r, w  int
	left  int64 // bytes of the message still to be handed up
	err   error // of the socket, for the next Read
	head  requestHead

	// What the last Accept-Encoding said: clients repeat themselves.
	encodings []byte
	weights   weights

	out      []byte    // answers not yet sent
	large    []byte    // the body behind out, too large to copy
	parts    [2][]byte // both, while they are sent
	buffers  net.Buffers
	closing  bool // the last answer said so
	writeEnd time.Time
	readEnd  time.Time // of the lane's own deadline; zero: net/http's holds
	readKind bool      // it is that of a head
	served   bool      // the lane has answered

	writing sync.Mutex // held while an answer is sent: Close waits for it

	mu      sync.Mutex // guards what follows
	parked  sync.Cond
	wake    bool          // a deadline in the past is set
	waiting time.Time     // at the boundary, nothing has come since then; else zero
	ending  bool          // by Drain: a last look, then the end
	closed  bool          // by Close
	lag     time.Duration // added to deadlines of net/http's first message
	asked   time.Time     // the read deadline net/http asked for
}

type connState int

const (
	stateBoundary connState = iota
	stateMessage
	stateFlight
	stateOpaque
)

const (
	maxHead  = 4 << 10
	maxCopy  = 16 << 10 // bodies up to it are copied beside their heads
	maxBatch = 64 << 10 // of answers that leave together
)

// Read implements net.Conn for net/http.
func (c *conn) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if c.state == stateBoundary {
		if err := c.boundary(); err != nil {
			return 0, err
		}
	}
	switch c.state {
	case stateMessage:
		return c.message(p)
	case stateFlight:
		return c.flight()
	}
	if c.r < c.w {
		n := copy(p, c.buf[c.r:c.w])
		c.r += n
		return n, nil
	}
	if c.err != nil {
		return 0, c.err
	}
	return c.Conn.Read(p)
}

// boundary answers requests until one must go up, the state then being another.
func (c *conn) boundary() error {
	began := time.Now()
	for {
		switch c.head.parse(c.buf[c.r:c.w], c.lane.allowed) {
		case serve:
			if c.answer() {
				if c.closing || len(c.large) > 0 || len(c.out) > maxBatch {
					if err := c.flush(); err != nil {
						return err
					}
				}
				if c.closing {
					return io.EOF
				}
				continue
			}
			return c.up(stateMessage, began)
		case pass:
			return c.up(stateMessage, began)
		case opaque:
			return c.up(stateOpaque, began)
		}
		if c.w-c.r == len(c.buf) { // a head over the limit
			return c.up(stateOpaque, began)
		}
		if err := c.flush(); err != nil {
			return err
		}
		if c.err != nil {
			if c.r < c.w { // net/http says what it thinks of half a head
				return c.up(stateOpaque, began)
			}
			return c.err
		}
		if err := c.fill(); err != nil {
			return err
		}
	}
}

// fill reads more of a head, under the lane's deadlines.
func (c *conn) fill() error {
	if c.r > 0 {
		c.w = copy(c.buf, c.buf[c.r:c.w])
		c.r = 0
	}
	now := time.Now()
	// A head has one deadline from its first byte, or from when the connection came;
	// idle ones move on.
	isHead := c.w > 0 || c.fresh && !c.served
	end := now.Add(c.lane.opts.Timeouts.Idle)
	if isHead {
		end = now.Add(c.lane.opts.Timeouts.Head)
	}
	if c.readEnd.IsZero() || isHead != c.readKind || !isHead && end.Sub(c.readEnd) > time.Second {
		if err := c.Conn.SetReadDeadline(end); err != nil {
			return err
		}
		c.readEnd, c.readKind = end, isHead
	}
	if c.w == 0 {
		c.wait(now)
	}
	n, err := c.Conn.Read(c.buf[c.w:])
	if c.wait(time.Time{}) && n == 0 {
		// What had come before the deadline was over is still taken.
		if err = c.Conn.SetReadDeadline(time.Now().Add(lastLook)); err == nil {
			if n, err = c.Conn.Read(c.buf[c.w:]); n == 0 {
				return io.EOF
			}
		}
		c.readEnd = time.Time{}
	}
	c.w += n
	if err != nil {
		c.err = err
	}
	return nil
}

// lastLook is long enough for a read to find what is there.
const lastLook = time.Millisecond

// wait notes since when the connection may be closed without loss, and reports
// whether Drain has asked for its end.
func (c *conn) wait(since time.Time) (ending bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting, ending = since, c.ending
	c.ending = false
	return ending
}

// up ends the boundary: what has come is net/http's.
func (c *conn) up(st connState, began time.Time) error {
	if err := c.flush(); err != nil {
		return err
	}
	c.state, c.left = st, int64(c.head.length)+c.head.body
	if c.writeEnd != (time.Time{}) {
		c.writeEnd = time.Time{}
		if err := c.SetWriteDeadline(time.Time{}); err != nil { // net/http's come later, if it has any
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fresh {
		// Of the first message net/http counts from when the connection came. The
		// time that the lane has had is none of the client's.
		c.lag, c.fresh = time.Since(began), false
	}
	if c.readEnd.IsZero() {
		return nil
	}
	c.readEnd = time.Time{}
	return c.Conn.SetReadDeadline(c.shifted(c.asked))
}

// shifted moves a deadline of net/http by what the lane took before its first
// message. Callers hold mu.
func (c *conn) shifted(t time.Time) time.Time {
	if t.IsZero() || c.lag == 0 {
		return t
	}
	return t.Add(c.lag)
}

// message hands up what is left of the message.
func (c *conn) message(p []byte) (n int, err error) {
	if int64(len(p)) > c.left {
		p = p[:c.left]
	}
	switch {
	case c.r < c.w:
		n = copy(p, c.buf[c.r:c.w])
		c.r += n
	case c.err != nil:
		return 0, c.err
	default:
		n, err = c.Conn.Read(p)
	}
	if c.left -= int64(n); c.left == 0 {
		c.state = stateFlight
	}
	return n, err
}

// flight waits for the connection's end and keeps what else comes.
func (c *conn) flight() (int, error) {
	if c.r == c.w && c.err == nil {
		c.r, c.w = 0, 0
		n, err := c.Conn.Read(c.buf)
		if c.w = n; n == 0 {
			return 0, err
		}
		c.err = err
	}
	if c.r == c.w {
		return 0, c.err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for !c.wake && !c.closed {
		c.parked.Wait()
	}
	if c.closed {
		return 0, net.ErrClosed
	}
	return 0, os.ErrDeadlineExceeded
}

// SetReadDeadline implements net.Conn for net/http. At the boundary the lane's
// own deadlines hold.
func (c *conn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	past := !t.IsZero() && !t.After(time.Now()) && time.Since(t) > time.Hour // net/http's "long time ago"
	if c.wake = past; past {
		c.parked.Broadcast()
		return c.Conn.SetReadDeadline(t)
	}
	c.asked = t
	return c.Conn.SetReadDeadline(c.shifted(t))
}

// SetDeadline implements net.Conn for whoever has hijacked the connection.
func (c *conn) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}

// idle is told that an answer of net/http is complete.
func (c *conn) idle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lag = 0
	if c.state == stateOpaque {
		return // it stays so, and over HTTP/2 another goroutine reads
	}
	c.fresh = false
	if c.state == stateFlight || c.state == stateMessage && c.left == 0 {
		c.state = stateBoundary
		return
	}
	c.state = stateOpaque // a body that was not read to its end: net/http knows where it stands
}

// hijacked is told that the connection is another's.
func (c *conn) hijacked() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state, c.lag = stateOpaque, 0
}

// answer appends the reply to the request in c.head; false when it goes up.
func (c *conn) answer() bool {
	h := &c.head
	e := c.lane.find(h)
	if e == nil {
		return false
	}
	w := &noField
	if h.encodings != nil {
		if c.encodings == nil || !bytes.Equal(c.encodings, h.encodings) {
			c.encodings = append(make([]byte, 0, len(h.encodings)), h.encodings...)
			c.weights = parseWeights([]string{string(c.encodings)})
		}
		w = &c.weights
	}
	v := e.choose(w)
	if v == nil {
		return false
	}
	status, head, body := e.status, v.full, v.body
	if status == http.StatusOK && e.same(h, v) {
		status, head, body = http.StatusNotModified, v.same, nil
	}
	if h.isHead {
		body = nil
	}
	c.out = append(append(c.out, head...), c.lane.now()...)
	if h.close || c.lane.draining.Load() {
		c.closing = true
		c.out = append(c.out, "Connection: close\r\n"...)
	}
	c.out = append(c.out, "\r\n"...)
	if len(body) <= maxCopy {
		c.out = append(c.out, body...)
	} else {
		c.large = body
	}
	if c.lane.opts.OnServed != nil {
		c.lane.opts.OnServed(Served{Remote: c.RemoteAddr(), Target: h.target, Head: h.isHead, Status: status, Bytes: len(body)})
	}
	c.r += h.length
	c.served = true
	return true
}

// same judges If-None-Match, or without it If-Modified-Since.
func (e *Entry) same(h *requestHead, v *variant) bool {
	switch {
	case h.match != nil:
		if string(h.match) == v.tag || string(h.match) == "*" {
			return true
		}
		return httpfield.MatchETag([]string{string(h.match)}, v.tag, true)
	case h.since != nil && e.date != "":
		if string(h.since) == e.date {
			return true
		}
		at, ok := httpfield.ParseDate(string(h.since), time.Now())
		return ok && !e.modified.After(at)
	}
	return false
}

// flush sends the answers that are ready.
func (c *conn) flush() error {
	if len(c.out) == 0 {
		return nil
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	now := time.Now()
	if end := now.Add(c.lane.opts.Timeouts.Write); end.Sub(c.writeEnd) > time.Second {
		if err := c.SetWriteDeadline(end); err != nil {
			return err
		}
		c.writeEnd = end
	}
	var err error
	if len(c.large) > 0 {
		c.parts = [2][]byte{c.out, c.large}
		c.buffers = c.parts[:]
		_, err = c.buffers.WriteTo(c.Conn)
		c.parts[1] = nil // the entry may be gone before the next
	} else {
		_, err = c.Write(c.out)
	}
	c.out, c.large = c.out[:0], nil
	if cap(c.out) > 2*maxBatch {
		c.out = nil
	}
	return err
}

// drain ends a connection that has waited for a request for idle, and reports
// whether it only ever saw the lane, so that the lane has to end it.
func (c *conn) drain(idle time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.waiting.IsZero() && !c.ending && time.Since(c.waiting) >= idle {
		c.ending = true
		_ = c.Conn.SetReadDeadline(time.Unix(1, 0)) // it fails on a closed connection only
	}
	return !c.closed && c.fresh
}

// closeWait bounds how long Close waits for a slow reader.
const closeWait = time.Second

// Close waits for an answer that is being sent, at most a second, then closes.
func (c *conn) Close() error {
	c.lane.forget(c)
	c.mu.Lock()
	c.closed = true
	c.parked.Broadcast()
	c.mu.Unlock()
	if !c.writing.TryLock() {
		_ = c.SetWriteDeadline(time.Now().Add(closeWait)) // it is about to be closed
		c.writing.Lock()
	}
	defer c.writing.Unlock()
	return c.Conn.Close()
}

// NetConn returns the connection inside.
func (c *conn) NetConn() net.Conn { return c.Conn }

// ReadFrom lets net/http send files inside the kernel.
func (c *conn) ReadFrom(r io.Reader) (int64, error) {
	if to, ok := c.Conn.(io.ReaderFrom); ok {
		return to.ReadFrom(r)
	}
	return io.Copy(struct{ io.Writer }{c.Conn}, r)
}

// CloseWrite ends our half, as net/http does before it closes after a refusal.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
