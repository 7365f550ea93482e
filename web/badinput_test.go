package web_test

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	"example.com/quire/web"
)

// logText is a log that the test reads while the server writes it.
type logText struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// TestPanicLeavesTheConnectionOpen: the client has a problem with the id under which the stack is
// logged, and its next request is answered on the same connection.
func TestPanicLeavesTheConnectionOpen(t *testing.T) {
	log := &logText{}
	app := newApp(t, web.Options{Logger: slog.New(slog.NewTextHandler(log, nil))})
	app.GET("/panic", func(*web.Context) error { panic("secret 17") })
	app.GET("/", func(c *web.Context) error { return c.String(200, "here") })
	r := start(t, &web.Server{App: app})
	c := dial(t, r.addr)
	c.send(t, "GET /panic HTTP/1.1\r\nHost: x\r\n\r\n")
	res, err := http.ReadResponse(c.answers, nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(res.Body)
	if err = errors.Join(err, res.Body.Close()); err != nil {
		t.Fatal(err)
	}
	id := res.Header.Get("X-Request-Id")
	if res.StatusCode != 500 || res.Close || res.Header.Get("Content-Type") != "application/problem+json" || id == "" || !strings.Contains(string(body), id) || strings.Contains(string(body), "secret 17") {
		t.Errorf("%d %v %s", res.StatusCode, res.Header, body)
	}
	if text := log.String(); !strings.Contains(text, "level=ERROR") || !strings.Contains(text, id) || !strings.Contains(text, "secret 17") || !strings.Contains(text, "badinput_test.go:") {
		t.Errorf("the log: %s", text)
	}
	c.send(t, plainGet)
	if next := c.answer(t); next.status != 200 {
		t.Errorf("the next request: %d", next.status)
	}
}

// TestHalfAnAnswerIsSeenAsSuch: what fails after it has begun its answer ends the connection, over
// HTTP/2 the stream, before the end of the body.
func TestHalfAnAnswerIsSeenAsSuch(t *testing.T) {
	app := newApp(t, web.Options{})
	failed := errors.New("failed half way")
	for path, length := range map[string]string{"/chunked": "", "/length": "100"} {
		app.GET(path, func(c *web.Context) error {
			if length != "" {
				c.Writer().Header().Set("Content-Length", length)
			}
			if _, err := io.WriteString(c.Writer(), "half"); err != nil {
				return err
			}
			if err := http.NewResponseController(c.Writer()).Flush(); err != nil {
				return err
			}
			return failed
		})
	}
	app.GET("/unflushed", func(c *web.Context) error {
		_, err := io.WriteString(c.Writer(), "half")
		return errors.Join(err, failed)
	})
	app.GET("/panics", func(c *web.Context) error {
		if err := c.String(200, "whole"); err != nil {
			return err
		}
		panic("after the answer")
	})
	r := start(t, &web.Server{App: app, H2C: true})
	h2 := new(http.Protocols)
	h2.SetUnencryptedHTTP2(true)
	for name, transport := range map[string]*http.Transport{"HTTP/1.1": {}, "HTTP/2": {Protocols: h2}} {
		r.client = &http.Client{Transport: transport}
		for _, path := range []string{"/chunked", "/length", "/unflushed", "/panics"} {
			if res, body, err := r.get(t, path); err == nil {
				t.Errorf("%s over %s looks whole: %d %q", path, name, res.status, body)
			}
		}
		transport.CloseIdleConnections()
	}
}

// TestWhatNetHTTPLetsPass holds the documentation of the package to what net/http does: the Server
// leaves the reading of messages to it.
func TestWhatNetHTTPLetsPass(t *testing.T) {
	app := newApp(t, web.Options{})
	app.POST("/", func(c *web.Context) error {
		body, err := c.Body()
		if err != nil {
			return err
		}
		return c.String(200, string(body)+"|"+c.Header("X-A")+"|"+c.Header("Content-Length"))
	})
	r := start(t, &web.Server{App: app})
	for name, tt := range map[string]struct{ message, want string }{
		"both lengths":  {"POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", "200 abc||"},
		"a folded line": {"POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-A: a\r\n  b\r\nContent-Length: 1\r\n\r\nz", "200 z|a b|1"},
		"bare LF":       {"POST / HTTP/1.1\nHost: x\nConnection: close\nX-A: a\nContent-Length: 1\n\nz", "200 z|a|1"},

		"two lengths":      {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nzz", "400 400 Bad Request"},
		"no host":          {"POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n", "400 400 Bad Request: missing required Host header"},
		"a space in names": {"POST / HTTP/1.1\r\nHost: x\r\nX-A : a\r\n\r\n", "400 400 Bad Request: invalid header name"},
		"another coding":   {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n", "501 Unsupported transfer encoding"},
		"a long head":      {"POST / HTTP/1.1\r\nHost: x\r\nX-A: " + strings.Repeat("a", 40<<10) + "\r\n\r\n", "431 431 Request Header Fields Too Large"},
	} {
		c := dial(t, r.addr)
		c.send(t, tt.message)
		res, err := http.ReadResponse(c.answers, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		body, err := io.ReadAll(res.Body)
		if err = errors.Join(err, res.Body.Close()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := res.Status[:4] + string(body); got != tt.want || !res.Close {
			t.Errorf("%s: %q, close %t, want %q", name, got, res.Close, tt.want)
		}
	}
}
