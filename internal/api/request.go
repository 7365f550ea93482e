package api

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"example.com/quire/internal/nearest"
	"example.com/quire/internal/record"
	"example.com/quire/internal/strictjson"
	"example.com/quire/web"
)

func (l *Limits) fill() {
	l.Body = cmp.Or(max(l.Body, 0), record.DataBytes+2<<20)
	l.File = cmp.Or(max(l.File, 0), 64<<20)
	l.Bodies = cmp.Or(max(l.Bodies, 0), 128<<20)
	l.PublicBytes = cmp.Or(max(l.PublicBytes, 0), 64<<20)
	l.Render = cmp.Or(max(l.Render, 0), 30*time.Second)
	l.Convert = cmp.Or(max(l.Convert, 0), 30*time.Second)
	l.OCR = cmp.Or(max(l.OCR, 0), 2*time.Minute)
	l.Converting = cmp.Or(max(l.Converting, 0), 2+16)
	l.Pages = cmp.Or(max(l.Pages, 0), 64<<20)
}

// payload is the body of POST /v1/render and POST /v1/documents.
type payload struct {
	Template json.RawMessage          `json:"template" doc:"The name of a template, or the template itself: an object with its text as source and, optionally, its name"`
	Report   string                   `json:"report" doc:"A report of the configuration. It sets template and sources, and the new document becomes its latest"`
	Data     json.RawMessage          `json:"data" doc:"An object with the data that the template declares"`
	Sources  map[string]sourceRequest `json:"sources" doc:"Sources to read. The answer of each source becomes the field of the data that its key names"`
	Options  record.Options           `json:"options"`
	Time     *string                  `json:"time" doc:"The document's time (RFC 3339)" example:"2026-01-31T18:30:00Z"`
}

type sourceRequest struct {
	Source     string            `json:"source" doc:"A source of the configuration"`
	Parameters record.Parameters `json:"parameters"`
}

// inCharacters makes the column of a binding error, which counts bytes, count code points as
// all other columns do.
func inCharacters(c *web.Context, err error) error {
	e, ok := errors.AsType[*web.BindError](err)
	body, bodyErr := c.Body()
	if !ok || bodyErr != nil || e.Line == 0 {
		return err
	}
	for range e.Line - 1 {
		_, body, _ = bytes.Cut(body, []byte("\n"))
	}
	moved := *e
	moved.Column = utf8.RuneCount(body[:min(e.Column-1, len(body))]) + 1
	return &moved
}

// inlineTemplate is a template in the request itself; it has no assets.
type inlineTemplate struct {
	Name   string `json:"name"`
	Source string `json:"source"` // YAML or JSON of the template language
}

// asked is a request as the domain takes it, with what is needed to place errors in the body.
type asked struct {
	record.Request
	body []byte
}

// read binds the body of a making request.
func read(c *web.Context) (*asked, error) {
	var w payload
	if err := c.BindJSON(&w); err != nil {
		return nil, inCharacters(c, err)
	}
	body, err := c.Body() // kept by BindJSON
	if err != nil {
		return nil, err
	}
	space, _ := SpaceOf(c)
	r := &asked{body: body, Request: record.Request{
		Space: space, Report: w.Report, Data: w.Data, Origin: record.Origin{Text: body, Pointer: "/data"}, Options: w.Options,
	}}
	if w.Time != nil {
		if err := r.Time.UnmarshalText([]byte(*w.Time)); err != nil {
			return nil, r.place(&record.RequestError{
				Field: "time", Got: clip(*w.Time), Want: "a time such as 2026-01-31T18:30:00Z (RFC 3339)",
			})
		}
	}
	for _, key := range slices.Sorted(maps.Keys(w.Sources)) {
		s := w.Sources[key]
		r.Sources = append(r.Sources, record.SourceCall{Key: key, Source: s.Source, Parameters: s.Parameters})
	}
	switch {
	case len(w.Template) == 0:
	case w.Template[0] == '"':
		if err := json.Unmarshal(w.Template, &r.Template); err != nil {
			return nil, err
		}
	default:
		if r.Inline, err = inline(w.Template); err != nil {
			return nil, r.place(err)
		}
	}
	return r, nil
}

// inline reads a template that stands in the request. Its members are checked here, because to
// the binding of the body it may be anything.
func inline(raw []byte) (*record.Template, error) {
	var members map[string]json.RawMessage
	if raw[0] != '{' || json.Unmarshal(raw, &members) != nil {
		return nil, &record.RequestError{Field: "template", Got: clip(string(raw)), Want: `a template's name, or {"source": "the template's text"}`}
	}
	t := inlineTemplate{Name: "inline"}
	known := map[string]*string{"name": &t.Name, "source": &t.Source}
	for _, k := range slices.Sorted(maps.Keys(members)) {
		into, ok := known[k]
		if !ok {
			return nil, &record.RequestError{
				Field: "template." + k, Got: "an unknown field", Want: "name or source",
				Nearest: nearest.Name(k, slices.Sorted(maps.Keys(known))),
			}
		}
		if v := members[k]; v[0] != '"' || json.Unmarshal(v, into) != nil {
			return nil, &record.RequestError{Field: "template." + k, Got: clip(string(v)), Want: "a string"}
		}
	}
	if t.Source == "" {
		return nil, &record.RequestError{Field: "template.source", Got: "nothing", Want: "the template's text"}
	}
	if err := record.CheckName("template.name", t.Name); err != nil {
		return nil, err
	}
	main := "template.yaml"
	return record.NewTemplate(t.Name, main, map[string][]byte{main: []byte(t.Source)})
}

// clip keeps what a client sent from filling answers.
func clip(s string) string {
	if len(s) > 40 {
		return strings.ToValidUTF8(s[:40], "") + "..."
	}
	return s
}

// placedError is an error in a field of the request's body, with the field's place.
type placedError struct {
	*record.RequestError
	line, column int
}

func (e *placedError) Unwrap() error { return e.RequestError }

// missingError says that what a request names is not there. Unlike other answers of 404 it says
// what: the text holds nothing but what was asked for.
type missingError struct{ err error }

func (e *missingError) Error() string { return e.err.Error() }
func (e *missingError) Unwrap() error { return e.err }

// place tells where in the body, as it was sent, the field of an error stands.
func (r *asked) place(err error) error {
	if e, ok := errors.AsType[*record.RequestError](err); ok {
		if at := strictjson.Locate(r.body, strictjson.Pointer(e.Field))[0]; at.Exact {
			return &placedError{e, at.Line, at.Column}
		}
		return err
	}
	if errors.Is(err, record.ErrNotFound) {
		return &missingError{err}
	}
	return refusal(err)
}

// refusal makes being overloaded a refusal of web's too, which is no fault: a request that came
// past admit may find no turn all the same.
func refusal(err error) error {
	if errors.Is(err, record.ErrOverload) {
		return fmt.Errorf("%w (%w)", err, web.ErrBusy)
	}
	return err
}

// hashParam reads a hash from the path. What is no hash names nothing that exists.
func hashParam(c *web.Context, name string) (record.Hash, error) {
	h, err := record.ParseHash(c.Param(name))
	if err != nil {
		return h, problemOf("not-found", http.StatusNotFound, notFoundDetail, nil)
	}
	return h, nil
}
