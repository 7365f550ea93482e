package httpcache

import (
	"net/http"
	"strconv"
	"strings"

	"example.com/quire/internal/httpfield"
)

// rangeOf returns what a request with Range gets of v: 206 with a part, 416, or 200 with the whole
// where the range is to be ignored, which a server may always do (RFC 9110, section 14.2); several
// ranges at once are.
func (x *exchange) rangeOf(v *variant) (status int, content []byte, contentRange string) {
	size := v.length()
	whole := func() (int, []byte, string) { return v.status, v.body, "" }
	if v.partial {
		whole = func() (int, []byte, string) { // asked for within the part: see within
			return http.StatusPartialContent, v.body, httpfield.ContentRange(httpfield.Range{Start: v.start, Length: int64(len(v.body))}, v.total)
		}
	}
	if !httpfield.RangeApplies(x.req.Header, v.etag, v.modified) {
		return whole()
	}
	ranges, apply := httpfield.ParseRange(strings.Join(x.req.Header["Range"], ","), size)
	switch {
	case !apply || len(ranges) > 1:
		return whole()
	case len(ranges) == 0:
		return http.StatusRequestedRangeNotSatisfiable, nil, "bytes */" + strconv.FormatInt(size, 10)
	}
	r := ranges[0]
	return http.StatusPartialContent, v.body[r.Start-v.start : r.Start-v.start+r.Length], httpfield.ContentRange(r, size)
}

// length is that of the whole body.
func (v *variant) length() int64 {
	if v.partial {
		return v.total
	}
	return int64(len(v.body))
}

// within tells whether the request asks for a single range that lies in the part that is stored.
func (x *exchange) within(v *variant) bool {
	lines := x.req.Header["Range"]
	if len(lines) == 0 || x.req.Method == http.MethodHead || !httpfield.RangeApplies(x.req.Header, v.etag, v.modified) {
		return false
	}
	ranges, apply := httpfield.ParseRange(strings.Join(lines, ","), v.total)
	return apply && len(ranges) == 1 && ranges[0].Start >= v.start && ranges[0].Start+ranges[0].Length <= v.start+int64(len(v.body))
}

// part fills in what a 206 says about its place; false when it says nothing that can be relied on,
// or when more is to come than its place has room for. Of a shorter one that is stored which is
// there: it begins where it says.
func (v *variant) part(resp *http.Response) bool {
	r, total, ok := httpfield.ParseContentRange(resp.Header["Content-Range"])
	if !ok || resp.ContentLength > r.Length {
		return false
	}
	v.partial, v.start, v.total = true, r.Start, total
	return true
}

// combine joins a part with what e has of the same body: with a part that it touches to a longer
// one, and to a whole where nothing is left out. The new one's fields count. It returns nil when
// the part adds nothing. Without a strong tag nothing says that two parts are of one body (RFC
// 9111, section 3.4): the newer one is kept.
func (e *Entry) combine(v *variant, limit int64) *variant {
	if e == nil {
		return v
	}
	for _, old := range e.variants {
		if !sameSelection(old.vary, v.vary) || old.etag != v.etag {
			continue
		}
		if !old.partial {
			return nil // the whole is there
		}
		if tag, rest, ok := httpfield.ParseETag(v.etag); !ok || rest != "" || tag.Weak || old.total != v.total {
			return v
		}
		oldEnd, newEnd := old.start+int64(len(old.body)), v.start+int64(len(v.body))
		if v.start > oldEnd || newEnd < old.start || max(oldEnd, newEnd)-min(old.start, v.start) > limit {
			return v // apart: the newer one is kept
		}
		start := min(old.start, v.start)
		joined := make([]byte, max(oldEnd, newEnd)-start)
		copy(joined[old.start-start:], old.body)
		copy(joined[v.start-start:], v.body)
		n := *v
		n.body, n.start = joined, start
		if n.start == 0 && int64(len(joined)) == n.total {
			n.partial, n.status = false, http.StatusOK
			h := n.fields.header(nil, 1, nil)
			delete(h, "Content-Range")
			h["Content-Length"] = []string{strconv.FormatInt(n.total, 10)}
			n.setHeader(h)
		}
		return &n
	}
	return v
}
