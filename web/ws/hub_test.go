package ws_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"example.com/quire/web"
	"example.com/quire/web/internal/wsframe"
	"example.com/quire/web/ws"
)

// hubServer joins each connection to the topics of its query, and counts those that are in.
func hubServer(t *testing.T, hub *ws.Hub, o ws.Options) (addr string, ended chan error) {
	t.Helper()
	return upgraded(t, o, func(c *web.Context, conn *ws.Conn) error {
		return hub.Join(c.Context(), conn, strings.Split(c.Header("X-Topics"), ",")...)
	})
}

func wait(t *testing.T, what string, done func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); !done(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("%s: not in time", what)
		}
	}
}

func TestHubSendsToTopics(t *testing.T) {
	hub := ws.NewHub(ws.HubOptions{})
	addr, ended := hubServer(t, hub, ws.Options{Compression: ws.NewCompression(64)})
	prices := dial(t, addr, "X-Topics: prices")
	all := dial(t, addr, "X-Topics: prices,orders,prices", "Sec-WebSocket-Extensions: permessage-deflate")
	wait(t, "joined", func() bool { return hub.Stats().Clients == 2 })
	if n := len(hub.Clients("prices")); hub.Count("prices") != 2 || hub.Count("orders") != 1 || hub.Count("none") != 0 || n != 2 {
		t.Errorf("counts %d %d %d, %d clients", hub.Count("prices"), hub.Count("orders"), hub.Count("none"), n)
	}
	long := strings.Repeat("euro ", 100)
	for _, tc := range []struct {
		topic, message string
		n              int
	}{{"orders", "1", 1}, {"prices", "2", 2}, {"none", "3", 0}, {"prices", long, 2}} {
		if n, err := hub.Broadcast(tc.topic, ws.Text, []byte(tc.message)); n != tc.n || err != nil {
			t.Errorf("%s: %d clients, %v", tc.topic, n, err)
		}
	}
	if n, err := hub.BroadcastJSON("prices", map[string]int{"a": 1}); n != 2 || err != nil {
		t.Errorf("JSON: %d, %v", n, err)
	}
	for _, want := range []string{"2", long, `{"a":1}`} {
		if f, _ := prices.next(); string(f.payload) != want || f.Compressed {
			t.Errorf("%q, want %q", f.payload, want)
		}
	}
	for _, want := range []string{"1", "2", long, `{"a":1}`} {
		f, _ := all.next()
		if f.Compressed != (want == long) {
			t.Errorf("%q: compressed is %t", want, f.Compressed)
		}
		if f.Compressed {
			f.payload = unpack(t, f.payload)
		}
		if string(f.payload) != want {
			t.Errorf("%q, want %q", f.payload, want)
		}
	}
	for _, p := range []*peer{prices, all} {
		p.send(text("what a client says is dropped"), closing(ws.Normal, ""))
		p.wantClose(ws.Normal)
		if err := receive(t, ended); err != nil {
			t.Errorf("Join: %v", err)
		}
	}
	if s := hub.Stats(); s.Clients != 0 || s.Sent != 7 || s.Dropped != 0 || hub.Count("prices") != 0 {
		t.Errorf("%+v", s)
	}
	if _, err := hub.Broadcast("prices", ws.Text, []byte("\xff")); err == nil {
		t.Error("text that is not UTF-8 was sent")
	}
	if _, err := hub.Broadcast("prices", 0, nil); err == nil {
		t.Error("a message without kind was sent")
	}
	if _, err := hub.BroadcastJSON("prices", func() {}); err == nil {
		t.Error("what is no JSON was sent")
	}
}

// TestSlowClientDelaysNobody: one client reads nothing, another gets all messages, and the
// policy of each hub decides and is counted.
func TestSlowClientDelaysNobody(t *testing.T) {
	const messages = 400
	for policy, check := range map[ws.SlowPolicy]func(ws.HubStats) error{
		ws.CloseSlow: func(s ws.HubStats) error {
			if s.Slow != 1 || s.Dropped != 0 {
				return errors.New("want one client closed")
			}
			return nil
		},
		ws.DropOldest: func(s ws.HubStats) error {
			if s.Slow != 0 || s.Dropped == 0 {
				return errors.New("want messages dropped")
			}
			return nil
		},
		ws.DropNewest: func(s ws.HubStats) error {
			if s.Slow != 0 || s.Dropped == 0 {
				return errors.New("want messages dropped")
			}
			return nil
		},
	} {
		t.Run(fmt.Sprint(policy), func(t *testing.T) {
			hub := ws.NewHub(ws.HubOptions{Queue: 4, Slow: policy})
			addr, ended := hubServer(t, hub, ws.Options{CloseWait: 20 * time.Millisecond})
			slow := dial(t, addr, "X-Topics: t")
			conn, _, err := websocket.Dial(t.Context(), "ws://"+addr+"/ws", nil) //nolint:bodyclose // there is none
			if err != nil {
				t.Fatal(err)
			}
			_ = conn.CloseNow() // it asked for no topic
			fast := dial(t, addr, "X-Topics: t")
			wait(t, "joined", func() bool { return hub.Count("t") == 2 })
			for i := range messages {
				// More than the buffers of the kernel hold, while the fast client reads each.
				m := fmt.Appendf(make([]byte, 0, 64<<10), "%d ", i)
				if _, err := hub.Broadcast("t", ws.Binary, m[:cap(m)]); err != nil {
					t.Fatal(err)
				}
				f, ok := fast.next()
				if !ok || !strings.HasPrefix(string(f.payload[:8]), fmt.Sprintf("%d ", i)) {
					t.Fatalf("message %d: %t %q", i, ok, f.payload[:min(8, len(f.payload))])
				}
			}
			if err := check(hub.Stats()); err != nil {
				t.Errorf("%v: %+v", err, hub.Stats())
			}
			if policy == ws.CloseSlow {
				for {
					if err := receive(t, ended); errors.Is(err, ws.ErrSlowClient) {
						break
					}
				}
				wait(t, "gone", func() bool { return hub.Count("t") == 1 })
			}
			_ = slow.Close() // with all that it has not read
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			closed := make(chan error, 1)
			go func() { closed <- hub.Close(ctx) }()
			fast.wantClose(ws.GoingAway)
			if err := receive(t, closed); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestSlowClientIsToldWhy, when its connection takes a close frame.
func TestSlowClientIsToldWhy(t *testing.T) {
	hub := ws.NewHub(ws.HubOptions{Queue: 1})
	addr, ended := hubServer(t, hub, ws.Options{})
	p := dial(t, addr, "X-Topics: t")
	wait(t, "joined", func() bool { return hub.Count("t") == 1 })
	for hub.Stats().Slow == 0 {
		if _, err := hub.Broadcast("t", ws.Binary, []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	for {
		f, ok := p.next()
		if !ok || f.Opcode == wsframe.Close {
			// A write that was under way is cut: then there is no frame.
			if ok && string(f.payload) != "\x03\xf5too slow" {
				t.Errorf("%q", f.payload)
			}
			break
		}
	}
	_ = p.Close() // it may be closed
	if err := receive(t, ended); !errors.Is(err, ws.ErrSlowClient) {
		t.Errorf("Join: %v", err)
	}
}

func TestHubReceives(t *testing.T) {
	var got atomic.Int64
	hub := ws.NewHub(ws.HubOptions{Receive: func(ctx context.Context, from *ws.Conn, kind ws.Kind, data []byte) error {
		if string(data) == "bad" {
			return errors.New("not said here")
		}
		got.Add(1)
		return from.Write(ctx, kind, append([]byte("re: "), data...))
	}})
	addr, ended := hubServer(t, hub, ws.Options{})
	p := dial(t, addr, "X-Topics: t")
	p.send(text("one"), text("two"), text("bad"))
	for _, want := range []string{"re: one", "re: two"} {
		if f, _ := p.next(); string(f.payload) != want {
			t.Errorf("%q, want %q", f.payload, want)
		}
	}
	p.wantClose(ws.PolicyViolation)
	if err := receive(t, ended); err == nil || err.Error() != "not said here" || got.Load() != 2 {
		t.Errorf("Join: %v after %d messages", err, got.Load())
	}
}

// TestHubCloseEndsEverything, clients that do not answer too, and a Join that comes later.
func TestHubCloseEndsEverything(t *testing.T) {
	hub := ws.NewHub(ws.HubOptions{})
	addr, ended := hubServer(t, hub, ws.Options{})
	dial(t, addr, "X-Topics: t")
	wait(t, "joined", func() bool { return hub.Count("t") == 1 })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := hub.Close(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Close with a client that was cut: %v", err)
	}
	if err := receive(t, ended); !errors.Is(err, ws.ErrHubClosed) {
		t.Errorf("Join: %v", err)
	}
	if err := hub.Close(t.Context()); err != nil || hub.Stats().Clients != 0 {
		t.Errorf("again: %v, %+v", err, hub.Stats())
	}
	p := dial(t, addr, "X-Topics: t")
	p.send(closing(ws.Normal, ""))
	if err := receive(t, ended); !errors.Is(err, ws.ErrHubClosed) {
		t.Errorf("a late Join: %v", err)
	}
	if n, err := hub.Broadcast("t", ws.Text, nil); n != 0 || err != nil {
		t.Errorf("a late message: %d, %v", n, err)
	}
}

// TestJoinEndsWithItsContext, and closes the connection.
func TestJoinEndsWithItsContext(t *testing.T) {
	hub := ws.NewHub(ws.HubOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	addr, ended := upgraded(t, ws.Options{}, func(_ *web.Context, conn *ws.Conn) error { return hub.Join(ctx, conn, "t") })
	p := dial(t, addr)
	wait(t, "joined", func() bool { return hub.Count("t") == 1 })
	cancel()
	p.wantClose(ws.Normal)
	_ = p.Close() // both halves
	if err := receive(t, ended); !errors.Is(err, context.Canceled) {
		t.Errorf("Join: %v", err)
	}
}

// TestCompressedMessageReachesAllClients, each in the window that it asked for.
func TestCompressedMessageReachesAllClients(t *testing.T) {
	const clients = 6
	m := ws.NewCompression(64)
	hub := ws.NewHub(ws.HubOptions{})
	addr, ended := hubServer(t, hub, ws.Options{Compression: m})
	long := strings.Repeat("euro ", 2000)
	var peers []*peer
	for i := range clients {
		offer := "permessage-deflate"
		if i%2 == 1 {
			offer += "; server_max_window_bits=10" // frames of their own
		}
		peers = append(peers, dial(t, addr, "X-Topics: t", "Sec-WebSocket-Extensions: "+offer))
	}
	wait(t, "joined", func() bool { return hub.Count("t") == clients })
	if n, err := hub.Broadcast("t", ws.Text, []byte(long)); n != clients || err != nil {
		t.Fatalf("%d clients, %v", n, err)
	}
	for _, p := range peers {
		f, _ := p.next()
		if !f.Compressed || len(f.payload) > len(long)/10 || string(unpack(t, f.payload)) != long {
			t.Errorf("%+v of %d bytes", f.Header, len(f.payload))
		}
	}
	for _, p := range peers {
		p.send(closing(ws.Normal, ""))
		p.wantClose(ws.Normal)
		if err := receive(t, ended); err != nil {
			t.Errorf("Join: %v", err)
		}
	}
}

// TestDrainTellsClientsOfAHub: each is told to go, its Join ends, and a slow one is not waited for
// longer than the drain lasts.
func TestDrainTellsClientsOfAHub(t *testing.T) {
	const clients = 5
	hub := ws.NewHub(ws.HubOptions{})
	app := newApp(t)
	ended := make(chan error, clients)
	app.GET("/ws", func(c *web.Context) error {
		conn, err := ws.Upgrade(c, ws.Options{CloseWait: patience})
		if err == nil {
			err = hub.Join(c.Context(), conn, "t")
			ended <- err
		}
		return err
	})
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &web.Server{App: app, DrainTimeout: patience}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(context.Background(), ln) }()
	defer func() {
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
	}()
	var peers []*peer
	for range clients {
		peers = append(peers, dial(t, ln.Addr().String()))
	}
	wait(t, "joined", func() bool { return hub.Count("t") == clients })
	result := make(chan web.DrainResult, 1)
	go func() { result <- srv.Shutdown(context.Background()) }()
	for _, p := range peers {
		f, ok := p.next()
		if !ok || f.Opcode != wsframe.Close || len(f.payload) < 2 || ws.Code(f.payload[0])<<8|ws.Code(f.payload[1]) != ws.GoingAway {
			t.Errorf("%t %+v %q, want a close frame with 1001", ok, f.Header, f.payload)
		}
	}
	for _, p := range peers {
		p.send(closing(ws.GoingAway, ""))
		_ = p.Close() // it is closing
		if err := receive(t, ended); err != nil {
			t.Errorf("Join: %v", err)
		}
	}
	if r := receive(t, result); len(r.Cut) > 0 {
		t.Errorf("cut: %+v", r.Cut)
	}
	if err := receive(t, served); err != nil {
		t.Errorf("Serve: %v", err)
	}
	if s := hub.Stats(); s.Clients != 0 {
		t.Errorf("%+v", s)
	}
}
