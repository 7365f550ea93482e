// Package webtest is a test kit for Apps: a client that needs no network, and Conform, which checks
// the rules that every App of package web must follow. It is used from external test packages.
package webtest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Client sends requests to a handler in the same process.
type Client struct {
	t       testing.TB
	handler http.Handler
	header  http.Header
}

// New makes a client. Its requests end with the test.
func New(tb testing.TB, h http.Handler) *Client {
	tb.Helper()
	return &Client{t: tb, handler: h, header: http.Header{}}
}

// With returns a client that adds a header to every request.
func (c *Client) With(name, value string) *Client {
	n := &Client{c.t, c.handler, c.header.Clone()}
	n.header.Add(name, value)
	return n
}

// Response is an answer, read whole.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
	t      testing.TB
}

// Get sends GET.
func (c *Client) Get(target string) *Response {
	c.t.Helper()
	return c.Do(http.MethodGet, target, nil)
}

// Post sends POST with a body of a media type.
func (c *Client) Post(target, contentType, body string) *Response {
	c.t.Helper()
	return c.With("Content-Type", contentType).Do(http.MethodPost, target, []byte(body))
}

// PostJSON sends POST with v as JSON.
func (c *Client) PostJSON(target string, v any) *Response {
	c.t.Helper()
	body, err := json.Marshal(v)
	if err != nil {
		c.t.Fatalf("encode %T: %v", v, err)
	}
	return c.Post(target, "application/json", string(body))
}

// Do sends a request. The target is a path or a URL with a host. An aborted
// answer fails the test.
func (c *Client) Do(method, target string, body []byte) *Response {
	c.t.Helper()
	w := httptest.NewRecorder()
	if p := c.send(c.t.Context(), w, method, target, body); p != nil {
		c.t.Fatalf("%s %s: the answer was cut: %v", method, target, p)
	}
	return &Response{w.Code, w.Result().Header, w.Body.Bytes(), c.t}
}

// send has the handler answer, and returns what it panicked with.
func (c *Client) send(ctx context.Context, w http.ResponseWriter, method, target string, body []byte) (cut any) {
	var src io.Reader
	if body != nil {
		src = bytes.NewReader(body)
	}
	r := httptest.NewRequestWithContext(ctx, method, target, src)
	maps.Copy(r.Header, c.header)
	if h := r.Header.Get("Host"); h != "" {
		r.Host = h
		r.Header.Del("Host")
	}
	defer func() { cut = recover() }()
	c.handler.ServeHTTP(w, r)
	return nil
}

// first is Get, but of a stream of server-sent events it reads the first block, which may be a
// comment, and leaves.
func (c *Client) first(target string) (r *Response, stream bool) {
	c.t.Helper()
	ctx, leave := context.WithTimeout(c.t.Context(), patience)
	defer leave()
	w := &leaver{ResponseRecorder: httptest.NewRecorder(), leave: leave}
	cut := c.send(ctx, w, http.MethodGet, target, nil)
	if cut != nil && !w.left {
		c.t.Fatalf("GET %s: the answer was cut: %v", target, cut)
	}
	return &Response{w.Code, w.Result().Header, w.Body.Bytes(), c.t}, w.left
}

// leaver is a client that leaves after the first block of a stream.
type leaver struct {
	*httptest.ResponseRecorder
	leave context.CancelFunc
	left  bool
}

func (l *leaver) Write(p []byte) (int, error) {
	if l.left {
		return 0, net.ErrClosed
	}
	n, err := l.ResponseRecorder.Write(p)
	kind, _, _ := strings.Cut(l.Header().Get("Content-Type"), ";")
	if kind == "text/event-stream" && bytes.Contains(l.Body.Bytes(), []byte("\n\n")) {
		l.left = true
		l.leave()
	}
	return n, err
}

// WriteString implements io.StringWriter, which the recorder would otherwise do by itself.
func (l *leaver) WriteString(s string) (int, error) { return l.Write([]byte(s)) }

// JSON decodes the body into v, or fails the test.
func (r *Response) JSON(v any) {
	r.t.Helper()
	if err := json.Unmarshal(r.Body, v); err != nil {
		r.t.Fatalf("answer is no JSON for %T: %v\n%s", v, err, r.Body)
	}
}

// Text returns the body as text.
func (r *Response) Text() string { return string(r.Body) }

// Want fails the test unless the status is code.
func (r *Response) Want(code int) *Response {
	r.t.Helper()
	if r.Status != code {
		r.t.Fatalf("status %d, want %d\n%s", r.Status, code, r.Body)
	}
	return r
}
