package record

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Renderer renders and keeps nothing. It is safe for concurrent use.
type Renderer struct{ engine Engine }

// NewRenderer returns a Renderer with this engine.
func NewRenderer(e Engine) *Renderer { return &Renderer{engine: e} }

// Render writes the file that [Maker.Make] would make from the same request and time. The request
// must contain the template and the data: the name of a template, sources or a report is a
// *RequestError. After an error, w may have received part of a file.
func (r *Renderer) Render(ctx context.Context, w io.Writer, in Request) (*Rendered, error) {
	switch {
	case len(in.Sources) > 0:
		return nil, &RequestError{Field: "sources", Got: "sources", Want: "inline data only, because collected data is always stored"}
	case in.Report != "":
		return nil, &RequestError{Field: "report", Got: fmt.Sprintf("%q", in.Report), Want: "none, because nothing is stored"}
	case in.Inline == nil || in.Template != "":
		return nil, &RequestError{Field: "template", Got: fmt.Sprintf("%q", in.Template), Want: "the template itself"}
	}
	if err := CheckName("space", string(in.Space)); err != nil {
		return nil, err
	}
	in.Options = in.Options.Normal()
	j, err := r.settle(ctx, in, nil)
	if err != nil {
		return nil, err
	}
	return r.render(ctx, w, j)
}

// job is a request whose inputs are settled.
type job struct {
	request   Request // Inline is its template, wherever that is from
	collected []Collected
	snapshot  *Snapshot
	signer    string // name of the signer, "" when it is not signed
	id        Hash
	signature []byte // of the document as it was made first; nil: it is to be signed anew
}

// settle freezes the data of a request, which makes its document the one it is.
func (r *Renderer) settle(ctx context.Context, in Request, collected []Collected) (*job, error) {
	snapshot, err := Freeze(in.Data, in.Origin, collected, in.Time)
	if err != nil {
		return nil, err
	}
	signer := ""
	if !in.Draft {
		if signer, err = r.engine.Signer(ctx, in.Space, in.Inline); err != nil {
			return nil, err
		}
	}
	id, err := Identity{Space: in.Space, Template: in.Inline.Ref(), Snapshot: snapshot.Hash, Options: in.Options, Signer: signer}.ID()
	return &job{request: in, collected: collected, snapshot: snapshot, signer: signer, id: id}, err
}

// render renders j into w. Places of data errors become those of the text as sent.
func (r *Renderer) render(ctx context.Context, w io.Writer, j *job) (*Rendered, error) {
	rendered, err := r.engine.Render(ctx, w, Rendering{
		Space: j.request.Space, Template: j.request.Inline, Data: j.snapshot.Data, Time: j.snapshot.Time, Document: j.id, Options: j.request.Options,
		Signature: j.signature, Draft: j.request.Draft,
	})
	if wrong, ok := errors.AsType[*DataError](err); ok {
		j.locate(wrong)
	}
	return rendered, err
}

// locate gives the problems in frozen data their places in what the caller
// sent, or the source that the value came from.
func (j *job) locate(wrong *DataError) {
	all := wrong.All()
	var own []*Problem // in what the caller sent
	for i := range all {
		p := &all[i]
		if p.Path == "" { // not about one value in the data: it keeps its place in the template
			continue
		}
		p.File, p.Line, p.Column = "", 0, 0
		at := slices.IndexFunc(j.collected, func(c Collected) bool { // keys are identifiers
			return p.Pointer == "/"+c.Key || strings.HasPrefix(p.Pointer, "/"+c.Key+"/")
		})
		if at >= 0 {
			p.Source = j.collected[at].Key
		} else {
			own = append(own, p)
		}
	}
	if j.request.Data != nil {
		j.request.Origin.locate(j.request.Data, own...)
	}
	wrong.Problem, wrong.More = all[0], all[1:]
}
