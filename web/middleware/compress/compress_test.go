package compress_test

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"example.com/quire/web"
	"example.com/quire/web/middleware"
	"example.com/quire/web/middleware/compress"
	"example.com/quire/web/webtest"
)

var long = strings.Repeat("a body that shrinks well. ", 200)

func newApp(t *testing.T, o compress.Options, before ...web.Middleware) *web.App {
	t.Helper()
	app, err := web.New(web.Options{Logger: slog.New(slog.DiscardHandler), Poison: true})
	if err != nil {
		t.Fatal(err)
	}
	mw, err := compress.New(o)
	if err != nil {
		t.Fatal(err)
	}
	app.Use(append(before, mw)...)
	// /a answers as the query says.
	answer := func(c *web.Context) error {
		h := c.Writer().Header()
		for _, f := range c.QueryAll("h") {
			name, value, _ := strings.Cut(f, ":")
			h.Set(name, value)
		}
		size, err := c.QueryInt("size", len(long))
		if err != nil {
			return err
		}
		status, err := c.QueryInt("status", 200)
		if err != nil {
			return err
		}
		if kind := c.Query("type"); kind != "" {
			return c.Blob(status, kind, []byte(long[:size]))
		}
		c.Writer().WriteHeader(status) // no length, no type, in pieces
		for rest := long[:size]; rest != ""; {
			n := min(100, len(rest))
			if _, err := io.WriteString(c.Writer(), rest[:n]); err != nil {
				return err
			}
			rest = rest[n:]
		}
		return nil
	}
	for _, p := range []string{"/a", "/a.csv", "/raw/x", "/rawer", "/v1/blob"} {
		app.GET(p, answer)
	}
	app.POST("/a", answer)
	app.GET("/partly", func(c *web.Context) error {
		if _, err := io.WriteString(c.Writer(), "part"); err != nil {
			return err
		}
		c.Error(web.NewProblem(http.StatusTeapot, "no", nil))
		return nil
	})
	app.Static("/files", fstest.MapFS{
		"f.txt":    {Data: []byte(long), ModTime: time.Unix(1, 0)},
		"g.txt":    {Data: []byte(long), ModTime: time.Unix(1, 0)},
		"g.txt.br": {Data: []byte("coded before"), ModTime: time.Unix(1, 0)},
	}, web.StaticOptions{})
	return app
}

// decode reads a body by its coding.
func decode(t *testing.T, r *webtest.Response) string {
	t.Helper()
	var src io.Reader = bytes.NewReader(r.Body)
	switch coding := r.Header.Get("Content-Encoding"); coding {
	case "":
	case "gzip":
		z, err := gzip.NewReader(src)
		if err != nil {
			t.Fatal(err)
		}
		src = z
	case "zstd":
		z, err := zstd.NewReader(src)
		if err != nil {
			t.Fatal(err)
		}
		defer z.Close()
		src = z
	default:
		t.Fatalf("coding %s", coding)
	}
	body, err := io.ReadAll(src)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// TestRFC9110_12_5_3_Coding: the client's weights decide.
func TestRFC9110_12_5_3_Coding(t *testing.T) {
	c := webtest.New(t, newApp(t, compress.Options{}))
	for accept, want := range map[string]string{
		"": "", "gzip": "gzip", "zstd": "zstd", "gzip, zstd": "zstd", "gzip;q=1, zstd;q=0.5": "gzip", "x-gzip": "gzip", "GZIP": "gzip", "*": "zstd",
		"gzip;q=0": "", "gzip;q=0, *": "zstd", "br": "", "br, gzip;q=0.1": "gzip", "identity": "", "identity;q=1, gzip;q=0.5": "", "identity;q=0.5, gzip;q=0.5": "gzip",
		"identity;q=0, gzip;q=0.1": "gzip", "gzip;q=0.001": "gzip", "gzip;q=x": "",
	} {
		for _, path := range []string{"/a", "/a?type=text/plain", "/a?status=404&type=application/problem%2Bjson", "/a?status=201"} {
			r := c.With("Accept-Encoding", accept).Get(path)
			if got := r.Header.Get("Content-Encoding"); got != want || decode(t, r) != long || r.Header.Get("Vary") != "Accept-Encoding" || want != "" && r.Header.Get("Content-Length") != "" {
				t.Errorf("%q %s: coding %q, want %q; %v", accept, path, got, want, r.Header)
			}
			if status := r.Status; (status == 404) != strings.Contains(path, "404") || (status == 201) != strings.Contains(path, "201") {
				t.Errorf("%q %s: status %d", accept, path, status)
			}
		}
	}
	for _, accept := range []string{"identity;q=0", "*;q=0", "br, identity;q=0"} {
		refusing := c.With("Accept-Encoding", accept)
		refusing.Get("/a").Want(406)
		refusing.Get("/a?type=text/plain").Want(406)
		refusing.Get("/a?status=204&size=0").Want(204)
		refusing.Get("/partly").Want(418)
		if r := refusing.Post("/a", "text/plain", "").Want(200); r.Text() != long { // it has had its effect
			t.Errorf("%s: %q", accept, r.Text())
		}
	}
	for _, path := range []string{"/a?size=10", "/a?size=10&type=image/png"} {
		if r := c.With("Accept-Encoding", "gzip, identity;q=0").Get(path).Want(200); r.Header.Get("Content-Encoding") != "gzip" || decode(t, r) != long[:10] {
			t.Errorf("%s: %v", path, r.Header)
		}
	}
}

// TestLeftAlone: what is not coded, and whether a cache has to know.
func TestLeftAlone(t *testing.T) {
	app := newApp(t, compress.Options{
		MinSize: 500, ExcludeTypes: []string{"text/csv", "font/*"}, ExcludeExtensions: []string{".csv"}, ExcludePaths: []string{"/raw"},
		ExcludeRegexps: []*regexp.Regexp{regexp.MustCompile(`^/v\d+/`)},
	})
	c := webtest.New(t, app).With("Accept-Encoding", "gzip, zstd, br")
	for _, tt := range []struct {
		path        string
		coded, vary bool
	}{
		{"/a?size=500", true, true},
		{"/a?size=499", false, true},
		{"/a?size=500&type=text/plain", true, true},
		{"/a?size=499&type=text/plain", false, true},
		{"/a?size=0", false, false},
		{"/a?type=image/png", false, false},
		{"/a?type=text/csv", false, false},
		{"/a?type=font/ttf", false, false},
		{"/a?type=text/event-stream", false, true},
		{"/a?type=application/json;charset=utf-8", true, true},
		{"/a?type=image/svg%2Bxml", true, true},
		{"/a.csv?type=text/plain", false, false},
		{"/raw/x", false, false},
		{"/rawer", true, true},
		{"/v1/blob", false, false},
		{"/a?h=Cache-Control:no-transform", false, false},
		{"/a?h=Content-Range:bytes%200-1/2&status=206", false, true},
		{"/a?h=Content-Digest:x", false, false},
		{"/a?h=Vary:accept-encoding", true, true},
		{"/a?status=204&size=0", false, false},
		{"/a?status=304&size=0", false, true},
		{"/files/f.txt", true, true},
	} {
		r := c.Get(tt.path)
		vary := strings.EqualFold(strings.Join(r.Header["Vary"], ", "), "Accept-Encoding")
		if coded := r.Header.Get("Content-Encoding") != ""; coded != tt.coded || vary != tt.vary || r.Status >= 400 {
			t.Errorf("%s: %d, coded %v, vary %v; %v", tt.path, r.Status, coded, vary, r.Header)
		}
	}
	if r := c.Get("/files/g.txt").Want(200); r.Header.Get("Content-Encoding") != "br" || r.Text() != "coded before" {
		t.Errorf("precompressed: %v %s", r.Header, r.Text())
	}
	if r := c.With("Range", "bytes=0-9").Get("/files/f.txt").Want(206); r.Text() != long[:10] || r.Header.Get("Content-Encoding") != "" {
		t.Errorf("range: %v %s", r.Header, r.Text())
	}
	if r := c.With("Cache-Control", "no-transform").Get("/a").Want(200); r.Text() != long {
		t.Errorf("no-transform of the request: %v", r.Header)
	}
	if r := c.Get("/partly").Want(418); strings.Contains(decode(t, r), "part") {
		t.Errorf("an error is mixed with %s", decode(t, r))
	}
}

// TestRFC9110_8_8_1_WeakTags: coded bytes have a weak tag, which a condition still
// meets.
func TestRFC9110_8_8_1_WeakTags(t *testing.T) {
	c := webtest.New(t, newApp(t, compress.Options{}))
	for tag, want := range map[string]string{`"x"`: `W/"x"`, `W/"x"`: `W/"x"`} {
		path := "/a?h=ETag:" + strings.ReplaceAll(tag, `"`, "%22")
		if got := c.With("Accept-Encoding", "gzip").Get(path).Header.Get("Etag"); got != want {
			t.Errorf("%s became %s", tag, got)
		}
		if got := c.Get(path).Header.Get("Etag"); got != tag {
			t.Errorf("without coding %s became %s", tag, got)
		}
	}
	z := c.With("Accept-Encoding", "zstd")
	r := z.Get("/files/f.txt").Want(200)
	tag := r.Header.Get("Etag")
	if !strings.HasPrefix(tag, `W/"`) {
		t.Errorf("the tag of a coded file is %q", tag)
	}
	if again := z.With("If-None-Match", tag).Get("/files/f.txt").Want(304); again.Header.Get("Etag") != tag || r.Header.Get("Accept-Ranges") != "" {
		t.Errorf("%v, want %s", again.Header, tag)
	}
}

// TestHeadHasTheFieldsOfGet but no length that is not known.
func TestHeadHasTheFieldsOfGet(t *testing.T) {
	c := webtest.New(t, newApp(t, compress.Options{})).With("Accept-Encoding", "gzip")
	for _, path := range []string{"/a", "/a?type=text/plain", "/files/f.txt", "/a?size=10&type=text/plain"} {
		get, head := c.Get(path), c.Do("HEAD", path, nil)
		for _, name := range []string{"Content-Encoding", "Vary", "Etag", "Content-Type", "Content-Length"} {
			if get.Header.Get(name) != head.Header.Get(name) {
				t.Errorf("%s %s: GET %q, HEAD %q", path, name, get.Header.Get(name), head.Header.Get(name))
			}
		}
		if len(head.Body) > 0 {
			t.Errorf("%s: HEAD has %d bytes", path, len(head.Body))
		}
	}
}

// TestFlushReachesTheClient: each event arrives, coded, before the next is written.
func TestFlushReachesTheClient(t *testing.T) {
	for _, coding := range []string{"gzip", "zstd"} {
		app := newApp(t, compress.Options{})
		more := make(chan struct{})
		app.GET("/events", func(c *web.Context) error {
			c.Writer().Header().Set("Content-Type", "text/event-stream")
			for i := range 3 {
				if _, err := fmt.Fprintf(c.Writer(), "data: %d\n\n", i); err != nil {
					return err
				}
				if err := http.NewResponseController(c.Writer()).Flush(); err != nil {
					return err
				}
				<-more
			}
			return nil
		})
		server := httptest.NewServer(app)
		defer server.Close()
		req, err := http.NewRequestWithContext(t.Context(), "GET", server.URL+"/events", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept-Encoding", coding)
		res, err := server.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := res.Body.Close(); err != nil {
				t.Error(err)
			}
		}()
		var src io.Reader
		if coding == "gzip" {
			src, err = gzip.NewReader(res.Body)
		} else {
			src, err = zstd.NewReader(res.Body, zstd.WithDecoderConcurrency(1))
		}
		if err != nil || res.Header.Get("Content-Encoding") != coding {
			t.Fatal(err, res.Header)
		}
		for i := range 3 {
			event := make([]byte, 9)
			if _, err := io.ReadFull(src, event); err != nil || string(event) != fmt.Sprintf("data: %d\n\n", i) {
				t.Fatalf("event %d: %q, %v", i, event, err)
			}
			more <- struct{}{}
		}
		if rest, err := io.ReadAll(src); err != nil || len(rest) > 0 {
			t.Errorf("%q, %v", rest, err)
		}
	}
}

// TestStack: under access log and a time budget, with many requests at once, no
// body gets bytes of another.
func TestStack(t *testing.T) {
	accesslog := middleware.AccessLog(middleware.AccessLogOptions{Logger: slog.New(slog.DiscardHandler)})
	app := newApp(t, compress.Options{}, accesslog)
	app.GET("/n/{n}", func(c *web.Context) error { return c.String(200, strings.Repeat(c.Param("n")+",", 1000)) }, web.Budgets{Time: 10 * time.Second})
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			r := webtest.New(t, app).With("Accept-Encoding", []string{"gzip", "zstd", "identity"}[i%3]).Get(fmt.Sprintf("/n/%d", i))
			if body := decode(t, r); r.Status != 200 || body != strings.Repeat(fmt.Sprintf("%d,", i), 1000) {
				t.Errorf("request %d: %d %.40q", i, r.Status, body)
			}
		})
	}
	wg.Wait()
}

func TestOptions(t *testing.T) {
	for _, bad := range []compress.Options{
		{MinSize: -1},
		{ExcludeTypes: []string{"text"}},
		{ExcludeTypes: []string{"text/"}},
		{ExcludeExtensions: []string{"csv"}},
		{ExcludePaths: []string{"raw"}},
		{ExcludeRegexps: []*regexp.Regexp{nil}},
	} {
		if _, err := compress.New(bad); err == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
}

func ExampleNew() {
	mw, err := compress.New(compress.Options{ExcludePaths: []string{"/account"}})
	if err != nil {
		log.Fatal(err)
	}
	app, err := web.New(web.Options{})
	if err != nil {
		log.Fatal(err)
	}
	app.Use(mw)
	app.GET("/", func(c *web.Context) error { return c.String(http.StatusOK, strings.Repeat("hello ", 1000)) })
	r := httptest.NewRequest("GET", "/", nil) //nolint:noctx // an example of one line
	r.Header.Set("Accept-Encoding", "gzip, br")
	w := httptest.NewRecorder()
	app.ServeHTTP(w, r)
	fmt.Println(w.Header().Get("Content-Encoding"), w.Body.Len() < 200)
	// Output: gzip true
}
