package frozen_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
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
	s := &http.Server{Handler: h, ReadHeaderTimeout: 30 * time.Second, ReadTimeout: 30 * time.Second, IdleTimeout: 30 * time.Second, ErrorLog: nil}
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
