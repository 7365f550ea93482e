package web

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Renderer renders a named template. Templates is the one of the package.
type Renderer interface {
	Render(w io.Writer, name string, data any) error
}

var errAnswered = errors.New("web: the answer has begun already")

// buffer is a pooled buffer with the encoders that write into it.
type buffer struct {
	bytes.Buffer
	enc, pure, indented *json.Encoder
	out                 *bufio.Writer // of xml; nil before its first use
}

// keepBuffer is the largest buffer that goes back to the pool: one large answer
// must not hold its memory for ever.
const keepBuffer = 64 << 10

func newBuffer() any {
	b := new(buffer)
	b.enc, b.pure, b.indented = json.NewEncoder(b), json.NewEncoder(b), json.NewEncoder(b)
	b.pure.SetEscapeHTML(false)
	b.indented.SetIndent("", "  ")
	return b
}

func (a *App) getBuffer() *buffer {
	b := a.buffers.Get().(*buffer) // the pool holds nothing else
	b.Reset()
	return b
}

func (a *App) putBuffer(b *buffer) {
	if b.Cap() <= keepBuffer {
		a.buffers.Put(b)
	}
}

// mayAnswer reports why no answer of a status can be given: one has begun, or the
// status is none of an answer. 1xx precede one (RFC 9110, section 15.2).
func (c *Context) mayAnswer(code int) error {
	if c.res.code() != 0 {
		return errAnswered
	}
	if code < 200 || code > 599 {
		return fmt.Errorf("web: status %d: an answer has 200 to 599", code)
	}
	return nil
}

// send writes a whole answer.
func (c *Context) send(code int, contentType []string, body []byte) error {
	if err := c.mayAnswer(code); err != nil {
		return err
	}
	h := c.w.Header()
	h["Content-Type"] = contentType
	if !bodyless(code) {
		h["Content-Length"] = contentLength(len(body))
	}
	c.w.WriteHeader(code)
	if bodyless(code) {
		return nil
	}
	_, err := c.w.Write(body) //nolint:gosec // what the handler says, as the type it says
	return err
}

// JSON answers with v as JSON. HTML-relevant characters are escaped, so the text
// is safe inside a page. A value that cannot be encoded is an error, answered
// by 500, and nothing of it is sent.
func (c *Context) JSON(code int, v any) error {
	c.live()
	b := c.app.getBuffer()
	defer c.app.putBuffer(b)
	return c.sendJSON(code, b, b.enc, v)
}

var newline = []byte("\n")

// sendJSON answers with what enc, one of b's, writes.
func (c *Context) sendJSON(code int, b *buffer, enc *json.Encoder, v any) error {
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("web: encode JSON: %w", err)
	}
	return c.send(code, valueJSON, bytes.TrimSuffix(b.Bytes(), newline))
}

// IndentedJSON is JSON for people to read.
func (c *Context) IndentedJSON(code int, v any) error {
	c.live()
	b := c.app.getBuffer()
	defer c.app.putBuffer(b)
	return c.sendJSON(code, b, b.indented, v)
}

// PureJSON is JSON without the escapes for HTML. Danger: not to be put into a page.
func (c *Context) PureJSON(code int, v any) error {
	c.live()
	b := c.app.getBuffer()
	defer c.app.putBuffer(b)
	return c.sendJSON(code, b, b.pure, v)
}

// String answers with plain text in UTF-8.
func (c *Context) String(code int, s string) error {
	c.live()
	if err := c.mayAnswer(code); err != nil {
		return err
	}
	h := c.w.Header()
	h["Content-Type"] = valueText
	if bodyless(code) {
		c.w.WriteHeader(code)
		return nil
	}
	h["Content-Length"] = contentLength(len(s))
	c.w.WriteHeader(code)
	if c.w == http.ResponseWriter(&c.res) { // saves asking what it can do
		_, err := c.res.WriteString(s)
		return err
	}
	_, err := io.WriteString(c.w, s)
	return err
}

// Stringf answers with plain text, formatted as by fmt.Sprintf.
func (c *Context) Stringf(code int, format string, args ...any) error {
	c.live()
	b := c.app.getBuffer()
	defer c.app.putBuffer(b)
	_, _ = fmt.Fprintf(&b.Buffer, format, args...) // a bytes.Buffer does not fail
	return c.send(code, valueText, b.Bytes())
}

// Blob answers with bytes of a media type.
func (c *Context) Blob(code int, contentType string, body []byte) error {
	c.live()
	value, err := contentTypeValue(contentType)
	if err != nil {
		return err
	}
	return c.send(code, value, body)
}

func contentTypeValue(s string) ([]string, error) {
	switch s {
	case valueJSON[0]:
		return valueJSON, nil
	case valueText[0]:
		return valueText, nil
	case valueHTML[0]:
		return valueHTML, nil
	}
	if !validHeaderValue(s) {
		return nil, fmt.Errorf("web: content type %q: control characters", s)
	}
	return []string{s}, nil
}

// validHeaderValue refuses CR, LF, NUL and the other controls but tab
// (RFC 9110, section 5.5).
func validHeaderValue(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < ' ' && c != '\t') || c == 0x7f {
			return false
		}
	}
	return true
}

// HTML renders a template of Options.Templates. The page is whole before its
// first byte is sent.
func (c *Context) HTML(code int, name string, v any) error {
	c.live()
	if c.app.opts.Templates == nil {
		return fmt.Errorf("web: template %q: Options.Templates is not set", name)
	}
	b := c.app.getBuffer()
	defer c.app.putBuffer(b)
	if err := c.app.opts.Templates.Render(b, name, v); err != nil {
		return fmt.Errorf("web: template %q: %w", name, err)
	}
	return c.send(code, valueHTML, b.Bytes())
}

// NoContent answers with a status and no body.
func (c *Context) NoContent(code int) error {
	c.live()
	if err := c.mayAnswer(code); err != nil {
		return err
	}
	if !bodyless(code) {
		c.w.Header()["Content-Length"] = contentLength(0)
	}
	c.w.WriteHeader(code)
	return nil
}

// Redirect answers with a redirect to a URL that the program chose. For a
// target that came from outside use LocalRedirect: this one goes anywhere.
func (c *Context) Redirect(code int, target string) error {
	c.live()
	if code < 300 || code > 399 || code == http.StatusNotModified {
		return fmt.Errorf("web: redirect: %d is not a redirect status", code)
	}
	if _, err := url.Parse(target); err != nil || !validHeaderValue(target) || target == "" {
		return fmt.Errorf("web: redirect: target %q is not a URL", target)
	}
	if c.res.code() != 0 {
		return errAnswered
	}
	h := c.w.Header()
	h["Location"] = []string{asciiURL(target)}
	h["Content-Length"] = contentLength(0)
	c.w.WriteHeader(code)
	return nil
}

// LocalRedirect redirects to a path of this server and refuses, by a 400
// problem, everything that a browser could take for another host.
func (c *Context) LocalRedirect(code int, path string) error {
	if !localTarget(path) || strings.ContainsAny(path, "\\\t\r\n") || !validHeaderValue(path) {
		return NewProblem(http.StatusBadRequest, "the redirect target is not a path of this server", nil)
	}
	return c.Redirect(code, path)
}

// asciiURL percent-encodes the bytes of a URL that a header may not hold.
func asciiURL(s string) string {
	if every(s, func(c byte) bool { return c > ' ' && c < 0x7f }) {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c > ' ' && c < 0x7f {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// Stream answers with what f writes, without knowing its length. Each write has
// slowAnswer time rather than the whole answer, and the route's time budget no
// longer applies. An error of f after the first byte cuts the connection.
func (c *Context) Stream(contentType string, f func(io.Writer) error) error {
	c.live()
	value, err := contentTypeValue(contentType)
	if err != nil {
		return err
	}
	if c.res.code() != 0 {
		return errAnswered
	}
	c.disarm()
	c.w.Header()["Content-Type"] = value
	s := &streamWriter{c: c}
	if err := f(s); err != nil {
		return err
	}
	if c.res.code() == 0 {
		c.w.WriteHeader(http.StatusOK)
	}
	return nil
}

type streamWriter struct {
	c    *Context
	last time.Time
}

func (s *streamWriter) Write(p []byte) (int, error) {
	s.tick()
	return s.c.Writer().Write(p)
}

// Flush sends what is buffered.
func (s *streamWriter) Flush() error {
	s.tick()
	return http.NewResponseController(s.c.Writer()).Flush()
}

// tick moves the deadline on, at most once a second.
func (s *streamWriter) tick() {
	if now := time.Now(); now.Sub(s.last) > time.Second {
		s.last = now
		s.c.chunkTime()
	}
}
