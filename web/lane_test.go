package web_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"example.com/quire/web"
	"example.com/quire/web/frozen"
)

// TestServerWithLane: frozen and ordinary answers on one connection; the drain ends
// a connection that only ever saw the lane without waiting for its limit.
func TestServerWithLane(t *testing.T) {
	table := frozen.NewTable(frozen.Limits{})
	entry, err := frozen.Build(frozen.EntrySpec{Header: http.Header{"Content-Type": {"text/plain"}}, Body: []byte("frozen"), Public: true})
	if err == nil {
		err = table.Put("/frozen", entry)
	}
	if err != nil {
		t.Fatal(err)
	}
	app := newApp(t, web.Options{})
	app.GET("/ordinary", func(c *web.Context) error { return c.String(200, "ordinary") })
	ln, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // loopback
	if err != nil {
		t.Fatal(err)
	}
	s := &web.Server{App: app, Lane: frozen.NewLane(frozen.LaneOptions{Timeouts: frozen.Timeouts{Drain: 50 * time.Millisecond}}, table), DrainIdle: 50 * time.Millisecond}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, ln) }()
	dial := func() (net.Conn, *bufio.Reader) {
		c, err := net.Dial("tcp", ln.Addr().String()) //nolint:noctx // loopback
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() }) // at the end of the test
		return c, bufio.NewReader(c)
	}
	ask := func(c net.Conn, r *bufio.Reader, path string) (text, id string) {
		if _, err := io.WriteString(c, "GET "+path+" HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if err = errors.Join(err, resp.Body.Close()); err != nil {
			t.Fatal(err)
		}
		return string(body), resp.Header.Get("X-Request-Id")
	}
	both, bothR := dial()
	only, onlyR := dial()
	for range 3 {
		for _, path := range []string{"/frozen", "/ordinary"} {
			if text, id := ask(both, bothR, path); text != strings.TrimPrefix(path, "/") || (id == "") != (path == "/frozen") {
				t.Errorf("%s: %q, id %q", path, text, id)
			}
		}
		if text, _ := ask(only, onlyR, "/frozen"); text != "frozen" {
			t.Errorf("%q", text)
		}
	}
	began := time.Now()
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("the drain took %v", took)
	}
	for _, r := range []*bufio.Reader{bothR, onlyR} {
		if _, err := r.ReadByte(); !errors.Is(err, io.EOF) {
			t.Errorf("after the drain: %v", err)
		}
	}
}
