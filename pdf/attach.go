package pdf

import (
	"context"
	"io"
	"time"

	"example.com/quire/pdf/internal/edit"
)

// Attachments lists the attached files of the document.
func (d *Document) Attachments() ([]Attachment, error) {
	list, err := d.d.Attachments()
	return list, told(err)
}

// Extract writes the content of an attached file to w, unchanged and of any type. An unknown name
// is an *OptionError.
func (d *Document) Extract(w io.Writer, name string) error { return told(d.d.Extract(w, name)) }

// Relationships are the values for the relationship of an attached file to the document (ISO
// 32000-2, table 43).
func Relationships() []string { return edit.Relationships() }

// Attach attaches a file to the document. a gives name, description, media type and relationship;
// its Size is ignored. Modified is the modification time of the file; zero: none is written.
// PDF/A-2b and PDF/A-4 allow no attachments, PDF/A-3b and PDF/A-4f any. A claim that no longer
// holds is dropped with a warning.
func Attach(a Attachment, data []byte, modified time.Time) Op {
	return Op{apply: func(_ context.Context, c *change) error { return c.d.Attach(a, data, modified) }}
}

// Detach removes an attached file. An unknown name is an *OptionError.
func Detach(name string) Op {
	return Op{apply: func(_ context.Context, c *change) error { return c.d.Detach(name) }}
}
