package frozen_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/quire/web/frozen"
)

// TestClientGoneIsSeen: an ordinary handler behind the lane learns that its client
// has left, also when a next request has been read ahead.
func TestClientGoneIsSeen(t *testing.T) {
	gone := make(chan error, 1)
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
		select {
		case <-r.Context().Done():
			gone <- r.Context().Err()
		case <-time.After(time.Minute):
			gone <- errors.New("not seen")
		}
	})
	addr := start(t, h, frozen.NewLane(frozen.LaneOptions{}, table(t)))
	c, err := net.Dial("tcp", addr) //nolint:noctx // loopback
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, "GET /small HTTP/1.1\r\nHost: x\r\n\r\nGET /wait HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(c).ReadString('\n'); err != nil || !strings.Contains(line, "200") {
		t.Fatalf("%q %v", line, err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestDrainEndsWhatWaits: answers say Connection: close, connections that wait end,
// and none of them is cut in the middle of an answer.
func TestDrainEndsWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tb := table(t)
		lane := frozen.NewLane(frozen.LaneOptions{Timeouts: frozen.Timeouts{Drain: 50 * time.Millisecond}}, tb)
		connect := serve(t, &http.Server{Handler: http.HandlerFunc(ordinary), ReadHeaderTimeout: 5 * time.Second}, lane)
		dial := func() (net.Conn, *bufio.Reader) {
			c := connect()
			return c, bufio.NewReader(c)
		}
		ask := func(c net.Conn, r *bufio.Reader) *http.Response {
			if _, err := io.WriteString(c, "GET /large HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			resp, err := http.ReadResponse(r, nil)
			if err != nil {
				t.Fatal(err)
			}
			n, err := io.Copy(io.Discard, resp.Body)
			if err = errors.Join(err, resp.Body.Close()); err != nil || n != 200_000 {
				t.Fatal(n, err)
			}
			return resp
		}
		idle, idleR := dial()
		last, lastR := dial()
		for _, resp := range []*http.Response{ask(idle, idleR), ask(last, lastR)} { //nolint:bodyclose // ask closes them
			if resp.Close {
				t.Error("closes before the drain")
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		done := make(chan error, 1)
		go func() { done <- lane.Drain(ctx) }()
		time.Sleep(10 * time.Millisecond)          //nolint:forbidigo // the clock of the bubble: the drain has begun
		if resp := ask(last, lastR); !resp.Close { //nolint:bodyclose // ask closes it
			t.Error("an answer during the drain does not say that it is the last")
		}
		if _, err := idleR.ReadByte(); !errors.Is(err, io.EOF) {
			t.Errorf("the connection that waits: %v", err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// TestSlowClientsEnd: a head that does not come, and a reader that does not read.
func TestSlowClientsEnd(t *testing.T) {
	tb := table(t)
	if err := tb.Put("/huge", build(t, frozen.EntrySpec{Body: make([]byte, 16<<20), Public: true})); err != nil {
		t.Fatal(err)
	}
	lane := frozen.NewLane(frozen.LaneOptions{Timeouts: frozen.Timeouts{Head: 100 * time.Millisecond, Write: 200 * time.Millisecond, Idle: 300 * time.Millisecond}}, tb)
	addr := start(t, http.HandlerFunc(ordinary), lane)
	for name, text := range map[string]string{"no byte": "", "half a head": "GET /small HTTP/1.1\r\nHo", "idle": "GET /small HTTP/1.1\r\nHost: x\r\n\r\n"} {
		c, err := net.Dial("tcp", addr) //nolint:noctx // loopback
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(c, text); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if _, err := io.Copy(io.Discard, c); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) && !strings.Contains(err.Error(), "reset") {
			t.Errorf("%s: %v", name, err)
		}
		if took := time.Since(began); took > 30*time.Second {
			t.Errorf("%s: ended after %v", name, took)
		}
		_ = c.Close() // it has ended
	}
	c, err := net.Dial("tcp", addr) //nolint:noctx // loopback
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }() // at the end of the test
	if _, err := io.WriteString(c, "GET /huge HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	time.Sleep(20 * time.Millisecond) //nolint:forbidigo // it is being sent
	if err := lane.Drain(ctx); err != nil {
		t.Errorf("a reader that does not read: %v", err)
	}
}

// TestOrdinaryTimeoutsCountFromTheMessage: what the lane took before does not
// count against the first ordinary request of a connection.
func TestOrdinaryTimeoutsCountFromTheMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tb := table(t)
		lane := frozen.NewLane(frozen.LaneOptions{}, tb)
		c := serve(t, &http.Server{Handler: http.HandlerFunc(ordinary), ReadHeaderTimeout: 300 * time.Millisecond, ReadTimeout: 300 * time.Millisecond}, lane)()
		r := bufio.NewReader(c)
		for i, text := range []string{"GET /small HTTP/1.1\r\nHost: x\r\n\r\n", "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhe"} {
			if _, err := io.WriteString(c, text); err != nil {
				t.Fatal(err)
			}
			if i == 1 {
				time.Sleep(100 * time.Millisecond) //nolint:forbidigo // the clock of the bubble: within the time of the message
				if _, err := io.WriteString(c, "llo"); err != nil {
					t.Fatal(err)
				}
			}
			resp, err := http.ReadResponse(r, nil)
			if err != nil {
				t.Fatalf("%d: %v", i, err)
			}
			body, err := io.ReadAll(resp.Body)
			if err = errors.Join(err, resp.Body.Close()); err != nil {
				t.Fatal(err)
			}
			if i == 1 && !strings.Contains(string(body), `"hello" <nil>`) {
				t.Errorf("%s", body)
			}
			time.Sleep(400 * time.Millisecond) //nolint:forbidigo // the clock of the bubble: longer than the server's time for a head
		}
	})
}

// TestFilesStillGoByTheKernel: the connection that net/http has takes ReadFrom.
func TestFilesStillGoByTheKernel(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, bytes.Repeat([]byte("x"), 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	lane := frozen.NewLane(frozen.LaneOptions{}, table(t))
	addr := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, name) }), lane)
	resp, err := http.Get("http://" + addr + "/file") //nolint:noctx // loopback
	if err != nil {
		t.Fatal(err)
	}
	n, err := io.Copy(io.Discard, resp.Body)
	if err = errors.Join(err, resp.Body.Close()); err != nil || n != 1<<20 {
		t.Error(n, err)
	}
}

// TestHTTP2GoesUp: a connection that begins HTTP/2 with prior knowledge is net/http's for good;
// the ends of its streams are told to the lane while others are read.
func TestHTTP2GoesUp(t *testing.T) {
	lane := frozen.NewLane(frozen.LaneOptions{}, frozen.NewTable(frozen.Limits{}))
	var p http.Protocols
	p.SetHTTP1(true)
	p.SetUnencryptedHTTP2(true)
	s := &http.Server{
		Protocols: &p, ConnState: lane.ConnState, ReadHeaderTimeout: time.Minute,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Proto+r.URL.Path) }), //nolint:gosec // read by no browser
	}
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = s.Serve(lane.Listener(ln)) }() // ends by Close
	t.Cleanup(func() { _ = s.Close() })            // what is left is not waited for
	var only http.Protocols
	only.SetUnencryptedHTTP2(true)
	tr := &http.Transport{Protocols: &only}
	t.Cleanup(tr.CloseIdleConnections)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for j := range 50 {
				path := fmt.Sprintf("/%d/%d", i, j)
				req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+ln.Addr().String()+path, http.NoBody)
				if err != nil {
					t.Error(err)
					return
				}
				resp, err := tr.RoundTrip(req)
				if err != nil {
					t.Error(err)
					return
				}
				b, err := io.ReadAll(resp.Body)
				_ = resp.Body.Close() // read
				if err != nil || string(b) != "HTTP/2.0"+path {
					t.Errorf("%q, %v", b, err)
				}
			}
		})
	}
	wg.Wait()
}
