package web_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/quire/web"
	"example.com/quire/web/webtest"
)

func TestContextValues(t *testing.T) {
	app := newApp(t, web.Options{Limits: web.Limits{Cookies: 2}})
	one, two := web.NewKey[string]("name"), web.NewKey[string]("name")
	app.Use(func(next web.Handler) web.Handler {
		return func(c *web.Context) error {
			one.Set(c, "a")
			one.Set(c, "b")
			c.SetUser("ada")
			return next(c)
		}
	})
	app.GET("/{id}", func(c *web.Context) error {
		if v, ok := one.Get(c); !ok || v != "b" || one.String() != "name" {
			t.Errorf("key: %q %v", v, ok)
		}
		if v, ok := two.Get(c); ok {
			t.Errorf("another key of the same name: %q", v)
		}
		if c.User() != "ada" || c.App() != app || c.Route().Info().Pattern != "/{id}" || c.Param("none") != "" {
			t.Errorf("user %q, route %v", c.User(), c.Route().Info())
		}
		if _, err := c.ParamInt("none"); err == nil {
			t.Error("a parameter that is not there is a number")
		}
		n, err := c.ParamInt("id")
		if err != nil {
			return err
		}
		for _, ck := range []http.Cookie{
			{Name: "s", Value: "v", SameSite: http.SameSiteNoneMode},        //nolint:gosec // SetCookie has to make it safe
			{Name: "strict", Value: "v", SameSite: http.SameSiteStrictMode}, //nolint:gosec // SetCookie has to make it safe
			{Name: "bad name", Value: "v"},                                  //nolint:gosec // SetCookie has to make it safe
			{Name: "bad", Value: "a\r\nb"},                                  //nolint:gosec // SetCookie has to make it safe
		} {
			c.SetCookie(&ck)
		}
		return c.String(200, fmt.Sprintf("%d %s|%s|%s", n, c.Cookie("a"), c.Cookie("b"), c.Cookie("c")))
	})
	r := webtest.New(t, app).With("Cookie", `a=1; b="2"; c=3`).Get("/7").Want(200)
	if r.Text() != "7 1|2|" {
		t.Errorf("cookies beyond the limit, or quotes: %q", r.Text())
	}
	if got := strings.Join(r.Header["Set-Cookie"], "\n"); got != "s=v; HttpOnly; Secure; SameSite=Lax\nstrict=v; HttpOnly; Secure; SameSite=Strict" {
		t.Errorf("Set-Cookie:\n%s", got)
	}
	webtest.New(t, app).Get("/x").Want(400)
}

// TestPoison is W35.
func TestPoison(t *testing.T) {
	for _, o := range []web.Options{{Poison: true, Logger: discard}, {Debug: true, Logger: discard}} {
		app, err := web.New(o)
		if err != nil {
			t.Fatal(err)
		}
		var kept *web.Context
		app.GET("/keep/{id}", func(c *web.Context) error {
			if kept == c {
				t.Error("the Context was used again")
			}
			kept = c
			return c.NoContent(204)
		})
		webtest.New(t, app).Get("/keep/1").Want(204)
		old := kept
		webtest.New(t, app).Get("/keep/2").Want(204)
		for name, call := range map[string]func(){
			"Param": func() { old.Param("id") }, "JSON": func() { _ = old.JSON(200, 1) }, "Writer": func() { old.Writer() }, "Context": func() { old.Context() },
			"Error": func() { old.Error(errors.New("x")) }, "Body": func() { _, _ = old.Body() }, "String": func() { _ = old.String(200, "") },
		} {
			func() {
				defer func() {
					err, ok := recover().(error)
					if !ok || !errors.Is(err, web.ErrContextReturned) || !strings.Contains(err.Error(), "GET /keep/{id}") || !strings.Contains(err.Error(), "context_test.go:") {
						t.Errorf("%s after return: %v", name, err)
					}
				}()
				call()
			}()
		}
	}
}

// TestPoolKeepsNothing is rule 25 for the Context itself.
func TestPoolKeepsNothing(t *testing.T) {
	app, err := web.New(web.Options{Logger: discard})
	if err != nil {
		t.Fatal(err)
	}
	key := web.NewKey[int]("k")
	app.POST("/dirty/{a}/{b}", func(c *web.Context) error {
		key.Set(c, 1)
		c.SetUser("someone")
		c.SetRequestID("leak")
		if _, err := c.Body(); err != nil {
			return err
		}
		return web.ErrNotFound
	})
	app.GET("/clean", func(c *web.Context) error {
		if _, ok := key.Get(c); ok || c.User() != "" || c.RequestID() == "leak" || c.Param("a") != "" || c.Written() != 0 || c.Status() != 200 {
			t.Errorf("the request before shows through")
		}
		b, err := c.Body()
		if err != nil || len(b) > 0 {
			t.Errorf("body %q, %v", b, err)
		}
		return c.NoContent(204)
	})
	for range 200 {
		webtest.New(t, app).Post("/dirty/1/2", "text/plain", "secret").Want(404)
		webtest.New(t, app).Get("/clean").Want(204)
	}
}

func TestRequestID(t *testing.T) {
	app := newApp(t, web.Options{ClientIP: web.TrustedProxies("X-Forwarded-For", "192.0.2.0/24")})
	app.GET("/", func(c *web.Context) error { return c.String(200, c.RequestID()) })
	get := func(remote, id string) string {
		r := newRequest(t, "GET", "/")
		r.RemoteAddr = remote
		r.Header.Set("X-Request-Id", id)
		w := httptest.NewRecorder()
		if app.ServeHTTP(w, r); w.Body.String() != w.Header().Get("X-Request-Id") {
			t.Errorf("answer says %q, header %q", w.Body, w.Header().Get("X-Request-Id"))
		}
		return w.Body.String()
	}
	if got := get("192.0.2.1:1", "own-id_1.x"); got != "own-id_1.x" {
		t.Errorf("from a proxy: %q", got)
	}
	seen := map[string]bool{}
	for _, from := range [][2]string{{"203.0.113.1:1", "own-id"}, {"192.0.2.1:1", "bad id"}, {"192.0.2.1:1", ""}, {"192.0.2.1:1", strings.Repeat("x", 129)}} {
		got := get(from[0], from[1])
		if len(got) != 26 || seen[got] || !web.ValidRequestID(got) {
			t.Errorf("%v: %q", from, got)
		}
		seen[got] = true
	}
}

// TestRequestIDsStay: ids come from memory that is taken in lots, and none of it is used again,
// for an answer's header may be looked at long after its request.
func TestRequestIDsStay(t *testing.T) {
	app, err := web.New(web.Options{})
	if err != nil {
		t.Fatal(err)
	}
	app.GET("/", func(c *web.Context) error { return c.String(200, c.RequestID()) })
	const n = 4000
	var headers, bodies []string
	for range n {
		w := httptest.NewRecorder()
		app.ServeHTTP(w, newRequest(t, "GET", "/"))
		headers, bodies = append(headers, w.Header().Get("X-Request-Id")), append(bodies, w.Body.String())
	}
	seen := map[string]bool{}
	var letters [26]map[byte]bool
	for i, id := range headers {
		if id != bodies[i] || seen[id] || len(id) != len(letters) {
			t.Fatalf("request %d: header %q, id %q, seen %v", i, id, bodies[i], seen[id])
		}
		seen[id] = true
		for at := range letters {
			if letters[at] == nil {
				letters[at] = map[byte]bool{}
			}
			letters[at][id[at]] = true
		}
	}
	for at, found := range letters {
		if len(found) < 28 { // ids taken together share their first half, so the last few may be missing
			t.Errorf("place %d takes %d of the 32 letters", at, len(found))
		}
		for c := range found {
			if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz234567", rune(c)) {
				t.Errorf("place %d: %q is no letter of base32", at, c)
			}
		}
	}
}

// TestClientIP is W18 and rule 30.
func TestClientIP(t *testing.T) {
	xff := func(p ...string) web.ClientIPPolicy { return web.TrustedProxies("x-forwarded-for", p...) }
	for _, tt := range []struct {
		name   string
		policy web.ClientIPPolicy
		remote string
		header string // Name: value, separated by bars
		want   string
	}{
		{"direct ignores headers", web.Direct(), "203.0.113.9:1", "X-Forwarded-For: 1.1.1.1|X-Real-Ip: 2.2.2.2|Forwarded: for=3.3.3.3", "203.0.113.9"},
		{"mapped is folded", web.Direct(), "[::ffff:203.0.113.9]:1", "", "203.0.113.9"},
		{"zone is cut", web.Direct(), "[fe80::1%eth0]:1", "", "fe80::1"},
		{"unix socket", web.Direct(), "@", "", "invalid IP"},
		{"untrusted peer", xff("10.0.0.0/8"), "203.0.113.9:1", "X-Forwarded-For: 1.1.1.1", "203.0.113.9"},
		{"right-most untrusted", xff("10.0.0.0/8"), "10.0.0.1:1", "X-Forwarded-For: 6.6.6.6, 1.1.1.1, 10.0.0.2", "1.1.1.1"},
		{"several lines", xff("10.0.0.0/8"), "10.0.0.1:1", "X-Forwarded-For: 6.6.6.6|X-Forwarded-For: 1.1.1.1|X-Forwarded-For: 10.0.0.2", "1.1.1.1"},
		{"garbage ends the walk", xff("10.0.0.0/8"), "10.0.0.1:1", "X-Forwarded-For: 1.1.1.1, junk, 10.0.0.2", "10.0.0.2"},
		{"all trusted", xff("10.0.0.0/8"), "10.0.0.1:1", "X-Forwarded-For: 10.0.0.3", "10.0.0.3"},
		{"no header", xff("10.0.0.0/8"), "10.0.0.1:1", "", "10.0.0.1"},
		{"mapped and ports", xff("::ffff:10.0.0.0/104", "2001:db8::1"), "10.0.0.1:1", "X-Forwarded-For: [2001:db8::9]:443, [2001:db8::1]", "2001:db8::9"},
		{"other header is not read", xff("10.0.0.0/8"), "10.0.0.1:1", "Forwarded: for=1.1.1.1", "10.0.0.1"},
		{"forwarded", web.TrustedProxies("Forwarded", "10.0.0.1"), "10.0.0.1:1", `Forwarded: for=6.6.6.6, For="[2001:db8::9]:4711";proto=https;by=10.0.0.1`, "2001:db8::9"},
		{"forwarded unknown", web.TrustedProxies("Forwarded", "10.0.0.1"), "10.0.0.1:1", `Forwarded: for=1.1.1.1, for=unknown`, "10.0.0.1"},
		{"forwarded without for", web.TrustedProxies("Forwarded", "10.0.0.1"), "10.0.0.1:1", `Forwarded: proto=http`, "10.0.0.1"},
		{"one header", web.TrustedHeader("X-Real-IP", "10.0.0.1"), "10.0.0.1:1", "X-Real-Ip: 1.1.1.1", "1.1.1.1"},
		{"one header twice", web.TrustedHeader("X-Real-IP", "10.0.0.1"), "10.0.0.1:1", "X-Real-Ip: 1.1.1.1|X-Real-Ip: 2.2.2.2", "10.0.0.1"},
		{"one header with garbage", web.TrustedHeader("X-Real-IP", "10.0.0.1"), "10.0.0.1:1", "X-Real-Ip: 1.1.1.1, 2.2.2.2", "10.0.0.1"},
	} {
		app := newApp(t, web.Options{ClientIP: tt.policy})
		app.GET("/", func(c *web.Context) error { return c.String(200, c.ClientIP().String()) })
		r := newRequest(t, "GET", "/")
		r.RemoteAddr = tt.remote
		for h := range strings.SplitSeq(tt.header, "|") {
			if k, v, ok := strings.Cut(h, ": "); ok {
				r.Header.Add(k, v)
			}
		}
		w := httptest.NewRecorder()
		if app.ServeHTTP(w, r); w.Body.String() != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, w.Body, tt.want)
		}
	}
	for _, p := range []web.ClientIPPolicy{xff(), xff("nonsense"), xff("::ffff:0:0/64"), web.TrustedProxies("X-Real-IP", "10.0.0.1"), web.TrustedHeader("bad header", "10.0.0.1"), web.TrustedHeader("X-A", "1.2.3.4/99")} {
		if _, err := web.New(web.Options{ClientIP: p}); err == nil {
			t.Error("a policy that means nothing was taken")
		}
	}
	if _, err := netip.ParsePrefix("10.0.0.0/8"); err != nil {
		t.Error(err)
	}
}

// TestCrossOrigin: state changes of other origins are refused by default.
func TestCrossOrigin(t *testing.T) {
	app := newApp(t, web.Options{})
	app.POST("/", func(c *web.Context) error { return c.NoContent(204) })
	app.GET("/", func(c *web.Context) error { return c.NoContent(204) })
	c := webtest.New(t, app)
	c.With("Sec-Fetch-Site", "cross-site").Do("POST", "/", nil).Want(403)
	c.With("Origin", "https://evil.example").Do("POST", "/", nil).Want(403)
	c.With("Sec-Fetch-Site", "same-origin").Do("POST", "/", nil).Want(204)
	c.With("Sec-Fetch-Site", "cross-site").Get("/").Want(204)
	c.Do("POST", "/", nil).Want(204)
	trust := http.NewCrossOriginProtection()
	if err := trust.AddTrustedOrigin("https://friend.example"); err != nil {
		t.Fatal(err)
	}
	open := newApp(t, web.Options{CrossOrigin: trust})
	open.POST("/", func(c *web.Context) error { return c.NoContent(204) })
	webtest.New(t, open).With("Origin", "https://friend.example").Do("POST", "/", nil).Want(204)
}

// TestRefusedRequestsHaveNoRoute: the middleware around a refusal, a standard one too, sees a
// request without route, and the parameters of its group's prefix.
func TestRefusedRequestsHaveNoRoute(t *testing.T) {
	app := newApp(t, web.Options{})
	var seen []string
	look := func(next web.Handler) web.Handler {
		return func(c *web.Context) error {
			seen = append(seen, fmt.Sprint(c.Param("shop"), " ", c.Param("id"), " ", c.Route() == nil))
			return next(c)
		}
	}
	std := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			seen = append(seen, r.Pattern)
			next.ServeHTTP(w, r)
		})
	}
	app.Group("/{shop}", look, web.FromStdMiddleware(std)).POST("/items/{id}", func(c *web.Context) error { return c.NoContent(204) })
	c := webtest.New(t, app)
	c.Do("POST", "/a%2Fb/items/7", nil).Want(204)
	c.With("Sec-Fetch-Site", "cross-site").Do("POST", "/a%2Fb/items/7", nil).Want(403)
	c.Do("POST", "/ulm/items/7?"+strings.Repeat("&", 256), nil).Want(400)
	if want := []string{"a/b 7 false", "POST /{shop}/items/{id}", "a/b  true", "", "ulm  true", ""}; !slices.Equal(seen, want) {
		t.Errorf("%q, want %q", seen, want)
	}
}

func TestStdAdapters(t *testing.T) {
	app := newApp(t, web.Options{})
	var seen []string
	std := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			seen = append(seen, r.Pattern+" "+r.PathValue("id"))
			w.Header().Set("X-Std", "1")
			type k struct{}
			next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), k{}, 1)))
		})
	}
	g := app.Group("/g", web.FromStdMiddleware(std))
	g.GET("/{id}", web.FromStd(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.PathValue("id"))
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Error(err)
		}
	})))
	g.GET("/fail/{id}", func(*web.Context) error { return web.ErrNotFound })
	c := webtest.New(t, app)
	if r := c.Get("/g/a%2Fb").Want(200); r.Header.Get("X-Std") != "1" || strings.Join(seen, ",") != "GET /g/{id} a/b,a/b" {
		t.Errorf("%v %v", seen, r.Header)
	}
	if r := c.Get("/g/fail/7").Want(404); r.Header.Get("X-Std") != "1" {
		t.Errorf("an error inside a standard middleware: %v", r.Header)
	}
	lost := app.Group("/lost", web.FromStdMiddleware(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(w, r.WithContext(context.Background())) //nolint:contextcheck // what such middleware does wrong
		})
	}))
	lost.GET("/", echo())
	c.Get("/lost/").Want(500)

	mux := http.NewServeMux()
	mux.Handle("/h/{id}", web.Handler(func(c *web.Context) error {
		if c.Param("id") == "0" {
			return web.ErrNotFound
		}
		return c.String(200, c.Param("id"))
	}).Std(app))
	mw := web.Middleware(func(next web.Handler) web.Handler {
		return func(c *web.Context) error {
			if c.Header("X-Deny") != "" {
				return web.NewProblem(403, "no", nil)
			}
			return next(c)
		}
	})
	mux.Handle("/m", mw.Std(app)(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(202) })))
	s := webtest.New(t, mux)
	if got := s.Get("/h/9").Want(200).Text(); got != "9" {
		t.Errorf("Handler.Std: %q", got)
	}
	s.Get("/h/0").Want(404)
	s.Get("/m").Want(202)
	s.With("X-Deny", "1").Get("/m").Want(403)
}

// TestHeadOfPlainWriter: a handler that writes by itself answers HEAD with the
// headers that net/http gives GET.
func TestHeadOfPlainWriter(t *testing.T) {
	app := newApp(t, web.Options{})
	for path, n := range map[string]int{"/small": 10, "/large": 5000, "/none": 0} {
		app.GET(path, func(c *web.Context) error {
			_, err := c.Writer().Write([]byte("<html>" + strings.Repeat("x", n))[:n])
			return err
		})
	}
	srv := httptest.NewServer(app)
	defer srv.Close()
	for _, path := range []string{"/small", "/large", "/none"} {
		var heads [2]http.Header
		for i, method := range []string{"GET", "HEAD"} {
			req, err := http.NewRequestWithContext(t.Context(), method, srv.URL+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			res, err := srv.Client().Do(req)
			if err != nil {
				t.Fatal(err)
			}
			if err := res.Body.Close(); err != nil {
				t.Fatal(err)
			}
			heads[i] = res.Header
		}
		for _, h := range []string{"Content-Length", "Content-Type"} {
			if heads[0].Get(h) != heads[1].Get(h) {
				t.Errorf("%s %s: GET %q, HEAD %q", path, h, heads[0].Get(h), heads[1].Get(h))
			}
		}
	}
}

// TestRefusalsRunUnderMiddleware: what the App refuses before a handler still passes the
// middleware of its group, as 404 and 405 do, so that an access log shows it.
func TestRefusalsRunUnderMiddleware(t *testing.T) {
	app := newApp(t, web.Options{Limits: web.Limits{QueryPairs: 2}})
	var seen []int
	g := app.Group("/g", func(next web.Handler) web.Handler {
		return func(c *web.Context) error {
			if err := next(c); err != nil {
				c.Error(err)
			}
			seen = append(seen, c.Status())
			return nil
		}
	})
	reached := false
	g.Any("/x", func(c *web.Context) error {
		reached = true
		return c.NoContent(204)
	})
	c := webtest.New(t, app)
	c.With("Sec-Fetch-Site", "cross-site").Do("POST", "/g/x", nil).Want(403)
	c.Get("/g/x?a=1&b=2&c=3").Want(400)
	if !slices.Equal(seen, []int{403, 400}) || reached {
		t.Errorf("the group's middleware saw %v, the handler was reached: %t", seen, reached)
	}
}

func TestContextOfTheRequestEndsWithTheHandlerAndStaysSafe(t *testing.T) {
	app := newApp(t, web.Options{})
	kept := make(chan context.Context, 2)
	key := web.NewKey[string]("k")
	handler := func(c *web.Context) error {
		key.Set(c, "v")
		kept <- c.Context()
		if err := c.Context().Err(); err != nil {
			t.Errorf("ended before the handler returned: %v", err)
		}
		return c.NoContent(http.StatusNoContent)
	}
	app.GET("/", handler)
	app.GET("/timed", handler, web.Budgets{Time: time.Hour})
	r := start(t, &web.Server{App: app})
	for _, path := range []string{"/", "/timed"} {
		if _, _, err := r.get(t, path); err != nil {
			t.Fatal(err)
		}
		ctx := <-kept
		<-ctx.Done() // or the test never ends
		var several sync.WaitGroup
		for range 4 {
			several.Go(func() {
				if !errors.Is(ctx.Err(), context.Canceled) || ctx.Value("x") != nil {
					t.Errorf("%s: %v", path, ctx.Err())
				}
				ctx.Deadline()
			})
		}
		several.Wait()
	}
}
