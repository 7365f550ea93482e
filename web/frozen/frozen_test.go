package frozen_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"example.com/quire/web/frozen"
)

var modified = time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)

func gz(tb testing.TB, body []byte) []byte {
	tb.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(body); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func build(tb testing.TB, spec frozen.EntrySpec) *frozen.Entry {
	tb.Helper()
	e, err := frozen.Build(spec)
	if err != nil {
		tb.Fatal(err)
	}
	return e
}

// table has entries of every kind.
func table(tb testing.TB) *frozen.Table {
	tb.Helper()
	text := []byte(strings.Repeat("a line of text\n", 100))
	js := http.Header{"Content-Type": {"application/json"}, "Cache-Control": {"max-age=60"}}
	entries := frozen.NewTable(frozen.Limits{})
	for target, e := range map[string]*frozen.Entry{
		"/small":   build(tb, frozen.EntrySpec{Header: js, Body: []byte(`{"a":1}`), Public: true}),
		"/empty":   build(tb, frozen.EntrySpec{Header: js, Public: true}),
		"/private": build(tb, frozen.EntrySpec{Header: js, Body: []byte("for nobody signed in"), LastModified: modified}),
		"/text?v=1": build(tb, frozen.EntrySpec{
			Header: http.Header{"Content-Type": {"text/plain; charset=utf-8"}, "Vary": {"Origin"}, "X-A": {"1", "2"}}, Body: text, LastModified: modified, ETag: `"text"`, Public: true,
			Encodings: []frozen.Encoding{{"gzip", gz(tb, text)}, {"zstd", []byte("zstd stands here")}, {"br", []byte("brotli")}},
		}),
		"/large": build(tb, frozen.EntrySpec{Header: http.Header{"Content-Type": {"application/pdf"}}, Body: bytes.Repeat([]byte("0123456789"), 20_000), Public: true}),
		"/gone":  build(tb, frozen.EntrySpec{Status: 410, Header: js, Body: []byte("gone"), Public: true}),
	} {
		if err := entries.Put(target, e); err != nil {
			tb.Fatal(err)
		}
	}
	return entries
}

// ordinary is the handler that answers what no entry does.
func ordinary(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	w.Header().Set("X-Ordinary", "1")
	w.Header().Set("Content-Type", "text/plain")
	_, _ = fmt.Fprintf(w, "%s %s %s %q %v", r.Method, r.RequestURI, r.Host, body, err) //nolint:gosec // text/plain to a test
}

// start runs an http.Server with the lane, or without one.
func start(tb testing.TB, h http.Handler, lane *frozen.Lane) string {
	tb.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // loopback
	if err != nil {
		tb.Fatal(err)
	}
	s := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 5 * time.Second, IdleTimeout: 5 * time.Second, ErrorLog: nil}
	if lane != nil {
		s.ConnState = lane.ConnState
		go func() { _ = s.Serve(lane.Listener(ln)) }() // ends by Close
	} else {
		go func() { _ = s.Serve(ln) }() // as above
	}
	tb.Cleanup(func() { _ = s.Close() }) // what is left is not waited for
	return ln.Addr().String()
}

// pipes is a listener in memory, whose connections keep to the clock of a synctest bubble.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error { p.once.Do(func() { close(p.done) }); return nil }
func (p *pipes) Addr() net.Addr {
	return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}
}

// serve has s serve the lane in memory until the test ends, and returns what connects to it.
func serve(t *testing.T, s *http.Server, lane *frozen.Lane) (dial func() net.Conn) {
	t.Helper()
	p := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
	s.ConnState = lane.ConnState
	go func() { _ = s.Serve(lane.Listener(p)) }() // ends by Close
	t.Cleanup(func() { _ = s.Close() })           // what is left is not waited for
	return func() net.Conn {
		client, server := net.Pipe()
		t.Cleanup(func() { _ = client.Close() }) // at the end of the test
		p.conns <- server
		return client
	}
}

// talk sends text, in pieces of n bytes when n > 0, and returns all that comes
// until the connection ends.
func talk(tb testing.TB, addr, text string, n int) string {
	tb.Helper()
	c, err := net.Dial("tcp", addr) //nolint:noctx // loopback
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = c.Close() }() // it has ended
	if n <= 0 {
		n = len(text)
	}
	for piece := range slices.Chunk([]byte(text), max(n, 1)) {
		if _, err := c.Write(piece); err != nil {
			break // the server has refused what came before
		}
		if n < len(text) {
			time.Sleep(200 * time.Microsecond) //nolint:forbidigo // a network that delivers in pieces
		}
	}
	_ = c.(*net.TCPConn).CloseWrite() //nolint:forcetypeassert // what Dial of tcp returns
	_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
	all, _ := io.ReadAll(c) // a reset ends it too
	return string(all)
}

// answers cuts a stream of answers into status, fields without Date, and body.
func answers(text string, methods []string) []string {
	var out []string
	r := bufio.NewReader(strings.NewReader(text))
	for i := 0; ; i++ {
		method := "GET"
		if i < len(methods) {
			method = methods[i]
		}
		resp, err := http.ReadResponse(r, &http.Request{Method: method})
		if err != nil {
			rest, _ := io.ReadAll(r)
			if len(rest) > 0 {
				out = append(out, "rest "+string(rest))
			}
			return out
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close() // of a string
		if resp.Header.Get("Date") != "" {
			resp.Header.Set("Date", "now")
		}
		if len(body) > 200 {
			body = fmt.Appendf(nil, "%d bytes %x", len(body), body[:8])
		}
		if kind := resp.Header.Get("Content-Type"); strings.HasPrefix(kind, "multipart/byteranges") { // by a boundary that is never the same
			resp.Header.Set("Content-Type", "multipart/byteranges")
			body = nil
		}
		var fields []string
		for _, k := range slices.Sorted(maps.Keys(resp.Header)) {
			fields = append(fields, fmt.Sprintf("%s: %q", k, resp.Header[k]))
		}
		out = append(out, fmt.Sprintf("%d %d %v %s %v %s %v", resp.StatusCode, resp.ContentLength, resp.TransferEncoding, strings.Join(fields, "; "), resp.Close, body, err))
	}
}

// normal is a stream of answers with the fields of each in order and without Date.
// Bodies are not told from what follows, so it needs no methods.
func normal(text string) []string {
	var out []string
	for part := range strings.SplitSeq(text, "HTTP/1.1 ") {
		head, body, _ := strings.Cut(part, "\r\n\r\n")
		lines := strings.Split(head, "\r\n")
		lines = slices.DeleteFunc(lines, func(l string) bool { return strings.HasPrefix(l, "Date: ") })
		slices.Sort(lines[min(1, len(lines)):])
		if len(body) > 200 {
			body = fmt.Sprintf("%d bytes %.8q", len(body), body)
		}
		out = append(out, strings.Join(lines, "|")+"||"+body)
	}
	return out
}

// TestLaneEqualsHandler: each answer of the lane is that of Handler through
// net/http, field for field.
func TestLaneEqualsHandler(t *testing.T) {
	tb := table(t)
	h := frozen.Handler(http.HandlerFunc(ordinary), tb)
	var served atomic.Int64
	lane := frozen.NewLane(frozen.LaneOptions{OnServed: func(frozen.Served) { served.Add(1) }}, tb)
	with, without := start(t, h, lane), start(t, h, nil)
	tag := func(target string) string {
		e, _ := tb.Find([]byte(target))
		return e.ETag()
	}
	for _, tt := range []struct {
		request string // method, target and fields
		lane    bool   // answered there
	}{
		{"GET /small", true},
		{"HEAD /small", true},
		{"GET /empty", true},
		{"GET /large", true},
		{"HEAD /large", true},
		{"GET /gone", true},
		{"GET /gone|If-None-Match: *", true},
		{"GET /text?v=1", true},
		{"GET /text?v=1|Accept-Encoding: gzip", true},
		{"GET /text?v=1|Accept-Encoding: gzip, deflate, br, zstd", true},
		{"GET /text?v=1|Accept-Encoding: br;q=0.5, gzip;q=0.9, *;q=0", true},
		{"HEAD /text?v=1|Accept-Encoding: br", true},
		{"GET /text?v=1|Accept-Encoding: identity;q=0.1, gzip;q=0", true},
		{"GET /text?v=1|Accept-Encoding:", true},
		{"GET /text?v=1|Accept-Encoding: identity;q=0", false},
		{"GET /text?v=1|Accept-Encoding: deflate, *;q=0", false},
		{"GET /text?v=1|Accept-Encoding: gzip|Accept-Encoding: br", false},
		{`GET /text?v=1|If-None-Match: "text"`, true},
		{`GET /text?v=1|If-None-Match: W/"text"`, true},
		{`GET /text?v=1|If-None-Match: "x", "text"`, true},
		{`GET /text?v=1|If-None-Match: *`, true},
		{`GET /text?v=1|If-None-Match: "text-gz"|Accept-Encoding: gzip`, true},
		{`GET /text?v=1|If-None-Match: "text"|Accept-Encoding: gzip`, true},
		{`HEAD /text?v=1|If-None-Match: "text"`, true},
		{`GET /text?v=1|If-None-Match: "a|If-None-Match: "text"`, false},
		{`GET /text?v=1|If-None-Match:`, true},
		{"GET /text?v=1|If-Modified-Since: Thu, 29 Feb 2024 12:00:00 GMT", true},
		{"GET /text?v=1|If-Modified-Since: Thu, 29 Feb 2024 11:59:59 GMT", true},
		{"GET /text?v=1|If-Modified-Since: now", true},
		{`GET /text?v=1|If-Modified-Since: Thu, 29 Feb 2024 12:00:00 GMT|If-None-Match: "x"`, true},
		{"GET /small|If-None-Match: " + tag("/small"), true},
		{"GET /text?v=1|If-Match: \"x\"", false},
		{"GET /text?v=1|Range: bytes=0-3", false},
		{"GET /text?v=1|Range: bytes=0-3,5-6", false},
		{"GET /text?v=1|Range: bytes=99999-", false},
		{`GET /text?v=1|Range: bytes=0-3|If-Range: "text"`, false},
		{`GET /text?v=1|Range: bytes=0-3|If-Range: "x"`, false},
		{`GET /text?v=1|Range: bytes=0-3|If-None-Match: "text"`, false},
		{"GET /small|Origin: https://x", false},
		{"GET /small|Cookie: a=b", true},
		{"GET /private|Cookie: a=b", false},
		{"GET /private|authorization: x", false},
		{"GET /private", true},
		{"GET /small|X-Unknown: 1", false},
		{"GET /small|Sec-Fetch-Site: cross-site|User-Agent: x|X-Forwarded-For: 1.2.3.4", true},
		{"POST /small|Content-Length: 2", false},
		{"GET /none", false},
		{"OPTIONS *", false},
		{"GET http://x/small", false},
		{"GET /small|Connection: keep-alive", true},
		{"GET /small|Connection: close", true},
		{"GET /small?", false},
	} {
		lines := strings.Split(tt.request, "|")
		text := lines[0] + " HTTP/1.1\r\nHost: x\r\n" + strings.Join(append(lines[1:], ""), "\r\n") + "\r\n"
		if strings.HasPrefix(text, "POST") {
			text += "{}"
		}
		methods := []string{strings.Fields(text)[0]}
		before := served.Load()
		got, want := answers(talk(t, with, text, 0), methods), answers(talk(t, without, text, 0), methods)
		if !slices.Equal(got, want) || len(got) != 1 {
			t.Errorf("%s:\n with %q\n without %q", tt.request, got, want)
		}
		if by := served.Load() > before; by != tt.lane {
			t.Errorf("%s: answered by the lane %v, want %v", tt.request, by, tt.lane)
		}
	}
}

// TestPipelinedMixKeepsItsOrder: frozen and ordinary answers of one connection
// come in the order of the requests, however the bytes arrive.
func TestPipelinedMixKeepsItsOrder(t *testing.T) {
	tb := table(t)
	h := frozen.Handler(http.HandlerFunc(ordinary), tb)
	addr := start(t, h, frozen.NewLane(frozen.LaneOptions{}, tb))
	plain := start(t, h, nil)
	text := ""
	for range 3 {
		text += "GET /small HTTP/1.1\r\nHost: x\r\n\r\nGET /one HTTP/1.1\r\nHost: x\r\n\r\nPOST /two HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhelloGET /gone HTTP/1.1\r\nHost: x\r\n\r\nGET /large HTTP/1.1\r\nHost: x\r\n\r\n"
	}
	want := answers(talk(t, plain, text, 0), nil)
	if len(want) != 15 {
		t.Fatalf("%d answers without the lane", len(want))
	}
	for _, n := range []int{0, 1, 7, 64, 333} {
		if got := answers(talk(t, addr, text, n), nil); !slices.Equal(got, want) {
			t.Errorf("in pieces of %d:\n%q\nwant\n%q", n, got, want)
		}
	}
}

// heads are requests for the differential test and the fuzzer's seeds.
var heads = []string{
	"GET /small HTTP/1.1\r\nHost: x\r\n\r\n",
	"GET /small HTTP/1.1\nHost: x\n\n",
	"GET /small HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n",
	"GET /small HTTP/1.1\r\n\r\n",
	"GET /small HTTP/1.0\r\n\r\n",
	"GET /small HTTP/1.1\r\nHost: x\r\n folded\r\n\r\n",
	"GET /small HTTP/1.1\r\nHost: x\r\nA : b\r\n\r\n",
	"GET /small HTTP/1.1\r\nHost: x\r\nA\x00: b\r\n\r\n",
	"GET /small HTTP/1.1\r\nHost: x y\r\n\r\n",
	"GET  /small HTTP/1.1\r\nHost: x\r\n\r\n",
	"GET /sm all HTTP/1.1\r\nHost: x\r\n\r\n",
	"GET /small%zz HTTP/1.1\r\nHost: x\r\n\r\n",
	"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabcGET /small HTTP/1.1\r\nHost: x\r\n\r\n",
	"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabcGET /small HTTP/1.1\r\nHost: x\r\n\r\n",
	"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: +3\r\n\r\nabcGET /small HTTP/1.1\r\nHost: x\r\n\r\n",
	"POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\nGET /small HTTP/1.1\r\nHost: x\r\n\r\n",
	"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /small HTTP/1.1\r\nHost: x\r\n\r\n",
	"POST /a HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc",
	"GET /small HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabcGET /gone HTTP/1.1\r\nHost: x\r\n\r\n",
	"GET /small HTTP/1.1\r\nHost: x\r\n\r\nGARBAGE\r\n\r\n",
	"GET /small HTTP/1.1\r\nHost: x\r\n\r\nGET /sm",
	"\r\nGET /small HTTP/1.1\r\nHost: x\r\n\r\n",
	"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
	"GET /small HTTP/1.1\r\nHost: x\r\nA: " + strings.Repeat("b", 5000) + "\r\n\r\n",
	"GET /small HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\nGET /small HTTP/1.1\r\nHost: x\r\n\r\n",
	"CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n",
	"get /small HTTP/1.1\r\nHost: x\r\n\r\n",
	"GET /small HTTP/1.1\r\nHost:\r\n\r\n",
	"GET /small HTTP/1.1\r\nHost: x\r\nAccept: \xff\r\n\r\n",
	"GET /small HTTP/1.1\r\nHost: x\r\nA: b\rc\r\n\r\n",
	"HEAD /large HTTP/1.1\r\nHost: x\r\n\r\nGET /large HTTP/1.1\r\nHost: x\r\n\r\n",
	"",
}

// TestBadHeadsAreJudgedByNetHTTP: whatever the bytes and however they are split,
// answers and end are those of net/http without the lane.
func TestBadHeadsAreJudgedByNetHTTP(t *testing.T) {
	tb := table(t)
	h := frozen.Handler(http.HandlerFunc(ordinary), tb)
	with, without := start(t, h, frozen.NewLane(frozen.LaneOptions{}, tb)), start(t, h, nil)
	for _, text := range heads {
		want := normal(talk(t, without, text, 0))
		for _, n := range []int{0, 1, 5} {
			if n == 1 && len(text) > 1000 {
				continue
			}
			if got := normal(talk(t, with, text, n)); !slices.Equal(got, want) {
				t.Errorf("%.80q in pieces of %d:\n with %q\n without %q", text, n, got, want)
			}
		}
	}
}

// FuzzLane is the same on bytes that nobody thought of.
func FuzzLane(f *testing.F) {
	for _, s := range heads {
		f.Add(s, 0)
		f.Add(s+heads[0], 3)
	}
	tb := table(f)
	h := frozen.Handler(http.HandlerFunc(ordinary), tb)
	with, without := start(f, h, frozen.NewLane(frozen.LaneOptions{}, tb)), start(f, h, nil)
	f.Fuzz(func(t *testing.T, text string, n int) {
		if len(text) > 8<<10 {
			return
		}
		if n < 0 || n > 0 && len(text)/n > 200 {
			n = 0
		}
		got, want := normal(talk(t, with, text, n)), normal(talk(t, without, text, 0))
		if !slices.Equal(got, want) {
			t.Errorf("%q in pieces of %d:\n with %q\n without %q", text, n, got, want)
		}
	})
}

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

// TestChangesHoldForTheNextRequest on a connection that is open already.
func TestChangesHoldForTheNextRequest(t *testing.T) {
	tb := table(t)
	addr := start(t, http.HandlerFunc(ordinary), frozen.NewLane(frozen.LaneOptions{}, tb))
	c, err := net.Dial("tcp", addr) //nolint:noctx // loopback
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }() // at the end of the test
	r := bufio.NewReader(c)
	ask := func() string {
		if _, err := io.WriteString(c, "GET /small HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
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
		return string(body)
	}
	if got := ask(); got != `{"a":1}` {
		t.Fatal(got)
	}
	tb.Delete("/small")
	if got := ask(); !strings.HasPrefix(got, "GET /small") {
		t.Errorf("after Delete: %s", got)
	}
	if err := tb.Replace(map[string]*frozen.Entry{"/small": build(t, frozen.EntrySpec{Body: []byte("new"), Public: true})}); err != nil {
		t.Fatal(err)
	}
	if got := ask(); got != "new" {
		t.Errorf("after Replace: %s", got)
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

// TestHostsAndAdmit: requests for other hosts and of other peers go up.
func TestHostsAndAdmit(t *testing.T) {
	tb := table(t)
	hosts := start(t, http.HandlerFunc(ordinary), frozen.NewLane(frozen.LaneOptions{Hosts: []string{"Docs.Example"}, AllowHeaders: []string{"X-Mine", "Range"}}, tb))
	for host, want := range map[string]bool{"docs.example": true, "DOCS.example:8080": true, "docs.example.": true, "evil.example": false, "docs.example.evil": false, "[::1]:80": false} {
		got := talk(t, hosts, "GET /small HTTP/1.1\r\nHost: "+host+"\r\nX-Mine: 1\r\nConnection: close\r\n\r\n", 0)
		if strings.Contains(got, "X-Ordinary") == want {
			t.Errorf("%s: %s", host, got)
		}
	}
	if got := talk(t, hosts, "GET /small HTTP/1.1\r\nHost: docs.example\r\nRange: bytes=0-1\r\n\r\n", 0); !strings.Contains(got, "X-Ordinary") {
		t.Errorf("Range was allowed: %s", got)
	}
	var asked atomic.Int64
	no := start(t, http.HandlerFunc(ordinary), frozen.NewLane(frozen.LaneOptions{Admit: func(a netip.Addr) bool { asked.Add(1); return !a.IsLoopback() }}, tb))
	if got := talk(t, no, heads[0]+heads[0], 0); strings.Count(got, "X-Ordinary") != 2 || asked.Load() != 1 {
		t.Errorf("asked %d times: %s", asked.Load(), got)
	}
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

// TestHandlerOverTLSAndHTTP2 gives the same entries where no lane can stand.
func TestHandlerOverTLSAndHTTP2(t *testing.T) {
	s := httptest.NewUnstartedServer(frozen.Handler(http.HandlerFunc(ordinary), table(t)))
	s.EnableHTTP2 = true
	s.StartTLS()
	defer s.Close()
	for target, want := range map[string]string{"/small": `{"a":1}`, "/none": "GET /none"} {
		resp, err := s.Client().Get(s.URL + target) //nolint:noctx // loopback
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if err = errors.Join(err, resp.Body.Close()); err != nil || resp.ProtoMajor != 2 || !strings.HasPrefix(string(body), want) {
			t.Errorf("%s: %s %s, %v", target, resp.Proto, body, err)
		}
	}
}

// TestBuildRefuses what can stand in no stored reply.
func TestBuildRefuses(t *testing.T) {
	for name, spec := range map[string]frozen.EntrySpec{
		"line break": {Header: http.Header{"X-A": {"a\r\nb"}}}, "NUL": {Header: http.Header{"X-A": {"\x00"}}}, "name": {Header: http.Header{"X A": {"a"}}}, "space at an end": {Header: http.Header{"X-A": {" a"}}},
		"cookie": {Header: http.Header{"Set-Cookie": {"a=b"}}}, "of a hop": {Header: http.Header{"connection": {"close"}}}, "length": {Header: http.Header{"Content-Length": {"1"}}}, "date": {Header: http.Header{"Date": {"x"}}},
		"weak tag": {ETag: `W/"a"`}, "tag": {ETag: "a"}, "status": {Status: 304}, "no status": {Status: 1000}, "body": {Body: make([]byte, frozen.MaxBody+1)},
		"coding": {Encodings: []frozen.Encoding{{"deflate", nil}}}, "coding twice": {Header: http.Header{"Content-Type": {"text/css"}}, Body: make([]byte, 1000), Encodings: []frozen.Encoding{{"gzip", []byte("a")}, {"gzip", []byte("b")}}},
	} {
		if _, err := frozen.Build(spec); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	body := bytes.Repeat([]byte("a"), 1000)
	for name, spec := range map[string]frozen.EntrySpec{
		"small": {Header: http.Header{"Content-Type": {"text/css"}}, Body: body[:511], Encodings: []frozen.Encoding{{"gzip", []byte("a")}}},
		"type":  {Header: http.Header{"Content-Type": {"image/png"}}, Body: body, Encodings: []frozen.Encoding{{"gzip", []byte("a")}}},
		"gain":  {Header: http.Header{"Content-Type": {"text/css"}}, Body: body, Encodings: []frozen.Encoding{{"gzip", body[:901]}}},
	} {
		r := httptest.NewRequest("GET", "/", nil) //nolint:noctx // a recorder
		r.Header.Set("Accept-Encoding", "gzip")
		tb := frozen.NewTable(frozen.Limits{})
		if err := tb.Put("/", build(t, spec)); err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		frozen.Handler(http.NotFoundHandler(), tb).ServeHTTP(w, r)
		if w.Code != 200 || w.Header().Get("Content-Encoding") != "" || w.Header().Get("Vary") != "" {
			t.Errorf("%s: %d %v", name, w.Code, w.Header())
		}
	}
}

// TestTableLimits: what has no room changes nothing.
func TestTableLimits(t *testing.T) {
	tb := frozen.NewTable(frozen.Limits{Entries: 2, Bytes: 4000})
	e := build(t, frozen.EntrySpec{Body: make([]byte, 500)})
	for i, want := range []error{nil, nil, frozen.ErrTableFull} {
		if err := tb.Put("/"+strconv.Itoa(i), e); !errors.Is(err, want) {
			t.Errorf("%d: %v, want %v", i, err, want)
		}
	}
	if err := tb.Put("/1", build(t, frozen.EntrySpec{Body: make([]byte, 4000)})); !errors.Is(err, frozen.ErrTableFull) {
		t.Errorf("bytes: %v", err)
	}
	if s := tb.Stats(); s.Entries != 2 || s.Bytes <= 0 {
		t.Errorf("%+v", s)
	}
	tb.Delete("/0")
	tb.Delete("/none")
	tb.Delete("/1")
	if s := tb.Stats(); s != (frozen.Stats{}) {
		t.Errorf("empty: %+v", s)
	}
	for _, bad := range []string{"", "x", "*", "http://x/", "/é", "/a b", "/%zz", "/" + strings.Repeat("a", 3000)} {
		if err := tb.Put(bad, e); err == nil {
			t.Errorf("%q was taken", bad)
		}
		if err := tb.Replace(map[string]*frozen.Entry{bad: e}); err == nil {
			t.Errorf("%q was taken by Replace", bad)
		}
	}
}

// TestEntryBinary: an entry read back gives the same answers.
func TestEntryBinary(t *testing.T) {
	tb := table(t)
	for _, target := range []string{"/small", "/empty", "/private", "/text?v=1", "/large", "/gone"} {
		e, _ := tb.Find([]byte(target))
		b, err := e.AppendBinary([]byte("x"))
		if err != nil {
			t.Fatal(err)
		}
		var again frozen.Entry
		if err := again.UnmarshalBinary(b[1:]); err != nil {
			t.Fatalf("%s: %v", target, err)
		}
		if again.Size() != e.Size() || again.ETag() != e.ETag() {
			t.Errorf("%s: size %d, %d; tag %s, %s", target, again.Size(), e.Size(), again.ETag(), e.ETag())
		}
		if b2, err := again.AppendBinary([]byte("x")); err != nil || !bytes.Equal(b, b2) {
			t.Errorf("%s: written again it differs: %v", target, err)
		}
		for i := 1; i < min(len(b), 300); i++ {
			if err := new(frozen.Entry).UnmarshalBinary(b[1:i]); err == nil {
				t.Errorf("%s: %d bytes of %d were taken", target, i, len(b))
			}
		}
	}
}

func FuzzEntryBinary(f *testing.F) {
	for _, spec := range []frozen.EntrySpec{{}, {Status: 404, Body: []byte("x"), Public: true, LastModified: modified, Header: http.Header{"A": {"b", "c"}}}} {
		b, err := build(f, spec).AppendBinary(nil)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var e frozen.Entry
		if e.UnmarshalBinary(b) != nil {
			return
		}
		again, err := e.AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := new(frozen.Entry).UnmarshalBinary(again); err != nil {
			t.Fatalf("%x: written again it is not read: %v", b, err)
		}
	})
}

func ExampleLane() {
	table := frozen.NewTable(frozen.Limits{})
	entry, err := frozen.Build(frozen.EntrySpec{Header: http.Header{"Content-Type": {"text/plain"}}, Body: []byte("hello\n"), Public: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := table.Put("/hello", entry); err != nil {
		fmt.Println(err)
		return
	}
	lane := frozen.NewLane(frozen.LaneOptions{}, table)
	ln, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // an example
	if err != nil {
		fmt.Println(err)
		return
	}
	server := &http.Server{Handler: frozen.Handler(http.NotFoundHandler(), table), ConnState: lane.ConnState, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = server.Serve(lane.Listener(ln)) }()              // ends by Close
	resp, err := http.Get("http://" + ln.Addr().String() + "/hello") //nolint:noctx // an example
	if err != nil {
		fmt.Println(err)
		return
	}
	body, err := io.ReadAll(resp.Body)
	fmt.Printf("%s%v\n", body, errors.Join(err, resp.Body.Close(), server.Close()))
	// Output:
	// hello
	// <nil>
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
