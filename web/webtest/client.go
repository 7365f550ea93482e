// Package webtest is a test kit for Apps: a client that needs no network, and
// Conform, which checks what every App of package web has to keep. It is used
// from external test packages.
package webtest

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
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
	var src io.Reader
	if body != nil {
		src = bytes.NewReader(body)
	}
	r := httptest.NewRequestWithContext(c.t.Context(), method, target, src)
	maps.Copy(r.Header, c.header)
	if h := r.Header.Get("Host"); h != "" {
		r.Host = h
		r.Header.Del("Host")
	}
	w := httptest.NewRecorder()
	func() {
		defer func() {
			if p := recover(); p != nil {
				c.t.Helper()
				c.t.Fatalf("%s %s: the answer was cut: %v", method, target, p)
			}
		}()
		c.handler.ServeHTTP(w, r)
	}()
	return &Response{w.Code, w.Result().Header, w.Body.Bytes(), c.t}
}

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
