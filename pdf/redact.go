package pdf

import (
	"context"
	"fmt"
	"io"

	"example.com/quire/pdf/internal/edit"
)

// RedactOptions say what is taken out of a document: text, and what lies in boxes.
type RedactOptions = edit.RedactOptions

// RedactSummary tells what was written and what it no longer has.
type RedactSummary struct {
	Summary
	Removed edit.Removed `json:"removed"`
}

// Redact writes a document without the text that matches and without what lies in the boxes:
// characters, pixels of images, paths with a point there, annotations and fields. Copies go too, of
// what matches and of lines that stood in a box: ActualText and alternative texts, bookmarks,
// metadata, values of fields, names of destinations. Attachments, scripts, XFA, thumbnails and private
// data go whole, and so does every earlier revision. As much space stays where a character was, which
// tells how wide it was; Boxes that cover whole lines hide that.
//
// The new file is read again before a byte of it reaches w: ErrNotProvable says where the text was
// still found, or which content cannot be told, such as a font without the meaning of its characters.
// Text in the pixels of images and in paths is not searched; Removed counts the images that stay. An
// encrypted document must be decrypted first. Other errors are those of Edit.
func (e *Engine) Redact(ctx context.Context, w io.Writer, d *Document, o RedactOptions) (*RedactSummary, error) {
	if err := d.mayChange(EditOptions{}, false); err != nil {
		return nil, err
	}
	draft := edit.NewDraft(d.d)
	r, err := draft.Redact(ctx, o)
	if err != nil {
		return nil, told(err)
	}
	f, done, err := temporary()
	if err != nil {
		return nil, fmt.Errorf("pdf: redact: %w", err)
	}
	defer done()
	s := &RedactSummary{Removed: r.Removed}
	if err := e.writeDraft(ctx, f, draft, EditOptions{}, &s.Summary); err != nil {
		return nil, told(err)
	}
	written, err := edit.Open(f, s.Size, edit.Options{Pages: int(e.limits.Pages), Strict: true})
	if err == nil {
		err = r.Proved(ctx, written)
	}
	if err != nil {
		return nil, told(err)
	}
	if s.Removed.Unsearched > 0 && o.Text+o.Regexp != "" {
		s.Warnings = append(s.Warnings, fmt.Sprintf("%d images stay, whose pixels were not searched for text", s.Removed.Unsearched))
	}
	if _, err := io.Copy(w, io.NewSectionReader(f, 0, s.Size)); err != nil {
		return nil, err
	}
	return s, nil
}
