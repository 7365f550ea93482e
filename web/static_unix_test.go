//go:build linux || darwin

package web_test

import (
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"example.com/quire/web"
	"example.com/quire/web/webtest"
)

// systemFiles are files of the operating system that count how often they are opened.
type systemFiles struct {
	fs.StatFS
	opened int
}

func (f *systemFiles) Open(name string) (fs.File, error) {
	f.opened++
	return f.StatFS.Open(name)
}

// TestStaticServesNoPipes: to open a named pipe waits until somebody writes to it.
func TestStaticServesNoPipes(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"pipe", "index.html"} {
		path := filepath.Join(dir, name)
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
		// With a reader and writer here nothing waits, even where it is opened.
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Close() }()
	}
	system, ok := os.DirFS(dir).(fs.StatFS)
	if !ok {
		t.Fatal("no Stat")
	}
	fsys := &systemFiles{StatFS: system}
	app := newApp(t, web.Options{})
	app.Static("/", fsys, web.StaticOptions{SPA: true})
	app.GET("/file", func(c *web.Context) error { return c.File(fsys, "pipe") })
	c := webtest.New(t, app).With("Accept", "text/html")
	for _, target := range []string{"/pipe", "/", "/index.html", "/unknown", "/file"} {
		c.Get(target).Want(http.StatusNotFound)
	}
	if fsys.opened != 0 {
		t.Errorf("%d pipes were opened", fsys.opened)
	}
}
