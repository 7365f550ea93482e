package web_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/quire/web"
)

// wire is a client's connection.
type wire struct {
	net.Conn
	answers *bufio.Reader
}

func dial(t *testing.T, address string) *wire {
	t.Helper()
	c, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return &wire{c, bufio.NewReader(c)}
}

func (w *wire) send(t *testing.T, s string) {
	t.Helper()
	if _, err := io.WriteString(w, s); err != nil {
		t.Fatal(err)
	}
}

// answer reads an answer whole.
func (w *wire) answer(t *testing.T) reply {
	t.Helper()
	res, err := http.ReadResponse(w.answers, nil)
	if err != nil {
		t.Fatalf("no answer: %v", err)
	}
	_, err = io.Copy(io.Discard, res.Body)
	if err := errors.Join(err, res.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return reply{status: res.StatusCode, close: res.Close}
}

const plainGet = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

// draining starts a Server with DrainIdle whose drain begins when begin is called; begin waits
// until answers say so.
func draining(t *testing.T, s *web.Server) (r *running, begin func()) {
	t.Helper()
	s.App, s.Health = newApp(t, web.Options{}), new(web.Health)
	s.App.GET("/", func(c *web.Context) error { return c.String(200, "here") })
	r = start(t, s)
	return r, func() {
		r.cancel()
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for s.Health.Ready(t.Context()) {
			<-tick.C
		}
	}
}

func TestDrainAnswersTheNextRequestOfAKeptConnection(t *testing.T) {
	r, begin := draining(t, &web.Server{DrainIdle: 10 * time.Second})
	kept, half := dial(t, r.addr), dial(t, r.addr)
	for _, c := range []*wire{kept, half} {
		c.send(t, plainGet)
		if res := c.answer(t); res.close {
			t.Fatal("closed before the drain")
		}
	}
	half.send(t, plainGet[:7])
	begin()
	kept.send(t, plainGet)
	half.send(t, plainGet[7:])
	for _, c := range []*wire{kept, half} {
		if res := c.answer(t); res.status != http.StatusOK || !res.close {
			t.Errorf("in the drain: %+v", res)
		}
		if _, err := c.answers.ReadByte(); !errors.Is(err, io.EOF) {
			t.Errorf("after the last answer: %v", err)
		}
	}
	if err := <-r.ended; err != nil {
		t.Error(err)
	}
}

func TestDrainClosesAConnectionOnWhichNothingComes(t *testing.T) {
	const idle = 60 * time.Millisecond
	r, begin := draining(t, &web.Server{DrainIdle: idle})
	since := time.Now() // what follows is before the connections begin to wait
	kept, unused := dial(t, r.addr), dial(t, r.addr)
	kept.send(t, plainGet)
	kept.answer(t)
	begin()
	for _, c := range []*wire{kept, unused} {
		if _, err := c.answers.ReadByte(); !errors.Is(err, io.EOF) {
			t.Errorf("idle connection: %v", err)
		}
	}
	if took := time.Since(since); took < idle-5*time.Millisecond {
		t.Errorf("closed after %s, want at least %s", took, idle)
	}
	if err := <-r.ended; err != nil {
		t.Error(err)
	}
}

func TestDrainWithoutIdleTimeClosesAtOnce(t *testing.T) {
	var took time.Duration
	for range 10 { // on a busy machine one drain may take as long as the default time
		r, begin := draining(t, &web.Server{DrainIdle: -1})
		kept := dial(t, r.addr)
		kept.send(t, plainGet)
		kept.answer(t)
		since := time.Now()
		begin()
		if err := <-r.ended; err != nil {
			t.Error(err)
		}
		if took = time.Since(since); took < 900*time.Millisecond {
			return
		}
	}
	t.Errorf("the last of ten drains took %s", took)
}

// TestDrainAnswersWhatIsInTheQueue: a client takes a connection that the kernel has queued for
// one that is open, and has sent its request.
func TestDrainAnswersWhatIsInTheQueue(t *testing.T) {
	r, begin := draining(t, &web.Server{MaxConnections: 1, DrainIdle: 100 * time.Millisecond})
	first := dial(t, r.addr)
	first.send(t, plainGet)
	first.answer(t)
	queued := []*wire{dial(t, r.addr), dial(t, r.addr)}
	for _, c := range queued {
		c.send(t, plainGet)
	}
	begin()
	for _, c := range queued {
		if res := c.answer(t); res.status != http.StatusOK || !res.close {
			t.Errorf("queued: %+v", res)
		}
	}
	if err := <-r.ended; err != nil {
		t.Error(err)
	}
}

// heldUp is a listener whose process gets no processor for a while, between the deadline that the
// drain sets and the next Accept.
type heldUp struct {
	*net.TCPListener
	draining    chan struct{} // closed by the first deadline
	begin, hold sync.Once
}

func (l *heldUp) SetDeadline(at time.Time) error {
	l.begin.Do(func() { close(l.draining) })
	return l.TCPListener.SetDeadline(at)
}

func (l *heldUp) Accept() (net.Conn, error) {
	select {
	case <-l.draining:
		l.hold.Do(func() { <-time.After(300 * time.Millisecond) })
	default:
	}
	return l.TCPListener.Accept()
}

// TestDrainAnswersTheQueueOfAProcessThatWasHeldUp for longer than a drain waits for connections.
func TestDrainAnswersTheQueueOfAProcessThatWasHeldUp(t *testing.T) {
	app := newApp(t, web.Options{})
	app.GET("/", func(c *web.Context) error { return c.String(200, "here") })
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	inner, ok := ln.(*net.TCPListener)
	if !ok {
		t.Fatalf("a listener of type %T", ln)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	held, ended := &heldUp{TCPListener: inner, draining: make(chan struct{})}, make(chan error, 1)
	go func() {
		ended <- (&web.Server{App: app, MaxConnections: 1, DrainIdle: 20 * time.Second}).Serve(ctx, held)
	}()
	first := dial(t, ln.Addr().String())
	first.send(t, plainGet)
	first.answer(t)
	queued := []*wire{dial(t, ln.Addr().String()), dial(t, ln.Addr().String()), dial(t, ln.Addr().String())}
	for _, c := range queued {
		c.send(t, plainGet)
	}
	cancel()
	<-held.draining
	_ = first.Close() // only now there is room for another
	for _, c := range queued {
		if res := c.answer(t); res.status != http.StatusOK || !res.close {
			t.Errorf("queued: %+v", res)
		}
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestDrainOfTLSConnections(t *testing.T) {
	for _, protocol := range []string{"http/1.1", "h2"} {
		t.Run(strings.ReplaceAll(protocol, "/", "-"), func(t *testing.T) {
			ts := httptest.NewUnstartedServer(nil)
			ts.StartTLS()
			pool := x509.NewCertPool()
			pool.AddCert(ts.Certificate())
			ts.Close()
			conf := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: ts.TLS.Certificates, NextProtos: []string{protocol}}
			r, begin := draining(t, &web.Server{TLS: conf, DrainIdle: 3 * time.Second})
			transport := &http.Transport{
				TLSClientConfig:   &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool},
				ForceAttemptHTTP2: protocol == "h2",
			}
			defer transport.CloseIdleConnections()
			r.url, r.client = "https://"+r.addr, &http.Client{Transport: transport}
			if res, _, err := r.get(t, "/"); err != nil || res.status != http.StatusOK {
				t.Fatalf("before the drain: %+v %v", res, err)
			}
			begin()
			if res, _, err := r.get(t, "/"); err != nil || res.status != http.StatusOK || (protocol != "h2" && !res.close) {
				t.Errorf("in the drain: %+v %v", res, err)
			}
			if err := <-r.ended; err != nil {
				t.Error(err)
			}
		})
	}
}

// TestDrainAnswersWhoConnectsUntilItStopsAccepting: clients that go on connecting are answered or
// refused. Where a system lets nobody filter a socket, one connection may come between the last
// look at the queue and its end, and no more.
func TestDrainAnswersWhoConnectsUntilItStopsAccepting(t *testing.T) {
	r, begin := draining(t, &web.Server{DrainIdle: 10 * time.Second})
	var lost, answered atomic.Int32
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			for {
				c, err := new(net.Dialer).DialContext(t.Context(), "tcp", r.addr)
				if err != nil {
					return
				}
				_, wrong := io.WriteString(c, plainGet)
				if head, err := bufio.NewReader(c).ReadString('\n'); wrong != nil || err != nil || !strings.Contains(head, " 200 ") {
					lost.Add(1)
				} else {
					answered.Add(1)
				}
				_ = c.Close()
			}
		})
	}
	begin()
	clients.Wait()
	if err := <-r.ended; err != nil {
		t.Error(err)
	}
	if lost.Load() > 1 && runtime.GOOS != "windows" {
		t.Errorf("%d connections were lost, %d answered", lost.Load(), answered.Load())
	}
}

// unfiltered is a listener whose socket is out of reach, as on systems without socket filters.
type unfiltered struct{ tcp *net.TCPListener }

func (u unfiltered) Accept() (net.Conn, error)      { return u.tcp.Accept() }
func (u unfiltered) Close() error                   { return u.tcp.Close() }
func (u unfiltered) Addr() net.Addr                 { return u.tcp.Addr() }
func (u unfiltered) SetDeadline(at time.Time) error { return u.tcp.SetDeadline(at) }

// TestDrainStopsAcceptingWhileClientsGoOnConnecting: where new connections cannot be held off
// the queue is never empty, and accepting ends all the same.
func TestDrainStopsAcceptingWhileClientsGoOnConnecting(t *testing.T) {
	a, err := web.New(web.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	done := make(chan error, 1)
	go func() {
		done <- (&web.Server{App: a, DrainIdle: 10 * time.Millisecond}).Serve(ctx, unfiltered{ln.(*net.TCPListener)})
	}()
	refused := make(chan struct{})
	for range 2 {
		go func() {
			defer func() { refused <- struct{}{} }()
			for {
				c, err := new(net.Dialer).DialContext(t.Context(), "tcp", ln.Addr().String())
				if err != nil {
					return
				}
				_ = c.Close()
			}
		}()
	}
	begun := time.Now()
	stop()
	<-refused
	<-refused
	if err := <-done; err != nil {
		t.Error(err)
	}
	if took := time.Since(begun); took > time.Minute {
		t.Errorf("the drain took %v", took)
	}
}
