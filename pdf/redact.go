package pdf

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"

	"example.com/quire/pdf/internal/edit"
)

// RedactOptions say what is removed from a document: matching text, and content in boxes.
type RedactOptions = edit.RedactOptions

// Reading text in the pixels of images.
type (
	// OCR reads text in images, for Redact.
	OCR = edit.OCR
	// PictureWord is a word that an OCR program read.
	PictureWord = edit.PictureWord
	// TesseractOptions are the options of the program tesseract.
	TesseractOptions = edit.TesseractOptions
)

// Tesseract returns the OCR that runs the program tesseract. If it is not installed, the error is
// ErrTool and says how to install it. A language that it does not have is an *OptionError that
// lists the languages it has. The OCR is safe for concurrent use. Each run is stopped after o.Time,
// with a *LimitError.
func Tesseract(ctx context.Context, o TesseractOptions) (OCR, error) { return edit.Tesseract(ctx, o) }

// RedactSummary describes what was written and what was removed.
type RedactSummary struct {
	Summary
	Removed edit.Removed `json:"removed"`
	Record  RedactRecord `json:"record"`
}

// RedactRecord documents which file was made from which, for the records of the person responsible.
// It contains nothing of the removed content: the hashes are those of the complete files.
type RedactRecord struct {
	Engine       string              `json:"engine"`
	SourceSize   int64               `json:"source_size"`
	SourceSHA256 string              `json:"source_sha256"`
	ResultSHA256 string              `json:"result_sha256"`
	Pages        []edit.RedactedPage `json:"pages"` // pages from which something was removed
	Proof        edit.Proof          `json:"proof"` // what was read again in the result
}

// Redact writes a document without the matching text and without the content of the boxes:
// characters, pixels of images, paths with a point there, annotations and fields. Copies are
// removed too, of matching text and of lines in a box: ActualText and alternative texts, bookmarks,
// metadata, field values, names of destinations. Attachments, scripts, XFA, thumbnails, private
// data and all earlier revisions are removed entirely. A removed text leaves a gap of a whole
// number of its font size, and the rest of the line moves to its end, because the width of a text
// reveals much of it. Boxes that cover complete lines reveal nothing.
//
// The new file is read again before a byte of it reaches w. ErrNotProvable says where the text was
// still found, or which content cannot be decided, such as a font without a mapping to Unicode.
// Text in paths is not searched. Text in the pixels of images is found by o.OCR; without one,
// Removed counts the images that remain. With an OCR, an image that cannot be decoded is
// ErrNotProvable too, and text that the OCR misreads is not found. The Record has the hashes of
// both files, and what was removed from which page, but none of the text. An encrypted document
// must be decrypted first. Other errors are those of Edit and of the OCR.
func (e *Engine) Redact(ctx context.Context, w io.Writer, d *Document, o RedactOptions) (*RedactSummary, error) {
	if err := d.mayChange(EditOptions{}, false); err != nil {
		return nil, err
	}
	draft := edit.NewDraft(d.d)
	claims := draft.Claims()
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
	if r.Unkept != "" {
		s.Warnings = append(s.Warnings, r.Unkept)
		for _, claim := range claims {
			s.Warnings = append(s.Warnings, "the claim of "+claim+" was dropped: it stood in the metadata")
		}
	}
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
		stay := "1 image stays"
		if n := s.Removed.Unsearched; n > 1 {
			stay = strconv.Itoa(n) + " images stay"
		}
		s.Warnings = append(s.Warnings, stay+", whose pixels were not searched for text")
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
