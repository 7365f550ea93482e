// Package collapse combines identical concurrent requests into one upstream request, and gives each
// caller its own response: header map and body.
//
// Identical means: the same method, URL, host and header fields, credentials among them, but the
// fields of tracing. Only GET and HEAD without a body are collapsed. What says that it is for one
// client alone (Set-Cookie, no-store, Vary with *, and private under Shared) is not shared: each
// caller asks by itself, and for the next 10 seconds nobody waits for such a key at all.
//
// Nothing lingers: a caller that comes when the response headers are there starts anew. That is a
// cache's business.
//
// Defaults: bodies up to 1 MiB are shared, 10 000 callers may wait for one.
//
// Do: put it below a cache and above retries, so that one retries for all. Do not: give a Key that
// leaves out what the answer depends on; a caller would get what was meant for another. Not for:
// requests whose callers must each reach the server, such as health checks.
package collapse

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"example.com/quire/fetch/internal/body"
	"example.com/quire/fetch/internal/call"
	"example.com/quire/internal/httpfield"
)

// Config describes the layer. The zero value is the default.
type Config struct {
	// Key says what is identical: nil = KeyOf. false asks alone.
	Key func(*http.Request) ([]byte, bool)
	// When tells whether a request may be collapsed: nil = GET and HEAD without a body.
	When func(*http.Request) bool
	// Shared also keeps responses with the directive private from being shared.
	Shared bool
	// MaxBuffer is the largest body that is shared: 0 = 1 MiB. Of a larger one the first caller
	// gets the stream, and the others ask by themselves.
	MaxBuffer int64
	// MaxFollowers may wait for one request: 0 = 10 000. Who comes then starts another.
	MaxFollowers int
}

// ConfigError tells one thing that is wrong with a Config.
type ConfigError = call.ConfigError

// Validate returns every ConfigError of c, joined.
func (c Config) Validate() error {
	var k call.Check
	k.Count("MaxBuffer", c.MaxBuffer)
	k.Count("MaxFollowers", int64(c.MaxFollowers))
	return k.Err()
}

const (
	passFor  = 10 * time.Second
	maxPass  = 4096
	maxField = 16 << 10
)

// Group is the layer with the requests that callers share at the moment. It is safe for concurrent
// use.
type Group struct {
	cfg       Config
	followers atomic.Int64

	mu      sync.Mutex
	flights map[string]*flight
	pass    map[string]time.Time // keys that are not collapsed, until when
}

// New returns a group that shares nothing yet.
func New(c Config) (*Group, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if c.Key == nil {
		c.Key = KeyOf
	}
	if c.When == nil {
		c.When = plain
	}
	c.MaxBuffer = cmp.Or(c.MaxBuffer, 1<<20)
	c.MaxFollowers = cmp.Or(c.MaxFollowers, 10_000)
	return &Group{cfg: c, flights: make(map[string]*flight), pass: make(map[string]time.Time)}, nil
}

// Followers returns how many callers were answered by another's request.
func (g *Group) Followers() int64 { return g.followers.Load() }

// Layer returns the group as a layer over next. Requests are identical within one Layer's stack
// only if next is the same.
func (g *Group) Layer(next http.RoundTripper) http.RoundTripper { return &transport{next: next, g: g} }

func plain(req *http.Request) bool {
	switch req.Method {
	case "", http.MethodGet, http.MethodHead:
		return req.Body == nil || req.Body == http.NoBody
	}
	return false
}

// KeyOf is the default key: method, URL and host as they are, and a SHA-256 hash of the header
// fields but those of tracing. Requests with more than 16 KiB of them have none, nor have those
// with a body, of which it says nothing.
func KeyOf(req *http.Request) ([]byte, bool) {
	if req.Body != nil && req.Body != http.NoBody {
		return nil, false
	}
	sum, ok := sumOf(req.Header)
	if !ok {
		return nil, false
	}
	u := req.URL
	path := u.EscapedPath()
	if u.ForceQuery && u.RawQuery == "" {
		path += "?"
	}
	b := make([]byte, 0, 2*len(sum)+len(req.Method)+len(u.Scheme)+len(u.Host)+len(req.Host)+len(u.Opaque)+len(path)+len(u.RawQuery))
	for _, s := range [...]string{req.Method, u.Scheme, u.Host, req.Host, u.Opaque, path, u.RawQuery} {
		b = appendText(b, s)
	}
	return append(b, sum[:]...), true
}

// sumOf hashes the header fields but those of tracing; false when they are too many. Zero is the
// sum of none.
func sumOf(h http.Header) (sum [sha256.Size]byte, ok bool) {
	if len(h) == 0 {
		return sum, true
	}
	s := scratches.Get().(*scratch)
	if ok = s.write(h); ok && len(s.text) > 0 {
		sum = sha256.Sum256(s.text)
	}
	s.clear()
	scratches.Put(s)
	return sum, ok
}

// scratch is what a key is made in. On the stack it would be two kilobytes, and callers that come
// at once, each in a goroutine of its own, would spend more on making their stacks large enough
// than on all else.
type scratch struct {
	names []string
	text  []byte
}

var scratches = sync.Pool{New: func() any { return &scratch{make([]string, 0, 16), make([]byte, 0, 1024)} }}

// write makes the text of the header fields.
func (s *scratch) write(h http.Header) bool {
	size := 0
	for name, values := range h {
		switch name {
		case "Traceparent", "Tracestate", "Baggage":
			continue
		}
		s.names = append(s.names, name)
		for _, v := range values {
			size += len(name) + len(v)
		}
	}
	if size > maxField {
		return false
	}
	slices.Sort(s.names)
	for _, name := range s.names {
		s.text = appendText(s.text, name)
		s.text = binary.AppendUvarint(s.text, uint64(len(h[name])))
		for _, v := range h[name] {
			s.text = appendText(s.text, v)
		}
	}
	return true
}

// clear forgets what s says of a request.
func (s *scratch) clear() {
	clear(s.names)
	clear(s.text)
	s.names, s.text = s.names[:0], s.text[:0]
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

type transport struct {
	next http.RoundTripper
	g    *Group
}

// Describe names the layer and its settings.
func (t *transport) Describe() (name, settings string) {
	return "collapse", fmt.Sprintf("bodies up to %d bytes, %d followers", t.g.cfg.MaxBuffer, t.g.cfg.MaxFollowers)
}

// Unwrap returns the layer below.
func (t *transport) Unwrap() http.RoundTripper { return t.next }

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	g := t.g
	st := call.From(req.Context())
	if st != nil && st.Off(call.OffCollapse) || !g.cfg.When(req) {
		return t.next.RoundTrip(req)
	}
	key, ok := g.cfg.Key(req)
	if !ok {
		return t.next.RoundTrip(req)
	}
	if err := req.Context().Err(); err != nil {
		closeBody(req)
		return nil, err
	}
	f, leads := g.join(key, req, st)
	if f == nil {
		return t.next.RoundTrip(req)
	}
	switch {
	case !leads:
	case req.Context().Done() == nil: // it cannot leave before the flight ends, and so may as well make it
		f.fly(t.next)
	default:
		go f.fly(t.next)
	}
	return t.wait(f, req, st, leads)
}

// errSent is the error of a caller whose body went to the origin for others, and who would have to
// send it again.
var errSent = call.Final("the body of a collapsed request cannot be sent again")

// alone asks by itself. The body of who leads was sent with the flight.
func (t *transport) alone(req *http.Request, leads bool) (*http.Response, error) {
	if leads && req.Body != nil && req.Body != http.NoBody {
		if req.GetBody == nil {
			return nil, errSent
		}
		b, err := req.GetBody()
		if err != nil {
			return nil, err
		}
		c := *req
		c.Body, req = b, &c
	}
	return t.next.RoundTrip(req)
}

func closeBody(req *http.Request) {
	if req.Body != nil {
		_ = req.Body.Close()
	}
}

// join returns the flight of a key, a new one if there is none; nil when the key is not to be
// collapsed now.
func (g *Group) join(key []byte, req *http.Request, st *call.State) (f *flight, leads bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.pass) > 0 {
		if until, ok := g.pass[string(key)]; ok {
			if time.Now().Before(until) {
				return nil, false
			}
			delete(g.pass, string(key))
		}
	}
	if f = g.flights[string(key)]; f != nil && f.waiting <= g.cfg.MaxFollowers {
		f.waiting++
		f.joined++
		return f, false
	}
	f = newFlight(g, string(key), req, st)
	g.flights[f.key] = f
	return f, true
}

// flight is one upstream request and those who wait for it.
//
// It has a context of its own, which no caller's cancellation reaches; it ends when the last caller
// has left. It lives until the response headers are there. Then it is taken out of the group, and
// its outcome is one of three: an error or a whole response, which all share; or a stream, which
// the first of those who still wait takes, while the others ask by themselves.
type flight struct {
	g      *Group
	key    string
	req    http.Request
	st     call.State
	log    [1]call.Attempt // from where the state's grows
	cancel context.CancelFunc
	done   chan struct{}

	waiting, joined int // guarded by g.mu

	// The outcome, written before done is closed.
	err     error
	resp    *http.Response
	content []byte
	stream  atomic.Pointer[http.Response] // to be taken once
	alone   bool                          // each asks by itself
}

func newFlight(g *Group, key string, req *http.Request, st *call.State) *flight {
	ctx, cancel := context.WithCancel(call.Detach(req.Context(), true))
	f := &flight{g: g, key: key, cancel: cancel, done: make(chan struct{}), waiting: 1}
	f.st.Init(ctx, time.Now(), f.log[:0])
	if st != nil {
		f.st.Continue(st)
		f.st.End = st.End
	}
	f.req = *call.Apart(&f.st, req)
	return f
}

// fly makes the request and shares what comes of it, also when a layer below panics or ends its
// goroutine.
func (f *flight) fly(next http.RoundTripper) {
	over := false
	defer func() {
		switch p := recover(); {
		case p != nil:
			f.end(fmt.Errorf("collapsed request: panic: %v", p))
		case !over:
			f.end(errGone)
		}
	}()
	f.run(next)
	over = true
}

var errGone = call.Final("collapsed request: its goroutine was ended")

func (f *flight) run(next http.RoundTripper) {
	resp, err := next.RoundTrip(&f.req)
	if err != nil {
		f.end(err)
		return
	}
	f.g.mu.Lock()
	f.leave()
	alone := f.joined == 0
	f.g.mu.Unlock()
	private := forOne(resp.Header, f.g.cfg.Shared)
	if private {
		f.g.passBy(f.key)
	}
	if alone || private || resp.ContentLength > f.g.cfg.MaxBuffer {
		f.hand(resp, nil)
		return
	}
	content, whole, err := f.gather(resp)
	switch {
	case err != nil:
		_ = resp.Body.Close()
		f.end(err)
	case !whole:
		f.hand(resp, content)
	default:
		f.resp, f.content = resp, content
		close(f.done)
		f.cancel()
	}
}

// gather reads the body as far as it may be shared.
func (f *flight) gather(resp *http.Response) (content []byte, whole bool, err error) {
	if resp.Body == nil || resp.Body == http.NoBody {
		return nil, true, nil
	}
	limit := f.g.cfg.MaxBuffer
	content = make([]byte, 0, max(min(resp.ContentLength, limit), 512)+1)
	for int64(len(content)) <= limit {
		if len(content) == cap(content) {
			content = slices.Grow(content, len(content))
		}
		n, err := resp.Body.Read(content[len(content):min(int64(cap(content)), limit+1)])
		content = content[:len(content)+n]
		if err == io.EOF {
			return content, int64(len(content)) <= limit, resp.Body.Close()
		}
		if err != nil {
			return nil, false, err
		}
	}
	return content, false, nil
}

// end shares an error.
func (f *flight) end(err error) {
	f.g.mu.Lock()
	f.leave()
	f.g.mu.Unlock()
	f.err = err
	close(f.done)
	f.cancel()
}

// leave takes the flight out of the group: who comes now starts anew. With the group's lock held.
func (f *flight) leave() {
	if f.g.flights[f.key] == f {
		delete(f.g.flights, f.key)
	}
}

// hand gives the response, of whose body some was read, to one caller; the others ask by
// themselves.
func (f *flight) hand(resp *http.Response, read []byte) {
	if len(read) > 0 {
		resp.Body = &prefixed{rest: read, rc: resp.Body}
	}
	f.alone = true
	f.stream.Store(resp)
	close(f.done)
	f.g.mu.Lock()
	gone := f.waiting == 0
	f.g.mu.Unlock()
	if gone {
		f.drop()
	}
}

// drop closes a stream that nobody took.
func (f *flight) drop() {
	if resp := f.stream.Swap(nil); resp != nil { //nolint:bodyclose // Discard closes it
		if resp.Body != nil {
			body.Discard(resp.Body)
		}
		f.cancel()
	}
}

// passBy keeps a key from being collapsed for a while, so that callers of what cannot be shared do
// not wait for each other.
func (g *Group) passBy(key string) {
	now := time.Now()
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.pass) >= maxPass {
		for k, until := range g.pass {
			if !now.Before(until) {
				delete(g.pass, k)
			}
		}
		if len(g.pass) >= maxPass {
			clear(g.pass)
		}
	}
	g.pass[key] = now.Add(passFor)
}

// forOne tells whether a response says that it is for one client.
func forOne(h http.Header, shared bool) bool {
	if len(h["Set-Cookie"]) > 0 {
		return true
	}
	for member := range httpfield.Members(h["Vary"]) {
		if member == "*" {
			return true
		}
	}
	if lines := h["Cache-Control"]; len(lines) > 0 {
		cc := httpfield.ParseCacheControl(lines)
		return cc.Has("no-store") || shared && cc.Has("private")
	}
	return false
}

// wait returns what the flight brings, or ends with the caller's own context or deadline.
func (t *transport) wait(f *flight, req *http.Request, st *call.State, leads bool) (*http.Response, error) {
	passed := leads // its body, to the flight or further down
	defer func() {
		if !passed {
			closeBody(req)
		}
	}()
	var over <-chan time.Time
	if st != nil && !leads && !st.End.IsZero() && (f.st.End.IsZero() || st.End.Before(f.st.End)) {
		timer := time.NewTimer(time.Until(st.End))
		defer timer.Stop()
		over = timer.C
	}
	var err error
	if ended := req.Context().Done(); ended == nil && over == nil {
		<-f.done
	} else {
		select {
		case <-f.done:
		case <-ended:
			err = req.Context().Err()
		case <-over:
			err = call.ErrTotalTimeout
		}
	}
	if err != nil {
		f.g.mu.Lock()
		f.waiting-- // who has the outcome is still counted: a stream is taken by one of those
		last := f.waiting == 0
		if last {
			f.leave()
		}
		f.g.mu.Unlock()
		if last {
			f.cancel() // nobody wants it any more
			select {
			case <-f.done:
				f.drop()
			default: // hand finds that nobody waits
			}
		}
		return nil, err
	}
	if leads && st != nil {
		st.Adopt(&f.st)
	}
	switch {
	case f.err != nil:
		if !leads && f.ownTimeout(st) {
			passed = true
			return t.next.RoundTrip(req)
		}
		return nil, f.err
	case f.alone:
		if resp := f.stream.Swap(nil); resp != nil {
			return f.take(resp, req), nil
		}
		passed = true
		return t.alone(req, leads)
	}
	if !leads {
		f.g.followers.Add(1)
		if st != nil {
			st.SetCollapsed()
		}
	}
	return f.copy(req), nil
}

// ownTimeout tells whether the flight ended by its first caller's total deadline, while this one
// has time left.
func (f *flight) ownTimeout(st *call.State) bool {
	return st != nil && !f.st.End.IsZero() && !time.Now().Before(f.st.End) && (st.End.IsZero() || time.Now().Before(st.End))
}

// copy returns a response of the caller's own.
func (f *flight) copy(req *http.Request) *http.Response {
	r := &own{Response: *f.resp}
	r.Header = f.resp.Header.Clone()
	r.Trailer = f.resp.Trailer.Clone()
	r.TransferEncoding = nil
	r.Request = req
	r.Body = http.NoBody
	if f.content != nil {
		r.body.rest = f.content
		r.Body = &r.body
	}
	return &r.Response
}

// own is a response in one piece with its body.
type own struct {
	http.Response
	body content
}

// content reads bytes that are shared and never changed.
type content struct{ rest []byte }

func (c *content) Read(p []byte) (int, error) {
	if len(c.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

func (c *content) Close() error { return nil }

// take gives the stream to one caller: its body ends with that caller's context, and the flight
// with the body.
func (f *flight) take(resp *http.Response, req *http.Request) *http.Response {
	resp.Request = req
	if resp.Body == nil || resp.Body == http.NoBody {
		f.cancel()
		return resp
	}
	s := &stream{rc: resp.Body, cancel: f.cancel, ctx: req.Context()}
	s.stop = context.AfterFunc(req.Context(), f.cancel)
	if w, ok := resp.Body.(io.ReadWriteCloser); ok && resp.StatusCode == http.StatusSwitchingProtocols {
		resp.Body = switched{s, w}
		return resp
	}
	resp.Body = s
	return resp
}

type switched struct {
	*stream
	w io.Writer
}

func (s switched) Write(p []byte) (int, error) { return s.w.Write(p) }

type stream struct {
	rc     io.ReadCloser
	ctx    context.Context
	cancel context.CancelFunc
	stop   func() bool
}

func (s *stream) Read(p []byte) (int, error) {
	n, err := s.rc.Read(p)
	if err != nil {
		if own := s.ctx.Err(); own != nil && err != io.EOF { //nolint:errorlint // wrapped it is no end of a body
			err = own
		}
		s.release()
	}
	return n, err
}

func (s *stream) Close() error {
	err := s.rc.Close()
	s.release()
	return err
}

func (s *stream) release() {
	s.stop()
	s.cancel()
}

// prefixed is a body of which some was read.
type prefixed struct {
	rest []byte
	rc   io.ReadCloser
}

func (p *prefixed) Read(b []byte) (int, error) {
	if len(p.rest) > 0 {
		n := copy(b, p.rest)
		p.rest = p.rest[n:]
		return n, nil
	}
	return p.rc.Read(b)
}

func (p *prefixed) Close() error { return p.rc.Close() }
