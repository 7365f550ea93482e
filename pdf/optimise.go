package pdf

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"example.com/quire/pdf/internal/edit"
)

// optimisedInMemory is the largest file that is written to memory first, until it is known what was
// gained; a larger one goes to a temporary file.
const optimisedInMemory = 4 << 20

// Optimise writes a document smaller without loss: equal streams, fonts and graphics states become
// one, what is not compressed is, what nothing refers to and resources that pages do not use go.
// Pages look as they did. Where that gains nothing a sound file is written as it is, signatures and
// all. Errors are those of Edit.
func (e *Engine) Optimise(ctx context.Context, w io.Writer, d *Document) (*Summary, error) {
	if err := d.mayChange(EditOptions{}, false); err != nil {
		return nil, err
	}
	draft := edit.NewDraft(d.d)
	if err := draft.Optimise(ctx); err != nil {
		return nil, told(err)
	}
	s := &Summary{}
	var from io.Reader
	if d.size <= optimisedInMemory {
		var b bytes.Buffer
		if err := e.writeDraft(ctx, &b, draft, EditOptions{}, s); err != nil {
			return nil, told(err)
		}
		from = &b
	} else {
		f, done, err := temporary()
		if err != nil {
			return nil, fmt.Errorf("pdf: optimise: %w", err)
		}
		defer done()
		if err := e.writeDraft(ctx, f, draft, EditOptions{}, s); err != nil {
			return nil, told(err)
		}
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return nil, fmt.Errorf("pdf: optimise: %w", err)
		}
		from = io.LimitReader(f, s.Size) // which the system copies by itself where w is a file, too
	}
	if s.Size >= d.size && len(d.Warnings()) == 0 { // a damaged file is written anew, whatever it takes
		s = &Summary{Size: d.size, Pages: d.Pages(), Claims: d.Info().Claims, Warnings: []string{"nothing was gained: the file is as it was"}}
		from = io.NewSectionReader(d.file, 0, d.size)
	}
	if _, err := io.Copy(w, from); err != nil {
		return nil, err
	}
	return s, nil
}
