package pdf

import (
	"context"
	"io"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/compile"
	"example.com/quire/pdf/internal/emit"
	"example.com/quire/pdf/internal/layout"
	"example.com/quire/pdf/standard"
	"example.com/quire/pdf/template"
)

// Bare is what a result has that prints as a value: all but its Map and PageBytes.
func (r *Result) Bare() Result {
	bare := *r
	bare.Map, bare.ranges = nil, nil
	return bare
}

// BuildForced is Build without the checks of the standards: it makes what they
// refuse, so that tests can show that a validator refuses it too.
func (e *Engine) BuildForced(ctx context.Context, w io.Writer, ids []standard.ID, d *doc.Document) error {
	_, err := e.emit(ctx, w, d, emit.Options{Standards: ids, Limits: e.limits, Force: true})
	return err
}

// RenderForced is Render without the checks of the standards, as BuildForced is Build.
func (e *Engine) RenderForced(ctx context.Context, w io.Writer, p *template.Plan, data template.Data, o RenderOptions) error {
	d, err := p.Build(ctx, data, template.BuildOptions{Time: o.Time, Limits: e.limits})
	if err != nil {
		return err
	}
	_, err = e.emit(ctx, w, d, emit.Options{Standards: o.Standards, Limits: e.limits, Protect: o.Protect, Force: true})
	return err
}

// ByteLeaves is byteLeaves.
func ByteLeaves() map[string]string {
	m := map[string]string{}
	for _, l := range byteLeaves {
		m[l.path] = l.version
	}
	return m
}

// CachedPlanBytes returns what the plan cache accounts for.
func (e *Engine) CachedPlanBytes() int64 { return e.plans.bytes }

// SpillAfter lets documents keep that many bytes of cross-reference data in memory.
func (e *Engine) SpillAfter(bytes int64) { e.after = bytes }

// PoisonRows lets the memory of rows serve once, so that what is seen of one that was used before
// is seen. It comes before the first document.
func (e *Engine) PoisonRows() {
	e.memory.New = func() any {
		m := &layout.Memory{}
		layout.Poison(m)
		return m
	}
	e.made.New = func() any {
		m := &template.Memory{}
		compile.Poison(m)
		return m
	}
}
