// Package api is the HTTP interface of Quire: the v1 routes and the routes for many readers,
// /d/{content}.pdf and /r/{report}/latest.pdf.
//
// Handlers only convert: a request into a record.Request, a record error into a problem (RFC
// 9457), a blob into a response with conditions and ranges. record.Maker decides what a document
// is and how it is made.
//
// A document is private to its space. Every route under /v1 requires a token of a space. Without a
// token, /d/ and /r/ serve only documents of public reports. Everything that the caller's space
// does not have is 404, so that nobody learns what other spaces have.
package api

import (
	"context"
	"errors"
	"fmt"
	"time"

	"example.com/quire/cache"
	"example.com/quire/internal/record"
	"example.com/quire/pdf"
	"example.com/quire/pdf/sign"
	"example.com/quire/web"
	"example.com/quire/web/frozen"
)

// Library reads the stored documents for the routes. The store implements it.
type Library interface {
	Document(ctx context.Context, space record.Space, id record.Hash) (*record.Document, error)
	Receipt(ctx context.Context, space record.Space, id record.Hash) ([]byte, error)
	List(ctx context.Context, space record.Space, q record.Query) (*record.Page, error)
	Latest(ctx context.Context, space record.Space, report string) (*record.Document, error)
	ByContent(ctx context.Context, space record.Space, content record.Hash) (*record.Document, error)
}

// Options are the components of the API. All fields up to Access are required.
type Options struct {
	Maker   *record.Maker
	Library Library
	Blobs   record.Blobs
	Reports record.Reports
	Access  *Access
	// Public lists the reports whose documents anyone may read.
	Public []PublicReport
	// Signers are the keys by which each space may sign, by their names.
	Signers map[record.Space]map[string]*sign.Identity
	Limits  Limits
	// Converter turns HTML into files; nil: nothing does.
	Converter Converter
	// OCR returns what reads text in images in these languages, for redactions; nil: nothing does.
	OCR func(ctx context.Context, languages []string) (pdf.OCR, error)
	// Overloaded reports whether a document for a space would be refused now. If so, the request is
	// refused before it is read. Nil: never.
	Overloaded func(record.Space) bool
}

// PublicReport names a report whose documents answer without a token.
type PublicReport struct {
	Space record.Space
	Name  string
}

// Limits bound requests. Zero fields mean the default.
type Limits struct {
	Body        int64         // of render and document requests: 10 MiB
	File        int64         // of a file to verify, and of all files of a PDF operation: 64 MiB
	Bodies      int64         // of all requests for documents that are being read or answered: 128 MiB
	Render      time.Duration // wall time of one document: 30 s
	Convert     time.Duration // wall time of one conversion of HTML, which the Converter keeps: 30 s
	OCR         time.Duration // wall time of one redaction where there is an OCR: 2 minutes
	Converting  int           // conversions at once, those that wait for the Converter included: 18
	Pages       int64         // of all requests for conversions that are being read or answered: 64 MiB
	PublicBytes int64         // memory for hot public documents: 64 MiB
}

// API answers the routes. Close it when the server has stopped.
type API struct {
	o      Options
	public held[publicFile] // by the hash of their bytes, as it stands in /d/
	newest held[string]     // that hash, by the name of a public report
	frozen frozen.Source    // of both
	pdf    *operations
}

// New returns the API over its parts.
func New(o Options) (*API, error) {
	if o.Maker == nil || o.Library == nil || o.Blobs == nil || o.Reports == nil || o.Access == nil {
		return nil, errors.New("api: Maker, Library, Blobs, Reports and Access are needed")
	}
	o.Limits.fill()
	operations, err := newOperations(o.Signers, o.OCR)
	if err != nil {
		return nil, fmt.Errorf("api: %w", err)
	}
	a := &API{o: o, pdf: operations}
	policy := cache.Policy{TTL: 24 * time.Hour, NegativeTTL: -1, StaleWhileRevalidate: -1, StaleIfError: -1, ErrorBackoffMin: -1}
	// Only documents of public reports enter the caches: no answer for one client can meet
	// another's request there. A document's bytes never change, so its life is long; what
	// is not there is asked for again each time, for it may be made at any moment, and so is
	// what failed, for making it again mends it. Which one is a report's latest holds until Moved.
	public, err := cache.New(cache.Options[string, publicFile]{
		Name:     "public-documents",
		MaxBytes: o.Limits.PublicBytes,
		Weigh:    func(_ string, f publicFile) int { return len(f.bytes) + len(f.name) + answerBytes },
		Load:     a.loadPublic,
		Policy:   policy,
	})
	if err != nil {
		return nil, fmt.Errorf("api: %w", err)
	}
	newest, err := cache.New(cache.Options[string, string]{Name: "public-latest", MaxBytes: newestBytes, Load: a.loadNewest, Policy: policy})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("api: %w", err), public.Close(context.Background()))
	}
	a.public, a.newest, a.frozen = public, newest, publicFiles{public, newest}
	return a, nil
}

// Limits are those in force.
func (a *API) Limits() Limits { return a.o.Limits }

// Close frees what New made.
func (a *API) Close(ctx context.Context) error {
	return errors.Join(a.newest.Close(ctx), a.public.Close(ctx))
}

// Register adds the routes to r, whose middleware must have identified the caller
// (Access.Identify).
func (a *API) Register(r *web.Group) {
	v1 := r.Group("/v1", a.o.Access.Require)
	making := web.Budgets{Time: a.o.Limits.Render, BodyBytes: a.o.Limits.Body, Bodies: web.NewBodyPool(a.o.Limits.Bodies)}
	admitted := v1.Group("", a.admit)
	admitted.POST("/render", a.render, described("render", making)...)
	admitted.POST("/documents", a.makeDocument, described("make", making)...)
	v1.GET("/documents", a.listDocuments, described("documents")...)
	v1.GET("/documents/{id}", a.document, described("document")...)
	v1.GET("/documents/{id}/pdf", a.documentPDF, described("document-pdf")...)
	v1.GET("/documents/{id}/receipt", a.documentReceipt, described("document-receipt")...)
	v1.GET("/documents/{id}/snapshot", a.documentSnapshot, described("document-snapshot")...)
	v1.POST("/documents/{id}/verify", a.verifyDocument,
		described("document-verify", web.Budgets{Time: a.o.Limits.Render, BodyBytes: a.o.Limits.File})...)
	a.pdf.register(v1, a.o.Limits, a.o.OCR != nil)
	a.registerConvert(v1)

	r.GET("/d/{content}.pdf", a.content, described("content")...)
	r.GET("/r/{report}/latest.pdf", a.latest, described("latest")...)
}

// errFull is a gate's refusal, which web does not take for a fault.
var errFull = fmt.Errorf("%w (%w)", record.ErrOverload, web.ErrBusy)

// admit refuses a request while too many wait. Reading it first would cost the processor more than
// the refusal, and under overload that is what all wait for.
func (a *API) admit(next web.Handler) web.Handler {
	if a.o.Overloaded == nil {
		return next
	}
	return func(c *web.Context) error {
		if space, _ := SpaceOf(c); a.o.Overloaded(space) {
			return errFull
		}
		return next(c)
	}
}
