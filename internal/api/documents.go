package api

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"example.com/quire/internal/nearest"
	"example.com/quire/internal/record"
	"example.com/quire/web"
)

const pdfType = "application/pdf"

// render answers with the file and keeps nothing.
func (a *API) render(c *web.Context) error {
	r, err := read(c)
	if err != nil {
		return err
	}
	// The whole file is made before the first byte goes out: a fault in the data is an
	// answer, not a torn file.
	var file bytes.Buffer
	made, err := a.o.Maker.Render(c.Context(), &file, r.Request)
	if err != nil {
		return r.place(err)
	}
	c.Writer().Header().Set("Cache-Control", "no-store")
	nameIt(c, cmp.Or(made.Name, "document.pdf"))
	return c.Blob(http.StatusOK, pdfType, file.Bytes())
}

// shownDocument is a document as the API shows it.
type shownDocument struct {
	*record.Document
	Links links `json:"links"`
}

type links struct {
	Self     string `json:"self"`
	PDF      string `json:"pdf"`
	Receipt  string `json:"receipt"`
	Snapshot string `json:"snapshot"`
	Verify   string `json:"verify"`
	Content  string `json:"content" doc:"The file by the hash of its bytes, for many readers"`
}

func show(d *record.Document) shownDocument {
	self := "/v1/documents/" + d.ID.String()
	return shownDocument{Document: d, Links: links{
		Self: self, PDF: self + "/pdf", Receipt: self + "/receipt", Snapshot: self + "/snapshot", Verify: self + "/verify",
		Content: "/d/" + d.Content.String() + ".pdf",
	}}
}

// madeDocument is the JSON answer to a making request.
type madeDocument struct {
	shownDocument
	Created  bool             `json:"created" doc:"true: the document was made now; false: it existed already, made from the same inputs"`
	Stages   []record.Stage   `json:"stages"`
	Warnings []record.Problem `json:"warnings,omitempty"`
}

// makeDocument makes a document and keeps it. The committed file is the answer; a client that
// prefers application/json gets the document's description instead. 201 says that it was made
// now, 200 that the same inputs had made it before.
func (a *API) makeDocument(c *web.Context) error {
	r, err := read(c)
	if err != nil {
		return err
	}
	made, err := a.o.Maker.Make(c.Context(), r.Request)
	if err != nil {
		return r.place(err)
	}
	d := made.Document
	status := http.StatusOK
	if made.Created {
		status = http.StatusCreated
	}
	h := c.Writer().Header()
	h.Set("Location", "/v1/documents/"+d.ID.String())
	h.Set("Quire-Document", d.ID.String())
	h.Set("Cache-Control", "no-store")
	if wantsJSON(c) {
		return c.JSON(status, madeDocument{shownDocument: show(d), Created: made.Created, Stages: made.Stages, Warnings: made.Warnings})
	}
	blob, err := a.open(c.Context(), d.Content)
	if err != nil {
		return err
	}
	defer func() { _ = blob.Close() }()
	file := make([]byte, blob.Size())
	if _, err := blob.ReadAt(file, 0); err != nil {
		return err
	}
	h.Set("ETag", etag(d.Content))
	nameIt(c, pdfFile(d, "").name)
	return c.Blob(status, pdfType, file)
}

type listQuery struct {
	Report string `query:"report" doc:"Only documents of this report" example:"service-report"`
	After  string `query:"after" doc:"The value of next in the previous page"`
	Limit  int    `query:"limit" default:"50" doc:"Maximum number of documents, 1 to 500"`
}

// documentList is a page of documents, newest first.
type documentList struct {
	Documents []shownDocument `json:"documents"`
	Next      string          `json:"next,omitempty"` // the after of the next page
}

func (a *API) listDocuments(c *web.Context) error {
	var q listQuery
	if err := c.BindQuery(&q); err != nil {
		return err
	}
	if err := knownQuery(c, "report", "after", "limit"); err != nil {
		return err
	}
	if q.Limit < 1 || q.Limit > record.PageMost {
		return &record.RequestError{Field: "limit", Got: c.Query("limit"), Want: "1 to " + strconv.Itoa(record.PageMost)}
	}
	space, _ := SpaceOf(c)
	if err := a.knownReport(c.Context(), space, q.Report); err != nil {
		return err
	}
	page, err := a.o.Library.List(c.Context(), space, record.Query{Report: q.Report, After: q.After, Limit: q.Limit})
	if err != nil {
		return err
	}
	list := documentList{Documents: make([]shownDocument, len(page.Documents)), Next: page.Next}
	for i, d := range page.Documents {
		list.Documents[i] = show(d)
	}
	c.Writer().Header().Set("Cache-Control", privateCache)
	return c.JSON(http.StatusOK, list)
}

// knownReport refuses a report that the space does not have and has no documents of either: the
// list of a misspelt one would be empty.
func (a *API) knownReport(ctx context.Context, space record.Space, name string) error {
	if name == "" {
		return nil
	}
	_, err := a.o.Reports.Report(ctx, space, name)
	if !errors.Is(err, record.ErrNotFound) {
		return err
	}
	if _, filed := a.o.Library.Latest(ctx, space, name); !errors.Is(filed, record.ErrNotFound) {
		return filed // the configuration has had it before, or the state cannot be read
	}
	return &missingError{err}
}

// knownQuery refuses parameters that a route does not have: a misspelt filter would be none.
func knownQuery(c *web.Context, names ...string) error {
	for _, k := range slices.Sorted(maps.Keys(c.Request().URL.Query())) {
		if !slices.Contains(names, k) {
			return &record.RequestError{Field: k, Got: "an unknown parameter", Want: strings.Join(names, ", "), Nearest: nearest.Name(k, names)}
		}
	}
	return nil
}

// find returns the document that the path names, in the caller's space.
func (a *API) find(c *web.Context) (*record.Document, error) {
	id, err := hashParam(c, "id")
	if err != nil {
		return nil, err
	}
	space, _ := SpaceOf(c)
	return a.o.Library.Document(c.Context(), space, id)
}

func (a *API) document(c *web.Context) error {
	d, err := a.find(c)
	if err != nil {
		return err
	}
	c.Writer().Header().Set("Cache-Control", privateCache)
	return c.JSON(http.StatusOK, show(d))
}

func (a *API) documentPDF(c *web.Context) error {
	d, err := a.find(c)
	if err != nil {
		return err
	}
	return a.serve(c, pdfFile(d, privateCache))
}

func (a *API) documentSnapshot(c *web.Context) error {
	d, err := a.find(c)
	if err != nil {
		return err
	}
	return a.serve(c, file{d.Snapshot, "application/json", privateCache, ""})
}

func (a *API) documentReceipt(c *web.Context) error {
	d, err := a.find(c)
	if err != nil {
		return err
	}
	receipt, err := a.o.Library.Receipt(c.Context(), d.Space, d.ID)
	if err != nil {
		return err
	}
	c.Writer().Header().Set("Cache-Control", privateCache)
	return c.Content(web.Content{
		Type: "application/json", ETag: etag(record.Sum(receipt)), Size: int64(len(receipt)), Body: bytes.NewReader(receipt),
	})
}

// verifyDocument makes the document again and judges the file in the body by it, as it comes. The
// stored file is judged when there is no body and no media type either: an upload that is empty by
// mistake says nothing good about the stored file. With restore=true stored bytes that are damaged
// or lost are mended.
func (a *API) verifyDocument(c *web.Context) error {
	d, err := a.find(c)
	if err != nil {
		return err
	}
	if err := knownQuery(c, "restore"); err != nil {
		return err
	}
	r := record.RemakeRequest{Space: d.Space, ID: d.ID}
	switch restore := c.Query("restore"); restore {
	case "", "false":
	case "true":
		r.Restore = true
	default:
		return &record.RequestError{Field: "restore", Got: clip(restore), Want: "true or false"}
	}
	if in := c.Request(); in.ContentLength != 0 || in.Header.Get("Content-Type") != "" {
		r.File = in.Body
	}
	verdict, err := a.o.Maker.Remake(c.Context(), r)
	if err != nil {
		return refusal(err)
	}
	c.Writer().Header().Set("Cache-Control", "no-store")
	return c.JSON(http.StatusOK, verdict)
}
