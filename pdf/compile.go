package pdf

import (
	"context"
	"io"
	"io/fs"
	"slices"

	"example.com/quire/pdf/template"
)

// Source is a template to compile.
type Source struct {
	File string // its name in diagnostics
	Text []byte
	// Files holds what the template names; nil: those of the engine. A file system that has a
	// method Sum(name string) (sha256 [32]byte, known bool) spares the engine the hashing of
	// files, this template's own among them, when it looks for a plan that it has.
	Files fs.FS
}

// Compile reads a template. A *DiagnosticError lists all its problems, not the first. Plans
// are kept by the SHA-256 of name and text, and used again only while every file that they
// read is unchanged.
func (e *Engine) Compile(ctx context.Context, src Source) (*template.Plan, error) {
	files := src.Files
	if files == nil {
		files = e.files
	}
	key := planKey(&src)
	if p := e.plans.get(key, files); p != nil {
		return p, nil
	}
	rec := &recorder{files: files}
	o := template.Options{File: src.File, Limits: e.limits}
	if files != nil {
		o.Files = rec
	}
	p, err := template.Compile(ctx, src.Text, o)
	if err != nil {
		return nil, err
	}
	e.plans.put(key, p, rec.reads, int64(len(src.Text)))
	return p, nil
}

// Render makes the document of a plan and data and writes it to w. Problems of
// the data, all of them, and problems of the layout are *DiagnosticError; an
// exceeded limit is a *LimitError; an error of w or ctx comes back as it is.
// After an error w holds no document.
func (e *Engine) Render(ctx context.Context, w io.Writer, p *template.Plan, data template.Data, o RenderOptions) (*Result, error) {
	limits, err := e.limits.Lower(o.Limits)
	if err != nil {
		return nil, err
	}
	d, err := p.Build(ctx, data, template.BuildOptions{Time: o.Time, Limits: limits})
	if err != nil {
		return nil, err
	}
	r, err := e.write(ctx, w, d, o, append(slices.Clip(p.Standards()), o.Standards...))
	if warnings := p.Warnings(); r != nil && len(warnings) > 0 {
		r.Warnings = append(warnings, r.Warnings...)
	}
	return r, err
}
