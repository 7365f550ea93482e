package pdf

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/diag"
	"example.com/quire/pdf/internal/layout"
	"example.com/quire/pdf/template"
)

// Source is a template to compile.
type Source struct {
	File string // its name in diagnostics
	Text []byte
	// Files has the files that the template refers to; nil: those of the engine. If the file system
	// has a method Sum(name string) (sha256 [32]byte, known bool), the engine uses it instead of
	// hashing files, including this template's own, when it looks up a cached plan.
	Files fs.FS
}

// Compile compiles a template. A *DiagnosticError lists all its problems. Plans are cached by the
// SHA-256 of name and text, and reused only while every file that they read is unchanged.
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
	o := template.Options{File: src.File, Limits: e.limits, Families: e.fonts.Families(), Components: e.kept}
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

// Render renders a plan with data and writes the document to w. All problems of the data, and
// problems of the layout, are a *DiagnosticError; an exceeded limit is a *LimitError; an error of w
// or ctx is returned unchanged. After an error, w does not hold a complete document.
func (e *Engine) Render(ctx context.Context, w io.Writer, p *template.Plan, data template.Data, o RenderOptions) (*Result, error) {
	limits, err := e.limits.Lower(o.Limits)
	if err != nil {
		return nil, err
	}
	memory, ok := e.made.Get().(*template.Memory)
	if !ok {
		memory = &template.Memory{}
	}
	defer func() {
		memory.Reset()
		e.made.Put(memory)
	}()
	d, err := p.Build(ctx, data, template.BuildOptions{Time: o.Time, Limits: limits, Memory: memory})
	if err != nil {
		return nil, err
	}
	r, err := e.write(ctx, w, d, o, append(slices.Clip(p.Standards()), o.Standards...))
	if warnings := p.Warnings(); r != nil && len(warnings) > 0 {
		r.Warnings = append(warnings, r.Warnings...)
	}
	return r, err
}

// What layout finds in a template without data. Of what some document may have it finds faults that
// lie in one place, whatever else is there. Of what every document has, it also finds what comes of
// several blocks, such as their height.
var (
	faultsOfPlaces = []string{"F401", "F402", "F403", "F404", "F405", "F406", "L302", "L305", "L306", "L307", "L312", "L313", "L314", "L318"}
	faultsOfAll    = append([]string{"L301", "L311", "L317", "L320", "L321", "L323"}, faultsOfPlaces...)
)

// CheckTemplate finds problems that Compile cannot find: it lays out the parts of the plan that do
// not depend on data, and reports what no data could correct, such as a character that no font has,
// columns wider than the page, or a page break inside a box. Problems are a *DiagnosticError.
// Without problems it returns the warnings of the plan and of its layout.
func (e *Engine) CheckTemplate(ctx context.Context, p *template.Plan) ([]Diagnostic, error) {
	warnings := p.Warnings()
	var found diag.List
	for _, all := range []bool{true, false} {
		d, err := p.Static(ctx, e.limits, all)
		if err == nil {
			var told []Diagnostic
			told, err = e.layOut(ctx, d)
			for _, w := range told {
				if w.Code == "L315" && !slices.Contains(warnings, w) {
					warnings = append(warnings, w)
				}
			}
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		codes := faultsOfPlaces
		if !all {
			codes = faultsOfAll
		}
		wrong, _ := errors.AsType[*DiagnosticError](err)
		if wrong == nil {
			continue // none, or one of a limit, which may be another when documents are made
		}
		for _, one := range wrong.Diagnostics {
			one.Kind, one.DataPath, one.Page = KindTemplate, "", 0
			told := slices.ContainsFunc(found, func(d Diagnostic) bool {
				return d.Code == one.Code && d.File == one.File && d.Line == one.Line && d.Col == one.Col
			})
			if slices.Contains(codes, one.Code) && !told {
				found.Add(one)
			}
		}
	}
	return warnings, found.Err()
}

// layOut lays a document out and returns the warnings.
func (e *Engine) layOut(ctx context.Context, d *doc.Document) ([]Diagnostic, error) {
	setter, err := e.typesetter(d.Fonts, nil)
	if err != nil {
		return nil, err
	}
	laid, err := layout.Run(ctx, d, layout.Options{Typesetter: setter, Limits: e.limits, Mono: e.mono, Images: e.images.Session(e.limits), Drawings: e.drawings}, layout.Nowhere{})
	if err != nil {
		return nil, err
	}
	return laid.Warnings, nil
}
