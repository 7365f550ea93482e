package middleware_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"example.com/quire/web"
	"example.com/quire/web/middleware"
	"example.com/quire/web/webtest"
)

// tagged is an App whose handlers answer in every way that matters to ETag.
func tagged(t *testing.T, o middleware.ETagOptions) *web.App {
	t.Helper()
	app := newApp(t, web.Options{}, must(t)(middleware.ETag(o)))
	text := func(s string) web.Handler { return func(c *web.Context) error { return c.String(200, s) } }
	with := func(name, value string) web.Handler {
		return func(c *web.Context) error {
			c.Writer().Header().Set(name, value)
			return c.String(200, "hello")
		}
	}
	app.GET("/text", func(c *web.Context) error {
		h := c.Writer().Header()
		h.Set("Set-Cookie", "a=b")
		h.Set("Vary", "Accept-Language")
		h.Set("Cache-Control", "max-age=5")
		h.Set("Content-Language", "en")
		return c.String(200, "hello")
	})
	app.POST("/text", text("hello"))
	app.GET("/at-cap", text(strings.Repeat("x", 100)))
	app.GET("/above", text(strings.Repeat("x", 101)))
	app.GET("/own", with("ETag", `"own"`))
	app.GET("/no-store", with("Cache-Control", "private, no-store"))
	app.GET("/part", with("Content-Range", "bytes 0-4/9"))
	app.GET("/trailer", with("Trailer", "X-Sum"))
	app.GET("/events", func(c *web.Context) error {
		c.Writer().Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		_, err := io.WriteString(c.Writer(), "hello")
		return err
	})
	app.GET("/content", func(c *web.Context) error {
		return c.Content(web.Content{Body: strings.NewReader("hello")})
	})
	app.GET("/empty", func(c *web.Context) error { c.Writer().WriteHeader(200); return nil })
	app.GET("/nothing", func(*web.Context) error { return nil })
	app.GET("/created", func(c *web.Context) error { return c.String(201, "hello") })
	app.GET("/pieces", func(c *web.Context) error {
		for range 30 {
			if _, err := io.WriteString(c.Writer(), "hello"); err != nil {
				return err
			}
		}
		return nil
	})
	copied := func(n int) web.Handler {
		return func(c *web.Context) error {
			_, err := io.Copy(c.Writer(), io.LimitReader(strings.NewReader(strings.Repeat("y", n)), 1000))
			return err
		}
	}
	app.GET("/copied", copied(50))
	app.GET("/copied-long", copied(500))
	app.GET("/flushed", func(c *web.Context) error {
		if _, err := io.WriteString(c.Writer(), "hel"); err != nil {
			return err
		}
		if err := http.NewResponseController(c.Writer()).Flush(); err != nil {
			return err
		}
		_, err := io.WriteString(c.Writer(), "lo")
		return err
	})
	app.GET("/late-error", func(c *web.Context) error {
		if err := c.String(200, "hello"); err != nil {
			return err
		}
		return errors.New("cause")
	})
	app.GET("/std-error", func(c *web.Context) error {
		_, _ = io.WriteString(c.Writer(), "hello")
		http.Error(c.Writer(), "no", http.StatusBadGateway)
		return nil
	})
	app.GET("/late-panic", func(c *web.Context) error {
		_ = c.String(200, "hello")
		panic("boom")
	})
	return app
}

// helloTag is of SHA-256("hello") in base64url, its first 22 characters.
const helloTag = `"LPJNul-wow4m6Dsqxbninh"`

// TestETag is row 35 and what is tagged at all: a body beyond the cap is not held
// back, 304 is for GET and HEAD, and Set-Cookie and Vary stay.
func TestETag(t *testing.T) {
	c := webtest.New(t, tagged(t, middleware.ETagOptions{MaxBytes: 100}))
	for _, tt := range []struct {
		method, path string
		header       string // name: value
		status       int
		tag, body    string
	}{
		{"GET", "/text", "", 200, "W/", "hello"},
		{"HEAD", "/text", "", 200, "W/", ""},
		{"POST", "/text", "", 200, "", "hello"},
		{"GET", "/text", "If-None-Match: W/" + helloTag, 304, "W/", ""},
		{"GET", "/text", "If-None-Match: " + helloTag, 304, "W/", ""},
		{"GET", "/text", `If-None-Match: "x", W/` + helloTag, 304, "W/", ""},
		{"GET", "/text", "If-None-Match: *", 304, "W/", ""},
		{"HEAD", "/text", "If-None-Match: W/" + helloTag, 304, "W/", ""},
		{"POST", "/text", "If-None-Match: W/" + helloTag, 200, "", "hello"},
		{"GET", "/text", `If-None-Match: W/"x"`, 200, "W/", "hello"},
		{"GET", "/text", "If-Match: *", 200, "W/", "hello"},
		{"GET", "/text", "If-Match: W/" + helloTag, 412, "", "-"}, // a weak tag never matches there
		{"GET", "/at-cap", "", 200, "W/", strings.Repeat("x", 100)},
		{"GET", "/above", "", 200, "", strings.Repeat("x", 101)},
		{"GET", "/pieces", "", 200, "", strings.Repeat("hello", 30)},
		{"GET", "/copied", "", 200, "W/", strings.Repeat("y", 50)},
		{"GET", "/copied-long", "", 200, "", strings.Repeat("y", 500)},
		{"GET", "/own", "If-None-Match: " + helloTag, 200, `"own"`, "hello"},
		{"GET", "/no-store", "", 200, "", "hello"},
		{"GET", "/part", "", 200, "", "hello"},
		{"GET", "/trailer", "", 200, "", "hello"},
		{"GET", "/events", "", 200, "", "hello"},
		{"GET", "/content", "", 200, "W/", "hello"},
		{"GET", "/content", "Range: bytes=1-2", 206, "", "el"},
		{"HEAD", "/content", "", 200, "", ""}, // the handler leaves the body away
		{"GET", "/empty", "", 200, "", ""},
		{"GET", "/nothing", "", 200, "", ""},
		{"GET", "/created", "", 201, "", "hello"},
		{"GET", "/flushed", "If-None-Match: W/" + helloTag, 200, "", "hello"},
		{"GET", "/none", "", 404, "", "-"},
		{"GET", "/late-error", "", 500, "", "-"},
		{"GET", "/std-error", "", 502, "", "no\n"},
		{"GET", "/late-panic", "", 500, "", "-"},
	} {
		ask := c
		if name, value, ok := strings.Cut(tt.header, ": "); ok {
			ask = c.With(name, value)
		}
		r := ask.Do(tt.method, tt.path, nil)
		tag := r.Header.Get("Etag")
		if r.Status != tt.status || (tag == "") != (tt.tag == "") || !strings.HasPrefix(tag, tt.tag) || tt.body != "-" && r.Text() != tt.body {
			t.Errorf("%s %s %s: %d %q %v", tt.method, tt.path, tt.header, r.Status, r.Text(), r.Header)
		}
		if tt.body == "hello" && tt.tag == "W/" && tag != "W/"+helloTag {
			t.Errorf("%s: %s", tt.path, tag)
		}
		if tt.path == "/text" && tt.method != "POST" && tt.status != 412 {
			if r.Header.Get("Set-Cookie") != "a=b" || r.Header.Get("Vary") != "Accept-Language" || r.Header.Get("Cache-Control") != "max-age=5" {
				t.Errorf("%s %s %s: %v", tt.method, tt.path, tt.header, r.Header)
			}
			if of := r.Header.Get("Content-Length") + r.Header.Get("Content-Language"); tt.status == 304 && of+r.Header.Get("Content-Type") != "" || tt.status == 200 && of != "5en" {
				t.Errorf("%s %s %s: %v", tt.method, tt.path, tt.header, r.Header)
			}
		}
	}
	if tag := webtest.New(t, tagged(t, middleware.ETagOptions{Strong: true})).With("If-Match", helloTag).Get("/text").Want(200).Header.Get("Etag"); tag != helloTag {
		t.Errorf("strong: %s", tag)
	}
	if _, err := middleware.ETag(middleware.ETagOptions{MaxBytes: -1}); err == nil {
		t.Error("-1 bytes were taken")
	}
	webtest.Conform(t, newApp(t, web.Options{}, must(t)(middleware.ETag(middleware.ETagOptions{}))))
}

// TestETagHoldsNoStreamBack: what is flushed or beyond the cap is at the client
// before the handler ends.
func TestETagHoldsNoStreamBack(t *testing.T) {
	release := make(chan struct{})
	app := newApp(t, web.Options{}, must(t)(middleware.ETag(middleware.ETagOptions{MaxBytes: 10})))
	app.GET("/flush", func(c *web.Context) error {
		_, _ = io.WriteString(c.Writer(), "hello")
		err := http.NewResponseController(c.Writer()).Flush()
		<-release
		return err
	})
	app.GET("/long", func(c *web.Context) error {
		_, err := c.Writer().Write(make([]byte, 1<<20))
		<-release
		return err
	})
	srv := httptest.NewServer(app)
	defer srv.Close()
	defer close(release) // before Close, which waits for the handlers
	for _, path := range []string{"/flush", "/long"} {
		ctx, cancel := context.WithCancel(t.Context())
		r, err := http.NewRequestWithContext(ctx, "GET", srv.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := srv.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(resp.Body, make([]byte, 5)); err != nil || resp.Header.Get("Etag") != "" {
			t.Errorf("%s: %v %v", path, err, resp.Header)
		}
		_ = resp.Body.Close()
		cancel()
	}
}

func ExampleETag() {
	etag, err := middleware.ETag(middleware.ETagOptions{})
	if err != nil {
		log.Fatal(err)
	}
	app, err := web.New(web.Options{})
	if err != nil {
		log.Fatal(err)
	}
	app.Use(etag)
	app.GET("/", func(c *web.Context) error { return c.String(http.StatusOK, "hello") })
	r := httptest.NewRequest("GET", "/", nil) //nolint:noctx // an example of one line
	for range 2 {
		w := httptest.NewRecorder()
		app.ServeHTTP(w, r)
		fmt.Println(w.Code, w.Header().Get("ETag"))
		r.Header.Set("If-None-Match", w.Header().Get("ETag"))
	}
	// Output:
	// 200 W/"LPJNul-wow4m6Dsqxbninh"
	// 304 W/"LPJNul-wow4m6Dsqxbninh"
}
