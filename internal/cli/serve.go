package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"time"

	"github.com/spf13/cobra"

	"example.com/quire/internal/app"
	"example.com/quire/internal/config"
)

func (p *program) serve() *cobra.Command {
	var listen string
	c := &cobra.Command{
		Use:   "serve",
		Short: "Run the server",
		Long: "Run the server. The first interrupt or SIGTERM lets running requests finish and ends the server.\n" +
			"The second ends it at once.\n\n" +
			"Without tokens the server listens on loopback addresses only, and all requests are in the space\n" +
			"local. On another address it also needs TLS. A token is a secret that you choose; the\n" +
			"configuration has its SHA-256:\n\n" +
			"  TOKEN=$(head -c 32 /dev/urandom | base64)\n" +
			"  printf %s \"$TOKEN\" | sha256sum        # -> tokens: [{space: finance, sha256: ...}]",
		Args: counted(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			lookup := p.LookupEnv
			if listen != "" {
				p.LookupEnv = func(k string) (string, bool) {
					if k == "QUIRE_LISTEN" {
						return listen, true
					}
					return lookup(k)
				}
			}
			cfg, err := p.load()
			if err != nil {
				return app.Check(c.Context(), app.Options{Config: cfg}, err)
			}
			log := newLog(cfg, p.Stderr)
			a, err := app.New(c.Context(), app.Options{Config: cfg, Log: log})
			if err != nil {
				return err
			}
			ln, err := app.Listen(c.Context(), cfg, false)
			if err != nil {
				return errors.Join(err, a.Close(c.Context()))
			}
			return p.run(c.Context(), a, ln, cfg, func(addr string) error {
				log.Info("serving", slog.String("url", addr), slog.String("data", cfg.Data), slog.String("version", p.Version))
				return nil
			}, func() {})
		},
	}
	c.Flags().StringVar(&listen, "listen", "", "`HOST:PORT` to listen on; port 0 selects a free port (QUIRE_LISTEN)")
	return c
}

// run tells by ready where ln is reached, serves it until ctx ends, calls stop and closes the app.
func (p *program) run(ctx context.Context, a *app.App, ln net.Listener, cfg *config.Config, ready func(url string) error, stop func()) error {
	closing := func(err error) error {
		stop()
		cctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		return errors.Join(err, a.Close(cctx))
	}
	scheme := "http"
	if cfg.TLS.Cert != "" {
		scheme = "https"
	}
	url := scheme + "://" + display(ln.Addr())
	if err := a.Announce(url); err != nil {
		return closing(errors.Join(err, ln.Close()))
	}
	serving, end := context.WithCancel(ctx)
	defer end()
	done := make(chan error, 1)
	go func() { done <- a.Serve(serving, ln) }()
	if err := ready(url); err != nil {
		end()
		return closing(errors.Join(err, <-done))
	}
	return closing(<-done)
}

// display is an address as a browser takes it.
func display(a net.Addr) string {
	if t, ok := a.(*net.TCPAddr); ok && t.IP.IsUnspecified() {
		return fmt.Sprintf("localhost:%d", t.Port)
	}
	return a.String()
}

func newLog(cfg *config.Config, w io.Writer) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(cfg.Log.Level)); err != nil {
		level = slog.LevelInfo // the configuration was checked
	}
	o := &slog.HandlerOptions{Level: level}
	if cfg.Log.Format == "json" {
		return slog.New(slog.NewJSONHandler(w, o))
	}
	return slog.New(slog.NewTextHandler(w, o))
}
