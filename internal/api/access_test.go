package api_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"example.com/quire/internal/config"
	"example.com/quire/web"
	"example.com/quire/web/webtest"
)

// route is a route with a target that names what a space has, and the same of what nobody has.
type route struct {
	pattern, method string
	target, absent  string
	body, noBody    string // of the target and of what is absent
}

// routes are all routes that read or make documents. what is of the space that owns them.
func routes(d made, report string) []route {
	nobody := strings.Repeat("0123456789abcdef", 4)
	self, absent := "/v1/documents/"+d.id, "/v1/documents/"+nobody
	return []route{
		{"/v1/render", http.MethodPost, "/v1/render", "/v1/render", note("own"), note("own")},
		{"/v1/documents", http.MethodPost, "/v1/documents", "/v1/documents", note("own", `"report": "`+report+`"`), note("own", `"report": "nobody"`)},
		{"/v1/documents", http.MethodGet, "/v1/documents?report=" + report, "/v1/documents?report=nobody", "", ""},
		{"/v1/documents/{id}", http.MethodGet, self, absent, "", ""},
		{"/v1/documents/{id}/pdf", http.MethodGet, self + "/pdf", absent + "/pdf", "", ""},
		{"/v1/documents/{id}/receipt", http.MethodGet, self + "/receipt", absent + "/receipt", "", ""},
		{"/v1/documents/{id}/snapshot", http.MethodGet, self + "/snapshot", absent + "/snapshot", "", ""},
		{"/v1/documents/{id}/verify", http.MethodPost, self + "/verify", absent + "/verify", string(d.file), string(d.file)},
		{"/d/{content}.pdf", http.MethodGet, "/d/" + d.content + ".pdf", "/d/" + nobody + ".pdf", "", ""},
		{"/r/{report}/latest.pdf", http.MethodGet, "/r/" + report + "/latest.pdf", "/r/nobody/latest.pdf", "", ""},
	}
}

// A space never sees another's bytes, and cannot tell what another has from what nobody has:
// every route, with another space's ids, by every kind of caller, with data of equal length in
// both spaces and the cache of public documents warm.
func TestSpacesAreSeparate(t *testing.T) {
	t.Parallel()
	h := open(t, spaces)
	callers := map[string]*webtest.Client{
		"no token": h.Client, "another space's token": h.as(beta), "an unknown token": h.as("garbage"),
		"another space's token as password": h.With("Authorization", basic("x", beta)),
	}
	theirs := makeNew(t, h.as(alpha), note("A-1", `"report": "alpha"`))
	public := makeNew(t, h.as(alpha), note("P-1", `"report": "open"`))
	own := makeNew(t, h.as(beta), note("B-1", `"report": "beta"`))
	if len(theirs.file) != len(own.file) || theirs.content == own.content {
		t.Fatalf("files of %d and %d bytes: the test wants equal lengths", len(theirs.file), len(own.file))
	}
	for range 2 { // the cache is warm
		h.Get("/d/" + public.content + ".pdf").Want(http.StatusOK)
		h.Get("/r/open/latest.pdf").Want(http.StatusOK)
	}
	// What alpha made is alpha's to see: the table names what is there.
	seen := map[string]bool{}
	for _, r := range routes(theirs, "alpha") {
		seen[r.method+" "+r.pattern] = true
		if got := send(h.as(alpha), r.method, r.target, r.body); got.Status >= 300 {
			t.Errorf("%s %s by its space: %d", r.method, r.target, got.Status)
		}
	}
	a, ok := h.app.Handler().(*web.App)
	if !ok {
		t.Fatalf("the handler is a %T", h.app.Handler())
	}
	for _, r := range a.Routes() {
		if strings.HasPrefix(r.Pattern, "/v1/pdf/") || strings.HasPrefix(r.Pattern, "/v1/convert/") {
			// These read no document, but are for callers with a token only.
			if got := send(h.Client, r.Method, r.Pattern, ""); got.Status != http.StatusUnauthorized {
				t.Errorf("%s without a token: %d", r.Pattern, got.Status)
			}
			continue
		}
		known := strings.HasPrefix(r.Pattern, "/v1/") || strings.HasPrefix(r.Pattern, "/d/") || strings.HasPrefix(r.Pattern, "/r/")
		if known && !seen[r.Method+" "+r.Pattern] {
			t.Errorf("the table lacks %s %s", r.Method, r.Pattern)
		}
	}
	secrets := []string{theirs.id, theirs.content, "A-1", string(theirs.file[:1000])}
	for name, c := range callers {
		for _, r := range routes(theirs, "alpha") {
			got, absent := send(c, r.method, r.target, r.body), send(c, r.method, r.absent, r.noBody)
			if got.Status != absent.Status {
				t.Errorf("%s: %s %s: %d, for what nobody has %d", name, r.method, r.target, got.Status, absent.Status)
			}
			own := r.pattern == "/v1/render" || r.pattern == "/v1/documents"
			switch {
			case strings.HasPrefix(name, "another") && !own:
				wantProblem(t, got, http.StatusNotFound, "not-found")
			case name == "no token" && !strings.HasPrefix(r.target, "/v1/"):
				wantProblem(t, got, http.StatusNotFound, "not-found")
			case !own:
				wantProblem(t, got, http.StatusUnauthorized, "unauthorized")
			}
			if !own { // the same text, but for the id of the request
				if a, b := anonymous(got), anonymous(absent); a != b {
					t.Errorf("%s: %s %s:\n%s\nfor what nobody has\n%s", name, r.method, r.target, a, b)
				}
				if a, b := header(got), header(absent); a != b {
					t.Errorf("%s: %s %s: header\n%s\nfor what nobody has\n%s", name, r.method, r.target, a, b)
				}
			}
			for _, secret := range secrets {
				if bytes.Contains(got.Body, []byte(secret)) {
					t.Errorf("%s: %s %s tells %.20q", name, r.method, r.target, secret)
				}
			}
			// Nor do conditions and ranges tell whether it is there.
			for k, v := range map[string]string{"If-None-Match": `"` + theirs.content + `"`, "If-Match": `"x"`, "Range": "bytes=0-9"} {
				if r.method == http.MethodGet {
					if cond := c.With(k, v).Get(r.target); cond.Status != got.Status {
						t.Errorf("%s: %s with %s: %d, without %d", name, r.target, k, cond.Status, got.Status)
					}
				}
			}
		}
	}
	// The list of beta has what beta made.
	for _, d := range decode[list](t, h.as(beta).Get("/v1/documents").Want(200)).Documents {
		if d.Space != "beta" {
			t.Errorf("beta sees %s of %s", d.ID, d.Space)
		}
	}
	if r := h.as(beta).Get("/d/" + own.content + ".pdf").Want(200); !bytes.Equal(r.Body, own.file) {
		t.Error("beta's own bytes are others")
	}
	// Equal inputs in two spaces are two documents, with two files.
	twin := makeNew(t, h.as(beta), note("A-1"))
	if twin.id == theirs.id || twin.content == theirs.content || bytes.Equal(twin.file, theirs.file) {
		t.Error("equal inputs in two spaces gave one document")
	}
	h.as(alpha).Get("/d/" + twin.content + ".pdf").Want(http.StatusNotFound)
	h.as(beta).Get("/d/" + theirs.content + ".pdf").Want(http.StatusNotFound)
}

func send(c *webtest.Client, method, target, body string) *webtest.Response {
	if body == "" {
		return c.Do(method, target, nil)
	}
	return c.With("Content-Type", "application/json").Do(method, target, []byte(body))
}

// anonymous is a body without the id of its request.
func anonymous(r *webtest.Response) string {
	return strings.ReplaceAll(r.Text(), r.Header.Get("X-Request-Id"), "ID")
}

// header is an answer's header without what is fresh each time.
func header(r *webtest.Response) string {
	h := r.Header.Clone()
	h.Del("X-Request-Id")
	h.Del("Date")
	return fmt.Sprint(h)
}

func basic(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}

func TestTokens(t *testing.T) {
	t.Parallel()
	h := open(t, spaces)
	for _, tt := range []struct {
		name, authorization string
		status              int
	}{
		{"bearer", "Bearer " + alpha, 200},
		{"scheme in small letters", "bearer " + alpha, 200},
		{"more space", "Bearer   " + alpha + " ", 200},
		{"password", basic("anyone", alpha), 200},
		{"password without a name", basic("", alpha), 200},
		{"none", "", 401},
		{"wrong", "Bearer " + alpha + "x", 401},
		{"empty", "Bearer ", 401},
		{"no token", "Bearer", 401},
		{"the token as name", basic(alpha, ""), 401},
		{"other scheme", "Digest " + alpha, 401},
		{"bare", alpha, 401},
		{"basic that is no base64", "Basic %%%", 401},
	} {
		c := h.Client
		if tt.authorization != "" {
			c = h.With("Authorization", tt.authorization)
		}
		r := c.Get("/v1/documents")
		if tt.status == 200 {
			r.Want(200)
			continue
		}
		wantProblem(t, r, tt.status, "unauthorized")
		offered := r.Header.Values("WWW-Authenticate")
		if len(offered) != 2 || !strings.HasPrefix(offered[0], "Bearer ") || !strings.HasPrefix(offered[1], "Basic ") {
			t.Errorf("%s: WWW-Authenticate %q", tt.name, offered)
		}
	}
	// A wrong token is wrong also where none is needed.
	makeNew(t, h.as(alpha), note("P-1", `"report": "open"`))
	h.Get("/r/open/latest.pdf").Want(http.StatusOK)
	wantProblem(t, h.as("wrong").Get("/r/open/latest.pdf"), http.StatusUnauthorized, "unauthorized")
	// A browser sends its password along with what another site's page makes it send, which
	// therefore changes nothing; to follow a link from elsewhere is no harm.
	for _, site := range []string{"cross-site", "same-site"} {
		c := h.With("Authorization", basic("x", alpha)).With("Sec-Fetch-Site", site)
		wantProblem(t, c.Post("/v1/documents", "application/json", note("X-1")), http.StatusForbidden, "cross-site")
		c.Get("/v1/documents").Want(http.StatusOK)
	}
	h.With("Authorization", basic("x", alpha)).With("Sec-Fetch-Site", "same-origin").Post("/v1/render", "application/json", note("X-1")).Want(http.StatusOK)
	// A token in the query is none.
	h.Get("/v1/documents?token=" + alpha).Want(http.StatusUnauthorized)
	// With tokens, any host name may be in front of the server.
	h.as(alpha).With("Host", "documents.example").Get("/v1/documents").Want(http.StatusOK)
}

// A server without tokens answers its own machine and no page of another site.
func TestLoopbackServerRefusesForeigners(t *testing.T) {
	t.Parallel()
	h := open(t)
	c := webtest.New(t, h.app.Handler())
	d := makeNew(t, h.Client, note("A-1", `"report": "open"`))
	targets := []string{"/v1/documents", "/v1/documents/" + d.id + "/pdf", "/d/" + d.content + ".pdf", "/r/open/latest.pdf"}
	for host, status := range map[string]int{
		"localhost": 200, "localhost:8080": 200, "LOCALHOST:80": 200, "localhost.:80": 200, "127.0.0.1": 200, "127.0.0.1:9": 200, "[::1]": 200, "[::1]:80": 200,
		"evil.example": 421, "evil.example:8080": 421, "localhost.evil.example": 421, "127.0.0.1.nip.io": 421, "192.168.0.1": 421, "0.0.0.0": 421, "xlocalhost": 421,
	} {
		for _, target := range targets {
			if r := c.With("Host", host).Get(target); r.Status != status {
				t.Errorf("Host %s: %s: %d, want %d", host, target, r.Status, status)
			}
		}
		made := c.With("Host", host).Post("/v1/render", "application/json", note("A-1"))
		if made.Status != status {
			t.Errorf("Host %s: render: %d, want %d", host, made.Status, status)
		}
	}
	for _, tt := range []struct {
		name, header, value string
		refused             bool
	}{
		{"own page", "Origin", "http://localhost:8080", false},
		{"other site", "Origin", "https://evil.example", true},
		{"other port", "Origin", "http://localhost:3000", true},
		{"no port", "Origin", "http://localhost", true},
		{"opaque origin", "Origin", "null", true},
		{"sent by another site", "Sec-Fetch-Site", "cross-site", true},
		{"sent by another port", "Sec-Fetch-Site", "same-site", true},
		{"sent by an own page", "Sec-Fetch-Site", "same-origin", false},
		{"typed by the user", "Sec-Fetch-Site", "none", false},
	} {
		c := h.With(tt.header, tt.value)
		for _, target := range targets {
			r := c.Get(target)
			if tt.refused {
				wantProblem(t, r, http.StatusForbidden, "cross-site").want(t, map[string]any{"got": tt.value})
			} else if r.Status != 200 {
				t.Errorf("%s: %s: %d", tt.name, target, r.Status)
			}
		}
		want := http.StatusOK
		if tt.refused {
			want = http.StatusForbidden
		}
		c.Post("/v1/documents", "application/json", note("A-1")).Want(want)
		c.Do(http.MethodPost, "/v1/documents/"+d.id+"/verify", nil).Want(want)
	}
	if n := len(decode[list](t, h.Get("/v1/documents")).Documents); n != 1 {
		t.Errorf("%d documents after the refused requests", n)
	}
}

// A server on another loopback address answers for that address too.
func TestOtherLoopbackAddress(t *testing.T) {
	t.Parallel()
	h := open(t, func(c *config.Config) { c.Listen = "127.1.2.3:8080" })
	for host, status := range map[string]int{"127.1.2.3:8080": 200, "localhost:8080": 200, "127.1.2.4:8080": 421, "evil.example": 421} {
		if r := webtest.New(t, h.app.Handler()).With("Host", host).Get("/v1/documents"); r.Status != status {
			t.Errorf("Host %s: %d, want %d", host, r.Status, status)
		}
	}
}

// A server with tokens may listen on every address, which has no host name.
func TestEveryAddress(t *testing.T) {
	t.Parallel()
	h := open(t, spaces, func(c *config.Config) {
		c.Listen, c.TLS.Proxy, c.PublicURL = ":8080", true, "https://documents.example"
	})
	h.as(alpha).With("Host", "documents.example").Get("/v1/documents").Want(http.StatusOK)
}

// No log holds a token or a source's header, whatever goes wrong.
func TestLogsHoldNoSecrets(t *testing.T) {
	const header, inData = "canary-header-77aa", "canary-data-31b2"
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// An upstream that tells what it was sent.
		http.Error(w, "denied: "+r.Header.Get("Authorization"), http.StatusForbidden)
	}))
	t.Cleanup(upstream.Close)
	t.Setenv("STATUS_TOKEN", header)
	h := open(t, spaces, func(c *config.Config) {
		c.Sources = map[string]config.Source{"status": {
			Space: "alpha", URL: upstream.URL + "/", Allow: []string{"127.0.0.0/8"},
			Headers: map[string]config.Secret{"Authorization": {Env: "STATUS_TOKEN"}, "X-Key": {Value: header}},
		}}
	})
	all := []*webtest.Response{}
	for _, c := range []*webtest.Client{h.as(alpha), h.as(beta), h.With("Authorization", basic(alpha, alpha)), h.as(alpha + "x"), h.Client} {
		d := c.Post("/v1/documents", "application/json", note(inData, `"report": "alpha"`))
		all = append(all, d,
			c.Post("/v1/documents", "application/json", `{"template": "status", "sources": {"status": {"source": "status"}}}`),
			c.Post("/v1/documents", "application/json", `{"template": "`+inData+`"}`),
			c.Post("/v1/render", "application/json", `{"template": "note", "data": {"number": 5, "lines": "`+inData+`"}}`),
			c.Get("/v1/documents?limit="+inData),
			c.Get("/v1/documents?"+inData+"="+alpha),
			c.Get("/d/"+strings.Repeat("0", 64)+".pdf?token="+alpha),
			c.Get("/v1/documents/"+d.Header.Get("Quire-Document")+"/receipt"),
			c.Get("/v1/documents/"+d.Header.Get("Quire-Document")+"/snapshot"))
	}
	log := h.log.String()
	if !strings.Contains(log, "level=DEBUG") || !strings.Contains(log, "source failed") || !strings.Contains(log, "user=alpha") {
		t.Fatalf("the log is not what this test reads:\n%s", log)
	}
	for _, secret := range []string{alpha, beta, header} {
		for line := range strings.Lines(log) {
			if strings.Contains(line, secret) {
				t.Errorf("the log tells %s: %s", secret, line)
			}
		}
	}
	if i := slices.IndexFunc(all, func(r *webtest.Response) bool { return bytes.Contains(r.Body, []byte(header)) }); i >= 0 {
		t.Errorf("answer %d tells the source's header: %s", i, all[i].Body)
	}
}
