package web

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"strings"
)

// body is the request's body under its limit. It is made per request, never
// pooled: net/http and handlers' goroutines may hold on to it.
type body struct {
	src    io.ReadCloser
	length int64 // Content-Length, -1 unknown
	limit  int64 // negative: none
	read   int64
	err    error
	whole  []byte // what Body read
	kept   bool
	of     *http.Request
	pool   *BodyPool // nil: none
	taken  int64     // from the pool
	packed *body     // under src, when the body is unpacked

	budgeted bool // the limit is one of Budgets
}

// limitBody puts the limit around the request's body.
func (c *Context) limitBody() {
	if c.req.Body == nil || c.req.Body == http.NoBody {
		return
	}
	c.body = &body{src: c.req.Body, length: c.req.ContentLength, limit: c.app.limits.Body, of: c.req}
	if c.route != nil {
		if n := c.route.budgets.BodyBytes; n != 0 {
			c.body.limit, c.body.budgeted = n, true
		}
		c.body.pool = c.route.budgets.Bodies
	}
	c.req.Body = c.body
	c.unpack()
}

// release gives the request the body back that it came with, and the pool its bytes.
func (b *body) release() {
	b.of.Body = b.src
	if b.packed != nil {
		b.of.Body = b.packed.src
	}
	if b.taken > 0 {
		b.pool.used.Add(-b.taken)
		b.taken = 0
	}
}

func (c *Context) setBodyLimit(n int64) {
	for b := c.body; b != nil; b = b.packed {
		b.limit = n
	}
}

func (b *body) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	if b.limit >= 0 && b.length > b.limit {
		// Announced too large: refused before a byte is read, so that a client
		// that waits for 100 (Continue) never sends it.
		return 0, b.tooLarge()
	}
	if left := b.limit - b.read; b.limit >= 0 && int64(len(p))-1 > left {
		p = p[:left+1] // one more than allowed tells "full" from "too large"
	}
	n, err := b.src.Read(p)
	b.read += int64(n)
	if b.limit >= 0 && b.read > b.limit {
		return n - int(b.read-b.limit), b.tooLarge()
	}
	b.err = bodyError(err)
	return n, b.err
}

// bodyError says what became of a body that did not come whole. That is the
// client's doing or the network's, and no fault of the server.
func bodyError(err error) error {
	timeout, isNet := errors.AsType[net.Error](err)
	switch {
	case err == nil || errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, http.ErrBodyReadAfterClose):
		return err
	case errors.Is(err, ErrBodyTooLarge) || errors.Is(err, ErrBodyTimeout) || errors.Is(err, ErrBodyIncomplete) || isFault(err):
		return err // of a body that is unpacked
	case isNet && timeout.Timeout():
		return fmt.Errorf("%w: %w", ErrBodyTimeout, err)
	}
	return fmt.Errorf("%w: %w", ErrBodyIncomplete, err)
}

func isFault(err error) bool {
	_, ok := errors.AsType[*BindError](err)
	return ok
}

func (b *body) tooLarge() error {
	b.err = fmt.Errorf("%w: %w", ErrBodyTooLarge, &http.MaxBytesError{Limit: b.limit})
	return b.err
}

func (b *body) Close() error { return b.src.Close() }

// Body reads the whole body within its limit. It may be called again, and the
// request's body may be read again after it. A body with a Content-Encoding is
// refused with 415 unless the route has Decompress. The error for a body
// over its limit is ErrBodyTooLarge (413).
func (c *Context) Body() ([]byte, error) {
	c.live()
	if c.body == nil {
		return nil, nil
	}
	b := c.body
	if b.kept {
		return b.whole, nil
	}
	if err := c.uncoded(); err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	believed := int64(1 << 20)
	if b.pool != nil {
		believed = 64 << 10
	}
	if n := b.length; n > 0 && n <= believed && (b.limit < 0 || n <= b.limit) {
		buf.Grow(int(n) + bytes.MinRead) // an honest length saves copies; a large one is not believed
	}
	if _, err := buf.ReadFrom(b.reader()); err != nil {
		return nil, err
	}
	b.whole, b.kept = buf.Bytes(), true
	c.req.Body = io.NopCloser(bytes.NewReader(b.whole))
	return b.whole, nil
}

// fieldValue is the first value of a field whose name is written as Header keeps it: Header.Get
// looks at each of its characters first.
func fieldValue(h http.Header, name string) string {
	if v := h[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// uncoded refuses a body with a content coding, and tells which would be taken (RFC 9110,
// section 12.5.3).
func (c *Context) uncoded() error {
	sent := fieldValue(c.req.Header, "Content-Encoding")
	if sent == "" || strings.EqualFold(sent, "identity") {
		return nil
	}
	taken, want := "identity", "no content coding"
	if c.route != nil && c.route.decompress {
		taken, want = "gzip", "gzip or no content coding"
	}
	c.w.Header().Set("Accept-Encoding", taken)
	return &BindError{Source: "body", Kind: BindMedia, Got: sent, Want: want, Err: ErrUnsupportedMedia}
}

// media refuses a body of another type than those wanted, with the fields that
// say so (RFC 9110, section 12.3; RFC 5789, section 2.2), and returns its type.
func (c *Context) media(accepts func(kind string) bool, want string) (string, error) {
	sent := fieldValue(c.req.Header, "Content-Type")
	kind, params, err := mime.ParseMediaType(sent)
	charset := strings.ToLower(params["charset"])
	if err == nil && accepts(kind) && (charset == "" || charset == "utf-8" || charset == "us-ascii") {
		return kind, nil
	}
	switch c.req.Method {
	case http.MethodPost:
		c.w.Header().Set("Accept-Post", want)
	case http.MethodPatch:
		c.w.Header().Set("Accept-Patch", want)
	case "QUERY":
		c.w.Header().Set("Accept-Query", want)
	}
	return "", &BindError{Source: "body", Kind: BindMedia, Got: sent, Want: want, Err: ErrUnsupportedMedia}
}
