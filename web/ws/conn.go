package ws

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"example.com/quire/web"
	"example.com/quire/web/internal/wsframe"
)

// Conn is a WebSocket connection. All methods are safe for concurrent use: messages of several
// writers go out one after the other, each whole.
type Conn struct {
	conn     net.Conn
	o        Options
	protocol string
	bits     int // window of compressed messages that are sent; 0 is no compression

	request context.Context // of the handler
	ctx     context.Context // of the connection
	cancel  context.CancelFunc

	lock    chan struct{} // held by the one writer
	out     []byte        // of the writer: a frame
	closed  bool          // of the writer: a close frame has been sent
	aborted atomic.Bool   // writing is to end at once

	messages chan message
	closing  chan struct{} // closed when this side has begun to close
	once     sync.Once     // of closing

	finishing sync.Once
	done      chan struct{} // closed when the connection has ended, after err was set
	err       *CloseError
	ended     chan struct{} // closed when the reader's goroutine has

	mu      sync.Mutex
	release []func()  // of what watches the connection
	closeAt time.Time // the reader waits no longer than this; zero before closing

	in         []byte // what has been read and not been looked at: in[r:w]
	r, w       int
	asked      bool // a ping is out and nothing has come since
	assembling message
	parts      bool // assembling has begun
	compressed bool
	text       wsframe.UTF8
}

type message struct {
	kind Kind
	data []byte
}

const (
	readBuffer = 4 << 10
	joined     = 16 << 10 // payloads up to this leave in one write with their header
	chunk      = 64 << 10 // what WriteWait is for
)

func newConn(c *web.Context, raw net.Conn, early []byte, o Options) *Conn {
	n := &Conn{
		conn: raw, o: o, lock: make(chan struct{}, 1), messages: make(chan message), closing: make(chan struct{}),
		done: make(chan struct{}), ended: make(chan struct{}), in: make([]byte, max(readBuffer, len(early))),
	}
	n.w = copy(n.in, early)
	n.request = c.Context()
	n.ctx, n.cancel = context.WithCancel(context.WithoutCancel(n.request))
	return n
}

// start begins to read, and to watch what ends the connection: the handler's return, the
// server's drain.
func (n *Conn) start(c *web.Context) {
	n.mu.Lock() // finish, which a client that has left already may begin at once, looks at release
	defer n.mu.Unlock()
	go n.readLoop()
	drained := c.OnDrain(func(ctx context.Context) {
		_ = n.close(ctx, GoingAway, "the server is going away") // it has ended either way
	})
	returned := context.AfterFunc(n.request, func() {
		_ = n.close(context.Background(), Normal, "") // as above
	})
	n.release = []func(){drained, func() { returned() }}
}

// Subprotocol returns what was agreed on, "" for none.
func (n *Conn) Subprotocol() string { return n.protocol }

// Context ends with the connection.
func (n *Conn) Context() context.Context { return n.ctx }

// Done is closed when the connection has ended; Err tells how then.
func (n *Conn) Done() <-chan struct{} { return n.done }

// Err returns how the connection ended, a *CloseError, and nil while it is open.
func (n *Conn) Err() error {
	select {
	case <-n.done:
		return n.err
	default:
		return nil
	}
}

// Read returns the next message, which is the caller's. When ctx ends first the connection stays
// as it is. The error of a connection that has ended is a *CloseError.
func (n *Conn) Read(ctx context.Context) (Kind, []byte, error) {
	if n.Err() == nil && ctx.Err() != nil { // a message that waits is not for who does not
		return 0, nil, fmt.Errorf("websocket: read: %w", ctx.Err())
	}
	select {
	case m := <-n.messages:
		return m.kind, m.data, nil
	case <-n.done:
		return 0, nil, n.err
	case <-ctx.Done():
		return 0, nil, fmt.Errorf("websocket: read: %w", ctx.Err())
	}
}

// ReadJSON reads a text message into v. A message that is no JSON for v, or no text, is an error
// and the connection stays open.
func (n *Conn) ReadJSON(ctx context.Context, v any) error {
	kind, b, err := n.Read(ctx)
	if err != nil {
		return err
	}
	if kind != Text {
		return errors.New("websocket: read JSON: the message is binary")
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("websocket: read JSON: %w", err)
	}
	return nil
}

// Write sends a message and returns when the system has taken it. Text has to be valid UTF-8.
// When ctx ends before, the connection stays as it is; while a part of the message is out, it is
// lost.
func (n *Conn) Write(ctx context.Context, kind Kind, data []byte) error {
	if kind != Text && kind != Binary {
		return fmt.Errorf("websocket: write: no kind of message: %d", kind)
	}
	if kind == Text && !utf8.Valid(data) {
		return errors.New("websocket: write: text is not UTF-8")
	}
	if err := n.acquire(ctx); err != nil {
		return err
	}
	defer n.unlock()
	op, body, compressed := wsframe.Opcode(kind), data, false
	if n.bits > 0 && len(data) >= n.o.Compression.least {
		packed, err := n.o.Compression.deflate(nil, data, n.bits)
		if err != nil {
			return err
		}
		body, compressed = packed, true
	}
	return n.send(ctx, wsframe.Header{Fin: true, Compressed: compressed, Opcode: op}, body)
}

// WriteJSON sends v as a text message.
func (n *Conn) WriteJSON(ctx context.Context, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("websocket: write JSON: %w", err)
	}
	return n.Write(ctx, Text, b)
}

// acquire waits for the turn to write on a connection that is open. unlock ends it.
func (n *Conn) acquire(ctx context.Context) error {
	if n.Err() == nil && ctx.Err() != nil { // nothing is out, so the connection goes on
		return fmt.Errorf("websocket: write: %w", ctx.Err())
	}
	select {
	case n.lock <- struct{}{}:
	case <-n.done:
		return n.err
	case <-ctx.Done():
		return fmt.Errorf("websocket: write: %w", ctx.Err())
	}
	if err := n.Err(); err != nil {
		n.unlock()
		return err
	}
	if n.closed {
		n.unlock()
		return &CloseError{Code: Normal, Local: true}
	}
	return nil
}

func (n *Conn) unlock() { <-n.lock }

// send writes a frame. The caller has the turn.
func (n *Conn) send(ctx context.Context, h wsframe.Header, payload []byte) error {
	h.Length = int64(len(payload))
	n.out = h.Append(n.out[:0])
	if len(payload) > joined {
		if err := n.write(ctx, n.out); err != nil {
			return err
		}
		return n.write(ctx, payload)
	}
	n.out = append(n.out, payload...)
	err := n.write(ctx, n.out)
	if cap(n.out) > readBuffer {
		n.out = nil // most connections are at rest, and keep little
	}
	return err
}

// write writes bytes of a frame. When it fails the connection has ended, for nobody knows what
// of the frame has left.
func (n *Conn) write(ctx context.Context, b []byte) error {
	if ctx != n.ctx && ctx != n.request && ctx.Done() != nil { // those two end by closing
		fired := make(chan struct{})
		stop := context.AfterFunc(ctx, func() {
			_ = n.conn.SetWriteDeadline(time.Now()) // a closed one has no need of it
			close(fired)
		})
		defer func() {
			if !stop() {
				<-fired // else it would cut a later frame
			}
		}()
	}
	for len(b) > 0 {
		err := n.conn.SetWriteDeadline(time.Now().Add(n.o.WriteWait))
		// In this order: who ends the context or aborts after the look sets a deadline after ours.
		if err == nil && n.aborted.Load() {
			err = os.ErrDeadlineExceeded
		}
		if err == nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		if err == nil {
			var m int
			m, err = n.conn.Write(b[:min(len(b), chunk)])
			b = b[m:]
		}
		if err != nil {
			if ctx.Err() != nil && errors.Is(err, os.ErrDeadlineExceeded) {
				err = ctx.Err()
			}
			n.finish(&CloseError{Code: Abnormal, Err: err})
			return n.err
		}
	}
	return nil
}

// abort has a write that waits fail at once, and every later one.
func (n *Conn) abort() {
	n.aborted.Store(true)
	_ = n.conn.SetWriteDeadline(time.Now()) // a closed one has no need of it
}

// Ping asks the peer for a sign of life; Options.Ping does so by itself. Data has at most 125
// bytes.
func (n *Conn) Ping(ctx context.Context, data []byte) error {
	if len(data) > wsframe.MaxControl {
		return fmt.Errorf("websocket: ping of %d bytes: at most %d", len(data), wsframe.MaxControl)
	}
	return n.control(ctx, wsframe.Ping, data)
}

func (n *Conn) control(ctx context.Context, op wsframe.Opcode, payload []byte) error {
	if err := n.acquire(ctx); err != nil {
		return err
	}
	defer n.unlock()
	return n.send(ctx, wsframe.Header{Fin: true, Opcode: op}, payload)
}

// Close tells the peer why, waits for its answer for Options.CloseWait and closes the connection.
// Messages that come meanwhile are dropped. The reason has at most 123 bytes. It is nil when the
// peer has answered, or had closed before.
func (n *Conn) Close(code Code, reason string) error {
	return n.close(context.Background(), code, reason)
}

func (n *Conn) close(ctx context.Context, code Code, reason string) error {
	if !wsframe.ValidCloseCode(uint16(code)) {
		return fmt.Errorf("websocket: close: %d is not sent", code)
	}
	if len(reason) > wsframe.MaxControl-2 || !utf8.ValidString(reason) {
		return errors.New("websocket: close: the reason is over 123 bytes, or not UTF-8")
	}
	if n.Err() != nil {
		<-n.ended
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, n.o.CloseWait)
	defer cancel()
	n.once.Do(func() { close(n.closing) })
	n.sendClose(ctx, code, reason)
	n.mu.Lock()
	if end, ok := ctx.Deadline(); ok && n.closeAt.IsZero() {
		n.closeAt = end
		_ = n.conn.SetReadDeadline(end) // a closed one has no need of it
	}
	n.mu.Unlock()
	select {
	case <-n.ended:
	case <-ctx.Done():
		n.finish(&CloseError{Code: code, Reason: reason, Local: true, Err: ctx.Err()})
		<-n.ended
	}
	if n.err.Err != nil {
		return n.err
	}
	return nil
}

// sendClose sends a close frame unless one has been.
func (n *Conn) sendClose(ctx context.Context, code Code, reason string) {
	if n.acquire(ctx) != nil {
		return // it has ended, or a writer is stuck
	}
	defer n.unlock()
	n.closed = true
	var payload []byte
	if code != NoStatus {
		payload = append([]byte{byte(code >> 8), byte(code)}, reason...) //nolint:gosec // its two bytes
	}
	_ = n.send(ctx, wsframe.Header{Fin: true, Opcode: wsframe.Close}, payload) // the reader sees what has become of the connection
}

// finish ends the connection; the first to say why is heard.
func (n *Conn) finish(err *CloseError) {
	n.finishing.Do(func() {
		n.err = err
		close(n.done)
		n.cancel()
		_ = n.conn.Close() // err says what is to be said
		n.mu.Lock()
		release := n.release
		n.mu.Unlock()
		for _, f := range release {
			f()
		}
	})
}
