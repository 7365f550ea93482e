package legacy_test

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/quire/web"
	"example.com/quire/web/legacy"
	"example.com/quire/web/middleware"
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

func TestJSONP(t *testing.T) {
	app := newApp(t)
	app.GET("/", func(c *web.Context) error {
		return legacy.JSONP(c, http.StatusOK, "callback", map[string]string{"a": "</script>\u2028é"})
	})
	app.GET("/bad", func(c *web.Context) error { return legacy.JSONP(c, http.StatusOK, "callback", func() {}) })
	c := webtest.New(t, app)
	r := c.Get("/?callback=jQuery_1.$done").Want(200)
	if r.Text() != `/**/jQuery_1.$done({"a":"\u003c/script\u003e\u2028é"});` {
		t.Errorf("%s", r.Text())
	}
	if r.Header.Get("Content-Type") != "text/javascript; charset=utf-8" || r.Header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%v", r.Header)
	}
	if r := c.Get("/").Want(200); r.Header.Get("Content-Type") != "application/json" {
		t.Errorf("without a callback: %v", r.Header)
	}
	for _, name := range []string{"alert(1)", "1a", "a%20b", "a;b", "a[0]", "%C3%A9", strings.Repeat("a", 129), "a%0Ab", "a%0A"} {
		if r := c.Get("/?callback=" + name); r.Status != 400 || !strings.Contains(r.Text(), `"name":"callback"`) {
			t.Errorf("%s: %d %s", name, r.Status, r.Text())
		}
	}
	c.Get("/?callback=" + strings.Repeat("a", 128)).Want(200)
	c.Get("/bad?callback=f").Want(500)
}

func TestSecureAndASCIIJSON(t *testing.T) {
	app := newApp(t)
	app.GET("/list", func(c *web.Context) error { return legacy.SecureJSON(c, http.StatusOK, "", []int{1, 2}) })
	app.GET("/own", func(c *web.Context) error { return legacy.SecureJSON(c, http.StatusOK, ")]}',\n", []int{1}) })
	app.GET("/object", func(c *web.Context) error { return legacy.SecureJSON(c, http.StatusOK, "", map[string]int{"a": 1}) })
	app.GET("/ascii", func(c *web.Context) error {
		return legacy.ASCIIJSON(c, http.StatusCreated, map[string]string{"é": "a\U0001F600語<\xff"})
	})
	app.GET("/bad1", func(c *web.Context) error { return legacy.SecureJSON(c, http.StatusOK, "", func() {}) })
	app.GET("/bad2", func(c *web.Context) error { return legacy.ASCIIJSON(c, http.StatusOK, func() {}) })
	c := webtest.New(t, app)
	for path, want := range map[string]string{
		"/list": "while(1);[1,2]", "/own": ")]}',\n[1]", "/object": `{"a":1}`, "/ascii": `{"\u00e9":"a\ud83d\ude00\u8a9e\u003c\ufffd"}`,
	} {
		if r := c.Get(path); r.Text() != want || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d %s %v", path, r.Status, r.Text(), r.Header)
		}
	}
	var back map[string]string
	c.Get("/ascii").Want(201).JSON(&back)
	if back["é"] != "a\U0001F600語<\uFFFD" {
		t.Errorf("read as %q", back)
	}
	c.Get("/bad1").Want(500)
	c.Get("/bad2").Want(500)
}

func TestPointOfSaleIDs(t *testing.T) {
	now := time.Date(2026, 2, 28, 23, 59, 59, 0, time.UTC)
	next, err := legacy.POS(legacy.POSOptions{Terminal: "T_1.a", Now: func() time.Time { return now }, Last: 41})
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		later time.Duration
		want  string
	}{
		{0, "20260228-T_1.a-000042"},
		{0, "20260228-T_1.a-000043"},
		{time.Second, "20260301-T_1.a-000001"},
		{-time.Hour, "20260301-T_1.a-000002"},
		{48 * time.Hour, "20260302-T_1.a-000001"},
	} {
		now = now.Add(step.later)
		if got := next(); got != step.want {
			t.Errorf("%s, want %s", got, step.want)
		}
	}
	now = time.Date(2026, 3, 3, 0, 0, 0, 0, time.UTC)
	var mu sync.Mutex
	var all sync.WaitGroup
	seen := map[string]bool{}
	for range 8 {
		all.Go(func() {
			for range 100 {
				id := next()
				mu.Lock()
				seen[id] = true
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if len(seen) != 800 {
		t.Errorf("%d different ids of 800", len(seen))
	}
	for _, bad := range []string{"", "a-b", "a b", "é", strings.Repeat("a", 65)} {
		_, err := legacy.POS(legacy.POSOptions{Terminal: bad})
		if _, ok := errors.AsType[*web.ConfigError](err); !ok {
			t.Errorf("terminal %q: %v", bad, err)
		}
	}
	app := newApp(t)
	app.Use(middleware.RequestID(middleware.RequestIDOptions{Generate: next}))
	app.GET("/", func(c *web.Context) error { return c.JSON(http.StatusOK, c.RequestID()) })
	r := webtest.New(t, app).Get("/").Want(200)
	var id string
	if err := json.Unmarshal(r.Body, &id); err != nil || !strings.HasPrefix(id, "20260303-T_1.a-") || r.Header.Get("X-Request-Id") != id {
		t.Errorf("%q %v %v", id, r.Header, err)
	}
}
