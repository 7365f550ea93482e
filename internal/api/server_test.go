package api_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"go.uber.org/goleak"

	"example.com/quire/internal/app"
	"example.com/quire/internal/config"
	"example.com/quire/internal/record"
	"example.com/quire/web/webtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const noteTemplate = `quire: 1
name: note
lang: en
title: "Note ${number}"
data:
  number: string
  lines: [{text: string, qty: integer}]
  remark: "string?"
body:
  - {heading: "Note ${number}", level: 1}
  - for: l in lines
    do: [{text: "${l.qty} x ${l.text}"}]
`

// statusTemplate shows a source, or why it is not there.
const statusTemplate = `quire: 1
name: status
lang: en
title: Status
types:
  status: {services: [{name: string}]}
data:
  status: status?
  sources: {status: {outcome: string, reason: string}}
body:
  - {text: "Source: ${sources.status.outcome} ${sources.status.reason}"}
  - for: s in status?.services ?? []
    do: [{text: "${s.name}"}]
`

// reportTemplate takes the data of the description's example.
const reportTemplate = "quire: 1\nname: report\nlang: en\ntitle: Report\ndata: {report: {team: string, contact: string}}\nbody: [{text: \"${report.team} ${report.contact}\"}]\n"

// The tokens of the spaces alpha and beta. They are canaries: no log may hold them.
const (
	alpha = "canary-token-alpha-5d1c"
	beta  = "canary-token-beta-90fe"
)

// server is the server as it runs, without a listener.
type server struct {
	*webtest.Client
	app *app.App
	dir string // the data directory
	log *syncBuffer
}

// syncBuffer takes a log.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// spaces configures two spaces: alpha with a public report open and a private one, beta with a
// private one.
func spaces(c *config.Config) {
	for space, token := range map[string]string{"alpha": alpha, "beta": beta} {
		sum := sha256.Sum256([]byte(token))
		c.Tokens = append(c.Tokens, config.Token{Space: space, SHA256: hex.EncodeToString(sum[:])})
	}
	c.Reports = map[string]config.Report{
		"open":  {Space: "alpha", Template: "note", Public: true},
		"alpha": {Space: "alpha", Template: "note"},
		"beta":  {Space: "beta", Template: "note"},
	}
}

// open starts the server. Without change it is one for the space local, without tokens.
func open(t *testing.T, change ...func(*config.Config)) *server {
	t.Helper()
	return openAt(t, filepath.Join(t.TempDir(), "data"), change...)
}

func openAt(t *testing.T, dir string, change ...func(*config.Config)) *server {
	t.Helper()
	c := &config.Config{Data: dir, Reports: map[string]config.Report{
		"open":  {Template: "note", Public: true},
		"daily": {Template: "note"},
	}}
	for _, f := range change {
		f(c)
	}
	if err := c.Complete(os.LookupEnv); err != nil {
		t.Fatal(err)
	}
	log := &syncBuffer{}
	files := fstest.MapFS{}
	for _, dir := range []string{"", "alpha/", "beta/"} { // each space has its own
		files[dir+"note.yaml"] = &fstest.MapFile{Data: []byte(noteTemplate)}
		files[dir+"status.yaml"] = &fstest.MapFile{Data: []byte(statusTemplate)}
		files[dir+"report.yaml"] = &fstest.MapFile{Data: []byte(reportTemplate)}
		files[dir+"broken.yaml"] = &fstest.MapFile{Data: []byte("quire: 1\nname: broken\nbody:\n  - {txet: hello}\n")}
	}
	a, err := app.New(t.Context(), app.Options{
		Config:    c,
		Templates: files,
		Log:       slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return &server{Client: webtest.New(t, a.Handler()).With("Host", "localhost:8080"), app: a, dir: dir, log: log}
}

// serve listens on a loopback port until the test ends and returns the URL.
func (h *server) serve(t *testing.T) string {
	t.Helper()
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- h.app.Serve(ctx, ln) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	url, c := "http://"+ln.Addr().String(), client(t)
	for {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/readyz", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := got.Body.Close(); err != nil {
			t.Fatal(err)
		}
		if got.StatusCode == http.StatusOK {
			return url
		}
	}
}

// client is an HTTP client whose connections end with the test.
func client(t *testing.T) *http.Client {
	t.Helper()
	tr := &http.Transport{}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

// as returns the client of a token's bearer.
func (h *server) as(token string) *webtest.Client { return h.With("Authorization", "Bearer "+token) }

// note is a request for a note, whose number tells it from others.
func note(number string, more ...string) string {
	return fmt.Sprintf(`{"template": "note", "time": "2026-01-31T18:30:00Z", %s
  "data": {"number": %q, "lines": [{"text": "Pens", "qty": 3}]}}`, strings.Join(append(more, ""), ", "), number)
}

// made is what a making request told.
type made struct {
	id, content string
	file        []byte
}

// makeNew makes a document that was not there.
func makeNew(t *testing.T, c *webtest.Client, body string) made {
	t.Helper()
	r := c.Post("/v1/documents", "application/json", body).Want(http.StatusCreated)
	return made{id: r.Header.Get("Quire-Document"), content: trimTag(r), file: r.Body}
}

// trimTag is an answer's entity tag without its quotes.
func trimTag(r *webtest.Response) string { return strings.Trim(r.Header.Get("Etag"), `"`) }

// document is a document as the API shows it.
type document struct {
	record.Document
	Links    map[string]string `json:"links"`
	Created  bool              `json:"created"`
	Stages   []record.Stage    `json:"stages"`
	Warnings []record.Problem  `json:"warnings"`
}

// list is a page of documents as the API shows it.
type list struct {
	Documents []document `json:"documents"`
	Next      string     `json:"next"`
}

// ids lists the ids of a page.
func (l list) ids() []string {
	out := []string{}
	for _, d := range l.Documents {
		out = append(out, d.ID.String())
	}
	return out
}

func decode[T any](t *testing.T, r *webtest.Response) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(r.Body, &v); err != nil {
		t.Fatalf("answer %d is no %T: %v\n%s", r.Status, v, err, r.Body)
	}
	return v
}

// problem is the members of a problem.
type problem map[string]any

// kind is the last part of the problem's type.
func (p problem) kind() string {
	s, _ := p["type"].(string) // absent: no kind is empty
	return strings.TrimPrefix(s, "urn:quire:problem:")
}

// wantProblem decodes a problem of a status.
func wantProblem(t *testing.T, r *webtest.Response, status int, kind string) problem {
	t.Helper()
	r.Want(status)
	if ct := r.Header.Get("Content-Type"); ct != "application/problem+json" {
		t.Fatalf("problem of type %s\n%s", ct, r.Body)
	}
	p := decode[problem](t, r)
	if p.kind() != kind || p["status"] != float64(status) || p["instance"] != r.Header.Get("X-Request-Id") {
		t.Fatalf("problem %s, want %s with status %d and request id %s", r.Body, kind, status, r.Header.Get("X-Request-Id"))
	}
	return p
}

// want compares members of a problem.
func (p problem) want(t *testing.T, members map[string]any) {
	t.Helper()
	for k, v := range members {
		if n, ok := v.(int); ok {
			v = float64(n)
		}
		if p[k] != v {
			t.Errorf("%s is %v, want %v, in %v", k, p[k], v, p)
		}
	}
}
