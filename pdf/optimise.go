package pdf

import (
	"context"
	"fmt"
	"io"

	"example.com/quire/pdf/internal/edit"
)

// Optimise writes a document smaller without loss: equal streams, fonts and graphics states become
// one, what is not compressed is, what nothing refers to and resources that pages do not use go. Pages
// look as they did. Where that gains nothing the file is written as it is, signatures and all. Errors
// are those of Edit.
func (e *Engine) Optimise(ctx context.Context, w io.Writer, d *Document) (*Summary, error) {
	if err := d.mayChange(EditOptions{}, false); err != nil {
		return nil, err
	}
	draft := edit.NewDraft(d.d)
	if err := draft.Optimise(ctx); err != nil {
		return nil, told(err)
	}
	f, done, err := temporary()
	if err != nil {
		return nil, fmt.Errorf("pdf: optimise: %w", err)
	}
	defer done()
	s := &Summary{}
	if err := e.writeDraft(ctx, f, draft, EditOptions{}, s); err != nil {
		return nil, told(err)
	}
	from := io.NewSectionReader(f, 0, s.Size)
	if s.Size >= d.size {
		s = &Summary{Size: d.size, Pages: d.Pages(), Claims: d.Info().Claims, Warnings: []string{"nothing was gained: the file is as it was"}}
		from = io.NewSectionReader(d.file, 0, d.size)
	}
	if _, err := io.Copy(w, from); err != nil {
		return nil, err
	}
	return s, nil
}
