package fetch

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"

	"example.com/quire/fetch/internal/call"
)

// Decoder reads one content-coding (RFC 9110, section 8.4.1).
type Decoder func(io.Reader) (io.ReadCloser, error)

// decode asks for coded bodies and hands out decoded ones, and bounds what it hands out: a bomb of
// a few kilobytes ends at the bound, since nothing beyond it is ever decoded.
type decode struct {
	next     http.RoundTripper
	max      int64 // -1 = no bound
	off      bool
	sole     bool // the client's request comes straight here, and nobody else has it
	accept   string
	decoders map[string]Decoder
	damaged  func(*http.Request) // told of a body that is not what its coding says
}

func newDecode(own map[string]Decoder, limit int64, off, sole bool, damaged func(*http.Request)) Layer {
	all := map[string]Decoder{"gzip": gunzip}
	for name, d := range own {
		all[strings.ToLower(name)] = d
	}
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	return func(next http.RoundTripper) http.RoundTripper {
		accept := strings.Join(names, ", ")
		return &decode{next: next, max: limit, off: off, sole: sole, accept: accept, decoders: all, damaged: damaged}
	}
}

func gunzip(r io.Reader) (io.ReadCloser, error) { return gzip.NewReader(r) }

// Describe names the layer and its settings.
func (d *decode) Describe() (name, settings string) {
	if d.off {
		return "body", fmt.Sprintf("undecoded, at most %d bytes", d.max)
	}
	return "decode", fmt.Sprintf("%s, at most %d bytes", d.accept, d.max)
}

// Unwrap returns the layer below.
func (d *decode) Unwrap() http.RoundTripper { return d.next }

// RoundTrip implements http.RoundTripper.
func (d *decode) RoundTrip(req *http.Request) (*http.Response, error) {
	asked := false
	st := call.From(req.Context())
	b := take(st, takenBody, func(f *frame) *bounded { return &f.body })
	if !d.off && (st == nil || !st.Off(call.OffDecode)) && wantsDecoding(req) {
		h := make(http.Header, 1)
		if len(req.Header) > 0 {
			h = req.Header.Clone()
		}
		sent := take(st, takenAccept, func(f *frame) *[1]string { return &f.accept })
		sent[0] = d.accept
		h["Accept-Encoding"] = sent[:1:1] // of this request alone: who has the response has its request too
		if !d.sole || !isOwn(st, req) {
			c := *req
			req = &c
		}
		req.Header, asked = h, true
	}
	resp, err := d.next.RoundTrip(req)
	if err != nil {
		return resp, err
	}
	if resp.Body == nil || resp.Body == http.NoBody || resp.StatusCode == http.StatusSwitchingProtocols {
		return resp, nil
	}
	b.rc, b.left = resp.Body, d.max
	if d.max < 0 {
		b.left = math.MaxInt64 // more than there is
	}
	if codings := d.codings(resp); asked && len(codings) > 0 {
		bound := codedBound(d.max)
		b.coded = &coded{source: source{r: b.rc, left: bound}, bound: bound, decoders: codings, req: req, damaged: d.damaged}
		b.coded.r = &b.coded.source
		resp.Header.Del("Content-Encoding")
		resp.Header.Del("Content-Length")
		resp.ContentLength = -1
		resp.Uncompressed = true
	} else if resp.ContentLength > b.left {
		b.err = call.ErrBodyTooLarge // declared: no need to read up to the bound first
	}
	if d.max >= 0 || b.coded != nil {
		resp.Body = b
	}
	return resp, nil
}

// wantsDecoding tells whether decoding may stand between the caller and the server. Not when the
// caller asks for codings himself, for a range of bytes, which is one of the coded form, or
// compares entity tags, which belong to one form.
func wantsDecoding(req *http.Request) bool {
	if req.Method == http.MethodHead {
		return false
	}
	if len(req.Header) == 0 {
		return true
	}
	for _, name := range []string{"Accept-Encoding", "Range", "If-Match", "If-None-Match", "If-Range"} {
		if _, ok := req.Header[name]; ok {
			return false
		}
	}
	return true
}

// codings returns the decoders of the response's codings, the last applied first; nil when there is
// none or one is unknown.
func (d *decode) codings(resp *http.Response) []Decoder {
	var list []Decoder
	for _, line := range resp.Header["Content-Encoding"] {
		for name := range strings.SplitSeq(line, ",") {
			name = strings.ToLower(strings.TrimSpace(name))
			switch name {
			case "", "identity":
				continue
			case "x-gzip": // the same (RFC 9110, section 8.4.1.3)
				name = "gzip"
			}
			dec := d.decoders[name]
			if dec == nil || len(list) == maxCodings {
				return nil
			}
			list = append(list, dec)
		}
	}
	slices.Reverse(list)
	return list
}

// maxCodings on top of each other; two are unusual.
const maxCodings = 3

// bounded is a body that is decoded when first read and ends in ErrBodyTooLarge beyond its bound.
type bounded struct {
	rc    io.ReadCloser
	coded *coded // nil = it is not
	left  int64
	err   error
}

// coded is what a body needs that is to be decoded.
type coded struct {
	source   source
	r        io.Reader // what comes of it
	decoders []Decoder // nil = they are opened
	opened   []io.Closer
	bound    int64     // of what each decoder reads
	between  []*source // from one decoder to the next
	req      *http.Request
	damaged  func(*http.Request)

	mu              sync.Mutex // a body may be closed while it is read
	reading, closed bool
}

// codedBound is how much coded text may be read for a body of at most limit bytes (-1 = any). Text
// that decodes to nothing has no other end, and what is coded twice can be a thousand times as long
// as what comes from the connection. Small pieces that are sent one by one are longer coded than
// plain, but not by so much.
func codedBound(limit int64) int64 {
	if limit < 0 || limit > (math.MaxInt64-1<<20)/4 {
		return math.MaxInt64
	}
	return 4*limit + 1<<20
}

// begin tells whether the body may be read, until end.
func (c *coded) begin() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reading = !c.closed
	return c.reading
}

func (c *coded) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reading = false; c.closed {
		c.release()
	}
}

// close closes the decoders, or leaves that to a Read that is under way.
func (c *coded) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed = true; !c.reading {
		c.release()
	}
}

func (c *coded) release() {
	for _, o := range c.opened {
		_ = o.Close() // a decoder has nothing to lose; the body below reports
	}
	c.opened = nil
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.coded == nil {
		return b.read(p)
	}
	if !b.coded.begin() {
		return 0, http.ErrBodyReadAfterClose
	}
	defer b.coded.end()
	return b.read(p)
}

func (b *bounded) read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	if len(p) == 0 {
		return 0, nil
	}
	if b.coded != nil && b.coded.decoders != nil {
		if b.err = b.open(); b.err != nil {
			return 0, b.err
		}
	}
	if int64(len(p))-1 > b.left {
		p = p[:b.left+1] // one more than the bound, to tell the end from too much
	}
	var n int
	var err error
	if b.coded == nil {
		n, err = b.rc.Read(p)
	} else {
		n, err = b.coded.r.Read(p)
	}
	if int64(n) > b.left {
		n, err = int(b.left), call.ErrBodyTooLarge
	}
	b.left -= int64(n)
	if err != nil {
		if b.coded != nil && b.coded.opened != nil && !errors.Is(err, io.EOF) {
			err = b.cause(err)
		}
		b.err = err
	}
	return n, err
}

func (b *bounded) open() error {
	for i, dec := range b.coded.decoders {
		r, err := dec(b.coded.r)
		if err != nil {
			if i == 0 && errors.Is(err, io.EOF) {
				b.coded.decoders = nil
				return io.EOF // an empty body, coded or not
			}
			return b.cause(err)
		}
		b.coded.r = r
		b.coded.opened = append(b.coded.opened, r)
		if i+1 < len(b.coded.decoders) {
			again := &source{r: r, left: b.coded.bound, decoded: true}
			b.coded.between, b.coded.r = append(b.coded.between, again), again
		}
	}
	b.coded.decoders = nil
	return nil
}

func (b *bounded) Close() error {
	if b.coded != nil {
		b.coded.close()
	}
	return b.rc.Close()
}

// codingError is a body that is not what its Content-Encoding says.
type codingError struct{ err error }

func (e *codingError) Error() string   { return "decode body: " + e.err.Error() }
func (e *codingError) Unwrap() error   { return e.err }
func (e *codingError) Retryable() bool { return false }

// cause tells what a decoder's error comes from: the connection and the bound speak for themselves.
func (b *bounded) cause(err error) error {
	if errors.Is(err, call.ErrBodyTooLarge) {
		return err
	}
	if b.coded.source.err != nil {
		return b.coded.source.err
	}
	for _, s := range b.coded.between {
		if s.err != nil {
			return s.err
		}
	}
	b.coded.damaged(b.coded.req)
	return &codingError{err}
}

// source is what a decoder reads: the body below, or what the decoder before it makes of that. It
// remembers the errors of the body below and of its own bound: decoders pass them on in their own
// words, or take them for a fault of the coding.
type source struct {
	r       io.Reader
	left    int64
	decoded bool // its errors are those of a decoder
	err     error
}

func (s *source) Read(p []byte) (int, error) {
	if s.left == 0 {
		s.err = call.ErrBodyTooLarge
		return 0, s.err
	}
	if int64(len(p)) > s.left {
		p = p[:s.left]
	}
	n, err := s.r.Read(p)
	s.left -= int64(n)
	if err != nil && !s.decoded && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}
