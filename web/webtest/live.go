package webtest

import (
	"bufio"
	"crypto/sha1" //nolint:gosec // of the handshake (RFC 6455, section 1.3); it guards nothing
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"time"

	"example.com/quire/web"
	"example.com/quire/web/internal/wsframe"
	"example.com/quire/web/ws"
)

// patience bounds what a stream's test waits for: a test that would hang fails with its line.
const patience = 30 * time.Second

// maxMessage is the most bytes that a test's WebSocket client takes.
const maxMessage = 64 << 20

// connect sends a request over a connection of its own, for streams need a network. The
// connection is closed when the test ends, and then the server.
func (c *Client) connect(target string, h http.Header) (net.Conn, *bufio.Reader, *http.Response) {
	c.t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		c.t.Fatalf("target: %v", err)
	}
	srv := httptest.NewServer(c.handler)
	c.t.Cleanup(srv.Close)
	conn, err := new(net.Dialer).DialContext(c.t.Context(), "tcp", srv.Listener.Addr().String())
	if err != nil {
		c.t.Fatalf("connect: %v", err)
	}
	c.t.Cleanup(func() { _ = conn.Close() }) // it may be closed
	req := &http.Request{Method: http.MethodGet, URL: u, Host: "example.com", Header: c.header.Clone()}
	if host := req.Header.Get("Host"); host != "" {
		req.Host = host
	}
	if u.Host != "" {
		req.Host = u.Host
	}
	maps.Copy(req.Header, h)
	r := bufio.NewReader(conn)
	resp, err := func() (*http.Response, error) {
		if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
			return nil, err
		}
		if err := req.WithContext(c.t.Context()).Write(conn); err != nil {
			return nil, err
		}
		return http.ReadResponse(r, req)
	}()
	if err != nil {
		c.t.Fatalf("GET %s: %v", target, err)
	}
	return conn, r, resp
}

// fail fails the test with the status and the body of an answer that is none of a stream.
func (c *Client) fail(target string, resp *http.Response, want int) {
	c.t.Helper()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	c.t.Fatalf("GET %s: status %d %s, want %d\n%s %v", target, resp.StatusCode, resp.Header.Get("Content-Type"), want, body, err)
}

// Events is a stream of server-sent events as a browser reads it (WHATWG HTML, section 9.2). It
// belongs to the goroutine of the test.
type Events struct {
	Header http.Header   // of the answer
	Retry  time.Duration // what the server last said about coming back; 0: nothing yet
	c      *Client
	target string
	conn   net.Conn
	r      *bufio.Reader
	lastID string
}

// Events opens a stream; another answer fails the test.
func (c *Client) Events(target string) *Events {
	c.t.Helper()
	return c.events(target, "")
}

func (c *Client) events(target, lastID string) *Events {
	c.t.Helper()
	h := http.Header{"Accept": {"text/event-stream"}}
	if lastID != "" {
		h.Set("Last-Event-ID", lastID)
	}
	conn, _, resp := c.connect(target, h) //nolint:bodyclose // ends with the connection
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" {
		c.fail(target, resp, http.StatusOK)
	}
	return &Events{Header: resp.Header, c: c, target: target, conn: conn, r: bufio.NewReader(resp.Body), lastID: lastID}
}

// Next waits for an event. A stream that ends, or stays still for 30 seconds, fails the test.
func (e *Events) Next() web.Event {
	e.c.t.Helper()
	ev, err := e.next()
	if err != nil {
		e.c.t.Fatalf("events of %s: %v", e.target, err)
	}
	return ev
}

// End waits for the end of the stream and fails the test if another event comes.
func (e *Events) End() {
	e.c.t.Helper()
	ev, err := e.next()
	if !errors.Is(err, io.EOF) {
		e.c.t.Fatalf("events of %s: %+v, %v, want the end", e.target, ev, err)
	}
}

// Close ends the stream from the client's side.
func (e *Events) Close() {
	_ = e.conn.Close() // it may be closed
}

// Reconnect closes the stream and opens it again, with the id of the last event.
func (e *Events) Reconnect() *Events {
	e.c.t.Helper()
	e.Close()
	return e.c.events(e.target, e.lastID)
}

func (e *Events) next() (ev web.Event, err error) {
	if err := e.conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return ev, err
	}
	var data []string
	for {
		line, err := e.r.ReadString('\n')
		if err != nil {
			return ev, err // what has no empty line behind it is dropped
		}
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		if line == "" {
			if data == nil {
				ev.Name = "" // a block without data is no event
				continue
			}
			ev.ID, ev.Data = e.lastID, strings.Join(data, "\n")
			return ev, nil
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "event":
			ev.Name = value
		case "data":
			data = append(data, value)
		case "id":
			e.lastID = value
		case "retry":
			if ms, err := strconv.ParseUint(value, 10, 32); err == nil {
				e.Retry = time.Duration(ms) * time.Millisecond
			}
		}
	}
}

// WebSocket is the client's side of a WebSocket connection. It answers pings and close frames by
// itself while it reads. It belongs to the goroutine of the test.
type WebSocket struct {
	Header http.Header // of the answer
	c      *Client
	conn   net.Conn
	r      *bufio.Reader
	closed bool // a close frame was sent
}

// WebSocket opens a connection that offers subprotocols; another answer fails the test.
func (c *Client) WebSocket(target string, subprotocols ...string) *WebSocket {
	c.t.Helper()
	const key = "cXVpcmUtd2VidGVzdC1rZQ=="
	h := http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Version": {"13"}, "Sec-Websocket-Key": {key}}
	if len(subprotocols) > 0 {
		h["Sec-Websocket-Protocol"] = []string{strings.Join(subprotocols, ", ")}
	}
	conn, r, resp := c.connect(target, h) //nolint:bodyclose // as in events
	if resp.StatusCode != http.StatusSwitchingProtocols {
		c.fail(target, resp, http.StatusSwitchingProtocols)
	}
	sum := sha1.Sum([]byte(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11")) //nolint:gosec // as at the import
	if got := resp.Header.Get("Sec-Websocket-Accept"); got != base64.StdEncoding.EncodeToString(sum[:]) {
		c.t.Fatalf("GET %s: Sec-WebSocket-Accept is %q", target, got)
	}
	return &WebSocket{Header: resp.Header, c: c, conn: conn, r: r}
}

// Send sends a message.
func (w *WebSocket) Send(kind ws.Kind, data []byte) {
	w.c.t.Helper()
	if err := w.frame(wsframe.Opcode(kind), data); err != nil {
		w.c.t.Fatalf("WebSocket: send: %v", err)
	}
}

// SendText sends text.
func (w *WebSocket) SendText(s string) {
	w.c.t.Helper()
	w.Send(ws.Text, []byte(s))
}

// SendJSON sends v as text.
func (w *WebSocket) SendJSON(v any) {
	w.c.t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		w.c.t.Fatalf("encode %T: %v", v, err)
	}
	w.Send(ws.Text, b)
}

// Read waits for a message. A connection that ends, or stays still for 30 seconds, fails the test.
func (w *WebSocket) Read() (ws.Kind, []byte) {
	w.c.t.Helper()
	kind, data, err := w.next()
	if err != nil {
		w.c.t.Fatalf("WebSocket: read: %v", err)
	}
	return kind, data
}

// ReadText waits for a message that must be text.
func (w *WebSocket) ReadText() string {
	w.c.t.Helper()
	kind, data := w.Read()
	if kind != ws.Text {
		w.c.t.Fatalf("WebSocket: a %s message, want text", kind)
	}
	return string(data)
}

// ReadJSON waits for a message and decodes it into v.
func (w *WebSocket) ReadJSON(v any) {
	w.c.t.Helper()
	text := w.ReadText()
	if err := json.Unmarshal([]byte(text), v); err != nil {
		w.c.t.Fatalf("message is no JSON for %T: %v\n%s", v, err, text)
	}
}

// WantClose waits for the close frame of the server and fails the test unless it has the code. A
// message that comes before fails it too.
func (w *WebSocket) WantClose(code ws.Code) {
	w.c.t.Helper()
	kind, data, err := w.next()
	if e, ok := errors.AsType[*ws.CloseError](err); !ok || e.Code != code {
		w.c.t.Fatalf("WebSocket: %s %.200q, %v, want the connection closed with %d", kind, data, err, code)
	}
}

// Close sends a close frame and waits for that of the server. Messages on their way are dropped.
func (w *WebSocket) Close(code ws.Code, reason string) {
	w.c.t.Helper()
	defer func() { _ = w.conn.Close() }() // it may be closed
	if !w.closed {
		w.closed = true
		if err := w.frame(wsframe.Close, append(binary.BigEndian.AppendUint16(nil, uint16(code)), reason...)); err != nil {
			w.c.t.Fatalf("WebSocket: close: %v", err)
		}
	}
	for {
		_, _, err := w.next()
		if _, ok := errors.AsType[*ws.CloseError](err); ok {
			return
		}
		if err != nil {
			w.c.t.Fatalf("WebSocket: close: %v", err)
		}
	}
}

// frame sends one, masked as a client has to (RFC 6455, section 5.1). The key guards nothing here.
func (w *WebSocket) frame(op wsframe.Opcode, data []byte) error {
	h := wsframe.Header{Fin: true, Opcode: op, Masked: true, Mask: [4]byte{0x3a, 0x91, 0x5c, 0xe7}, Length: int64(len(data))}
	b := h.Append(make([]byte, 0, wsframe.MaxHeader+len(data)))
	from := len(b)
	b = append(b, data...)
	wsframe.Mask(h.Mask, 0, b[from:])
	if err := w.conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	_, err := w.conn.Write(b)
	return err
}

// next returns the next message, or a *ws.CloseError for the server's close frame.
func (w *WebSocket) next() (kind ws.Kind, data []byte, err error) {
	if err := w.conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return 0, nil, err
	}
	for {
		h, part, err := w.read()
		if err != nil {
			return 0, nil, err
		}
		switch h.Opcode {
		case wsframe.Ping:
			if err := w.frame(wsframe.Pong, part); err != nil {
				return 0, nil, err
			}
			continue
		case wsframe.Pong:
			continue
		case wsframe.Close:
			e := &ws.CloseError{Code: ws.NoStatus}
			if len(part) >= 2 {
				e.Code, e.Reason = ws.Code(binary.BigEndian.Uint16(part)), string(part[2:])
			}
			if !w.closed {
				w.closed = true
				_ = w.frame(wsframe.Close, part) // the server may have gone
			}
			return 0, nil, e
		case wsframe.Continuation:
		default:
			kind, data = ws.Kind(h.Opcode), nil
		}
		data = append(data, part...)
		if h.Fin {
			return kind, data, nil
		}
	}
}

func (w *WebSocket) read() (h wsframe.Header, data []byte, err error) {
	var head []byte
	for n := 0; n == 0; {
		b, err := w.r.ReadByte()
		if err != nil {
			return h, nil, err
		}
		head = append(head, b)
		if h, n, err = wsframe.Parse(head); err != nil {
			return h, nil, err
		}
	}
	if h.Masked || h.Compressed || h.Length > maxMessage {
		return h, nil, errors.New("frame of a server that is masked, compressed without agreement, or too long")
	}
	data = make([]byte, h.Length)
	_, err = io.ReadFull(w.r, data)
	return h, data, err
}
