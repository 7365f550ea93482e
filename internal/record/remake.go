package record

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
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

// Stored is what the storage has of the file that a receipt names.
type Stored string

// What can be stored. Restored bytes were damaged or lost, and are whole again.
const (
	Whole    Stored = "whole"
	Damaged  Stored = "damaged"
	Lost     Stored = "lost"
	Restored Stored = "restored"
)

// Verdict is the answer of [Archive.Remake].
type Verdict struct {
	Answer   Answer `json:"answer"`
	Document Hash   `json:"document,omitzero"`
	File     Hash   `json:"file,omitzero"` // hash of the file that was judged
	At       int64  `json:"at"`            // Differs: offset of the first byte that differs, from 0; -1: unknown
	// Page is the page whose content has the byte At, for Differs; 0: none, or not known.
	Page   int    `json:"page,omitempty"`
	MadeBy string `json:"made_by"` // engine of the receipt
	Engine string `json:"engine"`  // engine here
	Reason string `json:"reason,omitempty"`
	// Field is where the receipt is not that of the file, for Differs without At.
	Field string `json:"field,omitempty"`
	// InAuditLog says that the audit log here has the receipt that was judged by:
	// it is the one that was written when the document was made.
	InAuditLog bool `json:"in_audit_log"`
	// Stored tells of the document's file in storage, which need not be the one that was judged.
	Stored Stored `json:"stored,omitempty"`
}

// String is the answer in one line.
func (v *Verdict) String() string {
	s := v.answer()
	switch v.Stored {
	case Damaged:
		s += "; the stored bytes are damaged"
	case Lost:
		s += "; the stored bytes are lost"
	case Restored:
		s += "; the stored bytes were not whole and are restored"
	case Whole:
	}
	return s
}

func (v *Verdict) answer() string {
	switch v.Answer {
	case Identical:
		return "identical"
	case Differs:
		switch {
		case v.At >= 0 && v.Page > 0:
			return fmt.Sprintf("differs at byte %d, on page %d", v.At, v.Page)
		case v.At >= 0:
			return fmt.Sprintf("differs at byte %d", v.At)
		case v.Field != "":
			return "differs from its receipt: " + v.Field
		}
		return "differs from its receipt"
	case Intact:
		return "intact, made by engine " + v.MadeBy
	case Unknown:
	}
	return "unknown here"
}

// RemakeRequest asks whether a file is the document it claims to be.
type RemakeRequest struct {
	Space Space
	// ID names the document. Zero: it is read from Receipt or from the file's
	// own metadata.
	ID Hash
	// File is what is judged; it is read once, and never held as a whole. Nil: the stored file of
	// ID. When neither ID nor Receipt names the document, it is an io.ReadSeeker.
	File io.Reader
	// Receipt overrides the stored receipt. It counts for a document that this
	// space has: a receipt alone opens nothing.
	Receipt []byte
	// Restore puts the file made again in the place of stored bytes that are damaged or lost, when
	// it is the one of the receipt and the audit log has that.
	Restore bool
}

// Remake makes a kept document again from its template and snapshot and judges
// the file by it, in this order: no such document is known here: Unknown; the
// file's hash is not the receipt's: Differs, at a byte of the file made again;
// the file made again is equal: Identical, whatever the engine; not equal and
// the same engine: Differs; another engine: Intact. What is then Identical or
// Intact is held against the other fields of the receipt, which its document id
// does not cover: one that is not so makes it Differs.
//
// Stored bytes that are damaged or lost are told in Stored beside the answer. The answer about the
// stored file itself is then that about the file made again; ErrDamaged says that its inputs are
// damaged too, or that this engine does not make it. Nothing is written unless Restore says so.
func (a *Archive) Remake(ctx context.Context, r RemakeRequest) (*Verdict, error) {
	v := &Verdict{Answer: Unknown, At: -1, Engine: a.engine.Version()}
	receipt, text, err := a.receiptFor(ctx, r)
	if err != nil {
		return v, v.unknown(err)
	}
	v.Document, v.MadeBy = receipt.Document, receipt.Engine
	if v.InAuditLog, err = a.documents.Chained(ctx, r.Space, receipt.Document, Sum(text)); err != nil {
		return nil, err
	}
	j, err := a.inputs(ctx, receipt)
	if err != nil {
		return v, v.unknown(err)
	}
	kept, err := a.documents.Document(ctx, r.Space, receipt.Document)
	if err != nil {
		return nil, err
	}
	again := &copyMade{job: j, content: receipt.Content}
	if kept.Content == receipt.Content { // else the receipt speaks of another file
		if again.stored, v.Stored, err = a.stored(ctx, receipt.Content); err != nil {
			return nil, err
		}
	}
	defer again.close()
	if err := a.makeAgain(ctx, again, r.Restore && v.InAuditLog && v.Stored != ""); err != nil {
		return nil, err
	}
	if again.restored {
		if err := a.documents.Restored(ctx, r.Space, receipt.Document); err != nil {
			return nil, err
		}
		v.Stored = Restored
	}
	size, err := a.judge(ctx, v, r.File, again)
	if err != nil || v.Answer != Identical && v.Answer != Intact {
		return v, err
	}
	made := remade{receipt: receipt, text: text, inputs: j, size: size}
	if v.Answer == Identical {
		made.rendered = again.rendered
	}
	return v, a.contradict(ctx, v, made)
}

// unknown makes ErrNotFound an answer.
func (v *Verdict) unknown(err error) error {
	if errors.Is(err, ErrNotFound) {
		v.Reason = err.Error()
		return nil
	}
	return err
}

// stored opens the file of a document, nil when it is not whole.
func (a *Archive) stored(ctx context.Context, content Hash) (Blob, Stored, error) {
	blob, err := a.blobs.Open(ctx, content)
	switch {
	case errors.Is(err, ErrDamaged):
		return nil, Damaged, nil
	case errors.Is(err, ErrNotFound):
		return nil, Lost, nil
	}
	return blob, Whole, err
}

// copyMade is a document made again, and what there is to compare it with.
type copyMade struct {
	job      *job
	content  Hash  // of the receipt
	stored   Blob  // nil: it is not whole
	equal    bool  // the file made again is that of the receipt
	at       int64 // where the two differ, when the stored file is whole
	rendered *Rendered
	err      error // why this engine takes the inputs no longer
	restored bool
}

func (c *copyMade) close() {
	if c.stored != nil {
		_ = c.stored.Close() // only read from
	}
}

// makeAgain renders a document and compares it with the stored file, or with its hash when that is
// not whole. Then it may take its place.
func (a *Archive) makeAgain(ctx context.Context, c *copyMade, restore bool) error {
	if c.stored != nil {
		cmp := newComparer(c.stored, true)
		if err := a.renderAgain(ctx, cmp, c); err != nil || c.err != nil {
			return err
		}
		var err error
		c.at, err = cmp.end()
		c.equal = c.at < 0
		return err
	}
	if !restore {
		return a.renderAgain(ctx, io.Discard, c)
	}
	blob, err := a.blobs.Create(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = blob.Abort() }() // does nothing once committed
	if err := a.renderAgain(ctx, blob, c); err != nil || !c.equal {
		return err
	}
	if _, err := blob.Commit(c.content); err != nil {
		return err
	}
	c.restored = true
	c.stored, err = a.blobs.Open(ctx, c.content)
	return err
}

// renderAgain renders into w. That the engine refuses the inputs is noted.
func (a *Archive) renderAgain(ctx context.Context, w io.Writer, c *copyMade) error {
	rendered, err := a.render(ctx, w, c.job)
	if refused(err) {
		c.err = err
		return nil
	}
	if err != nil {
		return fmt.Errorf("make document %s again: %w", c.job.id, err)
	}
	c.rendered, c.equal = rendered, rendered.Hash == c.content
	return nil
}

// judge compares the file with the document and returns the file's size.
func (a *Archive) judge(ctx context.Context, v *Verdict, file io.Reader, c *copyMade) (size int64, err error) {
	other := v.MadeBy != v.Engine
	if c.err != nil && !other { // the same engine took these inputs once
		return 0, fmt.Errorf("make document %s again: %w", v.Document, c.err)
	}
	var at int64 // where the file differs from the stored one, or else from the one made again
	switch {
	case file != nil:
		judged := &counted{ctx: ctx, r: file, sum: sha256.New()}
		if at, err = a.compare(ctx, judged, c); err != nil {
			return 0, err
		}
		if _, err := io.Copy(io.Discard, judged); err != nil {
			return 0, fmt.Errorf("read the file: %w", err)
		}
		v.File, size = Hash(judged.sum.Sum(nil)), judged.size
	case c.stored != nil:
		v.File, size, at = c.content, c.stored.Size(), -1
	case c.equal:
		v.Answer, v.File = Identical, c.content
		return c.rendered.Size, nil
	case v.Stored != Damaged:
		v.Reason = fmt.Sprintf("the file is not in storage, and engine %s does not make it", v.Engine)
		return 0, nil
	default:
		return 0, fmt.Errorf("document %s: the file is not in storage as engine %s made it, and engine %s does not make it: %w",
			v.Document, v.MadeBy, v.Engine, ErrDamaged)
	}
	switch {
	case v.File != c.content && at >= 0:
		v.Answer, v.At = Differs, at
		if c.equal || c.stored == nil { // these are the bytes of the rendering
			v.Page = c.rendered.pageAt(at)
		}
	case v.File != c.content && c.err != nil:
		return 0, fmt.Errorf("make document %s again: %w", v.Document, c.err)
	case v.File != c.content: // it is what this engine makes, and there is no other to compare it with
		v.Answer, v.Field = Differs, "content"
		v.Reason = fmt.Sprintf("the receipt has %s, the file made again has %s", c.content, v.File)
	case c.equal:
		v.Answer = Identical
	case other:
		v.Answer = Intact
		if c.err != nil {
			v.Reason = c.err.Error()
		}
	default:
		v.Answer, v.At = Differs, c.at
		if c.stored == nil {
			v.At = at
		}
		v.Page = c.rendered.pageAt(v.At)
	}
	return size, nil
}

// compare returns where the file differs from the stored file, or else from the one made again.
func (a *Archive) compare(ctx context.Context, file io.Reader, c *copyMade) (int64, error) {
	switch {
	case c.stored != nil:
		cmp := newComparer(file, false)
		if _, err := c.stored.Seek(0, io.SeekStart); err != nil {
			return 0, err
		}
		if _, err := io.Copy(cmp, c.stored); err != nil && !errors.Is(err, errDiffers) {
			return 0, err
		}
		return cmp.end()
	case c.rendered == nil:
		return -1, nil // refused, so there is nothing to compare with: the hash tells
	}
	cmp := newComparer(file, true)
	if err := a.renderAgain(ctx, cmp, c); err != nil {
		return 0, err
	}
	return cmp.end()
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
func (a *Archive) receiptFor(ctx context.Context, r RemakeRequest) (*Receipt, []byte, error) {
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
		_, err = a.documents.Document(ctx, r.Space, given.Document)
		return given, text, err
	}
	ids := []Hash{r.ID}
	if r.ID.IsZero() {
		file, ok := r.File.(io.ReadSeeker)
		if !ok {
			return nil, nil, &RequestError{Field: "document", Got: "nothing", Want: "a document id or a file"}
		}
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			return nil, nil, err
		}
		var err error
		if ids, err = a.engine.DocumentIDs(file); err != nil {
			return nil, nil, err
		}
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			return nil, nil, err
		}
	}
	for _, id := range ids {
		b, err := a.documents.Receipt(ctx, r.Space, id)
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
func (a *Archive) inputs(ctx context.Context, r *Receipt) (*job, error) {
	b, err := a.read(ctx, r.Snapshot)
	if err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	snapshot, err := ParseSnapshot(b)
	if err != nil {
		return nil, err
	}
	if b, err = a.read(ctx, r.Template.Hash); err != nil {
		return nil, fmt.Errorf("template %s: %w", r.Template.Name, err)
	}
	form, err := parseManifest(b)
	if err != nil {
		return nil, err
	}
	files := make(map[string][]byte, len(form.Files))
	for file, h := range form.Files {
		if files[file], err = a.read(ctx, h); err != nil {
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
	return &job{request: Request{Space: r.Space}, template: t, options: r.Options, snapshot: snapshot, id: r.Document}, nil
}

func (a *Archive) read(ctx context.Context, h Hash) ([]byte, error) {
	blob, err := a.blobs.Open(ctx, h)
	if err != nil {
		return nil, err
	}
	defer func() { _ = blob.Close() }() // only read from
	b := make([]byte, blob.Size())
	_, err = io.ReadFull(blob, b)
	return b, err
}

// counted is a reader that ends with ctx, and knows hash and size of what was read.
type counted struct {
	ctx  context.Context // of the one call that reads
	r    io.Reader
	sum  hash.Hash
	size int64
}

func (c *counted) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.r.Read(p)
	c.sum.Write(p[:n])
	c.size += int64(n)
	return n, err
}
