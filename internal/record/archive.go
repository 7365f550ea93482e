package record

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
)

// Archive has the documents that are kept, and proves and mends them. It is safe for concurrent
// use.
type Archive struct {
	*Renderer
	blobs     Blobs
	documents Documents
}

// NewArchive returns the archive of these blobs and documents.
func NewArchive(e Engine, b Blobs, d Documents) *Archive {
	return &Archive{Renderer: NewRenderer(e), blobs: b, documents: d}
}

// keepInputs commits what is needed to make the document again.
func (a *Archive) keepInputs(ctx context.Context, j *job) error {
	t := j.request.Inline
	for _, file := range slices.Sorted(maps.Keys(t.Files)) {
		if err := a.keep(ctx, t.form.Files[file], t.Files[file]); err != nil {
			return fmt.Errorf("keep template file %s: %w", file, err)
		}
	}
	if err := a.keep(ctx, t.hash, t.text); err != nil {
		return fmt.Errorf("keep template %s: %w", t.Name, err)
	}
	if err := a.keep(ctx, j.snapshot.Hash, j.snapshot.Bytes); err != nil {
		return fmt.Errorf("keep snapshot: %w", err)
	}
	if j.signature != nil {
		if err := a.keep(ctx, Sum(j.signature), j.signature); err != nil {
			return fmt.Errorf("keep signature: %w", err)
		}
	}
	return nil
}

// signature reads back the signature of a document, which its stored receipt names: the hash in
// another receipt is that of any blob. nil: it is not signed.
func (a *Archive) signature(ctx context.Context, space Space, id Hash, signer string) ([]byte, error) {
	if signer == "" {
		return nil, nil
	}
	h, err := a.signatureHash(ctx, space, id)
	if err != nil {
		return nil, err
	}
	b, err := a.read(ctx, h)
	if err != nil {
		return nil, fmt.Errorf("signature: %w", err)
	}
	return b, nil
}

// signatureHash returns the hash of the signature of a signed document.
func (a *Archive) signatureHash(ctx context.Context, space Space, id Hash) (Hash, error) {
	b, err := a.documents.Receipt(ctx, space, id)
	if err != nil {
		return Hash{}, err
	}
	r, _, err := ParseReceipt(b)
	if err != nil {
		return Hash{}, fmt.Errorf("stored receipt of document %s: %w: %w", id, err, ErrDamaged)
	}
	return r.Signature, nil
}

// keep commits b under its hash, unless it is there whole.
func (a *Archive) keep(ctx context.Context, name Hash, b []byte) error {
	if whole, err := a.whole(ctx, name); err != nil || whole {
		return err
	}
	w, err := a.blobs.Create(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = w.Abort() }() // does nothing once committed
	if _, err := w.Write(b); err != nil {
		return err
	}
	_, err = w.Commit(name)
	return err
}

// whole reports whether a blob is there, durable and undamaged. A name alone
// says nothing of the bytes, so they are read.
func (a *Archive) whole(ctx context.Context, h Hash) (bool, error) {
	if there, err := a.blobs.Has(ctx, h); err != nil || !there {
		return false, err
	}
	blob, _, err := a.stored(ctx, h)
	if err != nil || blob == nil {
		return false, err
	}
	return true, blob.Close()
}

// stored opens a blob, nil when it is not whole.
func (a *Archive) stored(ctx context.Context, h Hash) (Blob, Stored, error) {
	blob, err := a.blobs.Open(ctx, h)
	switch {
	case errors.Is(err, ErrDamaged):
		return nil, Damaged, nil
	case errors.Is(err, ErrNotFound):
		return nil, Lost, nil
	}
	return blob, Whole, err
}

// refused reports an error that the same inputs would give again.
func refused(err error) bool {
	return errors.As(err, new(*TemplateError)) || errors.As(err, new(*DataError)) || errors.As(err, new(*LimitError))
}

// replace makes the file of a document again and puts it in the place of the stored one, which is
// not whole. When this engine makes another file, or none, it returns nil.
func (a *Archive) replace(ctx context.Context, j *job, content Hash, done func(stage string)) (*Rendered, error) {
	blob, err := a.blobs.Create(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = blob.Abort() }() // does nothing once committed
	rendered, err := a.render(ctx, blob, j)
	if err != nil && !refused(err) {
		return nil, fmt.Errorf("make document %s again: %w", j.id, err)
	}
	if err != nil || rendered.Hash != content {
		return nil, nil //nolint:nilnil // another file or none, as documented
	}
	done(StageRender)
	if _, err := blob.Commit(content); err != nil {
		return nil, err
	}
	if err := a.documents.Restored(ctx, j.request.Space, j.id); err != nil {
		return nil, err
	}
	done(StageCommit)
	return rendered, nil
}

// mend makes the file of a document again when the stored one is gone or
// damaged. What this engine makes takes its place only when it is the same.
func (a *Archive) mend(ctx context.Context, kept *Document, j *job, w *watch) error {
	if whole, err := a.whole(ctx, kept.Content); err != nil || whole {
		return err
	}
	rendered, err := a.replace(ctx, j, kept.Content, w.stage)
	if err == nil && rendered == nil {
		err = a.notMade(kept.ID, kept.Engine)
	}
	return err
}

// notMade is the error of a document whose file is not whole and not made by this engine.
func (a *Archive) notMade(id Hash, madeBy string) error {
	return fmt.Errorf("document %s: the file that engine %s made is not in storage, and engine %s does not produce it: %w",
		id, madeBy, a.engine.Version(), ErrDamaged)
}

// Damage is stored bytes of a document that are not whole.
type Damage struct {
	What   string // the file, the snapshot, the signature, the template, the template file NAME
	Hash   Hash
	Stored Stored // Damaged or Lost
}

// String says what is damaged, and how.
func (d Damage) String() string { return d.What + " (" + d.Hash.String() + ") is " + string(d.Stored) }

// Inspect reads every stored byte of a document and returns the parts that are damaged or missing.
// Nothing is rendered or written.
func (a *Archive) Inspect(ctx context.Context, d *Document) (found []Damage, err error) {
	look := func(what string, h Hash) (whole bool) { // not after an error
		if err != nil {
			return false
		}
		var blob Blob
		part := Damage{What: what, Hash: h}
		if blob, part.Stored, err = a.stored(ctx, h); err == nil && blob == nil {
			found = append(found, part)
		} else if err == nil {
			err = blob.Close()
			whole = err == nil
		}
		return whole
	}
	look("the file", d.Content)
	look("the snapshot", d.Snapshot)
	if err == nil && d.Signer != "" {
		var h Hash
		h, err = a.signatureHash(ctx, d.Space, d.ID)
		look("the signature", h)
	}
	if look("the template", d.Template.Hash) {
		var form manifest
		form, err = a.manifest(ctx, d.Template.Hash)
		for _, file := range slices.Sorted(maps.Keys(form.Files)) {
			look("the template file "+file, form.Files[file])
		}
	}
	return found, err
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

// manifest reads the form of a template.
func (a *Archive) manifest(ctx context.Context, h Hash) (m manifest, err error) {
	b, err := a.read(ctx, h)
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return m, fmt.Errorf("template manifest: %w: %w", err, ErrDamaged)
	}
	return m, nil
}
