package ws

import (
	"errors"
	"io"
	"net"
	"os"
	"time"
	"unicode/utf8"

	"example.com/quire/web/internal/wsframe"
)

// breachError is what the peer did that ends the connection, with the code that says so.
type breachError struct {
	code Code
	err  error
}

func (b *breachError) Error() string { return b.err.Error() }
func (b *breachError) Unwrap() error { return b.err }

func broken(code Code, reason string) error { return &breachError{code, errors.New(reason)} }

// peerCloseError is a close frame.
type peerCloseError struct {
	code   Code
	reason string
}

func (*peerCloseError) Error() string { return "closed by the peer" }

// readLoop reads until the connection ends. It is the one goroutine that reads.
func (n *Conn) readLoop() {
	defer close(n.ended)
	for {
		m, err := n.next()
		if err != nil {
			n.lost(err)
			return
		}
		select {
		case n.messages <- m:
		case <-n.closing: // messages are dropped, but the peer's close frame is waited for
		case <-n.done:
			return
		}
	}
}

// lost ends the connection for the reason that reading did.
func (n *Conn) lost(err error) {
	if closed, ok := errors.AsType[*peerCloseError](err); ok {
		select {
		case <-n.closing: // the answer to our own
			n.finish(&CloseError{Code: closed.code, Reason: closed.reason, Local: true})
		default:
			n.sendClose(n.ctx, closed.code, "")
			n.finish(&CloseError{Code: closed.code, Reason: closed.reason})
		}
		return
	}
	if b, ok := errors.AsType[*breachError](err); ok {
		n.sendClose(n.ctx, b.code, b.Error())
		n.linger()
		n.finish(&CloseError{Code: b.code, Reason: b.Error(), Local: true, Err: err})
		return
	}
	n.finish(&CloseError{Code: Abnormal, Err: err})
}

// linger reads what the peer has sent already, which nobody looks at any more: to close a socket
// with bytes unread resets it, and the close frame may be lost with that.
func (n *Conn) linger() {
	half, ok := n.conn.(interface{ CloseWrite() error })
	wait := 100 * time.Millisecond
	if ok && half.CloseWrite() == nil {
		wait = n.o.CloseWait // the peer sees the end, and ends too
	}
	if n.conn.SetReadDeadline(time.Now().Add(wait)) == nil {
		_, _ = io.Copy(io.Discard, io.LimitReader(n.conn, 1<<20)) // as above
	}
}

// next returns the next message. Control frames between its fragments are answered.
func (n *Conn) next() (message, error) {
	for {
		h, err := n.header()
		if err != nil {
			return message{}, err
		}
		if h.Opcode.IsControl() {
			if err := n.controlFrame(h); err != nil {
				return message{}, err
			}
			continue
		}
		if err := n.begin(h); err != nil {
			return message{}, err
		}
		if err := n.payload(h); err != nil {
			return message{}, err
		}
		if h.Fin {
			return n.whole()
		}
	}
}

// header reads the head of a frame. A client's frames are masked (section 5.1).
func (n *Conn) header() (wsframe.Header, error) {
	for {
		h, size, err := wsframe.Parse(n.in[n.r:n.w])
		if err != nil {
			return h, &breachError{ProtocolError, err}
		}
		if size > 0 {
			n.r += size
			if !h.Masked {
				return h, broken(ProtocolError, "frame is not masked")
			}
			return h, nil
		}
		if err := n.fill(); err != nil {
			return h, err
		}
	}
}

// begin judges the head of a fragment by what went before.
func (n *Conn) begin(h wsframe.Header) error {
	switch {
	case h.Opcode == wsframe.Continuation && !n.parts:
		return broken(ProtocolError, "continuation of nothing")
	case h.Opcode != wsframe.Continuation && n.parts:
		return broken(ProtocolError, "message within a message")
	case h.Compressed && (n.bits == 0 || n.parts):
		return broken(ProtocolError, "RSV1 without meaning")
	}
	if !n.parts {
		n.parts, n.compressed = true, h.Compressed
		n.assembling = message{kind: Kind(h.Opcode)}
	}
	limit := n.o.ReadLimit
	if n.compressed {
		limit += limit>>10 + 64 // what deflate adds to what it cannot compress
	}
	if h.Length > limit-int64(len(n.assembling.data)) {
		return &breachError{MessageTooBig, errTooBig}
	}
	return nil
}

// payload appends the payload of a frame to the message. Room is made as bytes come, not as a
// header promises them.
func (n *Conn) payload(h wsframe.Header) error {
	for done := int64(0); done < h.Length; {
		data := n.assembling.data
		from := len(data)
		left := h.Length - done
		if n.r < n.w {
			have := n.in[n.r:min(int64(n.w), int64(n.r)+left)]
			data = append(data, have...)
			n.r += len(have)
		} else {
			if cap(data)-from < int(min(left, readBuffer)) {
				grown := make([]byte, from, from+int(min(left, int64(max(from, readBuffer)))))
				copy(grown, data)
				data = grown
			}
			size, err := n.read(data[from:min(int64(cap(data)), int64(from)+left)])
			if err != nil {
				return err
			}
			data = data[:from+size]
		}
		wsframe.Mask(h.Mask, done, data[from:])
		done += int64(len(data) - from)
		n.assembling.data = data
		if n.assembling.kind == Text && !n.compressed && !n.text.Add(data[from:]) {
			return broken(InvalidPayload, "text is not UTF-8")
		}
	}
	return nil
}

// whole ends a message.
func (n *Conn) whole() (message, error) {
	m := n.assembling
	n.assembling, n.parts = message{}, false
	if n.compressed {
		data, err := n.o.Compression.inflate(m.data, n.o.ReadLimit)
		switch {
		case errors.Is(err, errTooBig):
			return m, &breachError{MessageTooBig, err}
		case err != nil:
			return m, &breachError{InvalidPayload, errDeflate}
		case m.kind == Text && !utf8.Valid(data):
			return m, broken(InvalidPayload, "text is not UTF-8")
		}
		m.data = data
	} else if m.kind == Text && !n.text.Done() {
		return m, broken(InvalidPayload, "text is not UTF-8")
	}
	if m.data == nil {
		m.data = []byte{}
	}
	return m, nil
}

func (n *Conn) controlFrame(h wsframe.Header) error {
	for int64(n.w-n.r) < h.Length {
		if err := n.fill(); err != nil {
			return err
		}
	}
	payload := n.in[n.r : n.r+int(h.Length)]
	n.r += len(payload)
	wsframe.Mask(h.Mask, 0, payload)
	switch h.Opcode {
	case wsframe.Ping:
		err := n.control(n.ctx, wsframe.Pong, payload)
		if err != nil && n.Err() == nil {
			return nil // we have sent a close frame, after which there is nothing to send
		}
		return err
	case wsframe.Close:
		switch {
		case len(payload) == 0:
			return &peerCloseError{code: NoStatus}
		case len(payload) == 1:
			return broken(ProtocolError, "close frame of one byte")
		}
		code := uint16(payload[0])<<8 | uint16(payload[1])
		if !wsframe.ValidCloseCode(code) {
			return broken(ProtocolError, "close code is not to be sent")
		}
		if !utf8.Valid(payload[2:]) {
			return broken(InvalidPayload, "close reason is not UTF-8")
		}
		return &peerCloseError{Code(code), string(payload[2:])}
	default: // a pong: that it came is all there is to it
		return nil
	}
}

// fill reads more behind what is there.
func (n *Conn) fill() error {
	if n.r == n.w {
		n.r, n.w = 0, 0
	} else if n.w == len(n.in) {
		n.w = copy(n.in, n.in[n.r:n.w])
		n.r = 0
	}
	size, err := n.read(n.in[n.w:])
	n.w += size
	return err
}

var errNoLife = errors.New("no answer to a ping")

// read reads from the connection, and asks for a sign of life when nothing comes. Any byte is
// one: a pong cannot stand within a long frame.
func (n *Conn) read(b []byte) (int, error) {
	for {
		if err := n.setReadDeadline(); err != nil {
			return 0, err
		}
		size, err := n.conn.Read(b)
		if size > 0 {
			n.asked = false
			return size, nil // an error comes again
		}
		if err == nil {
			continue
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) || n.isClosing() {
			if errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) {
				err = io.ErrUnexpectedEOF
			}
			return 0, err
		}
		if n.asked {
			return 0, errNoLife
		}
		n.asked = true
		if err := n.control(n.ctx, wsframe.Ping, nil); err != nil {
			return 0, err
		}
	}
}

func (n *Conn) isClosing() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return !n.closeAt.IsZero()
}

// setReadDeadline bounds the next read. It holds mu, so that it cannot undo what close sets.
func (n *Conn) setReadDeadline() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	var at time.Time
	switch {
	case !n.closeAt.IsZero():
		at = n.closeAt
	case n.o.Ping < 0:
	case n.asked:
		at = time.Now().Add(n.o.PongWait)
	default:
		at = time.Now().Add(n.o.Ping)
	}
	return n.conn.SetReadDeadline(at)
}
