package web_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/quire/web"
)

// stream asks for a stream of events and returns a reader of it.
func stream(t *testing.T, url, lastID string) (*bufio.Reader, http.Header, func()) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if lastID != "" {
		req.Header.Set("Last-Event-ID", lastID)
	}
	resp, err := new(http.Transport).RoundTrip(req) //nolint:bodyclose // the caller closes it
	if err != nil {
		t.Fatal(err)
	}
	return bufio.NewReader(resp.Body), resp.Header, func() { _ = resp.Body.Close() } // it may have been cut
}

// block reads up to the next empty line.
func block(t *testing.T, r *bufio.Reader) string {
	t.Helper()
	var b strings.Builder
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return b.String() + err.Error()
		}
		if line == "\n" {
			return b.String()
		}
		b.WriteString(line)
	}
}

// TestSSEForm is what stands on the wire: line breaks of every kind in the data
// begin no field, and what cannot be said is refused.
func TestSSEForm(t *testing.T) {
	app := newApp(t, web.Options{})
	var refused []error
	app.GET("/", func(c *web.Context) error {
		s, err := c.SSE(web.SSEOptions{Retry: 2 * time.Second})
		if err != nil {
			return err
		}
		for _, e := range []web.Event{{ID: "a\nb"}, {ID: "a\x00"}, {Name: "a\rb"}, {Data: strings.Repeat("x", 1<<20+1)}} {
			refused = append(refused, s.Send(e))
		}
		if err := s.Send(web.Event{ID: "7", Name: "order", Data: "a\nid: x\rb\r\nc\n"}); err != nil {
			return err
		}
		return s.Send(web.Event{})
	}, web.Budgets{Time: time.Minute})
	s := httptest.NewServer(app)
	defer s.Close()
	r, h, done := stream(t, s.URL, "")
	defer done()
	if h.Get("Content-Type") != "text/event-stream" || h.Get("Cache-Control") != "no-cache" || h.Get("X-Accel-Buffering") != "no" {
		t.Errorf("%v", h)
	}
	all, err := io.ReadAll(r)
	if want := "retry: 2000\n\nid: 7\nevent: order\ndata: a\ndata: id: x\ndata: b\ndata: c\ndata: \n\ndata: \n\n"; err != nil || string(all) != want {
		t.Errorf("%q, %v\nwant %q", all, err, want)
	}
	if len(refused) != 4 || slices.Contains(refused, nil) {
		t.Errorf("%v", refused)
	}
}

// TestSSEReplay: a client that comes back gets what it missed, and is told when
// some of it is gone.
func TestSSEReplay(t *testing.T) {
	log := web.NewEventLog(3)
	for _, id := range []string{"1", "2", "3", "4"} {
		if err := log.Add(web.Event{ID: id, Data: "d" + id}); err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range []web.Event{{ID: "5\ndata: more"}, {ID: "5\x00"}, {ID: "5", Name: "a\rid: 9"}, {ID: "5", Data: strings.Repeat("x", 1<<20+1)}} {
		if err := log.Add(e); err == nil { // it would be replayed as fields that nobody sent
			t.Errorf("%.20q was kept", e)
		}
	}
	app := newApp(t, web.Options{})
	app.GET("/", func(c *web.Context) error {
		s, err := c.SSE(web.SSEOptions{Log: log})
		if err == nil && s.LastEventID() != c.Header("Last-Event-ID") {
			t.Errorf("%q", s.LastEventID())
		}
		return err
	})
	s := httptest.NewServer(app)
	defer s.Close()
	for last, want := range map[string]string{
		"":  ":\n\n",
		"4": ":\n\n",
		"2": "id: 3\ndata: d3\n\nid: 4\ndata: d4\n\n",
		"1": ": some events are no longer there\n\nid: 2\ndata: d2\n\nid: 3\ndata: d3\n\nid: 4\ndata: d4\n\n",
	} {
		r, _, done := stream(t, s.URL, last)
		if all, err := io.ReadAll(r); err != nil || string(all) != want {
			t.Errorf("after %q: %q, %v", last, all, err)
		}
		done()
	}
}

// TestSSEEndsBeforeTheMiddlewareGoesOn: what a middleware does with its writer when the handler has
// returned, no heartbeat can meet.
func TestSSEEndsBeforeTheMiddlewareGoesOn(t *testing.T) {
	app := newApp(t, web.Options{})
	var s *web.EventStream
	var late []error
	look := func(next web.Handler) web.Handler {
		return func(c *web.Context) error {
			defer func() { late = append(late, s.Send(web.Event{Data: "late"}), s.Context().Err()) }()
			return next(c)
		}
	}
	begin := func(c *web.Context) (err error) {
		s, err = c.SSE(web.SSEOptions{})
		return err
	}
	app.Use(look)
	app.GET("/", begin)
	app.GET("/panic", func(c *web.Context) error {
		if err := begin(c); err != nil {
			return err
		}
		panic("the stream has begun")
	})
	app.NotFound(begin)
	for _, target := range []string{"/", "/panic", "/none"} {
		late = nil
		w := httptest.NewRecorder()
		func() {
			defer func() { _ = recover() }() // the panic cuts the answer
			app.ServeHTTP(w, newRequest(t, http.MethodGet, target))
		}()
		if len(late) != 2 || !errors.Is(late[0], web.ErrStreamEnded) || late[1] == nil || w.Body.String() != ":\n\n" {
			t.Errorf("%s: %v, %q", target, late, w.Body)
		}
	}
}

// TestSSEHeartbeat: something comes though no event does, and a lost client ends
// the stream.
func TestSSEHeartbeat(t *testing.T) {
	app := newApp(t, web.Options{})
	ended := make(chan error, 1)
	const budget = time.Second
	app.GET("/", func(c *web.Context) error {
		s, err := c.SSE(web.SSEOptions{Heartbeat: 10 * time.Millisecond})
		if err != nil {
			return err
		}
		<-s.Context().Done()
		ended <- s.Send(web.Event{Data: "late"})
		return nil
	}, web.Budgets{Time: budget}) // which a stream takes itself out of
	s := httptest.NewServer(app)
	defer s.Close()
	r, _, done := stream(t, s.URL, "")
	for began := time.Now(); time.Since(began) < budget+budget/10; {
		if got := block(t, r); got != ":\n" {
			t.Fatalf("%q", got)
		}
	}
	done()
	if err := <-ended; !errors.Is(err, web.ErrStreamEnded) {
		t.Errorf("%v", err)
	}
}

// TestSSEDrain: the drain tells the client to come back and ends the stream, and
// nothing is cut.
func TestSSEDrain(t *testing.T) {
	app := newApp(t, web.Options{})
	app.GET("/", func(c *web.Context) error {
		s, err := c.SSE(web.SSEOptions{})
		if err != nil {
			return err
		}
		<-s.Context().Done()
		return nil
	})
	ln, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // loopback
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error, 1)
	server := &web.Server{App: app, DrainTimeout: 10 * time.Second, DrainIdle: 20 * time.Millisecond}
	go func() { result <- server.Serve(ctx, ln) }()
	r, _, done := stream(t, "http://"+ln.Addr().String(), "")
	defer done()
	block(t, r)
	cancel()
	if got := block(t, r); got != "retry: 1000\n" {
		t.Errorf("the last word: %q", got)
	}
	if rest, err := io.ReadAll(r); err != nil || len(rest) > 0 {
		t.Errorf("then %q, %v", rest, err)
	}
	if err := <-result; err != nil {
		t.Error(err)
	}
}
