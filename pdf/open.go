package pdf

import (
	"context"
	"errors"
	"io"
	"strings"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/internal/edit"
	"example.com/quire/pdf/standard"
)

// Document is a file that was opened. It reads what it is asked for from the reader that Open was
// given, which must stay as it is, and holds nothing that must be closed. It is not safe for
// concurrent use.
type Document struct {
	d      *edit.Document
	file   io.ReaderAt
	size   int64
	limits ReadLimits
}

// OpenOptions say how a file is opened.
type OpenOptions struct {
	Password string     // of its user or its owner; empty: what is encrypted opens when its user's is empty
	Limits   ReadLimits // zero fields: the defaults
	Strict   bool       // a damaged file is an error; else it is repaired, with warnings
}

// The names of what is read, which callers need in every program.
type (
	// ReadLimits bounds what reading a file takes.
	ReadLimits = cos.ReadLimits
	// Info is what a file says of itself.
	Info = edit.Info
	// PageInfo is a page and what is on it.
	PageInfo = edit.PageInfo
	// Attachment is a file that a document carries.
	Attachment = edit.Attachment
	// OptionError is an option of an operation that cannot be.
	OptionError = edit.OptionError
)

// Open reads the structure of the PDF file of size bytes in r: one of any maker and version,
// encrypted or not. A damaged one is repaired, and Warnings tells what was wrong.
//
// Errors are *DiagnosticError of KindInput with object and offset, where errors.Is finds
// ErrDamaged, ErrPassword or ErrUnsupported; *LimitError; and those of r.
func (e *Engine) Open(ctx context.Context, r io.ReaderAt, size int64, o OpenOptions) (*Document, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	d, err := edit.Open(r, size, edit.Options{Password: o.Password, Limits: o.Limits, Pages: int(e.limits.Pages), Strict: o.Strict})
	if err != nil {
		err = edit.Told(err)
		if f, ok := errors.AsType[*DiagnosticError](err); ok && o.Password == "" && errors.Is(err, ErrPassword) {
			f.Diagnostics[0].Message = "the file is encrypted and opens with a password only"
		}
		return nil, err
	}
	return &Document{d, r, size, o.Limits}, nil
}

// Pages returns how many pages the file has.
func (d *Document) Pages() int { return len(d.d.Pages) }

// Warnings returns what was found wrong with the file so far and overlooked, the first 100.
func (d *Document) Warnings() []Diagnostic { return d.d.Told() }

// Info reads what the file says of itself: sizes, claims, encryption, signatures, and what its
// pages have. It verifies nothing; an object that cannot be read is left out.
func (d *Document) Info() *Info { return d.d.Info(d.size) }

// Check judges a file of any maker against standards, by the rules that hold for the files this
// engine writes; none stands for those that the file claims. It returns up to 20 findings, the
// first of each clause among them, none for a file that keeps every rule the Judge knows. Standards
// that exclude each other, and none of those that can be judged, are an *OptionError; the other
// errors are those of Open.
func (e *Engine) Check(ctx context.Context, d *Document, ids ...standard.ID) ([]standard.Finding, error) {
	if len(ids) == 0 {
		claims := d.Info().Claims
		for _, name := range claims {
			if id, err := standard.Parse(name); err == nil {
				ids = append(ids, id)
			}
		}
		if len(ids) == 0 {
			return nil, &OptionError{Field: "standard", Got: "none, and the file claims none that is judged", Want: "one of " + strings.Join(standard.Names(), ", ")}
		}
	}
	set, err := standard.Set(ids...)
	if err != nil {
		return nil, &OptionError{Field: "standard", Got: err.Error(), Want: "standards that one file can meet"}
	}
	found, err := d.d.Check(ctx, set)
	return found, told(err)
}

// told is edit.Told for errors that may be none.
func told(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return edit.Told(err)
}
