package record

import (
	"context"
	"io"
	"time"
)

// Collector gets the data of configured sources.
type Collector interface {
	// Collect calls the sources, at the same time where that helps, and returns one element per
	// call in the order of calls. A source that fails is an element with the outcome Failed, never
	// an error and never a hang: an error means that a call itself is wrong (*RequestError for an
	// unknown source or parameter) or that ctx has ended.
	Collect(ctx context.Context, space Space, calls []SourceCall) ([]Collected, error)
}

// Rendering is everything that decides the bytes of a file.
type Rendering struct {
	Space    Space // whose turn it is, when many wait
	Template *Template
	Data     []byte    // canonical JSON object
	Time     time.Time // zero: no date
	Document Hash      // written into the file's metadata
	Options  Options
	// Signature is that of the first Rendered of these inputs: it is written again, without the
	// key. Nil: a file whose template asks for a signature is signed anew.
	Signature []byte
	// Draft leaves the file unsigned, whatever its template asks for.
	Draft bool
}

// Rendered describes the file that was rendered.
type Rendered struct {
	Pages int
	Title string // the file's own
	Name  string // suggested file name; empty: none
	Size  int64
	Hash  Hash // of the file
	// Unique says that the same inputs give another file each time, as an encrypted one is.
	Unique bool
	// Signature is needed to render the same file again; nil: it is not signed.
	Signature []byte
	// PageBytes has the positions of page contents in the file.
	PageBytes []PageBytes
	// Warnings are problems that did not stop the rendering.
	Warnings []Problem
}

// PageBytes are the bytes from From to before To: the content of a page or a part of it.
type PageBytes struct {
	Page     int // from 1
	From, To int64
}

// Engine turns a template and data into a file.
type Engine interface {
	// Render writes the file to w. The same Rendering and the same engine give the
	// same bytes. Errors are *TemplateError, *DataError (Path and Pointer set, places not) and
	// *LimitError, or wrap what w returned; then w may have taken part of a file.
	Render(ctx context.Context, w io.Writer, r Rendering) (*Rendered, error)
	// Signer returns the name of the signer that a template asks for; empty: none. Errors are those
	// of Render about the template.
	Signer(ctx context.Context, space Space, t *Template) (string, error)
	// DocumentIDs finds the document ids in the metadata of a file, in order; errors are those of
	// r.
	DocumentIDs(r io.Reader) ([]Hash, error)
	// Version names what decides the bytes besides the Rendering.
	Version() string
}

// BlobWriter takes the bytes of a blob that does not have its name yet. It is for one goroutine.
type BlobWriter interface {
	io.Writer
	// Commit makes the bytes durable under their hash, which the caller computed while writing.
	// When it returns nil, they survive a power failure. Bytes with another hash are damaged.
	Commit(h Hash) (size int64, err error)
	// Abort drops the bytes and leaves nothing. After Commit it does nothing.
	Abort() error
}

// Blob is an open blob. Its bytes are checked: if they do not match the blob's name, reading
// returns ErrDamaged, never the bytes.
type Blob interface {
	io.ReadSeekCloser
	io.ReaderAt
	Size() int64
}

// Blobs keeps bytes under their hash. Where the storage itself fails, errors are ErrNoSpace or
// ErrUnavailable.
type Blobs interface {
	Create(ctx context.Context) (BlobWriter, error)
	// Open returns ErrNotFound for a missing blob and ErrDamaged for one whose bytes do not match
	// its name.
	Open(ctx context.Context, h Hash) (Blob, error)
	// Has reports whether h is there and would survive a loss of power.
	Has(ctx context.Context, h Hash) (bool, error)
}

// Documents keeps documents with their receipts. Where the storage itself fails, errors are
// ErrBusy, ErrNoSpace or ErrUnavailable.
type Documents interface {
	// Save keeps a document with its receipt and, when report is not "", files it as File does, all
	// in one transaction that is durable when Save returns nil. A document whose id is there
	// already stays as it is: it is returned and created is false.
	Save(ctx context.Context, d *Document, receipt []byte, report string) (kept *Document, created bool, err error)
	// File adds a document to a report and makes it the report's latest, unless the report already
	// has it. ErrNotFound if the space has no such document.
	File(ctx context.Context, space Space, id Hash, report string) (*Document, error)
	// Restored says in the audit log that the stored file of a document was not whole and has been
	// replaced by its equal. ErrNotFound when the space has no such document.
	Restored(ctx context.Context, space Space, id Hash) error
	// Document returns ErrNotFound when the space has no such document.
	Document(ctx context.Context, space Space, id Hash) (*Document, error)
	// Receipt returns the stored form of the document's receipt, or ErrNotFound.
	Receipt(ctx context.Context, space Space, id Hash) ([]byte, error)
	// Chained reports whether the audit log has the receipt with this hash for the document.
	Chained(ctx context.Context, space Space, id, receipt Hash) (bool, error)
}

// Templates finds templates by name.
type Templates interface {
	// Template returns the current version, or ErrNotFound.
	Template(ctx context.Context, space Space, name string) (*Template, error)
}

// Reports finds reports by name.
type Reports interface {
	// Report returns the report, or ErrNotFound.
	Report(ctx context.Context, space Space, name string) (*Report, error)
}
