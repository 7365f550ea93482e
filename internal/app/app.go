// Package app builds the program: a configuration becomes a running server.
//
// It is the only package that imports all others. The parts are connected by hand, in the order in
// which a document passes them: sources, renderer, blobs, state, Maker, then the HTTP interface.
package app

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"example.com/quire/internal/api"
	"example.com/quire/internal/blob"
	"example.com/quire/internal/collect"
	"example.com/quire/internal/config"
	"example.com/quire/internal/convert"
	"example.com/quire/internal/record"
	"example.com/quire/internal/render"
	"example.com/quire/internal/store"
	"example.com/quire/internal/ui"
	"example.com/quire/pdf"
	"example.com/quire/pdf/htmlpdf"
	"example.com/quire/pdf/sign"
	"example.com/quire/web"
	"example.com/quire/web/frozen"
	"example.com/quire/web/middleware"
)

// Options say what to build.
type Options struct {
	Config *config.Config
	// Templates, if set, replaces the directory that the configuration names.
	Templates fs.FS
	Log       *slog.Logger
	// Samples are the requests that the web interface offers, by report.
	Samples map[string]Sample
	// Signers are signers of the space local in addition to those of the configuration.
	Signers map[string]*sign.Identity
	// Now is the clock at the edge; nil: time.Now. Rendering never sees it.
	Now func() time.Time
}

// Sample is data for a report, with a sentence about it.
type Sample struct {
	About string
	Data  []byte
}

// App is the program. Close it when Serve has returned.
type App struct {
	Maker   *record.Maker
	Library *store.Store
	Blobs   *blob.Store
	Reports record.Reports

	cfg     *config.Config
	log     *slog.Logger
	now     func() time.Time
	web     *web.App
	access  *api.Access
	signers signers
	routes  *api.API
	health  *web.Health
	close   []func(context.Context) error // in reverse order
}

// New opens the state and wires the server. Nothing listens yet. What Check finds is its error.
func New(ctx context.Context, o Options) (*App, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if err := Check(ctx, o, nil); err != nil {
		return nil, err
	}
	opened := &App{cfg: o.Config, log: o.Log, now: o.Now, health: &web.Health{}}
	if err := opened.open(ctx, o); err != nil {
		return nil, errors.Join(err, opened.Close(context.WithoutCancel(ctx)))
	}
	return opened, nil
}

// open wires the parts in the order of a document's flow. After an error Close gives back what
// was opened until then.
func (a *App) open(ctx context.Context, o Options) error {
	if err := a.openData(ctx, o); err != nil {
		return err
	}
	sources, err := sourcesOf(o.Config, o.Log)
	if err != nil {
		return err
	}
	a.onClose(sources.Close)
	if a.signers, err = signersOf(o.Config, o.Signers); err != nil {
		return err
	}
	renderer, err := render.New(render.Config{Signers: a.signers.of})
	if err != nil {
		return err
	}
	folder, done, err := folderOf(o, renderer.Load)
	if err != nil {
		return err
	}
	a.onClose(func(context.Context) error { return done() })
	a.Reports = newReports(o.Config)
	a.Maker, err = record.NewMaker(record.Parts{
		Engine: renderer, Blobs: a.Blobs, Documents: announcing{a.Library, a.moved}, Collector: sources,
		Templates: folder, Reports: a.Reports, Now: o.Now,
	})
	if err != nil {
		return err
	}
	return a.register(o, renderer.Overloaded)
}

// openData opens state and blobs, which one process at a time may write.
func (a *App) openData(ctx context.Context, o Options) error {
	dir := o.Config.Data
	if err := makeDir(dir); err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	unlock, err := lock(filepath.Join(dir, lockFile))
	if err != nil {
		return fmt.Errorf("data directory %s: %w", dir, err)
	}
	a.onClose(func(context.Context) error { return unlock() })
	if a.Blobs, err = blob.Open(blob.Config{Dir: filepath.Join(dir, blobDir)}); err != nil {
		return err
	}
	a.onClose(func(context.Context) error { return a.Blobs.Close() })
	if a.Library, err = store.Open(ctx, store.Config{File: filepath.Join(dir, stateFile), Now: o.Now}); err != nil {
		return err
	}
	a.onClose(func(context.Context) error { return a.Library.Close() })
	return nil
}

// Below the data directory.
const (
	blobDir     = "blobs"
	stateFile   = "state.db" // with -wal and -shm beside it
	lockFile    = "lock"
	addressFile = "address" // where the server is reached, while there is one
	controlFile = "control" // its socket for commands on this machine
)

// register builds the App of web with all routes.
func (a *App) register(o Options, overloaded func(record.Space) bool) error {
	tokens := map[[sha256.Size]byte]record.Space{}
	for _, t := range a.cfg.Tokens {
		sum, err := hex.DecodeString(t.SHA256)
		if err != nil || len(sum) != sha256.Size {
			return fmt.Errorf("tokens: %q is not the hex form of a SHA-256", t.SHA256)
		}
		tokens[[sha256.Size]byte(sum)] = record.Space(t.Space)
	}
	host, _, err := net.SplitHostPort(a.cfg.Listen)
	if err != nil {
		return err
	}
	a.access, err = api.NewAccess(tokens, host)
	if err != nil {
		return err
	}
	var public []api.PublicReport
	for name, r := range a.cfg.Reports {
		if r.Public {
			public = append(public, api.PublicReport{Space: record.Space(r.Space), Name: name})
		}
	}
	names := map[record.Space][]string{}
	for space, all := range a.signers {
		names[space] = slices.Sorted(maps.Keys(all))
	}
	converter, err := converterOf(a.cfg)
	if err != nil {
		return err
	}
	var converts api.Converter
	if converter != nil {
		converts = converter
		a.onClose(converter.Close)
	}
	var ocr func(ctx context.Context, languages []string) (pdf.OCR, error)
	if program := a.cfg.OCR.Program; program != "" {
		ocr = func(ctx context.Context, languages []string) (pdf.OCR, error) {
			return pdf.Tesseract(ctx, pdf.TesseractOptions{Program: program, Languages: languages})
		}
	}
	a.routes, err = api.New(api.Options{
		Maker: a.Maker, Library: a.Library, Blobs: a.Blobs, Reports: a.Reports, Access: a.access, Public: public, Signers: a.signers,
		Limits: api.Limits{
			Body: int64(a.cfg.Limits.Body), Convert: time.Duration(a.cfg.Convert.Timeout),
			Converting: a.cfg.Convert.Parallel + a.cfg.Convert.Waiting, Pages: int64(a.cfg.Convert.Bodies),
			OCR: time.Duration(a.cfg.OCR.Timeout),
		},
		Overloaded: overloaded, Converter: converts, OCR: ocr,
	})
	if err != nil {
		return err
	}
	a.onClose(a.routes.Close)
	// A body is read by web first and frozen after. In it the data stand one level down, and
	// web's limits are a little above that again: the errors of freezing say more.
	a.web, err = web.New(web.Options{
		Logger:  a.log,
		Problem: api.Problem,
		Limits: web.Limits{
			JSONDepth: record.DataDepth + 8, JSONNodes: record.DataNodes + 100_000,
			File: a.routes.Limits().File, // one file of a form may be all that the route takes
		},
	})
	if err != nil {
		return err
	}
	accessLog := middleware.AccessLog(middleware.AccessLogOptions{Logger: a.log, Skip: []string{"/livez", "/readyz"}, Refusals: time.Second})
	// Ready is a server that can make and keep a document.
	a.health.Check("state", web.Critical, a.Library.Check)
	a.health.Check("blobs", web.Critical, a.Blobs.Check)
	a.web.Use(accessLog, a.access.Identify)
	a.web.MethodNotAllowed(api.MethodNotAllowed)
	if err := a.health.Register(a.web, api.HealthDescription()...); err != nil {
		return err
	}
	all := a.web.Group("")
	a.routes.Register(all)
	if err := a.routes.Describe(all); err != nil {
		return err
	}
	return ui.Register(all, ui.Options{
		Library: a.Library, Space: api.Caller, Reports: pages(o), BaseURL: a.cfg.PublicURL,
		Log: a.log, Token: len(tokens) > 0, Signers: names, MostFileBytes: a.routes.Limits().File,
	})
}

// pages are the reports as the web interface shows them, by title.
func pages(o Options) []ui.Report {
	var all []ui.Report
	for name, r := range o.Config.Reports {
		shown := ui.Report{Space: record.Space(r.Space), Name: name, Title: r.Title}
		if s, ok := o.Samples[name]; ok {
			shown.About, shown.Data = s.About, s.Data
		}
		all = append(all, shown)
	}
	slices.SortFunc(all, func(a, b ui.Report) int {
		return cmp.Or(cmp.Compare(a.Title, b.Title), cmp.Compare(a.Name, b.Name))
	})
	return all
}

// Handler answers the server's requests, for tests and for embedding.
func (a *App) Handler() http.Handler { return a.web }

// Serve answers requests on ln until ctx ends, then finishes those that run. It closes ln.
func (a *App) Serve(ctx context.Context, ln net.Listener) error {
	s := &web.Server{App: a.web, Health: a.health}
	background, cancel := context.WithCancel(context.WithoutCancel(ctx))
	collected := make(chan struct{})
	go func() {
		defer close(collected)
		a.collectOrphans(background)
	}()
	defer func() {
		cancel()
		<-collected
	}()
	if a.cfg.TLS.Cert == "" {
		if a.routes.HasPublic() {
			o := a.access.Lane()
			o.OnServed = a.logServed
			s.Lane = frozen.NewLane(o, a.routes.Frozen())
		}
		return s.Serve(ctx, ln)
	}
	certificate, err := web.CertificateFiles(a.cfg.TLS.Cert, a.cfg.TLS.Key, web.CertificateOptions{Logger: a.log, Now: a.now})
	if err != nil {
		return errors.Join(err, ln.Close())
	}
	s.TLS = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: certificate}
	return s.Serve(ctx, ln)
}

// logServed writes the access log of what the frozen lane answered.
func (a *App) logServed(s frozen.Served) {
	ctx := context.Background()
	if !a.log.Enabled(ctx, slog.LevelInfo) {
		return
	}
	method, route := http.MethodGet, "/r/{report}/latest.pdf"
	if s.Head {
		method = http.MethodHead
	}
	if bytes.HasPrefix(s.Target, []byte("/d/")) {
		route = "/d/{content}.pdf"
	}
	client := s.Remote.String()
	if peer, ok := s.Remote.(*net.TCPAddr); ok {
		client = peer.AddrPort().Addr().Unmap().String()
	}
	a.log.LogAttrs(ctx, slog.LevelInfo, "request", slog.String("method", method), slog.String("route", route),
		slog.Int("status", s.Status), slog.Int("bytes", s.Bytes), slog.String("client", client), slog.Bool("frozen", true))
}

// announcing tells of each report that may have another latest document, before whoever filed it
// knows.
type announcing struct {
	record.Documents
	moved func(report string)
}

// Save implements record.Documents.
func (d announcing) Save(ctx context.Context, doc *record.Document, receipt []byte, report string) (*record.Document, bool, error) {
	defer d.moved(report)
	return d.Documents.Save(ctx, doc, receipt, report)
}

// File implements record.Documents.
func (d announcing) File(ctx context.Context, space record.Space, id record.Hash, report string) (*record.Document, error) {
	defer d.moved(report)
	return d.Documents.File(ctx, space, id, report)
}

// moved tells the routes, which are there once New has returned.
func (a *App) moved(report string) {
	if a.routes != nil {
		a.routes.Moved(report)
	}
}

func (a *App) onClose(f func(context.Context) error) { a.close = append(a.close, f) }

// Close gives back what New opened, in reverse order.
func (a *App) Close(ctx context.Context) error {
	var errs []error
	for _, f := range slices.Backward(a.close) {
		errs = append(errs, f(ctx))
	}
	a.close = nil
	return errors.Join(errs...)
}

// converterOf makes what converts HTML; nil where no browser is named.
func converterOf(c *config.Config) (*convert.Converter, error) {
	v := c.Convert
	if v.Browser == "" {
		return nil, nil //nolint:nilnil // the absence is no error
	}
	allow, err := prefixesOf(v.Allow)
	if err != nil {
		return nil, fmt.Errorf("convert: %w", err)
	}
	return convert.New(convert.Config{
		Browser: v.Browser, NoSandbox: v.NoSandbox, Hosts: v.Hosts, Allow: allow,
		Limits: htmlpdf.Limits{Time: time.Duration(v.Timeout), Parallel: v.Parallel},
	})
}

// prefixesOf reads prefixes of addresses.
func prefixesOf(texts []string) ([]netip.Prefix, error) {
	var all []netip.Prefix
	for _, p := range texts {
		prefix, err := netip.ParsePrefix(p)
		if err != nil {
			return nil, err
		}
		all = append(all, prefix)
	}
	return all, nil
}

// signers are the keys by which each space may sign, by their names.
type signers map[record.Space]map[string]*sign.Identity

func (s signers) of(space record.Space) (map[string]*sign.Identity, error) { return s[space], nil }

// signersOf reads the signers of a configuration. More are of the space local.
func signersOf(c *config.Config, more map[string]*sign.Identity) (signers, error) {
	all := signers{}
	add := func(space record.Space, name string, id *sign.Identity) {
		if all[space] == nil {
			all[space] = map[string]*sign.Identity{}
		}
		all[space][name] = id
	}
	for name, s := range c.Signers {
		id, err := identityOf(s)
		if err != nil {
			return nil, fmt.Errorf("signer %s: %w", name, err)
		}
		add(record.Space(s.Space), name, id)
	}
	for name, id := range more {
		add(record.Local, name, id)
	}
	return all, nil
}

// identityOf reads the key of a signer.
func identityOf(s config.Signer) (*sign.Identity, error) {
	info, err := os.Stat(s.Key)
	if err != nil {
		return nil, err
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("other users may read %s (mode %04o); run chmod 600", s.Key, info.Mode().Perm())
	}
	if info.Size() > sign.MostKeyBytes {
		return nil, fmt.Errorf("%s has %d bytes, too many for a key", s.Key, info.Size())
	}
	b, err := os.ReadFile(s.Key)
	if err != nil {
		return nil, err
	}
	id, err := sign.ParseIdentity(b, []byte(s.Password.Text()))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Key, err)
	}
	return id, nil
}

// sourcesOf turns the configured sources into those that collect calls.
func sourcesOf(c *config.Config, log *slog.Logger) (*collect.Collector, error) {
	var sources []collect.Source
	for name, s := range c.Sources {
		h := collect.HTTP{
			URL: s.URL, Header: map[string]collect.Secret{}, Timeout: time.Duration(s.Timeout),
			Attempts: s.Attempts, MaxBytes: int64(s.MaxBytes),
		}
		for k, v := range s.Headers {
			h.Header[k] = collect.NewSecret(v.Text())
		}
		var err error
		if h.Allow, err = prefixesOf(s.Allow); err != nil {
			return nil, fmt.Errorf("source %s: %w", name, err)
		}
		src := collect.Source{Space: record.Space(s.Space), Name: name, Kind: h, Required: s.Required}
		for p, kind := range s.Parameters {
			src.Parameters = append(src.Parameters, collect.Parameter{Name: p, Type: collect.ParameterType(kind)})
		}
		sources = append(sources, src)
	}
	return collect.New(collect.Config{Sources: sources, Log: log})
}

// reports are those of the configuration, by name. They fill record.Reports.
type reports map[string]*record.Report

// Report implements record.Reports.
func (r reports) Report(_ context.Context, space record.Space, name string) (*record.Report, error) {
	if found, ok := r[name]; ok && found.Space == space {
		return found, nil
	}
	var known []string // of this space: others' names are theirs
	for other, report := range r {
		if report.Space == space {
			known = append(known, other)
		}
	}
	return nil, record.Missing("report", name, known)
}

func newReports(c *config.Config) reports {
	all := reports{}
	for name, r := range c.Reports {
		out := &record.Report{Space: record.Space(r.Space), Name: name, Template: r.Template}
		for key, use := range r.Sources {
			call := record.SourceCall{Key: key, Source: use.Source, Parameters: record.Parameters{}}
			for p, v := range use.With {
				call.Parameters[p] = parameter(c.Sources[use.Source].Parameters[p], v)
			}
			out.Sources = append(out.Sources, call)
		}
		slices.SortFunc(out.Sources, func(a, b record.SourceCall) int { return cmp.Compare(a.Key, b.Key) })
		all[name] = out
	}
	return all
}

// parameter writes a configured value as the JSON that its type wants.
func parameter(kind, v string) json.RawMessage {
	if kind == "integer" {
		return json.RawMessage(v)
	}
	quoted, err := json.Marshal(v)
	if err != nil {
		panic(err) // a string always has a JSON form
	}
	return quoted
}
