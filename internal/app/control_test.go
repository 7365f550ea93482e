//go:build unix

package app_test

import (
	"errors"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/quire/internal/app"
)

// TestControlSocketIsForTheServersUserAlone: by its mode, and by no route of the network. It takes
// the place of one that a killed server has left, and goes with the server.
func TestControlSocketIsForTheServersUserAlone(t *testing.T) {
	c := configure(t, nil)
	c.Data = shortDir(t)
	file := filepath.Join(c.Data, "control")
	if _, err := app.NewControl(c.Data).Caches(t.Context()); !errors.Is(err, app.ErrNoServer) {
		t.Errorf("before the server: %v", err)
	}
	left, err := net.Listen("unix", file) //nolint:noctx // local
	if err != nil {
		t.Fatal(err)
	}
	left.(*net.UnixListener).SetUnlinkOnClose(false)
	if err := left.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := app.NewControl(c.Data).Caches(t.Context()); !errors.Is(err, app.ErrNoServer) {
		t.Errorf("beside the socket of a server that was killed: %v", err)
	}
	a := open(t, c)
	if err := a.Announce("http://localhost"); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 || info.Mode().Type() != fs.ModeSocket {
		t.Errorf("%v, %v", info, err)
	}
	control := app.NewControl(c.Data)
	if all, err := control.Caches(t.Context()); err != nil || len(all) != 2 || all[0].Bound == nil {
		t.Errorf("%+v, %v", all, err)
	}
	for _, key := range []string{"none", "", "a/b?c"} {
		if _, err := control.Cached(t.Context(), key); !errors.Is(err, app.ErrNotHeld) {
			t.Errorf("%q: %v", key, err)
		}
	}
	for _, path := range []string{"/caches", "/cached/none", "/control"} {
		client(t, a).Get(path).Want(http.StatusNotFound)
	}
	closing(t, a)
	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after the server: %v", err)
	}
}

// TestServerWithoutControlSocketRuns: the name of the socket is too long for the system.
func TestServerWithoutControlSocketRuns(t *testing.T) {
	c := configure(t, nil)
	c.Data = filepath.Join(c.Data, strings.Repeat("d", 120))
	a := open(t, c)
	if err := a.Announce("http://localhost"); err != nil {
		t.Fatal(err)
	}
	client(t, a).Post("/v1/documents", "application/json", hello).Want(http.StatusCreated)
	if _, err := app.NewControl(c.Data).Caches(t.Context()); err == nil {
		t.Error("reached")
	}
}

// shortDir is a directory whose name leaves room for that of a socket.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "q") //nolint:usetesting // the name of t.TempDir is that of the test, and too long
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}
