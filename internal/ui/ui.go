// Package ui is the web interface: HTML pages of documents and tools, and their assets. Everything
// is embedded in the binary, so the interface works offline and under a strict Content Security
// Policy.
//
// The pages are rendered on the server. In the browser, modules of plain JavaScript draw the pages
// of PDF files with pdf.js, call the API to make documents, render them again and compare files
// with them, and copy hashes and commands. Without JavaScript a page is complete except for the
// pictures.
//
// Pages:
//
//	GET /                            documents, newest first; ?report= and ?after=
//	GET /documents/{id}              one document with its receipt
//	GET /reports/{name}/request.json the request that its "New document" button sends
//	GET /tools                       the operations on PDF files, of package operation
//	GET /tools/{operation}           a form for one of them
//	GET /assets/VERSION/...          styles, scripts, fonts, pdf.js
//
// Errors are pages for clients that prefer HTML, also for paths without a route. Other clients get
// the App's problems. The pages use the API's routes under /v1 and /d.
package ui

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"slices"

	"example.com/quire/internal/record"
	"example.com/quire/web"
	"example.com/quire/web/middleware"
)

//go:embed pages/*.html
var pageFiles embed.FS

//go:embed assets
var assetFiles embed.FS

// Library reads the stored documents for the pages.
type Library interface {
	List(ctx context.Context, space record.Space, q record.Query) (*record.Page, error)
	Document(ctx context.Context, space record.Space, id record.Hash) (*record.Document, error)
	Receipt(ctx context.Context, space record.Space, id record.Hash) ([]byte, error)
}

// Report is a report as the pages know it.
type Report struct {
	Space record.Space
	Name  string
	Title string
	About string // one sentence for people; may be empty
	// Data is the data that its button under "New document" sends, a JSON object. A report with nil
	// Data has no button, because users cannot guess what it needs.
	Data []byte
}

// Options are the components of the pages.
type Options struct {
	Library Library
	// Space returns the space of a request. Its error is the response, such as a *web.Problem with
	// 401.
	Space   func(*web.Context) (record.Space, error)
	Reports []Report
	// BaseURL begins the commands that the pages show, such as https://q.example;
	// "": as the request came.
	BaseURL string
	// Log gets the cause of pages that failed; nil: none.
	Log *slog.Logger
	// Signers are the names of the keys by which each space may sign.
	Signers map[record.Space][]string
	// MostFileBytes is the API's limit for all files of a request, so that larger ones are not
	// sent; 0: unknown.
	MostFileBytes int64
	// Token says that the API requires a token, which the commands then send.
	Token bool
}

// pageSize is how many documents one page of the list shows.
const pageSize = 20

type pages struct {
	o    Options
	tmpl *template.Template
}

// Register adds the pages to g, whose middleware must have identified the caller for Options.Space.
// It also serves error pages for paths of g's App without a route.
func Register(g *web.Group, o Options) error {
	if o.Library == nil || o.Space == nil {
		return errors.New("ui: Library and Space are needed")
	}
	for _, r := range o.Reports {
		if r.Data != nil && !json.Valid(r.Data) {
			return fmt.Errorf("ui: report %s: the data is not JSON", r.Name)
		}
	}
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	assets, err := fs.Sub(assetFiles, "assets")
	if err != nil {
		return fmt.Errorf("ui: %w", err)
	}
	version, err := versionOf(assets)
	if err != nil {
		return fmt.Errorf("ui: %w", err)
	}
	prefix := "/assets/" + version + "/"
	tmpl, err := template.New("").Funcs(template.FuncMap{
		"copyOf": newCopyText, "asset": func(name string) string { return prefix + name },
	}).ParseFS(pageFiles, "pages/*.html")
	if err != nil {
		return fmt.Errorf("ui: %w", err)
	}
	headers, err := middleware.SecureHeaders(middleware.SecureHeadersOptions{CSP: policy()})
	if err != nil {
		return fmt.Errorf("ui: %w", err)
	}
	p := &pages{o: o, tmpl: tmpl}
	html := g.Group("", headers, p.failures)
	g.App().NotFound(headers(p.failures(func(*web.Context) error {
		return web.NewProblem(http.StatusNotFound, "There is nothing at this address.", web.ErrNotFound)
	})))
	html.GET("/{$}", p.landing, web.Name("landing"))
	html.GET("/documents/{id}", p.document, web.Name("document-page"))
	html.GET("/reports/{name}/request.json", p.request, web.Name("report-request"))
	html.GET("/tools", p.tools, web.Name("tools"))
	html.GET("/tools/{operation}", p.tool, web.Name("tool"))
	html.Group("", absent).Static(prefix, &compressed{FS: assets, made: map[string][]byte{}},
		web.StaticOptions{CacheControl: "public, max-age=31536000, immutable"})
	return nil
}

// policy lets pages load what this server has, and nothing else. pdf.js puts the
// fonts of documents in as binary data, which needs no source; images become
// blob URLs.
func policy() middleware.CSP {
	return middleware.CSP{
		"default-src":     {"'none'"},
		"script-src":      {"'self'"},
		"style-src":       {"'self'"},
		"img-src":         {"'self'", "blob:", "data:"},
		"connect-src":     {"'self'"},
		"worker-src":      {"'self'"},
		"font-src":        {"'self'"},
		"base-uri":        {"'none'"},
		"form-action":     {"'self'"},
		"frame-ancestors": {"'none'"},
	}
}

// landing lists documents.
func (p *pages) landing(c *web.Context) error {
	space, err := p.o.Space(c)
	if err != nil {
		return err
	}
	report := c.Query("report")
	q := record.Query{Report: report, After: c.Query("after"), Limit: pageSize}
	if report != "" {
		if err := record.CheckName("report", report); err != nil {
			return noReport(err)
		}
	}
	list, err := p.o.Library.List(c.Context(), space, q)
	if err != nil {
		return known(err)
	}
	// Documents may be filed under a report that is configured no more.
	if report != "" && len(list.Documents) == 0 && p.report(space, report) == nil {
		return noReport(nil)
	}
	v := &landingView{Title: "Documents", Script: "landing.js", Report: report, Curl: p.makeCommand(c, space, report)}
	for _, d := range list.Documents {
		r, err := p.receipt(c.Context(), space, d.ID)
		if err != nil {
			return err
		}
		v.Documents = append(v.Documents, p.view(space, d, r))
	}
	v.Filters = p.filters(space, report)
	for _, r := range p.o.Reports {
		if r.Space == space && r.Data != nil {
			v.Makers = append(v.Makers, r)
		}
	}
	at := url.Values{}
	if report != "" {
		at.Set("report", report)
	}
	if q.After != "" {
		v.Newest = address(at)
	}
	if list.Next != "" {
		at.Set("after", list.Next)
		v.Older = address(at)
	}
	return p.show(c, http.StatusOK, "landing", v)
}

func address(q url.Values) string {
	if len(q) == 0 {
		return "/"
	}
	return "/?" + q.Encode()
}

func (p *pages) filters(space record.Space, current string) []filter {
	out := []filter{{Title: "All", Href: "/", Current: current == ""}}
	known := false
	for _, r := range p.o.Reports {
		if r.Space != space {
			continue
		}
		known = known || r.Name == current
		out = append(out, filter{Title: r.Title, Href: reportHref(r.Name), Current: r.Name == current})
	}
	if current != "" && !known {
		out = append(out, filter{Title: current, Href: reportHref(current), Current: true})
	}
	if len(out) == 1 {
		return nil
	}
	return out
}

func reportHref(name string) string { return address(url.Values{"report": {name}}) }

// document shows one document.
func (p *pages) document(c *web.Context) error {
	space, err := p.o.Space(c)
	if err != nil {
		return err
	}
	id, err := record.ParseHash(c.Param("id"))
	if err != nil {
		return noDocument(err)
	}
	d, err := p.o.Library.Document(c.Context(), space, id)
	if err != nil {
		return known(err)
	}
	r, err := p.receipt(c.Context(), space, id)
	if err != nil {
		return known(err)
	}
	doc := p.detail(c, space, d, r)
	return p.show(c, http.StatusOK, "document", &documentPage{Title: doc.Title, Script: "document.js", Doc: doc})
}

func (p *pages) receipt(ctx context.Context, space record.Space, id record.Hash) (*record.Receipt, error) {
	b, err := p.o.Library.Receipt(ctx, space, id)
	if err != nil {
		return nil, err
	}
	r, _, err := record.ParseReceipt(b)
	return r, err
}

// request is what the button of a report under "New document" sends.
func (p *pages) request(c *web.Context) error {
	space, err := p.o.Space(c)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(p.o.Reports, func(r Report) bool {
		return r.Space == space && r.Name == c.Param("name") && r.Data != nil
	})
	if i < 0 {
		return web.NewProblem(http.StatusNotFound, "This report does not exist here, or it has no example data.", nil)
	}
	return c.JSON(http.StatusOK, struct {
		Report string          `json:"report"`
		Data   json.RawMessage `json:"data"`
	}{p.o.Reports[i].Name, p.o.Reports[i].Data})
}

// show renders a page whole before its first byte is sent.
func (p *pages) show(c *web.Context, status int, name string, v any) error {
	var b bytes.Buffer
	if err := p.tmpl.ExecuteTemplate(&b, name, v); err != nil {
		return fmt.Errorf("ui: page %s: %w", name, err)
	}
	// What a space holds is not for caches, nor for the next user of the browser.
	c.Writer().Header().Set("Cache-Control", "no-store")
	return c.Blob(status, "text/html; charset=utf-8", b.Bytes())
}
