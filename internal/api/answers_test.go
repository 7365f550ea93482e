package api_test

import (
	"net/http"
	"strings"
	"testing"
)

// Whoever saves a PDF gets a name to find it by, whatever route it came from.
func TestEveryPDFHasAName(t *testing.T) {
	t.Parallel()
	h := open(t)
	const title = "A/B: 7 Äpfel*"
	body := note(title, `"report": "open"`)
	d := makeNew(t, h.Client, body)
	private := makeNew(t, h.Client, note("A-2"))
	for _, tt := range []struct{ method, path, body, want string }{
		{http.MethodPost, "/v1/render", note(title), "Note A-B- 7"},
		{http.MethodPost, "/v1/documents", body, "Note A-B- 7"},
		{http.MethodGet, "/v1/documents/" + d.id + "/pdf", "", "Note A-B- 7"},
		{http.MethodGet, "/d/" + d.content + ".pdf", "", "Note A-B- 7"},
		{http.MethodGet, "/r/open/latest.pdf", "", "Note A-B- 7"},
		{http.MethodGet, "/d/" + private.content + ".pdf", "", "Note A-2"},
	} {
		r := h.Do(tt.method, tt.path, nil)
		if tt.method == http.MethodPost {
			r = h.Post(tt.path, "application/json", tt.body)
		}
		want := `inline; filename="` + tt.want + ` _pfel-.pdf"; filename*=UTF-8''` + strings.ReplaceAll(tt.want, " ", "%20") + `%20%C3%84pfel-.pdf`
		if tt.want == "Note A-2" {
			want = `inline; filename="Note A-2.pdf"`
		}
		if got := r.Want(http.StatusOK).Header.Get("Content-Disposition"); got != want {
			t.Errorf("%s %s: %s, want %s", tt.method, tt.path, got, want)
		}
	}
	for _, path := range []string{"/receipt", "/snapshot", ""} {
		if got := h.Get("/v1/documents/" + d.id + path).Want(http.StatusOK).Header.Get("Content-Disposition"); got != "" {
			t.Errorf("%s, which is no PDF: %s", path, got)
		}
	}
}

// What the template says of its file's name goes before the title.
func TestTemplateNamesThePDF(t *testing.T) {
	t.Parallel()
	h := open(t)
	body := `{"template": {"source": "quire: 1\nname: n\nlang: en\ntitle: T\nfilename: \"Bill-${no}\"\ndata: {no: string}\nbody: [{text: x}]"}, "data": {"no": "12/7"}}`
	for _, path := range []string{"/v1/render", "/v1/documents"} {
		r := h.Post(path, "application/json", body)
		if got := r.Header.Get("Content-Disposition"); got != `inline; filename="Bill-12-7.pdf"` || r.Status >= 300 {
			t.Errorf("%s: %d, %s", path, r.Status, got)
		}
	}
	l := decode[list](t, h.Get("/v1/documents").Want(http.StatusOK))
	if len(l.Documents) != 1 || l.Documents[0].Name != "Bill-12-7.pdf" {
		t.Errorf("%+v", l.Documents)
	}
}

// A report that is not there is said to be not there: an empty list would be taken for an answer.
func TestListOfAnUnknownReportIsNotFound(t *testing.T) {
	t.Parallel()
	h := open(t, spaces)
	makeNew(t, h.as(alpha), note("A-1", `"report": "alpha"`))
	if l := decode[list](t, h.as(alpha).Get("/v1/documents?report=alpha").Want(http.StatusOK)); len(l.Documents) != 1 {
		t.Errorf("%d documents", len(l.Documents))
	}
	if l := decode[list](t, h.as(alpha).Get("/v1/documents?report=open").Want(http.StatusOK)); len(l.Documents) != 0 {
		t.Errorf("%d documents of a report that has none", len(l.Documents))
	}
	p := wantProblem(t, h.as(alpha).Get("/v1/documents?report=alhpa"), http.StatusNotFound, "not-found")
	if p["nearest"] != "alpha" {
		t.Errorf("%v", p)
	}
	p = wantProblem(t, h.as(alpha).Get("/v1/documents?report=beta"), http.StatusNotFound, "not-found")
	if p["nearest"] != nil {
		t.Errorf("another space's report: %v", p)
	}
}

func TestMethodThatIsNotAllowedIsToldWhichAre(t *testing.T) {
	t.Parallel()
	h := open(t)
	p := decode[map[string]any](t, h.Do(http.MethodPut, "/v1/documents", nil).Want(http.StatusMethodNotAllowed))
	if p["detail"] != "PUT is not allowed for this path; allowed: GET, HEAD, OPTIONS, POST" || p["got"] != "PUT" || p["want"] != "GET, HEAD, OPTIONS, POST" {
		t.Errorf("%v", p)
	}
}
