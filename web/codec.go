package web

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"example.com/quire/internal/httpfield"
)

// Codec reads and writes a media type beyond those built in, JSON, XML and forms.
// It must be safe for concurrent use. Encode must write nothing of a value that
// it cannot encode, or return an error: nothing is sent before it returns. An
// error of Decode is the client's fault (400).
type Codec interface {
	MediaTypes() []string // without parameters, lower case; the first is sent
	Encode(w io.Writer, v any) error
	Decode(r io.Reader, v any) error
}

// Placed is an error of Codec.Decode that knows where in the body it is: line and column from 1, 0
// where they are not known, the JSON Pointer of the value, and a reason that the client is told.
type Placed interface {
	error
	Place() (line, column int, pointer, reason string)
}

// XML answers with v as XML, with its declaration.
func (c *Context) XML(code int, v any) error {
	c.live()
	return c.encode(code, valueXML, (*buffer).xml, v)
}

// xml writes v behind its declaration.
func (b *buffer) xml(v any) error {
	if b.out == nil {
		b.out = bufio.NewWriter(nil) // which an xml.Encoder takes in place of one of its own
	}
	b.out.Reset(&b.Buffer)
	_, _ = b.out.WriteString(xml.Header) // a bytes.Buffer does not fail
	return xml.NewEncoder(b.out).Encode(v)
}

// json writes v for another type than application/json.
func (b *buffer) json(v any) error { return b.enc.Encode(v) }

// YAML answers with v by the codec of Options.Codecs for application/yaml; without
// one it is an error.
func (c *Context) YAML(code int, v any) error {
	c.live()
	codec := c.app.codec("application/yaml")
	if codec == nil {
		return errors.New("web: encode YAML: Options.Codecs has no codec for application/yaml")
	}
	return c.encode(code, codec.value, codec.write, v)
}

// encode answers with what write makes of v, once all of it is there.
func (c *Context) encode(code int, kind []string, write func(*buffer, any) error, v any) error {
	b := c.app.getBuffer()
	defer c.app.putBuffer(b)
	if err := write(b, v); err != nil {
		return fmt.Errorf("web: encode %s: %w", kind[0], err)
	}
	return c.send(code, kind, bytes.TrimSuffix(b.Bytes(), newline))
}

// codec is a Codec of Options with its media types.
type codec struct {
	Codec
	types []string
	value []string // the first of them, for Content-Type
}

func newCodec(c Codec) *codec {
	types := c.MediaTypes()
	return &codec{c, types, slices.Clip(types[:min(len(types), 1)])}
}

func (c *codec) write(b *buffer, v any) error { return c.Encode(&b.Buffer, v) }

// codec returns the one for a media type, nil when there is none.
func (a *App) codec(kind string) *codec {
	for _, c := range a.codecs {
		if slices.Contains(c.types, kind) {
			return c
		}
	}
	return nil
}

// Accepts returns the one of offers, media types in the order of the server's own
// preference, that the request prefers (RFC 9110, section 12.5.1), "" when it
// accepts none. The answer then varies with Accept, and says so.
func (c *Context) Accepts(offers ...string) string {
	c.live()
	addVary(c.w.Header(), "Accept")
	return httpfield.Prefer(c.req.Header["Accept"], offers...)
}

// Negotiate answers with v in the form that the request prefers among offers:
// JSON, XML, text/plain, and what the codecs of Options.Codecs write. Without
// offers it is JSON, XML and those of the codecs. When none is acceptable the
// error, a 406 problem, names them; an offer that nothing writes is a mistake of
// the program.
func (c *Context) Negotiate(code int, v any, offers ...string) error {
	c.live()
	if len(offers) == 0 {
		offers = c.app.offers
	}
	kind := c.Accepts(offers...)
	if kind == "" {
		return NewProblem(http.StatusNotAcceptable, "this is to be had as "+strings.Join(offers, ", "), ErrNotAcceptable)
	}
	plain, _, _ := strings.Cut(kind, ";")
	codec := c.app.codec(plain)
	switch {
	case codec != nil:
		return c.encode(code, []string{kind}, codec.write, v)
	case plain == mediaJSON:
		return c.JSON(code, v)
	case isJSON(plain):
		return c.encode(code, []string{kind}, (*buffer).json, v)
	case isXML(plain):
		return c.encode(code, []string{kind}, (*buffer).xml, v)
	case plain == "text/plain":
		return c.String(code, fmt.Sprint(v))
	}
	return fmt.Errorf("web: negotiate: nothing writes %q", kind)
}
