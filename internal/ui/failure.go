package ui

import (
	"cmp"
	"errors"
	"io/fs"
	"net/http"

	"example.com/quire/internal/record"
	"example.com/quire/web"
)

// failures answers errors by a page where the client prefers one. Scripts and
// commands get the App's own answer.
func (p *pages) failures(next web.Handler) web.Handler {
	return func(c *web.Context) error {
		err := next(c)
		if err == nil || errors.Is(err, web.ErrNotModified) || c.Written() > 0 || !prefersHTML(c) {
			return err
		}
		problem := web.AsProblem(err)
		if problem.Status >= http.StatusInternalServerError {
			p.o.Log.ErrorContext(c.Context(), "page failed", "err", err, "request", c.RequestID())
		}
		v := &failureView{Title: problem.Title, Status: problem.Status, Detail: problem.Detail, RequestID: c.RequestID()}
		v.Title = cmp.Or(v.Title, http.StatusText(problem.Status))
		if problem.Status == http.StatusUnauthorized {
			v.Detail = "Reload this page, and enter a token as the password. The user name may be anything."
		}
		return p.show(c, problem.Status, "error", v)
	}
}

// absent calls an asset that is not there the client's mistake: an App may hold
// every other missing file for its own.
func absent(next web.Handler) web.Handler {
	return func(c *web.Context) error {
		err := next(c)
		if errors.Is(err, fs.ErrNotExist) {
			return web.NewProblem(http.StatusNotFound, "", err)
		}
		return err
	}
}

// prefersHTML reports whether a request gives text/html a greater weight than JSON. Browsers
// do, in every navigation; "*/*" alone, which other clients send, asks for no page.
func prefersHTML(c *web.Context) bool {
	return c.Accepts("application/problem+json", "application/json", "text/html") == "text/html"
}

// noDocument is the answer for what is not there; another space's document is not.
func noDocument(cause error) error {
	return web.NewProblem(http.StatusNotFound, "This document does not exist here. It may belong to another space.", cause)
}

func noReport(cause error) error {
	return web.NewProblem(http.StatusNotFound, "This report does not exist here.", cause)
}

// known gives the errors of the library their status.
func known(err error) error {
	if errors.Is(err, record.ErrNotFound) {
		return noDocument(err)
	}
	if wrong, ok := errors.AsType[*record.RequestError](err); ok {
		return web.NewProblem(http.StatusBadRequest, wrong.Error(), err)
	}
	return err
}
