package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"example.com/quire/internal/record"
)

// Bytes that no document names are left by a Make that failed between the commit of its blobs and
// its save, by a kill in that moment, and by the deletion of documents.
const (
	orphanAge   = 24 * time.Hour   // how old they are when they are collected
	orphanEvery = 24 * time.Hour   // how often
	orphanPause = 10 * time.Minute // longer than anything takes that makes a document
)

// collectOrphans removes orphans from time to time until ctx ends.
func (a *App) collectOrphans(ctx context.Context) {
	for {
		n, err := a.CollectOrphans(ctx, orphanPause, a.now().Add(orphanPause-orphanAge))
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			a.log.Warn("files that no document names were not removed", slog.Int("removed", n), slog.Any("error", err))
		case n > 0:
			a.log.Info("orphans collected", slog.Int("removed", n))
		}
		if pause(ctx, orphanEvery) != nil {
			return
		}
	}
}

// CollectOrphans removes the blobs that no document refers to and that were written before a time.
// settle is how long it waits until documents in progress are saved.
func (a *App) CollectOrphans(ctx context.Context, settle time.Duration, before time.Time) (removed int, err error) {
	c, err := a.Blobs.Collect()
	if err != nil {
		return 0, err
	}
	defer c.Close()
	if err := pause(ctx, settle); err != nil {
		return 0, err
	}
	named, manifests, err := a.Library.Blobs(ctx)
	if err != nil {
		return 0, err
	}
	for h := range manifests {
		named[h] = struct{}{}
		if err := a.nameFiles(ctx, h, named); err != nil {
			return 0, fmt.Errorf("template manifest %s, without which its files are not known: %w", h, err)
		}
	}
	return c.Sweep(ctx, named, before)
}

// nameFiles adds the files of a template to named.
func (a *App) nameFiles(ctx context.Context, manifest record.Hash, named map[record.Hash]struct{}) error {
	blob, err := a.Blobs.Open(ctx, manifest)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(blob)
	if err := errors.Join(err, blob.Close()); err != nil {
		return err
	}
	var m struct {
		Files map[string]record.Hash `json:"files"`
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return err
	}
	for _, h := range m.Files {
		named[h] = struct{}{}
	}
	return nil
}

// pause waits for d, or returns why ctx has ended.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
