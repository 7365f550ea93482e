package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"
	"unicode/utf8"
)

// Parts are the components of a Maker. Without Collector, Templates or Reports there are no
// sources, no templates by name or no reports. The others are required.
type Parts struct {
	Engine    Engine
	Blobs     Blobs
	Documents Documents
	Collector Collector
	Templates Templates
	Reports   Reports
	// Now is the clock: the time of documents whose request brings none, and the
	// measure of stages. Rendering never sees it.
	Now func() time.Time
}

// Maker makes documents. It is safe for concurrent use and has no state.
type Maker struct {
	*Archive
	parts Parts
}

// NewMaker returns a Maker over its parts.
func NewMaker(p Parts) (*Maker, error) {
	if p.Engine == nil || p.Blobs == nil || p.Documents == nil || p.Now == nil {
		return nil, errors.New("maker: Engine, Blobs, Documents and Now are needed")
	}
	p.Collector = cmp.Or[Collector](p.Collector, none{})
	p.Templates = cmp.Or[Templates](p.Templates, none{})
	p.Reports = cmp.Or[Reports](p.Reports, none{})
	return &Maker{NewArchive(p.Engine, p.Blobs, p.Documents), p}, nil
}

// none has no sources, templates and reports.
type none struct{}

func (none) Collect(_ context.Context, _ Space, calls []SourceCall) ([]Collected, error) {
	return nil, Missing("source", calls[0].Source, nil)
}

func (none) Template(_ context.Context, _ Space, name string) (*Template, error) {
	return nil, Missing("template", name, nil)
}

func (none) Report(_ context.Context, _ Space, name string) (*Report, error) {
	return nil, Missing("report", name, nil)
}

// Request is a request for a document.
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
	// Draft leaves the file unsigned whose template asks for a signature. Render alone takes it.
	Draft bool
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

// Make makes and stores a document: collect, freeze, render into a blob, commit template, snapshot
// and file, save. When it returns without an error, the document, the receipt and every byte needed
// to render it again are durable. If it fails, no document is listed and no part of the file is
// left. Damaged stored bytes are written again. ErrDamaged says that the document exists but its
// file does not, and that this engine cannot render that file.
//
// Errors: *RequestError, *DataError, *TemplateError, *LimitError, *SourceError (a required source
// failed), ErrNotFound (template, report), ErrNoSpace, and errors of the parts.
func (m *Maker) Make(ctx context.Context, r Request) (*Made, error) {
	if r.Draft {
		return nil, &RequestError{Field: "draft", Got: "true", Want: "none, because a draft is not kept"}
	}
	from := FromRequest
	if r.Time.IsZero() {
		r.Time, from = m.parts.Now(), FromClock
	}
	w := watch{now: m.parts.Now}
	j, err := m.prepare(ctx, r, &w)
	if err != nil {
		return nil, err
	}
	if kept, err := m.documents.Document(ctx, r.Space, j.id); err == nil {
		return m.again(ctx, kept, j, &w)
	} else if !errors.Is(err, ErrNotFound) {
		return nil, err
	}

	blob, err := m.blobs.Create(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = blob.Abort() }() // does nothing once committed; on failure the first error counts
	rendered, err := m.render(ctx, blob, j)
	if err != nil {
		return nil, err
	}
	w.stage(StageRender)
	if rendered.Unique {
		return nil, &RequestError{
			Field: "template", Got: "one whose documents are encrypted (protect), with another key each time",
			Want: "one without it, because what is kept can be made again byte by byte; encrypt a copy with POST /v1/pdf/encrypt",
		}
	}
	j.signature = rendered.Signature
	if err := m.keepInputs(ctx, j); err != nil {
		return nil, err
	}
	size, err := blob.Commit(rendered.Hash)
	if err != nil {
		return nil, err
	}
	w.stage(StageCommit)

	d := &Document{
		Space: r.Space, ID: j.id, Content: rendered.Hash, Size: size, Pages: rendered.Pages, Title: shortTitle(rendered.Title), Name: rendered.Name,
		Template: j.request.Inline.Ref(), Snapshot: j.snapshot.Hash, Options: j.request.Options, Signer: j.signer,
		Engine: m.engine.Version(), Time: j.snapshot.Time, TimeFrom: from, Made: cutTime(m.parts.Now()),
	}
	receipt, err := j.receipt(d, w.stages)
	if err != nil {
		return nil, err
	}
	kept, created, err := m.documents.Save(ctx, d, receipt, r.Report)
	if err != nil {
		return nil, err
	}
	if !created { // somebody made the same document meanwhile
		if receipt, err = m.documents.Receipt(ctx, r.Space, j.id); err != nil {
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
	head := []rune(s[:min(len(s), (maxTitle+1)*utf8.UTFMax)])
	if len(head) <= maxTitle {
		return s
	}
	return string(head[:maxTitle-1]) + "…"
}

// again answers a request whose document is there already. What is stored of it
// is mended first: an answer stands for a file that can be served.
func (m *Maker) again(ctx context.Context, kept *Document, j *job, w *watch) (*Made, error) {
	var err error
	if j.signature, err = m.signature(ctx, kept.Space, kept.ID, kept.Signer); err != nil {
		return nil, err
	}
	if err := m.keepInputs(ctx, j); err != nil {
		return nil, err
	}
	if err := m.mend(ctx, kept, j, w); err != nil {
		return nil, err
	}
	receipt, err := m.documents.Receipt(ctx, kept.Space, kept.ID)
	if err == nil && j.request.Report != "" {
		kept, err = m.documents.File(ctx, kept.Space, kept.ID, j.request.Report)
	}
	if err != nil {
		return nil, err
	}
	return &Made{Document: kept, Receipt: receipt, Stages: w.stages}, nil
}

// Render writes the file that Make would make of the same request and time, and
// keeps nothing. Data is inline: a request with sources or a report is a
// *RequestError. After an error w may have taken part of a file.
func (m *Maker) Render(ctx context.Context, w io.Writer, r Request) (*Rendered, error) {
	var err error
	if r.Inline, err = m.template(ctx, r); err != nil {
		return nil, err
	}
	r.Template = ""
	return m.Renderer.Render(ctx, w, r)
}

// prepare settles what a request leaves open, collects and freezes.
func (m *Maker) prepare(ctx context.Context, r Request, w *watch) (*job, error) {
	if err := CheckName("space", string(r.Space)); err != nil {
		return nil, err
	}
	if r.Report != "" {
		if err := m.fromReport(ctx, &r); err != nil {
			return nil, err
		}
	}
	r.Options = r.Options.Normal()
	var err error
	if r.Inline, err = m.template(ctx, r); err != nil {
		return nil, err
	}
	w.last = m.parts.Now()
	var collected []Collected
	if len(r.Sources) > 0 {
		if collected, err = m.collect(ctx, r.Space, r.Sources); err != nil {
			return nil, err
		}
		w.stage(StageCollect)
	}
	j, err := m.settle(ctx, r, collected)
	if err != nil {
		return nil, err
	}
	for _, c := range collected {
		if c.Required && c.Outcome == Failed {
			return nil, &SourceError{Key: c.Key, Source: c.Source, Reason: c.Reason}
		}
	}
	w.stage(StageFreeze)
	return j, nil
}

// fromReport fills in what the request leaves open.
func (m *Maker) fromReport(ctx context.Context, r *Request) error {
	report, err := m.parts.Reports.Report(ctx, r.Space, r.Report)
	if err != nil {
		return err
	}
	switch {
	case report.Template == "":
	case r.Inline != nil:
		return &RequestError{Field: "template", Got: "a template in the request", Want: "none, because report " + report.Name + " uses " + report.Template}
	case r.Template != "" && r.Template != report.Template:
		return &RequestError{Field: "template", Got: fmt.Sprintf("%q", r.Template), Want: "the report's: " + report.Template}
	default:
		r.Template = report.Template
	}
	if len(r.Options.Standards) == 0 {
		r.Options = report.Options
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
		merged := Parameters{}
		maps.Copy(merged, calls[i].Parameters)
		maps.Copy(merged, own.Parameters)
		calls[i].Parameters = merged
	}
	r.Sources = calls
	return nil
}

func (m *Maker) template(ctx context.Context, r Request) (*Template, error) {
	switch {
	case r.Inline != nil && r.Template != "":
		return nil, &RequestError{Field: "template", Got: "a name and a template", Want: "only one of them"}
	case r.Inline != nil:
		return r.Inline, nil
	case r.Template == "":
		return nil, &RequestError{Field: "template", Got: "nothing", Want: "a name or a template"}
	}
	return m.parts.Templates.Template(ctx, r.Space, r.Template)
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
			return nil, &RequestError{Field: "sources", Got: "the key " + c.Key + " twice", Want: "different keys"}
		}
		seen[c.Key] = true
	}
	collected, err := m.parts.Collector.Collect(ctx, space, calls)
	if err != nil {
		return nil, err
	}
	if len(collected) != len(calls) {
		return nil, fmt.Errorf("collect: %d answers to %d calls", len(collected), len(calls))
	}
	return collected, nil
}

// receipt seals what is known of the document.
func (j *job) receipt(d *Document, stages []Stage) ([]byte, error) {
	r := Receipt{
		Version: 1, Space: d.Space, Document: d.ID, Template: d.Template, Snapshot: d.Snapshot,
		Options: d.Options, Signer: d.Signer, Engine: d.Engine, Content: d.Content, Size: d.Size, Pages: d.Pages, Title: d.Title,
		TimeFrom: d.TimeFrom, Made: d.Made, Stages: stages,
	}
	for _, c := range j.collected {
		if c.Attempts == nil {
			c.Attempts = []AttemptRecord{}
		}
		r.Sources = append(r.Sources, c.SourceRecord)
	}
	if j.signature != nil {
		r.Signature = Sum(j.signature)
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

func (w *watch) stage(name string) {
	t := w.now()
	w.stages = append(w.stages, Stage{Name: name, Micros: t.Sub(w.last).Microseconds()})
	w.last = t
}
