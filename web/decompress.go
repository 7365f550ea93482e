package web

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// ErrBodyRatio is the cause of a 413: the body unpacks to more than a hundred times its size.
var ErrBodyRatio = errors.New("web: the request body unpacks to more than 100 times its size")

const (
	maxRatio   = 100      // bytes unpacked for one that came
	ratioSlack = 64 << 10 // what may be unpacked in any case: short texts repeat much
)

// Decompress is a RouteOption: bodies with Content-Encoding gzip are unpacked, for Body, for the
// binding and for what reads Request().Body, whose request then has neither the field nor a
// length. The limit of the body holds for both, the bytes that come and those that they unpack
// to, of which there may be at most 100 for each byte that came beyond the first 64 KiB
// (ErrBodyRatio, 413). Other codings stay 415. Danger: a client pays less for a body than the
// server.
func Decompress() RouteOption { return optionFunc(func(r *Route) { r.decompress = true }) }

// unpack puts the bytes that a coded body stands for in its place, if the route wants that.
func (c *Context) unpack() {
	coding := fieldValue(c.req.Header, "Content-Encoding")
	if c.route == nil || !c.route.decompress || !strings.EqualFold(coding, "gzip") && !strings.EqualFold(coding, "x-gzip") {
		return
	}
	packed := c.body
	c.body = &body{src: &gunzip{packed: packed}, length: -1, limit: packed.limit, of: packed.of, pool: packed.pool, packed: packed}
	r := new(http.Request)
	*r = *c.req
	r.Header = c.req.Header.Clone()
	r.Header.Del("Content-Encoding")
	r.Header.Del("Content-Length")
	r.ContentLength, r.Body = -1, c.body
	c.req = r
}

// gunzip reads what a body in gzip (RFC 1952) stands for.
type gunzip struct {
	packed *body
	z      *gzip.Reader
	n      int64
	err    error
}

func (g *gunzip) Read(p []byte) (int, error) {
	if g.err != nil {
		return 0, g.err
	}
	if g.z == nil {
		// The head is read here, not where the body is made: that would wait for it.
		z, err := gzip.NewReader(bufio.NewReaderSize(g.packed, 4<<10))
		if err != nil {
			return 0, g.fail(err)
		}
		g.z = z
	}
	n, err := g.z.Read(p)
	if g.n += int64(n); g.n > ratioSlack && g.n > maxRatio*g.packed.read {
		g.err = fmt.Errorf("%w: %w", ErrBodyTooLarge, ErrBodyRatio)
		return 0, g.err
	}
	if err != nil {
		err = g.fail(err)
	}
	return n, err
}

// fail keeps an error of the body as it is; any other is one of the coding.
func (g *gunzip) fail(err error) error {
	_, corrupt := errors.AsType[flate.CorruptInputError](err)
	switch {
	case corrupt, errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum),
		errors.Is(err, io.EOF) && g.z == nil: // nothing at all is no gzip
		err = &BindError{Source: "body", Kind: BindSyntax, Want: "a body in gzip, as Content-Encoding says", Err: err}
	}
	g.err = err
	return err
}

func (g *gunzip) Close() error { return g.packed.Close() }
