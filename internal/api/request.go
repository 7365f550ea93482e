package api

import (
	"encoding/json"
	"errors"
	"net/http"
	"runtime"
	"time"

	"example.com/quire/internal/record"
	"example.com/quire/web"
)

func (l *Limits) fill() {
	def := func(v *int64, d int64) {
		if *v <= 0 {
			*v = d
		}
	}
	def(&l.Body, 10<<20)
	def(&l.File, 64<<20)
	def(&l.PublicBytes, 64<<20)
	if l.Render <= 0 {
		l.Render = 30 * time.Second
	}
	if l.Running <= 0 {
		l.Running = 4 * runtime.GOMAXPROCS(0)
	}
}

// gate bounds how many documents are made at the same time: beyond it a client is told to
// come back rather than everybody waiting.
func (l *Limits) gate() *web.Gate { return web.NewGate(l.Running, 2*l.Running) }

// wish is the body of POST /v1/render and POST /v1/documents.
type wish struct {
	Template json.RawMessage       `json:"template"` // a name, or {"source": TEXT}
	Report   string                `json:"report"`
	Data     json.RawMessage       `json:"data"`
	Sources  map[string]sourceWish `json:"sources"`
	Options  record.Options        `json:"options"`
	Time     *time.Time            `json:"time"`
}

type sourceWish struct {
	Source     string            `json:"source"`
	Parameters record.Parameters `json:"parameters"`
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
	var w wish
	if err := c.BindJSON(&w); err != nil {
		return nil, err
	}
	body, err := c.Body() // kept by BindJSON
	if err != nil {
		return nil, err
	}
	space, _ := SpaceOf(c)
	r := &asked{body: body, Request: record.Request{
		Space: space, Report: w.Report, Data: w.Data, Options: w.Options,
	}}
	if w.Time != nil {
		r.Time = *w.Time
	}
	for key, s := range w.Sources {
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
			return nil, r.place(err, "template")
		}
	}
	return r, nil
}

func inline(raw []byte) (*record.Template, error) {
	t := inlineTemplate{Name: "inline"}
	if raw[0] != '{' || json.Unmarshal(raw, &t) != nil || t.Source == "" {
		return nil, &record.RequestError{Field: "template", Got: clip(raw), Want: `a template's name, or {"source": "the template's text"}`}
	}
	main := "template.yaml"
	return record.NewTemplate(t.Name, main, map[string][]byte{main: []byte(t.Source)})
}

func clip(b []byte) string {
	if len(b) > 40 {
		return string(b[:40]) + "..."
	}
	return string(b)
}

// place moves the places of a data error, which count from the beginning of the data member,
// to where they stand in the body as it was sent.
func (r *asked) place(err error, member string) error {
	e, ok := errors.AsType[*record.DataError](err)
	if !ok {
		return err
	}
	line, column, exact := record.Locate(r.body, member)
	if !exact {
		return err
	}
	moved := &record.DataError{Problem: shift(e.Problem, line, column), More: make([]record.Problem, len(e.More))}
	for i, p := range e.More {
		moved.More[i] = shift(p, line, column)
	}
	return moved
}

// shift moves a place by that of the text it counts from. The data that a source gave is not
// in the body, so its places stay.
func shift(p record.Problem, line, column int) record.Problem {
	if p.Line == 0 || p.Source != "" {
		return p
	}
	if p.Line == 1 {
		p.Column += column - 1
	}
	p.Line += line - 1
	return p
}

// hashParam reads a hash from the path. What is no hash names nothing that exists.
func hashParam(c *web.Context, name string) (record.Hash, error) {
	h, err := record.ParseHash(c.Param(name))
	if err != nil {
		return h, &web.Problem{Type: problemType("not-found"), Status: http.StatusNotFound, Detail: notFoundDetail}
	}
	return h, nil
}
