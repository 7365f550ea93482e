package api_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/quire/internal/config"
	"example.com/quire/web"
	"example.com/quire/web/openapi"
	"example.com/quire/web/webtest"
)

// description is the served description, as far as the tests read it.
type description struct {
	Paths map[string]map[string]struct {
		Summary     string
		RequestBody struct {
			Content map[string]content
		}
		Responses map[string]struct {
			Content map[string]content
		}
	}
}

type content struct {
	Examples map[string]struct{ Value json.RawMessage }
	Schema   struct {
		Required   []string
		Properties map[string]struct {
			Format string
			Items  struct{ Format string }
		}
	}
}

func routesOf(t *testing.T, h *server) *web.App {
	t.Helper()
	a, ok := h.app.Handler().(*web.App)
	if !ok {
		t.Fatalf("the handler is a %T", h.app.Handler())
	}
	return a
}

// pages are the routes that are for people, and those of the description itself.
func pages(pattern string) bool {
	return slices.Contains([]string{"/{$}", "/documents/{id}", "/reports/{name}/request.json", "/tools", "/tools/{operation}", "/openapi.json", "/openapi.yaml"}, pattern) ||
		strings.HasPrefix(pattern, "/assets/") || strings.HasPrefix(pattern, "/docs/")
}

func TestEveryRouteIsDescribed(t *testing.T) {
	t.Parallel()
	h := open(t)
	d := decode[description](t, h.Get("/openapi.json").Want(http.StatusOK))
	described := 0
	for _, r := range routesOf(t, h).Routes() {
		if pages(r.Pattern) {
			continue
		}
		if d.Paths[r.Pattern][strings.ToLower(r.Method)].Summary == "" {
			t.Errorf("%s %s of %s is not described", r.Method, r.Pattern, r.Source)
		}
		described++
	}
	if described < 13 {
		t.Errorf("%d routes", described)
	}
}

// TestAnswersAreAsDescribed sends each example of a request, and judges the answers of all routes.
func TestAnswersAreAsDescribed(t *testing.T) {
	t.Parallel()
	h := open(t, func(c *config.Config) { c.Reports["service-report"] = config.Report{Template: "report"} })
	app := routesOf(t, h)
	doc, err := openapi.Document(app, openapi.Info{Title: "Quire", Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	h.serve(t)
	judge := func(method, pattern string, r *webtest.Response) {
		t.Helper()
		if err := doc.CheckAnswer(method, pattern, r.Status, r.Header, r.Body); err != nil {
			t.Error(err)
		}
	}
	d := decode[description](t, h.Get("/openapi.json"))
	asJSON := h.With("Accept", "application/json")
	for _, path := range []string{"/v1/render", "/v1/documents"} {
		op := d.Paths[path]["post"]
		shown := op.RequestBody.Content["application/json"].Examples
		if len(shown) == 0 {
			t.Errorf("%s has no example", path)
		}
		for name, e := range shown {
			for _, c := range []*webtest.Client{h.Client, asJSON} {
				r := c.Post(path, "application/json", string(e.Value))
				if r.Status >= 300 {
					t.Errorf("%s: example %q: %d %s", path, name, r.Status, r.Body)
				}
				judge(http.MethodPost, path, r)
			}
		}
		for status, answer := range op.Responses {
			for kind, c := range answer.Content {
				for name, e := range c.Examples {
					err := doc.CheckAnswer(http.MethodPost, path, http.StatusCreated, http.Header{"Content-Type": {kind}}, e.Value)
					if err != nil {
						t.Errorf("%s %s: example %q: %v", path, status, name, err)
					}
				}
			}
		}
		judge(http.MethodPost, path, h.Post(path, "application/json", `{"dat": 1}`).Want(http.StatusBadRequest))
		judge(http.MethodPost, path, h.Post(path, "text/plain", "x").Want(http.StatusUnsupportedMediaType))
	}
	made := makeNew(t, h.Client, note("A-1", `"report": "open"`))
	for pattern, target := range map[string]string{
		"/v1/documents":               "/v1/documents?limit=1",
		"/v1/documents/{id}":          "/v1/documents/" + made.id,
		"/v1/documents/{id}/pdf":      "/v1/documents/" + made.id + "/pdf",
		"/v1/documents/{id}/receipt":  "/v1/documents/" + made.id + "/receipt",
		"/v1/documents/{id}/snapshot": "/v1/documents/" + made.id + "/snapshot",
		"/d/{content}.pdf":            "/d/" + made.content + ".pdf",
		"/r/{report}/latest.pdf":      "/r/open/latest.pdf",
		"/livez":                      "/livez",
		"/readyz":                     "/readyz",
		"/startupz":                   "/startupz",
	} {
		r := h.Get(target).Want(http.StatusOK)
		judge(http.MethodGet, pattern, r)
		if tag := r.Header.Get("Etag"); tag != "" {
			judge(http.MethodGet, pattern, h.With("If-None-Match", tag).Get(target).Want(http.StatusNotModified))
			judge(http.MethodGet, pattern, h.With("Range", "bytes=0-3").Get(target).Want(http.StatusPartialContent))
			judge(http.MethodGet, pattern, h.With("Range", "bytes=99999999-").Get(target).Want(http.StatusRequestedRangeNotSatisfiable))
		}
	}
	for _, file := range []string{"", string(made.file), "other"} {
		c := h.Client
		kind := ""
		if file != "" {
			kind = "application/pdf"
		}
		judge(http.MethodPost, "/v1/documents/{id}/verify", c.Post("/v1/documents/"+made.id+"/verify", kind, file).Want(http.StatusOK))
	}
	judge(http.MethodGet, "/v1/documents/{id}", h.Get("/v1/documents/x").Want(http.StatusNotFound))
}

// TestDescriptionBreaksNoClient compares the description with the one that was committed.
func TestDescriptionBreaksNoClient(t *testing.T) {
	t.Parallel()
	now := open(t, spaces).Get("/openapi.json").Want(http.StatusOK).Body
	name := filepath.Join("testdata", "openapi.json")
	if *update {
		if err := os.WriteFile(name, now, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	committed, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	changes, err := openapi.Breaking(committed, now)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range changes {
		t.Errorf("%s (-update takes it as it is)", c)
	}
}

func TestPageOfTheDescriptionIsForEveryone(t *testing.T) {
	t.Parallel()
	h := open(t, spaces)
	r := h.Get("/docs/").Want(http.StatusOK)
	policy := r.Header.Get("Content-Security-Policy")
	if !strings.Contains(string(r.Body), "../openapi.json") || !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "http") {
		t.Errorf("policy %q\n%s", policy, r.Body)
	}
	text := string(h.Get("/openapi.json").Body)
	if !strings.Contains(text, `"bearer"`) || strings.Contains(text, "canary") || strings.Contains(text, "beta") {
		t.Errorf("%s", text)
	}
	if strings.Contains(string(open(t).Get("/openapi.json").Body), `"bearer"`) {
		t.Error("a server without tokens asks for one")
	}
}
