package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"example.com/quire/internal/api"
)

// The control socket is a Unix socket in the data directory. Who may open it is decided by the file
// system: the user of the server alone, who may read all that the directory holds anyway. So it
// knows no spaces and no tokens, and nothing of it is reached over the network.
//
//	GET    /caches             []api.CacheState
//	DELETE /caches             []api.CacheState, of before
//	GET    /cached/{key}       api.CachedEntry; 404 for what is not held
//	GET    /cached/{key}/file  the document

// openControl serves the control socket until Close.
func (a *App) openControl() error {
	file := filepath.Join(a.cfg.Data, controlFile)
	// The directory is ours: a socket that is there was left by a server that was killed.
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	ln, err := net.Listen("unix", file) //nolint:noctx // local, at once
	if err != nil {
		return err
	}
	if err := os.Chmod(file, 0o600); err != nil {
		return errors.Join(err, ln.Close())
	}
	s := &http.Server{Handler: a.control(), ReadTimeout: 10 * time.Second, WriteTimeout: time.Minute, ErrorLog: slog.NewLogLogger(a.log.Handler(), slog.LevelWarn)}
	done := make(chan error, 1)
	go func() { done <- s.Serve(ln) }()
	a.onClose(func(ctx context.Context) error {
		err := s.Shutdown(ctx)
		if err != nil {
			err = errors.Join(err, s.Close())
		}
		if ended := <-done; !errors.Is(ended, http.ErrServerClosed) {
			err = errors.Join(err, ended)
		}
		return err
	})
	return nil
}

func (a *App) control() http.Handler {
	answer := func(w http.ResponseWriter, v any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v) // the client has gone
	}
	m := http.NewServeMux()
	m.HandleFunc("GET /caches", func(w http.ResponseWriter, _ *http.Request) { answer(w, a.routes.Caches()) })
	m.HandleFunc("DELETE /caches", func(w http.ResponseWriter, r *http.Request) {
		before := a.routes.Caches()
		if err := a.routes.PurgeCaches(r.Context()); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		a.log.Info("caches purged")
		answer(w, before)
	})
	m.HandleFunc("GET /cached/{key}", func(w http.ResponseWriter, r *http.Request) {
		e, _, ok := a.routes.Cached(r.PathValue("key"))
		if !ok {
			http.NotFound(w, r)
			return
		}
		answer(w, e)
	})
	m.HandleFunc("GET /cached/{key}/file", func(w http.ResponseWriter, r *http.Request) {
		_, file, _ := a.routes.Cached(r.PathValue("key"))
		if file == nil {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/pdf")
		_, _ = w.Write(file) //nolint:gosec // G705: for a command, which writes it to a file; an error is that it has gone
	})
	return m
}

// ErrNoServer says that no server runs over a data directory.
var ErrNoServer = errors.New("no server is running there; start one by `quire serve`, or name its directory by --data-dir")

// ErrNotHeld says that a cache has no entry for a key.
var ErrNotHeld = errors.New("not cached; a document of a public report is cached when it is read by its /d/ or /r/ address, as long as there is room")

// Control is the way to a server that runs over a data directory on this machine.
type Control struct {
	dir    string
	client *http.Client
}

// NewControl returns the way to the server over dir, which need not run yet.
func NewControl(dir string) *Control {
	return &Control{dir, &http.Client{Timeout: time.Minute, Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(dir, controlFile))
		},
	}}}
}

// Caches returns the state of the server's caches.
func (c *Control) Caches(ctx context.Context) (all []api.CacheState, err error) {
	return all, c.do(ctx, http.MethodGet, "/caches", &all)
}

// PurgeCaches empties the caches, and returns their state before.
func (c *Control) PurgeCaches(ctx context.Context) (before []api.CacheState, err error) {
	return before, c.do(ctx, http.MethodDelete, "/caches", &before)
}

// Cached returns the entry of the hash of a document or the name of a report, or ErrNotHeld.
func (c *Control) Cached(ctx context.Context, key string) (e api.CachedEntry, err error) {
	return e, c.do(ctx, http.MethodGet, "/cached/"+url.PathEscape(key), &e)
}

// CachedFile is the document that is held under key: ErrNotHeld.
func (c *Control) CachedFile(ctx context.Context, key string) (file []byte, err error) {
	return file, c.do(ctx, http.MethodGet, "/cached/"+url.PathEscape(key)+"/file", &file)
}

// do asks the server. The answer goes to out as it is, if that is bytes, and else as JSON.
func (c *Control) do(ctx context.Context, method, path string, out any) error {
	q, err := http.NewRequestWithContext(ctx, method, "http://control"+path, http.NoBody)
	if err != nil {
		return err
	}
	r, err := c.client.Do(q)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("data directory %s: %w", c.dir, ErrNoServer)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w; only the user of the server may control it", err)
	case err != nil:
		return err
	}
	body, err := io.ReadAll(r.Body)
	if err := errors.Join(err, r.Body.Close()); err != nil {
		return err
	}
	switch r.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound:
		return ErrNotHeld
	default:
		return fmt.Errorf("the server answers %s: %s", r.Status, body)
	}
	if file, ok := out.(*[]byte); ok {
		*file = body
		return nil
	}
	return json.Unmarshal(body, out)
}
