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

// Document is an opened file. It reads on demand from the reader that was given to Open, which must
// not change, and has nothing to close. It is not safe for concurrent use.
type Document struct {
	d      *edit.Document
	file   io.ReaderAt
	size   int64
	limits ReadLimits
}

// OpenOptions are the options of Open. Without a password, an encrypted file opens if its user
// password is empty.
type OpenOptions struct {
	Password string     // the user's or the owner's
	Limits   ReadLimits // zero fields: the defaults
	Strict   bool       // a damaged file is an error; otherwise it is repaired, with warnings
}

// Types of internal packages that callers need.
type (
	// ReadLimits bounds what reading a file may take.
	ReadLimits = cos.ReadLimits
	// Info describes a file.
	Info = edit.Info
	// PageInfo describes a page and its content.
	PageInfo = edit.PageInfo
	// Attachment is an attached file.
	Attachment = edit.Attachment
	// OptionError is an invalid option of an operation.
	OptionError = edit.OptionError
)

// Open reads the structure of the PDF file of size bytes in r: from any producer, in any version,
// encrypted or not. A damaged file is repaired, and Warnings lists what was wrong.
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

// Pages returns the number of pages.
func (d *Document) Pages() int { return len(d.d.Pages) }

// Warnings returns the defects of the file that were found and tolerated so far, at most 100.
func (d *Document) Warnings() []Diagnostic { return d.d.Told() }

// Info reads sizes, claims, encryption, signatures and the properties of each page. It verifies
// nothing. An object that cannot be read is omitted.
func (d *Document) Info() *Info { return d.d.Info(d.size) }

// Check checks a file from any producer against standards, by the same rules as the files that this
// engine writes. Without ids it checks the standards that the file claims. It returns up to 20
// findings, among them the first of each clause, and none if the file fulfils every rule. Standards
// that exclude each other, and no standard to check, are an *OptionError. Other errors are those of
// Open.
func (e *Engine) Check(ctx context.Context, d *Document, ids ...standard.ID) ([]standard.Finding, error) {
	if len(ids) == 0 {
		claims := d.Info().Claims
		for _, name := range claims {
			if id, err := standard.Parse(name); err == nil {
				ids = append(ids, id)
			}
		}
		if len(ids) == 0 {
			return nil, &OptionError{Field: "standard", Got: "none, and the file claims none of them", Want: "one of " + strings.Join(standard.Names(), ", ")}
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
