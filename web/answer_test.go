package web_test

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"example.com/quire/web"
	"example.com/quire/web/webtest"
)

// TestStatusMap is the status map of section 6 and rule 24.
func TestStatusMap(t *testing.T) {
	secret := errors.New("password=hunter2")
	for _, tt := range []struct {
		err    error
		status int
		header string
	}{
		{secret, 500, ""},
		{web.ErrNotFound, 404, ""},
		{fmt.Errorf("open %w: %w", fs.ErrNotExist, secret), 404, ""},
		{web.ErrMethodNotAllowed, 405, ""},
		{web.ErrUnsupportedMedia, 415, ""},
		{web.ErrNotAcceptable, 406, ""},
		{web.ErrBodyTooLarge, 413, "Connection"},
		{&http.MaxBytesError{Limit: 1}, 413, "Connection"},
		{web.ErrPreconditionFailed, 412, ""},
		{context.DeadlineExceeded, 503, "Retry-After"},
		{context.Canceled, 500, ""},
		{web.ErrServerDraining, 503, "Retry-After"},
		{web.NewProblem(401, "sign in", secret), 401, ""},
		{&web.Problem{Status: 401, Header: http.Header{"Www-Authenticate": {`Basic realm="x"`}}}, 401, "Www-Authenticate"},
		{fmt.Errorf("wrapped: %w", web.ErrUnauthorized), 401, ""},
		{web.ErrForbidden, 403, ""},
		{web.Invalid(web.FieldError{Detail: "too late"}), 422, ""},
		{web.NewProblem(429, "slower", nil), 429, "Retry-After"},
		{fmt.Errorf("wrapped: %w", web.NewProblem(409, "taken", secret)), 409, ""},
		{web.NewProblem(200, "no error", nil), 500, ""},
		{&web.BindError{Source: "query", Name: "n", Kind: web.BindType, Want: "a number", Err: secret}, 400, ""},
	} {
		app := newApp(t, web.Options{})
		app.GET("/", func(c *web.Context) error {
			h := c.Writer().Header()
			h.Set("Etag", `"x"`)
			h.Set("Cache-Control", "public")
			return tt.err
		})
		r := webtest.New(t, app).Get("/")
		if r.Status != tt.status || strings.Contains(r.Text(), "hunter2") || (tt.header != "" && r.Header.Get(tt.header) == "") {
			t.Errorf("%v: %d %s %v", tt.err, r.Status, r.Text(), r.Header)
		}
		if r.Header.Get("Etag") != "" || r.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%v: headers of the failed answer stay: %v", tt.err, r.Header)
		}
		var p struct{ Instance string }
		if r.JSON(&p); p.Instance != r.Header.Get("X-Request-Id") {
			t.Errorf("%v: instance %q", tt.err, p.Instance)
		}
	}
}

// TestProblemHeader: fields travel with the error, and only those it names.
func TestProblemHeader(t *testing.T) {
	app := newApp(t, web.Options{})
	app.GET("/late", func(*web.Context) error {
		return fmt.Errorf("wrapped: %w", &web.Problem{Status: 429, Header: http.Header{"retry-after": {"7"}, "RateLimit": {"limit=1"}}})
	})
	app.GET("/who", func(*web.Context) error { return web.ErrUnauthorized })
	c := webtest.New(t, app)
	if h := c.Get("/late").Want(429).Header; h.Get("Retry-After") != "7" || h.Get("Ratelimit") != "limit=1" {
		t.Errorf("%v", h)
	}
	if h := c.Get("/who").Want(401).Header; h["Www-Authenticate"] != nil {
		t.Errorf("a challenge that nobody set: %v", h)
	}
}

// TestProblemForms is the negotiation of W6.
func TestProblemForms(t *testing.T) {
	app := newApp(t, web.Options{})
	p := &web.Problem{
		Type: "https://quire.example/problems/x", Title: "Bad <thing>", Status: 422, Detail: "a & b", Instance: "here",
		Fields: []web.FieldError{{Source: "body", Pointer: "/a", Detail: "<too big>", Line: 3, Column: 4}},
		Ext:    map[string]any{"zeta": 1, "alpha": []int{2}, "status": 1, "detail": "hidden"},
	}
	app.GET("/", func(*web.Context) error { return p })
	for accept, want := range map[string]string{
		"":                 "application/problem+json",
		"*/*":              "application/problem+json",
		"application/json": "application/problem+json",
		"text/html,application/xhtml+xml,*/*;q=0.8": "text/html; charset=utf-8",
		"text/plain":                            "text/plain; charset=utf-8",
		"application/xml":                       "application/problem+xml",
		"text/xml;q=0.5":                        "application/problem+xml",
		"text/*;q=0.5, application/*;q=0.1":     "text/plain; charset=utf-8",
		"application/problem+xml":               "application/problem+xml",
		"image/png":                             "application/problem+json",
		"text/html;q=0, application/json;q=0.1": "application/problem+json",
	} {
		c := webtest.New(t, app)
		if accept != "" {
			c = c.With("Accept", accept)
		}
		r := c.Get("/").Want(422)
		if got := r.Header.Get("Content-Type"); got != want || r.Header.Get("Vary") != "Accept" {
			t.Errorf("Accept %q: %q, Vary %q", accept, got, r.Header.Get("Vary"))
		}
		switch {
		case want == "application/problem+json":
			if got := r.Text(); got != `{"type":"https://quire.example/problems/x","title":"Bad \u003cthing\u003e","status":422,"detail":"a \u0026 b","instance":"here",`+
				`"fields":[{"source":"body","pointer":"/a","detail":"\u003ctoo big\u003e","line":3,"column":4}],"alpha":[2],"zeta":1}` {
				t.Errorf("JSON: %s", got)
			}
		case strings.HasPrefix(want, "text/html"):
			if !strings.Contains(r.Text(), "Bad &lt;thing&gt;") || !strings.Contains(r.Text(), "&lt;too big&gt;") || strings.Contains(r.Text(), "<thing>") || r.Header.Get("Content-Security-Policy") == "" {
				t.Errorf("HTML: %s", r.Text())
			}
		case strings.HasSuffix(want, "xml"):
			var x struct {
				Status int    `xml:"status"`
				Title  string `xml:"title"`
				Field  string `xml:"fields>i"`
			}
			if err := xml.Unmarshal(r.Body, &x); err != nil || x.Status != 422 || x.Title != "Bad <thing>" || x.Field != "body /a line 3 column 4: <too big>" {
				t.Errorf("XML: %v %+v %s", err, x, r.Text())
			}
		default:
			if r.Text() != "422 Bad <thing>\na & b\n- body /a line 3 column 4: <too big>\nid here\n" {
				t.Errorf("text: %q", r.Text())
			}
		}
	}
	app.GET("/odd", func(*web.Context) error { return &web.Problem{Status: 400, Ext: map[string]any{"f": func() {}}} })
	if r := webtest.New(t, app).Get("/odd"); r.Status != 400 || !json.Valid(r.Body) {
		t.Errorf("an extension without JSON form: %d %s", r.Status, r.Text())
	}
}

// TestOptionsProblem: an application gives the errors of web types of its own.
func TestOptionsProblem(t *testing.T) {
	app := newApp(t, web.Options{
		Limits: web.Limits{Body: 4, QueryPairs: 2},
		Problem: func(err error) *web.Problem {
			if errors.Is(err, errTeapot) {
				return nil // as without the hook
			}
			p := web.AsProblem(err)
			p.Type = "urn:test:" + strconv.Itoa(p.Status)
			return p
		},
	})
	app.POST("/{$}", func(c *web.Context) error {
		_, err := c.Body()
		return err
	})
	app.GET("/panic", func(*web.Context) error { panic("x") })
	app.GET("/tea", func(*web.Context) error { return fmt.Errorf("pot: %w", errTeapot) })
	app.GET("/odd", func(*web.Context) error { return &web.Problem{Status: 200} })
	c := webtest.New(t, app)
	for _, tt := range []struct {
		answer *webtest.Response
		status int
		want   string
	}{
		{c.Get("/nowhere"), 404, "urn:test:404"},
		{c.Get("/"), 405, "urn:test:405"},
		{c.Post("/", "text/plain", "too long"), 413, "urn:test:413"},
		{c.Get("/panic"), 500, "urn:test:500"},
		{c.Get("/odd"), 500, "urn:test:500"},
		{c.Get("/tea"), 500, "about:blank"},
		{c.Get("/?a&b&c&d"), 400, "urn:test:400"},
		{c.With("Origin", "https://elsewhere.example").With("Sec-Fetch-Site", "cross-site").Post("/", "text/plain", ""), 403, "urn:test:403"},
	} {
		var p struct {
			Type, Title, Instance string
			Status                int
		}
		tt.answer.Want(tt.status).JSON(&p)
		if p.Type != tt.want || p.Status != tt.status || p.Title != http.StatusText(tt.status) || p.Instance != tt.answer.Header.Get("X-Request-Id") {
			t.Errorf("%d: %+v, want type %s", tt.status, p, tt.want)
		}
	}
}

var errTeapot = errors.New("teapot")

// TestProblemOfTimeBudget: the answer to a spent budget is made beside the handler.
func TestProblemOfTimeBudget(t *testing.T) {
	for name, tt := range map[string]struct {
		hook func(error) *web.Problem
		want string
	}{
		"typed": {func(err error) *web.Problem {
			p := web.AsProblem(err)
			p.Type, p.Instance = fmt.Sprint("urn:test:late:", errors.Is(err, context.DeadlineExceeded)), "i"
			return p
		}, `{"type":"urn:test:late:true","title":"Service Unavailable","status":503,"detail":"the time for this request is over","instance":"i"}`},
		"panics": {
			func(error) *web.Problem { panic("x") },
			`{"type":"about:blank","title":"Service Unavailable","status":503,"detail":"the time for this request is over","instance":"r"}`,
		},
		"not encodable": {func(err error) *web.Problem {
			p := web.AsProblem(err)
			p.Ext = map[string]any{"f": func() {}}
			return p
		}, `{"type":"about:blank","title":"Service Unavailable","status":503,"detail":"the time for this request is over","instance":"r"}`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				app := newApp(t, web.Options{Problem: tt.hook})
				app.Use(func(next web.Handler) web.Handler {
					return func(c *web.Context) error {
						c.SetRequestID("r")
						return next(c)
					}
				})
				app.GET("/", func(c *web.Context) error {
					<-c.Context().Done()
					return nil
				}, web.Budgets{Time: time.Second})
				w := httptest.NewRecorder()
				app.ServeHTTP(w, newRequest(t, "GET", "/"))
				if w.Code != 503 || w.Body.String() != tt.want {
					t.Errorf("%d %s", w.Code, w.Body)
				}
			})
		})
	}
}

func TestErrorHandler(t *testing.T) {
	var seen error
	app := newApp(t, web.Options{ErrorHandler: func(c *web.Context, err error) {
		seen = err
		if errors.Is(err, io.ErrUnexpectedEOF) {
			c.AnswerError(web.NewProblem(418, "", err))
			return
		}
		_ = c.String(599, "own") // the test looks at the outcome
	}})
	app.GET("/teapot", func(*web.Context) error { return io.ErrUnexpectedEOF })
	app.GET("/own", func(*web.Context) error { return web.ErrNotFound })
	c := webtest.New(t, app)
	c.Get("/teapot").Want(418)
	if r := c.Get("/own").Want(599); r.Text() != "own" || !errors.Is(seen, web.ErrNotFound) {
		t.Errorf("%q %v", r.Text(), seen)
	}
}

// TestErrorTwice: the first answer wins.
func TestErrorTwice(t *testing.T) {
	app := newApp(t, web.Options{})
	app.Use(func(next web.Handler) web.Handler {
		return func(c *web.Context) error {
			if err := next(c); err != nil {
				c.Error(err)
			}
			if c.Status() != 404 || c.Written() == 0 {
				t.Errorf("after Error: status %d, %d bytes", c.Status(), c.Written())
			}
			c.Error(nil)
			return errors.New("later")
		}
	})
	app.GET("/", func(*web.Context) error { return web.ErrNotFound })
	webtest.New(t, app).Get("/").Want(404)
}

// cut runs a request and reports whether the answer was cut.
func cut(t *testing.T, app http.Handler, r *http.Request) (w *httptest.ResponseRecorder, aborted bool) {
	t.Helper()
	w = httptest.NewRecorder()
	defer func() {
		if p := recover(); p != nil {
			err, ok := p.(error)
			aborted = ok && errors.Is(err, http.ErrAbortHandler)
		}
	}()
	app.ServeHTTP(w, r)
	return w, false
}

// TestRule21 is section 5.3, rule 21, and the panics of W21.
func TestRule21(t *testing.T) {
	var log bytes.Buffer
	app := newApp(t, web.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	app.GET("/late", func(c *web.Context) error {
		if err := c.String(200, "begun"); err != nil {
			return err
		}
		return errors.New("the cause")
	})
	app.GET("/twice", func(c *web.Context) error { return errors.Join(c.String(200, "one"), c.JSON(200, 2)) })
	app.GET("/panic", func(*web.Context) error { panic("boom 17") })
	app.GET("/latepanic", func(c *web.Context) error {
		if err := c.NoContent(204); err != nil {
			return err
		}
		panic("boom 18")
	})
	app.GET("/abort", func(*web.Context) error { panic(http.ErrAbortHandler) })
	app.GET("/aborterr", func(*web.Context) error { return http.ErrAbortHandler })
	app.GET("/stream", func(c *web.Context) error {
		return c.Stream("text/plain", func(w io.Writer) error {
			if _, err := io.WriteString(w, "part"); err != nil {
				return err
			}
			return errors.New("stream broke")
		})
	})
	app.GET("/streamfirst", func(c *web.Context) error {
		return c.Stream("text/plain", func(io.Writer) error { return errors.New("before the first byte") })
	})
	for path, want := range map[string]struct {
		cut  bool
		code int
		log  string
	}{
		"/late": {true, 200, "the cause"}, "/twice": {true, 200, "begun already"}, "/panic": {false, 500, "boom 17"}, "/latepanic": {true, 204, "boom 18"},
		"/abort": {true, 200, ""}, "/aborterr": {true, 200, ""}, "/stream": {true, 200, "stream broke"}, "/streamfirst": {false, 500, "before the first byte"},
	} {
		log.Reset()
		w, aborted := cut(t, app, httptest.NewRequestWithContext(t.Context(), "GET", path, nil))
		if aborted != want.cut || w.Code != want.code || !strings.Contains(log.String(), want.log) || strings.Contains(w.Body.String(), want.log) && want.log != "" {
			t.Errorf("%s: cut %v, %d %q, log %s", path, aborted, w.Code, w.Body, log.String())
		}
	}
	if log.Reset(); true {
		webtest.New(t, app).Get("/panic")
		if !strings.Contains(log.String(), "answer_test.go") {
			t.Errorf("no stack in the log: %s", log.String())
		}
	}
}

func TestClientGone(t *testing.T) {
	var log bytes.Buffer
	app := newApp(t, web.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	ctx, cancel := context.WithCancel(t.Context())
	status := 0
	app.Use(func(next web.Handler) web.Handler {
		return func(c *web.Context) error {
			c.Error(next(c))
			status = c.Status()
			return nil
		}
	})
	app.GET("/", func(c *web.Context) error { cancel(); return c.Context().Err() })
	w, aborted := cut(t, app, httptest.NewRequestWithContext(ctx, "GET", "/", nil))
	if !aborted || w.Body.Len() != 0 || status != 499 || strings.Contains(log.String(), "ERROR") || !strings.Contains(log.String(), "client gone") {
		t.Errorf("cut %v, %q, status %d, log %s", aborted, w.Body, status, log.String())
	}
}

type unencodable struct{ F func() }

func TestRender(t *testing.T) {
	templates, err := web.NewTemplates(fstest.MapFS{"page.html": {Data: []byte(`<p>{{.}}</p>{{if eq . "bad"}}{{.Missing}}{{end}}`)}}, web.TemplateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	app := newApp(t, web.Options{Templates: templates})
	v := map[string]string{"a": "<&>"}
	for name, tt := range map[string]struct {
		h          web.Handler
		code       int
		kind, body string
	}{
		"json":      {func(c *web.Context) error { return c.JSON(201, v) }, 201, "application/json", `{"a":"\u003c\u0026\u003e"}`},
		"pure":      {func(c *web.Context) error { return c.PureJSON(200, v) }, 200, "application/json", `{"a":"<&>"}`},
		"indented":  {func(c *web.Context) error { return c.IndentedJSON(200, v) }, 200, "application/json", "{\n  \"a\": \"\\u003c\\u0026\\u003e\"\n}"},
		"string":    {func(c *web.Context) error { return c.String(200, "é") }, 200, "text/plain; charset=utf-8", "é"},
		"stringf":   {func(c *web.Context) error { return c.Stringf(200, "%s %d", "é", 7) }, 200, "text/plain; charset=utf-8", "é 7"},
		"blob":      {func(c *web.Context) error { return c.Blob(200, "image/x", []byte{1, 2}) }, 200, "image/x", "\x01\x02"},
		"html":      {func(c *web.Context) error { return c.HTML(200, "page.html", "<b>") }, 200, "text/html; charset=utf-8", "<p>&lt;b&gt;</p>"},
		"none":      {func(c *web.Context) error { return c.NoContent(204) }, 204, "", ""},
		"none200":   {func(c *web.Context) error { return c.NoContent(202) }, 202, "", ""},
		"bodyless":  {func(c *web.Context) error { return c.JSON(204, v) }, 204, "application/json", ""},
		"bodyless2": {func(c *web.Context) error { return c.String(304, "x") }, 304, "text/plain; charset=utf-8", ""},
		"nothing":   {func(*web.Context) error { return nil }, 200, "", ""},
		// Rule 20: never 200 with an empty body.
		"unencodable": {func(c *web.Context) error { return c.JSON(200, unencodable{}) }, 500, "application/problem+json", "*"},
		"unpure":      {func(c *web.Context) error { return c.PureJSON(200, unencodable{}) }, 500, "application/problem+json", "*"},
		"badtemplate": {func(c *web.Context) error { return c.HTML(200, "page.html", "bad") }, 500, "application/problem+json", "*"},
		"notemplate":  {func(c *web.Context) error { return c.HTML(200, "none.html", "bad") }, 500, "application/problem+json", "*"},
		"badtype":     {func(c *web.Context) error { return c.Blob(200, "a/b\r\nX: y", nil) }, 500, "application/problem+json", "*"},
		"stream": {func(c *web.Context) error {
			return c.Stream("text/csv", func(w io.Writer) error { _, err := io.WriteString(w, "a,b\n"); return err })
		}, 200, "text/csv", "a,b\n"},
		"emptystream": {func(c *web.Context) error { return c.Stream("text/csv", func(io.Writer) error { return nil }) }, 200, "text/csv", ""},
	} {
		app.GET("/"+name, tt.h)
		r := webtest.New(t, app).Get("/" + name)
		if r.Status != tt.code || r.Header.Get("Content-Type") != tt.kind || (r.Text() != tt.body && tt.body != "*") {
			t.Errorf("%s: %d %q %q", name, r.Status, r.Header.Get("Content-Type"), r.Text())
		}
		if n := r.Header.Get("Content-Length"); (r.Status == 204 || r.Status == 304) && n != "" || (n != "" && n != fmt.Sprint(len(r.Body))) {
			t.Errorf("%s: Content-Length %q for %d bytes", name, n, len(r.Body))
		}
	}
	webtest.Conform(t, app)
}

func TestRedirectTargets(t *testing.T) {
	app := newApp(t, web.Options{})
	app.GET("/go", func(c *web.Context) error { return c.Redirect(303, c.Query("to")) })
	app.GET("/local", func(c *web.Context) error { return c.LocalRedirect(302, c.Query("to")) })
	app.GET("/code", func(c *web.Context) error { return c.Redirect(200, "/") })
	c := webtest.New(t, app)
	if r := c.Get("/go?to=https://a.example/%C3%A9%20x").Want(303); r.Header.Get("Location") != "https://a.example/%C3%A9%20x" {
		t.Errorf("Location %q", r.Header.Get("Location"))
	}
	if r := c.Get("/local?to=/a?b%3D1").Want(302); r.Header.Get("Location") != "/a?b=1" {
		t.Errorf("Location %q", r.Header.Get("Location"))
	}
	for _, to := range []string{"//evil.example", "/%5Cevil.example", "https://evil.example", "", "evil", "/a%0D%0AX:y", "/%09/evil.example"} {
		if r := c.Get("/local?to=" + to); r.Status != 400 || r.Header.Get("Location") != "" {
			t.Errorf("LocalRedirect to %q: %d %v", to, r.Status, r.Header)
		}
	}
	c.Get("/go?to=%0D%0AX:y").Want(500)
	c.Get("/go").Want(500)
	c.Get("/code").Want(500)
}

func TestContentDisposition(t *testing.T) {
	for name, want := range map[string]string{
		"a.pdf":     `attachment; filename="a.pdf"`,
		`q"u\/.pdf`: `attachment; filename="q\"u__.pdf"`,
		"é%.pdf":    `attachment; filename="_%.pdf"; filename*=UTF-8''%C3%A9%25.pdf`,
		"a\r\nb":    `attachment; filename="a__b"`,
		"100%":      `attachment; filename="100%"; filename*=UTF-8''100%25`,
	} {
		if got := web.ContentDisposition("attachment", name); got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
}

func TestTemplates(t *testing.T) {
	files := fstest.MapFS{
		"layouts/base.html":  {Data: []byte(`<html>{{block "main" .}}empty{{end}}{{template "partials/foot.html" .}}</html>`)},
		"partials/foot.html": {Data: []byte(`<i>{{up "foot"}}</i>`)},
		"a.html":             {Data: []byte(`{{define "main"}}A {{.}}{{end}}`)},
		"sub/b.html":         {Data: []byte(`{{define "main"}}B {{template "row" .}}{{end}}{{define "row"}}<td>{{.}}</td>{{end}}`)},
		"note.txt":           {Data: []byte(`{{nonsense`)},
	}
	o := web.TemplateOptions{Layout: "layouts/base.html", Funcs: map[string]any{"up": strings.ToUpper}}
	tmpl, err := web.NewTemplates(files, o)
	if err != nil {
		t.Fatal(err)
	}
	render := func(name string) string {
		var b strings.Builder
		if err := tmpl.Render(&b, name, "<x>"); err != nil {
			return "error"
		}
		return b.String()
	}
	for name, want := range map[string]string{
		"a.html":         "<html>A &lt;x&gt;<i>FOOT</i></html>",
		"sub/b.html":     "<html>B <td>&lt;x&gt;</td><i>FOOT</i></html>",
		"sub/b.html#row": "<td>&lt;x&gt;</td>",
		"a.html#row":     "error", "none.html": "error",
	} {
		if got := render(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if _, err := web.New(web.Options{Debug: true, Templates: tmpl}); err != nil {
		t.Fatal(err)
	}
	files["a.html"] = &fstest.MapFile{Data: []byte(`{{define "main"}}new{{end}}`)}
	if got := render("a.html"); got != "<html>new<i>FOOT</i></html>" {
		t.Errorf("under Debug a change is not seen: %q", got)
	}
	files["a.html"] = &fstest.MapFile{Data: []byte(`{{broken`)}
	if render("a.html") != "error" {
		t.Error("a broken template was rendered")
	}
	if _, err := web.NewTemplates(files, o); err == nil {
		t.Error("a broken template was parsed")
	}
	if _, err := web.NewTemplates(fstest.MapFS{"a.html": {}}, o); err == nil {
		t.Error("a missing layout was taken")
	}
	if got, err := web.NewTemplates(fstest.MapFS{"x.tmpl": {Data: []byte(`[[.]]`)}}, web.TemplateOptions{Ext: ".tmpl", Left: "[[", Right: "]]"}); err != nil {
		t.Error(err)
	} else if tmpl = got; render("x.tmpl") != "&lt;x&gt;" {
		t.Errorf("delimiters: %q", render("x.tmpl"))
	}
}

// TestStatusesThatAreNone: an answer's status is 200 to 599; of any other nothing is sent.
func TestStatusesThatAreNone(t *testing.T) {
	app := newApp(t, web.Options{})
	app.GET("/{how}/{code:int}", func(c *web.Context) error {
		code, err := c.ParamInt("code")
		if err != nil {
			return err
		}
		switch c.Param("how") {
		case "string":
			return c.String(code, "x")
		case "json":
			return c.JSON(code, "x")
		case "blob":
			return c.Blob(code, "text/plain", []byte("x"))
		}
		return c.NoContent(code)
	})
	cl := webtest.New(t, app)
	for _, how := range []string{"string", "json", "blob", "none"} {
		for code, want := range map[int]int{-1: 500, 0: 500, 100: 500, 101: 500, 103: 500, 199: 500, 200: 200, 299: 299, 599: 599, 600: 500, 1000: 500} {
			if r := cl.Get(fmt.Sprintf("/%s/%d", how, code)); r.Status != want {
				t.Errorf("%s %d: %d, want %d", how, code, r.Status, want)
			}
		}
	}
}

// TestSetHeader refuses what could become another field.
func TestSetHeader(t *testing.T) {
	app := newApp(t, web.Options{})
	app.GET("/", func(c *web.Context) error {
		for _, bad := range [][2]string{{"X-A", "a\r\nX-B: c"}, {"X-A", "a\x00"}, {"X A", "a"}, {"", "a"}, {"X-A:", "a"}} {
			if err := c.SetHeader(bad[0], bad[1]); err == nil {
				t.Errorf("%q was taken", bad)
			}
		}
		if err := c.SetHeader("x-good", "a\tb é"); err != nil {
			return err
		}
		return c.NoContent(204)
	})
	if got := webtest.New(t, app).Get("/").Want(204).Header.Get("X-Good"); got != "a\tb é" {
		t.Errorf("%q", got)
	}
}

// TestNegotiate is RFC 9110, section 12.5.1: weights, specificity, 406 with what
// is to be had, and Vary.
func TestNegotiate(t *testing.T) {
	type item struct {
		XMLName struct{} `json:"-" xml:"item"`
		Name    string   `json:"name" xml:"name"`
	}
	app := newApp(t, web.Options{Codecs: []web.Codec{lines{}}})
	app.GET("/", func(c *web.Context) error { return c.Negotiate(201, item{Name: "a<b"}) })
	app.GET("/hal", func(c *web.Context) error {
		return c.Negotiate(200, item{Name: "x"}, "application/hal+json", "text/plain; charset=utf-8")
	})
	app.GET("/bad", func(c *web.Context) error { return c.Negotiate(200, item{}, "image/png") })
	app.GET("/func", func(c *web.Context) error { return c.Negotiate(200, func() {}, c.Query("as")) })
	for accept, want := range map[string]string{
		"": "application/json", "*/*": "application/json", "application/xml": "application/xml", "application/json;q=0.5, application/xml": "application/xml",
		"application/*;q=0.1, text/lines": "text/lines", "application/json;q=0, */*": "application/xml",
	} {
		c := webtest.New(t, app)
		if accept != "" {
			c = c.With("Accept", accept)
		}
		r := c.Get("/").Want(201)
		if r.Header.Get("Content-Type") != want || r.Header.Get("Vary") != "Accept" || r.Header.Get("Content-Length") != fmt.Sprint(len(r.Body)) {
			t.Errorf("%q: %v", accept, r.Header)
		}
	}
	c := webtest.New(t, app)
	if got := c.With("Accept", "application/xml").Get("/").Text(); got != "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<item><name>a&lt;b</name></item>" {
		t.Errorf("%s", got)
	}
	if r := c.With("Accept", "image/png").Get("/").Want(406); !strings.Contains(r.Text(), "application/json, application/xml, text/lines") {
		t.Errorf("%s", r.Text())
	}
	if r := c.Get("/hal").Want(200); r.Header.Get("Content-Type") != "application/hal+json" || r.Text() != `{"name":"x"}` {
		t.Errorf("%v %s", r.Header, r.Text())
	}
	c.With("Accept", "text/plain").Get("/hal").Want(200)
	c.Get("/bad").Want(500)
	for _, kind := range []string{"application/json", "application/xml", "application/hal%2Bjson"} { // what cannot be encoded is never a 200
		c.Get("/func?as=" + kind).Want(500)
	}
}

type xmlValue struct{ A int }

// TestXMLAndYAML: nothing of what cannot be encoded is sent.
func TestXMLAndYAML(t *testing.T) {
	app := newApp(t, web.Options{})
	app.GET("/xml", func(c *web.Context) error { return c.XML(200, xmlValue{1}) })
	app.GET("/bad", func(c *web.Context) error { return c.XML(200, map[string]int{"a": 1}) })
	app.GET("/yaml", func(c *web.Context) error { return c.YAML(200, 1) })
	c := webtest.New(t, app)
	if r := c.Get("/xml").Want(200); r.Header.Get("Content-Type") != "application/xml; charset=utf-8" || !strings.HasSuffix(r.Text(), "<xmlValue><A>1</A></xmlValue>") {
		t.Errorf("%v %s", r.Header, r.Text())
	}
	c.Get("/bad").Want(500)
	c.Get("/yaml").Want(500)
	// What an encoder had begun is in no later answer.
	if got := c.Get("/xml").Want(200).Text(); !strings.HasPrefix(got, "<?xml") || strings.Count(got, "<") != 5 {
		t.Errorf("after a value that cannot be encoded: %s", got)
	}
}

// noType is a codec that says no media type.
type noType struct{ web.Codec }

func (noType) MediaTypes() []string { return nil }

func TestCodecWithoutMediaTypeIsRefused(t *testing.T) {
	_, err := web.New(web.Options{Codecs: []web.Codec{noType{}}})
	if e, ok := errors.AsType[*web.ConfigError](err); !ok || e.Field != "Options.Codecs[0]" || e.Got != "no media type" {
		t.Errorf("%v", err)
	}
}

func TestXMLProblemHasTheExtensions(t *testing.T) {
	app := newApp(t, web.Options{})
	app.GET("/", func(*web.Context) error {
		p := web.NewProblem(409, "taken", nil)
		p.Ext = map[string]any{
			"balance": 30.5, "accounts": []any{"/a<1>", map[string]int{"n": 1 << 60}}, "none": nil, "ok": true,
			"status": 7, "two words": 1, "ns:x": 1, "-x": 1, "func": func() {},
		}
		return p
	})
	got := webtest.New(t, app).With("Accept", "application/xml").Get("/").Want(409).Text()
	want := "<detail>taken</detail><instance>"
	_, rest, ok := strings.Cut(got, "</instance>")
	if !ok || !strings.Contains(got, want) {
		t.Fatalf("%s", got)
	}
	if rest != "<accounts><i>/a&lt;1&gt;</i><i><n>1152921504606846976</n></i></accounts><balance>30.5</balance><none></none><ok>true</ok></problem>\n" {
		t.Errorf("extensions: %s", rest)
	}
}
