package middleware_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"example.com/quire/web"
	"example.com/quire/web/middleware"
	"example.com/quire/web/webtest"
)

// TestCORS is the Fetch standard's protocol: who is let, who is not and what a
// preflight says.
func TestCORS(t *testing.T) {
	mw := must(t)(middleware.CORS(middleware.CORSOptions{
		Origins: []string{"https://app.example", "https://*.shop.example:8443"}, AllowOrigin: func(o string) bool { return o == "null" },
		Headers: []string{"X-Tok", "Content-Type"}, Expose: []string{"Etag"}, Credentials: true, PrivateNetwork: true,
	}))
	app, err := web.New(web.Options{})
	if err != nil {
		t.Fatal(err)
	}
	app.Use(mw)
	app.GET("/x", func(c *web.Context) error { return c.String(200, "x") })
	app.PUT("/x", func(c *web.Context) error { return c.NoContent(204) })
	app.Any("/any/{id}", func(c *web.Context) error { return c.NoContent(204) })
	app.Host("shop.example").OPTIONS("/own/{id}", func(c *web.Context) error { return c.NoContent(204) })
	app.Host("shop.example").PUT("/own/{id}", func(c *web.Context) error { return c.NoContent(204) })
	c := webtest.New(t, app)
	for origin, want := range map[string]bool{
		"https://app.example": true, "HTTPS://APP.example": true, "https://a.shop.example:8443": true, "https://a.b.shop.example:8443": true, "null": true,
		"http://app.example": false, "https://app.example.evil": false, "https://evilapp.example": false, "https://shop.example:8443": false, "https://a.shop.example": false,
		"https://evil.example/.shop.example:8443": false, "https://app.example:8443": false, "": false,
	} {
		r := c.With("Origin", origin).Get("/x").Want(200)
		granted := r.Header.Get("Access-Control-Allow-Origin")
		if (granted != "") != want || want && (granted != origin || r.Header.Get("Access-Control-Allow-Credentials") != "true" || r.Header.Get("Access-Control-Expose-Headers") != "Etag") {
			t.Errorf("%s: %v", origin, r.Header)
		}
		if !strings.Contains(strings.Join(r.Header["Vary"], ","), "Origin") || !want && strings.Contains(strings.Join(keys(r.Header), ","), "Access-Control") {
			t.Errorf("%s: %v", origin, r.Header)
		}
	}
	ask := func(path, method, headers string) *webtest.Response {
		p := c.With("Origin", "https://app.example").With("Access-Control-Request-Private-Network", "true")
		if method != "" {
			p = p.With("Access-Control-Request-Method", method)
		}
		if headers != "" {
			p = p.With("Access-Control-Request-Headers", headers)
		}
		return p.Do("OPTIONS", path, nil)
	}
	if h := ask("/x", "PUT", "x-tok, content-type").Want(204).Header; h.Get("Access-Control-Allow-Methods") != "PUT" || h.Get("Access-Control-Allow-Headers") != "X-Tok, Content-Type" ||
		h.Get("Access-Control-Max-Age") != "600" || h.Get("Access-Control-Allow-Private-Network") != "true" || h.Get("Access-Control-Allow-Origin") != "https://app.example" {
		t.Errorf("%v", h)
	}
	// A path whose OPTIONS a route answers takes what its routes take.
	for _, target := range []string{"/any/7", "http://shop.example/own/a%2Fb"} {
		if h := ask(target, "PUT", "").Want(204).Header; h.Get("Access-Control-Allow-Methods") != "PUT" {
			t.Errorf("%s: %v", target, h)
		}
	}
	for _, refused := range []*webtest.Response{
		ask("/x", "DELETE", ""), ask("/x", "PUT", "x-other"), ask("/none", "PUT", ""), ask("http://shop.example/own/7", "DELETE", ""),
	} {
		if h := refused.Header; h.Get("Access-Control-Allow-Methods") != "" {
			t.Errorf("%d %v", refused.Status, h)
		}
	}
	ask("/none", "GET", "").Want(404)
	if h := ask("/x", "", "").Want(204).Header; h.Get("Allow") == "" { // OPTIONS without the question is no preflight
		t.Errorf("%v", h)
	}
	for _, bad := range []middleware.CORSOptions{
		{Origins: []string{"*"}, Credentials: true},
		{Origins: []string{"app.example"}},
		{Origins: []string{"https://app.example/"}},
		{Origins: []string{"https://a*.example"}},
		{Origins: []string{"https://*.*.example"}},
		{Headers: []string{"a b"}},
		{Headers: []string{"*"}, Credentials: true},
	} {
		if _, err := middleware.CORS(bad); err == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
	everyone := newApp(t, web.Options{}, must(t)(middleware.CORS(middleware.CORSOptions{Origins: []string{"*"}})))
	if got := webtest.New(t, everyone).With("Origin", "https://any.example").Get("/ok/1").Header.Get("Access-Control-Allow-Origin"); got != "*" {
		t.Errorf("%q", got)
	}
}

func keys(h http.Header) (names []string) {
	for k := range h {
		names = append(names, k)
	}
	return names
}

// TestIPFilter: lists, networks, addresses of IPv4 mapped into IPv6.
func TestIPFilter(t *testing.T) {
	for _, tt := range []struct {
		o    middleware.IPFilterOptions
		from string
		want int
	}{
		{middleware.IPFilterOptions{Allow: []string{"1.2.3.0/24"}}, "1.2.3.4:5", 200},
		{middleware.IPFilterOptions{Allow: []string{"1.2.3.0/24"}}, "[::ffff:1.2.3.4]:5", 200},
		{middleware.IPFilterOptions{Allow: []string{"::ffff:1.2.3.0/120"}}, "1.2.3.4:5", 200},
		{middleware.IPFilterOptions{Allow: []string{"::ffff:1.2.3.4"}}, "1.2.3.4:5", 200},
		{middleware.IPFilterOptions{Allow: []string{"1.2.3.4"}}, "1.2.3.5:5", 403},
		{middleware.IPFilterOptions{Allow: []string{"1.2.3.4"}}, "@", 403},
		{middleware.IPFilterOptions{Deny: []string{"1.2.3.4"}}, "[::ffff:1.2.3.4]:5", 403},
		{middleware.IPFilterOptions{Deny: []string{"2001:db8::/32"}}, "[2001:db8::1%eth0]:5", 403},
		{middleware.IPFilterOptions{Deny: []string{"1.2.3.4"}}, "1.2.3.5:5", 200},
		{middleware.IPFilterOptions{Allow: []string{"1.2.3.0/24"}, Deny: []string{"1.2.3.4"}}, "1.2.3.4:5", 403},
	} {
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/ok/1", nil)
		r.RemoteAddr = tt.from
		w := httptest.NewRecorder()
		newApp(t, web.Options{}, must(t)(middleware.IPFilter(tt.o))).ServeHTTP(w, r)
		if w.Code != tt.want {
			t.Errorf("%+v from %s: %d, want %d", tt.o, tt.from, w.Code, tt.want)
		}
	}
	for _, bad := range []middleware.IPFilterOptions{{}, {Allow: []string{"x"}}, {Deny: []string{"1.2.3.4/33"}}, {Allow: []string{"::ffff:0:0/90"}}} {
		if _, err := middleware.IPFilter(bad); err == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
}

// TestBasicAuthAndKeys: who is who, and the challenge to everybody else.
func TestBasicAuthAndKeys(t *testing.T) {
	app, err := web.New(web.Options{})
	if err != nil {
		t.Fatal(err)
	}
	who := func(c *web.Context) error { return c.String(200, c.User()) }
	app.Group("/basic", must(t)(middleware.BasicAuth(middleware.BasicAuthOptions{Realm: `a "b" \`, Users: map[string]string{"ada": "pä:ss"}}))).GET("/", who)
	app.Group("/key", must(t)(middleware.KeyAuth(middleware.KeyAuthOptions{Verify: func(_ *web.Context, key string) (string, bool) { return "bob", key == "k" }}))).GET("/", who)
	ask := func(user, password string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/basic/", nil)
		if user != "-" {
			r.SetBasicAuth(user, password)
		}
		w := httptest.NewRecorder()
		app.ServeHTTP(w, r)
		return w
	}
	if w := ask("ada", "pä:ss"); w.Code != 200 || w.Body.String() != "ada" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	for _, wrong := range [][2]string{{"ada", "x"}, {"ada", ""}, {"eve", "pä:ss"}, {"", ""}, {"-", ""}} {
		if w := ask(wrong[0], wrong[1]); w.Code != 401 || w.Header().Get("Www-Authenticate") != `Basic realm="a \"b\" \\", charset="UTF-8"` {
			t.Errorf("%v: %d %v", wrong, w.Code, w.Header())
		}
	}
	c := webtest.New(t, app)
	// The same credentials in other spellings: the scheme's case, and base64 with a line break in
	// it.
	field := "YWRhOnDDpDpzcw=="
	for _, spelt := range []string{"Basic " + field, "basic " + field, "BASIC " + field, "Basic " + field[:4] + "\n" + field[4:]} {
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/basic/", nil)
		r.Header["Authorization"] = []string{spelt}
		w := httptest.NewRecorder()
		if app.ServeHTTP(w, r); w.Code != 200 || w.Body.String() != "ada" {
			t.Errorf("%q: %d %s", spelt, w.Code, w.Body)
		}
	}
	for _, spelt := range []string{"", "Basic", "Basic ", field, "Basic " + field[:15], "Basic " + field + "x", "Basic " + field + ", Basic " + field, "Bearer " + field} {
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/basic/", nil)
		r.Header["Authorization"] = []string{spelt}
		w := httptest.NewRecorder()
		if app.ServeHTTP(w, r); w.Code != 401 {
			t.Errorf("%q: %d %s", spelt, w.Code, w.Body)
		}
	}
	if got := c.With("X-Api-Key", "k").Get("/key/").Want(200).Text(); got != "bob" {
		t.Errorf("%q", got)
	}
	c.With("X-Api-Key", "x").Get("/key/").Want(401)
	c.Get("/key/").Want(401)
	for _, bad := range []middleware.BasicAuthOptions{{}, {Users: map[string]string{"a:b": "c"}}, {Users: map[string]string{"": "c"}}, {Realm: "a\r\nb", Users: map[string]string{"a": "b"}}} {
		if _, err := middleware.BasicAuth(bad); err == nil {
			t.Errorf("%+v was taken", bad.Realm)
		}
	}
	if _, err := middleware.KeyAuth(middleware.KeyAuthOptions{}); err == nil {
		t.Error("no function was taken")
	}
}
