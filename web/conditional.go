package web

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"example.com/quire/internal/httpfield"
)

// Precondition sets ETag and Last-Modified and judges the request's conditions
// in the order of RFC 9110, section 13.2.2. Its error is the answer:
// ErrNotModified (304) or ErrPreconditionFailed (412). etag is an entity tag
// with its quotes, or "" for none; a zero mod is no date. With neither there is
// no current representation: If-Match then fails, and If-None-Match: * holds, as
// a PUT that creates wants it.
func (c *Context) Precondition(etag string, mod time.Time) error {
	return c.precondition(etag, mod, etag != "" || !mod.IsZero())
}

func (c *Context) precondition(etag string, mod time.Time, exists bool) error {
	c.live()
	if etag != "" && !httpfield.ValidETag(etag) {
		return fmt.Errorf("web: entity tag %q: not of the form \"text\" or W/\"text\"", etag)
	}
	h := c.w.Header()
	if etag != "" {
		h["Etag"] = []string{etag}
	}
	if !mod.IsZero() {
		h["Last-Modified"] = []string{httpfield.FormatDate(mod)}
	}
	switch httpfield.Evaluate(c.req.Method, c.req.Header, etag, mod, exists) {
	case httpfield.NotModified:
		return ErrNotModified
	case httpfield.Failed:
		return ErrPreconditionFailed
	}
	return nil
}

// Content is a whole representation to be served by Context.Content.
type Content struct {
	Type     string    // media type; "" is application/octet-stream
	ETag     string    // with its quotes; a strong one makes If-Range work; "" is none
	Modified time.Time // zero sends no Last-Modified
	Size     int64     // bytes; 0 finds out by seeking to the end
	Body     io.ReadSeeker
}

// Content answers GET and HEAD with a representation of known size: conditional
// requests, single and multiple ranges, 304, 412 and 416 by RFC 9110, sections
// 13 and 14. Each chunk has 30 seconds to be written rather than the whole. A
// Body that ends early cuts the connection.
func (c *Context) Content(ct Content) error {
	c.live()
	if c.res.code() != 0 {
		return errAnswered
	}
	kind, err := contentTypeValue(cmp.Or(ct.Type, "application/octet-stream"))
	if err != nil {
		return err
	}
	if ct.Size == 0 {
		if ct.Size, err = ct.Body.Seek(0, io.SeekEnd); err == nil {
			_, err = ct.Body.Seek(0, io.SeekStart)
		}
		if err != nil {
			return fmt.Errorf("web: content: %w", err)
		}
	}
	if err := c.precondition(ct.ETag, ct.Modified, true); err != nil {
		return err
	}
	h := c.w.Header()
	h["Accept-Ranges"] = valueBytes
	h["Content-Type"] = kind
	// Range is defined for GET alone (section 14.2).
	if spec := c.req.Header["Range"]; len(spec) == 1 && c.req.Method == http.MethodGet && httpfield.RangeApplies(c.req.Header, ct.ETag, ct.Modified) {
		if ranges, apply := httpfield.ParseRange(spec[0], ct.Size); apply {
			return c.partial(ct, kind, ranges)
		}
	}
	h["Content-Length"] = []string{strconv.FormatInt(ct.Size, 10)}
	c.w.WriteHeader(http.StatusOK)
	if c.req.Method == http.MethodHead {
		return nil
	}
	return c.copyBody(ct.Body, ct.Size)
}

var valueBytes = []string{"bytes"}

func (c *Context) partial(ct Content, kind []string, ranges []httpfield.Range) error {
	h := c.w.Header()
	switch len(ranges) {
	case 0:
		h["Content-Range"] = []string{"bytes */" + strconv.FormatInt(ct.Size, 10)}
		return NewProblem(http.StatusRequestedRangeNotSatisfiable, "no part of the content lies in the range", nil)
	case 1:
		r := ranges[0]
		if _, err := ct.Body.Seek(r.Start, io.SeekStart); err != nil {
			return fmt.Errorf("web: content: %w", err)
		}
		h["Content-Range"] = []string{httpfield.ContentRange(r, ct.Size)}
		h["Content-Length"] = []string{strconv.FormatInt(r.Length, 10)}
		c.w.WriteHeader(http.StatusPartialContent)
		return c.copyBody(ct.Body, r.Length)
	}
	// Multiple ranges: multipart/byteranges (section 14.6), whose length is known.
	boundary := rand.Text()
	heads := make([]string, len(ranges))
	last := "\r\n--" + boundary + "--\r\n"
	total := int64(len(last))
	for i, r := range ranges {
		lead := "\r\n--"
		if i == 0 {
			lead = "--"
		}
		heads[i] = lead + boundary + "\r\nContent-Type: " + kind[0] + "\r\nContent-Range: " + httpfield.ContentRange(r, ct.Size) + "\r\n\r\n"
		total += int64(len(heads[i])) + r.Length
	}
	h["Content-Type"] = []string{"multipart/byteranges; boundary=" + boundary}
	h["Content-Length"] = []string{strconv.FormatInt(total, 10)}
	c.w.WriteHeader(http.StatusPartialContent)
	for i, r := range ranges {
		if _, err := ct.Body.Seek(r.Start, io.SeekStart); err != nil {
			return fmt.Errorf("web: content: %w", err)
		}
		if _, err := io.WriteString(c.w, heads[i]); err != nil {
			return err
		}
		if err := c.copyBody(ct.Body, r.Length); err != nil {
			return err
		}
	}
	_, err := io.WriteString(c.w, last)
	return err
}

// chunkSize is what a client must take within slowAnswer.
const chunkSize = 256 << 10

// copyBody sends n bytes in chunks, each under a deadline of its own.
func (c *Context) copyBody(src io.Reader, n int64) error {
	for n > 0 {
		if err := c.req.Context().Err(); err != nil {
			return err
		}
		if n > 2048 { // less leaves with the head
			c.chunkTime()
		}
		k, err := io.CopyN(c.w, src, min(n, chunkSize))
		n -= k
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return fmt.Errorf("web: content: %w", err)
		}
	}
	return nil
}

// ContentDisposition writes the value of the Content-Disposition field for a
// file name (RFC 6266): kind is attachment or inline. Names beyond ASCII get the
// extended form of RFC 8187 beside a plain one; separators and controls become
// underscores.
func ContentDisposition(kind, name string) string {
	plain, extended, other := strings.Builder{}, strings.Builder{}, false
	for _, r := range name {
		if r < ' ' || r == 0x7f || r == '/' || r == '\\' {
			r = '_'
		}
		switch {
		case r > 0x7e:
			plain.WriteByte('_')
			other = true
		case r == '"':
			plain.WriteString(`\"`)
		default:
			plain.WriteRune(r)
		}
		for _, b := range []byte(string(r)) {
			if isDigit(b) || isLetter(b) || strings.IndexByte("!#$&+-.^_`|~", b) >= 0 {
				extended.WriteByte(b)
			} else {
				fmt.Fprintf(&extended, "%%%02X", b)
			}
		}
	}
	value := kind + `; filename="` + plain.String() + `"`
	if other || strings.Contains(name, "%") { // some clients decode % in the plain form
		value += "; filename*=UTF-8''" + extended.String()
	}
	return value
}
