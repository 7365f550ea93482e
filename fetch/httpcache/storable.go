package httpcache

import (
	"net/http"
	"strings"
	"time"

	"example.com/quire/internal/httpfield"
)

// storable returns the variant that a response makes, without its body; nil when it must not or
// need not be stored (RFC 9111, section 3). req is what was sent, from asked to now.
func (c *Cache) storable(req *http.Request, resp *http.Response, x *exchange, now time.Time) *variant {
	status, post := resp.StatusCode, req.Method == http.MethodPost
	if req.Method != http.MethodGet && req.Method != "" && !post || status < 200 || status == http.StatusNotModified || x.demands.noStore || x.options.NoStore {
		return nil
	}
	d := c.responseDirectives(resp.Header)
	if !c.permitted(req, status, resp.Header, &d) {
		return nil
	}
	if c.cfg.Mode == TTLOnly {
		if status != http.StatusOK {
			return nil
		}
		d.noCache, d.mustRevalidate, d.proxyRevalidate, d.sMaxAge = false, false, false, seconds{}
	}
	v := &variant{status: status, proto: resp.Proto, arrived: now, tls: resp.TLS, total: -1}
	var ok bool
	if v.vary, ok = selectors(resp.Header["Vary"], req.Header); !ok {
		return nil
	}
	if v.date, ok = dateField(resp.Header, "Date", now); !ok {
		v.date = now
	}
	ttl := c.cfg.TTL
	if x.options.TTL > 0 {
		ttl = x.options.TTL
	}
	c.judge(v, resp.Header, &d, ttl, x.asked, now)
	// Something must say that it may be stored, and it must be of some use: fresh for a while, or
	// to be validated.
	_, explicit := c.lifetime(status, resp.Header, &d, v.date, now, ttl)
	if !explicit && (post || !d.public && !d.private && !heuristic(status)) {
		return nil
	}
	if v.life <= v.age && v.etag == "" && v.modified.IsZero() && v.swr == 0 && v.sie == 0 && !hasExpiry(&d, resp.Header) {
		return nil
	}
	if status == http.StatusPartialContent && !v.part(resp) {
		return nil
	}
	if c.cfg.Cacheable != nil && !c.cfg.Cacheable(req, resp) {
		return nil
	}
	h := stripped(resp.Header)
	if len(resp.Header["Date"]) == 0 {
		h["Date"] = []string{httpfield.FormatDate(now)} // RFC 9110, section 6.6.1
	}
	v.setHeader(h)
	return v
}

// permitted tells whether nothing in a response's fields forbids to store it.
func (c *Cache) permitted(req *http.Request, status int, h http.Header, d *directives) bool {
	if d.understand && !understood(status) || d.noStore && !d.understand {
		return false
	}
	if !c.cfg.Shared {
		return true
	}
	if d.private || len(req.Header["Authorization"]) > 0 && !d.public && !d.mustRevalidate && !d.sMaxAge.set {
		return false // section 3.5
	}
	// A Set-Cookie may be stored (section 7.3), but nobody says that what has one user's cookie is
	// for all.
	return len(h["Set-Cookie"]) == 0 || d.public || d.maxAge.set || d.sMaxAge.set || len(h["Expires"]) > 0
}

// hasExpiry tells whether the response was meant to be stored although it is stale already: a
// request may accept that (max-stale).
func hasExpiry(d *directives, h http.Header) bool {
	return d.maxAge.d > 0 || d.sMaxAge.d > 0 || len(h["Expires"]) == 1
}

// judge fills in what the header says about freshness and validation.
func (c *Cache) judge(v *variant, h http.Header, d *directives, ttl time.Duration, asked, now time.Time) {
	v.age = initialAge(h, v.date, asked, now)
	if c.cfg.Mode == TTLOnly {
		v.age = 0
	}
	v.life, _ = c.lifetime(v.status, h, d, v.date, now, ttl)
	v.noCache = d.noCache
	v.revalidate = d.mustRevalidate || c.cfg.Shared && (d.proxyRevalidate || d.sMaxAge.set)
	v.immutable = d.immutable
	v.swr, v.sie = c.cfg.StaleWhileRevalidate, c.cfg.StaleIfError
	if d.swr.set {
		v.swr = d.swr.d
	}
	if d.sie.set {
		v.sie = d.sie.d
	}
	if v.noCache || v.revalidate {
		v.swr, v.sie = 0, 0
	}
	v.etag = ""
	if tags := h["Etag"]; len(tags) == 1 {
		v.etag = strings.Trim(tags[0], " \t")
	}
	v.modified, _ = dateField(h, "Last-Modified", now)
}

// stripped returns a copy of h without what belongs to the connection, or to a proxy on its way
// (section 3.1).
func stripped(h http.Header) http.Header {
	c := make(http.Header, len(h)+1)
	values := 0
	for _, v := range h {
		values += len(v)
	}
	all := make([]string, 0, values)
	for name, v := range h {
		if hopByHop(name) {
			continue
		}
		from := len(all)
		all = append(all, v...)
		c[name] = all[from:len(all):len(all)]
	}
	for name := range httpfield.Members(h["Connection"]) {
		delete(c, http.CanonicalHeaderKey(name))
	}
	return c
}

func hopByHop(name string) bool {
	switch name {
	case "Connection", "Keep-Alive", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Proxy-Authenticate",
		"Proxy-Authentication-Info", "Proxy-Authorization":
		return true
	}
	return false
}
