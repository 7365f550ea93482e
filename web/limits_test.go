package web_test

import (
	"io"
	"strconv"
	"strings"
	"testing"

	"example.com/quire/web"
	"example.com/quire/web/webtest"
)

// TestDefaultLimits: what is one over a limit of the zero Options is a problem of the right status,
// and what is just at the limit is taken.
func TestDefaultLimits(t *testing.T) {
	app := newApp(t, web.Options{})
	app.POST("/body", func(c *web.Context) error { _, err := c.Body(); return err })
	app.POST("/json", func(c *web.Context) error { return c.BindJSON(new(any)) })
	app.POST("/xml", func(c *web.Context) error { return c.BindXML(new(struct{})) })
	app.POST("/form", func(c *web.Context) error { return c.BindForm(new(struct{})) })
	app.POST("/parts", func(c *web.Context) error {
		for p, err := range c.Parts() {
			if err != nil {
				return err
			}
			if _, err := io.Copy(io.Discard, p); err != nil {
				return err
			}
		}
		return nil
	})
	app.GET("/query", func(c *web.Context) error { return c.NoContent(204) })
	cookies := ""
	app.GET("/cookies", func(c *web.Context) error { cookies = c.Cookie("c64") + c.Cookie("c65"); return nil })

	const mib = 1 << 20
	repeat := strings.Repeat
	nested := func(n int) string { return repeat("[", n) + repeat("]", n) }
	elements := func(n int) string { return repeat("<a>", n) + repeat("</a>", n) }
	parts := func(n int) string { return multipartBody(repeatPair(n, `name="a"`, "1")...) }
	file := func(n int) string { return multipartBody(`name="f"; filename="f"`, repeat("x", n)) }
	for _, tt := range []struct {
		name, path, kind string
		at, over         string
		status           int
	}{
		{"body", "/body", "text/plain", repeat("x", mib), repeat("x", mib+1), 413},
		{"JSON", "/json", "application/json", `"` + repeat("x", mib-2) + `"`, `"` + repeat("x", mib-1) + `"`, 413},
		{"depth of JSON", "/json", "application/json", nested(64), nested(65), 400},
		{"values of JSON", "/json", "application/json", "[" + repeat("1,", 99_998) + "1]", "[" + repeat("1,", 99_999) + "1]", 400},
		{"XML", "/xml", "application/xml", "<a>" + repeat("x", mib-7) + "</a>", "<a>" + repeat("x", mib-6) + "</a>", 413},
		{"depth of XML", "/xml", "application/xml", elements(64), elements(65), 400},
		{"form", "/form", "application/x-www-form-urlencoded", "a=" + repeat("x", mib-2), "a=" + repeat("x", mib-1), 413},
		{"pairs of a form", "/form", "application/x-www-form-urlencoded", repeat("a=1&", 255) + "a=1", repeat("a=1&", 256) + "a=1", 400},
		{"parts", "/parts", multipartType, parts(128), parts(129), 413},
		{"bytes of a part", "/parts", multipartType, file(16 * mib), file(16*mib + 1), 413},
		{"multipart", "/parts", multipartType, parts(2), multipartBody(repeatPair(3, `name="f"`, repeat("x", 11*mib))...), 413},
	} {
		c := webtest.New(t, app)
		if r := c.Post(tt.path, tt.kind, tt.at); r.Status >= 300 {
			t.Errorf("%s, at the limit: %d %s", tt.name, r.Status, r.Text())
		}
		wantProblem(t, tt.name, c.Post(tt.path, tt.kind, tt.over), tt.status)
	}
	c := webtest.New(t, app)
	c.Get("/query?" + repeat("a=1&", 255) + "a=1").Want(204)
	wantProblem(t, "pairs of a query", c.Get("/query?"+repeat("a=1&", 256)+"a=1"), 400)
	var all []string
	for i := range 65 {
		all = append(all, "c"+strconv.Itoa(i+1)+"=v"+strconv.Itoa(i+1))
	}
	c.With("Cookie", strings.Join(all, "; ")).Get("/cookies").Want(200)
	if cookies != "v64" {
		t.Errorf("cookies 64 and 65: %q", cookies)
	}
}

// repeatPair is n times a head and a content of multipartBody.
func repeatPair(n int, head, content string) []string {
	var all []string
	for range n {
		all = append(all, head, content)
	}
	return all
}

// wantProblem checks that an answer is a problem that can be found in the log.
func wantProblem(t *testing.T, name string, r *webtest.Response, status int) {
	t.Helper()
	var p struct {
		Title, Instance string
		Status          int
	}
	if r.Status != status || r.Header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("%s: %d %s %.200s, want a problem of status %d", name, r.Status, r.Header.Get("Content-Type"), r.Text(), status)
		return
	}
	if r.JSON(&p); p.Status != status || p.Title == "" || p.Instance == "" || p.Instance != r.Header.Get("X-Request-Id") {
		t.Errorf("%s: %s", name, r.Text())
	}
}
