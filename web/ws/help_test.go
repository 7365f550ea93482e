package ws_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"example.com/quire/web"
	"example.com/quire/web/internal/wsframe"
	"example.com/quire/web/ws"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is for what has to happen at all.
const patience = 60 * time.Second

func newApp(t *testing.T) *web.App {
	t.Helper()
	app, err := web.New(web.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return app
}

// serve starts the App on a free port and returns its address.
func serve(t *testing.T, app http.Handler) string {
	t.Helper()
	srv := httptest.NewServer(app)
	t.Cleanup(srv.Close)
	return srv.Listener.Addr().String()
}

// upgraded serves a route whose handler has the connection, and returns the address. What the
// handler returns is sent to ended.
func upgraded(t *testing.T, o ws.Options, h func(*web.Context, *ws.Conn) error) (addr string, ended chan error) {
	t.Helper()
	app := newApp(t)
	ended = make(chan error, 256)
	app.GET("/ws", func(c *web.Context) error {
		conn, err := ws.Upgrade(c, o)
		if err == nil {
			err = h(c, conn)
			ended <- err
		}
		return err
	})
	return serve(t, app), ended
}

func echo(c *web.Context, conn *ws.Conn) error {
	for {
		kind, b, err := conn.Read(c.Context())
		if err != nil {
			return err
		}
		if err := conn.Write(c.Context(), kind, b); err != nil {
			return err
		}
	}
}

// peer is a client that sends whatever bytes a test wants.
type peer struct {
	net.Conn
	t    *testing.T
	r    *bufio.Reader
	resp *http.Response
}

// handshake is a request that is one; fields replace or add to it.
func handshake(fields ...string) string {
	h := [][2]string{{"Host", "app.example"}, {"Connection", "Upgrade"}, {"Upgrade", "websocket"}, {"Sec-WebSocket-Version", "13"}, {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="}}
	for _, f := range fields {
		name, value, _ := strings.Cut(f, ": ")
		found := false
		for i := range h {
			if h[i][0] == name {
				h[i][1], found = value, true
			}
		}
		if !found {
			h = append(h, [2]string{name, value})
		}
	}
	var b strings.Builder
	b.WriteString("GET /ws HTTP/1.1\r\n")
	for _, f := range h {
		if f[1] != "" {
			b.WriteString(f[0] + ": " + f[1] + "\r\n")
		}
	}
	return b.String() + "\r\n"
}

// dial sends a handshake and reads its answer.
func dial(t *testing.T, addr string, fields ...string) *peer {
	t.Helper()
	return dialText(t, addr, handshake(fields...))
}

func dialText(t *testing.T, addr, request string) *peer {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() }) // it may be closed
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	p := &peer{Conn: conn, t: t, r: bufio.NewReader(conn)}
	if p.resp, err = http.ReadResponse(p.r, nil); err != nil { //nolint:bodyclose // its connection is closed
		t.Fatal(err)
	}
	if p.resp.StatusCode != http.StatusSwitchingProtocols {
		body, err := io.ReadAll(p.resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		p.resp.Body = io.NopCloser(strings.NewReader(string(body)))
	}
	return p
}

// frame is one that a peer sends or gets.
type frame struct {
	wsframe.Header
	payload []byte
}

func text(s string) frame {
	return frame{wsframe.Header{Fin: true, Opcode: wsframe.Text}, []byte(s)}
}

func closing(code ws.Code, reason string) frame {
	f := frame{wsframe.Header{Fin: true, Opcode: wsframe.Close}, binary.BigEndian.AppendUint16(nil, uint16(code))}
	f.payload = append(f.payload, reason...)
	return f
}

// bytes are the frame as a client sends it.
func (f frame) bytes() []byte {
	f.Masked, f.Mask, f.Length = true, [4]byte{1, 2, 3, 4}, int64(len(f.payload))
	b := f.Append(nil)
	from := len(b)
	b = append(b, f.payload...)
	wsframe.Mask(f.Mask, 0, b[from:])
	return b
}

func (p *peer) send(frames ...frame) {
	p.t.Helper()
	var b []byte
	for _, f := range frames {
		b = append(b, f.bytes()...)
	}
	p.raw(b)
}

func (p *peer) raw(b []byte) {
	p.t.Helper()
	if _, err := p.Write(b); err != nil {
		p.t.Fatal(err)
	}
}

// next returns the next frame; ok is false at the end.
func (p *peer) next() (f frame, ok bool) {
	p.t.Helper()
	var b []byte
	for {
		h, n, err := wsframe.Parse(b)
		if err != nil {
			p.t.Fatalf("frame % x: %v", b, err)
		}
		if n > 0 {
			f = frame{h, make([]byte, h.Length)}
			if h.Masked {
				p.t.Fatal("a server does not mask")
			}
			if _, err := io.ReadFull(p.r, f.payload); err != nil {
				p.t.Fatalf("payload: %v", err)
			}
			return f, true
		}
		c, err := p.r.ReadByte()
		if errors.Is(err, io.EOF) && len(b) == 0 {
			return f, false
		}
		if err != nil {
			p.t.Fatalf("after % x: %v", b, err)
		}
		b = append(b, c)
	}
}

// wantClose reads a close frame of the code and the end behind it.
func (p *peer) wantClose(code ws.Code) {
	p.t.Helper()
	for {
		f, ok := p.next()
		if !ok {
			p.t.Fatalf("the connection ended without a close frame, want %d", code)
		}
		if f.Opcode == wsframe.Ping {
			continue
		}
		got := ws.NoStatus
		if len(f.payload) >= 2 {
			got = ws.Code(f.payload[0])<<8 | ws.Code(f.payload[1])
		}
		if f.Opcode != wsframe.Close || got != code {
			p.t.Fatalf("frame %+v %q, want a close frame with %d", f.Header, f.payload, code)
		}
		break
	}
	if half, ok := p.Conn.(*net.TCPConn); ok {
		_ = half.CloseWrite() // it may be closed
	}
	if f, ok := p.next(); ok {
		p.t.Fatalf("behind the close frame: %+v", f)
	}
}

// receive waits for a value.
func receive[T any](t *testing.T, ch <-chan T) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	select {
	case v := <-ch:
		return v
	case <-ctx.Done():
		t.Fatal("nothing came")
		panic("unreachable")
	}
}
