package web_test

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/quire/web"
	"example.com/quire/web/webtest"
)

func explainApp(t *testing.T) *web.App {
	t.Helper()
	app := newApp(t, web.Options{})
	app.GET("/users/{id:int}", echo(), web.Name("user"), web.Meta("m"))
	app.GET("/users/{name}", echo(), web.Name("named"))
	app.POST("/users/{name}", echo())
	app.GET("/users/{name}.json", echo(), web.Name("json"))
	app.GET("/files/{path...}", echo(), web.Name("file"))
	app.Any("/caf%C3%A9/{$}", echo(), web.Name("café"))
	app.Host("api.example.com").GET("/users/{x}", echo(), web.Name("host"))
	return app
}

func TestExplain(t *testing.T) {
	app := explainApp(t)
	for _, tt := range []struct{ method, target, first, text string }{
		{"GET", "/users/7", "/users/{id:int}", "{id:int} comes before {name}"},
		{"GET", "/users/x", "/users/{name}", `segment 2 "x" is not {id:int}`},
		{"GET", "http://api.example.com/users/7", "/users/{x}", "a route with the host comes first"},
		{"GET", "/users/7", "/users/{id:int}", "the host differs"},
		{"POST", "/users/7", "/users/{name}", "takes GET only"},
		{"HEAD", "/files/", "/files/{path...}", "segment 1 \"files\" is not users"},
		{"GET", "/users", "", "the path ends before segment 2"},
		{"GET", "/users/7/x", "", "the path goes on after segment 2"},
		{"GET", "/users/", "", "segment 2 is empty"},
		{"GET", "/files", "", "307 to /files/"},
		{"GET", "/files/a//b", "", "the path is not clean"},
		{"PUT", "/users/7", "", "405, Allow: GET, HEAD, OPTIONS, POST"},
		{"OPTIONS", "/users/7", "", "204, Allow"},
		{"GET", "*", "", "no path"},
		{"GET", "/%zz", "", "400"},
	} {
		e := app.Explain(tt.method, tt.target)
		got := ""
		if e.Route != nil {
			got = e.Route.Pattern
		}
		if got != tt.first || !strings.Contains(e.String(), tt.text) || (got != "" && (!e.Candidates[0].Won || !strings.HasPrefix(e.Route.Source, "web/explain_test.go:"))) {
			t.Errorf("%s %s: %q\n%s\nwant %q and %q", tt.method, tt.target, got, e, tt.first, tt.text)
		}
	}
	routes := app.Routes()
	if len(routes) != 7 || routes[0].Host != "" || routes[6].Host != "api.example.com" || routes[2].Pattern != "/users/{id:int}" || routes[2].Meta[0] != "m" {
		t.Errorf("routes %+v", routes)
	}
}

func TestTreeGolden(t *testing.T) {
	golden := filepath.Join("testdata", "tree.golden")
	got := explainApp(t).Tree()
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || got != strings.ReplaceAll(string(want), "\r\n", "\n") {
		t.Errorf("%v, got\n%s", err, got)
	}
}

func TestURL(t *testing.T) {
	app := explainApp(t)
	for _, tt := range []struct {
		name string
		kv   []any
		want string
	}{
		{"user", []any{"id", -7}, "/users/-7"},
		{"named", []any{"name", "a/b c?%"}, "/users/a%2Fb%20c%3F%25"},
		{"json", []any{"name", "x"}, "/users/x.json"},
		{"file", []any{"path", "a/b c/d"}, "/files/a/b%20c/d"},
		{"file", nil, "/files/"},
		{"host", []any{"x", "y"}, "//api.example.com/users/y"},
		{"café", nil, "/caf%C3%A9/"},
		{"user", []any{"id", "x"}, ""},
		{"user", nil, ""},
		{"user", []any{"id"}, ""},
		{"user", []any{"id", ""}, ""},
		{"user", []any{"nope", 1}, ""},
		{"named", []any{"name", ".."}, ""},
		{"file", []any{"path", "a/../b"}, ""},
		{"none", nil, ""},
	} {
		got, err := app.URL(tt.name, tt.kv...)
		if got != tt.want || (err != nil) != (tt.want == "") {
			t.Errorf("%s %v: %q %v, want %q", tt.name, tt.kv, got, err, tt.want)
			continue
		}
		if tt.want != "" && !strings.HasPrefix(tt.want, "//") {
			if code, body, _ := ask(app, "GET", got); code != 200 {
				t.Errorf("%s is not taken: %d %s", got, code, body)
			}
		}
	}
}

// TestAudit is W20.
func TestAudit(t *testing.T) {
	app, err := web.New(web.Options{})
	if err != nil {
		t.Fatal(err)
	}
	app.GET("/", echo())
	if f := app.Audit(); len(f) != 0 {
		t.Errorf("Options{} has findings: %v", f)
	}
	loose := newApp(t, web.Options{
		Debug: true, NoRedirectClean: true, ErrorHandler: (*web.Context).AnswerError, Problem: web.AsProblem,
		ClientIP: web.TrustedHeader("X-Real-IP", "10.0.0.0/8"), Limits: web.Limits{Body: -1, QueryPairs: 1000, JSONDepth: 10},
	})
	loose.POST("/big", echo(), web.Budgets{BodyBytes: 10 << 20})
	loose.POST("/any", echo(), web.Budgets{BodyBytes: -1}, web.AllowUnknownFields())
	var settings []string
	for _, f := range loose.Audit() {
		settings = append(settings, f.Setting+": "+f.Danger)
	}
	text := strings.Join(settings, "\n")
	for _, want := range []string{"Options.Debug", "NoRedirectClean", "ErrorHandler", "Options.Problem", "10.0.0.0/8 chooses", "Limits.Body: no limit", "Limits.QueryPairs: 1000", "bodies of 10485760", "no limit for bodies", "unknown fields"} {
		if !strings.Contains(text, want) {
			t.Errorf("no finding of %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "JSONDepth") {
		t.Error("a tighter limit is a finding")
	}
	webtest.Conform(t, app)
}

func TestAuditOfTheServer(t *testing.T) {
	if f := (&web.Server{App: newApp(t, web.Options{})}).Audit(); len(f) != 0 {
		t.Errorf("the zero Server has findings: %v", f)
	}
	tight := &web.Server{Addr: "[::1]:0", ReadTimeout: time.Second, MaxStreams: 1, TLS: &tls.Config{MinVersion: tls.VersionTLS13}}
	if f := tight.Audit(); len(f) != 0 {
		t.Errorf("tighter settings are findings: %v", f)
	}
	loose := &web.Server{
		App: newApp(t, web.Options{NoRedirectClean: true}), Addr: ":8080", H2C: true, Lane: noLane{},
		TLS: &tls.Config{
			MinVersion: tls.VersionTLS10, KeyLogWriter: io.Discard,
			CipherSuites: []uint16{tls.TLS_RSA_WITH_RC4_128_SHA}, //nolint:gosec // what is to be found
		},
		ReadHeaderTimeout: -1, IdleTimeout: time.Hour, MaxHeaderBytes: 1 << 20, MaxConnections: 20_000, MaxStreams: 200,
	}
	var settings []string
	for _, f := range loose.Audit() {
		settings = append(settings, f.Setting+": "+f.Danger)
	}
	text := strings.Join(settings, "\n")
	for _, want := range []string{
		"Options.NoRedirectClean", "Server.Addr: :8080 is reached", "Server.H2C", "Server.Lane", "MinVersion: TLS 1.0", "RC4", "KeyLogWriter",
		"Server.ReadHeaderTimeout: no time limit", "Server.IdleTimeout: 1h0m0s in place of 2m0s", "Server.MaxHeaderBytes: 1048576", "Server.MaxConnections: 20000", "Server.MaxStreams: 200",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no finding of %q in\n%s", want, text)
		}
	}
	if plain := (&web.Server{Addr: "192.0.2.1:80"}).Audit(); len(plain) != 1 || !strings.Contains(plain[0].Danger, "plain HTTP") {
		t.Errorf("without TLS: %v", plain)
	}
}

type noLane struct{}

func (noLane) Listener(ln net.Listener) net.Listener { return ln }
func (noLane) ConnState(net.Conn, http.ConnState)    {}
func (noLane) Drain(context.Context) error           { return nil }
