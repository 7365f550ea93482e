package web

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"io/fs"
	"log/slog"
	"maps"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"

	"example.com/quire/web/internal/field"
)

// Errors with a status of their own, for errors.Is. Handlers return them.
var (
	ErrNotModified        = errors.New("web: not modified")                   // 304
	ErrPreconditionFailed = errors.New("web: precondition failed")            // 412
	ErrNotFound           = errors.New("web: not found")                      // 404
	ErrMethodNotAllowed   = errors.New("web: method not allowed")             // 405
	ErrUnsupportedMedia   = errors.New("web: unsupported media type")         // 415
	ErrNotAcceptable      = errors.New("web: no acceptable representation")   // 406
	ErrBodyTooLarge       = errors.New("web: request body exceeds its limit") // 413
	ErrServerDraining     = errors.New("web: server is draining")             // 503
)

// statusClientGone is noted, never sent, when the client left before the answer.
const statusClientGone = 499

// Problem is an error and its answer in the form of RFC 9457. Everything in it
// is for the client; the cause goes to the log only.
type Problem struct {
	Type     string // a URI that names the kind of problem; "" is about:blank
	Title    string // "" is the text of Status
	Status   int
	Detail   string
	Instance string // "" is the request id
	Fields   []FieldError
	Ext      map[string]any // further members; those of RFC 9457 and "fields" are ignored

	cause error
}

// FieldError tells what is wrong with one part of a request.
type FieldError struct {
	Source  string `json:"source,omitempty"`  // path, query, header, body
	Pointer string `json:"pointer,omitempty"` // RFC 6901, into a body
	Name    string `json:"name,omitempty"`    // of a parameter
	Rule    string `json:"rule,omitempty"`    // what was broken: a BindKind, or a rule of validation
	Detail  string `json:"detail"`
	Got     string `json:"got,omitempty"`
	Want    string `json:"want,omitempty"`
	Line    int    `json:"line,omitempty"`   // from 1
	Column  int    `json:"column,omitempty"` // in bytes, from 1
}

// NewProblem makes a Problem. detail is for the client; cause is logged, never
// sent, and seen by errors.Is and errors.As.
func NewProblem(status int, detail string, cause error) *Problem {
	return &Problem{Status: status, Detail: detail, cause: cause}
}

func (p *Problem) Error() string {
	text := fmt.Sprintf("web: %d %s", p.Status, p.title())
	if p.Detail != "" {
		text += ": " + p.Detail
	}
	if p.cause != nil {
		text += ": " + p.cause.Error()
	}
	return text
}

// Unwrap returns the cause.
func (p *Problem) Unwrap() error { return p.cause }

func (p *Problem) title() string {
	if p.Title != "" {
		return p.Title
	}
	if text := http.StatusText(p.Status); text != "" {
		return text
	}
	return "Error"
}

// members returns the problem as JSON members.
func (p *Problem) members() map[string]any {
	m := map[string]any{}
	maps.Copy(m, p.Ext)
	delete(m, "fields")
	m["type"] = "about:blank"
	if p.Type != "" {
		m["type"] = p.Type
	}
	m["title"], m["status"] = p.title(), p.Status
	delete(m, "detail")
	if p.Detail != "" {
		m["detail"] = p.Detail
	}
	delete(m, "instance")
	if p.Instance != "" {
		m["instance"] = p.Instance
	}
	if len(p.Fields) > 0 {
		m["fields"] = p.Fields
	}
	return m
}

// MarshalJSON writes the members of RFC 9457, section 3.1, then the extensions.
func (p *Problem) MarshalJSON() ([]byte, error) {
	m := p.members()
	var b bytes.Buffer
	b.WriteByte('{')
	put := func(name string) error {
		v, ok := m[name]
		if !ok {
			return nil
		}
		delete(m, name)
		text, err := json.Marshal(v)
		if err != nil {
			return fmt.Errorf("web: problem member %q: %w", name, err)
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(name)
		if err != nil {
			return fmt.Errorf("web: problem member %q: %w", name, err)
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(text)
		return nil
	}
	order := append([]string{"type", "title", "status", "detail", "instance", "fields"}, slices.Sorted(maps.Keys(m))...)
	for _, name := range order {
		if err := put(name); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// AsProblem returns what the client is told of an error: the *Problem in its
// chain, or the fixed text of the status that the error maps to. The result is
// a copy. It is never nil.
func AsProblem(err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		c := *p
		if c.Status < 400 || c.Status > 599 {
			c.Status = http.StatusInternalServerError
		}
		return &c
	}
	if be, ok := errors.AsType[*BindError](err); ok {
		return be.problem()
	}
	return &Problem{Status: statusOf(err), cause: err}
}

func statusOf(err error) int {
	var big *http.MaxBytesError
	switch {
	case errors.Is(err, ErrPreconditionFailed):
		return http.StatusPreconditionFailed
	case errors.Is(err, ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return http.StatusNotFound
	case errors.Is(err, ErrMethodNotAllowed):
		return http.StatusMethodNotAllowed
	case errors.Is(err, ErrUnsupportedMedia):
		return http.StatusUnsupportedMediaType
	case errors.Is(err, ErrNotAcceptable):
		return http.StatusNotAcceptable
	case errors.Is(err, ErrBodyTooLarge), errors.As(err, &big):
		return http.StatusRequestEntityTooLarge
	case errors.Is(err, ErrServerDraining), errors.Is(err, context.DeadlineExceeded):
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// Error answers an error now, so that Status and Written are final. The first
// answer wins: a later error is only logged. An error after bytes of an answer
// are out cuts the connection once the handlers have returned, for nothing else
// tells the client that what it got is not whole.
func (c *Context) Error(err error) {
	c.live()
	switch {
	case err == nil:
	case errors.Is(err, http.ErrAbortHandler):
		c.abort = true
	case c.answered:
		c.logError("error after an error answer", err)
	case c.res.hijacked:
		c.logError("error on a hijacked connection", err)
	case c.res.code() != 0:
		c.answered, c.abort = true, true
		level := slog.LevelError
		if c.req.Context().Err() != nil { // the client left, or its time is over
			level = slog.LevelInfo
		}
		c.log(level, "answer cut", err)
	case errors.Is(err, ErrNotModified):
		c.answered = true
		c.w.WriteHeader(http.StatusNotModified)
	case errors.Is(err, context.Canceled) && errors.Is(c.req.Context().Err(), context.Canceled):
		c.answered, c.abort = true, true
		c.res.setCode(statusClientGone)
		c.log(slog.LevelInfo, "client gone", err)
	default:
		c.answered = true
		if c.app.opts.ErrorHandler != nil {
			c.app.opts.ErrorHandler(c, err)
			return
		}
		c.AnswerError(err)
	}
}

// AnswerError is the default error handler: it answers by a problem, in JSON,
// XML, text or HTML as the client prefers, and logs what is a fault of the
// server. An error handler of one's own may end in it.
func (c *Context) AnswerError(err error) {
	c.live()
	p := AsProblem(err)
	if p.Instance == "" {
		p.Instance = c.id
	}
	level := slog.LevelDebug
	switch {
	case errors.Is(err, ErrBusy):
		level = slog.LevelWarn // a full gate does what it is for
	case p.Status >= 500:
		level = slog.LevelError
	}
	c.log(level, "request failed", err)
	h := c.w.Header()
	// What the failed handler meant for its answer does not hold for this one.
	for _, k := range []string{"Content-Length", "Content-Encoding", "Content-Disposition", "Etag", "Last-Modified", "Cache-Control", "Accept-Ranges"} {
		delete(h, k)
	}
	if p.Status != http.StatusRequestedRangeNotSatisfiable { // there it tells the size
		delete(h, "Content-Range")
	}
	h.Set("Cache-Control", "no-store")
	switch p.Status {
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		if h["Retry-After"] == nil {
			h.Set("Retry-After", "1")
		}
	case http.StatusUnauthorized:
		if h["Www-Authenticate"] == nil { // RFC 9110, section 15.5.2, demands one
			h.Set("WWW-Authenticate", "Bearer")
		}
	case http.StatusRequestEntityTooLarge:
		if c.req.ProtoMajor == 1 {
			h.Set("Connection", "close") // the rest of the body is not read
		}
	}
	c.writeProblem(p)
}

func (c *Context) writeProblem(p *Problem) {
	h := c.w.Header()
	addVary(h, "Accept")
	var body []byte
	switch field.Prefer(c.req.Header["Accept"], "application/problem+json", "application/json", "application/problem+xml", "text/plain", "text/html") {
	case "text/html":
		h["Content-Type"] = valueHTML
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'")
		body = p.html()
	case "text/plain":
		h["Content-Type"] = valueText
		body = p.text()
	case "application/problem+xml":
		h["Content-Type"] = []string{"application/problem+xml"}
		body = p.xml()
	default:
		h["Content-Type"] = valueProblem
		var err error
		if body, err = json.Marshal(p); err != nil { // an extension that has no JSON form
			c.logError("problem not encodable", err)
			p.Ext = nil
			body, _ = json.Marshal(p) // without extensions all members are texts and numbers
		}
	}
	h["Content-Length"] = contentLength(len(body))
	c.w.WriteHeader(p.Status)
	if _, err := c.w.Write(body); err != nil {
		c.abort = true
		c.log(slog.LevelDebug, "error answer not written", err)
	}
}

func (p *Problem) text() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %s\n", p.Status, p.title())
	if p.Detail != "" {
		fmt.Fprintf(&b, "%s\n", p.Detail)
	}
	for _, f := range p.Fields {
		fmt.Fprintf(&b, "- %s\n", f)
	}
	if p.Instance != "" {
		fmt.Fprintf(&b, "id %s\n", p.Instance)
	}
	return []byte(b.String())
}

// String returns the place and the detail in one line.
func (f FieldError) String() string {
	place := strings.TrimSpace(f.Source + " " + f.Name + f.Pointer)
	if f.Line > 0 {
		place = fmt.Sprintf("%s line %d column %d", place, f.Line, f.Column)
	}
	return strings.TrimPrefix(place+": "+f.Detail, ": ")
}

func (p *Problem) html() []byte {
	var b strings.Builder
	title := html.EscapeString(p.title())
	fmt.Fprintf(&b, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>%d %s</title>"+
		"<style>body{font:1rem/1.5 system-ui,sans-serif;margin:4rem auto;max-width:40rem;padding:0 1rem}small{color:#595959}</style>"+
		"</head><body><main><h1>%d %s</h1>", p.Status, title, p.Status, title)
	if p.Detail != "" {
		fmt.Fprintf(&b, "<p>%s</p>", html.EscapeString(p.Detail))
	}
	if len(p.Fields) > 0 {
		b.WriteString("<ul>")
		for _, f := range p.Fields {
			fmt.Fprintf(&b, "<li>%s</li>", html.EscapeString(f.String()))
		}
		b.WriteString("</ul>")
	}
	if p.Instance != "" {
		fmt.Fprintf(&b, "<p><small>%s</small></p>", html.EscapeString(p.Instance))
	}
	b.WriteString("</main></body></html>\n")
	return []byte(b.String())
}

// xml writes the form of RFC 9457, appendix B, without the extensions, which
// need not have an XML name.
func (p *Problem) xml() []byte {
	kind := p.Type
	if kind == "" {
		kind = "about:blank"
	}
	var b bytes.Buffer
	b.WriteString(xml.Header + `<problem xmlns="urn:ietf:rfc:7807">`)
	put := func(name, text string) {
		if text == "" {
			return
		}
		b.WriteString("<" + name + ">")
		_ = xml.EscapeText(&b, []byte(text)) // a bytes.Buffer takes everything
		b.WriteString("</" + name + ">")
	}
	put("type", kind)
	put("title", p.title())
	put("status", fmt.Sprint(p.Status))
	put("detail", p.Detail)
	put("instance", p.Instance)
	if len(p.Fields) > 0 {
		b.WriteString("<fields>")
		for _, f := range p.Fields {
			put("i", f.String())
		}
		b.WriteString("</fields>")
	}
	b.WriteString("</problem>\n")
	return b.Bytes()
}

// addVary adds a field name to Vary unless it is there.
func addVary(h http.Header, name string) {
	for _, line := range h["Vary"] {
		for part := range strings.SplitSeq(line, ",") {
			if part = strings.TrimSpace(part); strings.EqualFold(part, name) || part == "*" {
				return
			}
		}
	}
	h.Add("Vary", name)
}

// recovered turns a panic into an answer. The stack goes to the log only.
func (c *Context) recovered(p any) {
	if err, ok := p.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		c.abort = true
		return
	}
	c.log(slog.LevelError, "panic", fmt.Errorf("%v", p), slog.String("stack", string(debug.Stack())))
	if c.res.code() != 0 || c.res.hijacked {
		c.abort = !c.res.hijacked
		return
	}
	// A wrapper of a middleware that was unwound must not see this answer.
	c.w = &c.res
	defer func() {
		if recover() != nil { // the error handler itself panicked
			c.abort = true
		}
	}()
	c.answered = false
	c.Error(NewProblem(http.StatusInternalServerError, "", errPanicked))
}

var errPanicked = errors.New("web: the handler panicked")

func (c *Context) logError(msg string, err error) { c.log(slog.LevelError, msg, err) }

func (c *Context) log(level slog.Level, msg string, err error, more ...slog.Attr) {
	ctx := c.req.Context()
	if !c.app.log.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{slog.String("id", c.id), slog.String("method", c.req.Method), slog.Any("err", err)}
	if c.route != nil {
		attrs = append(attrs, slog.String("route", c.route.pattern.text))
	}
	c.app.log.LogAttrs(ctx, level, msg, append(attrs, more...)...)
}
