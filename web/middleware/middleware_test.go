package middleware_test

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/quire/web"
	"example.com/quire/web/middleware"
	"example.com/quire/web/webtest"
)

func newApp(t *testing.T, o web.Options, mw ...web.Middleware) *web.App {
	t.Helper()
	o.Logger, o.Poison = slog.New(slog.DiscardHandler), true
	app, err := web.New(o)
	if err != nil {
		t.Fatal(err)
	}
	app.Use(mw...)
	app.GET("/ok/{id}", func(c *web.Context) error { return c.String(200, c.RequestID()) })
	app.GET("/page", func(c *web.Context) error { return c.String(200, middleware.CSPNonce(c)) })
	app.GET("/fail", func(*web.Context) error { return errors.New("cause") })
	app.GET("/panic", func(*web.Context) error { panic("boom") })
	app.POST("/body", func(c *web.Context) error {
		b, err := c.Body()
		if err != nil {
			return err
		}
		return c.String(200, fmt.Sprintf("%d", len(b)))
	})
	return app
}

func must(t *testing.T) func(web.Middleware, error) web.Middleware {
	t.Helper()
	return func(m web.Middleware, err error) web.Middleware {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
}

func TestRecover(t *testing.T) {
	var out bytes.Buffer
	var told any
	outer := 0
	app := newApp(t, web.Options{}, func(next web.Handler) web.Handler {
		return func(c *web.Context) error {
			err := next(c)
			if errors.Is(err, middleware.ErrPanic) {
				outer++
			}
			return err
		}
	}, middleware.Recover(middleware.RecoverOptions{
		Logger: slog.New(slog.NewTextHandler(&out, nil)), OnPanic: func(_ *web.Context, v any, stack []byte) { told = fmt.Sprint(v, len(stack) > 0) },
	}))
	app.GET("/abort", func(*web.Context) error { panic(http.ErrAbortHandler) })
	c := webtest.New(t, app)
	if r := c.Get("/panic").Want(500); strings.Contains(r.Text(), "boom") {
		t.Errorf("the client sees %s", r.Text())
	}
	if outer != 1 || told != "boomtrue" && told != "boom true" || !strings.Contains(out.String(), "boom") || !strings.Contains(out.String(), "middleware_test.go") {
		t.Errorf("outer %d, told %v, log %s", outer, told, out.String())
	}
	c.Get("/ok/1").Want(200)
	defer func() {
		if err, ok := recover().(error); !ok || !errors.Is(err, http.ErrAbortHandler) {
			t.Errorf("ErrAbortHandler did not pass: %v", err)
		}
	}()
	app.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), "GET", "/abort", nil))
}

func TestAccessLog(t *testing.T) {
	var out bytes.Buffer
	mw := middleware.AccessLog(middleware.AccessLogOptions{
		Logger: slog.New(slog.NewJSONHandler(&out, nil)), Skip: []string{"/page", "/fail"},
		Attrs: func(*web.Context) []slog.Attr { return []slog.Attr{slog.String("more", "x")} },
	})
	app := newApp(t, web.Options{}, mw, func(next web.Handler) web.Handler {
		return func(c *web.Context) error { c.SetUser("ada"); return next(c) }
	})
	app.GET("/full", func(*web.Context) error { return web.NewProblem(503, "", web.ErrBusy) })
	c := webtest.New(t, app)
	for _, tt := range []struct {
		path, level, route string
		status, bytes      int
	}{
		{"/ok/secret?token=secret", "INFO", "/ok/{id}", 200, 26},
		{"/page", "", "", 200, 0},
		{"/none", "INFO", "", 404, -1},
		{"/fail", "ERROR", "/fail", 500, -1}, // skipped only while it works
		{"/full", "WARN", "/full", 503, -1},
		{"/panic", "ERROR", "/panic", 500, 0},
	} {
		out.Reset()
		r := c.Get(tt.path).Want(tt.status)
		if tt.level == "" {
			if out.Len() > 0 {
				t.Errorf("%s is logged: %s", tt.path, out.String())
			}
			continue
		}
		var rec struct {
			Level, Method, Route, Client, ID, User, More string
			Status, Bytes                                int
			Duration                                     *int64
		}
		if err := json.Unmarshal(out.Bytes(), &rec); err != nil {
			t.Fatalf("%s: %v in %s", tt.path, err, out.String())
		}
		if rec.Level != tt.level || rec.Route != tt.route || rec.Status != tt.status || (tt.bytes >= 0 && rec.Bytes != tt.bytes) ||
			rec.Client != "192.0.2.1" || rec.ID != r.Header.Get("X-Request-Id") || rec.User != "ada" || rec.More != "x" || rec.Method != "GET" || rec.Duration == nil {
			t.Errorf("%s: %s", tt.path, out.String())
		}
		if strings.Contains(out.String(), "secret") {
			t.Errorf("%s: the log shows the path's values: %s", tt.path, out.String())
		}
	}
}

// TestRefusalsAreCountedNotListed: the first of a burst is a record, then one record tells how many
// there were in each interval, by route and user; when it is over, the next is a first one again.
func TestRefusalsAreCountedNotListed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		mw := middleware.AccessLog(middleware.AccessLogOptions{Logger: slog.New(slog.NewTextHandler(&out, nil)), Refusals: time.Second})
		app := newApp(t, web.Options{}, mw, func(next web.Handler) web.Handler {
			return func(c *web.Context) error { c.SetUser(c.Query("user")); return next(c) }
		})
		full := web.NewProblem(503, "", web.ErrBusy)
		app.GET("/full", func(*web.Context) error { return full })
		app.POST("/full", func(*web.Context) error { return full })
		app.GET("/late", func(*web.Context) error { return web.NewProblem(503, "", nil) })
		c := webtest.New(t, app)
		lines := func() (all []string) {
			synctest.Wait()
			for line := range strings.Lines(out.String()) {
				_, line, _ = strings.Cut(strings.TrimSpace(line), " level=")
				line, _, _ = strings.Cut(line, " bytes=")
				all = append(all, line)
			}
			out.Reset()
			return all
		}
		want := func(what string, want ...string) {
			t.Helper()
			if got := lines(); !slices.Equal(got, want) {
				t.Errorf("%s: %q, want %q", what, got, want)
			}
		}
		const get = "WARN msg=request method=GET route=/full status=503"
		for range 100 {
			c.Get("/full?user=a").Want(503)
		}
		want("the first", get)
		c.Get("/full?user=b").Want(503)
		c.Do("POST", "/full?user=a", nil).Want(503)
		c.Get("/late").Want(503)
		c.Get("/late").Want(503)
		want("others", get, strings.Replace(get, "GET", "POST", 1), strings.Replace(get, "full", "late", 1), strings.Replace(get, "full", "late", 1))
		c.Do("POST", "/full?user=a", nil).Want(503)
		<-time.After(time.Second)
		want("a second later",
			`WARN msg="requests refused" method=GET route=/full status=503 count=99 within=1s user=a`,
			`WARN msg="requests refused" method=POST route=/full status=503 count=1 within=1s user=a`)
		for range 7 {
			c.Get("/full?user=a").Want(503)
		}
		<-time.After(time.Second)
		want("the burst goes on", `WARN msg="requests refused" method=GET route=/full status=503 count=7 within=1s user=a`)
		<-time.After(time.Second)
		want("it is over")
		c.Get("/full?user=a").Want(503)
		want("another", get)
		<-time.After(5 * time.Second)
		want("alone")
	})
}

func TestRequestID(t *testing.T) {
	mw := middleware.RequestID(middleware.RequestIDOptions{})
	app := newApp(t, web.Options{ClientIP: web.TrustedProxies("X-Forwarded-For", "192.0.2.1")}, mw)
	c := webtest.New(t, app)
	if r := c.Get("/ok/1"); len(r.Text()) != 36 || r.Text()[14] != '7' || r.Header.Get("X-Request-Id") != r.Text() {
		t.Errorf("got %q %v", r.Text(), r.Header)
	}
	if got := c.With("X-Request-Id", "from-proxy").Get("/ok/1").Text(); got != "from-proxy" {
		t.Errorf("the proxy's id: %q", got)
	}
	own := middleware.RequestID(middleware.RequestIDOptions{Generate: func() string { return "fixed" }})
	if got := webtest.New(t, newApp(t, web.Options{}, own)).With("X-Request-Id", "client").Get("/ok/1").Text(); got != "fixed" {
		t.Errorf("own generator: %q", got)
	}
}

// TestIDGenerators: each form is valid, of its length and never the same twice; one tells the time.
func TestIDGenerators(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // where it is midnight at the start of the year 2000
		for name, tt := range map[string]struct {
			make func() string
			form string
		}{
			"short": {middleware.ShortID, `^[a-z2-7]{26}$`},
			"v4":    {middleware.UUIDv4, `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`},
			"v7":    {middleware.UUIDv7, `^00dc6acf-ac00-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`},
		} {
			a, b := tt.make(), tt.make()
			if !regexp.MustCompile(tt.form).MatchString(a) || a == b || !web.ValidRequestID(a) {
				t.Errorf("%s: %q, %q", name, a, b)
			}
		}
	})
}

// TestBudgetsOfAGroup: body limit and time for all handlers inside.
func TestBudgetsOfAGroup(t *testing.T) {
	c := webtest.New(t, newApp(t, web.Options{}, web.Budgets{BodyBytes: 4}.Middleware()))
	c.Post("/body", "text/plain", "1234").Want(200)
	c.Post("/body", "text/plain", "12345").Want(413)
	synctest.Test(t, func(t *testing.T) {
		app := newApp(t, web.Options{}, web.Budgets{Time: time.Second}.Middleware())
		app.GET("/slow", func(c *web.Context) error { <-c.Context().Done(); return c.Context().Err() })
		c := webtest.New(t, app)
		start := time.Now()
		c.Get("/slow").Want(503)
		if got := time.Since(start); got != time.Second {
			t.Errorf("after %v, want 1 s", got)
		}
		c.Get("/ok/1").Want(200)
	})
}

func TestHosts(t *testing.T) {
	c := webtest.New(t, newApp(t, web.Options{}, must(t)(middleware.Hosts(middleware.HostsOptions{}))))
	for host, want := range map[string]int{
		"localhost": 200, "LOCALHOST:8080": 200, "127.0.0.1:1": 200, "[::1]:80": 200, "[::1]": 200, "localhost.": 200,
		"evil.example": 421, "localhost.evil.example": 421, "127.0.0.1.evil.example": 421, "127.0.0.2": 421, "": 421,
	} {
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/ok/1", nil)
		r.Host = host
		w := httptest.NewRecorder()
		newApp(t, web.Options{}, must(t)(middleware.Hosts(middleware.HostsOptions{}))).ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("%q: %d, want %d", host, w.Code, want)
		}
	}
	c.With("Host", "evil.example").Get("/none").Want(421) // the App's own answers too
	named := must(t)(middleware.Hosts(middleware.HostsOptions{Names: []string{"Docs.Example.com"}}))
	c = webtest.New(t, newApp(t, web.Options{}, named))
	c.With("Host", "docs.example.com:443").Get("/ok/1").Want(200)
	c.With("Host", "localhost").Get("/ok/1").Want(421)
	for _, bad := range []string{"", "a/b", "*"} {
		if _, err := middleware.Hosts(middleware.HostsOptions{Names: []string{bad}}); err == nil {
			t.Errorf("%q was taken as a name", bad)
		}
	}
}

func TestSecureHeaders(t *testing.T) {
	app := newApp(t, web.Options{}, must(t)(middleware.SecureHeaders(middleware.SecureHeadersOptions{})))
	r := webtest.New(t, app).Get("/page").Want(200)
	for name, want := range map[string]string{
		"Content-Security-Policy": "default-src 'none'; base-uri 'none'; connect-src 'self'; font-src 'self'; form-action 'self'; frame-ancestors 'none'; img-src 'self' data:; script-src 'self'; style-src 'self'",
		"Referrer-Policy":         "no-referrer", "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
		"X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff", "Strict-Transport-Security": "",
		"Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=()",
	} {
		if got := r.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	over := httptest.NewRequestWithContext(t.Context(), "GET", "/page", nil)
	over.TLS = &tls.ConnectionState{}
	w := httptest.NewRecorder()
	if app.ServeHTTP(w, over); w.Header().Get("Strict-Transport-Security") != "max-age=15552000" {
		t.Errorf("over TLS: %v", w.Header())
	}
	csp := middleware.StrictCSP()
	csp["frame-ancestors"] = []string{"https://intranet.example"}
	c := webtest.New(t, newApp(t, web.Options{}, must(t)(middleware.SecureHeaders(middleware.SecureHeadersOptions{CSP: csp, Nonce: true, HSTS: -1}))))
	a, b := c.Get("/page"), c.Get("/page")
	if a.Text() == "" || a.Text() == b.Text() || !strings.Contains(a.Header.Get("Content-Security-Policy"), "script-src 'self' 'nonce-"+a.Text()+"'") || a.Header.Get("X-Frame-Options") != "" {
		t.Errorf("nonce %q, then %q: %v", a.Text(), b.Text(), a.Header)
	}
	if len(csp["script-src"]) != 1 {
		t.Error("the policy of the program was changed")
	}
	for _, bad := range []middleware.SecureHeadersOptions{
		{CSP: middleware.CSP{"script src": {"'self'"}}}, {CSP: middleware.CSP{"": nil}}, {CSP: middleware.CSP{"script-src": {"'self'; default-src *"}}}, {CSP: middleware.CSP{"img-src": {""}}}, {ReferrerPolicy: "a\r\nb"},
	} {
		if _, err := middleware.SecureHeaders(bad); err == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
}

// TestStack runs all of them at once, as a program does (rule 25).
func TestStack(t *testing.T) {
	m := must(t)
	app := newApp(t, web.Options{},
		middleware.AccessLog(middleware.AccessLogOptions{Logger: slog.New(slog.DiscardHandler)}),
		m(middleware.Hosts(middleware.HostsOptions{Names: []string{"example.com"}})),
		m(middleware.SecureHeaders(middleware.SecureHeadersOptions{})),
		middleware.Recover(middleware.RecoverOptions{Logger: slog.New(slog.DiscardHandler)}),
		middleware.RequestID(middleware.RequestIDOptions{}),
		web.Budgets{BodyBytes: 1 << 20, Time: 30 * time.Second}.Middleware())
	webtest.Conform(t, app)
	c := webtest.New(t, app)
	c.Get("/panic").Want(500)
	if got := c.Post("/body", "text/plain", "123").Want(200).Text(); got != "3" {
		t.Errorf("body %q", got)
	}
}

func ExampleSecureHeaders() {
	headers, err := middleware.SecureHeaders(middleware.SecureHeadersOptions{})
	if err != nil {
		log.Fatal(err)
	}
	hosts, err := middleware.Hosts(middleware.HostsOptions{})
	if err != nil {
		log.Fatal(err)
	}
	app, err := web.New(web.Options{})
	if err != nil {
		log.Fatal(err)
	}
	app.Use(hosts, headers)
	app.GET("/", func(c *web.Context) error { return c.String(http.StatusOK, "hello") })
	r := httptest.NewRequest("GET", "/", nil) //nolint:noctx // an example of one line
	r.Host = "evil.example"
	w := httptest.NewRecorder()
	app.ServeHTTP(w, r)
	fmt.Println(w.Code)
	// Output: 421
}

func ExampleAccessLog() {
	accesslog := middleware.AccessLog(middleware.AccessLogOptions{Logger: slog.New(slog.DiscardHandler), Skip: []string{"/livez", "/readyz"}})
	app, err := web.New(web.Options{})
	if err != nil {
		log.Fatal(err)
	}
	app.Use(accesslog)
	fmt.Println(len(app.Routes()))
	// Output: 0
}
