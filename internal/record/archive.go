package record

import (
	"context"
	"errors"
	"fmt"
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
	for _, file := range slices.Sorted(maps.Keys(j.template.Files)) {
		if err := a.keep(ctx, j.template.form.Files[file], j.template.Files[file]); err != nil {
			return fmt.Errorf("keep template file %s: %w", file, err)
		}
	}
	if err := a.keep(ctx, j.template.hash, j.template.Manifest()); err != nil {
		return fmt.Errorf("keep template %s: %w", j.template.Name, err)
	}
	if err := a.keep(ctx, j.snapshot.Hash(), j.snapshot.Bytes()); err != nil {
		return fmt.Errorf("keep snapshot: %w", err)
	}
	return nil
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
	blob, err := a.blobs.Open(ctx, h)
	if errors.Is(err, ErrDamaged) || errors.Is(err, ErrNotFound) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	return true, blob.Close()
}

// mend makes the file of a document again when the stored one is gone or
// damaged. What this engine makes takes its place only when it is the same.
func (a *Archive) mend(ctx context.Context, kept *Document, j *job, w *watch) error {
	if whole, err := a.whole(ctx, kept.Content); err != nil || whole {
		return err
	}
	blob, err := a.blobs.Create(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = blob.Abort() }() // does nothing once committed
	rendered, err := a.render(ctx, blob, j)
	if err != nil && !refused(err) {
		return err
	}
	if err != nil || rendered.Hash != kept.Content {
		return fmt.Errorf("document %s: the file is not in storage as engine %s made it, and engine %s does not make it: %w",
			kept.ID, kept.Engine, a.engine.Version(), ErrDamaged)
	}
	w.stage(StageRender)
	if _, err = blob.Commit(kept.Content); err != nil {
		return err
	}
	if err := a.documents.Restored(ctx, kept.Space, kept.ID); err != nil {
		return err
	}
	w.stage(StageCommit)
	return nil
}

// Damage is stored bytes of a document that are not whole.
type Damage struct {
	What   string `json:"what"` // the file, the snapshot, the template, the template file NAME
	Hash   Hash   `json:"hash"`
	Stored Stored `json:"stored"` // Damaged or Lost
}

// String names what is damaged, and how.
func (d Damage) String() string { return d.What + " (" + d.Hash.String() + ") is " + string(d.Stored) }

// Inspect reads every byte that is stored of a document and returns what is not whole. Nothing is
// rendered or written.
func (a *Archive) Inspect(ctx context.Context, d *Document) ([]Damage, error) {
	var found []Damage
	look := func(what string, h Hash) (whole bool, err error) {
		blob, stored, err := a.stored(ctx, h)
		if err != nil {
			return false, err
		}
		if blob == nil {
			found = append(found, Damage{What: what, Hash: h, Stored: stored})
			return false, nil
		}
		return true, blob.Close()
	}
	if _, err := look("the file", d.Content); err != nil {
		return nil, err
	}
	if _, err := look("the snapshot", d.Snapshot); err != nil {
		return nil, err
	}
	whole, err := look("the template", d.Template.Hash)
	if err != nil || !whole {
		return found, err
	}
	b, err := a.read(ctx, d.Template.Hash)
	if err != nil {
		return nil, err
	}
	form, err := parseManifest(b)
	if err != nil {
		return nil, err
	}
	for _, file := range slices.Sorted(maps.Keys(form.Files)) {
		if _, err := look("the template file "+file, form.Files[file]); err != nil {
			return nil, err
		}
	}
	return found, nil
}
