package api

import (
	"context"
	"errors"
	"net/http"

	"example.com/quire/internal/record"
	"example.com/quire/web"
)

// problemType is the stable URI of a kind of problem.
func problemType(name string) string { return "urn:quire:problem:" + name }

// Problem turns an error of the domain, or of binding a request, into the answer of RFC 9457.
// Other errors pass unchanged: web answers them by their status alone.
//
// Members beside RFC 9457's: field, got, want, nearest, line, column, path, file, code; and
// problems, the whole list, when there are several.
func Problem(err error) error {
	if p, ok := errors.AsType[*web.Problem](err); ok {
		return p
	}
	if e, ok := errors.AsType[*web.BindError](err); ok {
		return bindProblem(e)
	}
	if e, ok := errors.AsType[*record.RequestError](err); ok {
		return problem("request", http.StatusBadRequest, e, members{"field": e.Field, "got": e.Got, "want": e.Want, "nearest": e.Nearest})
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
	switch {
	case errors.Is(err, record.ErrNotFound):
		return &web.Problem{Type: problemType("not-found"), Status: http.StatusNotFound, Detail: notFoundDetail}
	case errors.Is(err, record.ErrNoSpace):
		return problemOf("storage-full", http.StatusInsufficientStorage, "the server's storage is full; nothing was kept", err)
	case errors.Is(err, record.ErrDamaged):
		return problemOf("damaged", http.StatusInternalServerError, "the stored bytes are damaged; they are not served", err)
	case errors.Is(err, context.DeadlineExceeded):
		return problemOf("timeout", http.StatusServiceUnavailable, "making the document took longer than this server allows", err)
	}
	return err
}

// notFoundDetail is the same for what does not exist and for what another space has.
const notFoundDetail = "there is no such thing in this space"

type members map[string]any

func problem(kind string, status int, err error, m members) *web.Problem {
	p := problemOf(kind, status, err.Error(), err)
	p.Ext = map[string]any{}
	for k, v := range m {
		if v != "" && v != 0 {
			p.Ext[k] = v
		}
	}
	return p
}

func problemOf(kind string, status int, detail string, cause error) *web.Problem {
	p := web.NewProblem(status, detail, cause)
	p.Type = problemType(kind)
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

func bindProblem(e *web.BindError) *web.Problem {
	status := http.StatusBadRequest
	if e.Kind == web.BindMedia {
		status = http.StatusUnsupportedMediaType
	}
	field := e.Name
	if field == "" {
		field = e.Pointer
	}
	return problem("request", status, e, members{
		"field": field, "got": e.Got, "want": e.Want, "nearest": e.Near, "line": e.Line, "column": e.Column,
	})
}
