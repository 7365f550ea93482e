package middleware

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"example.com/quire/internal/httpfield"
	"example.com/quire/web"
)

// ETagOptions configure ETag.
type ETagOptions struct {
	// MaxBytes is how much of a body is held back to make its tag; longer answers
	// go out as they are, without one. Default: 1 MiB.
	MaxBytes int
	// Strong makes strong tags. Default: weak ones. Danger: right only where nothing
	// between here and the client changes the bytes, as compression does.
	Strong bool
}

// ETag gives answers to GET and HEAD an entity tag made of their body, and answers
// 304 to a client that has that body already. It saves sending, not making: a
// handler that knows the version of its data does better by Context.Precondition.
// Passed by, and never held back, are other methods and statuses than 200,
// answers with an ETag, Content-Range, Trailer or Cache-Control: no-store, event streams
// and whatever is flushed. A 304 keeps Set-Cookie, Vary and Cache-Control.
//
// An answer that is held back can still be replaced: an error that the handler
// returns after writing is answered as such.
func ETag(o ETagOptions) (web.Middleware, error) {
	if o.MaxBytes < 0 {
		return nil, &web.ConfigError{Field: "ETagOptions.MaxBytes", Got: o.MaxBytes, Want: "a number of bytes"}
	}
	o.MaxBytes = cmp.Or(o.MaxBytes, 1<<20)
	return func(next web.Handler) web.Handler {
		return func(c *web.Context) error {
			if m := c.Request().Method; m != http.MethodGet && m != http.MethodHead {
				return next(c)
			}
			w := &tagWriter{w: c.Writer(), o: &o}
			c.SetWriter(w)
			defer c.SetWriter(w.w) // after a panic too: the answer to that is not held back
			if err := next(c); err != nil {
				return err
			}
			return w.finish(c.Request())
		}
	}, nil
}

// tagWriter holds a body back until it is whole, or until it is none to be tagged.
type tagWriter struct {
	w       http.ResponseWriter
	o       *ETagOptions
	status  int // as the handler said; 0 before
	buf     bytes.Buffer
	passing bool // status and what was held back are out
}

// Unwrap lets http.ResponseController reach the deadlines of the server's writer.
func (w *tagWriter) Unwrap() http.ResponseWriter { return w.w }

func (w *tagWriter) Header() http.Header { return w.w.Header() }

func (w *tagWriter) WriteHeader(code int) {
	switch {
	case w.passing || code >= 100 && code < 200 && code != http.StatusSwitchingProtocols:
		w.w.WriteHeader(code)
		return
	case w.status == 0:
		w.status = code
	case code >= 400: // an error takes the place of the answer that is held back
		w.status = code
		w.buf.Reset()
	default:
		return
	}
	if !w.eligible() {
		w.w.WriteHeader(code)
		w.passing = true
	}
}

func (w *tagWriter) eligible() bool {
	h := w.w.Header()
	if w.status != http.StatusOK || h["Etag"] != nil || h["Content-Range"] != nil || h["Trailer"] != nil || httpfield.HasToken(h["Cache-Control"], "no-store") {
		return false
	}
	if t := h.Get("Content-Type"); len(t) >= len(eventStream) && strings.EqualFold(t[:len(eventStream)], eventStream) {
		return false
	}
	n, err := strconv.ParseInt(h.Get("Content-Length"), 10, 64)
	return err != nil || n <= int64(w.o.MaxBytes)
}

const eventStream = "text/event-stream"

// pass sends what is held back, and lets the rest go straight through.
func (w *tagWriter) pass() error {
	if w.passing {
		return nil
	}
	w.passing = true
	if w.status != 0 {
		w.w.WriteHeader(w.status)
	}
	held := w.buf.Bytes()
	w.buf = bytes.Buffer{}
	if len(held) == 0 {
		return nil
	}
	_, err := w.w.Write(held)
	return err
}

func (w *tagWriter) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if !w.passing && len(p) <= w.o.MaxBytes-w.buf.Len() {
		return w.buf.Write(p)
	}
	if err := w.pass(); err != nil {
		return 0, err
	}
	return w.w.Write(p)
}

// ReadFrom leaves a file that is not held back to the server's writer.
func (w *tagWriter) ReadFrom(src io.Reader) (n int64, err error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if !w.passing {
		room := int64(w.o.MaxBytes - w.buf.Len())
		n, err = w.buf.ReadFrom(io.LimitReader(src, room))
		if err != nil || n < room {
			return n, err
		}
		if err := w.pass(); err != nil { // a body of just the cap goes without a tag
			return n, err
		}
	}
	more, err := io.Copy(w.w, src)
	return n + more, err
}

// FlushError ends the holding back: the handler streams.
func (w *tagWriter) FlushError() error {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if err := w.pass(); err != nil {
		return err
	}
	return http.NewResponseController(w.w).Flush()
}

// Flush is FlushError for the old interface.
func (w *tagWriter) Flush() {
	_ = w.FlushError() // http.Flusher has no way to say so
}

// Hijack gives the connection away; nothing is held back from then on.
func (w *tagWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(w.w).Hijack()
	w.passing = w.passing || err == nil
	return conn, rw, err
}

func (w *tagWriter) finish(r *http.Request) error {
	if w.passing || w.status == 0 {
		return nil
	}
	h := w.w.Header()
	length := strconv.Itoa(w.buf.Len())
	// A handler may leave the body of HEAD away: then there is nothing to tag.
	if said := h.Get("Content-Length"); w.buf.Len() == 0 || said != "" && said != length || !w.eligible() {
		return w.pass()
	}
	sum := sha256.Sum256(w.buf.Bytes())
	tag := `"` + base64.RawURLEncoding.EncodeToString(sum[:])[:22] + `"`
	if !w.o.Strong {
		tag = "W/" + tag
	}
	h["Etag"] = []string{tag}
	switch httpfield.Evaluate(r.Method, r.Header, tag, time.Time{}, true) {
	case httpfield.NotModified:
		for _, name := range [...]string{"Content-Type", "Content-Length", "Content-Encoding", "Content-Language"} {
			delete(h, name) // RFC 9110, section 15.4.5: of the body that is not sent
		}
		w.passing = true
		w.w.WriteHeader(http.StatusNotModified)
		return nil
	case httpfield.Failed:
		return web.ErrPreconditionFailed
	}
	if h["Transfer-Encoding"] == nil {
		h["Content-Length"] = []string{length}
	}
	return w.pass()
}
