package webtest

import (
	"bytes"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.com/quire/web"
)

// Conform checks every route of an App that has no parameters, by what holds for
// all HTTP servers: HEAD says what GET says (RFC 9110, section 9.3.2), Allow is
// the same in OPTIONS and 405 and tells what is taken (section 10.2.1),
// conditions and ranges are heeded where a validator is sent (sections 13, 14),
// and errors are problems with a request id. Only GET, HEAD, OPTIONS and a
// method nobody registered are sent.
//
// Of a stream of server-sent events the first block is read, then the client leaves; a HEAD of it
// is not sent, for a handler may go on for ever where nothing can be written.
//
// Answers that vary with Accept come in the type that is asked for (section 12.5.1), and those of
// routes that described knows are as it says: give the *openapi.Doc of the App.
func Conform(t *testing.T, app *web.App, described ...Answers) {
	t.Helper()
	paths := map[string][]string{}
	for _, r := range app.Routes() {
		if r.Host == "" && !strings.Contains(r.Pattern, "{") {
			paths[r.Pattern] = append(paths[r.Pattern], r.Method)
		}
	}
	for path, methods := range paths {
		t.Run(path, func(t *testing.T) {
			if slices.Contains(methods, http.MethodGet) || slices.Contains(methods, "") {
				conformGet(t, New(t, app), path, described)
			}
			if !slices.Contains(methods, "") && !slices.Contains(methods, http.MethodOptions) {
				conformAllow(t, New(t, app), path, methods)
			}
		})
	}
	t.Run("unknown path", func(t *testing.T) {
		r := New(t, app).Get("/webtest-no-such-path-f3a9")
		if r.Status == http.StatusNotFound {
			problem(t, r)
		}
	})
}

// Answers judges an answer by a description of the route; *openapi.Doc does.
type Answers interface {
	CheckAnswer(method, pattern string, status int, header http.Header, body []byte) error
}

func conformGet(t *testing.T, c *Client, path string, described []Answers) {
	t.Helper()
	get, stream := c.first(path)
	if stream {
		conformHead(t, path, get, described)
		return
	}
	head := c.Do(http.MethodHead, path, nil)
	if len(head.Body) != 0 {
		t.Errorf("HEAD has a body of %d bytes", len(head.Body))
	}
	if get.Status != head.Status {
		t.Errorf("GET %d, HEAD %d", get.Status, head.Status)
	}
	for _, name := range slices.Sorted(maps.Keys(get.Header)) {
		if name == "X-Request-Id" || name == "Date" || name == "Content-Security-Policy" {
			continue // fresh for every answer
		}
		if !slices.Equal(get.Header[name], head.Header[name]) {
			t.Errorf("%s: GET %q, HEAD %q", name, get.Header[name], head.Header[name])
		}
	}
	if n := get.Header.Get("Content-Length"); n != "" && n != strconv.Itoa(len(get.Body)) {
		t.Errorf("Content-Length %s, body %d bytes", n, len(get.Body))
	}
	conformHead(t, path, get, described)
	conformAccept(t, c, path, get)
	tag := get.Header.Get("Etag")
	if get.Status != http.StatusOK || tag == "" {
		return
	}
	if r := c.With("If-None-Match", tag).Get(path); r.Status != http.StatusNotModified || len(r.Body) != 0 || r.Header.Get("Etag") != tag {
		t.Errorf("If-None-Match of its own tag: %d, %d bytes, ETag %q", r.Status, len(r.Body), r.Header.Get("Etag"))
	}
	if r := c.With("If-Match", `"webtest-other"`).Get(path); r.Status != http.StatusPreconditionFailed {
		t.Errorf("If-Match of another tag: %d, want 412", r.Status)
	}
	if get.Header.Get("Accept-Ranges") == "bytes" && len(get.Body) > 1 {
		r := c.With("Range", "bytes=1-").Get(path)
		if r.Status != http.StatusPartialContent || !bytes.Equal(r.Body, get.Body[1:]) {
			t.Errorf("Range bytes=1-: %d, %d bytes of %d", r.Status, len(r.Body), len(get.Body))
		}
		if r := c.With("Range", "bytes="+strconv.Itoa(len(get.Body))+"-").Get(path); r.Status != http.StatusRequestedRangeNotSatisfiable {
			t.Errorf("Range after the end: %d, want 416", r.Status)
		}
	}
}

// conformHead checks what every answer to GET has.
func conformHead(t *testing.T, path string, get *Response, described []Answers) {
	t.Helper()
	if get.Header.Get("X-Request-Id") == "" || get.Header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("request id or nosniff missing: %v", get.Header)
	}
	if get.Status >= 400 {
		problem(t, get)
	}
	for _, d := range described {
		if err := d.CheckAnswer(http.MethodGet, path, get.Status, get.Header, get.Body); err != nil {
			t.Error(err)
		}
	}
}

// conformAccept: a type that is had can be asked for, and without one that fits the answer is 406
// or the usual one (RFC 9110, sections 12.4.1 and 15.5.7).
func conformAccept(t *testing.T, c *Client, path string, get *Response) {
	t.Helper()
	varies := strings.FieldsFunc(strings.Join(get.Header["Vary"], ","), func(r rune) bool { return r == ',' || r == ' ' })
	if get.Status != http.StatusOK || !slices.Contains(varies, "Accept") {
		return
	}
	kind, _, _ := strings.Cut(get.Header.Get("Content-Type"), ";")
	same := c.With("Accept", kind+", */*;q=0.1").Get(path)
	if got, _, _ := strings.Cut(same.Header.Get("Content-Type"), ";"); same.Status != get.Status || got != kind {
		t.Errorf("Accept %s: %d of type %q", kind, same.Status, got)
	}
	switch r := c.With("Accept", "webtest/none").Get(path); r.Status {
	case http.StatusNotAcceptable:
		problem(t, r)
	case get.Status:
	default:
		t.Errorf("Accept of an unknown type: %d, want %d or 406", r.Status, get.Status)
	}
}

func conformAllow(t *testing.T, c *Client, path string, methods []string) {
	t.Helper()
	options := c.Do(http.MethodOptions, path, nil)
	if options.Status != http.StatusNoContent {
		return // a middleware answers OPTIONS itself
	}
	allow := strings.Split(options.Header.Get("Allow"), ", ")
	for _, m := range methods {
		if !slices.Contains(allow, m) {
			t.Errorf("Allow %q lacks %s", allow, m)
		}
	}
	if !slices.IsSorted(allow) || !slices.Contains(allow, "OPTIONS") || slices.Contains(allow, "GET") != slices.Contains(allow, "HEAD") {
		t.Errorf("Allow %q: not sorted, or without OPTIONS or HEAD", allow)
	}
	r := c.Do("WEBTEST", path, nil)
	if r.Status == http.StatusForbidden {
		return // refused before the method was looked at
	}
	if r.Status != http.StatusMethodNotAllowed || r.Header.Get("Allow") != options.Header.Get("Allow") {
		t.Errorf("unknown method: %d, Allow %q; OPTIONS says %q", r.Status, r.Header.Get("Allow"), options.Header.Get("Allow"))
	}
}

func problem(t *testing.T, r *Response) {
	t.Helper()
	if ct := r.Header.Get("Content-Type"); ct != "application/problem+json" {
		t.Errorf("error %d of type %q", r.Status, ct)
		return
	}
	var p struct {
		Status   int
		Instance string
	}
	r.JSON(&p)
	if p.Status != r.Status || p.Instance != r.Header.Get("X-Request-Id") {
		t.Errorf("problem %+v, status %d, id %q", p, r.Status, r.Header.Get("X-Request-Id"))
	}
}
