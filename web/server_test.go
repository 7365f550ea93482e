package web_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"example.com/quire/web"
	"example.com/quire/web/webtest"
)

func TestMain(m *testing.M) {
	// net/http keeps a connection that it answered with 431 for half a second.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait"))
}

// running is a Server on a free port.
type running struct {
	srv    *web.Server
	url    string
	addr   string
	client *http.Client
	ended  chan error
	cancel context.CancelFunc
}

func start(t *testing.T, s *web.Server) *running {
	t.Helper()
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	transport := &http.Transport{}
	r := &running{s, "http://" + ln.Addr().String(), ln.Addr().String(), &http.Client{Transport: transport}, make(chan error, 1), cancel}
	go func() { r.ended <- s.Serve(ctx, ln) }()
	t.Cleanup(func() {
		cancel()
		transport.CloseIdleConnections()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// reply is an answer read whole.
type reply struct {
	status int
	close  bool // the server said Connection: close
	tls    uint16
}

func (r *running) get(t *testing.T, path string) (reply, string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", r.url+path, nil)
	if err != nil {
		return reply{}, "", err
	}
	res, err := r.client.Do(req)
	if err != nil {
		return reply{}, "", err
	}
	defer func() { _ = res.Body.Close() }() // read to its end
	body, err := io.ReadAll(res.Body)
	out := reply{status: res.StatusCode, close: res.Close}
	if res.TLS != nil {
		out.tls = res.TLS.Version
	}
	return out, string(body), err
}

func TestDrainOrder(t *testing.T) {
	var mu sync.Mutex
	var order []string
	say := func(s string) {
		mu.Lock()
		defer mu.Unlock()
		order = append(order, s)
	}
	hook := func(name string) func(context.Context) error {
		return func(context.Context) error { say(name); return nil }
	}
	app := newApp(t, web.Options{})
	health := new(web.Health)
	if err := health.Register(app); err != nil {
		t.Fatal(err)
	}
	entered, release := make(chan struct{}, 2), make(chan struct{})
	app.GET("/slow", func(c *web.Context) error {
		entered <- struct{}{}
		<-release
		say("slow ends")
		return c.String(200, "whole")
	})
	app.GET("/events", func(c *web.Context) error {
		told := make(chan struct{})
		stop := c.OnDrain(func(context.Context) { say("stream is told"); close(told) })
		defer stop()
		return c.Stream("text/event-stream", func(w io.Writer) error {
			entered <- struct{}{}
			<-told
			_, err := io.WriteString(w, "bye")
			return err
		})
	})
	s := &web.Server{
		App: app, Health: health, DrainDelay: 300 * time.Millisecond,
		OnStart: []func(context.Context) error{hook("start 1"), hook("start 2")},
		OnStop:  []func(context.Context) error{hook("stop 1"), hook("stop 2")},
	}
	r := start(t, s)
	answers := make(chan string, 2)
	for _, path := range []string{"/slow", "/events"} {
		go func() {
			_, body, err := r.get(t, path)
			answers <- fmt.Sprint(path, " ", body, " ", err)
		}()
	}
	<-entered
	<-entered
	if res, _, err := r.get(t, "/readyz"); err != nil || res.status != 200 {
		t.Errorf("before the drain: %+v %v", res, err)
	}
	r.cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for health.Ready(t.Context()) {
		<-tick.C
	}
	// Within the delay the server still takes connections, and says close.
	if res, body, err := r.get(t, "/readyz"); err != nil || res.status != 503 || !res.close || !strings.Contains(body, "draining") {
		t.Errorf("within the delay: %v %q %v", res, body, err)
	}
	close(release)
	got := []string{<-answers, <-answers}
	slices.Sort(got)
	if want := []string{"/events bye <nil>", "/slow whole <nil>"}; !slices.Equal(got, want) {
		t.Errorf("answers %q", got)
	}
	if err := <-r.ended; err != nil {
		t.Errorf("Serve: %v", err)
	}
	if want := []string{"start 1", "start 2", "slow ends", "stream is told", "stop 2", "stop 1"}; !slices.Equal(order, want) {
		t.Errorf("order %q, want %q", order, want)
	}
	if _, _, err := r.get(t, "/readyz"); err == nil {
		t.Error("the server still answers")
	}
	if res := s.Shutdown(t.Context()); len(res.Cut) != 0 || res.Took <= 0 {
		t.Errorf("result %+v", res)
	}
	if err := s.Run(t.Context()); !errors.Is(err, web.ErrServerDraining) {
		t.Errorf("a second run: %v", err)
	}
}

// TestDrainCuts: at the timeout what is left is cut, listed, and its context ends.
func TestDrainCuts(t *testing.T) {
	var log bytes.Buffer
	app := newApp(t, web.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	entered := make(chan struct{}, 2)
	ended := make(chan error, 1)
	app.GET("/stuck/{id}", func(c *web.Context) error {
		entered <- struct{}{}
		<-c.Context().Done()
		ended <- c.Context().Err()
		return c.Context().Err()
	})
	app.GET("/hijack", func(c *web.Context) error {
		_, _, err := http.NewResponseController(c.Writer()).Hijack()
		entered <- struct{}{}
		return err
	})
	r := start(t, &web.Server{App: app, DrainTimeout: 60 * time.Millisecond})
	go func() { _, _, _ = r.get(t, "/stuck/7") }() // it is cut: the outcome shows below
	<-entered
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := io.WriteString(conn, "GET /hijack HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	<-entered
	res := r.srv.Shutdown(t.Context())
	var cuts []string
	for _, c := range res.Cut {
		cuts = append(cuts, c.Kind+" "+c.Route)
		if c.Age <= 0 {
			t.Errorf("age %v", c.Age)
		}
	}
	slices.Sort(cuts)
	if want := []string{"hijacked ", "request /stuck/{id}"}; !slices.Equal(cuts, want) {
		t.Errorf("cut %q, want %q", cuts, want)
	}
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the handler's context: %v", err)
	}
	if de, ok := errors.AsType[*web.DrainError](<-r.ended); !ok || len(de.Result.Cut) != 2 || !strings.Contains(de.Error(), "2 requests cut") {
		t.Errorf("Serve: %v", de)
	}
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("the hijacked connection is open")
	}
	if !strings.Contains(log.String(), "cut by the drain") {
		t.Errorf("log %s", log.String())
	}
}

func TestShutdownContextCuts(t *testing.T) {
	app := newApp(t, web.Options{})
	entered := make(chan struct{})
	app.GET("/", func(c *web.Context) error {
		close(entered)
		<-c.Context().Done()
		return nil
	})
	r := start(t, &web.Server{App: app})
	go func() { _, _, _ = r.get(t, "/") }() // it is cut
	<-entered
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if res := r.srv.Shutdown(ctx); len(res.Cut) != 1 {
		t.Errorf("cut %+v", res)
	}
	if err := <-r.ended; err == nil {
		t.Error("Serve hides the cut")
	}
	unused := &web.Server{App: app}
	unused.Shutdown(t.Context())
	if err := unused.Run(t.Context()); !errors.Is(err, web.ErrServerDraining) {
		t.Errorf("Run after Shutdown: %v", err)
	}
}

func TestRestartsUnderLoad(t *testing.T) {
	var failed, done atomic.Int64
	for range 5 {
		app := newApp(t, web.Options{})
		app.GET("/", func(c *web.Context) error { return c.String(200, strings.Repeat("x", 4096)) })
		// A client that gets no processor for a second has not gone.
		r := start(t, &web.Server{App: app, DrainDelay: 20 * time.Millisecond, DrainIdle: 20 * time.Second})
		var wg sync.WaitGroup
		begun := make(chan struct{}, 4)
		for range 4 {
			wg.Go(func() {
				for i := 0; ; i++ {
					res, body, err := r.get(t, "/")
					if err != nil {
						if !strings.Contains(err.Error(), "refused") { // no request of a new connection was taken
							failed.Add(1)
							t.Error(err)
						}
						return
					}
					done.Add(1)
					if res.status != 200 || len(body) != 4096 {
						failed.Add(1)
					}
					if i == 5 {
						begun <- struct{}{}
					}
					if res.close {
						return // the server said so: the next request goes elsewhere
					}
				}
			})
		}
		for range 4 {
			<-begun
		}
		r.cancel()
		wg.Wait()
		if err := <-r.ended; err != nil {
			t.Errorf("Serve: %v", err)
		}
	}
	if failed.Load() > 0 || done.Load() < 100 {
		t.Errorf("%d failed of %d", failed.Load(), done.Load())
	}
}

func TestStartFails(t *testing.T) {
	app := newApp(t, web.Options{})
	broken := errors.New("no database")
	var stopped []int
	stop := func(i int) func(context.Context) error {
		return func(context.Context) error { stopped = append(stopped, i); return errors.New("stop too") }
	}
	ok := func(context.Context) error { return nil }
	s := &web.Server{
		App: app, Addr: "127.0.0.1:0",
		OnStart: []func(context.Context) error{ok, ok, func(context.Context) error { return broken }, func(context.Context) error { t.Error("ran on"); return nil }},
		OnStop:  []func(context.Context) error{stop(1), stop(2), stop(3)},
	}
	err := s.Run(t.Context())
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "start hook 3") || !strings.Contains(err.Error(), "stop hook 2") || !slices.Equal(stopped, []int{2, 1}) {
		t.Errorf("%v, stopped %v", err, stopped)
	}
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	for _, run := range []func(*web.Server) error{
		func(s *web.Server) error { return s.Run(t.Context()) },
		func(s *web.Server) error {
			return s.RunServer(t.Context(), &http.Server{ReadHeaderTimeout: time.Second})
		},
	} {
		err = run(&web.Server{App: app, Addr: ln.Addr().String()})
		if err == nil || !strings.Contains(err.Error(), ln.Addr().String()) {
			t.Errorf("a taken address: %v", err)
		}
	}
	if err := (&web.Server{App: app}).RunTLS(t.Context(), "none.pem", "none.key"); err == nil || !strings.Contains(err.Error(), "none.pem") {
		t.Errorf("no certificate: %v", err)
	}
	closed, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	if err := (&web.Server{App: app}).Serve(t.Context(), closed); err == nil || !strings.Contains(err.Error(), "serve 127.0.0.1") {
		t.Errorf("a closed listener: %v", err)
	}
}

// TestRunTLS speaks HTTP/2 with a certificate from files.
// A configuration of TLS that has no certificate does not become plain HTTP.
func TestTLSWithoutCertificate(t *testing.T) {
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &web.Server{App: newApp(t, web.Options{}), TLS: &tls.Config{MinVersion: tls.VersionTLS13}}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := s.Serve(ctx, ln); err == nil || !strings.Contains(err.Error(), "no certificate") {
		t.Errorf("Serve: %v", err)
	}
	if _, err := ln.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the listener is open: %v", err)
	}
}

func TestRunTLS(t *testing.T) {
	ts := httptest.NewUnstartedServer(nil)
	ts.StartTLS()
	leaf, key := ts.TLS.Certificates[0].Certificate[0], ts.TLS.Certificates[0].PrivateKey
	pool := x509.NewCertPool()
	pool.AddCert(ts.Certificate())
	ts.Close()
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string][]byte{certFile: pemText("CERTIFICATE", leaf), keyFile: pemText("PRIVATE KEY", keyDER)} {
		if err := os.WriteFile(name, block, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := ln.Addr().String()
	if err := ln.Close(); err != nil {
		t.Fatal(err)
	}
	app := newApp(t, web.Options{})
	app.GET("/", func(c *web.Context) error { return c.String(200, c.Request().Proto) })
	ready := make(chan struct{})
	s := &web.Server{App: app, Addr: addr, OnStart: []func(context.Context) error{func(context.Context) error { close(ready); return nil }}}
	ended := make(chan error, 1)
	go func() { ended <- s.RunTLS(t.Context(), certFile, keyFile) }()
	<-ready
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, ServerName: "example.com", MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true}
	defer transport.CloseIdleConnections()
	r := &running{url: "https://" + addr, client: &http.Client{Transport: transport}}
	if res, body, err := r.get(t, "/"); err != nil || body != "HTTP/2.0" || res.tls < tls.VersionTLS12 {
		t.Errorf("%v %q %v", res, body, err)
	}
	transport.CloseIdleConnections() // net/http gives an h2 client a second after GOAWAY
	if res := s.Shutdown(t.Context()); len(res.Cut) > 0 {
		t.Errorf("cut %v", res)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestH2CAndRunServer(t *testing.T) {
	app := newApp(t, web.Options{})
	app.GET("/", func(c *web.Context) error { return c.String(200, c.Request().Proto) })
	r := start(t, &web.Server{App: app, H2C: true})
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	h2 := &http.Transport{Protocols: protocols}
	defer h2.CloseIdleConnections()
	r.client = &http.Client{Transport: h2}
	if _, body, err := r.get(t, "/"); err != nil || body != "HTTP/2.0" {
		t.Errorf("h2c: %q %v", body, err)
	}
	states := make(chan http.ConnState, 10)
	ready := make(chan string, 1)
	own := &http.Server{
		Addr: "127.0.0.1:0", ReadHeaderTimeout: time.Second,
		ConnState:   func(_ net.Conn, st http.ConnState) { states <- st },
		BaseContext: func(l net.Listener) context.Context { ready <- l.Addr().String(); return t.Context() },
	}
	s := &web.Server{App: app}
	ended := make(chan error, 1)
	go func() { ended <- s.RunServer(t.Context(), own) }()
	plain := &running{url: "http://" + <-ready, client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
	if _, body, err := plain.get(t, "/"); err != nil || body != "HTTP/1.1" {
		t.Errorf("RunServer: %q %v", body, err)
	}
	if st := <-states; st != http.StateNew {
		t.Errorf("the caller's ConnState saw %v", st)
	}
	s.Shutdown(t.Context())
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestServerLimits: head size, OPTIONS *, the number of connections.
func TestServerLimits(t *testing.T) {
	app := newApp(t, web.Options{})
	app.GET("/", func(c *web.Context) error { return c.NoContent(204) })
	r := start(t, &web.Server{App: app, MaxConnections: 1})
	talk := func(text string) string {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", r.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		if _, err := io.WriteString(conn, text); err != nil {
			return err.Error()
		}
		line, err := bufio.NewReader(conn).ReadString('\n')
		if err != nil {
			return err.Error()
		}
		return strings.TrimSpace(line)
	}
	// In this order: net/http holds a connection that it answered with 431 for half a second.
	for _, x := range [][2]string{
		{"OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "HTTP/1.1 204 No Content"},
		{"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-A: " + strings.Repeat("a", 40<<10) + "\r\n\r\n", "HTTP/1.1 431 Request Header Fields Too Large"},
	} {
		if got := talk(x[0]); got != x[1] {
			t.Errorf("%.30q: %q, want %q", x[0], got, x[1])
		}
	}
}

// TestHijackedConnectionsCount: a connection that has left net/http is open all the same.
func TestHijackedConnectionsCount(t *testing.T) {
	app := newApp(t, web.Options{})
	app.GET("/", func(c *web.Context) error { return c.NoContent(204) })
	app.GET("/up", func(c *web.Context) error {
		conn, rw, err := http.NewResponseController(c.Writer()).Hijack()
		if err != nil {
			return err
		}
		_, err = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
		_, _ = io.Copy(io.Discard, rw) // until the client leaves
		return errors.Join(err, conn.Close())
	})
	r := start(t, &web.Server{App: app, MaxConnections: 1})
	up, next := dial(t, r.addr), dial(t, r.addr)
	up.send(t, "GET /up HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
	if line, err := up.answers.ReadString('\n'); !strings.HasPrefix(line, "HTTP/1.1 101") {
		t.Fatal(line, err)
	}
	next.send(t, plainGet)
	if err := next.SetReadDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if b, err := next.answers.Peek(1); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("a second connection was served: %q, %v", b, err)
	}
	if err := errors.Join(up.Close(), next.SetReadDeadline(time.Time{})); err != nil {
		t.Fatal(err)
	}
	if got := next.answer(t); got.status != 204 {
		t.Errorf("%+v", got)
	}
}

func TestHealth(t *testing.T) {
	app := newApp(t, web.Options{})
	h := new(web.Health)
	if err := h.Register(app); err != nil {
		t.Fatal(err)
	}
	if err := h.Register(app); err == nil {
		t.Error("registered twice")
	}
	var dbErr error
	checks := 0
	h.Check("database", web.Critical, func(context.Context) error { checks++; return dbErr })
	h.Check("mail", web.Degraded, func(context.Context) error { return errors.New("secret host down") })
	c := webtest.New(t, app)
	c.Get("/livez").Want(200)
	c.Get("/startupz").Want(503)
	if got := c.Get("/readyz").Want(503).Text(); got != `{"status":"starting","checks":[]}` {
		t.Errorf("before start: %s", got)
	}
	r := start(t, &web.Server{App: app, Health: h})
	if _, _, err := r.get(t, "/livez"); err != nil {
		t.Fatal(err)
	}
	c.Get("/startupz").Want(200)
	for range 3 {
		if got := c.Get("/readyz").Want(200).Text(); got != `{"status":"degraded","checks":[{"name":"database","kind":"critical","status":"ok"},{"name":"mail","kind":"degraded","status":"failing"}]}` {
			t.Errorf("ready: %s", got)
		}
	}
	if checks != 1 {
		t.Errorf("%d runs of a check within a second", checks)
	}
	dbErr = errors.New("secret")
	h.Check("late", web.Critical, func(context.Context) error { return nil }) // a new check makes the old results stale
	if got := c.Get("/readyz").Want(503).Text(); !strings.Contains(got, `"failing"`) || strings.Contains(got, "secret") {
		t.Errorf("failing: %s", got)
	}
}
