package record

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
)

// Answer is how a file compares with the document it claims to be.
type Answer string

// The answers, in the order in which they are looked for.
const (
	Unknown   Answer = "unknown"   // no such document here, or its inputs are gone
	Differs   Answer = "differs"   // at a byte, from the file made again
	Identical Answer = "identical" // with the file made again
	Intact    Answer = "intact"    // as the receipt says, but made by another engine, which writes other bytes
)

// Verdict is the answer of [Maker.Remake].
type Verdict struct {
	Answer   Answer `json:"answer"`
	Document Hash   `json:"document,omitzero"`
	File     Hash   `json:"file,omitzero"` // hash of the file that was judged
	At       int64  `json:"at"`            // Differs: offset of the first byte that differs, from 0; -1: unknown
	MadeBy   string `json:"made_by"`       // engine of the receipt
	Engine   string `json:"engine"`        // engine here
	Reason   string `json:"reason,omitempty"`
	// Field is where the receipt is not that of the file, for Differs without At.
	Field string `json:"field,omitempty"`
	// InAuditLog says that the audit log here has the receipt that was judged by:
	// it is the one that was written when the document was made.
	InAuditLog bool `json:"in_audit_log"`
}

// String is the answer in one line.
func (v *Verdict) String() string {
	switch v.Answer {
	case Identical:
		return "identical"
	case Differs:
		switch {
		case v.At >= 0:
			return fmt.Sprintf("differs at byte %d", v.At)
		case v.Field != "":
			return "differs from its receipt: " + v.Field
		}
		return "differs from its receipt"
	case Intact:
		return "intact, made by engine " + v.MadeBy
	}
	return "unknown here"
}

// ExitCode is the exit status of quire verify: 0 identical, 1 differs, 3
// intact, 4 unknown.
func (v *Verdict) ExitCode() int {
	switch v.Answer {
	case Identical:
		return 0
	case Differs:
		return 1
	case Intact:
		return 3
	}
	return 4
}

// RemakeRequest asks whether a file is the document it claims to be.
type RemakeRequest struct {
	Space Space
	// ID names the document. Zero: it is read from Receipt or from the file's
	// own metadata.
	ID Hash
	// File is what is judged. Nil: the stored file of ID.
	File io.ReadSeeker
	// Receipt overrides the stored receipt. It counts for a document that this
	// space has: a receipt alone opens nothing.
	Receipt []byte
}

// Remake makes a kept document again from its template and snapshot and judges
// the file by it, in this order: no such document is known here: Unknown; the
// file's hash is not the receipt's: Differs, at a byte of the file made again;
// the file made again is equal: Identical, whatever the engine; not equal and
// the same engine: Differs; another engine: Intact. What is then Identical or
// Intact is held against the other fields of the receipt, which its document id
// does not cover: one that is not so makes it Differs. Nothing is written.
func (m *Maker) Remake(ctx context.Context, r RemakeRequest) (*Verdict, error) {
	if m.p.Documents == nil {
		return nil, errors.New("remake: this Maker keeps nothing")
	}
	v := &Verdict{Answer: Unknown, At: -1, Engine: m.p.Renderer.Engine()}
	receipt, text, err := m.receiptFor(ctx, r)
	if errors.Is(err, ErrNotFound) {
		v.Reason = err.Error()
		return v, nil
	} else if err != nil {
		return nil, err
	}
	v.Document, v.MadeBy = receipt.Document, receipt.Engine
	if v.InAuditLog, err = m.p.Documents.Chained(ctx, r.Space, receipt.Document, Sum(text)); err != nil {
		return nil, err
	}

	j, err := m.inputs(ctx, receipt)
	file := r.File
	if err == nil && file == nil {
		var stored Blob
		if stored, err = m.p.Blobs.Open(ctx, receipt.Content); err == nil {
			defer func() { _ = stored.Close() }() // only read from
			file = stored
		}
	}
	if errors.Is(err, ErrNotFound) {
		v.Reason = err.Error()
		return v, nil
	} else if err != nil {
		return nil, err
	}
	var size int64
	if v.File, size, err = hashFrom(ctx, file); err != nil {
		return nil, err
	}
	at, again, err := m.compare(ctx, file, j)
	other := v.MadeBy != v.Engine
	if err != nil {
		// An engine that no longer takes these inputs cannot write the same bytes.
		if !other || v.File != receipt.Content || !refused(err) {
			return nil, fmt.Errorf("make document %s again: %w", receipt.Document, err)
		}
		v.Answer, v.Reason = Intact, err.Error()
		return v, m.contradict(ctx, v, remade{receipt, text, j, size, nil})
	}
	switch {
	case v.File != receipt.Content:
		v.Answer, v.At = Differs, at
		if at < 0 { // equal to what this engine makes, so the kept file must be the other one
			if v.At, err = m.compareKept(ctx, file, receipt.Content); v.At < 0 {
				v.Field = "content"
				v.Reason = fmt.Sprintf("the receipt has %s, the file made again has %s", receipt.Content, v.File)
			}
		}
		return v, err
	case at < 0:
		v.Answer = Identical
	case other:
		v.Answer, again = Intact, nil
	default:
		v.Answer, v.At = Differs, at
		return v, nil
	}
	return v, m.contradict(ctx, v, remade{receipt, text, j, size, again})
}

// refused reports an error that the same inputs would give again.
func refused(err error) bool {
	if _, ok := errors.AsType[*TemplateError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*DataError](err); ok {
		return true
	}
	_, ok := errors.AsType[*LimitError](err)
	return ok
}

// receiptFor finds the receipt to judge by, and its stored form. ErrNotFound says
// that the document is unknown here.
func (m *Maker) receiptFor(ctx context.Context, r RemakeRequest) (*Receipt, []byte, error) {
	if r.Receipt != nil {
		given, text, err := parseReceipt(r.Receipt)
		if err != nil {
			return nil, nil, err
		}
		if !r.ID.IsZero() && r.ID != given.Document {
			return nil, nil, &RequestError{Field: "receipt", Got: "that of document " + given.Document.String(), Want: "that of " + r.ID.String()}
		}
		if given.Space != r.Space {
			return nil, nil, fmt.Errorf("document %s: %w", given.Document, ErrNotFound)
		}
		// The id is a hash over template and snapshot, so a document of this id in
		// this space proves that the space may see them.
		_, err = m.p.Documents.Document(ctx, r.Space, given.Document)
		return given, text, err
	}
	ids := []Hash{r.ID}
	if r.ID.IsZero() {
		if r.File == nil {
			return nil, nil, &RequestError{Field: "document", Got: "nothing", Want: "a document id or a file"}
		}
		if _, err := r.File.Seek(0, io.SeekStart); err != nil {
			return nil, nil, err
		}
		var err error
		if ids, err = m.p.Renderer.DocumentIDs(r.File); err != nil {
			return nil, nil, err
		}
	}
	for _, id := range ids {
		b, err := m.p.Documents.Receipt(ctx, r.Space, id)
		if errors.Is(err, ErrNotFound) {
			continue
		} else if err != nil {
			return nil, nil, err
		}
		stored, text, err := parseReceipt(b)
		if err != nil {
			return nil, nil, fmt.Errorf("stored receipt of document %s: %w: %w", id, err, ErrDamaged)
		}
		return stored, text, nil
	}
	switch len(ids) {
	case 0:
		return nil, nil, fmt.Errorf("document id in the file's metadata: %w", ErrNotFound)
	case 1:
		return nil, nil, fmt.Errorf("document %s: %w", ids[0], ErrNotFound)
	}
	return nil, nil, fmt.Errorf("any of the %d documents that the file names: %w", len(ids), ErrNotFound)
}

// inputs reads back what the receipt's document was made of.
func (m *Maker) inputs(ctx context.Context, r *Receipt) (*job, error) {
	b, err := m.read(ctx, r.Snapshot)
	if err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	snapshot, err := ParseSnapshot(b)
	if err != nil {
		return nil, err
	}
	if b, err = m.read(ctx, r.Template.Hash); err != nil {
		return nil, fmt.Errorf("template %s: %w", r.Template.Name, err)
	}
	form, err := parseManifest(b)
	if err != nil {
		return nil, err
	}
	files := make(map[string][]byte, len(form.Files))
	for file, h := range form.Files {
		if files[file], err = m.read(ctx, h); err != nil {
			return nil, fmt.Errorf("template %s: file %s: %w", r.Template.Name, file, err)
		}
	}
	t, err := NewTemplate(r.Template.Name, form.Main, files)
	if err != nil {
		return nil, err
	}
	if t.hash != r.Template.Hash {
		return nil, fmt.Errorf("template %s: %w", r.Template.Name, ErrDamaged)
	}
	return &job{template: t, options: r.Options, snapshot: snapshot, id: r.Document}, nil
}

func (m *Maker) read(ctx context.Context, h Hash) ([]byte, error) {
	blob, err := m.p.Blobs.Open(ctx, h)
	if err != nil {
		return nil, err
	}
	defer func() { _ = blob.Close() }() // only read from
	b := make([]byte, blob.Size())
	_, err = io.ReadFull(blob, b)
	return b, err
}

// hashFrom returns the hash of the whole file and its size.
func hashFrom(ctx context.Context, file io.ReadSeeker) (Hash, int64, error) {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return Hash{}, 0, err
	}
	sum := sha256.New()
	untilEnd := readFunc(func(p []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		return file.Read(p)
	})
	size, err := io.Copy(sum, untilEnd)
	if err != nil {
		return Hash{}, 0, fmt.Errorf("read the file: %w", err)
	}
	return Hash(sum.Sum(nil)), size, nil
}

// readFunc is an io.Reader made of a function.
type readFunc func(p []byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

// compare renders j and returns the offset of the first byte in which file
// differs from it, or -1 and what rendering told.
func (m *Maker) compare(ctx context.Context, file io.ReadSeeker, j *job) (int64, *Rendered, error) {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return 0, nil, err
	}
	c := comparer{file: bufio.NewReaderSize(file, 64<<10), differs: -1}
	rendered, err := m.render(ctx, &c, j)
	if err != nil && c.differs < 0 {
		return 0, nil, err
	}
	at, err := c.end()
	return at, rendered, err
}

// compareKept is compare with a kept file: -1 also when there is none.
func (m *Maker) compareKept(ctx context.Context, file io.ReadSeeker, content Hash) (int64, error) {
	kept, err := m.p.Blobs.Open(ctx, content)
	if errors.Is(err, ErrNotFound) {
		return -1, nil
	} else if err != nil {
		return 0, err
	}
	defer func() { _ = kept.Close() }() // only read from
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return 0, err
	}
	c := comparer{file: bufio.NewReaderSize(file, 64<<10), differs: -1}
	if _, err := io.Copy(&c, kept); err != nil && c.differs < 0 {
		return 0, err
	}
	return c.end()
}

// errDiffers stops a rendering whose answer is known.
var errDiffers = errors.New("the files differ")

// comparer is a writer that compares what is written with a file.
type comparer struct {
	file    *bufio.Reader
	at      int64
	differs int64 // offset, or -1
	buf     []byte
}

func (c *comparer) Write(p []byte) (int, error) {
	if c.differs >= 0 {
		return 0, errDiffers
	}
	if cap(c.buf) < len(p) {
		c.buf = make([]byte, len(p))
	}
	n, err := io.ReadFull(c.file, c.buf[:len(p)])
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return 0, fmt.Errorf("read the file: %w", err)
	}
	got := c.buf[:n]
	if !bytes.Equal(got, p) {
		i := 0
		for i < n && got[i] == p[i] {
			i++
		}
		c.differs = c.at + int64(i)
		return 0, errDiffers
	}
	c.at += int64(len(p))
	return len(p), nil
}

// end returns where the files differ, or -1. A file that goes on differs at the
// end of the other.
func (c *comparer) end() (int64, error) {
	if c.differs >= 0 {
		return c.differs, nil
	}
	if _, err := c.file.ReadByte(); err == nil {
		return c.at, nil
	} else if !errors.Is(err, io.EOF) {
		return 0, fmt.Errorf("read the file: %w", err)
	}
	return -1, nil
}
