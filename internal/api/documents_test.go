package api_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/quire/internal/record"
	"example.com/quire/pdf"
	"example.com/quire/web/webtest"
)

func TestRenderKeepsNothing(t *testing.T) {
	t.Parallel()
	h := open(t)
	before := files(t, h.dir)
	body := note("A-1")
	r := h.Post("/v1/render", "application/json", body).Want(http.StatusOK)
	if ct := r.Header.Get("Content-Type"); ct != "application/pdf" || !bytes.HasPrefix(r.Body, []byte("%PDF-2.0")) {
		t.Errorf("%s: %.20q", ct, r.Body)
	}
	if cc := r.Header.Get("Cache-Control"); cc != "no-store" {
		t.Errorf("Cache-Control %s", cc)
	}
	for _, name := range []string{"Etag", "Location", "Quire-Document"} {
		if v := r.Header.Get(name); v != "" {
			t.Errorf("%s: %s, for what is not kept", name, v)
		}
	}
	if after := files(t, h.dir); !slices.Equal(before, after) {
		t.Errorf("kept %q, before %q", after, before)
	}
	if l := decode[list](t, h.Get("/v1/documents")); len(l.Documents) != 0 {
		t.Errorf("listed: %v", l.ids())
	}
	if again := h.Post("/v1/render", "application/json", body).Want(http.StatusOK); !bytes.Equal(again.Body, r.Body) {
		t.Error("the same request gave other bytes")
	}
	// It is the file that would be kept.
	if kept := makeNew(t, h.Client, body); !bytes.Equal(kept.file, r.Body) {
		t.Error("the kept document has other bytes")
	}
}

// files lists the files below dir, save SQLite's own, whose sizes change by reading.
func files(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && !strings.HasPrefix(e.Name(), "state.db") {
			out = append(out, p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Description, list and receipt have the file's title and say who set its time.
func TestTitleAndTimeOrigin(t *testing.T) {
	t.Parallel()
	h := open(t)
	for body, want := range map[string]record.TimeOrigin{
		note("A-1"): record.FromRequest,
		`{"template": "note", "data": {"number": "A-1", "lines": []}}`: record.FromClock,
	} {
		d := makeNew(t, h.Client, body)
		shown := decode[document](t, h.Get("/v1/documents/"+d.id))
		listed := decode[list](t, h.Get("/v1/documents?limit=1")).Documents[0]
		receipt := decode[record.Receipt](t, h.Get("/v1/documents/"+d.id+"/receipt"))
		if shown.TimeFrom != want || listed.TimeFrom != want || receipt.TimeFrom != want {
			t.Errorf("time from %q, listed %q, receipt %q, want %q", shown.TimeFrom, listed.TimeFrom, receipt.TimeFrom, want)
		}
		if want := "Note A-1"; shown.Title != want || listed.Title != want || receipt.Title != want {
			t.Errorf("title %q, listed %q, receipt %q, want %q", shown.Title, listed.Title, receipt.Title, want)
		}
	}
}

func TestRenderInlineTemplate(t *testing.T) {
	t.Parallel()
	h := open(t)
	r := h.PostJSON("/v1/render", map[string]any{
		"template": map[string]any{"source": "quire: 1\nname: x\ntitle: Hello\nlang: en\nbody: [{text: \"Hello ${who}\"}]\ndata: {who: string}\n"},
		"data":     map[string]any{"who": "world"},
	}).Want(http.StatusOK)
	if !bytes.HasPrefix(r.Body, []byte("%PDF-")) {
		t.Errorf("%.20q", r.Body)
	}
	// A kept document of one can be made again.
	d := makeNew(t, h.Client, `{"template": {"name": "hello", "source": "quire: 1\nname: x\ntitle: Hi\nlang: en\nbody: [{text: \"Hello\"}]\n"}}`)
	if got := decode[document](t, h.Get("/v1/documents/"+d.id).Want(200)); got.Template.Name != "hello" {
		t.Errorf("template %+v", got.Template)
	}
	if v := verify(t, h.Client, d.id, nil); v.Answer != record.Identical {
		t.Errorf("%+v", v)
	}
}

// A template in the request has its identity by name and text: without a name it is called
// inline, and what the text says of its name does not count.
func TestInlineTemplateIdentity(t *testing.T) {
	t.Parallel()
	h := open(t)
	ask := func(title string, name ...string) string {
		t.Helper()
		template := map[string]any{"source": "quire: 1\nname: own\nlang: en\ntitle: " + title + "\nbody: [{text: A}]\n"}
		for _, n := range name {
			template["name"] = n
		}
		r := h.PostJSON("/v1/documents", map[string]any{"template": template, "time": "2026-01-31T18:30:00Z"})
		if r.Status != http.StatusCreated && r.Status != http.StatusOK {
			t.Fatalf("%d %s", r.Status, r.Body)
		}
		d := decode[document](t, h.Get("/v1/documents/"+r.Header.Get("Quire-Document")))
		if want := append(name, "inline")[0]; d.Template.Name != want {
			t.Errorf("template %s, want %s", d.Template.Name, want)
		}
		return d.ID.String()
	}
	unnamed := ask("One")
	if ask("One") != unnamed || ask("One", "inline") != unnamed {
		t.Error("the same template gave two documents")
	}
	if ask("Two") == unnamed || ask("One", "letter") == unnamed {
		t.Error("two templates gave one document")
	}
}

func TestMakeDocument(t *testing.T) {
	t.Parallel()
	h := open(t)
	body := note("A-1")
	r := h.Post("/v1/documents", "application/json", body).Want(http.StatusCreated)
	sum := record.Sum(r.Body)
	id := r.Header.Get("Quire-Document")
	for name, want := range map[string]string{
		"Content-Type": "application/pdf", "Etag": `"` + sum.String() + `"`, "Location": "/v1/documents/" + id,
		"Cache-Control": "no-store", "Vary": "Accept", "Content-Length": fmt.Sprint(len(r.Body)),
	} {
		if got := r.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if _, err := record.ParseHash(id); err != nil {
		t.Errorf("id: %v", err)
	}
	if ids, err := pdf.DocumentIDs(bytes.NewReader(r.Body)); err != nil || len(ids) != 1 || ids[0] != "sha256:"+id {
		t.Errorf("ids in the file: %v, %v; want %s", ids, err, id)
	}
	// The same inputs, in another spelling, are the same document.
	same := strings.NewReplacer(`"qty": 3`, `"qty":3`, "18:30:00Z", "20:30:00.000+02:00").Replace(body)
	again := h.Post("/v1/documents", "application/json", same).Want(http.StatusOK)
	if !bytes.Equal(again.Body, r.Body) || again.Header.Get("Etag") != r.Header.Get("Etag") || again.Header.Get("Quire-Document") != id {
		t.Errorf("again: %v", again.Header)
	}
	// Another time is another document; so is no time, which is that of the clock.
	if other := makeNew(t, h.Client, strings.Replace(body, "18:30:00Z", "18:30:01Z", 1)); other.id == id || other.content == sum.String() {
		t.Error("another time gave the same document")
	}
	if now := makeNew(t, h.Client, strings.Replace(body, `"time": "2026-01-31T18:30:00Z",`, "", 1)); now.id == id {
		t.Error("no time gave the same document")
	}
}

func TestMakeDocumentAnswersAsAccepted(t *testing.T) {
	t.Parallel()
	h := open(t)
	created := h.With("Accept", "application/json").Post("/v1/documents", "application/json", note("A-1", `"report": "daily"`)).Want(http.StatusCreated)
	d := decode[document](t, created)
	if !d.Created || d.Space != record.Local || d.Pages != 1 || d.Size == 0 || d.Template.Name != "note" || !slices.Equal(d.Reports, []string{"daily"}) {
		t.Errorf("%s", created.Body)
	}
	var stages []string
	for _, s := range d.Stages {
		stages = append(stages, s.Name)
	}
	if !slices.Equal(stages, []string{"freeze", "render", "commit", "save"}) {
		t.Errorf("stages %q", stages)
	}
	self := "/v1/documents/" + d.ID.String()
	for name, want := range map[string]string{
		"self": self, "pdf": self + "/pdf", "receipt": self + "/receipt", "snapshot": self + "/snapshot",
		"verify": self + "/verify", "content": "/d/" + d.Content.String() + ".pdf",
	} {
		if d.Links[name] != want {
			t.Errorf("link %s: %q, want %q", name, d.Links[name], want)
		}
	}
	if created.Header.Get("Etag") != "" {
		t.Error("the description has the file's entity tag")
	}
	if again := decode[document](t, h.With("Accept", "application/json").Post("/v1/documents", "application/json", note("A-1")).Want(200)); again.Created || again.ID != d.ID {
		t.Errorf("again: %+v", again)
	}
	for accept, want := range map[string]string{
		"":                  "application/pdf",
		"*/*":               "application/pdf",
		"application/*":     "application/pdf",
		"text/html":         "application/pdf",
		"application/pdf":   "application/pdf",
		"application/json":  "application/json",
		"Application/JSON ": "application/json",
		"application/pdf;q=0.5, application/json": "application/json",
		"application/json;q=0.5, */*":             "application/pdf",
		"application/json;q=0, application/pdf":   "application/pdf",
		"application/json; q=0.9, */*;q=0.1":      "application/json",
		"application/pdf, application/json":       "application/pdf",
	} {
		r := h.With("Accept", accept).Post("/v1/documents", "application/json", note("A-1")).Want(http.StatusOK)
		if got, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); got != want {
			t.Errorf("Accept %q: %s, want %s", accept, got, want)
		}
	}
}

func TestListDocuments(t *testing.T) {
	t.Parallel()
	h := open(t)
	var all, daily []string
	for i := range 5 {
		var report []string
		if i%2 == 0 {
			report = []string{`"report": "daily"`}
		}
		d := makeNew(t, h.Client, note(fmt.Sprintf("A-%d", i), report...))
		all = append(all, d.id)
		if report != nil {
			daily = append(daily, d.id)
		}
	}
	slices.Reverse(all) // newest first
	slices.Reverse(daily)
	r := h.Get("/v1/documents").Want(http.StatusOK)
	if l := decode[list](t, r); !slices.Equal(l.ids(), all) || l.Next != "" || r.Header.Get("Cache-Control") != "private, no-cache" {
		t.Errorf("all: %s, %v", r.Body, r.Header)
	}
	for target, want := range map[string][]string{
		"/v1/documents?limit=2": all, "/v1/documents?limit=5": all, "/v1/documents?limit=1": all,
		"/v1/documents?report=daily&limit=2": daily, "/v1/documents?report=daily": daily, "/v1/documents?report=open": {},
	} {
		got, after := []string{}, ""
		for range 10 {
			l := decode[list](t, h.Get(target+after).Want(http.StatusOK))
			got = append(got, l.ids()...)
			if l.Next == "" {
				break
			}
			sep := "&"
			if !strings.Contains(target, "?") {
				sep = "?"
			}
			after = sep + "after=" + l.Next
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", target, got, want)
		}
	}
	if empty := open(t).Get("/v1/documents").Want(200); empty.Text() != `{"documents":[]}` {
		t.Errorf("empty list: %s", empty.Body)
	}
	for query, field := range map[string]string{
		"limit=0": "limit", "limit=-1": "limit", "limit=501": "limit", "limit=many": "limit", "after=x": "after", "after=-1": "after",
	} {
		wantProblem(t, h.Get("/v1/documents?"+query), http.StatusBadRequest, "request").want(t, map[string]any{"field": field})
	}
	wantProblem(t, h.Get("/v1/documents?reprot=daily"), http.StatusBadRequest, "request").want(t, map[string]any{"field": "reprot", "nearest": "report"})
}

func TestShowDocument(t *testing.T) {
	t.Parallel()
	h := open(t)
	d := makeNew(t, h.Client, note("A-1"))
	self := "/v1/documents/" + d.id

	r := h.Get(self).Want(http.StatusOK)
	got := decode[document](t, r)
	if got.ID.String() != d.id || got.Content.String() != d.content || got.Size != int64(len(d.file)) || r.Header.Get("Cache-Control") != "private, no-cache" {
		t.Errorf("%s, %v", r.Body, r.Header)
	}

	r = h.Get(got.Links["pdf"]).Want(http.StatusOK)
	if !bytes.Equal(r.Body, d.file) || r.Header.Get("Content-Type") != "application/pdf" || r.Header.Get("Etag") != `"`+d.content+`"` {
		t.Errorf("pdf: %v", r.Header)
	}

	r = h.Get(got.Links["receipt"]).Want(http.StatusOK)
	receipt, _, err := record.ParseReceipt(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	if receipt.Document != got.ID || receipt.Content != got.Content || receipt.Snapshot != got.Snapshot || receipt.Engine == "" || len(receipt.Stages) != 3 {
		t.Errorf("receipt %s", r.Body)
	}
	if tag := r.Header.Get("Etag"); tag != `"`+record.Sum(r.Body).String()+`"` {
		t.Errorf("receipt's tag %s", tag)
	}

	r = h.Get(got.Links["snapshot"]).Want(http.StatusOK)
	if record.Sum(r.Body) != got.Snapshot || r.Header.Get("Content-Type") != "application/json" {
		t.Errorf("snapshot: %v %s", r.Header, r.Body)
	}
	if want := `{"data":{"lines":[{"qty":3,"text":"Pens"}],"number":"A-1"},"snapshot":1,"time":"2026-01-31T18:30:00.000Z"}`; r.Text() != want {
		t.Errorf("snapshot %s, want %s", r.Body, want)
	}

	for _, part := range []string{"pdf", "receipt", "snapshot", "content"} {
		file(t, h.Client, got.Links[part])
		if cc := h.Get(got.Links[part]).Header.Get("Cache-Control"); !strings.HasPrefix(cc, "private, ") {
			t.Errorf("%s: Cache-Control %s", part, cc)
		}
	}
	if head := h.Do(http.MethodHead, self, nil).Want(200); len(head.Body) != 0 || head.Header.Get("Content-Type") == "" {
		t.Errorf("HEAD: %v", head.Header)
	}
	if r := h.Do(http.MethodDelete, self, nil).Want(http.StatusMethodNotAllowed); r.Header.Get("Allow") != "GET, HEAD, OPTIONS" {
		t.Errorf("Allow: %s", r.Header.Get("Allow"))
	}
}

// verify asks whether a file is a document.
func verify(t *testing.T, c *webtest.Client, id string, file []byte) record.Verdict {
	t.Helper()
	return decode[record.Verdict](t, c.Do(http.MethodPost, "/v1/documents/"+id+"/verify", file).Want(http.StatusOK))
}

func TestVerifyDocument(t *testing.T) {
	t.Parallel()
	h := open(t)
	d := makeNew(t, h.Client, note("A-1"))
	other := makeNew(t, h.Client, note("A-2"))
	flipped := func(at int) []byte {
		b := bytes.Clone(d.file)
		b[at] ^= 0x20
		return b
	}
	for _, tt := range []struct {
		name string
		file []byte
		want string
	}{
		{"stored", nil, "identical"},
		{"given", d.file, "identical"},
		{"first byte flipped", flipped(0), "differs at byte 0"},
		{"a byte flipped", flipped(1234), "differs at byte 1234"},
		{"last byte flipped", flipped(len(d.file) - 1), fmt.Sprintf("differs at byte %d", len(d.file)-1)},
		{"truncated", d.file[:700], "differs at byte 700"},
		{"one byte short", d.file[:len(d.file)-1], fmt.Sprintf("differs at byte %d", len(d.file)-1)},
		{"extended", append(bytes.Clone(d.file), '\n'), fmt.Sprintf("differs at byte %d", len(d.file))},
		{"not a PDF", []byte("x"), "differs at byte 0"},
	} {
		v := verify(t, h.Client, d.id, tt.file)
		if v.String() != tt.want || v.Document.String() != d.id || v.MadeBy != v.Engine {
			t.Errorf("%s: %s (%+v), want %s", tt.name, &v, v, tt.want)
		}
		if tt.file != nil && v.File != record.Sum(tt.file) {
			t.Errorf("%s: file %s", tt.name, v.File)
		}
	}
	empty := verify(t, h.With("Content-Type", "application/pdf"), d.id, []byte{})
	if empty.String() != "differs at byte 0" || empty.File != record.Sum(nil) {
		t.Errorf("an empty upload: %+v", empty)
	}
	if v := verify(t, h.Client, d.id, other.file); v.Answer != record.Differs {
		t.Errorf("the file of another document: %+v", v)
	}
	if r := h.Do(http.MethodPost, "/v1/documents/"+d.id+"/verify", nil); r.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("Cache-Control %s", r.Header.Get("Cache-Control"))
	}
}

// A stored file that has rotted, or is gone, is a fault of the server and never bytes.
func TestDamagedFile(t *testing.T) {
	t.Parallel()
	h := open(t)
	d := makeNew(t, h.Client, note("A-1", `"report": "open"`))
	name := filepath.Join(h.dir, "blobs", d.content[:2], d.content)
	targets := []string{"/v1/documents/" + d.id + "/pdf", "/d/" + d.content + ".pdf", "/r/open/latest.pdf"}
	if err := os.Truncate(name, 100); err != nil {
		t.Fatal(err)
	}
	for _, target := range targets {
		wantProblem(t, h.Get(target), http.StatusInternalServerError, "damaged")
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	for _, target := range targets {
		wantProblem(t, h.Get(target), http.StatusInternalServerError, "damaged")
	}
	// Asking for it again mends it, whatever the answer is to be.
	for _, accept := range []string{"application/json", "application/pdf"} {
		if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		h.With("Accept", accept).Post("/v1/documents", "application/json", note("A-1")).Want(http.StatusOK)
		for _, target := range targets {
			if r := h.Get(target).Want(http.StatusOK); !bytes.Equal(r.Body, d.file) {
				t.Errorf("%s: other bytes after mending", target)
			}
		}
	}
	// So does another document over the same data, for the data.
	snapshot := decode[document](t, h.Get("/v1/documents/"+d.id)).Snapshot.String()
	if err := os.Truncate(filepath.Join(h.dir, "blobs", snapshot[:2], snapshot), 10); err != nil {
		t.Fatal(err)
	}
	wantProblem(t, h.Get("/v1/documents/"+d.id+"/snapshot"), http.StatusInternalServerError, "damaged")
	other := makeNew(t, h.Client, note("A-1", `"options": {"standards": ["pdf/a-4"]}`))
	h.Get("/v1/documents/" + d.id + "/snapshot").Want(http.StatusOK)
	if v := verify(t, h.Client, other.id, nil); v.Answer != record.Identical {
		t.Errorf("verify: %s", &v)
	}
}
