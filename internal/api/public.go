package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"example.com/quire/cache"
	"example.com/quire/internal/record"
	"example.com/quire/web"
	"example.com/quire/web/frozen"
)

// maxCached is the largest public document that is held in memory; larger ones come from
// their blob each time.
const maxCached = 8 << 20

// newestBytes is the memory for the names of public reports, each with the hash of its latest
// document.
const newestBytes = 1 << 20

// answerBytes is the memory of the two answers of a document beside its bytes, about.
const answerBytes = 4 << 10

// publicFile is a public document that is held in memory, with its whole answers.
type publicFile struct {
	name            string
	bytes           []byte
	content, latest *frozen.Entry // at /d/ and at /r/
}

// Frozen finds the responses of public documents in memory, for the frozen lane. It has only
// documents that anyone may read without a token: a document is cached when a public report has it,
// and is found as a report's latest until Moved. The routes serve all other requests, and every
// request with credentials. The lane's options are those of Access.Lane.
func (a *API) Frozen() frozen.Source { return a.frozen }

// HasPublic reports whether there are public reports.
func (a *API) HasPublic() bool { return len(a.o.Public) > 0 }

type publicFiles struct {
	public *cache.Cache[string, publicFile]
	newest *cache.Cache[string, string]
}

// Find implements frozen.Source.
func (p publicFiles) Find(target []byte) (*frozen.Entry, bool) {
	if name, ok := between(target, "/d/", ".pdf"); ok {
		f, ok := cache.PeekBytes(p.public, name)
		return f.content, ok
	}
	if name, ok := between(target, "/r/", "/latest.pdf"); ok {
		if content, ok := cache.PeekBytes(p.newest, name); ok {
			f, ok := p.public.Peek(content)
			return f.latest, ok
		}
	}
	return nil, false
}

func between(s []byte, before, behind string) ([]byte, bool) {
	s, ok := bytes.CutPrefix(s, []byte(before))
	if !ok {
		return nil, false
	}
	return bytes.CutSuffix(s, []byte(behind))
}

// Moved says that a report may have another latest document. It must be called when that document
// is saved and before anybody is told. Then no response that begins later is the former one. It is
// safe for concurrent use.
func (a *API) Moved(report string) {
	// Whoever looks for it now, and began before, keeps what is found to himself. After Close
	// nothing is held.
	_ = a.newest.Delete(context.Background(), report)
}

// loadNewest finds the content of the latest document of a public report, as it stands in /d/, or
// returns cache.ErrNotFound.
func (a *API) loadNewest(ctx context.Context, report string) (string, error) {
	for _, r := range a.o.Public {
		if r.Name != report {
			continue
		}
		d, err := a.o.Library.Latest(ctx, r.Space, report)
		switch {
		case errors.Is(err, record.ErrNotFound):
		case err != nil:
			return "", err
		default:
			return d.Content.String(), nil
		}
	}
	return "", cache.ErrNotFound
}

// sendPublic answers with a public document, from memory if it fits there. done is false for
// a document that is not public.
func (a *API) sendPublic(c *web.Context, h record.Hash, cacheControl string) (done bool, err error) {
	if !a.HasPublic() {
		return false, nil
	}
	got, err := a.public.Get(c.Context(), h.String())
	large, isLarge := errors.AsType[*largeError](err)
	switch {
	case err == nil:
		return true, send(c, file{h, pdfType, cacheControl, got.name}, bytes.NewReader(got.bytes), int64(len(got.bytes)))
	case isLarge:
		return true, a.serve(c, pdfFile(large.document, cacheControl))
	case errors.Is(err, cache.ErrNotFound):
		return false, nil
	default:
		return true, err
	}
}

// largeError says that a document is public and too large to be held in memory.
type largeError struct{ document *record.Document }

func (e *largeError) Error() string {
	return fmt.Sprintf("api: document %s has %d bytes, too many for the cache of public documents", e.document.ID, e.document.Size)
}

// loadPublic reads a document that a public report has, by the hash of its bytes, or returns
// cache.ErrNotFound.
func (a *API) loadPublic(ctx context.Context, content string) (publicFile, error) {
	h, err := record.ParseHash(content)
	if err != nil {
		return publicFile{}, err
	}
	for i, r := range a.o.Public {
		if slices.ContainsFunc(a.o.Public[:i], func(p PublicReport) bool { return p.Space == r.Space }) {
			continue // its documents were looked at already
		}
		d, err := a.o.Library.ByContent(ctx, r.Space, h)
		if errors.Is(err, record.ErrNotFound) {
			continue
		}
		if err != nil {
			return publicFile{}, err
		}
		if !slices.ContainsFunc(a.o.Public, func(p PublicReport) bool { return p.Space == d.Space && slices.Contains(d.Reports, p.Name) }) {
			continue
		}
		if d.Size > maxCached {
			return publicFile{}, &largeError{d}
		}
		blob, err := a.open(ctx, h)
		if err != nil {
			return publicFile{}, err
		}
		b := make([]byte, blob.Size())
		_, readErr := blob.ReadAt(b, 0)
		if err := errors.Join(readErr, blob.Close()); err != nil {
			return publicFile{}, err
		}
		return newPublicFile(pdfFile(d, "").name, h, b)
	}
	return publicFile{}, cache.ErrNotFound
}

// newPublicFile makes the answers of a document.
func newPublicFile(name string, h record.Hash, b []byte) (publicFile, error) {
	answer := func(cacheControl string) (*frozen.Entry, error) {
		return frozen.Build(frozen.EntrySpec{Body: b, ETag: etag(h), Header: http.Header{
			"Content-Type": {pdfType}, "Content-Disposition": {web.ContentDisposition("inline", name)},
			"Cache-Control": {cacheControl}, "X-Content-Type-Options": {"nosniff"},
		}})
	}
	content, err := answer(immutablePublic)
	latest, latestErr := answer(revalidatedPublic)
	return publicFile{name, b, content, latest}, errors.Join(err, latestErr)
}
