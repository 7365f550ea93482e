package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"example.com/quire/internal/app"
	"example.com/quire/internal/config"
	"example.com/quire/internal/record"
	"example.com/quire/web/webtest"
)

const helloTemplate = "quire: 1\nname: hello\ntitle: Hello\nlang: en\ndata: {who: string}\nbody: [{text: \"Hello ${who}\"}]\n"

// configure completes a configuration over a data directory of the test's own.
func configure(t *testing.T, change func(*config.Config)) *config.Config {
	t.Helper()
	c := &config.Config{Data: filepath.Join(t.TempDir(), "data"), Listen: "127.0.0.1:0"}
	if change != nil {
		change(c)
	}
	if err := c.Complete(os.LookupEnv); err != nil {
		t.Fatal(err)
	}
	return c
}

// open opens an App that the test closes.
func open(t *testing.T, c *config.Config) *app.App {
	t.Helper()
	a, err := app.New(t.Context(), app.Options{Config: c, Templates: fstest.MapFS{
		"hello.yaml":  {Data: []byte(helloTemplate)},
		"source.yaml": {Data: []byte("quire: 1\nname: source\ntitle: Source\nlang: en\ndata: {got: \"string?\", sources: {got: {outcome: string, reason: string}}}\nbody: [{text: \"${got ?? sources.got.outcome}\"}]\n")},
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closing(t, a) })
	return a
}

func closing(t *testing.T, a *app.App) {
	t.Helper()
	if err := a.Close(context.WithoutCancel(t.Context())); err != nil {
		t.Error(err)
	}
}

func client(t *testing.T, a *app.App) *webtest.Client {
	t.Helper()
	return webtest.New(t, a.Handler()).With("Host", "localhost")
}

const hello = `{"template": "hello", "time": "2026-01-31T18:30:00Z", "data": {"who": "world"}}`

func TestDataDirectoryHasOneOwner(t *testing.T) {
	c := configure(t, nil)
	a := open(t, c)
	for range 2 {
		second, err := app.New(t.Context(), app.Options{Config: c})
		if !errors.Is(err, app.ErrInUse) || second != nil || !strings.Contains(err.Error(), c.Data) {
			t.Fatalf("a second App: %v, %v", second, err)
		}
	}
	client(t, a).Post("/v1/documents", "application/json", hello).Want(http.StatusCreated) // the first is none the worse
	closing(t, a)
	again := open(t, c)
	client(t, again).Post("/v1/documents", "application/json", hello).Want(http.StatusOK)
}

func TestEmpty(t *testing.T) {
	c := configure(t, nil)
	a := open(t, c)
	client(t, a).Post("/v1/documents", "application/json", hello).Want(http.StatusCreated)
	if err := app.Empty(c.Data); !errors.Is(err, app.ErrInUse) {
		t.Errorf("under a running App: %v", err)
	}
	closing(t, a)
	foreign := filepath.Join(c.Data, "ledger.txt")
	if err := os.WriteFile(foreign, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := app.Empty(c.Data); !errors.Is(err, app.ErrForeign) {
		t.Errorf("with a foreign file: %v", err)
	}
	if err := os.Remove(foreign); err != nil {
		t.Fatal(err)
	}
	if err := app.Empty(c.Data); err != nil {
		t.Fatal(err)
	}
	client(t, open(t, c)).Post("/v1/documents", "application/json", hello).Want(http.StatusCreated)
	if err := app.Empty(filepath.Join(c.Data, "absent")); err != nil {
		t.Errorf("a directory that is not there: %v", err)
	}
}

// The lock is the process's: another cannot take it, and after SIGKILL it is free.
func TestDataDirectoryOfAnotherProcess(t *testing.T) {
	c := configure(t, nil)
	dir := filepath.Dir(c.Data)
	if err := os.WriteFile(filepath.Join(dir, "quire.yaml"), []byte("listen: 127.0.0.1:0\ndata: data\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := run(t, program(t), dir)
	p.address(t)
	if a, err := app.New(t.Context(), app.Options{Config: c}); !errors.Is(err, app.ErrInUse) {
		t.Errorf("beside a running server: %v, %v", a, err)
	}
	second := exec.CommandContext(t.Context(), program(t), "serve") //nolint:gosec // the test's own binary
	second.Dir, second.Env = dir, environment()
	out, err := second.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 1 || !strings.Contains(string(out), "in use by another process") {
		t.Errorf("a second server: %v\n%s", err, out)
	}
	// Reading beside it is allowed.
	archive, err := app.OpenArchive(t.Context(), c.Data, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := archive.Close(); err != nil {
		t.Error(err)
	}
	p.kill(t)
	open(t, c)
}

// Whatever New fails at, it gives back what it opened before: the same directory opens again.
func TestNewGivesBackWhatItOpened(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, c *config.Config) (mend func()){
		"the state is a directory": func(t *testing.T, c *config.Config) func() {
			t.Helper()
			state := filepath.Join(c.Data, "state.db")
			if err := os.MkdirAll(state, 0o700); err != nil {
				t.Fatal(err)
			}
			return func() {
				if err := os.Remove(state); err != nil {
					t.Error(err)
				}
			}
		},
		"the blobs are a file": func(t *testing.T, c *config.Config) func() {
			t.Helper()
			blobs := filepath.Join(c.Data, "blobs")
			if err := errors.Join(os.MkdirAll(c.Data, 0o700), os.WriteFile(blobs, nil, 0o600)); err != nil {
				t.Fatal(err)
			}
			return func() {
				if err := os.Remove(blobs); err != nil {
					t.Error(err)
				}
			}
		},
		"the lock is a directory": func(t *testing.T, c *config.Config) func() {
			t.Helper()
			lock := filepath.Join(c.Data, "lock")
			if err := os.MkdirAll(lock, 0o700); err != nil {
				t.Fatal(err)
			}
			return func() {
				if err := os.Remove(lock); err != nil {
					t.Error(err)
				}
			}
		},
		"the templates are a file": func(t *testing.T, c *config.Config) func() {
			t.Helper()
			c.Templates = filepath.Join(t.TempDir(), "templates")
			if err := os.WriteFile(c.Templates, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			return func() { c.Templates = t.TempDir() }
		},
		"a source's prefix": func(_ *testing.T, c *config.Config) func() {
			c.Sources = map[string]config.Source{"s": {Space: "local", URL: "http://127.0.0.1/", Allow: []string{"x"}}}
			return func() { c.Sources = nil }
		},
		"a source's address": func(_ *testing.T, c *config.Config) func() {
			c.Sources = map[string]config.Source{"s": {Space: "local", URL: "ftp://127.0.0.1/"}}
			return func() { c.Sources = nil }
		},
		"a signer's key": func(t *testing.T, c *config.Config) func() {
			t.Helper()
			key := filepath.Join(t.TempDir(), "key.pem")
			if err := os.WriteFile(key, []byte("no key"), 0o600); err != nil {
				t.Fatal(err)
			}
			c.Signers = map[string]config.Signer{"office": {Space: "local", Key: key}}
			return func() { c.Signers = nil }
		},
		"a token": func(_ *testing.T, c *config.Config) func() {
			c.Tokens = []config.Token{{Space: "local", SHA256: "x"}}
			return func() { c.Tokens = nil }
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := configure(t, nil)
			mend := spoil(t, c)
			a, err := app.New(t.Context(), app.Options{Config: c})
			if err == nil || a != nil {
				t.Fatalf("%v, %v", a, err)
			}
			mend()
			a, err = app.New(t.Context(), app.Options{Config: c})
			if err != nil {
				t.Fatal(err)
			}
			closing(t, a)
		})
	}
}

func TestDataDirectoryIsAFile(t *testing.T) {
	c := configure(t, nil)
	if err := os.WriteFile(c.Data, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if a, err := app.New(t.Context(), app.Options{Config: c}); err == nil || !strings.HasPrefix(err.Error(), "data directory: ") {
		t.Errorf("%v, %v", a, err)
	}
}

// A data directory is made with the parents that it lacks, for its owner alone.
func TestDataDirectoryIsMade(t *testing.T) {
	c := configure(t, func(c *config.Config) { c.Data = filepath.Join(t.TempDir(), "a", "b", "data") })
	open(t, c)
	for _, dir := range []string{c.Data, filepath.Dir(c.Data), filepath.Join(c.Data, "blobs")} {
		info, err := os.Stat(dir)
		if err != nil || !info.IsDir() || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", dir, info, err)
		}
	}
}

func TestCloseTwice(t *testing.T) {
	a := open(t, configure(t, nil))
	closing(t, a)
	closing(t, a)
}

// Templates are read from the folder of the configuration, which may come to be later.
func TestTemplatesFolder(t *testing.T) {
	c := configure(t, func(c *config.Config) { c.Templates = filepath.Join(t.TempDir(), "templates") })
	a, err := app.New(t.Context(), app.Options{Config: c})
	if err != nil {
		t.Fatal(err)
	}
	client(t, a).Post("/v1/render", "application/json", hello).Want(http.StatusNotFound)
	if err := errors.Join(os.Mkdir(c.Templates, 0o700), os.WriteFile(filepath.Join(c.Templates, "hello.yaml"), []byte(helloTemplate), 0o600)); err != nil {
		t.Fatal(err)
	}
	client(t, a).Post("/v1/render", "application/json", hello).Want(http.StatusOK)
	closing(t, a)
	if a, err = app.New(t.Context(), app.Options{Config: c}); err != nil {
		t.Fatal(err)
	}
	client(t, a).Post("/v1/render", "application/json", hello).Want(http.StatusOK)
	closing(t, a)
}

func TestListen(t *testing.T) {
	at := func(addr string) *config.Config { return &config.Config{Listen: addr} }
	listen := func(c *config.Config, next bool) (net.Listener, error) {
		ln, err := app.Listen(t.Context(), c, next)
		if err == nil {
			t.Cleanup(func() { _ = ln.Close() }) // some are closed in the test
		}
		return ln, err
	}
	first, err := listen(at("127.0.0.1:0"), true)
	if err != nil {
		t.Fatal(err)
	}
	taken, ok := first.Addr().(*net.TCPAddr)
	if !ok {
		t.Fatalf("address %v", first.Addr())
	}
	if ln, err := listen(at(taken.String()), false); err == nil {
		t.Errorf("a taken port: %v", ln.Addr())
	}
	if next, err := listen(at(taken.String()), true); err != nil {
		t.Error(err)
	} else if a, ok := next.Addr().(*net.TCPAddr); !ok || a.Port <= taken.Port || a.Port > taken.Port+20 {
		t.Errorf("next port %v after %v", next.Addr(), taken)
	}
	for _, addr := range []string{"", "127.0.0.1", "127.0.0.1:http", "256.0.0.1:80"} {
		if ln, err := listen(at(addr), false); err == nil {
			t.Errorf("%q: %v", addr, ln.Addr())
		}
	}
	// The highest port has no next.
	if last, err := listen(at("127.0.0.1:65535"), true); err == nil {
		if _, err := listen(at("127.0.0.1:65535"), true); err == nil || !strings.Contains(err.Error(), "65535") {
			t.Errorf("after %v: %v", last.Addr(), err)
		}
	}
}

// server serves an App on a loopback port.
type server struct {
	url  string
	stop context.CancelFunc
	done chan error
}

func serve(t *testing.T, a *app.App, c *config.Config) *server {
	t.Helper()
	ln, err := app.Listen(t.Context(), c, false)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	s := &server{url: "http://" + ln.Addr().String(), stop: stop, done: make(chan error, 1)}
	if c.TLS.Cert != "" {
		s.url = "https://" + ln.Addr().String()
	}
	go func() { s.done <- a.Serve(ctx, ln) }()
	t.Cleanup(stop)
	return s
}

// A document that is being made when the server is told to stop is finished, kept and answered.
func TestServeFinishesWhatRuns(t *testing.T) {
	arrived, let := make(chan struct{}, 8), make(chan struct{}) // as many as are tried at most
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		<-let
		_ = json.NewEncoder(w).Encode(r.URL.Path) // a broken answer fails the test
	}))
	t.Cleanup(up.Close)
	release := sync.OnceFunc(func() { close(let) })
	t.Cleanup(release) // up waits for its handlers, however the test ends
	c := configure(t, func(c *config.Config) {
		c.Sources = map[string]config.Source{"s": {
			URL: up.URL + "/{a}/{n}", Allow: []string{"127.0.0.0/8"}, Parameters: map[string]string{"a": "string", "n": "integer"},
			Headers: map[string]config.Secret{"X-Key": {Value: "k"}, "X-Home": {Env: "PATH"}},
		}}
		c.Reports = map[string]config.Report{"r": {Template: "source", Sources: map[string]config.SourceUse{"got": {Source: "s", With: map[string]string{"a": "x", "n": "7"}}}}}
	})
	a := open(t, c)
	s := serve(t, a, c)
	tr := &http.Transport{}
	t.Cleanup(tr.CloseIdleConnections)
	type answer struct {
		status int
		file   []byte
		err    error
	}
	got := make(chan answer, 1)
	go func() {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/v1/documents", strings.NewReader(`{"report": "r"}`))
		if err != nil {
			got <- answer{err: err}
			return
		}
		r.Header.Set("Content-Type", "application/json")
		resp, err := (&http.Client{Transport: tr}).Do(r)
		if err != nil {
			got <- answer{err: err}
			return
		}
		file, err := io.ReadAll(resp.Body)
		got <- answer{resp.StatusCode, file, errors.Join(err, resp.Body.Close())}
	}()
	select {
	case <-arrived:
	case r := <-got:
		t.Fatalf("answered without its source: status %d, %v, %.800q", r.status, r.err, r.file)
	}
	s.stop()
	for { // until nobody is let in any more
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.url, "http://"))
		if err != nil {
			break
		}
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case err := <-s.done:
		t.Fatalf("the server ended before its request: %v", err)
	default:
	}
	release()
	if r := <-got; r.err != nil || r.status != http.StatusCreated || !bytes.HasPrefix(r.file, []byte("%PDF-")) {
		t.Errorf("status %d, %v, %.800q", r.status, r.err, r.file)
	}
	if err := <-s.done; err != nil {
		t.Error(err)
	}
	page, err := a.Library.List(t.Context(), record.Local, record.Query{Report: "r"})
	if err != nil || len(page.Documents) != 1 {
		t.Errorf("%+v, %v", page, err)
	}
}

func TestReadiness(t *testing.T) {
	c := configure(t, nil)
	a := open(t, c)
	s := serve(t, a, c)
	for client(t, a).Get("/readyz").Status != http.StatusOK { // it starts
		if err := t.Context().Err(); err != nil {
			t.Fatal(err)
		}
	}
	s.stop()
	if err := <-s.done; err != nil {
		t.Error(err)
	}
	client(t, a).Get("/readyz").Want(http.StatusServiceUnavailable)
	client(t, a).Get("/livez").Want(http.StatusOK)
}

func TestPreviewRendersWithoutState(t *testing.T) {
	d, err := app.NewPreview(nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, file := range []string{"hello.yaml", "My Letter.YAML", "Invoice/template.yaml", "...yaml", "template.yaml"} {
		file = filepath.Join(dir, file)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(helloTemplate), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for file, name := range map[string]string{
		"hello.yaml": "hello", "My Letter.YAML": "my-letter", "Invoice": "invoice", "Invoice/template.yaml": "invoice", "...yaml": "template",
	} {
		tmpl, err := d.Load(t.Context(), filepath.Join(dir, file))
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		if tmpl.Name != name {
			t.Errorf("%s: name %s, want %s", file, tmpl.Name, name)
		}
		var out bytes.Buffer
		if _, err := d.Render(t.Context(), &out, record.Request{Space: record.Local, Inline: tmpl, Data: []byte(`{"who": "world"}`)}); err != nil || !bytes.HasPrefix(out.Bytes(), []byte("%PDF-")) {
			t.Errorf("%s: %v", file, err)
		}
	}
	for _, file := range []string{"absent.yaml", "absent/template.yaml"} {
		if tmpl, err := d.Load(t.Context(), filepath.Join(dir, file)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %v, %v", file, tmpl, err)
		}
	}
	if d.Engine == "" {
		t.Error("no engine")
	}
}

func TestArchive(t *testing.T) {
	c := configure(t, nil)
	if a, err := app.OpenArchive(t.Context(), c.Data, false); !errors.Is(err, app.ErrNoData) {
		t.Errorf("without data: %v, %v", a, err)
	}
	a := open(t, c)
	r := client(t, a).Post("/v1/documents", "application/json", hello).Want(http.StatusCreated)
	for _, beside := range []bool{true, false} {
		t.Run(fmt.Sprintf("beside the server %t", beside), func(t *testing.T) {
			if !beside {
				closing(t, a)
			}
			archive, err := app.OpenArchive(t.Context(), c.Data, false)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := archive.Close(); err != nil {
					t.Error(err)
				}
			}()
			v, err := archive.Remake(t.Context(), record.RemakeRequest{Space: record.Local, File: bytes.NewReader(r.Body)})
			if err != nil || v.Answer != record.Identical || v.Document.String() != r.Header.Get("Quire-Document") {
				t.Errorf("%+v, %v", v, err)
			}
		})
	}
	// State without blobs, and state that is none.
	if err := os.RemoveAll(filepath.Join(c.Data, "blobs")); err != nil {
		t.Fatal(err)
	}
	if a, err := app.OpenArchive(t.Context(), c.Data, false); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without blobs: %v, %v", a, err)
	}
	if err := os.WriteFile(filepath.Join(c.Data, "state.db"), []byte("this is no database, whatever its name says"), 0o600); err != nil {
		t.Fatal(err)
	}
	if a, err := app.OpenArchive(t.Context(), c.Data, false); err == nil {
		t.Errorf("a damaged state: %v", a)
	}
}
