//go:build !race

package web_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"example.com/quire/web"
)

// TestLookupAllocations cannot run under the race detector, which allocates itself.
func TestLookupAllocations(t *testing.T) {
	app, err := web.New(web.Options{Logger: discard})
	if err != nil {
		t.Fatal(err)
	}
	nothing := func(c *web.Context) error { return c.NoContent(204) }
	app.GET("/static/page", nothing)
	app.GET("/u/new", nothing)
	app.GET("/u/{id}", func(c *web.Context) error { _ = c.Param("id"); return c.NoContent(204) })
	app.GET("/a/{b}/{c:int}/{d}.json", nothing)
	app.GET("/files/{path...}", nothing)
	app.GET("/files/x/y/", nothing)
	app.GET("/text", func(c *web.Context) error { return c.String(200, "hello") })
	for _, target := range []string{"GET /static/page", "GET /u/news", "GET /a/1/2/3.json", "GET /files/a/b", "GET /text", "HEAD /text", "PUT /u/news", "OPTIONS /u/new", "GET /nowhere"} {
		method, path, _ := strings.Cut(target, " ")
		r := httptest.NewRequestWithContext(t.Context(), method, path, nil)
		r.Header.Set("Accept", "*/*")
		w := &nullWriter{header: http.Header{}}
		got := testing.AllocsPerRun(500, func() {
			clear(w.header)
			app.ServeHTTP(w, r)
		})
		if got != 0 {
			t.Errorf("%s: %v allocations", target, got)
		}
	}
}

type nullWriter struct {
	header http.Header
	code   int
	n      int
}

func (w *nullWriter) Header() http.Header         { return w.header }
func (w *nullWriter) WriteHeader(code int)        { w.code = code }
func (w *nullWriter) Write(p []byte) (int, error) { w.n += len(p); return len(p), nil }

func (w *nullWriter) WriteString(s string) (int, error) { w.n += len(s); return len(s), nil }

// Reading a query builds no map.
func TestQueryAllocations(t *testing.T) {
	plain, err := web.New(web.Options{Logger: discard})
	if err != nil {
		t.Fatal(err)
	}
	plain.GET("/", func(c *web.Context) error {
		if c.Query("b") != "2" || c.Header("X-None") != "" {
			return errors.New("wrong value")
		}
		return c.NoContent(204)
	})
	r := httptest.NewRequestWithContext(t.Context(), "GET", "/?a=1&b=2", nil)
	w := &nullWriter{header: http.Header{}}
	if got := testing.AllocsPerRun(200, func() { clear(w.header); plain.ServeHTTP(w, r) }); got != 0 || w.code != 204 {
		t.Errorf("%v allocations, status %d: a map was built", got, w.code)
	}
}
