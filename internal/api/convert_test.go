package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/quire/internal/api"
	"example.com/quire/internal/cli"
	"example.com/quire/internal/config"
	"example.com/quire/pdf/htmlpdf"
	"example.com/quire/pdf/pdftest"
	"example.com/quire/web/openapi"
)

// TestHTMLIsConvertedOverHTTP: by one browser, pages become files, and reach the hosts of the
// configuration and nothing else.
func TestHTMLIsConvertedOverHTTP(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("chromium"); err != nil {
		const missing = "missing judge: chromium: apt-get install chromium"
		if os.Getenv("REQUIRE_JUDGES") == "1" {
			t.Fatal(missing)
		}
		t.Skip(missing)
	}
	var asked atomic.Int64 // of the host that is not allowed
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer other.Close()
	assets := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/page":
			w.Header().Set("Content-Type", "text/html")
			_, _ = fmt.Fprintf(w, `<p>Read from its address</p><img src="/away">`)
		case "/away":
			http.Redirect(w, r, other.URL+"/secret", http.StatusFound)
		case "/gone":
			hijacked, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				_ = hijacked.Close()
			}
		}
	}))
	defer assets.Close()
	host := func(address string) string {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		return u.Host
	}
	h := open(t, func(c *config.Config) {
		// Tests may run as root, where the browser has no sandbox.
		c.Convert = config.Convert{
			Browser: "chromium", NoSandbox: true, Hosts: []string{host(assets.URL)}, Allow: []string{"127.0.0.0/8"},
			Timeout: config.Duration(2 * time.Minute),
		}
	})
	doc, err := openapi.Document(routesOf(t, h), openapi.Info{Title: "Quire", Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	d := decode[description](t, h.Get("/openapi.json"))
	for _, path := range []string{"/v1/convert/html", "/v1/convert/image"} {
		shown := d.Paths[path]["post"].RequestBody.Content["application/json"].Examples
		if len(shown) == 0 {
			t.Errorf("%s has no example", path)
		}
		for name, e := range shown {
			r := h.Post(path, "application/json", string(e.Value)).Want(http.StatusOK)
			if err := doc.CheckAnswer(http.MethodPost, path, r.Status, r.Header, r.Body); err != nil {
				t.Errorf("%s: %s: %v", path, name, err)
			}
			if path == "/v1/convert/image" && (r.Header.Get("Content-Type") != "image/webp" || !bytes.HasPrefix(r.Body, []byte("RIFF"))) {
				t.Errorf("%s: %s: %v %.20q", path, name, r.Header, r.Body)
			}
		}
	}
	r := h.Post("/v1/convert/html", "application/json", fmt.Sprintf(`{"url": %q}`, assets.URL+"/page")).Want(http.StatusOK)
	if words := pdftest.Words(t, pdftest.Write(t, "page.pdf", r.Body)); strings.Join(words, " ") != "Read from its address" {
		t.Errorf("the page says %q", words)
	}
	if want := `"refused":["127.0.0.1"]`; !strings.Contains(r.Header.Get("Quire-Summary"), want) || asked.Load() != 0 {
		t.Errorf("a redirect away: %s, and %d requests; want %s", r.Header.Get("Quire-Summary"), asked.Load(), want)
	}
	for name, c := range map[string]struct {
		path, body, kind string
		status           int
		members          map[string]any
	}{
		"another host":        {"html", fmt.Sprintf(`{"url": %q}`, other.URL+"/"), "request", 400, map[string]any{"field": "url"}},
		"metadata of a cloud": {"image", `{"url": "http://169.254.169.254/latest"}`, "request", 400, map[string]any{"field": "url"}},
		"file":                {"html", `{"url": "file:///etc/passwd"}`, "request", 400, map[string]any{"field": "url"}},
		"page that is gone":   {"html", fmt.Sprintf(`{"url": %q}`, assets.URL+"/gone"), "page", 502, map[string]any{"detail": "the page could not be read from its address"}},
		"redirect elsewhere":  {"html", fmt.Sprintf(`{"url": %q}`, assets.URL+"/away"), "page", 502, map[string]any{"detail": "the page could not be read from its address"}},
		"nothing":             {"html", `{}`, "request", 400, map[string]any{"field": "html"}},
		"scale":               {"html", `{"html": "<p>x", "scale": 3}`, "request", 400, map[string]any{"field": "scale", "got": "3", "want": "0.1 to 2"}},
		"unknown":             {"image", `{"html": "<p>x", "widht": 3}`, "request", 400, map[string]any{"field": "widht", "nearest": "width"}},
		"large page":          {"html", `{"html": "` + strings.Repeat("x", 8<<20+1) + `"}`, "limit", 413, map[string]any{"limited": "HTMLBytes", "limit": 8 << 20}},
		"gray print":          {"html", `{"html": "<p>x", "grayscale": true}`, "request", 400, map[string]any{"field": "grayscale", "got": "true"}},
		"page beyond":         {"html", `{"html": "<p>x", "pages": "2-3"}`, "request", 400, map[string]any{"field": "pages", "got": `"2-3"`}},
		"css size":            {"html", `{"html": "<p>x", "css_page_size": 3}`, "request", 400, map[string]any{"field": "css_page_size"}},
		"many pixels":         {"image", `{"html": "<p>x", "width": 16384, "height": 16384}`, "limit", 413, map[string]any{"limited": "ImagePixels"}},
	} {
		r := h.Post("/v1/convert/"+c.path, "application/json", c.body)
		wantProblem(t, r, c.status, c.kind).want(t, c.members)
		if err := doc.CheckAnswer(http.MethodPost, "/v1/convert/"+c.path, r.Status, r.Header, r.Body); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if asked.Load() != 0 {
		t.Errorf("%d requests of the host that is not allowed", asked.Load())
	}
}

// TestWithoutABrowserTheRemedyIsNamed: converting is off unless a browser is configured, and one
// that is not there keeps the server from starting.
func TestWithoutABrowserTheRemedyIsNamed(t *testing.T) {
	t.Parallel()
	h := open(t)
	doc, err := openapi.Document(routesOf(t, h), openapi.Info{Title: "Quire", Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/v1/convert/html", "/v1/convert/image"} {
		r := h.Post(path, "application/json", "{ this is not even JSON") // which is not read
		p := wantProblem(t, r, http.StatusNotImplemented, "tool")
		if s, _ := p["detail"].(string); !strings.Contains(s, "convert: {browser: chromium}") {
			t.Errorf("%s: %s", path, r.Body)
		}
		if err := doc.CheckAnswer(http.MethodPost, path, r.Status, r.Header, r.Body); err != nil {
			t.Error(err)
		}
	}
}

// TestFailedConversionsAreProblems: each way in which a conversion fails has its answer.
func TestFailedConversionsAreProblems(t *testing.T) {
	t.Parallel()
	late := &htmlpdf.LimitError{Name: "Time", Value: 30000, Limit: 30000}
	for name, c := range map[string]struct {
		err    error
		status int
		kind   string
	}{
		"no turn":          {fmt.Errorf("%w: %w", htmlpdf.ErrBusy, late), 503, "busy"},
		"too slow":         {late, 503, "timeout"},
		"too large":        {&htmlpdf.LimitError{Name: "OutputBytes", Value: 2, Limit: 1}, 413, "limit"},
		"browser that end": {fmt.Errorf("%w: signal: killed", htmlpdf.ErrBrowser), 503, "browser"},
		"closed":           {htmlpdf.ErrClosed, 503, "browser"},
		"page":             {fmt.Errorf("%w: dial tcp 10.0.0.7:80", htmlpdf.ErrPage), 502, "page"},
		"option":           {&htmlpdf.OptionError{Field: "CSSPageSize", Got: "9", Want: "true"}, 400, "request"},
	} {
		p := api.Problem(c.err)
		if p.Status != c.status || p.Type != "urn:quire:problem:"+c.kind || p.Title == "" {
			t.Errorf("%s: %d %s %q", name, p.Status, p.Type, p.Title)
		}
		if strings.Contains(p.Detail, "10.0.0.7") || strings.Contains(p.Detail, "killed") {
			t.Errorf("%s tells what is inside: %s", name, p.Detail)
		}
		if name == "option" && (p.Ext["field"] != "css_page_size" || p.Detail != "css_page_size is 9: want true") {
			t.Errorf("%s: field %v, %s", name, p.Ext["field"], p.Detail)
		}
	}
	if p := api.Problem(context.Canceled); p.Type != "" || !errors.Is(p, context.Canceled) {
		t.Errorf("the end of the request: %s, %v", p.Type, p)
	}
}

// slowPages is a converter whose pages take until they are let go.
type slowPages struct {
	begun chan struct{}
	end   chan struct{}
}

func (s slowPages) PDF(ctx context.Context, _ htmlpdf.Source, _ htmlpdf.PDFOptions) ([]byte, error) {
	s.begun <- struct{}{}
	select {
	case <-s.end:
		return []byte("%PDF-"), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s slowPages) Image(ctx context.Context, p htmlpdf.Source, _ htmlpdf.ImageOptions) ([]byte, error) {
	return s.PDF(ctx, p, htmlpdf.PDFOptions{})
}

func (slowPages) Reads(string) bool { return true }

// TestSlowPagesHoldUpNoDocuments: as many pages as may be there, with as much in them as may be
// held, take neither places nor bytes from making documents; one more is refused at once.
func TestSlowPagesHoldUpNoDocuments(t *testing.T) {
	t.Parallel()
	pages := slowPages{make(chan struct{}), make(chan struct{})}
	const most, size = 3, 400 << 10
	c := serveParts(t, open(t), func(o *api.Options) {
		o.Converter = pages
		o.Limits.Converting, o.Limits.Pages, o.Limits.Bodies = most, most*size+8<<10, 512<<10
	})
	page := `{"html": "` + strings.Repeat("x", size) + `"}`
	var all sync.WaitGroup
	for i := range most {
		path := []string{"/v1/convert/html", "/v1/convert/image"}[i%2]
		all.Go(func() {
			if r := c.Post(path, "application/json", page); r.Status != http.StatusOK {
				t.Errorf("%s: %d %s", path, r.Status, r.Body)
			}
		})
		<-pages.begun
	}
	for i := range 5 {
		c.Post("/v1/render", "application/json", note(fmt.Sprintf("A-%d", i))).Want(http.StatusOK)
		c.Post("/v1/documents", "application/json", note(fmt.Sprintf("A-%d", i))).Want(http.StatusCreated)
	}
	for _, body := range []string{`{"html": "<p>x"}`, page} { // no place; no place and no bytes
		r := c.Post("/v1/convert/html", "application/json", body)
		if wantProblem(t, r, http.StatusServiceUnavailable, "busy"); r.Header.Get("Retry-After") == "" {
			t.Error("no Retry-After")
		}
	}
	close(pages.end)
	all.Wait()
	go func() { <-pages.begun }()
	c.Post("/v1/convert/html", "application/json", page).Want(http.StatusOK)
}

// TestConversionsAreTheSameThreeWays: each option of htmlpdf has its member in the request and its
// flag of the command, and there are no others.
func TestConversionsAreTheSameThreeWays(t *testing.T) {
	t.Parallel()
	d := decode[described](t, open(t).Get("/openapi.json").Want(http.StatusOK))
	shared := map[string]string{"HTML": "", "URL": "base", "Scripts": "scripts"} // HTML is the file that is named
	flags := map[string]string{"CSSPageSize": "css-page-size", "Margins": "margin", "Grayscale": "gray"}
	own := []string{"help", "json", "out", "allow", "private", "browser", "no-sandbox", "timeout", "no-color", "quiet", "verbose"}
	for name, options := range map[string]reflect.Type{"html": reflect.TypeFor[htmlpdf.PDFOptions](), "image": reflect.TypeFor[htmlpdf.ImageOptions]()} {
		var members, wantMembers, wantFlags []string
		for f, flag := range shared {
			wantMembers = append(wantMembers, strings.ToLower(f))
			if flag != "" {
				wantFlags = append(wantFlags, flag)
			}
		}
		for f := range options.Fields() {
			member := strings.ToLower(f.Name)
			if f.Name == "CSSPageSize" {
				member = "css_page_size"
			}
			flag, other := flags[f.Name]
			if !other {
				flag = member
			}
			wantMembers, wantFlags = append(wantMembers, member), append(wantFlags, flag)
			fault := api.Problem(&htmlpdf.OptionError{Field: f.Name})
			if got := fault.Ext["field"]; got != member {
				t.Errorf("%s: faults of %s name %v, want %s", name, f.Name, got, member)
			}
		}
		for m := range d.properties(t, "/v1/convert/"+name) {
			members = append(members, m)
		}
		var out bytes.Buffer
		cli.Run(t.Context(), cli.Env{
			Args: []string{"convert", name, "--help"}, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out,
			LookupEnv: func(string) (string, bool) { return "", false },
		})
		var have []string
		text, _, _ := strings.Cut(out.String(), "Global Flags:")
		for line := range strings.Lines(text) {
			if _, flag, ok := strings.Cut(line, " --"); ok && strings.HasPrefix(strings.TrimSpace(line), "-") {
				flag = strings.Fields(flag)[0]
				if !slices.Contains(own, flag) {
					have = append(have, flag)
				}
			}
		}
		for _, l := range [][]string{members, wantMembers, wantFlags, have} {
			slices.Sort(l)
		}
		if !slices.Equal(members, wantMembers) || !slices.Equal(have, wantFlags) {
			t.Errorf("%s: members %q, want %q; flags %q, want %q", name, members, wantMembers, have, wantFlags)
		}
	}
}

// described is the served description, with the schemas of its bodies.
type described struct {
	Paths map[string]map[string]struct {
		RequestBody struct {
			Content map[string]struct{ Schema schema }
		}
	}
	Components struct{ Schemas map[string]schema }
}

type schema struct {
	Ref        string `json:"$ref"`
	Properties map[string]json.RawMessage
}

// properties are the members of a route's body.
func (d described) properties(t *testing.T, path string) map[string]json.RawMessage {
	t.Helper()
	s := d.Paths[path]["post"].RequestBody.Content["application/json"].Schema
	if name, ok := strings.CutPrefix(s.Ref, "#/components/schemas/"); ok {
		s = d.Components.Schemas[name]
	}
	if len(s.Properties) == 0 {
		t.Fatalf("%s has no schema", path)
	}
	return s.Properties
}
