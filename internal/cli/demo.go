package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os/exec"
	"time"

	"github.com/spf13/cobra"

	"example.com/quire/internal/app"
	"example.com/quire/internal/config"
	"example.com/quire/internal/demo"
	"example.com/quire/internal/record"
	"example.com/quire/pdf/sign"
)

// demoDir keeps the demo's documents unless --data-dir names another directory.
const demoDir = ".quire-demo"

func (p *program) demo() *cobra.Command {
	var listen string
	var reset bool
	c := &cobra.Command{
		Use:   "demo",
		Short: "Run the server with sample documents",
		Long: "Run the server on a loopback address and print one URL. It has sample templates, finished\n" +
			"documents, a signing key that lasts until the demo ends, and a built-in HTTP API that really\n" +
			"fails at times. Its data is in " + demoDir + "/. If port 8080 is in use, the next free port is used,\n" +
			"unless --listen names an address. If a demo is running already, its URL is printed and no\n" +
			"second one is started.",
		Args: counted(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			cfg := &config.Config{Listen: listen, Data: demoDir, Log: config.Log{Level: "error"}}
			if p.data != "" {
				cfg.Data = p.data
			}
			if reset {
				if err := app.Empty(cfg.Data); err != nil {
					return err
				}
			} else if url := app.Running(c.Context(), cfg.Data); url != "" {
				return p.print(demoAnswer{URL: url, Running: true}, url+"/\n")
			}
			return p.runDemo(c.Context(), cfg, !c.Flags().Changed("listen"))
		},
	}
	c.Flags().StringVar(&listen, "listen", "127.0.0.1:8080", "loopback `HOST:PORT` to listen on")
	c.Flags().BoolVar(&reset, "reset", false, "begin with no documents")
	return c
}

// demoAnswer is what the demo says of itself.
type demoAnswer struct {
	URL     string `json:"url"`
	Running bool   `json:"running,omitempty"` // it ran already
}

// runDemo runs the demo; with next, at the next free port.
func (p *program) runDemo(ctx context.Context, cfg *config.Config, next bool) error {
	api, stop, err := statusAPI(ctx)
	if err != nil {
		return err
	}
	defer stop()
	if err := demo.Configure(cfg, api); err != nil {
		return err
	}
	if tesseract, err := exec.LookPath("tesseract"); err == nil {
		cfg.OCR.Program = tesseract
	}
	if err := cfg.Complete(p.LookupEnv); err != nil {
		return err
	}
	if !cfg.Loopback() {
		return usageError{fmt.Errorf("--listen %s: the demo listens on loopback addresses only", cfg.Listen)}
	}
	// The pages name the address in their examples, so it is settled before they are made.
	ln, err := app.Listen(ctx, cfg, next)
	if err != nil {
		return err
	}
	cfg.Listen = ln.Addr().String()
	cfg.PublicURL = "http://" + cfg.Listen
	a, err := p.demoApp(ctx, cfg)
	if err != nil {
		return errors.Join(err, ln.Close())
	}
	background, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	ready := func(url string) error {
		defer func() {
			// What is collected takes as long as its source does; the page shows it when it is
			// there.
			go func() {
				defer close(done)
				makeSamples(background, a, newLog(cfg, p.Stderr), true)
			}()
		}()
		makeSamples(ctx, a, newLog(cfg, p.Stderr), false)
		return p.print(demoAnswer{URL: url}, url+"/\n")
	}
	return p.run(ctx, a, ln, cfg, ready, func() {
		cancel()
		<-done
	})
}

// demoApp is the program with what the demo shows: its templates and samples, and a signer that is
// made anew each time.
func (p *program) demoApp(ctx context.Context, cfg *config.Config) (*app.App, error) {
	samples := map[string]app.Sample{}
	for _, s := range demo.Samples() {
		samples[s.Name] = app.Sample{About: s.About, Data: s.Inline}
		if s.Collected() {
			samples[demo.DownReport] = app.Sample{About: "The same report from a source that is deliberately down.", Data: s.Inline}
		}
	}
	signer, err := demo.Signer(time.Now())
	if err != nil {
		return nil, err
	}
	return app.New(ctx, app.Options{
		Config: cfg, Templates: demo.Templates(), Samples: samples, Log: newLog(cfg, p.Stderr),
		Signers: map[string]*sign.Identity{demo.SignerName: signer},
	})
}

// makeSamples makes the sample documents that are not there yet: those with inline data, or
// those that are collected.
func makeSamples(ctx context.Context, a *app.App, log *slog.Logger, collected bool) {
	type wanted struct {
		report string
		data   []byte
	}
	var all []wanted
	for _, s := range demo.Samples() {
		if s.Collected() == collected {
			all = append(all, wanted{s.Name, s.Inline})
			if collected {
				all = append(all, wanted{demo.DownReport, s.Inline})
			}
		}
	}
	for _, w := range all {
		if _, err := a.Library.Latest(ctx, record.Local, w.report); !errors.Is(err, record.ErrNotFound) {
			continue
		}
		_, err := a.Maker.Make(ctx, record.Request{Space: record.Local, Report: w.report, Data: w.data})
		if err != nil && ctx.Err() == nil {
			log.Error("sample document", slog.String("report", w.report), slog.Any("error", err))
		}
	}
}

// statusAPI serves the demo's API on a loopback address of its own.
func statusAPI(ctx context.Context) (url string, stop func(), err error) {
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	s := &http.Server{Handler: demo.StatusAPI(), ReadHeaderTimeout: 5 * time.Second}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Serve(ln) // until Close
	}()
	return "http://" + ln.Addr().String(), func() {
		_ = s.Close()
		<-done
	}, nil
}
