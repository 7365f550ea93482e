package ws_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"example.com/quire/web"
	"example.com/quire/web/internal/wsframe"
	"example.com/quire/web/middleware"
	"example.com/quire/web/middleware/compress"
	"example.com/quire/web/ws"
)

// TestRFC6455_4_2_Handshake is what is answered to each request: only one that is whole is 101.
func TestRFC6455_4_2_Handshake(t *testing.T) {
	addr, _ := upgraded(t, ws.Options{}, echo)
	p := dial(t, addr)
	if h := p.resp.Header; p.resp.StatusCode != 101 || h.Get("Sec-WebSocket-Accept") != "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" ||
		h.Get("Upgrade") != "websocket" || h.Get("Connection") != "Upgrade" || h.Get("X-Request-Id") == "" || h.Get("Sec-WebSocket-Protocol") != "" || h.Get("Sec-WebSocket-Extensions") != "" {
		t.Errorf("%d %v", p.resp.StatusCode, p.resp.Header)
	}
	p.send(closing(ws.Normal, ""))
	p.wantClose(ws.Normal)
	for _, tc := range []struct {
		field  string
		status int
		header string // of the answer
	}{
		{"Upgrade: ", 426, "Upgrade: websocket"},
		{"Upgrade: h2c", 426, "Upgrade: websocket"},
		{"Connection: keep-alive", 426, "Upgrade: websocket"},
		{"Connection: keep-alive, upgrade", 101, ""},
		{"Upgrade: WebSocket", 101, ""},
		{"Sec-WebSocket-Version: 8", 426, "Sec-Websocket-Version: 13"},
		{"Sec-WebSocket-Version: ", 426, "Sec-Websocket-Version: 13"},
		{"Sec-WebSocket-Key: ", 400, ""},
		{"Sec-WebSocket-Key: AAAA", 400, ""},
		{"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=", 400, ""},
		{"Content-Length: 3", 400, ""},
	} {
		request := handshake(tc.field)
		if strings.HasPrefix(tc.field, "Content-Length") {
			request += "abc"
		}
		p := dialText(t, addr, request)
		name, value, _ := strings.Cut(tc.header, ": ")
		if p.resp.StatusCode != tc.status || p.resp.Header.Get(name) != value {
			t.Errorf("%q: %d %v, want %d and %q", tc.field, p.resp.StatusCode, p.resp.Header, tc.status, tc.header)
		}
		if ct := p.resp.Header.Get("Content-Type"); tc.status != 101 && ct != "application/problem+json" {
			t.Errorf("%q: content type %q", tc.field, ct)
		}
		if tc.status == 101 {
			p.send(closing(ws.Normal, ""))
			p.wantClose(ws.Normal)
		}
	}
}

// TestOtherOriginIsRefusedUnlessListed: the browser sends the page's origin, and no other client
// can be made to send one.
func TestOtherOriginIsRefusedUnlessListed(t *testing.T) {
	for _, tc := range []struct {
		origins []string
		origin  string
		ok      bool
	}{
		{nil, "", true},
		{nil, "https://app.example", true},
		{nil, "http://APP.example", true},
		{nil, "https://evil.example", false},
		{nil, "https://app.example.evil.example", false},
		{nil, "https://app.example:444", false},
		{nil, "null", false},
		{nil, "https://evil.example/app.example", false},
		{[]string{"https://shop.example"}, "https://shop.example", true},
		{[]string{"https://shop.example"}, "http://shop.example", false},
		{[]string{"https://*.shop.example"}, "https://eu.shop.example", true},
		{[]string{"https://*.shop.example"}, "https://shop.example", false},
		{[]string{"https://*.shop.example"}, "https://evilshop.example", false},
		{[]string{"*"}, "https://evil.example", true},
		{[]string{"*"}, "null", true},
	} {
		addr, _ := upgraded(t, ws.Options{Origins: tc.origins}, echo)
		want := 403
		if tc.ok {
			want = 101
		}
		p := dial(t, addr, "Origin: "+tc.origin)
		if p.resp.StatusCode != want {
			t.Errorf("%v, origin %q: %d, want %d", tc.origins, tc.origin, p.resp.StatusCode, want)
		}
	}
	addr, _ := upgraded(t, ws.Options{}, echo)
	two := strings.Replace(handshake("Origin: https://app.example"), "\r\n\r\n", "\r\nOrigin: https://evil.example\r\n\r\n", 1)
	if p := dialText(t, addr, two); p.resp.StatusCode != 403 {
		t.Errorf("two origins: %d", p.resp.StatusCode)
	}
}

func TestSubprotocolIsTheServersChoice(t *testing.T) {
	for _, tc := range []struct{ offered, want string }{
		{"", ""}, {"chat", "chat"}, {"other", ""}, {"chat, superchat", "superchat"}, {"CHAT", ""}, {"other,  chat", "chat"},
	} {
		addr, _ := upgraded(t, ws.Options{Subprotocols: []string{"superchat", "chat"}}, func(c *web.Context, conn *ws.Conn) error {
			return conn.Write(c.Context(), ws.Text, []byte(conn.Subprotocol()))
		})
		p := dial(t, addr, "Sec-WebSocket-Protocol: "+tc.offered)
		f, _ := p.next()
		if got := p.resp.Header.Get("Sec-WebSocket-Protocol"); got != tc.want || string(f.payload) != tc.want {
			t.Errorf("%q: %q and %q, want %q", tc.offered, got, f.payload, tc.want)
		}
	}
}

// TestMessagesKeepTheirKindAndBytes sends fragments with a ping between them, in one write with
// the handshake and byte by byte.
func TestMessagesKeepTheirKindAndBytes(t *testing.T) {
	addr, _ := upgraded(t, ws.Options{}, echo)
	big := bytes.Repeat([]byte("0123456789abcdef"), 2<<10) // the limit, 32 KiB
	frames := []frame{
		text("héllo"),
		{wsframe.Header{Opcode: wsframe.Binary}, []byte{0xff, 0}},
		{wsframe.Header{Fin: true, Opcode: wsframe.Ping}, []byte("alive?")},
		{wsframe.Header{Opcode: wsframe.Continuation}, nil},
		{wsframe.Header{Fin: true, Opcode: wsframe.Continuation}, []byte{0xfe}},
		{wsframe.Header{Fin: true, Opcode: wsframe.Pong}, []byte("unasked")},
		text(""),
		{wsframe.Header{Fin: true, Opcode: wsframe.Binary}, big},
	}
	want := []frame{
		text("héllo"),
		{wsframe.Header{Fin: true, Opcode: wsframe.Binary}, []byte{0xff, 0, 0xfe}},
		text(""),
		{wsframe.Header{Fin: true, Opcode: wsframe.Binary}, big},
	}
	var all []byte
	for _, f := range frames {
		all = append(all, f.bytes()...)
	}
	check := func(p *peer) {
		pongs := 0
		for i, w := range want {
			f, ok := p.next()
			if f.Opcode == wsframe.Pong && string(f.payload) == "alive?" { // it may overtake the echo
				pongs++
				f, ok = p.next()
			}
			if !ok || f.Opcode != w.Opcode || !f.Fin || f.Compressed || !bytes.Equal(f.payload, w.payload) {
				t.Fatalf("frame %d: %t %+v, %d bytes, want %+v", i, ok, f.Header, len(f.payload), w.Header)
			}
		}
		if pongs != 1 {
			t.Errorf("%d pongs", pongs)
		}
		p.send(closing(4001, "bye"))
		p.wantClose(4001)
	}
	check(dialText(t, addr, handshake()+string(all)))
	p := dial(t, addr)
	go func() {
		for _, b := range all[:200] {
			_, _ = p.Write([]byte{b}) // the other side says what came
		}
		_, _ = p.Write(all[200:]) // as above
	}()
	check(p)
}

// TestBreachesCloseWithTheirCode is what a peer does wrong, and how it is told.
func TestBreachesCloseWithTheirCode(t *testing.T) {
	fin := func(op wsframe.Opcode, payload string) frame {
		return frame{wsframe.Header{Fin: true, Opcode: op}, []byte(payload)}
	}
	part := func(op wsframe.Opcode, payload string) frame {
		return frame{wsframe.Header{Opcode: op}, []byte(payload)}
	}
	compressed := frame{wsframe.Header{Fin: true, Opcode: wsframe.Text, Compressed: true}, []byte("x")}
	for name, tc := range map[string]struct {
		send []byte
		code ws.Code
	}{
		"unmasked":                  {[]byte{0x81, 0x01, 'a'}, ws.ProtocolError},
		"opcode 3":                  {fin(3, "").bytes(), ws.ProtocolError},
		"compressed without an OK":  {compressed.bytes(), ws.ProtocolError},
		"continuation of nothing":   {fin(wsframe.Continuation, "a").bytes(), ws.ProtocolError},
		"message in a message":      {append(part(wsframe.Text, "a").bytes(), fin(wsframe.Text, "b").bytes()...), ws.ProtocolError},
		"long ping":                 {fin(wsframe.Ping, strings.Repeat("a", 126)).bytes(), ws.ProtocolError},
		"close of one byte":         {fin(wsframe.Close, "a").bytes(), ws.ProtocolError},
		"close 1005":                {closing(ws.NoStatus, "").bytes(), ws.ProtocolError},
		"close with a bad reason":   {closing(ws.Normal, "\xff").bytes(), ws.InvalidPayload},
		"text that is not UTF-8":    {fin(wsframe.Text, "a\xff").bytes(), ws.InvalidPayload},
		"text cut in a character":   {fin(wsframe.Text, "\xe2\x82").bytes(), ws.InvalidPayload},
		"told before the whole":     {part(wsframe.Text, "\xff").bytes(), ws.InvalidPayload},
		"over the limit":            {fin(wsframe.Binary, strings.Repeat("a", 1001)).bytes(), ws.MessageTooBig},
		"over the limit, in parts":  {append(part(wsframe.Binary, strings.Repeat("a", 600)).bytes(), part(wsframe.Continuation, strings.Repeat("a", 600)).bytes()...), ws.MessageTooBig},
		"a header that says 2^62":   {[]byte{0x82, 0xff, 0x40, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4}, ws.MessageTooBig},
		"answered with its code":    {closing(4321, "so").bytes(), 4321},
		"a close frame without one": {fin(wsframe.Close, "").bytes(), ws.NoStatus},
	} {
		t.Run(name, func(t *testing.T) {
			addr, ended := upgraded(t, ws.Options{ReadLimit: 1000}, echo)
			p := dial(t, addr)
			p.raw(tc.send)
			p.wantClose(tc.code)
			err := receive(t, ended)
			closed, ok := errors.AsType[*ws.CloseError](err)
			if !ok || closed.Code != tc.code || !errors.Is(err, ws.ErrClosed) || !errors.Is(err, io.EOF) {
				t.Errorf("the handler sees %v", err)
			}
		})
	}
}

// TestWriteAfterCloseIsAnError, of every kind and from every side, and never a panic.
func TestWriteAfterCloseIsAnError(t *testing.T) {
	t.Run("closed here", func(t *testing.T) {
		addr, ended := upgraded(t, ws.Options{}, func(c *web.Context, conn *ws.Conn) error {
			if err := conn.Close(ws.Normal, "done"); err != nil {
				return err
			}
			if err := conn.Close(ws.Normal, "again"); err != nil {
				return err
			}
			_, _, err := conn.Read(c.Context())
			for _, err := range []error{err, conn.Write(c.Context(), ws.Text, []byte("x")), conn.WriteJSON(c.Context(), 1), conn.Ping(c.Context(), nil), conn.Err()} {
				if !errors.Is(err, ws.ErrClosed) {
					t.Errorf("after Close: %v", err)
				}
			}
			<-conn.Context().Done()
			return nil
		})
		p := dial(t, addr)
		p.send(text("dropped, since it comes while closing"))
		if f, _ := p.next(); f.Opcode != wsframe.Close || string(f.payload) != "\x03\xe8done" {
			t.Errorf("%+v %q", f.Header, f.payload)
		}
		p.send(closing(ws.Normal, ""))
		if _, more := p.next(); more {
			t.Error("the connection is open")
		}
		if err := receive(t, ended); err != nil {
			t.Error(err)
		}
	})
	t.Run("lost", func(t *testing.T) {
		addr, ended := upgraded(t, ws.Options{}, func(c *web.Context, conn *ws.Conn) error {
			<-conn.Done()
			return conn.Write(c.Context(), ws.Text, []byte("x"))
		})
		p := dial(t, addr)
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		err := receive(t, ended)
		if closed, ok := errors.AsType[*ws.CloseError](err); !ok || closed.Code != ws.Abnormal {
			t.Errorf("%v", err)
		}
	})
	t.Run("nobody answers", func(t *testing.T) {
		addr, ended := upgraded(t, ws.Options{CloseWait: 10 * time.Millisecond}, func(_ *web.Context, conn *ws.Conn) error {
			return conn.Close(ws.Normal, "")
		})
		dial(t, addr)
		if err := receive(t, ended); !errors.Is(err, ws.ErrClosed) {
			t.Errorf("Close without an answer: %v", err)
		}
	})
	t.Run("what cannot be sent", func(t *testing.T) {
		addr, ended := upgraded(t, ws.Options{}, func(c *web.Context, conn *ws.Conn) error {
			for _, err := range []error{
				conn.Write(c.Context(), ws.Text, []byte("\xff")), conn.Write(c.Context(), 3, nil), conn.WriteJSON(c.Context(), func() {}),
				conn.Ping(c.Context(), make([]byte, 126)), conn.Close(ws.NoStatus, ""), conn.Close(999, ""), conn.Close(ws.Normal, strings.Repeat("x", 124)), conn.Close(ws.Normal, "\xff"),
			} {
				if err == nil || errors.Is(err, ws.ErrClosed) {
					t.Errorf("got %v", err)
				}
			}
			return conn.Write(c.Context(), ws.Text, []byte("and it is open"))
		})
		p := dial(t, addr)
		if f, _ := p.next(); string(f.payload) != "and it is open" {
			t.Errorf("%q", f.payload)
		}
		if err := receive(t, ended); err != nil {
			t.Error(err)
		}
	})
}

// TestReturnOfTheHandlerCloses: a connection does not outlive its handler.
func TestReturnOfTheHandlerCloses(t *testing.T) {
	conns := make(chan *ws.Conn, 1)
	addr, _ := upgraded(t, ws.Options{}, func(_ *web.Context, conn *ws.Conn) error {
		conns <- conn
		return nil
	})
	p := dial(t, addr)
	p.wantClose(ws.Normal)
	receive(t, receive(t, conns).Done())
}

// TestWritersTakeTurns: messages of many writers, large and small, arrive whole.
func TestWritersTakeTurns(t *testing.T) {
	const writers, each, letters = 8, 40, "abcdefgh"
	for _, m := range []*ws.Compression{nil, ws.NewCompression(1)} {
		addr, ended := upgraded(t, ws.Options{Compression: m}, func(c *web.Context, conn *ws.Conn) error {
			var wg sync.WaitGroup
			for w := range writers {
				wg.Go(func() {
					for i := range each {
						if err := conn.Write(c.Context(), ws.Text, bytes.Repeat([]byte(letters[w:w+1]), i*i*20)); err != nil {
							t.Error(err)
						}
						if err := conn.Ping(c.Context(), []byte("p")); err != nil {
							t.Error(err)
						}
					}
				})
			}
			wg.Wait()
			return nil
		})
		conn, resp, err := websocket.Dial(t.Context(), "ws://"+addr+"/ws", &websocket.DialOptions{CompressionMode: websocket.CompressionNoContextTakeover}) //nolint:bodyclose // there is none
		if err != nil {
			t.Fatal(err)
		}
		if on := resp.Header.Get("Sec-WebSocket-Extensions") != ""; on != (m != nil) {
			t.Errorf("extensions %q", resp.Header.Get("Sec-WebSocket-Extensions"))
		}
		conn.SetReadLimit(1 << 20)
		seen := map[byte]int{}
		for range writers * each {
			_, b, err := conn.Read(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if len(b) == 0 {
				continue
			}
			if len(bytes.Trim(b, string(b[:1]))) != 0 {
				t.Fatalf("messages are mixed: %q...", b[:min(50, len(b))])
			}
			seen[b[0]]++
		}
		for w := range writers {
			if seen[letters[w]] != each-1 {
				t.Errorf("writer %d: %d messages, want %d", w, seen[letters[w]], each-1)
			}
		}
		// The last message may have come before the last ping: who left now would cut that off.
		if _, _, err := conn.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusNormalClosure {
			t.Errorf("after the last message: %v", err)
		}
		if err := receive(t, ended); err != nil {
			t.Error(err)
		}
	}
}

// TestReadEndsWithItsContext, and the connection goes on.
func TestReadEndsWithItsContext(t *testing.T) {
	addr, ended := upgraded(t, ws.Options{}, func(c *web.Context, conn *ws.Conn) error {
		ctx, cancel := context.WithCancel(c.Context())
		cancel()
		if _, _, err := conn.Read(ctx); !errors.Is(err, context.Canceled) || errors.Is(err, ws.ErrClosed) {
			t.Errorf("Read: %v", err)
		}
		if err := conn.Write(ctx, ws.Text, []byte("x")); !errors.Is(err, context.Canceled) || errors.Is(err, ws.ErrClosed) {
			t.Errorf("Write: %v", err)
		}
		return conn.Write(c.Context(), ws.Text, []byte("open"))
	})
	if f, _ := dial(t, addr).next(); string(f.payload) != "open" {
		t.Errorf("%q", f.payload)
	}
	if err := receive(t, ended); err != nil {
		t.Error(err)
	}
	addr, ended = upgraded(t, ws.Options{}, func(c *web.Context, conn *ws.Conn) error {
		ctx, cancel := context.WithCancel(c.Context())
		cancel()
		if _, _, err := conn.Read(ctx); err == nil {
			t.Error("Read with a context that has ended")
		}
		if err := conn.Write(c.Context(), ws.Text, []byte("ready")); err != nil {
			return err
		}
		var v struct{ A int }
		if err := conn.ReadJSON(c.Context(), &v); err != nil || v.A != 7 {
			t.Errorf("%+v %v", v, err)
		}
		if err := conn.ReadJSON(c.Context(), &v); err == nil || errors.Is(err, ws.ErrClosed) {
			t.Errorf("what is no JSON: %v", err)
		}
		if err := conn.ReadJSON(c.Context(), &v); err == nil || errors.Is(err, ws.ErrClosed) {
			t.Errorf("binary: %v", err)
		}
		return conn.WriteJSON(c.Context(), v)
	})
	p := dial(t, addr)
	p.send(text(`{"A":7}`), text(`{"A":`), frame{wsframe.Header{Fin: true, Opcode: wsframe.Binary}, []byte("1")})
	for _, want := range []string{"ready", `{"A":7}`} {
		if f, _ := p.next(); string(f.payload) != want {
			t.Errorf("%q, want %q", f.payload, want)
		}
	}
	if err := receive(t, ended); err != nil {
		t.Error(err)
	}
}

// TestPeerThatDoesNotReadIsLost: a write to it ends, by its context or by WriteWait.
func TestPeerThatDoesNotReadIsLost(t *testing.T) {
	flood := func(ctx context.Context, conn *ws.Conn) error {
		for {
			if err := conn.Write(ctx, ws.Binary, make([]byte, 1<<20)); err != nil {
				return err
			}
		}
	}
	addr, ended := upgraded(t, ws.Options{}, func(c *web.Context, conn *ws.Conn) error {
		ctx, cancel := context.WithTimeout(c.Context(), 50*time.Millisecond)
		defer cancel()
		return flood(ctx, conn)
	})
	dial(t, addr)
	if err := receive(t, ended); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("by its context: %v", err)
	}
	addr, ended = upgraded(t, ws.Options{WriteWait: 50 * time.Millisecond}, func(c *web.Context, conn *ws.Conn) error { return flood(c.Context(), conn) })
	dial(t, addr)
	if err := receive(t, ended); !errors.Is(err, ws.ErrClosed) {
		t.Errorf("by WriteWait: %v", err)
	}
}

// TestPingsFindThePeerThatIsLost: whoever answers stays, whoever does not goes, though the
// handler does nothing.
func TestPingsFindThePeerThatIsLost(t *testing.T) {
	addr, ended := upgraded(t, ws.Options{Ping: time.Millisecond, PongWait: time.Minute}, func(_ *web.Context, conn *ws.Conn) error {
		<-conn.Done()
		return conn.Err()
	})
	p := dial(t, addr)
	for range 20 {
		if f, ok := p.next(); !ok || f.Opcode != wsframe.Ping {
			t.Fatalf("%+v", f)
		}
		p.send(frame{wsframe.Header{Fin: true, Opcode: wsframe.Pong}, nil})
	}
	p.send(closing(ws.Normal, ""))
	p.wantClose(ws.Normal)
	if err := receive(t, ended); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	addr, ended = upgraded(t, ws.Options{Ping: time.Millisecond, PongWait: 20 * time.Millisecond}, func(_ *web.Context, conn *ws.Conn) error {
		<-conn.Done()
		return conn.Err()
	})
	dial(t, addr)
	if err := receive(t, ended); err == nil || !strings.Contains(err.Error(), "no answer to a ping") {
		t.Errorf("a peer that is silent: %v", err)
	}
}

// TestDrainTellsConnections: the server says that it goes, waits, and cuts what stays.
func TestDrainTellsConnections(t *testing.T) {
	for name, answers := range map[string]bool{"a client that answers": true, "a client that does not": false} {
		t.Run(name, func(t *testing.T) {
			app := newApp(t)
			app.GET("/ws", func(c *web.Context) error {
				conn, err := ws.Upgrade(c, ws.Options{})
				if err != nil {
					return err
				}
				return echo(c, conn)
			})
			ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			srv := &web.Server{App: app, DrainTimeout: 2 * patience}
			ended := make(chan error, 1)
			go func() { ended <- srv.Serve(context.Background(), ln) }()
			p := dial(t, ln.Addr().String())
			p.send(text("hello"))
			if f, _ := p.next(); string(f.payload) != "hello" {
				t.Fatalf("%q", f.payload)
			}
			result := make(chan web.DrainResult, 1)
			ctx, cut := context.WithCancel(context.Background())
			defer cut()
			go func() { result <- srv.Shutdown(ctx) }()
			if f, ok := p.next(); !ok || f.Opcode != wsframe.Close || !bytes.HasPrefix(f.payload, []byte{3, 0xe9}) {
				t.Errorf("%t %+v %q, want 1001", ok, f.Header, f.payload)
			}
			if answers {
				p.send(closing(ws.GoingAway, ""))
			} else {
				cut()
			}
			if r := receive(t, result); answers && len(r.Cut) != 0 {
				t.Errorf("cut: %+v", r.Cut)
			}
			if err := receive(t, ended); answers && err != nil {
				t.Error(err)
			}
		})
	}
}

// TestUpgradeThroughTheStack: middleware that wraps the writer, and budgets of time of a group
// and a route, which a connection leaves behind.
func TestUpgradeThroughTheStack(t *testing.T) {
	var log bytes.Buffer
	app, err := web.New(web.Options{Logger: slog.New(slog.NewTextHandler(&log, nil)), Debug: true})
	if err != nil {
		t.Fatal(err)
	}
	compressor, err := compress.New(compress.Options{})
	if err != nil {
		t.Fatal(err)
	}
	etag, err := middleware.ETag(middleware.ETagOptions{})
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan struct{})
	g := app.Group("", compressor, etag, web.Budgets{Time: 20 * time.Millisecond}.Middleware(), func(next web.Handler) web.Handler {
		return func(c *web.Context) error {
			if err := c.SetHeader("X-Group", "yes"); err != nil {
				return err
			}
			c.SetCookie(&http.Cookie{Name: "seen", Value: "1"}) //nolint:gosec // SetCookie makes it safe
			return next(c)
		}
	})
	g.GET("/ws", func(c *web.Context) error {
		conn, err := ws.Upgrade(c, ws.Options{})
		if err != nil {
			return err
		}
		timer := time.NewTimer(60 * time.Millisecond) // both budgets are over then
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-c.Context().Done():
			t.Error("the budget ended the connection")
		}
		close(over)
		return echo(c, conn)
	}, web.Budgets{Time: 20 * time.Millisecond})
	returned := make(chan struct{})
	addr := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		app.ServeHTTP(w, r)
		close(returned)
	}))
	p := dial(t, addr, "Accept-Encoding: gzip")
	if h := p.resp.Header; h.Get("X-Group") != "yes" || h.Get("Set-Cookie") == "" || h.Get("Content-Encoding") != "" {
		t.Errorf("%v", h)
	}
	receive(t, over)
	p.send(text("late"))
	if f, _ := p.next(); string(f.payload) != "late" {
		t.Errorf("%q", f.payload)
	}
	p.send(closing(ws.Normal, ""))
	p.wantClose(ws.Normal)
	receive(t, returned)
	if strings.Contains(log.String(), "level=ERROR") || strings.Contains(log.String(), "level=WARN") {
		t.Errorf("an ordinary end is logged as a fault:\n%s", log.String())
	}
}

// TestUpgradeWhereItCannotBe: HTTP/2, a method that is not GET, and a writer of no connection.
func TestUpgradeWhereItCannotBe(t *testing.T) {
	app := newApp(t)
	app.Any("/ws", func(c *web.Context) error {
		_, err := ws.Upgrade(c, ws.Options{})
		return err
	})
	srv := httptest.NewUnstartedServer(app)
	srv.EnableHTTP2 = true
	srv.StartTLS()
	defer srv.Close()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL+"/ws", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := srv.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil || resp.ProtoMajor != 2 || resp.StatusCode != 426 || resp.Header.Get("Upgrade") != "" {
		t.Errorf("HTTP/2: %d %v %v", resp.StatusCode, resp.Header, err)
	}
	r := httptest.NewRequestWithContext(t.Context(), "GET", "/ws", nil)
	for _, line := range strings.Split(handshake(), "\r\n")[1:] {
		if name, value, ok := strings.Cut(line, ": "); ok {
			r.Header.Set(name, value)
		}
	}
	w := httptest.NewRecorder()
	app.ServeHTTP(w, r)
	if w.Code != 501 {
		t.Errorf("a recorder: %d %s", w.Code, w.Body)
	}
	r.Method = "POST"
	w = httptest.NewRecorder()
	app.ServeHTTP(w, r)
	if w.Code != 426 && w.Code != 403 {
		t.Errorf("POST: %d %s", w.Code, w.Body)
	}
}
