package web_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"example.com/quire/web"
	"example.com/quire/web/webtest"
)

// newApp makes an App that logs nowhere and poisons its Contexts.
func newApp(tb testing.TB, o web.Options) *web.App {
	tb.Helper()
	if o.Logger == nil {
		o.Logger = discard
	}
	o.Poison = true
	app, err := web.New(o)
	if err != nil {
		tb.Fatal(err)
	}
	return app
}

// echo answers with the pattern it was registered for and its parameters.
func echo(names ...string) web.Handler {
	return func(c *web.Context) error {
		text := c.Route().Info().Pattern
		for _, n := range names {
			text += " " + n + "=" + c.Param(n)
		}
		return c.String(http.StatusOK, text)
	}
}

// ask returns the status and the text of an answer. A host may stand before the
// target, with a bar between.
func ask(app http.Handler, method, target string) (int, string, http.Header) {
	w := httptest.NewRecorder()
	r := httptest.NewRequest(method, "/", nil) //nolint:noctx // answered before it returns
	if host, path, ok := strings.Cut(target, "|"); ok {
		r.Host, target = host, path
	}
	if err := setTarget(r, target); err != nil {
		return 0, err.Error(), nil
	}
	app.ServeHTTP(w, r)
	return w.Code, w.Body.String(), w.Header()
}

func setTarget(r *http.Request, target string) error {
	u, err := url.Parse("http://" + r.Host + target)
	if err != nil {
		return err
	}
	u.Scheme, u.Host = "", ""
	r.URL = u
	return nil
}

// TestPatternGrammar runs the table of the package comment.
func TestPatternGrammar(t *testing.T) {
	f, err := os.Open("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	rows := 0
	for sc := bufio.NewScanner(f); sc.Scan(); {
		cols := strings.Fields(strings.TrimPrefix(sc.Text(), "//"))
		if len(cols) != 3 || !strings.HasPrefix(cols[0], "/") || !strings.HasPrefix(cols[1], "/") {
			continue
		}
		rows++
		app := newApp(t, web.Options{NoRedirectSlash: true})
		name, want, _ := strings.Cut(cols[2], "=")
		app.GET(cols[0], func(c *web.Context) error { return c.String(http.StatusOK, c.Param(name)) })
		code, got, _ := ask(app, "GET", cols[1])
		switch {
		case cols[2] == "no" && code != http.StatusNotFound, cols[2] != "no" && code != http.StatusOK:
			t.Errorf("%s for %s: status %d", cols[0], cols[1], code)
		case cols[2] != "no" && cols[2] != "yes" && got != want:
			t.Errorf("%s for %s: %s=%q, want %q", cols[0], cols[1], name, got, want)
		}
	}
	if rows < 14 {
		t.Errorf("the table has %d rows: it was not found", rows)
	}
}

// TestRouter is section 5.1, rules 1 to 8: which route answers.
func TestRouter(t *testing.T) {
	for _, tt := range []struct {
		rule   string
		routes []string
		want   [][2]string // request, answer
	}{
		{"1 literal beats parameter", []string{"/users/{id}", "/users/new", "/u/new", "/u/{id}"}, [][2]string{
			{"GET /users/new", "/users/new"}, {"GET /users/x", "/users/{id} id=x"}, {"GET /u/news", "/u/{id} id=news"}, {"GET /u/ne", "/u/{id} id=ne"},
		}},
		{"2 names are each route's own", []string{"/x/{u}/events", "/x/{u}/public", "/users/{id}", "/users/{user}/posts"}, [][2]string{
			{"GET /x/1/events", "/x/{u}/events u=1"}, {"GET /x/1/public", "/x/{u}/public u=1"}, {"GET /users/7", "/users/{id} id=7"}, {"GET /users/7/posts", "/users/{user}/posts user=7"},
		}},
		{"3 left decides", []string{"/a/{id}/c", "/a/b/{id}"}, [][2]string{{"GET /a/b/c", "/a/b/{id} id=c"}, {"GET /a/z/c", "/a/{id}/c id=z"}}},
		{"4 backtracking", []string{"/a/b/c", "/a/{p}/x", "/k/{n:int}/y", "/k/{n}/z", "/k/{r...}"}, [][2]string{
			{"GET /a/b/x", "/a/{p}/x p=b"}, {"GET /k/7/y", "/k/{n:int}/y n=7"}, {"GET /k/7/z", "/k/{n}/z n=7"}, {"GET /k/7/q", "/k/{r...} r=7/q"}, {"GET /k/x/y", "/k/{r...} r=x/y"},
		}},
		{"5 catch-all beside all", []string{"/{all...}", "/s/{rest...}", "/s/lit", "/s/{p}/q"}, [][2]string{
			{"GET /s/", "/s/{rest...} rest="}, {"GET /s/a/b", "/s/{rest...} rest=a/b"}, {"GET /s/lit", "/s/lit"}, {"GET /s/1/q", "/s/{p}/q p=1"}, {"GET /", "/{all...} all="}, {"GET /other", "/{all...} all=other"},
		}},
		{"6 suffixes", []string{"/d/{id}", "/d/{id}.json", "/d/{id}.tar.json", "/d/{id:int}.json"}, [][2]string{
			{"GET /d/a", "/d/{id} id=a"},
			{"GET /d/a.json", "/d/{id}.json id=a"},
			{"GET /d/a.tar.json", "/d/{id}.tar.json id=a"},
			{"GET /d/5.json", "/d/{id:int}.json id=5"},
			{"GET /d/.json", "/d/{id} id=.json"},
			{"GET /d/.tar.json", "/d/{id}.json id=.tar"},
		}},
		{"7 escapes", []string{"/v/{id}", "/v/{id}/x", "/caf%C3%A9", "/l%2Fm"}, [][2]string{
			{"GET /v/a%2Fb", "/v/{id} id=a/b"},
			{"GET /v/a%2Fb/x", "/v/{id}/x id=a/b"},
			{"GET /v/a+b", "/v/{id} id=a+b"},
			{"GET /v/%2525", "/v/{id} id=%25"},
			{"GET /v/%252F%2F", "/v/{id} id=%2F/"},
			{"GET /caf%c3%a9", "/caf%C3%A9"},
			{"GET /l%2fm", "/l%2Fm"},
			{"GET /%76/%61", "/v/{id} id=a"},
		}},
		{"constraints", []string{"/c/{v:uint}", "/c/{v:alnum}", "/c/{v:uuid}", "/c/{v:date}", "/c/{v}"}, [][2]string{
			{"GET /c/7", "/c/{v:uint} v=7"},
			{"GET /c/a7", "/c/{v:alnum} v=a7"},
			{"GET /c/2024-02-29", "/c/{v:date} v=2024-02-29"},
			{"GET /c/2023-02-29", "/c/{v} v=2023-02-29"},
			{"GET /c/6ba7b810-9dad-11d1-80b4-00C04FD430C8", "/c/{v:uuid} v=6ba7b810-9dad-11d1-80b4-00C04FD430C8"},
			{"GET /c/-7x", "/c/{v} v=-7x"},
		}},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			for _, reverse := range []bool{false, true} { // the order of registration never matters
				app := newApp(t, web.Options{})
				for i := range tt.routes {
					p := tt.routes[i]
					if reverse {
						p = tt.routes[len(tt.routes)-1-i]
					}
					if _, err := app.TryHandle("GET", p, echo(paramNames(p)...)); err != nil {
						t.Fatal(err)
					}
				}
				for _, w := range tt.want {
					method, path, _ := strings.Cut(w[0], " ")
					if code, got, _ := ask(app, method, path); code != http.StatusOK || got != w[1] {
						t.Errorf("%s: %d %q, want %q", w[0], code, got, w[1])
					}
				}
			}
		})
	}
}

// paramNames lists the names in a pattern, told apart by braces alone.
func paramNames(p string) []string {
	var out []string
	for _, part := range strings.Split(p, "{")[1:] {
		name, _, _ := strings.Cut(part, "}")
		name, _, _ = strings.Cut(strings.TrimSuffix(name, "..."), ":")
		if name != "$" {
			out = append(out, name)
		}
	}
	return out
}

func TestMethods(t *testing.T) {
	app := newApp(t, web.Options{})
	app.POST("/a/b", echo())
	app.GET("/a/{x}", echo("x"))
	app.DELETE("/a/{rest...}", echo("rest"))
	app.Any("/any", echo())
	app.PUT("/any", func(c *web.Context) error { return c.String(200, "put") })
	app.HEAD("/h", func(c *web.Context) error { c.Writer().Header().Set("X-Own", "head"); return c.NoContent(200) })
	app.GET("/h", echo())
	app.OPTIONS("/o", func(c *web.Context) error { return c.String(200, "own") })
	app.Handle("PURGE", "/o", echo())
	app.QUERY("/q", echo())
	for _, tt := range []struct {
		method, path string
		code         int
		body, allow  string
	}{
		{"GET", "/a/b", 200, "/a/{x} x=b", ""}, // rule 8
		{"POST", "/a/b", 200, "/a/b", ""},
		{"DELETE", "/a/b", 200, "/a/{rest...} rest=b", ""},
		{"PUT", "/a/b", 405, "", "DELETE, GET, HEAD, OPTIONS, POST"},
		{"OPTIONS", "/a/b", 204, "", "DELETE, GET, HEAD, OPTIONS, POST"},
		{"PUT", "/a/c", 405, "", "DELETE, GET, HEAD, OPTIONS"},
		{"PATCH", "/any", 200, "/any", ""},
		{"BREW", "/any", 200, "/any", ""},
		{"PUT", "/any", 200, "put", ""},
		{"OPTIONS", "/o", 200, "own", ""},
		{"PURGE", "/o", 200, "/o", ""},
		{"GET", "/o", 405, "", "OPTIONS, PURGE"},
		{"QUERY", "/q", 200, "/q", ""},
		{"GET", "/q", 405, "", "OPTIONS, QUERY"},
	} {
		code, body, h := ask(app, tt.method, tt.path)
		if code != tt.code || h.Get("Allow") != tt.allow || (tt.body != "" && body != tt.body) {
			t.Errorf("%s %s: %d %q Allow %q, want %d %q Allow %q", tt.method, tt.path, code, body, h.Get("Allow"), tt.code, tt.body, tt.allow)
		}
	}
	if _, body, h := ask(app, "HEAD", "/h"); h.Get("X-Own") != "head" || body != "" {
		t.Errorf("HEAD /h: %q %v", body, h)
	}
	code, body, h := ask(app, "HEAD", "/a/bcd")
	if code != 200 || body != "" || h.Get("Content-Length") != "12" {
		t.Errorf("HEAD by GET: %d %q %v", code, body, h)
	}
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(t.Context(), "OPTIONS", "/", nil)
	r.RequestURI, r.URL.Path = "*", "*"
	if app.ServeHTTP(w, r); w.Code != 204 || w.Header().Get("Allow") != "DELETE, GET, HEAD, OPTIONS, POST, PURGE, PUT, QUERY" {
		t.Errorf("OPTIONS *: %d %q", w.Code, w.Header().Get("Allow"))
	}
}

// TestRedirects is rule 10.
func TestRedirects(t *testing.T) {
	app := newApp(t, web.Options{})
	app.GET("/tree/", echo())
	app.GET("/tree/leaf", echo())
	app.POST("/post/", echo())
	app.GET("/host/x", echo())
	app.GET("/v/{x}", echo("x"))
	for _, tt := range []struct{ method, path, location string }{
		{"GET", "/tree?q=1&r", "/tree/?q=1&r"},
		{"HEAD", "/tree", "/tree/"},
		{"GET", "/tree/leaf/", ""}, // the subtree takes it
		{"GET", "/host/x/", "/host/x"},
		{"GET", "//host/x", "/host/x"},
		{"GET", "/a/../host//./x", "/host/x"},
		{"GET", "/a/%2e%2e/host/x", "/host/x"},
		{"GET", "/host/x/.", "/host/x"},
		{"GET", "/v//a%2Fb%25", "/v/a%2Fb%25"},
		{"POST", "/post", "/post/"},
	} {
		target := tt.path
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), tt.method, "/", nil)
		if err := setTarget(r, target); err != nil {
			t.Fatal(err)
		}
		app.ServeHTTP(w, r)
		want := http.StatusTemporaryRedirect
		if tt.location == "" {
			want = http.StatusOK
		}
		if w.Code != want || w.Header().Get("Location") != tt.location {
			t.Errorf("%s %s: %d to %q, want %d to %q", tt.method, tt.path, w.Code, w.Header().Get("Location"), want, tt.location)
		}
	}
	for _, tt := range []struct {
		method, path string
		code         int
	}{
		{"GET", "/post", 404}, {"CONNECT", "/tree", 404}, {"POST", "/tree", 404}, {"GET", "/nothing//", 404},
	} {
		if code, _, h := ask(app, tt.method, tt.path); code != tt.code || h.Get("Location") != "" {
			t.Errorf("%s %s: %d %v", tt.method, tt.path, code, h)
		}
	}
	t.Run("never to another host", func(t *testing.T) {
		app := newApp(t, web.Options{NoRedirectClean: true})
		app.GET("/{rest...}", echo("rest"))
		app.GET("/x/{a}/", echo("a"))
		for _, p := range []string{"//evil.example", "/\\evil.example", "/%5Cevil.example", "/%2Fevil.example"} {
			w := httptest.NewRecorder()
			r := httptest.NewRequestWithContext(t.Context(), "GET", "/", nil)
			if err := setTarget(r, p); err != nil {
				t.Fatal(err)
			}
			app.ServeHTTP(w, r)
			if l := w.Header().Get("Location"); strings.HasPrefix(l, "//") || strings.HasPrefix(l, "/\\") {
				t.Errorf("%s: redirect to %q", p, l)
			}
		}
	})
	t.Run("dot segments never reach a rest", func(t *testing.T) {
		app := newApp(t, web.Options{NoRedirectClean: true})
		app.GET("/f/{rest...}", echo("rest"))
		for path, want := range map[string]int{"/f/a//b": 200, "/f/../x": 404, "/f/a/%2e%2E/b": 404, "/f/.": 404, "/f/..a/b..": 200, "/f/a/.b": 200} {
			if code, body, _ := ask(app, "GET", path); code != want {
				t.Errorf("%s: %d %q, want %d", path, code, body, want)
			}
		}
	})
	t.Run("off", func(t *testing.T) {
		app := newApp(t, web.Options{NoRedirectSlash: true})
		app.GET("/tree/", echo())
		if code, _, _ := ask(app, "GET", "/tree"); code != 404 {
			t.Errorf("got %d", code)
		}
	})
}

// TestConflicts is rule 11.
func TestConflicts(t *testing.T) {
	for _, tt := range []struct{ first, second, example string }{
		{"GET /a/{x}", "GET /a/{y}", "/a/1"},
		{"GET /a", "GET /a", "/a"},
		{"GET /f/", "GET /f/{rest...}", "/f/"},
		{"GET /c/{x:alpha}", "GET /c/{x:hex}", "/c/a"},
		{"GET /c/{x:int}", "GET /c/{x:hex}.", ""},
		{"GET /c/{x:int}/t", "GET /c/{x:alnum}/t", "/c/1/t"},
		{"GET /c/{x:int}/t", "GET /c/{x:alnum}/u", ""},
		{"GET /c/{x:int}", "POST /c/{x:alnum}", ""},
		{"HEAD /c/{x:int}", "GET /c/{x:alnum}", "/c/1"},
		{"GET /c/{x:int}", "GET /c/{x:date}", ""},
		{"GET /c/{x:own}", "GET /c/{x:int}", "/c/{x}"},
		{"GET /c/{x:uint}", "GET /c/{x:int}", ""},
		{"GET /c/{x:alpha}/{y}", "GET /c/{x:hex}/b", "/c/a/b"},
		{"GET /c/{x:alpha}/", "GET /c/{x:hex}/{y}.json", "/c/a/1.json"},
		{"GET /d/{$}", "GET /d/", ""},
	} {
		app := newApp(t, web.Options{})
		if err := app.Constraint("own", func(s string) bool { return s == "zzz" }); err != nil {
			t.Fatal(err)
		}
		m1, p1, _ := strings.Cut(tt.first, " ")
		m2, p2, _ := strings.Cut(tt.second, " ")
		app.Handle(m1, p1, echo())
		_, err := app.TryHandle(m2, p2, echo())
		conflict, is := errors.AsType[*web.ConflictError](err)
		switch {
		case is != (tt.example != ""):
			t.Errorf("%s and %s: %v", tt.first, tt.second, err)
		case is && (conflict.Example != tt.example || !strings.HasPrefix(conflict.Source, "web/router_test.go:") || !strings.HasPrefix(conflict.OtherSource, "web/router_test.go:") || conflict.Source == conflict.OtherSource):
			t.Errorf("%s and %s: %v (example %q)", tt.first, tt.second, err, conflict.Example)
		}
	}
}

func TestPatternErrors(t *testing.T) {
	app := newApp(t, web.Options{})
	app.GET("/named", echo(), web.Name("n"))
	for pattern, reason := range map[string]string{
		"users": "begins with a slash", "": "begins with a slash", "/:id": "write {id}", "/*rest": "write {rest...}", "/*": "write {name...}",
		"/a//b": "empty segment", "/a/./b": "dot segment", "/{a}/{a}": "is used twice", "/{a...}/b": "only at the end", "/{$}/b": "only at the end",
		"/x{a}": "begins its segment", "/{a}{b}": "one parameter", "/{a": "begins its segment", "/{1a}": "Go identifier", "/{}": "Go identifier", "/{...}": "Go identifier",
		"/{a:nope}": "unknown constraint", "/%zz": "invalid URL escape", "/{a}%zz": "invalid URL escape",
		"/" + strings.Repeat("{a}/", 1) + longParams(33): "more than 32",
	} {
		_, err := app.TryHandle("GET", pattern, echo())
		if pe, ok := errors.AsType[*web.PatternError](err); !ok || !strings.Contains(pe.Reason, reason) {
			t.Errorf("%q: %v, want %q", pattern, err, reason)
		}
	}
	for _, f := range []func() error{
		func() error { _, err := app.TryHandle("GET", "/nil", nil); return err },
		func() error { _, err := app.TryHandle("BAD METHOD", "/m", echo()); return err },
		func() error { _, err := app.TryHandle("GET", "/again", echo(), web.Name("n")); return err },
	} {
		if pe, ok := errors.AsType[*web.PatternError](f()); !ok || pe.Error() == "" {
			t.Errorf("no *PatternError")
		}
	}
	if err := app.Constraint("int", func(string) bool { return true }); err == nil {
		t.Error("a built-in constraint was replaced")
	}
	if app.Constraint("no name", func(string) bool { return true }) == nil || app.Constraint("nofunc", nil) == nil {
		t.Error("a bad constraint was taken")
	}
	for _, f := range []func(){
		func() { app.GET("/:x", echo()) }, func() { app.Group("/{rest...}") }, func() { app.Group("x") }, func() { app.Group("/a/{$}") }, func() { app.Host("a/b") },
	} {
		func() {
			defer func() {
				if err, ok := recover().(error); !ok || err == nil {
					t.Error("no panic with an error")
				}
			}()
			f()
		}()
	}
}

func longParams(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "{p%d}/", i)
	}
	return b.String()
}

func TestCustomConstraint(t *testing.T) {
	app := newApp(t, web.Options{})
	if err := app.Constraint("lang", func(s string) bool { return s == "en" || s == "a/b" }); err != nil {
		t.Fatal(err)
	}
	app.GET("/{l:lang}/x", echo("l"))
	app.GET("/{o}/x", echo("o"))
	for path, want := range map[string]string{"/en/x": "/{l:lang}/x l=en", "/a%2Fb/x": "/{l:lang}/x l=a/b", "/fr/x": "/{o}/x o=fr"} {
		if _, got, _ := ask(app, "GET", path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

func TestHosts(t *testing.T) {
	app := newApp(t, web.Options{})
	app.GET("/a", func(c *web.Context) error { return c.String(200, "plain") })
	app.GET("/only", func(c *web.Context) error { return c.String(200, "only") })
	g := app.Host("API.Example.com:8080")
	g.GET("/{x}", func(c *web.Context) error { return c.String(200, "host "+c.Param("x")) })
	app.Host("[2001:db8::1]").GET("/a", func(c *web.Context) error { return c.String(200, "six") })
	for target, want := range map[string]string{
		"api.example.COM|/a": "host a", "api.example.com:99|/a": "host a", "api.example.com.|/a": "host a",
		"other.example|/a": "plain", "other.example|/only": "only", "[2001:db8::1]:80|/a": "six",
	} {
		if code, got, _ := ask(app, "GET", target); code != 200 || got != want {
			t.Errorf("%s: %d %q, want %q", target, code, got, want)
		}
	}
	if _, _, h := ask(app, "POST", "api.example.com|/a"); h.Get("Allow") != "GET, HEAD, OPTIONS" {
		t.Errorf("Allow %q", h.Get("Allow"))
	}
	// Redirects follow the routes of the host too, and those that it alone has lead nobody else.
	g.GET("/tree/", func(c *web.Context) error { return c.String(200, "tree") })
	g.GET("/deep/leaf", func(c *web.Context) error { return c.String(200, "leaf") })
	for target, want := range map[string]string{
		"api.example.com|/deep/leaf/": "/deep/leaf", "api.example.com|//deep/./leaf": "/deep/leaf", "api.example.com|//only": "/only",
		"other.example|/tree": "", "other.example|/deep/leaf/": "", "other.example|//only": "/only",
	} {
		code, _, h := ask(app, "GET", target)
		if got := h.Get("Location"); got != want || (want != "") != (code == 307) {
			t.Errorf("%s: %d to %q, want %q", target, code, got, want)
		}
	}
}

func TestGroups(t *testing.T) {
	mark := func(name string) web.Middleware {
		return func(next web.Handler) web.Handler {
			return func(c *web.Context) error {
				c.Writer().Header().Add("X-Mw", name)
				return next(c)
			}
		}
	}
	app := newApp(t, web.Options{})
	app.Use(mark("app"))
	v1 := app.Group("/v1/", mark("v1"))
	v1.NotFound(func(c *web.Context) error { return c.String(404, "v1 has no such thing") })
	v1.MethodNotAllowed(func(c *web.Context) error {
		return c.String(405, "v1 does not "+c.Request().Method+", but "+c.Writer().Header().Get("Allow"))
	})
	admin := v1.Group("/t/{tenant}/admin", mark("admin"))
	admin.GET("/users/{id}", echo("tenant", "id"))
	admin.GET("", echo("tenant"))
	v1.GET("/open/", echo())
	v1.Group("/same").GET("/x", echo())
	// Of prefixes of one length the more specific one answers, whichever was made first.
	for _, prefix := range []string{"/{tenant}", "/{n:int}", "/{file}.json", "/{longer}.x.json", "/static"} {
		app.Group(prefix, mark(prefix)).NotFound(func(c *web.Context) error { return c.String(404, prefix) })
	}
	for _, tt := range []struct {
		method, path string
		code         int
		mw, body     string
	}{
		{"GET", "/v1/t/a/admin/users/7", 200, "app v1 admin", "/v1/t/{tenant}/admin/users/{id} tenant=a id=7"},
		{"GET", "/v1/t/a/admin", 200, "app v1 admin", "/v1/t/{tenant}/admin tenant=a"},
		{"GET", "/v1/t/a/admin/none", 404, "app v1 admin", "v1 has no such thing"},
		{"GET", "/v1/none", 404, "app v1", "v1 has no such thing"},
		{"GET", "/v1x", 404, "app /{tenant}", "/{tenant}"},
		{"GET", "/static/none", 404, "app /static", "/static"},
		{"GET", "/7/none", 404, "app /{n:int}", "/{n:int}"},
		{"GET", "/a.json/none", 404, "app /{file}.json", "/{file}.json"},
		{"GET", "/a.x.json", 404, "app /{longer}.x.json", "/{longer}.x.json"},
		{"POST", "/none", 404, "app /{tenant}", ""},
		{"POST", "/v1/t/a/admin", 405, "app v1 admin", "v1 does not POST, but GET, HEAD, OPTIONS"},
		{"OPTIONS", "/v1/t/a/admin", 204, "app v1 admin", ""},
		{"GET", "/v1/open", 307, "app v1", ""},
		{"GET", "/v1/same/x", 200, "app v1", "/v1/same/x"},
	} {
		code, body, h := ask(app, tt.method, tt.path)
		if mw := strings.Join(h["X-Mw"], " "); code != tt.code || mw != tt.mw || (tt.body != "" && body != tt.body) {
			t.Errorf("%s %s: %d, through %q, %q; want %d, through %q, %q", tt.method, tt.path, code, mw, body, tt.code, tt.mw, tt.body)
		}
	}
	defer func() {
		if text, ok := recover().(string); !ok || !strings.Contains(text, "router_test.go:") {
			t.Errorf("Use after a route: %v", text)
		}
	}()
	v1.Use(mark("late"))
}

func TestMount(t *testing.T) {
	app := newApp(t, web.Options{})
	inner := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, "%s|%s|%s|%s", r.Method, r.URL.Path, r.URL.RawPath, r.PathValue("t")) //nolint:gosec // plain text, read by this test alone
	})
	app.Group("/x/{t}").Mount("/files", inner)
	app.Mount("/", inner)
	for path, want := range map[string]string{
		"/x/a%2Fb/files/": "GET|/||a/b", "/x/1/files/p/q": "GET|/p/q||1", "/x/1/files/p%2Fq": "GET|/p/q|/p%2Fq|1", "/other/x": "GET|/other/x||",
	} {
		if code, got, _ := ask(app, "GET", path); code != 200 || got != want {
			t.Errorf("%s: %d %q, want %q", path, code, got, want)
		}
	}
	if code, _, h := ask(app, "PUT", "/x/1/files"); code != 307 || h.Get("Location") != "/x/1/files/" {
		t.Errorf("the mount point: %d %v", code, h)
	}
}

// TestChangeWhileServing is W4 and rule 12: under -race, each request sees one
// whole tree.
func TestChangeWhileServing(t *testing.T) {
	app := newApp(t, web.Options{})
	app.GET("/keep/{id}", echo("id"))
	flip := app.GET("/flip", func(c *web.Context) error { return c.String(200, "old") })
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if code, body, _ := ask(app, "GET", "/keep/7"); code != 200 || body != "/keep/{id} id=7" {
					t.Errorf("keep: %d %q", code, body)
				}
				if code, body, _ := ask(app, "GET", "/flip"); code != 200 || (body != "old" && body != "new") {
					t.Errorf("flip: %d %q", code, body)
				}
				if code, _, _ := ask(app, "GET", "/r/7"); code != 200 && code != 404 {
					t.Errorf("r: %d", code)
				}
			}
		})
	}
	for i := range 100 {
		r := app.GET(fmt.Sprintf("/r/{x%d}", i), echo())
		g := app.Group(fmt.Sprintf("/g%d", i))
		g.NotFound(func(c *web.Context) error { return c.NoContent(404) })
		r.Remove()
		r.Remove()
	}
	flip.Replace(func(c *web.Context) error { return c.String(200, "new") })
	if _, body, _ := ask(app, "GET", "/flip"); body != "new" {
		t.Errorf("after Replace: %q", body)
	}
	close(stop)
	wg.Wait()
	if code, _, _ := ask(app, "GET", "/r/7"); code != 404 {
		t.Errorf("after Remove: %d", code)
	}
}

func TestConformRouter(t *testing.T) {
	app := newApp(t, web.Options{})
	app.GET("/json", func(c *web.Context) error { return c.JSON(200, []int{1, 2}) })
	app.GET("/fail", func(*web.Context) error { return errors.New("secret") })
	app.POST("/json", echo())
	app.PUT("/put", echo())
	webtest.Conform(t, app)
}

// TestEncodedSlashBesideUnescapedCharacters: a path that a client wrote with
// characters that should have been escaped is segmented like any other.
func TestEncodedSlashBesideUnescapedCharacters(t *testing.T) {
	app := newApp(t, web.Options{})
	app.GET("/v/{x}", echo("x"))
	s := httptest.NewServer(app)
	defer s.Close()
	for path, want := range map[string]string{
		"/v/a^%2Fx": "a^/x", "/v/{%2Fx": "{/x", "/v/|%2F": "|/", "/v/\"%2F\"": `"/"`, "/v/é%2Fx": "é/x", "/v/a%5E%2Fx": "a^/x", "/v/^": "^",
	} {
		conn, err := net.Dial("tcp", s.Listener.Addr().String()) //nolint:noctx // loopback
		if err != nil {
			t.Fatal(err)
		}
		if _, err = io.WriteString(conn, "GET "+path+" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(conn)
		if err = errors.Join(err, conn.Close()); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(answer), "HTTP/1.1 200 ") || !strings.Contains(string(answer), want) {
			t.Errorf("%s: %s, want %s", path, answer, want)
		}
	}
}

// TestRegistrationRefuses what would silently never match, or never run.
func TestRegistrationRefuses(t *testing.T) {
	app := newApp(t, web.Options{})
	for _, tt := range [][3]string{{"GET", "/a?b", "no query"}, {"GET", "/a#b", "no fragment"}, {"GET", "/{a}?", "no query"}, {"get", "/a", "case-sensitive"}, {"Post", "/a", "not POST"}} {
		_, err := app.TryHandle(tt[0], tt[1], echo())
		if pe, ok := errors.AsType[*web.PatternError](err); !ok || !strings.Contains(err.Error(), tt[2]) || pe.Source == "" {
			t.Errorf("%s %s: %v", tt[0], tt[1], err)
		}
	}
	if _, err := app.TryHandle("purge", "/a", echo()); err != nil {
		t.Errorf("a method of one's own: %v", err)
	}
	for name, f := range map[string]func(){
		"nil middleware": func() { app.Use(nil) },
		"gate of none":   func() { web.NewGate(0, 1) },
		"negative queue": func() { web.NewGate(1, -1) },
		"Must":           func() { web.Must(nil, errors.New("x")) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

// TestParamsOfThePrefixInNotFound: the App's own answers know the group's prefix.
func TestParamsOfThePrefixInNotFound(t *testing.T) {
	app := newApp(t, web.Options{})
	g := app.Group("/{shop}/{lang:alpha}.d")
	g.NotFound(func(c *web.Context) error {
		return c.String(404, c.Param("shop")+"|"+c.Param("lang")+"|"+c.Param("none"))
	})
	g.GET("/items", echo())
	for path, want := range map[string]string{"/a%2Fb/de.d/x/y": "a/b|de|", "/s/en.d": "s|en|"} {
		if got := webtest.New(t, app).Get(path).Want(404).Text(); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}
