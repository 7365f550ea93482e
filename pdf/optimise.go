package pdf

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"

	"example.com/quire/pdf/internal/edit"
)

// optimisedInMemory is the largest file that is written to memory first, until it is known what was
// gained; a larger one goes to the end of the file where it belongs, or else to a temporary one.
const optimisedInMemory = 4 << 20

// Optimise writes a document smaller without loss: equal streams, fonts and graphics states are
// shared, uncompressed streams are compressed, and unreferenced objects and unused resources are
// dropped. Pages look the same. If nothing is gained, an undamaged file is written unchanged, with
// its signatures. If w has the methods Seek, Truncate and Stat of a file, it may be written to and
// truncated before that. Errors are those of Edit.
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
	switch f, end := atEnd(w); {
	case d.size <= optimisedInMemory:
		var b bytes.Buffer
		if err := e.writeDraft(ctx, &b, draft, EditOptions{}, s); err != nil {
			return nil, told(err)
		}
		from = &b
	case f != nil:
		if err := e.writeDraft(ctx, f, draft, EditOptions{}, s); err != nil {
			return nil, told(err)
		}
		if d.gains(s) {
			return s, nil
		}
		if err := f.Truncate(end); err != nil {
			return nil, fmt.Errorf("pdf: optimise: %w", err)
		}
		if _, err := f.Seek(end, io.SeekStart); err != nil {
			return nil, fmt.Errorf("pdf: optimise: %w", err)
		}
	default:
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
	if !d.gains(s) {
		s = &Summary{Size: d.size, Pages: d.Pages(), Claims: d.Info().Claims, Warnings: []string{"nothing was gained: the file is as it was"}}
		from = io.NewSectionReader(d.file, 0, d.size)
	}
	if _, err := io.Copy(w, from); err != nil {
		return nil, err
	}
	return s, nil
}

// gains reports whether what was written is to take the place of the document: it is shorter, or
// the document is damaged, which is written anew, whatever it takes.
func (d *Document) gains(s *Summary) bool { return s.Size < d.size || len(d.Warnings()) > 0 }

// endFile is a file whose end can be taken back.
type endFile interface {
	io.WriteSeeker
	Truncate(size int64) error
	Stat() (fs.FileInfo, error)
}

// atEnd returns the file that w is, and where it ends, when writing goes on there; nil for all
// else.
func atEnd(w io.Writer) (f endFile, end int64) {
	f, ok := w.(endFile)
	if !ok {
		return nil, 0
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, 0
	}
	if end, err = f.Seek(0, io.SeekCurrent); err != nil || end != info.Size() {
		return nil, 0
	}
	return f, end
}
