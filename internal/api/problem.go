package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"reflect"

	"example.com/quire/internal/record"
	"example.com/quire/internal/strictjson"
	"example.com/quire/pdf/htmlpdf"
	"example.com/quire/web"
)

// problemType is the stable URI of a kind of problem.
func problemType(kind string) string { return "urn:quire:problem:" + kind }

// problemTitle says in a few words what a kind of problem is, the same for each (RFC 9457,
// section 3.1.4).
func problemTitle(kind string) string {
	switch kind {
	case "browser":
		return "The browser failed"
	case "busy":
		return "The server is busy"
	case "cross-site":
		return "Request from another site"
	case "damaged":
		return "The stored bytes are damaged"
	case "data":
		return "The data does not match the template"
	case "input":
		return "The file cannot be processed"
	case "limit":
		return "A limit is exceeded"
	case "not-found":
		return "Not found"
	case "page":
		return "The page could not be read"
	case "request":
		return "The request is not valid"
	case "source":
		return "A source failed"
	case "storage":
		return "The storage failed"
	case "storage-busy":
		return "The storage is busy"
	case "storage-full":
		return "The storage is full"
	case "template":
		return "The template has errors"
	case "timeout":
		return "The time limit is exceeded"
	case "tool":
		return "A program is not installed"
	case "unauthorized":
		return "A token is needed"
	}
	return ""
}

// Problem converts an error of the domain, or of binding a request, into an RFC 9457 response.
// Other errors are reported by their status alone. It is made for web.Options.Problem, so that the
// problems of package web have their types too.
//
// Members in addition to RFC 9457: field, got, want, nearest, line, column, path, file, code; and
// problems, the complete list, if there are several.
func Problem(err error) *web.Problem {
	if errors.Is(err, record.ErrOverload) || errors.Is(err, web.ErrBusy) || errors.Is(err, htmlpdf.ErrBusy) {
		return problemOf("busy", http.StatusServiceUnavailable, "the server has more work than it can do in time; try again", err)
	}
	if p, ok := errors.AsType[*web.Problem](err); ok {
		return typed(p)
	}
	if e, ok := errors.AsType[*web.BindError](err); ok {
		return bindProblem(e)
	}
	if e, ok := errors.AsType[*record.RequestError](err); ok {
		m := members{"field": e.Field, "got": e.Got, "want": e.Want, "nearest": e.Nearest}
		if at, ok := errors.AsType[*placedError](err); ok {
			m["line"], m["column"] = at.line, at.column
		}
		return problem("request", http.StatusBadRequest, e, m)
	}
	if e, ok := errors.AsType[*record.DataError](err); ok {
		return listed("data", http.StatusBadRequest, e, e.All())
	}
	if e, ok := errors.AsType[*record.TemplateError](err); ok {
		return listed("template", http.StatusBadRequest, e, e.All())
	}
	if e, ok := errors.AsType[*record.LimitError](err); ok {
		m := placed(e.At)
		m["limit"], m["limited"] = e.Limit, e.Name
		return problem("limit", http.StatusRequestEntityTooLarge, e, m)
	}
	if e, ok := errors.AsType[*record.SourceError](err); ok {
		return problem("source", http.StatusBadGateway, e, members{"source": e.Source, "field": "sources." + e.Key, "reason": e.Reason})
	}
	if e, ok := errors.AsType[*http.MaxBytesError](err); ok {
		p := problem("limit", http.StatusRequestEntityTooLarge, err, members{"limited": "body bytes", "limit": e.Limit})
		p.Detail = fmt.Sprintf("the body is larger than %d bytes", e.Limit)
		return p
	}
	if e, ok := errors.AsType[*web.UploadError](err); ok {
		p := problem("limit", http.StatusRequestEntityTooLarge, err, members{"limited": "part " + e.Rule, "limit": e.Limit})
		p.Detail = fmt.Sprintf("the part %q is larger than %d bytes", e.Part, e.Limit)
		if errors.Is(err, web.ErrTooManyParts) {
			p.Detail = fmt.Sprintf("the form has more than %d parts", e.Limit)
		}
		return p
	}
	if e, ok := errors.AsType[*missingError](err); ok {
		m := members{}
		if named, ok := errors.AsType[*record.MissingError](err); ok {
			m["nearest"] = named.Nearest
		}
		return problem("not-found", http.StatusNotFound, e, m)
	}
	if p := conversionProblem(err); p != nil {
		return p
	}
	switch {
	case errors.Is(err, record.ErrNotFound):
		return problemOf("not-found", http.StatusNotFound, notFoundDetail, nil)
	case errors.Is(err, record.ErrBusy):
		return problemOf("storage-busy", http.StatusServiceUnavailable, "another process has locked the server's storage; nothing was stored; try again", err)
	case errors.Is(err, record.ErrNoSpace):
		return problemOf("storage-full", http.StatusInsufficientStorage, "the server's storage is full; nothing was stored", err)
	case errors.Is(err, record.ErrDamaged):
		return problemOf("damaged", http.StatusInternalServerError, "the stored bytes are damaged, so they are not served", err)
	case errors.Is(err, context.DeadlineExceeded):
		return problemOf("timeout", http.StatusServiceUnavailable, "making the document took longer than this server allows", err)
	case errors.Is(err, record.ErrUnavailable), errors.Is(err, fs.ErrNotExist):
		// A file of the server's own that is gone would be 404 to web, which speaks of what the
		// client asked for.
		return problemOf("storage", http.StatusServiceUnavailable, "the server's storage cannot be used; nothing was stored; try again", err)
	}
	return web.AsProblem(err)
}

// MethodNotAllowed answers a method that no route of the path takes, and says which are.
func MethodNotAllowed(c *web.Context) error {
	allowed := c.Writer().Header().Get("Allow")
	detail := fmt.Sprintf("%s is not allowed for this path; allowed: %s", c.Request().Method, allowed)
	p := web.NewProblem(http.StatusMethodNotAllowed, detail, web.ErrMethodNotAllowed)
	p.Ext = map[string]any{"got": c.Request().Method, "want": allowed}
	return p
}

// typed gives a problem of web's own the type that the same mistake has elsewhere: a request
// that took too long, came from another site, or is malformed. What its status says whole keeps
// about:blank.
func typed(p *web.Problem) *web.Problem {
	p = web.AsProblem(p)
	if p.Type != "" {
		return p
	}
	kind := ""
	switch {
	case errors.Is(p, context.DeadlineExceeded):
		kind = "timeout"
	case p.Status == http.StatusForbidden:
		kind = "cross-site"
	case p.Status == http.StatusBadRequest:
		kind = "request"
	default:
		return p
	}
	p.Type, p.Title = problemType(kind), problemTitle(kind)
	return p
}

// notFoundDetail is the same for what does not exist and for what another space has.
const notFoundDetail = "there is no such thing in this space"

type members map[string]any

func problem(kind string, status int, err error, m members) *web.Problem {
	p := problemOf(kind, status, err.Error(), err)
	p.Ext = map[string]any{}
	for k, v := range m {
		if !reflect.ValueOf(v).IsZero() {
			p.Ext[k] = v
		}
	}
	return p
}

func problemOf(kind string, status int, detail string, cause error) *web.Problem {
	p := web.NewProblem(status, detail, cause)
	p.Type, p.Title = problemType(kind), problemTitle(kind)
	return p
}

// placed is the place of one problem, as members.
func placed(p record.Problem) members {
	return members{
		"code": p.Code, "file": p.File, "line": p.Line, "column": p.Column, "node": p.Node, "path": p.Path,
		"got": p.Got, "want": p.Want, "suggestion": p.Suggestion, "clause": p.Clause, "source": p.Source,
	}
}

// listed answers with the first problem in the members and all of them in problems.
func listed(kind string, status int, err error, all []record.Problem) *web.Problem {
	p := problem(kind, status, err, placed(all[0]))
	p.Detail = all[0].String()
	if len(all) > 1 {
		p.Ext["problems"] = all
	}
	return p
}

// bindProblem answers in the words of web, whose cause is not for the client. A field is named
// as the domain names it: sources.status.source, not /sources/status/source.
func bindProblem(e *web.BindError) *web.Problem {
	p := web.AsProblem(e)
	kind, want := "request", e.Want
	switch e.Kind {
	case web.BindDepth, web.BindNodes:
		kind, want, p.Status = "limit", "", http.StatusRequestEntityTooLarge
	case web.BindUTF8:
		want = ""
	}
	field := cmp.Or(e.Name, strictjson.Path(e.Pointer))
	out := problem(kind, p.Status, e, members{
		"field": field, "got": e.Got, "want": want, "nearest": e.Near, "line": e.Line, "column": e.Column,
	})
	out.Detail = p.Detail
	return out
}
