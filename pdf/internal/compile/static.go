package compile

import (
	"context"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/compile/exprlang"
	"example.com/quire/pdf/internal/diag"
)

// static says which part of a template is made into a document without data: then expressions have
// no value, and what they would print is a space.
type static uint8

const (
	withData  static = iota // all that the data ask for
	always                  // what every document has: no condition holds, no list has items
	reachable               // what some document has: all branches are taken, every list has one item
)

// Static returns a document without data, for a layout that tells what is wrong whatever the data
// are. It has what every document of the plan has; with all set, it has what any may have, so that
// its pages are fuller than those of any. Values of the data print as spaces, and what cannot be
// made without them is left out: columns, images, barcodes and form fields that depend on data.
func (p *Plan) Static(ctx context.Context, limits diag.Limits, all bool) (*doc.Document, error) {
	limits = limits.WithDefaults()
	r := p.render(ctx, limits, &Memory{})
	if r.static = always; all {
		r.static = reachable
	}
	return r.document()
}

// blank reports whether p has no value, because there are no data.
func (r *render) blank(p *exprlang.Program) bool { return r.static != withData && !p.Constant }

// branches tells which ways of a condition are taken: one of them, but in a document without data.
func (r *render) branches(cond *programAt) (holds, fails bool, err error) {
	switch r.static {
	case always:
		return false, false, nil
	case reachable:
		return true, true, nil
	}
	v, err := r.eval(cond)
	return v.True(), !v.True(), err
}
