package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"example.com/quire/internal/api"
	"example.com/quire/internal/config"
	"example.com/quire/internal/record"
	"example.com/quire/internal/render"
	"example.com/quire/web/webtest"
)

// upstream is a real HTTP server that a source asks.
func upstream(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	return s.URL
}

// statusSource configures the source status, asked in the space local.
func statusSource(url string, change func(*config.Source)) func(*config.Config) {
	return func(c *config.Config) {
		s := config.Source{
			URL: url + "/{region}?n={n}", Allow: []string{"127.0.0.0/8"},
			Parameters: map[string]string{"region": "string", "n": "integer"},
		}
		if change != nil {
			change(&s)
		}
		c.Sources = map[string]config.Source{"status": s}
		c.Reports["uptime"] = config.Report{
			Template: "status", Sources: map[string]config.SourceUse{"status": {Source: "status", With: map[string]string{"region": "eu west", "n": "7"}}},
		}
	}
}

const asksStatus = `{"template": "status", "time": "2026-01-31T18:30:00Z",
  "sources": {"status": {"source": "status", "parameters": {"region": "eu", "n": 1}}}}`

// receiptOf returns a document's receipt.
func receiptOf(t *testing.T, c *webtest.Client, id string) *record.Receipt {
	t.Helper()
	r, _, err := record.ParseReceipt(c.Get("/v1/documents/" + id + "/receipt").Want(http.StatusOK).Body)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A source that fails at first is asked again; the receipt says how often, and how long each
// attempt took.
func TestFlakySource(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	h := open(t, statusSource(upstream(t, func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) < 3 {
			w.Header().Set("Retry-After", "0")
			http.Error(w, "not now", http.StatusServiceUnavailable)
			return
		}
		name := r.URL.Path + " " + r.URL.Query().Get("n")
		_ = json.NewEncoder(w).Encode(map[string]any{"services": []any{map[string]string{"name": name}}}) // a broken answer fails the test below
	}), nil))
	d := makeNew(t, h.Client, asksStatus)
	s := receiptOf(t, h.Client, d.id).Sources
	if len(s) != 1 || s[0].Outcome != record.OK || s[0].Key != "status" || s[0].Kind != "http" || len(s[0].Attempts) != 3 || s[0].Micros <= 0 {
		t.Fatalf("sources %+v", s)
	}
	for i, a := range s[0].Attempts {
		wantStatus, wantReason := 503, "status"
		if i == 2 {
			wantStatus, wantReason = 200, ""
		}
		if a.Number != i+1 || a.Micros <= 0 || a.Status != wantStatus || !strings.HasPrefix(a.Reason, wantReason) || (i == 2) != (a.Reason == "") {
			t.Errorf("attempt %+v", a)
		}
	}
	snapshot := h.Get("/v1/documents/" + d.id + "/snapshot").Want(200).Text()
	if want := `"sources":{"status":{"outcome":"ok","reason":""}},"status":{"services":[{"name":"/eu 1"}]}`; !strings.Contains(snapshot, want) {
		t.Errorf("snapshot %s", snapshot)
	}
	// It is made again from what was frozen; nobody is asked.
	n := asked.Load()
	if v := verify(t, h.Client, d.id, d.file); v.Answer != record.Identical || asked.Load() != n {
		t.Errorf("%+v after %d questions", v, asked.Load()-n)
	}
	// By a report, whose parameters the configuration gives.
	r := h.With("Accept", "application/json").Post("/v1/documents", "application/json", `{"report": "uptime"}`).Want(http.StatusCreated)
	made := decode[document](t, r)
	if made.Stages[0].Name != record.StageCollect || made.Reports[0] != "uptime" {
		t.Errorf("%s", r.Body)
	}
	if s := h.Get(made.Links["snapshot"]).Text(); !strings.Contains(s, `"name":"/eu west 7"`) {
		t.Errorf("snapshot %s", s)
	}
}

// A source that fails is data, with its reason; one that the document cannot do without is 502.
func TestFailedSource(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		answer http.HandlerFunc
		reason string
	}{
		{"error", func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "<secret>", http.StatusInternalServerError)
		}, "status 500"},
		{"absent", http.NotFound, "status 404"},
		{"broken-off", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "{")
		}, "the answer broke off"},
		{"not-json", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") }, "the answer cannot be frozen"},
	}
	h := open(t, func(c *config.Config) {
		c.Sources = map[string]config.Source{}
		for _, tt := range tests {
			s := config.Source{URL: upstream(t, tt.answer), Allow: []string{"127.0.0.0/8"}, Attempts: 1}
			c.Sources[tt.name] = s
			s.Required = true
			c.Sources[tt.name+"-required"] = s
		}
	})
	asks := func(source string) string {
		return fmt.Sprintf(`{"template": "status", "time": "2026-01-31T18:30:00Z", "data": {}, "sources": {"status": {"source": %q}}}`, source)
	}
	for i, tt := range tests {
		p := wantProblem(t, h.Post("/v1/documents", "application/json", asks(tt.name+"-required")), http.StatusBadGateway, "source")
		p.want(t, map[string]any{"source": tt.name + "-required", "field": "sources.status"})
		if reason, _ := p["reason"].(string); !strings.HasPrefix(reason, tt.reason) {
			t.Errorf("%s: %v", tt.name, p)
		}
		if l := decode[list](t, h.Get("/v1/documents")); len(l.Documents) != i {
			t.Errorf("%s: a document without its source: %v", tt.name, l.ids())
		}

		d := makeNew(t, h.Client, strings.Replace(asks(tt.name), "18:30:00Z", fmt.Sprintf("18:30:0%dZ", i), 1))
		s := receiptOf(t, h.Client, d.id).Sources[0]
		if s.Outcome != record.Failed || !strings.HasPrefix(s.Reason, tt.reason) || len(s.Attempts) != 1 {
			t.Errorf("%s: %+v", tt.name, s)
		}
		if snapshot := h.Get("/v1/documents/" + d.id + "/snapshot").Text(); !strings.Contains(snapshot, `"status":null`) || !strings.Contains(snapshot, `"outcome":"failed"`) {
			t.Errorf("%s: snapshot %s", tt.name, snapshot)
		}
		if v := verify(t, h.Client, d.id, nil); v.Answer != record.Identical {
			t.Errorf("%s: %+v", tt.name, v)
		}
	}
}

// Requests name a source and bring typed parameters; what is not allowed is refused before
// anything is asked.
func TestSourceRequests(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	h := open(t, statusSource(upstream(t, func(http.ResponseWriter, *http.Request) { asked.Add(1) }), nil))
	for _, tt := range []struct {
		sources string
		members map[string]any
	}{
		{`{"status": {"source": "statsu"}}`, map[string]any{"field": "sources.status.source", "nearest": "status", "line": 1, "column": 57}},
		{`{"status": {"source": "status", "parameters": {"region": "eu"}}}`, map[string]any{"field": "sources.status.parameters.n", "got": "nothing"}},
		{`{"status": {"source": "status", "parameters": {"region": 5, "n": 1}}}`, map[string]any{"field": "sources.status.parameters.region", "got": "5", "line": 1, "column": 92}},
		{`{"status": {"source": "status", "parameters": {"region": "eu", "n": "1"}}}`, map[string]any{"field": "sources.status.parameters.n", "got": `"1"`}},
		{`{"status": {"source": "status", "parameters": {"regoin": "eu", "n": 1}}}`, map[string]any{"field": "sources.status.parameters.regoin", "nearest": "region"}},
		{`{"sources": {"source": "status"}}`, map[string]any{"field": "sources"}},
		{`{"a b": {"source": "status"}}`, map[string]any{"field": "sources"}},
	} {
		wantProblem(t, h.Post("/v1/documents", "application/json", `{"template": "status", "sources": `+tt.sources+`}`), http.StatusBadRequest, "request").want(t, tt.members)
	}
	p := wantProblem(t, h.Post("/v1/documents", "application/json", `{"template": "status", "data": {"status": 1}, "sources": {"status": {"source": "status", "parameters": {"region": "a", "n": 1}}}}`), 400, "data")
	p.want(t, map[string]any{"path": "status", "line": 1, "column": 43})
	if n := asked.Load(); n > 1 {
		t.Errorf("asked %d times", n)
	}
	// Another space has no such source.
	two := open(t, spaces, statusSource("http://127.0.0.1:1", nil))
	wantProblem(t, two.as(beta).Post("/v1/documents", "application/json", asksStatus), 400, "request").want(t, map[string]any{"field": "sources.status.source"})
}

// slow is an upstream whose answers wait until they are let go.
type slow struct {
	url     string
	arrived chan struct{}
	let     chan struct{}
}

func newSlow(t *testing.T) *slow {
	t.Helper()
	s := &slow{arrived: make(chan struct{}, 100), let: make(chan struct{})}
	s.url = upstream(t, func(w http.ResponseWriter, r *http.Request) {
		s.arrived <- struct{}{}
		select {
		case <-s.let:
		case <-r.Context().Done():
		}
		_, _ = io.WriteString(w, `{"services": []}`)
	})
	return s
}

// While one space waits for its slow source, another space's documents are made.
func TestASlowSourceHoldsUpNoOtherSpace(t *testing.T) {
	t.Parallel()
	up := newSlow(t)
	h := open(t, spaces, statusSource(up.url, nil), func(c *config.Config) {
		s := c.Sources["status"]
		s.Space = "alpha"
		c.Sources["status"] = s
		delete(c.Reports, "uptime")
	})
	const many = 40
	answers := make(chan *webtest.Response, many)
	for i := range many {
		go func() {
			answers <- h.as(alpha).Post("/v1/documents", "application/json", fmt.Sprintf(`{"template": "status", "sources": {"status": {"source": "status", "parameters": {"region": "eu", "n": %d}}}}`, i))
		}()
	}
	for range 8 { // the source is busy, and the others wait for it
		<-up.arrived
	}
	for i := range 5 {
		h.as(beta).Post("/v1/documents", "application/json", note(fmt.Sprintf("B-%d", i))).Want(http.StatusCreated)
		h.as(beta).Post("/v1/render", "application/json", note("B-1")).Want(http.StatusOK)
	}
	h.as(alpha).Post("/v1/render", "application/json", note("A-1")).Want(http.StatusOK)
	if n := len(answers); n != 0 {
		t.Errorf("%d answers before the source's", n)
	}
	close(up.let)
	for range many { // 200: made in the same millisecond of the same data, it is the same document
		if r := <-answers; r.Status != http.StatusCreated && r.Status != http.StatusOK {
			t.Errorf("%d %s", r.Status, r.Body)
		}
	}
}

func TestABurstOfFiftyIsNotRefused(t *testing.T) {
	t.Parallel()
	h := open(t)
	answers := make(chan *webtest.Response, 50)
	for i := range cap(answers) {
		go func() {
			answers <- h.Post("/v1/documents", "application/json", note(fmt.Sprintf("A-%d", i)))
		}()
	}
	for range cap(answers) {
		if r := <-answers; r.Status != http.StatusCreated {
			t.Errorf("%d %s", r.Status, r.Body)
		}
	}
}

// overloaded is an engine whose lane is full.
type overloaded struct{ record.Engine }

func (overloaded) Render(context.Context, io.Writer, record.Rendering) (*record.Rendered, error) {
	return nil, fmt.Errorf("render: %w", record.ErrOverload)
}

func (overloaded) Signer(context.Context, record.Space, *record.Template) (string, error) {
	return "", nil
}

// More documents at once than the server makes are refused with the time to come back.
func TestOverloadIsToldWithTheTimeToComeBack(t *testing.T) {
	t.Parallel()
	h := open(t)
	renderer, err := render.New(render.Config{})
	if err != nil {
		t.Fatal(err)
	}
	c := serveParts(t, h, func(o *api.Options) {
		o.Maker, err = record.NewMaker(record.Parts{Engine: overloaded{renderer}, Blobs: h.app.Blobs, Documents: h.app.Library, Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
	})
	for _, path := range []string{"/v1/documents", "/v1/render"} {
		r := c.Post(path, "application/json", `{"template": {"source": "quire: 1"}}`)
		wantProblem(t, r, http.StatusServiceUnavailable, "busy")
		if r.Header.Get("Retry-After") == "" {
			t.Errorf("%s: no Retry-After", path)
		}
	}
	if s := h.log.String(); strings.Contains(s, "level=ERROR") {
		t.Errorf("a refusal is a fault of the server: %s", s)
	}
	c.Get("/v1/documents").Want(http.StatusOK) // reading goes on
}

// A document that takes too long is given up, and nothing of it stays.
func TestRenderTime(t *testing.T) {
	t.Parallel()
	up := newSlow(t)
	h := open(t, statusSource(up.url, nil))
	c := serveParts(t, h, func(o *api.Options) { o.Limits.Render = 50 * time.Millisecond })
	r := c.Post("/v1/documents", "application/json", asksStatus)
	wantProblem(t, r, http.StatusServiceUnavailable, "timeout")
	if r.Header.Get("Retry-After") == "" {
		t.Errorf("%v %s", r.Header, r.Body)
	}
	close(up.let)
	if l := decode[list](t, c.Get("/v1/documents")); len(l.Documents) != 0 {
		t.Errorf("listed %v", l.ids())
	}
	// What web refuses by itself has the type of the same mistake elsewhere.
	wantProblem(t, c.With("Sec-Fetch-Site", "cross-site").Post("/v1/documents", "application/json", asksStatus), http.StatusForbidden, "cross-site")
	wantProblem(t, c.Get("/v1/documents?"+strings.Repeat("a&", 300)), http.StatusBadRequest, "request")
	wantProblem(t, c.Get("/v2/none"), http.StatusNotFound, "about:blank")
	// A deadline of the domain's own is told alike.
	if p := api.Problem(fmt.Errorf("render: %w", context.DeadlineExceeded)); !strings.Contains(p.Error(), "503") {
		t.Errorf("%v", p)
	}
}
