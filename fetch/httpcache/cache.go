package httpcache

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"io"
	"net/http"
	"sync"
	"time"

	"example.com/quire/fetch/internal/body"
	"example.com/quire/fetch/internal/call"
	"example.com/quire/internal/httpfield"
)

// exchange is one request's way through the cache.
type exchange struct {
	c       *Cache
	next    http.RoundTripper
	req     *http.Request
	fields  http.Header // of req, where something in them concerns a cache; else nil
	st      *call.State // nil without a client
	options *RequestOptions
	demands demands
	key     Key
	entry   *Entry
	v       *variant // of entry, selected by req
	asked   time.Time
	number  uint64 // of the last invalidation before it was asked
}

// Results, as Info tells them.
const (
	ResultHit         = "hit"         // from the store, fresh
	ResultStale       = "stale"       // from the store, stale
	ResultRevalidated = "revalidated" // from the store, after the origin's 304
	ResultMiss        = "miss"        // from the origin
	ResultBypass      = "bypass"      // not looked up
)

// Why a request was forwarded (RFC 9211, section 2.2).
const (
	fwdBypass   = "bypass"
	fwdMethod   = "method"
	fwdURIMiss  = "uri-miss"
	fwdVaryMiss = "vary-miss"
	fwdRequest  = "request"
	fwdStale    = "stale"
	fwdPartial  = "partial"
)

var noOptions = &RequestOptions{} // nobody writes to it

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	st := call.From(req.Context())
	x := exchange{c: t.c, next: t.next, req: req, fields: concerning(req.Header), st: st, options: noOptions}
	if st != nil {
		if st.Off(call.OffCache) {
			return t.next.RoundTrip(req)
		}
		x.options = &st.Options.Cache
	}
	switch req.Method {
	case "", http.MethodGet, http.MethodHead:
	default:
		return x.other()
	}
	var ok bool
	if x.key, ok = t.c.keyOf(req, x.fields); !ok || x.options.Bypass || req.Body != nil && req.Body != http.NoBody {
		return x.pass(fwdBypass) // a body asks for something that no key says
	}
	if x.fields["If-Match"] != nil || x.fields["If-Unmodified-Since"] != nil || x.fields["Upgrade"] != nil {
		return x.pass(fwdRequest) // only the origin knows what there is now, and can change the protocol
	}
	x.demands = requestDemands(x.fields)
	x.demands.noCache = x.demands.noCache || x.options.Refresh
	if m := x.options.MaxStale; m > 0 {
		x.demands.maxStale = seconds{m, true}
	}
	x.asked = time.Now()
	var reached bool
	if x.entry, reached = t.c.get(req.Context(), &x.key); !reached {
		x.demands.noStore = true // a store that is down costs one request its time once
	}
	x.v = x.entry.pick(req.Header)
	if x.v != nil {
		if resp := x.fromStore(x.asked); resp != nil {
			return resp, nil
		}
	}
	return x.ask()
}

// concerning returns the fields of a request, or nil where none of them says anything about
// caching, ranges, conditions or who asks: so the fields that may do so need not be looked for one
// by one.
func concerning(h http.Header) http.Header {
	switch n := len(h); {
	case n == 0:
		return nil
	case n > 4:
		return h
	}
	for name := range h {
		switch name {
		case "Accept", "Accept-Encoding", "Accept-Language", "User-Agent":
		default:
			return h
		}
	}
	return nil
}

// ask goes to the origin.
func (x *exchange) ask() (*http.Response, error) {
	why := fwdStale
	switch {
	case x.entry == nil:
		why = fwdURIMiss
	case x.v == nil:
		why = fwdVaryMiss
	case x.v.partial:
		why = fwdPartial
	case x.demands.noCache || x.v.life > x.v.ageAt(x.asked) && !x.v.noCache:
		why = fwdRequest
	}
	switch {
	case x.demands.onlyIfCached || x.options.OnlyIfCached:
		return x.unavailable(why), nil
	case x.req.Method == http.MethodHead:
		return x.head(why)
	case x.entry == nil || x.v != nil && x.v.partial || x.v == nil && len(x.req.Header["Range"]) > 0:
		return x.forward(why) // validated it would lose its range
	}
	return x.validate(why)
}

// other passes requests that are not looked up. Those that are not known to be safe invalidate (RFC
// 9111, section 4.4); the answer to a POST is stored for a GET where it says that it is what a GET
// would return (RFC 9110, section 9.3.3).
func (x *exchange) other() (*http.Response, error) {
	resp, err := x.send(x.req)
	if err != nil {
		x.c.stats.bypassed.Add(1)
		return nil, err
	}
	stores := x.representsTarget(resp)
	if !safe(x.req.Method) && resp.StatusCode >= 200 && resp.StatusCode < 400 {
		x.c.invalidateBy(x.req, resp)
	}
	if !stores {
		return x.passed(resp, fwdMethod), nil
	}
	x.demands = requestDemands(x.req.Header)
	x.number = x.c.number.Load() // its own invalidation does not count
	return x.take(resp, x.req, fwdMethod, true), nil
}

// representsTarget tells whether the answer to a POST has the target's own address in
// Content-Location, and nobody has changed the target since it was asked for.
func (x *exchange) representsTarget(resp *http.Response) bool {
	lines := resp.Header["Content-Location"]
	if x.req.Method != http.MethodPost || resp.StatusCode != http.StatusOK || len(lines) != 1 || x.c.cfg.Mode == TTLOnly || x.options.Bypass {
		return false
	}
	u, err := x.req.URL.Parse(lines[0])
	if err != nil {
		return false
	}
	there := *x.req
	there.URL, there.Host = u, ""
	other, ok := x.c.keyOf(&there, there.Header)
	if !ok {
		return false
	}
	x.key, ok = x.c.keyOf(x.req, x.req.Header)
	return ok && x.key == other && !x.c.outdated(x.key, x.number)
}

// safe tells whether the IANA registry calls a method safe.
func safe(method string) bool {
	switch method {
	case http.MethodOptions, http.MethodTrace, "QUERY", "PROPFIND", "REPORT", "SEARCH", "PRI":
		return true
	}
	return false
}

func (x *exchange) pass(why string) (*http.Response, error) {
	resp, err := x.send(x.req)
	if err != nil {
		x.c.stats.bypassed.Add(1)
		return nil, err
	}
	return x.passed(resp, why), nil
}

func (x *exchange) passed(resp *http.Response, why string) *http.Response {
	x.c.stats.bypassed.Add(1)
	x.told(ResultBypass, 0, false)
	x.c.appendStatus(resp.Header, forwarded{why: why, status: resp.StatusCode})
	return resp
}

// send asks the origin, and takes the time and the number of invalidations before.
func (x *exchange) send(req *http.Request) (*http.Response, error) {
	x.number = x.c.number.Load()
	x.asked = time.Now()
	resp, err := x.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	call.Complete(resp, req)
	return resp, nil
}

func (x *exchange) forward(why string) (*http.Response, error) {
	resp, err := x.send(x.req)
	if err != nil {
		return nil, err
	}
	return x.take(resp, x.req, why, true), nil
}

// take hands the origin's response on and stores it on its way, when it may be.
func (x *exchange) take(resp *http.Response, sent *http.Request, why string, store bool) *http.Response {
	now := time.Now()
	x.c.stats.misses.Add(1)
	var v *variant
	collapsed := x.st != nil && x.st.Collapsed()
	if store && !collapsed { // the call whose request it was stores it
		v = x.c.storable(sent, resp, x, now)
	}
	length := resp.ContentLength
	if v != nil && length > x.c.cfg.MaxEntry {
		v = nil
	}
	x.told(ResultMiss, 0, v != nil)
	x.c.appendStatus(resp.Header, forwarded{why: why, status: resp.StatusCode, stored: v != nil, collapsed: collapsed})
	if len(resp.Header["Date"]) == 0 && v != nil {
		resp.Header["Date"] = []string{v.fields.get("Date")[0]}
	}
	if v == nil {
		return resp
	}
	if resp.Body == nil || resp.Body == http.NoBody {
		if length <= 0 {
			x.c.commit(sent.Context(), x.key, v, x.number)
		}
		return resp
	}
	if v.partial && length < 0 {
		part, _, _ := httpfield.ParseContentRange(resp.Header["Content-Range"])
		length = part.Length
	}
	resp.Body = &recorder{rc: resp.Body, c: x.c, ctx: sent.Context(), key: x.key, v: v, number: x.number, want: length}
	return resp
}

// recorder keeps a body as it is read, and commits it at its end when it is whole.
type recorder struct {
	rc     io.ReadCloser
	c      *Cache
	ctx    context.Context
	key    Key
	number uint64
	want   int64 // declared length; -1 = unknown

	mu  sync.Mutex // bodies may be closed while they are read
	v   *variant   // nil when there is nothing to commit any more
	buf []byte
}

func (r *recorder) Read(p []byte) (int, error) {
	n, err := r.rc.Read(p)
	if v := r.keep(p[:n], err); v != nil {
		r.c.commit(r.ctx, r.key, v, r.number)
	}
	return n, err
}

// keep adds what was read, with the error that came with it, and returns the variant at its end.
func (r *recorder) keep(p []byte, err error) *variant {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.v == nil:
		return nil
	case int64(len(r.buf)+len(p)) > r.c.cfg.MaxEntry:
		r.v, r.buf = nil, nil
		return nil
	case r.buf == nil && len(p) > 0:
		r.buf = make([]byte, 0, max(int64(len(p)), min(r.want, 64<<10)))
	}
	r.buf = append(r.buf, p...)
	if err == nil {
		return nil
	}
	v, whole := r.v, append([]byte{}, r.buf...) // without what the buffer has beyond
	r.v, r.buf = nil, nil
	if err != io.EOF || //nolint:errorlint // wrapped it is no end of a body
		r.want >= 0 && r.want != int64(len(whole)) {
		return nil
	}
	v.body = whole
	return v
}

// Close drops what was not read to its end.
func (r *recorder) Close() error {
	r.mu.Lock()
	r.v, r.buf = nil, nil
	r.mu.Unlock()
	return r.rc.Close()
}

// commit puts a variant into the store, unless its URL was invalidated since the response was asked
// for.
func (c *Cache) commit(ctx context.Context, k Key, v *variant, number uint64) {
	mu := c.lock(&k)
	mu.Lock()
	defer mu.Unlock()
	if c.outdated(k, number) {
		return
	}
	old, ok := c.get(ctx, &k)
	if !ok {
		return
	}
	if v.partial {
		if v = old.combine(v, c.cfg.MaxEntry); v == nil {
			return
		}
	}
	c.set(ctx, k, old.with(v, c.cfg.MaxVariants))
}

// replace puts next in the place of old, one of the variants of k.
func (c *Cache) replace(ctx context.Context, k Key, old, next *variant, number uint64) {
	mu := c.lock(&k)
	mu.Lock()
	defer mu.Unlock()
	if c.outdated(k, number) {
		return
	}
	if e, _ := c.get(ctx, &k); e != nil {
		if e = e.replaced(old, next); e != nil {
			c.set(ctx, k, e)
		}
	}
}

// lock is that of a URL, whatever its partition.
func (c *Cache) lock(k *Key) *sync.Mutex {
	const prime = 1099511628211 // FNV-1a
	h := uint64(14695981039346656037)
	for _, s := range [...]string{k.Host, k.Path, k.Query} {
		for i := range len(s) {
			h = (h ^ uint64(s[i])) * prime
		}
	}
	return &c.locks[h%uint64(len(c.locks))]
}

// maxGone is how many invalidations are remembered one by one.
const maxGone = 4096

// invalidated gives a URL's invalidation its number. Beyond maxGone all are forgotten, and what is
// on its way at that moment is not stored, whatever it is.
func (c *Cache) invalidated(k Key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.number.Add(1)
	if len(c.gone) >= maxGone {
		clear(c.gone)
		c.floor = n
	}
	c.gone[k] = n
}

// outdated tells whether a response that was asked for after so many invalidations has been
// invalidated since.
func (c *Cache) outdated(k Key, number uint64) bool {
	k.Partition = ""
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.floor > number || c.gone[k] > number
}

// keyOf returns the key with its partition, for which it looks into the given fields of the
// request.
func (c *Cache) keyOf(req *http.Request, h http.Header) (Key, bool) {
	f := c.cfg.Key
	if f == nil {
		f = KeyOf
	}
	k, ok := f(req)
	if !ok {
		return k, false
	}
	switch {
	case c.cfg.Partition != nil:
		if b := c.cfg.Partition(req); len(b) > 0 {
			sum := sha256.Sum256(b)
			k.Partition += base64.RawURLEncoding.EncodeToString(sum[:])
		}
	case !c.cfg.Shared:
		k.Partition += credentials(h)
	}
	return k, true
}

// credentials is a hash of what says who asks; "" when nothing does.
func credentials(h http.Header) string {
	if len(h) == 0 {
		return ""
	}
	names := [...]string{"Authorization", "Proxy-Authorization", "Cookie"}
	n := 0
	for _, name := range names {
		n += len(h[name])
	}
	if n == 0 {
		return ""
	}
	d := sha256.New()
	for _, name := range names {
		for _, v := range h[name] {
			_, _ = d.Write(binary.AppendUvarint(append([]byte(name), 0), uint64(len(v)))) // length first: no two lists are one text
			_, _ = io.WriteString(d, v)
		}
	}
	return base64.RawURLEncoding.EncodeToString(d.Sum(nil))
}

// told notes the result for Info and the observers.
func (x *exchange) told(result string, age time.Duration, stored bool) {
	if x.st == nil {
		return
	}
	x.st.SetCache(call.CacheInfo{Result: result, Age: age, Stored: stored})
	if x.st.Observed() {
		x.st.Emit(x.req, &call.Event{Kind: call.KindCache, Detail: result})
	}
}

func discard(resp *http.Response) {
	if resp.Body != nil {
		body.Discard(resp.Body)
	}
}
