package record

import (
	"bytes"
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
	Differs   Answer = "differs"   // at a byte, from the file rendered again
	Identical Answer = "identical" // to the file rendered again
	Intact    Answer = "intact"    // as the receipt says, but made by another engine, which writes other bytes
)

// Stored is the state of the stored file that a receipt names.
type Stored string

// The states. Restored bytes were damaged or missing, and are complete again.
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
	File     Hash   `json:"file,omitzero"` // hash of the file that was checked
	At       int64  `json:"at"`            // Differs: offset of the first byte that differs, from 0; -1: unknown
	// Page is the page whose content has the byte At, for Differs; 0: none, or not known.
	Page   int    `json:"page,omitempty"`
	MadeBy string `json:"made_by"` // engine of the receipt
	Engine string `json:"engine"`  // engine here
	Reason string `json:"reason,omitempty"`
	// Field is the field of the receipt that does not match the file, for Differs without At.
	Field string `json:"field,omitempty"`
	// InAuditLog says that this server's audit log has the receipt that was used: it was written
	// when the document was made.
	InAuditLog bool `json:"in_audit_log"`
	// Stored is the state of the document's file in storage, which may be another than the checked
	// file.
	Stored Stored `json:"stored,omitempty"`
}

// String is the answer in one line.
func (v *Verdict) String() string {
	s := "unknown here"
	switch {
	case v.Answer == Identical:
		s = "identical"
	case v.Answer == Intact:
		s = "intact, made by engine " + v.MadeBy
	case v.Answer == Differs && v.At >= 0:
		s = fmt.Sprintf("differs at byte %d", v.At)
		if v.Page > 0 {
			s += fmt.Sprintf(", on page %d", v.Page)
		}
	case v.Answer == Differs:
		s = join("differs from its receipt", v.Field)
	}
	switch v.Stored {
	case Damaged, Lost:
		s += "; the stored bytes are " + string(v.Stored)
	case Restored:
		s += "; the stored bytes were damaged or missing and are restored"
	case Whole:
	}
	return s
}

// RemakeRequest asks whether a file is the document that it claims to be.
type RemakeRequest struct {
	Space Space
	// ID names the document. Zero: it is read from Receipt or from the file's own metadata.
	ID Hash
	// File is the file to check. It is read once, and never held as a whole. Nil: the stored file
	// of ID. If neither ID nor Receipt identifies the document, it must be an io.ReadSeeker.
	File io.Reader
	// Receipt overrides the stored receipt. It counts for a document that this
	// space has: a receipt alone opens nothing.
	Receipt []byte
	// Restore replaces damaged or missing stored bytes by the file rendered again, if it is the
	// file of the receipt and the audit log has that receipt.
	Restore bool
}

// Remake renders a stored document again from its template and snapshot and compares a file with
// it, in this order: the document is unknown: Unknown; the file's hash is not the receipt's:
// Differs, at a byte of the file rendered again; the file rendered again is equal: Identical, with
// any engine; it is not equal and the engine is the same: Differs; the engine is another: Intact.
// For Identical and Intact, the other fields of the receipt, which the document id does not cover,
// are compared too; a difference makes it Differs.
//
// Damaged or missing stored bytes are reported in Stored, apart from the answer. The answer about
// the stored file itself is then the answer about the file rendered again. ErrDamaged says that its
// inputs are damaged too, or that this engine does not render that file. Nothing is written without
// Restore.
func (a *Archive) Remake(ctx context.Context, r RemakeRequest) (*Verdict, error) {
	v := &Verdict{Answer: Unknown, At: -1, Engine: a.engine.Version()}
	receipt, text, err := a.receiptFor(ctx, r)
	if err != nil {
		return v, v.unknown(err)
	}
	// The id is a hash over template and snapshot, so a document of this id in
	// this space proves that the space may see them.
	kept, err := a.documents.Document(ctx, r.Space, receipt.Document)
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
	m := &remake{Archive: a, verdict: v, receipt: receipt, text: text, job: j, at: -1}
	if kept.Content == receipt.Content { // else the receipt speaks of another file
		if m.stored, v.Stored, err = a.stored(ctx, receipt.Content); err != nil {
			return nil, err
		}
	}
	defer func() {
		if m.stored != nil {
			_ = m.stored.Close() // only read from
		}
	}()
	if r.File != nil {
		m.file = &counted{ctx: ctx, r: r.File, sum: sha256.New()}
	}
	if err := m.make(ctx, r.Restore && v.InAuditLog && v.Stored != ""); err != nil {
		return nil, err
	}
	size, err := m.judge()
	if err != nil || v.Answer != Identical && v.Answer != Intact {
		return v, err
	}
	return v, m.contradict(ctx, size)
}

// unknown makes ErrNotFound an answer.
func (v *Verdict) unknown(err error) error {
	if errors.Is(err, ErrNotFound) {
		v.Reason = err.Error()
		return nil
	}
	return err
}

// remake is a document that is made again, and what there is to compare it with.
type remake struct {
	*Archive
	verdict  *Verdict
	receipt  *Receipt
	text     []byte // the receipt's canonical form
	job      *job
	file     *counted  // nil: the stored one is judged
	stored   Blob      // nil: it is not whole
	rendered *Rendered // nil: this engine takes the inputs no longer, and refusal says why
	refusal  error
	at       int64 // where the file made again differs from the stored one, or else from file; -1: nowhere
}

// make renders the document and compares it with the stored file, or else with the one that is
// judged. With restore it first takes the place of a stored file that is not whole.
func (m *remake) make(ctx context.Context, restore bool) (err error) {
	if m.stored == nil && restore {
		if m.rendered, err = m.replace(ctx, m.job, m.receipt.Content, func(string) {}); err != nil {
			return err
		}
		if m.rendered != nil {
			m.verdict.Stored = Restored
			m.stored, err = m.blobs.Open(ctx, m.receipt.Content)
			return err
		}
	}
	var other io.Reader = bytes.NewReader(nil) // where there is neither, the hash alone tells
	switch {
	case m.stored != nil:
		other = m.stored
	case m.file != nil:
		other = m.file
	}
	c := newComparer(other)
	m.rendered, err = m.render(ctx, c, m.job)
	switch {
	case refused(err):
		m.refusal = err
		return nil
	case err != nil:
		return fmt.Errorf("make document %s again: %w", m.job.id, err)
	}
	m.at, err = c.end()
	return err
}

// same reports whether the file made again is that of the receipt.
func (m *remake) same() bool { return m.rendered != nil && m.rendered.Hash == m.receipt.Content }

// judge compares the file with the document and returns the file's size.
func (m *remake) judge() (size int64, err error) {
	v, content := m.verdict, m.receipt.Content
	other := v.MadeBy != v.Engine
	if m.refusal != nil && !other { // the same engine took these inputs once
		return 0, fmt.Errorf("make document %s again: %w", v.Document, m.refusal)
	}
	at := m.at // where the file differs from the stored one, or else from the one made again
	switch {
	case m.file != nil:
		if m.stored != nil {
			if at, err = m.compareStored(); err != nil {
				return 0, err
			}
		}
		if _, err := io.Copy(io.Discard, m.file); err != nil {
			return 0, fmt.Errorf("read the file: %w", err)
		}
		v.File, size = Hash(m.file.sum.Sum(nil)), m.file.size
	case m.stored != nil:
		v.File, size = content, m.stored.Size()
	case m.same():
		v.File, size = content, m.rendered.Size
	case v.Stored == Damaged:
		return 0, m.notMade(v.Document, v.MadeBy)
	default:
		v.Reason = fmt.Sprintf("the file is not in storage, and engine %s does not produce it", v.Engine)
		return 0, nil
	}
	switch {
	case v.File != content && at >= 0:
		v.Answer, v.At = Differs, at
		if m.same() || m.stored == nil { // these are the bytes of the rendering
			v.Page = m.rendered.pageAt(at)
		}
	case v.File != content && m.refusal != nil:
		return 0, fmt.Errorf("make document %s again: %w", v.Document, m.refusal)
	case v.File != content: // it is what this engine makes, and there is no other to compare it with
		v.Answer, v.Field = Differs, "content"
		v.Reason = fmt.Sprintf("the receipt has %s, the file rendered again has %s", content, v.File)
	case m.same():
		v.Answer = Identical
	case other:
		v.Answer = Intact
		if m.refusal != nil {
			v.Reason = m.refusal.Error()
		}
	default:
		v.Answer, v.At, v.Page = Differs, m.at, m.rendered.pageAt(m.at)
	}
	return size, nil
}

// compareStored returns where the file differs from the stored one, or -1.
func (m *remake) compareStored() (int64, error) {
	c := newComparer(m.file)
	if _, err := io.Copy(c, io.NewSectionReader(m.stored, 0, m.stored.Size())); err != nil {
		return 0, err
	}
	return c.end()
}

// receiptFor finds the receipt to judge by, and its stored form. ErrNotFound says
// that the document is unknown here.
func (a *Archive) receiptFor(ctx context.Context, r RemakeRequest) (*Receipt, []byte, error) {
	if r.Receipt != nil {
		given, text, err := ParseReceipt(r.Receipt)
		if err != nil {
			return nil, nil, err
		}
		if !r.ID.IsZero() && r.ID != given.Document {
			return nil, nil, &RequestError{Field: "receipt", Got: "that of document " + given.Document.String(), Want: "that of " + r.ID.String()}
		}
		if given.Space != r.Space {
			return nil, nil, fmt.Errorf("document %s: %w", given.Document, ErrNotFound)
		}
		return given, text, nil
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
		stored, text, err := ParseReceipt(b)
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
	form, err := a.manifest(ctx, r.Template.Hash)
	if err != nil {
		return nil, fmt.Errorf("template %s: %w", r.Template.Name, err)
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
	signature, err := a.signature(ctx, r.Space, r.Document, r.Signer)
	if err != nil {
		return nil, err
	}
	return &job{request: Request{Space: r.Space, Inline: t, Options: r.Options}, snapshot: snapshot, signer: r.Signer, id: r.Document, signature: signature}, nil
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
