package pdf

import (
	"context"
	"io"
	"time"

	"example.com/quire/pdf/internal/edit"
)

// Attachments lists the files that the document carries.
func (d *Document) Attachments() ([]Attachment, error) {
	list, err := d.d.Attachments()
	return list, told(err)
}

// Extract writes a file that the document carries to w, as it is: it may be of any kind. An unknown
// name is an *OptionError.
func (d *Document) Extract(w io.Writer, name string) error { return told(d.d.Extract(w, name)) }

// Relationships are what an attached file can be to a document (ISO 32000-2, table 43).
func Relationships() []string { return edit.Relationships() }

// Attach makes the document carry a file: a says name, description, media type and relationship,
// its Size counts for nothing. Modified is when the file was changed; zero: it is not said.
// PDF/A-2b and PDF/A-4 take no files, PDF/A-3b and PDF/A-4f any: a claim that no longer holds goes
// with a warning.
func Attach(a Attachment, data []byte, modified time.Time) Op {
	return Op{apply: func(_ context.Context, c *change) error { return c.d.Attach(a, data, modified) }}
}

// Detach takes a file that the document carries away. An unknown name is an *OptionError.
func Detach(name string) Op {
	return Op{apply: func(_ context.Context, c *change) error { return c.d.Detach(name) }}
}
