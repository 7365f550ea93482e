package web_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/quire/web"
	"example.com/quire/web/webtest"
)

// upper is a middleware's writer that hides everything but Unwrap.
type upper struct{ http.ResponseWriter }

func (u upper) Write(p []byte) (int, error) { return u.ResponseWriter.Write(bytes.ToUpper(p)) }
func (u upper) Unwrap() http.ResponseWriter { return u.ResponseWriter }

// TestWriterOverTheNetwork is W5: files, Flush and Hijack through the writers.
func TestWriterOverTheNetwork(t *testing.T) {
	dir := t.TempDir()
	big := strings.Repeat("0123456789abcdef", 50_000)
	if err := os.WriteFile(filepath.Join(dir, "big.txt"), []byte(big), 0o600); err != nil {
		t.Fatal(err)
	}
	app := newApp(t, web.Options{})
	app.Static("/f", os.DirFS(dir), web.StaticOptions{})
	app.GET("/timed", func(c *web.Context) error { return c.File(os.DirFS(dir), "big.txt") }, web.Budgets{Time: 1 << 40})
	app.GET("/counted", func(c *web.Context) error { return c.File(os.DirFS(dir), "big.txt") }, web.Budgets{ResponseBytes: 1 << 30})
	wrapped := app.Group("/w", func(next web.Handler) web.Handler {
		return func(c *web.Context) error {
			c.SetWriter(upper{c.Writer()})
			c.SetRequest(c.Request().WithContext(c.Context()))
			return next(c)
		}
	})
	wrapped.GET("/flush", func(c *web.Context) error {
		return c.Stream("text/plain", func(w io.Writer) error {
			if _, err := io.WriteString(w, "ab"); err != nil {
				return err
			}
			if f, ok := w.(interface{ Flush() error }); !ok || f.Flush() != nil {
				return errors.New("no flush")
			}
			return nil
		})
	})
	app.GET("/upgrade", func(c *web.Context) error {
		conn, rw, err := http.NewResponseController(c.Writer()).Hijack()
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close() }()
		if _, err := c.Writer().Write([]byte("x")); !errors.Is(err, http.ErrHijacked) {
			t.Errorf("write after hijack: %v", err)
		}
		if err := http.NewResponseController(c.Writer()).Flush(); !errors.Is(err, http.ErrHijacked) {
			t.Errorf("flush after hijack: %v", err)
		}
		if _, err := rw.WriteString("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nraw"); err != nil {
			return err
		}
		return errors.Join(rw.Flush(), errors.New("only logged"))
	})
	app.GET("/info", func(c *web.Context) error {
		c.Writer().WriteHeader(http.StatusEarlyHints)
		if c.Status() != 200 {
			t.Errorf("an informational answer is taken for the answer: %d", c.Status())
		}
		if err := c.NoContent(204); err != nil {
			return err
		}
		if _, err := c.Writer().Write([]byte("x")); !errors.Is(err, http.ErrBodyNotAllowed) {
			t.Errorf("a body on 204: %v", err)
		}
		return nil
	})
	r := start(t, &web.Server{App: app})
	for path, want := range map[string]string{"/f/big.txt": big, "/timed": big, "/counted": big, "/w/flush": "AB", "/upgrade": "raw", "/info": ""} {
		if res, body, err := r.get(t, path); err != nil || body != want || res.status/100 != 2 {
			t.Errorf("%s: %+v, %d bytes, %v", path, res, len(body), err)
		}
	}
}

// TestFlushCommits: what is flushed is out, for GET and HEAD.
func TestFlushCommits(t *testing.T) {
	app := newApp(t, web.Options{})
	app.GET("/", func(c *web.Context) error {
		f, ok := c.Writer().(http.Flusher)
		if !ok {
			return errors.New("no Flusher")
		}
		f.Flush()
		_, err := io.WriteString(c.Writer(), "later")
		return err
	})
	c := webtest.New(t, app)
	if got := c.Get("/").Want(200).Text(); got != "later" {
		t.Errorf("GET %q", got)
	}
	if r := c.Do("HEAD", "/", nil).Want(200); r.Header.Get("Content-Length") != "" || len(r.Body) > 0 {
		t.Errorf("HEAD %v", r.Header)
	}
}

// TestBodyIsGivenBack: a request that is served twice has one limit around it.
func TestBodyIsGivenBack(t *testing.T) {
	app := newApp(t, web.Options{})
	app.POST("/", func(c *web.Context) error { return c.Request().Body.Close() })
	r := newRequest(t, "POST", "/")
	own := io.NopCloser(strings.NewReader("x"))
	r.Body, r.ContentLength = own, 1
	if _, aborted := cut(t, app, r); aborted || r.Body != own {
		t.Errorf("the body is %T", r.Body)
	}
}

func TestGroupPrefixWithConstraint(t *testing.T) {
	app := newApp(t, web.Options{})
	app.NotFound(func(c *web.Context) error { return c.String(404, "app") })
	g := app.Group("/n/{id:int}")
	g.NotFound(func(c *web.Context) error { return c.String(404, "group") })
	var reg web.Registrar = g
	if _, err := reg.TryHandle("GET", "/x", echo("id")); err != nil || reg.App() != app || app.App() != app {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"/n/7/x": "/n/{id:int}/x id=7", "/n/7/none": "group", "/n/a/none": "app", "/n": "app"} {
		if _, got, _ := ask(app, "GET", path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// kernelWriter is a server's writer that notes what it could send from inside the kernel.
type kernelWriter struct {
	*httptest.ResponseRecorder
	files int64
}

func (w *kernelWriter) ReadFrom(src io.Reader) (int64, error) {
	n, err := io.Copy(w.ResponseRecorder, src)
	if part, ok := src.(*io.LimitedReader); ok {
		if _, ok := part.R.(*os.File); ok {
			w.files += n
		}
	}
	return n, err
}

func TestFilesAreHandedToTheServerUnderBudgets(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f.txt"), bytes.Repeat([]byte("x"), 600<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	app := newApp(t, web.Options{})
	serve := func(c *web.Context) error { return c.File(os.DirFS(dir), "f.txt") }
	app.GET("/plain", serve)
	app.GET("/timed", serve, web.Budgets{Time: time.Hour})
	app.GET("/counted", serve, web.Budgets{ResponseBytes: 600 << 10})
	app.GET("/both", serve, web.Budgets{Time: time.Hour, ResponseBytes: 1 << 20})
	for _, path := range []string{"/plain", "/timed", "/counted", "/both"} {
		w := &kernelWriter{ResponseRecorder: httptest.NewRecorder()}
		app.ServeHTTP(w, newRequest(t, "GET", path))
		if w.Code != 200 || w.files != 600<<10 || w.Body.Len() != 600<<10 {
			t.Errorf("%s: %d, %d of %d bytes as a file", path, w.Code, w.files, w.Body.Len())
		}
	}
	app.GET("/over", serve, web.Budgets{ResponseBytes: 599 << 10})
	w := &kernelWriter{ResponseRecorder: httptest.NewRecorder()}
	func() {
		defer func() {
			if p := recover(); p != http.ErrAbortHandler { //nolint:errorlint // a panic's value
				t.Errorf("an answer over its budget: %v", p)
			}
		}()
		app.ServeHTTP(w, newRequest(t, "GET", "/over"))
	}()
	if n := w.Body.Len(); n > 599<<10 {
		t.Errorf("%d bytes got past a budget of %d", n, 599<<10)
	}
}
