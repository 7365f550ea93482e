package ui

import (
	"errors"
	"io/fs"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"example.com/quire/internal/record"
	"example.com/quire/web"
)

// failures answers errors by a page where the client prefers one. Scripts and
// commands get the App's own answer.
func (p *pages) failures(next web.Handler) web.Handler {
	return func(c *web.Context) error {
		err := next(c)
		if err == nil || errors.Is(err, web.ErrNotModified) || c.Written() > 0 || !prefersHTML(c.Request().Header["Accept"]) {
			return err
		}
		problem := web.AsProblem(err)
		if problem.Status >= http.StatusInternalServerError {
			p.o.Log.ErrorContext(c.Context(), "page failed", "err", err, "request", c.RequestID())
		}
		v := &failureView{Title: problem.Title, Status: problem.Status, Detail: problem.Detail, RequestID: c.RequestID()}
		if v.Title == "" {
			v.Title = http.StatusText(problem.Status)
		}
		c.Writer().Header().Add("Vary", "Accept")
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

// prefersHTML reports whether Accept names text/html with a greater weight than
// it gives JSON (RFC 9110, section 12.5.1). Browsers do, in every navigation;
// "*/*" alone, which other clients send, asks for no page.
func prefersHTML(accept []string) bool {
	var page, data float64
	stars := 3 // in the range that gave JSON its weight: the most specific counts
	for part := range strings.SplitSeq(strings.Join(accept, ","), ",") {
		kind, params, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		q := 1.0
		if text, ok := params["q"]; ok {
			if q, err = strconv.ParseFloat(text, 64); err != nil {
				continue
			}
		}
		switch kind {
		case "text/html":
			page = q
		case "application/json", "application/problem+json", "application/*", "*/*":
			if n := strings.Count(kind, "*"); n < stars || n == stars && q > data {
				stars, data = n, q
			}
		}
	}
	return page > data
}

// noDocument is the answer for what is not there; another space's document is not.
func noDocument(cause error) error {
	return web.NewProblem(http.StatusNotFound, "There is no document of that name here. It may belong to another space.", cause)
}

func noReport(cause error) error {
	return web.NewProblem(http.StatusNotFound, "There is no report of that name here.", cause)
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
