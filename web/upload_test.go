package web_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"example.com/quire/web"
	"example.com/quire/web/webtest"
)

// multipartBody writes parts, each a head and a content.
func multipartBody(parts ...string) string {
	var b strings.Builder
	for pair := range slices.Chunk(parts, 2) {
		fmt.Fprintf(&b, "--XX\r\nContent-Disposition: form-data; %s\r\n\r\n%s\r\n", pair[0], pair[1])
	}
	return b.String() + "--XX--\r\n"
}

const multipartType = "multipart/form-data; boundary=XX"

func TestPartsAreReadAsTheyCome(t *testing.T) {
	app := newApp(t, web.Options{})
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	var seen []string
	app.POST("/", func(c *web.Context) error {
		for p, err := range c.Parts() {
			if err != nil {
				return err
			}
			detected, err := p.Detected()
			if err != nil {
				return err
			}
			line := fmt.Sprintf("%s|%s|%s|%s", p.Name, p.FileName, p.Declared, detected)
			if p.FileName != "" {
				name, err := p.Save(root, ".png")
				if err != nil {
					return err
				}
				if strings.ContainsAny(name, `/\`) || strings.Contains(name, "passwd") || len(name) != 30 {
					t.Errorf("saved as %q", name)
				}
				saved, err := os.ReadFile(dir + "/" + name)
				if err != nil {
					return err
				}
				line += fmt.Sprintf("|%d", len(saved))
			} else if p.Name != "skipped" {
				text, err := io.ReadAll(p)
				if err != nil {
					return err
				}
				line += "|" + string(text)
			}
			seen = append(seen, line)
		}
		return c.NoContent(http.StatusNoContent)
	})
	png := "\x89PNG\x0D\x0A\x1A\x0A" + strings.Repeat("x", 200_000)
	body := multipartBody(`name="a"`, "1", `name="skipped"`, strings.Repeat("y", 5000),
		`name="f"; filename="../../etc/passwd"`+"\r\nContent-Type: text/html; charset=utf-8", png,
		`name="g"; filename="C:\\dir\\xy.txt"`, "plain",
		`name="h"; filename="a %22b%22 100%25%0D%0A.txt"`, "plain")
	webtest.New(t, app).Post("/", multipartType, body).Want(204)
	want := []string{"a|||text/plain|1", "skipped|||text/plain", "f|passwd|text/html|image/png|200008", "g|xy.txt||text/plain|5", `h|a "b" 100%25.txt||text/plain|5`}
	if strings.Join(seen, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(seen, "\n"), strings.Join(want, "\n"))
	}
	app.POST("/escape", func(c *web.Context) error {
		for p, err := range c.Parts() {
			if err != nil {
				return err
			}
			if _, err := p.Save(root, "/../x"); err == nil {
				t.Error("an ending with a separator is taken")
			}
		}
		return nil
	})
	webtest.New(t, app).Post("/escape", multipartType, multipartBody(`name="a"`, "1")).Want(200)
}

type uploaded struct {
	Title string        `form:"title"`
	Tags  []string      `form:"tag"`
	N     int8          `form:"n"`
	File  *web.Upload   `form:"file"`
	More  []*web.Upload `form:"more"`
	Gone  *web.Upload   `form:"gone"`
}

func TestFilesAreBoundAndGoneAfterTheHandler(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	app := newApp(t, web.Options{})
	large := strings.Repeat("0123456789", 20_000)
	var kept *web.Upload
	check := func(c *web.Context, v *uploaded) error {
		if v.Title != "T" || strings.Join(v.Tags, ",") != "x,y" || v.N != 7 || v.Gone != nil || len(v.More) != 2 || v.File == nil {
			t.Errorf("bound %+v", v)
			return nil
		}
		for range 2 { // as often as one likes
			text, err := io.ReadAll(v.File.Open())
			if err != nil || string(text) != large || v.File.Size != int64(len(large)) {
				t.Errorf("%d bytes, %v", len(text), err)
			}
		}
		root, err := os.OpenRoot(t.TempDir())
		if err != nil {
			return err
		}
		name, err := v.More[1].Save(root, "")
		if err != nil {
			return err
		}
		text, err := root.ReadFile(name)
		if string(text) != "second" || v.More[1].Detected != "text/plain" || v.More[1].FileName != "b" || v.More[1].Declared != "" {
			t.Errorf("%q %+v %v", text, v.More[1], err)
		}
		kept = v.File
		return errors.Join(root.Close(), c.NoContent(http.StatusNoContent))
	}
	for path, bind := range map[string]func(*web.Context, any) error{"/form": (*web.Context).BindForm, "/body": (*web.Context).BindBody, "/all": (*web.Context).Bind} {
		app.POST(path, func(c *web.Context) error {
			var v uploaded
			if err := bind(c, &v); err != nil {
				return err
			}
			return check(c, &v)
		})
	}
	body := multipartBody(`name="title"`, "T", `name="tag"`, "x", `name="file"; filename="big"`, large, `name="tag"`, "y", `name="n"`, "7",
		`name="more"; filename="a"`, "first", `name="more"; filename="b"`, "second", `name="gone"; filename=""`, "")
	c := webtest.New(t, app)
	for _, path := range []string{"/form", "/body", "/all"} {
		c.Post(path, multipartType, body).Want(204)
		if _, err := kept.Open().Read(make([]byte, 1)); err == nil {
			t.Errorf("%s: the file can be read after the handler", path)
		}
	}
	app.POST("/upload", func(c *web.Context) error {
		u, err := c.Upload("file")
		if err != nil {
			return err
		}
		title, err := c.Form("title")
		if err != nil {
			return err
		}
		return c.String(http.StatusOK, fmt.Sprint(title, u.Size))
	})
	if got := c.Post("/upload", multipartType, body).Want(200).Text(); got != "T200000" {
		t.Errorf("got %q", got)
	}
	if got := c.Post("/upload", multipartType, multipartBody(`name="x"`, "")).Want(400).Text(); !strings.Contains(got, `"name":"file"`) {
		t.Errorf("a file that is absent: %s", got)
	}
	if got := c.Post("/form", multipartType, multipartBody(`name="n"`, "300")).Want(400).Text(); !strings.Contains(got, `"rule":"range"`) {
		t.Errorf("a number that does not fit: %s", got)
	}
	left, err := os.ReadDir(os.TempDir())
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestMultipartLimits(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	app := newApp(t, web.Options{Limits: web.Limits{Body: 1 << 10, Multipart: 400 << 10, Parts: 3, File: 100 << 10}})
	whole := func(c *web.Context) error {
		if err := c.BindForm(&uploaded{}); err != nil {
			return err
		}
		return c.NoContent(http.StatusNoContent)
	}
	streamed := func(c *web.Context) error {
		for p, err := range c.Parts() {
			if err != nil {
				return err
			}
			if _, err := io.Copy(io.Discard, p); err != nil {
				return err
			}
		}
		return c.NoContent(http.StatusNoContent)
	}
	app.POST("/whole", whole)
	app.POST("/parts", streamed)
	app.POST("/small/whole", whole, web.Budgets{BodyBytes: 2 << 10})
	app.POST("/small/parts", streamed, web.Budgets{BodyBytes: 2 << 10})
	pool := web.NewBodyPool(10 << 10)
	app.POST("/pool", whole, web.Budgets{Bodies: pool})
	file := func(n int) []string { return []string{`name="file"; filename="f"`, strings.Repeat("x", n)} }
	parts := func(all ...[]string) string {
		var flat []string
		for _, p := range all {
			flat = append(flat, p...)
		}
		return multipartBody(flat...)
	}
	value := []string{`name="title"`, "T"}
	for _, tt := range []struct {
		name, body string
		status     int
		want       string // in the problem
		only       string // "" is both
	}{
		{"at the limits", parts(file(100<<10), value, file(100<<10)), 204, "", ""},
		{"a file too large", parts(value, file(100<<10+1)), 413, `"source":"form","name":"file","rule":"size","limit":"102400"`, ""},
		{"too many parts", parts(value, value, value, value), 413, `"rule":"parts","limit":"3"`, ""},
		{"values too large", parts([]string{`name="title"`, strings.Repeat("v", 1025)}), 413, `"name":"title","rule":"size","limit":"1024"`, "/whole"},
		{"a head too long", parts([]string{`name="` + strings.Repeat("n", 40<<10) + `"`, ""}), 400, "a head of at most", ""},
		{"cut short", strings.TrimSuffix(parts(file(10)), "--XX--\r\n"), 400, "end with the boundary", ""},
		{"no part at all", "--XX--\r\n", 204, "", ""},
		{"nothing", "", 400, "", ""},
		{"no name", multipartBody(`filename="x"`, "y"), 400, "and a name", ""},
		{"not form-data", "--XX\r\nContent-Disposition: attachment; name=a\r\n\r\n1\r\n--XX--\r\n", 400, "form-data", ""},
		{"no disposition", "--XX\r\n\r\n1\r\n--XX--\r\n", 400, "form-data", ""},
	} {
		for _, path := range []string{"/whole", "/parts"} {
			if tt.only != "" && tt.only != path {
				continue
			}
			r := webtest.New(t, app).Post(path, multipartType, tt.body)
			if r.Status != tt.status || !strings.Contains(r.Text(), tt.want) {
				t.Errorf("%s%s: %d %s", path, ": "+tt.name, r.Status, r.Text())
			}
		}
	}
	c := webtest.New(t, app)
	for _, path := range []string{"/whole", "/parts"} {
		if r := c.Post(path, multipartType, parts(file(90<<10), file(90<<10), file(90<<10))+strings.Repeat(" ", 400<<10)); r.Status != 204 && r.Status != 413 {
			t.Errorf("an epilogue: %d %s", r.Status, r.Text())
		}
		c.Post("/small"+path, multipartType, parts(file(3<<10))).Want(413)
		c.Post(path, "multipart/form-data", parts(value)).Want(400)
		c.Post(path, "multipart/form-data; boundary="+strings.Repeat("b", 71), parts(value)).Want(400)
		c.With("Content-Encoding", "br").Post(path, multipartType, parts(value)).Want(415)
	}
	if r := c.Post("/parts", "application/x-www-form-urlencoded", "a=b").Want(415); r.Header.Get("Accept-Post") != "multipart/form-data" {
		t.Errorf("another type: %v", r.Header)
	}
	if r := c.Post("/pool", multipartType, parts(file(20<<10))).Want(503); r.Header.Get("Retry-After") == "" || pool.Used() != 0 {
		t.Errorf("a full pool: %v, %d held", r.Header, pool.Used())
	}
	left, err := os.ReadDir(os.TempDir())
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// FuzzMultipart: whatever comes, the answer is one of a few, and what is read stays in its limits.
func FuzzMultipart(f *testing.F) {
	f.Add([]byte(multipartBody(`name="a"`, "1", `name="f"; filename="x"`, "text")), "XX")
	f.Add([]byte("--XX\r\nContent-Disposition: form-data; name*=utf-8''a\r\n\r\n--XX--"), "XX")
	f.Add([]byte("--\r\n\r\n----"), "")
	f.Add([]byte("--XX\r\nContent-Disposition: form-data; name=a; filename=\"\xff/..\\\"\r\nContent-Type: ;;\r\n\r\n\r\n--XX--"), "XX")
	app := newApp(f, web.Options{Limits: web.Limits{Multipart: 4 << 10, File: 1 << 10, Parts: 4}})
	app.POST("/", func(c *web.Context) error {
		total := 0
		for p, err := range c.Parts() {
			if err != nil {
				return err
			}
			if strings.ContainsAny(p.FileName, "/\\\x00\r\n") {
				t := p.FileName
				return fmt.Errorf("file name %q", t)
			}
			if _, err := p.Detected(); err != nil {
				return err
			}
			text, err := io.ReadAll(p)
			if err != nil {
				return err
			}
			if total += len(text); len(text) > 1<<10 || total > 4<<10 {
				return errors.New("too much was read")
			}
		}
		return c.NoContent(http.StatusNoContent)
	})
	f.Fuzz(func(t *testing.T, body []byte, boundary string) {
		r := newRequest(t, "POST", "/")
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		r.Header.Set("Content-Type", `multipart/form-data; boundary="`+boundary+`"`)
		w := serve(t, app, r)
		if w.Code != 204 && w.Code != 400 && w.Code != 413 && w.Code != 415 {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
}
