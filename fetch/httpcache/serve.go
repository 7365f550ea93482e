package httpcache

import (
	"io"
	"net/http"
	"slices"
	"strconv"
	"time"

	"example.com/quire/internal/httpfield"
)

// fromStore answers from the store, if that is permitted without asking the origin; nil when not.
func (x *exchange) fromStore(now time.Time) *http.Response {
	v, d := x.v, &x.demands
	if d.noCache || v.noCache || v.invalidated || v.partial && !x.within(v) {
		return nil
	}
	age := v.ageAt(now)
	left := v.life - age
	strict := false // the request wants it newer than the origin does
	if d.maxAge.set && (age > d.maxAge.d || d.maxAge.d == 0) {
		// A reload asks with max-age=0; immutable says that it is of no use while fresh (RFC 8246,
		// section 2).
		strict = !v.immutable || d.maxAge.d != 0
	}
	if d.minFresh.set && left < d.minFresh.d {
		strict = true
	}
	switch {
	case strict:
		return nil
	case left > 0:
		x.c.stats.hits.Add(1)
		return x.serve(v, now, forwarded{}, ResultHit)
	case d.maxStale.set && !v.revalidate && -left <= d.maxStale.d:
		x.c.stats.stale.Add(1)
		return x.serve(v, now, forwarded{}, ResultStale)
	case v.swr > 0 && -left <= v.swr && x.req.Method != http.MethodHead:
		x.c.stats.stale.Add(1)
		x.background()
		return x.serve(v, now, forwarded{}, ResultStale)
	}
	return nil
}

// hit is a response from the store, in one piece with what it points to.
type hit struct {
	http.Response
	body   reader
	age    [1]string
	status [1]string
	values [8]string // of the other fields, when they are not more
}

// reader reads stored bytes, which it never changes.
type reader struct{ rest []byte }

func (r *reader) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// WriteTo implements io.WriterTo.
func (r *reader) WriteTo(w io.Writer) (int64, error) {
	n, err := w.Write(r.rest)
	r.rest = r.rest[n:]
	return int64(n), err
}

// Close implements io.Closer.
func (r *reader) Close() error { return nil }

// serve makes the response to x.req out of v: whole, a part, or 304 where the request's own
// conditions say so.
func (x *exchange) serve(v *variant, now time.Time, f forwarded, result string) *http.Response {
	age := v.ageAt(now)
	status, content, length := v.status, v.body, int64(len(v.body))
	contentRange := ""
	if h := x.fields; len(h) > 0 && v.status >= 200 && v.status < 300 {
		switch {
		case conditional(h) && httpfield.Evaluate(http.MethodGet, h, v.etag, v.comparedDate(), true) == httpfield.NotModified:
			status, content, length = http.StatusNotModified, nil, 0
		case len(h["Range"]) > 0 && x.req.Method != http.MethodHead && (v.status == http.StatusOK || v.partial):
			status, content, contentRange = x.rangeOf(v)
			length = int64(len(content))
		}
	}
	r := &hit{}
	if status == http.StatusNotModified {
		r.Header = v.fields.header(r.values[:], 2, ofBody)
	} else {
		r.Header = v.fields.header(r.values[:], 2, nil)
	}
	r.Proto, r.ProtoMajor, r.ProtoMinor = "HTTP/1.1", 1, 1
	if v.proto == "HTTP/2.0" {
		r.Proto, r.ProtoMajor, r.ProtoMinor = v.proto, 2, 0
	}
	r.StatusCode, r.Status = status, statusLine(status)
	r.Request, r.TLS = x.req, v.tls
	r.ContentLength = length
	switch {
	case status == http.StatusNotModified || status == http.StatusNoContent:
		r.ContentLength = 0
		r.Body = http.NoBody
	case x.req.Method == http.MethodHead:
		r.Body = http.NoBody
	default:
		r.body.rest = content
		r.Body = &r.body
	}
	if contentRange != "" {
		r.Header["Content-Range"] = []string{contentRange}
	}
	if status != v.status || contentRange != "" {
		if status == http.StatusNotModified {
			delete(r.Header, "Content-Length")
		} else {
			r.Header["Content-Length"] = []string{strconv.FormatInt(length, 10)}
		}
	}
	f.ttl, f.hasTTL = v.life-age, true
	r.age[0], r.status[0] = x.c.texts(v, age, f)
	r.Header["Age"] = r.age[:1:1]
	if v.told {
		r.Header["Cache-Status"] = append(r.Header["Cache-Status"], r.status[0])
	} else {
		r.Header["Cache-Status"] = r.status[:1:1]
	}
	x.told(result, age, false)
	return &r.Response
}

// texts returns the values of Age and Cache-Status.
func (c *Cache) texts(v *variant, age time.Duration, f forwarded) (ageText, statusText string) {
	seconds, ttl := int64(age/time.Second), int64(f.ttl/time.Second)
	if t := v.texts.Load(); t != nil && f.why == "" && t.age == seconds && t.ttl == ttl && t.by == c.cfg.StatusName {
		return t.ageText, t.statusText
	}
	t := &texts{seconds, ttl, c.cfg.StatusName, strconv.FormatInt(seconds, 10), c.status(f)}
	if f.why == "" {
		v.texts.Store(t)
	}
	return t.ageText, t.statusText
}

// ofBody tells whether a field is about a body. A 304 carries what concerns the store of its
// receiver, not the metadata of a body that it has (RFC 9110, section 15.4.5).
func ofBody(name string) bool {
	switch name {
	case "Content-Length", "Content-Encoding", "Content-Language", "Content-Range", "Content-Type", "Content-Md5":
		return true
	}
	return false
}

func conditional(h http.Header) bool {
	return len(h["If-None-Match"]) > 0 || len(h["If-Modified-Since"]) > 0
}

// comparedDate is what If-Modified-Since is compared with (RFC 9111, section 4.3.2).
func (v *variant) comparedDate() time.Time {
	if !v.modified.IsZero() {
		return v.modified
	}
	return v.date
}

func statusLine(code int) string {
	if code == http.StatusOK {
		return "200 OK"
	}
	if t := http.StatusText(code); t != "" {
		return strconv.Itoa(code) + " " + t
	}
	return strconv.Itoa(code)
}

// unavailable is the answer to only-if-cached without anything to give (RFC 9111, section 5.2.1.7).
func (x *exchange) unavailable(why string) *http.Response {
	x.c.stats.misses.Add(1)
	x.told(ResultMiss, 0, false)
	h := make(http.Header, 3)
	h["Date"] = []string{httpfield.FormatDate(x.asked)}
	h["Content-Length"] = []string{"0"}
	h["Cache-Status"] = []string{x.c.cfg.StatusName + "; detail=only-if-cached; fwd=" + why}
	if x.req.Body != nil {
		_ = x.req.Body.Close()
	}
	return &http.Response{
		Status: statusLine(http.StatusGatewayTimeout), StatusCode: http.StatusGatewayTimeout, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: h, Body: http.NoBody, Request: x.req,
	}
}

// forwarded is what Cache-Status says of a request that went to the origin; the zero value is a
// hit.
type forwarded struct {
	why    string
	status int
	stored bool
	ttl    time.Duration
	hasTTL bool

	collapsed bool
}

// status returns this cache's member of Cache-Status (RFC 9211).
func (c *Cache) status(f forwarded) string {
	var buf [96]byte
	b := append(buf[:0], c.cfg.StatusName...)
	if f.why == "" {
		b = append(b, "; hit"...)
	} else {
		b = append(append(b, "; fwd="...), f.why...)
		if f.status != 0 {
			b = strconv.AppendInt(append(b, "; fwd-status="...), int64(f.status), 10)
		}
		if f.stored {
			b = append(b, "; stored"...)
		}
		if f.collapsed {
			b = append(b, "; collapsed"...)
		}
	}
	if f.hasTTL {
		b = strconv.AppendInt(append(b, "; ttl="...), int64(f.ttl/time.Second), 10)
	}
	return string(b)
}

// appendStatus adds the member behind those of caches before this one.
func (c *Cache) appendStatus(h http.Header, f forwarded) {
	have := h["Cache-Status"]
	h["Cache-Status"] = append(slices.Clip(have), c.status(f))
}
