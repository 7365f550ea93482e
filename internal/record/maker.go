package record

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Parts are what a Maker works with. Renderer and Now are needed by all of its
// methods; Make and Remake need Blobs and Documents too. The others may be nil:
// then there are no sources, no templates by name or no reports.
type Parts struct {
	Renderer  Renderer
	Blobs     Blobs
	Documents Documents
	Collector Collector
	Templates Templates
	Reports   Reports
	// Now is the clock: the time of documents whose request brings none, and the
	// measure of stages. Rendering never sees it.
	Now func() time.Time
}

// Maker is the way of a document. It is safe for concurrent use and keeps no
// state of its own.
type Maker struct{ p Parts }

// NewMaker returns a Maker over its parts.
func NewMaker(p Parts) (*Maker, error) {
	if p.Renderer == nil {
		return nil, errors.New("maker: no Renderer")
	}
	if p.Now == nil {
		return nil, errors.New("maker: no Now")
	}
	if (p.Blobs == nil) != (p.Documents == nil) {
		return nil, errors.New("maker: Blobs and Documents come together")
	}
	return &Maker{p: p}, nil
}

// Request asks for a document.
type Request struct {
	Space Space
	// Report files the document under this report and moves its latest. What the
	// request leaves open is taken from the report: template, sources (with
	// parameters of equal keys replaced) and options.
	Report   string
	Template string    // name of a template, or
	Inline   *Template // the template itself
	// Data is a JSON object as sent, nil for none; Origin is where that was, for errors.
	Data    []byte
	Origin  Origin
	Sources []SourceCall
	Options Options
	// Time is the document's time. Zero: Make takes the clock's, and Render makes
	// a file without a date.
	Time time.Time
}

// Made is a document that is kept.
type Made struct {
	Document *Document
	Receipt  []byte  // as stored
	Stages   []Stage // of this call; the receipt has those before save
	Warnings []Problem
	// Created is false when the document was there already: the same inputs are
	// the same document. Nothing was rendered or written, save that it was filed
	// under the request's report and that stored bytes were mended.
	Created bool
}

// Make makes a document and keeps it: collect, freeze, render into a blob,
// commit template, snapshot and file, save. When it returns without an error,
// document, receipt and every byte needed to make it again are durable. When it
// fails, no document is listed and no part of the file stays. Stored bytes that
// are damaged are written anew; ErrDamaged says that a document is there whose
// file is not, and that this engine cannot make that file.
//
// Errors: *RequestError, *DataError, *TemplateError, *LimitError, *SourceError
// (a required source failed), ErrNotFound (template, report), ErrNoSpace, and
// whatever the parts return.
func (m *Maker) Make(ctx context.Context, r Request) (*Made, error) {
	if m.p.Documents == nil {
		return nil, errors.New("make: this Maker keeps nothing")
	}
	from := FromRequest
	if r.Time.IsZero() {
		r.Time, from = m.p.Now(), FromClock
	}
	w := watch{now: m.p.Now}
	j, err := m.prepare(ctx, r, &w)
	if err != nil {
		return nil, err
	}
	if kept, err := m.p.Documents.Document(ctx, r.Space, j.id); err == nil {
		return m.again(ctx, kept, j, &w)
	} else if !errors.Is(err, ErrNotFound) {
		return nil, err
	}

	blob, err := m.p.Blobs.Create(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = blob.Abort() }() // does nothing once committed; on failure the first error counts
	rendered, err := m.render(ctx, blob, j)
	if err != nil {
		return nil, err
	}
	w.stage(StageRender)
	if err := m.keepInputs(ctx, j); err != nil {
		return nil, err
	}
	content, size, err := blob.Commit()
	if err != nil {
		return nil, err
	}
	w.stage(StageCommit)

	d := &Document{
		Space: r.Space, ID: j.id, Content: content, Size: size, Pages: rendered.Pages, Title: shortTitle(rendered.Title),
		Template: j.template.Ref(), Snapshot: j.snapshot.Hash(), Options: j.options,
		Engine: rendered.Engine, Time: j.snapshot.Time(), TimeFrom: from, Made: cutTime(m.p.Now()),
	}
	receipt, err := j.receipt(d, w.stages)
	if err != nil {
		return nil, err
	}
	kept, created, err := m.p.Documents.Save(ctx, d, receipt, r.Report)
	if err != nil {
		return nil, err
	}
	if !created { // somebody made the same document meanwhile
		if receipt, err = m.p.Documents.Receipt(ctx, r.Space, j.id); err != nil {
			return nil, err
		}
	}
	w.stage(StageSave)
	return &Made{Document: kept, Receipt: receipt, Stages: w.stages, Warnings: rendered.Warnings, Created: created}, nil
}

// maxTitle bounds the title that is kept with a document, in code points: data
// can make it as long as they are.
const maxTitle = 256

// shortTitle is a title as it is kept. One that is longer ends with an ellipsis.
func shortTitle(s string) string {
	n := 0
	for i := range s {
		if n++; n > maxTitle {
			_, last := utf8.DecodeLastRuneInString(s[:i])
			return s[:i-last] + "…"
		}
	}
	return s
}

// again answers a request whose document is there already. What is stored of it
// is mended first: an answer stands for a file that can be served.
func (m *Maker) again(ctx context.Context, kept *Document, j *job, w *watch) (*Made, error) {
	if err := m.keepInputs(ctx, j); err != nil {
		return nil, err
	}
	if err := m.mend(ctx, kept, j, w); err != nil {
		return nil, err
	}
	if report := j.request.Report; report != "" {
		if err := m.p.Documents.File(ctx, kept.Space, kept.ID, report); err != nil {
			return nil, err
		}
		var err error
		if kept, err = m.p.Documents.Document(ctx, kept.Space, kept.ID); err != nil {
			return nil, err
		}
	}
	receipt, err := m.p.Documents.Receipt(ctx, kept.Space, kept.ID)
	if err != nil {
		return nil, err
	}
	return &Made{Document: kept, Receipt: receipt, Stages: w.stages}, nil
}

// mend makes the file of a document again when the stored one is gone or
// damaged. What this engine makes takes its place only when it is the same.
func (m *Maker) mend(ctx context.Context, kept *Document, j *job, w *watch) error {
	if whole, err := m.whole(ctx, kept.Content); err != nil || whole {
		return err
	}
	blob, err := m.p.Blobs.Create(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = blob.Abort() }() // does nothing once committed
	sum := sha256.New()
	_, err = m.render(ctx, io.MultiWriter(blob, sum), j)
	if err != nil && !refused(err) {
		return err
	}
	if err != nil || Hash(sum.Sum(nil)) != kept.Content {
		return fmt.Errorf("document %s: the file is not in storage as engine %s made it, and engine %s does not make it: %w",
			kept.ID, kept.Engine, m.p.Renderer.Engine(), ErrDamaged)
	}
	w.stage(StageRender)
	if _, _, err = blob.Commit(); err != nil {
		return err
	}
	w.stage(StageCommit)
	return nil
}

// Render writes the file that Make would make of the same request and time, and
// keeps nothing. Data is inline: a request with sources or a report is a
// *RequestError. After an error w may have taken part of a file.
func (m *Maker) Render(ctx context.Context, w io.Writer, r Request) (*Rendered, error) {
	if len(r.Sources) > 0 {
		return nil, &RequestError{Field: "sources", Got: "sources", Want: "inline data alone: what is collected is kept"}
	}
	if r.Report != "" {
		return nil, &RequestError{Field: "report", Got: fmt.Sprintf("%q", r.Report), Want: "none: nothing is kept"}
	}
	j, err := m.prepare(ctx, r, &watch{now: m.p.Now})
	if err != nil {
		return nil, err
	}
	return m.render(ctx, w, j)
}

// Check compiles a template without rendering: *TemplateError lists everything
// that is wrong with it.
func (m *Maker) Check(ctx context.Context, t *Template) error { return m.p.Renderer.Check(ctx, t) }

// job is a request whose inputs are settled.
type job struct {
	request   Request
	template  *Template
	options   Options
	collected []Collected
	snapshot  *Snapshot
	id        Hash
}

// prepare settles what a request leaves open, collects and freezes.
func (m *Maker) prepare(ctx context.Context, r Request, w *watch) (*job, error) {
	if err := CheckName("space", string(r.Space)); err != nil {
		return nil, err
	}
	j := &job{request: r, options: r.Options.Normal()}
	if r.Report != "" {
		if err := m.fromReport(ctx, j); err != nil {
			return nil, err
		}
	}
	var err error
	if j.template, err = m.template(ctx, j.request); err != nil {
		return nil, err
	}
	w.begin()
	if calls := j.request.Sources; len(calls) > 0 {
		if j.collected, err = m.collect(ctx, r.Space, calls); err != nil {
			return nil, err
		}
		w.stage(StageCollect)
	}
	if j.snapshot, err = Freeze(r.Data, r.Origin, j.collected, r.Time); err != nil {
		return nil, err
	}
	for _, c := range j.collected {
		if c.Required && c.Outcome == Failed {
			return nil, &SourceError{Key: c.Key, Source: c.Source, Reason: c.Reason}
		}
	}
	j.id, err = Identity{
		Space: r.Space, Template: j.template.Ref(), Snapshot: j.snapshot.Hash(), Options: j.options,
	}.ID()
	if err != nil {
		return nil, err
	}
	w.stage(StageFreeze)
	return j, nil
}

// fromReport fills in what the request leaves open.
func (m *Maker) fromReport(ctx context.Context, j *job) error {
	if m.p.Reports == nil {
		return Missing("report", j.request.Report, nil)
	}
	report, err := m.p.Reports.Report(ctx, j.request.Space, j.request.Report)
	if err != nil {
		return err
	}
	r := &j.request
	switch {
	case report.Template == "":
	case r.Inline != nil:
		return &RequestError{Field: "template", Got: "a template of its own", Want: "none: report " + report.Name + " has " + report.Template}
	case r.Template != "" && r.Template != report.Template:
		return &RequestError{Field: "template", Got: fmt.Sprintf("%q", r.Template), Want: "the report's: " + report.Template}
	default:
		r.Template = report.Template
	}
	if j.options.isZero() {
		j.options = report.Options.Normal()
	}
	calls := slices.Clone(report.Sources)
	for _, own := range r.Sources {
		i := slices.IndexFunc(calls, func(c SourceCall) bool { return c.Key == own.Key })
		if i < 0 {
			calls = append(calls, own)
			continue
		}
		if own.Source != "" && own.Source != calls[i].Source {
			return &RequestError{Field: "sources." + own.Key, Got: fmt.Sprintf("%q", own.Source), Want: "the report's: " + calls[i].Source}
		}
		merged := maps.Clone(calls[i].Parameters)
		if merged == nil {
			merged = Parameters{}
		}
		maps.Copy(merged, own.Parameters)
		calls[i].Parameters = merged
	}
	r.Sources = calls
	return nil
}

func (m *Maker) template(ctx context.Context, r Request) (*Template, error) {
	switch {
	case r.Inline != nil && r.Template != "":
		return nil, &RequestError{Field: "template", Got: "a name and a template", Want: "one of them"}
	case r.Inline != nil:
		return r.Inline, nil
	case r.Template == "":
		return nil, &RequestError{Field: "template", Got: "nothing", Want: "a name or a template"}
	case m.p.Templates == nil:
		return nil, Missing("template", r.Template, nil)
	}
	return m.p.Templates.Template(ctx, r.Space, r.Template)
}

// maxSources bounds the sources of one document.
const maxSources = 64

func (m *Maker) collect(ctx context.Context, space Space, calls []SourceCall) ([]Collected, error) {
	if len(calls) > maxSources {
		return nil, &LimitError{Name: "sources", Limit: maxSources, Got: int64(len(calls))}
	}
	seen := make(map[string]bool, len(calls))
	for _, c := range calls {
		if err := CheckKey("sources", c.Key); err != nil {
			return nil, err
		}
		if seen[c.Key] {
			return nil, &RequestError{Field: "sources", Got: "the key " + c.Key + " twice", Want: "keys that differ"}
		}
		seen[c.Key] = true
	}
	if m.p.Collector == nil {
		return nil, fmt.Errorf("source %s: %w", calls[0].Source, ErrNotFound)
	}
	collected, err := m.p.Collector.Collect(ctx, space, calls)
	if err != nil {
		return nil, err
	}
	if len(collected) != len(calls) {
		return nil, fmt.Errorf("collect: %d answers to %d calls", len(collected), len(calls))
	}
	return collected, nil
}

// render renders j into w. Places of data errors become those of the text as sent.
func (m *Maker) render(ctx context.Context, w io.Writer, j *job) (*Rendered, error) {
	rendered, err := m.p.Renderer.Render(ctx, w, Rendering{
		Template: j.template, Data: j.snapshot.Data(), Time: j.snapshot.Time(), Document: j.id, Options: j.options,
	})
	if wrong, ok := errors.AsType[*DataError](err); ok {
		j.locate(wrong)
	}
	return rendered, err
}

// locate gives the problems in frozen data their places in what the caller
// sent, or the source that the value came from.
func (j *job) locate(wrong *DataError) {
	var own []*Problem // in what the caller sent
	one := func(p *Problem) {
		if p.Path == "" { // not about one value in the data: it keeps its place in the template
			return
		}
		p.File, p.Line, p.Column = "", 0, 0
		for _, c := range j.collected {
			if p.Pointer == "/"+c.Key || strings.HasPrefix(p.Pointer, "/"+c.Key+"/") { // keys are identifiers
				p.Source = c.Key
				return
			}
		}
		own = append(own, p)
	}
	one(&wrong.Problem)
	for i := range wrong.More {
		one(&wrong.More[i])
	}
	if j.request.Data != nil {
		j.request.Origin.locate(j.request.Data, own)
	}
}

// keepInputs commits what is needed to make the document again.
func (m *Maker) keepInputs(ctx context.Context, j *job) error {
	for _, file := range slices.Sorted(maps.Keys(j.template.Files)) {
		if err := m.keep(ctx, j.template.Files[file]); err != nil {
			return fmt.Errorf("keep template file %s: %w", file, err)
		}
	}
	if err := m.keep(ctx, j.template.Manifest()); err != nil {
		return fmt.Errorf("keep template %s: %w", j.template.Name, err)
	}
	if err := m.keep(ctx, j.snapshot.Bytes()); err != nil {
		return fmt.Errorf("keep snapshot: %w", err)
	}
	return nil
}

func (m *Maker) keep(ctx context.Context, b []byte) error {
	name := Sum(b)
	if whole, err := m.whole(ctx, name); err != nil || whole {
		return err
	}
	w, err := m.p.Blobs.Create(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = w.Abort() }() // does nothing once committed
	if _, err := w.Write(b); err != nil {
		return err
	}
	got, _, err := w.Commit()
	if err == nil && got != name {
		err = fmt.Errorf("blob %s: committed as %s: %w", name, got, ErrDamaged)
	}
	return err
}

// whole reports whether a blob is there, durable and undamaged. A name alone
// says nothing of the bytes, so they are read.
func (m *Maker) whole(ctx context.Context, h Hash) (bool, error) {
	if there, err := m.p.Blobs.Has(ctx, h); err != nil || !there {
		return false, err
	}
	blob, err := m.p.Blobs.Open(ctx, h)
	if errors.Is(err, ErrDamaged) || errors.Is(err, ErrNotFound) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	return true, blob.Close()
}

// receipt seals what is known of the document.
func (j *job) receipt(d *Document, stages []Stage) ([]byte, error) {
	r := Receipt{
		Version: 1, Space: d.Space, Document: d.ID, Template: d.Template, Snapshot: d.Snapshot,
		Options: d.Options, Signer: d.Signer, Engine: d.Engine, Content: d.Content, Size: d.Size, Pages: d.Pages, Title: d.Title,
		TimeFrom: d.TimeFrom, Made: d.Made, Sources: sourceRecords(j.collected), Stages: stages,
	}
	if !d.Time.IsZero() {
		r.Time = &d.Time
	}
	return r.Bytes()
}

// watch measures stages, each from the end of the one before.
type watch struct {
	now    func() time.Time
	last   time.Time
	stages []Stage
}

func (w *watch) begin() { w.last = w.now() }

func (w *watch) stage(name string) {
	t := w.now()
	w.stages = append(w.stages, Stage{Name: name, Micros: t.Sub(w.last).Microseconds()})
	w.last = t
}
