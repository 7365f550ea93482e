package webtest_test

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"example.com/quire/web"
	"example.com/quire/web/webtest"
)

func newApp(t *testing.T) *web.App {
	t.Helper()
	app, err := web.New(web.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return app
}

func TestClient(t *testing.T) {
	app := newApp(t)
	app.POST("/echo", func(c *web.Context) error {
		var v struct {
			A int `json:"a"`
		}
		if err := c.BindJSON(&v); err != nil {
			return err
		}
		return c.JSON(http.StatusOK, map[string]any{"a": v.A, "host": c.Request().Host, "x": c.Header("X-One")})
	})
	c := webtest.New(t, app).With("Host", "example.org").With("X-One", "1")
	var got struct {
		A       int
		Host, X string
	}
	if c.PostJSON("/echo", map[string]int{"a": 7}).Want(200).JSON(&got); got.A != 7 || got.Host != "example.org" || got.X != "1" {
		t.Errorf("got %+v", got)
	}
}

// recorder is a testing.TB that notes failures in place of failing.
type recorder struct {
	testing.TB
	failed []string
}

func (r *recorder) Helper() {}

func (r *recorder) Fatalf(format string, _ ...any) {
	r.failed = append(r.failed, format)
	panic(r)
}

// failures returns how the client failed the test.
func failures(t *testing.T, app *web.App, f func(*webtest.Client)) (failed []string) {
	t.Helper()
	r := &recorder{TB: t}
	defer func() {
		if p := recover(); p != nil && p != any(r) {
			panic(p)
		}
		failed = r.failed
	}()
	f(webtest.New(r, app))
	return nil
}

// TestClientFails: the client must be able to fail a test.
func TestClientFails(t *testing.T) {
	app := newApp(t)
	app.GET("/text", func(c *web.Context) error { return c.String(http.StatusOK, "no JSON") })
	app.GET("/cut", func(*web.Context) error { panic(http.ErrAbortHandler) })
	for want, f := range map[string]func(*webtest.Client){
		"status":  func(c *webtest.Client) { c.Get("/text").Want(404) },
		"no JSON": func(c *webtest.Client) { c.Get("/text").JSON(new(int)) },
		"was cut": func(c *webtest.Client) { c.Get("/cut") },
		"encode":  func(c *webtest.Client) { c.PostJSON("/text", func() {}) },
	} {
		if failed := failures(t, app, f); len(failed) != 1 || !strings.Contains(failed[0], want) {
			t.Errorf("%s: %q", want, failed)
		}
	}
}

func TestConform(t *testing.T) {
	app := newApp(t)
	app.GET("/", func(c *web.Context) error {
		return c.Content(web.Content{Type: "text/plain", ETag: `"x"`, Body: strings.NewReader("content")})
	})
	app.GET("/gone", func(*web.Context) error { return web.NewProblem(http.StatusGone, "", nil) })
	app.Any("/any", func(c *web.Context) error { return c.NoContent(http.StatusNoContent) })
	app.POST("/post", func(c *web.Context) error { return c.NoContent(http.StatusNoContent) })
	app.OPTIONS("/post", func(c *web.Context) error { return c.NoContent(http.StatusNoContent) })
	app.GET("/options", func(c *web.Context) error { return c.NoContent(http.StatusNoContent) })
	webtest.Conform(t, app)
}

// TestConformLeavesStreams: a stream that never ends is left after its first event, and one that
// lacks what every answer has fails.
func TestConformLeavesStreams(t *testing.T) {
	app := newApp(t)
	ended := 0
	app.GET("/events", func(c *web.Context) error {
		defer func() { ended++ }()
		s, err := c.SSE(web.SSEOptions{})
		for err == nil {
			err = s.Send(web.Event{Data: "again"})
		}
		return err
	})
	app.GET("/waiting", func(c *web.Context) error {
		defer func() { ended++ }()
		s, err := c.SSE(web.SSEOptions{})
		if err == nil {
			<-s.Context().Done()
		}
		return err
	})
	webtest.Conform(t, app)
	if ended != 2 {
		t.Errorf("%d streams ended, want 2", ended)
	}
}
