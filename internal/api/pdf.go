package api

import (
	"archive/zip"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/quire/internal/httpfield"
	"example.com/quire/internal/nearest"
	"example.com/quire/internal/record"
	"example.com/quire/pdf"
	"example.com/quire/pdf/operation"
	"example.com/quire/pdf/sign"
	"example.com/quire/web"
	"example.com/quire/web/openapi"
)

// operations are the routes of package operation. Files that come and go lie in temporary files,
// and a fixed number of operations run at one time, so memory does not grow with what is sent.
type operations struct {
	engine  *pdf.Engine
	signers map[record.Space]map[string]*sign.Identity
	slots   chan struct{}
	reading chan struct{} // of those slots, the one for what reads text in images, which takes long
	ocr     func(ctx context.Context, languages []string) (pdf.OCR, error)
}

// slots is how many operations run at one time; others wait for theirs.
const slots = 2

func newOperations(signers map[record.Space]map[string]*sign.Identity, ocr func(context.Context, []string) (pdf.OCR, error)) (*operations, error) {
	e, err := pdf.New(pdf.Config{Cache: pdf.CacheLimits{Off: true}})
	if err != nil {
		return nil, err
	}
	if ocr == nil {
		ocr = func(context.Context, []string) (pdf.OCR, error) {
			return nil, problemOf("tool", http.StatusNotImplemented,
				"this server cannot read text in images: install tesseract and name it in the configuration, ocr: {program: tesseract}", nil)
		}
	}
	return &operations{e, signers, make(chan struct{}, slots), make(chan struct{}, 1), ocr}, nil
}

// register adds a route for each operation; read says that text in images can be.
func (p *operations) register(v1 *web.Group, l Limits, read bool) {
	for _, o := range operation.All() {
		budget := web.Budgets{Time: l.Render, BodyBytes: l.File}
		if o.Name == "redact" && read {
			budget.Time = max(l.Render, l.OCR)
		}
		pattern := "/pdf/" + o.Name // docs/operations.md describes them
		v1.POST(pattern, func(c *web.Context) error { return p.answer(c, o) }, append(describedOperation(o), budget)...)
	}
}

// describedOperation describes the route of an operation.
func describedOperation(o operation.Operation) []web.RouteOption {
	parts := []openapi.Part{{Name: "file", Doc: "the PDF", File: true, Required: true}}
	if o.Most > 1 {
		parts[0].Doc, parts[0].Many = "the files, in their order", true
	}
	for _, p := range o.Parameters {
		part := openapi.Part{Name: p.Name, Doc: p.Doc, Choices: p.Choices, Required: p.Required}
		switch p.Kind {
		case operation.Number:
			part.Type = "integer"
		case operation.Switch:
			part.Type = "boolean"
		case operation.Upload:
			part.File = true
		case operation.Text, operation.Secret, operation.Key:
		}
		parts = append(parts, part)
	}
	sample := map[string]any{}
	for _, p := range o.Sample() {
		if p.Name == "file" && o.Most > 1 {
			files, _ := sample["file"].([]string)
			sample["file"] = append(files, p.Value)
			continue
		}
		sample[p.Name] = p.Value
	}
	faults := []int{http.StatusRequestEntityTooLarge}
	if o.Tool != "" {
		faults = append(faults, http.StatusNotImplemented)
	}
	common := []web.RouteOption{
		web.Name("pdf-" + o.Name), openapi.Tags("pdf"), openapi.Summary(o.Summary),
		openapi.Description(o.Description + " The body is the PDF, with the parameters in the query, or `multipart/form-data`. " +
			"Passwords, and files in addition to the PDF, must be parts. In the example, files are shown by their names."),
		openapi.Consumes(pdfType, "multipart/form-data"), openapi.Form(parts...), openapi.RequestExample("parts", sample),
		openapi.Errors(faults...),
	}
	switch o.Gives {
	case operation.Document:
		return append(common, openapi.Describe[struct{ Body []byte }, operationAnswer](), openapi.Produces(pdfType))
	case operation.Documents:
		return append(common, openapi.Describe[struct{ Body []byte }, operationAnswer](), openapi.Produces("application/zip"))
	case operation.Data:
		return append(common, openapi.Describe[struct{ Body []byte }, operationAnswer](), openapi.Produces("application/octet-stream", "application/json", "application/fdf", "application/xfdf"))
	case operation.Report:
	}
	return append(common, openapi.Describe[struct{ Body []byte }, reportAnswer](), openapi.Produces("application/json", textType))
}

// reportAnswer is what an operation tells of files.
type reportAnswer struct {
	Cache string `header:"Cache-Control"`
	Found string `header:"Quire-Found" doc:"true if a check found something"`
	Body  json.RawMessage
}

// textType is that of a report for people.
const textType = "text/plain"

// operationAnswer is a file, with what became of it in a header field.
type operationAnswer struct {
	Cache       string `header:"Cache-Control"`
	Disposition string `header:"Content-Disposition" doc:"The name of the file"`
	Summary     string `header:"Quire-Summary" doc:"What was done, as JSON in ASCII"`
	Body        []byte
}

// answer runs an operation on what a request brings.
func (p *operations) answer(c *web.Context, o operation.Operation) error {
	files := &temporary{}
	defer files.close()
	in, err := p.input(c, o, files)
	if err != nil {
		return err
	}
	wanted := []chan struct{}{p.slots}
	if in.Values["ocr"] != "" {
		wanted = []chan struct{}{p.reading, p.slots}
	}
	for _, slots := range wanted {
		select {
		case slots <- struct{}{}:
			defer func() { <-slots }()
		case <-c.Context().Done():
			return context.Cause(c.Context())
		}
	}
	var made []*os.File
	in.Create = func(int) (io.WriteCloser, error) {
		f, err := files.add()
		if err != nil {
			return nil, err
		}
		made = append(made, f)
		return keptOpen{f}, nil
	}
	done, err := o.Run(c.Context(), p.engine, in)
	if err != nil {
		return operationProblem(err)
	}
	h := c.Writer().Header()
	h.Set("Cache-Control", "no-store")
	if o.Gives == operation.Report {
		h.Set("Quire-Found", strconv.FormatBool(done.Failed))
		if c.Accepts("application/json", textType) == textType {
			return c.Blob(http.StatusOK, textType+"; charset=utf-8", []byte(done.Text))
		}
		return c.JSON(http.StatusOK, done.Report)
	}
	summary, err := json.Marshal(done.Report)
	if err != nil {
		return err
	}
	if s := ascii(summary); len(s) <= 4<<10 {
		h.Set("Quire-Summary", s)
	}
	base := in.Files[0].Name
	if n := len(base) - len(".pdf"); n > 0 && strings.EqualFold(base[n:], ".pdf") {
		base = base[:n]
	}
	if o.Gives == operation.Documents {
		f, err := files.add()
		if err != nil {
			return err
		}
		if err := zipped(f, base, made); err != nil {
			return err
		}
		h.Set("Content-Disposition", web.ContentDisposition("attachment", base+".zip"))
		return sendFile(c, "application/zip", f)
	}
	if o.Gives == operation.Data {
		media, name := "application/octet-stream", in.Values["name"] // of any kind: it is kept, never shown
		if o.Type != nil {
			media, name = o.Type(in.Values)
			name = base + name
		}
		h.Set("Content-Disposition", web.ContentDisposition("attachment", name))
		return sendFile(c, media, made[0])
	}
	nameIt(c, base+"-"+o.Name+".pdf")
	return sendFile(c, pdfType, made[0])
}

// ascii writes what is not of ASCII in JSON as escapes, for a header field.
func ascii(b []byte) string {
	var s strings.Builder
	for _, r := range string(b) {
		switch {
		case r < 0x80:
			s.WriteRune(r)
		case r > 0xFFFF:
			r -= 0x10000
			fmt.Fprintf(&s, `\u%04x\u%04x`, 0xD800+r>>10, 0xDC00+r&0x3FF)
		default:
			fmt.Fprintf(&s, `\u%04x`, r)
		}
	}
	return s.String()
}

// zipped writes files into an archive, which adds nothing to their sizes.
func zipped(to io.Writer, base string, files []*os.File) error {
	z := zip.NewWriter(to)
	for i, f := range files {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return err
		}
		w, err := z.CreateHeader(&zip.FileHeader{Name: fmt.Sprintf("%s-%03d.pdf", base, i+1), Method: zip.Store, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)})
		if err != nil {
			return err
		}
		if _, err := io.Copy(w, f); err != nil {
			return err
		}
	}
	return z.Close()
}

// sendFile answers with a file from its beginning.
func sendFile(c *web.Context, kind string, f *os.File) error {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	h := c.Writer().Header()
	h.Set("Content-Type", kind)
	h.Set("Content-Length", fmt.Sprint(size))
	c.Writer().WriteHeader(http.StatusOK)
	_, err = io.Copy(c.Writer(), io.NewSectionReader(f, 0, size))
	return err
}

// input reads files and parameters of a request.
func (p *operations) input(c *web.Context, o operation.Operation, files *temporary) (operation.Input, error) {
	in := operation.Input{Values: map[string]string{}, Uploads: map[string]operation.File{}, Time: time.Now(), OCR: p.ocr}
	space, err := Caller(c)
	if err != nil {
		return in, err
	}
	in.Identity = identities(p.signers[space])
	kinds := map[string]operation.Kind{}
	for _, x := range o.Parameters {
		kinds[x.Name] = x.Kind
	}
	for name, values := range c.Request().URL.Query() {
		if k := kinds[name]; k == operation.Secret || k == operation.Upload {
			return in, optionProblem(&pdf.OptionError{Field: name, Got: "a value in the query, which logs record", Want: "a part of multipart/form-data"})
		}
		if len(values) > 1 {
			return in, doubled(name)
		}
		in.Values[name] = values[0]
	}
	if kind, _, _ := mime.ParseMediaType(c.Header("Content-Type")); kind != "multipart/form-data" {
		if kind != "" && kind != pdfType && kind != "application/octet-stream" {
			return in, web.NewProblem(http.StatusUnsupportedMediaType, "want application/pdf or multipart/form-data", nil)
		}
		f, err := files.keep("document.pdf", c.Request().Body)
		in.Files = []operation.File{f}
		return in, err
	}
	for part, err := range c.Parts() {
		if err != nil {
			return in, err
		}
		name := cmp.Or(part.FileName, "document.pdf")
		if _, twice := in.Uploads[part.Name]; twice {
			return in, doubled(part.Name)
		}
		if _, twice := in.Values[part.Name]; twice {
			return in, doubled(part.Name)
		}
		switch k, known := kinds[part.Name]; {
		case part.Name == "file":
			f, err := files.keep(name, part)
			if err != nil {
				return in, err
			}
			in.Files = append(in.Files, f)
		case known && k == operation.Upload:
			f, err := files.keep(name, part)
			if err != nil {
				return in, err
			}
			in.Uploads[part.Name] = f
		default:
			const most = 64 << 10
			v, err := io.ReadAll(io.LimitReader(part, most+1))
			if err != nil {
				return in, err
			}
			if len(v) > most {
				return in, optionProblem(&pdf.OptionError{Field: part.Name, Got: "a long value", Want: fmt.Sprintf("at most %d bytes", most)})
			}
			in.Values[part.Name] = string(v)
		}
	}
	return in, nil
}

// doubled says that a parameter has more than one value.
func doubled(name string) error {
	return optionProblem(&pdf.OptionError{Field: name, Got: "two values", Want: "one"})
}

// identities finds keys by the names of signers.
func identities(signers map[string]*sign.Identity) func(key, password string) (*sign.Identity, error) {
	return func(key, password string) (*sign.Identity, error) {
		if password != "" {
			return nil, &pdf.OptionError{Field: "key-password", Got: "a password", Want: "none, because the configuration has it"}
		}
		if id, ok := signers[key]; ok {
			return id, nil
		}
		names := slices.Sorted(maps.Keys(signers))
		e := &pdf.OptionError{Field: "key", Got: "a value that is not a name; a request cannot carry a key", Want: "a signer of the configuration: " + cmp.Or(strings.Join(names, ", "), "there is none")}
		if len(key) <= 64 && httpfield.IsToken(key) { // anything else may be a key, which no answer and no log repeats
			e.Got, e.Nearest = strconv.Quote(key), nearest.Name(key, names)
		}
		return nil, e
	}
}

// temporary are files that end with the request.
type temporary struct{ files []*os.File }

func (t *temporary) add() (*os.File, error) {
	f, err := os.CreateTemp("", "quire-pdf-*")
	if err == nil {
		t.files = append(t.files, f)
	}
	return f, err
}

func (t *temporary) keep(name string, r io.Reader) (operation.File, error) {
	f, err := t.add()
	if err != nil {
		return operation.File{}, err
	}
	n, err := io.Copy(f, r)
	return operation.File{Name: name, Data: f, Size: n}, err
}

func (t *temporary) close() {
	for _, f := range t.files {
		_ = f.Close()           // what it holds was sent or is not wanted
		_ = os.Remove(f.Name()) // the system clears what cannot be removed
	}
}

// keptOpen is a file that is written once and then read.
type keptOpen struct{ *os.File }

func (keptOpen) Close() error { return nil }

// operationProblem tells an error of an operation.
func operationProblem(err error) error {
	if e, ok := errors.AsType[*pdf.OptionError](err); ok {
		return optionProblem(e)
	}
	if e, ok := errors.AsType[*pdf.LimitError](err); ok {
		return problem("limit", http.StatusRequestEntityTooLarge, err, members{"limited": e.Name, "limit": e.Limit})
	}
	if errors.Is(err, pdf.ErrTool) { // of the server: what was sent is right
		return problem("tool", http.StatusNotImplemented, err, nil)
	}
	if e, ok := errors.AsType[*pdf.DiagnosticError](err); ok && len(e.Diagnostics) > 0 {
		d := e.Diagnostics[0]
		return problem("input", http.StatusBadRequest, err, members{
			"code": d.Code, "file": d.File, "object": d.Object, "offset": d.Offset, "suggestion": d.Suggestion, "clause": d.Clause,
		})
	}
	return err
}

func optionProblem(e *pdf.OptionError) error {
	return problem("request", http.StatusBadRequest, e, members{"field": e.Field, "got": e.Got, "want": e.Want, "nearest": e.Nearest})
}
