package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"example.com/quire/cache"
	"example.com/quire/internal/record"
	"example.com/quire/web"
)

// How answers may be stored (RFC 9111): a document's bytes never change, so whoever may keep
// them may do so for a year (RFC 8246); what is private only the client itself may keep.
const (
	privateCache       = "private, no-cache"
	immutablePrivate   = "private, max-age=31536000, immutable"
	immutablePublic    = "public, max-age=31536000, immutable"
	revalidatedPrivate = "private, no-cache"
	revalidatedPublic  = "public, no-cache"
)

func etag(h record.Hash) string { return `"` + h.String() + `"` }

// open opens a blob that a document names. One that is not there is damage: "not found" would
// say that there is no such document.
func (a *API) open(ctx context.Context, h record.Hash) (record.Blob, error) {
	blob, err := a.o.Blobs.Open(ctx, h)
	if errors.Is(err, record.ErrNotFound) {
		return nil, fmt.Errorf("stored file %s is missing: %w", h, record.ErrDamaged)
	}
	return blob, err
}

// file is what an answer of bytes is called and may do with them.
type file struct {
	hash         record.Hash
	mediaType    string
	cacheControl string
	name         string // for whoever saves it; "" for none
}

// pdfFile is the file of a document.
func pdfFile(d *record.Document, cacheControl string) file {
	return file{d.Content, pdfType, cacheControl, cmp.Or(d.Name, d.ID.String()[:12]+".pdf")}
}

// nameIt says how a file is called when it is saved; browsers show it all the same.
func nameIt(c *web.Context, name string) {
	if name != "" {
		c.Writer().Header().Set("Content-Disposition", web.ContentDisposition("inline", name))
	}
}

// serve answers with a blob, conditions and ranges included. Its entity tag is its hash.
func (a *API) serve(c *web.Context, f file) error {
	blob, err := a.open(c.Context(), f.hash)
	if err != nil {
		return err
	}
	defer func() { _ = blob.Close() }()
	return send(c, f, blob, blob.Size())
}

func send(c *web.Context, f file, body io.ReadSeeker, size int64) error {
	c.Writer().Header().Set("Cache-Control", f.cacheControl)
	nameIt(c, f.name)
	return c.Content(web.Content{Type: f.mediaType, ETag: etag(f.hash), Size: size, Body: body})
}

// content answers GET /d/{content}.pdf: the file by the hash of its bytes.
func (a *API) content(c *web.Context) error {
	h, err := hashParam(c, "content")
	if err != nil {
		return err
	}
	if done, err := a.sendPublic(c, h, immutablePublic); done {
		return err
	}
	space, ok := SpaceOf(c)
	if !ok {
		return record.ErrNotFound
	}
	d, err := a.o.Library.ByContent(c.Context(), space, h)
	if err != nil {
		return err
	}
	return a.serve(c, pdfFile(d, immutablePrivate))
}

// latest answers GET /r/{report}/latest.pdf: the report's newest file, to be revalidated by
// its entity tag.
func (a *API) latest(c *web.Context) error {
	name, find := c.Param("report"), a.newest.Get
	space, ok := SpaceOf(c)
	if ok && !slices.Contains(a.o.Public, PublicReport{Space: space, Name: name}) {
		// The caller's own comes first: spaces may use the same name. So what others find is not
		// noted for the frozen lane, which answers whoever asks.
		d, err := a.o.Library.Latest(c.Context(), space, name)
		if err == nil {
			return a.serve(c, pdfFile(d, revalidatedPrivate))
		}
		if !errors.Is(err, record.ErrNotFound) {
			return err
		}
		find = a.loadNewest
	}
	content, err := find(c.Context(), name)
	if errors.Is(err, cache.ErrNotFound) {
		return record.ErrNotFound
	}
	if err != nil {
		return err
	}
	h, err := record.ParseHash(content)
	if err != nil {
		return err
	}
	if done, err := a.sendPublic(c, h, revalidatedPublic); done {
		return err
	}
	return record.ErrNotFound
}

// wantsJSON reports whether a request prefers JSON to a PDF (RFC 9110, section 12.5.1).
// Without a preference the answer is the file.
func wantsJSON(c *web.Context) bool {
	return c.Accepts("application/pdf", "application/json") == "application/json"
}
