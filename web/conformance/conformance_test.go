// Package conformance tests web with external judges: the suites of Autobahn and h2spec, and
// clients of other projects. `make judges-web` runs them completely; an ordinary test run has
// shorter versions of the long ones.
package conformance

import (
	"fmt"
	"log/slog"
	"os"
	"testing"

	"example.com/quire/web"
	"example.com/quire/web/ws"
)

// everything reports whether the long versions are to run.
func everything() bool { return os.Getenv("QUIRE_JUDGES") == "web" }

// report prints a line for `make judges-web`, at the beginning of a line.
func report(format string, args ...any) {
	_, _ = fmt.Fprintf(os.Stdout, format+"\n", args...)
}

func tail(b []byte) []byte { return b[max(0, len(b)-2000):] }

func newApp(t *testing.T) *web.App {
	t.Helper()
	app, err := web.New(web.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return app
}

// serve starts a Server on a free port and returns its address as a URL.
func serve(t *testing.T, app *web.App) string {
	t.Helper()
	return serveBy(t, &web.Server{App: app, H2C: true})
}

// echo is an App that sends back what comes over /echo.
func echo(t *testing.T, o ws.Options) *web.App {
	t.Helper()
	app := newApp(t)
	app.GET("/echo", func(c *web.Context) error {
		conn, err := ws.Upgrade(c, o)
		if err != nil {
			return err
		}
		for {
			kind, b, err := conn.Read(c.Context())
			if err != nil {
				return err
			}
			if err := conn.Write(c.Context(), kind, b); err != nil {
				return err
			}
		}
	})
	return app
}
