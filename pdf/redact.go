package pdf

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"

	"example.com/quire/pdf/internal/edit"
)

// RedactOptions say what is taken out of a document: text, and what lies in boxes.
type RedactOptions = edit.RedactOptions

// How text in the pixels of images is read.
type (
	// OCR reads text in pictures, for Redact.
	OCR = edit.OCR
	// PictureWord is a word that an OCR read.
	PictureWord = edit.PictureWord
	// TesseractOptions say how the program tesseract reads.
	TesseractOptions = edit.TesseractOptions
)

// Tesseract returns the OCR that runs tesseract, a program beside this one. Where it is not
// installed the error is ErrTool and says how to install it; one of a language that it does not
// have is an *OptionError with those that it has. The OCR is safe for concurrent use. It ends each
// run after o.Time, with a *LimitError.
func Tesseract(ctx context.Context, o TesseractOptions) (OCR, error) { return edit.Tesseract(ctx, o) }

// RedactSummary tells what was written and what it no longer has.
type RedactSummary struct {
	Summary
	Removed edit.Removed `json:"removed"`
	Record  RedactRecord `json:"record"`
}

// RedactRecord says of which file which became, for the files of who answers for it. It holds
// nothing of what was taken out: hashes are those of the whole files.
type RedactRecord struct {
	Engine       string              `json:"engine"`
	SourceSize   int64               `json:"source_size"`
	SourceSHA256 string              `json:"source_sha256"`
	ResultSHA256 string              `json:"result_sha256"`
	Pages        []edit.RedactedPage `json:"pages"` // from which something was taken
	Proof        edit.Proof          `json:"proof"` // what was read again of the result
}

// Redact writes a document without the text that matches and without what lies in the boxes:
// characters, pixels of images, paths with a point there, annotations and fields. Copies go too, of
// what matches and of lines that stood in a box: ActualText and alternative texts, bookmarks,
// metadata, values of fields, names of destinations. Attachments, scripts, XFA, thumbnails and
// private data go whole, and so does every earlier revision. Where characters were a space of a
// whole number of the size of their letters stays, and what follows on the line moves to its end:
// how wide a text was tells much of what it said. Boxes that cover whole lines tell nothing of it.
//
// The new file is read again before a byte of it reaches w: ErrNotProvable says where the text was
// still found, or which content cannot be told, such as a font without the meaning of its
// characters. Text in paths is not searched; text in the pixels of images is by o.OCR, and without
// one Removed counts the images that stay. With one an image that cannot be decoded is
// ErrNotProvable too, and what the OCR misreads is not found. The Record has the hashes of both
// files, and what went from which page, but not a word of it. An encrypted document must be
// decrypted first. Other errors are those of Edit and of the OCR.
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
	s := &RedactSummary{Removed: r.Removed, Record: RedactRecord{Engine: e.version, SourceSize: d.size, Pages: append([]edit.RedactedPage{}, r.Pages...)}}
	if s.Record.SourceSHA256, err = sha256Of(d.file, d.size); err != nil {
		return nil, err
	}
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
	s.Record.Proof = r.Proof
	if s.Record.ResultSHA256, err = sha256Of(f, s.Size); err != nil {
		return nil, err
	}
	if s.Removed.Unsearched > 0 && o.Text+o.Regexp != "" {
		s.Warnings = append(s.Warnings, fmt.Sprintf("%d images stay, whose pixels were not searched for text", s.Removed.Unsearched))
	}
	if n := s.Removed; o.Text+o.Regexp != "" && n.Matches+n.Pixels+n.Strings == 0 {
		s.Warnings = append(s.Warnings, "the text was found nowhere: none was taken out")
	}
	if _, err := io.Copy(w, io.NewSectionReader(f, 0, s.Size)); err != nil {
		return nil, err
	}
	return s, nil
}

func sha256Of(r io.ReaderAt, size int64) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(r, 0, size)); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
