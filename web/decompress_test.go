package web_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"example.com/quire/web"
	"example.com/quire/web/webtest"
)

func gzipped(tb testing.TB, text string) string {
	tb.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, text); err != nil {
		tb.Fatal(err)
	}
	if err := z.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.String()
}

func serve(tb testing.TB, h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	tb.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestDecompressionIsBounded(t *testing.T) {
	app := newApp(t, web.Options{})
	length := func(c *web.Context) error {
		b, err := c.Body()
		if err != nil {
			return err
		}
		again, err := io.ReadAll(c.Request().Body)
		if err != nil {
			return err
		}
		if c.Header("Content-Encoding") != "" || c.Request().ContentLength != -1 || !bytes.Equal(b, again) {
			t.Errorf("%q, length %d, %d bytes and then %d", c.Header("Content-Encoding"), c.Request().ContentLength, len(b), len(again))
		}
		return c.JSON(http.StatusOK, len(b))
	}
	app.POST("/", length, web.Decompress())
	app.POST("/small", length, web.Decompress(), web.Budgets{BodyBytes: 1000})
	app.POST("/raw", func(c *web.Context) error {
		n, err := io.Copy(io.Discard, c.Request().Body)
		if err != nil {
			return err
		}
		return c.JSON(http.StatusOK, n)
	}, web.Decompress())
	app.POST("/json", func(c *web.Context) error {
		var v struct{ A int }
		if err := c.Bind(&v); err != nil {
			return err
		}
		return c.JSON(http.StatusOK, v.A)
	}, web.Decompress())
	app.POST("/off", length)
	group := app.Group("/group", web.Budgets{BodyBytes: 10}.Middleware())
	group.POST("/", length, web.Decompress())

	c := webtest.New(t, app)
	z := c.With("Content-Encoding", "gzip")
	mixed := gzipped(t, strings.Repeat("0123456789abcdef", 60_000)) // 960 KB of 2.5 KB or so: too much of it
	for _, tt := range []struct {
		path, body string
		status     int
		want       string
	}{
		{"/", gzipped(t, strings.Repeat("x", 60_000)), 200, "60000"},
		{"/", gzipped(t, "a") + gzipped(t, "b"), 200, "2"}, // several members (RFC 1952, section 2.2)
		{"/", mixed, 413, "Too Large"},
		{"/raw", mixed, 413, "Too Large"},
		{"/", gzipped(t, strings.Repeat("x", 2<<20)), 413, "Too Large"},
		{"/small", gzipped(t, strings.Repeat("x", 1000)), 200, "1000"},
		{"/small", gzipped(t, strings.Repeat("x", 1001)), 413, ""},
		{"/small", strings.Repeat(gzipped(t, ""), 100), 413, ""}, // much comes, nothing is in it
		{"/group/", gzipped(t, "ab"), 413, ""},
		{"/", "no gzip at all", 400, "a body in gzip"},
		{"/", gzipped(t, "abc")[:15], 400, ""},
		{"/", gzipped(t, "abc")[:10] + "\xff\xff\xff\xff\xff", 400, "a body in gzip"},
		{"/", gzipped(t, "abc") + "rubbish behind it", 400, "a body in gzip"},
		{"/off", gzipped(t, "abc"), 415, "no content coding"},
	} {
		r := z.Post(tt.path, "application/octet-stream", tt.body)
		if r.Status != tt.status || !strings.Contains(r.Text(), tt.want) {
			t.Errorf("%s %.20q: %d %s, want %d %s", tt.path, tt.body, r.Status, r.Text(), tt.status, tt.want)
		}
	}
	if got := z.Post("/json", "application/json", gzipped(t, `{"A":7}`)).Want(200).Text(); got != "7" {
		t.Errorf("bound %q", got)
	}
	if r := z.Post("/off", "text/plain", "x").Want(415); r.Header.Get("Accept-Encoding") != "identity" {
		t.Errorf("415 says %q", r.Header.Get("Accept-Encoding"))
	}
	if r := c.With("Content-Encoding", "br").Post("/", "text/plain", "x").Want(415); r.Header.Get("Accept-Encoding") != "gzip" {
		t.Errorf("415 says %q", r.Header.Get("Accept-Encoding"))
	}
	if f := app.Audit(); len(f) != 5 || !strings.Contains(f[0].Danger, "unpacked") {
		t.Errorf("findings: %v", f)
	}
}

// FuzzDecompress: whatever comes, what it unpacks to stays in its limits.
func FuzzDecompress(f *testing.F) {
	f.Add([]byte(gzipped(f, "text")))
	f.Add([]byte(gzipped(f, strings.Repeat("x", 300_000))))
	f.Add([]byte("\x1f\x8b\x08\x00"))
	app := newApp(f, web.Options{Limits: web.Limits{Body: 128 << 10}})
	app.POST("/", func(c *web.Context) error {
		b, err := c.Body()
		if err != nil {
			return err
		}
		return c.JSON(http.StatusOK, len(b))
	}, web.Decompress())
	f.Fuzz(func(t *testing.T, body []byte) {
		r := newRequest(t, "POST", "/")
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		r.Header.Set("Content-Encoding", "gzip")
		if w := serve(t, app, r); w.Code != 200 && w.Code != 400 && w.Code != 413 || len(w.Body.String()) > 400 {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
}
