package api_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"example.com/quire/internal/api"
	"example.com/quire/internal/config"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// badRequests are requests that are wrong, each in one way.
var badRequests = []struct {
	name, body   string
	status       int
	kind         string
	line, column int // 0: none
	members      map[string]any
}{
	{
		name: "unknown field", body: "{\"template\": \"note\",\n  \"dta\": {}}",
		status: 400, kind: "request", line: 2, column: 3, members: map[string]any{"field": "dta", "nearest": "data"},
	},
	{
		name: "unknown field of options", body: `{"template": "note", "options": {"standard": []}}`,
		status: 400, kind: "request", line: 1, column: 34, members: map[string]any{"field": "options.standard", "nearest": "standards"},
	},
	{
		name: "unknown field of a source", body: `{"template": "note", "sources": {"status": {"sorce": "status"}}}`,
		status: 400, kind: "request", line: 1, column: 45, members: map[string]any{"field": "sources.status.sorce", "nearest": "source"},
	},
	{
		name: "unknown field of an inline template", body: "{\"template\": {\n \"soruce\": \"x\"}}",
		status: 400, kind: "request", line: 2, column: 12, members: map[string]any{"field": "template.soruce", "nearest": "source"},
	},
	{
		name: "source of an inline template is no text", body: `{"template": {"source": 5}}`,
		status: 400, kind: "request", line: 1, column: 25, members: map[string]any{"field": "template.source", "got": "5", "want": "a string"},
	},
	{
		name: "inline template without source", body: `{"template": {"name": "x"}}`,
		status: 400, kind: "request", members: map[string]any{"field": "template.source", "got": "nothing"},
	},
	{
		name: "name of an inline template", body: `{"template": {"name": "../x", "source": "quire: 1"}}`,
		status: 400, kind: "request", line: 1, column: 23, members: map[string]any{"field": "template.name", "got": `"../x"`},
	},
	{
		name: "template is a number", body: `{"template": 5}`,
		status: 400, kind: "request", line: 1, column: 14, members: map[string]any{"field": "template", "got": "5"},
	},
	{name: "template is null", body: `{"template": null}`, status: 400, kind: "request", line: 1, column: 14, members: map[string]any{"field": "template"}},
	{
		name: "long template", body: `{"template": [` + strings.Repeat(`"é",`, 40) + `1]}`,
		status: 400, kind: "request", line: 1, column: 14, members: map[string]any{"field": "template"},
	},
	{name: "no template", body: `{"data": {}}`, status: 400, kind: "request", members: map[string]any{"field": "template", "got": "nothing"}},
	{name: "name of a template", body: `{"template": "../note"}`, status: 400, kind: "request", line: 1, column: 14, members: map[string]any{"field": "template", "got": `"../note"`}},
	{
		name: "unknown template field", body: `{"template": {"source": "quire: 1\nname: x\ntitle: X\nlang: en\nbody:\n  - {txet: hello}\n"}}`,
		status: 400, kind: "template", line: 6, column: 6, members: map[string]any{"file": "template.yaml"},
	},
	{
		// The fault shows with this data and lies in the template: its place is there.
		name: "expression that fails", body: "{\"data\": {\"n\": 0},\n\n\"template\": {\"source\": \"quire: 1\\nname: x\\ntitle: X\\nlang: en\\ndata: {n: integer}\\nbody:\\n  - {text: \\\"${1/n}\\\"}\\n\"}}",
		status: 400, kind: "data", line: 1, column: 16, members: map[string]any{"path": "n", "code": "D207"},
	},
	{
		name: "figure without room", body: "{\"data\": {\"n\":\n  1234567.89},\n\"template\": {\"source\": \"quire: 1\\nname: x\\ntitle: X\\nlang: en\\ndata: {n: decimal}\\nbody:\\n  - row: {widths: [18mm, 1fr], cells: [\\\"${n | money('EUR')}\\\", x]}\\n\"}}",
		status: 400, kind: "data", line: 2, column: 3, members: map[string]any{"path": "n", "code": "L312", "suggestion": "widen the cell or print it smaller"},
	},
	{name: "template that is no YAML", body: `{"template": {"source": "a: [\n"}}`, status: 400, kind: "template", members: map[string]any{"file": "template.yaml"}},
	{
		name: "missing data field", body: "{\n  \"template\": \"note\",\n  \"data\": {\n    \"number\": \"A-1\",\n    \"lines\": [\n      {\"text\": \"Pens\", \"qty\": 3},\n      {\"text\": \"Ink\"}\n    ]\n  }\n}",
		status: 400, kind: "data", line: 7, column: 7, members: map[string]any{"path": "lines[1].qty"},
	},
	{
		name: "missing data field in the first line of data", body: "{\n  \"template\": \"note\",\n  \"data\": {\"lines\": []}}",
		status: 400, kind: "data", line: 3, column: 11, members: map[string]any{"path": "number"},
	},
	{
		name: "missing data field, data first", body: `{"data": {"number": "1", "lines": [{"qty": 3}]}, "template": "note"}`,
		status: 400, kind: "data", line: 1, column: 36, members: map[string]any{"path": "lines[0].text"},
	},
	{
		name: "missing data field behind letters of several bytes", body: `{"data": {"number": "Größe ₹", "lines": [{"qty": 3}]}, "template": "note"}`,
		status: 400, kind: "data", line: 1, column: 42, members: map[string]any{"path": "lines[0].text"},
	},
	{
		name: "data of a wrong type", body: "{\"template\": \"note\", \"data\":\r\n{\"number\": \"1\",\r\n\"lines\": [{\"text\": \"a\",\r\n  \"qty\": \"three\"}]}}",
		status: 400, kind: "data", line: 4, column: 10, members: map[string]any{"path": "lines[0].qty"},
	},
	{
		name: "no data", body: `{"template": "note"}`,
		status: 400, kind: "data", members: map[string]any{"path": "number"},
	},
	{name: "data is an array", body: "{\"template\": \"note\",\n\"data\":\n  [1]}", status: 400, kind: "data", line: 3, column: 3, members: map[string]any{"want": "an object", "got": "an array"}},
	{name: "data is null", body: `{"template": "note", "data": null}`, status: 400, kind: "data", line: 1, column: 30, members: map[string]any{"got": "null"}},
	{
		name: "data nested too deeply", body: "{\"template\": \"note\",\n \"data\": {\"number\": \"1\", \"lines\":\n" + strings.Repeat("[", 66) + strings.Repeat("]", 66) + `}}`,
		status: 413, kind: "limit", line: 3, column: 64, members: map[string]any{"limit": 64},
	},
	{
		name: "body nested too deeply", body: `{"template": "note", "data": {"lines": ` + strings.Repeat("[", 90) + strings.Repeat("]", 90) + `}}`,
		status: 413, kind: "limit", line: 1, column: 110,
	},
	{name: "number that cannot be kept", body: `{"template": "note", "data": {"number": "1", "lines": [{"text": "a", "qty": 1e999999999}]}}`, status: 400, kind: "data", line: 1, column: 77},
	{name: "malformed JSON", body: "{\"template\": \"note\",\n \"data\": {\"a\": tru}}", status: 400, kind: "request", line: 2, column: 19},
	{name: "malformed JSON behind letters of several bytes", body: "{\"template\": \"note\",\n \"data\": {\"Größe\": tru}}", status: 400, kind: "request", line: 2, column: 21},
	{name: "name twice", body: "{\"template\": \"note\",\n \"data\": {\"a\": 1, \"a\": 2}}", status: 400, kind: "request", line: 2, column: 19, members: map[string]any{"field": "data.a"}},
	{name: "two values", body: "{\"template\": \"note\"}\n{}", status: 400, kind: "request", line: 2, column: 1},
	{name: "no body", body: "", status: 400, kind: "request", line: 1, column: 1},
	{name: "an array", body: "[]", status: 400, kind: "request", line: 1, column: 1, members: map[string]any{"want": "an object"}},
	{name: "invalid UTF-8", body: "{\"template\": \"\xff\"}", status: 400, kind: "request", line: 1, column: 15},
	{name: "bad time", body: "{\"template\": \"note\",\n\"time\": \"yesterday\"}", status: 400, kind: "request", line: 2, column: 9, members: map[string]any{"field": "time", "got": "yesterday"}},
	{name: "time without zone", body: `{"template": "note", "time": "2026-01-31T18:30:00"}`, status: 400, kind: "request", line: 1, column: 30, members: map[string]any{"field": "time"}},
	{name: "time is a number", body: `{"template": "note", "time": 1769884200}`, status: 400, kind: "request", line: 1, column: 30, members: map[string]any{"field": "time", "want": "a string"}},
	{
		name: "unknown standard", body: `{"template": "note", "options": {"standards": ["pdf/a-9"]}, "data": {"number": "1", "lines": []}}`,
		status: 400, kind: "request", line: 1, column: 48, members: map[string]any{"field": "options.standards[0]", "got": `"pdf/a-9"`},
	},
	{name: "unknown template", body: `{"template": "nota"}`, status: 404, kind: "not-found", members: map[string]any{"detail": "template nota: not found; did you mean note?"}},
}

func TestBadRequests(t *testing.T) {
	t.Parallel()
	h := open(t)
	for _, target := range []string{"/v1/render", "/v1/documents"} {
		for _, tt := range badRequests {
			t.Run(strings.TrimPrefix(target, "/v1/")+"/"+tt.name, func(t *testing.T) {
				p := wantProblem(t, h.Post(target, "application/json", tt.body), tt.status, tt.kind)
				var line, column any
				if tt.line > 0 {
					line, column = float64(tt.line), float64(tt.column)
				}
				// An error in a template has a place there, whatever it is.
				if (tt.line > 0 || tt.kind != "template") && (p["line"] != line || p["column"] != column) {
					t.Errorf("at %v:%v, want %v:%v: %v", p["line"], p["column"], line, column, p)
				}
				p.want(t, tt.members)
				if detail, _ := p["detail"].(string); detail == "" || strings.Contains(detail, "web:") {
					t.Errorf("detail %q", detail)
				}
			})
		}
	}
	if l := decode[list](t, h.Get("/v1/documents")); len(l.Documents) != 0 {
		t.Errorf("documents of bad requests: %v", l.ids())
	}
	if left := files(t, filepath.Join(h.dir, "blobs", "tmp")); len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
}

// Several faults are told at once.
func TestAllProblemsAreListed(t *testing.T) {
	t.Parallel()
	h := open(t)
	p := wantProblem(t, h.Post("/v1/render", "application/json", "{\"template\": \"note\", \"data\": {\n\"lines\": [{\"qty\": 1},\n{\"text\": \"a\"}]}}"), 400, "data")
	all, _ := p["problems"].([]any)
	var places []string
	for _, one := range all {
		m, _ := one.(map[string]any)
		places = append(places, fmt.Sprintf("%v %v:%v", m["path"], m["line"], m["column"]))
	}
	if got, want := strings.Join(places, ", "), "number 1:30, lines[0].text 2:11, lines[1].qty 3:1"; got != want {
		t.Errorf("problems at %s, want %s", got, want)
	}
}

// What only keeping takes, rendering refuses; what a report fixes, a request cannot change.
func TestBadReports(t *testing.T) {
	t.Parallel()
	h := open(t, spaces)
	c := h.as(alpha)
	wantProblem(t, c.Post("/v1/render", "application/json", note("1", `"report": "alpha"`)), 400, "request").want(t, map[string]any{"field": "report"})
	wantProblem(t, c.Post("/v1/render", "application/json", note("1", `"sources": {"s": {"source": "x"}}`)), 400, "request").want(t, map[string]any{"field": "sources"})
	p := wantProblem(t, c.Post("/v1/documents", "application/json", note("1", `"report": "monthly"`)), 404, "not-found")
	p.want(t, map[string]any{"detail": "report monthly: not found"})
	// A report of another space is told in the same words.
	p = wantProblem(t, c.Post("/v1/documents", "application/json", note("1", `"report": "beta"`)), 404, "not-found")
	p.want(t, map[string]any{"detail": "report beta: not found"})
	wantProblem(t, c.Post("/v1/documents", "application/json", `{"report": "alpha", "template": "status", "data": {}}`), 400, "request").
		want(t, map[string]any{"field": "template", "got": `"status"`})
	wantProblem(t, c.Post("/v1/documents", "application/json", `{"report": "alpha", "template": {"source": "quire: 1"}, "data": {}}`), 400, "request").
		want(t, map[string]any{"field": "template"})
	wantProblem(t, c.Post("/v1/documents", "application/json", note("1", `"sources": {"s": {"source": "nothing"}}`)), 400, "request").
		want(t, map[string]any{"field": "sources.s.source", "got": `"nothing"`})
}

// Which of several wrong sources is told does not change from request to request.
func TestTheFirstWrongSourceIsTold(t *testing.T) {
	t.Parallel()
	c := open(t)
	for range 20 {
		wantProblem(t, c.Post("/v1/documents", "application/json",
			note("1", `"sources": {"z": {"source": "no-z"}, "m": {"source": "no-m"}, "a": {"source": "no-a"}, "k": {"source": "no-k"}}`)), 400, "request").
			want(t, map[string]any{"field": "sources.a.source", "got": `"no-a"`})
	}
}

func TestBadMedia(t *testing.T) {
	t.Parallel()
	h := open(t)
	for _, kind := range []string{"", "text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin1"} {
		r := h.Post("/v1/render", kind, note("1"))
		wantProblem(t, r, http.StatusUnsupportedMediaType, "request")
		if got := r.Header.Get("Accept-Post"); got != "application/json" {
			t.Errorf("%q: Accept-Post %q", kind, got)
		}
	}
	r := h.With("Content-Encoding", "gzip").Post("/v1/documents", "application/json", note("1"))
	wantProblem(t, r, http.StatusUnsupportedMediaType, "request")
	h.Post("/v1/render", "application/json; charset=utf-8", note("1")).Want(http.StatusOK)
}

func TestBodyLimit(t *testing.T) {
	t.Parallel()
	h := open(t, func(c *config.Config) { c.Limits.Body = 1 << 10 })
	fits := note("1", `"options": {}`)
	fits += strings.Repeat(" ", 1<<10-len(fits))
	h.Post("/v1/render", "application/json", fits).Want(http.StatusOK)
	wantProblem(t, h.Post("/v1/render", "application/json", fits+" "), http.StatusRequestEntityTooLarge, "limit").want(t, map[string]any{"limit": 1 << 10})
	wantProblem(t, h.Post("/v1/documents", "application/json", fits+" "), http.StatusRequestEntityTooLarge, "limit")
	// A file to be verified has a limit of its own.
	d := makeNew(t, h.Client, note("1"))
	if v := verify(t, h.Client, d.id, d.file); v.String() != "identical" || len(d.file) <= 1<<10 {
		t.Errorf("%+v of %d bytes", v, len(d.file))
	}
}

// The data's own limit, 8 MiB, stands below that of the body.
func TestDataLimit(t *testing.T) {
	t.Parallel()
	// Time enough to read so much on a machine that has other work.
	c := serveParts(t, open(t), func(o *api.Options) { o.Limits.Render = time.Hour })
	long := func(size int) string {
		return strings.Replace(note("NUMBER"), "NUMBER", strings.Repeat("x", size), 1)
	}
	p := wantProblem(t, c.Post("/v1/render", "application/json", long(9<<20)), http.StatusRequestEntityTooLarge, "limit")
	p.want(t, map[string]any{"limited": "data bytes", "limit": 8 << 20})
	p = wantProblem(t, c.Post("/v1/render", "application/json", long(11<<20)), http.StatusRequestEntityTooLarge, "limit")
	p.want(t, map[string]any{"limited": "body bytes", "limit": 10 << 20})
}

// A client that leaves before the end keeps nothing on the server.
func TestClientGone(t *testing.T) {
	t.Parallel()
	h := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost/v1/documents", strings.NewReader(note("1")))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	w := &discard{}
	func() {
		defer func() { _ = recover() }() // web aborts the answer as net/http wants it
		h.app.Handler().ServeHTTP(w, r)
	}()
	if w.status != 0 {
		t.Errorf("status %d for a client that is gone", w.status)
	}
	if l := decode[list](t, h.Get("/v1/documents")); len(l.Documents) != 0 {
		t.Errorf("listed %v", l.ids())
	}
}

// discard is a writer that nobody reads from.
type discard struct {
	header http.Header
	status int
}

func (d *discard) Header() http.Header {
	if d.header == nil {
		d.header = http.Header{}
	}
	return d.header
}
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }
func (d *discard) WriteHeader(code int)        { d.status = code }

// The problems as clients see them are kept in a golden file: their types and members are part
// of the interface.
func TestProblemsAreStable(t *testing.T) {
	t.Parallel()
	h := open(t)
	two := open(t, spaces)
	var b bytes.Buffer
	record := func(name string, status int, body []byte, id string) {
		text := strings.ReplaceAll(string(body), id, "ID")
		fmt.Fprintf(&b, "%s\n%d %s\n\n", name, status, text)
	}
	for _, tt := range badRequests {
		r := h.Post("/v1/render", "application/json", tt.body)
		record(tt.name, r.Status, r.Body, r.Header.Get("X-Request-Id"))
	}
	r := h.Get("/v1/documents/x")
	record("no such document", r.Status, r.Body, r.Header.Get("X-Request-Id"))
	r = h.Get("/v1/nothing")
	record("no such route", r.Status, r.Body, r.Header.Get("X-Request-Id"))
	r = h.Do(http.MethodDelete, "/v1/documents", nil)
	record("no such method", r.Status, r.Body, r.Header.Get("X-Request-Id"))
	r = h.Post("/v1/render", "text/plain", "x")
	record("media type", r.Status, r.Body, r.Header.Get("X-Request-Id"))
	r = h.Get("/v1/documents?limit=x")
	record("query", r.Status, r.Body, r.Header.Get("X-Request-Id"))
	r = h.With("Sec-Fetch-Site", "cross-site").Get("/v1/documents")
	record("cross-site", r.Status, r.Body, r.Header.Get("X-Request-Id"))
	r = two.Get("/v1/documents")
	record("no token", r.Status, r.Body, r.Header.Get("X-Request-Id"))
	r = two.as("wrong").Get("/v1/documents")
	record("wrong token", r.Status, r.Body, r.Header.Get("X-Request-Id"))

	name := filepath.Join("testdata", "problems.golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	want = bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n"))
	gotLines, wantLines := strings.Split(b.String(), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(gotLines), len(wantLines)) {
		var got, want string
		if i < len(gotLines) {
			got = gotLines[i]
		}
		if i < len(wantLines) {
			want = wantLines[i]
		}
		if got != want {
			t.Errorf("%s:%d (-update rewrites it)\n got %s\nwant %s", name, i+1, got, want)
		}
	}
}

// TestProblemsOfATypeHaveOneTitle: RFC 9457, section 3.1.4.
func TestProblemsOfATypeHaveOneTitle(t *testing.T) {
	golden, err := os.ReadFile(filepath.Join("testdata", "problems.golden"))
	if err != nil {
		t.Fatal(err)
	}
	titles := map[string]string{}
	for _, m := range regexp.MustCompile(`"type":"(urn:[^"]+)","title":"([^"]+)"`).FindAllStringSubmatch(string(golden), -1) {
		if title, ok := titles[m[1]]; ok && title != m[2] {
			t.Errorf("%s: %q and %q", m[1], title, m[2])
		}
		titles[m[1]] = m[2]
	}
	if len(titles) < 5 || titles["urn:quire:problem:cross-site"] != "Request from another site" {
		t.Errorf("titles: %v", titles)
	}
}
