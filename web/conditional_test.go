package web_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"example.com/quire/web"
	"example.com/quire/web/webtest"
)

var (
	modified = time.Date(2024, 2, 29, 12, 0, 0, 500, time.UTC)
	lastMod  = modified.Format(http.TimeFormat)
	before   = modified.Add(-time.Hour).Format(http.TimeFormat)
	after    = modified.Add(time.Hour).Format(http.TimeFormat)
)

const digits = "0123456789abcdefghij"

func contentApp(t *testing.T) *webtest.Client {
	t.Helper()
	app := newApp(t, web.Options{})
	serve := func(etag string, mod time.Time) web.Handler {
		return func(c *web.Context) error {
			return c.Content(web.Content{Type: "text/plain", ETag: etag, Modified: mod, Body: strings.NewReader(digits)})
		}
	}
	app.GET("/strong", serve(`"abc"`, time.Time{}))
	app.GET("/weak", serve(`W/"abc"`, modified))
	app.GET("/date", serve("", modified))
	app.GET("/bare", serve("", time.Time{}))
	app.GET("/badtag", serve("abc", time.Time{}))
	write := func(c *web.Context) error {
		if err := c.Precondition(map[string]string{"/doc": `"v1"`, "/new": ""}[c.Request().URL.Path], time.Time{}); err != nil {
			return err
		}
		return c.NoContent(204)
	}
	app.PUT("/doc", write)
	app.PUT("/new", write)
	webtest.Conform(t, app)
	return webtest.New(t, app)
}

// TestRFC9110_13_2_2_Precedence is the order of preconditions.
func TestRFC9110_13_2_2_Precedence(t *testing.T) {
	c := contentApp(t)
	for _, tt := range []struct {
		method, path string
		headers      string // name: value, separated by bars
		want         int
	}{
		{"GET", "/strong", `If-None-Match: "abc"`, 304},
		{"HEAD", "/strong", `If-None-Match: W/"abc"`, 304},
		{"GET", "/strong", `If-None-Match: "x", W/"y" , "abc"`, 304},
		{"GET", "/strong", `If-None-Match: *`, 304},
		{"GET", "/strong", `If-None-Match: "x"`, 200},
		{"GET", "/strong", `If-None-Match: abc`, 200},
		{"GET", "/strong", `If-None-Match: "unfinished`, 200},
		{"GET", "/weak", `If-None-Match: "abc"`, 304},
		{"GET", "/bare", `If-None-Match: *`, 304}, // what is about to be sent exists, with or without a tag
		{"GET", "/bare", `If-Match: *`, 200},
		{"GET", "/strong", `If-Match: "abc"`, 200},
		{"GET", "/strong", `If-Match: "x"`, 412},
		{"GET", "/strong", `If-Match: W/"abc"`, 412}, // strong comparison
		{"GET", "/weak", `If-Match: W/"abc"`, 412},
		{"GET", "/weak", `If-Match: *`, 200},
		{"GET", "/strong", `If-Match: "x"|If-None-Match: "abc"`, 412}, // 412 before 304
		{"GET", "/date", "If-Modified-Since: " + lastMod, 304},
		{"GET", "/date", "If-Modified-Since: " + before, 200},
		{"GET", "/date", "If-Modified-Since: " + after, 304},
		{"GET", "/date", "If-Modified-Since: yesterday", 200},
		{"GET", "/weak", `If-None-Match: "x"|If-Modified-Since: ` + after, 200}, // If-None-Match alone counts
		{"GET", "/date", "If-Unmodified-Since: " + before, 412},
		{"GET", "/date", "If-Unmodified-Since: " + lastMod, 200},
		{"GET", "/weak", `If-Match: *|If-Unmodified-Since: ` + before, 200}, // If-Match alone counts
		{"GET", "/strong", "If-Modified-Since: " + after, 200},              // no date
		{"PUT", "/doc", `If-Match: "v1"`, 204},
		{"PUT", "/doc", `If-Match: "v2"`, 412},
		{"PUT", "/doc", `If-None-Match: *`, 412},
		{"PUT", "/doc", `If-None-Match: "v1"`, 412},
		{"PUT", "/doc", "If-Modified-Since: " + after, 204}, // for reading only
		{"PUT", "/new", `If-None-Match: *`, 204},
		{"PUT", "/new", `If-Match: *`, 412},
		{"GET", "/strong", `Range: bytes=0-1|If-None-Match: "abc"`, 304}, // 304 before ranges
		{"GET", "/strong", `Range: bytes=99-|If-Match: "x"`, 412},        // 412 before 416
		{"GET", "/badtag", "", 500},
	} {
		cl := c
		for h := range strings.SplitSeq(tt.headers, "|") {
			if k, v, ok := strings.Cut(h, ": "); ok {
				cl = cl.With(k, v)
			}
		}
		r := cl.Do(tt.method, tt.path, nil)
		if r.Status != tt.want {
			t.Errorf("%s %s with %s: %d, want %d", tt.method, tt.path, tt.headers, r.Status, tt.want)
		}
		if r.Status == 304 && tt.path != "/bare" && (len(r.Body) > 0 || r.Header.Get("Content-Length") != "" || (r.Header.Get("Etag") == "" && r.Header.Get("Last-Modified") == "")) {
			t.Errorf("%s %s: 304 with %v", tt.method, tt.path, r.Header)
		}
	}
}

// TestRFC9110_14_Ranges is ranges, If-Range and 416.
func TestRFC9110_14_Ranges(t *testing.T) {
	c := contentApp(t)
	for _, tt := range []struct {
		path, spec, ifRange string
		status              int
		contentRange, body  string
	}{
		{"/strong", "bytes=0-0", "", 206, "bytes 0-0/20", "0"},
		{"/strong", "BYTES=0-0", "", 206, "bytes 0-0/20", "0"}, // units are case-insensitive
		{"/strong", "bytes=5-", "", 206, "bytes 5-19/20", digits[5:]},
		{"/strong", "bytes=-3", "", 206, "bytes 17-19/20", "hij"},
		{"/strong", "bytes=-99", "", 206, "bytes 0-19/20", digits},
		{"/strong", "bytes=18-99", "", 206, "bytes 18-19/20", "ij"},
		{"/strong", "bytes=0-99999999999999999999", "", 206, "bytes 0-19/20", digits},
		{"/strong", "bytes= 1-2 , 99-", "", 206, "bytes 1-2/20", "12"},
		{"/strong", "bytes=20-", "", 416, "bytes */20", ""},
		{"/strong", "bytes=-0", "", 416, "bytes */20", ""},
		{"/strong", "bytes=99999999999999999999-", "", 416, "bytes */20", ""},
		{"/strong", "bytes=2-1", "", 200, "", digits},
		{"/strong", "bytes=", "", 200, "", digits},
		{"/strong", "bytes=a-b", "", 200, "", digits},
		{"/strong", "bytes=+1-2", "", 200, "", digits},
		{"/strong", "bytes=1", "", 200, "", digits},
		{"/strong", "bytes=1-x", "", 200, "", digits},
		{"/strong", "items=0-1", "", 200, "", digits},
		{"/strong", "bytes=0-,0-", "", 200, "", digits}, // more than the whole
		{"/strong", "bytes=" + strings.Repeat("0-0,", 33), "", 200, "", digits},
		{"/strong", "bytes=1-2", `"abc"`, 206, "bytes 1-2/20", "12"},
		{"/strong", "bytes=1-2", `"x"`, 200, "", digits},
		{"/strong", "bytes=1-2", `W/"abc"`, 200, "", digits},
		{"/strong", "bytes=99-", `"x"`, 200, "", digits},
		{"/weak", "bytes=1-2", `W/"abc"`, 200, "", digits},
		{"/weak", "bytes=1-2", lastMod, 206, "bytes 1-2/20", "12"},
		{"/date", "bytes=1-2", after, 200, "", digits},
		{"/date", "bytes=1-2", "garbage", 200, "", digits},
		{"/bare", "bytes=1-2", lastMod, 200, "", digits},
	} {
		cl := c.With("Range", tt.spec)
		if tt.ifRange != "" {
			cl = cl.With("If-Range", tt.ifRange)
		}
		r := cl.Get(tt.path)
		if r.Status != tt.status || r.Header.Get("Content-Range") != tt.contentRange || (tt.status != 416 && r.Text() != tt.body) {
			t.Errorf("%s %s If-Range %q: %d %q %q", tt.path, tt.spec, tt.ifRange, r.Status, r.Header.Get("Content-Range"), r.Text())
		}
		if head := cl.Do("HEAD", tt.path, nil); head.Status != 200 || head.Header.Get("Content-Length") != "20" {
			t.Errorf("HEAD %s %s: %d %v", tt.path, tt.spec, head.Status, head.Header)
		}
	}
	if r := c.With("Range", "bytes=0-1").With("Range", "bytes=2-3").Get("/strong"); r.Status != 200 {
		t.Errorf("two Range fields: %d", r.Status)
	}
}

func TestRFC9110_14_6_Multipart(t *testing.T) {
	r := contentApp(t).With("Range", "bytes=0-1, 5-6, -2").Get("/strong").Want(206)
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/byteranges" || r.Header.Get("Content-Length") != fmt.Sprint(len(r.Body)) {
		t.Fatalf("%v %v", err, r.Header)
	}
	mr := multipart.NewReader(bytes.NewReader(r.Body), params["boundary"])
	for _, want := range [][2]string{{"bytes 0-1/20", "01"}, {"bytes 5-6/20", "56"}, {"bytes 18-19/20", "ij"}} {
		p, err := mr.NextPart()
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(p)
		if err != nil || string(body) != want[1] || p.Header.Get("Content-Range") != want[0] || p.Header.Get("Content-Type") != "text/plain" {
			t.Errorf("part %v: %q %v %v", want, body, p.Header, err)
		}
	}
	if _, err := mr.NextPart(); !errors.Is(err, io.EOF) {
		t.Errorf("after the last part: %v", err)
	}
}

type brokenBody struct{ io.ReadSeeker }

func (brokenBody) Seek(int64, int) (int64, error) { return 0, errors.New("no seeking") }

func TestContentFaults(t *testing.T) {
	app := newApp(t, web.Options{})
	app.GET("/short", func(c *web.Context) error { return c.Content(web.Content{Size: 99, Body: strings.NewReader("abc")}) })
	app.GET("/noseek", func(c *web.Context) error { return c.Content(web.Content{Body: brokenBody{}}) })
	app.GET("/norange", func(c *web.Context) error {
		return c.Content(web.Content{Size: 9, Body: brokenBody{strings.NewReader("abc")}})
	})
	app.GET("/badtype", func(c *web.Context) error { return c.Content(web.Content{Type: "a\nb", Body: strings.NewReader("")}) })
	app.GET("/twice", func(c *web.Context) error {
		return errors.Join(c.NoContent(200), c.Content(web.Content{Body: strings.NewReader("")}), c.NoContent(200), c.String(200, ""), c.Redirect(302, "/"), c.Stream("", nil))
	})
	for path, want := range map[string]bool{"/short": true, "/noseek": false, "/badtype": false, "/twice": true} {
		r := newRequest(t, "GET", path)
		w, aborted := cut(t, app, r)
		if aborted != want || (!want && w.Code != 500) {
			t.Errorf("%s: cut %v, %d", path, aborted, w.Code)
		}
	}
	for _, spec := range []string{"bytes=0-1", "bytes=0-1,3-4"} {
		r := newRequest(t, "GET", "/norange")
		r.Header.Set("Range", spec)
		if w, aborted := cut(t, app, r); !aborted && w.Code != 500 {
			t.Errorf("a range without seeking: %d", w.Code)
		}
	}
}

func staticApp(t *testing.T, fsys fs.FS, o web.StaticOptions) (*web.App, *webtest.Client) {
	t.Helper()
	app := newApp(t, web.Options{})
	app.Static("/ui", fsys, o)
	return app, webtest.New(t, app)
}

var siteFiles = fstest.MapFS{
	"index.html":      {Data: []byte("<h1>home</h1>")},
	"app.js":          {Data: []byte("let a = 1")},
	"app.js.gz":       {Data: []byte("gzipped")},
	"app.js.br":       {Data: []byte("brotli")},
	"app.js.zst":      {Data: []byte("zstd")},
	"empty.txt":       {Data: nil},
	"odd.bin":         {Data: []byte{0}, ModTime: modified},
	"sub/index.html":  {Data: []byte("sub")},
	"list/b.txt":      {Data: []byte("b")},
	"list/a&b.txt":    {Data: []byte("a")},
	"list/.secret":    {Data: []byte("s")},
	".env":            {Data: []byte("KEY")},
	".git/config":     {Data: []byte("x")},
	"a/.hidden/x.txt": {Data: []byte("x")},
}

func TestStatic(t *testing.T) {
	app, c := staticApp(t, siteFiles, web.StaticOptions{})
	for path, want := range map[string]struct {
		status     int
		kind, body string
	}{
		"/ui/": {200, "text/html; charset=utf-8", "<h1>home</h1>"}, "/ui/index.html": {200, "text/html; charset=utf-8", "<h1>home</h1>"},
		"/ui/app.js": {200, "text/javascript; charset=utf-8", "let a = 1"}, "/ui/sub/": {200, "text/html; charset=utf-8", "sub"}, "/ui/sub": {307, "", ""},
		"/ui/empty.txt": {200, "text/plain; charset=utf-8", ""}, "/ui/odd.bin": {200, "application/octet-stream", "\x00"},
		"/ui/none.txt": {404, "*", "*"}, "/ui/list/": {404, "*", "*"}, "/ui/app.js/": {404, "*", "*"},
		"/ui/.env": {404, "*", "*"}, "/ui/.git/config": {404, "*", "*"}, "/ui/a/.hidden/x.txt": {404, "*", "*"}, "/ui/%2Eenv": {404, "*", "*"},
		"/ui/sub%2Findex.html": {200, "text/html; charset=utf-8", "sub"}, "/ui/..%2F..%2Fetc%2Fpasswd": {404, "*", "*"}, "/ui/sub%5C..%5Cindex.html": {404, "*", "*"}, "/ui/a%00b": {404, "*", "*"},
	} {
		r := c.Get(path)
		if r.Status != want.status || (want.kind != "*" && (r.Header.Get("Content-Type") != want.kind || r.Text() != want.body)) {
			t.Errorf("%s: %d %q %q", path, r.Status, r.Header.Get("Content-Type"), r.Text())
		}
	}
	if l := c.Get("/ui/sub?q=1").Header.Get("Location"); l != "/ui/sub/?q=1" {
		t.Errorf("directory: Location %q", l)
	}
	r := c.Get("/ui/index.html")
	if tag := r.Header.Get("Etag"); len(tag) != 24 || r.Header.Get("Cache-Control") != "no-cache" || r.Header.Get("Last-Modified") != "" {
		t.Errorf("validators: %v", r.Header)
	} else {
		c.With("If-None-Match", tag).Get("/ui/index.html").Want(304)
		c.With("Range", "bytes=0-3").Get("/ui/index.html").Want(206)
	}
	if f := app.Audit(); len(f) != 0 {
		t.Errorf("findings %v", f)
	}
}

func TestStaticPrecompressed(t *testing.T) {
	_, c := staticApp(t, siteFiles, web.StaticOptions{CacheControl: "public, max-age=60"})
	tags := map[string]bool{}
	for accept, want := range map[string][2]string{
		"": {"", "let a = 1"}, "gzip": {"gzip", "gzipped"}, "gzip, br, zstd": {"br", "brotli"}, "br;q=0.5, zstd": {"zstd", "zstd"},
		"gzip;q=0": {"", "let a = 1"}, "identity, gzip;q=0.5": {"", "let a = 1"}, "*": {"br", "brotli"}, "x-gzip": {"gzip", "gzipped"}, "deflate": {"", "let a = 1"},
	} {
		cl := c
		if accept != "" {
			cl = c.With("Accept-Encoding", accept)
		}
		r := cl.Get("/ui/app.js").Want(200)
		if r.Header.Get("Content-Encoding") != want[0] || r.Text() != want[1] || r.Header.Get("Vary") != "Accept-Encoding" || r.Header.Get("Content-Type") != "text/javascript; charset=utf-8" || r.Header.Get("Cache-Control") != "public, max-age=60" {
			t.Errorf("%q: %q %v", accept, r.Text(), r.Header)
		}
		tags[r.Header.Get("Etag")] = true
	}
	if len(tags) != 4 {
		t.Errorf("four representations, %d tags", len(tags))
	}
}

func TestStaticListAndSPA(t *testing.T) {
	app, c := staticApp(t, siteFiles, web.StaticOptions{List: true, SPA: true})
	r := c.Get("/ui/list/").Want(200)
	if !strings.Contains(r.Text(), `<a href="./a&amp;b.txt">a&amp;b.txt</a>`) || strings.Contains(r.Text(), "secret") {
		t.Errorf("list: %s", r.Text())
	}
	if got := c.With("Accept", "text/html").Get("/ui/deep/route").Want(200).Text(); got != "<h1>home</h1>" {
		t.Errorf("SPA: %q", got)
	}
	c.With("Accept", "text/html").Get("/ui/deep/missing.js").Want(404)
	c.Get("/ui/deep/route").Want(404)
	if f := app.Audit(); len(f) != 1 || f[0].Danger != "directories are listed" {
		t.Errorf("findings %v", f)
	}
}

// TestStaticRoot shows that a symbolic link does not lead out of an os.Root.
func TestStaticRoot(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{filepath.Join(dir, "in.txt"): "in", filepath.Join(outside, "out.txt"): "out"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(outside, "out.txt"), filepath.Join(dir, "link.txt")); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	_, c := staticApp(t, root.FS(), web.StaticOptions{})
	r := c.Get("/ui/in.txt").Want(200)
	c.Get("/ui/link.txt").Want(404)
	c.Get("/ui/in.txt/x").Want(404)
	if err := os.WriteFile(filepath.Join(dir, "in.txt"), []byte("changed"), 0o600); err != nil {
		t.Fatal(err)
	}
	if again := c.Get("/ui/in.txt").Want(200); again.Header.Get("Etag") == r.Header.Get("Etag") || again.Text() != "changed" {
		t.Errorf("a changed file keeps its tag: %v", again.Header)
	}
	app, _ := staticApp(t, os.DirFS(dir), web.StaticOptions{})
	if f := app.Audit(); len(f) != 1 || !strings.Contains(f[0].Danger, "symbolic links") {
		t.Errorf("findings %v", f)
	}
}

func TestFile(t *testing.T) {
	app := newApp(t, web.Options{})
	app.GET("/f/{name...}", func(c *web.Context) error { return c.File(siteFiles, c.Param("name")) })
	app.GET("/a", func(c *web.Context) error { return c.Attachment(siteFiles, "app.js", "é.js") })
	c := webtest.New(t, app)
	if r := c.Get("/f/odd.bin").Want(200); r.Header.Get("Last-Modified") != lastMod {
		t.Errorf("file: %v", r.Header)
	}
	c.With("If-Modified-Since", lastMod).Get("/f/odd.bin").Want(304)
	c.Get("/f/empty.txt").Want(200)
	c.Do("HEAD", "/f/empty.txt", nil).Want(200)
	c.With("If-Match", `"x"`).Get("/f/empty.txt").Want(412)
	c.Get("/f/none").Want(404)
	c.Get("/f/sub").Want(404)
	c.Get("/f/").Want(404)
	if r := c.Get("/a").Want(200); r.Header.Get("Content-Disposition") != `attachment; filename="_.js"; filename*=UTF-8''%C3%A9.js` {
		t.Errorf("attachment: %v", r.Header)
	}
}
