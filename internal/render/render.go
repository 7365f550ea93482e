// Package render adapts the document engine to package record. Templates with their files become
// plans, plans and frozen data become files, and diagnostics of the engine become errors of
// package record.
package render

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"runtime"
	"slices"
	"strings"

	"example.com/quire/internal/nearest"
	"example.com/quire/internal/record"
	"example.com/quire/internal/strictjson"
	"example.com/quire/pdf"
	"example.com/quire/pdf/sign"
	"example.com/quire/pdf/standard"
	"example.com/quire/pdf/template"
)

// Config configures a Renderer. The zero value is usable.
type Config struct {
	// Limits bounds templates, data and documents; zero fields are the engine's
	// defaults.
	Limits pdf.Limits
	// CacheBytes bounds the engine's cache of compiled templates, fonts and words: 0 = 64 MiB, -1 =
	// no cache.
	CacheBytes int64
	// Running is the number of documents that are rendered concurrently: 0 = GOMAXPROCS + 1,
	// because rendering needs a processor, and other work should not queue behind it. Other
	// requests wait, the spaces in turn, or get record.ErrOverload if they would wait too long.
	Running int
	// Signers returns the keys by which a space may sign, by their names. It is called for
	// templates that ask for a signature; nil: there are none.
	Signers func(record.Space) (map[string]*sign.Identity, error)
}

// Renderer renders with the document engine. It is safe for concurrent use. It
// fills record.Engine.
type Renderer struct {
	engine  *pdf.Engine
	queue   *queue
	signers func(record.Space) (map[string]*sign.Identity, error)
}

// New returns a Renderer.
func New(c Config) (*Renderer, error) {
	if c.Running <= 0 {
		c.Running = runtime.GOMAXPROCS(0) + 1
	}
	engine, err := pdf.New(pdf.Config{Limits: c.Limits, Cache: pdf.CacheLimits{Bytes: c.CacheBytes, Off: c.CacheBytes < 0}})
	if err != nil {
		return nil, fmt.Errorf("render: %w", err)
	}
	if c.Signers == nil {
		c.Signers = func(record.Space) (map[string]*sign.Identity, error) { return nil, nil }
	}
	return &Renderer{engine: engine, queue: newQueue(c.Running), signers: c.Signers}, nil
}

// Overloaded reports whether Render would return record.ErrOverload to a space now, so that a
// request can be refused before it is sent or read.
func (r *Renderer) Overloaded(space record.Space) bool { return r.queue.full(space) }

// Version implements record.Engine.
func (r *Renderer) Version() string { return r.engine.Version() }

// Check finds the problems of a template that do not depend on data: *record.TemplateError lists
// all of them. Without problems it returns warnings.
func (r *Renderer) Check(ctx context.Context, t *record.Template) ([]record.Problem, error) {
	p, err := r.plan(ctx, t)
	if err != nil {
		return nil, err
	}
	found, err := r.engine.CheckTemplate(ctx, p)
	if err != nil {
		return nil, translate(err)
	}
	return problems(found), nil
}

func problems(all []pdf.Diagnostic) (out []record.Problem) {
	for _, d := range all {
		out = append(out, problem(d))
	}
	return out
}

// DocumentIDs implements record.Engine. An id counts when what follows its last colon is a hash.
func (r *Renderer) DocumentIDs(file io.Reader) ([]record.Hash, error) {
	texts, err := pdf.DocumentIDs(file)
	var ids []record.Hash
	for _, text := range texts {
		if id, err := record.ParseHash(text[strings.LastIndexByte(text, ':')+1:]); err == nil {
			ids = append(ids, id)
		}
	}
	return ids, err
}

// dataName marks places in the frozen data, which nobody sent.
const dataName = "frozen data"

// Render implements record.Engine.
func (r *Renderer) Render(ctx context.Context, w io.Writer, in record.Rendering) (*record.Rendered, error) {
	o := pdf.RenderOptions{Time: in.Time, Signers: keyring{in.Space, r.signers}, Signature: in.Signature, Draft: in.Draft}
	if !in.Document.IsZero() {
		o.DocumentID = "sha256:" + in.Document.String()
	}
	for i, name := range in.Options.Standards {
		id, err := standard.Parse(name)
		if err != nil {
			return nil, &record.RequestError{
				Field: fmt.Sprintf("options.standards[%d]", i), Got: fmt.Sprintf("%q", name),
				Want: "one of " + strings.Join(standard.Names(), ", "), Nearest: nearest.Name(name, standard.Names()),
			}
		}
		o.Standards = append(o.Standards, id)
	}
	leave, err := r.queue.enter(ctx, in.Space)
	if err != nil {
		return nil, fmt.Errorf("render: %w", err)
	}
	defer leave()
	plan, err := r.plan(ctx, in.Template)
	if err != nil {
		return nil, err
	}
	res, err := r.engine.Render(ctx, w, plan, template.NamedJSON(dataName, in.Data), o)
	if err != nil {
		return nil, translate(err)
	}
	out := &record.Rendered{Unique: !res.Deterministic && res.Signature == nil, Signature: res.Signature, Pages: res.Pages, Title: res.Title, Name: res.FileName, Size: res.Size, Hash: res.SHA256}
	for p := range res.PageBytes() {
		out.PageBytes = append(out.PageBytes, record.PageBytes(p))
	}
	out.Warnings = problems(res.Warnings)
	return out, nil
}

// keyring has the signers of a space.
type keyring struct {
	space record.Space
	of    func(record.Space) (map[string]*sign.Identity, error)
}

// Identity implements pdf.Signers.
func (k keyring) Identity(_ context.Context, name string) (*sign.Identity, error) {
	all, err := k.of(k.space)
	if err != nil {
		return nil, err
	}
	if id := all[name]; id != nil {
		return id, nil
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("the space %s has no signers; docs/configuration.md says how to add one", k.space)
	}
	return nil, fmt.Errorf("the space %s has no such signer; it has %s", k.space, strings.Join(slices.Sorted(maps.Keys(all)), ", "))
}

// Signer implements record.Engine.
func (r *Renderer) Signer(ctx context.Context, space record.Space, t *record.Template) (string, error) {
	leave, err := r.queue.enter(ctx, space)
	if err != nil {
		return "", fmt.Errorf("render: %w", err)
	}
	defer leave()
	plan, err := r.plan(ctx, t)
	if err != nil {
		return "", err
	}
	return plan.Signer(), nil
}

// plan returns the compiled template, which the engine keeps.
func (r *Renderer) plan(ctx context.Context, t *record.Template) (*template.Plan, error) {
	return r.compile(ctx, t.Main, t.Files[t.Main], hashed{files(t.Files), t})
}

func (r *Renderer) compile(ctx context.Context, main string, text []byte, fsys fs.FS) (*template.Plan, error) {
	p, err := r.engine.Compile(ctx, pdf.Source{File: main, Text: text, Files: fsys})
	if err != nil {
		return nil, translate(err)
	}
	return p, nil
}

// hashed is the files of a template, whose hashes are known.
type hashed struct {
	files
	t *record.Template
}

// Sum returns the hash of a file to the engine.
func (h hashed) Sum(name string) ([sha256.Size]byte, bool) { return h.t.Sum(name) }

// Load reads a template and the files that it refers to from fsys; main is the file to compile.
// Other files there are not part of the template. Errors are those of Check, and fs.ErrNotExist for
// main.
func (r *Renderer) Load(ctx context.Context, fsys fs.FS, name, main string) (*record.Template, error) {
	src, err := fs.ReadFile(fsys, main)
	if err != nil {
		return nil, fmt.Errorf("template %s: %w", name, err)
	}
	p, err := r.compile(ctx, main, src, fsys)
	if err != nil {
		return nil, err
	}
	all := map[string][]byte{main: src}
	for _, file := range p.Files() {
		if all[file], err = fs.ReadFile(fsys, file); err != nil {
			return nil, fmt.Errorf("template %s: %w", name, err)
		}
	}
	return record.NewTemplate(name, main, all)
}

// translate turns the engine's errors into those of package record.
func translate(err error) error {
	if over, ok := errors.AsType[*pdf.LimitError](err); ok {
		return &record.LimitError{Name: over.Name, Limit: over.Limit, Got: over.Value, At: record.Problem{Node: over.Place}}
	}
	wrong, ok := errors.AsType[*pdf.DiagnosticError](err)
	if !ok {
		return err
	}
	var ofData, other []record.Problem
	for _, d := range wrong.Diagnostics {
		if d.Severity != pdf.SeverityError {
			continue
		}
		p := problem(d)
		switch d.Kind {
		case pdf.KindLimit:
			return &record.LimitError{Name: d.Code, At: p}
		case pdf.KindData:
			ofData = append(ofData, p)
		default:
			other = append(other, p)
		}
	}
	if n := wrong.Omitted; n > 0 {
		more := record.Problem{Message: fmt.Sprintf("and %d more", n)}
		if len(ofData) > 0 {
			ofData = append(ofData, more)
		} else {
			other = append(other, more)
		}
	}
	if len(other) > 0 || len(ofData) == 0 {
		all := slices.Concat(other, ofData)
		if len(all) == 0 {
			return err
		}
		return &record.TemplateError{Problem: all[0], More: all[1:]}
	}
	return &record.DataError{Problem: ofData[0], More: ofData[1:]}
}

// problem turns a diagnostic into a problem. The place of one about a value in
// the data is that value's path: record knows where it stands in the text as
// sent. Where the template uses the value goes into the message.
func problem(d pdf.Diagnostic) record.Problem {
	p := record.Problem{
		Code: d.Code, File: d.File, Line: d.Line, Column: d.Col, Node: d.Path,
		Message: d.Message, Suggestion: d.Suggestion, Clause: d.Clause,
	}
	if d.Page > 0 {
		p.Message += fmt.Sprintf(" (page %d)", d.Page)
	}
	if d.Kind != pdf.KindData || d.File != dataName && d.DataPath == "" {
		return p
	}
	if d.File != dataName {
		p.Node = ""
		if d.Line > 0 {
			p.Message += fmt.Sprintf(" (used at %s:%d:%d)", d.File, d.Line, d.Col)
		}
	}
	p.File, p.Line, p.Column, p.Path, p.Pointer = "", 0, 0, d.DataPath, strictjson.Pointer(d.DataPath)
	return p
}
