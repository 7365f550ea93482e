package api_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"example.com/quire/internal/api"
	"example.com/quire/internal/record"
	"example.com/quire/web"
	"example.com/quire/web/webtest"
)

// file checks what holds for every route that serves a file: HEAD, conditions (RFC 9110,
// section 13) and ranges (section 14).
func file(t *testing.T, c *webtest.Client, target string) {
	t.Helper()
	get := c.Get(target).Want(http.StatusOK)
	tag, size := get.Header.Get("Etag"), len(get.Body)
	if tag == "" || get.Header.Get("Accept-Ranges") != "bytes" || get.Header.Get("Content-Length") != fmt.Sprint(size) || get.Header.Get("X-Request-Id") == "" {
		t.Errorf("%s: header %v", target, get.Header)
	}
	head := c.Do(http.MethodHead, target, nil).Want(http.StatusOK)
	if len(head.Body) != 0 {
		t.Errorf("%s: HEAD has a body", target)
	}
	for _, name := range []string{"Etag", "Content-Length", "Content-Type", "Cache-Control", "Accept-Ranges"} {
		if head.Header.Get(name) != get.Header.Get(name) {
			t.Errorf("%s: %s: HEAD %q, GET %q", target, name, head.Header.Get(name), get.Header.Get(name))
		}
	}
	part := func(from, to int) []byte { return get.Body[from:to] }
	for _, tt := range []struct {
		name, header, value string
		status              int
		body                []byte
	}{
		{"its tag", "If-None-Match", tag, 304, nil},
		{"its tag, weak", "If-None-Match", "W/" + tag, 304, nil},
		{"its tag in a list", "If-None-Match", `"a", W/"b" ,` + tag, 304, nil},
		{"any", "If-None-Match", "*", 304, nil},
		{"other tags", "If-None-Match", `"a", "b"`, 200, get.Body},
		{"its tag without quotes", "If-None-Match", strings.Trim(tag, `"`), 200, get.Body},
		{"If-Match", "If-Match", tag, 200, get.Body},
		{"If-Match of another", "If-Match", `"a"`, 412, nil},
		{"If-Match of a weak tag", "If-Match", "W/" + tag, 412, nil}, // compared strongly
		{"first byte", "Range", "bytes=0-0", 206, part(0, 1)},
		{"middle", "Range", "bytes=10-19", 206, part(10, 20)},
		{"open end", "Range", "bytes=10-", 206, part(10, size)},
		{"suffix", "Range", "bytes=-5", 206, part(size-5, size)},
		{"longer than the file", "Range", "bytes=0-99999999", 206, get.Body},
		{"behind the end", "Range", fmt.Sprintf("bytes=%d-", size), 416, nil},
		{"no suffix", "Range", "bytes=-0", 416, nil},
		{"other unit", "Range", "pages=1-2", 200, get.Body},
		{"backwards", "Range", "bytes=9-3", 200, get.Body},
	} {
		r := c.With(tt.header, tt.value).Get(target)
		if r.Status != tt.status {
			t.Errorf("%s: %s: %d, want %d", target, tt.name, r.Status, tt.status)
			continue
		}
		if tt.body != nil && !bytes.Equal(r.Body, tt.body) {
			t.Errorf("%s: %s: %d bytes, want %d", target, tt.name, len(r.Body), len(tt.body))
		}
		switch tt.status {
		case http.StatusNotModified:
			if len(r.Body) != 0 || r.Header.Get("Etag") != tag || r.Header.Get("Cache-Control") != get.Header.Get("Cache-Control") {
				t.Errorf("%s: %s: 304 with %v", target, tt.name, r.Header)
			}
		case http.StatusRequestedRangeNotSatisfiable:
			if cr := r.Header.Get("Content-Range"); cr != fmt.Sprintf("bytes */%d", size) {
				t.Errorf("%s: %s: Content-Range %s", target, tt.name, cr)
			}
		case http.StatusPartialContent:
			if !strings.HasSuffix(r.Header.Get("Content-Range"), fmt.Sprintf("/%d", size)) || r.Header.Get("Etag") != tag {
				t.Errorf("%s: %s: %v", target, tt.name, r.Header)
			}
		}
	}
	// If-Range, RFC 9110, section 13.1.5: the whole file unless the tag is strong and its own.
	for value, status := range map[string]int{tag: 206, `"other"`: 200, "W/" + tag: 200} {
		if r := c.With("Range", "bytes=0-9").With("If-Range", value).Get(target); r.Status != status {
			t.Errorf("%s: If-Range %s: %d, want %d", target, value, r.Status, status)
		}
	}
	ranges(t, c.With("Range", "bytes=0-3, 20-29,-4").Get(target).Want(http.StatusPartialContent), get.Body, [][2]int{{0, 4}, {20, 30}, {size - 4, size}})
}

// ranges checks an answer of several ranges (RFC 9110, section 14.6).
func ranges(t *testing.T, r *webtest.Response, whole []byte, want [][2]int) {
	t.Helper()
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/byteranges" {
		t.Fatalf("%s: %v", r.Header.Get("Content-Type"), err)
	}
	parts := multipart.NewReader(bytes.NewReader(r.Body), params["boundary"])
	for _, w := range want {
		p, err := parts.NextPart()
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(p)
		if err != nil || !bytes.Equal(got, whole[w[0]:w[1]]) {
			t.Errorf("part %v: %q, %v", w, got, err)
		}
		if cr := p.Header.Get("Content-Range"); cr != fmt.Sprintf("bytes %d-%d/%d", w[0], w[1]-1, len(whole)) {
			t.Errorf("part %v: Content-Range %s", w, cr)
		}
	}
	if _, err := parts.NextPart(); !errors.Is(err, io.EOF) {
		t.Errorf("behind the last part: %v", err)
	}
}

func TestContent(t *testing.T) {
	t.Parallel()
	h := open(t, spaces)
	private := makeNew(t, h.as(alpha), note("A-1"))
	public := makeNew(t, h.as(alpha), note("A-2", `"report": "open"`))
	for _, tt := range []struct {
		name, content, cache string
		c                    *webtest.Client
		file                 []byte
	}{
		{"private", private.content, "private, max-age=31536000, immutable", h.as(alpha), private.file},
		{"public, with a token", public.content, "public, max-age=31536000, immutable", h.as(alpha), public.file},
		{"public, with another's token", public.content, "public, max-age=31536000, immutable", h.as(beta), public.file},
		{"public, without a token", public.content, "public, max-age=31536000, immutable", h.Client, public.file},
	} {
		target := "/d/" + tt.content + ".pdf"
		r := tt.c.Get(target)
		if r.Status != 200 || !bytes.Equal(r.Body, tt.file) || r.Header.Get("Etag") != `"`+tt.content+`"` ||
			r.Header.Get("Cache-Control") != tt.cache || r.Header.Get("Content-Type") != "application/pdf" {
			t.Errorf("%s: %d %v", tt.name, r.Status, r.Header)
			continue
		}
		file(t, tt.c, target)
	}
	for _, name := range []string{"", "x", strings.ToUpper(public.content), public.content[1:], strings.Repeat("0", 64)} {
		h.as(alpha).Get("/d/" + name + ".pdf").Want(http.StatusNotFound)
	}
	h.as(alpha).Get("/d/" + public.content).Want(http.StatusNotFound)
}

func TestLatestMoves(t *testing.T) {
	t.Parallel()
	h := open(t, spaces)
	for _, tt := range []struct {
		report, cache string
		c             *webtest.Client
	}{
		{"alpha", "private, no-cache", h.as(alpha)},
		{"open", "public, no-cache", h.as(alpha)},
		{"open", "public, no-cache", h.as(beta)},
		{"open", "public, no-cache", h.Client},
	} {
		target := "/r/" + tt.report + "/latest.pdf"
		filed := `"report": "` + tt.report + `"`
		number := tt.report + tt.cache + fmt.Sprint(len(decode[list](t, h.as(alpha).Get("/v1/documents")).Documents))
		first := makeNew(t, h.as(alpha), note(number+"-1", filed))
		r := tt.c.Get(target).Want(http.StatusOK)
		if !bytes.Equal(r.Body, first.file) || r.Header.Get("Cache-Control") != tt.cache || r.Header.Get("Etag") != `"`+first.content+`"` {
			t.Errorf("%s: %v", tt.report, r.Header)
		}
		file(t, tt.c, target)
		tag := r.Header.Get("Etag")
		second := makeNew(t, h.as(alpha), note(number+"-2", filed))
		if r := tt.c.With("If-None-Match", tag).Get(target); r.Status != 200 || !bytes.Equal(r.Body, second.file) {
			t.Errorf("%s: after it moved: %d", tt.report, r.Status)
		}
		// What stands under the report already moves nothing.
		h.as(alpha).Post("/v1/documents", "application/json", note(number+"-1", filed)).Want(http.StatusOK)
		tt.c.With("If-None-Match", `"`+second.content+`"`).Get(target).Want(http.StatusNotModified)
		// A document that was there without the report is filed and becomes the latest.
		third := makeNew(t, h.as(alpha), note(number+"-3"))
		h.as(alpha).Post("/v1/documents", "application/json", note(number+"-3", filed)).Want(http.StatusOK)
		if r := tt.c.Get(target); !bytes.Equal(r.Body, third.file) {
			t.Errorf("%s: filing did not move it", tt.report)
		}
	}
	// A report without documents has no latest.
	h.as(beta).Get("/r/beta/latest.pdf").Want(http.StatusNotFound)
	h.as(beta).Get("/r/nothing/latest.pdf").Want(http.StatusNotFound)
}

// A document becomes public when a public report takes it, and not before; the bytes that
// were asked for in vain are not remembered as absent.
func TestContentBecomesPublic(t *testing.T) {
	t.Parallel()
	h := open(t, spaces)
	d := makeNew(t, h.as(alpha), note("A-1"))
	target := "/d/" + d.content + ".pdf"
	h.Get(target).Want(http.StatusNotFound)
	h.as(alpha).Post("/v1/documents", "application/json", note("A-1", `"report": "open"`)).Want(http.StatusOK)
	if r := h.Get(target).Want(http.StatusOK); !bytes.Equal(r.Body, d.file) {
		t.Error("other bytes")
	}
}

// serveParts builds the routes over the parts of a server, with other options.
func serveParts(t *testing.T, h *server, change func(*api.Options)) *webtest.Client {
	t.Helper()
	access, err := api.NewAccess(nil)
	if err != nil {
		t.Fatal(err)
	}
	o := api.Options{Maker: h.app.Maker, Library: h.app.Library, Blobs: h.app.Blobs, Reports: h.app.Reports, Access: access}
	change(&o)
	routes, err := api.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := routes.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	a, err := web.New(web.Options{Logger: slog.New(slog.NewTextHandler(h.log, nil)), Problem: api.Problem})
	if err != nil {
		t.Fatal(err)
	}
	routes.Register(a.Group("", access.Identify))
	return webtest.New(t, a).With("Host", "localhost")
}

// A public document that is too large for memory comes from its blob, each time.
func TestLargePublicDocument(t *testing.T) {
	t.Parallel()
	h := open(t)
	d := makeNew(t, h.Client, note("A-1", `"report": "open"`))
	stored, err := h.app.Library.Document(t.Context(), record.Local, mustHash(t, d.id))
	if err != nil {
		t.Fatal(err)
	}
	stored.Size = 1 << 30
	c := serveParts(t, h, func(o *api.Options) {
		o.Library = oneDocument{o.Library, stored}
		o.Public = []api.PublicReport{{Space: record.Local, Name: "open"}}
	})
	for range 3 {
		r := c.Get("/d/" + d.content + ".pdf").Want(http.StatusOK)
		if !bytes.Equal(r.Body, d.file) || r.Header.Get("Cache-Control") != "public, max-age=31536000, immutable" {
			t.Errorf("%v", r.Header)
		}
	}
	file(t, c, "/d/"+d.content+".pdf")
}

// oneDocument is a library in which one document is larger than it is.
type oneDocument struct {
	api.Library
	d *record.Document
}

func (o oneDocument) ByContent(context.Context, record.Space, record.Hash) (*record.Document, error) {
	return o.d, nil
}

func mustHash(t *testing.T, s string) record.Hash {
	t.Helper()
	h, err := record.ParseHash(s)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// The routes keep what holds for every HTTP server.
func TestConform(t *testing.T) {
	t.Parallel()
	h := open(t)
	makeNew(t, h.Client, note("A-1"))
	a, ok := h.app.Handler().(*web.App)
	if !ok {
		t.Fatalf("the handler is a %T", h.app.Handler())
	}
	h.serve(t) // until then it is not ready, which health answers in a form of its own
	webtest.Conform(t, a)
}

func TestNewNeedsItsParts(t *testing.T) {
	if _, err := api.New(api.Options{}); err == nil {
		t.Error("no error")
	}
}
