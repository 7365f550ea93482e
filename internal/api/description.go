package api

import (
	"encoding/json"
	"fmt"
	"net/http"

	"example.com/quire/internal/record"
	"example.com/quire/web"
	"example.com/quire/web/openapi"
	"example.com/quire/web/openapi/docsui"
)

// Describe serves the description of the routes that r's App has at this point, as /openapi.json
// and /openapi.yaml, and the page /docs/, which shows it without another host. It needs no token,
// because the routes are the same on every server.
func (a *API) Describe(r web.Registrar) error {
	info := openapi.Info{
		Title: "Quire", Version: "1", Summary: "Documents of record",
		Description: "Errors are answered as problems (RFC 9457) with a stable type. The members field, got, want, nearest, line, column and path are present where they apply.",
		Tags: []openapi.Tag{
			{Name: "documents", Description: "Make, list, read and verify documents"},
			{Name: "files", Description: "Files of documents, for many readers"},
			{Name: "pdf", Description: "Read, check and change PDF files from any producer"},
			{Name: "convert", Description: "Convert HTML to PDF or an image, if a browser is configured"},
			{Name: "health", Description: "Whether the server is running and can make documents"},
		},
	}
	if a.o.Access.tokenNeeded() {
		info.Default = []string{"bearer", "basic"}
		info.Security = map[string]openapi.SecurityScheme{
			"bearer": {Type: "http", Scheme: "bearer", Description: "A token of the configuration. Requests with it act in its space"},
			"basic":  {Type: "http", Scheme: "basic", Description: "Any name, and the token as password"},
		}
	}
	doc, err := openapi.Document(r.App(), info)
	if err != nil {
		return fmt.Errorf("api: %w", err)
	}
	if err := openapi.Serve(r, doc, openapi.Options{}); err != nil {
		return fmt.Errorf("api: %w", err)
	}
	return docsui.Serve(r, docsui.Options{Title: "Quire"})
}

// HealthDescription describes the routes of web.Health.
func HealthDescription() []web.RouteOption {
	type answer struct {
		CacheControl string `header:"Cache-Control"`
		Body         web.HealthReport
	}
	return []web.RouteOption{
		openapi.Describe[struct{}, answer](), openapi.Tags("health"), openapi.Summary("Whether the server is running, has started, or can make documents"),
		openapi.Status(http.StatusOK, http.StatusServiceUnavailable), openapi.Public(),
	}
}

type byID struct {
	ID string `path:"id" doc:"Id of the document, 64 hexadecimal digits" example:"18543db9fadcbf5ecd54ba68d766986dd9e3503c4d572e193658a999b2bfe871"`
}

type byContent struct {
	Content string `path:"content" doc:"The SHA-256 of the file's bytes, 64 hexadecimal digits" example:"4d103e00d9ab93689fbc2b6b8f2c43f184c5aae6aba23f34bb96cbb91827ed13"`
}

type byReport struct {
	Report string `path:"report" example:"price-list"`
}

type verification struct {
	byID
	Restore bool `query:"restore" default:"false" doc:"Repair damaged or missing stored files"`
	Body    *[]byte
}

// renderAnswer is a file that nobody keeps.
type renderAnswer struct {
	Cache       string `header:"Cache-Control"`
	Disposition string `header:"Content-Disposition" doc:"The name of the file"`
	Body        []byte
}

// fileAnswer is an answer with a file.
type fileAnswer struct {
	ETag        string `header:"ETag" doc:"Strong entity tag: the SHA-256 of the bytes"`
	Cache       string `header:"Cache-Control"`
	Disposition string `header:"Content-Disposition" doc:"The name of the file"`
	Body        []byte
}

// jsonAnswer is an answer with JSON that only its space may keep.
type jsonAnswer[T any] struct {
	Cache string `header:"Cache-Control"`
	Body  T
}

// keptAnswer is JSON that stays as it is, with the entity tag of its bytes.
type keptAnswer[T any] struct {
	ETag  string `header:"ETag" doc:"Strong entity tag: the SHA-256 of the bytes"`
	Cache string `header:"Cache-Control"`
	Body  T
}

// madeAnswer is the answer to making a document.
type madeAnswer struct {
	Location string `header:"Location" doc:"The address of the document"`
	Document string `header:"Quire-Document" doc:"The document's id"`
	Body     madeDocument
}

// described returns the name of a route with its description, before the options that are given.
func described(name string, more ...web.RouteOption) []web.RouteOption {
	tag := "documents"
	if name == "content" || name == "latest" {
		tag = "files"
	}
	return append(append(descriptionOf(name), web.Name(name), openapi.Tags(tag)), more...)
}

func descriptionOf(name string) []web.RouteOption {
	file := openapi.Produces(pdfType)
	missing := openapi.Errors(http.StatusNotFound)
	// What is served by its entity tag has conditions and ranges (RFC 9110, sections 13 and 14).
	whole := openapi.Status(http.StatusOK, http.StatusPartialContent, http.StatusNotModified)
	parts := openapi.Errors(http.StatusNotFound, http.StatusPreconditionFailed, http.StatusRequestedRangeNotSatisfiable)
	inline := openapi.RequestExample("template in the request", json.RawMessage(inlineExample))
	is := func(types web.RouteOption, summary string, more ...web.RouteOption) []web.RouteOption {
		return append(more, types, openapi.Summary(summary))
	}
	switch name {
	case "render":
		return is(openapi.Describe[struct{ Body payload }, renderAnswer](), "Render a PDF without storing it", file, missing, inline)
	case "make":
		return is(openapi.Describe[struct{ Body payload }, madeAnswer](), "Make a document of record",
			openapi.Description("Collects the data, freezes it, renders the document and stores it. A document that was acknowledged survives a crash. "+
				"201: the document was made now. 200: it exists already, made from the same inputs. "+
				"The answer is the file, or its description if the client prefers application/json."),
			openapi.Produces(pdfType, "application/json"), openapi.Status(http.StatusCreated, http.StatusOK),
			openapi.Errors(http.StatusNotFound, http.StatusBadGateway, http.StatusInsufficientStorage), inline,
			openapi.RequestExample("report", json.RawMessage(reportExample)), openapi.ResponseExample("made now", json.RawMessage(madeExample)))
	case "documents":
		return is(openapi.Describe[listQuery, jsonAnswer[documentList]](), "List the documents of the space, newest first", missing)
	case "document":
		return is(openapi.Describe[byID, jsonAnswer[shownDocument]](), "The description of a document", missing)
	case "document-pdf":
		return is(openapi.Describe[byID, fileAnswer](), "The file of a document", file, whole, parts)
	case "document-receipt":
		return is(openapi.Describe[byID, keptAnswer[record.Receipt]](), "The receipt: what a document was made from, and how each source was read", whole, parts)
	case "document-snapshot":
		return is(openapi.Describe[byID, keptAnswer[json.RawMessage]](), "The frozen data of a document, with its time",
			openapi.Produces("application/json"), whole, parts)
	case "document-verify":
		return is(openapi.Describe[verification, jsonAnswer[record.Verdict]](), "Render a document again and compare",
			openapi.Description("Compares the document rendered again with the file in the body, of any media type. Without a body, compares it with the stored file."),
			openapi.Consumes(pdfType), missing)
	case "content":
		return is(openapi.Describe[byContent, fileAnswer](), "A file by the hash of its bytes", openapi.Description(publicReading), file, whole, parts)
	case "latest":
		return is(openapi.Describe[byReport, fileAnswer](), "The newest file of a report", openapi.Description(publicReading), file, whole, parts)
	}
	panic("api: the route " + name + " has no description")
}

const publicReading = "Documents of public reports need no token."

// The examples are those of docs/http-api.md.
const (
	inlineExample = `{"template": {"source": "quire: 1\nname: hello\nlang: en\ntitle: Hello\ndata: {name: string}\nbody: [{text: \"Hello, **${name}**.\"}]"}, "data": {"name": "Zoë"}}`
	reportExample = `{"report": "service-report", "data": {"report": {"team": "Northgate Platform Operations", "contact": "platform@northgate.example"}}}`
	madeExample   = `{
  "space": "local",
  "id": "18543db9fadcbf5ecd54ba68d766986dd9e3503c4d572e193658a999b2bfe871",
  "content": "4d103e00d9ab93689fbc2b6b8f2c43f184c5aae6aba23f34bb96cbb91827ed13",
  "size": 21025, "pages": 1, "title": "Hello", "name": "Hello.pdf",
  "template": {"name": "inline", "hash": "8cb0b03a1d85a335e2b5a7ebf0773552228420eff69140775ef4fb503aecda97"},
  "snapshot": "8e49aac43428e670cb372ad6b1072f0845a676a479dfad614e8159f6a34999d7",
  "options": {}, "engine": "quire-pdf/11",
  "time": "2026-11-21T20:02:04.068Z", "time_from": "clock", "made": "2026-11-21T20:02:04.106Z",
  "links": {
    "self": "/v1/documents/18543db9fadcbf5ecd54ba68d766986dd9e3503c4d572e193658a999b2bfe871",
    "pdf": "/v1/documents/18543db9fadcbf5ecd54ba68d766986dd9e3503c4d572e193658a999b2bfe871/pdf",
    "receipt": "/v1/documents/18543db9fadcbf5ecd54ba68d766986dd9e3503c4d572e193658a999b2bfe871/receipt",
    "snapshot": "/v1/documents/18543db9fadcbf5ecd54ba68d766986dd9e3503c4d572e193658a999b2bfe871/snapshot",
    "verify": "/v1/documents/18543db9fadcbf5ecd54ba68d766986dd9e3503c4d572e193658a999b2bfe871/verify",
    "content": "/d/4d103e00d9ab93689fbc2b6b8f2c43f184c5aae6aba23f34bb96cbb91827ed13.pdf"
  },
  "created": true,
  "stages": [{"name": "freeze", "us": 24}, {"name": "render", "us": 1176}, {"name": "commit", "us": 36824}, {"name": "save", "us": 3977}]
}`
)
