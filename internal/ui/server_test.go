package ui_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"example.com/quire/internal/api"
	"example.com/quire/internal/blob"
	"example.com/quire/internal/collect"
	"example.com/quire/internal/config"
	"example.com/quire/internal/demo"
	"example.com/quire/internal/record"
	"example.com/quire/internal/render"
	"example.com/quire/internal/store"
	"example.com/quire/internal/templates"
	"example.com/quire/internal/ui"
	"example.com/quire/web"
)

// server is a server with the pages, the API under them and real state, on a
// loopback listener.
type server struct {
	url   string
	app   http.Handler
	maker *record.Maker
	store *store.Store
	blobs string // their directory
	clock atomic.Int64
}

type reports map[string]*record.Report

func (r reports) Report(_ context.Context, _ record.Space, name string) (*record.Report, error) {
	if rep := r[name]; rep != nil {
		return rep, nil
	}
	return nil, record.ErrNotFound
}

// small is a report whose document is quick to make and to draw.
const small = "small"

const smallTemplate = `quire: 1
name: small
lang: en
title: Small
page: {size: A6, margin: 10mm}
body:
  - {heading: Small, level: 1}
  - {page-break: true}
  - {text: The second page.}
  - {page-break: true}
  - {spacer: 100mm}
  - {text: The foot of the third page.}
`

// layers are the files of the first that has them.
type layers []fs.FS

func (l layers) Open(name string) (fs.File, error) {
	for _, f := range l {
		if file, err := f.Open(name); !errors.Is(err, fs.ErrNotExist) {
			return file, err
		}
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// open starts a server with the demo's templates, reports and flaky source; with may change what
// the pages show.
func open(t *testing.T, with ...func(*ui.Options)) *server {
	t.Helper()
	ctx := context.WithoutCancel(t.Context()) // closing comes after the test
	dir := t.TempDir()
	h := &server{blobs: filepath.Join(dir, "blobs")}
	end := func(f func() error) {
		t.Cleanup(func() {
			if err := f(); err != nil {
				t.Error(err)
			}
		})
	}
	status := httptest.NewServer(demo.StatusAPI())
	t.Cleanup(status.Close)
	cfg := &config.Config{}
	check(t, demo.Configure(cfg, status.URL))
	var sources []collect.Source
	for name, s := range cfg.Sources {
		sources = append(sources, collect.Source{
			Space: record.Local, Name: name,
			Kind: collect.HTTP{URL: s.URL, Attempts: s.Attempts, Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}},
		})
	}
	collector, err := collect.New(collect.Config{Sources: sources})
	check(t, err)
	end(func() error { return collector.Close(ctx) })
	blobs, err := blob.Open(blob.Config{Dir: h.blobs})
	check(t, err)
	end(blobs.Close)
	h.store, err = store.Open(ctx, store.Config{File: filepath.Join(dir, "state.db")})
	check(t, err)
	end(h.store.Close)
	renderer, err := render.New(render.Config{})
	check(t, err)

	filed := reports{}
	var shown []ui.Report
	for name, r := range cfg.Reports {
		rep := &record.Report{Space: record.Local, Name: name, Template: r.Template}
		for key, use := range r.Sources {
			rep.Sources = append(rep.Sources, record.SourceCall{Key: key, Source: use.Source})
		}
		filed[name] = rep
	}
	filed[small] = &record.Report{Space: record.Local, Name: small, Template: small}
	for _, s := range demo.Samples() {
		shown = append(shown, ui.Report{Space: record.Local, Name: s.Name, Title: s.Title, About: s.About, Data: s.Inline})
	}
	shown = append(shown, ui.Report{Space: record.Local, Name: demo.DownReport, Title: "Service report, source down"})

	h.maker, err = record.NewMaker(record.Parts{
		Engine: renderer, Blobs: blobs, Documents: h.store, Collector: collector,
		Templates: templates.New(layers{fstest.MapFS{small + ".yaml": {Data: []byte(smallTemplate)}}, demo.Templates()}, renderer.Load), Reports: filed, Now: time.Now,
	})
	check(t, err)
	access, err := api.NewAccess(nil)
	check(t, err)
	routes, err := api.New(api.Options{Maker: h.maker, Library: h.store, Blobs: blobs, Reports: filed, Access: access})
	check(t, err)
	end(func() error { return routes.Close(ctx) })
	app, err := web.New(web.Options{
		Poison: true, Logger: slog.New(slog.DiscardHandler),
		ErrorHandler: func(c *web.Context, err error) { c.AnswerError(api.Problem(err)) },
	})
	check(t, err)
	g := app.Group("", access.Identify)
	routes.Register(g)
	o := ui.Options{
		Library: h.store, Reports: shown,
		Space: func(c *web.Context) (record.Space, error) {
			if space, ok := api.SpaceOf(c); ok {
				return space, nil
			}
			return "", web.NewProblem(http.StatusUnauthorized, "", nil)
		},
	}
	for _, f := range with {
		f(&o)
	}
	check(t, ui.Register(g, o))
	check(t, routes.Describe(g))
	srv := httptest.NewServer(app)
	t.Cleanup(srv.Close)
	h.url, h.app = srv.URL, app
	return h
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// made makes the document of a report with the demo's data.
func (h *server) made(t *testing.T, report string) *record.Document {
	t.Helper()
	r := record.Request{Space: record.Local, Report: report, Time: h.later()}
	for _, s := range demo.Samples() {
		if s.Name == report || report == demo.DownReport && s.Name == "service-report" {
			r.Data = s.Inline
		}
	}
	m, err := h.maker.Make(t.Context(), r)
	check(t, err)
	return m.Document
}

// later is a moment that no document of this server has yet: a second after the last one.
func (h *server) later() time.Time {
	return time.Date(2026, 2, 2, 6, 30, 0, 0, time.UTC).Add(time.Duration(h.clock.Add(1)) * time.Second)
}

// answer is what a page answered.
type answer struct {
	Status int
	Header http.Header
}

// page gets a page and its text.
func (h *server) page(t *testing.T, path string) (answer, string) {
	t.Helper()
	return h.send(t, http.MethodGet, path, "")
}

func (h *server) send(t *testing.T, method, path, body string, fields ...string) (answer, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, h.url+path, strings.NewReader(body))
	check(t, err)
	req.Header.Set("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8") // as browsers ask
	if method != http.MethodGet {
		req.Header.Set("Accept", "application/json")
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Accept-Encoding", "identity")
	for _, f := range fields {
		name, value, _ := strings.Cut(f, ": ")
		req.Header.Set(name, value)
	}
	res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	check(t, err)
	defer func() { _ = res.Body.Close() }()
	var b bytes.Buffer
	_, err = b.ReadFrom(res.Body)
	check(t, err)
	return answer{res.StatusCode, res.Header}, b.String()
}

// hasAll fails for every text that is not in the page.
func hasAll(t *testing.T, page string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(page, w) {
			t.Errorf("the page has no %q", w)
		}
	}
}
