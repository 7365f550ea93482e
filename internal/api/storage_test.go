package api_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"example.com/quire/internal/api"
	"example.com/quire/internal/record"
	"example.com/quire/internal/render"
	"example.com/quire/internal/templates"
	"example.com/quire/web/webtest"
)

// whole fails the test unless the data directory holds whole blobs only, and the list what was
// acknowledged, with its bytes.
func whole(t *testing.T, c *webtest.Client, dir string, acknowledged []made) {
	t.Helper()
	for _, name := range files(t, filepath.Join(dir, "blobs")) {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if record.Sum(b).String() != filepath.Base(name) {
			t.Errorf("half-written: %s", name)
		}
	}
	for _, name := range files(t, dir) {
		if rel, err := filepath.Rel(dir, name); err != nil || rel != "lock" && rel != "ballast" && !strings.HasPrefix(filepath.ToSlash(rel), "blobs/") {
			t.Errorf("left behind: %s, %v", name, err)
		}
	}
	l := decode[list](t, c.Get("/v1/documents?limit=500").Want(http.StatusOK))
	if len(l.Documents) != len(acknowledged) {
		t.Errorf("%d documents listed, %d acknowledged", len(l.Documents), len(acknowledged))
	}
	for _, d := range acknowledged {
		if r := c.Get("/d/" + d.content + ".pdf"); r.Status != 200 || !bytes.Equal(r.Body, d.file) {
			t.Errorf("document %s: %d", d.id, r.Status)
		}
	}
}

// faulty is a store of blobs in which one call fails, as on a full or unwritable disk.
type faulty struct {
	record.Blobs
	at  string // create, write, commit
	err error
}

func (f *faulty) fails(call string) error {
	if f.at != call {
		return nil
	}
	return fmt.Errorf("blob %s: %w", call, f.err)
}

func (f *faulty) Create(ctx context.Context) (record.BlobWriter, error) {
	if err := f.fails("create"); err != nil {
		return nil, err
	}
	w, err := f.Blobs.Create(ctx)
	return &faultyWriter{w, f}, err
}

type faultyWriter struct {
	record.BlobWriter
	of *faulty
}

func (w *faultyWriter) Write(p []byte) (int, error) {
	if err := w.of.fails("write"); err != nil {
		return 0, err
	}
	return w.BlobWriter.Write(p)
}

func (w *faultyWriter) Commit(h record.Hash) (int64, error) {
	if err := w.of.fails("commit"); err != nil {
		return 0, errors.Join(err, w.Abort())
	}
	return w.BlobWriter.Commit(h)
}

// Whatever call the storage fails, the request fails, nothing half-written stays, and the next
// request is answered as soon as there is space again.
func TestStorageFails(t *testing.T) {
	t.Parallel()
	h := open(t)
	renderer, err := render.New(render.Config{})
	if err != nil {
		t.Fatal(err)
	}
	f := &faulty{Blobs: h.app.Blobs}
	maker, err := record.NewMaker(record.Parts{
		Engine: renderer, Blobs: f, Documents: h.app.Library, Now: time.Now,
		Templates: templates.New(fstest.MapFS{"note.yaml": {Data: []byte(noteTemplate)}}, renderer.Load),
	})
	if err != nil {
		t.Fatal(err)
	}
	c := serveParts(t, h, func(o *api.Options) { o.Maker, o.Blobs = maker, f })
	var kept []made
	for _, at := range []string{"create", "write", "commit"} {
		for _, tt := range []struct {
			err    error
			status int
			kind   string
		}{
			{record.ErrNoSpace, http.StatusInsufficientStorage, "storage-full"},
			{record.ErrUnavailable, http.StatusServiceUnavailable, "storage"},
			{os.ErrNotExist, http.StatusServiceUnavailable, "storage"},
			{errors.New("input/output error"), http.StatusInternalServerError, "about:blank"},
		} {
			f.at, f.err = at, tt.err
			body := note(at + " " + tt.kind + tt.err.Error())
			p := wantProblem(t, c.Post("/v1/documents", "application/json", body), tt.status, tt.kind)
			if text := fmt.Sprint(p); strings.Contains(text, h.dir) || strings.Contains(text, "input/output") {
				t.Errorf("the client is told of the server's inside: %s", text)
			}
			whole(t, c, h.dir, kept)
			c.Post("/v1/render", "application/json", body).Want(http.StatusOK) // which keeps nothing
			f.at = ""
			kept = append(kept, makeNew(t, c, body))
		}
	}
	whole(t, c, h.dir, kept)
}
