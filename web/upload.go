package web

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"iter"
	"mime"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"os"
	"reflect"
	"strconv"
	"strings"
)

// ErrTooManyParts is the cause of a 413: the body has more parts than Limits.Parts.
var ErrTooManyParts = errors.New("web: the multipart body has too many parts")

// UploadError is a part of a multipart body that breaks a limit (413): its cause is
// ErrBodyTooLarge or ErrTooManyParts.
type UploadError struct {
	Part  string // the part's name, "" when the body as a whole is meant
	Rule  string // size or parts
	Limit int64  // bytes or parts
	Err   error
}

func (e *UploadError) Error() string {
	return fmt.Sprintf("web: multipart part %q: more than %d (%s): %v", e.Part, e.Limit, e.Rule, e.Err)
}

// Unwrap returns the cause.
func (e *UploadError) Unwrap() error { return e.Err }

func (e *UploadError) problem() *Problem {
	unit := "bytes"
	if e.Rule == "parts" {
		unit = "parts"
	}
	f := FieldError{
		Source: "form", Name: e.Part, Rule: e.Rule, Limit: strconv.FormatInt(e.Limit, 10),
		Detail: fmt.Sprintf("at most %d %s are taken", e.Limit, unit),
	}
	return &Problem{Status: http.StatusRequestEntityTooLarge, Detail: f.String(), Fields: []FieldError{f}, cause: e}
}

// Part is one part of a multipart body, to be read as it comes. It is valid until the next one.
type Part struct {
	Name     string // of the form's field
	FileName string // what the client calls the file, "" for a plain value: text to show, never a path
	Declared string // the media type that the client says, without parameters, "" for none
	Header   textproto.MIMEHeader
	r        *bufio.Reader
	file     bool
}

// Detected is the media type that the first 512 bytes look like (WHATWG MIME Sniffing). It is a
// guess: whoever sends the file chooses them.
func (p *Part) Detected() (string, error) {
	head, err := p.r.Peek(512)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	return detect(head), nil
}

func detect(head []byte) string {
	kind, _, _ := strings.Cut(http.DetectContentType(head), ";")
	return kind
}

// Read reads the content.
func (p *Part) Read(b []byte) (int, error) { return p.r.Read(b) }

// Save writes the content to a new file of root, under a generated name that ends in ext, such
// as ".png" or "", and returns the name. What was written is removed when an error ends it.
func (p *Part) Save(root *os.Root, ext string) (name string, err error) { return save(root, ext, p) }

func save(root *os.Root, ext string, src io.Reader) (name string, err error) {
	if strings.ContainsAny(ext, `/\`) || !validHeaderValue(ext) {
		return "", fmt.Errorf("web: save upload: ending %q: no separators and no controls", ext)
	}
	name = strings.ToLower(rand.Text()) + ext
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", fmt.Errorf("web: save upload: %w", err)
	}
	_, err = io.Copy(f, src)
	if err = errors.Join(err, f.Close()); err != nil {
		_ = root.Remove(name) // the error that is told is the first one
		return "", fmt.Errorf("web: save upload: %w", err)
	}
	return name, nil
}

// Parts reads a multipart/form-data body (RFC 7578) part by part, without holding more of it than
// a few KiB. Limits.Multipart bounds the body, Limits.Parts the parts and Limits.File each of
// them; the error of one that is broken is an *UploadError. A part that the loop leaves unread is
// skipped. The body can be read once, by Parts or by the binding.
func (c *Context) Parts() iter.Seq2[*Part, error] {
	return func(yield func(*Part, error) bool) {
		r, err := c.multipart()
		if err != nil {
			yield(nil, err)
			return
		}
		for n := 1; ; n++ {
			part, err := r.next(n)
			if part == nil && err == nil || !yield(part, err) || err != nil {
				return
			}
		}
	}
}

// multipart begins to read the body.
func (c *Context) multipart() (*partReader, error) {
	c.live()
	if _, err := c.media(func(kind string) bool { return kind == mediaMultipart }, mediaMultipart); err != nil {
		return nil, err
	}
	_, params, _ := mime.ParseMediaType(c.req.Header.Get("Content-Type")) // media has parsed it
	boundary := params["boundary"]
	if n := len(boundary); n < 1 || n > 70 { // RFC 2046, section 5.1.1
		return nil, BindErrors{{Source: "form", Kind: BindSyntax, Want: "a boundary of 1 to 70 characters in Content-Type"}}
	}
	if err := c.uncoded(); err != nil {
		return nil, err
	}
	if c.body == nil {
		return nil, BindErrors{{Source: "form", Kind: BindMissing, Want: "a multipart body"}}
	}
	if !c.body.kept && c.body.read == 0 && !c.body.budgeted {
		c.setBodyLimit(c.app.limits.Multipart)
	}
	r := &partReader{limits: c.app.limits, src: c.req.Body}
	r.mr = multipart.NewReader(r, boundary)
	return r, nil
}

// partReader reads the parts of a body and bounds what their heads take.
type partReader struct {
	limits Limits
	src    io.Reader
	mr     *multipart.Reader
	part   *multipart.Part
	inHead bool
	head   int // bytes read for this head
}

// maxPartHead bounds the head of a part, and what is read ahead of it.
const maxPartHead = 16 << 10

var errPartHead = errors.New("web: the head of a part is too long")

func (r *partReader) Read(p []byte) (int, error) {
	n, err := r.src.Read(p)
	if r.inHead {
		if r.head += n; r.head > maxPartHead {
			return 0, errPartHead
		}
	}
	return n, err
}

// next returns the n-th part, nil at the end.
func (r *partReader) next(n int) (*Part, error) {
	if r.part != nil { // before the head of the next one is bounded
		if _, err := io.Copy(io.Discard, r.part); err != nil {
			return nil, partError(err)
		}
	}
	r.inHead, r.head = true, 0
	part, err := r.mr.NextRawPart()
	r.inHead = false
	if err == io.EOF { //nolint:errorlint // the end is this very error; one that wraps it is a body cut short
		return nil, nil
	}
	if err != nil {
		return nil, partError(err)
	}
	if most := r.limits.Parts; most > 0 && n > most {
		return nil, &UploadError{Rule: "parts", Limit: int64(most), Err: ErrTooManyParts}
	}
	r.part = part
	disposition, params, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
	name, named := params["name"]
	sent, file := params["filename"]
	if err != nil || disposition != "form-data" || !named { // RFC 7578, section 4.2
		return nil, BindErrors{{Source: "form", Kind: BindSyntax, Want: "each part with Content-Disposition: form-data and a name"}}
	}
	p := &Part{Name: name, FileName: fileName(sent), Header: part.Header, file: file}
	p.Declared, _, _ = mime.ParseMediaType(part.Header.Get("Content-Type")) // "" when it is none
	limit := r.limits.File
	if limit < 0 {
		p.r = bufio.NewReaderSize(partContent{part}, 512)
	} else {
		p.r = bufio.NewReaderSize(&boundedPart{partContent{part}, name, limit, limit}, 512)
	}
	return p, nil
}

// escapedName reads the three characters that browsers and curl escape in names, and no others:
// they do not escape the percent sign itself (HTML, section 4.10.22.8).
var escapedName = strings.NewReplacer("%22", `"`, "%0D", "\r", "%0A", "\n")

// fileName makes a text to show of what a client calls its file: without the folders that some
// send, without control characters, and not too long.
func fileName(sent string) string {
	sent = escapedName.Replace(sent)
	sent = sent[strings.LastIndexAny(sent, `/\`)+1:]
	sent = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, strings.ToValidUTF8(sent, "\uFFFD"))
	if len(sent) > 255 {
		sent = strings.ToValidUTF8(sent[:255], "")
	}
	return sent
}

// partContent says what became of a part that did not come whole.
type partContent struct{ r io.Reader }

func (p partContent) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	if err != nil && err != io.EOF { //nolint:errorlint // as in next
		err = partError(err)
	}
	return n, err
}

// partError keeps what the body's reader says, and takes all else for a fault of form.
func partError(err error) error {
	for _, known := range []error{ErrBodyTooLarge, ErrBodyTimeout, ErrBodyIncomplete, ErrBusy} {
		if errors.Is(err, known) {
			return err
		}
	}
	if fault, ok := errors.AsType[*BindError](err); ok {
		return BindErrors{fault}
	}
	if errors.Is(err, errPartHead) {
		return BindErrors{{Source: "form", Kind: BindSyntax, Want: "a head of at most " + strconv.Itoa(maxPartHead) + " bytes for each part", Err: err}}
	}
	return BindErrors{{Source: "form", Kind: BindSyntax, Want: "a multipart body whose parts end with the boundary", Err: err}}
}

// boundedPart is a part under Limits.File.
type boundedPart struct {
	r           io.Reader
	name        string
	left, limit int64
}

func (b *boundedPart) Read(p []byte) (int, error) {
	if int64(len(p))-1 > b.left {
		p = p[:b.left+1] // one more than allowed tells "full" from "too large"
	}
	n, err := b.r.Read(p)
	if b.left -= int64(n); b.left < 0 {
		b.left = 0
		return n - 1, &UploadError{Part: b.name, Rule: "size", Limit: b.limit, Err: ErrBodyTooLarge}
	}
	return n, err
}

// Upload is a file of a multipart body that was read whole: by Context.Upload, or by a field of
// type *Upload with a form tag. It lives in memory or, when it is larger than 64 KiB, in a
// temporary file, and is gone when the handler has returned.
type Upload struct {
	Name     string // of the form's field
	FileName string // what the client calls the file: text to show, never a path
	Declared string // the media type that the client says, "" for none
	Detected string // the media type that the content looks like
	Size     int64  // bytes

	memory []byte
	file   *os.File
	named  bool // the file is still to be removed
}

// Open returns a reader of the content, each time a new one from its beginning.
func (u *Upload) Open() *io.SectionReader {
	if u.file != nil {
		return io.NewSectionReader(u.file, 0, u.Size)
	}
	return io.NewSectionReader(bytes.NewReader(u.memory), 0, u.Size)
}

// Save is Part.Save.
func (u *Upload) Save(root *os.Root, ext string) (name string, err error) {
	return save(root, ext, u.Open())
}

// form is a multipart body that was read whole.
type form struct {
	values  map[string][]string
	uploads map[string][]*Upload
	err     error
}

// keepUpload is the size up to which a file stays in memory.
const keepUpload = 64 << 10

// wholeForm reads the body once.
func (c *Context) wholeForm() (*form, error) {
	if c.form == nil {
		c.form = &form{values: map[string][]string{}, uploads: map[string][]*Upload{}}
		c.form.err = c.readForms()
	}
	return c.form, c.form.err
}

func (c *Context) readForms() error {
	texts := c.app.limits.Body // of all values that are no files
	for p, err := range c.Parts() {
		if err != nil {
			return err
		}
		if !p.file {
			var b bytes.Buffer
			src := io.Reader(p)
			if texts >= 0 {
				src = io.LimitReader(p, texts+1)
			}
			if _, err := b.ReadFrom(src); err != nil {
				return err
			}
			if n := int64(b.Len()); texts >= 0 && n > texts {
				return &UploadError{Part: p.Name, Rule: "size", Limit: c.app.limits.Body, Err: ErrBodyTooLarge}
			} else if texts >= 0 {
				texts -= n
			}
			if err := c.body.hold(int64(b.Len())); err != nil {
				return err
			}
			c.form.values[p.Name] = append(c.form.values[p.Name], b.String())
			continue
		}
		u, err := c.spool(p)
		if u != nil && (u.FileName != "" || u.Size > 0) { // else a browser says that no file was chosen
			c.form.uploads[p.Name] = append(c.form.uploads[p.Name], u) // of an error too: its file is to be removed
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// spool keeps a file.
func (c *Context) spool(p *Part) (*Upload, error) {
	var head bytes.Buffer
	n, err := io.Copy(&head, io.LimitReader(p, keepUpload+1))
	if err != nil {
		return nil, err
	}
	u := &Upload{Name: p.Name, FileName: p.FileName, Declared: p.Declared, Detected: detect(head.Bytes()), Size: n}
	if n <= keepUpload {
		u.memory = head.Bytes()
		return u, c.body.hold(n)
	}
	if u.file, err = os.CreateTemp("", "upload-*"); err != nil {
		return nil, fmt.Errorf("web: upload: %w", err)
	}
	// Where the system allows it the file has no name from here on, and so outlives nothing.
	u.named = os.Remove(u.file.Name()) != nil
	u.Size, err = io.Copy(u.file, io.MultiReader(&head, p))
	return u, err
}

// close removes the temporary files.
func (f *form) close() {
	for _, uploads := range f.uploads {
		for _, u := range uploads {
			if u.file != nil {
				_ = u.file.Close() // it was only read, or is of no use
				if u.named {
					_ = os.Remove(u.file.Name()) // the system's own cleaning finds it
				}
			}
		}
	}
}

// Upload returns the first file of a field of a multipart body, which is read whole the first
// time. A field that is absent is a *BindError (400).
func (c *Context) Upload(name string) (*Upload, error) {
	f, err := c.wholeForm()
	if err != nil {
		return nil, err
	}
	if all := f.uploads[name]; len(all) > 0 {
		return all[0], nil
	}
	return nil, &BindError{Source: "form", Name: name, Kind: BindMissing, Want: "a file"}
}

// bindUploads fills the fields of type *Upload and []*Upload that have a form tag.
func (c *Context) bindUploads(dst any) error {
	v, err := target("form", dst)
	if err != nil {
		return err
	}
	for _, f := range c.app.plans.Files(v.Type()) {
		all := c.form.uploads[f.Name]
		if len(all) == 0 {
			continue
		}
		if field := v.FieldByIndex(f.Index); field.Kind() == reflect.Slice {
			field.Set(reflect.ValueOf(all))
		} else {
			field.Set(reflect.ValueOf(all[0]))
		}
	}
	return nil
}
